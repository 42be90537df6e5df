//! The rest of the tests: whether the fix breaks what worked before.

use crate::cli::session::Session;
use crate::cli::session::SessionError;
use crate::hunt::Probe;
use crate::hunt::event::Phase;
use crate::outcome::Ending;
use crate::outcome::Observation;
use crate::report::Suite;
use crate::revision::CommitId;
use crate::revision::TreeId;
use crate::world::run::is_telling;
use crate::world::run::normalise;
use crate::world::run::process::Words;
use std::collections::BTreeSet;
use std::time::Duration;

/// Runs the suite in fresh worktrees of the trees `without` and `with` the fix; see [`compare`].
///
/// `None` if it was interrupted, or the budget is used up. Cost: two probes.
pub fn check(
    session: &mut Session<'_>,
    (line, limit): (&Words, Duration),
    revision: CommitId,
    (without, with): (TreeId, TreeId),
) -> Result<Option<(Suite, Vec<String>)>, SessionError> {
    let mut observe = |tree: TreeId| {
        let probe = Probe { tree, revision, phase: Phase::Verify, is_claim: true, precheck: None };
        session.observe_with(line.clone(), limit, probe)
    };
    let Some(seen_without) = observe(without)? else { return Ok(None) };
    let Some(seen_with) = observe(with)? else { return Ok(None) };
    Ok(Some(compare(&seen_without, &seen_with)))
}

/// Compares the suite without and with the fix: worse if it ends wrong anew, or prints a failure it did not print before.
///
/// Also returns the first few lines that are new, normalised.
pub fn compare(without: &Observation, with: &Observation) -> (Suite, Vec<String>) {
    const MAX_LINES: usize = 5;
    let failures = |seen: &Observation| -> BTreeSet<String> {
        seen.output.lines().filter(|line| is_telling(line)).map(normalise).collect()
    };
    if with.ending == Ending::Exit(0) {
        return (Suite::Same, Vec::new());
    }
    let known = failures(without);
    let added: Vec<String> = failures(with).difference(&known).take(MAX_LINES).cloned().collect();
    if without.ending == Ending::Exit(0) || without.ending != with.ending || !added.is_empty() {
        return (Suite::Worse, added);
    }
    (Suite::Same, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Stage;
    use std::time::Duration;

    fn seen(code: i32, output: &str) -> Observation {
        Observation {
            stage: Stage::Test,
            ending: Ending::Exit(code),
            duration: Duration::ZERO,
            limit: Duration::ZERO,
            output: output.to_owned(),
            is_clean: true,
            is_tampered: false,
        }
    }

    #[track_caller]
    fn check(without: &Observation, with: &Observation, expected: Suite) {
        assert_eq!(compare(without, with).0, expected);
    }

    #[test]
    fn a_suite_that_passes_with_the_fix_is_never_worse() {
        check(&seen(1, "FAIL: a\n"), &seen(0, "ok\n"), Suite::Same);
        check(&seen(0, ""), &seen(0, ""), Suite::Same);
    }

    #[test]
    fn a_new_failure_is_worse_even_if_the_suite_failed_before() {
        check(&seen(0, ""), &seen(1, "FAIL: a\n"), Suite::Worse);
        check(&seen(1, "FAIL: a\n"), &seen(1, "FAIL: a\nFAIL: b\n"), Suite::Worse);
        check(&seen(1, "FAIL: a\nFAIL: b\n"), &seen(1, "FAIL: a\n"), Suite::Same);
    }
}
