//! The statistics of measurements that are made in rounds.
//!
//! A round runs each version once, in random order. So load that comes and goes meets all of them, and one round gives one
//! number: the logarithm of a ratio. The centre of these numbers is compared with a border. The comparison uses ranks only, so
//! a single slow run counts no more than any other.
//!
//! Source: Wilcoxon 1945, the signed-rank test, and the interval of Hodges and Lehmann 1963 that belongs to it: order statistics
//! of the means of all pairs. Both suppose that the noise of a round is symmetric, which random order gives for two versions
//! with the same noise. The number of rounds is not fixed: there are a few looks, and the error is divided among them.

/// The looks: the number of rounds, and the error of each one-sided claim. The errors of all looks together are at most 1 %.
const LOOKS: [(usize, f64); 8] = [
    (8, 0.004),
    (12, 0.000_85),
    (17, 0.000_85),
    (24, 0.000_85),
    (34, 0.000_85),
    (48, 0.000_85),
    (70, 0.000_85),
    (100, 0.000_85),
];

/// The fewest rounds: with fewer, no order of the results would be unlikely enough.
pub const MIN_ROUNDS: usize = LOOKS[0].0;

/// The most rounds.
pub const MAX_ROUNDS: usize = LOOKS[LOOKS.len() - 1].0;

/// The probability that the interval of a whole series is right.
pub const CONFIDENCE: f64 = 0.99;

/// The side of a border on which the centre of a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Below it.
    Below,
    /// Above it.
    Above,
}

/// The centre of a series, with its interval; logarithms of ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The centre.
    pub middle: f64,
    /// The lower end; minus infinity if there are too few rounds.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of the opposite ratio.
    pub fn reversed(self) -> Self {
        Self { middle: -self.middle, low: -self.high, high: -self.low }
    }
}

/// What rounds gave so far, one number each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series(Vec<f64>);

impl Series {
    /// Adds a round.
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The number of rounds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a decision is due after this number of rounds.
    pub fn is_look(&self) -> bool {
        LOOKS.iter().any(|(n_rounds, _)| *n_rounds == self.len())
    }

    /// The side of `border` on which the centre is, if that is sure enough now.
    ///
    /// If it is asked at each look until there is an answer, an answer is wrong with a probability of at most 1 %.
    pub fn side(&self, border: f64) -> Option<Side> {
        let (_, error) = LOOKS.iter().find(|(n_rounds, _)| *n_rounds == self.len())?;
        let Interval { low, high, .. } = interval(&self.0, *error);
        if low > border {
            Some(Side::Above)
        } else if high < border {
            Some(Side::Below)
        } else {
            None
        }
    }

    /// The centre, with an interval that contains it with [`CONFIDENCE`] if the number of rounds was fixed before.
    pub fn interval(&self) -> Interval {
        interval(&self.0, (1.0 - CONFIDENCE) / 2.0)
    }
}

/// The median of the means of all pairs, and the interval whose ends have this error, each.
fn interval(values: &[f64], error: f64) -> Interval {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (nth, value) in values.iter().enumerate() {
        means.extend(values[nth..].iter().map(|other| f64::midpoint(*value, *other)));
    }
    means.sort_unstable_by(f64::total_cmp);
    let n_means = means.len();
    if n_means == 0 {
        return Interval { middle: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let middle = f64::midpoint(means[(n_means - 1) / 2], means[n_means / 2]);
    match below(values.len(), error) {
        0 => Interval { middle, low: f64::NEG_INFINITY, high: f64::INFINITY },
        n_outside => Interval { middle, low: means[n_outside - 1], high: means[n_means - n_outside] },
    }
}

/// The largest k for which the sum of the positive ranks of `n` rounds is below k with at most this probability.
fn below(n: usize, error: f64) -> usize {
    // The share of the signs with each sum.
    let mut shares = vec![0.0; n * (n + 1) / 2 + 1];
    shares[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..shares.len()).rev() {
            shares[sum] = 0.5 * (shares[sum] + if sum >= rank { shares[sum - rank] } else { 0.0 });
        }
    }
    let mut left = error;
    shares
        .iter()
        .take_while(|share| {
            left -= **share;
            left >= 0.0
        })
        .count()
}

/// The median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { 0.0 } else { f64::midpoint(values[(n - 1) / 2], values[n / 2]) }
}

/// A sequence of random numbers that its seed determines.
///
/// Source: Steele, Lea and Flood 2014, `SplitMix64`.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Shuffles a few items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.next() % (last as u64 + 1);
            items.swap(last, usize::try_from(other).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests;
