//! The input files of a test: their content, and their places in the checkout.

use crate::hold::inside;
use crate::order::TestCommand;
use crate::{Context, Failure};
use idd_change::EntryMode;
use idd_world::files;
use idd_world::repo::Location;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::rc::Rc;

/// The maximum size of all input files together.
const MAX_BYTES: u64 = 1 << 30;

/// An input file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name as the user gave it.
    pub name: OsString,
    /// Its path in the checkout, relative to the top.
    pub path: Vec<u8>,
    /// Its path relative to the directory in which the test runs.
    pub local: OsString,
    /// Its mode in the checkout.
    pub mode: EntryMode,
    /// Its content.
    pub content: Rc<[u8]>,
    /// Whether it is in the working tree of the user.
    pub is_inside: bool,
}

impl Input {
    /// Reads the file `name`.
    ///
    /// A file in the working tree keeps its place in the checkout; another one gets a place in the directory in which
    /// the test runs, under its own name.
    pub fn read(name: &OsStr, location: &Location, context: &Context) -> Result<Self, Failure> {
        let input = Self::read_as("the input", "--input", name, location, context)?;
        if input.content.is_empty() {
            let message = format!("the input `{}` is empty already", name.to_string_lossy());
            return Err(Failure::usage(message).with_hint("there is nothing to remove from it"));
        }
        Ok(input)
    }

    /// Reads a file with which the test passes; it can be empty.
    pub fn read_passing(name: &OsStr, location: &Location, context: &Context) -> Result<Self, Failure> {
        Self::read_as("the passing file", "--passing", name, location, context)
    }

    fn read_as(
        what: &str,
        option: &str,
        name: &OsStr,
        location: &Location,
        context: &Context,
    ) -> Result<Self, Failure> {
        let place = context.directory.join(name);
        let shown = name.to_string_lossy();
        let usage = |message: String, hint: &str| Failure::usage(message).with_hint(hint);
        if place.is_dir() {
            return Err(usage(format!("{what} `{shown}` is a directory"), &format!("`{option}` takes a file")));
        }
        if place.exists() && !place.is_file() {
            return Err(usage(
                format!("{what} `{shown}` is not a regular file"),
                "store what it gives in a file, and give that one",
            ));
        }
        let bytes = files::bytes_up_to(&place, MAX_BYTES).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::FileTooLarge => "cut it by hand first, as long as the test still fails".to_owned(),
                _ => format!("`{option}` takes a path from the current directory"),
            };
            usage(format!("failed to read {what} `{shown}`: {error}"), &hint)
        })?;
        let real = || inside(files::real(place.parent()?)?.join(place.file_name()?).as_os_str(), location);
        let within = inside(name, location).or_else(real).filter(|path| !path.is_empty());
        let is_inside = within.is_some();
        let (path, local) = if let Some(path) = within {
            let local = from_directory(&path, &location.prefix);
            (path, local)
        } else {
            let Some(base) = place.file_name() else {
                return Err(usage(format!("{what} `{shown}` has no name"), &format!("`{option}` takes a file")));
            };
            (location.prefix.join(base).into_os_string().into_vec(), base.to_owned())
        };
        let mode = if files::is_executable(&place) { EntryMode::Executable } else { EntryMode::Regular };
        Ok(Self { name: name.to_owned(), path, local, mode, content: bytes.into(), is_inside })
    }
}

/// The failure of two inputs with one place.
pub fn same_place(one: &Input, other: &Input) -> Failure {
    let (one, other) = (one.name.to_string_lossy(), other.name.to_string_lossy());
    let message = format!("the inputs `{one}` and `{other}` have the same place in the checkout");
    Failure::usage(message).with_hint("a file outside of the working tree is put there under its own name; rename one")
}

/// A path relative to a directory; both are relative to the top.
fn from_directory(path: &[u8], directory: &Path) -> OsString {
    let path = Path::new(OsStr::from_bytes(path));
    let mut up = OsString::new();
    for base in directory.ancestors() {
        if let Ok(rest) = path.strip_prefix(base) {
            up.push(rest);
            return up;
        }
        up.push("../");
    }
    path.as_os_str().to_owned()
}

/// Reads all inputs.
///
/// Errors: two have the same place in the checkout; the files are too large together.
pub fn read_all(names: &[OsString], location: &Location, context: &Context) -> Result<Vec<Input>, Failure> {
    let mut inputs: Vec<Input> = Vec::new();
    for name in names {
        let input = Input::read(name, location, context)?;
        if let Some(other) = inputs.iter().find(|other| other.path == input.path) {
            return Err(same_place(other, &input));
        }
        inputs.push(input);
    }
    let size: usize = inputs.iter().map(|input| input.content.len()).sum();
    if size as u64 > MAX_BYTES {
        let message = format!("the inputs have more than {} MiB together", MAX_BYTES >> 20);
        return Err(Failure::usage(message).with_hint("give only the largest one, or cut them by hand first"));
    }
    Ok(inputs)
}

/// The test command with the places of the inputs in the checkout instead of absolute paths, and instead of names of
/// files outside of the working tree: the test is to read the candidate, and not the file of the user.
pub fn localised(command: &TestCommand, inputs: &[Input], context: &Context) -> TestCommand {
    let mut renamed: Vec<(OsString, &OsStr)> = Vec::new();
    for input in inputs {
        let absolute = context.directory.join(&input.name).into_os_string();
        if absolute != input.name {
            renamed.push((absolute, &input.local));
        }
        if !input.is_inside || Path::new(&input.name).is_absolute() {
            renamed.push((input.name.clone(), &input.local));
        }
    }
    match command {
        TestCommand::Argv(words) => TestCommand::Argv(
            words
                .iter()
                .map(|word| {
                    let found = renamed.iter().find(|(name, _)| name == word);
                    found.map_or_else(|| word.clone(), |(_, local)| (*local).to_owned())
                })
                .collect(),
        ),
        TestCommand::Shell(line) => {
            let mut line = line.as_bytes().to_vec();
            for (name, local) in &renamed {
                line = replaced(&line, name.as_bytes(), local.as_bytes());
            }
            TestCommand::Shell(OsString::from_vec(line))
        }
    }
}

/// The line with `to` for each `from` that is a whole word of the shell.
fn replaced(line: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| b" \t\n;&|<>\"'=()".contains(byte));
    let mut made = Vec::with_capacity(line.len());
    let mut at = 0;
    while at < line.len() {
        let before = at.checked_sub(1).map(|before| &line[before]);
        if line[at..].starts_with(from) && is_end(before) && is_end(line.get(at + from.len())) {
            made.extend_from_slice(to);
            at += from.len();
        } else {
            made.push(line[at]);
            at += 1;
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_of_a_shell_line_are_replaced() {
        let made = replaced(b"./p </tmp/a '/tmp/a' /tmp/ab x/tmp/a --f=/tmp/a", b"/tmp/a", b"a");
        assert_eq!(String::from_utf8(made).unwrap(), "./p <a 'a' /tmp/ab x/tmp/a --f=a");
    }

    #[track_caller]
    fn check_from_directory(path: &str, directory: &str, expected: &str) {
        assert_eq!(from_directory(path.as_bytes(), Path::new(directory)), OsString::from(expected));
    }

    #[test]
    fn a_path_of_the_checkout_is_taken_from_the_directory_of_the_test() {
        check_from_directory("a/b.txt", "", "a/b.txt");
        check_from_directory("a/b.txt", "a", "b.txt");
        check_from_directory("a/b.txt", "c/d", "../../a/b.txt");
        check_from_directory("a/b.txt", "a/d", "../b.txt");
    }
}
