//! Repair, invariants and pairing over one long turn, against the same over a turn twice as long:
//! linear walks take twice the time.
//!
//! `cargo bench --bench walks` prints the ratios. With the name of a walk and a number of rounds the
//! program only does that, so that instructions can be counted:
//! `valgrind --tool=callgrind BINARY repair 10000`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use session_surface::session::{Session, violations};
use session_surface::spec::{Contract, Event};

type Walk = fn(&Session) -> usize;

const WALKS: [(&str, Walk); 3] = [
    ("repair", |session| session.closers().len()),
    ("invariants", |session| violations(Contract::ADR_0019, session.log()).len()),
    ("pairing", |session| session.pairing().len()),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, rounds, ..] = arguments.as_slice()
        && let Some((_, walk)) = WALKS.iter().find(|(known, _)| known == name)
    {
        let session = session(rounds.parse().unwrap_or(1_000));
        black_box(walk(&session));
        return;
    }
    let (short, long) = (session(20_000), session(40_000));
    for (name, walk) in WALKS {
        let (short, long) = (best(|| walk(&short)), best(|| walk(&long)));
        println!("{name}: twice the events take {:.2} times as long", long / short);
    }
}

/// An open turn of so many rounds: each makes two calls of few ids and answers one of them.
fn session(rounds: usize) -> Session {
    let mut texts = vec![r#"{"type":"turn/start","data":{"turn":1}}"#.to_owned()];
    for round in 0..rounds {
        let (a, b) = (round % 7, round % 5);
        let names = r#""turn":1,"step":1"#;
        texts.push(format!(
            r#"{{"type":"assistant/message","data":{{{names},"content":[{{"type":"tool-call","id":"{a}"}},{{"type":"tool-call","id":"{b}"}}]}},"surfaceOp":"append"}}"#
        ));
        texts.push(format!(r#"{{"type":"tool/call","data":{{{names},"callId":"{a}"}}}}"#));
        texts.push(format!(
            r#"{{"type":"tool/result","data":{{{names},"callId":"{a}","content":[],"isError":false}},"surfaceOp":"append"}}"#
        ));
    }
    let events = texts.iter().enumerate().map(|(seq, text)| {
        let line = format!("{{\"seq\":{seq},\"time\":0,{}", text.trim_start_matches('{'));
        Event::parse(&line).unwrap_or_else(|refusal| panic!("{refusal}"))
    });
    let mut session = Session::new(Contract::ADR_0019);
    session.seed(events.collect()).unwrap_or_else(|refused| panic!("{refused}"));
    session
}

/// The best of several runs, in seconds.
fn best(walk: impl Fn() -> usize) -> f64 {
    let run = || {
        let started = Instant::now();
        black_box(walk());
        started.elapsed()
    };
    (0..7).map(|_| run()).min().unwrap_or(Duration::ZERO).as_secs_f64()
}
