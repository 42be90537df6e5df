//! `scripts/bench` measures what it says.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use crate::fixture::Fixture;
use crate::{fixture, java};

/// A statement of two lines comes in; the first does not parse without the second.
const STATEMENT: &str = r"
    printf 'int main(void)\n{\n    int n = 0;\n    return n;\n}\n' >f.c
    printf 'prog\n' >.gitignore
    commit good
    printf 'int main(void)\n{\n    int n = 0;\n    n =\n        1;\n    return n;\n}\n' >f.c
    commit bad
";

#[test]
fn bench_reduce_builds_what_was_refused_with_audit_and_tries_what_is_left_with_check() {
    let fixture = Fixture::of(STATEMENT);
    let (cases, raw) = (fixture.place().join("cases.toml"), fixture.place().join("raw.jsonl"));
    let case = "[[case]]\nname = 'statement'\nrepo = 'repo'\ngood = 'main~1'\nbad = 'main'\n\
                build = 'cc -o prog f.c'\ntest = './prog'\n";
    fs::write(&cases, case).unwrap();
    let mut bench = Command::new(fixture::root().join("scripts/bench"));
    bench.args(["reduce", "--algorithm", "default", "--audit", "--check", "--binary", env!("CARGO_BIN_EXE_git-idd")]);
    bench.arg("--cases").arg(&cases).arg("--raw").arg(&raw);
    let output = bench.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let rows = fs::read_to_string(&raw).unwrap();
    let row: serde_json::Value = serde_json::from_str(rows.trim_end()).unwrap();
    assert_eq!((&row["lines"], &row["error"], &row["cut"]), (&2.into(), &().into(), &false.into()), "{row}");
    assert_eq!(row["removable"], serde_json::json!([]), "{row}");
    let audited = row["audit"].as_array().unwrap();
    // A statement is one edit, so there is hardly anything left to refuse.
    assert_eq!(audited.len() as u64, row["refused"].as_u64().unwrap(), "{row}");
    assert!(audited.iter().all(|refused| refused[1] == "unresolved"), "{row}");
}

#[test]
fn bench_record_measures_a_program_in_all_ways() {
    let place = tempfile::tempdir().unwrap();
    let (source, cases) = (place.path().join("source"), place.path().join("cases.toml"));
    let raw = place.path().join("raw.jsonl");
    fs::create_dir(&source).unwrap();
    let program =
        "#include <stdio.h>\nint main(void) { int n = 0; while (getchar() != EOF) n++; printf(\"%d\\n\", n); }\n";
    fs::write(source.join("a.c"), program).unwrap();
    let case = format!(
        "[[case]]\nname = 'count'\nsource = '{}'\nbuild = '$CC $LEVEL -o a a.c'\ninput = 'seq 100'\nrun = './a <$INPUT >out'\n",
        source.display()
    );
    fs::write(&cases, case).unwrap();
    let mut bench = Command::new(fixture::root().join("scripts/bench"));
    bench.args(["record", "--runs", "1", "--decodings", "1", "--binary", env!("CARGO_BIN_EXE_git-idd")]);
    let output = bench.arg("--cases").arg(&cases).arg("--raw").arg(&raw).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row: serde_json::Value = serde_json::from_str(fs::read_to_string(&raw).unwrap().trim_end()).unwrap();
    // Each of the 292 bytes is a call and a decision, a load and a store.
    assert!(row["n_events"].as_u64().is_some_and(|n| (4 * 292..10 * 292).contains(&n)), "{row}");
    for seconds in ["-O0", "-O2", "ring", "sink", "kept", "decoded"] {
        assert!(row[seconds].as_f64().is_some_and(|seconds| seconds > 0.0), "{row}");
    }
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("| count "),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn bench_java_measures_classes_of_ones_own_recorded_and_not() {
    if java::version().is_none() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let program = "public class Count { public static void main(String[] words) { int n = 0;
        for (int i = 0; i < Integer.parseInt(words[0]); i++) { n += i % 3; }
        System.out.println(n); } }";
    fs::write(place.path().join("Count.java"), program).unwrap();
    let javac = Command::new("javac").args(["-g", "-d", "classes", "Count.java"]).current_dir(place.path()).status();
    assert!(javac.unwrap().success());
    let raw = place.path().join("raw.jsonl");
    let mut bench = Command::new(fixture::root().join("scripts/bench"));
    bench.args(["java", "--rounds", "1", "--decodings", "1", "--binary", env!("CARGO_BIN_EXE_git-idd")]);
    bench
        .args(["--main", "Count", "--arguments", "2000", "--few", "1000", "--classes"])
        .arg(place.path().join("classes"));
    let output = bench.arg("--raw").arg(&raw).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let row: serde_json::Value = serde_json::from_str(fs::read_to_string(&raw).unwrap().trim_end()).unwrap();
    assert!(row["n_steps"].as_u64().is_some_and(|n| (2000..4000).contains(&n)), "{row}");
    for seconds in ["plain", "recorded", "plain_clock", "recorded_clock", "stat", "slice"] {
        assert!(row[seconds].as_f64().is_some_and(|seconds| seconds > 0.0), "{row}");
    }
    assert!(told.contains("| Count ") && told.contains("at most 6 times the processor time"), "{told}");
}

/// Runs Python in the directory of a benchmark.
fn python<S: AsRef<OsStr>>(bench: &str, arguments: &[S]) {
    let benchmarks = fixture::root().join("scripts/benchmarks");
    let mut python = Command::new("python3");
    python.arg("-B").args(arguments).current_dir(benchmarks.join(bench));
    let places = std::env::join_paths(["common", "hunt"].map(|name| benchmarks.join(name))).unwrap();
    let output = python.env("PYTHONPATH", places).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
}

#[test]
fn bench_truth_finds_declarations_and_counts_what_fails() {
    python("truth", &["-m", "unittest", "-q", "test_truth"]);
}

#[test]
fn bench_chain_compares_chains_and_counts_what_fails() {
    python("chain", &["-m", "unittest", "-q", "test_metrics", "test_driver"]);
}

#[test]
fn bench_chain_has_faults_and_case_studies_that_fail_as_they_say() {
    python("chain", &["cases.py"]);
    // One program of the six: all take a minute.
    python("chain", &["faults.py", "check", "scheduler"]);
}
