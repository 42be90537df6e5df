//! What is believed of a search whose test sometimes lies: where the failure came in, and how often the test fails or passes
//! without reason.
//!
//! Source: Waeber, Frazier and Henderson, *Bisection Search with Noisy Responses* (SIAM J. Control Optim. 2013), after Horstein
//! 1963; Ben-Or and Hassidim, *The Bayesian Learner is Optimal for Noisy Binary Search* (FOCS 2008) for the bound. Deviations: the two
//! rates of error are not given but believed as well, over a grid; and the next run is the one that tells most of the place,
//! which at equal rates is their median.

use std::ops::Range;

/// Rates that are considered. Above the last one a test says next to nothing.
const RATES: [f64; 10] = [0.001, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.27, 0.35, 0.45];

/// How firmly a rate that the user gives is believed, in runs.
const STRENGTH: f64 = 20.0;

/// The believed mean of a rate of which nothing is known, and how firmly.
const UNKNOWN: (f64, f64) = (0.25, 2.5);

/// How often a test lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// The share of runs without the failure's cause that fail all the same.
    pub false_fails: f64,
    /// The share of runs with it that pass.
    pub false_passes: f64,
}

impl Noise {
    /// How much one run speaks for the failure being there, in nats: negative for a pass.
    pub fn weight(self, is_fail: bool) -> f64 {
        if is_fail {
            ((1.0 - self.false_passes) / self.false_fails).ln()
        } else {
            (self.false_passes / (1.0 - self.false_fails)).ln()
        }
    }

    /// What one run tells at best, in bits: the capacity of the channel that a run of the test is.
    ///
    /// A search in n places needs at least log2(n) / capacity runs in the mean (Burnashev and Zigangirov 1974).
    pub fn capacity(self) -> f64 {
        let entropy = |p: f64| entropy(p) / std::f64::consts::LN_2;
        let told = |share: f64| {
            let p_fail = share * (1.0 - self.false_passes) + (1.0 - share) * self.false_fails;
            entropy(p_fail) - share * entropy(self.false_passes) - (1.0 - share) * entropy(self.false_fails)
        };
        (1..1000).map(|share| told(f64::from(share) / 1000.0)).fold(0.0, f64::max)
    }
}

/// In nats; 0 at both ends.
fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(p) + term(1.0 - p)
}

/// A line of revisions, newest first, and what is believed of it.
///
/// A *place* is the index of the oldest revision that has the failure's cause: all up to it have it, those behind have not. The
/// last place stands for "all have it".
#[derive(Debug, Clone)]
pub struct Belief {
    n_places: usize,
    rates: Vec<Noise>,
    /// The odds of each place under each pair of rates; sums to 1. All places of the first pair first.
    weights: Vec<f64>,
    /// Whether a revision may be run.
    is_usable: Vec<bool>,
}

impl Belief {
    /// Knows nothing of a line but that its newest revision fails.
    ///
    /// - `n_revisions`: of the line, at least two.
    /// - `all`: how likely it is that even the oldest one has the failure's cause; `None` if the line goes on to the root, and a
    ///   place is the less likely the further back it is, as a gallop has it.
    /// - `rate`: how often the test lies, if the user says so.
    pub fn new(n_revisions: usize, all: Option<f64>, rate: Option<f64>) -> Self {
        let rates: Vec<Noise> = RATES
            .iter()
            .flat_map(|false_fails| RATES.iter().map(|false_passes| (*false_fails, *false_passes)))
            .map(|(false_fails, false_passes)| Noise { false_fails, false_passes })
            .collect();
        let last = n_revisions - 1;
        let of_place = |place: usize| match all {
            Some(all) if place == last => all,
            Some(all) => (1.0 - all) / as_f64(last),
            None if place == last => 1.0 / as_f64(n_revisions),
            None => 1.0 / (as_f64(place + 1) * as_f64(place + 2)),
        };
        let prior = |index: usize| {
            let (mean, strength) = rate.map_or(UNKNOWN, |rate| (rate.clamp(0.005, 0.45), STRENGTH));
            let below = if index == 0 { 0.0 } else { f64::midpoint(RATES[index - 1], RATES[index]) };
            let above = RATES.get(index + 1).map_or(0.5, |next| f64::midpoint(*next, RATES[index]));
            let (a, b) = (mean * strength, (1.0 - mean) * strength);
            (above - below) * RATES[index].powf(a - 1.0) * (1.0 - RATES[index]).powf(b - 1.0)
        };
        let mut weights = Vec::with_capacity(rates.len() * n_revisions);
        for false_fails in 0..RATES.len() {
            for false_passes in 0..RATES.len() {
                let of_rates = prior(false_fails) * prior(false_passes);
                weights.extend((0..n_revisions).map(|place| of_rates * of_place(place)));
            }
        }
        let mut belief = Self { n_places: n_revisions, rates, weights, is_usable: vec![true; n_revisions] };
        belief.normalise();
        belief
    }

    fn normalise(&mut self) {
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
    }

