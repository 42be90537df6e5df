//! What the search for a chain tells while it goes on.

use std::io;
use std::time::{Duration, Instant};

use crate::Talk;
use crate::explain::forks::ForkServer;
use idd_base::count;
use idd_explain::chain::{AlignedPoint, CausalityTest, Definition, Executions, Goal};
use idd_explain::native::causality::{Causality, CausalityError};

/// The time between two messages.
const PERIOD: Duration = Duration::from_secs(10);

/// Variables that a message names at the most.
const MAX_NAMES: usize = 2;

/// Executions that say every ten seconds what is being looked for.
pub(super) struct ReportedExecutions<'p> {
    causality: &'p mut Causality<ForkServer>,
    talk: &'p mut dyn Talk,
    last: Instant,
    n_tests: usize,
}

impl<'p> ReportedExecutions<'p> {
    pub(super) fn new(causality: &'p mut Causality<ForkServer>, talk: &'p mut dyn Talk) -> Self {
        Self { causality, talk, last: Instant::now(), n_tests: 0 }
    }

    fn say(&mut self, test: &CausalityTest) -> Result<(), CausalityError<io::Error>> {
        let wanted = match &test.goal {
            Goal::Failure => "the failure".to_owned(),
            Goal::Set { point, definitions } => {
                let state = self.causality.state(*point)?;
                let held = state.cells.iter().filter(|(definition, _)| definitions.contains(definition));
                let mut names: Vec<String> = held.map(|(_, cell)| format!("`{}`", cell.path)).collect();
                names.dedup();
                let n_more = names.len().saturating_sub(MAX_NAMES);
                names.truncate(MAX_NAMES);
                let more = if n_more == 0 { String::new() } else { format!(" and {n_more} more") };
                names.join(", ") + &more
            }
        };
        let n_faulty = self.causality.state(test.point)?.cells.len();
        let (step, _) = self.causality.steps(test.point);
        self.talk.say(&format!(
            "{} so far; looking among {} before step {} for what leads to {wanted}.",
            count(self.n_tests, "causality test"),
            count(n_faulty, "faulty value"),
            step.0
        ));
        Ok(())
    }
}

impl Executions for ReportedExecutions<'_> {
    type Error = CausalityError<io::Error>;

    fn is_stopped(&self) -> bool {
        self.causality.is_stopped()
    }

    fn n_points(&self) -> usize {
        self.causality.n_points()
    }

    fn position(&self, point: AlignedPoint) -> u64 {
        self.causality.position(point)
    }

    fn faulty(&mut self, point: AlignedPoint) -> Result<Vec<Definition>, Self::Error> {
        self.causality.faulty(point)
    }

    fn induce(&mut self, test: &CausalityTest) -> Result<bool, Self::Error> {
        if self.last.elapsed() >= PERIOD {
            self.say(test)?;
            self.last = Instant::now();
        }
        self.n_tests += 1;
        self.causality.induce(test)
    }

    fn parent(&self, point: AlignedPoint) -> Option<AlignedPoint> {
        self.causality.parent(point)
    }

    fn around(&mut self, point: AlignedPoint) -> Result<Vec<AlignedPoint>, Self::Error> {
        self.causality.around(point)
    }
}
