//! What `-h`, `--help` and `git idd help` show.
//!
//! `-h` is a [`summary`] that fits on a screen. The manual is the man page, made into text by [`roff`], so that it can be
//! read without `man` and before the page is installed.

mod roff;

use crate::args::{Help, ParseError, habits};
use crate::console::{CommandAnswer, Console};
use crate::{args, columns, man};
use clap::Arg;
use idd_session::Failure;
use idd_session::hints::near::nearest;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;

/// The most used options, by their ids, each with a short text.
const OPTIONS: [(&str, &str); 10] = [
    ("build", "Shell line that is run before the test"),
    ("good", "Revision where the test passes (default: searched)"),
    ("bad", "Revision where the test fails (default: HEAD)"),
    ("hold", "Use today's version of this path in every revision"),
    ("match_line", "The failure counts only if a line of it matches"),
    ("timeout", "Time limit of the build and of the test: 90s, 5m"),
    ("jobs", "Number of tests that run at once"),
    ("budget", "Stop after this time; `git idd resume` goes on"),
    ("perf", "Find the commit since which this needs more time"),
    ("json", "Print one JSON object to stdout"),
];

/// All commands, by their use.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("hunt", &["minimize", "shrink", "start", "good", "bad", "skip", "undo", "resume", "status", "list"]),
    ("look", &["show", "report", "log", "watch"]),
    ("explain", &["explain", "chop", "slice", "invariants"]),
    ("debug", &["record", "trace", "debug", "dap", "mcp"]),
    ("keep", &["apply", "try", "verify", "reset", "gc", "remote"]),
    ("learn", &["help", "doctor", "man", "completions", "setup"]),
];

/// The answer to `git idd help run`.
const RUN: &str = "\
`run` is a word of `git bisect`, and no command here. `git idd run <test-cmd>` is the same
as `git idd <test-cmd>`: it hunts with this test. `git idd -- run` runs a program of this name.

`git idd -h` lists the commands, `git idd help` shows the manual.
";

/// The pages of `git idd help <page>`, by their names.
const PAGES: [(&[&str], &str); 9] = [
    (&["ci", "nightly"], include_str!("../../../docs/manual/ci.md")),
    (&["fixes"], include_str!("../../../docs/manual/fixes.md")),
    (&["flaky"], include_str!("../../../docs/manual/flaky.md")),
    (&["hunting"], include_str!("../../../docs/manual/hunting.md")),
    (&["languages"], include_str!("../../../docs/manual/languages.md")),
    (&["limits"], include_str!("../../../docs/manual/limits.md")),
    (&["old-revisions", "old"], include_str!("../../../docs/manual/old-revisions.md")),
    (&["place"], include_str!("../../../docs/manual/place.md")),
    (&["questions"], include_str!("../../../docs/manual/questions.md")),
];

/// The width of the manual if it is not printed on a terminal, and the largest on one, in columns.
const WIDTHS: (usize, usize) = (80, 100);

/// The answer to `-h` and to `--help`.
pub fn answer(help: Help, console: Console) -> io::Result<CommandAnswer> {
    Ok(match help {
        Help::Summary => CommandAnswer::Text(summary().into_bytes(), 0),
        Help::Manual => CommandAnswer::Page(manual(console)?),
        Help::Command(text) => CommandAnswer::Page(text.into_bytes()),
    })
}

/// The answer to `git idd help`: the manual, a page, or the help of the command that `words` name.
///
/// The manual also has the name `idd`, as in `git help idd`.
pub fn run(words: &[String], console: Console) -> Result<CommandAnswer, Failure> {
    if matches!(words.iter().map(String::as_str).collect::<Vec<_>>()[..], [] | ["idd" | "git-idd"]) {
        return Ok(CommandAnswer::Page(manual(console)?));
    }
    if words == ["run"] {
        return Ok(CommandAnswer::Text(RUN.into(), 0));
    }
    if let [word] = words
        && let Some((_, page)) = PAGES.iter().find(|(names, _)| names.contains(&word.as_str()))
    {
        return Ok(CommandAnswer::Page(page.as_bytes().to_vec()));
    }
    let mut command = &args::command();
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let pages = PAGES.iter().flat_map(|(names, _)| names.iter().copied());
            let names = command.get_subcommands().map(clap::Command::get_name).chain(pages);
            if let Some((message, hint)) = habits::of_bisect(word, &[], false) {
                return Failure::usage(message).with_hint(hint);
            }
            let failure = Failure::usage(format!("there is no help about `{}`", words.join(" ")));
            failure.with_hint(match nearest(word, names) {
                Some(near) => format!("did you mean `{near}`? `git idd -h` lists the commands"),
                None => "`git idd -h` lists the commands, `git idd help` shows the manual".to_owned(),
            })
        })?;
    }
    let words = words.iter().map(OsString::from);
    match args::parse(["git-idd".into()].into_iter().chain(words).chain(["--help".into()]).collect(), &[]) {
        Err(ParseError::Help(help)) => Ok(answer(help, console)?),
        _ => unreachable!("`--help` is answered before anything is missing"),
    }
}

