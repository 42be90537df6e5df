//! Pairs of stored runs, for tests.

use std::convert::Infallible;

use crate::align::Alignment;
use crate::chain::{Chain, Definition, End};
use crate::failure::{Ending, Failure};
use crate::link::Link;
use crate::native::causality::{Causality, Forks, Order, Ran};
use crate::native::recorded::Recorded;
use crate::native::story::{Extent, tell};
use idd_trace::native::stored::{player, records};
use idd_trace::run::Run;
use idd_trace::step::Step;

/// Forks that do what the failing run did, whatever is overwritten.
pub(crate) struct Same {
    ending: Ending,
    records: Vec<Vec<u8>>,
}

impl Forks for Same {
    type Error = Infallible;

    fn run(&mut self, order: &Order) -> Result<Ran, Infallible> {
        let from = usize::try_from(order.n_records).unwrap();
        Ok(Ran { ending: Some(self.ending), records: self.records[from..].concat() })
    }
}

/// A run of a stored program.
pub(crate) fn recorded(program: &str, version: &str) -> Recorded {
    let mut player = player(program, version);
    let run = Run::read(&mut player).unwrap();
    Recorded { player, run }
}

/// Both runs of a stored program, aligned by the numbers of their statements.
pub(crate) fn causality(program: &str, ending: Ending) -> Causality<Same> {
    let (failing, reference) = (recorded(program, "bad"), recorded(program, "good"));
    let alignment = Alignment::new(&failing.run, &reference.run);
    let failure = Failure::find(&failing.run, &reference.run, &alignment, (ending, Ending::Exit(0))).unwrap();
    Causality::new(failing, reference, alignment, failure, Same { ending, records: records(program, "bad") })
}

/// A chain of the faulty variables right before a step that are chosen by what they are called and hold.
pub(crate) fn chain(
    causality: &mut Causality<Same>,
    step: Step,
    is_wanted: impl Fn(&str, &(String, String)) -> bool,
) -> Chain {
    let point = causality.point_until(step).unwrap();
    let state = causality.state(point).unwrap();
    let cells = state.cells.iter().filter(|(_, cell)| is_wanted(&cell.path, &cell.shown));
    let set: Vec<Definition> = cells.map(|(definition, _)| *definition).collect();
    Chain { definitions: set.clone(), sets: vec![(point, set)], end: End::Benign, n_tests: 0 }
}

/// The links of a chain, all told in full.
pub(crate) fn links(causality: &mut Causality<Same>, chain: &Chain) -> Vec<Link> {
    let told = tell(causality, chain, None, Extent { n_kept: usize::MAX / 2, is_over: &mut |_| false }).unwrap();
    assert_eq!(told.n_left, None);
    told.links
}
