//! The case: steps that are asked of one fresh session, and what a conforming implementation
//! answers. Read from JSON and written as JSON, events byte for byte.

use std::borrow::Cow;
use std::fmt;

use crate::spec::{Clause, Contract, Json, JsonLine};

/// A sequence of steps with a name. SPEC.md, "How to read this page".
///
/// ```
/// use session_surface::harness::Case;
///
/// let case = Case::parse(r#"{"case":"a/b","clauses":["surface.fold"],"steps":[{"surface":{},"want":{"nodes":[]}}]}"#)?;
/// assert_eq!(case.name, "a/b");
/// assert_eq!(case.steps.len(), 1);
/// # Ok::<(), session_surface::harness::CaseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name, words separated by `/` and `-`.
    pub name: String,
    /// The clauses that the case shows.
    pub clauses: Vec<Clause>,
    /// The contract that it is judged by.
    pub contract: Contract,
    /// What is asked, in order.
    pub steps: Vec<Step>,
}

/// One question, and the answer where it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is asked.
    pub ask: Ask,
    /// What a conforming implementation answers.
    pub want: Option<Answer>,
}

/// What a step asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Offer these events one by one.
    Append(Vec<JsonLine>),
    /// Forget everything and start from this whole log.
    Seed(Vec<JsonLine>),
    /// The nodes, head to tail.
    Surface,
    /// The derived messages.
    Messages,
    /// The whole log.
    Log,
    /// The development invariants.
    Check,
    /// Close an interrupted turn.
    Repair,
}

impl Ask {
    /// The key of the step.
    pub const fn key(&self) -> &'static str {
        match self {
            Ask::Append(_) => "append",
            Ask::Seed(_) => "seed",
            Ask::Surface => "surface",
            Ask::Messages => "messages",
            Ask::Log => "log",
            Ask::Check => "check",
            Ask::Repair => "repair",
        }
    }

    /// Whether the step only looks.
    pub const fn is_read(&self) -> bool {
        matches!(self, Ask::Surface | Ask::Messages | Ask::Log | Ask::Check)
    }

    /// The events that the step carries.
    pub fn events(&self) -> &[JsonLine] {
        match self {
            Ask::Append(events) | Ask::Seed(events) => events,
            _ => &[],
        }
    }
}

/// What an implementation answers to a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To `append` and `seed`: the events that were taken, and the one that was not.
    Taken {
        /// The seqs of the events that were taken.
        seqs: Vec<u64>,
        /// The event that was refused.
        refused: Option<RefusedAt>,
    },
    /// To `surface`: the nodes, head to tail.
    Nodes(Vec<u64>),
    /// To `messages`.
    Messages(Texts),
    /// To `log` and `repair`.
    Events(Texts),
    /// To `check`: seqs and codes.
    Violations(Vec<(u64, Cow<'static, str>)>),
    /// The step threw. Never what the contract asks for.
    Error(String),
}

/// A refused event among those that were offered.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedAt {
    /// Its index.
    pub at: usize,
    /// The code, where the implementation claims codes.
    pub code: Option<Cow<'static, str>>,
    /// The shadowed nodes that are no sources, where the implementation lists them.
    pub missing: Option<Vec<u64>>,
}

/// A list of JSON texts in one allocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    /// An empty list with room for so many texts, and for so many bytes of text.
    pub fn with_capacity(texts: usize, bytes: usize) -> Texts {
        Texts { text: String::with_capacity(bytes), ends: Vec::with_capacity(texts) }
    }

    /// Adds what `write` writes as one text.
    pub fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The texts.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.text.get(start..*end).unwrap_or_default())
    }
}

impl Texts {
    fn to_json(&self) -> String {
        format!("[{}]", self.iter().collect::<Vec<_>>().join(","))
    }
}

impl<'t> FromIterator<&'t str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'t str>>(list: I) -> Texts {
        let mut texts = Texts::default();
        list.into_iter().for_each(|text| texts.push_with(|out| out.push_str(text)));
        texts
    }
}

/// Why a text is no case: where, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// The place, `steps[2].want`.
    pub place: String,
    /// What was expected there and what was found.
    pub problem: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for CaseError {}

fn error(place: impl Into<String>, problem: impl Into<String>) -> CaseError {
    CaseError { place: place.into(), problem: problem.into() }
}

