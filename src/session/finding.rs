//! Turns a finding of ids into the report that people and programs read.

use crate::Failure;
use crate::order::Until;
use crate::plan::{Adjustments, Plan};
use crate::side_results::SideResults;
use crate::tally::{Tally, counted};
use idd_base::{CommitId, Outcome, Reason, Signature, count};
use idd_change::trees::Rung;
use idd_hunt::finding::{Conclusion, Coverage, Finding};
use idd_hunt::test_paths::is_test_path;
use idd_hunt::{Artifacts, History, Phase, finding as found};
use idd_report::patch::{LineMap, Patch};
use idd_report::{Commit, Date, Report, Status, Untrusted};
use idd_world::repo::{RepoError, TreeStore};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The data for the report.
#[derive(Clone, Copy)]
pub struct FindingSources<'a> {
    /// The plan of the hunt.
    pub plan: &'a Plan,
    /// How it was adjusted.
    pub adjustments: &'a Adjustments,
    /// The history.
    pub history: &'a History,
    /// The trees.
    pub store: &'a TreeStore,
    /// The hunted failure, if known.
    pub signature: Option<&'a Signature>,
    /// Results other than outcomes of the test, if anything was reduced yet.
    pub beside: Option<&'a SideResults>,
}

/// The report of a finding: patches, names, sentences. The caller adds counts and times.
pub fn report(finding: &Finding, sources: FindingSources<'_>) -> Result<Report, Failure> {
    sources.report(finding).map_err(Failure::from)
}

/// A share in a report: rounded down to thousandths, because more digits would claim too much.
fn thousandths(share: f64) -> f64 {
    (share * 1000.0).floor() / 1000.0
}

