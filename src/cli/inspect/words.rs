//! The first words of an event or a message, for lists that people read.

use session_surface::session::{Message, Projections};
use session_surface::spec::{Contract, Event, Json};

use super::super::show;

/// So many characters fit on a line beside the rest.
const LONGEST: usize = 72;

/// The first words of an event that makes a message; nothing for any other.
pub fn of_event(contract: &Contract, event: &Event) -> String {
    Message::of(contract, &Projections::default(), event)
        .map(|message| of_message(&message))
        .unwrap_or_default()
}

/// The first words of a message: its text, and the types of the blocks that hold something else.
pub fn of_message(message: &Message<'_>) -> String {
    let mut words = String::new();
    for block in message.inner_content().elements().into_iter().flatten() {
        if words.len() > LONGEST * 4 {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&of_block(block));
    }
    let has_blocks = message.inner_content().elements().is_some_and(|mut all| all.next().is_some());
    match (words.is_empty(), has_blocks) {
        (true, false) => "(no content)".to_owned(),
        (true, true) => "(empty text)".to_owned(),
        (false, _) => show::first_words(&words, LONGEST),
    }
}

fn of_block(block: Json<'_>) -> String {
    let field = |name| block.get(name).map(plain).unwrap_or_default();
    let block_type = field("type");
    match block_type.as_str() {
        "text" => field("text"),
        "tool-call" => format!("[tool-call {} {}]", field("name"), field("id")),
        _ => format!("[{block_type}] {}", field("text")).trim_end().to_owned(),
    }
}

/// A string without its quotes. One that holds a lone surrogate is shown as it is spelled.
fn plain(value: Json<'_>) -> String {
    match value.as_str() {
        Some(text) => text.into_owned(),
        None => value.text().trim_matches('"').to_owned(),
    }
}
