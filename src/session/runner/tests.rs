use super::*;
use crate::order::HuntOrder;
use crate::saved;
use crate::testing::{Said, World, fail, key, order, pass, probe, with_runner, words};

#[track_caller]
fn check(order: HuntOrder, results: &[(usize, u32, Observation)], asked: &[usize], expected: &str) {
    with_runner(order, results, |runner, world| {
        let probes: Vec<Probe> = asked.iter().map(|index| probe(world, *index, Phase::Search)).collect();
        assert_eq!(words(runner.answer(&probes).unwrap()), expected);
    });
}

fn repeated(n: u32) -> HuntOrder {
    let mut order = order();
    order.test.repeat = n;
    order
}

#[test]
fn answers_count_in_the_order_asked_and_what_is_known_behind_a_missing_one_is_only_overheard() {
    let known = [(0, 0, pass()), (2, 0, fail())];
    check(order(), &known, &[0, 2], "pass fail");
    check(order(), &known, &[0, 1, 2], "pass");
    check(order(), &known, &[1, 0, 2], "overheard pass fail");
    check(order(), &known, &[1], "Budget");
}

#[test]
fn an_interrupt_stops_even_if_all_answers_are_known() {
    with_runner(order(), &[(0, 0, pass())], |runner, world| {
        runner.interrupt.store(true, Ordering::Relaxed);
        assert_eq!(words(runner.answer(&[probe(world, 0, Phase::Search)]).unwrap()), "Interrupted");
        assert_eq!(runner.conclusion(), Conclusion::Interrupted);
    });
}

#[test]
fn dropped_runs_count_no_more() {
    let known = [(0, 0, Observation { is_clean: false, ..pass() }), (1, 0, pass())];
    let ask = |runner: &mut Runner<'_>, world: &World| {
        [0, 1].map(|index| words(runner.answer(&[probe(world, index, Phase::Search)]).unwrap()))
    };
    with_runner(order(), &known, |runner, world| {
        assert_eq!(ask(runner, world), ["pass", "pass"]);
        runner.answers.void_incremental().unwrap();
        assert_eq!(ask(runner, world), ["Budget", "pass"]);
        assert!(runner.answers.is_voided() && !runner.answers.is_alone());
        runner.void_all().unwrap();
        assert_eq!(ask(runner, world), ["Budget", "Budget"]);
        assert!(runner.answers.is_alone());
    });
}

#[test]
fn an_earlier_hunt_answers_first_runs_unless_it_may_not() {
    let ask = |no_cache: bool, repeat: u32, expected: &str| {
        let world = World::with_culprit();
        let other = world.plan(order());
        let results = [(key(&other, world.trees[0]), 0, pass()), (key(&other, world.trees[0]), 1, pass())];
        drop(world.saved(&other, &results));
        // Another hunt with the same test.
        let mut order = repeated(repeat);
        order.effort.no_cache = no_cache;
        order.history.good = vec![world.commits[0].to_string()];
        let plan = world.plan(order);
        let mut said = Said::default();
        let mut runner = world.runner(&plan, &[], &mut said);
        let asked = probe(&world, 0, Phase::Search);
        let reply = words(runner.answer(&[asked]).unwrap());
        assert_eq!(reply, expected);
        if reply == "pass" {
            runner.used(&[asked], &[Outcome::Pass]).unwrap();
            assert_eq!((runner.effort.tally.n_cached, runner.effort.tally.n_runs()), (1, 0));
        }
    };
    ask(false, 1, "pass");
    ask(true, 1, "Budget");
    // Only the first run is known from others.
    ask(false, 2, "Budget");
}

