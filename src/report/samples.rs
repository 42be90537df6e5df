//! Sample reports for tests.

use crate::chain::{ChainBeginning, EffectKind, Figures, InstanceChoice, ReportChain, ReportLink, VisibleFailure};
use crate::chop::{Chop, Size};
use crate::invariants::Invariants;
use crate::walk::FinishedWalk;
use crate::{
    CandidateRange, ChangePart, ChangePlace, Changes, ClaimEvidence, Commit, Date, ErrorReport, Explained, Explanation,
    FailingTest, FetchedArtifacts, FirstBad, HeldPath, HuntedFailure, PortRung, Probes, ReducedChange, RepairControl,
    RepairDirection, Report, ReportedFix, ReportedRepair, ReportedScope, Status, Suite, Untrusted, Verified, chop,
    invariants, walk,
};
use idd_base::{CommitId, Outcome, Reason, TreeId};
use serde_json::{Value, json};

fn commit(digit: u8, subject: &str) -> Commit {
    Commit {
        commit: CommitId::sha1([digit; 20]),
        subject: subject.into(),
        author: "A U Thor <author@example.com>".into(),
        date: Date::new(1_772_353_800 + 86_400 * i64::from(digit), 60),
    }
}

fn patch(removed: &str, added: &str) -> Untrusted {
    let header = "diff --git a/src/parse.c b/src/parse.c\n--- a/src/parse.c\n+++ b/src/parse.c\n@@ -7,3 +7,3 @@\n";
    format!("{header} int n = 0;\n-{removed}\n+{added}\n return n;\n").into()
}

fn change() -> ReducedChange {
    ReducedChange {
        patch: patch("while (n < max)", "while (n <= max)"),
        lines: 2,
        files: vec!["src/parse.c".into()],
        units: vec![ChangePart {
            commit: Some(CommitId::sha1([0x33; 20])),
            file: "src/parse.c".into(),
            lines: 2,
            text: "-while (n < max)\n+while (n <= max)\n".into(),
            without: Some(Outcome::Unresolved(Reason::Build)),
        }],
        is_minimal: true,
        places: vec![ChangePlace { file: "src/parse.c".into(), line: Some(8) }],
        marked: vec![6, 7],
    }
}

/// A successful hunt, with every field in use.
pub fn found() -> Report {
    let ends = Some([CommitId::sha1([0x22; 20]), CommitId::sha1([0x33; 20])]);
    Report {
        signature: Some(signature("assertion `n < max` failed")),
        bad: Some(commit(0x44, "release: 1.4")),
        last_good: Some(commit(0x22, "parse: split lines")),
        first_bad: Some(FirstBad { commit: commit(0x33, "parse: accept empty fields"), lines: 40 }),
        proved: true,
        culprits: vec![commit(0x33, "parse: accept empty fields")],
        change: Changes { sufficient: Some(change()), necessary: Some(change()), ends },
        fix: Some(ReportedFix {
            commit: CommitId::sha1([0x44; 20]),
            complete: true,
            patch: patch("while (n <= max)", "while (n < max)"),
            lines: 2,
            tested: Outcome::Pass,
            still_fails: false,
            culprit_lines: 40,
            suite: Suite::NotRun,
            rung: PortRung::Syntax,
            scope: ReportedScope::Declarations,
            reverts: None,
            tests: Vec::new(),
            fails: Vec::new(),
            stopped_by: None,
            complaints: Vec::new(),
        }),
        repairs: vec![ReportedRepair {
            commit: CommitId::sha1([0x22; 20]),
            source: CommitId::sha1([0x33; 20]),
            direction: RepairDirection::Newer,
            lines: 1,
            patch: b"--- a/caf\xe9.h\n".as_slice().into(),
            control: RepairControl::Held,
        }],
        repaired: vec![CommitId::sha1([0x22; 20])],
        evidence: vec![
            ClaimEvidence {
                claim: "good passes".into(),
                commit: Some(CommitId::sha1([0x22; 20])),
                tree: Some(TreeId::sha1([0x2a; 20])),
                expected: Outcome::Pass,
                outcome: Outcome::Pass,
                is_clean: true,
                verified: Verified::Verified,
                place: None,
            },
            ClaimEvidence {
                claim: "good + sufficient fails".into(),
                commit: None,
                tree: None,
                expected: Outcome::Fail,
                outcome: Outcome::Unresolved(Reason::Build),
                is_clean: false,
                verified: Verified::Observed,
                place: Some("grpcs://build.example.org:443/main".into()),
            },
        ],
        held: vec![held()],
        in_place: Some(true),
        notes: vec!["The signature is the exit code only.".into()],
        artifacts: Some(FetchedArtifacts {
            fetched: 4,
            cached: 2,
            absent: 3,
            built: 5,
            revisions: vec![CommitId::sha1([0xcc; 20])],
        }),
        probes: Probes {
            run: 23,
            cached: 4,
            refused: 3,
            prechecked: 0,
            precheck_refused: 0,
            same_product: 0,
            search: 8,
            repair: 2,
            reduce: 7,
            port: 0,
            verify: 4,
            reproduce: 2,
            checks: 3,
            suite: 2,
            outcomes: [("search".to_owned(), [("unresolved(build)".to_owned(), 2)].into())].into(),
        },
        seconds: 12.34,
        hunt: Some("20260301-093000-1".into()),
        log: Some(".git/idd/outputs".into()),
        ..Report::new(Status::Found, "3333333333333333333333333333333333333333 is the first bad commit")
    }
}

