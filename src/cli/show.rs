//! How counterexamples and short texts are shown to people.

use session_surface::harness::campaign::Found;
use session_surface::harness::{Case, Failure, examples};

/// A counterexample: the sentence, the clause with its text, and the case step by step.
pub fn found(found: &Found) -> String {
    let Found { subject, case, failure } = found;
    let events = case.event_count();
    let plural = if events == 1 { "event" } else { "events" };
    format!(
        "{subject} breaks {clause} ({level}), shown with {events} {plural}\n{body}",
        clause = failure.clause,
        level = failure.clause.level.as_str(),
        body = failing(case, failure),
    )
}

/// A case that fails, step by step, and the clause with its text.
pub fn failing(case: &Case, failure: &Failure) -> String {
    let mut out = String::new();
    for (at, step) in case.steps.iter().enumerate().take(failure.step + 1) {
        out.push_str(&format!("  {at}: {}\n", step.ask.key()));
        for event in step.ask.events() {
            out.push_str(&format!("       {}\n", event.text()));
        }
    }
    out.push_str(&format!("     want {}\n", failure.want.to_json()));
    out.push_str(&format!("     got  {}\n", failure.got.to_json()));
    out.push_str(&format!("  {}\n", failure.sentence));
    let text = examples::spec().text(failure.clause).unwrap_or_default().to_owned();
    let rule = text.split("\n\n").next().unwrap_or_default().replace('\n', "\n  | ");
    out.push_str(&format!("  | {}: {rule}\n", failure.clause));
    out
}

/// The first words of a text, on one line, with control characters made visible.
pub fn first_words(text: &str, longest: usize) -> String {
    let mut words: String = text
        .chars()
        .take(longest)
        .map(|c| if c.is_control() || turns_text(c) { ' ' } else { c })
        .collect();
    if text.chars().nth(longest).is_some() {
        words.push('…');
    }
    words
}

/// Whether a character breaks a line or turns the direction of the text behind it.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}')
}
