//! The words for the remaining time of a hunt.

use std::time::Duration;

use idd_base::{Pace, RemainingWork};
use idd_report::text::duration;

/// A shorter time is not printed.
const SHORTEST: Duration = Duration::from_secs(2);

/// "about 40 s", "at most 3 min 20 s" or "one pass over them at most 40 s"; empty if the time is short or unknown.
pub fn words(ahead: RemainingWork, n_jobs: usize, pace: &Pace) -> String {
    let Some(time) = pace.typical().map(|typical| ahead.time(n_jobs, typical)).filter(|time| *time >= SHORTEST) else {
        return String::new();
    };
    let time = duration(time.as_secs_f64().ceil());
    match ahead {
        RemainingWork::Bisecting { .. } => format!("about {time}"),
        RemainingWork::Galloping { .. } => format!("at most {time}"),
        RemainingWork::Reducing { .. } => format!("one pass over them at most {time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_long_enough_is_said_with_what_it_bounds() {
        let pace = |seconds: [u64; 3]| {
            let mut pace = Pace::default();
            for seconds in seconds {
                pace.add(Duration::from_secs(seconds));
            }
            pace
        };
        let bisecting = RemainingWork::Bisecting { n_candidates: 1000 };
        assert_eq!(words(bisecting, 1, &pace([8, 8, 8])), "about 1 min 20 s");
        assert_eq!(words(bisecting, 1, &Pace::default()), "");
        assert_eq!(words(bisecting, 1, &pace([0, 0, 0])), "");
        let galloping = RemainingWork::Galloping { distance: 4, n_revisions: 1024 };
        assert_eq!(words(galloping, 1, &pace([10, 10, 10])), "at most 2 min 20 s");
        let reducing = RemainingWork::Reducing { n_units: 30 };
        assert_eq!(words(reducing, 1, &pace([2, 2, 2])), "one pass over them at most 1 min 0 s");
    }
}
