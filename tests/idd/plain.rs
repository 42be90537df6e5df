//! Small repositories without a story, for tests of recordings and explanations. Neither git nor the program reads the
//! configuration of whoever runs the tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::kits;

/// Has a command read no configuration of git but that of the repository, and commit under a fixed name.
pub fn isolate(command: &mut Command) -> &mut Command {
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_AUTHOR_NAME", "t").env("GIT_AUTHOR_EMAIL", "t@example.org");
    command.env("GIT_COMMITTER_NAME", "t").env("GIT_COMMITTER_EMAIL", "t@example.org")
}

/// Runs git in `place`; fails the test if git fails.
pub fn git(place: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    assert!(isolate(command.args(words).current_dir(place)).status().unwrap().success(), "{words:?}");
}

/// The program in `place`, with its cache there.
pub fn program(place: &Path) -> Command {
    at(place, Path::new(env!("CARGO_BIN_EXE_git-idd")))
}

/// A program of `examples` in `place`, with its cache there.
pub fn example(place: &Path, name: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_git-idd")).with_file_name("examples").join(name);
    assert!(program.exists(), "`cargo build --example {name}` makes {}", program.display());
    at(place, &program)
}

fn at(place: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    let cache = place.join(".git/cache");
    kits::lend(&cache);
    isolate(command.current_dir(place).env("XDG_CACHE_HOME", cache));
    command
}

/// What the program prints to stdout and stderr, and its exit code.
pub fn idd(place: &Path, words: &[&str]) -> (String, String, Option<i32>) {
    let output = program(place).args(words).output().unwrap();
    kits::keep(&place.join(".git/cache"));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// What explains the failure of `./a`, which the second version of the source brings.
pub fn explained(file: &str, good: &str, bad: &str) -> Value {
    explained_by(file, good, bad, &["./a"])
}

/// The same for another test of the program `a`.
pub fn explained_by(file: &str, good: &str, bad: &str, test: &[&str]) -> Value {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    for text in [good, bad] {
        fs::write(place.path().join(file), text).unwrap();
        git(place.path(), &["add", "."]);
        git(place.path(), &["commit", "--quiet", "-m", "Another version"]);
    }
    let compiler = if file == "a.c" { "cc" } else { "c++ -std=c++17" };
    let build = format!("{compiler} -o a {file}");
    let words = ["explain", "--json", "--bad", "HEAD", "--good", "HEAD~1", "--build", &build, "--"];
    let words = [&words, test].concat();
    let (said, complaint, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{complaint}");
    serde_json::from_str(&said).unwrap()
}
