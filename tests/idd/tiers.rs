//! The tests of the nightly tier, which `.config/nextest.toml` names.

use std::fs;
use std::process::Command;

use regex::Regex;

use crate::fixture::{root, succeed};
use crate::tidy;

/// The names of all tests of whole commands.
fn names() -> Vec<String> {
    let listed = succeed(Command::new(std::env::current_exe().unwrap()).args(["--list", "--format", "terse"]));
    let listed = String::from_utf8(listed).unwrap();
    listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// Whether a member has a test of this name.
fn is_of_member(member: &str, name: &str) -> bool {
    let function = format!("fn {}(", name.rsplit("::").next().unwrap());
    let has =
        |(path, source): (&String, &String)| path.starts_with(&format!("src/{member}/")) && source.contains(&function);
    tidy::sources().iter().any(has)
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn every_name_of_the_nightly_tier_is_that_of_a_test() {
    let configuration = fs::read_to_string(root().join(".config/nextest.toml")).unwrap();
    let names = names();
    let mut n_patterns = 0;
    for pattern in
        Regex::new(r"(?:package\(idd-(\w+)\) & )?test\((?:=([^)]+)|/(.+)/)\)").unwrap().captures_iter(&configuration)
    {
        n_patterns += 1;
        let is_there = match (pattern.get(1), pattern.get(2), pattern.get(3)) {
            (Some(member), Some(name), _) => is_of_member(member.as_str(), name.as_str()),
            (None, Some(name), _) => names.iter().any(|other| other == name.as_str()),
            (_, _, Some(pattern)) => {
                let pattern = Regex::new(pattern.as_str()).unwrap();
                names.iter().any(|name| pattern.is_match(name))
            }
            _ => unreachable!("one of the groups matches"),
        };
        assert!(is_there, "no test is named so: {}", &pattern[0]);
    }
    assert!(n_patterns > 10, "{n_patterns}");
}
