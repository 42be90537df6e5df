//! The man page, git-idd(1).
//!
//! Options and commands come from the parser, exit codes from the table of the report, keys from the table of the
//! configuration; only what cannot be derived is written here.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use crate::args;
use crate::args::config::{FLAGS, OTHER_KEYS, SETTINGS};
use idd_report::status::TABLE;

const DESCRIPTION: [&str; 7] = [
    "Finds the change that broke a test. Given a test that fails now, git idd finds the newest revision where it \
     passes and the first one where it fails. It reduces this commit to a minimal change that makes the test fail. It \
     carries a reversal of the change to HEAD, and tests it there.",
    "One argument is a shell line, several are a program and its arguments. The command runs in a checkout of each \
     revision, outside the working tree. If git idd is started in a subdirectory, the command runs in that \
     subdirectory of the checkout (git bisect run uses the top). Exit code 0 is a pass. Exit code 125 means that the \
     revision cannot be tested. Anything else is a failure, and so is death by a signal. The test must fail twice in \
     the same way at the bad revision; only this failure counts.",
    "No good revision has to be known. Without --good one is searched, going back by 4, 16, 64... revisions.",
    "A revision that cannot be tested is repaired, not skipped. The repair is the smallest part of the difference to \
     a testable neighbour that makes the revision testable. It is also tried on other revisions that fail in the same \
     way. A verdict that needed a repair is checked before it counts.",
    "The culprit is reduced twice. The sufficient change, added to the good revision, makes the test fail; the necessary \
     change, taken out of the bad one, makes it pass. No part of either can be left out. Such a change is one cause; there can be others.",
    "HEAD, index, working tree, stash and configuration of the repository are never changed; only git idd apply \
     changes files. Every claim of the finding is run again in a clean checkout before it is printed.",
    "Hunts are kept; git idd list lists them. The commands show, report, explain, apply and try use the newest finding; a \
     hunt that found nothing never replaces it. The commands status, log and resume use the hunt of this worktree \
     that ran last, and watch the one that runs. --hunt selects a hunt by its id, which may be abbreviated. git idd gc removes hunts that ended \
     more than 30 days ago. While the rest takes more than 1 GiB, it also removes the oldest ones.",
];

const ENVIRONMENT: [(&str, &str); 7] = [
    ("IDD_WORKTREE", "Set for the test: the top of the checkout that it runs in."),
    ("IDD_TREE", "Set for the test: the id of the tree that is tested."),
    (
        "IDD_COMMIT",
        "Set for the test with --expose-commit: the commit that is tested, or that the tree is derived from.",
    ),
    ("TMPDIR", "Set for the test: an empty directory of its own."),
    ("GIT_*", "Not set for the test, so that git in it sees the checkout and nothing else."),
    ("IDD_CLANG", "The clang, version 16 or newer, that git idd record and git idd explain instrument programs with."),
    ("NO_COLOR", "If set and not empty, there is no colour without --color=always."),
];

const FILES: [(&str, &str); 4] = [
    (
        "$(git rev-parse --git-path idd)",
        "Data of this worktree: the list of its hunts, its last page, its recordings, and reduced inputs.",
    ),
    (
        "$(git rev-parse --git-common-dir)/idd",
        "Data of all worktrees: the journals of all hunts with the results and outputs of the tests, and the objects \
         of candidates.",
    ),
    (
        "refs/worktree/idd/*",
        "Refs to the objects of the newest finding, so that git gc keeps them until git idd reset.",
    ),
    ("<worktreeDir>", "The checkouts of the workers; removed at the end."),
];

const EXAMPLES: [(&str, &str); 14] = [
    ("git idd --build make -- ./test.sh", "A test that fails today; make has to run first."),
    (
        "git idd --good v1.2 -j2 'make && ./run-tests | grep -q ok'",
        "A shell line, a revision known to be good, two tests at once.",
    ),
    ("git idd --timeout 10s -- ./server --self-test", "A test that hangs; the hang is the failure."),
    ("git idd --find fix -- ./test.sh", "The commit since which the test passes again."),
    (
        "git idd --find change --build make --by './prog --version'",
        "The commit since which the program prints what it prints now.",
    ),
    ("git idd minimize v1.2 v1.3 --build make -- ./test.sh", "Which lines between two releases matter."),
    ("git idd shrink --input big.json --build make -- ./parse big.json", "The smallest input that fails in this way."),
    ("git idd log --format=bisect >hunt.log && git bisect replay hunt.log", "Go on by hand."),
    ("git idd list; git idd show --hunt mws7", "Go back to an earlier finding."),
    ("git idd log HEAD~3", "What the test wrote at a revision."),
    ("git idd explain", "Print how the change that was found leads to the failure (C programs)."),
    ("git idd record --build make -- ./test.sh", "Record what the C program does that the test runs."),
    ("git idd setup", "Install this page, and completions for the shells."),
    ("git -c idd.jobs=2 idd --budget 30m --json -- make check", "A nightly job."),
];

