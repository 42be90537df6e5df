use super::*;

#[track_caller]
fn check_critical(n: usize, error: f64, expected: usize) {
    let plain: Vec<usize> = (1..=n).collect();
    assert_eq!(critical(&plain, error), expected, "{n} rounds, error {error}");
}

#[test]
fn the_sums_of_plain_ranks_are_those_of_the_tables() {
    // The tables have the smaller sum: 8 and 3 for 10 rounds, 52 and 37 for 20.
    check_critical(5, 0.025, 16);
    check_critical(6, 0.025, 21);
    check_critical(10, 0.025, 55 - 8);
    check_critical(20, 0.025, 210 - 52);
    check_critical(8, 0.005, 36);
    check_critical(10, 0.005, 55 - 3);
    check_critical(20, 0.005, 210 - 37);
}

#[test]
fn the_errors_of_all_looks_are_at_most_one_percent() {
    assert!(LOOKS.iter().map(|(_, error)| error).sum::<f64>() <= 0.01);
    assert!(LOOKS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    for ((n_rounds, _), critical) in LOOKS.iter().zip(&*CRITICAL) {
        assert!(*critical <= ranks(*n_rounds).iter().sum(), "{n_rounds} rounds can decide");
    }
}

#[test]
fn the_interval_ends_where_the_decision_changes() {
    let mut series = Series::default();
    (0..24).for_each(|nth| series.add(f64::from(nth % 12) / 100.0));
    let Interval { middle, low, high } = series.interval();
    assert!(low < 0.055 && 0.055 < high && (middle - 0.055).abs() < 0.006, "{low} {middle} {high}");
    assert!((high - 0.11 + low).abs() < 0.011, "{low} {high}");
    assert_eq!((series.side(low - 0.02), series.side(0.055)), (Some(BorderSide::Above), None));
    assert_eq!(series.side(high + 0.02), Some(BorderSide::Below));
    assert_eq!(Interval { middle, low, high }.reversed(), Interval { middle: -middle, low: -high, high: -low });
    let mut few = Series::default();
    (0..3).for_each(|_| few.add(0.1));
    assert_eq!((few.interval().low, few.side(0.0)), (f64::NEG_INFINITY, None));
}

#[test]
fn one_outlier_among_equal_rounds_changes_nothing() {
    let mut series = Series::default();
    (0..12).for_each(|_| series.add(0.5));
    series.add(9.0);
    let Interval { middle, low, high } = series.interval();
    assert!((middle - 0.5).abs() < 1e-9 && (low - 0.5).abs() < 1e-9 && high < 9.0, "{low} {high}");
    assert_eq!(series.side(0.4), None, "13 rounds are no look");
}

/// Kinds of noise; each factor is multiplied with the time of a run.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Log-normal, and one run of ten takes up to three times as long.
    Outliers,
    /// The machine gets slower and slower, by a half in a hundred rounds.
    Drift,
    /// The machine has two speeds; it changes after some runs.
    TwoSpeeds,
}

const NOISES: [Noise; 3] = [Noise::Outliers, Noise::Drift, Noise::TwoSpeeds];

/// A machine with noise.
struct Machine {
    random: Random,
    noise: Noise,
    n_runs: u32,
    is_slow: bool,
}

impl Machine {
    fn new(noise: Noise, seed: u64) -> Self {
        Self { random: Random::new(seed), noise, n_runs: 0, is_slow: false }
    }

    fn uniform(&mut self) -> f64 {
        f64::from(u32::try_from(self.random.number() >> 32).unwrap()) / f64::from(u32::MAX)
    }

    /// The logarithm of the time of a run.
    fn run(&mut self, time: f64) -> f64 {
        self.n_runs += 1;
        // The sum of twelve has a variance of 1.
        let normal = (0..4).map(|_| self.uniform()).sum::<f64>() - 2.0;
        let normal = 0.03 * normal * 3_f64.sqrt();
        time + normal
            + match self.noise {
                Noise::Outliers => {
                    let is_outlier = self.uniform() < 0.1;
                    if is_outlier { 3_f64.ln() * self.uniform() } else { 0.0 }
                }
                Noise::Drift => 0.5 * f64::from(self.n_runs) / 300.0,
                Noise::TwoSpeeds => {
                    self.is_slow ^= self.uniform() < 0.1;
                    if self.is_slow { 0.4 } else { 0.0 }
                }
            }
    }

