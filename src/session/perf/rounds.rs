//! Rounds of runs, until they decide something.

use crate::Failure;
use crate::perf::judge::{BorderSide, Interval, MAX_ROUNDS, Random, Series, clear_side, is_near, median};
use crate::perf::places::{AttemptResult, BuiltCheckout, PerfCheckouts};
use idd_base::{Reason, TreeId};
use std::time::{Duration, Instant};

/// After this time, the next look at a revision is the last one.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The costs of some rounds: those of each version, in the order of the rounds.
#[derive(Debug, Clone, Default)]
pub struct Costs(Vec<Vec<f64>>);

impl Costs {
    /// The ratio of one version to another, as logarithms.
    pub fn ratio(&self, over: usize, under: usize) -> Interval {
        let mut series = Series::default();
        for (one, other) in self.0[over].iter().zip(&self.0[under]) {
            series.add((one / other).ln());
        }
        series.interval()
    }

    /// The median of a version.
    pub fn median(&self, nth: usize) -> f64 {
        median(&self.0[nth])
    }

    /// The number of rounds.
    pub fn n_rounds(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }
}

/// What rounds gave.
pub enum RoundResult {
    /// A decision, or none after the last round.
    Decided(Option<BorderSide>, Costs),
    /// The version with this index failed.
    Broken(usize, Reason, String),
    /// The user stopped it.
    Interrupted,
}

/// When rounds end.
#[derive(Clone, Copy)]
pub enum RoundLimit {
    /// When the centre is known to be on one side of this border, or after the last look. If the first run of each version
    /// and one round are both far on one side, they are enough.
    Side(f64),
    /// As [`RoundLimit::Side`] with this border below 0, but it is enough for the upper side that there is no large distance
    /// below 0.
    Glance(f64),
    /// After this number.
    Rounds(usize),
}

/// Runs of a version that ran before, in a row, after which it counts as broken if all of them fail.
const ATTEMPTS: usize = 3;

/// Runs the versions in `places` in rounds, each time in another order.
///
/// - `value`: the number of a round, from the logarithms of its costs.
pub fn run(
    places: &mut PerfCheckouts<'_>,
    versions: &mut [&mut BuiltCheckout],
    value: &dyn Fn(&[f64]) -> f64,
    until: RoundLimit,
) -> Result<RoundResult, Failure> {
    let begin = Instant::now();
    let mut random = Random::new(seed(versions.iter().map(|place| place.tree)));
    let mut order: Vec<usize> = (0..versions.len()).collect();
    let mut costs = Costs(vec![Vec::new(); versions.len()]);
    let mut series = Series::default();
    let firsts: Vec<f64> = versions.iter().map(|place| place.first.ln()).collect();
    loop {
        random.shuffle(&mut order);
        for nth in &order {
            let mut tried = places.run(versions[*nth])?;
            // A command that fails now and then can be measured all the same.
            for _ in 1..ATTEMPTS {
                if matches!(tried, AttemptResult::Broken(..)) && !costs.0[*nth].is_empty() {
                    tried = places.run(versions[*nth])?;
                }
            }
            match tried {
                AttemptResult::Done(cost) => costs.0[*nth].push(cost),
                AttemptResult::Broken(reason, why) => return Ok(RoundResult::Broken(*nth, reason, why)),
                AttemptResult::Interrupted => return Ok(RoundResult::Interrupted),
            }
        }
        let logs: Vec<f64> = costs.0.iter().filter_map(|costs| costs.last()).map(|cost| cost.ln()).collect();
        series.add(value(&logs));
        let glance = [value(&firsts), value(&logs)];
        let border = match until {
            RoundLimit::Rounds(n_rounds) if series.n_rounds() >= n_rounds => {
                return Ok(RoundResult::Decided(None, costs));
            }
            RoundLimit::Rounds(_) => continue,
            RoundLimit::Side(border) | RoundLimit::Glance(border) => border,
        };
        let is_glance = matches!(until, RoundLimit::Glance(_));
        let side = match series.n_rounds() {
            1 if is_glance && is_near(glance) => Some(BorderSide::Above),
            1 => clear_side(glance, border),
            _ if is_glance => series.rough_side(border),
            _ => series.side(border),
        };
        let is_last = series.n_rounds() >= MAX_ROUNDS || series.is_look() && begin.elapsed() > PATIENCE;
        if side.is_some() || is_last {
            return Ok(RoundResult::Decided(side, costs));
        }
    }
}

/// A number that depends on the versions only.
fn seed(trees: impl Iterator<Item = TreeId>) -> u64 {
    let text: Vec<String> = trees.map(|tree| tree.to_string()).collect();
    // Source: the hash of Fowler, Noll and Vo, FNV-1a.
    text.concat()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
