//! The arrows between the rooms: which room may use which.

use std::fs;
use std::path::{Path, PathBuf};

const ROOMS: [&str; 5] = ["spec", "oracle", "session", "harness", "cli"];

/// The rooms that a room may use beside itself.
fn allowed(room: &str) -> &'static [&'static str] {
    match room {
        "oracle" | "session" => &["spec"],
        "harness" => &["spec", "oracle", "session"],
        "cli" => &["spec", "oracle", "session", "harness"],
        _ => &[],
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The rooms that a file names behind `crate::`, `super::` out of its room, or the crate's name.
fn named(text: &str) -> Vec<&'static str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join("\n");
    let is_named = |room: &&str| {
        ["crate::", "session_surface::"].iter().any(|root| {
            code.contains(&format!("{root}{room}::")) || code.contains(&format!("{root}{{{room}"))
        })
    };
    ROOMS.into_iter().filter(is_named).collect()
}

#[test]
fn no_room_uses_a_room_that_its_arrows_do_not_lead_to() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for room in ROOMS {
        for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room)) {
            seen += 1;
            let used = named(&fs::read_to_string(&file).unwrap());
            let astray =
                used.into_iter().filter(|used| *used != room && !allowed(room).contains(used));
            wrong.extend(astray.map(|used| format!("{} uses {used}", file.display())));
        }
    }
    assert!(seen > 20, "only {seen} files were read");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_file_says_in_its_first_line_what_it_is_for() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in files(&source) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} does not say what it is for", file.display());
    }
}

#[test]
fn the_model_stays_under_150_lines() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/oracle/mod.rs");
    let text = fs::read_to_string(model).unwrap();
    let lines = text.split("#[cfg(test)]").next().unwrap().lines().count();
    assert!(lines < 150, "the model has {lines} lines");
}
