//! Recordings under Java runtimes of other versions than the one of the machine.
//!
//! `IDD_TEST_JAVA_HOMES` is a list of their directories, separated by colons. A runtime without a compiler gets classes from
//! the `javac` in `PATH`, made for its version; that compiler compiles the agent, too.

use crate::java::{MODERN, TORTURE, check_torture, repository, version};
use crate::plain::{self, git};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const VARIABLE: &str = "IDD_TEST_JAVA_HOMES";

/// A runtime, and what compiles for it.
struct Home {
    place: PathBuf,
    path: OsString,
    build: String,
}

impl Home {
    /// - `release`: the version for which classes are made.
    fn new(place: &Path, release: u32) -> Self {
        let path = env::var_os("PATH").unwrap();
        let path = env::join_paths([place.join("bin")].into_iter().chain(env::split_paths(&path))).unwrap();
        Self { place: place.to_owned(), path, build: format!("javac -g --release {release} -d out *.java") }
    }

    /// What the program says and its code, with this runtime.
    #[track_caller]
    fn idd(&self, place: &Path, words: &[&str]) -> (String, Option<i32>) {
        let mut command = plain::program(place);
        command.args(words).env("PATH", &self.path).env_remove("JAVA_HOME");
        let output = command.output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (said, output.status.code())
    }

    #[track_caller]
    fn asked(&self, place: &Path, words: &[&str]) -> String {
        let (said, code) = self.idd(place, words);
        assert_eq!(code, Some(0), "{}: {words:?}: {said}", self.place.display());
        said
    }

    fn record(&self, place: &Path, more: &[&str], test: &str) -> String {
        let words = [&["record", "--build", &self.build], more, &["--", test]].concat();
        self.asked(place, &words)
    }
}

/// The version of a runtime.
fn version_of(home: &Path) -> u32 {
    let output = Command::new(home.join("bin/java")).arg("-version").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let version = said.split('"').nth(1).and_then(|version| version.trim_start_matches("1.").split(['.', '-']).next());
    version.and_then(|version| version.parse().ok()).unwrap_or_else(|| panic!("{}: {said}", home.display()))
}

const MAIN: &str = r#"import java.util.ArrayList;
import java.util.List;

public class Main {
    private final List<Integer> counts = new ArrayList<>();
    private int total;

    void add(String name, int count) {
        counts.add(count);
        total += count;
    }

    static int twice(int count) {
        return count + count;
    }

    public static void main(String[] args) {
        Main cart = new Main();
        String[] names = {"pen", "ink"};
        for (int i = 0; i < names.length; i++) {
            cart.add(names[i], twice(names[i].length() + i));
        }
        System.out.println("total " + cart.total);
        if (cart.total != 14) {
            throw new IllegalStateException("total " + cart.total);
        }
    }
}
"#;

/// Every kind of command that reads a recording.
fn check_commands(home: &Home) {
    let place = repository(&[("Main.java", MAIN)]);
    let bad = MAIN.replace("return count + count;", "return count + count + 1;");
    fs::write(place.path().join("Main.java"), bad).unwrap();
    git(place.path(), &["commit", "--quiet", "-a", "-m", "Bad"]);
    let said = home.record(place.path(), &[], "java -cp out Main");
    assert!(said.contains("the test ended with exit code 1\n"), "{said}");
    assert!(!said.contains("warning") && !said.contains("note"), "{said}");
    let listed = home.asked(place.path(), &["trace", "list"]);
    assert!(listed.contains("java -cp out Main"), "{listed}");
    let tree = home.asked(place.path(), &["trace", "tree"]);
    for line in ["Main.twice(count=4) = 9", "name=\"ink\", count=9)", "loop, 2 times"] {
        assert!(tree.contains(line), "{line}: {tree}");
    }
    let stat = home.asked(place.path(), &["trace", "stat"]);
    assert!(stat.contains("reads that found other bytes than were written last: 0 of"), "{stat}");
    let slice = home.asked(place.path(), &["slice", "--backward", "crash", "--json"]);
    let slice: serde_json::Value = serde_json::from_str(&slice).unwrap();
    let lines: Vec<u64> =
        slice["lines"].as_array().unwrap().iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert!([14, 21, 24].iter().all(|line| lines.contains(line)) && !lines.contains(&23), "{lines:?}");
    fs::write(place.path().join(".git/answers"), "w cart.total\nq\n").unwrap();
    let (walk, code) = home.idd(place.path(), &["debug", "--answers", ".git/answers"]);
    assert_eq!(code, Some(130), "{walk}");
    assert!(walk.contains("uses cart.total = 16") && walk.contains("2. step "), "{walk}");
    let words = ["explain", "--bad", "HEAD", "--good", "HEAD~1", "--build", &home.build, "--", "java -cp out Main"];
    let chain = home.asked(place.path(), &words);
    let end = "thus IllegalStateException (\"total 16\") leaves Main.main (reference: none)";
    assert!(chain.contains("* Main.java:14") && chain.contains(end), "{chain}");
    assert!(chain.contains("the test passes") && chain.contains("It begins with the change."), "{chain}");
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that does not test what it is called for says so")]
fn java_of_other_versions_is_recorded_and_read() {
    let Some(compiler) = version() else { return };
    let homes = env::var_os(VARIABLE).unwrap_or_default();
    let homes: Vec<PathBuf> = env::split_paths(&homes).filter(|home| !home.as_os_str().is_empty()).collect();
    if homes.is_empty() {
        eprintln!("`{VARIABLE}` names no Java runtime: only the one of the machine is tested");
    }
    for place in homes {
        let version = version_of(&place);
        let newest = if place.join("bin/javac").is_file() { version } else { version.min(compiler) };
        for release in [8, newest] {
            eprintln!("{}: version {version}, classes of version {release}", place.display());
            let home = Home::new(&place, release);
            let mut files = vec![("Main.java", TORTURE)];
            let mut test = "java -Xss400k -cp out Main".to_owned();
            if release >= 17 {
                files.push(("Modern.java", MODERN));
                test = format!("java -cp out Modern && {test}");
            }
            let torture = repository(&files);
            let said = home.record(torture.path(), &[], &test);
            check_torture(torture.path(), &said, files.len());
            check_commands(&home);
        }
    }
}
