//! Words of `git bisect`, and slips that the words of a command line show by themselves.
//!
//! Only words are looked at. Whether a program has the name of such a word is asked by its caller.

use crate::args::command::command;
use crate::args::words::{CommandLineWords, split, waits_for_value};
use idd_world::process::shell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// A message and a hint.
pub type HabitMessage = (String, String);

/// The placeholder for a test in hints.
const TEST: &str = "<test>";

/// How a word of `git bisect` is understood.
struct BisectWord {
    name: &'static str,
    /// Whether it is one also if a program has this name.
    is_always: bool,
    /// The message.
    message: &'static str,
    /// The next step, from the words after it.
    hint: fn(&[OsString]) -> String,
}

const WORDS: [BisectWord; 8] = [
    BisectWord {
        name: "old",
        is_always: false,
        message: "`old` is no command here: good revisions are given together with the test",
        hint: |rest| format!("`{}`; without `--good`, a good revision is searched", with_revisions("--good", rest)),
    },
    BisectWord {
        name: "new",
        is_always: false,
        message: "`new` is no command here: the bad revision is given together with the test",
        hint: |rest| format!("`{}`; without `--bad`, it is HEAD", with_revisions("--bad", rest)),
    },
    BisectWord {
        name: "visualize",
        is_always: true,
        message: "`visualize` has another name here",
        hint: |_| "`git idd log` prints the tested revisions, `git idd report --open` shows the finding".to_owned(),
    },
    BisectWord {
        name: "view",
        is_always: true,
        message: "`view` has another name here",
        hint: |_| "`git idd log` prints the tested revisions, `git idd report --open` shows the finding".to_owned(),
    },
    BisectWord {
        // The word of `git rebase`, and no program: the shell would run it with exit code 0.
        name: "continue",
        is_always: true,
        message: "`continue` has another name here",
        hint: |_| "`git idd resume` goes on with a stopped hunt".to_owned(),
    },
    BisectWord {
        name: "terms",
        is_always: false,
        message: "the terms are fixed: good revisions pass the test, bad ones fail",
        hint: |_| format!("to find what made a test pass: `git idd --find fix {TEST}`"),
    },
    BisectWord {
        name: "replay",
        is_always: false,
        message: "a hunt keeps its own log, and needs no `replay`",
        hint: |_| {
            "`git idd resume` goes on with a stopped hunt; `git idd --from-bisect <test>` takes the revisions of a `git \
             bisect`"
                .to_owned()
        },
    },
    BisectWord {
        name: "next",
        is_always: false,
        message: "`next` is not needed: a hunt chooses the revisions itself",
        hint: |_| "`git idd resume` goes on with a stopped hunt".to_owned(),
    },
];

/// What to do in place of a word of `git bisect` with these words after it; `None` if it is no such word.
///
/// - `has_program`: whether a program of this name can be started. Some words are words of `git bisect` all the same.
pub fn of_bisect(word: &str, rest: &[OsString], has_program: bool) -> Option<HabitMessage> {
    let word = WORDS.iter().find(|known| known.name == word && (known.is_always || !has_program))?;
    Some((word.message.to_owned(), (word.hint)(rest)))
}

