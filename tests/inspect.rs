//! `session-surface inspect`, run as a program on the cases and the recorded sessions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use session_surface::session::Session;
use session_surface::spec::{Contract, Event, Json};

const HEADER: &str = "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"createdAt\":0}\n";

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_session-surface"))
}

fn inspect(file: &Path, flags: &[&str]) -> Output {
    program().arg("inspect").arg(file).args(flags).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The output as JSON text, and the exit code.
fn json(file: &Path, flags: &[&str]) -> (String, i32) {
    let output = inspect(file, &[&["--format", "json"], flags].concat());
    let out = text(&output.stdout);
    Json::parse(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    (out, output.status.code().unwrap())
}

fn get<'a>(value: Json<'a>, key: &str) -> Json<'a> {
    value.get(key).unwrap_or_else(|| panic!("no `{key}` in {value}"))
}

fn seqs(list: Json<'_>, key: &str) -> Vec<i64> {
    list.elements().unwrap().map(|node| get(node, key).as_integer().unwrap()).collect()
}

fn integers(list: Json<'_>) -> Vec<i64> {
    list.elements().unwrap().map(|seq| seq.as_integer().unwrap()).collect()
}

/// A new file of this name with this content, in a folder of the test run.
fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("inspect-{name}.jsonl"));
    std::fs::write(&path, content).unwrap();
    path
}

fn message(seq: u64, content: &str, rest: &str) -> String {
    format!(
        "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{content}\"}}],\"source\":{{\"kind\":\"user\"}}}}{rest}}}\n"
    )
}

const APPEND: &str = ",\"surfaceOp\":\"append\"";

