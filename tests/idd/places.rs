//! Hunts in unusual repositories, with unusual tests, and in unusual surroundings.

use std::fs;
use std::process::{Command, Output, Stdio};

use idd_report::{Report, Status, json};

use crate::fixture::Fixture;

const HISTORY: &str = "
    seq 1 9 > value
    for n in 1 2 3 4 5 6; do
        echo $n >> log
        [ $n = 4 ] && sed -i 's/^3$/three/' value
        commit \"change $n\"
    done
";

const TEST: &str = "grep -qx 3 value";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn report_of(output: &Output) -> Report {
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    json::read(&output.stdout).unwrap_or_else(|error| panic!("no report: {error}, {}\n{stderr}", output.status))
}

/// A hunt that finds `change 4`, and changes nothing of the user's.
#[track_caller]
fn check_found_by(fixture: &Fixture, command: &mut Command) -> Report {
    let before = fixture.state();
    let report = report_of(&command.output().unwrap());
    assert_eq!(report.status, Status::Found, "{report:?}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, "change 4".into());
    assert_eq!(fixture.state(), before);
    assert_eq!(fixture.processes_left(), Vec::<String>::new());
    assert_eq!(fixture.sandboxes_left().len(), 0);
    report
}

#[track_caller]
fn check_found(fixture: &Fixture) -> Report {
    check_found_by(fixture, &mut fixture.command(&["--json", TEST]))
}

/// An error with a hint, the same under `--json`, and nothing changed.
#[track_caller]
fn check_error(fixture: &Fixture, args: &[&str], code: i32, expected: &str) {
    let before = fixture.state();
    let output = fixture.run(args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(expected) && stderr.contains("\nhint: "), "expected {expected:?} in\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    let args: Vec<&str> = ["--json"].into_iter().chain(args.iter().copied()).collect();
    let report = report_of(&fixture.run(&args));
    assert!(text(report.error.unwrap().message.as_bytes()).contains(expected));
    assert_eq!(fixture.state(), before);
    assert_eq!(fixture.sandboxes_left().len(), 0);
}

#[test]
fn a_subdirectory_a_linked_worktree_and_a_bare_repository_are_hunted_in() {
    let fixture = Fixture::of(&format!(
        "mkdir sub; echo x > sub/file\n{HISTORY}\ngit worktree add -q \"$PLACE/linked\"; git clone -q --bare . \"$PLACE/bare.git\""
    ));
    let sub = fixture.repo().join("sub");
    check_found_by(&fixture, fixture.command(&["--json", "grep -qx 3 ../value"]).current_dir(sub));
    for place in ["linked", "bare.git"] {
        let directory = fixture.place().join(place);
        check_found_by(&fixture, fixture.command(&["--json", TEST]).current_dir(&directory));
        let shown = fixture.command(&["show", "--json"]).current_dir(&directory).output().unwrap();
        assert_eq!(report_of(&shown).status, Status::Found, "{place}");
    }
    let apply = fixture.command(&["apply"]).current_dir(fixture.place().join("bare.git")).output().unwrap();
    assert_eq!(apply.status.code(), Some(1));
    assert!(text(&apply.stderr).contains("`apply` in a bare repository"), "{}", text(&apply.stderr));
}

#[test]
fn a_repository_behind_a_path_with_a_line_break_is_hunted_in() {
    let fixture = Fixture::of(&format!("{HISTORY}\nodd=\"$PLACE/a\nb\"; git clone -q . \"$odd\""));
    let odd = fixture.place().join("a\nb");
    check_found_by(&fixture, fixture.command(&["--json", TEST]).current_dir(&odd));
    let applied = fixture.command(&["apply"]).current_dir(&odd).output().unwrap();
    assert_eq!(applied.status.code(), Some(0), "{}", text(&applied.stderr));
}

#[test]
fn a_hunt_from_a_subdirectory_says_where_the_commands_run() {
    let fixture = Fixture::of(&format!("mkdir -p sub/dir; echo x > sub/dir/file\n{HISTORY}"));
    let hunted = |directory: &str| {
        let directory = fixture.repo().join(directory);
        let output = fixture
            .command(&["--no-cache", "grep -qx 3 \"$(git rev-parse --show-cdup)value\""])
            .current_dir(directory)
            .output();
        text(&output.unwrap().stderr)
    };
    let said = "Build and test run in `sub/dir/` of each checkout, because you are in this directory.\n";
    assert!(hunted("sub/dir").contains(said), "{}", hunted("sub/dir"));
    assert!(!hunted("").contains("of each checkout"), "{}", hunted(""));
}

#[test]
fn a_repository_without_commits_and_no_repository_are_errors() {
    check_error(&Fixture::of(""), &[TEST], 1, "the repository has no commits yet");
    let fixture = Fixture::of(HISTORY);
    let mut command = fixture.command(&[TEST]);
    command.current_dir(fixture.place().join("tmp")).env("GIT_CEILING_DIRECTORIES", fixture.place());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("not a git repository") && stderr.contains("hint: run `git idd` inside"), "{stderr}");
}

#[test]
fn a_shallow_clone_is_searched_to_its_border() {
    let fixture = Fixture::of(HISTORY);
    for (depth, status) in [("4", Status::Found), ("2", Status::NeverPassed)] {
        fixture.sh(&format!("git clone -q --depth {depth} \"file://$PWD\" \"$PLACE/shallow{depth}\""));
        let directory = fixture.place().join(format!("shallow{depth}"));
        let output = fixture.command(&["--json", TEST]).current_dir(directory).output().unwrap();
        let report = report_of(&output);
        assert_eq!(report.status, status);
        assert_eq!(text(report.sentence.as_bytes()).contains("the border of the shallow clone"), depth == "2");
    }
}

#[test]
fn submodules_and_sparse_checkouts_are_hunted_in() {
    let fixture = Fixture::of(&format!(
        "git init -q \"$PLACE/lib\"; (cd \"$PLACE/lib\"; echo l > l; commit lib)
        git -c protocol.file.allow=always submodule --quiet add \"$PLACE/lib\" lib; commit submodule\n{HISTORY}"
    ));
    check_found(&fixture);
    let fixture =
        Fixture::of(&format!("mkdir deep; echo x > deep/file\n{HISTORY}\ngit sparse-checkout set --no-cone /log"));
    assert!(!fixture.repo().join("value").exists());
    check_found(&fixture);
    // What the checkout leaves out is no change of the user.
    let (stdout, stderr) = fixture.said(&["--until", "found", TEST], 0);
    assert!(!(stdout + &stderr).contains("uncommitted changes"));
}

#[test]
fn a_detached_head_a_dirty_tree_and_operations_under_way_stay_as_they_are() {
    for state in [
        "git checkout -q --detach",
        "echo mine > value; echo new > new; git add new; echo more > log; rm -f none; echo s > s; git add s; git stash -q; echo x > x",
        "git checkout -q -b side HEAD~3; echo side > log; commit side; git checkout -q main; git merge side > /dev/null || true",
        "git checkout -q -b side HEAD~3; echo side > log; commit side; git rebase main > /dev/null 2>&1 || git update-ref refs/heads/x main; git checkout -qf main 2> /dev/null || true",
        "git bisect start -q HEAD HEAD~5 > /dev/null",
    ] {
        let fixture = Fixture::of(&format!("{HISTORY}\n{state}"));
        check_found_by(&fixture, &mut fixture.command(&["--json", "--bad", "main", TEST]));
    }
}

#[test]
fn a_command_that_cannot_be_run_is_an_error_with_a_hint() {
    let fixture = Fixture::of(&format!("echo exit 1 > plain.txt\n{HISTORY}"));
    check_error(&fixture, &["--", "no-such-program", "x"], 129, "neither a subcommand nor a program");
    assert!(!fixture.repo().join(".git/idd").exists(), "nothing was made");
    check_error(&fixture, &["--build", "true", "--", "no-such-program", "x"], 1, "exit code 127");
    check_error(&fixture, &["./no-such-test"], 1, "exit code 127");
    check_error(&fixture, &["./plain.txt"], 1, "exit code 126");
    check_error(&fixture, &["--", "./plain.txt", "x"], 1, "exit code 126");
    check_error(&fixture, &["--bad", "no-such", TEST], 129, "no-such");
    check_error(&fixture, &["--good", "HEAD~99", TEST], 129, "HEAD~99");
    assert_eq!(fixture.report(&["true"]).status, Status::BadPasses);
}

#[test]
fn a_test_that_forks_hangs_or_fills_its_output_is_contained() {
    let fixture = Fixture::of(HISTORY);
    let forks = format!("for n in 1 2 3; do (setsid sleep 348 &) ; sleep 348 & done; {TEST}");
    check_found_by(&fixture, &mut fixture.command(&["--json", &forks]));
    let fills = format!("head -c 3000000 /dev/zero | tr '\\0' x; {TEST}");
    check_found_by(&fixture, &mut fixture.command(&["--json", "--no-port", &fills]));
    let hangs = format!("{TEST} || sleep 349");
    check_found_by(&fixture, &mut fixture.command(&["--json", "--timeout", "0.3s", "--no-port", &hangs]));
}

#[test]
fn a_test_that_changes_the_users_repository_is_reported_with_the_probe() {
    let fixture = Fixture::of(HISTORY);
    let repo = fixture.repo();
    let outside = fixture.place().join("written");
    let test = format!(
        "cd {repo}; git update-ref refs/heads/made HEAD; git config a.b c; echo > {outside}; cd \"$IDD_WORKTREE\"; {TEST}",
        repo = repo.display(),
        outside = outside.display()
    );
    // Where probes see their checkout at the path of the working tree, they cannot reach it by this path.
    let before = fixture.state();
    assert_eq!(fixture.report(&[&test]).status, Status::Found);
    assert_eq!(fixture.state(), before);
    let elsewhere = |args: &[&str]| {
        json::read(&fixture.command(&[&["--json"], args].concat()).env("IDD_PLACE", "off").output().unwrap().stdout)
            .unwrap()
    };
    let report = elsewhere(&["--no-cache", &test]);
    assert_eq!(report.status, Status::Found);
    let notes: Vec<String> = report.notes.iter().map(|note| text(note.as_bytes())).collect();
    for part in ["refs", "config"] {
        let expected = format!("The user's {part} changed while tree ");
        assert!(notes.iter().any(|note| note.starts_with(&expected)), "{notes:?}");
    }
    // A file of the user is not even written.
    let report = elsewhere(&["--no-cache", &format!("echo >> {}/new; {TEST}", repo.display())]);
    assert_eq!(report.status, Status::NothingTestable);
    assert!(text(report.error.unwrap().message.as_bytes()).starts_with("the test was about to change `"));
    assert!(!repo.join("new").exists());
    let report = elsewhere(&["--no-cache", &format!("mkdir {}/new; {TEST}", repo.display())]);
    assert_eq!(report.status, Status::NothingTestable);
    assert!(!repo.join("new").exists());
}

#[test]
fn git_commands_of_a_test_see_the_sandbox_and_not_the_users_repository() {
    let fixture = Fixture::of(HISTORY);
    let test = format!(
        "git checkout -q -f --orphan mine 2> /dev/null; git add -A; git commit -qm x; git stash; git tag t; {TEST}"
    );
    check_found_by(&fixture, &mut fixture.command(&["--json", &test]));
}

#[test]
fn nothing_that_a_repository_configures_is_run() {
    let fixture = Fixture::of(HISTORY);
    let sentinel = fixture.place().join("touched");
    fixture.sh(&format!(
        "printf '#!/bin/sh\\necho \"$0 $*\" >> {sentinel}\\ncat 2> /dev/null\\n' > \"$PLACE/spy\"; chmod +x \"$PLACE/spy\"
        mkdir -p hooks .git/hooks
        for hook in post-checkout pre-commit reference-transaction post-index-change pre-auto-gc fsmonitor-watchman; do
            cp \"$PLACE/spy\" hooks/$hook; cp \"$PLACE/spy\" .git/hooks/$hook
        done
        echo '* filter=spy diff=spy merge=spy' > .git/info/attributes
        echo '* filter=spy diff=spy merge=spy' > .gitattributes
        git add -A; git commit -qm attributes",
        sentinel = sentinel.display()
    ));
    fixture.sh("for key in filter.spy.clean filter.spy.smudge filter.spy.process diff.spy.textconv diff.spy.command \\
            diff.external core.fsmonitor core.pager core.editor core.sshCommand gpg.program; do
            git config $key \"$PLACE/spy\"
        done
        git config merge.spy.driver \"$PLACE/spy %A\"; git config core.hooksPath \"$PWD/hooks\"");
    let _ = fs::remove_file(&sentinel);
    let report = report_of(&fixture.run(&["--json", TEST]));
    assert_eq!(report.status, Status::Found);
    for command in ["status", "log", "show", "gc", "reset"] {
        assert_eq!(fixture.run(&[command]).status.code(), Some(0), "{command}");
    }
    assert!(!sentinel.exists(), "{}", fs::read_to_string(&sentinel).unwrap());
}

#[test]
fn variables_of_git_name_the_repository_and_do_not_reach_the_test() {
    let fixture = Fixture::of(HISTORY);
    let git = fixture.repo().join(".git");
    let strict = format!("test -z \"$GIT_DIR$GIT_INDEX_FILE$GIT_WORK_TREE\" && {TEST}");
    let elsewhere = fixture.place().join("tmp");
    let mut command = fixture.command(&["--json", &strict]);
    command.env("GIT_DIR", &git).env("GIT_WORK_TREE", fixture.repo()).current_dir(&elsewhere);
    let report = report_of(&command.output().unwrap());
    assert_eq!(report.status, Status::Found);
    check_found_by(&fixture, fixture.command(&["--json", &strict]).env("GIT_DIR", ".git"));
    fixture.sh("cp .git/index \"$PLACE/index\"");
    let mut command = fixture.command(&["--json", "--no-cache", &strict]);
    check_found_by(&fixture, command.env("GIT_INDEX_FILE", fixture.place().join("index")));
    for args in [&["status"] as &[&str], &["apply"], &["reset"]] {
        let output = fixture.command(args).env("GIT_DIR", ".git").output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    }
    fixture.sh("grep -qx 3 value");
}

#[test]
fn a_closed_reader_is_no_error_and_a_full_one_is() {
    let fixture = Fixture::of(HISTORY);
    let program = env!("CARGO_BIN_EXE_git-idd");
    let run = |line: &str| {
        let said = fixture.sh(&format!("({line}) 2> \"$PLACE/stderr\"; echo $?"));
        let stderr = fs::read_to_string(fixture.place().join("stderr")).unwrap();
        assert!(!stderr.contains("panicked"), "{line}: {stderr}");
        (said.lines().last().unwrap_or_default().to_owned(), stderr)
    };
    let piped = |args: &str| {
        let ended = "until [ -s \"$PLACE/code\" ]; do sleep 0.01; done";
        format!("rm -f \"$PLACE/code\"; {{ {program} {args}; echo $? > \"$PLACE/code\"; }} | true; {ended}")
    };
    for args in [format!("-q '{TEST}'"), "show".into(), "show --json".into(), "log".into(), "-h".into(), "man".into()] {
        let (_, stderr) = run(&piped(&args));
        assert_eq!(fs::read_to_string(fixture.place().join("code")).unwrap(), "0\n", "{args}: {stderr}");
        assert_eq!(stderr, "", "{args}");
    }
    assert_eq!(run(&format!("{program} '{TEST}' >&- 2>&- || test $? = 1")).0, "0");
    let (code, stderr) = run(&format!("{program} -q '{TEST}' >&- || test $? = 1"));
    assert_eq!(code, "0");
    assert!(stderr.starts_with("error: failed to write to standard output: it is closed"), "{stderr}");
    assert!(stderr.contains("hint: the finding is kept"), "{stderr}");
    assert!(fixture.sh(&format!("{program} show")).contains("is the first bad commit"));
    assert_eq!(run(&format!("{program} -q '{TEST}' | head -1 > /dev/null")).0, "0");
    let (_, stderr) = run(&format!("{program} show > /dev/full || test $? = 1"));
    assert!(stderr.starts_with("error: failed to write to standard output") && !stderr.contains("hint: "), "{stderr}");
}

#[test]
fn escape_sequences_are_sent_only_where_they_are_wanted() {
    let fixture = Fixture::of(HISTORY);
    for (name, value) in [("TERM", "dumb"), ("NO_COLOR", "1"), ("TERM", "xterm")] {
        let output = fixture.command(&[TEST]).env(name, value).output().unwrap();
        assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{name}={value}");
    }
    let output = fixture.command(&["show", "--color=always"]).output().unwrap();
    assert!(output.stdout.contains(&0x1b));
}

#[test]
fn sandboxes_find_a_place_without_a_home() {
    let fixture = Fixture::of(HISTORY);
    let tmp = fixture.place().join("tmp");
    let bare = |command: &mut Command| {
        command.env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    };
    let mut command =
        fixture.command(&["--json", &format!("case $TMPDIR in {}/*) ;; *) exit 125;; esac; {TEST}", tmp.display())]);
    bare(&mut command);
    check_found_by(&fixture, &mut command);
    let own: Vec<_> = fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(own.len(), 1);
    fixture.sh("test $(stat -c %a \"$TMPDIR\"/git-idd-*) = 700");
    // Somebody else put a link there first.
    fixture.sh("rmdir \"$TMPDIR\"/git-idd-*");
    std::os::unix::fs::symlink(fixture.place(), &own[0]).unwrap();
    let mut command = fixture.command(&[TEST]);
    bare(&mut command);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("it belongs to somebody else") && stderr.contains("hint: "), "{stderr}");
    fs::remove_file(&own[0]).unwrap();
    // An unusual TMPDIR is that of the test only.
    let odd = fixture.place().join("odd $(x) ' \"");
    fs::create_dir(&odd).unwrap();
    check_found_by(&fixture, fixture.command(&["--json", "--no-cache", TEST]).env("TMPDIR", &odd));
    check_found_by(&fixture, fixture.command(&["--json", "--no-cache", TEST]).env("HOME", &odd));
    check_found_by(&fixture, fixture.command(&["--json", "--no-cache", TEST]).env("HOME", "/proc/none"));
}

