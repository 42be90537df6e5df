//! Submodules: checked out from the user's own copies, at the commit of each revision.

use std::fs;

use idd_report::{Status, Untrusted};

use crate::fixture::Fixture;

/// Two levels of submodules; the inner one is broken from `change 4` on.
const HISTORY: &str = r#"
    commit_in() { git -C "$1" add -A; git -C "$1" commit -qm "$2"; }
    add="git -c protocol.file.allow=always submodule --quiet"
    for name in inner outer; do git init -q -b main "$PLACE/$name"; done
    echo fine > "$PLACE/inner/state"; echo '*.o' > "$PLACE/inner/.gitignore"; commit_in "$PLACE/inner" one
    (cd "$PLACE/outer"; $add add "$PLACE/inner" in; git commit -qm one)
    $add add --name odd/name "$PLACE/outer" lib/out
    $add update --init --recursive
    for n in 1 2 3 4 5; do
        echo $n > log
        if [ $n = 4 ]; then
            echo broken > lib/out/in/state; commit_in lib/out/in broken; commit_in lib/out broken
        fi
        commit "change $n"
    done
"#;

const TEST: &str =
    "touch lib/out/in/x.o; [ -z \"$(git status --porcelain)\" ] || exit 125; grep -q fine lib/out/in/state";

#[test]
fn a_submodule_is_checked_out_at_the_commit_of_each_revision() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let report = fixture.report(&[TEST]);
    assert!(matches!(report.status, Status::Found), "{report:?}");
    assert_eq!(report.first_bad.unwrap().commit.subject, "change 4".into());
    assert_eq!(fixture.state(), before);
}

#[test]
fn a_fix_that_moves_a_submodule_names_the_command_and_changes_nothing() {
    let fixture = Fixture::of(HISTORY);
    assert!(fixture.report(&[TEST]).fix.is_some());
    let before = fixture.state();
    let (stdout, _) = fixture.said(&["apply"], 0);
    assert!(
        stdout.starts_with("The fix only moves submodules; nothing was changed.\n`git -C lib/out checkout "),
        "{stdout}"
    );
    assert_eq!(fixture.state(), before);
    let command = stdout.split('`').nth(1).unwrap();
    fixture.sh(&format!("{command}; git -C lib/out submodule --quiet update; grep fine lib/out/in/state"));
}

#[test]
fn a_revision_without_its_submodule_is_unresolved_and_that_is_said_once() {
    let fixture = Fixture::of(&format!(
        "{HISTORY} git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,lost; git commit -qm lost; commit back
         for n in 1 2 3; do echo $n > more; commit \"more $n\"; done"
    ));
    let report = fixture.report(&["--until", "commit", TEST]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "change 4".into());
    assert_eq!(report.probes.outcomes["search"]["unresolved(submodule)"], 1);
    let text = |text: &Untrusted| String::from_utf8_lossy(text.as_bytes()).into_owned();
    let said = "A revision could not be tested: the submodule `lost` is not here at commit";
    assert_eq!(report.notes.iter().filter(|note| text(note).starts_with(said)).count(), 1, "{:?}", report.notes);

    fs::remove_dir_all(fixture.repo().join(".git/modules/odd/name/modules")).unwrap();
    let report = fixture.report(&["--until", "commit", TEST]);
    assert_eq!(report.status, Status::NothingTestable, "{report:?}");
    assert!(text(&report.error.unwrap().message).contains("the submodule `lib/out/in` is not here at commit"));
    // As in a plain checkout, if that is what is wanted.
    fixture.git(&["config", "idd.submodules", "empty"]);
    let report =
        fixture.report(&["--until", "commit", "[ -d lib/out ] && ! [ -e lib/out/in ] && [ $(cat log) -lt 3 ]"]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "change 3".into());
}

#[test]
fn a_clone_without_its_submodules_is_tested_as_it_is() {
    let fixture = Fixture::of(&format!("{HISTORY} git submodule --quiet deinit -f --all; rm -rf .git/modules"));
    let report = fixture.report(&["--until", "commit", "! [ -e lib/out/in ] && [ $(cat log) -lt 3 ]"]);
    assert_eq!(report.first_bad.unwrap().commit.subject, "change 3".into());
    fixture.git(&["config", "idd.submodules", "filled"]);
    assert_eq!(fixture.report(&["--no-cache", "--until", "commit", TEST]).status, Status::NothingTestable);
}
