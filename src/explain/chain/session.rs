//! The causality tests of one search: none is asked twice.

use std::collections::HashMap;
use std::rc::Rc;

use crate::chain::executions::{AlignedPoint, CausalityTest, Definition, Executions, Goal};
use crate::chain::hierarchical::PointTree;

/// What was asked of the executions so far.
pub(super) struct ExecutionSession<'a, E: Executions> {
    executions: &'a mut E,
    known: HashMap<CausalityTest, bool>,
    n_tests: u64,
    /// The faulty state that was asked for last.
    faulty: Option<(AlignedPoint, Rc<[Definition]>)>,
    tree: Option<Rc<PointTree>>,
}

impl<'a, E: Executions> ExecutionSession<'a, E> {
    pub(super) fn new(executions: &'a mut E) -> Self {
        Self { executions, known: HashMap::new(), n_tests: 0, faulty: None, tree: None }
    }

    /// The number of different tests that were run.
    pub(super) fn n_tests(&self) -> u64 {
        self.n_tests
    }

    pub(super) fn around(&mut self, point: AlignedPoint) -> Result<Vec<AlignedPoint>, E::Error> {
        self.executions.around(point)
    }

    pub(super) fn executions(&self) -> &E {
        self.executions
    }

    /// The regions of the failing run, built when first asked for.
    pub(super) fn tree(&mut self) -> Rc<PointTree> {
        let tree = self.tree.take().unwrap_or_else(|| Rc::new(PointTree::of(self.executions)));
        self.tree.insert(tree).clone()
    }

    pub(super) fn faulty(&mut self, point: AlignedPoint) -> Result<Rc<[Definition]>, E::Error> {
        if let Some((_, faulty)) = self.faulty.as_ref().filter(|(known, _)| *known == point) {
            return Ok(faulty.clone());
        }
        let faulty: Rc<[Definition]> = self.executions.faulty(point)?.into();
        self.faulty = Some((point, faulty.clone()));
        Ok(faulty)
    }

    /// Answers a test. A definition that is not faulty at a point cannot be retained there: such a test is answered
    /// without a run.
    pub(super) fn ask(&mut self, test: CausalityTest) -> Result<bool, E::Error> {
        if let Some(is_induced) = self.known.get(&test) {
            return Ok(*is_induced);
        }
        let faulty = self.faulty(test.point)?;
        let is_induced = test.retained.iter().all(|definition| faulty.contains(definition)) && {
            self.n_tests += 1;
            self.executions.induce(&test)?
        };
        self.known.insert(test, is_induced);
        Ok(is_induced)
    }

    /// Whether a set is kept: whether it is faulty at `point` already, and induces itself at the later point `until`.
    pub(super) fn keeps(
        &mut self,
        set: &[Definition],
        point: AlignedPoint,
        until: AlignedPoint,
    ) -> Result<bool, E::Error> {
        self.ask(keeping(set, point, until))
    }
}

/// The question whether a set is kept from `point` until the later point `until`.
pub(super) fn keeping(set: &[Definition], point: AlignedPoint, until: AlignedPoint) -> CausalityTest {
    CausalityTest { point, retained: set.to_vec(), goal: Goal::Set { point: until, definitions: set.to_vec() } }
}
