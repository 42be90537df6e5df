//! Hunts where the user stands: untracked tests, ignored dependencies, absolute paths, caches, questions to git.

use crate::fixture::Fixture;
use idd_report::{Report, Status, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// `value` is wrong from `change 4` on.
const HISTORY: &str = "
    printf 'kept/\\n*.made\\ncache/\\n' > .gitignore
    for n in 1 2 3 4 5 6 7; do
        echo $n >> log; [ $n -ge 4 ] && echo 2 > value || echo 1 > value
        commit \"change $n\"
    done
";

fn read(output: &std::process::Output) -> Report {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    json::read(&output.stdout).unwrap_or_else(|error| panic!("no report: {error}\n{stderr}"))
}

/// The report with the place, or without.
fn report(fixture: &Fixture, is_in_place: bool, args: &[&str]) -> Report {
    let args = [&["--json"], args].concat();
    let mut command = fixture.command(&args);
    if !is_in_place {
        command.env("IDD_PLACE", "off");
    }
    read(&command.output().unwrap())
}

/// The digest of the user's working tree with all that is ignored.
fn files(fixture: &Fixture) -> String {
    fixture.sh("find . -path ./.git -prune -o -printf '%p %y %m %s %T@ %l\\n' | sort; find . -path ./.git -prune -o -type f -exec cat {} +")
}

/// Finds `change 4` with the place and without, and leaves the user's files as they are; returns the paths that are held.
#[track_caller]
fn check_found(fixture: &Fixture, args: &[&str]) -> Vec<String> {
    let before = (files(fixture), fixture.state());
    let mut all = Vec::new();
    for is_in_place in [true, false] {
        let report = report(fixture, is_in_place, args);
        assert_eq!(report.status, Status::Found, "in place: {is_in_place}: {report:?}");
        assert_eq!(report.first_bad.unwrap().commit.subject, "change 4".into());
        let held = report.held.iter().map(|held| String::from_utf8_lossy(held.path.as_bytes()).into_owned());
        all.push(held.collect::<Vec<_>>());
    }
    assert_eq!(all[0], all[1], "what is held does not depend on the place");
    assert_eq!((files(fixture), fixture.state()), before);
    assert_eq!(fixture.sandboxes_left().len(), 0);
    all.remove(0)
}

#[test]
fn the_environment_is_the_smallest_set_of_files_with_which_the_test_fails_as_it_does() {
    let fixture = Fixture::of(HISTORY);
    // A large directory is shown, a small one is held. None of the others is needed.
    fixture.sh(
        "mkdir -p kept/deep new cache other; seq 700 | while read n; do echo $n > kept/$n; done; echo 1 > kept/deep/wanted
         echo 'cat kept/deep/wanted' > new/want; echo x > a.made; echo x > other/x; echo x > c
         printf '# a cache directory tag created by cargo.\\n' > cache/CACHEDIR.TAG",
    );
    let test =
        "want=$(sh new/want) && [ $(cat value) = \"$want\" ] || { echo \"got $(cat value), wanted $want\"; exit 1; }";
    assert_eq!(check_found(&fixture, &[test]), ["new", "kept"]);
    let (_, said) = fixture.said(&["--no-cache", test], 0);
    assert!(said.contains(" with your files: new, kept (ignored).\n"), "{said}");
    // A test that writes there writes to the checkout.
    let test = format!("echo more > kept/deep/more; rm -f kept/7; echo 5 > kept/5; {test}");
    assert_eq!(check_found(&fixture, &[&test]), ["new", "kept"]);
}

#[test]
fn a_test_can_remove_or_rename_a_large_directory_that_git_ignores() {
    let fixture = Fixture::of(HISTORY);
    let make = "mkdir kept && seq 700 | while read n; do echo $n > kept/$n; done && cat value > kept/built";
    fixture.sh(make);
    let check = "[ $(cat kept/built) = 1 ] || { echo \"got $(cat kept/built)\"; exit 1; }";
    // It cleans before it builds, and a failure of the build is none of the test.
    assert_eq!(check_found(&fixture, &[&format!("rm -rf kept && {make} || exit 125; {check}")]), Vec::<String>::new());
    // A failure of the build would look like one of the test. The directory has to be there.
    let test = format!("mv kept kept.old && {make} && rm -r kept.old && {check}");
    assert_eq!(check_found(&fixture, &[&test]), ["kept"]);
}

#[test]
fn a_directory_that_git_does_not_ignore_is_whole_although_it_ignores_files_in_it() {
    let fixture = Fixture::of(HISTORY);
    // As `python3 -m venv` makes it, with `*.pyc` in `.gitignore`.
    fixture.sh(
        "mkdir -p env/bin env/lib/deep; seq 700 | while read n; do echo $n > env/lib/$n; done; echo 1 > env/lib/deep/wanted
         echo > env/lib/deep/x.made; ln -s lib env/lib64; ln -s /bin/sh env/bin/shell
         printf '#!/bin/sh\\nwant=$(cat env/lib64/deep/wanted); [ $(cat value) = $want ] || { echo wrong; exit 1; }' > env/bin/run; chmod +x env/bin/run",
    );
    let held = |report: Report| report.held.into_iter().map(|held| held.path).collect::<Vec<_>>();
    // The script of a test comes with its directory.
    for test in ["env/bin/run", "env/bin/shell env/bin/run"] {
        let found = report(&fixture, true, &[test]);
        assert_eq!(found.first_bad.as_ref().unwrap().commit.subject, "change 4".into());
        assert_eq!(held(found), [idd_report::Untrusted::from("env")]);
    }
    let test = "env/bin/run";
    // A limit where directories are copied: of the copy, the ignored files stay for the next run, in place of all.
    assert_eq!(report(&fixture, false, &["--no-cache", test]).status, Status::NotReproducible);
    fixture.sh("rm env/lib/deep/x.made");
    assert_eq!(report(&fixture, false, &["--no-cache", test]).status, Status::Found);
}

#[test]
fn what_the_first_run_uses_is_the_environment_and_costs_no_further_run() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir new; echo 1 > new/want; echo 1 > c; echo old > a.made");
    let runs = fixture.place().join("runs");
    // What the test makes is its product, although it looks at the file first.
    let test = format!(
        "wc -l < log >> {}; [ -e a.made ] && rm a.made; cp value a.made
         [ $(cat a.made) = $(cat new/want) ] || {{ echo wrong; exit 1; }}",
        runs.display()
    );
    assert_eq!(check_found(&fixture, &["-j1", "--until", "commit", "--good", "HEAD~6", &test]), ["new"]);
    let seen = fs::read_to_string(runs).unwrap();
    let seen: Vec<&str> = seen.split_whitespace().collect();
    assert_eq!(seen[..3], ["7", "7", "4"]);
    // Others passed, so the revision that was given as good need not be tested.
    assert!(!seen.contains(&"1"), "{seen:?}");
}

