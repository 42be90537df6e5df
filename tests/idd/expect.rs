//! The finding that a fixture expects (`expect.toml`), and its comparison with a report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use idd_base::Outcome;
use idd_report::views::views;
use idd_report::{Commit, ReducedChange, Report, Untrusted};
use serde::Deserialize;

use crate::fixture;

/// The whole file. A field that is absent is not compared.
#[derive(Debug, Deserialize)]
pub struct Expect {
    /// Id of HEAD after `make.sh`.
    pub head: String,
    /// Arguments of `git idd`.
    pub arguments: Vec<String>,
    #[serde(flatten)]
    pub finding: Finding,
    /// The same hunt with a known good revision.
    pub with_good: Option<WithGood>,
    /// Other arguments, by name, that come to the same finding.
    #[serde(default)]
    pub variants: BTreeMap<String, Vec<String>>,
    /// Other hunts, by name, that come to findings of their own.
    #[serde(default)]
    pub hunts: BTreeMap<String, Hunt>,
    /// A reduction between two revisions.
    pub minimize: Option<Minimize>,
    /// How a person judges the revisions, if the arguments begin a hunt by hand.
    pub by_hand: Option<ByHand>,
    /// The finding of each test, by its name, if the arguments hunt several failing tests.
    #[serde(default)]
    pub each: BTreeMap<String, Finding>,
}

/// What is to be found.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Finding {
    status: Option<String>,
    exit: Option<u8>,
    bad_subject: Option<String>,
    last_good_subject: Option<String>,
    first_bad_subject: Option<String>,
    /// They are among the culprits; empty: the first bad commit alone.
    culprit_subjects: Option<Vec<String>>,
    sufficient_lines: Option<u64>,
    /// For a change of which only the order of magnitude is certain.
    sufficient_lines_max: Option<u64>,
    sufficient_files: Option<Vec<String>>,
    sufficient_contains: Option<Vec<String>>,
    sufficient_lacks: Option<Vec<String>>,
    necessary_lines: Option<u64>,
    necessary_contains: Option<Vec<String>>,
    necessary_lacks: Option<Vec<String>>,
    /// What the sufficient and the necessary change share.
    change_contains: Option<Vec<String>>,
    fix_lines_max: Option<u64>,
    fix_files: Option<Vec<String>>,
    fix_contains: Option<Vec<String>>,
    fix_lacks: Option<Vec<String>>,
    /// How much of the culprit the fix takes back: `lines`, `statements`, `declarations`, `files`, `revert`.
    fix_rung: Option<String>,
    fix_complete: Option<bool>,
    n_repairs_min: Option<usize>,
    repair_lines_max: Option<u64>,
    repair_contains: Option<Vec<String>>,
    /// The commits that could not be told apart.
    range_subjects: Option<Vec<String>>,
    /// Tests of a program that was fetched.
    n_fetched: Option<u64>,
    /// Runs of the search for which a revision was built, although programs are fetched.
    n_built: Option<u64>,
    /// All runs of the test but the clean ones that verify the claims.
    max_probes: Option<u64>,
    /// Runs before the reduction: to reproduce, to search, to repair.
    max_search_probes: Option<u64>,
    /// Fields for scripts only, such as what plain git answers.
    #[serde(flatten)]
    others: BTreeMap<String, toml::Value>,
}

/// The fields that are for scripts only.
const FOR_SCRIPTS: [&str; 6] =
    ["bisect", "bisect_good", "bisect_command", "bare_last_good", "bare_first_bad", "sufficient_base"];

/// The same hunt with a known good revision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithGood {
    pub good: String,
    max_probes: Option<u64>,
    max_search_probes: Option<u64>,
}

/// A hunt with arguments and a finding of its own.
#[derive(Debug, Deserialize)]
pub struct Hunt {
    pub arguments: Vec<String>,
    #[serde(flatten)]
    pub finding: Finding,
}