impl FindingSources<'_> {
    fn report(self, finding: &Finding) -> Result<Report, RepoError> {
        let status = match finding.conclusion {
            Conclusion::Unfixed if !self.plan.order.effort.require_fix => Status::Found,
            conclusion => status(conclusion),
        };
        // Without a search, the revisions between the two are unknown.
        let searched = finding.first_bad.filter(|_| !self.plan.is_minimize);
        let first_bad = searched.map(|id| self.first_bad(id)).transpose()?;
        let culprit_lines = first_bad.as_ref().map_or(0, |first_bad| first_bad.lines);
        let fix = match &finding.fix {
            Some(fix) if fix.tested == Outcome::Pass => Some(self.fix(fix, culprit_lines)?),
            _ => None,
        };
        let described = |fixes: Vec<&found::Fix>| {
            let fixes = fixes.into_iter().map(|fix| self.fix(fix, culprit_lines)).collect::<Result<Vec<_>, _>>();
            fixes.map(idd_report::by_size)
        };
        let (reverts, fixes): (Vec<_>, Vec<_>) = finding.fixes.iter().partition(|fix| fix.is_revert());
        let (mut reverts, fixes) = (described(reverts)?, described(fixes)?);
        // Several reversals can be the same revert.
        reverts.dedup_by(|next, fix| {
            let is_same = next.patch == fix.patch && next.reverts == fix.reverts;
            if is_same {
                fix.scope = fix.scope.max(next.scope);
            }
            is_same
        });
        let is_unfixed = match finding.conclusion {
            Conclusion::Unfixed => true,
            Conclusion::Range => !finding.fixes.is_empty() && !finding.fix.as_ref().is_some_and(|fix| fix.is_complete),
            _ => false,
        };
        let failing = fixes.iter().chain(&reverts).find_map(|fix| fix.fails.first());
        let no_fix = is_unfixed.then(|| match (why_no_fix(finding), failing) {
            (why, Some(test)) if FAILS_OTHERS.contains(&why) => {
                [why.as_bytes(), b", such as `", test.as_bytes(), b"`"].concat().into()
            }
            (why, _) => Untrusted::from(why),
        });
        let is_open = matches!(finding.conclusion, Conclusion::Range | Conclusion::Budget | Conclusion::Interrupted);
        let is_range = is_open && narrowed(finding).len() > 1;
        let candidates = narrowed(finding).iter().map(|id| self.commit(*id)).collect();
        let repairs = finding.repairs.iter().map(|repair| self.repair(repair)).collect::<Result<Vec<_>, _>>()?;
        Ok(Report {
            signature: self.signature.map(|signature| idd_report::HuntedFailure {
                compared: self.beside.and_then(|beside| beside.exactness).map(|exactness| exactness.word().to_owned()),
                ..idd_report::HuntedFailure::from(signature)
            }),
            find: self.plan.order.history.find,
            bad: Some(self.commit(finding.bad)),
            last_good: finding.last_good.map(|id| self.commit(id)),
            proved: finding.is_proved && first_bad.is_some(),
            interaction: finding.is_interaction,
            confidence: finding.confidence.map(thousandths),
            noise: finding.noise.map(|noise| idd_report::ReportedNoise {
                false_fails: thousandths(noise.false_fails),
                false_passes: thousandths(noise.false_passes),
            }),
            culprits: finding.culprits.iter().map(|id| self.commit(*id)).collect(),
            range: is_range.then_some(idd_report::CandidateRange { candidates }),
            change: self.changes(finding)?,
            first_bad,
            fix,
            fixes,
            reverts,
            no_fix,
            repaired: repaired(finding, &repairs),
            repairs,
            evidence: finding.evidence.iter().map(|shown| evidence(shown, finding.n_unverified_units > 0)).collect(),
            held: self.held(finding)?,
            artifacts: (self.plan.artifacts() != Artifacts::Unused).then(|| idd_report::FetchedArtifacts {
                revisions: finding.fetched.clone(),
                ..idd_report::FetchedArtifacts::default()
            }),
            notes: notes(finding)
                .into_iter()
                .chain(self.further(finding))
                .chain(self.undated(finding))
                .chain(self.so_far(finding))
                .chain(self.generated(finding).map(Untrusted::from))
                .collect(),
            ..Report::new(status, self.sentence(finding))
        })
    }

    /// How to continue after the requested stage.
    fn further(self, finding: &Finding) -> Option<Untrusted> {
        let until = self.plan.order.effort.until;
        let has_ended = matches!(finding.conclusion, Conclusion::Found | Conclusion::Range)
            || (until, finding.conclusion) == (Until::Found, Conclusion::Culprit);
        if has_ended && self.plan.artifacts() == Artifacts::Only {
            return Some(Untrusted::from(match finding.conclusion {
                Conclusion::Range => {
                    "Nothing can be built without `--build`, so the commits without an artifact were not tested."
                }
                _ => {
                    "The hunt ended with the commit, because parts of a commit have no artifact; the same command with \
                     `--build <command>` reduces the change and searches a fix."
                }
            }));
        }
        let is_noisy_range = finding.conclusion == Conclusion::Range && finding.noise.is_some();
        if !has_ended
            || is_noisy_range
            || until == Until::Fix
            || self.plan.is_minimize
            || self.plan.order.by_hand
            || self.plan.order.perf.is_some()
        {
            return None;
        }
        let word = until.word();
        let next = match (until, finding.conclusion) {
            (Until::Found, Conclusion::Culprit) => "`git idd resume --until commit` proves it",
            (Until::Found | Until::Commit, Conclusion::Range) => {
                "`git idd resume --until change` goes on, and distinguishes the commits by their changes"
            }
            _ => "`git idd resume --until fix` goes on",
        };
        let stage = if until == Until::Found { "commit, before its proof" } else { word };
        Some(Untrusted::from(format!("The hunt ended with the {stage} (`--until {word}`); {next}.")))
    }

    /// The result of an unfinished search: the oldest failure, and the newest pass.
    fn so_far(self, finding: &Finding) -> Option<Untrusted> {
        if !is_stopped(finding) || finding.first_bad.is_some() {
            return None;
        }
        let distance = |id: &CommitId| self.history.path(finding.bad, *id).map_or(0, |line| line.len());
        let seen = |wanted| {
            let verdicts = finding.verdicts.iter().filter(move |(_, outcome, _)| *outcome == wanted);
            verdicts.map(|(id, _, is_repaired)| (distance(id), id, *is_repaired)).filter(|(distance, ..)| *distance > 0)
        };
        let name = |(_, id, is_repaired): (usize, &CommitId, bool)| {
            format!("{}{}", id.short(), if is_repaired { " (with a repair)" } else { "" })
        };
        let [pass, fail] = self.plan.order.history.find.words().shows;
        let fails = seen(Outcome::Fail).max_by_key(|(distance, ..)| *distance).map(name);
        let passes = seen(Outcome::Pass).min_by_key(|(distance, ..)| *distance).map(name);
        let (fails, passes) = match (fails, passes) {
            (None, None) => return None,
            (Some(fails), None) => (fails, format!("none {pass} yet")),
            (fails, Some(newest)) => {
                (fails.unwrap_or_else(|| finding.bad.short()), format!("the newest that {pass} is {newest}"))
            }
        };
        Some(Untrusted::from(format!("Of the revisions tested so far the oldest that {fail} is {fails}, {passes}.")))
    }

    /// Notes on generated files in the change, each once.
    fn generated(self, finding: &Finding) -> impl Iterator<Item = String> {
        let mut paths = BTreeSet::new();
        for change in finding.sufficient.iter().chain(&finding.necessary) {
            let is_generated = |path: &[u8]| {
                [change.newer, change.older]
                    .into_iter()
                    .any(|tree| self.plan.divisions.is_generated(self.store.repository(), tree, path))
            };
            let files: BTreeSet<&Vec<u8>> = change.units.iter().map(|unit| &unit.path).collect();
            paths.extend(files.into_iter().filter(|path| is_generated(path)).cloned());
        }
        paths.into_iter().map(|path| {
            let path = String::from_utf8_lossy(&path).into_owned();
            format!(
                "`{path}` is a generated file, so it is one unit, together with its sources; if `idd.regenerate` \
                 names its generator, the change is reduced in the sources."
            )
        })
    }

    fn sentence(self, finding: &Finding) -> String {
        let distance = |id: CommitId| self.history.path(finding.bad, id).map_or(0, |line| line.len() - 1);
        let words = self.plan.order.history.find.words();
        let (first, [newer, older], [all, _]) = (words.first, words.absent, words.shows);
        match finding.conclusion {
            Conclusion::Found if self.plan.is_minimize => {
                "The difference of the two revisions was reduced, and every claim about it was run again.".to_owned()
            }
            Conclusion::Found if finding.is_interaction && finding.culprits.len() > 1 => {
                format!(
                    "{} needs {} commits together; the newest of them is the {first}.",
                    words.together[1],
                    finding.culprits.len()
                )
            }
            Conclusion::Found => format!("The {first} was found, and every claim about it was run again."),
            Conclusion::Unfixed => {
                format!("The {first} was found, but no fix is recommended: {}.", why_no_fix(finding))
            }
            Conclusion::Range => {
                format!("The {first} is one of {}; they could not be told apart.", finding.range.len().max(1))
            }
            Conclusion::BadPasses => newer.to_owned(),
            Conclusion::GoodFails => older.to_owned(),
            Conclusion::NothingTestable => {
                format!("The test gives no verdict at {}.", self.plan.order.history.find.newer_revision())
            }
            Conclusion::NotReproducible => {
                "Two runs of the test at the bad revision give different answers.".to_owned()
            }
            Conclusion::NeverPassed => {
                let oldest = finding.oldest_tested.unwrap_or(finding.bad);
                let border = self.history.first_parents(oldest).last().copied().unwrap_or(oldest);
                let end =
                    if self.history.is_shallow_border(border) { "the border of the shallow clone" } else { "the root" };
                let steps = count(distance(oldest), "step");
                let bad = if self.plan.order.history.find.is_failure() { "bad" } else { "newer" };
                if oldest != border {
                    return format!(
                        "No revision that could be tested {all}; the oldest of them is {steps} before the {bad} one, \
                         and there are older ones back to {end}."
                    );
                }
                let Coverage { n_tested, n_all } = Coverage::of(finding, self.history);
                let tested = if n_tested == n_all {
                    format!("all {n_all} were tested")
                } else {
                    format!("{n_tested} of {n_all} were tested")
                };
                format!("No revision {all}, back to {end}; {tested}, the oldest {steps} before the {bad} one.")
            }
            Conclusion::Culprit if finding.is_proved => {
                format!("The {first} is proved; the rest of the hunt has not ended.")
            }
            Conclusion::Culprit => format!("The {first} was found; it is not proved yet."),
            Conclusion::Budget => "The budget ended the hunt; this is what was learned so far.".to_owned(),
            Conclusion::Waiting => "A person has to judge a revision.".to_owned(),
            Conclusion::Interrupted => "The hunt was interrupted; this is what was learned so far.".to_owned(),
        }
    }

    fn commit(self, id: CommitId) -> Commit {
        Commit::from(&self.history.get(id))
    }

    fn first_bad(self, id: CommitId) -> Result<idd_report::FirstBad, RepoError> {
        let lines = match self.history.first_parent(id) {
            Some(parent) => self.store.patch(self.history.tree(parent), self.history.tree(id))?.1,
            None => 0,
        };
        Ok(idd_report::FirstBad { commit: self.commit(id), lines: lines as u64 })
    }

    /// The two changes, with their places in the first bad commit, and the lines that both have.
    fn changes(self, finding: &Finding) -> Result<idd_report::Changes, RepoError> {
        let mut sufficient = finding.sufficient.as_ref().map(|change| self.change(change)).transpose()?;
        let mut necessary = finding.necessary.as_ref().map(|change| self.change(change)).transpose()?;
        if let Some(change) = &mut necessary {
            change.places = places_of(&Patch::read(&change.patch), &|_, line| line);
        }
        let found = finding.sufficient.as_ref().zip(finding.necessary.as_ref());
        if let (Some(with), Some(without), Some((added, taken))) = (&mut sufficient, &necessary, found) {
            let between = |one, other| {
                let paths: Vec<Vec<u8>> = with.files.iter().map(|path| path.as_bytes().to_vec()).collect();
                let (patch, _) = self.store.patch_of(one, other, &paths)?;
                Ok::<_, RepoError>(Patch::read(&patch.into()))
            };
            let sides = [between(added.older, taken.older)?, between(added.newer, taken.newer)?];
            let [older, newer] = sides.each_ref().map(|side| |path: &Untrusted, line: u32| side.carried(path, line));
            let (mut patch, other) = (Patch::read(&with.patch), Patch::read(&without.patch));
            with.places = places_of(&patch, &newer);
            if patch.mark(&other, [&older, &newer]) {
                with.marked = patch.edits().filter(|line| line.is_marked).map(|line| line.at).collect();
            }
        }
        Ok(idd_report::Changes { sufficient, necessary, ends: finding.ends })
    }

    fn change(self, change: &found::FoundChange) -> Result<idd_report::ReducedChange, RepoError> {
        let (patch, lines) = self.store.patch(change.older, change.newer)?;
        let files = self.store.paths(change.older, change.newer)?;
        let units = change.units.iter().map(|unit| idd_report::ChangePart {
            commit: Some(unit.commit),
            file: Untrusted::from(unit.path.clone()),
            lines: unit.n_lines as u64,
            text: Untrusted::from(patch_lines(&unit.edits)),
            without: unit.shown_without,
        });
        Ok(idd_report::ReducedChange {
            patch: Untrusted::from(patch),
            lines: lines as u64,
            files: files.into_iter().map(Untrusted::from).collect(),
            places: Vec::new(),
            marked: Vec::new(),
            units: units.collect(),
            is_minimal: change.is_minimal,
        })
    }

    fn fix(self, fix: &found::Fix, culprit_lines: u64) -> Result<idd_report::ReportedFix, RepoError> {
        let (patch, lines) = self.store.patch(fix.older, fix.newer)?;
        Ok(idd_report::ReportedFix {
            commit: fix.revision,
            complete: fix.is_complete,
            patch: Untrusted::from(patch),
            lines: lines as u64,
            tested: fix.tested,
            still_fails: fix.still_fails,
            culprit_lines,
            suite: match fix.suite {
                None => idd_report::Suite::NotRun,
                Some(Outcome::Pass) => idd_report::Suite::Same,
                Some(_) => idd_report::Suite::Worse,
            },
            scope: if fix.is_code_of_commit() { idd_report::ReportedScope::Code } else { scope(fix.scope) },
            reverts: fix.commit.map(|commit| self.commit(commit)),
            tests: self
                .store
                .paths(fix.older, fix.newer)?
                .into_iter()
                .filter(|path| is_test_path(path))
                .map(Untrusted::from)
                .collect(),
            fails: self.fails(fix),
            stopped_by: fix.stopped_by.map(|commit| self.commit(commit)),
            complaints: self.complaints(fix),
            rung: match fix.rung {
                Rung::Merge => idd_report::PortRung::Merge,
                Rung::Lines => idd_report::PortRung::Lines,
                Rung::Syntax => idd_report::PortRung::Syntax,
                Rung::Renamed => idd_report::PortRung::Renamed,
                Rung::Reduced => idd_report::PortRung::Reduced,
            },
        })
    }

    /// New failing lines of the suite with a fix.
    fn fails(self, fix: &found::Fix) -> Vec<Untrusted> {
        let lines = self.beside.and_then(|beside| beside.suite_lines.get(&fix.probed));
        lines.into_iter().flatten().map(|line| Untrusted::from(line.as_str())).collect()
    }

    /// New warnings with a fix.
    fn complaints(self, fix: &found::Fix) -> Vec<Untrusted> {
        let known = self.beside.and_then(|beside| beside.complaints.get(&fix.probed));
        known
            .into_iter()
            .filter(|_| fix.has_complaints)
            .flatten()
            .map(|complaint| Untrusted::from(complaint.as_str()))
            .collect()
    }

    fn repair(self, repair: &found::Repair) -> Result<idd_report::ReportedRepair, RepoError> {
        let (patch, lines) = self.store.patch(repair.base, repair.patched)?;
        let is_newer = self.history.path(repair.source, repair.revision).is_some();
        Ok(idd_report::ReportedRepair {
            commit: repair.revision,
            source: repair.source,
            direction: if is_newer { idd_report::RepairDirection::Newer } else { idd_report::RepairDirection::Older },
            lines: lines as u64,
            patch: Untrusted::from(patch),
            control: match repair.control {
                found::RepairCheck::Held => idd_report::RepairControl::Held,
                found::RepairCheck::Flipped => idd_report::RepairControl::Flipped,
                found::RepairCheck::Provisional => idd_report::RepairControl::Provisional,
            },
        })
    }

    /// The held paths, and whether history changed them between good and bad.
    fn held(self, finding: &Finding) -> Result<Vec<idd_report::HeldPath>, RepoError> {
        let paths = self.plan.held.keys().filter(|_| !self.adjustments.hold_nothing);
        let paths: BTreeSet<&Vec<u8>> = paths.chain(&self.adjustments.also_held).collect();
        let mut held = Vec::new();
        for path in paths {
            let at = |id: CommitId| self.store.file(self.history.tree(id), path);
            let (good, bad) = (finding.last_good.map(at).transpose()?, finding.first_bad.map(at).transpose()?);
            held.push(idd_report::HeldPath {
                path: Untrusted::from(path.clone()),
                changed: good.as_ref().zip(bad.as_ref()).map(|(good, bad)| good != bad),
                in_good: good.map(|file| file.is_some()),
                in_bad: bad.map(|file| file.is_some()),
                beside: false,
            });
        }
        held.extend(self.adjustments.environment.iter().map(|candidate| idd_report::HeldPath {
            path: Untrusted::from(candidate.path.clone()),
            beside: candidate.shown().is_some(),
            ..idd_report::HeldPath::default()
        }));
        Ok(held)
    }
}

