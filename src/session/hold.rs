//! Held paths: they have the content of the user's working tree in every revision.
//!
//! By default only the script of the test command is held. So every revision is tested with the user's version of the
//! test, even if it has another one or none.

use crate::order::{Holding, TestCommand};
use crate::{Context, Failure, Talk};
use idd_base::{CommitId, TreeId};
use idd_change::EntryMode;
use idd_change::trees::Trees as _;
use idd_hunt::test_paths::{is_setup_path, is_test_path};
use idd_report::{Terminal, Untrusted};
use idd_world::files::{self, OnDisk};
use idd_world::place::untracked::{UserPath, is_large, untracked};
use idd_world::process::shell;
use idd_world::repo::{HeldFiles, Location, Repository, TreeStore, graph, locate, private, uncommitted};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Programs that take a script as their first argument.
const INTERPRETERS: [&str; 14] =
    ["sh", "bash", "dash", "ksh", "zsh", "python", "python2", "python3", "perl", "ruby", "node", "tclsh", "awk", "php"];

/// If more tests than these are edited, as by a formatter, only those count that the command names.
const MAX_EDITED: usize = 500;

/// The number of held paths that are named.
const MAX_NAMED: usize = 5;

/// The paths to hold, relative to the top: the script of the test, and those that the user names.
///
/// - `bad`: the failing revision. A script is held if it is part of it, or else if it is a text that git does not
///   ignore. An ignored file is a product of the build: holding it would test the same product in every revision. A
///   script in a large directory that git does not know, such as `.venv/bin/pytest`, comes with its directory.
pub fn held(
    command: &TestCommand,
    holding: &Holding,
    bad: CommitId,
    location: &Location,
    user: &Repository,
    context: &Context,
) -> Result<BTreeMap<Vec<u8>, OnDisk>, Failure> {
    let mut held = BTreeMap::new();
    let Some(top) = &location.top else { return Ok(held) };
    if holding.no_hold {
        return Ok(held);
    }
    if let Some(script) = script(command)
        && let Some(path) = inside(&script, location)
        && let Some(file) = files::read(top, &path)
        && (graph::has_path(user, bad, &path)
            || (is_text(&file)
                && !is_behind_link(&path, top)
                && !is_in_large_directory(&path, top, bad, user)
                && !locate::is_ignored(location, &path, &context.environment)))
    {
        held.insert(path, file);
    }
    for name in &holding.hold {
        let path = inside(name, location).filter(|path| !path.is_empty());
        let found = path.map(|path| files::read_all(top, &path)).unwrap_or_default();
        if found.is_empty() {
            let shown = name.to_string_lossy();
            let hint = if top.join(name).exists() {
                let up = "../".repeat(location.prefix.components().count());
                format!("paths count from the current directory: `--hold {up}{shown}`")
            } else {
                "`--hold` takes a path of the working tree; its present content is used in every revision".to_owned()
            };
            return Err(Failure::usage(format!("there is no file `{shown}` to hold here")).with_hint(hint));
        }
        held.extend(found);
    }
    Ok(held)
}

/// Whether a directory above a path is a link: the link is shown, and git says nothing of what is behind it.
fn is_behind_link(path: &[u8], top: &Path) -> bool {
    let mut above =
        Path::new(OsStr::from_bytes(path)).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    above.any(|above| top.join(above).is_symlink())
}

/// Whether the topmost directory above a path that a revision does not have is too large to be held.
fn is_in_large_directory(path: &[u8], top: &Path, bad: CommitId, user: &Repository) -> bool {
    let above = Path::new(OsStr::from_bytes(path)).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let unknown = above.filter(|above| !graph::has_path(user, bad, above.as_os_str().as_bytes())).last();
    unknown.is_some_and(|directory| is_large(&top.join(directory)))
}

/// Without the script of a command that is measured, if it is part of the history: it may be what is measured. What the user
/// names stays.
pub fn release_measured(
    held: &mut BTreeMap<Vec<u8>, OnDisk>,
    holding: &Holding,
    bad: CommitId,
    location: &Location,
    user: &Repository,
) {
    let named: Vec<Vec<u8>> = holding.hold.iter().filter_map(|name| inside(name, location)).collect();
    let is_named =
        |path: &[u8]| named.iter().any(|name| Path::new(OsStr::from_bytes(path)).starts_with(OsStr::from_bytes(name)));
    held.retain(|path, _| is_named(path) || !graph::has_path(user, bad, path));
}

