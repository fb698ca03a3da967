//! The ids and levels of the clauses of SPEC.md. Ids are an interface: added, never renamed.

use std::fmt;

/// How binding a clause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What the decision record says, or what nothing it says would work without.
    Must,
    /// What this project adds. A difference is listed.
    Should,
}

impl Level {
    /// The word in SPEC.md.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Must => "MUST",
            Level::Should => "SHOULD",
        }
    }
}

/// A rule of SPEC.md, by its dotted id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clause {
    /// The dotted id, `replace.inclusive`.
    pub id: &'static str,
    /// How binding it is.
    pub level: Level,
}

impl Clause {
    /// The clause of an id.
    pub fn named(id: &str) -> Option<Clause> {
        ALL.iter().copied().find(|clause| clause.id == id)
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// The text of SPEC.md, which the clauses are read from.
pub const SPEC: &str = include_str!("../../SPEC.md");

macro_rules! clauses {
    ($($name:ident = $id:literal $level:ident,)*) => {
        $(
            #[doc = concat!("Clause `", $id, "`.")]
            pub const $name: Clause = Clause { id: $id, level: Level::$level };
        )*
        /// Every clause, in the order of SPEC.md.
        pub const ALL: &[Clause] = &[$($name),*];
    };
}

clauses! {
    EVENT_SHAPE = "event.shape" Must,
    EVENT_INTEGER = "event.integer" Must,
    EVENT_DUPLICATE_KEY = "event.duplicate-key" Must,
    EVENT_UNKNOWN_FIELDS = "event.unknown-fields" Must,
    EVENT_LOSSLESS = "event.lossless" Must,
    EVENT_OFFERED = "event.offered" Must,
    LOG_CONTIGUOUS = "log.contiguous" Must,
    LOG_TIME = "log.time" Must,
    LOG_BATCH = "log.batch" Must,
    REFUSAL_WHEN_OFFERED = "refusal.when-offered" Must,
    REFUSAL_CHANGES_NOTHING = "refusal.changes-nothing" Must,
    CHECK_ORDER = "check.order" Must,
    SEED_WHOLE = "seed.whole" Must,
    SEED_CONTIGUOUS = "seed.contiguous" Must,
    SEED_ALL_OR_NOTHING = "seed.all-or-nothing" Must,
    FORK_PREFIX = "fork.prefix" Must,
    DATA_MESSAGE_FIELDS = "data.message-fields" Should,
    DATA_MALFORMED_IS_SILENT = "data.malformed-is-silent" Should,
    DATA_LAST_KEY_COUNTS = "data.last-key-counts" Should,
    SURFACE_FOLD = "surface.fold" Must,
    SURFACE_APPEND = "surface.append" Must,
    SURFACE_UNMARKED = "surface.unmarked" Must,
    SURFACE_ANY_TYPE = "surface.any-type" Must,
    OP_SHAPE = "op.shape" Must,
    SOURCES_SHAPE = "sources.shape" Must,
    SOURCES_FREE = "sources.free" Must,
    REPLACE_INCLUSIVE = "replace.inclusive" Must,
    REPLACE_PLACE = "replace.place" Must,
    REPLACE_FOREVER = "replace.forever" Must,
    REPLACE_START = "replace.start" Must,
    REPLACE_END = "replace.end" Must,
    REPLACE_ORDER = "replace.order" Must,
    REPLACE_COVERAGE = "replace.coverage" Must,
    DELTA_CUTS = "delta.cuts" Must,
    DELTA_SNAPSHOT = "delta.snapshot" Must,
    DELTA_ERROR = "delta.error" Must,
    MESSAGE_TYPES = "message.types" Must,
    MESSAGE_ORDER = "message.order" Must,
    MESSAGE_VERBATIM = "message.verbatim" Must,
    MESSAGE_USER = "message.user" Must,
    MESSAGE_ASSISTANT = "message.assistant" Must,
    MESSAGE_TOOL_RESULT = "message.tool-result" Must,
    MESSAGE_CONTEXT = "message.context" Must,
    MESSAGE_STEERING = "message.steering" Must,
    MESSAGE_SOURCE_KIND = "message.source-kind" Must,
    MESSAGE_FALLBACK = "message.fallback" Must,
    MESSAGE_MIXED = "message.mixed" Must,
    MESSAGE_PROJECTION = "message.projection" Should,
    REPAIR_LAST_TURN = "repair.last-turn" Must,
    REPAIR_CALLS = "repair.calls" Must,
    REPAIR_ANSWERS = "repair.answers" Must,
    REPAIR_VIEW = "repair.view" Should,
    REPAIR_ORDER = "repair.order" Must,
    REPAIR_COPIES = "repair.copies" Must,
    REPAIR_PLACE = "repair.place" Must,
    REPAIR_RESULT = "repair.result" Must,
    REPAIR_SOURCES = "repair.sources" Must,
    REPAIR_MARK = "repair.mark" Must,
    REPAIR_IDEMPOTENT = "repair.idempotent" Must,
    INVARIANT_SHAPE = "invariant.shape" Should,
    INVARIANT_SOURCES = "invariant.sources" Must,
    INVARIANT_REFUSED = "invariant.refused" Must,
    INVARIANT_ELIGIBLE_TYPE = "invariant.eligible-type" Should,
    INVARIANT_MIXED = "invariant.mixed" Should,
    INVARIANT_TURN = "invariant.turn" Should,
    INVARIANT_STEP = "invariant.step" Should,
    INVARIANT_RESULT = "invariant.result" Should,
}