#[test]
fn files_that_one_configuration_has_made_stay_together() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("echo 1 > a.made; echo tool > b.made; echo 1 > c");
    let test = "[ $(cat value) = $(cat a.made) ] || { echo wrong; exit 1; }";
    assert_eq!(check_found(&fixture, &[test]), ["a.made", "b.made"]);
}

#[test]
fn a_program_that_only_the_working_tree_has_is_needed_although_the_line_of_the_failure_is_the_same() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir -p kept/sub; printf '#!/bin/sh\\ncat value\\n' > kept/sub/prog; chmod +x kept/sub/prog; echo > kept/CMakeCache.txt");
    let test = "got=$(./kept/sub/prog); [ \"$got\" = 1 ] || { echo FAIL: value; echo \"got $got\"; exit 1; }";
    let (_, said) = fixture.said(&["--no-cache", test], 0);
    assert!(
        said.contains(
            " with your files: kept (ignored).\nEvery revision is tested with your `kept`, which git ignores."
        ),
        "{said}"
    );
    assert_eq!(check_found(&fixture, &[test]), ["kept"]);
}

#[test]
fn a_directory_that_is_only_listed_is_found_by_halves() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir listed; touch listed/1; echo 1 > c; echo 2 > d");
    let test = "[ $(cat value) = \"$(ls listed)\" ] || { echo got $(cat value), wanted $(ls listed); exit 1; }";
    assert_eq!(check_found(&fixture, &[test]), ["listed"]);
    let (_, said) = fixture.said(&["--no-cache", test], 0);
    assert_eq!(said.matches("Reproducing the failure").count(), 1, "{said}");
}

/// Without the untracked file the test fails at HEAD with the same line, and since an older commit.
#[test]
fn a_first_bad_commit_that_passes_with_all_files_is_not_the_answer() {
    let fixture = Fixture::of(
        "mkdir cases; echo > cases/a
         for n in 1 2 3 4 5 6; do
             [ $n -ge 2 ] && echo 2 > need || echo 1 > need
             [ $n -ge 4 ] && echo 2 > value || echo 1 > value
             echo $n > log; commit \"change $n\"
         done",
    );
    fixture.sh("echo > cases/mine; echo 1 > unused");
    let test = "[ $(ls cases | wc -l) -ge $(cat need) ] && grep -qx 1 value || { echo wrong; exit 1; }";
    assert_eq!(check_found(&fixture, &[test]), ["cases/mine", "unused"]);
    let (_, said) = fixture.said(&["--no-cache", test], 0);
    assert!(said.contains(" passed with them: the hunt starts again with all of them.\n"), "{said}");
}

#[test]
fn modes_and_empty_directories_are_as_in_the_working_tree() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("echo k > key; chmod 600 key; mkdir out; mkdir -m 700 kept; echo 1 > kept/want; echo 1 > c");
    let test = "[ -d out ] && [ $(stat -c %a key kept | tr -d '\n') = 600700 ] || { echo other; exit 3; }
                [ $(cat value) = $(cat kept/want) ] || { echo wrong; exit 1; }";
    assert_eq!(check_found(&fixture, &[test]), ["key", "out", "kept"]);
}

#[test]
fn elsewhere_no_test_changes_the_working_tree_by_its_path() {
    let fixture = Fixture::of(HISTORY);
    let top = fixture.repo().display().to_string();
    let before = (files(&fixture), fixture.state());
    for line in [
        "ln -s x $TOP/link",
        "ln log $TOP/hard",
        "mkfifo $TOP/pipe",
        "chmod 600 $TOP/value",
        "touch -d @1 $TOP/value",
        "mv log $TOP/moved",
        "echo more >> $TOP/log",
    ] {
        let test = format!("{}; grep -qx 1 value || {{ echo wrong; exit 1; }}", line.replace("$TOP", &top));
        let stopped = report(&fixture, false, &["--no-cache", &test]);
        assert_eq!(stopped.status, Status::NothingTestable, "{line}: {stopped:?}");
        let message = String::from_utf8_lossy(stopped.error.unwrap().message.as_bytes()).into_owned();
        assert!(message.starts_with("the test was about to change `"), "{line}: {message}");
        assert_eq!((files(&fixture), fixture.state()), before, "{line}");
    }
}