#[test]
fn a_used_answer_is_written_down_and_counted_as_known_only_when_it_is_asked_for_again() {
    with_runner(order(), &[(0, 0, Observation { is_tampered: true, ..pass() })], |runner, world| {
        let asked = probe(world, 0, Phase::Search);
        runner.used(&[asked], &[Outcome::Pass]).unwrap();
        // It ran before the hunt was killed, and was counted then.
        assert_eq!(runner.effort.tally.n_cached, 0);
        runner.used(&[asked], &[Outcome::Pass]).unwrap();
        assert_eq!(runner.effort.tally.n_cached, 1);
        assert_eq!(runner.effort.tally.outcomes[&(Phase::Search, "pass".to_owned())], 2);
        assert!(runner.noticed.is_tampered);
        let path = runner.answers.segment().path().to_owned();
        let mut answers = Vec::new();
        let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
        saved::each_record(world.location(), &id, &mut |record| {
            if let Record::Answer(AnswerRecord { tree, sequence, outcome, .. }) = record {
                answers.push((tree, sequence, outcome));
            }
        })
        .unwrap();
        assert_eq!(answers, vec![(world.trees[0], None, "pass".to_owned()); 2]);
    });
}

#[test]
fn a_reduction_whose_time_is_used_up_ends_and_other_probes_do_not() {
    let mut order = order();
    order.effort.reduction = Some(crate::order::Bound::Within(Duration::from_secs(5)));
    order.effort.max_probes = None;
    with_runner(order, &[(1, 0, pass())], |runner, world| {
        runner.effort.spent.reduction = Duration::from_secs(5);
        let asked = |index| probe(world, index, Phase::Reduce);
        assert_eq!(words(runner.answer(&[asked(0)]).unwrap()), "spent");
        assert_eq!(words(runner.answer(&[asked(1)]).unwrap()), "pass");
        assert_eq!(runner.bound(), Duration::from_secs(5));
    });
}

#[test]
fn a_budget_counts_the_runs_of_this_session_and_its_clock() {
    with_runner(order(), &[], |runner, _| {
        assert_eq!(runner.stops(), Some(Conclusion::Budget));
        runner.effort.limits.max_probes = Some(1);
        assert_eq!(runner.stops(), None);
        runner.effort.tally.runs.insert(Phase::Search, 1);
        assert_eq!(runner.stops(), Some(Conclusion::Budget));
        runner.effort.limits =
            HuntLimits { deadline: Deadline::after(Duration::ZERO, &Arc::default()), ..HuntLimits::default() };
        assert_eq!(runner.stops(), Some(Conclusion::Budget));
        runner.effort.limits = HuntLimits::default();
        assert_eq!(runner.stops(), None);
    });
}

#[test]
fn a_third_of_a_budget_is_kept_once_and_given_back() {
    with_runner(order(), &[], |runner, _| {
        let secs = Duration::from_secs;
        runner.effort.limits =
            HuntLimits { deadline: Deadline::after(secs(3000), &Arc::default()), ..HuntLimits::default() };
        let mut left_after = |change: &dyn Fn(&mut Runner<'_>)| {
            change(runner);
            runner.effort.limits.deadline.as_ref().unwrap().left().as_secs().div_ceil(100)
        };
        assert_eq!(left_after(&|runner| runner.keep_a_third()), 20);
        assert_eq!(left_after(&|runner| runner.keep_a_third()), 20, "it is kept already");
        assert_eq!(left_after(&|runner| runner.give_back()), 30);
        assert_eq!(left_after(&|runner| runner.give_back()), 30, "nothing is kept");
    });
}

#[test]
fn a_test_that_changes_the_repository_of_the_user_is_noticed_once_for_each_part() {
    with_runner(order(), &[], |runner, world| {
        let git = world.location().git_directory.clone();
        runner.user.look(&runner.location, world.trees[0]);
        assert!(runner.user.disturbed.is_empty());
        for (text, tree) in [("[x]\n", 1), ("[y]\ny = 1\n", 2)] {
            std::fs::write(git.join("config.worktree"), text).unwrap();
            runner.user.look(&runner.location, world.trees[tree]);
            assert_eq!(runner.user.disturbed, [("config", world.trees[1].to_string())]);
        }
    });
}
