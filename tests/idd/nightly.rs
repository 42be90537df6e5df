//! The recipes of `scripts/ci`, run as far as that goes without the service that they are for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::fixture;
use crate::fixture::Fixture;

/// A program that is broken by `change 9`, with the build and the test that the recipes name.
const HISTORY: &str = "
    mkdir -p scripts/ci; cp \"$RECIPES/nightly.sh\" scripts/ci; echo 1 > value
    printf 'all:\\n\\tcp value product\\n' > Makefile; printf '/product\\n/idd-*\\n/told.md\\n' > .gitignore
    printf '#!/bin/sh\\n! grep -qx broken product\\n' > test.sh; chmod +x test.sh; commit init
    for n in $(seq 2 16); do if [ $n = 9 ]; then echo broken >> value; else echo $n >> value; fi; commit \"change $n\"; done
";

fn recipes() -> String {
    fixture::root().join("scripts/ci").to_str().unwrap().to_owned()
}

/// `HISTORY` in a repository, and a directory first in `PATH` that has the product and `mail`, which is not sent.
fn broken() -> Fixture {
    let fixture = Fixture::of(&format!("RECIPES='{}'; {HISTORY}", recipes()));
    let programs = fixture.place().join("programs");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-idd"), programs.join("git-idd")).unwrap();
    fs::write(programs.join("mail"), "#!/bin/sh\necho \"$@\" >> \"$HOME/mails\"; cat >> \"$HOME/mails\"\n").unwrap();
    fs::set_permissions(programs.join("mail"), fs::Permissions::from_mode(0o755)).unwrap();
    fixture
}

/// Runs a shell script that must succeed; `$PLACE` holds everything.
fn sh(fixture: &Fixture, script: &str) -> Output {
    let output = fixture.shell(&format!("PATH=\"$PLACE/programs:$PATH\"; {script}"));
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn finding(reports: &Path) -> Value {
    serde_json::from_slice(&fs::read(reports.join("finding.json")).unwrap()).unwrap()
}

#[test]
fn a_hunt_goes_on_night_by_night_and_is_told_of_once() {
    let fixture = broken();
    let (reports, told) = (fixture.repo().join("idd-reports"), fixture.repo().join("told.md"));
    let night = "IDD_TELL='cat >> told.md' ./scripts/ci/nightly.sh --max-probes 4 --build make -- ./test.sh";
    let mut n_nights = 0;
    loop {
        sh(&fixture, night);
        n_nights += 1;
        let status = finding(&reports)["status"].clone();
        if status != "budget" {
            assert_eq!(status, "found");
            break;
        }
        assert!(!told.exists() && !reports.join("finding.md").exists() && n_nights < 20);
    }
    assert!(n_nights > 2);
    let message = fs::read_to_string(&told).unwrap();
    assert!(message.contains("change 9") && message.contains("+broken"), "{message}");
    for form in ["md", "sarif", "gitlab.json", "junit.xml"] {
        assert!(!fs::read(reports.join(format!("finding.{form}"))).unwrap().is_empty(), "{form}");
    }

    fixture.sh("echo more >> value; commit 'change 17'");
    while finding(&reports)["bad"]["subject"] != "change 17" || finding(&reports)["status"] == "budget" {
        sh(&fixture, night);
    }
    assert_eq!(fs::read_to_string(&told).unwrap(), message, "the same commit is not told of again");

    fixture.sh("sed -i /broken/d value; commit mend");
    sh(&fixture, night);
    assert_eq!(finding(&reports)["status"], "bad_passes");
    assert!(!reports.join("finding.md").exists());
}

#[test]
fn a_night_that_breaks_down_fails() {
    let fixture = broken();
    let output =
        fixture.shell("PATH=\"$PLACE/programs:$PATH\"; ./scripts/ci/nightly.sh --build make -- ./no-such-test.sh");
    assert_eq!(output.status.code(), Some(1));
}

/// The shell lines of a recipe, below each `key:` in it.
fn lines_of(recipe: &str, key: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(&recipes()).join(recipe)).unwrap();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(rest) = line.trim_start().strip_prefix(key).and_then(|rest| rest.strip_prefix(':')) else { continue };
        if !rest.trim().is_empty() && rest.trim() != "|" {
            found.push(rest.trim().to_owned());
        }
        while let Some(below) = lines.next_if(|below| indent(below) > indent(line)) {
            found.push(below.trim_start().trim_start_matches("- ").to_owned());
        }
    }
    assert!(!found.is_empty(), "{recipe}: {key}");
    found.retain(|line| !line.starts_with("cargo install"));
    found
}

#[test]
fn the_recipe_for_github_hunts_and_shows_what_it_found() {
    let fixture = broken();
    let script = lines_of("github-actions.yml", "run").join("\n");
    let output = sh(&fixture, &format!("set -e; export GITHUB_STEP_SUMMARY=idd-summary\n{script}"));
    let annotations = String::from_utf8(output.stdout).unwrap();
    assert!(annotations.starts_with("::error file=value,line=9,endLine=9,title="), "{annotations}");
    assert!(fs::read_to_string(fixture.repo().join("idd-summary")).unwrap().contains("change 9"));
}

#[test]
fn the_recipe_for_gitlab_knows_the_results_of_earlier_nights() {
    let fixture = broken();
    let [before, script, after] =
        ["before_script", "script", "after_script"].map(|key| lines_of("gitlab-ci.yml", key).join("\n"));
    let night = format!(
        "rm -rf job; git clone -q . ../job; mv ../job job; if [ -d kept ]; then mv kept job/idd-cache; fi; cd job
         {before}\n{script}\n{after}\ncp idd-reports/finding.json ..; mv idd-cache ../kept"
    );
    sh(&fixture, &format!("set -e\n{night}"));
    let first = finding(&fixture.repo());
    assert_eq!(first["status"], "found");
    sh(&fixture, &format!("set -e\n{night}"));
    let second = finding(&fixture.repo());
    assert_eq!(second["first_bad"]["commit"], first["first_bad"]["commit"]);
    let runs = |finding: &Value| finding["probes"]["run"].as_u64().unwrap();
    assert!(runs(&second) < runs(&first), "{} and {}", runs(&first), runs(&second));
}

#[test]
fn the_line_for_cron_sends_one_mail() {
    let fixture = broken();
    let text = fs::read_to_string(Path::new(&recipes()).join("crontab")).unwrap();
    let line = text.lines().rfind(|line| !line.starts_with('#')).unwrap();
    let command = line.splitn(6, ' ').last().unwrap();
    let set_up = "mkdir -p \"$HOME/hunts\" \"$HOME/bin\"; cp scripts/ci/nightly.sh \"$HOME/bin\"; git clone -q . \"$HOME/hunts/project\"";
    sh(&fixture, &format!("set -e; {set_up}\n{command}\n{command}"));
    let mails = fs::read_to_string(fixture.place().join("home/mails")).unwrap();
    assert_eq!(mails.matches("A test fails you@example.com").count(), 1, "{mails}");
    assert!(mails.contains("change 9"));
}
