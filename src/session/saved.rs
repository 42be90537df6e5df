//! Data that outlives one run of the program: the journal of a hunt, and the files beside it.

use crate::kept::KeptHunt;
use crate::order::{HistoryOrder, HuntOrder};
use crate::plan::Plan;
use crate::spent::Spent;
use crate::{Failure, failure, identity, kept, order, tally};
use idd_base::{CommitId, HuntGoal, Pace, RemainingWork, count};
use idd_hunt::finding::{Finding, Fix};
use idd_report::{Explained, Explanation, Probes, Report, Status, explanation};
use idd_world::cache::Key;
use idd_world::journal::{
    ExplanationKind, FileLock, JournalError, JournalSegment, PlanRecord, Record, Replay, SegmentReader,
};
use idd_world::process::{ProcessGroup, kill_leftover, kill_leftovers_of, this_process};
use idd_world::repo::{Location, RepoError, Repository, TreeStore, graph, keep, private, refs};
use idd_world::tools::ProgramChange;
use idd_world::{files, journal, tools};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The prefix of the refs of a finding.
const REFS: &str = "refs/worktree/idd/";

/// The journal of a hunt, open for appending.
pub struct Saved {
    /// The hunt.
    pub id: String,
    /// Its journal.
    pub segment: JournalSegment,
    /// The earlier content of the journal.
    pub replay: Option<Replay>,
    /// The time of earlier runs of this hunt, by purpose.
    pub spent: Spent,
    /// Seconds that earlier runs of this hunt took.
    pub seconds_before: f64,
    /// Whether the hunt began with this run.
    pub is_new: bool,
    /// Messages for the user about how it was opened.
    pub remarks: Vec<String>,
    /// The lock: one hunt at a time in a worktree.
    pub lock: FileLock,
}

/// The plan as stored in the journal: enough to start the same hunt again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedPlan {
    /// The order of the user.
    #[serde(rename = "args")]
    pub order: HuntOrder,
    /// Whether only the difference of two revisions is reduced.
    pub is_minimize: bool,
    /// The revisions, as ids: `HEAD` may have moved since.
    pub bad: String,
    /// Revisions that the user gave as good.
    pub goods: Vec<String>,
    /// The revision that the fix is for.
    pub target: String,
    /// The directory in which the command was given, relative to the top.
    pub prefix: PathBuf,
    /// Other conditions of the results: a name for people, and a digest.
    pub basis: BTreeMap<String, String>,
}

impl SavedPlan {
    fn of(plan: &Plan) -> Self {
        Self {
            order: plan.order.clone(),
            is_minimize: plan.is_minimize,
            bad: plan.bad.to_string(),
            goods: plan.goods.iter().map(ToString::to_string).collect(),
            target: plan.target.to_string(),
            prefix: plan.commands.directory.clone(),
            basis: basis(plan),
        }
    }

    /// The order with the revisions that it meant when the hunt began.
    pub fn pinned_order(&self) -> HuntOrder {
        let history = HistoryOrder { bad: self.bad.clone(), good: self.goods.clone(), ..self.order.history.clone() };
        HuntOrder { history, ..self.order.clone() }
    }

    /// Names of the conditions that have changed since this plan was saved; they can contain bytes from the user.
    pub fn changed(&self, plan: &Plan) -> Vec<String> {
        let basis = basis(plan);
        let names: BTreeSet<&String> = self.basis.keys().chain(basis.keys()).collect();
        names.into_iter().filter(|name| self.basis.get(*name) != basis.get(*name)).cloned().collect()
    }
}

fn basis(plan: &Plan) -> BTreeMap<String, String> {
    let probes = plan.probe_plan();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let digest = |bytes: &[u8]| Key(Sha256::digest(bytes).into()).to_string();
    let held =
        plan.held.iter().map(|(path, file)| (format!("the held file `{}`", text(path)), identity::of_file(file)));
    let outside = probes.outside_files.iter().map(|(path, file)| (format!("the file `{}`", text(path)), file.clone()));
    let environment =
        probes.environment.iter().map(|(name, value)| (format!("the variable `{}`", text(name)), value.clone()));
    let shim = plan.shim.iter().map(|(path, file)| (format!("the shim `{}`", text(path)), identity::of_file(file)));
    let others = [
        ("the system", probes.platform.clone()),
        ("the overlay", identity::of_overlay(plan.overlay.as_ref())),
        ("how the configuration divides files", plan.divisions.identity()),
    ];
    let others = others.into_iter().map(|(name, bytes)| (name.to_owned(), bytes));
    held.chain(shim)
        .chain(outside)
        .chain(environment)
        .chain(others)
        .map(|(name, bytes)| (name, digest(&bytes)))
        .collect()
}

