//! Causality tests, asked several at once, used in order.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::explain::chain::executions::{Definition, Executions, Goal, Point, Test};
use crate::explain::chain::hierarchical::Tree;

/// A test whose answer is not known yet.
pub(super) struct Unknown(Test);

/// Answers a test, or says that it is not known.
pub(super) type Ask<'a> = &'a mut dyn FnMut(Test) -> Result<bool, Unknown>;

#[derive(Clone, Copy)]
struct Answer {
    is_induced: bool,
    /// Whether it is still to be counted when it is used.
    is_uncounted: bool,
}

/// What was asked of the executions so far.
pub(super) struct Session<'a, E: Executions> {
    executions: &'a mut E,
    width: usize,
    known: HashMap<Test, Answer>,
    n_tests: u64,
    /// The faulty state that was asked for last.
    faulty: Option<(Point, Rc<[Definition]>)>,
    tree: Option<Rc<Tree>>,
}

impl<'a, E: Executions> Session<'a, E> {
    pub(super) fn new(executions: &'a mut E, width: usize) -> Self {
        Self { executions, width: width.max(1), known: HashMap::new(), n_tests: 0, faulty: None, tree: None }
    }

    /// How many different tests were run and used; what was only looked at ahead is not counted.
    pub(super) fn n_tests(&self) -> u64 {
        self.n_tests
    }

    pub(super) fn around(&mut self, point: Point) -> Result<Vec<Point>, E::Error> {
        self.executions.around(point)
    }

    pub(super) fn executions(&self) -> &E {
        self.executions
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The regions of the failing run, built when first asked for.
    pub(super) fn tree(&mut self) -> Rc<Tree> {
        let tree = self.tree.take().unwrap_or_else(|| Rc::new(Tree::of(self.executions)));
        self.tree.insert(tree).clone()
    }

    pub(super) fn faulty(&mut self, point: Point) -> Result<Rc<[Definition]>, E::Error> {
        if let Some((_, faulty)) = self.faulty.as_ref().filter(|(known, _)| *known == point) {
            return Ok(faulty.clone());
        }
        let faulty: Rc<[Definition]> = self.executions.faulty(point)?.into();
        self.faulty = Some((point, faulty.clone()));
        Ok(faulty)
    }

    /// Runs `plan` to its end: from its beginning, again and again, until it meets no unknown answer.
    ///
    /// A plan is a function of the answers alone. That makes it possible to look ahead: it is also run under the
    /// supposition of either answer, to learn what it may ask next.
    pub(super) fn run<T>(&mut self, plan: impl Fn(Ask<'_>) -> Result<T, Unknown>) -> Result<T, E::Error> {
        loop {
            let mut used = Vec::new();
            let found = self.replay(&plan, &[], |test| used.push(test));
            match found {
                Ok(found) => {
                    for test in used {
                        let answer = self.known.get_mut(&test).expect("a test that was used has an answer");
                        self.n_tests += u64::from(answer.is_uncounted);
                        answer.is_uncounted = false;
                    }
                    return Ok(found);
                }
                Err(Unknown(first)) => {
                    let batch = self.ahead(&plan, first);
                    self.answer(batch)?;
                }
            }
        }
    }

    fn replay<T>(
        &self,
        plan: impl Fn(Ask<'_>) -> Result<T, Unknown>,
        supposed: &[(Test, bool)],
        mut used: impl FnMut(Test),
    ) -> Result<T, Unknown> {
        plan(&mut |test| {
            let known = self.known.get(&test).map(|answer| answer.is_induced);
            let supposed = || supposed.iter().find(|(other, _)| *other == test).map(|(_, is_induced)| *is_induced);
            match known.or_else(supposed) {
                Some(is_induced) => {
                    used(test);
                    Ok(is_induced)
                }
                None => Err(Unknown(test)),
            }
        })
    }

    /// `first`, and what may be asked after it: as many as are tried at once.
    fn ahead<T>(&self, plan: impl Fn(Ask<'_>) -> Result<T, Unknown>, first: Test) -> Vec<Test> {
        let mut batch = vec![first.clone()];
        let mut suppositions = VecDeque::from([vec![(first.clone(), false)], vec![(first, true)]]);
        while batch.len() < self.width {
            let Some(supposed) = suppositions.pop_front() else { break };
            if let Err(Unknown(test)) = self.replay(&plan, &supposed, |_| ()) {
                for is_induced in [false, true] {
                    suppositions.push_back(supposed.iter().cloned().chain([(test.clone(), is_induced)]).collect());
                }
                if !batch.contains(&test) {
                    batch.push(test);
                }
            }
        }
        batch
    }

    /// Runs the tests. What is not faulty at a point cannot be retained there: such a test is answered without a run.
    fn answer(&mut self, batch: Vec<Test>) -> Result<(), E::Error> {
        let mut tests = Vec::new();
        for test in batch {
            let faulty = self.faulty(test.point)?;
            if test.retained.iter().all(|definition| faulty.contains(definition)) {
                tests.push(test);
            } else {
                self.known.insert(test, Answer { is_induced: false, is_uncounted: false });
            }
        }
        if !tests.is_empty() {
            let answers = self.executions.induce(&tests)?;
            assert_eq!(answers.len(), tests.len(), "each test has one answer");
            for (test, is_induced) in tests.into_iter().zip(answers) {
                self.known.insert(test, Answer { is_induced, is_uncounted: true });
            }
        }
        Ok(())
    }
}

/// The question whether a set is kept: whether it is faulty at `point` already, and induces itself at the later point `until`.
pub(super) fn keeping(set: &[Definition], point: Point, until: Point) -> Test {
    Test { point, retained: set.to_vec(), goal: Goal::Set { point: until, definitions: set.to_vec() } }
}
