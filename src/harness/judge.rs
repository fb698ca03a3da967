//! The judge: the first step whose answer differs from the oracle's, where it differs, one
//! sentence in words, and the clause.

use std::borrow::Cow;

use super::case::{Answer, Ask, Case, RefusedAt, Texts};
use super::compare::{agree, same_but_words, same_event, same_events, same_json, with};
use super::implementation::Steps;
use crate::oracle::{self, Oracle};
use crate::spec::{Clause, Contract, Json, JsonLine, Level, RefusalCode, ViolationCode, clause};

/// What the oracle answers to a step, with the clauses that it used.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The answer.
    pub answer: Answer,
    /// The clauses, the deciding one first.
    pub clauses: Vec<Clause>,
    /// The clause of each item, where the answer is a list.
    pub items: Vec<Clause>,
}

impl Expected {
    /// Whether an answer is this one. The words in the message of a closing result are free.
    fn is_met_by(&self, got: &Answer) -> bool {
        match (&self.answer, got) {
            (Answer::Messages(want), Answer::Messages(got)) if want != got => {
                let pairs = want.iter().zip(got.iter()).zip(&self.items);
                want.len() == got.len()
                    && pairs.into_iter().all(|((want, got), rule)| same_message(*rule, want, got))
            }
            (Answer::Events(want), Answer::Events(got)) => {
                same_events(want, got, |at| self.is_closer(at))
            }
            (want, got) => agree(want, got),
        }
    }

    /// Whether an event of the answer is a closing result.
    fn is_closer(&self, at: usize) -> bool {
        self.items.get(at) == Some(&clause::REPAIR_RESULT)
    }
}

fn same_message(rule: Clause, want: &str, got: &str) -> bool {
    match rule {
        clause::REPAIR_RESULT => same_but_words(want, got),
        _ => same_json(want, got),
    }
}

/// The oracle's answer to a step.
pub fn expected(oracle: &mut Oracle, ask: &Ask) -> Expected {
    match ask {
        Ask::Append(events) => appended(oracle, events),
        Ask::Seed(events) => {
            let events: Vec<Json<'_>> = events.iter().map(JsonLine::json).collect();
            let oracle::Answer { value, clauses } = oracle.seed(&events);
            let answer = match value {
                Ok(seqs) => Answer::Taken { seqs, refused: None },
                Err((at, refused)) => {
                    Answer::Taken { seqs: Vec::new(), refused: Some(at_index(at, refused)) }
                }
            };
            Expected { answer, clauses, items: Vec::new() }
        }
        Ask::Surface => {
            let oracle::Answer { value, clauses } = oracle.surface();
            Expected { answer: Answer::Nodes(value), items: clauses.clone(), clauses }
        }
        Ask::Messages => {
            let oracle::Answer { value, clauses } = oracle.messages();
            let bytes = value.iter().map(|(text, _)| text.len()).sum();
            let mut texts = Texts::with_capacity(value.len(), bytes);
            let mut items = Vec::with_capacity(value.len());
            for (text, clause) in value {
                texts.push_with(|out| out.push_str(text));
                items.push(clause);
            }
            Expected { answer: Answer::Messages(texts), clauses, items }
        }
        Ask::Log => {
            let texts = oracle.events().into_iter().map(any_time).collect::<Vec<String>>();
            let rule = |seq| match oracle.is_closing_result(seq) {
                true => clause::REPAIR_RESULT,
                false => clause::EVENT_LOSSLESS,
            };
            let items = (0..oracle.len()).map(rule).collect();
            let texts = texts.iter().map(String::as_str).collect();
            Expected { answer: Answer::Events(texts), clauses: vec![clause::EVENT_LOSSLESS], items }
        }
        Ask::Check => {
            let oracle::Answer { value, clauses } = oracle.check();
            let items = value.iter().map(|(_, code)| code.clause()).collect();
            let pairs = value.into_iter().map(|(seq, code)| (seq, Cow::Borrowed(code.as_str())));
            Expected { answer: Answer::Violations(pairs.collect()), clauses, items }
        }
        Ask::Repair => {
            let is_known = oracle.time_is_known();
            let oracle::Answer { value, clauses } = oracle.repair();
            let texts: Vec<String> =
                value.iter().map(|closer| any_time((closer.as_str(), is_known))).collect();
            let items = vec![clause::REPAIR_RESULT; texts.len()];
            let texts = texts.iter().map(String::as_str).collect();
            Expected { answer: Answer::Events(texts), clauses, items }
        }
    }
}

/// The text of an event, with `null` for a time that the implementation gives.
fn any_time((event, is_known): (&str, bool)) -> String {
    match Json::parse(event) {
        Ok(event) if !is_known => with(event, "time", |_| "null".to_owned()),
        _ => event.to_owned(),
    }
}