/// The digest of a hunt. Limits (jobs, budget) are not part of it; the machine is, as far as results depend on it.
pub fn digest(plan: &Plan) -> Result<String, Failure> {
    let mut saved = SavedPlan::of(plan);
    saved.order.effort.jobs = None;
    saved.order.effort.budget = None;
    saved.order.effort.max_probes = None;
    saved.order.effort.max_cost = None;
    saved.order.effort.lease = None;
    saved.order.effort.until = order::Until::default();
    saved.order.effort.reduction = None;
    saved.order.effort.notify = None;
    saved.order.effort.explain = false;
    saved.order.effort.require_fix = false;
    saved.order.effort.fetch = false;
    let digest = identity::of_plan(&saved, plan.probe_plan().digest())?;
    Ok(digest.to_string())
}

/// Whether `plan` is the plan of this journal.
pub fn is_same(plan: &Plan, replay: &Replay) -> Result<bool, Failure> {
    Ok(digest(plan)? == replay.plan.digest)
}

/// The executed program that has changed; `None` if there is none.
pub fn changed_tool(plan: &Plan, location: &Location, replay: &Replay) -> Option<ProgramChange> {
    let directory = tools::directory(&location.idd_directory());
    tools::change(&directory, replay.toolset.as_ref()?, &plan.commands.environment)
}

/// Opens the journal for `plan`: that of the last hunt of this worktree with this plan, if it continues, else a new
/// one.
///
/// - `resumed`: the hunt to continue, if there is one.
/// - `is_continued`: whether the hunt continues even if it has ended. It always continues if the order asks for more
///   than was found.
pub fn open(
    plan: &Plan,
    location: &Location,
    resumed: Option<&KeptHunt>,
    is_continued: bool,
) -> Result<Saved, Failure> {
    let lock = lock(location)?;
    let digest = digest(plan)?;
    // The last hunt here may have been killed here; a hunt of another worktree may have been killed there.
    let last = resumed.map(|kept| kept.id.clone()).into_iter().chain(kept::own(location).pop());
    for replay in last.filter_map(|id| Replay::read(&segment_path(location, &id).ok()?).ok()) {
        end_leftovers(&replay);
    }
    let same = match resumed {
        Some(kept) => Some(kept.id.clone()).filter(|_| kept.replay.plan.digest == digest),
        None => kept::own(location)
            .into_iter()
            .rev()
            .find(|id| plan_of(location, id).is_some_and(|plan| plan.digest == digest)),
    };
    if let Some(id) = same
        && let Ok(replay) = Replay::read(&segment_path(location, &id)?)
        && changed_tool(plan, location, &replay).is_none()
    {
        let is_further = asked(location, &id)?.is_some_and(|asked| plan.order.effort.until > asked.until);
        if is_continued || is_further || is_unfinished(replay.status.as_deref()) {
            return reopen(id, lock, location);
        }
    }
    let saved = create(plan, digest, "", lock, location)?;
    kept::add(location, &saved.id)?;
    Ok(saved)
}

/// Opens a new journal for `plan`, whatever hunt is unfinished.
pub fn open_new(plan: &Plan, location: &Location) -> Result<Saved, Failure> {
    let lock = lock(location)?;
    let saved = create(plan, digest(plan)?, "", lock, location)?;
    kept::add(location, &saved.id)?;
    Ok(saved)
}

/// Opens the journal of a hunt, to go on with it.
pub fn open_again(id: &str, location: &Location) -> Result<Saved, Failure> {
    let lock = lock(location)?;
    reopen(id.to_owned(), lock, location)
}

/// Opens a new journal for work that is no hunt: no command lists or resumes it. Its observations answer later work.
pub fn open_apart(plan: &Plan, location: &Location) -> Result<Saved, Failure> {
    let lock = lock(location)?;
    sign_recorder(location)?;
    create(plan, digest(plan)?, kept::APART, lock, location)
}

