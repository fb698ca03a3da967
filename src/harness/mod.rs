//! What checks anybody's implementation: cases, the generator, exhaustive search, judging,
//! shrinking, and campaigns.

mod builtin;
pub mod campaign;
mod case;
mod choices;
mod compare;
mod event_text;
pub mod examples;
pub mod exhaustive;
mod generate;
mod goals;
mod implementation;
mod judge;
pub mod laws;
#[cfg(test)]
mod properties;
mod shrink;
mod turns;
mod world;

pub use builtin::Deltas;
pub use case::{Answer, Ask, Case, CaseError, RefusedAt, Step, Texts};
pub use choices::{Choices, Odometer, Seeded};
pub use compare::agree;
pub use generate::{Form, Reads, Settings, case as generate};
pub use goals::Goals;
pub use implementation::{Implementation, InProcess, Steps, is_answering};
pub use judge::{Expectation, Expected, Failure, expected};
pub use shrink::shrink;
