//! Chains of small programs, written out: the example of Sumner and Zhang's figure 1, and how a chain can end.

use crate::chain::model::Operand::{Constant, Variable};
use crate::chain::model::Operator::{Add, Exceeds, IsSumPositive, Shift};
use crate::chain::model::Statement::{AddCall, Assign, If, Nothing};
use crate::chain::model::{Expression, Model, Pair, Program, Statement};
use crate::chain::testing::{METHODS, chain_by};
use crate::chain::{AlignedPoint, CausalityTest, ChainEnd, Definition, Executions, FaultChain, Goal, verify};

fn constant(value: i8) -> Expression {
    Expression(Constant(value), Add, Constant(0))
}

fn read(variable: u8) -> Expression {
    Expression(Variable(variable), Add, Constant(0))
}

fn pair(failing: Program, reference: Program) -> Pair {
    let input = vec![0; 6];
    Pair { failing: (failing, input.clone()), reference: (reference, input) }
}

/// The sets, each with the step that it stands before.
fn shown_sets(model: &Model, chain: &FaultChain, names: &[&str]) -> Vec<String> {
    let sets = chain.sets.iter();
    sets.map(|(point, set)| format!("{}: {}", model.position(*point), shown(set, names))).collect()
}

/// Definitions as `variable@time`.
fn shown(definitions: &[Definition], names: &[&str]) -> String {
    let shown = |definition: &Definition| format!("{}@{}", names[definition.variable.0 as usize], definition.time);
    definitions.iter().map(shown).collect::<Vec<_>>().join(" ")
}

const NAMES: [&str; 6] = ["s+t>0", "x", "y", "s", "t", "x>0"];

/// The figure's program with its first line given. As in the paper's state, each predicate is a variable: so the branch is step 4,
/// and what the figure calls 4, 6 and 7 in the failing run are steps 5, 6 and 7. The last step prints.
fn program(x: i8) -> Program {
    Program(vec![vec![
        Assign(1, constant(x)),
        Assign(2, Expression(Variable(1), Shift, Constant(1))),
        Assign(5, Expression(Variable(1), Exceeds, Constant(0))),
        If(read(5), vec![Assign(4, Expression(Variable(1), Shift, Constant(2)))], vec![Assign(4, constant(0))]),
        Assign(3, Expression(Variable(2), Shift, Constant(1))),
        Assign(0, Expression(Variable(3), IsSumPositive, Variable(4))),
        Nothing,
    ]])
}

#[track_caller]
fn check_figure(is_reversed: bool, expected_sets: &[&str], expected_chain: &str) {
    for method in METHODS {
        let mut model = Model::of(&pair(program(1), program(0)));
        model.is_reversed = is_reversed;
        let chain = chain_by(&mut model, method, u64::MAX).unwrap();
        assert_eq!(shown_sets(&model, &chain, &NAMES), expected_sets, "{method:?}");
        assert_eq!(shown(&chain.definitions, &NAMES), expected_chain, "{method:?}");
        assert_eq!(chain.end, ChainEnd::Benign);
        assert_eq!(verify(&chain, &mut model).unwrap(), Ok(()));
    }
}

#[test]
fn the_blue_chain_of_figure_1_is_found_where_s_comes_before_t() {
    check_figure(false, &["8: s+t>0@7", "7: s@6", "6: y@2", "2: x@1", "1: "], "x@1 y@2 s@6 s+t>0@7");
}

/// The figure shows `x>0` alone before the branch. But then `x` is overwritten, and `t` becomes 0, not 4.
#[test]
fn the_red_chain_of_figure_1_is_found_where_t_comes_before_s() {
    check_figure(true, &["8: s+t>0@7", "7: t@5", "4: x@1 x>0@3", "3: x@1", "1: "], "x@1 x>0@3 t@5 s+t>0@7");
}

