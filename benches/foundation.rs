//! The figures of the foundation, each as a ratio or a rate within one run: cases a second in
//! process, the manager against a bare loop, and replaces on a small and on a large surface.
//!
//! `cargo bench --bench foundation`

use std::hint::black_box;
use std::time::{Duration, Instant};

use session_surface::harness::{
    Case, Expectation, Implementation, InProcess, Reads, Seeded, Settings, generate,
};
use session_surface::session::{Session, SurfaceManager};
use session_surface::spec::{Contract, Event, Level};

fn main() {
    for (name, reads) in
        [("read once at the end", Reads::AtEnd), ("read after every event", Reads::AfterEvery)]
    {
        println!("cases of 8 to 32 events, {name}: {:.0} a second", cases_a_second(reads));
    }
    for (name, share) in [("a quarter of the events nodes", 4), ("all events nodes", 1)] {
        println!(
            "manager against a loop that pushes seqs, {name}: {:.2} times",
            against_loop(share)
        );
    }
    let (small, large) = (clustered_replace(1_000), clustered_replace(100_000));
    println!("clustered replace of one node, 10^5 against 10^3 nodes: {:.2} times", large / small);
    println!("  at 10^3 nodes: {:.0} ns", small * 1e9);
}

/// Generated, answered by the session and judged by the oracle, on one core.
fn cases_a_second(reads: Reads) -> f64 {
    let settings = Settings { fewest: 8, most: 32, reads, seeds: false, ..Settings::WELL_FORMED };
    let mut session = InProcess::<Session>::new();
    let count = 40_000_u32;
    let started = Instant::now();
    for index in 0..count {
        let case: Case =
            generate(&mut Seeded::new(1, u64::from(index)), &settings, Contract::ADR_0019);
        let answers = session.run(&case);
        assert!(Expectation::of(&case, Level::Should).judge(&answers).is_ok());
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

/// The best of several runs.
fn best(mut run: impl FnMut() -> Duration) -> f64 {
    (0..7).map(|_| run()).min().unwrap_or_default().as_secs_f64()
}

fn event(seq: usize, rest: &str) -> Event {
    let text = format!(r#"{{"type":"user/message","seq":{seq},"time":1,"data":{{}}{rest}}}"#);
    Event::parse(&text).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn log(events: usize, share: usize) -> Vec<Event> {
    let rest = |seq: usize| if seq.is_multiple_of(share) { r#","surfaceOp":"append""# } else { "" };
    (0..events).map(|seq| event(seq, rest(seq))).collect()
}

/// Both loops begin with memory that is theirs already: what the system does to hand out pages is
/// not what is compared.
fn against_loop(share: usize) -> f64 {
    let log = log(1_000_000, share);
    let mut seqs = Vec::new();
    let floor = best(|| {
        seqs.clear();
        let started = Instant::now();
        for event in &log {
            if event.is_marked() {
                seqs.push(event.seq());
            }
        }
        black_box(&seqs);
        started.elapsed()
    });
    let mut manager = SurfaceManager::new(Contract::ADR_0019);
    let reading = best(|| {
        manager.invalidate();
        let started = Instant::now();
        black_box(manager.read(&log).map(|surface| surface.len())).unwrap_or_default();
        started.elapsed()
    });
    println!("  the loop {:.2} ns an event, the manager {:.2} ns", floor * 1e3, reading * 1e3);
    reading / floor
}

/// Seconds a replace, when each replaces the node that the last one put there and the next.
fn clustered_replace(nodes: usize) -> f64 {
    const REPLACES: usize = 500;
    let mut log = log(nodes, 1);
    let middle = nodes / 2;
    for k in 0..REPLACES {
        let node = if k % 2 == 0 { middle + k / 2 } else { nodes + k - 1 };
        let rest = format!(
            r#","sourceEventSeqs":[{node}],"surfaceOp":{{"op":"replace","start":{node},"end":{node}}}"#
        );
        log.push(event(nodes + k, &rest));
    }
    let mut before = SurfaceManager::new(Contract::ADR_0019);
    let prefix = log.iter().take(nodes).cloned().collect::<Vec<_>>();
    before.read(&prefix).unwrap_or_else(|error| panic!("{error}"));
    let seconds = best(|| {
        let mut manager = before.clone();
        let started = Instant::now();
        manager.read(&log).unwrap_or_else(|error| panic!("{error}"));
        started.elapsed()
    });
    seconds / REPLACES as f64
}
