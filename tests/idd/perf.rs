//! Hunts for the commit since which a command needs more time or memory.

use idd_base::Sought;
use idd_report::{Report, Status, Verified, json};

use crate::fixture::Fixture;

/// `work.sh` does three times the work since change 8; the changes 5 and 6 cannot be built, and change 9 does not run.
const HISTORY: &str = "
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        if [ $n -ge 8 ]; then times=90000; else times=30000; fi
        printf 'i=0\\nwhile [ $i -lt %s ]; do i=$((i+1)); done\\n' $times > work.sh
        if [ $n = 9 ]; then echo 'echo no such table; exit 3' >> work.sh; fi
        if [ $n = 5 ] || [ $n = 6 ]; then touch broken; else rm -f broken; fi
        echo $n > log
        commit \"change $n\"
    done
";

const BUILD: &str = "test ! -e broken && cp work.sh product.sh";

const PERF: [&str; 6] = ["--perf", "sh product.sh", "--measure", "cpu", "--build", BUILD];

fn text(text: &idd_report::Untrusted) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

fn subject(report: &Report) -> String {
    text(&report.first_bad.as_ref().expect("a commit is found").commit.subject)
}

#[test]
fn the_first_slower_commit_is_found_between_two_revisions_and_proved() {
    let fixture = Fixture::of(HISTORY);
    let before = fixture.state();
    let report = fixture.report(&[&PERF[..], &["--good", "HEAD~11"]].concat());
    assert_eq!((report.status, report.find, &*subject(&report)), (Status::Found, Sought::Slower, "change 8"));
    assert_eq!(text(&report.last_good.as_ref().unwrap().subject), "change 7");
    let loss = report.loss.as_ref().unwrap();
    assert_eq!((loss.measure.as_str(), loss.unit.as_str()), ("cpu", "seconds"));
    assert!(loss.low > 0.3 && loss.low <= loss.more && loss.more <= loss.high && loss.rounds >= 8, "{loss:?}");
    assert!(loss.slow > 1.5 * loss.fast && loss.fast > 0.001, "{loss:?}");
    assert!(report.evidence.len() == 2 && report.evidence.iter().all(|it| it.expected == it.outcome), "{report:?}");
    assert!(report.evidence.iter().all(|it| it.verified == Verified::Verified));
    assert!(report.probes.verify >= 16 && report.probes.run == report.probes.search + report.probes.verify);
    let notes: Vec<String> = report.notes.iter().map(text).collect();
    assert!(notes.iter().all(|note| !note.contains(" is fast: ")), "{notes:?}");
    let (stdout, _) = fixture.said(&["show", "--full"], 0);
    for said in ["is the first slower commit", "last fast: ", "% more processor time (", "the first slower revision"] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    let (list, _) = fixture.said(&["list"], 0);
    assert!(list.contains("sh product.sh") && list.contains("change 8"), "{list}");
    assert_eq!(fixture.state(), before);
    assert!(fixture.sandboxes_left().iter().all(|left| left.ends_with("lock")), "{:?}", fixture.sandboxes_left());
}

#[test]
fn without_a_good_revision_a_faster_one_is_searched() {
    let fixture = Fixture::of(HISTORY);
    let report = fixture.report(&PERF);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 8"));
    let report = fixture.report(&[&PERF[..], &["--bad", "HEAD~5"]].concat());
    assert_eq!(report.status, Status::NeverPassed);
    assert!(text(&report.sentence).starts_with("No revision "), "{report:?}");
}

#[test]
fn two_ends_of_the_same_speed_are_no_loss() {
    let fixture = Fixture::of(HISTORY);
    let same = ["--good", "HEAD~2", "--threshold", "100%"];
    let (stdout, stderr) = fixture.said(&[&PERF[..], &same].concat(), 3);
    // On a busy machine, the measured difference can be clear, and it is far below the threshold.
    let no_loss = "There is no loss: the bad revision does not clearly need more than the good one.";
    let small_loss = "less than the threshold of 100%: there is nothing to hunt.";
    assert!(stdout.contains(no_loss) || stdout.contains(small_loss), "{stdout}");
    assert!(stdout.contains("next: a smaller loss is found with a smaller `--threshold`"), "{stdout}");
    assert!(stderr.contains("The bad revision needs "), "{stderr}");
    let (_, stderr) = fixture.said(&[&PERF[..], &["--bad", "HEAD~9", "--good", "HEAD"]].concat(), 129);
    assert!(stderr.contains("the bad revision") && stderr.contains("is older than the good one"), "{stderr}");
}

#[test]
fn an_end_that_fails_or_cannot_be_built_is_an_error() {
    let fixture = Fixture::of(HISTORY);
    let (_, stderr) = fixture.said(&[&PERF[..], &["--bad", "HEAD~3", "--good", "HEAD~11"]].concat(), 4);
    assert!(stderr.contains("the command fails at the bad revision: exit code 3, `no such table`"), "{stderr}");
    let (_, stderr) = fixture.said(&[&PERF[..], &["--good", "HEAD~7"]].concat(), 4);
    assert!(stderr.contains("the good revision cannot be built"), "{stderr}");
    let slow = ["--perf", "sleep 20", "--timeout", "1s"];
    let (_, stderr) = fixture.said(&slow, 4);
    assert!(stderr.contains("the command fails at the bad revision: timeout"), "{stderr}");
}

