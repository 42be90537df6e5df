//! What newcomers do: each slip is answered with what was seen and the next step.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use crate::plain::{git, idd};

/// A repository whose test, `./test.sh`, fails since the third of four commits.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self::empty();
        for number in ["1", "2", "bad", "bad too"] {
            place.write("value", number);
            place.commit(&format!("Set the value to {number}"));
        }
        place.script("test.sh", "if grep -q bad value; then echo 'FAIL: the value is bad'; exit 1; fi\n");
        place.commit("Add a test");
        place
    }

    fn empty() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        git(place.path(), &["init", "--quiet", "."]);
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script(&self, path: &str, text: &str) {
        self.write(path, &format!("#!/bin/sh\n{text}"));
        fs::set_permissions(self.path().join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn commit(&self, message: &str) {
        git(self.path(), &["add", "."]);
        git(self.path(), &["commit", "--quiet", "-m", message]);
    }

    /// What a command prints to stdout and stderr together; it must end with this exit code.
    #[track_caller]
    fn said(&self, words: &[&str], code: i32) -> String {
        let (stdout, stderr, ended) = idd(self.path(), words);
        assert_eq!(ended, Some(code), "{words:?}: {stdout}{stderr}");
        stdout + &stderr
    }

    /// Checks that a command prints all these texts and ends with this exit code.
    #[track_caller]
    fn check(&self, words: &[&str], code: i32, texts: &[&str]) {
        let said = self.said(words, code);
        for text in texts {
            assert!(said.contains(text), "{words:?} does not print {text:?}:\n{said}");
        }
    }
}

/// The exit codes of the tests below.
const USAGE: i32 = 129;
const ERROR: i32 = 1;
const BAD_PASSES: i32 = 3;
const NOTHING_TESTABLE: i32 = 4;
const NEVER_PASSED: i32 = 7;
const BUDGET: i32 = 6;

#[test]
fn a_script_that_a_shell_is_given_to_run_and_that_is_not_committed_is_in_every_revision() {
    let place = Place::new();
    place.script("own.sh", "exit 1\n");
    for words in [&["bash", "-c", "true && ./own.sh"][..], &["true && ./own.sh"]] {
        place.check(words, NEVER_PASSED, &[" with your files: own.sh.", "No revision passes"]);
    }
}

#[test]
fn a_directory_that_no_revision_has_is_named() {
    let place = Place::new();
    fs::create_dir(place.path().join("new")).unwrap();
    let (stdout, stderr, code) = idd(&place.path().join("new"), &["./test.sh"]);
    assert_eq!(code, Some(NOTHING_TESTABLE), "{stdout}{stderr}");
    let said =
        "hint: build and test run in `new/`, which the bad revision does not have; start `git idd` in a directory";
    assert!(stderr.contains(said), "{stderr}");
}

#[test]
fn a_repair_is_reported_with_its_neighbour_and_the_error_of_the_compiler() {
    let place = Place::empty();
    place.script("test.sh", "! grep -q bad value || { echo 'FAIL: the value is bad'; exit 1; }\n");
    place.script("build.sh", "! grep -n broken code || { echo 'code:1: error: it is broken'; exit 1; }\n");
    for (value, code) in [("1", "fine"), ("2", "fine"), ("2", "broken"), ("bad", "mended"), ("bad too", "mended")] {
        place.write("value", value);
        place.write("code", code);
        place.commit(&format!("Set {value}, {code}"));
    }
    let said = place.said(&["--build", "./build.sh", "./test.sh"], 0);
    let line = said.lines().find(|line| line.starts_with("Repaired ")).unwrap_or_default();
    assert!(line.contains(" (unresolved(build): `code:1: error: it is broken`) with "), "{said}");
    assert!(line.contains(" of its neighbour "), "{said}");
}

#[test]
fn a_test_that_needs_an_ignored_product_is_answered_with_the_build_of_the_tree() {
    let place = Place::empty();
    place.write(".gitignore", "prog\n");
    place.write("Makefile", "prog:\n\techo true >prog\n");
    place.script("test.sh", "./prog 1\n");
    place.commit("Add a test");
    place.write("a", "");
    place.commit("Add a file");
    place.script("prog", "exit 1\n");
    // As a compiler makes it.
    fs::write(place.path().join("prog"), b"\x7fELF").unwrap();
    // What it shows without the product is not what the user sees.
    let error = "error: the test fails for want of `prog`, which is in your working tree, but in no checkout, because git ignores it";
    let hint = "hint: `--build make` builds it in each. If no source makes it, `--hold prog` puts your copy into every revision";
    place.check(&["./test.sh"], NOTHING_TESTABLE, &[error, hint]);
    // It goes on after a line that names it.
    place.script("again.sh", "./prog 1; echo FAIL: wrong; exit 1\n");
    let (stdout, stderr, code) = idd(place.path(), &["./again.sh"]);
    assert_eq!(code, Some(NEVER_PASSED));
    // Before the search begins, and with the result.
    assert!(stdout.contains("note: `prog` is in your") && stderr.contains("\n`prog` is in your"), "{stdout}{stderr}");
    let said = stdout + &stderr;
    let hint = "`prog` is in your working tree, but in no checkout, because git ignores it; the output of the test names it. \
                `--build make` builds it in each.";
    assert!(said.contains(hint), "{said}");
    // In a subdirectory, paths are those that are typed there.
    place.write("sub/.gitignore", "/out\n");
    place.script("sub/t.sh", "out/prog 2>/dev/null\n");
    place.commit("Add a directory");
    place.script("sub/out/prog", "exit 1\n");
    let mut command = crate::plain::program(&place.path().join("sub"));
    let output = command.env("XDG_CACHE_HOME", place.path().join(".git/cache")).arg("./t.sh").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let hint = "Every revision is tested with your `out`, which git ignores. If a build makes it, `--build <command>` makes it \
                for each revision.";
    assert!(stdout.contains(hint), "{stdout}");
    assert_eq!(output.status.code(), Some(NEVER_PASSED));
    // Named as the test itself.
    place.check(
        &["./prog"],
        ERROR,
        &[
            "error: the test command was not found (exit code 127): ",
            "the test command names it. `--build make` builds",
        ],
    );
}

#[test]
fn a_test_that_reads_only_what_was_built_is_told_so_before_the_search() {
    let place = Place::empty();
    place.write(".gitignore", "/out/\n");
    place.write("Makefile", "out/prog: prog.sh\n\tmkdir -p out; cp prog.sh out/prog; chmod +x out/prog\n");
    for line in ["exit 0", ": ; exit 0", "exit 1", ": ; exit 1"] {
        place.script("prog.sh", &format!("{line}\n"));
        place.commit(line);
    }
    place.script("out/prog", "echo wrong; exit 1\n");
    place.write("tests/run", "out/prog\n");
    let said = place.said(&["--max-probes", "3", "sh tests/run"], BUDGET);
    let hint = "Every revision is tested with your `out`, which git ignores. If a build makes it, `--build make` makes it for each revision.";
    assert!(said.contains(hint), "{said}");
    // One that reads the source, too, is not.
    place.write("tests/run", "cat prog.sh >/dev/null; out/prog\n");
    assert!(!place.said(&["--max-probes", "3", "sh tests/run"], BUDGET).contains("Every revision is tested with"));
}

#[test]
fn a_product_of_the_working_tree_is_no_commit_that_broke_the_test() {
    let place = Place::empty();
    place.write("package.json", "{\"scripts\": {\"build\": \"make\"}}");
    place.script("tests/run", "out/prog\n");
    place.write("prog.sh", "exit 0\n");
    place.script("out/prog", "exit 0\n");
    place.commit("Add a product");
    fs::remove_dir_all(place.path().join("out")).unwrap();
    place.write(".gitignore", "/out/\n");
    place.commit("Do not track the product");
    for line in [": ; exit 0", "exit 1", ": ; exit 1"] {
        place.write("prog.sh", &format!("{line}\n"));
        place.commit(line);
    }
    place.script("out/prog", "echo wrong; exit 1\n");
    let said = place.said(&["sh tests/run"], ERROR);
    let error = "error: the test passes at ";
    assert!(said.contains(error) && said.contains(" with `out` of that revision, and fails since "), "{said}");
    let hint = "hint: `--build 'npm run build'` makes it for each revision; `--hold out` tests all of them with yours";
    assert!(said.contains(hint) && !said.contains("Proved"), "{said}");
}

#[test]
fn a_test_that_reads_an_installed_copy_of_the_package_is_told_so() {
    let place = Place::empty();
    let site = tempfile::tempdir().unwrap();
    let copy = site.path().join("site-packages/human/number.py");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::write(&copy, "bad\n").unwrap();
    place.script("tests/run", &format!("! grep -q bad {}\n", copy.display()));
    place.write("main.py", "");
    place.write("setup.py", "");
    for value in ["good", "good too", "bad"] {
        place.write("src/human/number.py", value);
        place.commit(value);
    }
    let seen = format!(
        "the test reads `{}`, which is installed, and not `src/human/number.py` of the checkout",
        copy.display()
    );
    let advice = "`pip install -e .` lets the test read the checkout";
    let all = ", so it would test the same sources at all revisions";
    place.check(&["tests/run"], USAGE, &[&format!("error: {seen}{all}"), &format!("hint: {advice}")]);
    // It looks at another file of the checkout, as a runner does.
    place.script("tests/run", &format!("[ -f README ] && ! grep -q bad {}\n", copy.display()));
    place.write("README", "");
    place.commit("Look at a file");
    place.check(&["tests/run"], USAGE, &[&format!("error: {seen}{all}")]);
    // It also reads another source of the checkout, which can differ.
    place.script("tests/run", &format!("cat README; ! grep -q bad {}\n", copy.display()));
    place.commit("Read another file");
    place.check(&["tests/run"], NEVER_PASSED, &[&format!("At the bad revision, {seen}. {advice}.\n")]);
    place.script("tests/run", &format!("cat main.py; ! grep -q bad {}\n", copy.display()));
    place.commit("Read another module");
    let said = place.said(&["tests/run"], NEVER_PASSED);
    let told = format!("At the bad revision, {seen}. {advice}.\n");
    assert_eq!(said.matches(&told).count(), 2, "{said}");
    // An editable install leads to the checkout, and so does the path of Python.
    place.script("tests/run", &format!("cat {}; ! grep -q bad src/human/number.py\n", copy.display()));
    place.commit("Read the source");
    let said = place.said(&["--until", "commit", "tests/run"], 0);
    assert!(!said.contains("which is installed"), "{said}");
}

#[test]
fn a_compiled_module_is_enough_only_where_its_source_is_the_same() {
    let place = Place::empty();
    place.write(".gitignore", "*.so\n");
    place.write("setup.py", "");
    place.script("tests/run", "cat fast.*.so && ! grep -q bad value\n");
    for (value, source) in [("1", "a"), ("2", "b"), ("bad", "b"), ("bad too", "b")] {
        place.write("value", value);
        place.write("fast.c", source);
        place.commit(&format!("{value} {source}"));
    }
    place.write("fast.cpython-312.so", "b");
    let said = place.said(&["--until", "commit", "tests/run"], 0);
    let told = "Every revision is tested with your `fast.cpython-312.so`, which git ignores. If a build makes it, \
                `--build 'python setup.py -q build_ext -i'` makes it for each revision.";
    assert_eq!(said.matches(told).count(), 2, "{said}");
    assert!(said.contains("    bad b\n"), "{said}");
    place.write("fast.c", "c");
    place.commit("bad c");
    let error = "error: all revisions are tested with your `fast.cpython-312.so`, but `fast.c` is another one at ";
    let hint = "hint: `--build 'python setup.py -q build_ext -i'` builds it for each revision; \
                `--hold fast.cpython-312.so` goes on with yours";
    // A result that is known is not believed either.
    for _ in 0..2 {
        place.check(&["--until", "commit", "tests/run"], ERROR, &[error, hint]);
    }
    let hold = ["--until", "commit", "--hold", "fast.cpython-312.so", "tests/run"];
    place.check(&hold, 0, &["    bad b\n"]);
}

#[test]
fn a_command_for_all_tests_is_advised_only_where_its_program_is() {
    let place = Place::new();
    place.write("go.mod", "module x\n");
    place.commit("Be a module");
    let programs = tempfile::tempdir().unwrap();
    for name in ["git", "sh", "grep"] {
        std::os::unix::fs::symlink(which(name), programs.path().join(name)).unwrap();
    }
    let advised = |words: &[&str]| {
        let mut command = crate::plain::program(place.path());
        let output = command.env("PATH", programs.path()).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&output.stderr));
        said.contains("With `--suite 'go test ./...'`, all tests of the project")
    };
    assert!(!advised(&["./test.sh"]));
    fs::write(programs.path().join("go"), "").unwrap();
    fs::set_permissions(programs.path().join("go"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(advised(&["--no-cache", "./test.sh"]));
    // No test is advised as its own suite.
    place.write("go.mod", "");
    place.write("Makefile", "check:\n\t./test.sh\n");
    place.commit("Be built by make");
    let said = place.said(&["make check"], 0);
    assert!(!said.contains("--suite '"), "{said}");
}

/// The path of a program.
fn which(name: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file()).unwrap()
}