/// Every file of a folder that its `expected.json` names, with what is expected of it.
fn expected(folder: &str, check: impl Fn(&Path, &str, Json<'_>)) {
    let folder = Path::new("tests/data").join(folder);
    let expected = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let mut checked = 0;
    for (name, want) in Json::parse(&expected).unwrap().entries().unwrap() {
        let name = name.as_str().unwrap();
        if !name.starts_with("strict-") {
            check(&folder.join(&*name), &name, want);
            checked += 1;
        }
    }
    assert!(checked > 3, "{checked} files");
}

fn code_and_seq(finding: Json<'_>) -> String {
    format!("{} at {}", get(finding, "code"), get(finding, "seq"))
}

/// What is expected of a closer stands at its top level or in its `data`.
fn assert_closers(got: Json<'_>, want: Json<'_>, name: &str) {
    let (got, want): (Vec<_>, Vec<_>) =
        (got.elements().unwrap().collect(), want.elements().unwrap().collect());
    assert_eq!(got.len(), want.len(), "{name}");
    for (got, want) in got.into_iter().zip(want) {
        for (key, value) in want.entries().unwrap() {
            let key = key.as_str().unwrap();
            let found = got.get(&key).or_else(|| get(got, "data").get(&key));
            assert_eq!(found, Some(value), "{name}: {key} of {got}");
        }
    }
}

fn assert_as_expected(path: &Path, name: &str, want: Json<'_>) {
    let (out, code) = json(path, &[]);
    let got = Json::parse(&out).unwrap();
    let roles: Vec<_> = get(got, "messages")
        .elements()
        .unwrap()
        .map(|message| get(message, "role").as_str().unwrap().into_owned())
        .collect();
    for (key, want) in want.entries().unwrap() {
        let integer = want.as_integer();
        match &*key.as_str().unwrap() {
            "load" => {
                let is_ok = get(got, "error").text() == "null";
                assert_eq!(is_ok, want.is_str("ok"), "{name}: {out}");
            }
            "surface" => assert_eq!(seqs(get(got, "surface"), "seq"), integers(want), "{name}"),
            "events" => assert_eq!(get(got, "events").as_integer(), integer, "{name}"),
            "tornBytes" => {
                assert_eq!(get(get(got, "torn"), "bytes").as_integer(), integer, "{name}");
            }
            "keptBytes" => {
                assert_eq!(get(get(got, "torn"), "keptBytes").as_integer(), integer, "{name}");
            }
            error @ ("line" | "expectedSeq" | "foundSeq") => {
                assert_eq!(get(get(got, "error"), error).as_integer(), integer, "{name}");
            }
            "salvage" => {
                assert!(get(got, "salvage").same_value(want), "{name}: {out}");
            }
            "closers" => assert_closers(get(got, "closers"), want, name),
            "surfaceAfterRepair" => {
                let closers = get(got, "closers").elements().unwrap();
                let marked = closers.filter(|closer| closer.get("surfaceOp").is_some());
                let marked = marked.map(|closer| get(closer, "seq").as_integer().unwrap());
                let after: Vec<i64> =
                    seqs(get(got, "surface"), "seq").into_iter().chain(marked).collect();
                assert_eq!(after, integers(want), "{name}");
            }
            "pairing" => {
                let found: Vec<String> =
                    get(got, "pairing").elements().unwrap().map(code_and_seq).collect();
                let want: Vec<String> = want.elements().unwrap().map(code_and_seq).collect();
                assert_eq!(found, want, "{name}");
            }
            "invariants" => {
                let code = |found: Json<'_>| get(found, "code").text().to_owned();
                let found: Vec<String> =
                    get(got, "invariants").elements().unwrap().map(code).collect();
                let want: Vec<String> =
                    want.elements().unwrap().map(|code| code.text().to_owned()).collect();
                assert_eq!(found, want, "{name}");
            }
            "messages" => assert_eq!(roles.len() as i64, integer.unwrap(), "{name}"),
            "roles" => assert_eq!(roles.join(","), want.as_str().unwrap(), "{name}"),
            "surfaceAfterSeq13" => {
                let (out, _) = json(path, &["--at", "13"]);
                let got = Json::parse(&out).unwrap();
                assert_eq!(seqs(get(got, "surface"), "seq"), integers(want), "{name}");
            }
            _ => {}
        }
    }
    let is_filled = |key| want.get(key).is_some_and(|want| want.text() != "[]");
    let has_findings =
        ["tornBytes", "line", "invariants", "closers", "pairing"].into_iter().any(is_filled);
    assert_eq!(code, i32::from(has_findings), "{name}");
}

#[test]
fn every_case_of_the_contract_reads_as_it_expects() {
    expected("cases", assert_as_expected);
}

#[test]
fn every_recorded_session_reads_as_its_own_project_read_it() {
    expected("corpus", assert_as_expected);
}

#[test]
fn the_messages_are_those_of_a_session_that_is_seeded_with_the_file() {
    for name in [
        "corpus/adr-tool-call-turn",
        "corpus/adr-unmarked-tool-call-turn",
        "cases/06-lone-surrogate",
    ] {
        let path = Path::new("tests/data").join(name).with_extension("jsonl");
        let log = std::fs::read_to_string(&path).unwrap();
        let log = log.lines().skip(1).map(|line| Event::parse(line).unwrap()).collect();
        let mut session = Session::new(Contract::ADR_0019);
        session.seed(log).unwrap();
        let want: Vec<String> = session.messages().map(|message| message.to_json()).collect();
        let output = inspect(&path, &["--messages"]);
        assert_eq!(text(&output.stdout), format!("[{}]\n", want.join(",")), "{name}");
    }
}

#[test]
fn payload_text_passes_through_byte_for_byte() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let block = format!(
        r#"{{ "type":"text", "text":"\ud83d \u0041\/", "n":1234567890123456789012345678901234567890, "e":1E400, "n":-0.0, "deep":{deep} }}"#
    );
    let log = format!(
        "{HEADER}{{\"type\":\"user/message\",\"seq\":0,\"time\":1,\"data\":{{\"content\":[{block}],\"source\":{{\"kind\":\"u\"}}}}{APPEND}}}\n"
    );
    let path = file("payload", log);
    let (out, _) = json(&path, &[]);
    let messages = get(Json::parse(&out).unwrap(), "messages").text().to_owned();
    assert_eq!(messages, format!(r#"[{{"seq":0,"role":"user","content":[{block}]}}]"#));
    let output = inspect(&path, &["--messages"]);
    assert_eq!(text(&output.stdout), format!("[{{\"role\":\"user\",\"content\":[{block}]}}]\n"));
}

#[test]
fn the_keys_are_stable_and_the_header_is_as_in_the_file() {
    let header = r#"{ "x":1.0, "type":"session","version":0,"id":"\ud83d","createdAt":7 }"#;
    let path = file("keys", format!("{header}\n{}", message(0, "a", APPEND)));
    let (out, _) = json(&path, &["--salvage"]);
    let got = Json::parse(&out).unwrap();
    assert_eq!(get(got, "header").text(), header);
    let keys: Vec<_> =
        got.entries().unwrap().map(|(key, _)| key.as_str().unwrap().into_owned()).collect();
    let want = [
        "header",
        "events",
        "types",
        "hasSurface",
        "surface",
        "messages",
        "closers",
        "pairing",
        "invariants",
        "torn",
        "error",
        "salvage",
    ];
    assert_eq!(keys, want);
    assert_eq!(get(got, "types").text(), r#"{"user/message":1}"#);
    assert_eq!(get(got, "surface").text(), r#"[{"seq":0,"type":"user/message","shadows":[]}]"#);
}

#[test]
fn a_node_shows_what_it_shadowed() {
    let (out, _) = json(Path::new("tests/data/cases/10-nested-replace-start-gt-end.jsonl"), &[]);
    let surface = get(Json::parse(&out).unwrap(), "surface");
    let first = surface.elements().unwrap().next().unwrap();
    assert_eq!(integers(get(first, "shadows")), [13, 7]);
}

#[test]
fn a_refused_event_is_an_error_with_the_refusal_and_what_can_be_salvaged() {
    let bad = ",\"sourceEventSeqs\":[0],\"surfaceOp\":{\"op\":\"replace\",\"start\":0,\"end\":1}";
    let log = [HEADER, &message(0, "a", APPEND), &message(1, "b", bad), &message(2, "c", APPEND)];
    let path = file("refused", log.concat());
    let (out, code) = json(&path, &[]);
    let got = Json::parse(&out).unwrap();
    let error = get(got, "error");
    assert!(get(error, "code").is_str("file/refused"), "{error}");
    assert!(get(error, "refused").is_str("replace/end-not-on-surface"), "{error}");
    assert_eq!(
        (get(error, "line").as_integer(), get(error, "seq").as_integer()),
        (Some(3), Some(1))
    );
    assert_eq!(get(error, "byteOffset").as_integer(), Some((log[0].len() + log[1].len()) as i64));
    assert!(get(got, "salvage").same_value(Json::parse(r#"{"events":1,"surface":[0]}"#).unwrap()));
    assert_eq!(code, 1);
}

#[test]
fn every_damage_is_shown_with_its_place_and_what_probably_happened() {
    let one = message(0, "a", APPEND);
    let cases: [(&str, String, &str); 8] = [
        ("second-writer", message(0, "b", ""), "second writer"),
        ("lost-lines", message(2, "b", ""), "Lost lines"),
        ("nul", format!("\0\0\0{}{}", message(1, "b", ""), message(1, "b", "")), "NUL run"),
        ("torn", format!("{{\"type\":\"us\n{}", message(1, "b", "")), "torn write"),
        (
            "glued",
            format!("{{\"type\":\"us{}{}", message(1, "b", ""), message(2, "b", "")),
            "glued",
        ),
        ("blank", format!("\n{}", message(1, "b", "")), "blank line"),
        ("edited", "{\"type\":\"usage\",\"seq\":1,\"time\":1}\n".to_owned(), "Edited"),
        ("refused", message(1, "b", ",\"surfaceOp\":null"), "does not check"),
    ];
    let byte = HEADER.len() + one.len();
    for (name, tail, happened) in cases {
        let output = inspect(&file(name, [HEADER, &one, &tail].concat()), &[]);
        let out = text(&output.stdout);
        assert!(out.contains(&format!("line 3, byte {byte}")), "{name}: {out}");
        assert!(out.contains(happened), "{name}: {out}");
        assert!(out.contains(&format!("head -c {byte} FILE")), "{name}: {out}");
        assert_eq!(output.status.code(), Some(1), "{name}");
    }
}

#[test]
fn the_picture_marks_the_byte_that_is_not_utf8() {
    let one = message(0, "a", APPEND);
    let head = "{\"type\":\"usage\",\"x\":\"";
    let tail = message(1, "b", "");
    let log = [HEADER.as_bytes(), one.as_bytes(), head.as_bytes(), b"\xe5\xa5\n", tail.as_bytes()];
    let output = inspect(&file("picture", log.concat()), &[]);
    let out = text(&output.stdout);
    let place = HEADER.len() + one.len() + head.len();
    assert!(out.contains(&format!("at byte {place}\n")), "{out}");
    assert!(out.contains("^ e5 a5 0a"), "{out}");
    assert!(out.contains("Not UTF-8"), "{out}");
}

#[test]
fn a_mixed_log_is_reported_loudly() {
    let output = inspect(Path::new("tests/data/cases/12-legacy-prefix-then-marked.jsonl"), &[]);
    let out = text(&output.stdout);
    assert!(out.contains("HISTORY IS INVISIBLE"), "{out}");
    assert!(out.contains("2 message events"), "{out}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn output_has_no_colours() {
    for name in ["cases/12-legacy-prefix-then-marked", "cases/05-duplicate-seq-two-writers"] {
        let path = Path::new("tests/data").join(name).with_extension("jsonl");
        assert!(!inspect(&path, &["--salvage"]).stdout.contains(&0x1b));
    }
    let escape = message(0, "\\u001b[31mred", APPEND);
    let output = inspect(&file("escape", [HEADER, &escape].concat()), &[]);
    assert!(!output.stdout.contains(&0x1b));
}

#[test]
fn a_version_that_is_not_read_is_a_finding_and_the_rest_is_shown() {
    let header = HEADER.replace("\"version\":1", "\"version\":7");
    let path = file("version", header + &message(0, "a", APPEND));
    let (out, code) = json(&path, &[]);
    let got = Json::parse(&out).unwrap();
    assert_eq!((get(got, "error").text(), code), ("null", 1), "{out}");
    assert_eq!(seqs(get(got, "surface"), "seq"), [0]);
    assert!(text(&inspect(&path, &[]).stdout).contains("file/version"));
    let output = inspect(&path, &["--messages"]);
    assert!(text(&output.stdout).contains("\"role\":\"user\""));
}

#[test]
fn what_is_no_session_is_not_readable() {
    for (name, content) in [("bom", format!("\u{feff}{HEADER}")), ("other", "a,b\n".to_owned())] {
        let (out, code) = json(&file(name, content), &[]);
        let got = Json::parse(&out).unwrap();
        assert!(get(get(got, "error"), "code").is_str("file/not-a-session"), "{out}");
        assert_eq!(get(got, "header").text(), "null");
        assert_eq!(code, 3);
    }
    let (out, code) = json(Path::new("tests/data/no-such-file.jsonl"), &[]);
    assert!(get(get(Json::parse(&out).unwrap(), "error"), "code").is_str("file/io"), "{out}");
    assert_eq!(code, 3);
}

#[test]
fn a_file_without_a_header_line_holds_no_session_yet() {
    assert_eq!(json(&file("empty", ""), &[]).1, 0);
    let (out, code) = json(&file("half", HEADER.trim_end()), &[]);
    let torn = get(Json::parse(&out).unwrap(), "torn");
    assert_eq!(get(torn, "bytes").as_integer(), Some(HEADER.len() as i64 - 1));
    assert_eq!(code, 1);
}

#[test]
fn messages_of_a_damaged_file_are_given_only_where_they_are_salvaged() {
    let path = Path::new("tests/data/cases/05-duplicate-seq-two-writers.jsonl");
    let output = inspect(path, &["--messages"]);
    assert!(output.stdout.is_empty());
    assert!(text(&output.stderr).contains("line 10"), "{}", text(&output.stderr));
    let out = text(&inspect(path, &["--messages", "--at", "3"]).stdout);
    assert_eq!(Json::parse(&out).unwrap().elements().unwrap().count(), 2, "{out}");
    let out = text(&inspect(path, &["--messages", "--salvage"]).stdout);
    assert_eq!(Json::parse(&out).unwrap().elements().unwrap().count(), 3, "{out}");
}

#[test]
fn an_event_that_is_not_there_is_a_fault_of_the_arguments() {
    let path = Path::new("tests/data/corpus/adr-cancel.jsonl");
    assert_eq!(inspect(path, &["--at", "6"]).status.code(), Some(0));
    let output = inspect(path, &["--at", "7"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("7 events"), "{}", text(&output.stderr));
    assert_eq!(inspect(path, &["--contract", "none"]).status.code(), Some(2));
}

#[test]
fn inspecting_writes_nothing() {
    let content = std::fs::read("tests/data/cases/03-torn-tail-multibyte.jsonl").unwrap();
    let path = file("untouched", &content);
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    for flags in [&[][..], &["--salvage"], &["--messages"], &["--format", "json"]] {
        inspect(&path, flags);
    }
    assert_eq!(std::fs::read(&path).unwrap(), content);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), time);
}

#[test]
fn a_file_that_grows_is_followed_event_by_event_until_it_is_damaged() {
    let path = file("follow", [HEADER, &message(0, "a", APPEND)].concat());
    let mut child = program()
        .arg("inspect")
        .arg(&path)
        .arg("--follow")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "1 event, 1 node on the surface");
    let mut writer = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let replace =
        ",\"sourceEventSeqs\":[0],\"surfaceOp\":{\"op\":\"replace\",\"start\":0,\"end\":0}";
    let (second, third) = (message(1, "b", APPEND), message(2, "c", replace));
    let (start, rest) = third.split_at(40);
    writer.write_all((second + start).as_bytes()).unwrap();
    assert_eq!(next(), "      1  user/message        append, 2 nodes  b");
    writer.write_all(rest.as_bytes()).unwrap();
    assert_eq!(next(), "      2  user/message        replace 0..0, 2 nodes  c");
    writer.write_all(message(2, "d", "").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("expected seq 3, found 2"), "{}", text(&output.stderr));
}

#[test]
fn messages_of_a_mixed_log_are_not_sent_in_silence() {
    let path = Path::new("tests/data/cases/12-legacy-prefix-then-marked.jsonl");
    let output = inspect(path, &["--messages"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("legacy/mixed: history is invisible: 2 message events"), "{said}");
    assert!(text(&output.stdout).contains("what is my name?"));
}

#[test]
fn what_is_advised_for_two_records_on_a_line_brings_every_event_back() {
    let events = [0, 1, 2, 3].map(|seq| message(seq, "a", APPEND));
    let whole = format!("{HEADER}{}", events.concat());
    let joined = whole.replacen(
        &events[1..3].concat(),
        &format!("{}{}", events[1].trim_end(), events[2]),
        1,
    );
    assert_eq!(joined.len() + 1, whole.len());
    let path = file("joined", &joined);
    let out = text(&inspect(&path, &[]).stdout);
    assert!(out.contains("Two records on one line"), "{out}");
    let advice = out.lines().find_map(|line| line.split_once("inspect that: ")).unwrap().1;
    let copy = path.with_extension("copy");
    let command =
        advice.replace("FILE", path.to_str().unwrap()).replace("COPY", copy.to_str().unwrap());
    assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success(), "{command}");
    assert_eq!(std::fs::read_to_string(copy).unwrap(), whole);
}