#[test]
fn what_git_makes_in_a_probe_is_gone_in_the_next_one() {
    let fixture = Fixture::of(HISTORY);
    fixture.git(&["tag", "mine"]);
    let test = "git tag other && git branch more && git tag -d mine >/dev/null || { echo there; exit 3; }
                grep -qx 1 value || { echo wrong; exit 1; }";
    assert_eq!(check_found(&fixture, &[test]), Vec::<String>::new());
}

#[test]
fn a_hunt_whose_files_are_gone_is_not_resumed_without_them() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("echo 1 > new");
    let test = "[ $(cat value) = $(cat new) ] || { echo wrong; exit 1; }";
    fixture.said(&["--max-probes", "3", test], 6);
    fixture.sh("mv new \"$PLACE\"");
    let (_, said) = fixture.said(&["resume"], 1);
    assert!(said.contains("error: the hunt needs `new` of your working tree, which is gone"), "{said}");
    fixture.sh("mv \"$PLACE/new\" .");
    let (found, _) = fixture.said(&["resume", "--max-probes", "1000"], 0);
    assert!(found.contains("change 4"), "{found}");
}

#[test]
fn a_test_that_needs_no_untracked_file_is_hunted_without_any() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("echo 1 > new; echo 1 > x.made");
    assert_eq!(check_found(&fixture, &["grep -qx 1 value || { echo wrong; exit 1; }"]), Vec::<String>::new());
}

#[test]
fn a_test_finds_the_checkout_at_the_path_of_the_working_tree() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir \"$PLACE/tools\"; printf 'cd \"%s\" && grep -qx 1 value || { echo wrong; exit 1; }' \"$PWD\" > \"$PLACE/tools/try\"");
    let before = (files(&fixture), fixture.state());
    for test in ["sh ../tools/try", "echo dirt > \"$OLDPWD_TOP/log\"; sh ../tools/try"] {
        let test = test.replace("$OLDPWD_TOP", &fixture.repo().display().to_string());
        let found = report(&fixture, true, &[&test]);
        assert_eq!(found.status, Status::Found, "{found:?}");
        assert_eq!(found.first_bad.unwrap().commit.subject, "change 4".into());
    }
    let shown = fixture.command(&["--until", "commit", "echo \"in $PWD.\"; grep -qx 1 value"]).output().unwrap();
    // Without a slash at its end.
    let said = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(said.contains("`in <worktree>.`"), "{said}");
    // From a subdirectory, and by another name of the directory.
    fixture.sh("ln -s \"$PWD\" \"$PLACE/link\"");
    let mut command = fixture.command(&["--json", "--no-cache", "sh ../tools/try"]);
    let found = read(&command.current_dir(fixture.place().join("link")).output().unwrap());
    assert_eq!(found.status, Status::Found, "{found:?}");
    assert_eq!((files(&fixture), fixture.state()), before);
    // Elsewhere, a checkout has other neighbours, and every revision would be tested with the files of the user.
    let refused = report(&fixture, false, &["--no-cache", "sh ../tools/try"]);
    assert_eq!(refused.status, Status::Usage);
    let message = String::from_utf8_lossy(refused.error.unwrap().message.as_bytes()).into_owned();
    assert!(message.starts_with("the test names `../tools/try`"), "{message}");
    let stopped = report(
        &fixture,
        false,
        &["--no-cache", "sh $PLACE/tools/try".replace("$PLACE", &fixture.place().display().to_string()).as_str()],
    );
    assert_eq!(stopped.status, Status::NothingTestable, "{stopped:?}");
    let message = String::from_utf8_lossy(stopped.error.unwrap().message.as_bytes()).into_owned();
    assert!(message.starts_with("the test reads `value` of the working tree `"), "{message}");
}

#[test]
fn an_installation_that_leads_to_the_working_tree_is_named() {
    let fixture =
        Fixture::of("mkdir src; for n in 1 2 3; do echo \"value = $n\" > src/pk.py; commit \"change $n\"; done");
    fixture.sh("mkdir \"$PLACE/site\"; echo \"$PWD/src\" > \"$PLACE/site/__editable__.pk.pth\"");
    let script = "import site, sys; site.addsitedir(sys.argv[1]); import pk; assert pk.value < 2, pk.value";
    let site = fixture.place().join("site");
    let test = ["python3", "-c", script, site.to_str().unwrap()];
    let found = report(&fixture, true, &[&["--"], &test[..]].concat());
    assert_eq!(found.first_bad.unwrap().commit.subject, "change 2".into());
    let stopped = report(&fixture, false, &[&["--no-cache", "--"], &test[..]].concat());
    assert_eq!(stopped.status, Status::NothingTestable);
    let message = String::from_utf8_lossy(stopped.error.unwrap().message.as_bytes()).into_owned();
    assert!(message.contains("`src/pk.py`") && message.contains("__editable__.pk.pth"), "{message}");
}

#[test]
fn a_cache_of_a_build_tool_is_seen_by_the_search_and_by_no_claim() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir cache; printf '# a cache directory tag created by cargo.\\n' > cache/CACHEDIR.TAG; echo warm > cache/state");
    let log = fixture.place().join("seen");
    let line = format!(
        "cat cache/state >> {0} 2>/dev/null || echo cold >> {0}; grep -qx 1 value || {{ echo wrong; exit 1; }}",
        log.display()
    );
    let found = report(&fixture, true, &["--until", "commit", &line]);
    assert_eq!(found.status, Status::Found, "{found:?}");
    let seen = fs::read_to_string(&log).unwrap();
    let n_cold = seen.lines().filter(|line| *line == "cold").count() as u64;
    assert_eq!((n_cold, seen.lines().count() as u64), (found.probes.verify, found.probes.run), "{seen}");
    assert!(found.probes.verify > 0 && found.probes.search > 0);
}

