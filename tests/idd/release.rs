//! What a release consists of, and the action of GitHub and the component of GitLab that fetch it. No release is built here.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use regex::Regex;
use serde_json::Value;

use crate::fixture::Fixture;
use crate::{fixture, nightly};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(name: &str) -> String {
    fs::read_to_string(fixture::root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs a script of `scripts`.
fn script(name: &str, words: &[&str]) -> Output {
    let mut command = Command::new(fixture::root().join("scripts").join(name));
    command.args(words).env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap()
}

#[test]
fn the_bill_of_materials_has_every_package_that_is_built_with_purl_licence_and_checksum() {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = script("sbom", &["--offline", "--target", &target]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bill: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    assert!(bill["serialNumber"].as_str().unwrap().starts_with("urn:uuid:"));
    assert_eq!(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z");
    let program = &bill["metadata"]["component"];
    assert_eq!(program["purl"], format!("pkg:cargo/git-idd@{VERSION}"));

    let lock: toml::Table = read("Cargo.lock").parse().unwrap();
    let text = |value: &toml::Value, key: &str| value.get(key).and_then(|text| text.as_str()).map(str::to_owned);
    let locked: BTreeMap<_, _> = lock["package"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| ((text(package, "name"), text(package, "version")), text(package, "checksum")))
        .collect();
    let licence = Regex::new(r"^[\w.+() -]+$").unwrap();
    let mut references = BTreeSet::new();
    for component in bill["components"].as_array().unwrap().iter().chain([program]) {
        let field = |key: &str| component[key].as_str().unwrap_or_else(|| panic!("no {key}: {component}")).to_owned();
        let checksum = &locked[&(Some(field("name")), Some(field("version")))];
        assert_eq!(component["hashes"][0]["content"].as_str(), checksum.as_deref(), "{component}");
        assert_eq!(field("purl"), format!("pkg:cargo/{}@{}", field("name"), field("version").replace('+', "%2B")));
        assert!(licence.is_match(component["licenses"][0]["expression"].as_str().unwrap()), "{component}");
        assert!(references.insert(field("bom-ref")), "{component} is there twice");
    }
    let has = |name: &str| references.iter().any(|purl| purl.starts_with(&format!("pkg:cargo/{name}@")));
    for name in ["idd-base", "git2", "libgit2-sys", "sled", "cc", "serde_derive"] {
        assert!(has(name), "{name} is missing");
    }
    for name in ["insta", "jsonschema", "proptest", "windows-sys"] {
        assert!(!has(name), "{name} is no part of the program");
    }
    for entry in bill["dependencies"].as_array().unwrap() {
        let used = entry["dependsOn"].as_array().unwrap().iter().chain([&entry["ref"]]);
        assert!(used.into_iter().all(|reference| references.contains(reference.as_str().unwrap())), "{entry}");
    }
}

#[test]
fn a_release_is_made_of_a_commit_and_of_the_tag_of_its_version() {
    let output = script("release", &["--help"]);
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("usage: scripts/release [<rev>] [--out <dir>]"));
    for (words, code) in [(&["--no-such-option"][..], 2), (&["no-such-revision"], 1), (&["--out"], 2)] {
        assert_eq!(script("release", words).status.code(), Some(code), "{words:?}");
    }
}

/// The files that name the version of a release, and how.
const NAMED: [(&str, &str); 14] = [
    ("Cargo.toml", "\n[workspace.package]\nversion = \"@\"\n"),
    ("Cargo.toml", "\nidd-session = { version = \"@\", "),
    ("Cargo.lock", "\nname = \"git-idd\"\nversion = \"@\"\n"),
    ("fuzz/Cargo.lock", "\nname = \"idd-base\"\nversion = \"@\"\n"),
    ("editors/vscode/package.json", "\"version\": \"@\""),
    ("packaging/rpm/git-idd.spec", "\nVersion:        @\n"),
    ("packaging/homebrew/git-idd.rb", "/releases/download/v@/git-idd-@.tar.gz\"\n"),
    ("packaging/arch/PKGBUILD", "\npkgver=@\n"),
    ("packaging/docker/Dockerfile", "\nARG VERSION=@\n"),
    ("scripts/ci/action/action.yml", "description: The version of git-idd\n    default: @\n"),
    ("scripts/ci/templates/regression.yml", "description: The version of git-idd\n      default: @\n"),
    ("scripts/ci/github-actions.yml", "IDD_VERSION: v@\n"),
    ("scripts/ci/github-try.yml", "IDD_VERSION: v@\n"),
    ("scripts/ci/gitlab-ci.yml", "IDD_VERSION: v@\n"),
];

#[test]
fn all_files_of_packaging_name_the_same_version_and_leave_checksums_to_the_release() {
    for (file, text) in NAMED {
        assert!(read(file).contains(&text.replace('@', VERSION)), "{file} does not name version {VERSION}");
    }
    // This one reads it.
    assert!(read("packaging/nix/flake.nix").contains("version = manifest.workspace.package.version;"));
    let checksum = Regex::new("[0-9a-f]{64}").unwrap();
    for file in ["rpm/git-idd.spec", "homebrew/git-idd.rb", "arch/PKGBUILD", "docker/Dockerfile"] {
        let text = read(&format!("packaging/{file}"));
        assert!(text.contains("@SHA256_SOURCE@") && text.contains("@REPOSITORY@"), "{file}");
        assert!(!checksum.is_match(&text), "{file} has a checksum");
    }
}

/// Adds a program to the directory `programs` beside the repository.
fn add_program(fixture: &Fixture, name: &str, text: &str) {
    let programs = fixture.place().join("programs");
    fs::create_dir_all(&programs).unwrap();
    fs::write(programs.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// The archive of a release in the directory `releases` beside the repository, `curl` that copies it, and `gh` that writes
/// down what it is asked for.
fn publish(fixture: &Fixture) {
    add_program(
        fixture,
        "curl",
        "while [ $# -gt 0 ]; do
            case $1 in --output) to=$2; shift ;; file://*) cp \"${1#file://}\" \"${to:-${1##*/}}\"; to= ;; esac
            shift
        done",
    );
    add_program(fixture, "gh", "echo \"$@\" >> \"$HOME/asked\"");
    let name = format!("git-idd-{VERSION}-{}-unknown-linux-gnu", std::env::consts::ARCH);
    fixture.sh(&format!(
        "mkdir -p ../releases/v{VERSION} ../made/{name}/bin; ln -s '{}' ../made/{name}/bin/git-idd
         cd ../releases/v{VERSION}; tar -C ../../made -czf {name}.tar.gz {name}; sha256sum * > ../SHA256SUMS; mv ../SHA256SUMS .",
        env!("CARGO_BIN_EXE_git-idd")
    ));
}

/// `PATH` with the directory `programs` in front, and without any that has a git-idd.
fn path(fixture: &Fixture) -> OsString {
    let usual = std::env::var_os("PATH").unwrap();
    let others = std::env::split_paths(&usual).filter(|place| !place.join("git-idd").exists());
    std::env::join_paths([fixture.place().join("programs")].into_iter().chain(others)).unwrap()
}

/// Runs the step of the action in the repository, with these variables; returns the outputs by their names.
fn act(fixture: &Fixture, variables: &str) -> BTreeMap<String, String> {
    let (path, action) = (path(fixture), fixture::root().join("scripts/ci/action/hunt.sh"));
    let output = fixture.shell(&format!(
        "set -e; export PATH='{}' GITHUB_OUTPUT=\"$PLACE/outputs\" GITHUB_STEP_SUMMARY=\"$PLACE/summary\"
         export GITHUB_PATH=\"$PLACE/path\" RUNNER_TEMP=\"$PLACE/tmp\" GITHUB_REPOSITORY=o/r
         export IDD_RELEASES=\"file://$PLACE/releases\" IDD_VERSION={VERSION} {variables}
         : > \"$GITHUB_OUTPUT\"; : > \"$GITHUB_STEP_SUMMARY\"; '{}'",
        path.display(),
        action.display()
    ));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outputs = fs::read_to_string(fixture.place().join("outputs")).unwrap();
    outputs.lines().map(|line| line.split_once('=').unwrap()).map(|(name, it)| (name.into(), it.into())).collect()
}

#[test]
fn the_action_installs_the_release_hunts_and_hands_out_culprit_change_fix_and_report() {
    let fixture = Fixture::make("guard-without-variable");
    publish(&fixture);
    // What the action has no input for is set by configuration.
    fixture.git(&["config", "idd.suite", "sh suite.sh"]);
    let outputs = act(&fixture, "IDD_TEST=./test.sh IDD_COMMENT=true");
    let culprit = &outputs["culprit"];
    let subject = String::from_utf8(fixture.git(&["show", "--no-patch", "--format=%s", culprit])).unwrap();
    assert_eq!(subject, "Write defaults as well, and sort the settings\n");
    let file = |name: &str| fs::read(fixture.repo().join(&outputs[name])).unwrap();
    assert!(String::from_utf8(file("change")).unwrap().contains("\n-            continue\n"));
    let fix = file("fix");
    assert!(String::from_utf8_lossy(&fix).contains("\n+DEFAULTS = {") && fixture.applies(&fix));
    let report = file("report");
    assert_eq!(fs::read(fixture.place().join("summary")).unwrap(), report);
    assert!(String::from_utf8(report).unwrap().contains(&culprit[..12]));
    let asked = fs::read_to_string(fixture.place().join("home/asked")).unwrap();
    assert_eq!(
        asked,
        format!("api --silent repos/o/r/commits/{culprit}/comments --field body=@idd-reports/finding.md\n")
    );
    let later = fs::read_to_string(fixture.place().join("path")).unwrap();
    assert!(Path::new(later.trim_end()).join("git-idd").exists(), "{later}");

    // A run for a pull request, in which the test passes: the outputs are empty, and nobody is bothered.
    let outputs = act(&fixture, "IDD_TEST=true IDD_COMMENT=true IDD_NUMBER=7");
    assert!(outputs.len() == 4 && outputs.values().all(String::is_empty), "{outputs:?}");
    assert_eq!(fs::read_to_string(fixture.place().join("home/asked")).unwrap(), asked);
}

#[test]
fn the_action_runs_no_program_whose_checksum_is_another() {
    let fixture = Fixture::of("echo 1 > value; commit init");
    publish(&fixture);
    fixture.sh(&format!("cd ../releases/v{VERSION}; for file in *.gz; do echo more >> $file; done"));
    let (path, action) = (path(&fixture), fixture::root().join("scripts/ci/action/hunt.sh"));
    let output = fixture.shell(&format!(
        "export PATH='{}' IDD_RELEASES=\"file://$PLACE/releases\" IDD_VERSION={VERSION} IDD_TEST=true; '{}'",
        path.display(),
        action.display()
    ));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("FAILED"));
    assert!(!fixture.repo().join("idd-reports").exists());
}

#[test]
fn the_inputs_of_the_action_and_its_script_have_the_same_variables() {
    let (action, script) = (read("scripts/ci/action/action.yml"), read("scripts/ci/action/hunt.sh"));
    let given: BTreeSet<_> =
        Regex::new(r"(?m)^ +(IDD_\w+): ").unwrap().captures_iter(&action).map(|it| it[1].to_owned()).collect();
    let read: BTreeSet<_> =
        Regex::new(r"\$\{?(IDD_\w+)").unwrap().captures_iter(&script).map(|it| it[1].to_owned()).collect();
    assert_eq!(given.symmetric_difference(&read).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_component_for_gitlab_installs_the_release_and_hunts() {
    let fixture = Fixture::make("guard-without-variable");
    publish(&fixture);
    let component = "templates/regression.yml";
    let mut lines = vec!["set -e".to_owned()];
    for key in ["before_script", "script"] {
        lines.extend(nightly::lines_of(component, key));
    }
    let variables = nightly::lines_of(component, "variables").into_iter().map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        format!("export {name}='{}'", value.trim_matches('"'))
    });
    let text = variables.chain(lines).collect::<Vec<_>>().join("\n");
    let input = Regex::new(r"\$\[\[ inputs\.(\w+) \]\]").unwrap();
    let text = input.replace_all(&text, |found: &regex::Captures| match &found[1] {
        "test" => "./test.sh".to_owned(),
        "build" => "true".to_owned(),
        "budget" => "2h".to_owned(),
        "version" => VERSION.to_owned(),
        "releases" => format!("file://{}/releases", fixture.place().display()),
        other => panic!("an input {other}"),
    });
    // The only kind of machine that it knows.
    let text = text.replace("x86_64", std::env::consts::ARCH);
    let output = fixture.shell(&format!("PATH='{}'\n{text}", path(&fixture).display()));
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let report = fs::read_to_string(fixture.repo().join("idd-reports/finding.md")).unwrap();
    assert!(report.contains("Write defaults as well, and sort the settings"), "{report}");
}