#[test]
fn what_breaks_a_test_file_of_the_user_can_be_a_test_of_a_revision() {
    let place = Place::empty();
    for (value, helper) in [("1", "true"), ("2", "true"), ("3", "echo broken; false"), ("4", "echo broken; false")] {
        place.write("value", value);
        place.write("tests/helper.sh", &format!("{helper}\n"));
        place.commit(&format!("Set {value}"));
    }
    place.script("tests/own.sh", ". tests/helper.sh\n");
    let said = place.said(&["tests/own.sh"], 0);
    assert!(said.contains("    Set 3\n") && !said.contains("is withdrawn"), "{said}");
}

#[test]
fn a_test_that_builds_in_a_configured_directory_is_never_said_to_use_old_products() {
    let place = Place::empty();
    place.write(".gitignore", "/build/\n");
    place.script("test.sh", "cc -o build/prog prog.c && build/prog\n");
    for code in ["0", "1", "1 + 0"] {
        place.write("prog.c", &format!("int main(void) {{ return {code}; }}\n"));
        place.commit(code);
    }
    place.write("build/CMakeCache.txt", "");
    for words in [&["--until", "found", "./test.sh"][..], &["resume", "--until", "change"]] {
        let said = place.said(words, 0);
        assert!(!said.contains("is tested with your"), "{said}");
    }
    // It is known which runs there were, so none is announced either.
    assert!(!place.said(&["resume", "--until", "fix"], 0).contains("is tested with your"));
}

