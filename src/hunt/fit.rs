//! The test of fit: whether one rate for each side explains the runs of a noisy search, and what is done if not.
//!
//! A test that is noisy in a part of the history only has other rates there. A probability that was computed with one
//! rate for each side is then not to be trusted.

use crate::Noise;
use crate::belief::{Beta, RunCounts, contrast};
use std::ops::Range;

/// A test that has the wrong outcome in a larger share of its runs hardly tells revisions apart.
pub const MAX_RATE: f64 = 0.45;

/// The runs of one side differ more than one rate explains if [`spread`] exceeds this value: of a normal distribution,
/// it is exceeded in 5 % of the cases.
const MAX_SPREAD: f64 = 1.64;

/// A revision is told from another one, or from a test that fails in half of its runs, with this probability.
const SURE: f64 = 0.97;

/// A stretch of the line is on one side if so many more of its runs have the outcome of that side than have the other.
const MAJORITY: i64 = 8;

/// If two revisions are not told apart after this many runs of each, they are not run further.
const MAX_RUNS: u32 = 40;

/// Whether one rate for each side explains the runs, and is plausible.
///
/// - `sides`: the runs of both sides, by revision.
/// - `given`: the rate of passes that the user expects, if any. It is plausible, up to half of the way to 1.
pub fn is_fitting(noise: Noise, sides: [&[RunCounts]; 2], given: Option<f64>) -> bool {
    let max_passes = given.filter(|given| *given >= 0.5).map_or(MAX_RATE, |given| f64::midpoint(given, 1.0));
    let is_plausible = noise.false_fails <= MAX_RATE && noise.false_passes <= max_passes;
    is_plausible && sides.into_iter().all(|side| spread(side) <= MAX_SPREAD)
}

/// How much more the runs of single revisions differ than one rate for all of them explains, in standard deviations.
///
/// Source: Tarone 1979, *Testing the goodness of fit of the binomial distribution* (Biometrika 66), statistic Z. A
/// revision with one run only has a part in the rate.
fn spread(side: &[RunCounts]) -> f64 {
    let n = |runs: &RunCounts| f64::from(runs.n_fails + runs.n_passes);
    let (n_runs, n_fails): (f64, f64) =
        (side.iter().map(n).sum(), side.iter().map(|runs| f64::from(runs.n_fails)).sum());
    let rate = n_fails / n_runs;
    let pairs: f64 = side.iter().map(|runs| n(runs) * (n(runs) - 1.0)).sum();
    if n_fails == 0.0 || n_fails >= n_runs || pairs <= 0.0 {
        return 0.0;
    }
    let squares: f64 = side.iter().map(|runs| (f64::from(runs.n_fails) - n(runs) * rate).powi(2)).sum();
    (squares / (rate * (1.0 - rate)) - n_runs) / (2.0 * pairs).sqrt()
}

/// The places that the runs leave open if their rates differ from place to place.
///
/// From the likeliest place, it looks in both directions for revisions whose own runs show their side.
///
/// - `sides`: the runs of both sides of that place, by revision.
///
/// Source: Page 1954, *Continuous inspection schemes* (Biometrika 41): the cumulative sum, which begins again at 0.
pub fn open_places(sides: [&[RunCounts]; 2]) -> Range<usize> {
    fn shown<'r>(mut runs: impl Iterator<Item = &'r RunCounts>, sign: i64) -> Option<usize> {
        let mut sum = 0;
        runs.position(|runs| {
            sum = (sum + sign * (i64::from(runs.n_fails) - i64::from(runs.n_passes))).max(0);
            sum >= MAJORITY
        })
    }
    let [with, without] = sides;
    let newest = shown(with.iter().rev(), 1).map_or(0, |nth| with.len() - 1 - nth);
    let oldest = shown(without.iter(), -1).unwrap_or(without.len());
    newest..with.len() + oldest
}

/// A revision beside the named one, and those of its runs that were made to tell it apart.
#[derive(Debug, Clone, Copy)]
struct EndNeighbour {
    index: usize,
    runs: RunCounts,
}

impl EndNeighbour {
    /// Before any run, all shares of failing runs are equally likely.
    fn share(&self) -> Beta {
        Beta { fails: 1.0, passes: 1.0 }.with(self.runs)
    }
}

/// What the runs of the neighbours say.
#[derive(Debug, Clone, PartialEq)]
pub enum Separation {
    /// Run these next.
    Open(Vec<usize>),
    /// Each bad neighbour fails more often than each good one, which passes in most runs; the rates are their own.
    Apart(Noise),
    /// They are too similar.
    Alike,
}

/// The commits on both sides of the named one, told apart by their own runs alone.
///
/// Each is compared with each of the other side, so that the neighbour of the true answer is not taken for it. Cost:
/// at least 10 runs, at most 160.
#[derive(Debug, Clone)]
pub struct EndNeighbours {
    bads: Vec<EndNeighbour>,
    goods: Vec<EndNeighbour>,
}

impl EndNeighbours {
    /// - `bads`, `goods`: indices on the line.
    pub fn new(bads: Range<usize>, goods: Range<usize>) -> Self {
        let neighbour = |index| EndNeighbour { index, runs: RunCounts::default() };
        Self { bads: bads.map(neighbour).collect(), goods: goods.map(neighbour).collect() }
    }

    /// Adds a run.
    pub fn add(&mut self, index: usize, is_fail: bool) {
        let all = self.bads.iter_mut().chain(&mut self.goods);
        all.filter(|neighbour| neighbour.index == index).for_each(|neighbour| neighbour.runs.add(is_fail));
    }

