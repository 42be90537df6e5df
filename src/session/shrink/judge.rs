//! What counts as the same failure while an input shrinks.
//!
//! The program is the same in every probe, only its input changes. So numbers in messages may change, since they often
//! come from the input, but the statement of a crash must not.

use crate::hunt::event::Phase;
use crate::hunt::noise::Noise;
use crate::hunt::probe::Probe;
use crate::outcome::Ending;
use crate::outcome::Outcome;
use crate::revision::TreeId;
use crate::session::failure::Failure;
use crate::session::hunt::Hunt;
use crate::world::run::classify::classify;
use crate::world::run::classify::plain;
use crate::world::run::crash::place;

/// Runs that measure how often the test fails.
const N_MEASURED: u32 = 10;

/// The share of runs that fail although the cause is not in the input.
const FALSE_FAILS: f64 = 0.02;

/// Takes the statement of the failure into the criteria, if every failing run so far printed the same.
///
/// - `base`: the tree whose runs reproduced the failure.
pub fn refine(hunt: &mut Hunt<'_>, base: TreeId, is_noisy: bool) -> Result<(), Failure> {
    if is_noisy {
        expect_noise(hunt, base)?;
    }
    let probe = Probe::of(base, hunt.plan.bad, Phase::Reproduce);
    let Some(runs) = hunt.runner.reproduce(probe, &[0, 1])? else { return Ok(()) };
    let failing = runs.iter().filter(|run| classify(run, &hunt.runner.criteria) == Outcome::Fail);
    let places: Vec<Option<String>> = failing.map(|run| place(&plain(&run.output))).collect();
    let is_hang = hunt.runner.hunts_hang();
    let is_compared = hunt.plan.order.test.signature == crate::session::order::SignatureMode::Auto;
    if let [Some(first), rest @ ..] = &places[..]
        && rest.iter().all(|other| other.as_ref() == Some(first))
        && is_compared
        && !is_hang
    {
        hunt.runner.criteria.place = Some(first.clone());
    }
    let durations = runs.iter().filter(|run| run.ending != Ending::Timeout).map(|run| run.duration);
    let durations: Vec<_> = durations.collect();
    hunt.runner.expect_durations(&durations);
    Ok(())
}

/// Measures how often the test fails with the whole input, and makes verdicts of as many runs as that requires.
pub fn expect_noise(hunt: &mut Hunt<'_>, base: TreeId) -> Result<(), Failure> {
    let probe = Probe::of(base, hunt.plan.bad, Phase::Reproduce);
    let nths: Vec<u32> = (0..N_MEASURED).collect();
    let runs = hunt.runner.reproduce(probe, &nths)?.unwrap_or_default();
    let is_pass = |run: &&_| classify(run, &hunt.runner.criteria) != Outcome::Fail;
    let n_passes = runs.iter().filter(is_pass).count();
    let share = f64::from(u32::try_from(n_passes).unwrap_or(u32::MAX)) / f64::from(N_MEASURED);
    hunt.runner.noise = Some(Noise { false_fails: FALSE_FAILS, false_passes: share.clamp(0.1, 0.9) });
    Ok(())
}
