//! The probabilities of a search with a noisy test: at which revision the failure began, and how noisy the test is.
//!
//! Source: Waeber, Frazier and Henderson, *Bisection Search with Noisy Responses* (SIAM J. Control Optim. 2013), after
//! Horstein 1963; the bound on the number of runs is that of Ben-Or and Hassidim, *The Bayesian Learner is Optimal for
//! Noisy Binary Search* (FOCS 2008). Deviations: the two error rates are not given; each has a Beta prior, and is
//! integrated out for each place. The next run is the one with the most information about the place: at equal, known
//! rates the median of the paper.

use crate::Noise;
use std::iter;
use std::ops::Range;

/// The least difference between the share of failing runs with the cause and the share without it.
const MIN_CONTRAST: f64 = 0.1;

/// The weight of the prior of a rate, in runs: if the user gives the rate, and if not.
const STRENGTHS: (f64, f64) = (20.0, 2.0);

/// The prior probability that no revision of the line is the first one with the failure.
const NONE_FIRST: f64 = 0.01;

/// A Beta distribution of the probability that a run fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beta {
    pub(super) fails: f64,
    pub(super) passes: f64,
}

impl Beta {
    pub(super) fn with(self, runs: RunCounts) -> Self {
        Self { fails: self.fails + f64::from(runs.n_fails), passes: self.passes + f64::from(runs.n_passes) }
    }

    pub(super) fn mean(self) -> f64 {
        self.fails / (self.fails + self.passes)
    }

    fn variance(self) -> f64 {
        let sum = self.fails + self.passes;
        self.fails * self.passes / (sum * sum * (sum + 1.0))
    }

    /// The probability that the share of failing runs is above a level.
    ///
    /// The distribution is approximated by a normal one, and the normal distribution function by a logistic one.
    pub(super) fn above(self, level: f64) -> f64 {
        logistic((self.mean() - level) / self.variance().sqrt())
    }
}

/// The runs of a part of the line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunCounts {
    pub(super) n_fails: u32,
    pub(super) n_passes: u32,
}

impl RunCounts {
    pub(super) fn add(&mut self, is_fail: bool) {
        if is_fail {
            self.n_fails += 1;
        } else {
            self.n_passes += 1;
        }
    }
}

/// The logarithms of a * (a + 1) * ... * (a + n - 1), for n from 0.
struct Rising(Vec<f64>);

impl Rising {
    fn new(a: f64, n_max: u32) -> Self {
        let terms = (0..n_max).map(|n| (a + f64::from(n)).ln());
        let sums = terms.scan(0.0, |sum, term| {
            *sum += term;
            Some(*sum)
        });
        Self(iter::once(0.0).chain(sums).collect())
    }

    fn at(&self, n: u32) -> f64 {
        self.0[n as usize]
    }
}

/// The probability of runs under a Beta prior, as logarithms.
struct RunEvidence {
    fails: Rising,
    passes: Rising,
    all: Rising,
}

impl RunEvidence {
    fn new(prior: Beta, n_max: u32) -> Self {
        Self {
            fails: Rising::new(prior.fails, n_max),
            passes: Rising::new(prior.passes, n_max),
            all: Rising::new(prior.fails + prior.passes, n_max),
        }
    }

    fn of(&self, runs: RunCounts) -> f64 {
        self.fails.at(runs.n_fails) + self.passes.at(runs.n_passes) - self.all.at(runs.n_fails + runs.n_passes)
    }
}

/// The probabilities of one place.
#[derive(Debug, Clone, Copy)]
struct PlaceBelief {
    probability: f64,
    /// The probability that a run fails with the cause in the tree, if this is the true place; and without it.
    with: f64,
    without: f64,
}

/// A line of revisions, newest first, and the probability of each place.
///
/// A *place* is the index of the oldest revision with the cause of the failure: every revision up to it has the cause,
/// and no revision after it has. The last place means that all revisions have it.
#[derive(Debug, Clone)]
pub struct Belief {
    /// Not normalised.
    prior: Vec<f64>,
    /// The prior of the probability that a run fails, with the cause and without it.
    with: Beta,
    without: Beta,
    runs: Vec<RunCounts>,
    /// Whether a revision can be tested; true if unknown.
    is_usable: Vec<bool>,
    /// By index; the probabilities add up to 1.
    places: Vec<PlaceBelief>,
}