/// Whether the hunt was stopped before its end.
fn is_stopped(finding: &Finding) -> bool {
    matches!(finding.conclusion, Conclusion::Budget | Conclusion::Interrupted)
}

/// The candidates for the first bad commit, newest first: those of the range; for an unfinished search only those that
/// its verdicts leave.
fn narrowed(finding: &Finding) -> &[CommitId] {
    let range = &finding.range[..];
    if !is_stopped(finding) {
        return range;
    }
    let shows = |id: &CommitId, wanted| finding.verdicts.iter().any(|(of, outcome, _)| of == id && *outcome == wanted);
    let passes = range.iter().position(|id| shows(id, Outcome::Pass)).unwrap_or(range.len());
    let fails = range[..passes].iter().rposition(|id| shows(id, Outcome::Fail)).unwrap_or(0);
    &range[fails..passes]
}

/// Edits as lines of a patch: deletions before insertions.
fn patch_lines(edits: &[found::ChangeEdit]) -> Vec<u8> {
    let mut edits: Vec<_> = edits.iter().filter(|edit| !edit.text.is_empty()).collect();
    edits.sort_by_key(|edit| edit.is_insertion);
    let mut lines = Vec::new();
    for edit in edits {
        for line in edit.text.split_inclusive(|byte| *byte == b'\n') {
            lines.push(if edit.is_insertion { b'+' } else { b'-' });
            lines.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            lines.push(b'\n');
        }
    }
    lines
}