/// How a person judges the revisions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByHand {
    /// Stands for the person. It runs in the checkout: exit code 0 means good, 1 bad, 125 that nothing can be seen.
    pub look: String,
    /// The revisions that are skipped, in the order in which they are shown.
    #[serde(default)]
    pub skipped_subjects: Vec<String>,
    pub max_verdicts: usize,
}

/// A reduction between two revisions.
#[derive(Debug, Deserialize)]
pub struct Minimize {
    pub good: String,
    pub bad: String,
    #[serde(flatten)]
    pub finding: Finding,
}

impl Expect {
    /// The expectation of a story. Its history is not made.
    pub fn of(story: &str) -> Self {
        Self::read(&fs::read_to_string(fixture::story(story).join("expect.toml")).unwrap())
    }

    /// Reads `expect.toml`.
    pub fn read(text: &str) -> Self {
        let expect: Self = toml::from_str(text).unwrap_or_else(|error| panic!("expect.toml: {error}"));
        let minimize = expect.minimize.iter().map(|minimize| &minimize.finding);
        let hunts = expect.hunts.values().map(|hunt| &hunt.finding);
        let findings = [&expect.finding].into_iter().chain(minimize).chain(hunts).chain(expect.each.values());
        for name in findings.flat_map(|finding| finding.others.keys()) {
            assert!(FOR_SCRIPTS.contains(&name.as_str()), "expect.toml: the field `{name}` is not known");
        }
        expect
    }

    /// What the hunt for the commit with `--good` is to find; the change in it is that of the hunt without.
    pub fn finding_with_good(&self, with_good: &WithGood) -> Finding {
        let Finding { bad_subject, last_good_subject, first_bad_subject, .. } = self.finding.clone();
        Finding {
            status: Some("found".to_owned()),
            exit: Some(0),
            bad_subject,
            last_good_subject,
            first_bad_subject,
            max_probes: with_good.max_probes,
            max_search_probes: with_good.max_search_probes,
            ..Finding::default()
        }
    }

    /// What a variant is to find; its costs are its own.
    pub fn finding_of_variant(&self) -> Finding {
        Finding { max_probes: None, max_search_probes: None, ..self.finding.clone() }
    }
}

impl Finding {
    /// What is wrong with the exit code of several hunts and with all their runs, in words.
    pub fn complaints_about_cost(&self, exit: Option<i32>, n_runs: u64) -> Vec<String> {
        let mut check = Check { found: Vec::new() };
        check.equal("exit", self.exit.map(i32::from), exit);
        check.at_most("max_probes", self.max_probes, Some(n_runs));
        check.found
    }