/// The words as they are meant, and sentences about what was understood otherwise than written.
///
/// Errors: words of `git bisect` that are no tests, and operators of the shell as words of their own.
pub fn understood(words: CommandLineWords) -> Result<(CommandLineWords, Vec<String>), HabitMessage> {
    if let Some(option) = words.before[..words.n_options].iter().find_map(|word| term_option(word)) {
        let (_, hint) = of_bisect("terms", &[], false).expect("it is a word of `git bisect`");
        return Err((format!("there is no `{option}`: good revisions pass the test, bad ones fail"), hint));
    }
    if words.subcommand.as_deref() == Some("reset") && has_revision(&words.after) {
        let message = "`git idd reset` takes no revision: a hunt checks out nothing in your working tree";
        return Err((message.to_owned(), "`git idd reset` forgets the hunts of this worktree".to_owned()));
    }
    let Some((test, is_explicit)) = words.test() else { return Ok((words, Vec::new())) };
    let Some((first, rest)) = test.split_first() else { return Ok((words, Vec::new())) };
    if let Some(operator) = rest.iter().find(|word| *word == "&&" || *word == "||") {
        let operator = operator.to_string_lossy();
        let is_run = !is_explicit && first == "run";
        let line = test[usize::from(is_run)..].iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        return Err((
            format!("the test gets `{operator}` as a plain word: no shell reads several words"),
            format!("quote the whole line: `git idd {}`", shell::in_quotes(&line)),
        ));
    }
    if is_explicit {
        return Ok((words, Vec::new()));
    }
    if first == "run" && rest.is_empty() {
        let hint = "give a command that fails now: git idd -- ./test.sh";
        return Err(("`run` is not needed, and the test command is empty".to_owned(), hint.to_owned()));
    }
    if first == "run" {
        let begin = rest.first().is_some_and(|word| !word.as_bytes().starts_with(b"-"));
        // Options of `git idd` may follow, as after `git bisect run`.
        let test = if begin { format!(": the test is `{}`", typed(rest)) } else { String::new() };
        let said = format!("`run` is not needed{test}. (`git idd -- run` runs a program of this name.)");
        let mut meant = words.given();
        // The program's own name is in front; `--` keeps a test from being read as a subcommand.
        let place = 1 + words.n_options;
        if begin {
            meant[place] = "--".into();
        } else {
            meant.remove(place);
        }
        let remarks = [said].into_iter().chain(misplaced(&words, rest)).collect();
        return Ok((split(meant), remarks));
    }
    if let Some(complaint) = first.to_str().and_then(|word| of_bisect(word, rest, true)) {
        return Err(complaint);
    }
    let remarks = misplaced(&words, test).into_iter().chain(operators(test)).collect();
    Ok((words, remarks))
}

/// The name of the option of `git bisect start` that chooses a term, if the word is one.
fn term_option(word: &OsStr) -> Option<&str> {
    let name = word.to_str()?.split('=').next()?;
    ["--term-old", "--term-good", "--term-new", "--term-bad"].contains(&name).then_some(name)
}

/// What to do in place of revisions in front of the test, as in `git bisect start <bad> <good>...`.
///
/// - `revisions`: at least one, the bad one first.
/// - `test`: what stands after them; empty if nothing does.
pub fn of_revisions(revisions: &[OsString], test: &[OsString]) -> HabitMessage {
    let mut options = Vec::new();
    for (nth, revision) in revisions.iter().enumerate() {
        options.extend([OsString::from(if nth == 0 { "--bad" } else { "--good" }), revision.clone()]);
    }
    let test = if test.is_empty() { TEST.to_owned() } else { typed(test) };
    let first = typed(&revisions[..1]);
    (
        format!("`{first}` is a revision, not a test: options name the revisions"),
        format!("`git idd {} -- {test}`; without `--good`, a good revision is searched", typed(&options)),
    )
}

/// Whether a word is neither an option nor the value of one.
fn has_revision(words: &[OsString]) -> bool {
    let root = command();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.as_bytes().starts_with(b"-") {
            return true;
        }
        if waits_for_value(root.get_arguments(), &word.to_string_lossy()) {
            words.next();
        }
    }
    false
}

/// Options that are meant for `git idd` if they stand after a test.
const MISPLACED: [&str; 26] = [
    "--bad",
    "--build",
    "--budget",
    "--effort",
    "--expose-commit",
    "--first-parent",
    "--flaky",
    "--from-artifacts",
    "--from-bisect",
    "--good",
    "--hold",
    "--isolate-home",
    "--jobs",
    "--match",
    "--max-cost",
    "--max-probes",
    "--no-cache",
    "--no-hold",
    "--overlay",
    "--pass-match",
    "--precheck",
    "--shim",
    "--suite",
    "--timeout",
    "--until",
    "-j",
];

/// Those of them that programs in `PATH` often have, too.
const COMMON: [&str; 6] = ["--jobs", "--match", "--suite", "--timeout", "--until", "-j"];

