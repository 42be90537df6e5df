//! The command line as a shell sees it: what goes to stdout, what to stderr, and the exit code.

use std::process::Command;
use std::process::Output;

use git_idd::report::Report;
use git_idd::report::json;

fn run(args: &[&str]) -> Output {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-idd"));
    command.args(args).current_dir(place.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", place.path()).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", "/");
    command.output().unwrap()
}

#[track_caller]
fn check(args: &[&str], code: i32) -> (String, String) {
    let output = run(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    (text(output.stdout), text(output.stderr))
}

#[test]
fn help_goes_to_stdout_and_is_no_error() {
    for arg in ["-h", "--help"] {
        let (stdout, stderr) = check(&[arg], 0);
        assert!(stdout.contains("Usage: git idd") && stderr.is_empty(), "{stderr}");
    }
    assert_eq!(check(&["--version"], 0).0, concat!("git-idd ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn man_prints_the_page_outside_a_repository() {
    assert!(check(&["man"], 0).0.contains(".SH \"EXIT STATUS\""));
}

#[test]
fn a_usage_error_goes_to_stderr_with_a_hint_and_129() {
    let (stdout, stderr) = check(&["--walk", "sideways", "t"], 129);
    assert_eq!(stdout, "");
    assert!(stderr.starts_with("error: invalid value 'sideways'") && stderr.contains("\n\nhint: "), "{stderr}");
}

#[test]
fn under_json_an_error_leaves_one_object_on_stdout() {
    #[track_caller]
    fn check(args: &[&str], code: i32) {
        let output = run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        let report: Report = json::read(&output.stdout).unwrap();
        assert_eq!(i32::from(report.status.code()), code);
        assert!(!report.error.unwrap().message.is_empty());
    }
    check(&["--json", "--walk", "sideways", "t"], 129);
    check(&["--json", "--", "true"], 1);
}