fn held() -> HeldPath {
    HeldPath { path: "test.sh".into(), changed: Some(true), in_good: Some(true), in_bad: Some(true), beside: false }
}

/// A hunt that could not name one commit, with hostile text.
pub fn range() -> Report {
    Report {
        bad: Some(commit(0x44, "release: 1.4")),
        last_good: Some(commit(0x11, "parse: split lines")),
        signature: Some(HuntedFailure { ending: "signal 11".into(), test: None, line: None, compared: None }),
        range: Some(CandidateRange {
            candidates: vec![commit(0x33, "evil \x1b[2J\u{202e}subject"), commit(0x22, "wip")],
        }),
        probes: Probes { run: 9, search: 9, ..Probes::default() },
        seconds: 185.0,
        ..Report::new(Status::Range, "The first bad commit is one of 2 that cannot be told apart.")
    }
}

/// A hunt without a pass.
pub fn never_passed() -> Report {
    Report {
        bad: Some(commit(0x44, "release: 1.4")),
        signature: Some(HuntedFailure { ending: "exit code 2".into(), test: None, line: None, compared: None }),
        notes: vec!["The oldest revision was probed without holding `test.sh` too.".into()],
        probes: Probes { run: 7, cached: 1, search: 5, reproduce: 2, ..Probes::default() },
        seconds: 3.21,
        ..Report::new(
            Status::NeverPassed,
            "The test fails at all 5 revisions tried, down to the root commit 111111111111",
        )
    }
}

/// A test whose runs disagree.
pub fn not_reproducible() -> Report {
    Report {
        bad: Some(commit(0x44, "release: 1.4")),
        probes: Probes { run: 2, reproduce: 2, ..Probes::default() },
        seconds: 0.4,
        ..Report::new(
            Status::NotReproducible,
            "The test failed in one of 2 runs at the bad revision and passed in the other.",
        )
    }
}

/// A hunt that ended with an error after its start.
pub fn error() -> Report {
    Report {
        error: Some(ErrorReport { message: "failed to write the journal: no space left".into(), hint: None }),
        bad: Some(commit(0x44, "release: 1.4")),
        ..Report::new(Status::Error, "`git idd` failed; the message says why.")
    }
}

/// [`found`], with a claim that proves the failing version of [`explanations`].
pub fn explained() -> Report {
    let mut report = found();
    report.evidence.push(ClaimEvidence {
        claim: "the first bad revision fails".into(),
        commit: Some(CommitId::sha1([0x33; 20])),
        tree: Some(TreeId::sha1([0x3a; 20])),
        expected: Outcome::Fail,
        outcome: Outcome::Fail,
        is_clean: true,
        verified: Verified::Verified,
        place: None,
    });
    report
}