/// The warning about an option of `git idd` after the test.
fn misplaced(words: &CommandLineWords, test: &[OsString]) -> Option<String> {
    let program = test.first()?.to_string_lossy();
    let is_of_path = !program.contains(['/', '.', ' ']);
    let is_meant = |word: &OsString| {
        let word = word.to_string_lossy();
        let name = word.split('=').next().unwrap_or_default();
        let is_jobs = name.strip_prefix("-j").is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()));
        let name = if is_jobs { "-j" } else { name };
        MISPLACED.contains(&name)
            && !(is_of_path && COMMON.contains(&name))
            && !(program == "cmake" && name == "--build")
    };
    // What follows a `--` is not for `git idd` either way.
    let end = test.iter().position(|word| word == "--").unwrap_or(test.len());
    let at = 1 + test[..end].iter().skip(1).position(is_meant)?;
    let root = command();
    let has_value =
        !test[at].as_bytes().contains(&b'=') && waits_for_value(root.get_arguments(), &test[at].to_string_lossy());
    let after = (at + 1 + usize::from(has_value)).min(test.len());
    let option = test[at].to_string_lossy();
    let options = words.before[..words.n_options].iter().chain(&test[at..after]);
    let left = test[..at].iter().chain(&test[after..]);
    Some(format!(
        "`{option}` stands after the test, so the test gets it. If it is for git idd: `git idd {} -- {}`. If it is for \
         the test: `git idd -- {}`.",
        typed(options),
        typed(left),
        typed(test)
    ))
}

/// The warning about `|` or `;` as a word of a test. Some programs take such words.
fn operators(test: &[OsString]) -> Option<String> {
    let operator = test.iter().skip(1).find(|word| *word == "|" || *word == ";")?.to_string_lossy();
    let is_find = test.first().is_some_and(|program| program == "find");
    (!is_find).then(|| {
        format!(
            "The test gets `{operator}` as a plain word: no shell reads several words. If a shell should, quote the \
             whole line."
        )
    })
}

/// The hunt with these revisions for an option.
fn with_revisions(option: &str, rest: &[OsString]) -> String {
    let mut options = Vec::new();
    for revision in rest.iter().filter(|word| !word.as_bytes().starts_with(b"-")) {
        options.extend([OsString::from(option), revision.clone()]);
    }
    if options.is_empty() {
        options = vec![option.into(), "<rev>".into()];
    }
    hunt(&options)
}

fn hunt(options: &[OsString]) -> String {
    format!("git idd {} -- {TEST}", typed(options))
}

