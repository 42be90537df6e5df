//! `git idd explain`: why a change makes a test fail.
//!
//! Both versions are built under the instrumenting compiler, in the same place, and the test is run on each. Then the test is run on the failing one once more, and
//! its failing process stays parked before its first statement while it is asked: everything that is tried runs in forks of it.

use crate::explain::model::{
    ChainLimits, Desk, Explained, Explainer, Explanation, FIRST_TRACE, LONGER, Limit, PARKED_LIMIT, PATIENCE,
    PATIENCE_ENDLESS, Pair, RecordLimits, Sides, reference_ending,
};
use crate::explain::sides::{BuiltSide, TargetProcess};
use crate::hold::FileHolder;
use crate::record::instruments::RecordingTools;
use crate::recorded::order::{ExplainOrder, SWITCH_BUDGET};
use crate::sandboxes::{objects, sandboxes};
use crate::surroundings::surroundings;
use crate::version::TreeVersion;
use crate::{Context, Failure, Talk, kept, saved};
use idd_base::Ending;
use idd_report::Status;
use idd_trace::container::is_stopped;
use idd_trace::{Run, Step};
use idd_world::process::CommandWatch as _;
use idd_world::repo::{Location, private};
use idd_world::run::sandbox::{self, Sandbox};
use std::time::Instant;

pub mod change;
mod expanded;
pub(crate) mod finding;
mod forks;
pub(crate) mod java;
mod layout;
pub mod model;
pub(crate) mod pair;
mod parking;
mod plain;
mod products;
mod progress;
pub mod recorded_pair;
mod sides;
mod source_text;
pub mod switching;
mod unequal;
mod which;
pub mod words;

#[cfg(test)]
mod alignment_tests;

/// What was found.
enum FoundExplanation {
    /// A chain whose links were tested by experiments.
    Tested(Box<Explanation>),
    /// A chain of a Java program, and whether a signal ended the tests of its links.
    Observed(Box<idd_report::chain::ReportChain>, Pair, bool),
}

