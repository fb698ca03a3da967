//! Events come back byte for byte, and malformed ones are refused in words.

use session_surface::spec::{Draft, Event, Field, Json, RefusalCode, Seq, SurfaceOp};

fn comes_back(line: &str) -> Event {
    let event = Event::parse(line).unwrap();
    assert!(event.text() == line, "the line did not come back");
    event
}

fn refusal(line: &str) -> String {
    let refusal = Event::parse(line).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::EventMalformed);
    refusal.to_string()
}

#[test]
fn white_space_key_order_and_unknown_fields_come_back() {
    let event = comes_back(
        "\t { \"x\" : [ 1 ,2], \"time\" :-3,\"data\": {  } , \"seq\":0,\"y\":{}, \"type\": \"a/b\" } \r",
    );
    assert_eq!((event.seq(), event.time()), (Seq::ZERO, -3));
    assert_eq!(event.event_type(), "a/b");
    assert_eq!(event.data().text(), "{  }");
}

#[test]
fn number_spellings_and_keys_given_twice_inside_data_come_back() {
    let data = r#"{"a":1.0,"b":1e2,"c":1234567890123456789012345678901234567890,"a":-0,"a":2}"#;
    let event = comes_back(&format!(r#"{{"type":"a","seq":0,"time":0,"data":{data}}}"#));
    assert_eq!(event.data().text(), data);
    assert_eq!(event.data().get("a").map(Json::text), Some("2"));
}

#[test]
fn lone_surrogates_come_back_in_values_in_keys_and_in_the_type() {
    let event = comes_back(
        r#"{"type":"a\ud800","seq":0,"time":0,"data":{"\udfff":"x\ud83d"},"\ud83d":"\ud83d\ude00"}"#,
    );
    assert_eq!(event.event_type(), r"a\ud800");
    assert!(event.data().get("\u{fffd}").is_none());
}

#[test]
fn separators_that_are_no_line_feeds_come_back() {
    comes_back(
        "{\"type\":\"a\",\"seq\":0,\"time\":0,\"data\":\"\u{2028}\u{2029}\u{85}\u{b}\"}"
            .replace('\u{b}', " ")
            .as_str(),
    );
}

#[test]
fn a_million_levels_of_nesting_come_back() {
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let event = comes_back(&format!(r#"{{"type":"a","seq":0,"time":0,"data":{deep},"x":{deep}}}"#));
    assert_eq!(event.data().elements().map(Iterator::count), Some(1));
    let objects = format!("{}0{}", r#"{"a":"#.repeat(1_000_000), "}".repeat(1_000_000));
    comes_back(&format!(r#"{{"type":"a","seq":0,"time":0,"data":{objects}}}"#));
}

#[test]
fn a_line_of_64_mebibytes_comes_back() {
    let text = "x".repeat(64 << 20);
    let event = comes_back(&format!(r#"{{"type":"a","seq":0,"time":0,"data":"{text}"}}"#));
    assert_eq!(event.data().text().len(), text.len() + 2);
}

#[test]
fn a_key_may_be_spelled_with_escapes() {
    let event = comes_back(
        r#"{"\u0074ype":"user\/message","seq":0,"time":0,"d\u0061ta":{},"surface\u004fp":"\u0061ppend"}"#,
    );
    assert_eq!(event.event_type(), "user/message");
    assert_eq!(event.surface_op(), Field::Given(SurfaceOp::Append));
}

#[test]
fn a_clone_shares_its_text() {
    let event = comes_back(r#"{"type":"a","seq":0,"time":0,"data":"long"}"#);
    assert!(std::ptr::eq(event.text(), event.clone().text()));
}

#[test]
fn a_malformed_line_names_the_field_what_was_expected_and_what_was_found() {
    for (line, words) in [
        ("", "event: expected one JSON object, found EOF"),
        ("{", "event: expected one JSON object, found EOF"),
        ("{}{}", "event: expected one JSON object, found trailing characters"),
        ("\u{0}\u{0}", "event: expected one JSON object, found expected value"),
        ("[1]", "event: expected a JSON object, found [1]"),
        (
            "{}",
            "type: expected the key, found no such key|seq: expected the key, found no such key",
        ),
        (r#"{"type":7,"seq":0,"time":0,"data":0}"#, "type: expected a string, found 7"),
        (
            r#"{"type":"a","seq":1.0,"time":0,"data":0}"#,
            "seq: expected an integer from 0 to 2^53-1, found 1.0",
        ),
        (
            r#"{"type":"a","seq":-1,"time":0,"data":0}"#,
            "seq: expected an integer from 0 to 2^53-1, found -1",
        ),
        (
            r#"{"type":"a","seq":9007199254740992,"time":0,"data":0}"#,
            "seq: expected an integer from 0 to 2^53-1, found 9007199254740992",
        ),
        (
            r#"{"type":"a","seq":0,"time":"now","data":0}"#,
            "time: expected an integer within ±(2^53-1), found \"now\"",
        ),
        (
            r#"{"type":"a","seq":0,"time":-9007199254740992,"data":0}"#,
            "time: expected an integer within ±(2^53-1), found -9007199254740992",
        ),
        (r#"{"type":"a","seq":0,"time":0}"#, "data: expected the key, found no such key"),
        (
            r#"{"type":"a","seq":0,"time":0,"data":0,"data":1}"#,
            "data: expected the key once, found the key twice",
        ),
    ] {
        let said = refusal(line);
        assert!(words.split('|').any(|words| said.contains(words)), "{line}: {said}");
    }
}

#[test]
fn malformed_operations_and_sources_are_no_fault_of_the_events_shape() {
    let event = comes_back(
        r#"{"type":"a","seq":0,"time":0,"data":0,"surfaceOp":null,"sourceEventSeqs":[1.0]}"#,
    );
    assert_eq!(event.surface_op(), Field::Malformed);
    assert_eq!(event.sources(), Field::Malformed);
    assert_eq!((event.surface_op_text(), event.sources_text()), (Some("null"), Some("[1.0]")));
}

#[test]
fn a_stamped_draft_is_what_its_text_says() {
    for text in [
        r#"{"type":"a/b","data":{"n":1.0},"surfaceOp":{"op":"replace","start":3,"end":4},"sourceEventSeqs":[3,4]}"#,
        r#"{ "sourceEventSeqs": [3, 4] ,"data":7, "surfaceOp" : {"end":4,"op":"replace","start":3}, "x":0, "type":"a" }"#,
        r#"{"surfaceOp":{"op":"replace","start":3,"end":4},"type":"a","sourceEventSeqs":[3,4],"data":[]}"#,
    ] {
        let event = Draft::parse(text).unwrap().stamp(Seq::new(9).unwrap(), -7);
        let read = Event::parse(event.text()).unwrap();
        assert_eq!((event.seq(), event.time()), (read.seq(), read.time()));
        assert_eq!((event.seq().get(), event.time()), (9, -7));
        assert_eq!(event.data(), read.data());
        assert_eq!(event.event_type(), read.event_type());
        assert_eq!(event.surface_op(), read.surface_op());
        assert_eq!(
            event.sources(),
            Field::Given([3, 4].map(|seq| Seq::new(seq).unwrap()).to_vec())
        );
        assert_eq!(event.sources(), read.sources());
    }
}

#[test]
fn a_draft_is_built_in_any_order_and_changed_where_it_stands() {
    let seq = |number| Seq::new(number).unwrap();
    let draft = Draft::new("a\"b", &serde_json::json!({"n": [1]})).unwrap();
    let draft =
        draft.citing(&[seq(1)]).append().replace(seq(10), seq(200)).citing(&[seq(10), seq(200)]);
    assert_eq!(
        draft.text(),
        r#"{"type":"a\"b","data":{"n":[1]},"sourceEventSeqs":[10,200],"surfaceOp":{"op":"replace","start":10,"end":200}}"#
    );
    let event = draft.stamp(seq(201), 0);
    assert_eq!(
        event.surface_op(),
        Field::Given(SurfaceOp::Replace { start: seq(10), end: seq(200) })
    );
    assert_eq!(event.sources(), Field::Given(vec![seq(10), seq(200)]));
    assert_eq!(event.data().text(), r#"{"n":[1]}"#);
}

#[test]
fn an_offered_text_with_line_feeds_becomes_one_line() {
    let event = Draft::parse("{\"type\":\"a\",\n\"data\":{\n}}").unwrap().stamp(Seq::ZERO, 0);
    assert_eq!(event.text(), "{\"type\":\"a\",\"seq\":0,\"time\":0, \"data\":{ }}");
}

#[test]
fn values_are_compared_by_what_they_say() {
    let same = |a: &str, b: &str| Json::parse(a).unwrap().same_value(Json::parse(b).unwrap());
    assert!(same("1", "1.0") && same("1e2", "100") && same("-0", "0"));
    assert!(same(r#"{"a":1,"b":[{}]}"#, r#"{ "b":[ {} ], "a":1 }"#));
    assert!(same(r#"{"a":1,"a":2}"#, r#"{"\u0061":2}"#));
    assert!(same(r#""\ud83d\ude00\/""#, "\"😀/\""));
    assert!(
        !same("1", "true") && !same("1", "\"1\"") && !same("[]", "{}") && !same("[1]", "[1,1]")
    );
    assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":1}"#) && !same(r#""\ud83d""#, "\"\u{fffd}\""));
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(300_000), "]".repeat(300_000));
    assert!(same(&deep("1"), &deep("1.0")) && !same(&deep("1"), &deep("2")));
}
