//! Whether two JSON texts are the same value, in time in proportion to their length, whatever the
//! depth of nesting.
//!
//! Both texts are read from left to right. Each value gets a number, equal values the same one: an
//! array is known by the numbers of its elements, an object by those of its values under its
//! sorted keys.

use std::collections::HashMap;

use super::json::{Json, Token, Tokens};

/// What a value is known by.
#[derive(PartialEq, Eq, Hash)]
enum Form {
    Plain(String),
    Number(u64),
    String(Vec<u8>),
    Array(Vec<usize>),
    Object(Vec<(usize, usize)>),
}

/// The numbers of the values seen so far.
#[derive(Default)]
struct Numbers(HashMap<Form, usize>);

/// An array or an object that is still open: its values, and in an object each behind its key.
struct Open {
    is_object: bool,
    values: Vec<usize>,
}

/// See the head of this file. Of a key given twice the last value counts, numbers are compared as
/// doubles.
pub(super) fn same_value(a: Json<'_>, b: Json<'_>) -> bool {
    let mut numbers = Numbers::default();
    a.text() == b.text() || numbers.of(a) == numbers.of(b)
}

impl Numbers {
    fn get(&mut self, form: Form) -> usize {
        let next = self.0.len();
        *self.0.entry(form).or_insert(next)
    }

    /// The number of a value.
    fn of(&mut self, value: Json<'_>) -> Option<usize> {
        let mut open: Vec<Open> = Vec::new();
        for token in Tokens::of(value) {
            let done = match token {
                Token::Open { is_object } => {
                    open.push(Open { is_object, values: Vec::new() });
                    continue;
                }
                Token::Close => {
                    let form = Form::of(open.pop()?);
                    self.get(form)
                }
                Token::Value(text) => self.get(Form::of_plain(text)),
            };
            match open.last_mut() {
                Some(open) => open.values.push(done),
                None => return Some(done),
            }
        }
        None
    }
}

impl Form {
    fn of(Open { is_object, values }: Open) -> Form {
        if !is_object {
            return Form::Array(values);
        }
        let pairs = values.chunks_exact(2).filter_map(|pair| match pair {
            [key, value] => Some((*key, *value)),
            _ => None,
        });
        let last: HashMap<usize, usize> = pairs.collect();
        let mut entries: Vec<(usize, usize)> = last.into_iter().collect();
        entries.sort_unstable();
        Form::Object(entries)
    }

    fn of_plain(value: Json<'_>) -> Form {
        match (value.as_double(), value.as_wtf8()) {
            // Zero has two spellings as a double, and they are equal.
            (Some(double), _) => Form::Number(if double == 0.0 { 0 } else { double.to_bits() }),
            (None, Some(string)) => Form::String(string.into_owned()),
            (None, None) => Form::Plain(value.text().to_owned()),
        }
    }
}