impl Belief {
    /// A belief before any run of the search: the newest revision has the cause.
    ///
    /// - `n_revisions`: length of the line, at least two.
    /// - `is_bounded`: whether the user says that the oldest revision passes. Then all other places are equally likely.
    ///   Otherwise the probability of a place decreases with its distance (uniform in its logarithm).
    /// - `rate`: both rates, if the user gives them.
    pub fn new(n_revisions: usize, is_bounded: bool, rate: Option<f64>) -> Self {
        let mut prior: Vec<f64> =
            (1..n_revisions).map(|distance| if is_bounded { 1.0 } else { 1.0 / as_f64(distance) }).collect();
        let sum: f64 = prior.iter().sum();
        prior.push(NONE_FIRST * sum);
        let strength = if rate.is_some() { STRENGTHS.0 } else { STRENGTHS.1 };
        let Noise { false_fails, false_passes } = Noise::expected(rate);
        let beta = |rate: f64| Beta { fails: strength * rate, passes: strength * (1.0 - rate) };
        let mut belief = Self {
            prior,
            with: beta(1.0 - false_passes),
            without: beta(false_fails),
            runs: vec![RunCounts::default(); n_revisions],
            is_usable: vec![true; n_revisions],
            places: Vec::new(),
        };
        belief.update();
        belief
    }

    /// Adds one run of the revision at `index` of the line. Cost: time proportional to the length of the line.
    pub fn add(&mut self, index: usize, is_fail: bool) {
        self.runs[index].add(is_fail);
        self.update();
    }

    fn update(&mut self) {
        let mut older = self.runs.iter().fold(RunCounts::default(), |sum, runs| RunCounts {
            n_fails: sum.n_fails + runs.n_fails,
            n_passes: sum.n_passes + runs.n_passes,
        });
        let n_max = older.n_fails + older.n_passes;
        let evidence = [self.with, self.without].map(|prior| RunEvidence::new(prior, n_max));
        let mut newer = RunCounts::default();
        self.places.clear();
        for (prior, runs) in self.prior.iter().zip(&self.runs) {
            newer = RunCounts { n_fails: newer.n_fails + runs.n_fails, n_passes: newer.n_passes + runs.n_passes };
            older = RunCounts { n_fails: older.n_fails - runs.n_fails, n_passes: older.n_passes - runs.n_passes };
            let (with, without) = (self.with.with(newer), self.without.with(older));
            let log = prior.ln() + evidence[0].of(newer) + evidence[1].of(older) + contrast(with, without).ln();
            self.places.push(PlaceBelief { probability: log, with: with.mean(), without: without.mean() });
        }
        let largest = self.places.iter().map(|place| place.probability).fold(f64::MIN, f64::max);
        self.places.iter_mut().for_each(|place| place.probability = (place.probability - largest).exp());
        let sum: f64 = self.places.iter().map(|place| place.probability).sum();
        self.places.iter_mut().for_each(|place| place.probability /= sum);
    }

    /// Excludes the revision at `index`, which cannot be tested. Untestable revisions come in stretches: all revisions
    /// between it and the next untestable one are excluded too, unless one between them is in `tested`.
    pub fn leave_out(&mut self, index: usize, tested: &[usize]) {
        let is_out = |at: &usize| !self.is_usable[*at];
        let newer = (0..index).rev().take_while(|at| !tested.contains(at)).find(is_out);
        let older = (index + 1..self.prior.len()).take_while(|at| !tested.contains(at)).find(is_out);
        let (begin, end) = (newer.unwrap_or(index), older.unwrap_or(index));
        self.is_usable[begin..=end].fill(false);
    }

    /// Returns the most likely place, as a range together with the places that no run can distinguish from it, and its
    /// probability.
    ///
    /// A range of more than one place ends before a revision that can be tested, or at the end of the line.
    pub fn likeliest(&self) -> (Range<usize>, f64) {
        let mut best = (0..1, -1.0);
        let mut begin = 0;
        while begin < self.places.len() {
            // A run of the next revision distinguishes a place from the next place.
            let mut end = begin + 1;
            while end < self.places.len() && !self.is_usable[end] {
                end += 1;
            }
            let probability: f64 = self.places[begin..end].iter().map(|place| place.probability).sum();
            if probability > best.1 {
                best = (begin..end, probability);
            }
            begin = end;
        }
        best
    }

