//! Hunts that are kept: more than one in a repository, and those of other versions of the program.

use std::fs;

use idd_report::Status;

use crate::fixture::{Fixture, root};

/// Each hunt names one of its commits.
const HISTORY: &str = "
    printf 'limit=1\\n' > limits; commit 'Set a limit'
    printf 'limit=1\\nname=a\\n' > limits; commit 'Name it'
    printf 'limit=2\\nname=a\\nspeed=3\\n' > limits; commit 'Raise the limit'
    printf 'limit=2\\nname=b\\nspeed=3\\n' > limits; commit 'Rename it'
";

/// The test of most hunts.
const TEST: &str = "grep limit=1 limits";

#[test]
fn a_journal_of_another_format_is_named_and_left_alone() {
    let fixture = Fixture::of(HISTORY);
    let hunt = fixture.report(&["--max-probes", "3", TEST]).hunt.unwrap();
    let path = fixture.repo().join(".git/idd/segments").join(format!("{hunt}.log"));
    let json = "{\"plan\":{\"version\":1,\"other\":\"fields\"}}";
    let other = format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()));
    fs::write(&path, &other).unwrap();
    for command in ["show", "status", "log", "resume"] {
        let (_, stderr) = fixture.said(&[command], 1);
        assert!(stderr.contains("it has format 1, this program knows format "), "{command}: {stderr}");
    }
    // Another hunt is not in its way.
    assert_eq!(fixture.report(&[TEST]).status, Status::Found);
    assert_eq!(fs::read_to_string(&path).unwrap(), other);
}

/// After a hunt of root in the repository of another user, that user can go on in it. Only root can make such a hunt.
#[test]
fn what_root_keeps_in_the_repository_of_another_user_is_that_users() {
    let fixture = Fixture::of(HISTORY);
    let other = "find .git \\! -uid 65534 -printf '%P\\n'";
    if fixture.sh("id -u") != "0\n" {
        return;
    }
    fixture.sh("chown -R 65534:65534 .; mkdir -p .git/idd; ln -s /etc .git/idd/link; chown -hR 65534:65534 .git/idd");
    let safe = ["GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"];
    let mut command = fixture.command(&["--json", TEST]);
    command.envs(safe.map(|set| set.split_once('=').unwrap()));
    let report = idd_report::json::read(&command.output().unwrap().stdout).unwrap();
    assert_eq!(report.status, Status::Found);
    assert_eq!(fixture.sh(other), "");
    assert_eq!(fixture.sh("stat -c %u /etc /etc/passwd"), "0\n0\n");
}

/// What `git idd list --json` printed, which satisfies the published schema.
#[track_caller]
fn check_schema(printed: &str) -> serde_json::Value {
    let schema = fs::read_to_string(root().join("docs/schema/git-idd-hunts-1.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let value = serde_json::from_str(printed).unwrap();
    let complaints: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(complaints.is_empty(), "{complaints:?}: {printed}");
    for damage in ["/schema", "/hunts/0/id", "/hunts/0/is_own"] {
        let mut value: serde_json::Value = value.clone();
        *value.pointer_mut(damage).unwrap() = serde_json::Value::Null;
        assert!(!schema.is_valid(&value), "{damage}");
    }
    value
}

/// The ids that `git idd list` lists, with their lines; the newest first.
fn list(fixture: &Fixture) -> Vec<(String, String)> {
    let (text, _) = fixture.said(&["list"], 0);
    let lines = text.lines().filter(|line| line.starts_with("  m") || line.starts_with("* m"));
    lines.map(|line| (line[2..10].to_owned(), line.to_owned())).collect()
}

/// The oldest of two defects is found without a good revision: between them the test passes.
#[test]
fn a_newer_hunt_that_went_less_far_says_that_the_older_one_names_another_commit() {
    let fixture = Fixture::of(
        "for n in $(seq 12); do
             echo $n > log; r=1; case $n in 7 | 8 | 9) r=2 ;; 12) r=3 ;; esac; echo value=$r > value; commit \"change $n\"
         done",
    );
    let test = "grep -q value=1 value";
    let found = fixture.report(&["--until", "change", test]);
    assert_eq!(found.first_bad.unwrap().commit.subject, "change 7".into());
    let (stdout, stderr) = fixture.said(&["--good", "HEAD~1", "--until", "commit", "--no-cache", test], 0);
    assert!(stdout.contains("is the first bad commit") && stdout.contains("    change 12\n"), "{stdout}");
    let hunt = found.hunt.unwrap();
    let expected =
        format!("This hunt went less far than the hunt {hunt}, which names another commit. `git idd show` shows");
    assert!(stderr.contains(&expected), "{stderr}");
}

