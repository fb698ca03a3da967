//! The generator: one case from one source of choices, in a well-formed, a hostile and an
//! exhaustive form.
//!
//! Universes are small, so that operations collide. The well-formed form knows which of its
//! events are valid, by its own bookkeeping; it makes the shapes that occur in life, refused ones
//! among them, and goes on after every refusal. The hostile form knows nothing and guesses seqs.
//! The exhaustive form has an alphabet that is small enough to be gone through (see
//! [`exhaustive`](super::exhaustive)).

use super::case::{Ask, Case, Step};
use super::choices::Choices;
use super::event_text::{self, Place, Style};
use super::turns::{self, Turns};
use super::world::{Effect, World};
use crate::spec::{Contract, JsonLine};

/// What a generated case is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The fewest events that are offered one by one.
    pub fewest: u32,
    /// The most events that are offered one by one.
    pub most: u32,
    /// Who decides what is valid.
    pub form: Form,
    /// Where the surface and the messages are read.
    pub reads: Reads,
    /// Whether logs are seeded and forked on the way.
    pub seeds: bool,
    /// Whether payloads hold text that breaks readers, and events have keys in any order.
    pub odd_text: bool,
}

/// Who decides what is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The generator keeps its own books and knows which events are valid.
    WellFormed,
    /// Nobody: ends and sources are guessed, shapes are damaged.
    Hostile,
    /// Every choice is from the small alphabet of the exhaustive search.
    Exhaustive,
    /// Turns with calls and results, interrupted anywhere: for repair and the invariants.
    Turns,
}

/// Where the surface and the messages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Once, at the end.
    AtEnd,
    /// After every event.
    AfterEvery,
    /// Anywhere, and at the end.
    Anywhere,
}

impl Settings {
    /// Cases of the well-formed form as `check` runs them.
    pub const WELL_FORMED: Settings = Settings {
        fewest: 2,
        most: 24,
        form: Form::WellFormed,
        reads: Reads::Anywhere,
        seeds: true,
        odd_text: true,
    };

    /// Cases of the hostile form as `check` runs them.
    pub const HOSTILE: Settings = Settings { form: Form::Hostile, ..Settings::WELL_FORMED };

    /// Cases of interrupted turns as `check` runs them.
    pub const TURNS: Settings =
        Settings { fewest: 1, most: 20, form: Form::Turns, ..Settings::WELL_FORMED };

    /// Cases of many events: surfaces that grow and are cut down again.
    pub const LONG: Settings =
        Settings { fewest: 80, most: 200, reads: Reads::AtEnd, ..Settings::WELL_FORMED };

    /// All cases of `events` events from the small alphabet.
    pub const fn exhaustive(events: u32) -> Settings {
        Settings {
            fewest: events,
            most: events,
            form: Form::Exhaustive,
            reads: Reads::AtEnd,
            seeds: false,
            odd_text: false,
        }
    }
}

/// The case that these choices make.
pub fn case(choices: &mut impl Choices, settings: &Settings, contract: Contract) -> Case {
    let mut maker = Maker::new(choices, settings);
    match settings.form {
        Form::WellFormed => maker.well_formed(),
        Form::Hostile => maker.hostile(),
        Form::Exhaustive => maker.exhaustive(),
        Form::Turns => maker.turns(),
    }
    let (name, clauses) = ("generated".to_owned(), Vec::new());
    Case { name, clauses, contract, steps: maker.steps }
}

/// A case that is being made.
struct Maker<'a, C> {
    choices: &'a mut C,
    settings: &'a Settings,
    /// What the log holds, as far as the generator knows.
    world: World,
    /// The events of the log, as they were offered. The hostile form does not know them.
    log: Vec<String>,
    steps: Vec<Step>,
    /// Events that wait to be offered in one step.
    batch: Vec<JsonLine>,
    /// How many events were made: their payloads differ by it.
    made: u32,
}