/// The places of the runs of a patch, one for a file without lines.
///
/// - `carried`: the number in the first bad commit of a line of the newer side.
fn places_of(patch: &Patch, carried: &LineMap<'_>) -> Vec<idd_report::ChangePlace> {
    let mut places = Vec::new();
    for file in &patch.files {
        let name = &file.paths[1];
        let n_before = places.len();
        let place = |line: Option<u32>| idd_report::ChangePlace { file: name.clone(), line: line.map(u64::from) };
        places.extend(file.runs().map(|run| place(Some(carried(name, run[0].newer)))));
        if places.len() == n_before {
            places.push(place(None));
        }
    }
    places
}

/// The status of a conclusion.
pub fn status(conclusion: Conclusion) -> Status {
    match conclusion {
        Conclusion::Found => Status::Found,
        Conclusion::Range => Status::Range,
        Conclusion::BadPasses => Status::BadPasses,
        Conclusion::GoodFails => Status::GoodFails,
        Conclusion::NothingTestable => Status::NothingTestable,
        Conclusion::NotReproducible => Status::NotReproducible,
        Conclusion::NeverPassed => Status::NeverPassed,
        Conclusion::Unfixed => Status::Unfixed,
        Conclusion::Culprit => Status::Culprit,
        Conclusion::Budget => Status::Budget,
        Conclusion::Interrupted => Status::Interrupted,
        Conclusion::Waiting => Status::Waiting,
    }
}

