//! Recording: the real binary over real compilers.

use crate::plain::{self, git, idd};
use std::fs;
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
    git(place.path(), &["commit", "--quiet", "-m", "All"]);
    place
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

/// A program of one file that is recorded with one argument, and what `record` said.
fn recorded(program: &str) -> (tempfile::TempDir, String) {
    let place = repository(&[("a.c", program), ("Makefile", "a: a.c\n\t$(CC) -g -o a a.c\n")]);
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", "./a x"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    (place, said)
}

#[test]
fn record_has_a_call_of_null_crash_as_it_would() {
    let program = "#include <stddef.h>
int main(int argc, char **argv)
{
    int (*called)(int) = NULL;
    if (argc > 1)
        return called(argc);
    return 0;
}
";
    let (_place, said) = recorded(program);
    assert!(said.contains("the test ended with exit code 139\n"), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn record_ends_with_the_statement_that_crashed() {
    let program = "#include <stddef.h>
static int crash(int argc)
{
    int *where = argc > 1 ? NULL : &argc;
    *where = 5;
    int after = argc + 1;
    return after;
}
int main(int argc, char **argv)
{
    return crash(argc);
}
";
    let (place, _) = recorded(program);
    let step = |n: &str| idd(place.path(), &["trace", "step", n]);
    let (crashed, behind) = (step("6"), step("7"));
    assert!(crashed.0.starts_with("#6 a.c:5 in crash"), "{crashed:?}");
    assert!(crashed.0.contains("  crashed (signal 11) writing *0x0 = 5\n"), "{crashed:?}");
    assert_eq!(behind.2, Some(1), "{behind:?}");
    let (tree, ..) = idd(place.path(), &["trace", "tree"]);
    assert!(tree.contains("crash(argc=2) (never returned)"), "{tree}");
}

/// One program that goes wrong in many ways, each by its name, in a statement of its own between others.
const CRASHES: &str = include_str!("record/crashes.c");

#[test]
fn record_finds_the_statement_that_crashed_among_others() {
    let ways = ["read", "text", "copy", "divide", "remainder", "twice", "wild", "library", "jump", "again", "overflow"];
    let place = repository(&[("a.c", CRASHES), ("Makefile", "a: a.c\n\t$(CC) -g -o a a.c\n"), (".gitignore", "a\n")]);
    let test = format!("for way in {}; do ./a $way; done; exit 0", ways.join(" "));
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", "make", "--", &test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let lines: Vec<&str> = CRASHES.lines().collect();
    let line_of = |mark: &str| lines.iter().position(|line| line.contains(mark)).unwrap() + 1;
    for (number, way) in (0..).zip(ways) {
        let number: usize = number;
        let number = number.to_string();
        let (tree, _, code) = idd(place.path(), &["trace", "tree", "--json", "--process", &number]);
        assert_eq!(code, Some(0), "{way}: {tree}");
        let tree: serde_json::Value = serde_json::from_str(&tree).unwrap();
        let last = tree["calls"][0]["last_step"].as_u64().unwrap().to_string();
        let (step, _, code) = idd(place.path(), &["trace", "step", &last, "--process", &number]);
        assert_eq!(code, Some(0), "{way}: {step}");
        let expected = format!("#{last} a.c:{} in ", line_of(&format!("/* {way} */")));
        assert!(step.starts_with(&expected), "{way}: {expected} {step}");
        let is_told = !["library", "jump", "again"].contains(&way);
        assert_eq!(step.contains("crashed (signal "), is_told, "{way}: {step}");
        if way == "jump" {
            let (why, ..) = idd(place.path(), &["trace", "why", &last, "after", "--process", &number]);
            assert!(why.contains(&format!(" a.c:{} in jump_out", line_of("/* before jump */"))), "{why}");
        }
    }
}

/// Ideal: the division by `second`, and the trap, are the last steps. Where more than one statement may have crashed by what was recorded (no value of a division that is
/// converted first), and where a signal tells no address, all are taken for executed.
#[test]
fn record_keeps_what_stands_behind_a_crash_that_it_cannot_place_yet() {
    let program = "static int crash(char first, char second)
{
    if (first == 3)
        goto trap;
    int one = 100 / first;
    int other = 100 / second;
    return one + other;
trap:
    __builtin_debugtrap();
    return 4;
}
int main(int argc, char **argv)
{
    return crash((char)argc, argv[1][1]);
}
";
    let place = repository(&[("a.c", program), (".gitignore", "a\n")]);
    let test = "./a x; ./a x y; exit 0";
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", "cc -g -o a a.c", "--", test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    for (process, line) in [("0", 7), ("1", 10)] {
        let (tree, ..) = idd(place.path(), &["trace", "tree", "--json", "--process", process]);
        let tree: serde_json::Value = serde_json::from_str(&tree).unwrap();
        let last = tree["calls"][0]["last_step"].as_u64().unwrap().to_string();
        let behind = idd(place.path(), &["trace", "step", &last, "--process", process]).0;
        assert!(behind.starts_with(&format!("#{last} a.c:{line} in crash")), "{behind}");
    }
}

#[test]
fn record_says_when_the_build_never_called_the_compiler() {
    let place = repository(&[("a.c", "")]);
    let (_, said, code) = idd(place.path(), &["record", "--once", "--", "true"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("the build never called the instrumenting compiler"), "{said}");
    assert!(said.contains("hint: "), "{said}");
}

/// A build directory that was configured during an earlier run keeps the path of the link.
#[test]
fn a_link_of_an_earlier_run_under_the_name_of_a_compiler_is_that_compiler() {
    let place = tempfile::tempdir().unwrap();
    let link = place.path().join("cc");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-idd"), &link).unwrap();
    fs::write(place.path().join("a.c"), "int main(void) { return 3; }\n").unwrap();
    let script = "./cc -MD -o a a.c && { ./a; [ $? = 3 ] && [ -e a.d ]; } && PATH=\"$PWD:$PATH\" cc --version";
    let output = Command::new("sh").args(["-c", script]).current_dir(place.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("unexpected argument"), "{said}");
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
fn record_names_functions_of_c_plus_plus_as_their_source_does() {
    let source = "namespace n {
struct Pair {
    int first;
    int twice() const { return 2 * first; }
};
}
int main() { n::Pair pair { 3 }; return pair.twice(); }
";
    let place = repository(&[("a.cc", source), (".gitignore", "a\n")]);
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", "gcc -o a a.cc", "--", "./a"]);
    assert!(code == Some(0) && said.contains("exit code 6"), "{said}{progress}");
    let (tree, _, code) = idd(place.path(), &["trace", "tree"]);
    assert!(code == Some(0) && tree.contains("n::Pair::twice("), "{tree}");
}

#[test]
fn record_instruments_c_and_c_plus_plus_of_one_program() {
    let c = "int twice(int x)\n{\n    return 2 * x;\n}\n";
    let main = "extern \"C\" int twice(int);\nint main() { return twice(4); }\n";
    let makefile = "a: t.o m.o\n\tg++ -o a t.o m.o\nm.o: m.cc\n\tc++ -c m.cc\nt.o: t.c\n\tcc -c t.c\n";
    let files = [("t.c", c), ("m.cc", main), ("Makefile", makefile), (".gitignore", "a\n*.o\n")];
    let place = repository(&files);
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", "./a"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("exit code 8") && said.contains("instrumented: 2"), "{said}");
    let (tree, _, code) = idd(place.path(), &["trace", "tree"]);
    assert!(code == Some(0) && tree.starts_with("main()") && tree.contains("twice(x=4) = 8  t.c:1"), "{tree}");
}

#[test]
fn record_does_not_compare_runs_that_were_cut_by_timeout() {
    let endless = "int main(void) { for (volatile int i = 0;; i++) { } }\n";
    let place = repository(&[("a.c", endless), (".gitignore", "a\n")]);
    let words = ["record", "--timeout", "3s", "--max-trace", "1M", "--build", "cc -o a a.c", "--", "./a"];
    let (said, progress, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("timeout") && said.contains("note: the test reached its time limit"), "{said}");
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
    git(place.path(), &["commit", "--quiet", "-m", "All"]);
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
    let mut command = plain::program(place.path());
    command.args(["record", "--once", "--", &format!("sleep {seconds} & sleep {seconds}; true")]);
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

/// Two sources: one that is left as it is, and the rest of the program.
fn program_in_two(plain: &str, rest: &str) -> tempfile::TempDir {
    // Assembler that jumps is not understood, so what stands beside it is left as it is.
    let plain = format!("{plain}\nint odd(void)\n{{\n    __asm__ goto(\"\" : : : : out);\nout:\n    return 0;\n}}\n");
    let makefile = "p: plain.c p.c\n\t$(CC) -w -o p plain.c p.c\n";
    repository(&[("plain.c", &plain), ("p.c", rest), ("Makefile", makefile), (".gitignore", "p\nis-*\n")])
}

#[test]
fn a_child_that_outlives_the_test_is_told_from_the_program_that_forked_it() {
    // What is registered before the runtime is called before it: when the runtime comes to look, the parent is gone.
    let plain = r"
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int mother;
static void keep_number(void)
{
    mother = syscall(SYS_getpid);
}
static void wait_for_end(void)
{
    while (getppid() == mother)
        usleep(1000);
}
__attribute__((constructor(101))) static void before(void)
{
    pthread_atfork(keep_number, 0, wait_for_end);
}
";
    let rest = r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char bytes[1 << 12];
int main(void)
{
    if (fork() != 0)
        exit(3);
    for (int i = 0;; i++) {
        bytes[i % sizeof bytes] += i;
        if (i == 300000)
            close(open("is-there", O_CREAT | O_WRONLY, 0600));
        if (i % 1000 == 0)
            printf("%d\n", i);
    }
}
"#;
    let place = program_in_two(plain, rest);
    let test = "rm -f is-there; ./p > /dev/null; while [ ! -e is-there ]; do sleep 0.01; done; exit 5";
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    let (main, child) = (line_with(&said, " 0: "), line_with(&said, " 1: "));
    assert!(main.starts_with("* 0: ./p (") && main.ends_with(" on disk)"), "{said}");
    assert!(child.starts_with("  1: forked by 0: ./p (") && child.contains("MiB of records"), "{said}");
    assert!(child.ends_with("; it outlived the test)"), "{said}");
    // It does not come as far in every run, but what the others did is the same.
    assert!(!said.contains("warning"), "{said}");
    let (stat, progress, code) = idd(place.path(), &["trace", "stat", "--process", "1"]);
    assert_eq!(code, Some(0), "{stat}{progress}");
}

#[track_caller]
fn line_with<'s>(said: &'s str, part: &str) -> &'s str {
    said.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no line with {part:?}: {said}"))
}

#[test]
fn record_keeps_what_a_process_did_before_it_ran_another_program() {
    let source = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
extern char **environ;
static int n_called;
static int is(const char *word, const char *name)
{
    n_called++;
    return strcmp(word, name) == 0;
}
int main(int argc, char **argv)
{
    char *words[] = {"./b", "it", NULL};
    if (argc < 2)
        return 9;
    if (is(argv[1], "it"))
        return 0;
    if (is(argv[1], "fails") && execv("./nothing", words) != 0)
        return 4;
    if (is(argv[1], "child") && vfork() == 0) {
        execv("./nothing", words);
        _exit(7);
    }
    if (is(argv[1], "execve"))
        execve("./b", words, environ);
    if (is(argv[1], "execv"))
        execv("./b", words);
    if (is(argv[1], "execvp"))
        execvp("./b", words);
    if (is(argv[1], "execvpe"))
        execvpe("./b", words, environ);
    if (is(argv[1], "fexecve"))
        fexecve(open("./b", O_RDONLY), words, environ);
    if (is(argv[1], "execveat"))
        execveat(AT_FDCWD, "./b", words, environ, 0);
    if (is(argv[1], "execl"))
        execl("./b", "./b", "it", NULL);
    if (is(argv[1], "execlp"))
        execlp("./b", "./b", "it", NULL);
    if (is(argv[1], "execle"))
        execle("./b", "./b", "it", NULL, environ);
    if (is(argv[1], "true"))
        execlp("true", "true", NULL);
    if (is(argv[1], "syscall"))
        syscall(SYS_execve, "./b", words, environ);
    return 6;
}
"#;
    let makefile = "all: a.c\n\t$(CC) -w -o a a.c\n\t$(CC) -w -o b a.c\n";
    let place = repository(&[("a.c", source), ("Makefile", makefile), (".gitignore", "a\nb\n")]);
    let ways = ["execve", "execv", "execvp", "execvpe", "fexecve", "execveat", "execl", "execlp", "execle"];
    let line = format!("for way in {} fails child true syscall; do ./a $way; done; exit 3", ways.join(" "));
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", &line]);
    assert_eq!(code, Some(0), "{said}{progress}");
    for (index, way) in ways.iter().enumerate() {
        let (before, after) = (format!(" {}: ", 2 * index), format!(" {}: ./b it (", 2 * index + 1));
        let (before, after) = (line_with(&said, &before), line_with(&said, &after));
        assert!(before.contains(&format!("./a {way} (")) && before.contains(" KiB of records, "), "{before}");
        assert!(before.ends_with("; then it ran another program)") && after.ends_with(" on disk)"), "{before}{after}");
        let number = (2 * index).to_string();
        let (tree, _, code) = idd(place.path(), &["trace", "tree", "--process", &number]);
        assert_eq!(code, Some(0), "{tree}");
        assert!(tree.lines().any(|line| line.contains("is(") && line.contains(way)), "{way}: {tree}");
    }
    assert!(line_with(&said, "./a fails").ends_with(" on disk)"), "{said}");
    assert!(line_with(&said, "./a child").ends_with(" on disk)"), "{said}");
    let other = "; then it ran another program, which is not instrumented or was not given its variables)";
    assert!(line_with(&said, "./a true").ends_with(other), "{said}");
    // Nobody saw the call, but what was recorded till then is there.
    assert!(line_with(&said, "./a syscall").ends_with(" on disk; then it ran another program)"), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

const FIVE: (&str, &str) = ("p.c", "int main(void) { return 5; }\n");

/// Records `./p` of a build that calls its compiler by a path.
#[track_caller]
fn check_replaced(files: &[(&str, &str)], build: &str, test: &str) {
    let place = repository(&[files, &[FIVE, (".gitignore", "p\nq\n*.o\n")]].concat());
    let (said, progress, code) = idd(place.path(), &["record", "--build", build, "--", test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(
        progress.contains("with each compiler that the build calls replaced by the instrumenting one."),
        "{progress}"
    );
    assert!(!progress.contains("warning"), "{progress}");
    let (tree, ..) = idd(place.path(), &["trace", "tree"]);
    assert!(tree.contains("main()  p.c:1"), "{tree}");
}

#[test]
fn a_compiler_that_the_build_calls_by_its_path_is_replaced() {
    let by_variable = ("Makefile", "p: p.c\n\t$(CC) -o p p.c\n");
    check_replaced(&[by_variable], "make CC=/usr/bin/gcc", "./p");
    let by_path = ("Makefile", "p: p.o\n\t/usr/bin/gcc -o p p.o\np.o: p.c\n\t/usr/bin/gcc -c -o p.o p.c\n");
    check_replaced(&[by_path], "make", "./p");
    let wrapper = ("wrapper", "#!/bin/sh\n/usr/bin/gcc \"$@\" || exit 1\nexit 0\n");
    check_replaced(&[wrapper], "sh ./wrapper -o p p.c", "./p");
    // Another program was instrumented.
    check_replaced(&[], "cc -o q p.c && /usr/bin/gcc -o p p.c", "./p");
    check_replaced(&[], "PATH=/usr/bin:/bin gcc -o p p.c", "./p");
    // A build that is part of the test.
    check_replaced(&[], "true", "/usr/bin/gcc -o p p.c && ./p");
}

#[test]
fn record_names_a_compiler_that_cannot_be_replaced() {
    let said_of = |files: &[(&str, &str)], build: &str| {
        let place = repository(&[files, &[FIVE, (".gitignore", "p\nq\ntcc\n")]].concat());
        let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", build, "--", "./p"]);
        assert_eq!(code, Some(1), "{said}{progress}");
        let at = progress.find("error: ").unwrap_or_else(|| panic!("{progress}"));
        progress[at..].to_owned()
    };
    let make = |command: &str| format!("ln -sf /usr/bin/gcc tcc; {command}");
    let expected = "error: the build never called the instrumenting compiler, but `./tcc`\n\n\
        hint: have the build call `$CC`, or `cc` by its name and not by a path: `--build 'make CC=cc'`, if it is set in a makefile or by `CC=`\n";
    assert_eq!(said_of(&[], &make("./tcc -o p p.c")), expected);
    let wrapper = ("wrapper", "#!/bin/sh\n./tcc \"$@\" || exit 1\nexit 0\n");
    let expected = "error: the build never called the instrumenting compiler, but `./tcc` (by `./wrapper`)\n\n\
        hint: have `./wrapper` call `cc` by its name, so that it is found in `PATH`, or go without it: `--build 'make CC=cc'`\n";
    assert_eq!(said_of(&[wrapper], &make("sh ./wrapper -o p p.c")), expected);
    let said = said_of(&[], &make("cc -o q p.c; ./tcc -o p p.c"));
    assert!(said.starts_with("error: the test ran no instrumented program, and ended with exit code 5\n"), "{said}");
    assert!(said.contains("hint: sources were instrumented, but others were compiled by `./tcc`: "), "{said}");
}

#[test]
fn a_compiler_that_is_called_with_its_version_instruments() {
    let name = fs::read_dir("/usr/bin").unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let version = |name: &str| {
        name.strip_prefix("clang-").is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let name =
        name.into_iter().find(|name| version(name)).expect("the tests need a clang that is called by its version");
    let place = repository(&[FIVE, (".gitignore", "p\n")]);
    let build = format!("{name} -o p p.c");
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", &build, "--", "./p"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("exit code 5") && said.contains("sources instrumented: 1,"), "{said}");
}

#[test]
fn more_processes_are_recorded_than_files_may_be_open() {
    let place = repository(&[FIVE, (".gitignore", "p\n")]);
    let test = "for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4 5 6 7 8; do ./p; done; done; ./p";
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -n 60; exec \"$0\" record --once --build 'cc -o p p.c' -- \"$1\""]);
    command.args([env!("CARGO_BIN_EXE_git-idd"), test]);
    command.current_dir(place.path()).env("XDG_CACHE_HOME", place.path().join(".git/cache"));
    let output = plain::isolate(&mut command).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(line_with(&said, " 80: ").starts_with("* 80: ./p ("), "{said}");
}

#[test]
fn a_program_that_may_open_few_files_is_recorded_and_has_all_but_the_last_one() {
    let source = r"
#include <unistd.h>
int main(void)
{
    int last = -1;
    for (int fd = 0; fd >= 0; fd = dup(1))
        last = fd;
    return last;
}
";
    let place = repository(&[("a.c", source), (".gitignore", "a\n")]);
    let test = "(ulimit -n 64; ./a > /dev/null); (ulimit -n 12; ./a > /dev/null); ulimit -S -n 20; ./a";
    let (said, progress, code) = idd(place.path(), &["record", "--build", "cc -w -o a a.c", "--", test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("ended with exit code 18"), "{said}");
    assert!(
        said.lines().filter(|line| line.contains("./a (") && line.contains("KiB of records")).count() == 3,
        "{said}"
    );
}

#[test]
fn a_cache_of_objects_neither_gets_instrumented_ones_nor_gives_back_others() {
    // As ccache does: what was compiled once is not compiled again, unless it is told not to.
    let wrapper = "#!/bin/sh\nkept=\"$(git rev-parse --git-common-dir)/kept.o\"\n\
        [ -n \"$CCACHE_DISABLE\" ] && exec cc -c -o p.o p.c\n\
        [ -e \"$kept\" ] || cc -c -o \"$kept\" p.c\ncp \"$kept\" p.o\n";
    let makefile = "p: p.c\n\tsh ./wrapper\n\tcc -o p p.o\n";
    let place = repository(&[FIVE, ("wrapper", wrapper), ("Makefile", makefile), (".gitignore", "p\n*.o\n")]);
    // The first run of each is as it is, and fills the cache.
    for _ in 0..2 {
        let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", "./p"]);
        assert_eq!(code, Some(0), "{said}{progress}");
        assert!(said.contains("sources instrumented: 1,") && !said.contains("warning"), "{said}");
    }
}

/// One program that ends in many ways.
const ENDS: &str = include_str!("record/ends.c");

fn program_of_ends() -> tempfile::TempDir {
    repository(&[("a.c", ENDS), ("Makefile", "a: a.c\n\t$(CC) -w -g -o a a.c\n"), (".gitignore", "a\n")])
}

#[test]
fn record_keeps_what_a_process_did_before_it_was_killed_or_closed_all_files() {
    let place = program_of_ends();
    let ways = ["kill", "close", "closefrom", "range", "dup", "unseen", "fork", "raw", "clone", "leaves"];
    let test = format!("for way in {}; do ./a $way; done; exit 5", ways.join(" "));
    let (said, progress, code) = idd(place.path(), &["record", "--build", "make", "--", &test]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(!said.contains("warning") && !said.contains("missing"), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("./a ")).collect();
    let has = |line: &str, n: i32| {
        let number = line.trim_start_matches(['*', ' ']).split(':').next().unwrap();
        let (tree, _, code) = idd(place.path(), &["trace", "tree", "--process", number]);
        assert_eq!(code, Some(0), "{tree}");
        let sum = (0..n).sum::<i32>();
        assert!(tree.contains(&format!("work(how_often={n}) = {sum} ")), "{line}: {tree}");
    };
    for way in ways {
        let of_way: Vec<&&str> = lines.iter().filter(|line| line.contains(&format!("./a {way} ("))).collect();
        let is_forked = ["fork", "raw", "clone", "leaves"].contains(&way);
        assert_eq!(of_way.len(), if is_forked { 2 } else { 1 }, "{way}: {said}");
        for (index, line) in of_way.into_iter().enumerate() {
            let is_child = index == 1;
            assert_eq!(line.contains("forked by "), is_child, "{said}");
            let how = if way == "kill" || (is_child && way != "leaves") {
                "; it was killed)"
            } else if is_child {
                "; it outlived the test)"
            } else {
                " on disk)"
            };
            assert!(line.ends_with(how), "{line}");
            if line.contains("leaves") && is_child {
                continue;
            }
            has(line, if way == "kill" || is_child { 5 } else { 7 });
        }
    }
}

#[test]
fn record_keeps_what_a_program_did_before_it_hung() {
    let place = program_of_ends();
    let words = ["record", "--timeout", "3s", "--build", "make", "--", "./a hangs"];
    let (said, progress, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("ended with timeout\n") && !said.contains("missing"), "{said}");
    let (tree, _, code) = idd(place.path(), &["trace", "tree"]);
    assert!(code == Some(0) && tree.contains("work(how_often=5) = 10 "), "{tree}");
}

/// Ideal: all of it is kept. A library that closes all files is not seen; from there on there is nobody to send the records to. Memory is given for 256 threads.
#[test]
fn record_says_that_it_keeps_a_mib_of_what_a_process_did_after_it_closed_all_files_unseen_yet() {
    let place = program_of_ends();
    let build = "cc -w -g -o a a.c -lpthread";
    let words = ["record", "--once", "--build", build, "--", "./a threads; ./a long"];
    let (said, progress, code) = idd(place.path(), &words);
    assert_eq!(code, Some(0), "{said}{progress}");
    let lost = "; it closed the connection to the recorder, or had more than 256 threads: only the first MiB of the \
                records after that was kept, for each thread)";
    assert!(line_with(&said, "./a long").ends_with(lost), "{said}");
    assert!(line_with(&said, "./a threads").ends_with(lost), "{said}");
    let (tree, _, code) = idd(place.path(), &["trace", "tree", "--process", "1"]);
    assert!(code == Some(0) && tree.contains("work(how_often=300000) (never returned)"), "{tree}");
}

#[test]
fn record_instruments_a_source_that_only_an_old_standard_accepts() {
    let program = "char *name;
tally(n)
int n;
{
    if (n < 0)
        return;
    name = &n;
    return n;
}
int main(int argc, char **argv)
{
    return tally(argc) - 2;
}
";
    let place = repository(&[("a.c", program), ("Makefile", "a: a.c\n\t$(CC) -std=gnu89 -w -o a a.c\n")]);
    let (said, progress, code) = idd(place.path(), &["record", "--once", "--build", "make", "--", "./a x"]);
    assert_eq!(code, Some(0), "{said}{progress}");
    assert!(said.contains("sources instrumented: 1, compiled as they are: 0\n"), "{said}");
}
