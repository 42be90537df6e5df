//! What counts as the same failure while an input shrinks.
//!
//! The program is the same in every probe, only its input changes. So numbers in messages may change, since they often
//! come from the input, but the statement of a crash must not.

use crate::Failure;
use crate::hunt::Hunt;
use crate::order::SignatureMode;
use idd_base::{Ending, Observation, Outcome, Signature, Stage, TreeId};
use idd_hunt::{Noise, Phase, Probe};
use idd_world::files;
use idd_world::process::CommandWords;
use idd_world::run::classify::{classify, crash, plain};
use idd_world::run::crash::place;
use idd_world::run::{classify, is_telling, normalise};

/// The command with which this program runs a test and prints the instruction of a crash.
pub const LOCATE_CRASH: &str = "locate-crash";

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
    if !is_noisy {
        prefer_errors(hunt, probe, &runs)?;
    }
    let is_compared = hunt.plan.order.test.signature == SignatureMode::Auto && !hunt.runner.hunts_hang();
    if is_compared {
        let places = places(hunt, &runs);
        hunt.runner.judging.criteria.place = common(&places);
        let is_crash = runs.first().is_some_and(|run| crash(run.ending).is_some() && run.stage == Stage::Test);
        if is_crash && places.iter().all(Option::is_none) {
            locate(hunt, probe)?;
        }
    }
    let durations = runs.iter().filter(|run| run.ending != Ending::Timeout).map(|run| run.duration);
    let durations: Vec<_> = durations.collect();
    hunt.runner.expect_durations(&durations);
    Ok(())
}

/// If no line of the output is known to report a failure, the last line counts; takes that of standard error in place
/// of one of standard output, which is often a result of the input.
fn prefer_errors(hunt: &mut Hunt<'_>, probe: Probe, runs: &[Observation]) -> Result<(), Failure> {
    let Some(signature) = hunt.runner.judging.criteria.signature.clone() else { return Ok(()) };
    let is_weak = signature.printed.as_ref().is_some_and(|line| !is_telling(line));
    if !is_weak || runs.iter().any(|run| run.stage != Stage::Test) {
        return Ok(());
    }
    hunt.runner.use_test(only_errors(&hunt.plan.commands.test));
    let seen = hunt.runner.reproduce(probe, &[0, 1])?.unwrap_or_default();
    hunt.runner.use_test(hunt.plan.commands.test.clone());
    let [one, other] = &seen[..] else { return Ok(()) };
    let Some(found) = classify::signature(one, other, hunt.runner.judging.criteria.mode) else { return Ok(()) };
    let Some(line) = found.line.clone().filter(|line| signature.line.as_ref() != Some(line)) else { return Ok(()) };
    let is_in_all = runs.iter().all(|run| run.output.lines().any(|printed| normalise(printed) == line));
    if is_in_all && classify::is_same_ending(found.ending, signature.ending) {
        let found = Signature { ending: signature.ending, ..found };
        hunt.runner.talk.say(&format!("The line from standard error counts: {found}."));
        hunt.runner.judging.criteria.signature = Some(found);
    }
    Ok(())
}

/// The test without its standard output.
fn only_errors(test: &CommandWords) -> CommandWords {
    let (script, rest) = match test {
        CommandWords::Shell(line) => ("exec /bin/sh -c \"$1\" >/dev/null", vec![line.clone()]),
        CommandWords::Argv(words) => ("exec \"$@\" >/dev/null", words.clone()),
    };
    CommandWords::Argv(["/bin/sh", "-c", script, "sh"].into_iter().map(Into::into).chain(rest).collect())
}

/// The statements of the failing runs.
fn places(hunt: &Hunt<'_>, runs: &[Observation]) -> Vec<Option<String>> {
    let failing = runs.iter().filter(|run| classify(run, &hunt.runner.judging.criteria) == Outcome::Fail);
    failing.map(|run| place(&plain(&run.output))).collect()
}

/// The statement of all runs, if they have the same.
fn common(places: &[Option<String>]) -> Option<String> {
    let (first, rest) = places.split_first()?;
    first.clone().filter(|_| rest.iter().all(|other| other == first))
}

/// Runs the test under a tracer from now on, if that says where it crashes.
fn locate(hunt: &mut Hunt<'_>, probe: Probe) -> Result<(), Failure> {
    const SIGNAL_ONLY: &str = "so each crash with the same signal counts as the same failure";
    let words = match &hunt.plan.commands.test {
        CommandWords::Shell(line) => vec!["/bin/sh".into(), "-c".into(), line.clone()],
        CommandWords::Argv(words) => words.clone(),
    };
    let program = files::this_program()?.into_os_string();
    hunt.runner.use_test(CommandWords::Argv([program, LOCATE_CRASH.into()].into_iter().chain(words).collect()));
    let runs = hunt.runner.reproduce(probe, &[0, 1])?.unwrap_or_default();
    let places = places(hunt, &runs);
    hunt.runner.judging.criteria.place = common(&places);
    if hunt.runner.judging.criteria.place.is_none() {
        let why = match &places[..] {
            [Some(one), Some(other)] => format!("Two runs crash at different instructions ({one} and {other})"),
            _ => "The instruction of the crash cannot be found (`ptrace` may be forbidden)".to_owned(),
        };
        // Without two runs, the user has interrupted it.
        if runs.len() > 1 {
            hunt.runner.talk.say(&format!("{why}, {SIGNAL_ONLY}."));
        }
        hunt.runner.use_test(hunt.plan.commands.test.clone());
    }
    Ok(())
}

/// Measures how often the test fails with the whole input, and makes verdicts of as many runs as that requires.
pub fn expect_noise(hunt: &mut Hunt<'_>, base: TreeId) -> Result<(), Failure> {
    let probe = Probe::of(base, hunt.plan.bad, Phase::Reproduce);
    let nths: Vec<u32> = (0..N_MEASURED).collect();
    let runs = hunt.runner.reproduce(probe, &nths)?.unwrap_or_default();
    let is_pass = |run: &&_| classify(run, &hunt.runner.judging.criteria) != Outcome::Fail;
    let n_passes = runs.iter().filter(is_pass).count();
    let share = f64::from(u32::try_from(n_passes).unwrap_or(u32::MAX)) / f64::from(N_MEASURED);
    hunt.runner.judging.noise = Some(Noise { false_fails: FALSE_FAILS, false_passes: share.clamp(0.1, 0.9) });
    Ok(())
}
