//! Session files, contract §7: which lines are events, what is a torn tail, what is damage.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{self, BufRead, BufReader, Read};

use session_surface::session::Digest;
use session_surface::session::store::{Ending, FileError, Reader};
use session_surface::spec::{Contract, Seq};

const HEADER: &str = "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"createdAt\":0}\n";

fn event(seq: u64) -> String {
    format!("{{\"type\":\"usage\",\"seq\":{seq},\"time\":1,\"data\":{{}}}}\n")
}

/// How many events a file gives, and how it ends: `clean`, `torn BYTES KEPT` or
/// `CODE LINE BYTE`.
fn read(file: &[u8]) -> (u64, String) {
    read_from(file)
}

fn read_from(input: impl BufRead) -> (u64, String) {
    let mut reader = match Reader::open(input) {
        Ok(reader) => reader,
        Err(error) => return (0, place(&error)),
    };
    while reader.next_event().is_some() {}
    let events = reader.prefix().events;
    let ending = match reader.ending() {
        Ending::Clean => "clean".to_owned(),
        Ending::Torn(torn) => format!("torn {} {}", torn.bytes, torn.kept_bytes),
        Ending::Damaged(error) => place(&error),
    };
    (events, ending)
}

fn place(error: &FileError) -> String {
    format!("{} {} {}", error.fault.code(), error.line, error.byte_offset)
}

/// A header, event 0, and then these bytes.
fn after_one_event(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut file = format!("{HEADER}{}", event(0)).into_bytes();
    file.extend(bytes.as_ref());
    file
}

/// Where the bytes of [`after_one_event`] begin.
fn kept() -> usize {
    HEADER.len() + event(0).len()
}

/// What follows no event line: none of it is a whole record.
const GARBAGE: [&[u8]; 12] = [
    b"\n",
    b"  \t\r\n",
    b"null\n",
    b"[]\n",
    b"\0\0\0\0\n",
    b"\xff\xfe\n",
    b"{\"type\":\"usage\",\"seq\":1,\n",
    b"\"text\"\n",
    b"{}{}\n",
    b"{\"type\":\"usage\",\"seq\":1,\"time\":1,\"data\":\"\xe5\xa5\"}\n",
    b"{\"type\":\"usage\",\"seq\":1,\"time\":1,\"data\":{}}{\"type\":\"usage\",\"seq\":2,\"time\":1,\"data\":{}}\n",
    b"\0\0{\"type\":\"usage\",\"seq\":1,\"time\":1,\"data\":{}}\n",
];

#[test]
fn a_header_alone_is_an_empty_session() {
    assert_eq!(read(HEADER.as_bytes()), (0, "clean".to_owned()));
}

#[test]
fn a_file_without_a_complete_header_line_is_as_if_it_did_not_exist() {
    assert_eq!(read(b""), (0, "clean".to_owned()));
    for end in 1..HEADER.len() {
        let start = &HEADER.as_bytes()[..end];
        assert_eq!(read(start), (0, format!("torn {end} 0")));
        assert!(Reader::open(start).unwrap().header().is_none());
    }
}

#[test]
fn lines_that_are_no_events_and_hold_no_whole_record_are_a_torn_tail() {
    for garbage in GARBAGE {
        let torn = format!("torn {} {}", garbage.len(), kept());
        assert_eq!(read(&after_one_event(garbage)), (1, torn), "{}", garbage.escape_ascii());
    }
    let all = GARBAGE.concat();
    let torn = format!("torn {} {}", all.len(), kept());
    assert_eq!(read(&after_one_event(&all)), (1, torn));
}

#[test]
fn a_whole_record_behind_garbage_is_damage_at_the_first_line_outside_the_prefix() {
    let damaged = format!("file/bad-line 3 {}", kept());
    for garbage in GARBAGE {
        for record in [event(1), event(7), "{}\n".to_owned(), "{\"a\":1,\"a\":2} \r\n".to_owned()] {
            let tail = [garbage, GARBAGE[0], record.as_bytes()].concat();
            let shown = tail.escape_ascii().to_string();
            assert_eq!(read(&after_one_event(&tail)), (1, damaged.clone()), "{shown}");
        }
    }
}

#[test]
fn an_object_that_is_no_event_is_damage_where_it_stands() {
    for line in [
        "{}\n",
        "{\"type\":\"usage\",\"seq\":1,\"time\":1}\n",
        "{\"type\":\"usage\",\"seq\":1.0,\"time\":1,\"data\":{}}\n",
        "{\"type\":\"usage\",\"seq\":1,\"seq\":1,\"time\":1,\"data\":{}}\n",
        HEADER,
    ] {
        let damaged = format!("file/bad-line 3 {}", kept());
        assert_eq!(read(&after_one_event(line)), (1, damaged), "{line}");
    }
}

