//! Finds the user's repository with `git rev-parse` and `git config`.
//!
//! Git checks the ownership of the repository, and knows every variable and option that can name another one. libgit2
//! does neither, and does not see `git -c`.

use crate::process::{Captured, capture};
use crate::repo::RepoError;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The paths of the user's repository, all absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The git directory of this worktree.
    pub git_directory: PathBuf,
    /// The git directory that all worktrees share.
    pub common_directory: PathBuf,
    /// The top of the working tree; `None` in a bare repository.
    pub top: Option<PathBuf>,
    /// The current directory relative to the top, empty at the top.
    pub prefix: PathBuf,
}

impl Location {
    /// The directory for state of this worktree.
    pub fn session_directory(&self) -> PathBuf {
        self.git_directory.join("idd")
    }

    /// The directory for state that all worktrees share.
    pub fn idd_directory(&self) -> PathBuf {
        self.common_directory.join("idd")
    }
}

/// Finds the repository that contains `directory`.
pub fn locate(directory: &Path, environment: &[(OsString, OsString)]) -> Result<Location, RepoError> {
    let ask = |questions: &[&str]| answers(directory, environment, questions);
    let facts = ask(&["--is-bare-repository", "--is-inside-work-tree", "--git-dir", "--git-common-dir"])?;
    let (git_directory, common_directory) = (path(&facts[2]), path(&facts[3]));
    if facts[0] == b"true" || facts[1] != b"true" {
        return Ok(Location { git_directory, common_directory, top: None, prefix: PathBuf::new() });
    }
    let places = ask(&["--show-toplevel", "--show-prefix"])?;
    if places[0] == b"/" {
        return Err(RepoError::Unsupported { what: "working trees that are the whole file system are" });
    }
    Ok(Location { git_directory, common_directory, top: Some(path(&places[0])), prefix: path(&places[1]) })
}

/// The answers of `git rev-parse` to all questions, in one run.
///
/// A path with a line break gives more lines than questions: then each question is asked alone.
fn answers(
    directory: &Path,
    environment: &[(OsString, OsString)],
    questions: &[&str],
) -> Result<Vec<Vec<u8>>, RepoError> {
    let ask = |questions: &[&str]| {
        let words = [&["rev-parse", "--path-format=absolute"], questions].concat();
        git(directory, environment, &words)
    };
    let together = ask(questions)?;
    let lines: Vec<Vec<u8>> = trimmed(&together).split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.len() == questions.len() {
        return Ok(lines);
    }
    questions.iter().map(|question| Ok(trimmed(&ask(&[question])?).to_vec())).collect()
}

/// The keys and values of `idd.*`, `color.ui`, `pager.idd`, of the user and of partial clones, in the order of the files; empty
/// outside of a repository.
pub fn configuration(directory: &Path, environment: &[(OsString, OsString)]) -> Vec<(String, String)> {
    const KEYS: &str =
        "^(idd\\.|color\\.ui$|pager\\.idd$|user\\.(name|email)$|extensions\\.partialclone$|remote\\..*\\.promisor$)";
    let words = ["config", "-z", "--get-regexp", KEYS];
    let Ok(output) = git(directory, environment, &words) else { return Vec::new() };
    output
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let entry = String::from_utf8_lossy(entry);
            match entry.split_once('\n') {
                Some((key, value)) => (key.to_owned(), value.to_owned()),
                None => (entry.into_owned(), "true".to_owned()),
            }
        })
        .collect()
}

/// The pager that git would use, as a shell line; `None` if unknown.
pub fn pager(directory: &Path, environment: &[(OsString, OsString)]) -> Option<Vec<u8>> {
    git(directory, environment, &["var", "GIT_PAGER"]).ok().map(|line| trimmed(&line).to_vec())
}

/// Whether git ignores a path (relative to the top) in the user's working tree.
pub fn is_ignored(location: &Location, path: &[u8], environment: &[(OsString, OsString)]) -> bool {
    let Some(top) = &location.top else { return false };
    let words = [OsStr::new("check-ignore"), OsStr::new("--quiet"), OsStr::new("--"), OsStr::from_bytes(path)];
    run_git(top, environment, &words).is_ok()
}

/// Whether git tracks a path (relative to the top), also in another case; true if unknown.
pub fn is_tracked(location: &Location, path: &[u8], environment: &[(OsString, OsString)]) -> bool {
    let Some(top) = &location.top else { return true };
    let pathspec = [b":(top,literal,icase)", path].concat();
    let words = ["ls-files", "--error-unmatch", "-z", "--"].map(OsStr::new);
    let words = [&words[..], &[OsStr::from_bytes(&pathspec)]].concat();
    !matches!(capture(OsStr::new("git"), &words, top, environment), Ok(Captured { code: Some(1), .. }))
}