#[test]
fn a_file_that_the_command_names_is_there_although_the_failure_is_the_same_without_it() {
    let fixture = Fixture::of("
        printf 'cat \"$1\" || exit 1\n' > run.sh; commit start; for n in 1 2 3; do echo $n > log; commit \"change $n\"; done
        printf 'cat $1 || exit 1\n' > run.sh; commit 'the quotes'; for n in 4 5; do echo $n > log; commit \"change $n\"; done");
    fixture.sh("mkdir 'my specs'; echo 1 > 'my specs/a'");
    for test in ["sh run.sh 'my specs/a' || exit 1", "env sh run.sh 'my specs/a'"] {
        let found = report(&fixture, true, &["--no-cache", "--until", "commit", test]);
        assert_eq!(found.first_bad.map(|bad| bad.commit.subject), Some("the quotes".into()), "{test}");
    }
}

#[test]
fn a_program_that_is_tested_with_a_file_of_the_user_is_released_and_the_file_is_not() {
    let fixture = Fixture::of(
        "
        printf '#!/bin/sh\ncat \"$1\" >/dev/null || exit 1\n' > prog; chmod +x prog; commit start
        for n in 1 2 3 4; do echo $n > log; commit \"change $n\"; done
        printf '#!/bin/sh\ncat \"$1\" >/dev/null && echo wrong\nexit 1\n' > prog; commit 'break it'
        for n in 4 5; do echo $n > log; commit \"change $n\"; done",
    );
    fixture.sh("echo 1 > spec");
    let found = report(&fixture, true, &["--until", "commit", "--", "./prog", "spec"]);
    assert_eq!(found.first_bad.map(|bad| bad.commit.subject), Some("break it".into()), "{:?}", found.notes);
}

#[test]
fn a_fix_is_tested_with_the_cache_of_the_user_also_behind_fresh_builds() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir cache; printf '# a cache directory tag created by cargo.\\n' > cache/CACHEDIR.TAG; echo warm > cache/state");
    let log = fixture.place().join("seen");
    let line = format!(
        "mkdir -p cache; [ -f cache/state ] || echo cold > cache/state; echo $(cat value cache/state) >> {}
         grep -qx 1 value || {{ echo wrong; exit 1; }}",
        log.display()
    );
    let found = report(&fixture, true, &["--jobs", "1", &line]);
    assert_eq!(found.status, Status::Found, "{found:?}");
    let seen = fs::read_to_string(&log).unwrap();
    let (proved, fixed) = (seen.find("1 cold"), seen.rfind("1 warm"));
    assert!(proved.is_some() && proved < fixed, "{seen}");
}

#[test]
fn git_answers_of_the_tested_revision() {
    let script = "
        printf 'v=$(git describe --tags --abbrev=0 --dirty)\\ncase $v in v1.*) ;; *) echo \"unsupported $v\"; exit 1;; esac\\n' > check.sh
        commit start; git tag v1.0; for n in 1 2 3; do echo $n > log; commit \"change $n\"; done
        git tag v1.1; commit same; echo 2 > major; commit 'the release'; git tag v2.0
        for n in 4 5 6; do echo $n > log; commit \"change $n\"; done";
    for is_in_place in [true, false] {
        let fixture = Fixture::of(script);
        let found = report(&fixture, is_in_place, &["sh", "check.sh"]);
        assert_eq!(found.first_bad.unwrap().commit.subject, "the release".into());
        // Untracked files of the user are untracked in the checkout: what git describes is not dirty.
        fixture.sh("echo 1 > limit");
        let test = "[ $(git log --oneline | wc -l) -le 5 ] && [ -f limit ] || { echo \"$(cat limit)\"; git status --porcelain; exit 1; }";
        let found = report(&fixture, is_in_place, &["--until", "commit", test]);
        assert_eq!(found.first_bad.unwrap().commit.subject, "the release".into());
        let seen = String::from_utf8_lossy(&fixture.run(&["log", "HEAD"]).stdout).into_owned();
        assert!(seen.contains("?? limit"), "{seen}");
    }
}

#[test]
fn no_revision_is_tested_again_because_its_test_asked_git() {
    let fixture = Fixture::of(
        "printf 'cat n >> \"$1\"; [ $(cat n) -ge 6 ] || git rev-parse HEAD > id; [ $(cat n) -lt 5 ] || { echo wrong; exit 1; }\\n' > test.sh
         for n in 1 2 3 4 5 6 7 8 9; do echo $n > n; commit \"number $n\"; done",
    );
    let seen = fixture.place().join("seen");
    for is_first in [true, false] {
        fs::write(&seen, "").unwrap();
        let found = report(&fixture, true, &["--until", "found", "sh", "test.sh", seen.to_str().unwrap()]);
        assert_eq!(found.first_bad.unwrap().commit.subject, "number 5".into());
        let mut tested: Vec<u32> =
            fs::read_to_string(&seen).unwrap().lines().map(|line| line.parse().unwrap()).filter(|n| *n < 9).collect();
        tested.sort_unstable();
        let n_tested = tested.len();
        tested.dedup();
        assert_eq!((n_tested > 0, tested.len()), (is_first, n_tested), "{tested:?}");
    }
}