#[test]
fn a_seq_out_of_order_is_damage_with_what_was_expected_and_found() {
    for (found, words) in [(0, "expected seq 1, found 0"), (5, "expected seq 1, found 5")] {
        let file = after_one_event(event(found));
        assert_eq!(read(&file), (1, format!("file/seq 3 {}", kept())));
        let Ending::Damaged(error) = Reader::open(&file[..]).unwrap().ending() else {
            panic!("not damaged")
        };
        assert_eq!(error.fault.to_string(), words);
    }
}

#[test]
fn a_last_line_without_its_line_feed_is_torn_also_when_it_is_a_whole_record() {
    for record in [event(1), event(9), "{}\n".to_owned()] {
        let record = record.trim_end();
        let torn = format!("torn {} {}", record.len(), kept());
        assert_eq!(read(&after_one_event(record)), (1, torn), "{record}");
    }
}

#[test]
fn only_a_line_feed_ends_a_line() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{7f}";
    let file = after_one_event(format!(
        "{{\"type\":\"usage\",\"seq\":1,\"time\":1,\"data\":\"{text}\"}}\r\n"
    ));
    let mut reader = Reader::open(&file[..]).unwrap();
    reader.next_event().unwrap();
    let event = reader.next_event().unwrap().into_event().unwrap();
    assert_eq!(event.data().text(), format!("\"{text}\""));
    assert!(event.text().ends_with('\r'));
    assert_eq!(read(&file), (2, "clean".to_owned()));
    let returns = after_one_event(event.text().replace(',', "\r,"));
    assert_eq!(read(&[&returns[..], b"\n"].concat()), (2, "clean".to_owned()));
}

#[test]
fn a_byte_order_mark_or_a_first_line_that_is_no_header_is_no_session() {
    let not_a_session = (0, "file/not-a-session 1 0".to_owned());
    for first in [
        format!("\u{feff}{HEADER}"),
        event(0),
        "\n".to_owned(),
        "null\n".to_owned(),
        format!("{}{HEADER}", HEADER.trim_end()),
        HEADER.replace("session", "sessions"),
        HEADER.replace("version", "Version"),
        HEADER.replace("\"id\":\"s\"", "\"id\":7"),
        HEADER.replace("\"createdAt\":0", "\"createdAt\":\"0\""),
        HEADER.replace("\"id\":\"s\"", "\"id\":\"s\",\"id\":\"s\""),
        HEADER.replace("\"version\":1", "\"version\":1,\"v\\u0065rsion\":1"),
    ] {
        assert_eq!(read(format!("{first}{}", event(0)).as_bytes()), not_a_session, "{first}");
    }
}

#[test]
fn a_byte_order_mark_is_named_before_what_follows_it() {
    let error = Reader::open(&b"\xef\xbb\xbfnot json\n"[..]).unwrap_err();
    assert!(error.to_string().contains("byte-order mark"), "{error}");
}