    /// Takes a run of the revision at `index` in. Cost: the number of places, a hundred times.
    pub fn take_in(&mut self, index: usize, is_fail: bool) {
        for (weights, noise) in self.weights.chunks_mut(self.n_places).zip(&self.rates) {
            let (with, without) = chances(*noise, is_fail);
            let (newer, older) = weights.split_at_mut(index);
            newer.iter_mut().for_each(|weight| *weight *= without);
            older.iter_mut().for_each(|weight| *weight *= with);
        }
        self.normalise();
    }

    /// Takes back that the revision at `index` may be run: it cannot be tested.
    pub fn exclude(&mut self, index: usize) {
        self.is_usable[index] = false;
    }

    /// The odds of each place.
    pub fn places(&self) -> Vec<f64> {
        let mut places = vec![0.0; self.n_places];
        for weights in self.weights.chunks(self.n_places) {
            places.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        }
        places
    }

    /// The likeliest place and its odds; with the places behind it that no run can tell from it.
    pub fn likeliest(&self) -> (Range<usize>, f64) {
        let places = self.places();
        let mut best = (0..1, -1.0);
        let mut begin = 0;
        while begin < self.n_places {
            // A place is told from the next one by a run of the next revision.
            let mut end = begin + 1;
            while end < self.n_places && !self.is_usable[end] {
                end += 1;
            }
            let odds: f64 = places[begin..end].iter().sum();
            if odds > best.1 {
                best = (begin..end, odds);
            }
            begin = end;
        }
        best
    }

    /// The believed rates: their means.
    pub fn noise(&self) -> Noise {
        let mut mean = Noise { false_fails: 0.0, false_passes: 0.0 };
        for (weights, noise) in self.weights.chunks(self.n_places).zip(&self.rates) {
            let odds: f64 = weights.iter().sum();
            mean.false_fails += odds * noise.false_fails;
            mean.false_passes += odds * noise.false_passes;
        }
        mean
    }

    /// The revision whose run tells most of the place.
    pub fn next(&self) -> usize {
        // What a run would show, by place: with the failure's cause in the tree, and without.
        let (mut with, mut without, mut places) =
            (vec![0.0; self.n_places], vec![0.0; self.n_places], vec![0.0; self.n_places]);
        for (weights, noise) in self.weights.chunks(self.n_places).zip(&self.rates) {
            for (place, weight) in weights.iter().enumerate() {
                places[place] += weight;
                with[place] += weight * (1.0 - noise.false_passes);
                without[place] += weight * noise.false_fails;
            }
        }
        let unsure =
            |fails: f64, odds: f64| if odds > 0.0 { odds * entropy((fails / odds).clamp(0.0, 1.0)) } else { 0.0 };
        // At index 0 all places have it.
        let mut p_fail: f64 = with.iter().sum();
        let mut left: f64 = with.iter().zip(&places).map(|(fails, odds)| unsure(*fails, *odds)).sum();
        let mut best = (0, f64::MIN);
        for index in 0..self.n_places {
            let told = entropy(p_fail.clamp(0.0, 1.0)) - left;
            if self.is_usable[index] && told > best.1 + 1e-12 {
                best = (index, told);
            }
            p_fail += without[index] - with[index];
            left += unsure(without[index], places[index]) - unsure(with[index], places[index]);
        }
        best.0
    }
}

/// How likely a run shows what it shows with the failure's cause in the tree, and without.
fn chances(noise: Noise, is_fail: bool) -> (f64, f64) {
    if is_fail { (1.0 - noise.false_passes, noise.false_fails) } else { (noise.false_passes, 1.0 - noise.false_fails) }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of histories fit")]
fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test that lies, by a generator of its own.
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

    /// The share of right answers, and the mean number of runs, of `n_hunts` searches in so many places.
    fn measure(n_hunts: u64, n_places: usize, noise: Noise, is_galloped: bool) -> (f64, f64) {
        let (mut n_right, mut n_runs) = (0, 0);
        for seed in 0..n_hunts {
            let mut test = Test { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1, noise, n_runs: 0 };
            let place = (test.chance() * as_f64(n_places)) as usize;
            let mut belief = Belief::new(n_places + 1, (!is_galloped).then_some(0.01), None);
            // What reproduction has shown.
            belief.take_in(0, true);
            belief.take_in(0, true);
            while belief.likeliest().1 < 0.95 {
                let index = belief.next();
                let is_fail = test.is_fail(index <= place);
                belief.take_in(index, is_fail);
            }
            n_right += usize::from(belief.likeliest().0.start == place);
            n_runs += test.n_runs;
        }
        let n_hunts = as_f64(usize::try_from(n_hunts).unwrap());
        (as_f64(n_right) / n_hunts, as_f64(n_runs) / n_hunts)
    }

    #[test]
    fn table() {
        for n_places in [30, 300] {
            for rate in [0.05, 0.1, 0.3] {
                for (false_fails, false_passes) in [(rate, 0.001), (0.001, rate), (rate, rate)] {
                    let noise = Noise { false_fails, false_passes };
                    for is_galloped in [false, true] {
                        let (right, runs) = measure(200, n_places, noise, is_galloped);
                        let bound = as_f64(n_places).log2() / noise.capacity();
                        println!(
                            "{n_places} {noise:?} {is_galloped}: {right:.3} {runs:.1} bound {bound:.1} {:.2}",
                            runs / bound
                        );
                    }
                }
            }
        }
    }
}