    /// Cuts both ends of the line off, as long as they have less than half of `rest`; returns the remaining places.
    pub fn interval(&self, rest: f64) -> Range<usize> {
        let cut = |places: &mut dyn Iterator<Item = &PlaceBelief>| {
            let mut sum = 0.0;
            let is_cut = |place: &&PlaceBelief| {
                sum += place.probability;
                sum < rest / 2.0
            };
            places.take_while(is_cut).count()
        };
        let (newest, oldest) = (cut(&mut self.places.iter()), cut(&mut self.places.iter().rev()));
        newest..(self.places.len() - oldest).max(newest + 1)
    }

    /// Returns the mean of both rates.
    pub fn noise(&self) -> Noise {
        let mean =
            |rate: fn(&PlaceBelief) -> f64| self.places.iter().map(|place| place.probability * rate(place)).sum();
        Noise { false_fails: mean(|place| place.without), false_passes: mean(|place| 1.0 - place.with) }
    }

    /// Returns the runs of both sides of a place, by revision, newest first: those with the cause, and those without it.
    pub(super) fn sides(&self, place: usize) -> [&[RunCounts]; 2] {
        let (with, without) = self.runs.split_at(place + 1);
        [with, without]
    }

    /// Returns the index of the revision whose next run has the most expected information about the place.
    ///
    /// Cost: time proportional to the length of the line.
    pub fn next(&self) -> usize {
        // At index 0 every place has the cause.
        let mut p_fail: f64 = self.places.iter().map(|place| place.probability * place.with).sum();
        let mut open: f64 = self.places.iter().map(|place| place.probability * entropy(place.with)).sum();
        let mut best = (0, f64::MIN);
        for (index, place) in self.places.iter().enumerate() {
            let information = entropy(p_fail.clamp(0.0, 1.0)) - open;
            if self.is_usable[index] && information > best.1 + 1e-12 {
                best = (index, information);
            }
            p_fail += place.probability * (place.without - place.with);
            open += place.probability * (entropy(place.without) - entropy(place.with));
        }
        best.0
    }
}

/// The probability that a test fails more often with the cause than without it, by at least [`MIN_CONTRAST`].
///
/// Approximated as in [`Beta::above`].
pub(super) fn contrast(with: Beta, without: Beta) -> f64 {
    let deviation = (with.variance() + without.variance()).sqrt();
    logistic((with.mean() - without.mean() - MIN_CONTRAST) / deviation)
}

fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-1.702 * z).exp())
}

/// In nats; 0 at both ends.
pub(super) fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(p) + term(1.0 - p)
}

