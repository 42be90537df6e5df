//! The refs of the user's repository, as git reads them.
//!
//! Refs can be in files or in tables, and libgit2 reads files only. So git resolves, lists and writes names, and
//! objects are read by their ids.

use crate::repo::ids::oid;
use crate::repo::locate::run_git;
use crate::repo::{Location, RepoError, Repository};
use git2::Oid;
use idd_base::{CommitId, ObjectId};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The object of a revision expression, which need not exist; `None` if there is none.
pub(super) fn id(user: &Repository, expression: &str) -> Option<Oid> {
    let whole = |text: &str| text.parse().ok().map(oid);
    if let Some(id) = whole(expression) {
        return Some(id);
    }
    // Git would read it as an option.
    if expression.starts_with('-') {
        return None;
    }
    whole(&text(user.path(), &["rev-parse", "--verify", "--quiet", expression]).ok()?)
}

/// The branch of HEAD, without `refs/heads/`; `None` if there is none.
pub(super) fn branch(user: &Repository) -> Option<String> {
    let name = text(user.path(), &["symbolic-ref", "--quiet", "HEAD"]).ok()?;
    Some(name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned())
}

/// The tip of the branch from which the branch of HEAD is updated, and the short name of that branch; `None` without one.
pub fn upstream(user: &Repository) -> Option<(CommitId, String)> {
    let tip = text(user.path(), &["rev-parse", "--verify", "--quiet", "@{upstream}^{commit}"]).ok()?;
    let name = text(user.path(), &["rev-parse", "--abbrev-ref", "@{upstream}"]).ok()?;
    Some((tip.parse().ok()?, name))
}

/// Whether there is any ref.
pub(super) fn has_any(user: &Repository) -> bool {
    text(user.path(), &["for-each-ref", "--count=1", "--format=%(refname)"]).is_ok_and(|name| !name.is_empty())
}

/// The refs below these names, sorted: the full name, and the object, which need not exist.
fn targets(git_directory: &Path, below: &[&str]) -> Result<Vec<(Vec<u8>, ObjectId)>, RepoError> {
    let output = git(git_directory, &[&["for-each-ref", "--format=%(objectname) %(refname)"], below].concat())?;
    let of_line = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b' ')?;
        let id = str::from_utf8(&line[..at]).ok()?.parse().ok()?;
        Some((line[at + 1..].to_vec(), id))
    };
    Ok(output.split(|byte| *byte == b'\n').filter_map(of_line).collect())
}

/// The tags and the names of replaced objects, sorted: the full name, and the object.
pub(super) fn tags(user: &Repository) -> Result<Vec<(Vec<u8>, ObjectId)>, RepoError> {
    targets(user.path(), &["refs/replace/", "refs/tags/"])
}

/// The commits that have a tag; none if a tag names an object that cannot be read.
pub fn tagged(user: &Repository) -> HashSet<CommitId> {
    let arguments = ["for-each-ref", "--format=%(objectname) %(*objectname)", "refs/tags/"];
    let lines = text(user.path(), &arguments).unwrap_or_default();
    lines.lines().filter_map(|line| line.split_whitespace().last()?.parse().ok()).collect()
}

/// The objects that are replaced, each with what replaces it.
pub(super) fn replaced(user: &Repository) -> Result<HashMap<CommitId, CommitId>, RepoError> {
    let of_ref = |(name, by): (Vec<u8>, ObjectId)| {
        let name = str::from_utf8(name.strip_prefix(b"refs/replace/")?).ok()?;
        Some((name.parse().ok()?, CommitId(by)))
    };
    Ok(targets(user.path(), &["refs/replace/"])?.into_iter().filter_map(of_ref).collect())
}

/// Sets or (with `None`) deletes a ref of this worktree; hooks do not run.
pub fn set(location: &Location, name: &str, target: Option<&str>) -> Result<(), RepoError> {
    match target {
        Some(target) => git(&location.git_directory, &["update-ref", name, target]),
        None => git(&location.git_directory, &["update-ref", "-d", name]),
    }
    .map(drop)
}

