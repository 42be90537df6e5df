//! Repositories in other formats than the usual one: they are hunted in all the same.

use crate::fixture::{Fixture, Format};

/// Commands by which a linked worktree of a repository comes to a finding; `say` is what is checked.
const HUNT: &str = r#"
    git tag v1 HEAD~5; git worktree add -q "$PLACE/linked"; cd "$PLACE/linked"
    idd --max-probes 4 --good v1 --bad @ "grep -qx 3 value" 2>"$PLACE/said" && exit 1
    idd resume --max-probes 100 --json >"$PLACE/report"
    [ "$(git for-each-ref refs/worktree | wc -l)" = 4 ]
    [ "$(git log -1 --format=%s refs/worktree/idd/first-bad)" = "change 4" ]
    idd show | grep -F "change 4"; idd list | grep -F "grep -qx 3 value"; idd log | grep "^first bad.*change 4"
    idd log :/change.5 >/dev/null || idd log @~2 >/dev/null
    idd apply; grep -qx 3 value; git checkout -q .
    idd reset; [ -z "$(git for-each-ref refs/worktree)" ]
"#;

#[test]
fn a_linked_worktree_is_hunted_in_whatever_the_format() {
    Format::NEWEST.known().into_iter().for_each(check);
}

fn check(format: Format) {
    let script = "
        seq 1 9 >value; commit 'change 0'
        for n in 1 2 3 4 5 6; do
            echo $n >>log
            [ $n != 4 ] || sed -i 's/^3$/three/' value
            commit \"change $n\"
        done
    ";
    let fixture = Fixture::of_format(format, script);
    let before = fixture.state();
    let idd = format!("idd() {{ {} \"$@\"; }}", env!("CARGO_BIN_EXE_git-idd"));
    fixture.sh(&format!("{idd}\n{HUNT}"));
    fixture.git(&["worktree", "remove", "--force", "../linked"]);
    fixture.git(&["branch", "-D", "linked"]);
    fixture.git(&["tag", "-d", "v1"]);
    assert_eq!(fixture.state(), before);
}
