//! The clauses and examples of SPEC.md, and what is wrong with them.

use std::collections::BTreeSet;

use super::case::{Case, CaseError};
use crate::spec::{Clause, Level, clause};

/// A fenced block of SPEC.md that is a case.
#[derive(Clone, Debug)]
pub struct Example {
    /// The line of the fence, from 1.
    pub line: usize,
    /// The case, or why it is none.
    pub case: Result<Case, CaseError>,
}

/// A clause as SPEC.md states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The dotted id.
    pub id: String,
    /// The word for the level.
    pub level: String,
    /// The text up to the next heading, without the examples.
    pub text: String,
}

/// What SPEC.md says, in its order.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// The clauses.
    pub statements: Vec<Statement>,
    /// The examples.
    pub examples: Vec<Example>,
}

/// The specification that this crate was built with.
pub fn spec() -> Spec {
    read(clause::SPEC)
}

/// The cases of SPEC.md.
pub fn cases() -> Vec<Case> {
    spec().examples.into_iter().filter_map(|example| example.case.ok()).collect()
}

/// Reads clauses and examples from a text like SPEC.md.
pub fn read(text: &str) -> Spec {
    let mut spec = Spec::default();
    let mut fence: Option<(usize, bool, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let is_fence = line.starts_with("```");
        match fence.take() {
            Some((line, true, body)) if is_fence => {
                spec.examples.push(Example { line, case: Case::parse(&body) });
            }
            Some((_, false, _)) if is_fence => {}
            Some((at, is_case, body)) => fence = Some((at, is_case, body + line + "\n")),
            None if is_fence => fence = Some((index + 1, line == "```json case", String::new())),
            None => spec.take_line(line),
        }
    }
    spec
}

impl Spec {
    fn take_line(&mut self, line: &str) {
        let heading = line.strip_prefix("### `").and_then(|rest| rest.split_once("` "));
        if let Some((id, level)) = heading {
            let (id, level) = (id.to_owned(), level.to_owned());
            self.statements.push(Statement { id, level, text: String::new() });
        } else if let Some(statement) =
            self.statements.last_mut().filter(|_| !line.starts_with('#'))
        {
            statement.text.push_str(line);
            statement.text.push('\n');
        }
    }

    /// What is wrong with the specification: a clause that the code does not know or states
    /// otherwise, a clause without an example, an example that is no case, names no clause, lacks
    /// an answer, or has the name of another.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.clause_faults();
        let mut shown = BTreeSet::new();
        let mut names = BTreeSet::new();
        for Example { line, case } in &self.examples {
            match case {
                Err(error) => faults.push(format!("line {line}: the example is no case: {error}")),
                Ok(case) => {
                    shown.extend(case.clauses.iter().map(|clause| clause.id));
                    faults.extend(example_faults(*line, case));
                    if !names.insert(case.name.as_str()) {
                        faults
                            .push(format!("line {line}: a second example is named {}", case.name));
                    }
                }
            }
        }
        let bare =
            self.statements.iter().filter(|statement| !shown.contains(statement.id.as_str()));
        faults.extend(bare.map(|statement| format!("clause {} has no example", statement.id)));
        faults
    }

    fn clause_faults(&self) -> Vec<String> {
        let stated = self.statements.iter().map(|s| (s.id.as_str(), s.level.as_str()));
        let known = clause::ALL.iter().map(|clause| (clause.id, Level::as_str(clause.level)));
        let (stated, known): (Vec<_>, Vec<_>) = (stated.collect(), known.collect());
        let unknown = stated.iter().filter(|clause| !known.contains(clause));
        let unknown = unknown.map(|(id, level)| format!("the code has no clause {id} {level}"));
        let unstated = known.iter().filter(|clause| !stated.contains(clause));
        let unstated = unstated.map(|(id, level)| format!("SPEC.md has no clause {id} {level}"));
        unknown.chain(unstated).collect()
    }

    /// The text of a clause.
    pub fn text(&self, clause: Clause) -> Option<&str> {
        let statement = self.statements.iter().find(|statement| statement.id == clause.id)?;
        Some(statement.text.trim())
    }
}

fn example_faults(line: usize, case: &Case) -> Vec<String> {
    let mut faults = Vec::new();
    if case.clauses.is_empty() {
        faults.push(format!("line {line}: {} names no clause", case.name));
    }
    if let Some(step) = case.steps.iter().position(|step| step.want.is_none()) {
        faults.push(format!("line {line}: step {step} of {} has no answer", case.name));
    }
    faults
}
