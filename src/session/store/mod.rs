//! Session files: so far the reader of JSON Lines. Nothing here writes.

mod error;
mod event_line;
mod header;
mod lines;
mod reader;

pub use error::{Fault, FileError, Flaw, HeaderFlaw};
pub use event_line::EventLine;
pub use header::Header;
pub use reader::{Ending, Prefix, Reader, Torn};