fn appended(oracle: &mut Oracle, events: &[JsonLine]) -> Expected {
    let mut seqs = Vec::with_capacity(events.len());
    let mut used = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let oracle::Answer { value, clauses } = oracle.offer(event.json());
        match value {
            Ok(seq) => seqs.push(seq),
            Err(refused) => {
                let refused = Some(at_index(at, refused));
                return Expected {
                    answer: Answer::Taken { seqs, refused },
                    clauses,
                    items: Vec::new(),
                };
            }
        }
        used.extend(clauses.into_iter().filter(|clause| clause.level == Level::Should));
    }
    used.push(clause::LOG_CONTIGUOUS);
    Expected { answer: Answer::Taken { seqs, refused: None }, clauses: used, items: Vec::new() }
}

fn at_index(at: usize, refused: oracle::Refused) -> RefusedAt {
    let is_list = refused.code == RefusalCode::MissingSource;
    let code = Some(Cow::Borrowed(refused.code.as_str()));
    RefusedAt { at, code, missing: is_list.then_some(refused.missing) }
}

impl Steps for Oracle {
    fn start(contract: Contract) -> Oracle {
        Oracle::new(contract)
    }

    fn answer(&mut self, ask: &Ask) -> Answer {
        expected(self, ask).answer
    }
}

/// Where an implementation differs from the contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The first step that differs.
    pub step: usize,
    /// The first position that differs, in an answer that is a list.
    pub position: Option<usize>,
    /// What the contract asks for.
    pub want: Answer,
    /// What the implementation answered.
    pub got: Answer,
    /// The clause that the difference is charged to.
    pub clause: Clause,
    /// The difference in one sentence.
    pub sentence: String,
}

/// What the contract asks of a case, to judge any number of implementations by.
#[derive(Clone, Debug)]
pub struct Expectation<'a> {
    case: &'a Case,
    steps: Vec<Expected>,
}

impl<'a> Expectation<'a> {
    /// The oracle's answers to a case. At [`Level::Must`] a case is judged up to the first step
    /// whose answer a SHOULD clause decides.
    pub fn of(case: &'a Case, level: Level) -> Expectation<'a> {
        let mut oracle = Oracle::new(case.contract);
        let steps = case.steps.iter().map(|step| expected(&mut oracle, &step.ask));
        let binds =
            |expected: &Expected| expected.clauses.iter().all(|clause| clause.level <= level);
        Expectation { case, steps: steps.take_while(binds).collect() }
    }

    /// The answers, one a step that is judged.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.steps.iter().map(|expected| &expected.answer)
    }

    /// Judges the answers of an implementation.
    ///
    /// # Errors
    /// The first difference.
    pub fn judge(&self, answers: &[Answer]) -> Result<(), Box<Failure>> {
        let mut answers = answers.iter();
        for (step, expected) in self.steps.iter().enumerate() {
            match answers.next() {
                Some(got) if expected.is_met_by(got) => {}
                got => {
                    let got = got.cloned().unwrap_or_else(|| Answer::Error("no answer".to_owned()));
                    return Err(Box::new(self.difference(step, expected, got).explain()));
                }
            }
        }
        Ok(())
    }

    fn difference(&self, step: usize, expected: &Expected, got: Answer) -> Difference<'a> {
        let mut oracle = Oracle::new(self.case.contract);
        for earlier in self.case.steps.iter().take(step + 1) {
            super::judge::expected(&mut oracle, &earlier.ask);
        }
        Difference { case: self.case, step, oracle, expected: expected.clone(), got }
    }
}

/// A difference that is to be put into words.
struct Difference<'a> {
    case: &'a Case,
    step: usize,
    /// The oracle behind the step that differs.
    oracle: Oracle,
    expected: Expected,
    got: Answer,
}