impl Case {
    /// The case that a JSON text holds.
    ///
    /// # Errors
    /// The place in the case and what is wrong there.
    pub fn parse(text: &str) -> Result<Case, CaseError> {
        let json = Json::parse(text).map_err(|why| error("case", format!("no JSON: {why}")))?;
        let name = json.get("case").and_then(Json::as_str);
        let name = name.ok_or_else(|| error("case", "expected a string, the name"))?.into_owned();
        let contract = match json.get("contract") {
            None => Contract::ADR_0019,
            Some(given) => given
                .as_str()
                .and_then(|name| Contract::named(&name))
                .ok_or_else(|| error("contract", format!("no known contract: {given}")))?,
        };
        let steps = json.get("steps").and_then(Json::elements);
        let steps = steps.ok_or_else(|| error("steps", "expected an array"))?;
        let steps = steps.enumerate().map(|(i, step)| {
            Step::parse(step).map_err(|e| error(format!("steps[{i}]{}", e.place), e.problem))
        });
        Ok(Case {
            name,
            clauses: clauses(json)?,
            contract,
            steps: steps.collect::<Result<_, _>>()?,
        })
    }

    /// The case as JSON, a step a line.
    pub fn to_json(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let clauses: Vec<String> = self.clauses.iter().map(|clause| quoted(clause.id)).collect();
        let steps: Vec<String> = self.steps.iter().map(Step::to_json).collect();
        format!(
            "{{\"case\":{},\"clauses\":[{}],\"contract\":{},\n \"steps\":[{}]}}\n",
            quoted(&self.name),
            clauses.join(","),
            quoted(self.contract.name),
            steps.join(",\n          "),
        )
    }

    /// How many events the steps carry.
    pub fn event_count(&self) -> usize {
        self.steps.iter().map(|step| step.ask.events().len()).sum()
    }
}

fn clauses(case: Json<'_>) -> Result<Vec<Clause>, CaseError> {
    let Some(ids) = case.get("clauses") else { return Ok(Vec::new()) };
    let ids = ids.elements().ok_or_else(|| error("clauses", "expected an array"))?;
    let known = |id: Json<'_>| {
        let clause = id.as_str().and_then(|id| Clause::named(&id));
        clause.ok_or_else(|| error("clauses", format!("no known clause: {id}")))
    };
    ids.map(known).collect()
}

impl Step {
    /// A step without an expected answer.
    pub fn ask(ask: Ask) -> Step {
        Step { ask, want: None }
    }

    fn parse(step: Json<'_>) -> Result<Step, CaseError> {
        let entries = step.entries().ok_or_else(|| error("", "expected an object"))?;
        let mut asks = entries.filter(|(key, _)| !key.is_str("want"));
        let (Some((key, value)), None) = (asks.next(), asks.next()) else {
            return Err(error("", "expected exactly one asking key beside `want`"));
        };
        let ask = Ask::parse(key, value)?;
        let want = step.get("want").map(|want| Answer::parse(&ask, want)).transpose()?;
        Ok(Step { ask, want })
    }

    fn to_json(&self) -> String {
        let mut out = format!("{{\"{}\":", self.ask.key());
        match &self.ask {
            Ask::Append(events) | Ask::Seed(events) => {
                out.push('[');
                let texts: Vec<&str> = events.iter().map(JsonLine::text).collect();
                out.push_str(&texts.join(",\n                     "));
                out.push(']');
            }
            _ => out.push_str("{}"),
        }
        if let Some(want) = &self.want {
            out.push_str(",\"want\":");
            out.push_str(&want.to_json());
        }
        out.push('}');
        out
    }
}

impl Ask {
    fn parse(key: Json<'_>, value: Json<'_>) -> Result<Ask, CaseError> {
        let events = |name: &str| {
            let events =
                value.elements().ok_or_else(|| error(format!(".{name}"), "expected an array"));
            events.map(|events| events.map(|event| JsonLine::known(event.text())).collect())
        };
        let is_list = key.is_str("append") || key.is_str("seed");
        if !is_list && value.entries().is_none() {
            return Err(error("", format!("expected an object behind {key}, found {value}")));
        }
        match key.as_str().as_deref() {
            Some("append") => Ok(Ask::Append(events("append")?)),
            Some("seed") => Ok(Ask::Seed(events("seed")?)),
            Some("surface") => Ok(Ask::Surface),
            Some("messages") => Ok(Ask::Messages),
            Some("log") => Ok(Ask::Log),
            Some("check") => Ok(Ask::Check),
            Some("repair") => Ok(Ask::Repair),
            _ => Err(error("", format!("no known step: {key}"))),
        }
    }
}

