//! Properties of every reducer: small answers are cheap, results are minimal, nothing depends on the width.

use std::cell::RefCell;
use std::collections::HashSet;

use proptest::prelude::*;

use crate::reduce::bisection::Bisection;
use crate::reduce::counting::Counting;
use crate::reduce::plan::ReducePlan;
use crate::reduce::singles::Singles;
use crate::reduce::testing::{
    Interest, Reduced, change_set, insertions, interest, of_ids, reduced, reduced_with, with,
};
use crate::reduce::{ReduceOptions, Reducer};
use crate::{ChangeSet, Group, Level, Subset, UnitId};

/// Asserts that exactly `culprits` are found with at most `n_probes` probes.
#[track_caller]
fn check(change_set: &ChangeSet, reducer: Reducer, culprits: &[u32], n_probes: usize) {
    let culprits = of_ids(change_set, culprits);
    let (found, used) = reduced(change_set, with(reducer), 1, |subset| culprits.is_subset(subset));
    assert_eq!(found, culprits);
    assert!(used.len() <= n_probes, "{culprits:?}: {} probes", used.len());
}

#[test]
fn one_or_two_lines_of_a_thousand_in_one_hunk_take_at_most_25_probes() {
    let change_set = insertions(1, 1, 1000);
    for culprits in [&[0][..], &[500], &[999], &[0, 999], &[1, 2], &[333, 334], &[17, 871], &[998, 999]] {
        check(&change_set, Reducer::Hierarchical, culprits, 25);
    }
}

#[test]
fn one_or_two_lines_of_a_thousand_in_many_files_take_at_most_45_probes() {
    let change_set = insertions(20, 5, 10);
    for culprits in [&[0][..], &[999], &[0, 999], &[17, 871], &[500, 501], &[505, 511], &[40, 60], &[449, 450]] {
        check(&change_set, Reducer::Hierarchical, culprits, 45);
    }
}

#[test]
fn two_hunks_of_128_take_at_most_18_probes() {
    let change_set = insertions(1, 128, 1);
    for culprits in [&[3, 90][..], &[63, 64], &[0, 127], &[126, 127]] {
        check(&change_set, Reducer::Hierarchical, culprits, 18);
    }
}

#[test]
fn artho_asks_about_the_lines_of_a_hunk_what_his_figure_3_shows() {
    let change_set = insertions(1, 1, 8);
    let (found, used) = reduced(&change_set, with(Reducer::Artho), 1, |subset| subset.contains(UnitId(5)));
    let shown = |subset: &Subset| (0..8).map(|unit| if subset.contains(UnitId(unit)) { '1' } else { '0' }).collect();
    let used: Vec<String> = used.iter().map(shown).collect();
    assert_eq!(used, ["00000000", "11110000", "11111100", "11111000", "11110100", "00000100"]);
    assert_eq!(found, of_ids(&change_set, &[5]));
}

#[test]
fn artho_descends_from_files_to_hunks_to_lines() {
    let change_set = insertions(4, 4, 4);
    check(&change_set, Reducer::Artho, &[37], 1 + 2 * 4 + 2 * 4);
}

#[test]
fn the_finest_level_is_never_divided() {
    let change_set = insertions(4, 4, 4);
    for (finest, n_units) in [(Level::File, 16), (Level::Hunk, 4), (Level::Line, 1)] {
        for reducer in REDUCERS {
            let options = ReduceOptions { reducer, finest, ..ReduceOptions::default() };
            let (found, _) = reduced(&change_set, options, 1, |subset| subset.contains(UnitId(21)));
            assert_eq!(found.len(), n_units, "{options:?}");
        }
    }
}

#[test]
fn nothing_is_asked_of_an_empty_start_and_one_thing_where_nothing_is_needed() {
    for reducer in REDUCERS {
        assert_eq!(reduced(&insertions(1, 1, 0), with(reducer), 1, |_| unreachable!()).1, []);
        let change_set = insertions(1, 1, 3);
        assert_eq!(reduced(&change_set, with(reducer), 4, |_| true), (change_set.empty(), vec![change_set.empty()]));
    }
}

const REDUCERS: [Reducer; 3] = [Reducer::Hierarchical, Reducer::Fast, Reducer::Artho];

/// The reducers that use the filter.
const FILTERED: [Reducer; 2] = [Reducer::Hierarchical, Reducer::Fast];

