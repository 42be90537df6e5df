//! New complaints: what compilers and interpreters say against a candidate that they say of neither end.
//!
//! No command asks for them yet by itself: a runner is made here as a hunt makes it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, SystemTime};

use git_idd::args::{self, Request};
use idd_base::{Sought, TimeLimits};
use idd_session::plan::Plan;
use idd_session::runner::{Runner, RunnerStart};
use idd_session::tally::HuntLimits;
use idd_session::{Context, Embedding, Silent, saved};
use idd_world::cache::Observations;
use idd_world::repo::{graph, locate, private};
use idd_world::run::local_executor::LocalExecutor;
use idd_world::run::{Criteria, SignatureMode};
use idd_world::tools::{self, HuntTools, ToolContext};

use crate::fixture::Fixture;

/// What was answered about one tree.
struct Answer {
    new: Vec<String>,
    unchecked: usize,
    n_checks: u64,
    n_runs: u64,
}

/// Asks one runner about each of `revisions` whether it has complaints that `older` and `newer` have not.
fn ask(fixture: &Fixture, arguments: &[&str], revisions: &[&str]) -> Vec<Answer> {
    let home = fixture.place().join("home");
    let environment: Vec<(OsString, OsString)> = [
        ("PATH", std::env::var_os("PATH").unwrap()),
        ("HOME", home.clone().into()),
        ("TMPDIR", fixture.place().join("tmp").into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_CONFIG_GLOBAL", fixture.place().join("gitconfig").into()),
    ]
    .map(|(name, value)| (name.into(), value))
    .into();
    let context = Context {
        directory: fixture.repo(),
        environment,
        configuration: Vec::new(),
        interrupt: None,
        kept_executor: None,
        embedding: Embedding::default(),
    };
    let words = ["git-idd"].iter().chain(arguments).map(OsString::from).collect();
    let Ok(args::Invocation { request: Request::Hunt(args), .. }) = args::parse(words, &[]) else {
        panic!("not the arguments of a hunt: {arguments:?}");
    };
    let location = locate::locate(&fixture.repo(), &context.environment).unwrap();
    let user = private::open(&location.git_directory).unwrap();
    let plan = Plan::new(args, None, &location, &user, &context).ok().unwrap();
    let saved = saved::open(&plan, &location, None, false).ok().unwrap();
    saved::make_private(&location, &user, plan.bad).ok().unwrap();
    let mut observations = Observations::open(&location.idd_directory()).unwrap().0;
    observations.use_tools(HuntTools::new(ToolContext {
        directory: tools::directory(&location.idd_directory()),
        environment: plan.commands.environment.clone(),
        root: fixture.place().join("sandboxes"),
        place: None,
        started: SystemTime::now(),
        audited: plan.audited(),
        earlier: saved.replay.as_ref().and_then(|replay| replay.toolset.clone()),
    }));
    let start = RunnerStart {
        plan: &plan,
        location: location.clone(),
        segment: saved.segment,
        replay: saved.replay,
        observations,
        executor: Box::new(LocalExecutor::new(
            fixture.place().join("sandboxes"),
            private::private_directory(&location.idd_directory()),
            plan.bad,
        )),
        root: fixture.place().join("sandboxes"),
        interrupt: Arc::new(AtomicBool::new(false)),
        reader: thread::current(),
        talk: &mut Silent,
        audit: None,
        limits: HuntLimits::default(),
        before: (Duration::ZERO, saved.spent),
    };
    let criteria = Criteria {
        sought: Sought::Failure,
        mode: SignatureMode::Auto,
        signature: None,
        fail_match: None,
        pass_match: None,
        has_build_command: true,
        is_build_hunted: false,
        place: None,
    };
    let mut runner = Runner::new(start, criteria, TimeLimits::both(Duration::from_secs(300)));
    runner.checks.complaining.program = Some(PathBuf::from(env!("CARGO_BIN_EXE_git-idd")));
    let tree = |name: &str| graph::tree_of(&user, graph::resolve(&user, name).unwrap()).unwrap();
    let ends = [tree("older"), tree("newer")];
    let answer = |revision: &&str| {
        let new = runner.complaints(tree(revision), plan.bad, &ends).unwrap().unwrap();
        Answer {
            new,
            unchecked: runner.checks.complaining.unchecked.len(),
            n_checks: runner.effort.tally.n_checks,
            n_runs: runner.effort.tally.n_runs(),
        }
    };
    let answers = revisions.iter().map(answer).collect();
    runner.close();
    answers
}

/// What every history begins with: each state is a commit with a name.
const BEGIN: &str = "
    keep() { commit \"$1\"; git tag \"$1\"; }
    printf '#!/bin/sh\\nexit 1\\n' > test.sh
    chmod +x test.sh
";

#[test]
fn complaints_of_c_are_those_that_neither_end_has() {
    let script = r##"
        mkdir src include
        printf '%s\n' '*.o' prog generated.h > .gitignore
        printf '%b\n' 'prog: src/main.o src/part.o' '\tcc -o prog src/main.o src/part.o' \
            'src/%.o: src/%.c include/part.h generated.h' '\tcd src && cc -w -Wno-unused -I../include -I$(CURDIR) -c -o $*.o $*.c' \
            'generated.h:' '\techo "#define TWO 2" > generated.h' > Makefile
        echo 'int part(int *values, int n);' > include/part.h
        printf '%s\n' '#include "part.h"' '#include "generated.h"' 'int main(void) { int x[TWO] = {1, 2}; int old; return part(x, TWO); }' > src/main.c
        printf '%s\n' '#include "part.h"' 'int part(int *values, int n) {' '    int sum = 0;' '    for (int i = 0; i < n; i++) sum += values[i];' '    return sum;' '}' > src/part.c
        keep older
        echo '/* moved */' | cat - src/part.c > part && mv part src/part.c
        sed -i 's/return sum/return sum + 1/' src/part.c
        echo 'int more(void);' >> include/part.h
        keep newer
        echo nothing > README
        keep text
        sed -i 's/int sum = 0/int sum/' src/part.c
        keep uninitialised
        git checkout -q newer
        sed -i 's/int \*values, int n/int values, int n/' include/part.h
        keep header
        git checkout -q newer
        sed -i 's/int sum = 0/int unused, sum = 0/' src/part.c
        keep unused
    "##;
    let fixture = Fixture::of(&(BEGIN.to_owned() + script));
    let revisions = ["older", "newer", "text", "uninitialised", "header", "unused"];
    let arguments = ["--build", "make -s", "./test.sh"];
    let answers = ask(&fixture, &arguments, &revisions);
    let new: Vec<&[String]> = answers.iter().map(|answer| &answer.new[..]).collect();
    assert_eq!(new[..3], [&[] as &[String]; 3]);
    assert_eq!(new[3].len(), 1, "{:?}", new[3]);
    assert!(new[3][0].starts_with("src/part.c: warning: ") && new[3][0].contains("uninitialized"), "{:?}", new[3]);
    assert!(new[4].iter().any(|text| text.starts_with("src/main.c: warning: ")), "{:?}", new[4]);
    assert!(new[4].iter().any(|text| text.starts_with("src/part.c: error: ")), "{:?}", new[4]);
    assert_eq!(new[5], ["src/part.c: warning: unused variable 'unused' [-Wunused-variable]"]);
    let last = &answers[5];
    assert_eq!((last.unchecked, last.n_runs), (0, 0));
    // What was asked is known: to a runner that resumes, and to every other.
    let again = ask(&fixture, &arguments, &revisions);
    assert_eq!(again.iter().map(|answer| &answer.new[..]).collect::<Vec<_>>(), new);
    assert_eq!(again[5].n_checks, 0);
}

#[test]
fn complaints_of_c_without_a_build_command_are_found_through_the_test() {
    let script = r##"
        printf '%s\n' '#!/bin/sh' 'echo "#define ONE 1" > one.h' 'gcc -DA=1 -o prog a.c && ./prog' > test.sh
        printf '%s\n' one.h prog > .gitignore
        printf '%s\n' '#include "one.h"' 'int main(void) { int n = ONE + A; return n; }' > a.c
        keep older
        sed -i 's/n = ONE/n = 2 * ONE/' a.c
        keep newer
        sed -i 's/return n;/int *p = n; return n;/' a.c
        keep candidate
    "##;
    let fixture = Fixture::of(&(BEGIN.to_owned() + script));
    let answers = ask(&fixture, &["./test.sh"], &["older", "newer", "candidate"]);
    assert!(answers[0].new.is_empty() && answers[1].new.is_empty());
    assert_eq!(answers[2].new.len(), 2, "{:?}", answers[2].new);
    assert!(answers[2].new[0].contains("[-Wint-conversion]"), "{:?}", answers[2].new);
    assert!(answers[2].new[1].contains("[-Wunused-variable]"), "{:?}", answers[2].new);
    // A build that was configured before, as by CMake, does not look for the compiler in `PATH`.
    let script = script.replace("gcc -DA=1", "/usr/bin/gcc @options");
    let fixture = Fixture::of(&(BEGIN.to_owned() + "echo '-DA=1 -w' > options" + &script));
    let found = ask(&fixture, &["./test.sh"], &["older", "newer", "candidate"]);
    assert_eq!(found[2].new, answers[2].new);
    assert_eq!(found[2].unchecked, 0);
}

#[test]
fn complaints_of_python_are_names_and_statements_that_cannot_work() {
    let script = r"
        mkdir lib
        printf '%s\n' 'import os' 'def shown(path):' '    name = os.path.basename(path)' '    return name' 'def old():' '    return missing' > lib/a.py
        keep older
        printf '%s\n' 'import os' '' 'def shown(path):' '    name = os.path.basename(path)' '    if name:' '        return name' '    return path' 'def old():' '    return missing' > lib/a.py
        keep newer
        printf '%s\n' 'def shown(path):' '    if name:' '        return name' '    name = os.path.basename(path)' '    return path' '    return name' 'def old():' '    return missing' > lib/a.py
        keep candidate
        printf '%s\n' 'def shown(path:' > lib/a.py
        keep broken
    ";
    let fixture = Fixture::of(&(BEGIN.to_owned() + script));
    let answers = ask(&fixture, &["./test.sh"], &["older", "newer", "candidate", "broken"]);
    assert!(answers[0].new.is_empty() && answers[1].new.is_empty());
    let expected = [
        "lib/a.py: warning: `name` is read before it is bound in `shown`",
        "lib/a.py: warning: `os` is used in `shown` and bound nowhere",
        "lib/a.py: warning: `return name` behind `return` is never reached",
    ];
    assert_eq!(answers[2].new, expected);
    assert_eq!(answers[3].new.len(), 1);
    assert!(answers[3].new[0].starts_with("lib/a.py: error: SyntaxError: "), "{:?}", answers[3].new);
}

#[test]
fn complaints_of_java_are_made_among_the_classes_of_the_build() {
    let script = r"
        mkdir -p src/org/x/deep
        echo out > .gitignore
        printf '%s\n' 'package org.x.deep;' 'public class Part { public static int two() { return 2; } }' > src/org/x/deep/Part.java
        printf '%s\n' 'package org.x;' 'import org.x.deep.Part;' 'import java.util.List;' 'class Main {' '    static int run(List<String> list) { unknown.Library.call(); return list.size() + Part.two(); }' '}' > src/org/x/Main.java
        keep older
        sed -i 's/list.size() +/1 + list.size() +/' src/org/x/Main.java
        keep newer
        sed -i 's/List<String> list/List list/' src/org/x/Main.java
        keep raw
        sed -i 's/Part.two()/Part.three()/' src/org/x/Main.java
        keep unresolved
    ";
    let fixture = Fixture::of(&(BEGIN.to_owned() + script));
    let build = "mkdir -p out && javac -d out src/org/x/deep/*.java";
    let answers = ask(&fixture, &["--build", build, "./test.sh"], &["older", "newer", "raw", "unresolved"]);
    assert!(answers[0].new.is_empty() && answers[1].new.is_empty(), "{:?} {:?}", answers[0].new, answers[1].new);
    let raw = "src/org/x/Main.java: warning: [rawtypes] found raw type: List";
    assert_eq!(answers[2].new, [raw]);
    assert_eq!(answers[3].new, ["src/org/x/Main.java: error: cannot find symbol method three()", raw]);
    assert_eq!(answers[3].unchecked, 0);
}

#[test]
fn complaints_of_other_languages_are_what_a_clean_build_says_more() {
    let script = r"
        echo 'fn main() {}' > a.rs
        keep older
        echo 'fn main() { }' > a.rs
        keep newer
        echo 'fn main() { odd }' > a.rs
        keep candidate
    ";
    let fixture = Fixture::of(&(BEGIN.to_owned() + script));
    let build = "echo 'a.rs:1:1: warning: always'; echo building; grep -q odd a.rs && echo 'a.rs:1:13: Warning: odd at line 3'; true";
    let answers = ask(&fixture, &["--build", build, "./test.sh"], &["older", "newer", "candidate"]);
    assert!(answers[0].new.is_empty() && answers[1].new.is_empty());
    assert_eq!(answers[2].new, ["a.rs: Warning: odd at line"]);
}
