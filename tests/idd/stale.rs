//! Products of earlier builds, tests that disturb each other, and candidates without an end.

use idd_report::{Report, Status, json};

use crate::fixture::Fixture;

struct Hunted {
    report: Report,
    stderr: String,
}

#[track_caller]
fn hunt(fixture: &Fixture, args: &[&str], first_bad: &str) -> Hunted {
    let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
    let output = fixture.command(&args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = json::read(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    assert_eq!(report.status, Status::Found, "{stderr}");
    assert_eq!(report.first_bad.as_ref().unwrap().commit.subject, first_bad.into(), "{stderr}");
    Hunted { report, stderr }
}

fn notes(report: &Report) -> String {
    let notes: Vec<_> = report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes())).collect();
    notes.join("\n")
}

/// What each build notes of its headers makes the next one fail once a header has another name.
const HEADERS: &str = r#"
    printf 'prog*\n' > .gitignore
    printf 'prog: value\n\tcat value *.h > prog\n\techo prog: *.h > prog.d\n-include prog.d\n' > Makefile
    echo ok > value
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        rm -f *.h; echo "$n" > "part$((n / 3)).h"
        [ $n != 5 ] || echo bad > value
        commit "change $n"
    done
"#;

#[test]
fn a_build_that_misses_a_file_of_another_revision_is_made_again_for_that_revision_alone() {
    let fixture = Fixture::of(HEADERS);
    let Hunted { report, stderr } = hunt(&fixture, &["-j1", "--build", "make -s", "--", "! grep bad prog"], "change 5");
    assert!(!stderr.contains("every probe starts from a fresh checkout"), "{stderr}");
    assert!(stderr.contains("No rule to make target"), "{stderr}");
    let notes = notes(&report);
    assert!(notes.contains("without a verdict; the results of fresh checkouts count."), "{notes}");
    assert_eq!(report.repairs.len(), 0);
}

#[test]
fn a_test_that_builds_is_made_again_too() {
    let fixture = Fixture::of(HEADERS);
    for test in ["make -s && ! grep bad prog", "make -s >out 2>&1 || exit 125; ! grep bad prog"] {
        let Hunted { report, .. } = hunt(&fixture, &["-j1", "--", test], "change 5");
        assert!(
            notes(&report).contains("without a verdict; the results of fresh checkouts count."),
            "{test}: {}",
            notes(&report)
        );
        assert_eq!(report.repairs.len(), 0, "{test}");
    }
}

#[test]
fn a_verdict_that_a_clean_run_contradicts_is_named_with_the_line_that_differs() {
    let fixture = Fixture::of(
        "printf 'prog\\n' > .gitignore; printf 'prog: main\\n\\tcat main part > prog\\n' > Makefile; echo main > main; echo good > part
         commit init; for n in 1 2 3; do echo $n > n; commit \"change $n\"; done; echo bad > part; commit 'break it'
         for n in 4 5 6; do echo $n > n; commit \"change $n\"; done",
    );
    let Hunted { report, stderr } =
        hunt(&fixture, &["-j1", "--build", "make -s", "--", "cat prog; grep -q good prog"], "break it");
    let notes = notes(&report);
    assert!(notes.contains("first line that differs: `bad`"), "{notes}");
    assert!(stderr.contains("every probe starts from a fresh checkout"), "{stderr}");
}

/// The test takes something that there is only once, as a port. At the bad revision it fails either way.
#[test]
fn tests_that_disturb_each_other_run_one_at_a_time_beside_products_of_earlier_builds() {
    let fixture = Fixture::of(
        "echo ok > value; commit init; for n in 1 2 3 4 5; do echo $n > n; commit \"change $n\"; done
         echo bad > value; commit 'break it'; for n in 6 7; do echo $n > n; commit \"change $n\"; done",
    );
    let port = fixture.place().join("port");
    let test = format!("exec 9>{}; flock -n 9 || exit 1; sleep 0.5; grep -q ok value", port.display());
    let Hunted { report, stderr } = hunt(&fixture, &["-j3", "--no-cache", "--no-port", "--", &test], "break it");
    let notes = notes(&report);
    assert!(notes.contains("one probe runs at a time now"), "{notes}");
    assert!(!stderr.contains("every probe starts from a fresh checkout"), "{stderr}");
    assert!(!stderr.contains("no verdict"), "{stderr}");
}