    /// What is wrong with `report`, in words.
    pub fn complaints(&self, report: &Report) -> Vec<String> {
        let mut check = Check { found: Vec::new() };
        let subject = |commit: &Commit| text(&commit.subject);
        check.equal("status", self.status.as_deref(), Some(report.status.word()));
        check.equal("exit", self.exit, Some(report.status.code()));
        check.equal("bad_subject", self.bad_subject.clone(), report.bad.as_ref().map(subject));
        check.equal("last_good_subject", self.last_good_subject.clone(), report.last_good.as_ref().map(subject));
        let first_bad = report.first_bad.as_ref().map(|first_bad| subject(&first_bad.commit));
        check.equal("first_bad_subject", self.first_bad_subject.clone(), first_bad.clone());
        if let Some(subjects) = &self.culprit_subjects {
            let found: BTreeSet<String> = report.culprits.iter().map(subject).collect();
            let is_right = match subjects.as_slice() {
                [] => found.iter().all(|subject| Some(subject) == first_bad.as_ref()),
                subjects => subjects.iter().all(|subject| found.contains(subject)),
            };
            if !is_right {
                check.found.push(format!("culprit_subjects: expected {subjects:?}, found {found:?}"));
            }
        }
        let sufficient = report.change.sufficient.as_ref();
        let necessary = report.change.necessary.as_ref();
        check.equal("sufficient_lines", self.sufficient_lines, sufficient.map(|change| change.lines));
        check.at_most("sufficient_lines_max", self.sufficient_lines_max, sufficient.map(|change| change.lines));
        check.equal("sufficient_files", self.sufficient_files.as_deref().map(set), sufficient.map(files));
        check.contains("sufficient_contains", self.sufficient_contains.as_ref(), sufficient.map(|it| &it.patch));
        check.lacks("sufficient_lacks", self.sufficient_lacks.as_ref(), sufficient.map(|it| &it.patch));
        check.equal("necessary_lines", self.necessary_lines, necessary.map(|change| change.lines));
        check.contains("necessary_contains", self.necessary_contains.as_ref(), necessary.map(|it| &it.patch));
        check.lacks("necessary_lacks", self.necessary_lacks.as_ref(), necessary.map(|it| &it.patch));
        let shown = views(report).into_iter().next().map(|view| &view.change.patch);
        check.contains("change_contains", self.change_contains.as_ref(), shown);
        // Of a revert, the same is checked as of a fix; and then no fix is recommended.
        let revert = report.revert().filter(|_| self.fix_rung.as_deref() == Some("revert"));
        let fix = report.fix.as_ref().or(revert);
        let rung = fix.map(|fix| fix.scope.word().to_owned());
        check.at_most("fix_lines_max", self.fix_lines_max, fix.map(|fix| fix.lines));
        check.equal("fix_complete", self.fix_complete, fix.map(|fix| fix.complete));
        check.equal("fix_files", self.fix_files.as_deref().map(set), fix.map(|fix| files_of_patch(&fix.patch)));
        check.contains("fix_contains", self.fix_contains.as_ref(), fix.map(|fix| &fix.patch));
        check.lacks("fix_lacks", self.fix_lacks.as_ref(), fix.map(|fix| &fix.patch));
        check.equal("fix_rung", self.fix_rung.clone(), rung);
        if self.fix_complete == Some(true) {
            check.equal("fix.tested", Some(Outcome::Pass), fix.map(|fix| fix.tested));
        }
        if self.n_repairs_min.is_some_and(|n_repairs| report.repairs.len() < n_repairs) {
            check.found.push(format!("n_repairs_min: {} repairs", report.repairs.len()));
        }
        let longest = report.repairs.iter().map(|repair| repair.lines).max();
        check.at_most("repair_lines_max", self.repair_lines_max, longest.or(Some(0)));
        let repairs = report.repairs.iter().flat_map(|repair| repair.patch.as_bytes()).copied().collect::<Vec<_>>();
        check.contains("repair_contains", self.repair_contains.as_ref(), Some(&repairs.into()));
        let candidates = report.range.iter().flat_map(|range| &range.candidates);
        check.equal("range_subjects", self.range_subjects.clone(), Some(candidates.map(subject).collect()));
        let artifacts = report.artifacts.as_ref();
        check.equal("n_fetched", self.n_fetched, artifacts.map(|artifacts| artifacts.fetched));
        check.equal("n_built", self.n_built, artifacts.map(|artifacts| artifacts.built));
        let probes = &report.probes;
        check.at_most("max_probes", self.max_probes, Some(probes.run.saturating_sub(probes.verify)));
        check.at_most(
            "max_search_probes",
            self.max_search_probes,
            Some(probes.reproduce + probes.search + probes.repair),
        );
        for evidence in report.evidence.iter().filter(|evidence| evidence.expected != evidence.outcome) {
            check.found.push(format!("evidence: `{}` is {}", text(&evidence.claim), evidence.outcome));
        }
        check.found
    }
}

struct Check {
    found: Vec<String>,
}