#[test]
fn replaced_history_is_searched() {
    let fixture = Fixture::of(
        "for n in 1 2 3 4; do echo $n > value; commit \"old $n\"; done; old=$(git rev-parse HEAD)
         git checkout -q --orphan new; commit import; import=$(git rev-parse HEAD)
         for n in 1 2 3; do echo $n > log; commit \"new $n\"; done; git replace --graft $import $old",
    );
    let found =
        fixture.report(&["--until", "commit", "[ $(cat value) -lt 3 ] || { echo \"it is $(cat value)\"; exit 1; }"]);
    assert_eq!(found.first_bad.unwrap().commit.subject, "old 3".into());
}

#[test]
fn the_place_is_that_of_each_working_tree_and_of_every_user() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("git worktree add -q --detach \"$PLACE/linked\" HEAD; mkdir sub; echo x > sub/file");
    let test = "[ \"$IDD_WORKTREE\" = \"$(git rev-parse --show-toplevel)\" ] && grep -qx 1 \"$IDD_WORKTREE/value\" || { echo wrong; exit 1; }";
    for (directory, top) in [("linked", "linked"), ("repo", "repo")] {
        let line = format!("{test}; [ \"$IDD_WORKTREE\" = '{}' ] || exit 125", fixture.place().join(top).display());
        let mut command = fixture.command(&["--json", "--until", "commit", &line]);
        let found = read(&command.current_dir(fixture.place().join(directory)).output().unwrap());
        assert_eq!(found.first_bad.expect("it is found").commit.subject, "change 4".into(), "{directory}");
    }
    // A user without rights needs a user namespace.
    if rustix::process::geteuid().is_root() {
        fixture.sh("chown -R nobody . ../home ../tmp; chmod 755 ..");
        let program = env!("CARGO_BIN_EXE_git-idd");
        let line = format!("HOME={0}/home TMPDIR={0}/tmp {program} doctor", fixture.place().display());
        let output =
            Command::new("su").args(["-s", "/bin/sh", "nobody", "-c", &line]).current_dir(fixture.repo()).output();
        let said = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(said.is_empty() || said.contains("place:       probes see their checkout at "), "{said}");
    }
}

#[test]
fn a_test_can_do_its_worst_to_the_place() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir kept; seq 700 | while read n; do echo $n > kept/$n; done");
    let needs = "[ -f kept/9 ] && grep -qx 1 value; code=$?";
    for mischief in [
        "rm -rf \"$IDD_WORKTREE\"/* \"$IDD_WORKTREE\"/.git 2>/dev/null",
        "git=$(dirname \"$TMPDIR\")/git; rm -rf \"$git\"/refs \"$git\"/HEAD \"$git\"/config \"$git\"/objects 2>/dev/null; echo x > \"$git/config\"",
        "umount -l \"$IDD_WORKTREE\" 2>/dev/null",
        "umount -l \"$IDD_WORKTREE/kept\" 2>/dev/null; rm -rf kept",
        "cd / && mount --bind /tmp \"$IDD_WORKTREE\" 2>/dev/null",
        "mkdir -p kept/a/b; chmod 000 kept/a; chmod 000 kept",
        "rmdir \"$IDD_WORKTREE\" 2>/dev/null; mv \"$IDD_WORKTREE\" \"$IDD_WORKTREE.moved\" 2>/dev/null",
    ] {
        let before = (files(&fixture), fixture.state());
        let line = format!("{needs}; [ $code = 0 ] || echo wrong; {mischief}; exit $code");
        let found = report(&fixture, true, &["--no-cache", &line]);
        assert_eq!(found.status, Status::Found, "{mischief}: {found:?}");
        assert_eq!(found.first_bad.unwrap().commit.subject, "change 4".into(), "{mischief}");
        assert_eq!((files(&fixture), fixture.state()), before, "{mischief}");
        assert_eq!(fixture.sandboxes_left().len(), 0, "{mischief}");
    }
}

/// The mounts that this process sees below a directory.
fn mounts(place: &Path) -> Vec<String> {
    let all = fs::read_to_string("/proc/self/mountinfo").unwrap();
    all.lines().filter(|line| line.contains(place.to_str().unwrap())).map(str::to_owned).collect()
}