#[test]
fn a_huge_file_in_history_is_written_and_hunted_past() {
    let fixture = Fixture::of(&format!("truncate -s 64M huge; git config core.bigFileThreshold 1m\n{HISTORY}"));
    check_found_by(&fixture, &mut fixture.command(&["--json", "--no-port", &format!("test -s huge; {TEST}")]));
}

#[test]
fn a_thousand_hostile_names_beside_the_culprit_do_no_harm() {
    let fixture = Fixture::of(
        "seq 1 9 > value; commit 'change 1'; echo > log; commit 'change 2'
        sed -i 's/^3$/three/' value
        i=0
        while [ $i -lt 320 ]; do
            : > \"a b	c\\$(touch pwned)$i\"; : > \"-rf $i;\\\"'\"; : > \"$(printf 'line\\nfeed\\033[31m\\302\\205%s' $i)\"
            i=$((i + 1))
        done
        mkdir -- '-d' 'x y' '..x' '.git ' 2> /dev/null || true
        printf 'x' > \"$(printf 'bad\\377utf8')\"; ln -s /etc/passwd link; ln -s value 'li nk'; printf 'e' > ' lead'; printf e > 'trail '
        commit 'change 4'; echo more >> log; commit 'change 5'",
    );
    let before = fixture.state();
    let report = fixture.report(&[TEST]);
    assert_eq!(report.status, Status::Found);
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, "change 4".into());
    assert_eq!(report.change.sufficient.unwrap().lines, 2);
    let fix = report.fix.unwrap();
    assert!(fixture.applies(fix.patch.as_bytes()));
    assert_eq!(fixture.state(), before);
    assert_eq!(fixture.run(&["apply"]).status.code(), Some(0));
    fixture.sh("grep -qx 3 value; ! test -e pwned");
}

#[test]
fn the_input_of_the_caller_is_not_eaten() {
    let fixture = Fixture::of(HISTORY);
    let mut command = fixture.command(&["--json", &format!("cat; {TEST}")]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(report_of(&child.wait_with_output().unwrap()).status, Status::Found);
}