/// A sample of the output of `git idd explain --json`.
pub fn told() -> Value {
    let link = |kind: &str, line: u64, variable: Value, value: &str, reference: &str, in_change: bool| {
        json!({
            "kind": kind, "file": "src/parse.c", "line": line, "function": "parse", "variable": variable, "value": value,
            "reference": reference, "step": line, "reference_step": null, "in_change": in_change, "kept": false, "replaced": false, "tested": null,
            "part": null, "instance": line - 7, "of": 5, "text": null, "was": null,
        })
    };
    json!({
        "schema": "git-idd explanation 1",
        "bad": "3333333333",
        "good": "the same revision without the necessary change",
        "summary": null, "switched": null,
        "chain": [
            link("decision", 8, Value::Null, "true", "false", true),
            link("value", 9, "n".into(), "5", "4 <b>`x`|</b>", false),
            link("return", 12, "parse".into(), "5", "4", false),
        ],
        "sets": [],
        "end": "benign",
        "beginning": "Nothing before it is needed: what the change does begins here.",
        "failure": {
            "what": "the program says \"5\" (reference \"4\")", "file": "src/main.c", "line": 3, "step": 20, "in_change": false,
            "part": null, "instance": 1, "of": 1,
        },
        "n_steps": 20, "n_reference_steps": 18, "n_aligned": 17, "n_tests": 9, "n_forks": 12, "n_trials": 0, "trial_seconds": 0.0,
        "n_states": 3,
        "build_seconds": 1.5, "seconds": 0.25,
        "remarks": ["1 of 9 statements have no counterpart in the reference"],
    })
}

/// The chain of [`told`].
pub fn chain() -> ReportChain {
    let link = |kind, line: u32, variable: Option<&str>, value: &str, reference: &str, in_change| ReportLink {
        kind,
        file: Some("src/parse.c".into()),
        line: Some(line.into()),
        function: Some("parse".into()),
        variable: variable.map(Untrusted::from),
        value: value.into(),
        reference: reference.into(),
        step: line,
        reference_step: None,
        in_change,
        kept: false,
        tested: None,
        replaced: false,
        which: InstanceChoice { part: None, instance: Some(u64::from(line) - 7), of: Some(5) },
        text: None,
        was: None,
    };
    ReportChain {
        bad: "3333333333".into(),
        good: "the same revision without the necessary change".into(),
        switched: None,
        summary: None,
        links: vec![
            link(EffectKind::Decision, 8, None, "true", "false", true),
            link(EffectKind::Value, 9, Some("n"), "5", "4 <b>`x`|</b>", false),
            link(EffectKind::Return, 12, Some("parse"), "5", "4", false),
        ],
        sets: Vec::new(),
        end: ChainBeginning::Benign,
        beginning: Some("Nothing before it is needed: what the change does begins here.".into()),
        failure: VisibleFailure {
            what: "the program says \"5\" (reference \"4\")".into(),
            file: Some("src/main.c".into()),
            line: Some(3),
            step: 20,
            in_change: false,
            which: InstanceChoice { part: None, instance: Some(1), of: Some(1) },
        },
        figures: Figures {
            n_steps: 20,
            n_reference_steps: 18,
            n_aligned: 17,
            n_tests: 9,
            n_forks: 12,
            n_trials: 0,
            trial_seconds: 0.0,
            n_states: 3,
            build_seconds: 1.5,
            seconds: 0.25,
        },
        remarks: vec!["1 of 9 statements have no counterpart in the reference".into()],
    }
}

/// A chop of three lines, one of them changed, and a constant.
pub fn chop() -> Chop {
    let line =
        |(file, function): (&str, &str), line: u32, is_changed, source: Option<&str>, values: &[&str]| chop::ChopLine {
            file: file.into(),
            line,
            function: function.into(),
            source: source.map(Untrusted::from),
            is_changed,
            distance: Some(line / 2),
            n_passing: line % 3,
            n_steps: 2,
            n_run: 5,
            last: 30 - line,
            values: values.iter().map(|value| Untrusted::from(*value)).collect(),
        };
    let parse = ("src/parse.c", "parse");
    let size = |n_lines| Size { n_statements: n_lines + 1, n_lines, n_steps: 5 * n_lines as u64 };
    Chop {
        recording: "20260301-093100".into(),
        commit: "33".repeat(20).into(),
        ending: "exit code 1".into(),
        failure: "byte 3 of standard output (line 1), which step 27 printed".into(),
        inputs: vec!["in.txt".into(), "standard input".into()],
        reduced: vec![chop::ReducedInput {
            name: "in.txt".into(),
            n_bytes_before: 63,
            n_bytes: 3,
            text: Some("4;\n".into()),
        }],
        n_passing: 5,
        program: Size { n_steps: 0, ..size(12) },
        run: size(9),
        forward: size(5),
        backward: size(4),
        chop: size(3),
        lines: vec![
            line(parse, 8, true, Some("while (n <= max)"), &["n = 5", "max = 4"]),
            line(("src/main.c", "main"), 3, false, None, &[]),
            line(parse, 7, false, Some("int n = <b>`x`|</b>;"), &["n = 0"]),
        ],
        constants: size(1),
        constant_lines: vec![line(parse, 5, false, Some("int max = 4;"), &["max = 4"])],
        remarks: vec!["A second run took another path: the failure may be another one there.".into()],
    }
}

