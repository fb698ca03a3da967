//! The values and tables that everybody shares: seqs, events and their text, contracts, refusal
//! codes and clause ids. No rule is decided here.

pub mod clause;
mod contract;
mod event;
mod json;
mod refusal;
mod same_value;
mod seq;
mod violation;

pub use clause::{Clause, Level};
pub use contract::Contract;
pub use event::{Draft, Event, Field, SurfaceOp};
pub use json::{Elements, Entries, Json, JsonLine, Kind, MAX_INTEGER, Strings};
pub use refusal::{Refusal, RefusalCode};
pub use seq::Seq;
pub use violation::{PairingCode, ViolationCode};