/// Writes the page as roff; `git idd man | man -l -` shows it.
pub fn write(out: &mut dyn Write) -> io::Result<()> {
    let command = args::command();
    let man = Man::new(command.clone()).title("GIT-IDD").section("1").date("").manual("Git Manual");
    man.render_title(out)?;
    let mut page = Roff::new();
    page.control("SH", ["NAME"]).text([roman("git-idd - find the change that broke a test")]);
    page.control("SH", ["SYNOPSIS"]);
    for (index, form) in forms(&mut command.clone()).iter().enumerate() {
        if index > 0 {
            page.control("br", []);
        }
        page.text([bold("git idd"), roman(form.strip_prefix("git idd").unwrap_or(form))]);
    }
    page.control("SH", ["DESCRIPTION"]);
    for (index, paragraph) in DESCRIPTION.iter().enumerate() {
        if index > 0 {
            page.control("PP", []);
        }
        page.text([roman(*paragraph)]);
    }
    page.to_writer(out)?;
    man.render_options_section(out)?;
    commands(&command).to_writer(out)?;
    tables().to_writer(out)
}

/// The usage of the program and of each command, a line for each form.
fn forms(command: &mut Command) -> Vec<String> {
    command.build();
    let of = |command: &mut Command| {
        let usage = command.render_usage().to_string();
        let lines = usage.lines().map(|line| line.trim_start_matches("Usage:").trim().to_owned());
        lines.collect::<Vec<_>>()
    };
    let program = of(command).into_iter().filter(|form| !form.contains("<COMMAND>"));
    let shown = command.get_subcommands_mut().filter(|command| !command.is_hide_set());
    program.collect::<Vec<_>>().into_iter().chain(shown.flat_map(of)).collect()
}

fn commands(command: &Command) -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["COMMANDS"]);
    page.text([roman(
        "If the first word names a command, that command runs; after -- it is always the test. All commands take \
         --json, --quiet, --verbose and --color. git idd help <command> lists the options of a command. A long \
         option may be abbreviated, if no other option of the command begins with the same letters.",
    )]);
    for subcommand in command.get_subcommands() {
        entry(&mut page, vec![bold(subcommand.get_name())], &[&help_of(subcommand.get_about())]);
        for inner in subcommand.get_subcommands() {
            let name = format!("{} {}", subcommand.get_name(), inner.get_name());
            entry(&mut page, vec![bold(name)], &[&help_of(inner.get_about())]);
        }
    }
    page
}

fn help_of(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    if text.ends_with('.') { text } else { text + "." }
}

fn tables() -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["EXIT STATUS"]);
    for row in TABLE {
        entry(&mut page, vec![bold(row.code.to_string()), roman(" "), italic(row.word)], &[row.meaning]);
    }
    page.text([roman("")]);
    page.control("SH", ["ENVIRONMENT"]);
    entries(&mut page, &ENVIRONMENT);
    page.control("SH", ["CONFIGURATION"]);
    page.text([roman(
        "Each key sets an option; the command line wins. An empty value clears a key that may be set more than once. \
         The opposite of a flag, such as --no-clean or --cache, overrides a configured flag.",
    )]);
    for setting in SETTINGS {
        let option = setting.id.replace('_', "-");
        let option = option.strip_suffix("-line").unwrap_or(&option);
        let often = if setting.is_list { " May be set more than once." } else { "" };
        entry(&mut page, vec![bold(setting.key)], &[&format!("As --{option}.{often}")]);
    }
    for flag in FLAGS {
        let value = if flag.is_negative { "false" } else { "true" };
        let text = format!("A boolean; {value} is as --{}.", flag.id.replace('_', "-"));
        entry(&mut page, vec![bold(flag.key)], &[&text]);
    }
    for other in OTHER_KEYS {
        let tail = if other.key.ends_with('.') { vec![bold(other.key), italic("*")] } else { vec![bold(other.key)] };
        entry(&mut page, tail, &[other.meaning]);
    }
    page.control("SH", ["FILES"]);
    entries(&mut page, &FILES);
    page.control("SH", ["EXAMPLES"]);
    entries(&mut page, &EXAMPLES);
    page.control("SH", ["NOTES"]);
    page.text([roman(
        "The test runs with the rights of the user and is not confined. The first bad commit follows the newest pass that was found; only --walk linear tests every revision. Iterative delta debugging is by Artho (2011), delta debugging \
         by Zeller and Hildebrandt (2002).",
    )]);
    page.control("SH", ["SEE ALSO"]);
    page.text([
        bold("git-bisect"),
        roman("(1), "),
        bold("git-apply"),
        roman("(1), "),
        bold("git-worktree"),
        roman("(1)"),
    ]);
    page
}

fn entries(page: &mut Roff, entries: &[(&str, &str)]) {
    for (term, text) in entries {
        entry(page, vec![bold(*term)], &[text]);
    }
}

fn entry(page: &mut Roff, term: Vec<Inline>, paragraphs: &[&str]) {
    page.control("TP", []);
    page.text(term);
    for paragraph in paragraphs {
        page.text([roman(*paragraph)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap().replace(env!("CARGO_PKG_VERSION"), "<version>")
    }

    #[test]
    fn the_man_page_is_as_reviewed() {
        insta::assert_snapshot!(page());
    }

    #[test]
    fn the_man_page_names_every_option_key_and_exit_code() {
        let page = page().replace("\\-", "-");
        let command = args::command();
        for option in command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional()) {
            let long = option.get_long().unwrap();
            assert!(page.contains(&format!("--{long}")), "{long}");
        }
        for key in
            SETTINGS.iter().map(|it| it.key).chain(FLAGS.iter().map(|it| it.key)).chain(OTHER_KEYS.map(|it| it.key))
        {
            assert!(page.contains(key), "{key}");
        }
        for row in TABLE {
            assert!(page.contains(row.word) && page.contains(row.meaning), "{}", row.word);
        }
    }
}
