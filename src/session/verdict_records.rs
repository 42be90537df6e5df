//! Verdicts that are records of the journal: those of a person, of a build that fails, and of measurements.
//!
//! Each run of a hunt with such verdicts runs the engine from the beginning, and known verdicts answer it. So nothing else has
//! to be stored.

use crate::criteria::FIRST_LIMIT;
use crate::plan::{Adjustments, Plan};
use crate::{Context, Failure, Interrupt, chronicle, saved};
use idd_base::{CommitId, Ending, Outcome, Reason, Stage, TreeId};
use idd_hunt::{Event, History, Probe};
use idd_world::journal::{JournalSegment, Record};
use idd_world::process::CommandWords;
use idd_world::repo::{HeldFiles, Location, Repository, TreeStore, graph, private};
use idd_world::run::classify::printed_trouble;
use idd_world::run::sandbox::{Commands, ProbeJob, Sandbox};
use std::collections::HashMap;

/// Where the hunt takes place.
#[derive(Clone, Copy)]
pub struct HuntScene<'s> {
    /// The plan.
    pub plan: &'s Plan,
    /// The repository.
    pub location: &'s Location,
    /// The context of the process.
    pub context: &'s Context,
    /// The user's repository.
    pub user: &'s Repository,
}

impl HuntScene<'_> {
    /// Prepares the private repository, and reads the history before the revisions of the plan.
    pub fn read(&self) -> Result<(History, TreeStore), Failure> {
        let Self { plan, location, user, .. } = *self;
        drop(saved::make_private(location, user, plan.bad)?);
        private::fill_submodules(&location.idd_directory(), !plan.has_empty_submodules)?;
        let tips: Vec<CommitId> = [plan.bad].iter().chain(&plan.goods).copied().collect();
        let (revisions, shallow) = graph::load(&private::open(&location.git_directory)?, &tips)?;
        Ok((History::new(revisions, shallow), store(plan, location)?))
    }

    /// Refuses a bad revision that is older than a good one: perhaps each was given for the other.
    pub fn refuse_swapped(&self, history: &History, hint: &str) -> Result<(), Failure> {
        let plan = self.plan;
        let is_after = |good: &&CommitId| **good != plan.bad && history.path(**good, plan.bad).is_some();
        if let Some(good) = plan.goods.iter().find(is_after) {
            let (good, bad) = (good.short(), plan.bad.short());
            let message = format!("the bad revision {bad} is older than the good one {good}");
            return Err(Failure::usage(message).with_hint(hint));
        }
        Ok(())
    }
}

fn store(plan: &Plan, location: &Location) -> Result<TreeStore, Failure> {
    let open = || private::open(&private::private_directory(&location.idd_directory())).map_err(Failure::from);
    let pathspecs = plan.order.history.path.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let bare = TreeStore::new(open()?, HeldFiles::default(), Vec::new())?;
    let held = plan.held(&Adjustments::default(), &bare)?;
    Ok(TreeStore::new(open()?, held, pathspecs)?.with_divisions(plan.divisions.clone()))
}

/// A verdict of the journal.
pub struct JournalVerdict {
    /// The tree.
    pub tree: TreeId,
    /// Its revision.
    pub revision: CommitId,
    /// The verdict.
    pub outcome: Outcome,
    /// Its reason.
    pub why: Option<String>,
    /// Whether the build gave it.
    pub is_of_build: bool,
    /// Whether the person named the revision.
    pub is_named: bool,
}

impl JournalVerdict {
    /// Its record.
    pub fn record(&self) -> Record {
        let outcome = match self.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Unresolved(reason) => reason.word(),
        };
        Record::Judged {
            tree: self.tree,
            revision: self.revision,
            outcome: outcome.to_owned(),
            why: self.why.clone(),
            by_build: self.is_of_build,
            is_named: self.is_named,
        }
    }

    /// The verdicts of a journal, without those that were taken back.
    pub fn all(location: &Location, id: &str) -> Result<Vec<Self>, Failure> {
        let mut all: Vec<Self> = Vec::new();
        saved::each_record(location, id, &mut |record| match record {
            Record::Judged { tree, revision, outcome, why, by_build, is_named } => {
                let outcome = match outcome.as_str() {
                    "pass" => Outcome::Pass,
                    "fail" => Outcome::Fail,
                    word => format!("unresolved({word})").parse().unwrap_or(Outcome::Unresolved(Reason::Skip)),
                };
                all.push(Self { tree, revision, outcome, why, is_of_build: by_build, is_named });
            }
            Record::Withdrawn => {
                if let Some(last) = all.iter().rposition(|judged| !judged.is_of_build) {
                    all.remove(last);
                }
            }
            _ => {}
        })?;
        Ok(all)
    }
}

/// The verdicts of a hunt so far, and its journal.
pub struct Verdicts {
    /// By tree, with the ends that count as given.
    pub known: HashMap<TreeId, Outcome>,
    /// Those of the journal.
    pub judged: Vec<JournalVerdict>,
    /// The journal.
    pub segment: JournalSegment,
    /// The length of the history.
    pub n_revisions: usize,
}

impl Verdicts {
    /// The answer to a probe that needs no new verdict.
    ///
    /// Only what cannot be built or run is repaired: a revision that was skipped is skipped when it is repaired, too.
    pub fn answer(&self, probe: &Probe) -> Option<Outcome> {
        if !probe.question.is_of_test() {
            return Some(Outcome::Pass);
        }
        let is_skipped = |judged: &JournalVerdict| {
            let is_skip = judged.outcome == Outcome::Unresolved(Reason::Skip);
            judged.revision == probe.revision && is_skip && !judged.is_of_build
        };
        if self.judged.iter().any(is_skipped) {
            return Some(Outcome::Unresolved(Reason::Skip));
        }
        self.known.get(&probe.tree).copied()
    }

    /// Records a verdict.
    pub fn add(&mut self, new: JournalVerdict) -> Result<(), Failure> {
        self.segment.append_durable(&new.record())?;
        self.known.insert(new.tree, new.outcome);
        self.judged.push(new);
        Ok(())
    }

    /// Records what reports need of an event.
    pub fn tell(&mut self, event: &Event) {
        for record in chronicle::records(event, self.n_revisions, 1) {
            // A full disk shows again when a verdict is written.
            let _ = self.segment.append(&record);
        }
    }
}

/// A tree in a checkout.
pub enum Built {
    /// It was built, if there is a build.
    Yes,
    /// It cannot be written or built, with what the build printed.
    No(Reason, Option<String>),
}

/// The job of writing and building a tree.
pub fn job(plan: &Plan, tree: TreeId) -> ProbeJob {
    ProbeJob::fresh(tree, plan.order.test.timeout.unwrap_or(FIRST_LIMIT))
}

/// Writes a tree into a checkout and builds it. `None` if it was interrupted.
pub fn build(
    tree: TreeId,
    plan: &Plan,
    sandbox: &mut Sandbox,
    interrupt: &mut Interrupt,
) -> Result<Option<Built>, Failure> {
    let commands = Commands { test: CommandWords::Shell(":".into()), artifacts: Vec::new(), ..plan.commands.clone() };
    let Some(seen) = sandbox.observe(&job(plan, tree), &commands, interrupt)? else { return Ok(None) };
    if seen.stage == Stage::Build {
        let why = printed_trouble(&seen).unwrap_or_else(|| seen.ending.to_string());
        return Ok(Some(Built::No(Reason::Build, Some(why))));
    }
    // A tree that cannot be written is not run at all.
    Ok(Some(match seen.ending {
        Ending::NotRun(reason) => Built::No(reason, None),
        _ => Built::Yes,
    }))
}