/// As above, but what disturbs also disturbs what would contradict it: no run that is made beside another one passes.
#[test]
fn a_hunt_in_which_nothing_passes_beside_other_tests_looks_at_one_alone() {
    let fixture = Fixture::of(
        "echo ok > value; commit init; for n in 1 2 3 4 5; do echo $n > n; commit \"change $n\"; done
         echo bad > value; commit 'break it'; echo 6 > n; commit 'change 6'",
    );
    let (crowd, place) = (fixture.place().join("crowd"), fixture.place().display());
    std::fs::create_dir(&crowd).unwrap();
    // Fails if another one runs at the same time.
    let test = format!(
        "exec 9>{place}/crowd/$$; flock 9; sleep 0.4
         for other in {place}/crowd/*; do [ $other = {place}/crowd/$$ ] || flock -n $other true || {{ sleep 0.4; exit 1; }}; done
         sleep 0.4; grep -q ok value"
    );
    let args = ["-j2", "--no-cache", "--no-port", "--until", "commit", "--good", "HEAD~6", "--", &test];
    let Hunted { report, .. } = hunt(&fixture, &args, "break it");
    assert!(notes(&report).contains("one probe runs at a time now"), "{}", notes(&report));
}

/// Something else keeps the machine busy while one candidate is tested for the first time.
#[test]
fn a_candidate_that_is_cut_at_the_time_limit_is_run_once_more() {
    let fixture = Fixture::of(
        "printf 'a\\nm\\nn\\nb\\n' > value; commit init; echo 1 > n; commit 'change 1'; printf 'c\\nm\\nn\\nd\\n' > value; commit 'break it'; echo 2 > n; commit 'change 2'",
    );
    let mark = fixture.place().join("mark");
    let test = format!(
        "if grep -q b value && grep -q c value && mkdir {} 2>/dev/null; then sleep 60; fi; ! grep -q c value",
        mark.display()
    );
    let Hunted { report, .. } = hunt(&fixture, &["-j1", "--timeout", "1s", "--level", "line", "--", &test], "break it");
    let change = report.change.sufficient.unwrap();
    assert_eq!(change.lines, 2, "{change:?}");
    assert!(mark.exists());
}

#[test]
fn a_revision_that_ignores_only_a_part_of_a_copied_directory_leaves_no_part_of_it() {
    let fixture = Fixture::of(
        r#"
        echo '*.o' > .gitignore; echo ok > value
        for n in 1 2 3 4 5 6 7 8 9 10; do
            [ $n != 7 ] || echo build/ >> .gitignore
            [ $n != 9 ] || echo bad > value
            echo $n > log; commit "change $n"
        done
        mkdir build; echo x > build/x.o; echo y > build/data
    "#,
    );
    let test = "cat build/x.o build/data && ! grep bad value";
    let Hunted { stderr, .. } = hunt(&fixture, &["-j1", "--until", "commit", test], "change 9");
    assert!(stderr.contains(" HEAD~4 pass  change 6\n") && !stderr.contains("withdrawn"), "{stderr}");
}

#[test]
fn what_make_says_of_its_work_is_no_other_failure() {
    let fixture = Fixture::of(
        r#"
        echo prog > .gitignore; printf 'all: prog\nprog: value\n\tcat value > prog\n' > Makefile
        for n in 1 2 3 4 5 6; do
            if [ $n = 4 ]; then echo "value is bad" > value; for f in a b c d; do echo $n > $f; done
            elif [ $n -lt 4 ]; then echo "value is $n" > value; fi
            echo $n > log; commit "change $n"
        done
    "#,
    );
    let Hunted { report, stderr } = hunt(&fixture, &["-j1", "make && ! grep bad prog"], "change 4");
    let reduced = &report.probes.outcomes["reduce"];
    assert!(reduced.contains_key("fail") && !reduced.contains_key("unresolved(other)"), "{reduced:?}");
    assert!(!stderr.contains("contradicts"), "{stderr}");
    assert_eq!(report.change.sufficient.unwrap().lines, 2);
}