/// Creates a journal; its id begins with `prefix`.
fn create(plan: &Plan, digest: String, prefix: &str, lock: FileLock, location: &Location) -> Result<Saved, Failure> {
    let value = serde_json::to_value(SavedPlan::of(plan))?;
    let mut now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let started = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let record = PlanRecord::new(value, digest, started);
    let (id, mut segment) = loop {
        let id = format!("{prefix}{}", kept::id_at(now));
        match JournalSegment::create(&segment_path(location, &id)?, &record) {
            Ok(segment) => break (id, segment),
            // A hunt of another worktree began in the same millisecond.
            Err(JournalError::Exists { .. } | JournalError::Busy { .. }) => now += Duration::from_millis(1),
            Err(error) => return Err(error.into()),
        }
    };
    sign(&mut segment)?;
    let (spent, seconds_before, remarks) = (Spent::default(), 0.0, Vec::new());
    Ok(Saved { id, segment, replay: None, spent, seconds_before, is_new: true, remarks, lock })
}

/// The plan of a hunt, without the rest of its journal.
fn plan_of(location: &Location, id: &str) -> Option<PlanRecord> {
    match SegmentReader::open(&segment_path(location, id).ok()?, 0).ok()?.next_record() {
        Ok(Some((_, Record::Plan(plan)))) => Some(plan),
        _ => None,
    }
}

fn reopen(id: String, lock: FileLock, location: &Location) -> Result<Saved, Failure> {
    let path = segment_path(location, &id)?;
    let mut remarks = Vec::new();
    let (mut segment, cut) = JournalSegment::reopen(&path)?;
    if let Some(cut) = cut {
        let kept = cut.kept.display();
        remarks
            .push(format!("The journal was damaged at its end; {} set aside as `{kept}`.", count(cut.bytes, "byte")));
    }
    let replay = Replay::read(&path)?;
    sign(&mut segment)?;
    let mut probes = Probes::default();
    tally::update(&mut probes, &replay.counts);
    remarks.push(format!("Resuming the hunt {id}: {} known already.", count(probes.run, "probe")));
    let finding = replay.finding.as_ref();
    let seconds = finding.and_then(|finding| finding.get("seconds").and_then(serde_json::Value::as_f64));
    let seconds_before = seconds.unwrap_or(0.0).max(replay.elapsed.as_secs_f64());
    kept::add(location, &id)?;
    let spent = last(location, &id, Spent::read)?.unwrap_or_default();
    Ok(Saved { id, segment, replay: Some(replay), spent, seconds_before, is_new: false, remarks, lock })
}

/// Records that this process works on the hunt from now on.
fn sign(segment: &mut JournalSegment) -> Result<(), Failure> {
    let ProcessGroup { pid, start_time } = this_process();
    segment.append(&Record::Process { pid, start_time })?;
    Ok(())
}

/// Advice if the git directory cannot be written.
const WRITABLE: &str = "findings are kept in the git directory: make it writable, free space, or hunt in a clone (`git clone <this> <there>`)";

/// Creates the private repository if it does not exist; see [`private::create`].
pub fn make_private(location: &Location, user: &Repository, head: CommitId) -> Result<Repository, Failure> {
    private::create(&location.idd_directory(), user, head)
        .map_err(|error| Failure::from_error(&error).with_hint(WRITABLE))
}

/// One command at a time may make sandboxes for a worktree.
pub fn lock(location: &Location) -> Result<FileLock, Failure> {
    let path = location.session_directory().join("lock");
    let lock = FileLock::at(&path).map_err(|error| {
        Failure::error(format!("failed to lock this worktree with `{}`: {error}", path.display())).with_hint(WRITABLE)
    })?;
    let lock = lock.ok_or_else(|| {
        let (who, how) = match FileLock::holder(&path) {
            Some(pid) => (format!(", as process {pid}"), format!(", `kill -INT {pid}` stops it")),
            None => (String::new(), String::new()),
        };
        Failure::error(format!("`git idd` is at work already in this worktree{who}")).with_hint(format!(
            "`git idd status` says how far a hunt is{how}; another hunt or recording needs a worktree of its own"
        ))
    })?;
    files::remove_unfinished(&location.session_directory());
    // The last recorder has ended, and was perhaps killed.
    let place = recorder(location);
    if let Ok(bytes) = files::bytes(&place) {
        if let Ok((pid, start_time)) = serde_json::from_slice(&bytes) {
            kill_leftovers_of(ProcessGroup { pid, start_time });
        }
        let _ = files::remove(&place);
    }
    Ok(lock)
}

/// The file with the process that records.
fn recorder(location: &Location) -> PathBuf {
    location.session_directory().join("recorder")
}

/// Records the recording process, so that the next command that locks the worktree kills its remaining processes.
pub fn sign_recorder(location: &Location) -> Result<(), Failure> {
    let ProcessGroup { pid, start_time } = this_process();
    let bytes = serde_json::to_vec(&(pid, start_time)).expect("two numbers can be written");
    files::replace(&recorder(location), &bytes).map_err(Failure::from)
}