impl FindingSources<'_> {
    /// A note on commits whose dates cannot be printed.
    fn undated(self, finding: &Finding) -> Option<Untrusted> {
        let named = [finding.first_bad, finding.last_good, Some(finding.bad)].into_iter().flatten();
        let undated = named.filter(|id| !Date::is_told(self.history.get(*id).author_time.0)).min();
        undated.map(|id| {
            let id = id.short();
            Untrusted::from(format!("The date of {id} is outside of the calendar; it is shown as 1970, as git does."))
        })
    }
}

/// The notes of a finding as sentences.
fn notes(finding: &Finding) -> Vec<Untrusted> {
    let mut said = HashSet::new();
    let once = finding.notes.iter().filter(|note| said.insert(*note));
    let mut notes: Vec<Untrusted> = once.map(|note| Untrusted::from(sentence_of(note))).collect();
    if finding.n_unverified_units > 0 {
        let n_units = finding.n_unverified_units;
        notes.push(Untrusted::from(format!(
            "{n_units} of the units were not run again one by one: the reduction showed once that each of them is \
             needed."
        )));
    }
    notes
}

/// - `is_sample`: whether only some of the units were run again.
fn evidence(evidence: &found::CleanRun, is_sample: bool) -> idd_report::ClaimEvidence {
    let is_unit = matches!(evidence.expected, found::Expected::NotFail | found::Expected::NotPass);
    let expected = match evidence.expected {
        found::Expected::Pass | found::Expected::NotFail => Outcome::Pass,
        found::Expected::Fail | found::Expected::NotPass => Outcome::Fail,
    };
    // The expectation is "anything but": it is printed as the outcome if the claim holds.
    let expected = if evidence.holds() { evidence.seen } else { expected };
    idd_report::ClaimEvidence {
        claim: Untrusted::from(evidence.claim.as_str()),
        commit: Some(evidence.revision),
        tree: Some(evidence.tree),
        expected,
        outcome: evidence.seen,
        is_clean: true,
        verified: if is_sample && is_unit { idd_report::Verified::Observed } else { idd_report::Verified::Verified },
        place: None,
    }
}

