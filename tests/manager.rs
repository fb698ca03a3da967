//! The manager and the session through their public doors: costs as counts, two phases, views.

use serde_json::json;
use session_surface::session::{Log, ReadError, Session, Stale, Surface, SurfaceManager};
use session_surface::spec::{Contract, Draft, Event, RefusalCode, Seq};

fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

fn event(at: u64, rest: &str) -> Event {
    Event::parse(&format!(r#"{{"type":"a/b","seq":{at},"time":0,"data":{{}}{rest}}}"#)).unwrap()
}

fn append(at: u64) -> Event {
    event(at, r#","surfaceOp":"append""#)
}

fn replace(at: u64, start: u64, end: u64, sources: &[u64]) -> Event {
    let op = format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#);
    event(at, &format!(r#","sourceEventSeqs":{sources:?},"surfaceOp":{op}"#))
}

fn appends(count: u64) -> Vec<Event> {
    (0..count).map(append).collect()
}

fn nodes(surface: Surface<'_>) -> Vec<u64> {
    surface.iter().map(Seq::get).collect()
}

fn read(log: &Vec<Event>) -> SurfaceManager {
    let mut manager = SurfaceManager::new(Contract::ADR_0019);
    manager.read(log).unwrap();
    manager.assert_invariants();
    manager
}

#[test]
fn neighbours_follow_the_surface_and_not_the_numbers() {
    let mut log = appends(5);
    log.push(replace(5, 1, 2, &[1, 2]));
    let manager = read(&log);
    let surface = manager.surface();
    assert_eq!(nodes(surface), [0, 5, 3, 4]);
    assert_eq!(surface.iter().rev().map(Seq::get).collect::<Vec<_>>(), [4, 3, 5, 0]);
    assert_eq!((surface.prev(seq(5)), surface.next(seq(5))), (Some(seq(0)), Some(seq(3))));
    assert_eq!((surface.prev(seq(3)), surface.next(seq(0))), (Some(seq(5)), Some(seq(5))));
    assert_eq!((surface.prev(seq(0)), surface.next(seq(4))), (None, None));
    assert_eq!((surface.prev(seq(1)), surface.next(seq(9))), (None, None));
    assert!(surface.contains(seq(5)) && !surface.contains(seq(1)) && !surface.contains(seq(2)));
    assert_eq!(surface.is_before(seq(5), seq(3)), Some(true));
    assert_eq!(surface.is_before(seq(1), seq(3)), None);
    assert_eq!((surface.len(), surface.iter().len(), surface.is_empty()), (4, 4, false));
    assert_eq!(surface.range(seq(0), seq(3)).map(Seq::get).collect::<Vec<_>>(), [0, 5, 3]);
    assert_eq!(surface.range(seq(3), seq(0)).count(), 0);
    assert_eq!(surface.uncovered(seq(0), seq(3), &[seq(3)]), [seq(0), seq(5)]);
}

#[test]
fn an_admission_is_stale_once_the_surface_has_changed() {
    let mut log = appends(2);
    let mut manager = read(&log);
    let next = append(2);
    let (first, second) =
        (manager.check(&log, &next).unwrap(), manager.check(&log, &next).unwrap());
    assert_eq!(first.seq(), seq(2));
    log.push(next);
    assert_eq!(manager.commit(first), Ok(()));
    assert_eq!(manager.commit(second), Err(Stale));
    assert_eq!(nodes(manager.surface()), [0, 1, 2]);
}

#[test]
fn an_admission_is_stale_for_another_manager_and_after_invalidate() {
    let log = appends(2);
    let mut manager = read(&log);
    let mut copy = manager.clone();
    let admission = manager.check(&log, &append(2)).unwrap();
    assert_eq!(copy.commit(admission), Err(Stale));
    let admission = manager.check(&log, &append(2)).unwrap();
    manager.invalidate();
    manager.read(&log).unwrap();
    assert_eq!(manager.commit(admission), Err(Stale));
    assert_eq!(nodes(manager.surface()), [0, 1]);
}

#[test]
fn a_check_asks_for_a_view_that_has_read_the_whole_log() {
    let mut log = appends(2);
    let manager = read(&log);
    log.push(append(2));
    let refusal = manager.check(&log, &append(3)).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::SeqNotContiguous);
    assert!(refusal.to_string().contains("read all 3 events"), "{refusal}");
}

#[test]
fn a_read_of_a_log_with_an_invalid_event_gives_the_same_error_each_time() {
    let mut log = appends(2);
    log.extend([replace(2, 0, 0, &[]), append(3)]);
    let mut manager = SurfaceManager::new(Contract::ADR_0019);
    let errors: Vec<ReadError> =
        (0..3).map(|_| manager.read(&log).map(|_| ()).unwrap_err()).collect();
    assert!(errors.iter().all(|error| error == &errors[0]));
    assert_eq!((errors[0].at, errors[0].refusal.code), (seq(2), RefusalCode::MissingSource));
    assert_eq!((nodes(manager.surface()), manager.processed()), (vec![0, 1], 2));
    manager.assert_invariants();
}

#[test]
fn the_generation_rises_with_every_replace_and_with_nothing_else() {
    let mut log = appends(2);
    let mut manager = SurfaceManager::new(Contract::ADR_0019);
    manager.read(&log).unwrap();
    let before = manager.generation();
    log.extend([append(2), event(3, "")]);
    manager.read(&log).unwrap();
    assert_eq!(manager.generation(), before);
    log.push(replace(4, 0, 0, &[0]));
    manager.read(&log).unwrap();
    assert_eq!(manager.generation(), before + 1);
    manager.invalidate();
    assert!(manager.generation() > before + 1 && !manager.has_surface());
}

#[test]
fn a_list_that_was_handed_out_stays_as_it_was() {
    let mut log = appends(3);
    let mut manager = read(&log);
    let held = nodes(manager.surface());
    log.push(replace(3, 0, 2, &[0, 1, 2]));
    manager.read(&log).unwrap();
    assert_eq!((held, nodes(manager.surface())), (vec![0, 1, 2], vec![3]));
}

/// A log that counts how often it is asked for an event.
struct Counted<'a>(&'a [Event], std::cell::Cell<u64>);

impl Log for Counted<'_> {
    fn len(&self) -> u64 {
        Log::len(self.0)
    }

    fn get(&self, seq: Seq) -> Option<&Event> {
        self.1.set(self.1.get() + 1);
        self.0.get(seq.index())
    }
}

#[test]
fn each_event_is_visited_once_and_an_idle_read_visits_none() {
    let log = appends(100);
    let counted = Counted(&log, Default::default());
    let mut manager = SurfaceManager::new(Contract::ADR_0019);
    manager.read(&counted).unwrap();
    assert_eq!(counted.1.get(), 100);
    manager.read(&counted).unwrap();
    assert_eq!(counted.1.get(), 100);
}

/// The work of the last event of a log.
fn work_of_last(log: &Vec<Event>) -> (u64, u64) {
    let before = log[..log.len() - 1].to_vec();
    let mut manager = read(&before);
    let before = manager.work();
    manager.read(log).map(|_| ()).ok();
    (manager.work().nodes - before.nodes, manager.work().probes - before.probes)
}

#[test]
fn a_replace_costs_what_it_shadows_whatever_the_length_of_the_surface() {
    for count in [100, 10_000] {
        for shadowed in [1, 2, 64] {
            let mut log = appends(count);
            let range: Vec<u64> = (count / 3..count / 3 + shadowed).collect();
            log.push(replace(count, range[0], range[range.len() - 1], &range));
            assert_eq!(work_of_last(&log), (2 * shadowed, 2), "{shadowed} of {count}");
        }
    }
}

#[test]
fn a_refusal_costs_its_own_sources_whatever_the_length_of_the_range() {
    for count in [100, 10_000] {
        for sources in [0, 1, 5] {
            let mut log = appends(count);
            log.push(replace(count, 0, count - 1, &(0..sources).collect::<Vec<_>>()));
            assert_eq!(work_of_last(&log), (sources + 1, 2));
            log.pop();
            log.push(replace(count, count - 1, 0, &[]));
            assert_eq!(work_of_last(&log), (0, 2), "the order of two nodes is told at once");
        }
    }
}

#[test]
fn what_is_moved_stays_within_twice_the_new_and_the_shadowed() {
    /// The range of the k-th replace on a surface that began with n nodes.
    type Workload = fn(u64, u64) -> (u64, u64);
    let workloads: [Workload; 3] = [
        // Pairs from the front: the last replacement and the node behind it.
        |k, n| (if k == 0 { 0 } else { n + k - 1 }, k + 1),
        // Prunes, one node each.
        |k, _| (k * 2, k * 2),
        // The whole surface again and again, which is one node after the first time.
        |k, n| if k == 0 { (0, n - 1) } else { (n + k - 1, n + k - 1) },
    ];
    for workload in workloads {
        let count = 4_000;
        let mut log = appends(count);
        for k in 0..count / 2 {
            let (start, end) = workload(k, count);
            let sources: Vec<u64> =
                if end + 1 == count { (0..count).collect() } else { vec![start, end] };
            log.push(replace(count + k, start, end, &sources));
        }
        let manager = read(&log);
        let shadowed = log.len() as u64 - manager.surface().len() as u64;
        assert!(manager.work().moves <= 2 * (log.len() as u64 + shadowed), "{:?}", manager.work());
    }
}

#[test]
fn a_node_takes_at_most_24_bytes_after_reclaiming() {
    // Nodes far apart, so that none shares an entry of the index with another.
    let mut log: Vec<Event> = Vec::new();
    for block in 0..200 {
        log.push(append(block * 16));
        log.extend((1..16).map(|k| event(block * 16 + k, "")));
    }
    let next = log.len() as u64;
    log.extend((0..100).map(|k| replace(next + k, k * 16, k * 16, &[k * 16])));
    let mut manager = read(&log);
    manager.reclaim();
    manager.assert_invariants();
    assert_eq!(manager.surface().len(), 200);
    assert!(manager.bytes_by_length() <= 24 * 200, "{}", manager.bytes_by_length());
    let empty = read(&(0..1000).map(|at| event(at, "")).collect());
    assert_eq!(empty.bytes_by_length(), 0, "an event off the surface takes nothing");
}

#[test]
fn readers_on_other_threads_share_a_surface() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<SurfaceManager>();
    is_shared::<Surface<'_>>();
    is_shared::<Session>();
    let manager = read(&appends(100));
    let surface = manager.surface();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(move || surface.iter().count())).collect();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() == 100));
    });
}

