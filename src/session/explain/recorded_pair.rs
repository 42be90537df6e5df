//! Both runs of a pair as recordings, for whoever only looks at them.

use crate::Failure;
use crate::debug::any_run::Walked;
use crate::debug::passing::PassingRun;
use crate::explain::finding::{no_difference, rename};
use crate::explain::model::{Desk, Explainer, LONGER, RecordLimits, ending_of};
use idd_base::Ending;
use idd_explain::align::Alignment;
use idd_explain::java;
use idd_explain::java::comparable_run::TakenRun;
use idd_explain::native::recorded::NativeRecorded;
use idd_trace::java::JavaPlayer;
use idd_trace::{Run, Step};

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
}

impl Explainer<'_> {
    /// Builds and runs both versions.
    pub(crate) fn both(&self, desk: &mut Desk<'_>) -> Result<PairedRuns, Failure> {
        if let Some((bad, good)) = self.java_sides(desk)? {
            let (runs, wrong, _) = self.java_runs(&bad, &good)?;
            let first = self.java_first(&runs, &wrong)?;
            let run = |(player, taken): (JavaPlayer, TakenRun)| {
                let (run, named) = taken.into_named();
                Walked::from(java::recorded::JavaRecorded { player, run, named: Some(named) })
            };
            let (failing, reference) = (run(runs.failing), run(runs.reference));
            let passing = PassingRun { run: reference, alignment: runs.alignment };
            return Ok(PairedRuns { failing, passing, failure: wrong.step, first });
        }
        let good = self.passing(desk)?;
        desk.talk.say("Building and running the failing version.");
        let longest = good.duration * LONGER.0 + LONGER.1;
        let limits = RecordLimits { max_bytes: self.order.max_trace, time: self.limit().min(longest) };
        let bad = self.side("bad", self.pair.failing.tree, limits, desk.sandbox)?;
        if bad.ending == Ending::Exit(0) {
            return Err(self.not_failing(desk));
        }
        let which = self.which(&bad, &good)?;
        let mut reference = Self::reference(&good, which.twin)?;
        let mut failing = bad.player(which.number)?;
        let (ending, expected) = (ending_of(failing.trace().end()), ending_of(reference.trace().end()));
        rename(&mut failing, &mut reference)?;
        let run = Run::read(&mut failing)?;
        let other = Run::read(&mut reference)?;
        let alignment = Alignment::new(&run, &other);
        let failure = idd_explain::failure::RunFailure::find(&run, &other, &alignment, ending, expected)
            .ok_or_else(no_difference)?;
        let failing = NativeRecorded { player: failing, run }.into();
        let passing = PassingRun { run: NativeRecorded { player: reference, run: other }.into(), alignment };
        Ok(PairedRuns { failing, passing, failure: failure.step, first: None })
    }
}