/// The reversed part, as in reports.
pub fn scope(scope: found::Scope) -> idd_report::ReportedScope {
    match scope {
        found::Scope::Lines => idd_report::ReportedScope::Lines,
        found::Scope::Statements => idd_report::ReportedScope::Statements,
        found::Scope::Declarations => idd_report::ReportedScope::Declarations,
        found::Scope::Files => idd_report::ReportedScope::Files,
        found::Scope::Revert => idd_report::ReportedScope::Revert,
        found::Scope::Merge => idd_report::ReportedScope::Merge,
    }
}

/// What is known of a reversal that does not apply to the newest revision.
const DOES_NOT_APPLY: Outcome = Outcome::Unresolved(Reason::DoesNotApply);

/// What speaks against every reversal, or against all but a revert; a test that fails with one follows.
const FAILS_OTHERS: [&str; 2] = [
    "each reversal that makes the test pass makes other tests of the suite fail",
    "each reversal of less than whole commits that makes the test pass makes other tests of the suite fail",
];

/// The revisions whose verdict is one with a repair, also where only the repair is known.
fn repaired(finding: &Finding, repairs: &[idd_report::ReportedRepair]) -> Vec<CommitId> {
    let has_verdict = |(_, outcome, is_repaired): &&(CommitId, Outcome, bool)| {
        *is_repaired && !matches!(outcome, Outcome::Unresolved(_))
    };
    let of_verdicts = finding.verdicts.iter().filter(has_verdict).map(|(id, ..)| *id);
    let of_repairs = repairs.iter().filter(|repair| !repair.patch.is_empty()).map(|repair| repair.commit);
    of_verdicts.chain(of_repairs).collect::<BTreeSet<_>>().into_iter().collect()
}