#[test]
fn nothing_stays_mounted_when_a_hunt_is_killed() {
    let fixture = Fixture::of(HISTORY);
    let before = files(&fixture);
    let mark = fixture.place().join("begun");
    for _ in 0..3 {
        let line = format!("touch {}; exec sleep 1000", mark.display());
        let mut hunt = fixture.command(&["--no-cache", &line]).spawn().unwrap();
        let begin = Instant::now();
        while !mark.exists() {
            assert!(begin.elapsed() < Duration::from_secs(600), "the test does not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
        hunt.kill().unwrap();
        hunt.wait().unwrap();
        fs::remove_file(&mark).unwrap();
        assert_eq!(mounts(fixture.place()), Vec::<String>::new());
        assert_eq!(files(&fixture), before);
    }
    check_found(&fixture, &["grep -qx 1 value || { echo wrong; exit 1; }"]);
}

#[test]
fn what_is_not_tested_is_said_first() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("echo 9 >> log");
    let (_, said) = fixture.said(&["grep -qx 1 value || { echo wrong; exit 1; }"], 0);
    assert!(said.starts_with("Not tested: your uncommitted changes in `log`.\n"), "{said}");
}

/// A test that some revision has, and that the user edits or adds without a commit.
const EDITED: &str = "
    mkdir tests; echo true > tests/cases
    for n in 1 2 3 4 5 6 7; do
        echo $n > log; [ $n -ge 4 ] && echo 2 > value || echo 1 > value
        commit \"change $n\"
    done
";

#[test]
fn a_test_that_was_edited_is_tested_in_each_revision_if_the_failure_needs_it() {
    let fixture = Fixture::of(EDITED);
    fixture.sh("echo '[ $(cat value) = 1 ] || { echo \"value is $(cat value)\"; exit 1; }' >> tests/cases");
    // An untracked file that the test uses, and one that it does not use.
    fixture.sh("echo 'echo ok' > helper; echo x > unused; echo 9 > log");
    let test = &["sh", "-e", "-c", "sh ./helper; . ./tests/cases"];
    assert_eq!(check_found(&fixture, test), ["helper", "tests/cases"]);
    let (_, said) = fixture.said(&[&["--no-cache"][..], test].concat(), 0);
    assert!(said.starts_with("Not tested: your uncommitted changes in `log`.\n"), "{said}");
    assert!(said.contains(" with your files: helper, tests/cases (edited).\n"), "{said}");
    // A hunt goes on with them if they were committed meanwhile.
    fixture.said(&[&["--no-cache", "--max-probes", "4"][..], test].concat(), 6);
    fixture.sh("git add helper tests; git commit -qm test");
    let (found, _) = fixture.said(&["resume", "--max-probes", "1000"], 0);
    assert!(found.contains("change 4"), "{found}");
    // A new one that git was told of.
    fixture.sh("git reset -q --soft HEAD^; git mv tests/cases tests/more; git add tests; git rm -q -f helper");
    assert_eq!(check_found(&fixture, &["sh", "-e", "tests/more"]), ["tests/more"]);
}

#[test]
fn an_edit_that_git_was_told_not_to_see_is_tested() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let fixture = Fixture::of(EDITED);
        fixture.sh(&format!("git update-index {flag} tests/cases"));
        fixture.sh("echo '[ $(cat value) = 1 ] || { echo \"value is $(cat value)\"; exit 1; }' >> tests/cases");
        assert_eq!(check_found(&fixture, &["sh -e tests/cases"]), ["tests/cases"], "{flag}");
    }
}

#[test]
fn a_target_that_was_added_to_the_build_is_tested_in_each_revision() {
    let fixture = Fixture::of(&format!("printf 'all:\\n' > Makefile; {EDITED}"));
    fixture.sh("printf 'check:\\n\\t@grep -qx 1 value || { echo wrong; exit 1; }\\n' >> Makefile");
    assert_eq!(check_found(&fixture, &["make", "check"]), ["Makefile"]);
}

#[test]
fn an_edit_of_the_setup_that_alone_makes_the_test_fail_is_named_and_not_hunted() {
    for more in ["", "echo x > new; "] {
        let fixture = Fixture::of(
            "printf 'check:\\n\\t@grep -q 1 value\\n' > Makefile; echo 1 > value; commit first; for n in 1 2 3; do echo $n > log; commit \"change $n\"; done",
        );
        fixture.sh(&format!("{more}printf 'check:\\n\\t@echo wrong; exit 1\\n' > Makefile"));
        let (found, said) = fixture.said(&["make", "check"], 3);
        assert!(
            said.contains("The test passes without your uncommitted changes in `Makefile`, so they are not tested.\n"),
            "{said}"
        );
        assert!(found.contains("The test passes at the bad revision"), "{found}");
        assert!(found.contains("Makefile"), "{found}");
    }
}

#[test]
fn a_program_behind_a_link_that_git_ignores_is_run_with_what_is_beside_it() {
    let fixture = Fixture::of(&format!(
        "{HISTORY} mkdir -p ../away/bin; printf '#!/bin/sh\\n. \"$(dirname \"$0\")/part\"\\n' > ../away/bin/run; chmod +x ../away/bin/run"
    ));
    fixture.sh("echo 'grep -qx 1 value || { echo wrong; exit 1; }' > ../away/bin/part; printf 'linked\\n' >> .gitignore; git commit -qam ignore; ln -s \"$(cd ..; pwd)/away\" linked");
    assert_eq!(check_found(&fixture, &["linked/bin/run"]), ["linked"]);
}

#[test]
fn what_was_built_with_an_edit_says_nothing_of_a_run_without_it() {
    let fixture = Fixture::of(
        "printf 'prog: src\\n\\tcp src prog\\n' > Makefile; echo prog > .gitignore; echo x > src; commit first; for n in 1 2 3; do echo $n > log; commit \"change $n\"; done",
    );
    fixture.sh("printf 'prog: src\\n\\techo bad > prog\\n' > Makefile");
    let (_, said) = fixture.said(&["make -s && ! grep bad prog"], 3);
    assert!(
        said.contains("The test passes without your uncommitted changes in `Makefile`, so they are not tested.\n"),
        "{said}"
    );
}

#[test]
fn what_the_user_has_replaces_a_file_where_it_needs_a_directory() {
    // `checks` was a file in old revisions, and was a directory before.
    let fixture = Fixture::of(
        "mkdir checks; echo x > checks/old
         for n in 1 2 3 4 5 6 7; do
             [ $n = 2 ] && { rm -r checks; echo notes > checks; }; [ $n = 6 ] && rm checks
             echo $n > log; [ $n -ge 4 ] && echo 2 > value || echo 1 > value
             commit \"change $n\"
         done",
    );
    fixture.sh("mkdir checks; echo 'grep -qx 1 value || { echo wrong; exit 1; }' > checks/run");
    let report = report(&fixture, true, &["sh checks/run"]);
    assert_eq!((report.status, report.first_bad.unwrap().commit.subject), (Status::Found, "change 4".into()));
    // A directory of the user in the place of a tracked file.
    fixture.sh("rm -r checks; echo x > checks; git add checks; git commit -qm 'A file again'; rm checks; mkdir checks");
    fixture.sh("echo 'grep -qx 1 value || { echo wrong; exit 1; }' > checks/run");
    assert_eq!(check_found(&fixture, &["sh checks/run"]), ["checks/run"]);
}

