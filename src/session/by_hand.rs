//! A hunt in which a person judges each revision, with the engine of every other hunt.
//!
//! Each command runs the engine from the beginning: known verdicts answer it, until it asks for a tree that nobody has judged.
//! That tree is written into a checkout, the build runs there, and the command ends. The next one brings the verdict. Verdicts
//! are records of the journal, so nothing else has to be stored, and taking one back is one more record.
//!
//! A tree that cannot be built needs no person: it is unresolved, and is repaired as in every hunt. The bad revision and the
//! good ones count as given. There is no reduction: a person would have to judge every candidate.

use crate::failure::chain;
use crate::finding::FindingSources;
use crate::kept::KeptHunt;
use crate::order::{EffortOrder, HistoryOrder as Where, HuntOrder, SignatureMode, TestCommand, TestOrder, Until};
use crate::plan::{Adjustments, Plan};
use crate::saved::Saved;
use crate::verdict_records::{Built, HuntScene, JournalVerdict, Verdicts};
use crate::{Context, Failure, Interrupt, Talk, finding, kept, sandboxes, saved, verdict_records};
use idd_base::{CommitId, Outcome, Reason, Sought, TreeId};
use idd_change::trees::Trees as _;
use idd_hunt::drive::{Engine, ProbeRunner, RunnerReply, drive};
use idd_hunt::finding::{Conclusion, Finding};
use idd_hunt::{EngineState, Event, Halt, History, Probe};
use idd_report::{Commit, Report, Status, Terminal, Untrusted};
use idd_world::files;
use idd_world::journal::Record;
use idd_world::repo::{Location, Repository, TreeStore, graph, locate, private};
use idd_world::run::sandbox::{self, Sandbox};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

/// The name of the test in reports.
const NAME: &str = "by hand";

/// The checkout below the directory for it.
const CHECKOUT: &str = "checkout";

/// The file beside the checkout that names the user's directory.
const OWNER: &str = "of";

/// What a person says of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonVerdict {
    /// The test passes there.
    Good,
    /// It fails there.
    Bad,
    /// It cannot be judged.
    Skip,
}

/// What a command brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenVerdict {
    /// Nothing: the revision is shown again.
    Nothing,
    /// A verdict.
    Verdict {
        /// Which.
        verdict: PersonVerdict,
        /// On this revision, if it is not the one that is shown.
        revision: Option<String>,
        /// Why, in words of the person.
        why: Option<String>,
    },
    /// The last verdict is taken back.
    Undo,
}

/// The state of the hunt after a command.
pub enum ByHandState {
    /// A person has to judge a revision.
    Waiting(Box<WaitingRevision>),
    /// The hunt has ended.
    Ended(Box<Report>),
}

/// The revision that a person has to judge.
pub struct WaitingRevision {
    /// The revision.
    pub commit: Commit,
    /// Whether its tree was repaired.
    pub is_repaired: bool,
    /// The top of its checkout, the same for all revisions.
    pub directory: PathBuf,
    /// The number of revisions that are left, if both ends are known.
    pub n_left: Option<usize>,
    /// The steps back from the bad revision, while a good one is searched.
    pub distance: Option<usize>,
    /// The verdicts that a person gave so far.
    pub n_judged: usize,
    /// The question, for its words.
    pub find: Sought,
}

/// The order of a hunt by hand.
pub fn order(history: Where, build: Option<OsString>, timeout: Option<Duration>) -> HuntOrder {
    HuntOrder {
        by_hand: true,
        history,
        test: TestOrder { build, timeout, no_hold: true, signature: SignatureMode::Exit, ..TestOrder::default() },
        effort: EffortOrder { until: Until::Commit, no_cache: true, no_port: true, ..EffortOrder::default() },
        ..HuntOrder::new(TestCommand::Shell(NAME.into()))
    }
}

