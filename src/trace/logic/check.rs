//! Whether some truths can hold together.

use crate::logic::blast::Blaster;
use crate::logic::term::{TermId, TermNode, Terms};
use batsat::clause::Kind;
use batsat::{Callbacks, Solver, SolverInterface as _, SolverOpts, lbool};
use std::collections::BTreeMap;

/// What is known of some truths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogicAnswer {
    /// They contradict each other: the positions of some that do so already, ascending. Not always the fewest.
    Contradiction(Vec<usize>),
    /// All hold for these values of the variables, by number and width. A variable that is not listed may have any
    /// value.
    Model(BTreeMap<(u32, u32), u64>),
    /// The budget was spent.
    Unknown,
}

impl LogicAnswer {
    /// Whether they are known to contradict each other.
    pub fn is_contradiction(&self) -> bool {
        matches!(self, Self::Contradiction(_))
    }
}

/// Ends the search after so many conflicts.
struct Budget {
    n_left: u64,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[batsat::Lit], kind: Kind) {
        if kind == Kind::Learnt {
            self.n_left = self.n_left.saturating_sub(1);
        }
    }

    fn stop(&self) -> bool {
        self.n_left == 0
    }
}

/// Whether some truths can hold together.
///
/// - `truths`: terms of one bit.
/// - `max_conflicts`: the work of the solver, at least 1; the same question has the same answer each time.
///
/// Cost: a solver of its own, with the clauses of the terms.
///
/// # Panics
///
/// A term has more than one bit.
pub fn check(terms: &Terms, truths: &[TermId], max_conflicts: u64) -> LogicAnswer {
    let mut solver = Solver::new(SolverOpts::default(), Budget { n_left: max_conflicts.max(1) });
    let mut blaster = Blaster::new(&mut solver);
    let literals: Vec<_> = truths
        .iter()
        .map(|truth| match blaster.bits(terms, *truth) {
            [literal] => *literal,
            bits => panic!("a truth has one bit, not {}", bits.len()),
        })
        .collect();
    let variables = terms.parts(truths).into_iter().filter_map(|part| match terms.node(part) {
        TermNode::Variable(number) => Some(((number, terms.width(part)), blaster.bits(terms, part).to_vec())),
        _ => None,
    });
    let variables: Vec<_> = variables.collect();
    match solver.solve_limited(&literals) {
        answer if answer == lbool::FALSE => {
            // The solver gives them as the clause that they contradict.
            let core = solver.unsat_core().iter();
            let mut core: Vec<usize> =
                core.filter_map(|literal| literals.iter().position(|known| *known == !*literal)).collect();
            core.sort_unstable();
            core.dedup();
            LogicAnswer::Contradiction(core)
        }
        answer if answer == lbool::TRUE => {
            let value = |bits: &[batsat::Lit]| {
                let ones = bits.iter().zip(0_u32..).filter(|(bit, _)| solver.value_lit(**bit) == lbool::TRUE);
                ones.fold(0, |value, (_, at)| value | 1_u64 << at)
            };
            LogicAnswer::Model(variables.iter().map(|(variable, bits)| (*variable, value(bits))).collect())
        }
        _ => LogicAnswer::Unknown,
    }
}