/// The promised maximum number of probes, and the number of groups or units.
fn bound(change_set: &ChangeSet, ReduceOptions { reducer, finest, .. }: ReduceOptions) -> (usize, usize) {
    let n_rungs = change_set.rungs(finest).count() + change_set.named_together().len();
    let n = match reducer {
        Reducer::Hierarchical | Reducer::Fast => change_set.units().len(),
        Reducer::Artho => change_set.groups(finest).len(),
    };
    let bound = match reducer {
        Reducer::Fast => (n_rungs + 1) * n * (n + 1) / 2 + 3 * n,
        Reducer::Hierarchical => (11 * n_rungs + 15) * n * n / 10 + (14 * n_rungs + 3) * n + 11 * n_rungs,
        Reducer::Artho => 2 * n - 1,
    };
    (n, bound)
}

fn is_minimal(change_set: &ChangeSet, found: &Subset, finest: Level, interest: &Interest) -> bool {
    let without = |group: &Group| change_set.close(&found.difference(&change_set.subset(group)));
    let groups = change_set.groups(finest);
    found.is_empty()
        || groups
            .iter()
            .map(without)
            .filter(|rest| rest != found)
            .chain([change_set.empty()])
            .all(|rest| !interest.accepts(&rest))
}

/// All closed subsets, by brute force.
fn closed_subsets(change_set: &ChangeSet) -> Vec<Subset> {
    let n_units = u32::try_from(change_set.units().len()).unwrap();
    let subset = |bits: u64| {
        let units: Vec<u32> = (0..n_units).filter(|unit| bits >> unit & 1 == 1).collect();
        of_ids(change_set, &units)
    };
    (0..1_u64 << n_units).map(subset).filter(|subset| change_set.close(subset) == *subset).collect()
}

