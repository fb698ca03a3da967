//! Why an event is not accepted: a stable code and the words around it.

use std::borrow::Cow;
use std::fmt;

use super::clause::{self, Clause};

/// The code of a refusal, in the order in which the checks run. Clause `check.order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalCode {
    /// `event/malformed`: the text is no event at all.
    EventMalformed,
    /// `seq/not-contiguous`: an event of a whole log does not stand at its seq.
    SeqNotContiguous,
    /// `data/malformed`: a message event that is appended lacks what the contract reads of it.
    DataMalformed,
    /// `surface-op/malformed`: `surfaceOp` is there and has neither of the two shapes.
    SurfaceOpMalformed,
    /// `sources/malformed`: `sourceEventSeqs` is there and is no array of seqs.
    SourcesMalformed,
    /// `replace/start-not-on-surface`
    StartNotOnSurface,
    /// `replace/end-not-on-surface`
    EndNotOnSurface,
    /// `replace/reversed-range`: the start comes after the end in surface order.
    ReversedRange,
    /// `replace/missing-source`: a node that would be shadowed is not among the sources.
    MissingSource,
}

impl RefusalCode {
    /// Every code, in the order of the checks.
    pub const ALL: [RefusalCode; 9] = [
        RefusalCode::EventMalformed,
        RefusalCode::SeqNotContiguous,
        RefusalCode::DataMalformed,
        RefusalCode::SurfaceOpMalformed,
        RefusalCode::SourcesMalformed,
        RefusalCode::StartNotOnSurface,
        RefusalCode::EndNotOnSurface,
        RefusalCode::ReversedRange,
        RefusalCode::MissingSource,
    ];

    /// The code as text, the form in cases and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            RefusalCode::EventMalformed => "event/malformed",
            RefusalCode::SeqNotContiguous => "seq/not-contiguous",
            RefusalCode::DataMalformed => "data/malformed",
            RefusalCode::SurfaceOpMalformed => "surface-op/malformed",
            RefusalCode::SourcesMalformed => "sources/malformed",
            RefusalCode::StartNotOnSurface => "replace/start-not-on-surface",
            RefusalCode::EndNotOnSurface => "replace/end-not-on-surface",
            RefusalCode::ReversedRange => "replace/reversed-range",
            RefusalCode::MissingSource => "replace/missing-source",
        }
    }

    /// The code that a text names.
    pub fn from_text(text: &str) -> Option<RefusalCode> {
        RefusalCode::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// The clause that asks for this refusal.
    pub const fn clause(self) -> Clause {
        match self {
            RefusalCode::EventMalformed => clause::EVENT_SHAPE,
            RefusalCode::SeqNotContiguous => clause::SEED_CONTIGUOUS,
            RefusalCode::DataMalformed => clause::DATA_MESSAGE_FIELDS,
            RefusalCode::SurfaceOpMalformed => clause::OP_SHAPE,
            RefusalCode::SourcesMalformed => clause::SOURCES_SHAPE,
            RefusalCode::StartNotOnSurface => clause::REPLACE_START,
            RefusalCode::EndNotOnSurface => clause::REPLACE_END,
            RefusalCode::ReversedRange => clause::REPLACE_ORDER,
            RefusalCode::MissingSource => clause::REPLACE_COVERAGE,
        }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal: the code, the field that is at fault, what was expected there and what was found.
///
/// A refused event leaves the log, the surface and the messages as they were.
/// Clause `refusal.changes-nothing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The first check that failed.
    pub code: RefusalCode,
    /// The field at fault, `event` for the whole.
    pub field: Cow<'static, str>,
    /// What the contract expects there.
    pub expected: Cow<'static, str>,
    /// What was there, cut to a readable length.
    pub found: String,
}

impl Refusal {
    /// A refusal in words. `found` is cut to a readable length.
    pub fn new(
        code: RefusalCode,
        field: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
        found: &str,
    ) -> Refusal {
        Refusal { code, field: field.into(), expected: expected.into(), found: excerpt(found) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { code, field, expected, found } = self;
        write!(f, "{code}: {field}: expected {expected}, found {found}")
    }
}

impl std::error::Error for Refusal {}

/// The first characters of a text, with a mark where it was cut.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => text.get(..cut).map(|head| format!("{head}…")).unwrap_or_default(),
        None => text.to_owned(),
    }
}