#[test]
fn a_test_that_fails_only_without_an_untracked_file_is_not_hunted() {
    let place = Place::empty();
    place.script("test.sh", "cat data.txt || exit 3\n");
    place.commit("Add a test");
    place.write("a", "");
    place.commit("Add a file");
    place.write("data.txt", "1");
    let said = place.said(&["./test.sh"], BAD_PASSES);
    assert!(said.contains(" with your files: data.txt.\n"), "{said}");
    assert!(said.contains("The test passes at the bad revision: there is nothing to hunt.\n"), "{said}");
}

#[test]
fn a_test_whose_build_needs_an_untracked_file_and_that_passes_is_not_hunted() {
    let place = Place::empty();
    place.script("test.sh", "exit 0\n");
    place.commit("Add a test");
    place.write("data.txt", "1");
    let said = place.said(&["--build", "cat data.txt", "--", "./test.sh"], BAD_PASSES);
    assert!(said.contains("The test passes at the bad revision: there is nothing to hunt.\n"), "{said}");
}

#[test]
fn a_test_that_the_runner_does_not_find_is_no_failure() {
    let place = Place::new();
    let line = "echo 'ERROR: not found: tests/test_a.py::test_b'; echo; exit 4";
    let expected =
        "the test gives no verdict at the bad revision (test-absent): ERROR: not found: tests/test_a.py::test_b";
    place.check(&[line], NOTHING_TESTABLE, &[expected, "hint: the runner does not find the test in the bad revision;"]);
    // What fails without the files of the user is no failure either.
    place.write("runner", "");
    let line = format!("[ -e runner ] || exit 127; {line}");
    place.check(&[&line], NOTHING_TESTABLE, &[expected]);
    // Whoever looks for the message itself names it.
    place.check(&["--match", "not found", &line], NEVER_PASSED, &["No revision passes"]);
}

