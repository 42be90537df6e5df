//! Tests and trees that would do harm: nothing outside the sandbox is touched, and nothing panics.

use std::fs;
use std::process::Command;

use idd_report::{Report, Status, json};

use crate::fixture::Fixture;

const HISTORY: &str = "
    for n in 1 2 3 4 5 6; do
        echo $n >> log; [ $n -ge 4 ] && echo broken > state || echo fine > state; commit \"change $n\"
    done
    git tag v1 HEAD~5
    mkdir -p \"$PLACE/precious/tree\" \"$PLACE/precious/tmp\"
    echo thesis > \"$PLACE/precious/thesis.tex\"
    cp \"$PLACE/precious/thesis.tex\" \"$PLACE/precious/tree\"; cp \"$PLACE/precious/thesis.tex\" \"$PLACE/precious/tmp\"
";

#[track_caller]
fn check_found(report: &Report, first_bad: &str) {
    assert_eq!(report.status, Status::Found, "{report:?}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, first_bad.into());
}

/// Runs a hunt whose test does `mischief` with the directory `$VICTIM`, and finds the right commit; the victim is unharmed.
#[track_caller]
fn check_unharmed(mischief: &str) {
    let fixture = Fixture::of(HISTORY);
    let victim = fixture.place().join("precious");
    let line = format!("VICTIM='{}'; grep -q fine state; code=$?; {mischief}; exit $code", victim.display());
    let before = fixture.state();
    check_found(&fixture.report(&[line.as_str()]), "change 4");
    for file in ["thesis.tex", "tree/thesis.tex", "tmp/thesis.tex"] {
        assert_eq!(fs::read_to_string(victim.join(file)).unwrap(), "thesis\n", "{file}");
    }
    assert_eq!(fixture.state(), before);
}

#[test]
fn a_link_that_a_test_leaves_is_never_followed() {
    check_unharmed("rm -rf \"$TMPDIR\"; ln -s \"$VICTIM\" \"$TMPDIR\"");
    check_unharmed("up=$(dirname \"$TMPDIR\"); mv \"$up\" \"$up.old\"; ln -s \"$VICTIM\" \"$up\"");
    check_unharmed("tree=$(dirname \"$TMPDIR\")/tree; mv \"$tree\" \"$tree.old\"; ln -s \"$VICTIM/tree\" \"$tree\"");
}

#[test]
fn a_test_may_remove_what_it_was_given() {
    check_unharmed("rm -rf \"$TMPDIR\"");
    check_unharmed("rm -rf \"$TMPDIR\"; touch \"$TMPDIR\"");
    check_unharmed("rm -rf \"$IDD_WORKTREE\"/* \"$IDD_WORKTREE\"/.git");
}

#[test]
fn git_in_a_test_sees_the_files_of_its_tree_and_never_the_repository_of_the_user() {
    check_unharmed("git describe --tags >/dev/null || exit 125; [ -z \"$(git status --porcelain)\" ] || exit 125");
    check_unharmed(
        "[ \"$(git ls-files | tr '\\n' ' ')\" = 'log state ' ] || exit 125; git clean -xffdq; test -e log || exit 125",
    );
    check_unharmed(
        "(git add -A; git -c user.name=x -c user.email=x commit -qam poison; git tag poison; git gc -q) >/dev/null 2>&1",
    );
    check_unharmed("git config core.repositoryformatversion 99");
}

#[test]
fn a_culprit_may_turn_a_file_into_a_directory_or_a_link() {
    for (older, newer, test) in [
        ("echo x > a", "rm a; mkdir a; echo x > a/b", "[ -f a ]"),
        ("mkdir d; echo x > d/x; ln -s d a", "rm a; mkdir a; echo q > a/x", "[ -L a ]"),
        ("mkdir d a; echo x > d/x; echo x > a/x", "rm -r a; ln -s d a", "[ ! -L a ]"),
        ("echo x > a", "rm a; ln -s b a", "[ ! -L a ]"),
    ] {
        let script = format!("{older}; commit 'change 1'; echo 1 > log; commit 'change 2'; {newer}; commit 'change 3'");
        let fixture = Fixture::of(&script);
        let report = fixture.report(&[test]);
        check_found(&report, "change 3");
        assert!(fixture.applies(report.revert().unwrap().patch.as_bytes()), "{newer}");
    }
}

/// Makes commits `change 1` to `change 6` from raw trees with this mode for the file that matters.
fn raw_history(mode: &str, odd: &str) -> Fixture {
    Fixture::of(
        &format!(
            r#"
        parent=
        for n in 1 2 3 4 5 6; do
            [ $n -ge 4 ] && text=broken || text=fine
            blob=$(echo $text | git hash-object -w --stdin)
            {{ printf '{mode} state\0'; printf "$(echo $blob | sed 's/../\\x&/g')"; {odd} }} > "$PLACE/tree" 2>/dev/null
            tree=$(git hash-object -w --literally -t tree "$PLACE/tree")
            parent=$(git commit-tree $tree ${{parent:+-p $parent}} -m "change $n" < /dev/null)
        done
        git update-ref refs/heads/main $parent
        "#
        )
        .replace("printf \"$(", "/bin/echo -ne \"$("),
    )
}

#[test]
fn files_of_unusual_modes_are_hunted_like_any_other() {
    for mode in ["100600", "100640", "100666", "100744"] {
        let fixture = raw_history(mode, "");
        check_found(&fixture.report(&["grep -q fine state"]), "change 4");
    }
}

#[test]
fn a_path_that_is_not_written_is_named_and_hunted_past() {
    const NEWER: &str = "for n in 7 8; do echo $n >> log; commit \"change $n\"; done";
    let odd = r#"{ git ls-tree -z HEAD; printf '100644 blob %s\ta\\.git\0' $(git rev-parse HEAD:state); } > "$PLACE/entries"
        git update-ref HEAD $(git commit-tree $(git mktree -z < "$PLACE/entries") -p HEAD -m odd < /dev/null)"#;
    let fixture = Fixture::of(&format!("echo fine > state; commit init\n {odd}\n {HISTORY} {NEWER}"));
    check_found(&fixture.report(&["grep -q fine state"]), "change 4");
    let fixture = Fixture::of(&format!("{HISTORY} {odd}"));
    let report = fixture.report(&["grep -q fine state"]);
    assert_eq!(report.status, Status::NothingTestable, "{report:?}");
    let message = String::from_utf8_lossy(report.error.unwrap().message.as_bytes()).into_owned();
    assert!(message.contains("`a\\.git` is not written: a component is taken for `.git`"), "{message}");
}

#[test]
fn a_file_with_a_backslash_in_its_name_is_one_like_others() {
    let fixture = Fixture::of(
        r"mkdir d; for n in 1 2 3 4 5; do
            printf 'a\n%s\nb\n' $([ $n -ge 4 ] && echo broken || echo fine) > 'd/x\y'; echo $n > '\'; commit 'change '$n
        done",
    );
    let report = fixture.report(&[r"grep -q fine 'd/x\y'"]);
    check_found(&report, "change 4");
    assert!(fixture.applies(report.fix.unwrap().patch.as_bytes()));
}

#[test]
fn an_entry_without_a_mode_in_an_old_tree_does_no_harm() {
    let odd = r#"[ $n = 2 ] && { printf '0 x\0'; /bin/echo -ne "$(echo $blob | sed 's/../\\x&/g')"; };"#;
    let fixture = raw_history("100644", odd);
    check_found(&fixture.report(&["grep -q fine state"]), "change 4");
}

#[test]
fn an_entry_without_a_name_in_an_old_tree_leaves_its_revision_unresolved() {
    let odd = r#"[ $n = 3 ] && { printf '100644 \0'; /bin/echo -ne "$(echo $blob | sed 's/../\\x&/g')"; };"#;
    let fixture = raw_history("100644", odd);
    fixture.sh("echo held > held");
    for options in [&[][..], &["--hold", "held", "--path", "state"]] {
        let report = fixture.report(&[options, &["grep -q fine state"]].concat());
        assert_eq!(report.status, Status::Range, "{report:?}");
        let unresolved = report.probes.outcomes["search"].get("unresolved(path)");
        assert!(unresolved.is_some_and(|n| *n > 0), "{report:?}");
    }
}

#[test]
fn a_chain_of_attribute_macros_does_not_exhaust_the_stack() {
    let fixture = Fixture::of(
        "awk 'BEGIN { for (n = 0; n < 20000; n++) printf \"[attr]m%d m%d\\n\", n, n + 1; print \"* m0\" }' > .gitattributes
         for n in 1 2 3 4 5; do [ $n -ge 4 ] && echo broken > state || echo fine > state; echo $n >> log; commit \"change $n\"; done",
    );
    check_found(&fixture.report(&["-j2", "grep -q fine state"]), "change 4");
}

#[test]
fn a_finding_is_told_even_if_its_refs_cannot_be_written() {
    let fixture =
        Fixture::of(&format!("{HISTORY}\n mkdir -p .git/refs/worktree/idd; touch .git/refs/worktree/idd/bad.lock"));
    let report = fixture.report(&["grep -q fine state"]);
    check_found(&report, "change 4");
    assert!(
        report.notes.iter().any(|note| String::from_utf8_lossy(note.as_bytes()).contains("could not be kept as refs"))
    );
    assert_eq!(fixture.report(&["show"]).first_bad, report.first_bad);
}

#[test]
fn a_commit_with_a_damaged_author_is_read_as_git_reads_it() {
    let fixture = Fixture::of(&format!(
        "{HISTORY}
         git cat-file commit HEAD | sed 's/^author .*/author /' > \"$PLACE/commit\"
         git update-ref refs/heads/main $(git hash-object -w --literally -t commit \"$PLACE/commit\")
         git read-tree HEAD; echo 7 >> log; commit 'change 7'",
    ));
    check_found(&fixture.report(&["grep -q fine state"]), "change 4");
}

#[test]
fn a_session_led_from_outside_the_process_namespace_does_no_harm() {
    const NAMESPACE: [&str; 4] = ["unshare", "--pid", "--fork", "--mount-proc"];
    let may = Command::new(NAMESPACE[0]).args(&NAMESPACE[1..]).arg("true").output();
    if !may.is_ok_and(|output| output.status.success()) {
        // Not everybody may make a process namespace; where nobody may, there is nothing to show.
        return;
    }
    let fixture = Fixture::of(HISTORY);
    let hunt = fixture.command(&["--json", "grep -q fine state"]);
    let mut command = Command::new(NAMESPACE[0]);
    command.args(&NAMESPACE[1..]).arg(hunt.get_program()).args(hunt.get_args());
    command.env_clear().envs(hunt.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.current_dir(fixture.repo()).output().unwrap();
    let report = json::read(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", output.stderr.escape_ascii()));
    check_found(&report, "change 4");
}