/// Words as they are typed. An option or a revision is not quoted for a `=` or `~` in its middle, which no shell reads
/// otherwise there.
fn typed<'w>(words: impl IntoIterator<Item = &'w OsString>) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./~@:+-=".contains(byte);
    let words = words.into_iter().map(|word| match word.as_bytes() {
        b"<rev>" => b"<rev>".to_vec(),
        word if !word.is_empty() && word.iter().all(is_plain) && !word.starts_with(b"~") => word.to_vec(),
        word => shell::quoted(word),
    });
    String::from_utf8_lossy(&words.collect::<Vec<_>>().join(&b' ')).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(line: &str) -> Result<(CommandLineWords, Vec<String>), HabitMessage> {
        understood(split(line.split_whitespace().map(|word| word.replace('_', " ").into()).collect()))
    }

    #[track_caller]
    fn hint(line: &str) -> String {
        given(line).unwrap_err().1
    }

    #[test]
    fn run_is_left_out_and_what_follows_it_is_the_test() {
        let (words, remarks) = given("git-idd --good v1 run show x").unwrap();
        assert_eq!(words.before, ["--good", "v1", "--", "show", "x"]);
        assert!(remarks[0].starts_with("`run` is not needed: the test is `show x`."), "{remarks:?}");
        let (words, _) = given("git-idd run --build make -- ./t.sh").unwrap();
        assert_eq!(words.before, ["--build", "make", "--", "./t.sh"]);
        assert!(hint("git-idd run").ends_with("git idd -- ./test.sh"));
        for line in ["git-idd -- run x", "git-idd ./run x"] {
            assert_eq!(given(line).unwrap(), (split(line.split(' ').map(OsString::from).collect()), vec![]), "{line}");
        }
    }

    #[test]
    fn words_of_git_bisect_become_options() {
        let rest = "; without `--good`, a good revision is searched";
        let of = |word: &str, rest: &[OsString]| of_bisect(word, rest, false).unwrap().1;
        assert_eq!(of("old", &["a b".into()]), format!("`git idd --good 'a b' -- <test>`{rest}"));
        assert_eq!(of("new", &[]), "`git idd --bad <rev> -- <test>`; without `--bad`, it is HEAD");
        // These are commands, of a hunt by hand.
        for line in ["git-idd start HEAD v1 v2", "git-idd good", "git-idd bad v2", "git-idd skip", "git-idd undo"] {
            assert!(given(line).is_ok_and(|(_, said)| said.is_empty()), "{line}");
        }
        for line in ["git-idd --term-old fast --term-new slow ./t.sh", "git-idd --term-good=fast ./t.sh"] {
            let (said, hint) = given(line).unwrap_err();
            assert!(said.starts_with("there is no `--term-") && hint.contains("`git idd --find fix <test>`"), "{said}");
        }
        assert!(given("git-idd ./t.sh --term-old x").unwrap().1.is_empty(), "it is of the test");
        assert!(given("git-idd -- good v1").unwrap().1.is_empty());
        assert!(given("git-idd reset --color never --json").is_ok() && given("git-idd reset -q v1").is_err());
        assert!(given("git-idd next").unwrap().1.is_empty(), "it could be a program");
        assert_eq!(hint("git-idd continue"), "`git idd resume` goes on with a stopped hunt");
        assert!(of_bisect("next", &[], false).is_some() && of_bisect("next", &[], true).is_none());
    }

    #[test]
    fn an_option_after_the_test_is_reported_with_the_command_that_may_be_meant() {
        let said = |line: &str| given(line).unwrap().1.concat();
        let with = said("git-idd --clean ./t.sh --build make_-s x");
        assert!(with.contains("If it is for git idd: `git idd --clean --build 'make -s' -- ./t.sh x`."), "{with}");
        assert!(with.contains("If it is for the test: `git idd -- ./t.sh --build 'make -s' x`."), "{with}");
        assert!(said("git-idd ./t.sh -j4").contains("`git idd -j4 -- ./t.sh`"));
        assert!(said("git-idd make test --good=v1").contains("`git idd --good=v1 -- make test`"));
        for line in ["make -j4 test", "cmake --build b", "./t.sh --json", "-- ./t.sh --build x", "ctest -- --good"] {
            assert_eq!(said(&format!("git-idd {line}")), "", "{line}");
        }
    }

    #[test]
    fn every_option_that_may_be_misplaced_is_one() {
        let root = command();
        let is_option = |name: &&str| {
            root.get_arguments().any(|arg| {
                let short = arg.get_short().map(|short| format!("-{short}"));
                name.strip_prefix("--") == arg.get_long() && name.starts_with("--") || short.as_deref() == Some(name)
            })
        };
        assert!(MISPLACED.iter().all(is_option));
    }

    #[test]
    fn an_operator_of_the_shell_as_a_word_is_refused_or_reported() {
        assert_eq!(hint("git-idd make && ./t.sh"), "quote the whole line: `git idd 'make && ./t.sh'`");
        assert_eq!(hint("git-idd run make && ./t.sh"), "quote the whole line: `git idd 'make && ./t.sh'`");
        assert_eq!(hint("git-idd -- a || b"), "quote the whole line: `git idd 'a || b'`");
        assert!(given("git-idd ./t.sh ; x").unwrap().1[0].starts_with("The test gets `;` as a plain word"));
        assert!(given("git-idd find . -exec x ;").unwrap().1.is_empty());
    }
}
