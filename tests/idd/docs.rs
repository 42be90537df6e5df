//! The documents say what the program does.

use std::fs;

use git_idd::cli::args;
use git_idd::report::status::TABLE;

use crate::fixture;

fn readme() -> String {
    fs::read_to_string(fixture::root().join("README.md")).unwrap()
}

fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    rest.split("\n## ").next().unwrap()
}

/// The lines of all code blocks in `text`.
fn commands(text: &str) -> Vec<&str> {
    text.split("```")
        .skip(1)
        .step_by(2)
        .flat_map(|block| block.lines().skip(1))
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_readme_has_two_commands_to_set_up_and_the_scripts_they_name_exist() {
    let readme = readme();
    let commands = commands(section(&readme, "Set up"));
    assert_eq!(commands, ["cargo install --locked --path . && ./scripts/demo.sh", "./scripts/check.sh"]);
    for script in ["scripts/demo.sh", "scripts/check.sh", ".ci/run"] {
        assert!(fixture::root().join(script).is_file(), "{script}");
    }
    let ci = fs::read_to_string(fixture::root().join(".ci/run")).unwrap();
    assert!(ci.lines().any(|line| line.ends_with("./scripts/check.sh")));
}

#[test]
fn the_readme_lists_every_option_and_every_command() {
    let readme = readme();
    let command = args::command();
    for option in command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional()) {
        let long = option.get_long().unwrap();
        let is_listed =
            ["help", "version"].contains(&long) || section(&readme, "Options").contains(&format!("`--{long}"));
        assert!(is_listed, "--{long}");
    }
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        assert!(section(&readme, "Commands").contains(&format!("`git idd {name}")), "{name}");
    }
}

#[test]
fn the_readme_has_the_table_of_exit_codes() {
    let readme = readme();
    let rows: Vec<String> =
        TABLE.iter().map(|row| format!("| {} | `{}` | {} |", row.code, row.word, row.meaning)).collect();
    assert!(section(&readme, "Exit codes").contains(&rows.join("\n")), "expected\n{}", rows.join("\n"));
}

#[test]
fn the_changelog_has_a_place_for_the_next_release() {
    let changelog = fs::read_to_string(fixture::root().join("CHANGELOG.md")).unwrap();
    assert!(changelog.contains("\n## [Unreleased]\n"));
}