    /// The logarithms of one round of runs, in random order.
    fn round<const N: usize>(&mut self, times: [f64; N]) -> [f64; N] {
        let mut order: [usize; N] = std::array::from_fn(|nth| nth);
        self.random.shuffle(&mut order);
        let mut logs = [0.0; N];
        for nth in order {
            logs[nth] = self.run(times[nth]);
        }
        logs
    }

    fn decide(&mut self, border: f64, mut value: impl FnMut(&mut Self) -> f64) -> Option<BorderSide> {
        let mut series = Series::default();
        loop {
            series.add(value(self));
            if let Some(side) = series.side(border) {
                return Some(side);
            }
            if series.n_rounds() == MAX_ROUNDS {
                return None;
            }
        }
    }
}

#[test]
fn an_unchanged_program_is_no_loss_in_a_thousand_pairs() {
    for threshold in [1.03_f64, 1.05, 1.10] {
        let mut n_open = 0;
        for seed in 0..112 {
            for noise in NOISES {
                let mut machine = Machine::new(noise, seed * 7919 + 1);
                let decided = machine.decide(threshold.ln(), |machine| {
                    let [good, bad] = machine.round([0.0, 0.0]);
                    bad - good
                });
                assert_ne!(decided, Some(BorderSide::Above), "{noise:?} {seed}");
                n_open += u32::from(decided.is_none());
            }
        }
        assert!(n_open <= 34, "{n_open} of 336 are open at {threshold}");
    }
}

#[test]
fn without_a_threshold_at_most_one_answer_of_a_hundred_is_wrong() {
    let mut n_wrong = 0;
    for seed in 0..334 {
        for noise in NOISES {
            let mut machine = Machine::new(noise, seed * 104_729 + 5);
            let decided = machine.decide(0.0, |machine| {
                let [good, bad] = machine.round([0.0, 0.0]);
                bad - good
            });
            // Only a difference of nothing at all is at the border; each answer is wrong there.
            n_wrong += u32::from(decided == Some(BorderSide::Above));
        }
    }
    assert!(n_wrong <= 10, "{n_wrong} of 1002 are wrong");
}

/// A hunt between the ends of a loss: 6 candidates, of which the first `n_bad` are slow.
fn is_hunted(loss: f64, noise: Noise, seed: u64) -> (bool, usize) {
    let mut machine = Machine::new(noise, seed);
    let slow = loss.ln();
    let mut n_open = 0;
    for candidate in 0..6 {
        let is_bad = (seed >> candidate) & 1 == 1;
        let side = machine.decide(0.0, |machine| {
            let [good, bad, own] = machine.round([0.0, slow, if is_bad { slow } else { 0.0 }]);
            own - f64::midpoint(good, bad)
        });
        match side {
            None => n_open += 1,
            Some(side) if (side == BorderSide::Above) != is_bad => return (false, n_open),
            Some(_) => {}
        }
    }
    (true, n_open)
}

#[test]
fn a_thousand_hunts_for_5_10_and_30_percent_judge_every_candidate_right() {
    let (mut n_wrong, mut n_open) = (0, 0);
    for loss in [1.05, 1.1, 1.3] {
        for seed in 0..112 {
            for noise in NOISES {
                let (is_right, n_left) = is_hunted(loss, noise, seed * 6_700_417 + 11);
                n_wrong += u32::from(!is_right);
                n_open += n_left;
            }
        }
    }
    assert_eq!(n_wrong, 0, "of 1008 hunts");
    assert!(n_open <= 60, "{n_open} of 6048 candidates are open");
}

#[test]
fn two_runs_decide_only_far_from_the_border() {
    assert_eq!(clear_side([-2.0, -0.8], 0.0), Some(BorderSide::Below));
    assert_eq!(clear_side([1.5, 0.7], 0.0), Some(BorderSide::Above));
    for values in [[-2.0, -0.6], [-2.0, 2.0], [0.6, 0.6]] {
        assert_eq!(clear_side(values, 0.0), None, "{values:?}");
    }
    assert!(is_near([0.0, -0.3]) && is_near([3.0, 0.1]) && !is_near([0.0, -0.4]));
    let series = |value: f64| Series((0..8).map(|nth| value + f64::from(nth % 2) / 100.0).collect());
    let rough = |value: f64| series(value).rough_side(-0.05);
    assert_eq!(
        (rough(-0.02), rough(-0.06), rough(-0.5)),
        (Some(BorderSide::Above), Some(BorderSide::Above), Some(BorderSide::Below))
    );
    assert_eq!(series(-0.06).side(-0.05), None);
    // What is no large loss is nearer to the slow version than to one that is faster by a large one.
    const { assert!(NEAR <= LARGE / 2.0 && NEAR < FAR / 2.0) };
}
