//! All of `logic` on random terms: the translation into clauses against evaluation, and both against an external
//! solver.

use crate::logic::check::{LogicAnswer, check};
use crate::logic::evaluate::evaluate;
use crate::logic::smtlib::question;
use crate::logic::term::{BinaryTerm, TermId, Terms, UnaryTerm, mask};
use proptest::prelude::*;
use std::fs;
use std::process::{Command, Stdio};

/// Conflicts that a question may cost: enough if all variables are fixed.
const FEW: u64 = 1000;

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap()
    }

    /// Bits, often those where something happens: 0, 1, all, only the sign, few.
    fn bits(&mut self, width: u32) -> u64 {
        let bits = match self.below(8) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => 1 << (width - 1),
            4 => (1 << (width - 1)) - 1,
            5 => self.next() % 70,
            _ => self.next(),
        };
        bits & mask(width)
    }
}

/// A term of a width.
///
/// - `leaf`: a variable, or its value.
fn term(
    terms: &mut Terms,
    random: &mut Random,
    width: u32,
    depth: u32,
    leaf: &mut dyn FnMut(&mut Terms, u32, u32) -> TermId,
) -> TermId {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(4) {
            0 => {
                let bits = random.bits(width);
                terms.constant(bits, width)
            }
            number => leaf(terms, number, width),
        };
    }
    let mut part = |terms: &mut Terms, random: &mut Random, width| term(terms, random, width, depth - 1, leaf);
    match random.below(10) {
        0 => {
            let operand = part(terms, random, width);
            terms.unary(if random.below(2) == 0 { UnaryTerm::Not } else { UnaryTerm::Neg }, operand)
        }
        1 if width < 64 => {
            // Products of wide terms take long.
            let (low, over) = (random.below((64 - width).min(8)), random.below(4));
            let whole = (low + width + over).min(64);
            let operand = part(terms, random, whole);
            terms.extract(operand, low, width)
        }
        2 if width > 1 => {
            let inner = 1 + random.below(width - 1);
            let operand = part(terms, random, inner);
            if random.below(2) == 0 { terms.zero_extend(operand, width) } else { terms.sign_extend(operand, width) }
        }
        3 if width > 1 => {
            let upper = 1 + random.below(width - 1);
            let (upper, lower) = (part(terms, random, upper), part(terms, random, width - upper));
            terms.concat(upper, lower)
        }
        4 => {
            let condition = part(terms, random, 1);
            let (yes, no) = (part(terms, random, width), part(terms, random, width));
            terms.if_else(condition, yes, no)
        }
        _ => {
            let op = BinaryTerm::ALL[random.below(18) as usize];
            if op.is_comparison() && width > 1 {
                let (first, second) = (part(terms, random, width), part(terms, random, width));
                let truth = terms.binary(op, first, second);
                return terms.zero_extend(truth, width);
            }
            let inner = if op.is_comparison() { 1 + random.below(if depth > 2 { 64 } else { 12 }) } else { width };
            let (first, second) = (part(terms, random, inner), part(terms, random, inner));
            terms.binary(op, first, second)
        }
    }
}

fn variable(terms: &mut Terms, number: u32, width: u32) -> TermId {
    terms.variable(number, width)
}

/// The value of a variable in a run of a test.
fn value(seed: u64, number: u32, width: u32) -> u64 {
    Random(seed ^ u64::from(number) << 32 ^ u64::from(width)).bits(width)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_value_is_the_same_by_evaluation_by_folding_and_by_clauses(seed: u64, width in 1_u32..=64) {
        let mut terms = Terms::default();
        let root = term(&mut terms, &mut Random(seed), width, 4, &mut variable);
        let expected = evaluate(&terms, root, |number, width| value(seed, number, width));
        prop_assert_eq!(expected & !mask(width), 0);

        let mut folded = |terms: &mut Terms, number, width| terms.constant(value(seed, number, width), width);
        let constant = term(&mut terms, &mut Random(seed), width, 4, &mut folded);
        prop_assert_eq!(terms.constant_of(constant), Some(expected));

        let mut truths = Vec::new();
        for number in 1..4 {
            for width in 1..=64 {
                let (variable, bits) = (terms.variable(number, width), terms.constant(value(seed, number, width), width));
                truths.push(terms.binary(BinaryTerm::Eq, variable, bits));
            }
        }
        let used = terms.parts(&[root]);
        truths.retain(|truth| terms.parts(&[*truth]).iter().any(|part| used.contains(part) && terms.constant_of(*part).is_none()));
        let expected = terms.constant(expected, width);
        truths.push(terms.binary(BinaryTerm::Eq, root, expected));
        prop_assert!(matches!(check(&terms, &truths, FEW), LogicAnswer::Model(_)));
        let last = truths.len() - 1;
        truths[last] = terms.not(truths[last]);
        prop_assert!(check(&terms, &truths, FEW).is_contradiction());
    }

    #[test]
    fn all_truths_hold_in_a_model_and_a_core_contradicts_itself(seed: u64) {
        let mut terms = Terms::default();
        let mut random = Random(seed);
        let truths: Vec<TermId> = (0..5).map(|_| {
            let width = 1 + random.below(16);
            let (first, second) = (term(&mut terms, &mut random, width, 2, &mut variable), term(&mut terms, &mut random, width, 2, &mut variable));
            terms.binary(BinaryTerm::ALL[13 + random.below(5) as usize], first, second)
        }).collect();
        match check(&terms, &truths, FEW) {
            LogicAnswer::Model(model) => for truth in truths {
                let holds = evaluate(&terms, truth, |number, width| model.get(&(number, width)).copied().unwrap_or(0));
                prop_assert_eq!(holds, 1);
            },
            LogicAnswer::Contradiction(core) => {
                let core: Vec<TermId> = core.iter().map(|at| truths[*at]).collect();
                prop_assert!(check(&terms, &core, 100 * FEW).is_contradiction());
            }
            LogicAnswer::Unknown => {}
        }
    }
}