#[test]
fn an_edited_test_that_makes_no_difference_is_not_tested() {
    let fixture = Fixture::of(EDITED);
    fixture.sh("echo '# a note' >> tests/cases");
    let test = &["sh", "-e", "-c", ". ./tests/cases; grep -qx 1 value || { echo wrong; exit 1; }"];
    assert_eq!(check_found(&fixture, test), [""; 0]);
    let (_, said) = fixture.said(&[&["--no-cache"][..], test].concat(), 0);
    let note = "Not tested: your uncommitted changes in `tests/cases`; the test ends in the same way without them.\n";
    assert!(said.contains(note), "{said}");
}

#[test]
fn a_failure_inside_of_a_script_is_one_whatever_its_exit_code_is() {
    let fixture = Fixture::of(
        "printf '#!/bin/sh\\n' > tool; chmod +x tool; echo ./tool > test.sh; commit start; commit more
         chmod -x tool; commit 'take the right away'; for n in 1 2 3; do echo $n > log; commit \"change $n\"; done",
    );
    for args in [&["--until", "commit", "--", "sh", "./test.sh"][..], &["--until", "commit", "sh ./test.sh"]] {
        let found = fixture.report(args);
        assert_eq!(found.first_bad.expect("it is found").commit.subject, "take the right away".into());
    }
}

#[test]
fn a_line_that_is_none_for_sh_is_refused_before_any_search() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("mkdir env; echo 'export READY=1' > env/act; commit last");
    let check = |args: &[&str], code: i32, expected: &str| {
        let (_, said) = fixture.said(args, code);
        assert!(said.contains(expected) && !said.contains("Reproduced"), "{args:?}: {said}");
    };
    check(&["source env/act && grep -qx 1 value"], 1, "`git idd -- bash -c 'source env/act && grep -qx 1 value'`");
    fixture.sh("mkdir kept; echo 'export READY=1' > kept/act");
    check(&["source kept/act && grep -qx 1 value"], 1, "`git idd -- bash -c 'source kept/act && grep -qx 1 value'`");
    check(&["grep -qx 1 value |& cat"], 1, "`git idd -- bash -c 'grep -qx 1 value |& cat'`");
    check(&["mytest"], 1, "functions and aliases of your shell do not exist for the test");
    check(&["--", "cd", ".", "&&", "sh", "t"], 129, "quote the whole line: `git idd 'cd . && sh t'`");
}

#[test]
fn only_what_differs_is_built_again_beside_products_of_the_user() {
    let fixture = Fixture::of(
        "printf 'kept/\\n' > .gitignore; mkdir src; for n in 1 2 3 4 5 6; do echo $n > src/$n; done
         printf 'kept/%%: src/%%\\n\\techo $* >> $(LOG); cp $< $@\\nall: $(patsubst src/%%,kept/%%,$(wildcard src/*))\\n' > Makefile
         for n in 1 2 3 4 5 6 7; do echo $n >> log; [ $n -ge 4 ] && echo wrong > src/3 || echo right > src/3; commit \"change $n\"; done",
    );
    // The time of a file counts only if the index was written later.
    fixture.sh("mkdir kept; make -s all LOG=/dev/null; find . -path ./.git -prune -o -exec touch -h -d '-1 hour' {} +; touch -d '-30 minutes' kept/*; git status -s >/dev/null");
    let log = fixture.place().join("built");
    let line = format!(
        "[ -d kept ] && make -s all LOG={} && grep -qx right kept/3 || {{ echo wrong; exit 1; }}",
        log.display()
    );
    let found = report(&fixture, true, &["--until", "commit", "-j1", &line]);
    assert_eq!(found.first_bad.unwrap().commit.subject, "change 4".into());
    let built = fs::read_to_string(&log).unwrap();
    let n_whole = built.lines().filter(|name| *name == "5").count() as u64;
    assert!(n_whole <= found.probes.verify, "only claims build everything: {built}");
}

#[test]
fn a_service_that_does_not_see_the_place_is_given_a_checkout_elsewhere() {
    let fixture = Fixture::of(HISTORY);
    // Stands for a client whose service has a file system of its own.
    fixture.sh("mkdir \"$PLACE/bin\"; printf '#!/bin/sh\\ncat \"$1/value\"\\n' > \"$PLACE/bin/docker\"; chmod +x \"$PLACE/bin/docker\"");
    let path = format!("{}:{}", fixture.place().join("bin").display(), std::env::var("PATH").unwrap());
    let line = "[ \"$(docker \"$PWD\")\" = 1 ] || { echo wrong; exit 1; }; case $PWD in */tree | */tree/) ;; *) echo 'in place'; exit 3;; esac";
    let output = fixture.command(&["--until", "commit", line]).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`docker` works in a service that cannot see a checkout"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("    change 4\n"), "{said}");
}