impl<'a, C: Choices> Maker<'a, C> {
    fn new(choices: &'a mut C, settings: &'a Settings) -> Maker<'a, C> {
        Maker {
            choices,
            settings,
            world: World::default(),
            log: Vec::new(),
            steps: Vec::new(),
            batch: Vec::new(),
            made: 0,
        }
    }

    fn count(&mut self) -> u32 {
        let Settings { fewest, most, .. } = *self.settings;
        fewest + self.choices.below(most.saturating_sub(fewest) + 1)
    }

    fn offer(&mut self, text: &str) {
        self.batch.push(JsonLine::known(text));
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() {
            self.steps.push(Step::ask(Ask::Append(std::mem::take(&mut self.batch))));
        }
    }

    fn read(&mut self, ask: Ask) {
        self.flush();
        self.steps.push(Step::ask(ask));
    }

    fn read_both(&mut self) {
        self.read(Ask::Surface);
        self.read(Ask::Messages);
    }

    /// Reads, or cuts the batch, or neither.
    fn maybe_read(&mut self) {
        match self.settings.reads {
            Reads::AtEnd => {}
            Reads::AfterEvery => self.read_both(),
            Reads::Anywhere => match self.choices.below(8) {
                0..=3 => {}
                4 => self.flush(),
                5 => self.read(Ask::Surface),
                6 => self.read(Ask::Messages),
                _ => self.read_both(),
            },
        }
    }

    fn well_formed(&mut self) {
        let style = self.choices.weighted(event_text::STYLES).unwrap_or(Style::Marked);
        for _ in 0..self.count() {
            self.made += 1;
            let place =
                Place { world: &self.world, number: self.made, odd: self.settings.odd_text };
            let (text, effect) = event_text::well_formed(self.choices, place, style);
            self.offer(&text);
            match effect {
                Some(effect) => self.accept(text, effect),
                None => self.go_on_after_refusal(),
            }
            self.maybe_read();
            if self.settings.seeds && self.choices.one_in(16) {
                self.seed();
            }
        }
        self.read_both();
    }

    fn accept(&mut self, text: String, effect: Effect) {
        self.world.apply(effect);
        self.log.push(text);
    }

    /// What comes behind a refused event in a batch is not offered, so the batch ends. The session
    /// must then be what it was and take the next event.
    fn go_on_after_refusal(&mut self) {
        if self.choices.one_in(2) {
            self.read_both();
        }
        self.flush();
        self.made += 1;
        let text = event_text::plain(self.made, self.world.is_marked() || self.world.is_empty());
        self.offer(&text);
        let effect = if self.world.is_marked() || self.world.is_empty() {
            Effect::Append
        } else {
            Effect::Off
        };
        self.accept(text, effect);
    }

    /// A seed: the log again, a prefix of it (a fork), nothing, or a log that is refused.
    fn seed(&mut self) {
        self.flush();
        let kind = self.choices.below(4);
        let kept = match kind {
            1 => self.choices.index(self.log.len() + 1),
            _ => self.log.len(),
        };
        let mut events: Vec<JsonLine> = Vec::with_capacity(kept + 1);
        for (seq, text) in self.log.iter().take(kept).enumerate() {
            let time = i64::from(self.choices.below(7)) - 3;
            events.push(event_text::seeded(text, seq as u64, time));
        }
        if kind == 3 {
            events.push(event_text::bad_seed_event(self.choices, events.len() as u64));
        } else {
            self.log.truncate(kept);
            self.world.cut_to(kept);
        }
        self.steps.push(Step::ask(Ask::Seed(events)));
        if self.choices.one_in(2) {
            self.read_both();
        }
    }

    /// Turns, offered or seeded, refused events among them, then checked and repaired, twice, and
    /// gone on with.
    fn turns(&mut self) {
        let is_seed = self.choices.one_in(3);
        let style = self.choices.weighted(event_text::STYLES).unwrap_or(Style::Marked);
        let mut turns = Turns::new(is_seed);
        if is_seed && self.choices.one_in(2) {
            self.other_turn();
        }
        for _ in 0..self.count() {
            let (text, effect) = turns::event(self.choices, &mut turns, &self.world, style);
            if !is_seed {
                self.offer(&text);
                if self.choices.one_in(12) {
                    self.refused_turn(&turns, style);
                }
            }
            self.accept(text, effect);
        }
        if is_seed {
            self.seed_turns();
        }
        self.read(Ask::Check);
        for _ in 0..2 {
            self.read(Ask::Repair);
            self.read_both();
        }
        self.read(Ask::Log);
        self.read(Ask::Check);
        for _ in 0..self.choices.below(5) {
            // How many closers there are is not known, so what replaces may be refused.
            let (text, _) = turns::event(self.choices, &mut turns, &self.world, style);
            self.offer(&text);
            self.flush();
        }
        self.read(Ask::Repair);
        self.read_both();
        self.read(Ask::Check);
    }

    /// A session that a seed is to forget, with a turn that is open.
    fn other_turn(&mut self) {
        self.offer(r#"{"type":"turn/start","data":{"turn":9}}"#);
        self.offer(r#"{"type":"step/start","data":{"turn":9,"step":9}}"#);
        self.read(Ask::Surface);
    }

    /// An event of a turn that is refused: it must not count for the turn.
    fn refused_turn(&mut self, turns: &Turns, style: Style) {
        let (text, _) = turns::event(self.choices, &mut turns.clone(), &self.world, style);
        let bad = event_text::bad_op(self.choices);
        let text = text.replacen("\"surfaceOp\"", "\"x\"", 1);
        let head = text.strip_suffix('}').unwrap_or(&text);
        self.offer(&format!("{head},\"surfaceOp\":{bad}}}"));
        self.flush();
    }

    /// The log as a seed, with times in any order.
    fn seed_turns(&mut self) {
        let mut events = Vec::with_capacity(self.log.len());
        for (text, seq) in self.log.iter().zip(0..) {
            let time = i64::from(self.choices.below(7)) - 3;
            events.push(event_text::seeded(text, seq, time));
        }
        self.steps.push(Step::ask(Ask::Seed(events)));
    }

    fn hostile(&mut self) {
        for _ in 0..self.count() {
            self.made += 1;
            let text = event_text::hostile(self.choices, self.made, self.settings.odd_text);
            self.offer(&text);
            // A guess: most hostile events are refused, and end their batch.
            if self.choices.below(3) < 2 {
                self.flush();
            }
            self.maybe_read();
            if self.settings.seeds && self.choices.one_in(24) {
                self.hostile_seed();
            }
        }
        self.flush();
        self.made += 1;
        let last = event_text::plain(self.made, true);
        self.offer(&last);
        self.read_both();
    }

    fn hostile_seed(&mut self) {
        self.flush();
        let length = self.choices.below(6);
        let mut events = Vec::new();
        for index in 0..length {
            self.made += 1;
            let text = event_text::hostile(self.choices, index + 1, self.settings.odd_text);
            let off = if self.choices.one_in(12) { 1 } else { 0 };
            events.push(event_text::seeded(&text, u64::from(index) + off, i64::from(self.made)));
        }
        self.steps.push(Step::ask(Ask::Seed(events)));
    }

    /// One case of the exhaustive search. How it is presented comes last of all choices, so that
    /// all presentations of one log follow each other.
    fn exhaustive(&mut self) {
        let count = self.count() as usize;
        let mut offered: Vec<(String, bool)> = Vec::with_capacity(count);
        let mut may_refuse = true;
        for _ in 0..count {
            self.made += 1;
            let (text, effect) =
                event_text::small(self.choices, &self.world, self.made, may_refuse);
            offered.push((text, effect.is_some()));
            match effect {
                Some(effect) => self.world.apply(effect),
                None => may_refuse = false,
            }
        }
        // At the end, after every event, after one of them, or all as one seed, with a gap or not.
        let presentation = self.choices.index(count + 3);
        if presentation > count {
            return self.seed_over_another(&offered, presentation > count + 1);
        }
        for (at, (text, is_taken)) in offered.iter().enumerate() {
            self.offer(text);
            if presentation == 1 || presentation == at + 2 {
                self.read_both();
            } else if !is_taken {
                self.flush();
            }
        }
        self.read_both();
    }

    /// A seed over a session that was read before: nothing of that may be left, or, where the last
    /// seq is one too high, all of it must be.
    fn seed_over_another(&mut self, offered: &[(String, bool)], has_gap: bool) {
        self.offer(&event_text::plain(0, true));
        self.read(Ask::Surface);
        let last = offered.len() as u64 - 1;
        let seq = |at: u64| if has_gap && at == last { at + 1 } else { at };
        let events = offered.iter().zip(0..);
        let events = events.map(|((text, _), at)| event_text::seeded(text, seq(at), 0)).collect();
        self.steps.push(Step::ask(Ask::Seed(events)));
        self.read_both();
    }
}
