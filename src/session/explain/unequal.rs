//! What is said if the runs under instrumentation do not pass and fail as they should: which of four runs did what.

use crate::explain::model::{Desk, Explainer, FIRST_TRACE, Pair, RecordLimits, interrupted};
use crate::explain::sides::BuiltSide;
use crate::explain::switching::search::{DecisionSearch, none_passes};
use crate::{Failure, record};
use idd_base::{Ending, TreeId};
use idd_report::{Terminal, Untrusted};
use idd_world::process::CommandWatch as _;
use idd_world::run::sandbox::{Commands, ProbeJob, Sandbox};

/// How a version ended: as it is, and under instrumentation; `None` where it could not be built or run.
type Endings = (Option<Ending>, Option<Ending>);

impl Explainer<'_> {
    /// What is said of a reference that does not pass; named versions that were swapped are told to be.
    pub(super) fn not_passing(&self, good: &BuiltSide, desk: &mut Desk<'_>) -> Failure {
        let limits = RecordLimits { max_bytes: FIRST_TRACE.min(self.order.max_trace), time: self.limit() };
        let bad = self.side("bad", self.pair.failing.tree, limits, desk.sandbox).ok().map(|bad| bad.ending);
        if self.pair.hunt.is_none() && bad == Some(Ending::Exit(0)) {
            let (bad, good) = &self.pair.names;
            let message = format!("the test passes on `{bad}` and fails on `{good}`: they look swapped");
            return Failure::error(message)
                .with_hint(format!("`--bad` is the version that fails: `--bad {good} --good {bad}`"));
        }
        let said = if good.said.is_empty() { String::new() } else { format!(": {}", good.said) };
        let ending = good.ending;
        let as_they_are = self.as_they_are(desk);
        let advice = if as_they_are.0 == Some(Ending::Exit(0)) {
            "`git idd record` shows what the test does there"
        } else {
            "`--good` needs a version that passes"
        };
        let message =
            format!("under instrumentation the test does not pass on the reference, it ends with {ending}{said}");
        let runs = four(&self.pair, (as_they_are.0, Some(ending)), (as_they_are.1, bad));
        Failure::error(message).with_hint(format!("{runs}; {advice}"))
    }

    /// What is said of a failing version that passes.
    pub(super) fn not_failing(&self, desk: &mut Desk<'_>) -> Failure {
        let (good, bad) = self.as_they_are(desk);
        let advice = if bad == Some(Ending::Exit(0)) {
            "`--bad` needs a version that fails; if it does at times, `git idd` counts how often"
        } else {
            "the failure may depend on the compiler, or on undefined behaviour: try the test with clang -O0"
        };
        let passes = Some(Ending::Exit(0));
        let runs = four(&self.pair, (good, passes), (bad, passes));
        Failure::error("under instrumentation the test passes on the failing version, too")
            .with_hint(format!("{runs}; {advice}"))
    }

    /// What is said if no decision makes the test pass: perhaps it fails only under instrumentation.
    pub(super) fn none_passes(&self, search: &DecisionSearch, desk: &mut Desk<'_>) -> Failure {
        desk.talk.say("Running the failing version without instrumentation, to compare.");
        let ending = self.as_it_is(self.pair.failing.tree, desk.sandbox);
        if self.interrupt.is_interrupted() {
            return interrupted();
        }
        if ending != Some(Ending::Exit(0)) {
            return none_passes(search);
        }
        let name = Terminal.line(&Untrusted::from(&*self.pair.names.0));
        Failure::error(format!("the test passes on {name} as it is, and fails only under instrumentation"))
            .with_hint("the failure may depend on the compiler, or on undefined behaviour: try the test with clang -O0")
    }

    /// How the reference and the failing version end without instrumentation.
    fn as_they_are(&self, desk: &mut Desk<'_>) -> Endings {
        desk.talk.say("Running both versions without instrumentation, to compare.");
        (self.as_it_is(self.pair.reference, desk.sandbox), self.as_it_is(self.pair.failing.tree, desk.sandbox))
    }

    fn as_it_is(&self, tree: TreeId, sandbox: &mut Sandbox) -> Option<Ending> {
        let commands = record::plain_commands(&self.record_args(), self.location, self.context);
        let commands = Commands { surroundings: self.surroundings.clone(), ..commands };
        let seen = sandbox.observe(&ProbeJob::fresh(tree, self.limit()), &commands, &mut self.interrupt.clone());
        seen.ok().flatten().map(|seen| seen.ending)
    }
}

/// The four runs, in words.
fn four(pair: &Pair, good: Endings, bad: Endings) -> String {
    let shown = |name: &str| Terminal.line(&Untrusted::from(name));
    let told = |ending: Option<Ending>| match ending {
        Some(Ending::Exit(0)) => "passes".to_owned(),
        Some(ending) => format!("ends with {ending}"),
        None => "does not run".to_owned(),
    };
    let one = |name: &str, (plain, instrumented): Endings| {
        format!("{} {} as it is, and {} under instrumentation", shown(name), told(plain), told(instrumented))
    };
    format!("{}; {}", one(&pair.names.1, good), one(&pair.names.0, bad))
}