#[test]
fn measured_verdicts_are_not_measured_again_after_a_stop() {
    let fixture = Fixture::of(HISTORY);
    // The command stops the hunt when it measures change 7.
    let stop = "sh product.sh; case $(cat log) in 7) test -e $PLACE/go || { touch $PLACE/go; kill -9 $(cat $PLACE/pid); sleep 9; };; esac";
    let script = format!(
        "echo $$ > \"$PLACE/pid\"; export PLACE; exec {} --perf '{stop}' --measure cpu --build '{BUILD}' --good HEAD~11",
        env!("CARGO_BIN_EXE_git-idd")
    );
    let killed = fixture.shell(&script);
    assert!(!killed.status.success(), "{}", String::from_utf8_lossy(&killed.stderr));
    let output = fixture.shell(&script.replace("--perf", "--json --perf"));
    let report: Report = json::read(&output.stdout).unwrap();
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 8"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("Resuming the hunt") && !stderr.contains("Measuring the good"), "{stderr}");
}

#[test]
fn the_peak_of_the_memory_is_that_of_the_command_and_not_of_this_program() {
    let fixture = Fixture::of(&memory_history(9, 5, 1000, 60_000_000));
    let report = fixture.report(&["--perf", "sh big.sh", "--measure", "memory"]);
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 5"));
    let loss = report.loss.unwrap();
    assert!(loss.unit == "bytes" && loss.slow > 50e6 && loss.fast < 10e6, "{loss:?}");
    assert!(report.probes.run <= 40, "a large loss needs few runs: {:?}", report.probes);
}

/// `big.sh` needs the second number of bytes since a change.
fn memory_history(n: usize, since: usize, few: usize, many: usize) -> String {
    format!(
        "
        for n in $(seq {n}); do
            if [ $n -ge {since} ]; then size={many}; else size={few}; fi
            echo \"head -c $size /dev/zero | tail -c $size | wc -c\" > big.sh
            echo $n > log
            commit \"change $n\"
        done
        "
    )
}

#[test]
fn a_small_loss_is_found_without_a_good_revision_too() {
    for few in [24, 18] {
        let fixture = Fixture::of(&memory_history(7, 3, few * 1_000_000, 30_000_000));
        let output = fixture.run(&["--json", "--perf", "sh big.sh", "--measure", "memory"]);
        let report: Report = json::read(&output.stdout).unwrap();
        assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 3"), "{few}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("There is no large loss: the revisions are measured more exactly."), "{stderr}");
    }
}

#[test]
fn a_script_of_the_history_is_measured_as_each_revision_has_it_and_another_one_is_held() {
    let fixture = Fixture::of(HISTORY);
    let named = ["--measure", "cpu", "--good", "HEAD~11", "--perf"];
    let report = fixture.report(&[&named[..], &["sh work.sh"]].concat());
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 8"));
    std::fs::write(fixture.repo().join("bench.sh"), ". ./work.sh\n").unwrap();
    let report = fixture.report(&[&named[..], &["sh bench.sh"]].concat());
    assert_eq!((report.status, &*subject(&report)), (Status::Found, "change 8"));
    let report = fixture.report(&[&named[..], &["sh work.sh", "--threshold", "100%", "--hold", "work.sh"]].concat());
    assert_eq!((report.status, report.loss.map(|loss| loss.rounds)), (Status::BadPasses, Some(8)));
}

#[test]
fn a_machine_without_counters_says_so_and_names_another_measure() {
    let fixture = Fixture::of(HISTORY);
    let output = fixture.run(&[&["--measure", "instructions", "--good", "HEAD~11"][..], &PERF[..2]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(1) {
        assert!(stderr.contains("instructions cannot be counted: "), "{stderr}");
        assert!(stderr.contains("`--measure cpu` needs no counter"), "{stderr}");
    } else {
        // `product.sh` was not built.
        assert!(stderr.contains("the command fails at the good revision"), "{stderr}");
    }
}

#[test]
fn perf_excludes_other_questions_and_unclear_thresholds() {
    let fixture = Fixture::of(HISTORY);
    for other in [
        &["--find", "fix"][..],
        &["--each", "ls"],
        &["--failures", "junit.xml"],
        &["--port"],
        &["--no-port"],
        &["--until", "change"],
        &["--flaky"],
        &["-j2"],
        &["--", "true"],
    ] {
        let (_, stderr) = fixture.said(&[&PERF[..2], other].concat(), 129);
        assert!(stderr.contains("cannot be used with"), "{other:?}: {stderr}");
    }
    let (_, stderr) = fixture.said(&["--perf", "true", "--threshold", "0.05"], 129);
    assert!(stderr.contains("a threshold is a percentage: `5%` or `0.05%`"), "{stderr}");
    for alone in ["--threshold=5%", "--measure=cpu"] {
        let (_, stderr) = fixture.said(&[alone, "true"], 129);
        assert!(stderr.contains("need `--perf <command>`"), "{stderr}");
    }
    let (_, stderr) = fixture.said(&["--perf", "true", "--good", "HEAD~1", "--good", "HEAD~2"], 129);
    assert!(stderr.contains("`--perf` takes one `--good`"), "{stderr}");
    // What is configured for other hunts is no contradiction.
    fixture.git(&["config", "idd.jobs", "2"]);
    fixture.git(&["config", "idd.repeat", "3"]);
    let (_, stderr) = fixture.said(&["--perf", "exit 9"], 4);
    assert!(stderr.contains("the command fails at the bad revision: exit code 9"), "{stderr}");
}