impl Answer {
    /// The answer to `ask` that a JSON value holds.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn parse(ask: &Ask, value: Json<'_>) -> Result<Answer, CaseError> {
        let wrong = |what: &str| error(".want", format!("expected {what}, found {value}"));
        if let Some(thrown) = value.get("error") {
            let message = thrown.get("message").and_then(Json::as_str).unwrap_or_default();
            return Ok(Answer::Error(message.into_owned()));
        }
        match ask {
            Ask::Append(_) | Ask::Seed(_) => {
                let refused = value.get("refused").map(RefusedAt::parse).transpose()?;
                let seqs = match (value.get("seqs"), &refused) {
                    (None, Some(_)) => Vec::new(),
                    (seqs, _) => seqs.and_then(numbers).ok_or_else(|| wrong("`seqs`"))?,
                };
                Ok(Answer::Taken { seqs, refused })
            }
            Ask::Surface => {
                let nodes = value.get("nodes").and_then(numbers);
                nodes.map(Answer::Nodes).ok_or_else(|| wrong("`nodes`, an array of seqs"))
            }
            Ask::Messages => texts(value.get("messages"))
                .map(Answer::Messages)
                .ok_or_else(|| wrong("`messages`")),
            Ask::Log | Ask::Repair => {
                texts(value.get("events")).map(Answer::Events).ok_or_else(|| wrong("`events`"))
            }
            Ask::Check => {
                let list = value.get("violations").and_then(Json::elements);
                let violations = list.and_then(|list| list.map(violation).collect());
                violations.map(Answer::Violations).ok_or_else(|| wrong("`violations`"))
            }
        }
    }

    /// The answer as JSON.
    pub fn to_json(&self) -> String {
        match self {
            Answer::Taken { seqs, refused: None } => format!("{{\"seqs\":{seqs:?}}}"),
            Answer::Taken { seqs, refused: Some(refused) } => {
                format!("{{\"seqs\":{seqs:?},\"refused\":{}}}", refused.to_json())
            }
            Answer::Nodes(nodes) => format!("{{\"nodes\":{nodes:?}}}"),
            Answer::Messages(texts) => format!("{{\"messages\":{}}}", texts.to_json()),
            Answer::Events(texts) => format!("{{\"events\":{}}}", texts.to_json()),
            Answer::Violations(violations) => {
                let one = |(seq, code): &(u64, Cow<'static, str>)| {
                    format!("{{\"seq\":{seq},\"code\":{}}}", serde_json::Value::from(code.as_ref()))
                };
                let violations: Vec<String> = violations.iter().map(one).collect();
                format!("{{\"violations\":[{}]}}", violations.join(","))
            }
            Answer::Error(message) => {
                format!(
                    "{{\"error\":{{\"message\":{}}}}}",
                    serde_json::Value::from(message.as_str())
                )
            }
        }
    }
}

impl RefusedAt {
    fn parse(value: Json<'_>) -> Result<RefusedAt, CaseError> {
        let at = value.get("at").and_then(Json::as_integer).and_then(|at| usize::try_from(at).ok());
        let at = at.ok_or_else(|| error(".want", "expected `refused.at`, an index"))?;
        let code = value.get("code").and_then(Json::as_str);
        let missing = value.get("missing").and_then(numbers);
        Ok(RefusedAt { at, code: code.map(|code| Cow::Owned(code.into_owned())), missing })
    }

    fn to_json(&self) -> String {
        let mut out = format!("{{\"at\":{}", self.at);
        if let Some(code) = &self.code {
            out.push_str(&format!(",\"code\":{}", serde_json::Value::from(code.as_ref())));
        }
        if let Some(missing) = &self.missing {
            out.push_str(&format!(",\"missing\":{missing:?}"));
        }
        out.push('}');
        out
    }
}

fn texts(list: Option<Json<'_>>) -> Option<Texts> {
    Some(list?.elements()?.map(Json::text).collect())
}

fn violation(value: Json<'_>) -> Option<(u64, Cow<'static, str>)> {
    let seq = value.get("seq").and_then(number)?;
    Some((seq, Cow::Owned(value.get("code")?.as_str()?.into_owned())))
}

fn numbers(list: Json<'_>) -> Option<Vec<u64>> {
    list.elements()?.map(number).collect()
}

/// An integer from 0; a double that is whole counts, since adapters may hold nothing else.
fn number(value: Json<'_>) -> Option<u64> {
    let exact = value.as_integer().and_then(|number| u64::try_from(number).ok());
    let whole = |double: f64| double.fract() == 0.0 && (0.0..=9e15).contains(&double);
    exact.or_else(|| value.as_double().filter(|double| whole(*double)).map(|double| double as u64))
}