#[track_caller]
fn check(pair: &Pair, expected_sets: &[&str], expected_end: ChainEnd) {
    for method in METHODS {
        let mut model = Model::of(pair);
        let chain = chain_by(&mut model, method, u64::MAX).unwrap();
        assert_eq!(shown_sets(&model, &chain, &["v0", "v1", "v2", "v3", "v4", "v5"]), expected_sets, "{method:?}");
        assert_eq!(chain.end, expected_end);
        assert_eq!(verify(&chain, &mut model).unwrap(), Ok(()));
    }
}

#[test]
fn a_value_that_waits_for_a_call_is_followed_to_the_statement_that_read_it() {
    let program = |x| {
        let main = vec![Assign(2, constant(x)), AddCall(0, read(2), 0), Nothing];
        Program(vec![main, vec![Assign(1, constant(1)), Assign(3, constant(1))]])
    };
    check(&pair(program(5), program(3)), &["5: v0@4", "4: ", "2: v2@1", "1: "], ChainEnd::Benign);
}

#[test]
fn an_omission_ends_the_chain_where_the_reference_overwrites_an_older_value() {
    let program =
        |omitted: Statement| Program(vec![vec![Assign(1, constant(3)), omitted, Nothing, Assign(0, read(1)), Nothing]]);
    let pair = pair(program(Nothing), program(Assign(1, constant(0))));
    check(&pair, &["5: v0@4", "4: v1@1", "2: "], ChainEnd::Benign);
}

#[test]
fn a_faulty_input_starts_the_chain() {
    let program = Program(vec![vec![Nothing, Assign(1, read(2)), Assign(0, read(1)), Nothing]]);
    let reference = (program, vec![0; 6]);
    let mut failing = reference.clone();
    failing.1[2] = 7;
    check(&Pair { failing, reference }, &["4: v0@3", "3: v1@2", "2: v2@0"], ChainEnd::Start);
}

#[test]
fn leaps_do_not_depend_on_the_length_of_the_run() {
    let program = |x| {
        let idle = || vec![Nothing; 40];
        let steps = [vec![Assign(1, constant(x))], idle(), vec![Assign(0, read(1))], idle()];
        Program(vec![steps.concat()])
    };
    let n_tests = METHODS.map(|method| {
        let mut model = Model::of(&pair(program(5), program(3)));
        chain_by(&mut model, method, u64::MAX).unwrap().n_tests
    });
    assert_eq!(n_tests, [85, 16, 8]);
}

/// Executions in which nothing comes about.
struct Unreproducible(usize);

impl Executions for Unreproducible {
    type Error = String;

    fn n_points(&self) -> usize {
        self.0
    }

    fn position(&self, point: AlignedPoint) -> u64 {
        u64::from(point.0) + 1
    }

    fn faulty(&mut self, point: AlignedPoint) -> Result<Vec<Definition>, String> {
        let variable = crate::chain::PathVariable(0);
        Ok(vec![Definition { time: u64::from(point.0), variable }])
    }

    fn induce(&mut self, test: &CausalityTest) -> Result<bool, String> {
        if test.goal != Goal::Failure {
            return Err("there is nothing else to induce".to_owned());
        }
        Ok(false)
    }

    fn parent(&self, _: AlignedPoint) -> Option<AlignedPoint> {
        None
    }

    fn around(&mut self, _: AlignedPoint) -> Result<Vec<AlignedPoint>, Self::Error> {
        Ok(Vec::new())
    }
}

#[test]
fn a_failure_that_does_not_come_about_again_gives_no_chain() {
    for (n_points, expected_tests) in [(0, 0), (3, 2)] {
        for method in METHODS {
            let mut executions = Unreproducible(n_points);
            let chain = chain_by(&mut executions, method, u64::MAX).unwrap();
            let expected =
                FaultChain { definitions: Vec::new(), sets: Vec::new(), end: ChainEnd::Stuck, n_tests: expected_tests };
            assert_eq!(chain, expected);
            assert_eq!(verify(&chain, &mut executions).unwrap(), Ok(()));
        }
    }
}
