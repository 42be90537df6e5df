//! Chains over runs that are written down.

use crate::align::Alignment;
use crate::java::chain::{JavaChainBegin, RunPair};
use crate::java::comparable_run::{DecisionWay, TakenRun, Use};
use idd_trace::Step;

/// A step: its index, its decider, what it did, and its uses: maker, place, value.
type Written<'w> = (u64, u32, u64, &'w [(u32, u32, u32)]);

fn taken(steps: &[Written<'_>]) -> TakenRun {
    let step = |(index, decider, did, uses): &Written<'_>| {
        let uses = uses.iter().map(|(maker, place, value)| Use { maker: Step(*maker), place: *place, value: *value });
        (*index, *decider, *did, uses.collect())
    };
    let start: Written<'_> = (0, 0, 0, &[]);
    TakenRun::of(&std::iter::once(&start).chain(steps).map(step).collect::<Vec<_>>())
}

/// The steps of the chain from a failure, where it begins, and what was left out at its first step.
#[track_caller]
fn chain(
    failing: &TakenRun,
    reference: &TakenRun,
    failure: u32,
    touched: u32,
    gone: u32,
) -> (Vec<u32>, JavaChainBegin, Option<u32>) {
    let alignment = Alignment::new(&failing.run, &reference.run);
    let pair = RunPair { failing, reference, alignment: &alignment };
    let found = pair.chain(Step(failure), &mut |step| step.0 == touched, &mut |step| step.0 == gone);
    let omitted = found.steps.first().and_then(|cause| cause.omitted);
    (found.steps.iter().map(|cause| cause.step.0).collect(), found.begin, omitted.map(|step| step.0))
}

#[test]
fn a_chain_leads_over_values_that_differ_and_not_over_others() {
    // 1 sets a, 2 sets b, 3 sets c from both, 4 prints c. Only a is another one.
    let run = |a: u32| {
        taken(&[
            (10, 0, u64::from(a), &[]),
            (20, 0, 5, &[]),
            (30, 0, 100 + u64::from(a), &[(1, 1, a), (2, 2, 5)]),
            (40, 0, 7, &[(3, 3, 100 + a)]),
        ])
    };
    assert_eq!(chain(&run(1), &run(2), 4, 1, 0), (vec![1, 3, 4], JavaChainBegin::Change, None));
    // The change touches nothing that ran: the first step that differs is told.
    assert_eq!(chain(&run(1), &run(2), 4, 0, 0), (vec![1, 3, 4], JavaChainBegin::Elsewhere, None));
    // A changed line behind is no beginning while what it uses differs already.
    assert_eq!(chain(&run(1), &run(2), 4, 3, 0), (vec![3, 4], JavaChainBegin::Change, None));
    assert_eq!(chain(&run(1), &run(1), 4, 1, 0), (vec![4], JavaChainBegin::Failure, None));
}

#[test]
fn what_was_left_out_stands_where_the_reference_did_it() {
    // The reference writes a again in its step 2, after the step with index 15.
    let failing = taken(&[(10, 0, 1, &[]), (15, 0, 3, &[]), (30, 0, 7, &[(1, 1, 1)])]);
    let reference = taken(&[(10, 0, 1, &[]), (15, 0, 3, &[]), (20, 0, 2, &[]), (30, 0, 8, &[(3, 1, 2)])]);
    assert_eq!(chain(&failing, &reference, 3, 0, 3), (vec![2, 3], JavaChainBegin::Change, Some(3)));
    assert_eq!(chain(&failing, &reference, 3, 0, 0), (vec![2, 3], JavaChainBegin::Elsewhere, Some(3)));
}

#[test]
fn what_was_left_out_with_a_call_that_the_change_removed_begins_there() {
    // The reference calls in its step 3, and writes a in 4, which the call decides.
    let failing = taken(&[(10, 0, 1, &[]), (15, 0, 3, &[]), (30, 0, 7, &[(1, 1, 1)])]);
    let steps: [Written<'_>; 5] =
        [(10, 0, 1, &[]), (15, 0, 3, &[]), (20, 0, 5, &[]), (21, 3, 2, &[]), (30, 0, 8, &[(4, 1, 2)])];
    let reference = taken(&steps);
    assert_eq!(chain(&failing, &reference, 3, 0, 3), (vec![2, 3], JavaChainBegin::Change, Some(4)));
    assert_eq!(chain(&failing, &reference, 3, 0, 2), (vec![2, 3], JavaChainBegin::Elsewhere, Some(4)));
}

#[test]
fn a_step_that_the_reference_does_not_have_depends_on_the_decision_around_it() {
    // 2 decides because of a; only the failing run does 3.
    let mut failing = taken(&[(10, 0, 1, &[]), (20, 0, 0, &[(1, 1, 1)]), (25, 2, 9, &[])]);
    let mut reference = taken(&[(10, 0, 2, &[]), (20, 0, 0, &[(1, 1, 2)]), (30, 2, 9, &[])]);
    failing.ways[2] = DecisionWay { number: 1, truth: Some(true), line: 3 };
    reference.ways[2] = DecisionWay { number: 2, truth: Some(false), line: 4 };
    assert_eq!(chain(&failing, &reference, 3, 1, 0), (vec![1, 2, 3], JavaChainBegin::Change, None));
    let alignment = Alignment::new(&failing.run, &reference.run);
    let pair = RunPair { failing: &failing, reference: &reference, alignment: &alignment };
    assert!(pair.decides_otherwise(Step(2), Step(2)));
    // The same truth is the same way, wherever the code lies.
    reference.ways[2] = DecisionWay { number: 2, truth: Some(true), line: 4 };
    let pair = RunPair { failing: &failing, reference: &reference, alignment: &alignment };
    assert!(!pair.decides_otherwise(Step(2), Step(2)));
}

#[test]
fn what_was_done_to_an_object_leads_to_the_decision_that_skipped_a_call_and_over_calls_that_did_the_same() {
    let list = 1 << 31 | 7;
    // 1 makes a list, 2 decides, only the reference adds something behind it, and the last step asks for the size.
    let mut failing = taken(&[(10, 0, 1, &[]), (20, 0, 0, &[]), (40, 0, 7, &[(1, list, 1)])]);
    let mut reference =
        taken(&[(10, 0, 1, &[]), (20, 0, 0, &[]), (25, 2, 5, &[(1, list, 1)]), (40, 0, 8, &[(3, list, 2)])]);
    failing.ways[2] = DecisionWay { number: 1, truth: Some(false), line: 3 };
    reference.ways[2] = DecisionWay { number: 2, truth: Some(true), line: 4 };
    assert_eq!(chain(&failing, &reference, 3, 2, 0), (vec![2, 3], JavaChainBegin::Change, Some(3)));
    // 1 adds something else, 2 adds the same, 3 asks for the first element.
    let run = |first: u32| {
        taken(&[(10, 0, u64::from(first), &[]), (20, 0, 5, &[(1, list, first)]), (30, 0, 6, &[(2, list, 20 + first)])])
    };
    assert_eq!(chain(&run(1), &run(2), 3, 1, 0), (vec![1, 2, 3], JavaChainBegin::Change, None));
    assert_eq!(chain(&run(1), &run(1), 3, 1, 0), (vec![3], JavaChainBegin::Failure, None));
}
