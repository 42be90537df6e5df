//! Chops of programs that crash because they write outside of an object: the statement that does so must be in the chop.
//!
//! The kinds of error are those of Gupta et al. 2005, who take them from gzip, ncompress, polymorph, tar, bc and tidy.

use serde_json::Value;
use std::fs;
use std::path::Path;

use crate::fixture::root;
use crate::plain::{git, idd};

/// The name of a program in `tests/idd/corruption`, and its failing input.
fn programs() -> [(&'static str, String); 6] {
    let word = "x".repeat(60);
    let numbers: Vec<String> = (0..68).map(|number| (number * 1000).to_string()).collect();
    [
        ("argument", word.clone()),
        ("path", format!("a/b\n{}/name\n", "/d".repeat(40))),
        // It reaches the pointer beside the buffer, and not the parameter behind: the length of the environment decides what
        // the program reads by a parameter that is overwritten in part.
        ("stack", format!("one\n{}\n", &word[..15])),
        ("heap", format!("a\nb\n{word}\n")),
        ("table", "1,2,3\n1,2,3,4,5,6\n".to_owned()),
        ("length", format!("68\n{}\n", numbers.join("\n"))),
    ]
}

/// The number of the first line of `source` with this text.
fn line_of(source: &str, text: &str) -> u64 {
    source.lines().zip(1..).find(|(line, _)| line.contains(text)).unwrap().1
}

fn chop(place: &Path, name: &str, input: &str) -> Value {
    let build = format!("$CC -g -o {name} {name}.c");
    let test = if name == "argument" { format!("./{name} {input}") } else { format!("./{name} <{name}.in") };
    let (said, progress, code) =
        idd(place, &["chop", "--once", "--no-shrink", "--json", "--build", &build, "--", &test]);
    assert_eq!(code, Some(0), "{name}: {said}{progress}");
    serde_json::from_str(&said).unwrap()
}

#[test]
fn the_chop_of_a_corrupted_memory_has_the_statement_that_overwrites_it() {
    let place = tempfile::tempdir().unwrap();
    let programs = programs().map(|(name, input)| {
        let file = format!("{name}.c");
        let source = fs::read_to_string(root().join("tests/idd/corruption").join(&file)).unwrap();
        fs::write(place.path().join(file), &source).unwrap();
        fs::write(place.path().join(format!("{name}.in")), &input).unwrap();
        (name, input, source)
    });
    git(place.path(), &["init", "--quiet", "."]);
    git(place.path(), &["add", "."]);
    git(place.path(), &["commit", "--quiet", "-m", "All"]);
    for (name, input, source) in programs {
        let chop = chop(place.path(), name, &input);
        let lines: Vec<u64> =
            chop["lines"].as_array().unwrap().iter().map(|line| line["line"].as_u64().unwrap()).collect();
        assert!(lines.contains(&line_of(&source, "/* overwrites */")), "{name}: {chop:#}");
        assert!(chop["chop"]["n_statements"].as_u64() < chop["program"]["n_statements"].as_u64(), "{name}: {chop:#}");
    }
}
