//! Reads the course of a hunt from its journal, also while another process writes it. Nothing is locked.

use crate::kept::KeptHunt;
use crate::narrowing::Narrowing;
use crate::positions::Positions;
use crate::story::ending;
use crate::{Failure, estimate, saved};
use idd_base::{CommitId, Observation, RemainingWork, Sought, count};
use idd_hunt::{History, RevisionSet};
use idd_report::course::{CoursePlace, Fact, HuntCourse, LastOutput, RunningProbe, TestedCommit};
use idd_report::{Commit, Report, Status, Untrusted, text};
use idd_world::journal::{AboutRecord, Record};
use idd_world::process::{ProcessGroup, is_alive};
use idd_world::repo::{Location, Repository, graph, private};
use idd_world::run::live;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The maximum number of revisions that are read.
const MAX_HISTORY: usize = 400_000;

/// Looks at hunts of one repository, and keeps what it has read of the history.
pub struct HuntObserver {
    location: Location,
    user: Repository,
    positions: Positions,
    /// The probes that ran at the last look.
    open: Vec<OpenProbe>,
}

/// A verdict of the journal.
struct LoggedVerdict {
    revision: CommitId,
    /// The word of the journal.
    word: String,
    is_repaired: bool,
}

/// The last completed probe.
struct Completed {
    sequence: u64,
    about: Option<AboutRecord>,
    observation: Observation,
}

/// A probe without an observation.
#[derive(Clone)]
struct OpenProbe {
    about: Option<AboutRecord>,
    worktree: PathBuf,
    /// Its last command.
    group: Option<ProcessGroup>,
}

/// The state of a hunt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HuntState {
    /// The state in words, with its advice.
    pub words: String,
    /// Whether a process works on the hunt.
    pub is_running: bool,
}

impl HuntState {
    /// - `is_named`: whether the advice has to name the hunt.
    pub fn of(kept: &KeptHunt, is_named: bool, location: &Location) -> Result<Self, Failure> {
        let word = kept.state(location)?;
        let is_running = word == "running";
        let resume = if is_named { format!("git idd resume --hunt {}", kept.id) } else { "git idd resume".to_owned() };
        let words = match word.as_str() {
            "stopped" => format!("stopped; `{resume}` goes on"),
            word if word == Status::Waiting.word() => format!("{word} for a person; `{resume}` shows the revision"),
            _ => word,
        };
        Ok(Self { words, is_running })
    }
}

/// What the journal says about revisions.
struct RevisionFacts<'k> {
    /// What is looked for.
    find: Sought,
    verdicts: Vec<LoggedVerdict>,
    narrowing: Narrowing,
    running: Vec<&'k AboutRecord>,
}

/// What the journal says about probes.
#[derive(Default)]
struct LoggedProbes {
    open: BTreeMap<u64, OpenProbe>,
    completed: Option<Completed>,
}

impl LoggedProbes {
    fn take_in(&mut self, record: Record) {
        match record {
            // The probes of a process that was killed do not run any more.
            Record::Process { .. } => self.open.clear(),
            Record::Intent { sequence, worktree, about, .. } => {
                // A worktree has one probe at a time; one that was called back has no observation.
                self.open.retain(|_, open| open.worktree != worktree || worktree == Path::new(""));
                self.open.insert(sequence, OpenProbe { about, worktree, group: None });
            }
            Record::Started { sequence, pid, start_time } => {
                if let Some(open) = self.open.get_mut(&sequence) {
                    open.group = Some(ProcessGroup { pid, start_time });
                }
            }
            Record::Observed { sequence, observation, .. } => {
                let about = self.open.remove(&sequence).and_then(|open| open.about);
                self.completed = Some(Completed { sequence, about, observation });
            }
            _ => {}
        }
    }

    /// The probes whose commands run now on this machine.
    fn alive(&self) -> impl Iterator<Item = &OpenProbe> {
        self.open.values().filter(|open| open.group.is_some_and(is_alive))
    }
}

impl HuntObserver {
    /// Of the repository of a worktree.
    pub fn new(location: &Location) -> Result<Self, Failure> {
        let user = private::open(&location.git_directory)?;
        Ok(Self { location: location.clone(), user, positions: Positions::default(), open: Vec::new() })
    }