#[test]
fn doctor_disturbs_no_hunt_and_leaves_nothing() {
    let fixture = Fixture::of(HISTORY);
    let [mark, go] = ["mark", "go"].map(|name| fixture.place().join(name));
    let line = format!(
        "touch {}; until [ -e {} ]; do sleep 0.01; done; grep -qx 1 value || {{ echo wrong; exit 1; }}",
        mark.display(),
        go.display()
    );
    let mut command = fixture.command(&["--json", "--until", "commit", &line]);
    let hunt = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while !mark.exists() {
        assert!(begin.elapsed() < Duration::from_secs(600), "the test does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let before = fixture.sandboxes_left();
    let (said, _) = fixture.said(&["doctor"], 0);
    assert!(said.starts_with("place:       probes see their checkout "), "{said}");
    assert_eq!(fixture.sandboxes_left(), before);
    fs::write(&go, "").unwrap();
    assert_eq!(read(&hunt.wait_with_output().unwrap()).status, Status::Found);
}

#[test]
fn a_version_of_git_in_the_failing_line_does_not_matter() {
    let fixture = Fixture::of(
        "printf 'v=$(git describe --tags --always)\\nn=$(cat n)\\n[ $n -lt 5 ] || { echo \"$v $(git rev-parse HEAD): n is $n\"; exit 1; }\\n' > test.sh
         echo 1 > n; commit start; git tag v0.9; for n in 1 2 3 4; do echo $n > log; commit \"note $n\"; done
         echo 9 > n; commit 'the culprit'; for n in 5 6 7 8; do echo $n > log; commit \"note $n\"; done",
    );
    let found = fixture.report(&["sh", "test.sh"]);
    assert_eq!(found.status, Status::Found, "{found:?}");
    assert_eq!(found.first_bad.unwrap().commit.subject, "the culprit".into());
    assert_eq!(found.change.sufficient.unwrap().lines, 2);
    assert!(found.probes.run <= 30, "{:?}", found.probes);
    assert_eq!(found.probes.repair, 0);
    let line = found.signature.unwrap().line.unwrap();
    assert_eq!(String::from_utf8_lossy(line.as_bytes()), "v0.9-9-g<commit> <commit>: n is 9");
}

/// The environment of a hunt is that of its explanation, and recordings and measurements have the place, too.
#[test]
fn explanations_recordings_and_measurements_see_what_a_hunt_sees() {
    let fixture = Fixture::of(
        "printf 'p\\n*.made\\n' > .gitignore
         printf 'p: p.c\\n\\t/usr/bin/cc -g -o p p.c\\n' > Makefile
         for n in 1 2 3 4; do
             [ $n -ge 3 ] && by=7 || by=1
             printf '#include <stdio.h>\\nint main(int argc, char **argv)\\n{\\n    int sum = argc * %s;\\n    printf(\"%%s\\\\n\", argv[1]);\\n    return sum > 5;\\n}\\n' $by > p.c
             echo $n > log; commit \"change $n\"
         done",
    );
    let repo = fixture.repo().display().to_string();
    // The build leads to the working tree by its path, and the test needs an ignored and an untracked file.
    fixture.sh("echo word > want.made; printf 'cd \"%s\" && exec ./p $(cat want.made)\\n' \"$PWD\" > try.sh");
    let build = format!("make -C {repo}");
    let before = (files(&fixture), fixture.state());
    fixture.said(&["--build", &build, "sh try.sh"], 0);
    let report: Report = json::read(&fixture.run(&["show", "--json"]).stdout).unwrap();
    let held: Vec<_> = report.held.iter().map(|held| (held.path.as_bytes(), held.beside)).collect();
    assert_eq!((report.in_place, &held[..]), (Some(true), &[(&b"try.sh"[..], false), (b"want.made", true)][..]));
    let (certificate, _) = fixture.said(&["report", "--format", "certificate"], 0);
    let file = fixture.place().join("certificate.json");
    fs::write(&file, certificate).unwrap();
    fixture.said(&["verify", "--yes", file.to_str().unwrap()], 0);
    assert_eq!((files(&fixture), fixture.state()), before);
    fixture.sh("mv want.made \"$PLACE\"");
    let (lacking, _) = fixture.said(&["verify", "--yes", file.to_str().unwrap()], 5);
    assert!(lacking.contains("The commands need `want.made`, which this working tree does not have."), "{lacking}");
    fixture.sh("mv \"$PLACE/want.made\" .");
    let before = (files(&fixture), fixture.state());
    let (chain, _) = fixture.said(&["explain"], 0);
    assert!(chain.contains("sum") && chain.contains("p.c:4"), "{chain}");
    let (_, recorded) =
        fixture.said(&["record", "--build", &build, "--", "sh", "-c", &format!("{repo}/p; sh try.sh")], 0);
    assert!(recorded.contains("Held as in the working tree: `try.sh`."), "{recorded}");
    let slower = format!("cd {repo} && ./p x; [ $(cat log) -lt 3 ] || sleep 0.05");
    let slow = fixture.report(&["--perf", &slower, "--measure", "time", "--build", &build, "--good", "HEAD~3"]);
    assert_eq!(slow.first_bad.unwrap().commit.subject, "change 3".into());
    assert_eq!((files(&fixture), fixture.state()), before);
}

#[test]
fn the_output_of_the_hunt_itself_is_no_file_that_the_test_needs() {
    let fixture = Fixture::of(HISTORY);
    let output = fs::File::create(fixture.repo().join("output.txt")).unwrap();
    let mut command = fixture.command(&["-j1", "--until", "commit", "--", "cat ./*.txt; grep -q 1 value"]);
    command.stdout(output.try_clone().unwrap()).stderr(output);
    assert!(command.status().unwrap().success());
    let said = fs::read_to_string(fixture.repo().join("output.txt")).unwrap();
    assert!(said.contains("(change 4).\n") && !said.contains("with your files"), "{said}");
}
