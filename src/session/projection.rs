//! Projections: how a program shows its own event types to the model.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::message::Role;
use crate::spec::{Contract, Event, Json, JsonLine, Kind};

/// What a projection makes of an event.
#[derive(Clone, Debug)]
pub struct Projected {
    role: Role,
    content: JsonLine,
}

impl Projected {
    /// A message with this role and these blocks.
    ///
    /// # Errors
    /// What `content` says when it cannot be serialised, or that it is no array.
    pub fn new(role: Role, content: &impl Serialize) -> Result<Projected, serde_json::Error> {
        let content = JsonLine::parse(&serde_json::to_string(content)?)?;
        if content.json().kind() == Kind::Array {
            Ok(Projected { role, content })
        } else {
            Err(serde::ser::Error::custom("the content of a message is an array of blocks"))
        }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    pub(super) fn content(&self) -> Json<'_> {
        self.content.json()
    }
}

/// From an event of an extension type to its message, or none. It must depend on nothing else:
/// replay has to give the same messages for ever.
type Projection = dyn Fn(&Event) -> Option<Projected> + Send + Sync;

/// The projections of a program, by event type. Clause `message.projection`.
///
/// ```
/// use serde_json::json;
/// use session_surface::session::{Projected, Projections, Role, Session};
/// use session_surface::spec::{Contract, Draft};
///
/// let mut projections = Projections::default();
/// projections.register(&Contract::ADR_0019, "compaction/marker", |event| {
///     let summary = event.data().get("summary")?.as_str()?.into_owned();
///     Projected::new(Role::User, &json!([{"type": "text", "text": summary}])).ok()
/// })?;
///
/// let mut session = Session::new(Contract::ADR_0019).with_projections(projections);
/// let said = json!({"content": [], "source": {"kind": "user"}});
/// let said = session.append(&Draft::new("user/message", &said)?.append())?;
/// let marker = Draft::new("compaction/marker", &json!({"summary": "greetings"}))?;
/// session.append(&marker.replace(said, said).citing(&[said]))?;
/// let messages: Vec<String> = session.messages().map(|message| message.to_json()).collect();
/// assert_eq!(messages, [r#"{"role":"user","content":[{"text":"greetings","type":"text"}]}"#]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Projections(HashMap<String, Arc<Projection>>);

impl Projections {
    /// Registers the projection of an extension type, in place of an earlier one.
    ///
    /// # Errors
    /// [`CoreType`] for an event type that the contract knows: what those show is fixed.
    pub fn register(
        &mut self,
        contract: &Contract,
        event_type: &str,
        projection: impl Fn(&Event) -> Option<Projected> + Send + Sync + 'static,
    ) -> Result<(), CoreType> {
        if contract.makes_message(event_type) || contract.is_silent(event_type) {
            return Err(CoreType(event_type.to_owned()));
        }
        self.0.insert(event_type.to_owned(), Arc::new(projection));
        Ok(())
    }

    pub(super) fn project(&self, event: &Event) -> Option<Projected> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&*event.event_type()).and_then(|projection| projection(event))
    }
}

impl fmt::Debug for Projections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A core type cannot be given a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreType(pub String);

impl fmt::Display for CoreType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is a core type of the contract: what it shows is fixed", self.0)
    }
}

impl std::error::Error for CoreType {}
