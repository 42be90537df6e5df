//! `scripts/bench` measures what it says.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use crate::fixture;
use crate::fixture::Fixture;

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
    assert!(!audited.is_empty() && audited.len() as u64 == row["refused"].as_u64().unwrap(), "{row}");
    // An assignment without a value: the compiler thinks so, too.
    assert!(audited.iter().all(|refused| refused[1] == "unresolved"), "{row}");
    let tables = String::from_utf8_lossy(&output.stdout);
    assert!(tables.contains("Refused candidates, built all the same"), "{tables}");
}

/// Runs Python in the directory of `bench chain`.
fn python<S: AsRef<OsStr>>(arguments: &[S]) {
    let benchmarks = fixture::root().join("scripts/benchmarks");
    let mut python = Command::new("python3");
    python.arg("-B").args(arguments).current_dir(benchmarks.join("chain"));
    let output = python.env("PYTHONPATH", benchmarks.join("common")).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
}

#[test]
fn bench_chain_compares_chains_and_counts_what_fails() {
    python(&["-m", "unittest", "-q", "test_metrics", "test_driver"]);
}

#[test]
fn bench_chain_has_faults_and_case_studies_that_fail_as_they_say() {
    python(&["cases.py"]);
    // One program of the six: all take a minute.
    python(&["faults.py", "check", "scheduler"]);
}