/// The directory of the user, if `context` is that of a command in the checkout of a hunt by hand.
///
/// The file beside the checkout names it. It counts only if the hunts of that directory have their checkout here: what a
/// repository contains cannot lead anywhere else.
pub fn directory_of_user(context: &Context) -> Option<PathBuf> {
    let place =
        context.directory.ancestors().find(|above| above.join(OWNER).is_file() && above.join(CHECKOUT).is_dir())?;
    let user = PathBuf::from(OsString::from_vec(files::bytes(&place.join(OWNER)).ok()?));
    let location = locate::locate(&user, &context.environment).ok()?;
    let expected = sandboxes::by_hand(context, &location).ok()?;
    (expected.canonicalize().ok()? == place.canonicalize().ok()?).then_some(user)
}

/// The newest hunt by hand of this worktree.
pub fn newest(location: &Location) -> Result<KeptHunt, Failure> {
    let all = kept::own(location).into_iter().rev().filter_map(|id| kept::find(location, &id).ok().flatten());
    let mut by_hand = all.filter(|kept| saved::plan(&kept.replay).is_ok_and(|plan| plan.order.by_hand));
    by_hand.next().ok_or_else(|| {
        Failure::usage("no hunt by hand is under way here")
            .with_hint("`git idd start` begins one; with a test command, `git idd <test-cmd>` needs no person")
    })
}

/// Removes the checkout.
pub fn remove_checkout(context: &Context, location: &Location) {
    if let Ok(root) = sandboxes::by_hand(context, location) {
        sandbox::remove(&root, &private::private_directory(&location.idd_directory()));
    }
}

/// Goes on with a hunt: takes what was given, and runs the engine until it needs a person or has ended.
pub fn go_on(
    scene: &HuntScene<'_>,
    saved: Saved,
    given: GivenVerdict,
    talk: &mut dyn Talk,
) -> Result<ByHandState, Failure> {
    let HuntScene { plan, location, context, user } = *scene;
    let Saved { id, replay, mut segment, lock: _lock, .. } = saved;
    let (history, store) = scene.read()?;
    scene.refuse_swapped(
        &history,
        "`git idd start <bad> <good>` takes the bad one first; `--find fix` looks for what mended it",
    )?;
    let view = |id: CommitId| store.view(history.tree(id)).map_err(|error| Failure::from_error(&error));
    let mut known = HashMap::from([(view(plan.bad)?, Outcome::Fail)]);
    for good in &plan.goods {
        known.entry(view(*good)?).or_insert(Outcome::Pass);
    }
    let mut judged = JournalVerdict::all(location, &id)?;
    let mut given = given;
    if given == GivenVerdict::Undo {
        if judged.iter().all(|judged| judged.is_of_build) {
            return Err(Failure::usage("there is no verdict to take back")
                .with_hint("`git idd start --bad <rev> --good <rev>` begins with other revisions"));
        }
        segment.append_durable(&Record::Withdrawn)?;
        if let Some(kept) = replay.as_ref().and_then(saved::first_bad) {
            saved::withdraw_refs(kept.commit, location)?;
        }
        judged = JournalVerdict::all(location, &id)?;
    }
    if let GivenVerdict::Verdict { verdict, revision: Some(name), why } = &given {
        let (revision, tree) = named(name, user, &history, &store)?;
        let outcome = outcome(*verdict, plan);
        let new = JournalVerdict { tree, revision, outcome, why: why.clone(), is_of_build: false, is_named: true };
        segment.append_durable(&new.record())?;
        judged.push(new);
        given = GivenVerdict::Nothing;
    }
    known.extend(judged.iter().map(|judged| (judged.tree, judged.outcome)));
    let bounded = &bounded(plan, &judged, &history);
    let scene = &HuntScene { plan: bounded, ..*scene };
    let plan = bounded;
    let mut person = JudgingPerson {
        scene,
        verdicts: Verdicts { known, judged, segment, n_revisions: history.len() },
        given: Some(given),
        waiting: None,
        sandbox: None,
        left: (None, None),
        interrupt: context.interrupt()?,
        talk,
    };
    let mut order = plan.engine_order(&Adjustments::default(), &history);
    (order.check_vacuous, order.may_release, order.may_widen, order.asks_complaints) = (false, false, false, false);
    order.is_clean = true;
    let state = EngineState::new(plan.bad);
    let halt = drive(Engine::Hunt, &store, &history, &order, &mut person, &state)?;
    let conclusion = match &*halt {
        Halt::Concluded(conclusion) => *conclusion,
        Halt::Trees(error) => return Err(Failure::from_error(error)),
        Halt::Again(_) => {
            return Err(Failure::error("the verdicts contradict each other")
                .with_hint("`git idd log` lists them, and `git idd undo` takes back the last one"));
        }
    };
    if let Some(probe) = person.waiting {
        person.verdicts.segment.append_durable(&Record::Ended { status: Status::Waiting.word().to_owned() })?;
        let n_judged = person.verdicts.judged.iter().filter(|judged| !judged.is_of_build).count();
        let revision = history.get(probe.revision);
        let directory = sandboxes::by_hand(context, location)?.join(CHECKOUT).join("tree");
        return Ok(ByHandState::Waiting(Box::new(WaitingRevision {
            commit: Commit::from(&revision),
            is_repaired: view(probe.revision)? != probe.tree,
            directory,
            n_left: person.left.0,
            distance: person.left.1,
            n_judged,
            find: plan.order.history.find,
        })));
    }
    let mut finding: Finding = state.borrow().finding.clone();
    finding.conclusion = conclusion;
    let adjustments = Adjustments::default();
    let sources = FindingSources {
        plan,
        adjustments: &adjustments,
        history: &history,
        store: &store,
        signature: None,
        beside: None,
    };
    let mut report = finding::report(&finding, sources)?;
    // A person's verdict is no claim that was run again.
    report.evidence.clear();
    report.hunt = Some(id);
    report.log = Some(Untrusted::from(person.verdicts.segment.path().to_string_lossy().as_ref()));
    report.notes.splice(0..0, person.verdicts.judged.iter().filter_map(|judged| said(judged, plan)));
    person.verdicts.segment.append(&Record::Finding { value: serde_json::to_value(&report)? })?;
    person.verdicts.segment.append_durable(&Record::Ended { status: report.status.word().to_owned() })?;
    if finding.is_finding() {
        saved::keep_refs(&finding, &store, location)?;
    }
    Ok(ByHandState::Ended(Box::new(report)))
}