/// The files that a command names, as written, if only the working tree has them and they are not held: no checkout has
/// them.
pub fn missing(
    command: &TestCommand,
    held: &BTreeMap<Vec<u8>, OnDisk>,
    bad: CommitId,
    location: &Location,
    user: &Repository,
    context: &Context,
) -> Vec<Vec<u8>> {
    let Some(top) = &location.top else { return Vec::new() };
    let is_missing = |path: &[u8]| {
        !held.contains_key(path)
            && !graph::has_path(user, bad, path)
            && matches!(files::read(top, path), Some(OnDisk::File { .. }))
            && !locate::is_ignored(location, path, &context.environment)
    };
    let named = named(command, location).into_iter();
    named.filter(|(_, path)| is_missing(path)).map(|(name, _)| name).collect()
}

/// The tracked files with uncommitted changes that belong to the test, and are not held: those that the command names,
/// those that are named like tests or like the setup of tests and builds, and new ones. In each checkout, the test is the one that the user has.
///
/// - `known`: further paths; the hunt needed them before it was stopped, and the user has committed them meanwhile.
pub fn edited(
    command: &TestCommand,
    held: &BTreeMap<Vec<u8>, OnDisk>,
    bad: CommitId,
    location: &Location,
    user: &Repository,
    known: &[Vec<u8>],
) -> Vec<UserPath> {
    let Some(top) = &location.top else { return Vec::new() };
    let named = named(command, location);
    let is_file = |path: &[u8]| top.join(OsStr::from_bytes(path)).symlink_metadata().is_ok_and(|file| !file.is_dir());
    let is_of_test = |path: &Vec<u8>| {
        let is_named = || named.iter().any(|(_, of_command)| of_command == path);
        is_file(path) && (is_test_path(path) || is_setup_path(path) || is_named() || !graph::has_path(user, bad, path))
    };
    let changed: BTreeSet<Vec<u8>> = uncommitted::changed(location).into_iter().filter(is_of_test).collect();
    let known = known.iter().cloned();
    let mut all: BTreeSet<Vec<u8>> = changed.into_iter().chain(known).filter(|path| !held.contains_key(path)).collect();
    if all.len() > MAX_EDITED {
        all.retain(|path| named.iter().any(|(_, of_command)| of_command == path));
    }
    all.iter().filter_map(|path| UserPath::edited(top, path)).collect()
}

/// The files below the top that the arguments of a command name: as written, and relative to the top.
pub fn named(command: &TestCommand, location: &Location) -> Vec<(Vec<u8>, Vec<u8>)> {
    let words = match command {
        TestCommand::Argv(words) => words.iter().map(|word| word.as_bytes().to_vec()).collect(),
        TestCommand::Shell(line) => shell::split(line.as_bytes()),
    };
    // Some test runners take a part of a file: `test_a.py::test_b`.
    let file = |word: &Vec<u8>| word.split(|byte| *byte == b':').next().map(<[u8]>::to_vec);
    let path = |name: &[u8]| inside(OsStr::from_bytes(name), location).filter(|path| !path.is_empty());
    let names = words.iter().skip(1).filter_map(file);
    names.filter_map(|name| path(&name).map(|path| (name, path))).collect()
}

/// The message about a file that no checkout has.
pub fn missing_file(path: &[u8]) -> String {
    let name = Terminal.line(&Untrusted::from(path));
    format!("`{name}` is in your working tree, but in no checkout; `--hold {name}` puts it into every revision.")
}

/// A file in the form of trees.
pub fn stored(file: &OnDisk) -> (EntryMode, Vec<u8>) {
    let mode = match file {
        OnDisk::File { is_executable: true, .. } => EntryMode::Executable,
        OnDisk::File { .. } => EntryMode::Regular,
        OnDisk::Link { .. } => EntryMode::Symlink,
    };
    (mode, file.bytes().to_vec())
}

/// Adds held files to the trees of revisions that are recorded or explained.
pub struct FileHolder {
    store: TreeStore,
    paths: Vec<Vec<u8>>,
    is_other: bool,
}

impl FileHolder {
    /// Holds the files that a hunt from the revision `bad` holds from the start, and all that git neither has nor ignores;
    /// needs the private repository.
    pub fn new(
        command: &TestCommand,
        holding: &Holding,
        bad: CommitId,
        location: &Location,
        user: &Repository,
        context: &Context,
    ) -> Result<Self, Failure> {
        let mut held = held(command, holding, bad, location, user, context)?;
        if !holding.no_hold {
            let is_known = |path: &[u8]| held.contains_key(path) || graph::has_path(user, bad, path);
            let candidates = untracked(location, &context.environment, &is_known).candidates;
            held.extend(candidates.iter().flat_map(UserPath::held).map(|(path, file)| (path.clone(), file.clone())));
        }
        let paths = held.keys().cloned().collect();
        let files = held.iter().map(|(path, file)| (path.clone(), Some(stored(file)))).collect();
        let repository = private::open(&private::private_directory(&location.idd_directory()))?;
        let store = TreeStore::new(repository, HeldFiles { files, ..HeldFiles::default() }, Vec::new())?;
        Ok(Self { store, paths, is_other: false })
    }

