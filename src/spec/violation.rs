//! The codes of the development invariants and of what a provider would refuse.

use std::fmt;

use super::clause::{self, Clause};
use super::refusal::RefusalCode;

/// The code of a violated invariant, in the order in which the codes of one event are reported.
/// SPEC.md, section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationCode {
    /// `seq/not-increasing`
    SeqNotIncreasing,
    /// `sources/empty`
    SourcesEmpty,
    /// `sources/duplicate`
    SourcesDuplicate,
    /// `sources/not-earlier`
    SourcesNotEarlier,
    /// `sources/unknown`
    SourcesUnknown,
    /// A code of section 2.
    Refused(RefusalCode),
    /// `surface-op/ineligible-type`
    IneligibleType,
    /// `legacy/mixed`
    LegacyMixed,
    /// `turn/nested`
    TurnNested,
    /// `turn/unmatched-end`
    TurnUnmatchedEnd,
    /// `turn/open-step`
    TurnOpenStep,
    /// `turn/outside`
    TurnOutside,
    /// `step/outside-turn`
    StepOutsideTurn,
    /// `step/nested`
    StepNested,
    /// `step/unmatched-end`
    StepUnmatchedEnd,
    /// `step/mismatch`
    StepMismatch,
    /// `result/without-call`
    ResultWithoutCall,
}

impl ViolationCode {
    /// Every code but those of section 2.
    const OWN: [ViolationCode; 16] = [
        ViolationCode::SeqNotIncreasing,
        ViolationCode::SourcesEmpty,
        ViolationCode::SourcesDuplicate,
        ViolationCode::SourcesNotEarlier,
        ViolationCode::SourcesUnknown,
        ViolationCode::IneligibleType,
        ViolationCode::LegacyMixed,
        ViolationCode::TurnNested,
        ViolationCode::TurnUnmatchedEnd,
        ViolationCode::TurnOpenStep,
        ViolationCode::TurnOutside,
        ViolationCode::StepOutsideTurn,
        ViolationCode::StepNested,
        ViolationCode::StepUnmatchedEnd,
        ViolationCode::StepMismatch,
        ViolationCode::ResultWithoutCall,
    ];

    /// The code that a text names.
    pub fn from_text(text: &str) -> Option<ViolationCode> {
        let own = ViolationCode::OWN.into_iter().find(|code| code.as_str() == text);
        own.or_else(|| RefusalCode::from_text(text).map(ViolationCode::Refused))
    }

    /// The code as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            ViolationCode::SeqNotIncreasing => "seq/not-increasing",
            ViolationCode::SourcesEmpty => "sources/empty",
            ViolationCode::SourcesDuplicate => "sources/duplicate",
            ViolationCode::SourcesNotEarlier => "sources/not-earlier",
            ViolationCode::SourcesUnknown => "sources/unknown",
            ViolationCode::Refused(code) => code.as_str(),
            ViolationCode::IneligibleType => "surface-op/ineligible-type",
            ViolationCode::LegacyMixed => "legacy/mixed",
            ViolationCode::TurnNested => "turn/nested",
            ViolationCode::TurnUnmatchedEnd => "turn/unmatched-end",
            ViolationCode::TurnOpenStep => "turn/open-step",
            ViolationCode::TurnOutside => "turn/outside",
            ViolationCode::StepOutsideTurn => "step/outside-turn",
            ViolationCode::StepNested => "step/nested",
            ViolationCode::StepUnmatchedEnd => "step/unmatched-end",
            ViolationCode::StepMismatch => "step/mismatch",
            ViolationCode::ResultWithoutCall => "result/without-call",
        }
    }

    /// The clause that asks for this report. `data/malformed` is a SHOULD of its own.
    pub const fn clause(self) -> Clause {
        match self {
            ViolationCode::SeqNotIncreasing
            | ViolationCode::Refused(
                RefusalCode::EventMalformed
                | RefusalCode::SeqNotContiguous
                | RefusalCode::SurfaceOpMalformed,
            ) => clause::INVARIANT_SHAPE,
            ViolationCode::SourcesEmpty
            | ViolationCode::SourcesDuplicate
            | ViolationCode::SourcesNotEarlier
            | ViolationCode::SourcesUnknown => clause::INVARIANT_SOURCES,
            ViolationCode::Refused(RefusalCode::DataMalformed) => clause::DATA_MESSAGE_FIELDS,
            ViolationCode::Refused(_) => clause::INVARIANT_REFUSED,
            ViolationCode::IneligibleType => clause::INVARIANT_ELIGIBLE_TYPE,
            ViolationCode::LegacyMixed => clause::INVARIANT_MIXED,
            ViolationCode::TurnNested
            | ViolationCode::TurnUnmatchedEnd
            | ViolationCode::TurnOpenStep
            | ViolationCode::TurnOutside => clause::INVARIANT_TURN,
            ViolationCode::StepOutsideTurn
            | ViolationCode::StepNested
            | ViolationCode::StepUnmatchedEnd
            | ViolationCode::StepMismatch => clause::INVARIANT_STEP,
            ViolationCode::ResultWithoutCall => clause::INVARIANT_RESULT,
        }
    }
}

impl fmt::Display for ViolationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The code of something that a provider would refuse, in the order in which the codes of one
/// message are reported. SPEC.md, section 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairingCode {
    /// `pairing/duplicate-call-id`
    DuplicateCallId,
    /// `pairing/unanswered-call`
    UnansweredCall,
    /// `pairing/orphan-result`
    OrphanResult,
    /// `pairing/duplicate-result`
    DuplicateResult,
    /// `pairing/interleaved`
    Interleaved,
    /// `message/empty-assistant`
    EmptyAssistant,
    /// `message/ill-formed-text`
    IllFormedText,
}

impl PairingCode {
    /// The code as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            PairingCode::DuplicateCallId => "pairing/duplicate-call-id",
            PairingCode::UnansweredCall => "pairing/unanswered-call",
            PairingCode::OrphanResult => "pairing/orphan-result",
            PairingCode::DuplicateResult => "pairing/duplicate-result",
            PairingCode::Interleaved => "pairing/interleaved",
            PairingCode::EmptyAssistant => "message/empty-assistant",
            PairingCode::IllFormedText => "message/ill-formed-text",
        }
    }
}

impl fmt::Display for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