/// The refs below `refs/worktree/idd/` of this worktree, with their objects, which need not exist.
pub(super) fn targets_of_findings(location: &Location) -> Result<Vec<(String, ObjectId)>, RepoError> {
    let targets = targets(&location.git_directory, &["refs/worktree/idd/"])?;
    Ok(targets.into_iter().map(|(name, target)| (String::from_utf8_lossy(&name).into_owned(), target)).collect())
}

/// The names of the refs below `refs/worktree/idd/` of this worktree.
pub fn of_findings(location: &Location) -> Result<Vec<String>, RepoError> {
    Ok(targets_of_findings(location)?.into_iter().map(|(name, _)| name).collect())
}

/// The names of branches, tags and branches of remotes, as short as they are unambiguous.
pub fn short_names(location: &Location) -> Result<Vec<Vec<u8>>, RepoError> {
    let words = ["for-each-ref", "--format=%(refname:short)", "refs/heads/", "refs/tags/", "refs/remotes/"];
    let output = git(&location.git_directory, &words)?;
    Ok(output.split(|byte| *byte == b'\n').filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}

/// The refs below `refs/bisect/` of this worktree, without this prefix, and their objects.
pub(super) fn of_bisect(location: &Location) -> Vec<(String, ObjectId)> {
    let words = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/bisect/"];
    let output = text(&location.git_directory, &words).unwrap_or_default();
    let of_line = |line: &str| {
        let (id, name) = line.split_once(" refs/bisect/")?;
        Some((name.to_owned(), id.parse().ok()?))
    };
    output.lines().filter_map(of_line).collect()
}

/// The refs that this worktree sees, without `refs/worktree/idd/`, and their objects; none if git cannot list them.
pub(super) fn listing(location: &Location) -> Vec<u8> {
    let words = ["for-each-ref", "--format=%(refname) %(objectname) %(symref)"];
    let listing = git(&location.git_directory, &words).unwrap_or_default();
    let lines = listing.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"refs/worktree/idd/")).flatten().copied().collect()
}

/// The branch of HEAD, or else its object; empty if it has neither.
pub(super) fn head(location: &Location) -> Vec<u8> {
    let ask = |words: &[&str]| git(&location.git_directory, words);
    let branch = ask(&["symbolic-ref", "--quiet", "HEAD"]);
    branch.or_else(|_| ask(&["rev-parse", "--verify", "--quiet", "HEAD"])).unwrap_or_default()
}

/// The entries of the stash.
pub(super) fn stash(location: &Location) -> Vec<u8> {
    let words = ["reflog", "show", "--no-show-signature", "--format=%H %gs", "refs/stash", "--"];
    git(&location.git_directory, &words).unwrap_or_default()
}

/// Runs git with a git directory, with options that prevent other changes and fetches; returns its output.
fn git(git_directory: &Path, words: &[&str]) -> Result<Vec<u8>, RepoError> {
    // Replaced commits are not followed: the committed history is searched.
    let options = ["--no-replace-objects", "-c", "core.hooksPath=/dev/null", "--git-dir"].map(OsStr::new);
    let words = words.iter().map(OsStr::new);
    let words: Vec<&OsStr> = options.into_iter().chain([git_directory.as_os_str()]).chain(words).collect();
    run_git(git_directory, &[(OsString::from("GIT_NO_LAZY_FETCH"), OsString::from("1"))], &words)
}

