//! Recording: the real binary over real compilers.

use std::fs;
use std::path::Path;
use std::process::Command;

const TORTURE: &str = include_str!("record/torture.c");

/// A repository with these files, all committed.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(place.path().join(name), content).unwrap();
    }
    git(place.path(), &["init", "--quiet", "."]);
    git(place.path(), &["add", "."]);
    git(place.path(), &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "All"]);
    place
}

fn git(place: &Path, words: &[&str]) {
    assert!(Command::new("git").args(words).current_dir(place).status().unwrap().success(), "{words:?}");
}

/// What the program says to stdout and stderr, and its exit code.
fn idd(place: &Path, words: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-idd"));
    command.args(words).current_dir(place).env("XDG_CACHE_HOME", place.join(".git/cache"));
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn record_keeps_what_the_torture_program_does_and_does_not_change_it() {
    // Several levels of code generation for the reference are several programs to be equal to.
    let makefile = "all: t0 t1 t2\nt%: torture.c\n\t$(CC) -w -O$* -o $@ torture.c -lpthread -lm\n";
    let place = repository(&[("torture.c", TORTURE), ("Makefile", makefile), (".gitignore", "t[0-2]\n")]);
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", "./t0; ./t1; ./t2"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("the test ended with exit code 7\n"), "{said}");
    assert!(said.contains("sources instrumented: 3, compiled as they are: 0\n"), "{said}");
    // It is compared with the same programs as plain `cc` makes them.
    assert!(!said.contains("warning") && !said.contains("note"), "{said}");
    // Each of the three forks once.
    assert_eq!(said.matches("B of records").count(), 6, "{said}");
    let (stat, _, code) = idd(place.path(), &["trace", "stat", "--json"]);
    assert_eq!(code, Some(0), "{stat}");
}

#[test]
fn record_says_when_the_build_never_called_the_compiler() {
    let place = repository(&[("a", "")]);
    let (_, said, code) = idd(place.path(), &["record", "--once", "--", "true"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("the build never called the instrumenting compiler"), "{said}");
    assert!(said.contains("hint: "), "{said}");
}

#[test]
fn record_names_what_is_compiled_as_it_is() {
    // Assembler that jumps is not understood; the rest of the program is recorded.
    let odd = "int odd(int x)\n{\n    __asm__ goto(\"\" : : : : out);\n    return x;\nout:\n    return -x;\n}\n";
    let main = "int odd(int);\nint main(int argc, char **argv)\n{\n    return odd(argc) == 1 && argv ? 9 : 1;\n}\n";
    let makefile = "p: odd.c main.c\n\tcc -c odd.c\n\tcc -c main.c\n\tcc -o p odd.o main.o\n";
    let ignored = "p\n*.o\n";
    let files = [("odd.c", odd), ("main.c", main), ("Makefile", makefile), (".gitignore", ignored)];
    let place = repository(&files);
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", "./p"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(
        said.contains("exit code 9\n") && said.contains("sources instrumented: 1, compiled as they are: 1\n"),
        "{said}"
    );
    assert!(said.contains("odd.c: line ") && said.contains("the instruction `callbr`"), "{said}");
    let (stat, _, code) = idd(place.path(), &["trace", "stat"]);
    assert_eq!(code, Some(0), "{stat}");
}

#[test]
fn record_leaves_the_working_tree_as_it_was() {
    let files = [("m.c", "int main(void) { return 4; }\n"), (".gitignore", "m\n")];
    let place = repository(&files);
    let before: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--", "cc -o m m.c && ./m"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("exit code 4"), "{said}");
    let after: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(before, after);
}

#[test]
fn a_recording_that_comes_to_nothing_leaves_the_last_one() {
    let source = "int main(int argc, char **argv) { (void)argv; return argc; }\n";
    let place = repository(&[("t.c", source), ("Makefile", "t: t.c\n\t$(CC) -o t t.c\n"), (".gitignore", "t\n")]);
    assert_eq!(idd(place.path(), &["record", "--once", "--build", "make", "--", "./t"]).2, Some(0));
    let (_, said, code) =
        idd(place.path(), &["record", "--once", "--program", "nosuch", "--build", "make", "--", "./t"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("no instrumented program `nosuch`") && said.contains("/t\n"), "{said}");
    assert_eq!(idd(place.path(), &["record", "--once", "--build", "false", "--", "./t"]).2, Some(1));
    let (said, _, code) = idd(place.path(), &["trace", "stat"]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with("recording 0001:"), "{said}");
}

#[test]
fn record_says_that_the_build_fails_as_it_is() {
    let place = repository(&[("a.c", "int main(void) { return x; }\n")]);
    let (_, said, code) = idd(place.path(), &["record", "--build", "cc -o a a.c", "--", "./a"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("the build fails, also without the instrumenting compiler: "), "{said}");
}

#[test]
fn record_says_that_c_plus_plus_is_not_instrumented() {
    let place = repository(&[("a.cc", "int main() { return 3; }\n"), (".gitignore", "a\n")]);
    let (_, said, code) = idd(place.path(), &["record", "--once", "--build", "gcc -o a a.cc", "--", "./a"]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("no source could be instrumented") && said.contains("a.cc: C++ is not instrumented"),
        "{said}"
    );
}

#[test]
fn record_instruments_the_c_of_a_program_that_c_plus_plus_links() {
    let c = "int twice(int x)\n{\n    return 2 * x;\n}\n";
    let main = "extern \"C\" int twice(int);\nint main() { return twice(4); }\n";
    let makefile = "a: t.o m.o\n\tg++ -o a t.o m.o\nm.o: m.cc\n\tc++ -c m.cc\nt.o: t.c\n\tcc -c t.c\n";
    let files = [("t.c", c), ("m.cc", main), ("Makefile", makefile), (".gitignore", "a\n*.o\n")];
    let place = repository(&files);
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", "./a"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("exit code 8") && said.contains("instrumented: 1, compiled as they are: 1"), "{said}");
    assert!(said.contains("m.cc: C++ is not instrumented") && !said.contains("warning"), "{said}");
    let (tree, _, code) = idd(place.path(), &["trace", "tree"]);
    assert!(code == Some(0) && tree.starts_with("twice(x=4)  t.c:1 #1"), "{tree}");
}

#[test]
fn record_does_not_compare_runs_that_were_cut_by_timeout() {
    let endless = "int main(void) { for (volatile int i = 0;; i++) { } }\n";
    let place = repository(&[("a.c", endless), (".gitignore", "a\n")]);
    let words = ["record", "--timeout", "3s", "--max-trace", "1M", "--build", "cc -o a a.c", "--", "./a"];
    let (said, progress, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("timeout") && said.contains("note: the test was cut at its time limit"), "{said}");
    assert!(!said.contains("another way"), "{said}");
}

#[test]
fn a_source_of_any_name_is_recorded() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(OsStr::from_bytes(b"caf\xe9.c")), "int main(void) { return 4; }\n").unwrap();
    fs::write(place.path().join("Makefile"), "a: \n\tcc -o a *.c\n").unwrap();
    git(place.path(), &["init", "--quiet", "."]);
    git(place.path(), &["add", "."]);
    git(place.path(), &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "All"]);
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", "make", "--", "./a"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("exit code 4") && said.contains("instrumented: 1, compiled as they are: 0"), "{said}");
    let (step, _, code) = idd(place.path(), &["trace", "step", "2"]);
    assert!(code == Some(0) && step.contains("caf"), "{step}");
}

#[test]
fn what_a_killed_record_leaves_ends_with_the_next_one() {
    let place = repository(&[("a.c", "int main(void) { return 4; }\n"), (".gitignore", "a\n")]);
    let seconds = format!("3{:05}", std::process::id() % 100_000);
    let line = format!("sleep\0{seconds}\0");
    let is_alive = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
            .any(|words| words == line.as_bytes())
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-idd"));
    command.args(["record", "--once", "--", &format!("sleep {seconds} & sleep {seconds}; true")]);
    command.current_dir(place.path()).env("XDG_CACHE_HOME", place.path().join(".git/cache"));
    let mut killed = command.spawn().unwrap();
    while !is_alive() {
        assert!(killed.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(is_alive());
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", "cc -o a a.c", "--", "./a"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(!is_alive());
}
