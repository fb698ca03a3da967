//! `Contract`, the rules that differ between contracts, as data.

/// One of the contracts that sessions are kept under.
///
/// Every rule that differs between contracts is a field here, and whoever decides something reads
/// the field: nobody asks which contract is in force.
///
/// ```
/// use session_surface::spec::Contract;
///
/// assert_eq!(Contract::named("adr-0019"), Some(Contract::ADR_0019));
/// assert!(Contract::ADR_0019.makes_message("user/message"));
/// assert!(!Contract::ADR_0019.makes_message("assistant/chunk"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The name, as cases and command lines give it.
    pub name: &'static str,
    /// The event types that make a message.
    pub message_types: &'static [&'static str],
    /// The core event types that make no message.
    pub silent_types: &'static [&'static str],
    /// The codes in `error.code` that tell a closing result from another one.
    pub closer_codes: &'static [&'static str],
    /// The versions of a session's header that are read, the one that is written first.
    pub versions: &'static [i64],
}

impl Contract {
    /// The contract of the decision record.
    pub const ADR_0019: Contract = Contract {
        name: "adr-0019",
        message_types: &[
            "user/message",
            "assistant/message",
            "tool/result",
            "context/message",
            "steering/message",
        ],
        silent_types: &[
            "turn/start",
            "turn/end",
            "step/start",
            "step/end",
            "assistant/chunk",
            "tool/call",
            "usage",
            "error",
        ],
        closer_codes: &["interrupted"],
        versions: &[1, 0],
    };

    /// Every contract.
    pub const ALL: [Contract; 1] = [Contract::ADR_0019];

    /// The contract of a name.
    pub fn named(name: &str) -> Option<Contract> {
        Contract::ALL.into_iter().find(|contract| contract.name == name)
    }

    /// Whether events of this type make a message. Clause `message.types`.
    pub fn makes_message(&self, event_type: &str) -> bool {
        self.message_types.contains(&event_type)
    }

    /// Whether events of this type are known and make no message.
    pub fn is_silent(&self, event_type: &str) -> bool {
        self.silent_types.contains(&event_type)
    }
}