#[test]
fn a_header_keeps_unknown_fields_and_may_stand_in_any_order() {
    let line = r#"{"x":{"a":1.0},"createdAt":5,"id":"a\ud83d","cwd":"/w","version":0,"parentSession":"p","type":"session"}"#;
    let file = format!("{line}\n");
    let reader = Reader::open(file.as_bytes()).unwrap();
    let header = reader.header().unwrap();
    assert_eq!(header.json().text(), line);
    assert_eq!(header.id().unwrap().text(), r#""a\ud83d""#);
    assert_eq!(header.created_at(), Some(5));
    assert_eq!(header.cwd().unwrap().text(), "\"/w\"");
    assert_eq!(header.parent_session().unwrap().text(), "\"p\"");
    assert!(header.check_version(&Contract::ADR_0019).is_ok());
}

#[test]
fn a_version_that_the_contract_does_not_read_is_an_error_of_its_own() {
    for version in ["2", "-1", "1.0", "\"1\"", "null"] {
        let file = HEADER.replace("\"version\":1", &format!("\"version\":{version}"));
        let reader = Reader::open(file.as_bytes()).unwrap();
        let error = reader.header().unwrap().check_version(&Contract::ADR_0019).unwrap_err();
        assert_eq!(place(&error), "file/version 1 0");
        assert!(error.to_string().contains(version), "{error}");
    }
}

#[test]
fn a_refused_event_is_placed_at_its_line() {
    let refused = "{\"type\":\"usage\",\"seq\":1,\"time\":1,\"data\":{},\"surfaceOp\":null}\n";
    let file = after_one_event([refused, &event(2), "{}\n"].concat());
    let mut reader = Reader::open(&file[..]).unwrap();
    let mut digest = Digest::new(Contract::ADR_0019);
    digest.take(reader.next_event().unwrap()).unwrap();
    let refusal = digest.take(reader.next_event().unwrap()).unwrap_err();
    let error = reader.refused(refusal);
    assert_eq!(place(&error), format!("file/refused 3 {}", kept()));
    assert!(error.to_string().contains("surface-op/malformed"), "{error}");
    assert_eq!(digest.events(), 1);
}

#[test]
fn every_byte_prefix_of_a_log_keeps_its_complete_events() {
    let file = std::fs::read("tests/data/corpus/adr-multi-turn.jsonl").unwrap();
    for end in 0..=file.len() {
        let start = &file[..end];
        let lines = start.iter().filter(|byte| **byte == b'\n').count() as u64;
        let kept = start.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let ending = match end - kept {
            0 => "clean".to_owned(),
            torn => format!("torn {torn} {kept}"),
        };
        assert_eq!(read(start), (lines.saturating_sub(1), ending), "at byte {end}");
    }
}

#[test]
fn how_the_input_is_cut_into_reads_is_never_seen() {
    let tail = [GARBAGE.concat(), event(3).into_bytes()].concat();
    let long = format!("{}{}\n", "\0".repeat(9000), "x".repeat(9000));
    for file in [
        after_one_event(event(1)),
        after_one_event(&tail),
        after_one_event(&long),
        after_one_event(long.clone() + &event(1)),
        std::fs::read("tests/data/cases/05-duplicate-seq-two-writers.jsonl").unwrap(),
    ] {
        for capacity in [1, 2, 7, 4096] {
            let input = BufReader::with_capacity(capacity, &file[..]);
            assert_eq!(read_from(input), read(&file));
        }
    }
}

#[test]
fn a_long_line_is_read_whole_and_a_long_run_of_garbage_is_counted() {
    let text = "x".repeat(3 << 20);
    let line = format!("{{\"type\":\"usage\",\"seq\":1,\"time\":1,\"data\":\"{text}\"}}\n");
    let file = after_one_event(line + &event(2));
    assert_eq!(read(&file), (3, "clean".to_owned()));
    for end in ["", "\n"] {
        let run = format!("{}{end}", "\0".repeat(3 << 20));
        let torn = format!("torn {} {}", run.len(), kept());
        assert_eq!(read(&after_one_event(&run)), (1, torn));
    }
    let damaged = after_one_event(["\0".repeat(3 << 20), "\n".to_owned(), event(1)].concat());
    assert_eq!(read(&damaged), (1, format!("file/bad-line 3 {}", kept())));
}

/// A session file, and then the disk fails.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk fails")),
            read => Ok(read),
        }
    }
}

#[test]
fn an_input_that_fails_keeps_what_was_read_and_says_where() {
    let file = after_one_event("");
    let failing = BufReader::new(Failing(&file));
    assert_eq!(read_from(failing), (1, format!("file/io 3 {}", kept())));
    assert_eq!(read_from(BufReader::new(Failing(b""))), (0, "file/io 1 0".to_owned()));
}

#[test]
fn reading_goes_on_behind_a_prefix_when_the_file_has_grown() {
    let file = after_one_event("");
    let mut reader = Reader::open(&file[..]).unwrap();
    while reader.next_event().is_some() {}
    let prefix = reader.prefix();
    let grown = after_one_event([event(1), event(2), event(2)].concat());
    let mut reader = Reader::resume(&grown[prefix.bytes as usize..], prefix);
    assert_eq!(reader.next_event().unwrap().seq(), Seq::from_index(1));
    assert_eq!(reader.next_event().unwrap().seq(), Seq::from_index(2));
    assert!(reader.next_event().is_none());
    let Ending::Damaged(error) = reader.ending() else { panic!("not damaged") };
    assert_eq!(place(&error), format!("file/seq 5 {}", kept() + 2 * event(1).len()));
}

mod digest {
    use super::*;

    fn message(seq: u64, text: &str, rest: &str) -> String {
        format!(
            "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"source\":{{\"kind\":\"user\"}}}}{rest}}}\n"
        )
    }