/// No reversal applies.
const NO_PLACE: &str =
    "its reversal does not fit the newest revision, because newer commits rewrote the code around it";

/// Why no reversal of a finding is recommended.
fn why_no_fix(finding: &Finding) -> &'static str {
    let parts = || finding.fixes.iter().filter(|fix| fix.is_complete && !fix.is_revert());
    let is_any = |is_it: fn(&found::Fix) -> bool| parts().any(is_it);
    let mut reverts = finding.fixes.iter().filter(|fix| fix.is_revert() && fix.is_complete).peekable();
    let is_reverted = reverts.peek().is_some();
    if !finding.fixes.is_empty() && finding.fixes.iter().all(|fix| fix.tested == DOES_NOT_APPLY) {
        NO_PLACE
    } else if !finding.own_tests.is_empty() && is_any(|fix| fix.tested == Outcome::Pass) {
        "the culprit changed tests that still exist, and that would probably fail without its code"
    } else if is_any(|fix| fix.suite.is_some_and(|suite| suite != Outcome::Pass)) {
        FAILS_OTHERS[usize::from(reverts.any(found::Fix::is_whole))]
    } else if is_any(|fix| fix.has_complaints) {
        "each reversal that makes the test pass causes new warnings"
    } else if is_any(|fix| fix.rung == Rung::Reduced && fix.tested == Outcome::Pass) {
        "only a new reduction at HEAD found a reversal, which can take back other commits, too, and no suite of the whole project \
         (`--suite`) shows what that breaks"
    } else if is_reverted && is_any(|fix| fix.scope < found::Scope::Declarations) {
        "a reversal of less than the whole commit takes back only a part of a declaration, and no suite (`--suite`) shows what \
         that breaks"
    } else if is_any(|fix| fix.scope < found::Scope::Declarations) {
        "only a part of a declaration can be reversed, and no suite (`--suite`) shows what that breaks"
    } else if is_reverted && finding.fixes.iter().any(|fix| !fix.is_revert() && fix.tested == DOES_NOT_APPLY) {
        "a reversal of less than whole commits does not fit the newest revision, because newer commits rewrote the code \
         around it"
    } else if is_reverted && reverts.all(|fix| fix.rung != Rung::Merge) {
        "only a revert of all that newer commits left of it makes the test pass at HEAD"
    } else if is_reverted {
        "only a revert of all its code makes the test pass at HEAD"
    } else if finding.fixes.iter().any(|fix| !matches!(fix.tested, Outcome::Pass | DOES_NOT_APPLY)) {
        "the newest revision does not pass with its reversal: this test fails, or others that pass without it"
    } else {
        NO_PLACE
    }
}

