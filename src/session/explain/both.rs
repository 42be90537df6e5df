//! Both runs of a pair as recordings, for whoever only looks at them.

use crate::explain;
use crate::explain::align::Alignment;
use crate::explain::native::recorded::Recorded;
use crate::outcome;
use crate::session::context::Context;
use crate::session::explain::change;
use crate::session::explain::finding::no_difference;
use crate::session::explain::finding::rename;
use crate::session::explain::model::Explainer;
use crate::session::explain::model::LONGER;
use crate::session::explain::model::Pair;
use crate::session::explain::model::ending_of;
use crate::session::explain::with_explainer;
use crate::session::failure::Failure;
use crate::session::order::ExplainOrder;
use crate::session::talk::Talk;
use crate::trace::run::Run;
use crate::world::repo::locate::Location;
use crate::world::run::sandbox::Sandbox;

/// Both runs.
pub struct Both {
    /// The failing run.
    pub failing: Recorded,
    /// The run of the reference.
    pub reference: Recorded,
    /// Which of their steps correspond.
    pub alignment: Alignment,
    /// The first difference that can be seen from outside.
    pub failure: explain::failure::Failure,
    /// The lines of the failing version that the change touches.
    pub changed: change::Lines,
    /// The versions.
    pub pair: Pair,
}

/// Builds and runs both versions, and has them looked at while their recordings exist.
pub fn with_both<T>(
    order: &ExplainOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
    look: impl FnOnce(Both, &mut dyn Talk) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_explainer(order, location, context, talk, |explainer, sandbox, (pair, changed), talk| {
        let both = explainer.both(sandbox, (pair, changed), talk)?;
        look(both, talk)
    })
}

impl Explainer<'_> {
    fn both(
        &self,
        sandbox: &mut Sandbox,
        (pair, changed): (Pair, change::Lines),
        talk: &mut dyn Talk,
    ) -> Result<Both, Failure> {
        let good = self.passing(&pair, sandbox, talk)?;
        talk.say("Building and running the failing version.");
        let longest = good.duration * LONGER.0 + LONGER.1;
        let limits = (self.order.max_trace, self.limit().min(longest));
        let bad = self.side("bad", pair.failing.0, limits, sandbox)?;
        if bad.ending == outcome::Ending::Exit(0) {
            return Err(self.not_failing(&pair, sandbox, talk));
        }
        let which = self.which(&bad, &good)?;
        let mut reference = Self::reference(&good, which.twin)?;
        let mut failing = bad.player(which.number)?;
        let endings = (ending_of(failing.trace().end()), ending_of(reference.trace().end()));
        rename(&mut failing, &mut reference)?;
        let run = Run::read(&mut failing)?;
        let other = Run::read(&mut reference)?;
        let alignment = Alignment::new(&run, &other);
        let failure = explain::failure::Failure::find(&run, &other, &alignment, endings).ok_or_else(no_difference)?;
        let failing = Recorded { player: failing, run };
        let reference = Recorded { player: reference, run: other };
        Ok(Both { failing, reference, alignment, failure, changed, pair })
    }
}