/// The number of candidates of `plan` for `n` units without needs.
fn n_named(mut plan: impl ReducePlan, n: u32, is_interesting: impl Fn(&Subset) -> bool) -> usize {
    let mut current = Subset::full(n);
    let mut n_named = 0;
    while let Some(rest) = plan.next(&current) {
        assert!(rest.is_subset(&current) && rest != current);
        n_named += 1;
        if is_interesting(&rest) {
            current = rest;
            plan.hit(&current);
        }
    }
    n_named
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_result_is_interesting_and_those_that_promise_it_are_1_minimal(
        change_set in change_set(),
        interest in interest(),
        finest in prop::sample::select(vec![Level::File, Level::Unit, Level::Hunk, Level::Line]),
        is_reversed in any::<bool>(),
    ) {
        prop_assume!(!change_set.units().is_empty());
        for reducer in REDUCERS {
            let options = ReduceOptions { reducer, finest, is_reversed };
            let (found, used) = reduced(&change_set, options, 1, |subset| interest.accepts(subset));
            prop_assert!(interest.accepts(&found));
            prop_assert_eq!(&change_set.close(&found), &found);
            let is_promised = reducer.is_exact() || matches!(interest, Interest::Monotone(_));
            prop_assert!(!is_promised || is_minimal(&change_set, &found, finest, &interest), "{:?}: {:?}", reducer, found);

            let (n, bound) = bound(&change_set, options);
            prop_assert!(used.len() <= bound, "{:?}: {} probes for {} groups", reducer, used.len(), n);
        }
    }

    #[test]
    fn whatever_the_filter_says_results_are_interesting_and_1_minimal(
        change_set in change_set(),
        interest in interest(),
        plausible in interest(),
        finest in prop::sample::select(vec![Level::File, Level::Unit, Level::Hunk, Level::Line]),
        is_reversed in any::<bool>(),
    ) {
        prop_assume!(!change_set.units().is_empty());
        for reducer in FILTERED {
            let options = ReduceOptions { reducer, finest, is_reversed };
            let filter = |subset: &Subset| plausible.accepts(subset);
            let Reduced { found, used, .. } = reduced_with(&change_set, options, 1, &filter, |subset| interest.accepts(subset));
            prop_assert!(interest.accepts(&found));
            prop_assert!(is_minimal(&change_set, &found, finest, &interest), "{:?}: {:?}", reducer, found);
            let distinct: HashSet<_> = used.iter().collect();
            prop_assert_eq!(distinct.len(), used.len());
            let (n, bound) = bound(&change_set, options);
            prop_assert!(used.len() <= bound, "{:?}: {} probes for {} groups", reducer, used.len(), n);
        }
    }

    #[test]
    fn a_filter_that_is_right_changes_nothing_but_the_cost(
        change_set in change_set(),
        interest in interest(),
        plausible in interest(),
    ) {
        prop_assume!(!change_set.units().is_empty());
        let is_interesting = |subset: &Subset| interest.accepts(subset);
        let filter = |subset: &Subset| plausible.accepts(subset) || interest.accepts(subset);
        for reducer in FILTERED {
            let unfiltered = reduced_with(&change_set, with(reducer), 1, &|_| true, is_interesting);
            let filtered = reduced_with(&change_set, with(reducer), 1, &filter, is_interesting);
            prop_assert_eq!(&filtered.found, &unfiltered.found);
            let n_spared = unfiltered.used.iter().filter(|candidate| !filtered.used.contains(candidate)).count();
            prop_assert_eq!(filtered.used.len() + n_spared, unfiltered.used.len());
            prop_assert!(n_spared <= filtered.n_refused);
            prop_assert_eq!(unfiltered.n_refused, 0);
        }
    }

    #[test]
    fn the_result_and_what_was_used_and_refused_do_not_depend_on_the_width(
        change_set in change_set(),
        interest in interest(),
        plausible in interest(),
    ) {
        prop_assume!(!change_set.units().is_empty());
        let filter = |subset: &Subset| plausible.accepts(subset);
        for reducer in REDUCERS {
            let at = |width| reduced_with(&change_set, with(reducer), width, &filter, |subset| interest.accepts(subset));
            let expected = at(1);
            for width in [2, 3, 8] {
                prop_assert_eq!(&at(width), &expected);
            }
        }
    }

    #[test]
    fn candidates_are_closed_and_none_is_asked_twice_not_even_as_speculation(
        change_set in change_set(),
        interest in interest(),
        width in 1_usize..9,
    ) {
        prop_assume!(!change_set.units().is_empty());
        for reducer in REDUCERS {
            let problems = RefCell::new(Vec::new());
            let (_, used) = reduced(&change_set, with(reducer), width, |subset| {
                if change_set.close(subset) != *subset || *subset == change_set.full() {
                    problems.borrow_mut().push(subset.clone());
                }
                interest.accepts(subset)
            });
            prop_assert_eq!(problems.into_inner(), vec![]);
            let distinct: HashSet<_> = used.iter().collect();
            prop_assert_eq!(distinct.len(), used.len());
        }
    }

    #[test]
    fn where_one_set_of_units_matters_the_result_is_the_least_closed_set_around_it(
        change_set in change_set(),
        units in prop::collection::vec(any::<u32>(), 1..4),
        plausible in interest(),
    ) {
        prop_assume!((1..=11).contains(&change_set.units().len()));
        let filter = |subset: &Subset| plausible.accepts(subset);
        let interest = Interest::Monotone(vec![units]);
        let subsets = closed_subsets(&change_set);
        let least = subsets.iter().filter(|subset| interest.accepts(subset)).map(Subset::len).min();
        for reducer in REDUCERS {
            let is_interesting = |subset: &Subset| interest.accepts(subset);
            let Reduced { found, .. } = reduced_with(&change_set, with(reducer), 1, &filter, is_interesting);
            prop_assert_eq!(Some(found.len()), least);
        }
    }

    #[test]
    fn a_few_culprits_in_a_large_set_cost_about_log_n_each(
        culprits in prop::collection::btree_set(0_u32..1000, 1..=2),
        shape in prop::sample::select(vec![(1, 1, 1000), (1, 100, 10), (20, 5, 10), (100, 10, 1)]),
    ) {
        let change_set = insertions(shape.0, shape.1, shape.2);
        let culprits: Vec<u32> = culprits.into_iter().collect();
        check(&change_set, Reducer::Hierarchical, &culprits, 59);
    }

    #[test]
    fn no_plan_names_more_candidates_than_it_promises(n in 1_u32..150, interest in interest()) {
        let groups = || (0..n).map(|unit| Group::from(unit..unit + 1)).collect::<Vec<_>>();
        let accepts = |subset: &Subset| interest.accepts(subset);
        let size = n as usize;
        let log = size.ilog2() as usize;
        prop_assert!(n_named(Bisection::new(groups()), n, accepts) <= 4 * size + 3 * (2 + log));
        prop_assert!(n_named(Counting::new(groups()), n, accepts) <= size + 5 + size * 121 / 60);
        prop_assert!(n_named(Singles::new(groups()), n, accepts) <= size * (size + 1) / 2);
    }
}
