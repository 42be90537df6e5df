//! The check of candidates that an untracked compile database allows: it spares builds, and nobody's program is run by it.

use std::fs;

use idd_report::{Report, json};

use crate::fixture::Fixture;

/// Three files of which a culprit rewrites two, with names that are declared first; the test looks at one. Each build is a line
/// of `$PLACE/builds`.
const NAMES: &str = r#"
    for n in 0 1; do printf '#include "n.h"\nint f%s(void) { return ZERO; }\n' $n >f$n.c; done
    printf '#define ZERO 0\nint f0(void), f1(void);\n' >n.h
    printf '#include "n.h"\nint main(void) { return f1(); }\n' >main.c
    printf 'echo >>"%s/builds"\ncc -w -o "$TMPDIR/p" *.c\n' "$PLACE" >build.sh
    commit good; git tag good
    printf '#define ZERO nought\ntypedef int number;\nenum { nought, one };\nint f0(void), f1(void);\n' >n.h
    for n in 0 1; do
        printf '#include "n.h"\nstatic const number last = one;\nint f%s(void)\n{\n    number n = last;\n    return n;\n}\n' $n >f$n.c
    done
    commit bad; git tag bad
"#;

/// Writes `compile_commands.json` for all sources; `$COMPILER` and `$MORE` are in each command.
const DATABASE: &str = r#"
    for f in *.c; do
        printf '{"directory": "%s", "file": "%s", "command": "%s %s -O2 -I. -c -o x.o %s"},' "$PWD" $f "$COMPILER" "$MORE" $f
    done | sed 's/^/[/; s/,$/]/' >compile_commands.json
"#;

const REST: [&str; 10] =
    ["--good", "good", "--bad", "bad", "--no-port", "-j1", "--build", "sh build.sh", "--", "\"$TMPDIR/p\""];

/// For a short hunt: whole files are put in and left out.
const COARSE: [&str; 2] = ["--level", "file"];

struct Hunted {
    fixture: Fixture,
    report: Report,
    n_builds: usize,
}

impl Hunted {
    fn patch(&self) -> Vec<u8> {
        self.report.change.sufficient.as_ref().unwrap().patch.as_bytes().to_vec()
    }

    /// Prechecks, and candidates refused by them.
    fn checks(&self) -> (u64, u64) {
        (self.report.probes.prechecked, self.report.probes.precheck_refused)
    }

    fn has_note(&self, part: &str) -> bool {
        self.report.notes.iter().any(|note| String::from_utf8_lossy(note.as_bytes()).contains(part))
    }
}

/// A hunt after `script` has made what is not tracked.
fn hunt(script: &str, options: &[&str]) -> Hunted {
    let fixture = Fixture::of(NAMES);
    fixture.sh(script);
    let report = fixture.report(&[options, &REST].concat());
    let n_builds = fs::read_to_string(fixture.place().join("builds")).unwrap().lines().count();
    Hunted { fixture, report, n_builds }
}

fn with_database(compiler: &str, more: &str) -> String {
    format!("COMPILER='{compiler}'; MORE='{more}'{DATABASE}")
}

#[test]
fn an_untracked_compile_database_refuses_candidates_before_their_build() {
    const UNITS: [&str; 2] = ["--level", "unit"];
    let plain = hunt("", &UNITS);
    assert_eq!(plain.checks(), (0, 0));
    let checked = hunt(&with_database("cc", ""), &UNITS);
    assert_eq!(checked.patch(), plain.patch());
    let (n_checked, n_refused) = checked.checks();
    assert!(n_refused > 0 && n_checked > n_refused, "{:?}", checked.checks());
    assert!(checked.n_builds < plain.n_builds, "{} {}", checked.n_builds, plain.n_builds);
    let off = hunt(&with_database("cc", ""), &[&UNITS[..], &["--no-precheck"]].concat());
    assert_eq!((off.checks(), off.n_builds, off.patch()), ((0, 0), plain.n_builds, plain.patch()));
}

#[test]
fn a_database_in_the_directory_of_the_build_is_found_and_its_paths_are_those_of_the_worktree() {
    let database = with_database("cc", "-DX -MD -MF x.d");
    let checked = hunt(&format!("{database} mkdir build; mv compile_commands.json build"), &COARSE);
    assert_ne!(checked.checks().1, 0);
    // A mistake in the user's own files is nobody's business.
    let checked = hunt(&format!("{database} echo '#error' | tee n.h >f0.c"), &COARSE);
    assert_ne!(checked.checks().1, 0);
}

#[test]
fn what_a_database_refused_is_known_to_the_next_hunt() {
    let first = hunt(&with_database("cc", ""), &COARSE);
    let again = first.fixture.report(&[&COARSE[..], &REST].concat());
    assert_eq!((again.probes.precheck_refused, again.probes.reduce), (0, 0));
    assert_ne!(first.checks().1, 0);
    assert_eq!(again.change.sufficient.unwrap().patch, first.report.change.sufficient.unwrap().patch);
}

#[test]
fn a_tracked_database_is_not_used() {
    for script in [
        "git add compile_commands.json",
        "mkdir build; mv compile_commands.json build; git add build; ln -s build/compile_commands.json .",
        // It is no part of HEAD any more, but still of the bad revision.
        "commit database; git tag -f bad; git rm -q --cached compile_commands.json; git commit -qm gone",
    ] {
        let hunted = hunt(&format!("{}{script}", with_database("cc", "")), &COARSE);
        assert_eq!(hunted.checks(), (0, 0), "{script}");
    }
}