#[test]
fn a_test_that_reads_the_working_tree_is_not_hunted_where_a_checkout_cannot_be_seen_there() {
    // The directory for checkouts is inside of this working tree.
    let place = Place::new();
    let top = place.path().canonicalize().unwrap();
    let value = top.join("value");
    let line = format!("! grep -q bad {}", value.display());
    let expected =
        format!("the test reads `value` of the working tree `{}`, not of the tested checkout", top.display());
    place.check(&[&line], NOTHING_TESTABLE, &[&expected]);
    place.script("test.sh", &format!("cd {} || exit\n! grep -q bad value\n", top.display()));
    place.check(&["./test.sh"], NOTHING_TESTABLE, &[&expected]);
    place.script("test.sh", "cd \"$(dirname \"$0\")\" || exit\n! grep -q bad value\n");
    place.check(&[top.join("test.sh").to_str().unwrap()], NOTHING_TESTABLE, &[&expected]);
}

#[test]
fn a_look_for_uncommitted_changes_runs_nothing_of_the_configuration() {
    let place = Place::new();
    place.write(".gitattributes", "value filter=mark\n");
    place.commit("Filter the value");
    place.script(".git/mark", "touch .git/was-run; cat\n");
    git(place.path(), &["config", "filter.mark.clean", ".git/mark"]);
    git(place.path(), &["config", "core.fsmonitor", ".git/mark"]);
    place.write("value", "mine");
    let said = place.said(&["true"], BAD_PASSES);
    assert!(said.contains("in no checkout: `value`"), "{said}");
    assert!(!place.path().join(".git/was-run").exists());
}