impl Check {
    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, name: &str, expected: Option<T>, found: Option<T>) {
        match (expected, found) {
            (Some(expected), Some(found)) if expected == found => {}
            (Some(expected), found) => self.found.push(format!("{name}: expected {expected:?}, found {found:?}")),
            (None, _) => {}
        }
    }

    fn at_most(&mut self, name: &str, expected: Option<u64>, found: Option<u64>) {
        if expected.is_some_and(|expected| found.is_none_or(|found| found > expected)) {
            self.found.push(format!("{name}: expected at most {expected:?}, found {found:?}"));
        }
    }

    fn contains(&mut self, name: &str, expected: Option<&Vec<String>>, found: Option<&Untrusted>) {
        let patch = found.map(text).unwrap_or_default();
        for line in expected.into_iter().flatten().filter(|line| !patch.contains(*line)) {
            self.found.push(format!("{name}: `{line}` is not in\n{patch}"));
        }
    }

    /// A patch that is not there lacks nothing: that is what the other fields are for.
    fn lacks(&mut self, name: &str, unwanted: Option<&Vec<String>>, found: Option<&Untrusted>) {
        let patch = found.map(text).unwrap_or_default();
        let changed: Vec<&str> = patch.lines().filter(|line| line.starts_with(['+', '-'])).collect();
        for text in unwanted.into_iter().flatten().filter(|text| changed.iter().any(|line| line.contains(*text))) {
            self.found.push(format!("{name}: `{text}` is in\n{patch}"));
        }
    }
}

fn text(text: &Untrusted) -> String {
    String::from_utf8_lossy(text.as_bytes()).into_owned()
}

fn set(names: &[String]) -> BTreeSet<String> {
    names.iter().cloned().collect()
}

fn files(change: &ReducedChange) -> BTreeSet<String> {
    change.files.iter().map(text).collect()
}

/// The paths that a patch changes, from the lines `--- a/...` and `+++ b/...`.
fn files_of_patch(patch: &Untrusted) -> BTreeSet<String> {
    let text = text(patch);
    let names = text.lines().filter_map(|line| line.strip_prefix("--- a/").or_else(|| line.strip_prefix("+++ b/")));
    names.map(str::to_owned).collect()
}

#[test]
fn a_wrong_report_is_complained_about_field_by_field() {
    let text = r#"
        head = "x"
        arguments = ["t"]
        status = "found"
        exit = 0
        first_bad_subject = "Break it"
        culprit_subjects = []
        sufficient_lines_max = 2
        sufficient_contains = ["+x"]
        sufficient_lacks = ["z"]
        necessary_contains = ["-x"]
        necessary_lacks = ["z"]
        change_contains = ["+x"]
        fix_contains = ["+y"]
        fix_lacks = ["z"]
        fix_rung = "lines"
        fix_complete = true
        fix_lines_max = 2
        max_probes = 3
        bisect = "n/a"
        [with_good]
        good = "v1"
        max_search_probes = 2
    "#;
    let expect = Expect::read(text);
    let mut report = Report::new(idd_report::Status::Range, "");
    report.probes.run = 4;
    report.change.necessary = Some(ReducedChange {
        patch: Untrusted::from("@@ -1 +1 @@ z\n-y\n+z\n".to_owned()),
        lines: 2,
        files: Vec::new(),
        units: Vec::new(),
        places: Vec::new(),
        marked: Vec::new(),
        is_minimal: true,
    });
    let found: Vec<String> = expect.finding.complaints(&report);
    let names: Vec<&str> = found.iter().filter_map(|complaint| complaint.split(':').next()).collect();
    let expected = [
        "status",
        "exit",
        "first_bad_subject",
        "sufficient_lines_max",
        "sufficient_contains",
        "necessary_contains",
        "necessary_lacks",
        "change_contains",
        "fix_lines_max",
        "fix_complete",
        "fix_contains",
        "fix_rung",
        "fix.tested",
        "max_probes",
    ];
    assert_eq!(names, expected);
    let with_good = expect.with_good.as_ref().unwrap();
    assert_eq!(expect.finding_with_good(with_good).max_search_probes, Some(2));
}