    /// Adds the held files to trees, and reports it if that changes any of them.
    pub fn held(mut self, trees: &mut [&mut TreeId], talk: &mut dyn Talk) -> Result<(), Failure> {
        for tree in trees {
            **tree = self.tree(**tree)?;
        }
        if let Some(remark) = self.remark() {
            talk.say(&remark);
        }
        Ok(())
    }

    fn tree(&mut self, tree: TreeId) -> Result<TreeId, Failure> {
        let view = self.store.view(tree)?;
        self.is_other |= view != tree;
        Ok(view)
    }

    /// The paths that differ from their revisions.
    fn remark(&self) -> Option<String> {
        let names = self.paths.iter().take(MAX_NAMED).map(|path| format!("`{}`", String::from_utf8_lossy(path)));
        let mut names: Vec<_> = names.collect();
        if self.paths.len() > MAX_NAMED {
            names.push(format!("and {} more", self.paths.len() - MAX_NAMED));
        }
        self.is_other.then(|| format!("Held as in the working tree: {}.", names.join(", ")))
    }
}

fn is_text(file: &OnDisk) -> bool {
    !file.bytes().contains(&0)
}

/// The path (relative to the top) of the program that a command starts directly, if it lies in the working tree.
pub fn program(command: &TestCommand, location: &Location) -> Option<Vec<u8>> {
    let program = program_word(command)?;
    program.as_bytes().contains(&b'/').then(|| inside(&program, location)).flatten()
}

/// The program of a command, as written.
pub fn program_word(command: &TestCommand) -> Option<OsString> {
    words(command).into_iter().next()
}

/// The script of a command, as written: the program itself if it is a path, or an interpreter's script.
pub fn script(command: &TestCommand) -> Option<OsString> {
    let words = words(command);
    let program = words.first()?;
    let name = Path::new(program).file_name()?.to_string_lossy().into_owned();
    if INTERPRETERS.contains(&name.as_str()) {
        let script = words.get(1)?;
        return (!script.as_bytes().starts_with(b"-")).then(|| script.clone());
    }
    program.as_bytes().contains(&b'/').then(|| program.clone())
}

/// The words of the first command of a test; none if they cannot be understood without a shell.
pub fn words(command: &TestCommand) -> Vec<OsString> {
    match command {
        TestCommand::Argv(words) => words.clone(),
        TestCommand::Shell(line) => simple_words(line).unwrap_or_default(),
    }
}

/// The words of the first command of a shell line, if they can be understood without a shell.
fn simple_words(line: &OsStr) -> Option<Vec<OsString>> {
    let text = line.to_str()?;
    let first = text.split(['|', '&', ';', '<', '>', '\n']).next()?;
    if first.contains(['$', '`', '"', '\'', '\\', '*', '?', '(', '{', '~', '#']) {
        return None;
    }
    let words = first.split_whitespace().skip_while(|word| word.contains('=')).map(OsString::from);
    Some(words.collect())
}

/// A path of the command line relative to the top of the working tree; `None` if it lies outside.
pub fn inside(name: &OsStr, location: &Location) -> Option<Vec<u8>> {
    let top = location.top.as_ref()?;
    let path = if Path::new(name).is_absolute() {
        Path::new(name).strip_prefix(top).ok()?.to_owned()
    } else {
        location.prefix.join(name)
    };
    let mut parts: Vec<&OsStr> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::CurDir => {}
            _ => return None,
        }
    }
    let parts: Vec<&[u8]> = parts.into_iter().map(OsStr::as_bytes).collect();
    Some(parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        assert_eq!(script(&TestCommand::Shell(line.into())), expected.map(OsString::from), "{line}");
    }

    #[test]
    fn the_script_of_a_shell_line_is_found() {
        check("./test.sh", Some("./test.sh"));
        check("sh test.sh -x", Some("test.sh"));
        check("LANG=C ./t/run.sh && true", Some("./t/run.sh"));
        check("python3 -m pytest", None);
        check("make test", None);
        check("./\"a b\"", None);
    }

    #[test]
    fn a_path_is_taken_relative_to_the_top() {
        let location = Location {
            git_directory: "/r/.git".into(),
            common_directory: "/r/.git".into(),
            top: Some("/r".into()),
            prefix: "sub".into(),
        };
        let check = |name: &str, expected: Option<&str>| {
            let found = inside(OsStr::new(name), &location);
            assert_eq!(found, expected.map(|path| path.as_bytes().to_vec()), "{name}");
        };
        check("./a.sh", Some("sub/a.sh"));
        check("../a.sh", Some("a.sh"));
        check("../../a.sh", None);
        check("/r/x/y", Some("x/y"));
        check("/tmp/y", None);
    }
}