#[test]
fn uncommitted_changes_are_named_if_the_bad_revision_passes() {
    let place = Place::new();
    place.write("value", "3");
    place.commit("Mend the value");
    place.write("value", "bad again");
    let before = fs::read(place.path().join(".git/index")).unwrap();
    let said = place.said(&["./test.sh"], BAD_PASSES);
    assert!(said.contains("The test passes at the bad revision"), "{said}");
    let hint = "note: Uncommitted changes are in your working tree, but in no checkout: `value`. If the test fails only \
                with them, they are the cause; `git diff HEAD` shows them.";
    assert!(said.contains(hint), "{said}");
    assert_eq!(fs::read(place.path().join(".git/index")).unwrap(), before);
}

#[test]
fn what_the_output_shows_of_network_ports_and_stdin_is_said_when_the_failure_is_reproduced() {
    let place = Place::new();
    let check = |line: &str, text: &str| {
        place.script("test.sh", &format!("echo \"{line}\"; exit 1\n"));
        let said = place.said(&["--until", "commit", "./test.sh"], NEVER_PASSED);
        assert!(said.contains(text), "{said}");
    };
    check(
        "curl: (6) Could not resolve host: x",
        "The output has `curl: (6) Could not resolve host: x`: the test could not",
    );
    check("bind: Address already in use", "`bind: Address already in use`: the test needs a port that is taken");
    check("EOFError: EOF when reading a line", "reads standard input, which is empty here. Redirect it: ");
}