    /// The course of a hunt.
    pub fn look(&mut self, kept: &KeptHunt, state: &HuntState) -> Result<HuntCourse, Failure> {
        let plan = saved::plan(&kept.replay).ok();
        let find = plan.as_ref().map(|plan| plan.order.history.find).unwrap_or_default();
        let verdicts: Vec<LoggedVerdict> = saved::verdicts(&self.location, &kept.id)?
            .into_iter()
            .map(|(revision, word, is_repaired)| LoggedVerdict { revision, word, is_repaired })
            .collect();
        let mut probes = LoggedProbes::default();
        saved::each_record(&self.location, &kept.id, &mut |record| probes.take_in(record))?;
        let running =
            if state.is_running { probes.alive().filter_map(|open| open.about.as_ref()).collect() } else { Vec::new() };
        let revisions = verdicts.iter().map(|verdict| verdict.revision).chain(running.iter().map(|it| it.revision));
        let bad = plan.and_then(|plan| plan.bad.parse().ok());
        self.know(&revisions.collect::<Vec<_>>(), bad);
        self.open = if state.is_running { probes.alive().cloned().collect() } else { Vec::new() };
        let outcomes = verdicts.iter().filter_map(|verdict| Some((verdict.revision, verdict.word.parse().ok()?)));
        let narrowing = Narrowing::of(outcomes, &self.positions.history);
        let known = RevisionFacts { find, verdicts, narrowing, running };
        let commit = |id: CommitId| Some(Commit::from(&self.positions.history.find(id)?));
        let has_failed = known.narrowing.fail.is_some();
        Ok(HuntCourse {
            is_running: state.is_running,
            facts: self.facts(kept, state, &known)?,
            bad: bad.filter(|_| has_failed).and_then(commit),
            last_good: known.narrowing.pass.and_then(commit),
            places: self.places(&known),
            output: self.output_now().or_else(|| probes.completed.as_ref().map(|completed| self.output(completed))),
            running: known.running.iter().map(|about| self.running(about)).collect(),
        })
    }

    fn running(&self, about: &AboutRecord) -> RunningProbe {
        let AboutRecord { phase, revision, started_at_unix } = about;
        let revision = Untrusted::from(self.named(*revision));
        RunningProbe { phase: phase.clone(), revision, started_at_unix: *started_at_unix }
    }

    /// Reads the history back to these revisions, unless they are known.
    fn know(&mut self, revisions: &[CommitId], bad: Option<CommitId>) {
        let Some(bad) = bad.or(revisions.first().copied()) else { return };
        if revisions.iter().all(|id| self.positions.history.contains(*id)) {
            return;
        }
        let head = graph::resolve(&self.user, "HEAD").ok();
        let tips: Vec<CommitId> = revisions.iter().copied().chain([bad]).chain(head).collect();
        let mut history = History::new(graph::back_to(&self.user, &tips, MAX_HISTORY), HashSet::new());
        let is_reached = |history: &History| {
            let reached = if history.contains(bad) { history.ancestors(bad) } else { RevisionSet::default() };
            revisions.iter().all(|id| history.is_in(&reached, *id))
        };
        // Commits that lead from one to the other are left out if their dates are not in the order of history.
        if !is_reached(&history)
            && let Ok((revisions, shallow)) = graph::load(&self.user, &tips)
        {
            history = History::new(revisions, shallow);
        }
        self.positions = Positions::new(Rc::new(history), bad, head);
    }

    /// `3a1db21c354d 2026-03-09 (HEAD~37) <subject>`.
    fn named(&self, id: CommitId) -> String {
        let Some(revision) = self.positions.history.find(id) else { return id.short() };
        let commit = Commit::from(&revision);
        let position = self.positions.name(id).map(|name| format!(" ({name})")).unwrap_or_default();
        let subject = String::from_utf8_lossy(commit.subject.as_bytes()).into_owned();
        format!("{} {}{position} {subject}", id.short(), commit.date.day())
    }

    fn facts(&self, kept: &KeptHunt, state: &HuntState, known: &RevisionFacts<'_>) -> Result<Vec<Fact>, Failure> {
        let RevisionFacts { find, verdicts, narrowing, .. } = known;
        let mut facts = Vec::new();
        let mut add = |label: &'static str, text: String| facts.push(Fact { label, text: Untrusted::from(text) });
        add("hunt:", kept.id.clone());
        add("state:", state.words.clone());
        add("probes:", costs(kept));
        let n_of = |word: &str| verdicts.iter().filter(|verdict| verdict.word.starts_with(word)).count();
        let [older, newer] = find.words().outcomes;
        let (pass, fail, unresolved) = (n_of("pass"), n_of("fail"), n_of("unresolved"));
        add("revisions:", format!("{pass} {older}, {fail} {newer}, {unresolved} unresolved"));
        let is_open = state.is_running || kept.is_unfinished();
        if let Ok(Report { first_bad: Some(first_bad), find, proved, range, .. }) = kept.report() {
            let subject = String::from_utf8_lossy(first_bad.commit.subject.as_bytes());
            let doubt = if proved { "" } else { ", not proved" };
            let named = format!("[{}] {subject}{doubt}", first_bad.commit.commit);
            add(find.words().labels[2], range.map_or(named, |range| format!("one of {}", range.candidates.len())));
        } else if is_open {
            for (label, end) in find.end_labels().into_iter().zip([narrowing.pass, narrowing.fail]) {
                if let Some(end) = end {
                    add(label, self.named(end));
                }
            }
        }
        // What is left of a search is over when the commit is found.
        let is_found = kept.report().is_ok_and(|report| report.first_bad.is_some());
        let is_left = |ahead: RemainingWork| is_open && (!is_found || matches!(ahead, RemainingWork::Reducing { .. }));
        if let Some((ahead, n_jobs, pace)) = saved::ahead(&self.location, &kept.id)?.filter(|left| is_left(left.0)) {
            let what = match ahead {
                RemainingWork::Galloping { distance, .. } => format!("searching for a {older}, {distance} back"),
                RemainingWork::Bisecting { n_candidates } => {
                    format!("{} may be the {}", count(n_candidates, "revision"), find.words().first)
                }
                RemainingWork::Reducing { n_units } => format!("{} to reduce", count(n_units, "unit")),
            };
            let words = estimate::words(ahead, n_jobs, &pace);
            add("left:", format!("{what}{}{words}", if words.is_empty() { "" } else { "; " }));
        }
        Ok(facts)
    }

