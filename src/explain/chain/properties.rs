//! What holds for every chain: its sets are minimal and follow from each other, and no method changes it.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::chain::model::{Model, pair};
use crate::chain::session::keeping;
use crate::chain::testing::{ChainMethod, METHODS, chain_by};
use crate::chain::{
    AlignedPoint, CausalityTest, ChainEnd, Definition, Executions, FaultChain, Goal, definitions, verify,
};

fn chain(model: &mut Model, method: ChainMethod) -> FaultChain {
    chain_by(model, method, u64::MAX).unwrap()
}

/// Whether `set` is faulty at `point` and from there leads to itself at `until`.
fn is_kept(model: &mut Model, set: &[Definition], point: AlignedPoint, until: AlignedPoint) -> bool {
    let faulty = model.faulty(point).unwrap();
    set.iter().all(|definition| faulty.contains(definition)) && model.induces(&keeping(set, point, until))
}

/// Whether stability holds along a linear chain: each set is kept all the way to its own point from those points, and no
/// others, at which it is kept point by point.
fn is_stable(model: &mut Model, chain: &FaultChain) -> bool {
    chain.sets.iter().enumerate().filter(|(_, (_, set))| set.iter().any(|definition| definition.time > 0)).all(
        |(index, (current, set))| {
            let change = chain.sets.get(index + 1).map(|(point, _)| *point);
            (0..current.0)
                .map(AlignedPoint)
                .all(|point| is_kept(model, set, point, *current) == change.is_none_or(|change| point > change))
        },
    )
}

/// Whether each set is lost right at its latest definition.
fn is_lost_at_definitions(model: &Model, chain: &FaultChain) -> bool {
    chain.sets.windows(2).all(|pair| {
        let ((_, set), (change, _)) = (&pair[0], &pair[1]);
        set.iter().map(|definition| definition.time).max().is_none_or(|latest| {
            model.position(*change) <= latest && latest < model.position(AlignedPoint(change.0 + 1))
        })
    })
}

/// The goal of each set of a chain.
fn goals(chain: &FaultChain) -> Vec<Goal> {
    let mut goals = vec![Goal::Failure];
    for pair in chain.sets.windows(2) {
        let ((_, set), (point, _)) = (&pair[0], &pair[1]);
        goals.push(if set.is_empty() {
            goals.last().unwrap().clone()
        } else {
            Goal::Set { point: AlignedPoint(point.0 + 1), definitions: set.clone() }
        });
    }
    goals
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), max_local_rejects: 1 << 20, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn all_methods_give_the_same_chain_where_sets_are_stable(pair in pair()) {
        let mut model = Model::of(&pair);
        let linear = chain(&mut model, ChainMethod::Linear);
        prop_assume!(is_stable(&mut model, &linear));
        for method in METHODS {
            let chain = chain(&mut model, method);
            prop_assert_eq!(&chain.definitions, &linear.definitions, "{:?}", method);
            prop_assert_eq!(&chain.sets, &linear.sets, "{:?}", method);
            prop_assert_eq!(chain.end, linear.end, "{:?}", method);
            if method == ChainMethod::Dependence && is_lost_at_definitions(&model, &chain) {
                prop_assert!(chain.n_tests <= linear.n_tests, "{} tests, {} linearly", chain.n_tests, linear.n_tests);
            }
        }
    }

    #[test]
    fn every_chain_is_verified(pair in pair()) {
        let mut model = Model::of(&pair);
        for method in METHODS {
            let chain = chain(&mut model, method);
            prop_assert_eq!(verify(&chain, &mut model).unwrap(), Ok(()), "{:?}: {:?}", method, chain);
            prop_assert_ne!(chain.end, ChainEnd::Stuck);
        }
    }

    #[test]
    fn every_set_induces_the_next_and_no_set_with_one_less_does(pair in pair()) {
        let mut model = Model::of(&pair);
        for method in METHODS {
            let chain = chain(&mut model, method);
            for ((point, set), goal) in chain.sets.iter().zip(goals(&chain)) {
                let is_inducing = |retained: Vec<Definition>| model.induces(&CausalityTest { point: *point, retained, goal: goal.clone() });
                prop_assert!(is_inducing(set.clone()));
                for one in set {
                    prop_assert!(!is_inducing(set.iter().copied().filter(|other| other != one).collect()));
                }
            }
        }
    }

    #[test]
    fn every_test_is_run_once_and_counted(pair in pair()) {
        for method in METHODS {
            let mut model = Model::of(&pair);
            let chain = chain(&mut model, method);
            prop_assert_eq!(model.n_asked as u64, chain.n_tests);
        }
    }

    #[test]
    fn what_is_found_with_fewer_tests_is_the_end_of_the_chain_and_holds(pair in pair(), max_tests in 1..30u64) {
        for method in METHODS {
            let whole = chain(&mut Model::of(&pair), method);
            let mut model = Model::of(&pair);
            let part = chain_by(&mut model, method, max_tests).unwrap();
            prop_assert!(whole.sets.starts_with(&part.sets));
            prop_assert_eq!(part.end == ChainEnd::Unfinished, part != whole);
            prop_assert_eq!(verify(&part, &mut model).unwrap(), Ok(()));
            // Only the search for the last set goes beyond the limit.
            prop_assert!(part.end != ChainEnd::Unfinished || part.n_tests >= max_tests);
        }
    }

    #[test]
    fn what_is_found_before_it_is_stopped_is_the_end_of_the_chain_and_holds(pair in pair(), n_answered in 0..60_usize) {
        for method in METHODS {
            let whole = chain(&mut Model::of(&pair), method);
            let mut model = Model::of(&pair);
            model.n_answered = n_answered;
            let part = chain(&mut model, method);
            prop_assert!(whole.sets.starts_with(&part.sets));
            prop_assert_eq!(part.end == ChainEnd::Unfinished, (n_answered as u64) < whole.n_tests);
            prop_assert_eq!(verify(&part, &mut Model::of(&pair)).unwrap(), Ok(()));
        }
    }
}