/// The same without the last line break, lossy.
fn text(git_directory: &Path, words: &[&str]) -> Result<String, RepoError> {
    let output = git(git_directory, words)?;
    Ok(String::from_utf8_lossy(output.strip_suffix(b"\n").unwrap_or(&output)).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{graph, private};
    use std::process::Command;

    /// Three commits; the second one has a tag and is merged; the last one is separate.
    const HISTORY: &str = "
        commit() { git commit -q --allow-empty -m \"$1\"; }
        commit one; commit two; git tag -a v1 -m v1; git tag light HEAD~
        git checkout -q -b side HEAD~; commit beside; git checkout -q -; git merge -q --no-ff -m merged side; commit last
        git replace HEAD HEAD~2
    ";

    /// Runs a check in a usual repository, and in one with SHA-256 ids and, if git supports them, refs in tables.
    fn check(script: &str, check: impl Fn(&Repository, &dyn Fn(&str) -> String)) {
        for (hash, refs) in [("sha1", "files"), ("sha256", "reftable")] {
            let place = tempfile::tempdir().unwrap();
            let sh = |script: &str| {
                let mut command = Command::new("sh");
                command.args(["-ec", script]).current_dir(place.path()).env("GIT_NO_REPLACE_OBJECTS", "1");
                for (name, value) in [("CONFIG_GLOBAL", "/dev/null"), ("CONFIG_NOSYSTEM", "1"), ("COMMITTER_NAME", "c")]
                {
                    command.env(format!("GIT_{name}"), value);
                }
                let command = command.env("GIT_AUTHOR_NAME", "a").env("GIT_DEFAULT_REF_FORMAT", refs);
                let output = command.env("EMAIL", "a@b").env("GIT_DEFAULT_HASH", hash).output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
            };
            sh("git init -q");
            sh(script);
            check(&private::open(&place.path().join(".git")).unwrap(), &sh);
        }
    }

    #[test]
    fn a_name_stands_for_what_git_says() {
        check(HISTORY, |user, sh| {
            let names =
                ["HEAD", "@", "HEAD~2", "HEAD^^2", "v1", "light", "side", "@{-1}", "HEAD@{1}", ":/besi", "v1^{}"];
            for name in names {
                let expected = sh(&format!("git rev-parse $(git rev-parse '{name}')^{{commit}}"));
                assert_eq!(graph::resolve(user, name).unwrap().to_string(), expected, "{name}");
                assert_eq!(graph::resolve(user, &expected[..9]).unwrap().to_string(), expected);
                assert_eq!(graph::resolve(user, &expected).unwrap().to_string(), expected);
            }
            for name in ["", "nothing", "HEAD~99", "HEAD^{tree}", "^HEAD", "v1..HEAD", "--all", "-q", &"0".repeat(40)] {
                assert!(graph::resolve(user, name).is_err(), "{name}");
            }
        });
    }

    #[test]
    fn the_private_repository_has_the_tags_and_what_they_stand_for_in_the_end() {
        check(&format!("{HISTORY}\ngit tag -a outer -m outer v1"), |user, sh| {
            let head = graph::resolve(user, "HEAD").unwrap();
            let create = || drop(private::create(&user.path().join("idd"), user, head).unwrap());
            create();
            let list = "show-ref --tags --dereference";
            assert_eq!(sh(&format!("git --git-dir .git/idd/objects.git {list}")), sh(&format!("git {list}")));
            // A cut object does no harm.
            sh("f=.git/objects/$(git rev-parse v1 | sed 's|^..|&/|'); chmod u+w $f; head -c 40 $f >cut; cat cut >$f");
            create();
            assert!(sh("cat .git/idd/objects.git/packed-refs").contains("refs/tags/v1"));
        });
    }

    #[test]
    fn a_head_without_a_commit_is_told_from_one_that_is_gone() {
        use graph::Headless;
        check("", |user, sh| {
            assert_eq!(graph::headless(user), Headless::Empty);
            sh("git commit -q --allow-empty -m one; git tag t; git symbolic-ref HEAD refs/heads/new/one");
            assert_eq!(graph::headless(user), Headless::Unborn { branch: "new/one".to_owned() });
            let id = sh("git checkout -q t; id=$(git rev-parse HEAD); rm -r .git/objects/??; echo $id");
            assert_eq!(graph::headless(user), Headless::Missing { id });
        });
    }
}
