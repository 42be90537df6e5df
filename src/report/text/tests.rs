use super::*;
use crate::explanation::Explanation;
use crate::{HeldPath, samples};
use idd_base::Outcome;

const FULL: TextLook =
    TextLook { style: Style::PLAIN, is_raw: false, detail: DetailLevel::Full, columns: None, is_older: false };

fn text(report: &Report) -> String {
    let mut out = Vec::new();
    write(report, &[], FULL, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn found_names_the_commit_the_lines_the_fix_and_the_evidence() {
    insta::assert_snapshot!(text(&samples::found()), @r"
    3333333333333333333333333333333333333333 is the first bad commit
    Author: A U Thor <author@example.com>
    Date:   Tue Apr 21 09:30:00 2026 +0100

        parse: accept empty fields

    last good: 222222222222 parse: split lines (2026-04-04)
    bad:       444444444444 release: 1.4 (2026-05-08)
    failure:   `parse_fields`, exit code 1, `assertion `n < max` failed`

    The change that breaks the test (2 of 40 lines):
    Adding these lines to 222222222222 (repaired) breaks the test; taking them back at 333333333333 mends it (seen in the search, not run again).

    diff --git a/src/parse.c b/src/parse.c
    --- a/src/parse.c
    +++ b/src/parse.c
    @@ -7,3 +7,3 @@
     int n = 0;
    -while (n < max)
    +while (n <= max)
     return n;

    Repairs that made revisions testable (`git idd show --json` has their patches):
      222222222222: 1 line of the newer 333333333333, known verdict unchanged

    Fix for HEAD (2 lines: the whole declarations; tested: pass):

    diff --git a/src/parse.c b/src/parse.c
    --- a/src/parse.c
    +++ b/src/parse.c
    @@ -7,3 +7,3 @@
     int n = 0;
    -while (n <= max)
    +while (n < max)
     return n;

    Only this command was run with the fix, no suite (`--suite`).
    It was carried there by syntax, since a merge conflicts.
    `git idd apply` puts it into the working tree.

    Evidence:
      ✓ good passes              222222222222  pass (repaired, clean, verified, on this machine)
      ✗ good + sufficient fails  -             unresolved(build), expected fail (incremental, observed, on grpcs://build.example.org:443/main)

    Kept in every revision as they are now:
      test.sh (the last good and the first bad commit have different ones)

    note: The signature is the exit code only.

    probes: 23 run (2 to reproduce, 8 to search, 2 to repair, 7 to reduce, 4 to verify), 4 known before, 3 rejected before they were built, in 12 s
    also run: 3 warning checks and 2 suite runs
    artifacts: 4 fetched, 2 used again, 3 absent; 1 revision tested by them, 5 builds to search
    ");
}

#[test]
fn range_lists_the_candidates_and_sends_no_escape_sequence() {
    insta::assert_snapshot!(text(&samples::range()), @r"
    The first bad commit is one of 2 that cannot be told apart.

    last good: 111111111111 parse: split lines (2026-03-18)
    bad:       444444444444 release: 1.4 (2026-05-08)
    failure:   signal 11

    The first bad commit is one of 2 candidates:
      333333333333 evil \x1b[2J\u{202e}subject (2026-04-21)
      222222222222 wip (2026-04-04)

    next: a change that makes the candidates testable can be put over them with `--overlay <patch>`

    probes: 9 run (9 to search), 0 known before, in 3 min 5 s
    ");
}

#[test]
fn never_passed_says_how_far_the_search_went() {
    insta::assert_snapshot!(text(&samples::never_passed()), @r"
    The test fails at all 5 revisions tried, down to the root commit 111111111111

    bad:       444444444444 release: 1.4 (2026-05-08)
    failure:   exit code 2

    note: The oldest revision was probed without holding `test.sh` too.
    next: give a revision that passes with `--good <rev>`; if the test needs something that is built, name the build with `--build <cmd>`

    probes: 7 run (2 to reproduce, 5 to search), 1 known before, in 3.2 s
    ");
}

#[test]
fn not_reproducible_says_what_disagreed_and_what_helps() {
    insta::assert_snapshot!(text(&samples::not_reproducible()), @r"
    The test failed in one of 2 runs at the bad revision and passed in the other.

    bad:       444444444444 release: 1.4 (2026-05-08)

    next: make the test repeatable, or try `-j1`, `--isolate-home` or `--match <regex>`

    probes: 2 run (2 to reproduce), 0 known before, in 0.4 s
    ");
}

#[test]
fn error_leaves_the_message_to_stderr_and_tells_what_was_learned() {
    insta::assert_snapshot!(text(&samples::error()), @"bad:       444444444444 release: 1.4 (2026-05-08)");
}

#[test]
fn verbose_tells_what_happens_without_each_unit() {
    let mut report = samples::found();
    let unit = |text: &str, without| ChangePart {
        commit: None,
        file: "src/parse.c".into(),
        lines: 1,
        text: text.into(),
        without,
    };
    for change in [&mut report.change.sufficient, &mut report.change.necessary] {
        change.as_mut().unwrap().units.extend([unit("+\tn++;\n", Some(Outcome::Pass)), unit("", None)]);
    }
    let mut out = Vec::new();
    write(&report, &[], TextLook { detail: DetailLevel::Verbose, ..FULL }, &mut out).unwrap();
    let verbose = String::from_utf8(out).unwrap();
    let verbose = verbose.strip_suffix("outputs: .git/idd/outputs\n").unwrap();
    let plain = text(&report);
    let start = plain.find("\nRepairs").unwrap();
    let added = &verbose[start..start + verbose.len() - plain.len()];
    assert_eq!(plain.replacen("\nRepairs", &format!("{added}\nRepairs"), 1), verbose);
    insta::assert_snapshot!(added, @r"

    Without one of its units, the test shows:
      unresolved(build)  src/parse.c: - while (n < max) ...
      pass               src/parse.c: + n++;
      not seen           src/parse.c
    ");
}

#[test]
fn colour_adds_nothing_but_colour() {
    for report in [samples::found(), samples::range(), samples::never_passed()] {
        let mut out = Vec::new();
        write(&report, &[], TextLook { style: Style::COLOURED, ..FULL }, &mut out).unwrap();
        let coloured = String::from_utf8(out).unwrap();
        assert!(coloured.contains("\x1b["));
        let mut plain = String::new();
        for (index, part) in coloured.split("\x1b[").enumerate() {
            plain.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
        }
        assert_eq!(plain, text(&report));
    }
}

#[test]
fn a_repair_says_how_it_was_controlled_and_one_without_a_change_is_none() {
    let mut report = samples::found();
    report.repairs[0].control = RepairControl::Provisional;
    let mut out = Vec::new();
    let look = TextLook { detail: DetailLevel::Verbose, ..FULL };
    write(&report, &[], look, &mut out).unwrap();
    let line = "  222222222222: 1 line of the newer 333333333333, not checked: there was no known verdict to check it \
                against\n";
    assert!(String::from_utf8(out).unwrap().contains(line));
    report.repairs[0].patch = Untrusted::default();
    let mut out = Vec::new();
    write(&report, &[], look, &mut out).unwrap();
    assert!(!String::from_utf8(out).unwrap().contains("Repairs that"));
}

#[test]
fn every_status_but_success_and_error_says_what_to_do_next() {
    for row in crate::status::TABLE {
        let is_silent = matches!(row.status, Status::Found | Status::Error | Status::Usage);
        assert_eq!(text(&Report::new(row.status, row.meaning)).contains("next: "), !is_silent, "{}", row.word);
    }
}

#[test]
fn durations_are_rounded_for_people() {
    let texts = [0.04, 3.21, 12.34, 59.6, 185.0, 7260.0].map(duration);
    assert_eq!(texts, ["0.0 s", "3.2 s", "12 s", "1 min 0 s", "3 min 5 s", "2 h 1 min"]);
}

/// The screen of a report on a terminal of 80 columns.
fn screen(report: &Report, explanations: &[Explained]) -> String {
    let mut out = Vec::new();
    let look = TextLook { detail: DetailLevel::Screen, columns: Some(80), ..FULL };
    write(report, explanations, look, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().count() <= 30, "{text}");
    assert!(text.lines().all(|row| row.chars().count() <= 80 && row.trim_end() == row), "{text}");
    text
}

#[test]
fn a_finding_fits_on_a_screen() {
    let mut report = samples::found();
    // Two repairs of one revision.
    report.repairs.extend_from_within(..1);
    report.held.push(HeldPath { path: "build".into(), beside: true, ..HeldPath::default() });
    insta::assert_snapshot!(screen(&report, &[]), @r"
    3333333333333333333333333333333333333333 is the first bad commit
    Author: A U Thor <author@example.com>
    Date:   Tue Apr 21 09:30:00 2026 +0100

        parse: accept empty fields

    last good: 222222222222 parse: split lines (2026-04-04)
    bad:       444444444444 release: 1.4 (2026-05-08)
    failure:   `parse_fields`, exit code 1, `assertion `n < max` failed`

    The change that breaks the test (2 of 40 lines):
    Adding these lines to 222222222222 (repaired) breaks the test; taking them back
    at 333333333333 mends it (seen in the search, not run again).
      src/parse.c:8
      - while (n < max)
      + while (n <= max)

    repairs:   1 revision tested with a repair
    held:      test.sh, as now, in every revision
    beside:    build, from your working tree; builds may change their copy
    fix:       2 lines (the whole declarations): the test passes at HEAD, no suite
               was used (`--suite`)
    evidence:  1 of 2 claims held, not: good + sufficient fails; 23 probes in 12 s

    note: The signature is the exit code only.

    next: git idd apply        put the fix into the working tree
          git idd explain      tell how these lines lead to the failure
          git idd show --full  the fix, the evidence and the cost in full
    ");
}

#[test]
fn the_advice_about_an_older_hunt_names_it() {
    let mut report =
        Report { hunt: Some("mws678wi".to_owned()), ..Report::new(Status::Budget, "The budget is used up.") };
    report.notes = vec!["The hunt ended with the commit; `git idd resume --until fix` goes on.".into()];
    for detail in [DetailLevel::Screen, DetailLevel::Full] {
        let said = |is_older| {
            let mut out = Vec::new();
            write(&report, &[], TextLook { detail, is_older, ..FULL }, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let (newest, older) = (said(false), said(true));
        assert!(
            newest.contains("`git idd resume` goes on where") && newest.contains("`git idd resume --until"),
            "{newest}"
        );
        assert!(older.contains("next: `git idd resume --hunt mws678wi` goes on where"), "{older}");
        assert!(older.contains("`git idd resume --hunt mws678wi --until fix` goes on."), "{older}");
    }
}

#[test]
fn a_screen_says_why_if_that_was_explained() {
    let chain = samples::of_hunt(Explanation::Chain(samples::chain()));
    let text = screen(&samples::found(), &[chain]);
    let why: Vec<&str> = text.lines().skip_while(|row| !row.starts_with("why:")).take(2).collect();
    insta::assert_snapshot!(why.join("\n"), @r#"
    why:       src/parse.c:8 the condition is true (reference false); 2 links later
               the program says "5" (reference "4")
    "#);
    assert!(!text.contains("git idd explain"), "{text}");
}

#[test]
fn a_screen_shows_the_smaller_of_two_changes_and_names_the_other() {
    let mut report = samples::found();
    let sufficient = report.change.sufficient.as_mut().unwrap();
    sufficient.marked.clear();
    sufficient.lines = 30;
    let text = screen(&report, &[]);
    let (shown, rest) = text.split_once("A minimal change whose reversal makes it pass (2 of 40 lines):").unwrap();
    assert!(!shown.contains("makes the test fail"), "{text}");
    let rest: Vec<&str> = rest.lines().skip_while(|row| !row.starts_with("other:")).take(2).collect();
    assert_eq!(
        rest.iter().map(|row| row.trim()).collect::<Vec<_>>().join(" "),
        "other:     a minimal change that makes the test fail (30 of 40 lines), `git idd show --full` shows it"
    );
}

#[test]
fn a_long_finding_fits_on_a_screen_and_says_what_is_left_out() {
    let mut report = samples::found();
    let lines = format!("+    call({});\n", "long ".repeat(30)).repeat(60);
    let header = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,0 +2,60 @@\n";
    let change = report.change.sufficient.as_mut().unwrap();
    (change.patch, change.marked) = (format!("{header}{lines}").into(), (5..65).collect());
    report.notes = vec!["A long note of many words. ".repeat(12).into(); 4];
    report.culprits = vec![report.bad.clone().unwrap(); 20];
    report.held = vec![report.held[0].clone(); 20];
    insta::assert_snapshot!(screen(&report, &[]), @r"
    3333333333333333333333333333333333333333 is the first bad commit
    Author: A U Thor <author@example.com>
    Date:   Tue Apr 21 09:30:00 2026 +0100

        parse: accept empty fields

    last good: 222222222222 parse: split lines (2026-04-04)
    bad:       444444444444 release: 1.4 (2026-05-08)
    failure:   `parse_fields`, exit code 1, `assertion `n < max` failed`

    Culprits, too:
      444444444444 release: 1.4 (2026-05-08)
      ... 19 more rows (`git idd show --full`)

    The change that breaks the test (2 lines):
    Adding these lines to 222222222222 (repaired) breaks the test; taking them back
    at 333333333333 mends it (seen in the search, not run again).
      ... 61 more rows (`git idd show --full`)

    repairs:   1 revision tested with a repair
    held:      test.sh, test.sh, test.sh, 17 more, as now, in every revision
    fix:       2 lines (the whole declarations): the test passes at HEAD, no suite
               was used (`--suite`)
    evidence:  1 of 2 claims held, not: good + sufficient fails; 23 probes in 12 s

      ... 20 more rows (`git idd show --full`)

    next: git idd apply        put the fix into the working tree
          git idd explain      tell how these lines lead to the failure
          git idd show --full  the fix, the evidence and the cost in full
    ");
}

#[test]
fn a_screen_that_is_too_small_for_a_change_shows_its_marked_lines_and_those_around_them() {
    let mut report = samples::found();
    let lines = (0..60).map(|n| format!("+    call({n});\n")).collect::<Vec<_>>().concat();
    let header = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,0 +2,60 @@\n";
    let change = report.change.sufficient.as_mut().unwrap();
    (change.patch, change.marked) = (format!("{header}{lines}").into(), [45, 46].into());
    let text = screen(&report, &[]);
    assert!(text.contains("    + call(39);\n  │ + call(40);\n  │ + call(41);\n  ... 57 more rows"), "{text}");
    assert!(!text.contains("call(0)"), "{text}");
    // Nor has it room for blank lines.
    let change = report.change.sufficient.as_mut().unwrap();
    (change.patch, change.marked) = (format!("{header}{}", lines.replace("call(0);\n", "\n+\n")).into(), [].into());
    let text = screen(&report, &[]);
    assert!(!text.lines().any(|row| row.trim() == "+") && text.contains("call(1)"), "{text}");
}

#[test]
fn a_narrow_screen_names_the_commit_and_has_lines_of_the_change() {
    let mut out = Vec::new();
    let look = TextLook { detail: DetailLevel::Screen, columns: Some(40), ..FULL };
    write(&samples::found(), &[], look, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("3333333333333333333333333333333333333333\nis the first bad commit\n"), "{text}");
    assert!(text.lines().any(|row| row.contains("+ ")), "{text}");
    assert!(text.lines().all(|row| row.chars().count() <= 40), "{text}");
}

#[test]
fn other_ends_of_a_hunt_fit_on_a_screen() {
    let all = [samples::range(), samples::never_passed(), samples::not_reproducible(), samples::error()];
    insta::assert_snapshot!(all.iter().map(|report| screen(report, &[])).collect::<Vec<_>>().join("---\n"), @r"
    The first bad commit is one of 2 that cannot be told apart.

    last good: 111111111111 parse: split lines (2026-03-18)
    bad:       444444444444 release: 1.4 (2026-05-08)
    failure:   signal 11

    The first bad commit is one of 2 candidates:
      333333333333 evil \x1b[2J\u{202e}subject (2026-04-21)
      222222222222 wip (2026-04-04)

    cost:      9 probes in 3 min 5 s

    next: a change that makes the candidates testable can be put over them with
          `--overlay <patch>`
    ---
    The test fails at all 5 revisions tried, down to the root commit 111111111111

    bad:       444444444444 release: 1.4 (2026-05-08)
    failure:   exit code 2

    cost:      7 probes in 3.2 s

    note: The oldest revision was probed without holding `test.sh` too.

    next: give a revision that passes with `--good <rev>`; if the test needs
          something that is built, name the build with `--build <cmd>`
    ---
    The test failed in one of 2 runs at the bad revision and passed in the other.

    bad:       444444444444 release: 1.4 (2026-05-08)

    cost:      2 probes in 0.4 s

    next: make the test repeatable, or try `-j1`, `--isolate-home` or `--match
          <regex>`
    ---
    bad:       444444444444 release: 1.4 (2026-05-08)
    ");
}

#[test]
fn the_usual_advice_follows_only_notes_that_name_no_step() {
    let mut report = samples::never_passed();
    report.notes = vec!["`--build make` builds it.".into()];
    assert!(!screen(&report, &[]).contains("next:"));
    report.status = Status::Interrupted;
    assert!(screen(&report, &[]).contains("next: `git idd resume` goes on where it stopped"));
}

#[test]
fn what_follows_the_culprit_is_the_rest_of_the_screen() {
    let report = samples::found();
    let look = TextLook { detail: DetailLevel::Screen, columns: Some(80), ..FULL };
    let mut out = Vec::new();
    write_culprit(&report, look, &mut out).unwrap();
    write_rest(&report, &[], look, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), screen(&report, &[]));
}
