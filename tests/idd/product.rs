//! `--artifact`: what was built is compared, and the same product is not tested twice.

use std::fs;

use idd_report::{Probes, Report, Status};

use crate::fixture::Fixture;

/// Most changes are to comments; number 9 breaks the test, with comments around the line that does it.
const HISTORY: &str = "
    echo product > .gitignore
    seq 1 6 > source
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
        echo \"# $n\" >> source
        [ $n = 9 ] && sed -i 's/^3/# a\\nthree\\n# b/; s/^6/# c\\n6/' source
        [ $n = 12 ] && echo 7 >> source
        commit \"change $n\"
    done
";
const BUILD: [&str; 3] = ["--build", "grep -v '^#' source > product", "--no-precheck"];
const TEST: &str = "echo >> $HOME/runs; grep -qx 3 product";

fn hunt(fixture: &Fixture, options: &[&str], test: &str) -> (Report, u64) {
    let runs = fixture.place().join("home/runs");
    let _ = fs::remove_file(&runs);
    let args: Vec<&str> = BUILD.iter().chain(options).copied().chain([test]).collect();
    let report = fixture.report(&args);
    assert_eq!(report.status, Status::Found);
    (report, fs::read_to_string(&runs).unwrap_or_default().lines().count() as u64)
}

fn finding(report: &Report) -> Report {
    Report { probes: Probes::default(), seconds: 0.0, hunt: None, log: None, ..report.clone() }
}

#[test]
fn artifact_of_the_same_bytes_is_not_tested_again_and_the_finding_is_the_same() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let (usual, n_usual) = hunt(&fixture, &["--no-cache"], TEST);
    let (spared, n_spared) = hunt(&fixture, &["--no-cache", "--artifact", "product"], TEST);
    assert_eq!(finding(&spared), finding(&usual));
    assert_eq!((usual.probes.same_product, usual.probes.run), (0, n_usual));
    // What was spared is counted apart: what is called a run is one.
    assert_eq!(spared.probes.run, n_spared);
    assert!(spared.probes.same_product >= 3, "{:?}", spared.probes);
    assert_eq!(spared.probes.run + spared.probes.same_product, usual.probes.run);
    // Reproduction and proofs are runs.
    assert_eq!(
        (spared.probes.reproduce, spared.probes.verify),
        (usual.probes.reproduce, usual.probes.verify),
        "{:?}",
        spared.probes
    );
    let said = String::from_utf8(fixture.run(&["show", "--full"]).stdout).unwrap();
    assert!(said.contains("not tested again, byte for byte as before"), "{said}");
    assert_eq!(fixture.state(), before);
}

#[test]
fn artifact_outcomes_are_kept_for_the_next_hunt_with_it_and_for_no_other() {
    let fixture = Fixture::of(HISTORY);
    let (first, _) = hunt(&fixture, &["--artifact", "product"], TEST);
    assert!(first.probes.same_product >= 3, "{:?}", first.probes);
    let (second, n_second) = hunt(&fixture, &["--artifact", "product", "--retry"], TEST);
    // What reproduces the failure and what backs a claim is always run; and `--retry` asks what was not asked before.
    assert!(n_second <= second.probes.reproduce + second.probes.verify + 3, "{:?}", second.probes);
    // Without it, what was only taken to be the same is tested.
    let (without, _) = hunt(&fixture, &[], TEST);
    assert_eq!(without.probes.same_product, 0);
    assert!(without.probes.search >= 1 && without.probes.reduce >= 3, "{:?}", without.probes);
    assert_eq!(finding(&without).first_bad, finding(&first).first_bad);
}

#[test]
fn artifact_that_is_missing_or_does_not_change_alone_spares_nothing() {
    let fixture = Fixture::of(HISTORY);
    for more in ["none", "source"] {
        let (report, n_runs) = hunt(&fixture, &["--no-cache", "--artifact", "product", "--artifact", more], TEST);
        assert_eq!((report.probes.same_product, report.probes.run), (0, n_runs), "{more}");
    }
    let repeated = ["--no-cache", "--artifact", "product", "--repeat", "2"];
    assert_eq!(hunt(&fixture, &repeated, TEST).0.probes.same_product, 0);
    let fresh = ["--no-cache", "--artifact", "product", "--clean"];
    assert_eq!(hunt(&fixture, &fresh, TEST).0.probes.same_product, 0);
}

#[test]
fn artifact_is_tested_again_when_what_is_held_beside_it_is_another() {
    let fixture = Fixture::of(&format!("{HISTORY}\nprintf '#!/bin/sh\\ngrep -qx 3 product\\n' > t.sh; chmod +x t.sh"));
    let (first, _) = hunt(&fixture, &["--artifact", "product"], "./t.sh");
    assert!(first.probes.same_product >= 3, "{:?}", first.probes);
    // The same products, another test: `7` came with number 12.
    fixture.sh("printf '#!/bin/sh\\n! grep -qx 7 product\\n' > t.sh");
    let (second, _) = hunt(&fixture, &["--artifact", "product"], "./t.sh");
    let subject = |report: &Report| report.first_bad.as_ref().unwrap().commit.subject.clone();
    assert_eq!(subject(&first), "change 9".into());
    assert_eq!(subject(&second), "change 12".into());
}

#[test]
fn artifact_is_said_in_verbose_progress_and_needs_a_build() {
    let fixture = Fixture::of(HISTORY);
    fixture.sh("git config idd.artifact product");
    let args: Vec<&str> = BUILD.iter().copied().chain(["-v", TEST]).collect();
    let output = fixture.run(&args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(" fail, same product as before\n"), "{stderr}");
    assert!(stderr.contains(" pass, same product as before\n"), "{stderr}");
    for (args, error) in [
        (["--artifact=product", TEST], "`--artifact` needs `--build`"),
        (["--artifact=../product", "--build=true"], "is no path in the working tree"),
    ] {
        let args: Vec<&str> = args.into_iter().chain(["true"]).collect();
        let output = fixture.run(&args);
        assert_eq!(output.status.code(), Some(129));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(error), "{stderr}");
    }
}

#[test]
fn an_artifact_that_no_build_makes_is_said_once() {
    let fixture = Fixture::of(HISTORY);
    let options = ["--no-cache", "--no-port", "--good", "HEAD~6", "--artifact", "prod*", "--artifact", "prodcut"];
    let (report, _) = hunt(&fixture, &options, TEST);
    let notes = report.notes.iter().map(|note| String::from_utf8_lossy(note.as_bytes()).into_owned());
    let notes: Vec<String> = notes.filter(|note| note.contains("--artifact")).collect();
    let said = "No build made the files that `--artifact` names (`prod*`, `prodcut`), so every test was run. It takes \
                names, not patterns.";
    assert_eq!(notes, [said]);
}