/// A note as a sentence; an id at its beginning is unchanged.
fn sentence_of(note: &str) -> String {
    let mut letters = note.chars();
    let is_id = note.split(' ').next().is_some_and(|word| word.contains(|letter: char| letter.is_ascii_digit()));
    let first = letters.next().map(|letter| if is_id { letter } else { letter.to_ascii_uppercase() });
    let stop = if note.ends_with('.') { "" } else { "." };
    format!("{}{}{stop}", first.map(String::from).unwrap_or_default(), letters.as_str())
}

/// The counts of a tally for the report, all runs of the program together.
pub fn probes(tally: &Tally, n_refused: u64) -> idd_report::Probes {
    let of = |phase: Phase| tally.earlier(phase.word()) + tally.runs.get(&phase).copied().unwrap_or(0);
    let phases = [Phase::Reproduce, Phase::Search, Phase::Repair, Phase::Reduce, Phase::Port, Phase::Verify];
    let mut outcomes: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for ((phase, outcome), n_answers) in &tally.outcomes {
        outcomes.entry(phase.word().to_owned()).or_default().insert(outcome.clone(), *n_answers);
    }
    idd_report::Probes {
        run: phases.into_iter().map(of).sum(),
        cached: tally.n_cached,
        refused: n_refused,
        prechecked: tally.earlier(counted::PRECHECKED) + tally.n_prechecked,
        precheck_refused: tally.earlier(counted::REFUSED) + tally.n_refused,
        same_product: tally.earlier(counted::SAME_PRODUCT) + tally.n_same_product,
        search: of(Phase::Search),
        repair: of(Phase::Repair),
        reduce: of(Phase::Reduce),
        port: of(Phase::Port),
        verify: of(Phase::Verify),
        reproduce: of(Phase::Reproduce),
        checks: tally.earlier(counted::CHECK) + tally.n_checks,
        suite: tally.earlier(counted::SUITE) + tally.n_suite_runs,
        outcomes,
    }
}

/// Adds the counts of a tally to what the report says of artifacts.
pub fn count_artifacts(artifacts: &mut idd_report::FetchedArtifacts, tally: &Tally) {
    let of = |word| tally.earlier(word) + tally.artifacts.get(word).copied().unwrap_or(0);
    artifacts.fetched = of(counted::ARTIFACT_FETCHED);
    artifacts.cached = of(counted::ARTIFACT_KEPT);
    artifacts.absent = of(counted::ARTIFACT_ABSENT);
    artifacts.built = of(counted::ARTIFACT_BUILT);
}

/// Advice for an outcome without a verdict.
pub fn hint_for(reason: Reason, has_build: bool) -> &'static str {
    match reason {
        Reason::Build if has_build => {
            "the build command fails at the bad revision; to hunt that failure, give the build command as the test"
        }
        Reason::Build => "the output looks like a failed build; give the build command with `--build`, or as the test",
        Reason::Timeout => "give more time with `--timeout`",
        Reason::NoArtifact => {
            "name a revision that has one with `--bad`, or build the others with `--build`; the command runs in an empty \
             directory, with the commit in place of `{commit}`"
        }
        Reason::Skip => "exit code 125 means that the revision cannot be tested",
        Reason::Path => {
            "the bad revision, or its artifact, cannot be written as it is; name another revision with `--bad`, or mend what the \
             message names"
        }
        Reason::Submodule => "`git submodule update --init --recursive` gets submodules",
        Reason::Object => "`git fsck` lists what is wrong with the repository; `git fetch --refetch` gets it again",
        Reason::TestAbsent => {
            "the test passed without the output that `--pass-match` requires, or its directory is not in the tree"
        }
        Reason::Other => "the test fails at the bad revision, but no line of its output matches `--match`",
        _ => "run the command by hand in a checkout of the bad revision",
    }
}

#[cfg(test)]
mod tests;