#[test]
fn a_database_that_names_somebody_elses_program_runs_nothing() {
    let evil = "printf '#!/bin/sh\\necho >>\"%s/evil\"\\n' \"$PLACE\" >cc; chmod +x cc; cp cc gcc; cp cc evil.so; echo -DX >response;";
    let commands = [
        "$PWD/cc",
        "./cc",
        "$PLACE/repo/../repo/gcc",
        "sh cc",
        "$PWD/evil.so",
        "ccache $PWD/cc",
        "cc -fplugin=$PWD/evil.so",
        "cc -B$PWD",
        "cc -B $PWD",
        "cc -wrapper $PWD/cc",
        "cc -Xclang -load -Xclang $PWD/evil.so",
        "cc @response",
        "cc -include /etc/hostname",
        "cc -specs=$PWD/cc",
    ];
    let one = |command: &str| {
        format!("COMPILER=\"{command}\"; MORE=; {DATABASE} cat compile_commands.json >>all; echo , >>all;")
    };
    let all: String = commands.iter().map(|command| one(command)).collect();
    // One database with all of them, each for each source.
    let script =
        format!("{evil}{all} (printf '['; sed 's/^\\[//; s/],$/,/; $s/,$/]/' all) >compile_commands.json; rm all");
    let hunted = hunt(&script, &COARSE);
    let text = fs::read_to_string(hunted.fixture.repo().join("compile_commands.json")).unwrap();
    let entries: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!((entries.len(), hunted.checks()), (3 * commands.len(), (0, 0)));
    assert!(!hunted.fixture.place().join("evil").exists());
    // What a shell would run is a word like any other in what is allowed.
    let script = format!("{evil} COMPILER=cc; MORE='-DX=$($PLACE/repo/cc) -DY=`$PLACE/repo/cc`'{DATABASE}");
    let hunted = hunt(&script, &COARSE);
    assert_ne!(hunted.checks().1, 0);
    assert!(!hunted.fixture.place().join("evil").exists());
}

#[test]
fn a_database_that_refuses_what_can_be_built_is_not_used_and_the_report_says_so() {
    let plain = hunt("", &COARSE);
    let hunted = hunt(&with_database("cc", "-Dlast="), &COARSE);
    assert!(hunted.has_note("The commands of the compile database fail"), "{:?}", hunted.report.notes);
    assert_eq!((hunted.checks().1, hunted.patch()), (0, plain.patch()));
    assert!(!plain.has_note("compile database"));
}

#[test]
fn what_a_database_refused_is_listed_for_an_audit() {
    let fixture = Fixture::of(NAMES);
    fixture.sh(&with_database("cc", ""));
    let list = fixture.place().join("refused.jsonl");
    let options = ["--json", "--level", "file"];
    let output = fixture.command(&[&options[..], &REST].concat()).env("IDD_AUDIT", &list).output().unwrap();
    let report = json::read(&output.stdout).unwrap();
    let listed = fs::read_to_string(list).unwrap();
    let n_listed = listed.lines().filter(|line| line.ends_with("\"reason\":\"precheck\"}")).count();
    assert_ne!(n_listed, 0);
    assert_eq!(n_listed as u64, report.probes.precheck_refused);
}

/// Six users of a number that becomes a text: no name changes, so only a compiler knows what belongs together. The test
/// looks at the third of them. Each build is a line of `$PLACE/builds`.
const TYPES: &str = r#"
    mkdir src; echo /out/ >.gitignore
    user() { printf 'class User%s {\n    static String is() {\n        %s value = Part.value();\n        return "%s" + value;\n    }\n}\n' $1 "$2" "$3" >src/User$1.java; }
    printf 'class Part { static int value() { return 7; } }\n' >src/Part.java
    for n in 1 2 3 4 5 6; do user $n int v; done
    printf 'class Main { public static void main(String[] words) { String is = User3.is(); if (!is.startsWith("v")) { System.out.println("FAIL: " + is); System.exit(1); } } }\n' >src/Main.java
    printf 'echo >>"%s/builds"\nmkdir -p out\njavac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -proc:none -d out src/*.java\n' "$PLACE" >build.sh
    commit good; git tag good
    printf 'class Part { static String value() { return "7"; } }\n' >src/Part.java
    for n in 1 2 3 4 5 6; do user $n String x; done
    commit bad; git tag bad
"#;

#[test]
fn a_compiler_in_memory_refuses_candidates_of_java_before_their_build() {
    let fixture = Fixture::of(TYPES);
    let args = ["--good", "good", "--bad", "bad", "--no-port", "-j1", "--build", "sh build.sh", "--timeout=600"];
    let report = fixture.report(&[&args[..], &["--", "java -XX:TieredStopAtLevel=1 -cp out Main"]].concat());
    let n_builds = fs::read_to_string(fixture.place().join("builds")).unwrap().lines().count();
    assert_eq!(fixture.processes_left(), Vec::<String>::new());
    let checked = Hunted { fixture, report, n_builds };
    let (n_checked, n_refused) = checked.checks();
    // Without the check, each of the refused candidates is built.
    assert!(n_refused > 5 && n_refused < n_checked, "{n_refused} of {n_checked}, {n_builds} builds");
    let patch = String::from_utf8(checked.patch()).unwrap();
    let has = |line: &str| patch.lines().any(|other| other == line);
    assert!(has("-        return \"v\" + value;") && has("+        return \"x\" + value;"), "{patch}");
    assert!(!patch.contains("src/Part.java") && patch.matches("@@ ").count() == 1, "{patch}");
    assert!(!checked.has_note("check before the build"), "{:?}", checked.report.notes);
}