fn said(text: &str) -> Draft {
    let data = json!({"content": [{"type": "text", "text": text}], "source": {"kind": "user"}});
    Draft::new("user/message", &data).unwrap()
}

#[test]
fn a_fork_has_its_own_log_and_the_surface_of_its_prefix() {
    let mut session = Session::new(Contract::ADR_0019);
    let first = session.append(&said("a").append()).unwrap();
    let second = session.append(&said("b").append()).unwrap();
    let summary = said("c").replace(first, second).citing(&[first, second]);
    session.append(&summary).unwrap();
    let mut fork = session.fork(2);
    assert_eq!(nodes(fork.surface()), [0, 1]);
    fork.append(&said("d").append()).unwrap();
    assert_eq!((nodes(fork.surface()), nodes(session.surface())), (vec![0, 1, 2], vec![2]));
    assert_eq!(session.fork(9).log(), session.log());
}

#[test]
fn a_batch_takes_what_comes_before_the_refused_event() {
    let mut session = Session::new(Contract::ADR_0019);
    let bad = said("b").replace(seq(7), seq(7));
    let batch = session.append_all([&said("a").append(), &bad, &said("c").append()]);
    assert_eq!(batch.seqs, [seq(0)]);
    let refused = batch.refused.unwrap();
    assert_eq!((refused.at, refused.refusal.code), (1, RefusalCode::StartNotOnSurface));
    assert_eq!(session.log().len(), 1);
}

#[test]
fn messages_borrow_their_payload_from_the_log() {
    let mut session = Session::new(Contract::ADR_0019);
    session.append(&said("a").append()).unwrap();
    let message = session.messages().next().unwrap();
    let event = session.log()[0].text().as_bytes().as_ptr_range();
    assert!(event.contains(&message.inner_content().text().as_ptr()));
    assert_eq!(message.to_json(), r#"{"role":"user","content":[{"text":"a","type":"text"}]}"#);
}

#[test]
fn a_seed_that_is_refused_leaves_the_session_as_it_was() {
    let mut session = Session::new(Contract::ADR_0019);
    session.append(&said("a").append()).unwrap();
    let refused = session.seed(vec![append(0), append(2)]).unwrap_err();
    assert_eq!((refused.at, refused.refusal.code), (1, RefusalCode::SeqNotContiguous));
    assert_eq!((session.log().len(), nodes(session.surface())), (1, vec![0]));
    session.assert_invariants();
}