#[test]
fn the_newest_hunt_that_was_not_cut_short_is_shown_even_if_it_has_no_fix() {
    let fixture = Fixture::of(HISTORY);
    assert!(fixture.report(&[TEST]).fix.is_some());
    let newer = fixture.report(&["--suite", "grep limit=2 limits", TEST]);
    assert!(newer.fix.is_none() && newer.no_fix.is_some(), "{newer:?}");
    let (shown, said) = fixture.said(&["show"], 0);
    assert!(shown.contains("none is recommended") && said.is_empty(), "{shown}{said}");
}

#[test]
fn the_mail_of_a_finding_is_one_that_git_am_applies() {
    let fixture = Fixture::of(HISTORY);
    assert!(fixture.report(&[TEST]).fix.is_some());
    let (mail, _) = fixture.said(&["report", "--format", "mail"], 0);
    assert!(mail.starts_with("From: A U Thor <author@example.org>\nSubject: "), "{mail}");
    fixture.git(&["config", "user.name", "Other"]);
    fixture.git(&["config", "user.email", "other@example.org"]);
    let mut command = fixture.command(&["report", "--format", "mail"]);
    let output = command.env_remove("GIT_AUTHOR_NAME").env_remove("GIT_AUTHOR_EMAIL").output().unwrap();
    let other = String::from_utf8_lossy(&output.stdout);
    assert!(other.starts_with("From: Other <other@example.org>\nSubject: ") && output.stderr.is_empty(), "{output:?}");
    fs::write(fixture.place().join("mail"), mail).unwrap();
    let message = fixture
        .sh("git clone -q . \"$PLACE/other\"; cd \"$PLACE/other\"; git am -q \"$PLACE/mail\"; grep -q limit=1 limits
         git log -1 --format='%an: %s%n%b'");
    assert!(message.starts_with("A U Thor: grep limit=1 limits fails since "), "{message}");
    assert!(message.contains("\nFixes: ") && !message.contains("is the first bad commit"), "{message}");
}

#[test]
fn after_three_hunts_of_which_one_failed_each_is_found_again() {
    let fixture = Fixture::of(HISTORY);
    assert!(fixture.said(&["list"], 0).0.starts_with("No hunt is kept in this repository"));
    assert_eq!(fixture.report(&[TEST]).status, Status::Found);
    assert_eq!(fixture.report(&["--until", "commit", "grep name=a limits"]).status, Status::Found);
    let refs = fixture.sh("git for-each-ref refs/worktree");
    let (_, said) = fixture.said(&["grep never limits"], 7);
    assert!(said.contains("This hunt has no finding; that of the hunt m"), "{said}");

    let hunts = list(&fixture);
    let [(never, third), (_, second), (first, line)] = &hunts[..] else { panic!("{hunts:?}") };
    assert!(third.starts_with("  ") && third.contains("  never_passed  grep never limits    -"), "{third}");
    assert!(second.starts_with("* ") && second.ends_with("Rename it"), "{second}");
    assert!(line.contains("  found         grep limit=1 limits  ") && line.ends_with(" Raise the limit"), "{line}");
    let (listed, _) = fixture.said(&["list", "--json"], 0);
    let listed = check_schema(&listed);
    assert_eq!(listed["hunts"][2]["test"], TEST);
    assert_eq!(listed["hunts"][2]["first_bad"]["subject"], "Raise the limit");
    assert_eq!(listed["hunts"][1]["is_default"], true);

    // The finding stays what is shown, and its refs stay.
    assert_eq!(fixture.sh("git for-each-ref refs/worktree"), refs);
    let (shown, said) = fixture.said(&["show"], 0);
    assert!(shown.contains("Rename it"), "{shown}");
    assert!(said.contains(&format!("the newer hunt {never} has no finding (never_passed). `git idd list` ")), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let (shown, said) = fixture.said(&["show", "--full", "--hunt", first], 0);
    assert!(shown.contains("-limit=1\n+limit=2\n") && said.is_empty(), "{shown}{said}");
    let abbreviated =
        (1..9).map(|n| &first[..n]).find(|name| hunts.iter().filter(|it| it.0.starts_with(name)).count() == 1);
    assert_eq!(fixture.said(&["show", "--full", "--hunt", abbreviated.unwrap()], 0).0, shown);
    assert!(fixture.said(&["report", "--hunt", first], 0).0.contains("Raise the limit"));
    assert!(fixture.said(&["log", "--hunt", first], 0).0.contains("first bad commit: ["));
    assert!(fixture.said(&["log"], 0).0.lines().all(|line| line.starts_with("fail: [")));
    assert!(fixture.said(&["status"], 0).0.contains(&format!("hunt:      {never}\nstate:     never_passed\n")));
    assert!(fixture.said(&["resume", "--hunt", first, "-j", "2"], 0).0.contains("Raise the limit"));
    // What a test wrote, by its revision and by the number of its probe.
    let (wrote, _) = fixture.said(&["log", "--hunt", first, "HEAD~2"], 0);
    assert!(wrote.starts_with("probe ") && wrote.ends_with("; 1 line of output\n\nlimit=1\n"), "{wrote}");
    let (probes, _) = fixture.said(&["log", "-v", "--hunt", first], 0);
    let line = probes.lines().find(|line| line.contains("  search ") && line.contains("  pass ")).unwrap();
    let number = line.split_whitespace().next().unwrap();
    let (again, _) = fixture.said(&["log", "--hunt", first, number], 0);
    assert!(again.starts_with(&format!("probe {number} (search): pass\nrevision [")), "{again}");
    assert!(again.ends_with("\nlimit=1\nname=a\n") || again.ends_with("\nlimit=1\n"), "{again}");
    let (_, said) = fixture.said(&["log", "x"], 1);
    assert!(said.contains("`x` is neither a revision nor the number of a probe of the hunt "), "{said}");
    for (name, message) in [("zz", "no hunt is kept under the id `zz`"), ("m", "may be that of several hunts: ")] {
        let (_, said) = fixture.said(&["show", "--hunt", name], 1);
        assert!(said.contains(message) && said.contains("hint: `git idd list` lists"), "{said}");
    }
    fixture.said(&["apply", "--hunt", first], 0);
    fixture.sh("grep limit=1 limits");

    // Nothing is lost by a reset but what is taken by default. A journal that cannot be read is listed, too.
    fixture.said(&["reset"], 0);
    fixture.sh("echo nothing > .git/idd/segments/0-9.log");
    check_schema(&fixture.said(&["list", "--json"], 0).0);
    assert!(fixture.said(&["list"], 0).0.contains("forgotten by `git idd reset`:\n  "));
    assert!(fixture.said(&["show"], 1).1.contains("there is no hunt in this worktree"));
    assert!(fixture.said(&["show", "--hunt", first], 0).0.contains("Raise the limit"));
}

#[test]
fn an_interrupted_hunt_is_gone_on_with_by_its_command_and_by_its_id_although_others_ran_in_between() {
    let fixture = Fixture::of(HISTORY);
    assert_eq!(fixture.report(&["--max-probes", "3", TEST]).status, Status::Budget);
    assert_eq!(fixture.report(&["--max-probes", "3", "grep name=a limits"]).status, Status::Budget);
    // A test that cannot be run is no hunt.
    fixture.said(&["../nothing"], 1);
    let [(second, _), (first, _)] = &list(&fixture)[..] else { panic!("{:?}", list(&fixture)) };
    let advice = |args: &[&str]| fixture.said(&[&["show"], args].concat(), 0).0;
    assert!(advice(&[]).contains("next: `git idd resume` goes on where it stopped\n"));
    for args in [&["--hunt", first] as &[&str], &["--full", "--hunt", first]] {
        let text = format!("next: `git idd resume --hunt {first}` goes on where it stopped\n");
        assert!(advice(args).contains(&text), "{}", advice(args));
    }
    let badge = || fixture.said(&["list", "--badge"], 0).0;
    assert!(badge().starts_with("{\"schemaVersion\":1,\"label\":\"regression\",\"message\":\""), "{}", badge());
    let (_, said) = fixture.said(&["resume", "--hunt", first, "--max-probes", "100"], 0);
    assert!(badge().contains("\"message\":\"fails since ") && badge().contains("\"color\":\"red\""), "{}", badge());
    assert!(said.contains(&format!("Resuming the hunt {first}: 3 probes known already.")), "{said}");
    let (_, said) = fixture.said(&["resume"], 0);
    assert!(said.contains(&format!("The hunt {first} has ended already")), "{said}");
    assert!(said.contains(&format!("`git idd resume --hunt {second}` goes on with it.")), "{said}");
    let (_, said) = fixture.said(&["grep name=a limits"], 0);
    assert!(said.contains(&format!("Resuming the hunt {second}: ")), "{said}");
    assert_eq!(list(&fixture).len(), 2);
}

/// The refs of a finding survive what git removes, also in a linked worktree, whose refs git does not count.
#[test]
fn git_gc_removes_nothing_that_a_finding_needs() {
    let fixture = Fixture::of(&format!("{HISTORY}git worktree add -q --detach \"$PLACE/linked\""));
    for worktree in ["repo", "linked"] {
        let hunt = format!("cd \"$PLACE/{worktree}\"; '{}' -q -- {TEST} >/dev/null", env!("CARGO_BIN_EXE_git-idd"));
        let output = fixture.shell(&hunt);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let checks = "git repack -adq; git gc -q --prune=now; git prune --expire=now; git fsck --full --no-dangling 2>&1
        for worktree in repo linked; do
            cd \"$PLACE/$worktree\"; git log --all --oneline >/dev/null; git ls-tree -r refs/worktree/idd/fix
        done";
    let output = fixture.shell(checks);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains("missing") && !text.contains("broken"), "{text}");
    assert_eq!(text.matches("blob").count(), 2, "{text}");
    // A file protects the objects as long as a worktree has the ref.
    let keeps = |fixture: &Fixture| {
        let names = fs::read_dir(fixture.repo().join(".git/objects/pack")).unwrap();
        names.filter(|name| name.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "keep")).count()
    };
    assert_eq!(keeps(&fixture), 1);
    fixture.said(&["reset"], 0);
    assert_eq!(keeps(&fixture), 1, "the other worktree has the same fix");
    fixture.shell("git worktree remove --force \"$PLACE/linked\"");
    fixture.report(&["--no-cache", "--until", "commit", "--", "grep -q name=a limits"]);
    assert_eq!(keeps(&fixture), 0);
}

#[test]
fn a_ref_whose_object_is_gone_is_removed_and_named() {
    let fixture = Fixture::of(HISTORY);
    fixture.report(&[TEST]);
    let name = fixture.repo().join(".git/refs/worktree/idd/fix");
    fs::write(&name, format!("{}\n", "1".repeat(fs::read(&name).unwrap().len() - 1))).unwrap();
    assert!(!fixture.shell("git log --all").status.success());
    let (_, stderr) = fixture.said(&["list"], 0);
    assert!(stderr.contains("`refs/worktree/idd/fix` named an object that is gone, and was removed."), "{stderr}");
    assert!(fixture.shell("git log --all").status.success());
    let (_, stderr) = fixture.said(&["list"], 0);
    assert!(stderr.is_empty(), "{stderr}");
}