/// Of how many pairs something holds, and how many tests each method used.
#[derive(Debug, Default)]
struct Counts {
    stable: usize,
    same: usize,
    minimal: usize,
    linear: u64,
    hierarchical: u64,
    dependence: u64,
    /// [`ChainEnd::Start`], [`ChainEnd::Benign`].
    ends: [usize; 2],
    pending: usize,
}

/// Whether no proper part of any set does what the set does.
fn is_minimal(model: &Model, chain: &FaultChain) -> bool {
    chain.sets.iter().zip(goals(chain)).all(|((point, set), goal)| {
        (0..(1_u32 << set.len()) - 1).all(|part| {
            let retained = (0..set.len()).filter(|index| part >> index & 1 == 1).map(|index| set[index]).collect();
            !model.induces(&CausalityTest { point: *point, retained, goal: goal.clone() })
        })
    })
}

#[test]
fn most_sets_are_stable_and_leaps_take_fewer_tests() {
    const N_PAIRS: usize = 500;
    let config =
        ProptestConfig { rng_seed: RngSeed::Fixed(2), max_local_rejects: 1 << 20, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let mut counts = Counts::default();
    for _ in 0..N_PAIRS {
        let mut model = Model::of(&pair().new_tree(&mut runner).unwrap().current());
        let [linear, hierarchical, dependence] = METHODS.map(|method| chain(&mut model, method));
        counts.stable += usize::from(is_stable(&mut model, &linear));
        counts.same += usize::from([&hierarchical, &dependence].iter().all(|chain| chain.sets == linear.sets));
        counts.minimal += usize::from(is_minimal(&model, &linear));
        counts.linear += linear.n_tests;
        counts.hierarchical += hierarchical.n_tests;
        counts.dependence += dependence.n_tests;
        counts.ends[usize::from(linear.end == ChainEnd::Benign)] += 1;
        counts.pending += usize::from(linear.sets.iter().rev().skip(1).any(|(_, set)| set.is_empty()));
    }
    // Sets need not be stable: see the module's documentation.
    assert!(counts.stable >= N_PAIRS * 98 / 100 && counts.same >= counts.stable, "{counts:?}");
    assert!(counts.minimal >= N_PAIRS * 98 / 100, "{counts:?}");
    assert!(counts.dependence < counts.hierarchical && counts.hierarchical < counts.linear, "{counts:?}");
    assert!(counts.ends.iter().all(|n_ends| *n_ends > N_PAIRS / 10) && counts.pending > 0, "{counts:?}");
}

#[test]
fn a_doctored_chain_is_not_verified() {
    let mut runner = TestRunner::new(ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() });
    let mut n_doctored = 0;
    while n_doctored < 20 {
        let mut model = Model::of(&pair().new_tree(&mut runner).unwrap().current());
        let found = chain(&mut model, ChainMethod::Dependence);
        let Some((point, set)) = found.sets.first().filter(|(_, set)| !set.is_empty()) else { continue };
        let faulty = model.faulty(*point).unwrap();
        let Some(more) = faulty.into_iter().find(|definition| !set.contains(definition)) else { continue };
        let doctored = |set: Vec<Definition>| {
            let mut sets = found.sets.clone();
            sets[0].1 = set;
            FaultChain { definitions: definitions(&sets), sets, ..found.clone() }
        };
        let mut larger = [&set[..], &[more]].concat();
        larger.sort_unstable();
        assert!(verify(&doctored(larger), &mut model).unwrap().is_err());
        assert!(verify(&doctored(set[1..].to_vec()), &mut model).unwrap().is_err());
        assert!(verify(&FaultChain { definitions: vec![more], ..found.clone() }, &mut model).unwrap().is_err());
        n_doctored += 1;
    }
}
