//! The surface of an agent session.
//!
//! A session is an append-only log of events. What a model sees, the list of messages, is derived
//! from it. The **surface** is that derived view: an ordered list of events, changed by two
//! operations in the log itself, `append` and `replace` of an inclusive range.
//!
//! Five rooms, and the arrows between them never turn round:
//!
//! ```text
//! spec  ←  session  ←┐
//! spec  ←  oracle   ←┴  harness  ←  the program
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

pub mod harness;
pub mod oracle;
pub mod session;
pub mod spec;

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
