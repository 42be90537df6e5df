//! The recipes of `scripts/ci`, run as far as that goes without the service that they are for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::fixture::{self, Fixture};
use idd_report::Status;

/// A program that is broken by `change 9`, with the build and the test that the recipes name.
const HISTORY: &str = "
    mkdir -p scripts/ci; cp \"$RECIPES\"/*.sh scripts/ci; echo 1 > value
    printf 'all:\\n\\tcp value product\\n' > Makefile; printf '/product\\n/idd-*\\n/told.md\\n' > .gitignore
    printf '#!/bin/sh\\n! grep -qx broken product\\n' > test.sh; chmod +x test.sh; commit init
    for n in $(seq 2 16); do if [ $n = 9 ]; then echo broken >> value; echo 9 > other; else echo $n >> value; fi; commit \"change $n\"; done
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
    // A tool chain that writes down what it is asked for.
    for name in ["cargo", "rustup"] {
        let text =
            format!("#!/bin/sh\necho \"{name} $*\" >> \"$HOME/asked\"; git log -1 --format=%s >> \"$HOME/asked\"\n");
        fs::write(programs.join(name), text).unwrap();
    }
    // It sends nothing either.
    let curl =
        "#!/bin/sh\nfor word; do echo \"$word\"; case $word in @*) cat \"${word#@}\";; esac; done >> \"$HOME/sent\"\n";
    fs::write(programs.join("curl"), curl).unwrap();
    for name in ["mail", "cargo", "rustup", "curl"] {
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
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
    let (mut n_nights, mut n_early) = (0, 0);
    loop {
        sh(&fixture, night);
        n_nights += 1;
        let finding = finding(&reports);
        let badge = fs::read_to_string(reports.join("badge.json")).unwrap();
        let is_known = !finding["first_bad"].is_null();
        // A night can end with a range.
        let names_one = badge.contains("\"message\":\"fails since ") && !badge.contains("fails since one of ");
        assert_eq!(names_one, is_known, "{badge}");
        assert_eq!((told.exists(), reports.join("finding.md").exists()), (is_known, is_known), "night {n_nights}");
        if finding["status"] != "budget" {
            assert_eq!(finding["status"], "found");
            break;
        }
        n_early += usize::from(is_known);
        assert!(n_nights < 20);
    }
    assert!(n_nights > 2 && n_early > 0, "the culprit is known before the fix: {n_nights} nights");
    let message = fs::read_to_string(&told).unwrap();
    assert_eq!(message.matches("fails since").count(), 1, "{message}");
    assert!(message.contains("change 9"), "{message}");
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
fn tests_at_once_give_way_to_a_limit_that_only_one_after_the_other_keep() {
    let fixture = Fixture::of(
        r#"
printf '#!/bin/sh\ntest $(cat number) -lt 61\n' > test.sh; chmod +x test.sh
for i in $(seq 100); do echo $i > number; commit "Count to $i"; done
"#,
    );
    // Two runs reproduce the failure, nine search, and four prove the finding.
    let found = ["--until", "commit", "--good", "HEAD~99", "-j", "8", "--max-probes", "17", "--", "./test.sh"];
    let report = fixture.report(&found);
    assert_eq!(report.status, Status::Found);
    assert_eq!(report.first_bad.unwrap().commit.subject, "Count to 61".into());
}

#[test]
fn a_night_that_breaks_down_fails() {
    let fixture = broken();
    let output =
        fixture.shell("PATH=\"$PLACE/programs:$PATH\"; ./scripts/ci/nightly.sh --build make -- ./no-such-test.sh");
    assert_eq!(output.status.code(), Some(1));
}

/// Another repository in the place of that of git-idd, at a commit of it.
const SOURCE: &str = "export IDD_SOURCE=\"$PLACE/repo\" IDD_VERSION=$(git -C \"$PLACE/repo\" rev-parse ':/change 3')";

#[test]
fn versions_are_fixed_and_the_program_is_installed_from_its_source() {
    for recipe in ["github-actions.yml", "github-try.yml", "gitlab-ci.yml"] {
        let text = fs::read_to_string(Path::new(&recipes()).join(recipe)).unwrap();
        assert!(text.contains("./scripts/ci/install.sh") && text.contains("IDD_VERSION: v"), "{text}");
        assert!(!text.contains("latest") && !text.contains("cargo install"), "{text}");
        let actions = text.lines().filter_map(|line| line.split_once("uses: ")?.1.split_once('@'));
        for (action, version) in actions {
            assert_eq!(version.matches('.').count(), 2, "{action}@{version}");
        }
    }
    let readme = fs::read_to_string(fixture::root().join("README.md")).unwrap();
    let script = fs::read_to_string(Path::new(&recipes()).join("install.sh")).unwrap();
    let command = "cargo install --locked --path .";
    assert!(readme.contains(command) && script.lines().any(|line| line == command), "{script}");
}

#[test]
fn a_recommended_fix_becomes_a_pull_request_or_without_a_token_the_call_for_one() {
    let fixture = broken();
    let pull = "./scripts/ci/pull-request.sh";
    fixture.sh(
        "git init -q --bare ../origin.git; git remote add origin \"$PLACE/origin.git\"; git push -q origin HEAD:main",
    );
    sh(&fixture, "IDD_REPORTS=../reports ./scripts/ci/nightly.sh --max-probes 3 --build make -- ./test.sh");
    let early = sh(&fixture, &format!("IDD_REPO=me/it {pull}"));
    assert!(
        early.stdout.is_empty() && String::from_utf8_lossy(&early.stderr).contains("no fix is recommended: budget")
    );
    sh(&fixture, "IDD_REPORTS=../reports ./scripts/ci/nightly.sh --build make -- ./test.sh");
    let before = fixture.state();
    let printed = String::from_utf8(sh(&fixture, &format!("IDD_REPO=me/it IDD_BASE=main {pull}")).stdout).unwrap();
    assert_eq!(fixture.state(), before);
    let lines: Vec<&str> = printed.lines().collect();
    let [push, post, call] = lines[..] else { panic!("{printed}") };
    let first_bad = finding(&fixture.place().join("reports"))["first_bad"]["commit"].as_str().unwrap().to_owned();
    let branch = format!("idd/fix-{}", &first_bad[..12]);
    let commit = push.strip_prefix("git push origin ").unwrap().strip_suffix(&format!(":refs/heads/{branch}")).unwrap();
    assert_eq!(post, "POST https://api.github.com/repos/me/it/pulls");
    let call: Value = serde_json::from_str(call).unwrap();
    assert_eq!((&call["head"], &call["base"]), (&Value::from(branch.clone()), &Value::from("main")));
    assert_eq!(call["title"], format!("Take back what broke a test in {}", &first_bad[..12]));
    let body = call["body"].as_str().unwrap();
    assert!(body.contains("change 9") && body.contains("\n-broken\n"), "{body}");
    let change = String::from_utf8(fixture.git(&["show", "--format=%P", "-U0", commit])).unwrap();
    let head = String::from_utf8(fixture.git(&["rev-parse", "HEAD"])).unwrap();
    assert!(change.starts_with(&head) && change.contains("\n-broken\n"), "{change}");
    assert!(!fixture.place().join("home/sent").exists());

    // With a token, it is done, once.
    let done = format!("IDD_TOKEN=secret IDD_API=https://forge.example/api/v1 IDD_REPO=me/it IDD_BASE=main {pull}");
    sh(&fixture, &done);
    let there = String::from_utf8(fixture.git(&["ls-remote", "origin", &branch])).unwrap();
    assert!(there.ends_with(&format!("refs/heads/{branch}\n")), "{there}");
    let sent = fs::read_to_string(fixture.place().join("home/sent")).unwrap();
    assert!(sent.contains("Authorization: Bearer secret\n"), "{sent}");
    assert!(sent.contains("\nhttps://forge.example/api/v1/repos/me/it/pulls\n"), "{sent}");
    assert!(sent.lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|value| value == call)), "{sent}");
    let again = sh(&fixture, &done);
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists already"));
    assert_eq!(fs::read_to_string(fixture.place().join("home/sent")).unwrap(), sent);
    assert_eq!(String::from_utf8(fixture.git(&["worktree", "list"])).unwrap().lines().count(), 1);
}

/// The shell lines of a recipe, below each `key:` in it.
pub fn lines_of(recipe: &str, key: &str) -> Vec<String> {
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
    found
}

#[test]
fn the_recipe_for_github_hunts_and_shows_what_it_found() {
    let fixture = broken();
    let script = lines_of("github-actions.yml", "run").join("\n");
    let output = sh(
        &fixture,
        &format!("set -e; export GITHUB_STEP_SUMMARY=idd-summary GITHUB_REPOSITORY=o/r; {SOURCE}\n{script}"),
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("::error file=value,line=9,endLine=9,title="), "{printed}");
    assert!(printed.contains("\nPOST https://api.github.com/repos/o/r/pulls\n{"), "{printed}");
    let asked = fs::read_to_string(fixture.place().join("home/asked")).unwrap();
    assert!(asked.starts_with("rustup toolchain install 1.88.0 "), "{asked}");
    assert!(asked.contains("cargo install --locked --path .\nchange 3\n"), "{asked}");
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
    let night = format!("{SOURCE}\n{night}");
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