#[test]
fn a_port_that_only_a_parallel_run_finds_taken_is_named_with_the_option_for_one_at_a_time() {
    let place = Place::new();
    let several = std::thread::available_parallelism().is_ok_and(|number| number.get() > 1);
    let shared = tempfile::tempdir().unwrap();
    // A directory stands for the port. From the second run on, it is kept until another run has found it taken.
    let script = format!(
        "cd {shared}; echo >>begun
         mkdir port 2>/dev/null || {{ : >taken; echo 'bind: Address already in use'; exit 1; }}
         ! {several} || [ $(wc -l <begun) -lt 2 ] || until [ -e taken ]; do sleep 0.01; done
         rmdir port; echo 'FAIL: x'; exit 1\n",
        shared = shared.path().display()
    );
    place.script("test.sh", &script);
    let said = place.said(&["--until", "commit", "./test.sh"], NEVER_PASSED);
    // On a machine with one processor, nothing runs at once.
    if several {
        let text =
            "runs twice at once: its port is taken then (`-j1` avoids these runs); going on with one run at a time.";
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn a_test_that_is_not_executable_a_directory_or_mistyped_is_answered_with_what_to_type() {
    let place = Place::new();
    place.write("t.sh", "#!/usr/bin/env python3\nexit(1)\n");
    place.write("tests/unit.sh", "exit 1\n");
    place.commit("Add tests");
    let text = "hint: `./t.sh` is not executable: `chmod +x ./t.sh` makes it so, or start it with its interpreter, as `python3 ./t.sh`";
    place.check(&["./t.sh"], ERROR, &["error: the test command cannot be executed (exit code 126): ", text]);
    place.check(&["mkae && ./test.sh"], ERROR, &["hint: there is no program `mkae` in PATH;"]);
    place.check(&["test.sh", "x"], ERROR, &["hint: a program of the tree is named by its path: `./test.sh`\n"]);
    for word in ["./tests", "tests"] {
        place.check(
            &[word],
            if word == "tests" { USAGE } else { ERROR },
            &[&format!("hint: `{word}` is a directory; give the command")],
        );
    }
    place.check(&["./tests"], ERROR, &["hint: `./tests` is a directory; give the command that runs the tests in it"]);
    for (word, meant) in
        [("./tset.sh", "./test.sh"), ("./tests/unti.sh", "./tests/unit.sh"), ("./unit.sh", "./tests/unit.sh")]
    {
        let hint = format!("hint: there is no `{word}`; did you mean `{meant}`?\n");
        place.check(&[word, "x"], ERROR, &["error: the test command was not found (exit code 127)", &hint]);
    }
    let hint = "hint: there is no `tset.sh`; did you mean `./test.sh`?\n";
    place.check(&["sh", "tset.sh"], ERROR, &["error: the test command was not found (exit code ", hint]);
}

#[test]
fn options_after_the_test_are_reported_with_the_command_that_may_be_meant() {
    let place = Place::new();
    let warning = "warning: `--build` stands after the test, so the test gets it. If it is for git idd: `git idd --build true -- \
                   ./test.sh`. If it is for the test: `git idd -- ./test.sh --build true`.\n";
    place.check(&["--until", "commit", "./test.sh", "--build", "true"], 0, &["is the first bad commit"]);
    place.check(&["./test.sh", "--build", "true"], 0, &[warning]);
    let said = place.said(&["--until", "commit", "--", "./test.sh", "--build", "true"], 0);
    assert!(!said.contains("warning:"), "{said}");
}

#[test]
fn run_before_the_test_is_left_out_as_it_is_not_needed() {
    let place = Place::new();
    let warning =
        "warning: `run` is not needed: the test is `./test.sh x`. (`git idd -- run` runs a program of this name.)\n";
    place.check(&["--until", "commit", "run", "./test.sh", "x"], 0, &[warning, "is the first bad commit"]);
    place.check(&["--", "run", "./test.sh"], USAGE, &["error: `run` is neither a subcommand nor a program in PATH\n"]);
}

#[test]
fn words_of_git_bisect_are_answered_with_the_command_of_git_idd() {
    let place = Place::new();
    for (words, error, hint) in [
        (&["good", "v1.0"][..], "no hunt by hand is under way", "`git idd start` begins one"),
        (&["old", "v1.0"], "`old` is no command here", "`git idd --good v1.0 -- <test>`"),
        (&["new"], "`new` is no command here", "`git idd --bad <rev> -- <test>`"),
        (&["visualize"], "`visualize` has another name here", "`git idd log`"),
        (&["terms"], "the terms are fixed", "`git idd --find fix <test>`"),
        (&["replay", "file"], "a hunt keeps its own log", "`git idd resume`"),
        (&["next"], "`next` is not needed", "`git idd resume`"),
        (&["reset", "HEAD"], "`git idd reset` takes no revision", "`git idd reset` forgets the hunts"),
    ] {
        let said = place.said(words, USAGE);
        let (message, advice) = said.split_once("\n\nhint: ").unwrap();
        assert!(message.starts_with(&format!("error: {error}")) && advice.contains(hint), "{words:?}: {said}");
    }
    place.check(&["reset"], 0, &["Forgot the hunts of this worktree"]);
}

#[test]
fn a_git_bisect_that_is_under_way_is_said_and_its_revisions_are_taken_on_request() {
    let place = Place::new();
    let from_bisect = ["--until", "commit", "--from-bisect", "./test.sh"];
    place.check(&from_bisect, USAGE, &["error: no `git bisect` is under way in this worktree\n\nhint: `--good <rev>`"]);
    git(place.path(), &["bisect", "start", "--term-new", "broken", "--term-old", "fine"]);
    place.check(&from_bisect, USAGE, &["error: the `git bisect` that is under way has no bad revision yet\n"]);
    git(place.path(), &["bisect", "broken", "HEAD~1"]);
    git(place.path(), &["bisect", "fine", "HEAD~4"]);
    // HEAD is between the two.
    let text = "A `git bisect` is under way, so HEAD is the revision that it tests, and the bad one here; `--from-bisect` takes its \
                bad revision and its 1 good one.";
    place.script("test.sh", "! grep -q bad value\n");
    let said = place.said(&["--until", "commit", "./test.sh"], 0);
    assert!(said.contains(text), "{said}");
    place.check(
        &from_bisect,
        0,
        &["is the first bad commit", "    Set the value to bad\n", "Set the value to bad too"],
    );
    place.check(&["--from-bisect", "--good", "HEAD", "t"], USAGE, &["cannot be used with"]);
}

#[test]
fn a_broken_mark_of_a_git_bisect_is_named() {
    let place = Place::new();
    let from_bisect = ["--until", "commit", "--from-bisect", "./test.sh"];
    git(place.path(), &["bisect", "start", "HEAD", "HEAD~4"]);
    let missing = "1234567890".repeat(4);
    for content in ["garbage\n", "", &format!("{missing}\n")] {
        fs::write(place.path().join(".git/refs/bisect/bad"), content).unwrap();
        place.check(
            &from_bisect,
            USAGE,
            &[
                "error: `refs/bisect/bad`, a mark of the `git bisect` that is under way, is broken: it names no commit",
                "hint: `git update-ref --no-deref -d refs/bisect/bad` removes it",
            ],
        );
    }
    git(place.path(), &["update-ref", "--no-deref", "-d", "refs/bisect/bad"]);
    place.check(&from_bisect, USAGE, &["error: the `git bisect` that is under way has no bad revision yet\n"]);
}

#[test]
fn revisions_in_front_of_the_test_are_answered_with_their_options() {
    let place = Place::new();
    git(place.path(), &["tag", "v1", "HEAD~4"]);
    for (words, command) in [
        (&["HEAD", "HEAD~4", "--", "./test.sh"] as &[&str], "git idd --bad HEAD --good HEAD~4 -- ./test.sh"),
        (&["HEAD", "v1", "./test.sh", "x"], "git idd --bad HEAD --good v1 -- ./test.sh x"),
        (&["HEAD"], "git idd --bad HEAD -- <test>"),
    ] {
        let hint = format!("hint: `{command}`; without `--good`, a good revision is searched\n");
        place.check(words, USAGE, &["error: `HEAD` is a revision, not a test: options name the revisions\n", &hint]);
    }
    place.check(
        &["--bad", "HEAD", "--good", "HEAD~4", "--until", "commit", "--", "./test.sh"],
        0,
        &["is the first bad"],
    );
    // A file of this name is a test.
    place.script("v1", "exit 1\n");
    let said = place.said(&["v1"], USAGE);
    assert!(!said.contains("is a revision"), "{said}");
}

#[test]
fn terms_are_answered_with_what_they_mean_here() {
    let place = Place::new();
    let hint = "hint: to find what made a test pass: `git idd --find fix <test>`";
    for words in [["--term-old", "fast", "--term-new=slow", "./test.sh"], ["--term-bad=slow", "-q", "--", "./test.sh"]]
    {
        place.check(&words, USAGE, &["good revisions pass the test, bad ones fail\n", hint]);
    }
}

#[test]
fn swapped_revisions_are_answered_with_the_command_that_is_meant() {
    let place = Place::new();
    git(place.path(), &["tag", "old", "HEAD~4"]);
    let words = ["--good", "HEAD", "--bad", "old", "--hold", "test.sh", "./test.sh"];
    place.check(
        &words,
        BAD_PASSES,
        &[
            "The bad revision `old` is an ancestor of the good revision `HEAD`; perhaps they are swapped: `--good` names",
            "`git idd --good old --bad HEAD --hold test.sh -- ./test.sh`.",
        ],
    );
    let said = place.said(&["--good", "old~0", "--bad", "HEAD~3", "--hold", "test.sh", "./test.sh"], BAD_PASSES);
    assert!(!said.contains("swapped"), "{said}");
}

#[test]
fn operators_of_the_shell_as_words_are_answered_with_the_quoted_line() {
    let place = Place::new();
    place.check(
        &["true", "&&", "./test.sh"],
        USAGE,
        &["error: the test gets `&&` as a plain word", "hint: quote the whole line: `git idd 'true && ./test.sh'`\n"],
    );
    place.check(&["--until", "commit", "true && ./test.sh"], 0, &["is the first bad commit"]);
    place.check(&["--until", "commit", "./test.sh", "|", "cat"], 0, &["warning: The test gets `|` as a plain word"]);
}

#[test]
fn products_that_no_rule_ignores_are_named_once_with_what_saves_the_builds() {
    let place = Place::new();
    let words = ["--until", "commit", "--build", "touch a.o b.o; cp test.sh prog || true", "./test.sh"];
    let said = place.said(&words, 0);
    let text = "which no `.gitignore` of the revision covers. They are removed after each probe, so each probe builds everything;";
    assert_eq!(said.matches(text).count(), 1, "{said}");
    place.write(".gitignore", "*.o\nprog\n");
    let held = place.said(&[&["--hold", ".gitignore"], &words[..]].concat(), 0);
    assert!(!held.contains(text), "{held}");
    // What the user has is no product of a probe, also where a revision does not ignore it.
    let place = Place::empty();
    place.write("value", "");
    place.commit("Add a file");
    place.write(".gitignore", "*.o\n");
    place.commit("Ignore products");
    place.write("a.o", "\x7fELF");
    let never = place.said(&["echo FAIL: it; exit 1"], NEVER_PASSED);
    assert!(!never.contains("Probes leave"), "{never}");
    let place = Place::new();
    // Beside products that a rule covers, the others of a build stay.
    place.write(".gitignore", "a.o\n");
    let words = ["--until", "commit", "--hold", ".gitignore", "--build", "touch a.o b.o", "./test.sh"];
    let partly = place.said(&words, 0);
    assert!(!partly.contains(text), "{partly}");
}

#[test]
fn a_failed_build_is_explained_by_the_first_error_of_the_compiler() {
    let place = Place::new();
    place.write("a.c", "int main(void)\n{\n    return y;\n}\n");
    place.write("Makefile", "a: a.c\n\t$(CC) -o a a.c\n");
    place.commit("Break the build");
    let (_, stderr, code) = idd(place.path(), &["--build", "make", "--", "./test.sh"]);
    assert_eq!(code, Some(NOTHING_TESTABLE));
    let line = stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(line.starts_with("error: the test gives no verdict at the bad revision (build): a.c:3:"), "{stderr}");
    assert!(line.contains("error: "), "{stderr}");
}

#[test]
fn the_first_failing_test_of_a_runner_is_named_with_the_command_that_runs_it_alone() {
    let place = Place::new();
    let line = "echo 'FAILED t.py::test_x - assert False'; echo '=== 1 failed, 2 passed in 0.01s ==='";
    place.script("test.sh", &format!("grep -q bad value || exit 0; {line}; exit 1\n"));
    let text = "The failing test is `t.py::test_x`; other tests pass. `git idd -- pytest t.py::test_x` hunts it alone.";
    place.script(".git/bin/pytest", "");
    let path = format!("{}:{}", place.path().join(".git/bin").display(), std::env::var("PATH").unwrap());
    let mut command = crate::plain::program(place.path());
    let output = command.args(["--until", "commit", "./test.sh"]).env("PATH", path).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(text), "{said}");
}

#[test]
fn a_build_that_fails_does_not_blame_the_test_of_the_user() {
    let place = Place::new();
    place.write("tests/mine", "true\n");
    let said = place.said(&["--build", "no-such-compiler", "cat tests/mine"], NOTHING_TESTABLE);
    assert!(said.contains("no-such-compiler: not found") && !said.contains("tests/mine` is in your"), "{said}");
}

#[test]
fn a_suite_is_advised_where_it_can_run() {
    let place = Place::empty();
    place.write("Makefile", "check:\n\ttrue\n");
    place.script("test.sh", "! grep -q bad \"${0%/*}/value\"\n");
    place.write("sub/value", "");
    for value in ["good", "good too", "bad", "bad too"] {
        place.write("value", value);
        place.commit(value);
    }
    let advice = "With `--suite 'make check'`, all tests of the project choose the fix";
    place.check(&["./test.sh"], 0, &[advice]);
    let (stdout, _, code) = idd(&place.path().join("sub"), &["../test.sh"]);
    assert!(code == Some(0) && !stdout.contains("--suite 'make"), "{stdout}");
}

#[test]
fn no_repository_and_no_command_are_answered_with_the_next_step() {
    let outside = tempfile::tempdir().unwrap();
    let mut command = crate::plain::program(outside.path());
    let output = command.args(["./test.sh"]).env("GIT_CEILING_DIRECTORIES", "/").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(ERROR));
    assert!(
        stderr.contains("hint: run `git idd` inside a repository, or name one with `git -C <path> idd`"),
        "{stderr}"
    );
    let place = Place::new();
    for words in [&[][..], &["--"], &[""], &["--build", "make"], &["run"]] {
        place.check(words, USAGE, &["git idd -- ./test.sh"]);
    }
}

#[test]
fn submodules_that_were_not_filled_stay_empty_and_the_command_that_fills_them_is_named() {
    let (inner, place) = (Place::empty(), Place::new());
    inner.write("part", "1");
    inner.commit("Add a part");
    let url = inner.path().to_str().unwrap();
    git(place.path(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "part"]);
    place.commit("Add a submodule");
    let clone = tempfile::tempdir().unwrap();
    git(clone.path(), &["clone", "--quiet", place.path().to_str().unwrap(), "."]);
    let (stdout, stderr, code) = idd(clone.path(), &["--until", "commit", "./test.sh"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(
        stderr.contains("stay empty in every revision; `git submodule update --init --recursive` gets them"),
        "{stderr}"
    );
    git(clone.path(), &["config", "idd.submodules", "filled"]);
    let (stdout, stderr, code) = idd(clone.path(), &["--no-cache", "./test.sh"]);
    assert_eq!(code, Some(NOTHING_TESTABLE));
    assert!(stderr.contains("hint: `git submodule update --init --recursive` gets submodules"), "{stdout}{stderr}");
}