impl Difference<'_> {
    fn explain(self) -> Failure {
        let (position, clause, sentence) = match (&self.expected.answer, &self.got) {
            (_, Answer::Error(message)) => {
                (None, self.deciding(), format!("the step threw: {message}"))
            }
            (Answer::Taken { .. }, Answer::Taken { .. }) => self.taken(),
            (Answer::Nodes(want), Answer::Nodes(got)) => self.nodes(want, got),
            (Answer::Messages(want), Answer::Messages(got)) => self.messages(want, got),
            (Answer::Events(want), Answer::Events(got)) => self.events(want, got),
            (Answer::Violations(want), Answer::Violations(got)) => self.violations(want, got),
            _ => (
                None,
                self.deciding(),
                "the answer has another shape than was asked for".to_owned(),
            ),
        };
        let Difference { step, expected, got, .. } = self;
        Failure { step, position, want: expected.answer, got, clause, sentence }
    }

    fn deciding(&self) -> Clause {
        self.expected.clauses.first().copied().unwrap_or(clause::SURFACE_FOLD)
    }

    fn taken(&self) -> (Option<usize>, Clause, String) {
        let (Answer::Taken { seqs, refused }, Answer::Taken { seqs: got_seqs, refused: got }) =
            (&self.expected.answer, &self.got)
        else {
            return (None, self.deciding(), String::new());
        };
        let (clause, sentence) = match (refused, got) {
            (Some(want), Some(got)) if want.at == got.at => self.refusals_differ(want, got),
            (Some(want), None) => {
                let code = want.code.as_deref().unwrap_or_default();
                let words = format!("event {} must be refused with {code} and was taken", want.at);
                (self.deciding(), words)
            }
            (Some(want), Some(got)) if want.at < got.at => {
                let words = format!("event {} must be refused and was taken", want.at);
                (self.deciding(), words)
            }
            (_, Some(got)) => {
                let code = got.code.as_deref().unwrap_or("no code");
                let clause = code_of(got).map_or(self.deciding(), RefusalCode::clause);
                (clause, format!("event {} must be taken and was refused with {code}", got.at))
            }
            (None, None) => {
                let words = format!("the events must get the seqs {seqs:?} and got {got_seqs:?}");
                (clause::LOG_CONTIGUOUS, words)
            }
        };
        (None, clause, sentence)
    }

    /// Both refuse the same event. The check that should have come first, or that should not have
    /// failed, is the one that comes first in the order of checks.
    fn refusals_differ(&self, want: &RefusedAt, got: &RefusedAt) -> (Clause, String) {
        let words = |refused: &RefusedAt| refused.code.clone().unwrap_or_default();
        if want.code == got.code || got.code.is_none() {
            let list = |refused: &RefusedAt| refused.missing.clone().unwrap_or_default();
            let clause =
                if want.missing == got.missing { clause::LOG_BATCH } else { self.deciding() };
            let sentence =
                format!("the refusal must list {:?} and lists {:?}", list(want), list(got));
            return (clause, sentence);
        }
        let first = code_of(want).min(code_of(got)).or(code_of(want));
        let clause = first.map_or(clause::CHECK_ORDER, RefusalCode::clause);
        let sentence = format!(
            "event {} must be refused with {} and was refused with {}",
            want.at,
            words(want),
            words(got)
        );
        (clause, sentence)
    }

    fn nodes(&self, want: &[u64], got: &[u64]) -> (Option<usize>, Clause, String) {
        let position = first_difference(want, got);
        let (wanted, found) = (want.get(position), got.get(position));
        let alien = found.filter(|seq| !want.contains(seq));
        let lost = wanted.filter(|seq| !got.contains(seq));
        let clause = self.context().unwrap_or_else(|| match (alien, lost) {
            (Some(seq), _) if self.oracle.fate(*seq) == clause::REPLACE_FOREVER => {
                clause::REPLACE_INCLUSIVE
            }
            (Some(seq), _) => self.oracle.fate(*seq),
            (None, Some(seq)) => self.oracle.fate(*seq),
            (None, None) => clause::REPLACE_PLACE,
        });
        let node =
            |seq: Option<&u64>| seq.map_or("nothing".to_owned(), |seq| format!("node {seq}"));
        let sentence =
            format!("position {position} must hold {} and holds {}", node(wanted), node(found));
        (Some(position), clause, sentence)
    }

    fn messages(&self, want: &Texts, got: &Texts) -> (Option<usize>, Clause, String) {
        let (want, got): (Vec<&str>, Vec<&str>) = (want.iter().collect(), got.iter().collect());
        let same = want.iter().zip(&got).take_while(|(want, got)| same_json(want, got)).count();
        let (wanted, found) = (want.get(same), got.get(same));
        let moved = found.is_none_or(|found| want.iter().any(|want| same_json(want, found)));
        let clause = self.context().unwrap_or_else(|| match self.expected.items.get(same) {
            Some(rule) if !moved => *rule,
            _ => self.deciding(),
        });
        let message = |text: Option<&&str>| text.map_or("nothing".to_owned(), |text| excerpt(text));
        let sentence =
            format!("message {same} must be {} and is {}", message(wanted), message(found));
        (Some(same), clause, sentence)
    }

    fn events(&self, want: &Texts, got: &Texts) -> (Option<usize>, Clause, String) {
        let (want, got): (Vec<&str>, Vec<&str>) = (want.iter().collect(), got.iter().collect());
        let pairs = want.iter().zip(&got).enumerate();
        let is_same = |(at, (want, got)): &(usize, (&&str, &&str))| {
            same_event(want, got, self.expected.is_closer(*at))
        };
        let same = pairs.take_while(is_same).count();
        let (wanted, found) = (want.get(same), got.get(same));
        let event = |text: Option<&&str>| text.map_or("nothing".to_owned(), |text| excerpt(text));
        let sentence = format!("event {same} must be {} and is {}", event(wanted), event(found));
        let clause = match self.case.steps.get(self.step).map(|step| &step.ask) {
            Some(Ask::Repair) => closer_clause(wanted, found).unwrap_or(self.deciding()),
            _ => self.context().unwrap_or(self.deciding()),
        };
        (Some(same), clause, sentence)
    }

    fn violations(
        &self,
        want: &[(u64, Cow<'static, str>)],
        got: &[(u64, Cow<'static, str>)],
    ) -> (Option<usize>, Clause, String) {
        let same = first_difference(want, got);
        let words = |violation: Option<&(u64, Cow<'static, str>)>| {
            violation.map_or("nothing".to_owned(), |(seq, code)| format!("{code} at {seq}"))
        };
        let (wanted, found) = (want.get(same), got.get(same));
        let sentence =
            format!("violation {same} must be {} and is {}", words(wanted), words(found));
        // Of two that differ, the one that comes first is missing or too much.
        let place = |(seq, code): &(u64, Cow<'static, str>)| {
            ViolationCode::from_text(code).map(|code| (*seq, code))
        };
        let places = wanted.and_then(place).into_iter().chain(found.and_then(place));
        let clause = places.min().map_or(clause::INVARIANT_REFUSED, |(_, code)| code.clause());
        (Some(same), clause, sentence)
    }

    /// What the steps before say of a read that differs. In a minimised case every step is needed,
    /// so a refusal, a seed or an earlier read that is still there is part of the cause.
    fn context(&self) -> Option<Clause> {
        let before = self.case.steps.get(..self.step).unwrap_or_default();
        let offering = before.iter().rposition(|step| !step.ask.is_read())?;
        let ask = &before.get(offering)?.ask;
        let refused = self.refused(offering);
        match (ask, refused) {
            (Ask::Seed(_), Some(_)) => Some(clause::SEED_ALL_OR_NOTHING),
            (Ask::Seed(_), None) if offering > 0 => Some(clause::SEED_WHOLE),
            (_, Some(0)) => Some(clause::REFUSAL_CHANGES_NOTHING),
            (_, Some(_)) => Some(clause::LOG_BATCH),
            _ => before.iter().any(|step| step.ask.is_read()).then_some(clause::DELTA_CUTS),
        }
    }

    /// The index of the event that the oracle refuses in this step.
    fn refused(&self, step: usize) -> Option<usize> {
        let mut oracle = Oracle::new(self.case.contract);
        let answers = self.case.steps.iter().map(|step| expected(&mut oracle, &step.ask).answer);
        match answers.take(step + 1).last() {
            Some(Answer::Taken { refused, .. }) => refused.map(|refused| refused.at),
            _ => None,
        }
    }
}

/// The clause of what differs between two closers.
fn closer_clause(want: Option<&&str>, got: Option<&&str>) -> Option<Clause> {
    let (want, got) = (Json::parse(want?).ok()?, Json::parse(got?).ok()?);
    let differs = |key: &str| match (want.get(key), got.get(key)) {
        (Some(want), Some(got)) => !want.same_value(got),
        (want, got) => want.is_some() || got.is_some(),
    };
    let rules = [
        ("type", clause::REPAIR_ORDER),
        ("seq", clause::REPAIR_PLACE),
        ("sourceEventSeqs", clause::REPAIR_SOURCES),
        ("surfaceOp", clause::REPAIR_MARK),
    ];
    if let Some((_, clause)) = rules.into_iter().find(|(key, _)| differs(key)) {
        return Some(clause);
    }
    let is_named = |key: &str| want.get("data")?.get(key).map(Json::text);
    let names = |key: &str| got.get("data")?.get(key).map(Json::text);
    let copies = ["turn", "step"].iter().all(|key| is_named(key) == names(key));
    Some(if copies { clause::REPAIR_RESULT } else { clause::REPAIR_COPIES })
}

fn code_of(refused: &RefusedAt) -> Option<RefusalCode> {
    refused.code.as_deref().and_then(RefusalCode::from_text)
}

fn first_difference<T: PartialEq>(want: &[T], got: &[T]) -> usize {
    want.iter().zip(got).take_while(|(want, got)| want == got).count()
}

/// The start of a text, on one line.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.to_owned(),
    }
}
