//! Detects a test command that cannot be one: usually a mistyped subcommand.

use crate::args::{self, NO_EXPLANATIONS, habits};
use idd_session::hints::near::is_slip;
use idd_session::order::{HuntOrder, TestCommand};
use idd_session::{Context, Failure};
use idd_world::repo::{Location, graph, private};
use idd_world::run::toolchain;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

/// The commands that a build without explanations lacks.
const NEED_RECORDINGS: [&str; 9] = ["record", "explain", "chop", "slice", "invariants", "debug", "trace", "dap", "mcp"];

/// Refuses a test whose program is a plain word that `PATH` does not have. Nothing has been written or run yet.
///
/// A build can install programs, and a directory of `PATH` can be relative to the tree: then the answer is not known
/// before the first probe. A shell line can use commands of the shell, so only a single word that is similar to a
/// subcommand is refused.
pub fn refuse(asked: &HuntOrder, location: &Location, context: &Context) -> Result<(), Failure> {
    if let Some((message, hint)) = revisions(asked, location, context) {
        return Err(Failure::usage(message).with_hint(hint));
    }
    let word = match &asked.command {
        TestCommand::Argv(words) => words[0].to_string_lossy(),
        TestCommand::Shell(line) => line.to_string_lossy(),
    };
    let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    if !is_plain || asked.test.build.is_some() || !toolchain::is_missing(&context.environment, &word) {
        return Ok(());
    }
    let rest = match &asked.command {
        TestCommand::Argv(words) => &words[1..],
        TestCommand::Shell(_) => &[],
    };
    if let Some((message, hint)) = habits::of_bisect(&word, rest, false) {
        return Err(Failure::usage(message).with_hint(hint));
    }
    if !cfg!(feature = "explain") && NEED_RECORDINGS.contains(&&*word) {
        let (message, hint) = NO_EXPLANATIONS;
        return Err(Failure::usage(format!("`git idd {word}` is missing: {message}")).with_hint(hint));
    }
    let near = near_subcommand(&word);
    let hint = match (near, &asked.command) {
        (Some(name), _) => format!("did you mean `git idd {name}`? `git idd -h` lists the subcommands"),
        (None, _) if context.directory.join(&*word).is_dir() => {
            format!("`{word}` is a directory; give the command that runs the tests in it")
        }
        (None, _) if context.directory.join(&*word).is_file() => {
            format!("a program of the tree is named by its path: `./{word}`")
        }
        (None, _) if !toolchain::is_missing(&context.environment, &format!("{word}3")) => {
            format!("did you mean `{word}3`?")
        }
        (None, TestCommand::Argv(_)) => {
            format!("`git idd -h` lists the subcommands; a program of the tree is named by its path: `./{word}`")
        }
        (None, TestCommand::Shell(_)) => return Ok(()),
    };
    Err(Failure::usage(format!("`{word}` is neither a subcommand nor a program in PATH")).with_hint(hint))
}

/// What is wrong with a test whose first words are revisions, and no programs.
///
/// Cost: asks git about the first word if `PATH` does not have it, and about those after it if it is a revision.
fn revisions(asked: &HuntOrder, location: &Location, context: &Context) -> Option<habits::HabitMessage> {
    let line;
    let words = match &asked.command {
        TestCommand::Argv(words) => words.as_slice(),
        TestCommand::Shell(word) if !word.as_bytes().contains(&b' ') => {
            line = [word.clone()];
            &line
        }
        TestCommand::Shell(_) => return None,
    };
    let user = private::open(&location.git_directory).ok()?;
    let is_revision = |word: &&OsString| {
        let word = word.to_string_lossy();
        // A path names a program of the tree. Perl's library for HTTP brings a program `HEAD`.
        !context.directory.join(&*word).exists()
            && (word == "HEAD" || toolchain::is_missing(&context.environment, &word))
            && graph::resolve(&user, &word).is_ok()
    };
    let n_revisions = words.iter().take_while(is_revision).count();
    let (revisions, rest) = words.split_at(n_revisions);
    let test = if rest.first().is_some_and(|word| word == "--") { &rest[1..] } else { rest };
    (n_revisions > 0).then(|| habits::of_revisions(revisions, test))
}

/// The subcommand that a word probably means: same letters, one letter missing, added or wrong, or the same beginning.
fn near_subcommand(word: &str) -> Option<String> {
    let begins_alike = |name: &&str| word.len() >= 3 && name.get(..3) == word.get(..3);
    let command = args::command();
    let names = || command.get_subcommands().map(clap::Command::get_name);
    let slip = names().find(|name| is_slip(word.as_bytes(), name.as_bytes()));
    slip.or_else(|| names().find(begins_alike)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_is_understood() {
        for (word, name) in [
            ("statsu", "status"),
            ("wacth", "watch"),
            ("rseume", "resume"),
            ("resum", "resume"),
            ("lgo", "log"),
            ("aply", "apply"),
        ] {
            assert_eq!(near_subcommand(word).as_deref(), Some(name), "{word}");
        }
        for word in ["test", "true", "gcc", "make", "ls", "sh", "run", ""] {
            assert_eq!(near_subcommand(word), None, "{word}");
        }
    }
}