/// Whether a hunt with this status can be continued.
pub fn is_unfinished(status: Option<&str>) -> bool {
    let open = [Status::Interrupted, Status::Budget, Status::Error, Status::Waiting];
    status.is_none_or(|status| open.iter().any(|open| open.word() == status))
}

/// Kills the remaining processes of a killed run; its sandboxes are removed when new ones are made.
pub fn end_leftovers(replay: &Replay) {
    for process in &replay.processes {
        kill_leftovers_of(*process);
    }
    for group in replay.open_intents.iter().flat_map(|intent| &intent.groups) {
        kill_leftover(*group);
    }
}

/// The plan of a hunt.
pub fn plan(replay: &Replay) -> Result<SavedPlan, Failure> {
    serde_json::from_value(replay.plan.plan.clone())
        .map_err(|error| Failure::from_error(&error).with_hint("the hunt was started by another version; hunt again"))
}

/// The goal of the last run of a hunt; `None` if it was not recorded.
pub fn asked(location: &Location, id: &str) -> Result<Option<HuntGoal>, Failure> {
    last(location, id, |record| if let Record::Asked(goal) = record { Some(*goal) } else { None })
}

/// The value of the last record for which `read` returns one.
fn last<T>(location: &Location, id: &str, read: impl Fn(&Record) -> Option<T>) -> Result<Option<T>, Failure> {
    let mut last = None;
    each_record(location, id, &mut |record| last = read(&record).or_else(|| last.take()))?;
    Ok(last)
}

/// The first bad commit in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptCommit {
    /// The commit.
    pub commit: CommitId,
    /// Whether it was proved.
    pub is_proved: bool,
}

/// The first bad commit that a hunt has found so far.
pub fn first_bad(replay: &Replay) -> Option<KeptCommit> {
    let finding = replay.finding.as_ref()?;
    let commit = finding.pointer("/first_bad/commit")?.as_str()?.parse().ok()?;
    Some(KeptCommit { commit, is_proved: finding.get("proved")?.as_bool()? })
}

/// Whether the reduction of a hunt was stopped before its end.
pub fn is_cut_short(replay: &Replay) -> bool {
    let of = |change: &str| replay.finding.as_ref()?.pointer(&format!("/change/{change}/is_minimal"))?.as_bool();
    ["sufficient", "necessary"].into_iter().any(|change| of(change) == Some(false))
}

/// The verdicts in a journal, in their order, each revision once with its last verdict.
pub fn verdicts(location: &Location, id: &str) -> Result<Vec<(CommitId, String, bool)>, Failure> {
    let mut verdicts: Vec<(CommitId, String, bool)> = Vec::new();
    each_record(location, id, &mut |record| match record {
        Record::Tested { revision, outcome, is_repaired } => {
            verdicts.retain(|(known, ..)| *known != revision);
            verdicts.push((revision, outcome, is_repaired));
        }
        // A verdict was taken back: the engine runs from the beginning, and what still holds is written again.
        Record::Withdrawn => verdicts.clear(),
        _ => {}
    })?;
    Ok(verdicts)
}

/// Calls `take_in` for each record of a hunt's journal.
pub fn each_record(location: &Location, id: &str, take_in: &mut dyn FnMut(Record)) -> Result<(), Failure> {
    let mut reader = SegmentReader::open(&segment_path(location, id)?, 0)?;
    while let Some((_, record)) = reader.next_record()? {
        take_in(record);
    }
    Ok(())
}

/// The remaining work of a hunt, its number of jobs, and the pace of its last runs, from its journal; `None` if not
/// recorded yet.
pub fn ahead(location: &Location, id: &str) -> Result<Option<(RemainingWork, usize, Pace)>, Failure> {
    let mut pace = Pace::default();
    let mut ahead = None;
    each_record(location, id, &mut |record| match record {
        Record::Observed { observation, .. } => pace.add(observation.duration),
        Record::Ahead(what, n_jobs) => ahead = Some((what, n_jobs)),
        _ => {}
    })?;
    Ok(ahead.map(|(ahead, n_jobs)| (ahead, n_jobs, pace)))
}