/// A revision that the person names, with its tree.
fn named(name: &str, user: &Repository, history: &History, store: &TreeStore) -> Result<(CommitId, TreeId), Failure> {
    let revision = graph::resolve(user, name)
        .map_err(|error| Failure::usage(chain(&error)).with_hint("`git log --oneline` lists revisions"))?;
    let Some(found) = history.find(revision) else {
        return Err(Failure::usage(format!("{} is not in the history of the hunt", revision.short()))
            .with_hint("a verdict counts for the bad revision and those before it"));
    };
    Ok((revision, store.view(found.tree).map_err(|error| Failure::from_error(&error))?))
}

/// The plan between the verdicts on revisions that the person named: the last bad one, and all good ones.
fn bounded(plan: &Plan, judged: &[JournalVerdict], history: &History) -> Plan {
    let named = || judged.iter().filter(|judged| judged.is_named);
    let is_before = |id: CommitId| id != plan.bad && history.path(plan.bad, id).is_some();
    let is_bad = |judged: &&JournalVerdict| judged.outcome == Outcome::Fail && is_before(judged.revision);
    let bad = named().filter(is_bad).map(|judged| judged.revision).next_back().unwrap_or(plan.bad);
    let is_good =
        |judged: &&JournalVerdict| judged.outcome == Outcome::Pass && history.path(bad, judged.revision).is_some();
    let more = named().filter(is_good).map(|judged| judged.revision);
    Plan { bad, goods: plan.goods.iter().copied().chain(more).collect(), ..plan.clone() }
}

/// What a verdict means for the engine: passing is the older behaviour, failing the newer one.
fn outcome(verdict: PersonVerdict, plan: &Plan) -> Outcome {
    let is_fix = plan.order.history.find == Sought::Fix;
    match verdict {
        PersonVerdict::Skip => Outcome::Unresolved(Reason::Skip),
        PersonVerdict::Good if is_fix => Outcome::Fail,
        PersonVerdict::Bad if is_fix => Outcome::Pass,
        PersonVerdict::Good => Outcome::Pass,
        PersonVerdict::Bad => Outcome::Fail,
    }
}

