//! Detects a test command that cannot be one: usually a mistyped subcommand.

use crate::cli::args;
use crate::cli::args::habits;
use crate::report::Status;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::session::hints::near::is_slip;
use crate::session::order::HuntOrder;
use crate::session::order::TestCommand;
use crate::world::run::toolchain;

/// Refuses a test whose program is a plain word that `PATH` does not have. Nothing has been written or run yet.
///
/// A build can install programs, and a directory of `PATH` can be relative to the tree: then the answer is not known
/// before the first probe. A shell line can use commands of the shell, so only a single word that is similar to a
/// subcommand is refused.
pub fn refuse(asked: &HuntOrder, context: &Context) -> Result<(), Failure> {
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
        return Err(Failure::new(Status::Usage, message).with_hint(hint));
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
    Err(Failure::new(Status::Usage, format!("`{word}` is neither a subcommand nor a program in PATH")).with_hint(hint))
}

/// The subcommand that a word probably means: same beginning, same letters, or one letter missing, added or wrong.
fn near_subcommand(word: &str) -> Option<String> {
    let is_near = |name: &&str| {
        let begins_alike = word.len() >= 3 && name.get(..3) == word.get(..3);
        begins_alike || is_slip(word.as_bytes(), name.as_bytes())
    };
    let command = args::command();
    command.get_subcommands().map(clap::Command::get_name).find(is_near).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_is_understood() {
        for (word, name) in
            [("statsu", "status"), ("rseume", "resume"), ("resum", "resume"), ("lgo", "log"), ("aply", "apply")]
        {
            assert_eq!(near_subcommand(word).as_deref(), Some(name), "{word}");
        }
        for word in ["test", "true", "gcc", "make", "ls", "sh", "run", ""] {
            assert_eq!(near_subcommand(word), None, "{word}");
        }
    }
}
