//! The words of the command line, before they are parsed.
//!
//! The grammar is git's: the first word that is no option decides. If it names a subcommand it is that, else the test
//! command begins there; after `--` it always does. Options may stand before a subcommand's name; [`split`] moves them
//! behind it, so that each command is parsed in one piece. A long option may be abbreviated.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::slice;

use clap::{Arg, ArgMatches, Command};
use thiserror::Error;

use crate::args::command::command;

/// The command line, cut at the name of its subcommand.
#[derive(Debug, Default, PartialEq)]
pub struct CommandLineWords {
    program: OsString,
    /// The subcommand's name.
    pub subcommand: Option<String>,
    /// Before it; everything if there is none.
    pub before: Vec<OsString>,
    /// After it.
    pub after: Vec<OsString>,
    /// Whether the test command of a hunt begins before the end of `before`.
    pub has_test: bool,
    /// The number of words of `before` that are options or their values, before a `--` and the test.
    pub n_options: usize,
}

/// An abbreviation that several options have.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("the option `--{abbreviation}` is ambiguous: it could be {}", listed(names))]
pub struct Ambiguous {
    abbreviation: String,
    /// The names of these options, without dashes; at least two.
    names: Vec<String>,
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`--{name}`")).collect();
    let (last, first) = names.split_last().expect("an abbreviation with one meaning is not ambiguous");
    format!("{} or {last}", first.join(", "))
}

impl CommandLineWords {
    /// The words as they were given, without the subcommand's name.
    pub fn given(&self) -> Vec<OsString> {
        [slice::from_ref(&self.program), &self.before, &self.after].concat()
    }

    /// The test command and whether a `--` stands before it; `None` if there is none.
    pub fn test(&self) -> Option<(&[OsString], bool)> {
        let test = self.before[self.n_options..].split_first().filter(|_| self.has_test)?;
        Some(if test.0 == "--" { (test.1, true) } else { (&self.before[self.n_options..], false) })
    }

    /// The words as the parser wants them, with `options` in front of what the user gave.
    pub fn argv(&self, options: &[OsString]) -> Vec<OsString> {
        let mut argv = vec![self.program.clone()];
        argv.extend(self.subcommand.as_ref().map(OsString::from));
        argv.extend(options.iter().chain(&self.before).chain(&self.after).cloned());
        argv
    }

    /// The part of `root` that these words are for.
    pub fn command_in<'a>(&self, root: &'a Command) -> &'a Command {
        self.subcommand.as_ref().and_then(|name| root.find_subcommand(name)).unwrap_or(root)
    }

    /// The part of `root` that these words are for.
    pub fn matches_in<'a>(&self, root: &'a ArgMatches) -> &'a ArgMatches {
        self.subcommand.as_ref().and_then(|name| root.subcommand_matches(name)).unwrap_or(root)
    }

    /// Replaces each abbreviated long option by its whole name.
    ///
    /// As in git, an abbreviation is the beginning of the name of exactly one option of the command. What begins no name
    /// is left for the parser, which knows similar names.
    pub fn write_out(&mut self) -> Result<(), Ambiguous> {
        let mut root = command();
        // Adds `--help` and `--version`.
        root.build();
        let command = self.command_in(&root).clone();
        write_out(&mut self.before, &command, self.subcommand.is_none())?;
        write_out(&mut self.after, &command, false)
    }
}

/// Does this for the words of one command.
///
/// - `has_test`: whether the first word that is no option begins a test command.
fn write_out(words: &mut [OsString], command: &Command, has_test: bool) -> Result<(), Ambiguous> {
    let mut command = command;
    let mut is_value = false;
    for word in words {
        let bytes = word.as_bytes();
        if is_value && (!bytes.starts_with(b"-") || bytes == b"-") {
            is_value = false;
            continue;
        }
        if bytes == b"--" {
            break;
        }
        if !bytes.starts_with(b"-") || bytes == b"-" {
            if has_test {
                break;
            }
            command = command.find_subcommand(&word).unwrap_or(command);
            continue;
        }
        if let Some(whole) = whole(word, command)? {
            *word = whole;
        }
        is_value = waits_for_value(command.get_arguments(), &word.to_string_lossy());
    }
    Ok(())
}

/// An abbreviated long option with its whole name; `None` if it is none.
fn whole(word: &OsStr, command: &Command) -> Result<Option<OsString>, Ambiguous> {
    let Some(long) = word.as_bytes().strip_prefix(b"--") else { return Ok(None) };
    let (name, value) = long.split_at(long.iter().position(|byte| *byte == b'=').unwrap_or(long.len()));
    let Ok(abbreviation) = str::from_utf8(name) else { return Ok(None) };
    let names: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    if names.contains(&abbreviation) {
        return Ok(None);
    }
    let names: Vec<&str> = names.into_iter().filter(|name| name.starts_with(abbreviation)).collect();
    match names[..] {
        [] => Ok(None),
        [name] => Ok(Some(OsString::from_vec([b"--", name.as_bytes(), value].concat()))),
        _ => Err(Ambiguous {
            abbreviation: abbreviation.to_owned(),
            names: names.into_iter().map(str::to_owned).collect(),
        }),
    }
}

/// Finds the name of the subcommand: the first word that is neither an option nor an option's value.
pub fn split(args: Vec<OsString>) -> CommandLineWords {
    let root = command();
    let mut args = args.into_iter();
    let program = args.next().unwrap_or_else(|| "git-idd".into());
    let mut words = CommandLineWords { program, ..CommandLineWords::default() };
    while let Some(word) = args.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            words.before.push(word);
            words.has_test = true;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            if root.find_subcommand(&*text).is_some() {
                words.subcommand = Some(text.into_owned());
                words.after.extend(args);
                return words;
            }
            words.before.push(word);
            words.has_test = true;
            break;
        }
        // The command is not known yet; an option of a hunt is meant first.
        let is_waiting = waits_for_value(root.get_arguments(), &text)
            || !has_option(&root, &text)
                && waits_for_value(root.get_subcommands().flat_map(Command::get_arguments), &text);
        words.before.push(word);
        if is_waiting {
            words.before.extend(args.next());
        }
        words.n_options = words.before.len();
    }
    words.before.extend(args);
    words
}

/// Whether a command has an option that `text` names or abbreviates.
fn has_option(command: &Command, text: &str) -> bool {
    text.strip_prefix("--")
        .is_some_and(|long| command.get_arguments().filter_map(Arg::get_long).any(|name| name.starts_with(long)))
}

/// Whether the value of the option `text` is the next word. An abbreviation counts if one of its meanings does.
pub fn waits_for_value<'a>(args: impl Iterator<Item = &'a Arg>, text: &str) -> bool {
    let waits = |arg: &&Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
    let Some(long) = text.strip_prefix("--") else {
        // In `-qj2` the value stands in the word, in `-qj` it does not.
        let is_last = |arg: &Arg| arg.get_short().is_some_and(|short| text.find(short) == Some(text.len() - 1));
        return args.filter(waits).any(is_last);
    };
    let begins = |arg: &&Arg| arg.get_long().is_some_and(|name| name.starts_with(long));
    let meant: Vec<&Arg> = args.filter(begins).collect();
    let is_whole = |arg: &Arg| arg.get_long() == Some(long);
    let has_whole = meant.iter().any(|arg| is_whole(arg));
    meant.iter().filter(|arg| is_whole(arg) || !has_whole).any(waits)
}