/// Stores an explanation of a hunt, in place of an earlier one of its kind.
pub fn keep_explanation(location: &Location, explained: &Explained) -> Result<(), Failure> {
    let kind = match explained.explanation {
        Explanation::Chain(_) => ExplanationKind::Chain,
        Explanation::Chop(_) => ExplanationKind::Chop,
        Explanation::Walk(_) => ExplanationKind::Walk,
        Explanation::Invariants(_) => ExplanationKind::Invariants,
    };
    let path = journal::explanation_of(&segment_path(location, &explained.hunt)?, kind);
    files::replace(&path, &explanation::bytes(explained)?)
        .map_err(|error| Failure::error(format!("failed to write `{}`: {error}", path.display())))
}

/// The stored explanations of a hunt that fit `report`, and a sentence about each that cannot be used.
pub fn explanations(location: &Location, id: &str, report: &Report) -> (Vec<Explained>, Vec<String>) {
    let (mut explanations, mut complaints) = (Vec::new(), Vec::new());
    for path in explanation_paths(location, id) {
        let read = match files::bytes_up_to(&path, explanation::MAX_BYTES) {
            Ok(bytes) => explanation::read(&bytes, report).map_err(|error| failure::chain(&error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(explained) => explanations.push(explained),
            Err(why) => complaints.push(format!("The explanation in `{}` is left out: {why}.", path.display())),
        }
    }
    (explanations, complaints)
}

/// The places of all explanations of a hunt; none if the id is no hunt's.
fn explanation_paths(location: &Location, id: &str) -> Vec<PathBuf> {
    let Ok(segment) = segment_path(location, id) else { return Vec::new() };
    ExplanationKind::ALL.map(|kind| journal::explanation_of(&segment, kind)).into()
}

/// Whether a process is working on this hunt.
pub fn is_running(location: &Location, id: &str) -> Result<bool, Failure> {
    journal::is_written(&segment_path(location, id)?).map_err(Failure::from)
}

/// Removes the refs of this worktree, if they are those of a finding that is withdrawn.
pub fn withdraw_refs(first_bad: CommitId, location: &Location) -> Result<(), RepoError> {
    let user = private::open(&location.git_directory)?;
    match graph::resolve(&user, &format!("{REFS}first-bad")) {
        Ok(commit) if commit == first_bad => remove_refs(location),
        _ => Ok(()),
    }
}

fn remove_refs(location: &Location) -> Result<(), RepoError> {
    refs::of_findings(location)?.iter().try_for_each(|name| refs::set(location, name, None))?;
    private::open(&location.git_directory).map(|user| keep::release(&user, None))
}

/// Removes the hunts of this worktree, with patch, page and refs. Their journals stay until garbage collection.
pub fn forget(location: &Location) -> Result<(), Failure> {
    let _lock = lock(location)?;
    remove_refs(location)?;
    for made in [location.session_directory().join("fix.patch"), page_path(location)] {
        files::remove(&made)?;
    }
    kept::clear(location)
}

/// Sets the refs of this worktree for a finding: `bad`, `last-good`, `first-bad` and `fix`.
pub fn keep_refs(finding: &Finding, store: &TreeStore, location: &Location) -> Result<(), RepoError> {
    let user = private::open(&location.git_directory)?;
    let message = "Revert the change that broke the test\n\nFound and tested by git idd.\n";
    let commit = |fix: &Fix| keep::keep(store.repository(), &user, fix.newer, fix.revision, message);
    let fix = finding.fix.as_ref().map(commit).transpose()?;
    let mut refs = vec![("bad", Some(finding.bad)), ("last-good", finding.last_good), ("first-bad", finding.first_bad)];
    refs.extend(fix.map(|fix| ("fix", Some(fix))));
    let stale = refs::of_findings(location)?;
    for (name, target) in &refs {
        let name = format!("{REFS}{name}");
        match target {
            Some(target) => refs::set(location, &name, Some(&target.to_string()))?,
            None if stale.contains(&name) => refs::set(location, &name, None)?,
            None => {}
        }
    }
    let is_current = |name: &String| refs.iter().any(|(known, _)| *name == format!("{REFS}{known}"));
    for name in stale.iter().filter(|name| !is_current(name)) {
        refs::set(location, name, None)?;
    }
    keep::release(&user, fix);
    Ok(())
}

/// The default path of the page of a report.
pub fn page_path(location: &Location) -> PathBuf {
    location.session_directory().join("report.html")
}

/// The journal of a hunt.
pub fn segment_path(location: &Location, id: &str) -> Result<PathBuf, Failure> {
    journal::segment_path(&location.idd_directory(), id).map_err(Failure::from)
}

#[cfg(test)]
mod tests;