/// The tracked files, relative to the top; none if git cannot say.
pub fn tracked(location: &Location, environment: &[(OsString, OsString)]) -> Vec<Vec<u8>> {
    let Some(top) = &location.top else { return Vec::new() };
    let mut words = vec![OsStr::new("--git-dir"), location.git_directory.as_os_str()];
    words.extend([OsStr::new("--work-tree"), top.as_os_str(), OsStr::new("ls-files"), OsStr::new("-z")]);
    let output = run_git(top, environment, &words).unwrap_or_default();
    output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

/// The tops of all working trees of the repository, links resolved; those that are gone are left out.
pub fn tops(location: &Location) -> Vec<PathBuf> {
    let links = location.common_directory.join("worktrees");
    let linked = fs::read_dir(links).into_iter().flatten().flatten().filter_map(|entry| {
        let file = fs::read(entry.path().join("gitdir")).ok()?;
        path(trimmed(&file)).parent().map(Path::to_owned)
    });
    let main = location.common_directory.parent().filter(|_| location.common_directory.ends_with(".git"));
    let all = linked.chain(main.map(Path::to_owned)).chain(location.top.clone());
    let mut tops: Vec<PathBuf> = all.filter_map(|top| fs::canonicalize(top).ok()).collect();
    tops.sort();
    tops.dedup();
    tops
}

/// The untracked files (relative to the top, in the order of their names) that git ignores, or that it does not ignore. A directory with nothing
/// tracked below it is one path, with a slash at the end. None if git cannot say.
///
/// No content is compared, so no filter runs.
pub fn untracked(location: &Location, is_ignored: bool, environment: &[(OsString, OsString)]) -> Vec<Vec<u8>> {
    let Some(top) = &location.top else { return Vec::new() };
    let mut words = vec![OsStr::new("--git-dir"), location.git_directory.as_os_str()];
    words.extend([OsStr::new("--work-tree"), top.as_os_str()]);
    words.extend(["-c", "core.fsmonitor=false", "ls-files", "-z", "--others", "--exclude-standard"].map(OsStr::new));
    words.push(OsStr::new("--directory"));
    words.extend(is_ignored.then_some(OsStr::new("--ignored")));
    let output = run_git(top, environment, &words).unwrap_or_default();
    output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Applies a patch file to the working tree; the error is git's message.
pub fn apply_patch(location: &Location, patch: &Path, environment: &[(OsString, OsString)]) -> Result<(), RepoError> {
    git_apply(location, patch, &[], environment)
}

/// Whether a patch file is already applied to the working tree: it applies in reverse.
pub fn is_applied(location: &Location, patch: &Path, environment: &[(OsString, OsString)]) -> bool {
    git_apply(location, patch, &["--reverse", "--check"], environment).is_ok()
}

fn git_apply(
    location: &Location,
    patch: &Path,
    options: &[&str],
    environment: &[(OsString, OsString)],
) -> Result<(), RepoError> {
    let Some(top) = &location.top else {
        return Err(RepoError::Unsupported { what: "`apply` in a bare repository is" });
    };
    let mut words = vec![OsStr::new("--git-dir"), location.git_directory.as_os_str()];
    words.extend([OsStr::new("--work-tree"), top.as_os_str()]);
    words.extend(["apply", "--whitespace=nowarn"].iter().chain(options).map(OsStr::new));
    words.push(patch.as_os_str());
    let Captured { code, stderr, .. } = capture(OsStr::new("git"), &words, top, environment)
        .map_err(|source| RepoError::io("start git in", top, source))?;
    if code == Some(0) {
        return Ok(());
    }
    // The last line has the reason, those before it the place.
    let said = String::from_utf8_lossy(&stderr);
    let said = said.lines().last().unwrap_or_default().trim_start_matches("fatal: ").trim_start_matches("error: ");
    Err(RepoError::GitSays { said: said.to_owned() })
}

fn git(directory: &Path, environment: &[(OsString, OsString)], words: &[&str]) -> Result<Vec<u8>, RepoError> {
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    run_git(directory, environment, &words)
}

/// Runs git; the error is the first line of its message.
pub(super) fn run_git(
    directory: &Path,
    environment: &[(OsString, OsString)],
    words: &[&OsStr],
) -> Result<Vec<u8>, RepoError> {
    let Captured { code, stdout, stderr } = capture(OsStr::new("git"), words, directory, environment)
        .map_err(|source| RepoError::io("start git in", directory, source))?;
    if code == Some(0) {
        return Ok(stdout);
    }
    let said = String::from_utf8_lossy(&stderr);
    let said = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ").trim_start_matches("error: ");
    Err(RepoError::GitSays { said: said.to_owned() })
}

fn trimmed(output: &[u8]) -> &[u8] {
    output.strip_suffix(b"\n").unwrap_or(output)
}

fn path(line: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(line.to_vec()))
}