#[expect(clippy::cast_precision_loss, reason = "lengths of histories fit")]
pub(super) fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A simulated noisy test, with a random generator of its own.
    struct Test {
        state: u64,
        noise: Noise,
        n_runs: usize,
    }

    impl Test {
        fn chance(&mut self) -> f64 {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            as_f64((self.state >> 33) as usize) / f64::from(1_u32 << 31)
        }

        fn is_fail(&mut self, has_cause: bool) -> bool {
            self.n_runs += 1;
            let chance = self.chance();
            if has_cause { chance >= self.noise.false_passes } else { chance < self.noise.false_fails }
        }
    }

    /// The most information that one run can give, in bits: the capacity of the channel that the test is.
    ///
    /// A search among n places needs at least log2(n) / capacity runs in the mean (Burnashev and Zigangirov 1974).
    fn capacity(noise: Noise) -> f64 {
        let bits = |p: f64| entropy(p) / std::f64::consts::LN_2;
        let shown = |share: f64| {
            let p_fail = share * (1.0 - noise.false_passes) + (1.0 - share) * noise.false_fails;
            bits(p_fail) - share * bits(noise.false_passes) - (1.0 - share) * bits(noise.false_fails)
        };
        (1..1000).map(|share| shown(f64::from(share) / 1000.0)).fold(0.0, f64::max)
    }

    /// The share of right answers of 40 searches among `n_places`, and the mean number of runs divided by the bound.
    fn measure(n_places: usize, noise: Noise, is_bounded: bool) -> (f64, f64) {
        const N_SEARCHES: usize = 40;
        let (mut n_right, mut n_runs) = (0, 0);
        for seed in 0..N_SEARCHES {
            let mut test = Test { state: (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1, noise, n_runs: 0 };
            // Drawn from the prior.
            let chance = test.chance();
            let n = as_f64(n_places);
            let place = if is_bounded { chance * n } else { ((n + 1.0).ln() * chance).exp() - 1.0 };
            let place = (0..n_places).take_while(|index| as_f64(index + 1) <= place).count();
            let mut belief = Belief::new(n_places + 1, is_bounded, None);
            let mut n_fails = 0;
            while n_fails < 2 {
                let is_fail = test.is_fail(true);
                n_fails += usize::from(is_fail);
                belief.add(0, is_fail);
            }
            while belief.likeliest().1 < 0.95 {
                let index = belief.next();
                let is_fail = test.is_fail(index <= place);
                belief.add(index, is_fail);
            }
            n_right += usize::from(belief.likeliest().0 == (place..place + 1));
            n_runs += test.n_runs;
        }
        let bound = as_f64(n_places).log2() / capacity(noise);
        (as_f64(n_right) / as_f64(N_SEARCHES), as_f64(n_runs) / as_f64(N_SEARCHES) / bound)
    }

    #[test]
    fn a_search_of_unknown_rates_is_right_as_often_as_it_says() {
        use std::fmt::Write as _;
        let mut table = String::new();
        for (false_fails, false_passes) in [(0.1, 0.001), (0.001, 0.1), (0.1, 0.1), (0.3, 0.001), (0.001, 0.7)] {
            for is_bounded in [false, true] {
                let (right, runs) = measure(30, Noise { false_fails, false_passes }, is_bounded);

                writeln!(
                    table,
                    "{false_fails:5} {false_passes:5} {is_bounded:5}: {right:.2} right, {runs:.1} of the bound"
                )
                .unwrap();
            }
        }
        insta::assert_snapshot!(table, @r"
          0.1 0.001 false: 1.00 right, 1.8 of the bound
          0.1 0.001 true : 1.00 right, 1.9 of the bound
        0.001   0.1 false: 1.00 right, 1.9 of the bound
        0.001   0.1 true : 1.00 right, 2.2 of the bound
          0.1   0.1 false: 1.00 right, 1.8 of the bound
          0.1   0.1 true : 1.00 right, 2.0 of the bound
          0.3 0.001 false: 0.97 right, 2.0 of the bound
          0.3 0.001 true : 0.97 right, 2.1 of the bound
        0.001   0.7 false: 0.97 right, 2.2 of the bound
        0.001   0.7 true : 0.93 right, 2.4 of the bound
        ");
    }

    #[test]
    fn places_that_no_run_tells_apart_are_one_answer() {
        let mut belief = Belief::new(8, true, None);
        for _ in 0..6 {
            belief.add(2, true);
            belief.add(6, false);
        }
        belief.leave_out(3, &[0, 2, 6]);
        belief.leave_out(5, &[0, 2, 6]);
        // Index 4 is between two untestable revisions.
        let (places, probability) = belief.likeliest();
        assert_eq!(places, 2..6);
        assert!(probability > 0.95);
        assert_eq!(belief.interval(0.05), 2..6);
        assert!([2, 6].contains(&belief.next()));
    }

    #[test]
    fn a_revision_that_was_tested_parts_two_stretches() {
        let mut belief = Belief::new(8, true, None);
        belief.leave_out(2, &[0, 4]);
        belief.leave_out(6, &[0, 4]);
        assert_eq!(belief.is_usable, [true, true, false, true, true, true, false, true]);
    }

    #[test]
    fn a_line_that_fails_everywhere_has_no_first_failure() {
        let mut belief = Belief::new(16, false, None);
        while belief.likeliest().1 < 0.95 {
            belief.add(belief.next(), true);
        }
        assert_eq!(belief.likeliest().0, 15..16);
    }

    #[test]
    fn the_rates_are_measured_on_the_way() {
        let noise = Noise { false_fails: 0.2, false_passes: 0.001 };
        let mut test = Test { state: 11, noise, n_runs: 0 };
        let mut belief = Belief::new(10, true, None);
        for round in 0..200 {
            let index = round % 10;
            belief.add(index, test.is_fail(index <= 4));
        }
        assert_eq!(belief.likeliest().0, 4..5);
        assert!((belief.noise().false_fails - 0.2).abs() < 0.08, "{:?}", belief.noise());
        assert!(belief.noise().false_passes < 0.03, "{:?}", belief.noise());
    }
}