/// The most used options and the commands, in at most 25 lines of 80 columns.
pub fn summary() -> String {
    let command = args::command();
    let mut text = "Find the change that broke a test, given as a command that fails now\n\n\
                    Usage: git idd [<options>] [--] <test-cmd> [<args>...]\n       git idd <command> [<args>...]\n\n"
        .to_owned();
    for (id, meaning) in OPTIONS {
        let arg = command.get_arguments().find(|arg| arg.get_id() == id).expect("the table has options of a hunt");
        let _ = writeln!(text, "  {:<26}{meaning}", typed(arg));
    }
    text.push('\n');
    for (use_of, names) in COMMANDS {
        let names: Vec<&str> = names.iter().copied().filter(|name| command.find_subcommand(name).is_some()).collect();
        let _ = writeln!(text, "  {:<9}{}", format!("{use_of}:"), names.join(", "));
    }
    text + "\n`git idd help` shows the manual with all options, `git idd help <command>` those\n\
            of a command, `git idd help <page>` a page: ci, fixes, flaky, limits, old, place\n"
}

/// An option as it is typed.
fn typed(arg: &Arg) -> String {
    let short = arg.get_short().map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
    let value = arg.get_value_names().into_iter().flatten().map(|name| format!(" <{}>", name.to_lowercase()));
    let value: String = if arg.get_action().takes_values() { value.collect() } else { String::new() };
    format!("{short}--{}{value}", arg.get_long().unwrap_or_default())
}

/// The man page as text.
fn manual(console: Console) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man::write(&mut page)?;
    let columns = console.is_terminal.then(|| columns::of(io::stdout()));
    let width = columns.map_or(WIDTHS.0, |columns| columns.clamp(40, WIDTHS.1));
    Ok(roff::text(&String::from_utf8_lossy(&page), width, console.out_style).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_report::Status;
    use std::collections::BTreeSet;

    #[test]
    fn the_summary_is_as_reviewed_and_fits_on_a_screen() {
        let text = summary();
        assert!(text.lines().count() <= 25 && text.lines().all(|line| line.len() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_summary_names_every_command_once() {
        let command = args::command();
        let names: BTreeSet<&str> =
            command.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name).collect();
        let listed: Vec<&str> = COMMANDS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!((listed.iter().copied().collect(), listed.len()), (names, command.get_subcommands().count()));
    }

    fn shown(words: &[&str]) -> Result<String, Failure> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        run(&words, Console::plain()).map(|answer| match answer {
            CommandAnswer::Page(text) => String::from_utf8(text).unwrap(),
            _ => panic!("no page"),
        })
    }

    #[test]
    fn help_shows_the_manual_or_the_options_of_a_command() {
        let manual = shown(&[]).unwrap();
        assert!(manual.contains("\nEXIT STATUS\n") && manual.contains("--max-probes <N>"), "{manual}");
        assert_eq!((shown(&["idd"]).unwrap(), shown(&["git-idd"]).unwrap()), (manual.clone(), manual));
        assert!(shown(&["shrink"]).unwrap().contains("Usage: git idd shrink"));
        assert!(shown(&["trace", "step"]).unwrap().contains("Usage: git idd trace step"));
        assert!(shown(&["nightly"]).unwrap().starts_with("# In CI"));
        let failure = shown(&["shrnik"]).unwrap_err();
        assert_eq!(failure.status, Status::Usage);
        assert_eq!(failure.hint.unwrap(), "did you mean `shrink`? `git idd -h` lists the commands".into());
        assert!(shown(&["trace", "all"]).is_err());
        let words = ["run".to_owned()];
        let CommandAnswer::Text(text, 0) = run(&words, Console::plain()).unwrap() else { panic!("no text") };
        assert!(String::from_utf8(text).unwrap().contains("`git idd run <test-cmd>` is the same"));
        assert_eq!(shown(&["visualize"]).unwrap_err().message, "`visualize` has another name here".into());
    }
}