/// A walk.
pub fn walk() -> FinishedWalk {
    let step = |step, line, source: Option<&str>, wrong: &str, values: &[&str]| walk::WrongStep {
        step,
        file: Some("src/parse.c".into()),
        line: Some(line),
        function: "parse".into(),
        source: source.map(Untrusted::from),
        wrong: wrong.into(),
        values: values.iter().map(|value| Untrusted::from(*value)).collect(),
    };
    FinishedWalk {
        fault: walk::StepFault::Value,
        n_answers: 3,
        steps: vec![
            step(12, 8, Some("n = max - 1;"), "computes a wrong value", &["max = 4", "n = <1>"]),
            step(27, 9, None, "uses the wrong n = <1>", &["n = <1>"]),
        ],
    }
}

/// An abstract slice: the initial value of a global variable, a changed line, and the failure.
pub fn invariants() -> Invariants {
    let texts = |texts: &[&str]| texts.iter().map(|text| Untrusted::from(*text)).collect::<Vec<_>>();
    let statement = |step, line, function: &str, source: Option<&str>| invariants::InvariantStatement {
        step,
        file: Some("src/parse.c".into()),
        line: Some(line),
        function: function.into(),
        source: source.map(Untrusted::from),
        is_decision: false,
        is_parting: false,
        is_elsewhere: false,
        is_changed: false,
        is_necessary: None,
        is_unknown: false,
        is_pinned: false,
        invariant: Vec::new(),
        values: Vec::new(),
        skipped: invariants::Skipped::default(),
    };
    let size = |n_lines| Size { n_statements: n_lines + 1, n_lines, n_steps: 5 * n_lines as u64 };
    Invariants {
        recording: "0001".into(),
        commit: "33".repeat(20).into(),
        ending: "signal 6".into(),
        failure: "the abort at step 20, at src/parse.c:9 in parse".into(),
        mode: "address".into(),
        compared: None,
        depth: Some(2),
        run: size(12),
        dynamic: Some(size(7)),
        slice: Size { n_statements: 3, n_lines: 3, n_steps: 3 },
        statements: vec![
            statement(0, 2, "initial value of max", Some("int max = 4;")),
            invariants::InvariantStatement {
                is_changed: true,
                is_unknown: true,
                invariant: texts(&["max == 4"]),
                values: texts(&["max = 4"]),
                skipped: invariants::Skipped {
                    n_steps: 12,
                    functions: vec![("scan".into(), 9), ("main".into(), 2)],
                    kept: Vec::new(),
                },
                ..statement(13, 8, "parse", Some("n = max + 1;"))
            },
            invariants::InvariantStatement {
                invariant: texts(&["n > 4", "text[<b>`x`|</b>] == '&'"]),
                values: texts(&["n = 5", "text[<b>`x`|</b>] = '&'"]),
                skipped: invariants::Skipped {
                    n_steps: 6,
                    functions: vec![("scan".into(), 6)],
                    kept: vec![("src/scan.c:31".into(), 3)],
                },
                ..statement(20, 9, "parse", None)
            },
        ],
        rest: texts(&["max == 4"]),
        is_partial: false,
        n_questions: 5,
        n_unknown: 1,
        verified: Some(invariants::SolverResult { solver: "z3".into(), n_proved: 2, n_refuted: 0, n_unknown: 1 }),
        has_change: Some(true),
        remarks: texts(&["Assumed: no signed overflow in src/parse.c, line 8."]),
    }
}

/// An explanation of the hunt of [`explained`].
pub fn of_hunt(explanation: Explanation) -> Explained {
    Explained {
        hunt: "20260301-093000-1".to_owned(),
        commit: CommitId::sha1([0x33; 20]),
        tree: TreeId::sha1([0x3a; 20]),
        explanation,
    }
}

/// The explanations of the hunt of [`explained`], one of each kind.
pub fn explanations() -> Vec<Explained> {
    let all = [
        Explanation::Chain(chain()),
        Explanation::Chop(chop()),
        Explanation::Walk(walk()),
        Explanation::Invariants(invariants()),
    ];
    all.into_iter().map(of_hunt).collect()
}

fn signature(line: &str) -> HuntedFailure {
    HuntedFailure {
        ending: "exit code 1".into(),
        test: Some(FailingTest { runner: "ctest".to_owned(), name: "parse_fields".into() }),
        line: Some(line.into()),
        compared: Some("output".to_owned()),
    }
}
