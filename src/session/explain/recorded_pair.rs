//! Both runs of a pair as recordings, for whoever only looks at them.

use crate::debug::any_run::Walked;
use crate::debug::passing::PassingRun;
use crate::explain::finding::{no_difference, rename};
use crate::explain::model::{Desk, Explainer, LONGER, Pair, ending_of};
use crate::explain::{change, with_explainer};
use crate::order::ExplainOrder;
use crate::{Context, Failure, Talk};
use idd_base::Ending;
use idd_explain::align::Alignment;
use idd_explain::java;
use idd_explain::java::comparable_run::TakenRun;
use idd_explain::native::recorded::NativeRecorded;
use idd_trace::java::JavaPlayer;
use idd_trace::{Run, Step};
use idd_world::repo::Location;

/// Both runs.
pub struct PairedRuns {
    /// The failing run.
    pub failing: Walked,
    /// The run of the reference.
    pub passing: PassingRun,
    /// The step of the first difference that can be seen from outside.
    pub failure: Step,
    /// Where the chain from the change to the failure begins, if that is known.
    pub first: Option<Step>,
    /// The lines of the failing version that the change touches.
    pub changed: change::LinesByPath,
    /// The versions.
    pub pair: Pair,
}

/// Builds and runs both versions, and has them looked at while their recordings exist.
pub fn with_both<T>(
    order: &ExplainOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
    look: impl FnOnce(PairedRuns, &mut dyn Talk) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_explainer(order, location, context, talk, |explainer, (pair, changed), desk| {
        let both = explainer.both(pair, changed, desk)?;
        look(both, desk.talk)
    })
}

impl Explainer<'_> {
    fn both(&self, pair: Pair, changed: change::LinesByPath, desk: &mut Desk<'_>) -> Result<PairedRuns, Failure> {
        if let Some((bad, good)) = self.java_sides(&pair, desk)? {
            let (runs, wrong, _) = self.java_runs(&bad, &good)?;
            let first = self.java_first(&runs, &wrong, (&pair, &changed))?;
            let run = |(player, taken): (JavaPlayer, TakenRun)| {
                let (run, named) = taken.into_named();
                Walked::from(java::recorded::JavaRecorded { player, run, named: Some(named) })
            };
            let (failing, reference) = (run(runs.failing), run(runs.reference));
            let passing = PassingRun { run: reference, alignment: runs.alignment };
            return Ok(PairedRuns { failing, passing, failure: wrong.step, first, changed, pair });
        }
        let good = self.passing(&pair, desk)?;
        desk.talk.say("Building and running the failing version.");
        let longest = good.duration * LONGER.0 + LONGER.1;
        let limits = (self.order.max_trace, self.limit().min(longest));
        let bad = self.side("bad", pair.failing.0, limits, desk.sandbox)?;
        if bad.ending == Ending::Exit(0) {
            return Err(self.not_failing(&pair, desk));
        }
        let which = self.which(&bad, &good)?;
        let mut reference = Self::reference(&good, which.twin)?;
        let mut failing = bad.player(which.number)?;
        let endings = (ending_of(failing.trace().end()), ending_of(reference.trace().end()));
        rename(&mut failing, &mut reference)?;
        let run = Run::read(&mut failing)?;
        let other = Run::read(&mut reference)?;
        let alignment = Alignment::new(&run, &other);
        let failure =
            idd_explain::failure::RunFailure::find(&run, &other, &alignment, endings).ok_or_else(no_difference)?;
        let failing = NativeRecorded { player: failing, run }.into();
        let passing = PassingRun { run: NativeRecorded { player: reference, run: other }.into(), alignment };
        Ok(PairedRuns { failing, passing, failure: failure.step, first: None, changed, pair })
    }
}
