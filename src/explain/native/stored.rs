//! Pairs of stored runs, for tests.

use std::convert::Infallible;

use crate::align::Alignment;
use crate::chain::{ChainEnd, Definition, FaultChain};
use crate::failure::{RunEnding, RunFailure};
use crate::link::Link;
use crate::native::causality::{Causality, ForkOrder, ForkRun, Forks};
use crate::native::recorded::NativeRecorded;
use crate::native::story::{ToldExtent, tell};
use idd_trace::native::stored::{player, records};
use idd_trace::{Run, Step};

/// Forks that do what the failing run did, whatever is overwritten.
pub(crate) struct Same {
    ending: RunEnding,
    records: Vec<Vec<u8>>,
}

impl Forks for Same {
    type Error = Infallible;

    fn run(&mut self, order: &ForkOrder) -> Result<ForkRun, Infallible> {
        let from = usize::try_from(order.n_records).unwrap();
        Ok(ForkRun { ending: Some(self.ending), records: self.records[from..].concat() })
    }
}

/// A run of a stored program.
pub(crate) fn recorded(program: &str, version: &str) -> NativeRecorded {
    let mut player = player(program, version);
    let run = Run::read(&mut player).unwrap();
    NativeRecorded { player, run }
}

/// Both runs of a stored program, aligned by the numbers of their statements.
pub(crate) fn causality(program: &str, ending: RunEnding) -> Causality<Same> {
    let (failing, reference) = (recorded(program, "bad"), recorded(program, "good"));
    let alignment = Alignment::new(&failing.run, &reference.run);
    let failure = RunFailure::find(&failing.run, &reference.run, &alignment, ending, RunEnding::Exit(0)).unwrap();
    Causality::new(failing, reference, alignment, failure, Same { ending, records: records(program, "bad") })
}

/// A chain of the faulty variables right before a step that are chosen by what they are called and hold.
pub(crate) fn chain(
    causality: &mut Causality<Same>,
    step: Step,
    is_wanted: impl Fn(&str, &(String, String)) -> bool,
) -> FaultChain {
    let point = causality.point_until(step).unwrap();
    let state = causality.state(point).unwrap();
    let cells = state.cells.iter().filter(|(_, cell)| is_wanted(&cell.path, &cell.shown));
    let set: Vec<Definition> = cells.map(|(definition, _)| *definition).collect();
    FaultChain { definitions: set.clone(), sets: vec![(point, set)], end: ChainEnd::Benign, n_tests: 0 }
}

/// The links of a chain, all told in full.
pub(crate) fn links(causality: &mut Causality<Same>, chain: &FaultChain) -> Vec<Link> {
    let told = tell(causality, chain, None, ToldExtent { n_kept: usize::MAX / 2, is_over: &mut |_| false }).unwrap();
    assert_eq!(told.n_left, None);
    told.links
}