    fn digest(events: &[String]) -> Digest {
        let file = format!("{HEADER}{}", events.concat());
        let mut reader = Reader::open(file.as_bytes()).unwrap();
        let mut digest = Digest::new(Contract::ADR_0019);
        while let Some(event) = reader.next_event() {
            digest.take(event).unwrap();
        }
        digest
    }

    const APPEND: &str = ",\"surfaceOp\":\"append\"";

    fn replace(start: u64, end: u64, sources: &str) -> String {
        format!(
            ",\"sourceEventSeqs\":[{sources}],\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}}"
        )
    }

    fn nodes(digest: &Digest) -> Vec<(u64, Vec<u64>)> {
        let seqs = |seqs: &[Seq]| seqs.iter().map(|seq| seq.get()).collect();
        digest.nodes().map(|node| (node.event.seq().get(), seqs(&node.shadows))).collect()
    }

    fn texts(digest: &Digest) -> Vec<String> {
        let text = |content: &str| content.split('"').nth(7).unwrap().to_owned();
        digest.messages().map(|message| text(message.inner_content().text())).collect()
    }

    #[test]
    fn a_node_shadows_what_its_own_replace_removed_in_surface_order() {
        let digest = digest(&[
            message(0, "a", APPEND),
            message(1, "b", APPEND),
            message(2, "c", APPEND),
            message(3, "d", &replace(0, 1, "0,1")),
            message(4, "e", &replace(3, 2, "2,3,0")),
        ]);
        assert_eq!(nodes(&digest), [(4, vec![3, 2])]);
        assert_eq!(texts(&digest), ["e"]);
    }

    #[test]
    fn a_log_without_a_marker_gives_the_messages_of_all_its_events() {
        let digest = digest(&[message(0, "a", ""), event(1), message(2, "b", "")]);
        assert!(!digest.has_surface());
        assert_eq!(texts(&digest), ["a", "b"]);
        assert_eq!(digest.hidden_messages(), 0);
    }

    #[test]
    fn the_first_marker_hides_unmarked_messages_before_and_behind_it() {
        let events = [message(0, "a", ""), message(1, "b", APPEND), message(2, "c", ""), event(3)];
        let digest = digest(&events);
        assert_eq!(texts(&digest), ["b"]);
        assert_eq!(digest.hidden_messages(), 2);
    }

    #[test]
    fn a_marker_on_an_event_that_makes_no_message_is_a_surface_too() {
        let silent = event(1).replace("}}", &format!("}}{APPEND}}}"));
        let digest = digest(&[message(0, "a", ""), silent]);
        assert_eq!(nodes(&digest), [(1, vec![])]);
        assert!(texts(&digest).is_empty());
        assert_eq!(digest.hidden_messages(), 1);
    }

    #[test]
    fn events_are_counted_by_type_however_the_type_is_spelled() {
        let spelled = event(1).replace("usage", "us\\u0061ge");
        let digest = digest(&[event(0), spelled, message(2, "a", "")]);
        let counts: Vec<_> = digest.types().collect();
        assert_eq!(counts, [("usage", 2), ("user/message", 1)]);
    }

    #[test]
    fn an_event_that_is_not_the_next_one_is_refused_and_changes_nothing() {
        let mut reader = Reader::open(HEADER.as_bytes()).unwrap();
        assert!(reader.next_event().is_none());
        let mut other = digest(&[event(0)]);
        let file = format!("{HEADER}{}", event(0));
        let mut reader = Reader::open(file.as_bytes()).unwrap();
        let refusal = other.take(reader.next_event().unwrap()).unwrap_err();
        assert_eq!(refusal.code.as_str(), "seq/not-contiguous");
        assert_eq!(other.events(), 1);
    }
}

#[test]
fn a_long_line_of_which_only_the_start_was_kept_is_named_by_what_is_known() {
    for (line, words) in [
        (format!("[{}]", "1,".repeat(5_000)), "no object"),
        (format!("a{}", "é".repeat(4_000)), "no JSON"),
        ("\0".repeat(9_000), "zero byte"),
    ] {
        let file = after_one_event(format!("{line}\n{}", event(1)));
        let mut reader = Reader::open(file.as_slice()).unwrap();
        while reader.next_event().is_some() {}
        let Ending::Damaged(error) = reader.ending() else { panic!("a whole record follows") };
        let said = error.to_string();
        assert!(said.contains(words), "{said}");
        assert!(!said.contains("4096") && !said.contains("4095"), "{said}");
    }
}