/// Explains; that of a hunt is kept beside it, for its reports.
pub fn run(
    order: &ExplainOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<Explained, Failure> {
    let done = with_explainer(order, location, context, talk, |explainer, desk| {
        if let Some(observed) = explainer.explain_java(desk)? {
            let (pair, is_interrupted) = (explainer.pair.clone(), explainer.interrupt.is_interrupted());
            return Ok(FoundExplanation::Observed(Box::new(observed), pair, is_interrupted));
        }
        let explanation = match explainer.order.switch_budget {
            Some(budget) => explainer.explain_switched(budget, desk),
            None => explainer.explain(desk),
        };
        explanation.map(|explanation| FoundExplanation::Tested(Box::new(explanation)))
    });
    let mut explanation = match done? {
        FoundExplanation::Tested(explanation) => explanation,
        FoundExplanation::Observed(chain, pair, is_interrupted) => {
            let sources = change::TreeSources::new(location, pair.failing.tree)?;
            let explanation = || idd_report::explanation::Explanation::Chain((*chain).clone());
            if !is_interrupted {
                keep(pair.hunt, pair.failing, explanation, location, talk);
            }
            return Ok(Explained { chain: *chain, sources, is_interrupted });
        }
    };
    let mut sources = change::TreeSources::new(location, explanation.pair.failing.tree)?;
    for link in explanation.links.iter_mut().filter(|link| link.step == Step::START) {
        if let Some(place) = &mut link.place {
            place.line = sources.touched(&place.file, place.line, &explanation.changed);
        }
    }
    let replaced = change::ReferenceLines::new(location, &explanation.pair)?;
    let chain = plain::chain(&explanation, &mut sources, &replaced);
    let is_interrupted = explanation.limit == Some(Limit::Interrupt);
    if !is_interrupted {
        keep(
            explanation.pair.hunt,
            explanation.pair.failing,
            || idd_report::explanation::Explanation::Chain(chain.clone()),
            location,
            talk,
        );
    }
    Ok(Explained { chain, sources, is_interrupted })
}

/// Finds the versions, and has something done with them in a sandbox of its own.
pub(crate) fn with_explainer<T>(
    order: &ExplainOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
    explain: impl FnOnce(&Explainer<'_>, &mut Desk<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let user = private::open(&location.git_directory)?;
    let (mut pair, order) = pair::find(order, location, &user, talk)?;
    drop(saved::make_private(location, &user, pair.failing.commit)?);
    // They are missed before anything is built.
    RecordingTools::find(location, context, pair.failing.tree)?;
    let private = private::private_directory(&location.idd_directory());
    if let (None, Some(command)) = (&pair.hunt, &order.command) {
        let holder = FileHolder::new(command, &order.holding, pair.failing.commit, location, &user, context)?;
        holder.held(&mut [&mut pair.failing.tree, &mut pair.reference], talk)?;
    }
    let changed = change::lines(location, &pair)?;

    let _lock = saved::lock(location)?;
    let interrupt = context.interrupt()?;
    let root = sandboxes(context, location, "explain")?;
    let objects = objects(&root, location);
    let environment = pair.hunt.as_deref().map_or_else(|| Ok(Vec::new()), |hunt| environment(location, hunt))?;
    let surroundings = surroundings(location, context, &root, &environment);
    let (order, root) = (&order, root.as_path());
    let explainer = Explainer { pair, changed, order, location, context, root, surroundings, objects, interrupt };
    let done = (|| {
        let mut sandbox = Sandbox::create(root, "w", &private, explainer.pair.failing.commit)?;
        explain(&explainer, &mut Desk { sandbox: &mut sandbox, talk })
    })();
    sandbox::remove(root, &private);
    done
}

/// The paths of the user's that a hunt found its test to need.
fn environment(location: &Location, hunt: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let report = kept::newest_finding(location, Some(hunt))?.0.report()?;
    Ok(report.held.iter().map(|held| held.path.as_bytes().to_vec()).collect())
}

/// Stores an explanation of a hunt for its reports.
///
/// - `failing`: the failing version, as in a proved claim of the finding.
pub fn keep(
    hunt: Option<String>,
    version: TreeVersion,
    explanation: impl FnOnce() -> idd_report::explanation::Explanation,
    location: &Location,
    talk: &mut dyn Talk,
) {
    let Some(hunt) = hunt else { return };
    let explained = idd_report::explanation::Explained {
        hunt,
        commit: version.commit,
        tree: version.tree,
        explanation: explanation(),
    };
    if let Err(failure) = saved::keep_explanation(location, &explained) {
        let why = String::from_utf8_lossy(failure.message.as_bytes()).into_owned();
        talk.say(&format!("The explanation could not be kept for reports: {why}."));
    }
}

impl Explainer<'_> {
    /// Builds the reference, and runs the test on it.
    fn passing(&self, desk: &mut Desk<'_>) -> Result<BuiltSide, Failure> {
        desk.talk.say("Building and running the reference.");
        let limits = RecordLimits { max_bytes: self.order.max_trace, time: self.limit() };
        let good = self.side("ref", self.pair.reference, limits, desk.sandbox)?;
        if good.ending == Ending::Exit(0) {
            return Ok(good);
        }
        Err(self.not_passing(&good, desk))
    }

    /// Explains the failing version of a hunt by itself, because its reference cannot be recorded.
    fn explain_alone(&self, failure: Failure, desk: &mut Desk<'_>) -> Result<Explanation, Failure> {
        let why = String::from_utf8_lossy(failure.message.as_bytes()).into_owned();
        desk.talk.say(&format!(
            "The reference cannot be recorded: {why}. The failing version is compared with itself, as with `--switch`."
        ));
        match self.explain_switched(SWITCH_BUDGET, desk) {
            Ok(mut explanation) => {
                pair::SWITCHED.clone_into(&mut explanation.pair.names.1);
                explanation.remarks.push(format!("the reference of the hunt could not be recorded: {why}"));
                Ok(explanation)
            }
            Err(other) if other.status == Status::Interrupted => Err(other),
            // The first reason is the one to mend.
            Err(_) => Err(failure),
        }
    }

    fn explain(&self, desk: &mut Desk<'_>) -> Result<Explanation, Failure> {
        let begin = Instant::now();
        let good = match self.passing(desk) {
            Err(failure) if self.pair.hunt.is_some() && failure.status == Status::Error => {
                return self.explain_alone(failure, desk);
            }
            good => good?,
        };
        desk.talk.say("Building and running the failing version.");
        // What takes so much longer than the reference will not end, and may fill the disk till then.
        let longest = good.duration * LONGER.0 + LONGER.1;
        let limits = RecordLimits { max_bytes: FIRST_TRACE.min(self.order.max_trace), time: self.limit().min(longest) };
        let (bad, products) = self.failing(self.pair.failing.tree, limits, desk.sandbox)?;
        if bad.ending == Ending::Exit(0) {
            return Err(self.not_failing(desk));
        }
        let which = self.which(&bad, &good)?;
        let number = which.number;
        let remark = which::remark(&bad, &which);
        if remark.is_some() {
            desk.talk.say(&format!(
                "Of {} processes, `{}` is explained.",
                bad.taken.len(),
                which::called(&bad, number)
            ));
        }
        let mut reference = Self::reference(&good, which.twin)?;
        let n_reference = Run::read(&mut reference)?.n_records;

        let commands = |variables| products.commands(self, variables).map_err(Failure::from);
        self.while_parked(
            desk.sandbox,
            &products.job(self.pair.failing.tree, PARKED_LIMIT),
            &TargetProcess::new(&bad, number),
            commands,
            |mut server, process| {
                let taken = &bad.taken[number];
                // A record has four bytes at least: what ended by itself in the test may come as far here.
                let budget = if is_stopped(taken.end) {
                    PATIENCE_ENDLESS.0.saturating_mul(n_reference) + PATIENCE_ENDLESS.1
                } else {
                    (PATIENCE.0.saturating_mul(n_reference)).max(taken.n_bytes / 4) + PATIENCE.1
                };
                let failing = self.fork(&products.build, &mut server, &process, &forks::whole(budget, self.limit()))?;
                let way = failing.compared(taken)?;
                let seconds = begin.elapsed().as_secs_f64();
                desk.talk.say("Searching for the chain.");
                let expected = reference_ending(failing.ending, reference.trace().end());
                let (failing, reference) = ((failing.player, failing.ending), (reference, expected));
                let sides = Sides {
                    failing,
                    reference,
                    server,
                    switched: None,
                    n_processes: bad.taken.len(),
                    limits: ChainLimits { max_tests: self.order.max_tests, time: self.order.budget },
                };
                let explained = self.chain(sides, seconds, desk.talk)?;
                Ok(explained.with(remark).with(way))
            },
        )
    }
}