/// A note with the reason of a verdict.
fn said(judged: &JournalVerdict, plan: &Plan) -> Option<Untrusted> {
    let why = judged.why.as_ref()?;
    let is_fix = plan.order.history.find == Sought::Fix;
    let verdict = match judged.outcome {
        Outcome::Unresolved(_) => "skipped",
        Outcome::Pass if !is_fix => "good",
        Outcome::Fail if is_fix => "good",
        Outcome::Pass | Outcome::Fail => "bad",
    };
    Some(Untrusted::from(format!("{} is {verdict}: {why}", judged.revision.short())))
}

/// Answers probes with the verdicts of a person.
struct JudgingPerson<'p> {
    scene: &'p HuntScene<'p>,
    verdicts: Verdicts,
    /// What this command brings; `None` when it was used.
    given: Option<GivenVerdict>,
    /// The tree that nobody has judged.
    waiting: Option<Probe>,
    sandbox: Option<Sandbox>,
    /// The revisions left, and the steps back, as of the last event.
    left: (Option<usize>, Option<usize>),
    interrupt: Interrupt,
    talk: &'p mut dyn Talk,
}

impl JudgingPerson<'_> {
    fn judge(
        &mut self,
        probe: &Probe,
        outcome: Outcome,
        why: Option<String>,
        is_of_build: bool,
    ) -> Result<(), Failure> {
        let (tree, revision) = (probe.tree, probe.revision);
        self.verdicts.add(JournalVerdict { tree, revision, outcome, why, is_of_build, is_named: false })
    }

    /// Writes the tree into the checkout and builds it. `None` if it was interrupted.
    fn check_out(&mut self, probe: &Probe) -> Result<Option<Outcome>, Failure> {
        let HuntScene { plan, location, context, .. } = *self.scene;
        if self.sandbox.is_none() {
            let root = sandboxes::by_hand(context, location)?;
            files::make_own(&root)?;
            files::replace(&root.join(OWNER), context.directory.as_os_str().as_bytes())?;
            let private = private::private_directory(&location.idd_directory());
            let mut sandbox = Sandbox::create(&root, CHECKOUT, &private, plan.bad)?;
            sandbox.keep_products();
            self.sandbox = Some(sandbox);
        }
        let Some(sandbox) = &mut self.sandbox else { return Ok(None) };
        let Some(built) = verdict_records::build(probe.tree, plan, sandbox, &mut self.interrupt)? else {
            return Ok(None);
        };
        Ok(Some(match built {
            Built::Yes => Outcome::Pass,
            Built::No(reason, why) => {
                if let Some(why) = why {
                    let why = Terminal.line(&Untrusted::from(why));
                    self.talk.say(&format!("{} cannot be built: {why}", probe.revision.short()));
                }
                Outcome::Unresolved(reason)
            }
        }))
    }
}

impl ProbeRunner for JudgingPerson<'_> {
    type Error = Failure;

    fn width(&self) -> usize {
        1
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Failure> {
        let probe = probes[0];
        if let Some(outcome) = self.verdicts.answer(&probe) {
            return Ok(RunnerReply::Outcomes(vec![outcome]));
        }
        if let Some(GivenVerdict::Verdict { verdict, why, .. }) = self.given.take() {
            let outcome = outcome(verdict, self.scene.plan);
            self.judge(&probe, outcome, why, false)?;
            return Ok(RunnerReply::Outcomes(vec![outcome]));
        }
        match self.check_out(&probe)? {
            None => Ok(RunnerReply::Stop(Conclusion::Interrupted)),
            Some(Outcome::Unresolved(reason)) => {
                let outcome = Outcome::Unresolved(reason);
                self.judge(&probe, outcome, None, true)?;
                Ok(RunnerReply::Outcomes(vec![outcome]))
            }
            Some(_) => {
                self.waiting = Some(probe);
                Ok(RunnerReply::Stop(Conclusion::Waiting))
            }
        }
    }

    fn used(&mut self, _: &[Probe], _: &[Outcome]) -> Result<(), Failure> {
        Ok(())
    }

    fn tell(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Galloping { distance, .. } => self.left = (None, Some(*distance)),
                Event::Bisecting { n_left, .. } => self.left = (Some(*n_left), None),
                _ => {}
            }
            self.verdicts.tell(event);
        }
    }
}
