//! Decides which observation answers which query.

use idd_base::{Ending, Observation, Reason, Stage, TimeLimits};

/// The requirements of a query, in addition to its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Whether it must have run in a freshly written worktree, as for a claim.
    pub clean: bool,
    /// The time limits of the probe.
    pub limits: TimeLimits,
}

impl Want {
    /// Whether `observation` is also the result of a new probe of its key.
    ///
    /// - A clean query needs a clean observation; another query takes both kinds.
    /// - A missing object, submodule or artifact answers nothing.
    /// - A timeout answers queries with at most its own limit: with more time the command might have ended.
    /// - Anything else answers queries whose limit is at least its own duration (with less time the command would have
    ///   been killed), and queries with its own limit, because a limit holds for each command and the duration is that
    ///   of build and test together.
    pub fn is_met_by(self, observation: &Observation) -> bool {
        // An artifact may have been made since.
        if observation.stage == Stage::Fetch {
            return false;
        }
        let limit = self.limits.of(observation.stage);
        let is_in_time = match observation.ending {
            Ending::Timeout => limit <= observation.limit,
            // The object may have been fetched since.
            Ending::NotRun(Reason::Object | Reason::Submodule) => false,
            Ending::NotRun(_) => true,
            Ending::Exit(_) | Ending::Signal(_) => limit >= observation.duration || limit >= observation.limit,
        };
        is_in_time && (observation.is_clean || !self.clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[track_caller]
    fn check(ending: Ending, duration: u64, limit: u64, is_clean: bool, want: (u64, bool), expected: bool) {
        let observation = Observation {
            stage: Stage::Test,
            ending,
            duration: Duration::from_secs(duration),
            limit: Duration::from_secs(limit),
            output: String::new(),
            reported: String::new(),
            is_clean,
            is_tampered: false,
            place: None,
        };
        let want = Want { limits: TimeLimits::both(Duration::from_secs(want.0)), clean: want.1 };
        assert_eq!(want.is_met_by(&observation), expected);
    }

    #[test]
    fn a_missing_artifact_answers_nothing() {
        let limit = Duration::from_secs(20);
        let seen = Observation {
            stage: Stage::Fetch,
            ending: Ending::Exit(1),
            duration: Duration::ZERO,
            limit,
            output: String::new(),
            reported: String::new(),
            is_clean: true,
            is_tampered: false,
            place: None,
        };
        assert!(!Want { limits: TimeLimits::both(limit), clean: false }.is_met_by(&seen));
        assert!(
            Want { limits: TimeLimits::both(limit), clean: false }
                .is_met_by(&Observation { stage: Stage::Test, ..seen })
        );
    }

    #[test]
    fn a_claim_is_answered_only_by_a_clean_observation() {
        for (is_clean, wants_clean, expected) in
            [(true, true, true), (true, false, true), (false, true, false), (false, false, true)]
        {
            check(Ending::Exit(0), 1, 20, is_clean, (20, wants_clean), expected);
            check(Ending::Timeout, 20, 20, is_clean, (20, wants_clean), expected);
        }
    }

    #[test]
    fn a_timeout_answers_up_to_its_own_limit() {
        for (wanted_limit, expected) in [(1, true), (19, true), (20, true), (21, false), (600, false)] {
            check(Ending::Timeout, 20, 20, true, (wanted_limit, false), expected);
        }
    }

    #[test]
    fn an_end_answers_from_its_duration_on() {
        for ending in [Ending::Exit(0), Ending::Exit(1), Ending::Signal(11)] {
            for (wanted_limit, expected) in [(1, false), (4, false), (5, true), (6, true), (20, true), (600, true)] {
                check(ending, 5, 20, true, (wanted_limit, false), expected);
            }
        }
    }

    #[test]
    fn build_and_test_that_together_took_longer_than_the_limit_answer_at_that_limit() {
        for (wanted_limit, expected) in [(19, false), (20, true), (30, true), (36, true)] {
            check(Ending::Exit(0), 35, 20, true, (wanted_limit, false), expected);
        }
    }

    #[test]
    fn what_was_not_run_answers_at_any_limit() {
        check(Ending::NotRun(Reason::Path), 3, 20, true, (1, true), true);
    }
}