    /// The revisions that were tested or are being tested, and how many lie between them.
    fn places(&self, RevisionFacts { find, verdicts, narrowing, running }: &RevisionFacts<'_>) -> Vec<CoursePlace> {
        let known: HashMap<CommitId, &LoggedVerdict> =
            verdicts.iter().map(|verdict| (verdict.revision, verdict)).collect();
        let running: HashSet<CommitId> = running.iter().map(|about| about.revision).collect();
        let mut places = Vec::new();
        let mut n_between = 0;
        let revisions = self.positions.history.revisions();
        for row in revisions.rows() {
            let id = revisions.id(row);
            let verdict = match known.get(&id) {
                Some(verdict) if verdict.is_repaired => format!("{}, repaired", find.word(&verdict.word)),
                Some(verdict) => find.word(&verdict.word).to_owned(),
                None if running.contains(&id) => "running".to_owned(),
                None => {
                    n_between += usize::from(!places.is_empty());
                    continue;
                }
            };
            if n_between > 0 {
                places.push(CoursePlace::Untested(std::mem::take(&mut n_between)));
            }
            places.push(CoursePlace::Tested(TestedCommit {
                commit: Commit::from(&revisions.revision(row)),
                position: self.positions.name(id).unwrap_or_default(),
                outcome: known.get(&id).and_then(|verdict| verdict.word.parse().ok()),
                verdict,
                is_end: [narrowing.pass, narrowing.fail].contains(&Some(id)),
            }));
        }
        places
    }

    /// What a running probe has printed; of several, the one that was started first. `None` if there is nothing yet.
    pub fn output_now(&self) -> Option<LastOutput> {
        let of = |open: &OpenProbe| {
            let printed = live::read(&open.worktree)?;
            let text = String::from_utf8_lossy(&printed).replace(&open.worktree.display().to_string(), "<worktree>");
            let title = format!("Output of the running probe{}", self.which(open.about.as_ref()));
            Some(LastOutput { title, text: Untrusted::from(text) })
        };
        self.open.iter().find_map(of)
    }

    /// `, search at HEAD~37`.
    fn which(&self, about: Option<&AboutRecord>) -> String {
        let place = |id: CommitId| self.positions.name(id).unwrap_or_else(|| id.short());
        about.map(|about| format!(", {} at {}", about.phase, place(about.revision))).unwrap_or_default()
    }

    fn output(&self, Completed { sequence, about, observation }: &Completed) -> LastOutput {
        let which = self.which(about.as_ref());
        let title = format!("Output of the last completed probe, {sequence}{which} ({})", ending(observation));
        LastOutput { title, text: Untrusted::from(observation.output.as_str()) }
    }
}

/// The report of a hunt: its finding if it has ended or has proved the commit, else what is known so far.
///
/// - `state`: its state in words.
pub fn report(kept: &KeptHunt, course: &HuntCourse, state: &str) -> Report {
    match kept.report() {
        Ok(report) if !course.is_running || report.status == Status::Culprit => report,
        _ => {
            let status = if course.is_running { Status::Running } else { Status::Interrupted };
            let (bad, last_good) = (course.bad.clone(), course.last_good.clone());
            Report { status, bad, last_good, ..unfinished(kept, state) }
        }
    }
}

/// The report of a hunt that has no finding yet.
fn unfinished(kept: &KeptHunt, state: &str) -> Report {
    let mut report = Report::new(Status::Interrupted, format!("The hunt is {state}."));
    kept.update_costs(&mut report);
    report.hunt = Some(kept.id.clone());
    report
}

/// The probes of a hunt and their time until now, as reports count them, and what else it ran.
fn costs(kept: &KeptHunt) -> String {
    let report = kept.report().unwrap_or_else(|_| unfinished(kept, ""));
    let time = text::duration(report.seconds);
    let others = text::others(&report.probes).map_or_else(String::new, |others| format!("; also {others}"));
    format!("{} completed, in {time}{others}", report.probes.run)
}
