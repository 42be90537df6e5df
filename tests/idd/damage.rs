//! Damage: what a hunt keeps, the repository, and the means of the process may be broken; the answer is the same, or a message.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use idd_report::{Report, Status};

use crate::fixture::Fixture;

const HISTORY: &str = "
    for n in 1 2 3 4 5 6; do
        echo $n >> log; echo $n >> other; [ $n -ge 4 ] && printf 'a\\nbroken\\n' > state || printf 'a\\nfine\\n' > state
        commit \"change $n\"
    done
";

const TEST: &str = "grep -q fine state";

#[track_caller]
fn check_found(report: &Report) {
    assert_eq!(report.status, Status::Found, "{report:?}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, "change 4".into());
}

#[track_caller]
fn check_error(fixture: &Fixture, args: &[&str], message: &str) {
    let report = fixture.report(args);
    assert_eq!(report.status, Status::Error, "{report:?}");
    let error = String::from_utf8_lossy(report.error.unwrap().message.as_bytes()).into_owned();
    assert!(error.contains(message), "{error}");
}

/// The loose objects of the private repository, sorted.
fn candidates(fixture: &Fixture) -> Vec<PathBuf> {
    let list = fixture.sh("find .git/idd/objects.git/objects -type f -path '*/objects/??/*' | sort");
    list.lines().map(|line| fixture.repo().join(line)).collect()
}

fn rewrite(path: &PathBuf, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_candidates_are_removed_and_made_again() {
    let fixture = Fixture::of(HISTORY);
    check_found(&fixture.report(&["--until", "change", TEST]));
    let objects = candidates(&fixture);
    for (n, path) in objects.iter().enumerate() {
        match n % 3 {
            0 => rewrite(path, |bytes| bytes.truncate(bytes.len() / 2)),
            1 => rewrite(path, |bytes| *bytes.last_mut().unwrap() ^= 1),
            _ => rewrite(path, Vec::clear),
        }
    }
    let output = fixture.run(&["--until", "change", &format!("{TEST} && true")]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(&format!("Removed {} damaged candidate objects", objects.len())), "{stderr}");
    assert!(output.status.success(), "{}: {stderr}", output.status);
}

#[test]
fn a_candidate_that_the_test_damages_is_made_again_while_the_hunt_goes_on() {
    let fixture = Fixture::of(HISTORY);
    // Once, when the change is reduced.
    let line = format!(
        "{TEST}; code=$?; objects=$(git rev-parse --path-format=absolute --git-common-dir)/objects; \
         if [ ! -e '{0}/done' ] && set -- $(find $objects -type f) && [ $# -ge 9 ]; then \
         touch '{0}/done'; for f; do chmod u+w $f; : > $f; done; fi; exit $code",
        fixture.place().display(),
    );
    check_found(&fixture.report(&[line.as_str()]));
    assert!(fixture.place().join("done").exists());
}

#[test]
fn a_missing_or_damaged_object_costs_its_revision_and_not_the_hunt() {
    for damage in ["rm -f $f", "chmod 644 $f; head -c 15 $f > cut; cat cut > $f; rm cut"] {
        let fixture = Fixture::of(&format!(
            "{HISTORY} id=$(git rev-parse HEAD~4:other); f=.git/objects/$(echo $id | sed 's|^..|&/|'); {damage}"
        ));
        let report = fixture.report(&["--until", "commit", TEST]);
        check_found(&report);
        assert_eq!(
            report.probes.outcomes.get("search").and_then(|of| of.get("unresolved(object)")),
            Some(&1),
            "{damage}"
        );
    }
}

#[test]
fn what_cannot_be_hunted_in_is_said_at_once() {
    let fixture = Fixture::of(HISTORY);
    fixture.git(&["config", "core.worktree", "/"]);
    check_error(&fixture, &[TEST], "working trees that are the whole file system are not supported");
    fixture.git(&["config", "--unset", "core.worktree"]);
    fixture.git(&["symbolic-ref", "HEAD", "refs/heads/nowhere"]);
    check_error(&fixture, &[TEST], "the branch `nowhere` that `HEAD` names has no commits yet");
    let missing = "1234567890123456789012345678901234567890";
    fs::write(fixture.repo().join(".git/HEAD"), missing).unwrap();
    check_error(&fixture, &[TEST], &format!("`HEAD` names the commit {missing}, which the repository does not have"));
    check_error(&Fixture::of(""), &[TEST], "the repository has no commits yet");
}

#[test]
fn a_commit_that_was_cut_is_an_error_for_whoever_names_it() {
    let fixture = Fixture::of(HISTORY);
    let id = fixture.sh("git rev-parse HEAD | tr -d '\\n'");
    let object = fixture.repo().join(".git/objects").join(&id[..2]).join(&id[2..]);
    for n_bytes in [4, 40, 100] {
        rewrite(&object, |bytes| bytes.truncate(n_bytes.min(bytes.len() - 1)));
        check_error(&fixture, &[TEST], &format!("`HEAD` names the commit {id}, which is damaged"));
        for name in [&id[..9], "HEAD~1", "main"] {
            assert_eq!(fixture.report(&["--bad", name, TEST]).status, Status::Usage, "{name}");
        }
    }
}

#[test]
fn too_little_memory_is_an_error_like_others() {
    let fixture = Fixture::of(HISTORY);
    let program = env!("CARGO_BIN_EXE_git-idd");
    // The program alone takes 85,000, without the stack.
    for kibibytes in [100_000, 150_000] {
        let line = format!("ulimit -v {kibibytes}; exec {program} --json -j1 --until commit '{TEST}' 2> ../stderr");
        let output = fixture.shell(&line);
        let report = idd_report::json::read(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(i32::from(report.status.code())), "{kibibytes}: {report:?}");
        assert!(matches!(report.status, Status::Error | Status::Found), "{report:?}");
    }
    check_found(&fixture.report(&["--until", "commit", TEST]));
}

/// The system starts no thread that asks for so large a stack.
#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn a_thread_that_cannot_be_started_is_an_error_like_others() {
    let fixture = Fixture::of(&format!("{HISTORY}\necho > a.c; commit 'a source that can be recorded'"));
    for arguments in [&["--json", "-j2", TEST][..], &["--json", "record", "--", TEST]] {
        let output = fixture.command(arguments).env("RUST_MIN_STACK", (1_u64 << 46).to_string()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        let report = idd_report::json::read(&output.stdout).unwrap();
        let error = report.error.unwrap();
        let expected = "failed to start a thread: Resource temporarily unavailable (os error 11)";
        assert_eq!((output.status.code(), error.message), (Some(1), expected.into()), "{arguments:?}");
    }
    check_found(&fixture.report(&["--until", "commit", TEST]));
}

/// Each stack takes 200 MB, so that each limit lets one more thread start. The index waited for ever for its own.
#[test]
fn too_few_threads_are_an_error_like_others() {
    let fixture = Fixture::of(HISTORY);
    let program = env!("CARGO_BIN_EXE_git-idd");
    let words = format!("timeout -s KILL 100 {program} --json --no-cache -j1 --until commit '{TEST}'");
    for n_threads in 1..=16 {
        let limit = 200_000 * (n_threads + 1);
        let output = fixture.shell(&format!("ulimit -v {limit}; RUST_MIN_STACK=200000000 exec {words}"));
        let report = idd_report::json::read(&output.stdout).unwrap();
        assert!(matches!(report.status, Status::Error | Status::Found), "{n_threads}: {report:?}");
    }
}

/// With 30 of them, the watch of a command was lost, and the hunt waited for ever.
#[test]
fn too_few_descriptors_are_an_error_like_others() {
    let fixture = Fixture::of(HISTORY);
    let program = env!("CARGO_BIN_EXE_git-idd");
    for n_files in 28..=33 {
        let line = format!(
            "ulimit -n {n_files}; exec timeout -s KILL 100 {program} --json --no-cache -j2 --until commit '{TEST}'"
        );
        let output = fixture.shell(&line);
        let report = idd_report::json::read(&output.stdout).unwrap();
        assert!(matches!(report.status, Status::Error | Status::Found), "{n_files}: {report:?}");
    }
}

#[test]
fn a_link_or_pipe_in_the_place_of_what_is_kept_is_neither_followed_nor_waited_for() {
    let fixture = Fixture::of(HISTORY);
    check_found(&fixture.report(&["--until", "commit", TEST]));
    fixture.sh(
        "cd .git/idd; echo mine > \"$PLACE/mine\"; rm -r segments lock session.json objects.git/packed-refs
        ln -s \"$PLACE/mine\" lock; mkfifo session.json; echo > segments; ln -s \"$PLACE/new\" objects.git/packed-refs",
    );
    let output = fixture.run(&["--until", "commit", TEST]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    for name in ["lock", "session.json", "segments", "packed-refs"] {
        assert!(
            stderr.contains(&format!("it is set aside as `{}", fixture.repo().join(".git/idd").join(name).display()))
        );
    }
    assert_eq!(fixture.sh("cat \"$PLACE/mine\"; ls \"$PLACE\" | grep -c new || true"), "mine\n0\n");
}
