//! The command line as a shell sees it: what goes to stdout, what to stderr, and the exit code.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output, Stdio};

use git_idd::args;
use idd_report::{Report, json};

use crate::plain;

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
    let (summary, stderr) = check(&["-h"], 0);
    assert!(summary.contains("Usage: git idd") && stderr.is_empty(), "{stderr}");
    let (manual, stderr) = check(&["--help"], 0);
    assert!(manual.starts_with("NAME\n       git-idd - find") && stderr.is_empty(), "{stderr}");
    for words in [&["help"][..], &["help", "idd"], &["--hel"]] {
        assert_eq!(check(words, 0).0, manual, "{words:?}");
    }
    let (options, _) = check(&["shrink", "--help"], 0);
    assert_eq!(check(&["help", "shrink"], 0).0, options);
    assert!(check(&["help", "shrnik"], 129).1.contains("did you mean `shrink`?"));
}

#[test]
fn version_names_the_release_and_its_long_form_the_features_too() {
    let line = concat!("git-idd ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(check(&["-V"], 0).0, line);
    let features = if cfg!(feature = "explain") { "explain mcp remote" } else { "none" };
    assert_eq!(check(&["--version"], 0).0, format!("{line}features: {features}\n"));
}

#[cfg(not(feature = "explain"))]
#[test]
fn a_build_without_explanations_says_so_where_one_is_asked_for() {
    let fixture = crate::fixture::Fixture::of("commit one");
    for words in [&["explain"][..], &["record", "--", "./test.sh"], &["--explain", "./test.sh"], &["mcp"]] {
        let (_, stderr) = fixture.said(words, 129);
        assert!(stderr.contains("built without explanations") && stderr.contains("--features explain,mcp"), "{stderr}");
    }
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

/// A complete line for each command, and its exit code outside of a repository.
const LINES: [(&str, i32); 45] = [
    ("-- true", 1),
    ("minimize a b -- true", 1),
    ("shrink --input x -- true", 1),
    ("list", 1),
    ("status", 1),
    ("watch", 1),
    ("watch --html x.html", 1),
    ("resume", 1),
    ("log", 1),
    ("show", 1),
    ("report", 1),
    ("report --html x.html", 1),
    ("report --recording 0-1", 1),
    ("verify x", 1),
    ("apply", 1),
    ("try x.patch", 1),
    ("reset", 1),
    ("gc", 1),
    ("doctor", 1),
    ("record -- true", 1),
    ("explain", 1),
    ("explain --bad HEAD --good HEAD~1 -- true", 1),
    ("chop", 1),
    ("invariants", 1),
    ("slice --backward end", 1),
    ("debug", 1),
    ("trace list", 1),
    ("trace stat", 1),
    ("trace tree", 1),
    ("trace inputs", 1),
    ("trace step 1", 1),
    ("trace why 1 x", 1),
    ("dap", 1),
    ("start", 1),
    ("good", 1),
    ("bad HEAD~1", 1),
    ("skip --why x", 1),
    ("undo", 1),
    ("mcp", 1),
    ("mcp --build make -- true", 1),
    ("completions bash", 0),
    ("man", 0),
    ("remote check", 129),
    ("setup --dry-run", 0),
    ("help", 0),
];

/// Lines that lack an argument.
const INCOMPLETE: [&str; 17] = [
    "",
    "--json",
    "minimize a -- true",
    "minimize a b",
    "shrink -- true",
    "shrink --input x",
    "verify",
    "try",
    "record",
    "record --",
    "chop --good HEAD~1",
    "slice",
    "debug --bad HEAD",
    "trace",
    "trace step",
    "trace why 1",
    "completions",
];

fn split(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The names of all commands, with those of the commands that they have.
fn names() -> BTreeSet<String> {
    let command = args::command();
    let names = command.get_subcommands().flat_map(|outer| {
        let inner = outer.get_subcommands().map(|inner| format!("{} {}", outer.get_name(), inner.get_name()));
        let inner: Vec<String> = inner.collect();
        if inner.is_empty() { vec![outer.get_name().to_owned()] } else { inner }
    });
    names.collect()
}

/// The name of the command in a line; empty for a hunt.
fn name_in(line: &str) -> String {
    let is_name = |name: &&String| line == name.as_str() || line.starts_with(&format!("{name} "));
    names().iter().find(is_name).cloned().unwrap_or_default()
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn every_command_has_its_documented_exit_code_outside_of_a_repository() {
    let named: BTreeSet<String> = LINES.iter().map(|(line, _)| name_in(line)).filter(|name| !name.is_empty()).collect();
    assert_eq!(named, names());
    for (line, code) in LINES {
        let (_, stderr) = check(&split(line), code);
        assert!(code != 1 || stderr.starts_with("error: not a git repository"), "{line}: {stderr}");
    }
}

#[test]
fn every_command_refuses_an_unknown_option_with_129() {
    for (line, _) in LINES {
        let name = name_in(line);
        let n_words = split(&name).len();
        let mut words = split(line);
        words.insert(n_words, "--no-such-option");
        let (stdout, stderr) = check(&words, 129);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        assert!(stderr.starts_with("error: unexpected argument '--no-such-option'"), "{line}: {stderr}");
        assert!(stderr.contains("\n\nhint: "), "{line}: {stderr}");
    }
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn every_command_refuses_a_missing_argument_and_a_missing_value_with_129() {
    for line in INCOMPLETE {
        let (stdout, stderr) = check(&split(line), 129);
        assert!(stderr.starts_with("error: ") && stderr.contains("\n\nhint: "), "{line}: {stderr}");
        assert_eq!(stdout.is_empty(), line != "--json", "{line}: {stdout}");
    }
    for (line, _) in LINES {
        let name = name_in(line);
        let words = split(&name);
        let mut command = &args::command();
        for word in &words {
            command = command.find_subcommand(word).unwrap();
        }
        let needs_value = |arg: &&clap::Arg| {
            arg.get_action().takes_values()
                && !arg.is_positional()
                && arg.get_num_args().is_none_or(|range| range.min_values() > 0)
        };
        let Some(option) = command.get_arguments().find(needs_value) else { continue };
        let option = format!("--{}", option.get_long().unwrap());
        let (_, stderr) = check(&[&words[..], &[&option]].concat(), 129);
        assert!(stderr.starts_with("error: ") && stderr.contains(&option), "{line}: {stderr}");
    }
}

#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn every_command_that_runs_a_test_ends_with_130_if_it_is_interrupted() {
    const LINES: [&str; 9] = [
        "",
        "minimize HEAD~1 HEAD",
        "shrink --input a.c",
        "record",
        "explain --bad HEAD --good HEAD~1",
        "chop",
        "invariants",
        "debug",
        "debug --bad HEAD --good HEAD~1",
    ];
    let place = tempfile::tempdir().unwrap();
    plain::git(place.path(), &["init", "--quiet", "."]);
    for code in [0, 3] {
        fs::write(place.path().join("a.c"), format!("int main(void) {{ return {code}; }}\n")).unwrap();
        plain::git(place.path(), &["add", "."]);
        plain::git(place.path(), &["commit", "--quiet", "-m", "Another version"]);
    }
    let ready = place.path().join(".git/ready");
    for line in LINES {
        let mut words = split(line);
        words.extend(["--build", "touch \"$READY\"; sleep 1000", "--", "./a"]);
        let mut command = plain::program(place.path());
        command.args(&words).env("READY", &ready).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        while !ready.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        // A child that ended has a code that is not expected.
        Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{line}: {stderr}");
        fs::remove_file(&ready).unwrap();
    }
}