#[test]
fn a_core_leaves_out_what_has_no_part_in_it() {
    let mut terms = Terms::default();
    let [n, m, ten, five] = [(1, None), (2, None), (0, Some(10)), (0, Some(5))].map(|(number, bits)| match bits {
        None => terms.variable(number, 32),
        Some(bits) => terms.constant(bits, 32),
    });
    let truths =
        [(BinaryTerm::Slt, m, five), (BinaryTerm::Slt, ten, n), (BinaryTerm::Sle, m, n), (BinaryTerm::Slt, n, five)];
    let truths = truths.map(|(op, first, second)| terms.binary(op, first, second));
    assert_eq!(check(&terms, &truths, FEW), LogicAnswer::Contradiction(vec![1, 3]));
    assert!(matches!(check(&terms, &truths[..3], FEW), LogicAnswer::Model(_)));
    assert_eq!(check(&terms, &[], FEW), LogicAnswer::Model(std::collections::BTreeMap::new()));
}

#[test]
fn a_false_constant_contradicts_itself() {
    let mut terms = Terms::default();
    let (yes, no) = (terms.truth(true), terms.truth(false));
    assert_eq!(check(&terms, &[yes, no], FEW), LogicAnswer::Contradiction(vec![1]));
}

#[test]
fn a_hard_question_ends_with_its_budget() {
    let mut terms = Terms::default();
    // The factors of a product of two primes.
    let (first, second, product) =
        (terms.variable(1, 42), terms.variable(2, 42), terms.constant(721_051 * 924_563, 42));
    let (one, limit) = (terms.constant(1, 42), terms.constant(1 << 20, 42));
    let both = terms.binary(BinaryTerm::Mul, first, second);
    let mut truths = vec![terms.binary(BinaryTerm::Eq, both, product)];
    for factor in [first, second] {
        truths.push(terms.binary(BinaryTerm::Ult, one, factor));
        truths.push(terms.binary(BinaryTerm::Ult, factor, limit));
    }
    assert_eq!(check(&terms, &truths, 10), LogicAnswer::Unknown);
}

/// What `check` answers to random questions, asked again in few: the questions of a batch share no variable. So all
/// that have a model have one together, and none of the others has one if their disjunction has none.
#[test]
fn an_external_solver_gives_the_same_answers() {
    const N_BATCHES: usize = 500;
    const N: usize = N_BATCHES * 20;
    let mut random = Random(2026);
    let (mut text, mut expected) = (String::from("(set-option :rlimit 2000000)\n"), Vec::new());
    for _ in 0..N_BATCHES {
        let mut terms = Terms::default();
        let (mut possible, mut n_possible, mut impossible) = (Vec::new(), 0, Vec::new());
        for at in 0..20 {
            let mut leaf = |terms: &mut Terms, number, width| variable(terms, number + 4 * at, width);
            let n_truths = 2 + random.below(3);
            let truths: Vec<TermId> = (0..n_truths)
                .map(|_| {
                    // Products and quotients of 64 bits take long.
                    let most = if random.below(100) == 0 { 64 } else { 8 };
                    let width = 1 + random.below(most);
                    let sides = [0, 1].map(|_| term(&mut terms, &mut random, width, 2, &mut leaf));
                    terms.binary(BinaryTerm::ALL[13 + random.below(5) as usize], sides[0], sides[1])
                })
                .collect();
            match check(&terms, &truths, 200) {
                LogicAnswer::Contradiction(_) => {
                    let all = truths.into_iter().reduce(|first, second| terms.binary(BinaryTerm::And, first, second));
                    impossible.extend(all);
                }
                LogicAnswer::Model(_) => {
                    possible.extend(truths);
                    n_possible += 1;
                }
                LogicAnswer::Unknown => {}
            }
        }
        text += &question(&terms, &possible);
        expected.push(("sat", n_possible));
        let n_impossible = impossible.len();
        let any = impossible.into_iter().reduce(|first, second| terms.binary(BinaryTerm::Or, first, second));
        text += &question(&terms, any.as_slice());
        expected.push(("unsat", n_impossible));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("questions.smt2");
    fs::write(&path, text).unwrap();
    let output =
        Command::new("z3").arg(&path).stdin(Stdio::null()).output().expect("z3 runs; scripts/setup.sh installs it");
    let said = String::from_utf8(output.stdout).unwrap();
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said.len(), expected.len(), "{:?}", said.iter().find(|line| line.contains("error")));
    let mut n_same = [0, 0];
    for (at, ((answer, n_questions), said)) in expected.into_iter().zip(said).enumerate() {
        if n_questions > 0 && said != "unknown" {
            assert_eq!(answer, said, "question {at}");
            n_same[usize::from(answer == "sat")] += n_questions;
        }
    }
    // Few are too hard for either solver.
    assert!(n_same.iter().all(|n| *n > N / 10) && n_same[0] + n_same[1] > N / 100 * 95, "{n_same:?}");
}
