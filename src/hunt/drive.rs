//! The loop between an engine that asks and a world that answers.

use crate::finding::Conclusion;
use crate::{Again, EngineState, Event, Halt, History, HuntWishes, Hunter, Probe, engine};
use idd_base::{Asking, Outcome, Reason, Search, SearchStep};
use idd_change::trees::Trees;
use std::cell::RefCell;
use std::rc::Rc;

/// Answers probes, by running them or from memory.
pub trait ProbeRunner {
    /// An error that ends the work: disk full, repository broken.
    type Error;

    /// The number of probes that it can use at once; at least one.
    fn width(&self) -> usize;

    /// Answers the first probes in their order, at least one; or returns known outcomes of later ones; or says why the
    /// hunt must stop here.
    ///
    /// The other probes are candidates for speculation. They are asked again, unless the answers make them unnecessary.
    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Self::Error>;

    /// Whether a run that answered one of these probes, and backs a claim, took so long that it is not repeated.
    fn has_slow_claim(&mut self, _: &[Probe]) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// Reports the number of answers of the last call that were used; the others were speculation.
    fn used(&mut self, probes: &[Probe], outcomes: &[Outcome]) -> Result<(), Self::Error>;

    /// Reports events.
    fn tell(&mut self, events: &[Event]);
}

/// An answer of the runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunnerReply {
    /// One outcome for each of the first probes, in order; not empty.
    Outcomes(Vec<Outcome>),
    /// Outcomes of probes after the first, whose outcome is still unknown; not empty. They are not asked again before
    /// their turn.
    Overheard(Vec<(Probe, Outcome)>),
    /// The time for reductions is used up. The first probe, a candidate of a reduction, is not run and has no verdict.
    Spent,
    /// The hunt must start again: runs of one tree disagree, or the failure line varies from revision to revision.
    Again(Again),
    /// No more probes: the budget is used up, or the user interrupted.
    Stop(Conclusion),
}

/// Which engine is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The whole hunt.
    Hunt,
    /// Only the reduction between two revisions.
    Minimize,
}

/// Drives an engine until it ends or the runner stops it. The state has the findings.
///
/// The halt is shared, because a search can be asked for its result more than once.
pub fn drive<L: ProbeRunner>(
    engine: Engine,
    trees: &dyn Trees,
    history: &History,
    order: &HuntWishes,
    runner: &mut L,
    state: &Rc<RefCell<EngineState>>,
) -> Result<Rc<Halt>, L::Error> {
    let mut search = Asking::new(|asker| {
        let hunter = Hunter::new(asker, trees, history, order, Rc::clone(state));
        run(engine, hunter)
    });
    loop {
        let step = search.ask(runner.width());
        let events = std::mem::take(&mut state.borrow_mut().events);
        runner.tell(&events);
        let probes = match step {
            SearchStep::Found(halt) => return Ok(halt),
            SearchStep::Probe(probes) => probes,
        };
        match runner.answer(&probes)? {
            RunnerReply::Stop(conclusion) => return Ok(Rc::new(Halt::Concluded(conclusion))),
            RunnerReply::Again(again) => return Ok(Rc::new(Halt::Again(again))),
            RunnerReply::Spent => {
                state.borrow_mut().is_effort_spent = true;
                search.tell(&[Outcome::Unresolved(Reason::Skip)]);
            }
            RunnerReply::Overheard(known) => {
                for (probe, outcome) in known {
                    search.overhear(probe, outcome);
                }
            }
            RunnerReply::Outcomes(outcomes) => {
                state.borrow_mut().has_slow_claim |= runner.has_slow_claim(&probes[..outcomes.len()])?;
                let n_used = search.tell(&outcomes);
                runner.used(&probes[..n_used], &outcomes[..n_used])?;
            }
        }
    }
}

async fn run(engine: Engine, hunter: Hunter<'_>) -> Rc<Halt> {
    let result = match engine {
        Engine::Hunt => engine::hunt(hunter).await,
        Engine::Minimize => engine::minimize(hunter).await,
    };
    Rc::new(result.err().unwrap_or(Halt::Concluded(Conclusion::Found)))
}