    /// Leaves out a revision that cannot be tested.
    pub fn leave_out(&mut self, index: usize) {
        self.bads.retain(|neighbour| neighbour.index != index);
        self.goods.retain(|neighbour| neighbour.index != index);
    }

    /// Takes up what is least sure.
    ///
    /// - `rest`: the runs of the other revisions with the cause. If these fail in most runs and the bad neighbours do
    ///   not, the neighbours are where the noise begins.
    pub fn told(&self, rest: &[RunCounts]) -> Separation {
        let pairs = self
            .bads
            .iter()
            .flat_map(|bad| self.goods.iter().map(move |good| (contrast(bad.share(), good.share()), vec![bad, good])));
        let halves = self.goods.iter().map(|good| (1.0 - good.share().above(0.5), vec![good]));
        let least = pairs.chain(halves).min_by(|one, other| one.0.total_cmp(&other.0));
        let Some((chance, open)) = least.filter(|_| !self.bads.is_empty()) else { return Separation::Alike };
        let n_runs = |neighbour: &&EndNeighbour| neighbour.runs.n_fails + neighbour.runs.n_passes;
        if chance < SURE {
            let is_hopeless = chance <= 1.0 - SURE || open.iter().map(n_runs).min() >= Some(MAX_RUNS);
            let open = open.into_iter().map(|neighbour| neighbour.index).collect();
            return if is_hopeless { Separation::Alike } else { Separation::Open(open) };
        }
        let sum = |all: &mut dyn Iterator<Item = RunCounts>| all.fold(Beta { fails: 1.0, passes: 1.0 }, Beta::with);
        let (bad, good) = (self.bads.iter(), self.goods.iter());
        let bad = sum(&mut bad.map(|neighbour| neighbour.runs));
        let good = sum(&mut good.map(|neighbour| neighbour.runs));
        let rest = sum(&mut rest.iter().copied());
        if bad.mean() <= 0.5 && contrast(rest, bad) > 0.5 {
            return Separation::Alike;
        }
        Separation::Apart(Noise { false_fails: good.mean(), false_passes: 1.0 - bad.mean() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of revisions: "9/10" is nine failing runs of ten.
    fn runs(text: &str) -> Vec<RunCounts> {
        let one = |part: &str| {
            let (n_fails, n) = part.split_once('/').unwrap();
            let (n_fails, n): (u32, u32) = (n_fails.parse().unwrap(), n.parse().unwrap());
            RunCounts { n_fails, n_passes: n - n_fails }
        };
        text.split_whitespace().map(one).collect()
    }

    #[track_caller]
    fn check_fit(with: &str, without: &str, expected: bool) {
        let noise = Noise { false_fails: 0.2, false_passes: 0.2 };
        assert_eq!(is_fitting(noise, [&runs(with), &runs(without)], None), expected);
    }

    #[test]
    fn runs_of_revisions_with_different_rates_do_not_fit() {
        check_fit("8/10 7/10 1/1 9/10 0/1", "0/4 1/1 0/3", true);
        check_fit("20/20 1/1 4/10 5/10", "0/4 0/3", false);
        check_fit("3/3 2/2", "6/10 5/10 0/10 0/10", false);
        check_fit("1/1", "0/1", true);
    }

    #[test]
    fn an_implausible_rate_does_not_fit() {
        let noise = Noise { false_fails: 0.0, false_passes: 0.46 };
        assert!(!is_fitting(noise, [&runs("5/9"), &runs("0/9")], None));
        assert!(is_fitting(noise, [&runs("5/9"), &runs("0/9")], Some(0.5)));
    }

    #[test]
    fn a_stretch_of_the_other_outcome_ends_the_open_places() {
        let open = |with, without| open_places([&runs(with), &runs(without)]);
        assert_eq!(open("9/9 1/2 9/9 3/5 4/6", "2/5 0/1 0/9 0/9"), 2..7);
        assert_eq!(open("3/5", "2/5 0/1"), 0..3);
        // Eight revisions with a run each say as much as one with eight runs.
        assert_eq!(open("3/5", "2/4 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1"), 0..9);
    }

    /// What is told of the neighbours 1, 2 and 3, 4 with these shares of failing runs.
    fn told(shares: [u32; 5], rest: &str) -> Separation {
        let mut neighbours = EndNeighbours::new(1..3, 3..5);
        let (mut n_runs, rest) = ([0; 5], runs(rest));
        loop {
            let told = neighbours.told(&rest);
            let Separation::Open(next) = told else { return told };
            for index in next {
                // In ten runs, as many fail as the share says, spread over them.
                n_runs[index] += 1;
                neighbours.add(index, n_runs[index] * 7 % 10 < shares[index]);
            }
        }
    }

    #[test]
    fn each_bad_neighbour_is_told_from_each_good_one() {
        assert!(matches!(told([10, 7, 7, 3, 3], "9/9"), Separation::Apart(_)));
        // The true answer is the commit beside the named one.
        assert_eq!(told([10, 7, 3, 3, 3], "9/9"), Separation::Alike);
        assert_eq!(told([10, 7, 7, 7, 3], "9/9"), Separation::Alike);
        assert_eq!(told([10, 5, 5, 5, 5], "9/9"), Separation::Alike);
    }

    #[test]
    fn a_border_of_the_noise_is_not_the_commit() {
        assert_eq!(told([10, 3, 3, 0, 0], "9/9 2/3"), Separation::Alike);
        assert_eq!(told([10, 10, 10, 7, 7], "9/9"), Separation::Alike);
        // Here the test fails in three of ten runs in all later revisions.
        assert!(matches!(told([3, 3, 3, 0, 0], "3/9 1/3"), Separation::Apart(_)));
    }
}
