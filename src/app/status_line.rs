//! The status line: what a hunt does now, in the last row of the terminal. A thread draws it anew, so that its times go on
//! while a test runs.

use crate::columns;
use idd_report::text::rows;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

/// The time between two drawings.
const TICK: Duration = Duration::from_millis(500);

/// Goes to the beginning of the row, and clears it.
const CLEAR: &str = "\r\x1b[K";

/// What is done now.
#[derive(Debug, Clone)]
pub struct Now {
    /// The beginning of the hunt, as if all runs of the program for it had followed one another.
    pub begin: Instant,
    /// The phase, with what is left in it.
    pub what: String,
    /// The two ends of the range, in a search.
    pub ends: Option<RangeEnds>,
    /// The test that was started last.
    pub test: Option<RunningTest>,
    /// The shortest and the longest time that may be left.
    pub left: Option<(Duration, Duration)>,
}

/// The newest revision that passes, and the oldest one that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeEnds {
    /// Their places and days.
    pub places: String,
    /// Their days.
    pub days: String,
}

/// A test that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningTest {
    /// The place of the revision in history.
    pub name: String,
    /// When it was started.
    pub begin: Instant,
    /// Its time limit, of build and test each.
    pub limit: Duration,
}

/// The line.
pub struct StatusLine(Arc<Mutex<StatusShown>>);

/// What is on the terminal.
struct StatusShown {
    now: Now,
    /// Whether it is drawn again.
    is_on: bool,
}

impl StatusLine {
    /// A line in the last row of stderr, which is a terminal.
    pub fn new(now: Now) -> Self {
        let shown = Arc::new(Mutex::new(StatusShown { now, is_on: true }));
        locked(&shown).draw();
        let drawn = Arc::clone(&shown);
        let draw = move || {
            loop {
                thread::sleep(TICK);
                let shown = locked(&drawn);
                if !shown.is_on {
                    return;
                }
                shown.draw();
            }
        };
        // Without a thread, the line changes only with what is done.
        let _ = thread::Builder::new().name("status".to_owned()).spawn(draw);
        Self(shown)
    }

    /// Changes the line.
    pub fn set(&self, now: Now) {
        let mut shown = locked(&self.0);
        shown.now = now;
        shown.draw();
    }

    /// Does something while the line is not on the terminal.
    pub fn hidden<R>(&self, work: impl FnOnce() -> R) -> R {
        let shown = locked(&self.0);
        write(CLEAR);
        let done = work();
        shown.draw();
        done
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        locked(&self.0).is_on = false;
        write(CLEAR);
    }
}

impl StatusShown {
    fn draw(&self) {
        // In the last column, some terminals go to the next row, and what a person types stands behind the line.
        let columns = columns::of(io::stderr()).saturating_sub(3);
        write(&format!("{CLEAR}{}", self.now.row(Instant::now(), columns)));
    }
}

/// Writes to stderr. Progress that cannot be written is no error.
fn write(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn locked(shown: &Mutex<StatusShown>) -> MutexGuard<'_, StatusShown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Now {
    /// `Bisecting, 15 left (2026-03-01 to 2026-03-21): HEAD~37 0:04/0:20, 0:40 to 6:00 left, 1:03 in all`; what does not fit
    /// is left out.
    fn row(&self, at: Instant, columns: usize) -> String {
        let test = self.test.as_ref().map(|test| {
            let time = at.saturating_duration_since(test.begin);
            format!(": {} {}/{}", test.name, clock(time), clock(test.limit))
        });
        let left = match self.left {
            Some((_, Duration::MAX)) | None => String::new(),
            Some((least, most)) if clock(least) == clock(most) => format!(", {} left", clock(most)),
            Some((least, most)) => format!(", {} to {} left", clock(least), clock(most)),
        };
        let all = format!(", {} in all", clock(at.saturating_duration_since(self.begin)));
        let (what, test) = (&self.what, test.unwrap_or_default());
        let of = |ends: &str, all: &str| format!("{what} ({ends}){test}{left}{all}");
        let with_ends =
            self.ends.iter().flat_map(|RangeEnds { places, days }| [of(places, &all), of(days, &all), of(days, "")]);
        let mut rows = with_ends.chain([format!("{what}{test}{left}{all}")]);
        let fitting = rows.find(|row| rows::width(row) <= columns);
        fitting.unwrap_or_else(|| rows::cut(&format!("{what}{test}{left}{all}"), Some(columns)))
    }
}

/// `0:04`, `1:03`, `2:00:00`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_is_done_for_how_long_and_what_is_left() {
        let begin = Instant::now();
        let seconds = Duration::from_secs;
        let at = begin + seconds(63);
        let test = RunningTest { name: "HEAD~37".to_owned(), begin: begin + seconds(59), limit: seconds(20) };
        let ends = RangeEnds {
            places: "HEAD~120 2026-03-01 passes, HEAD~5 2026-05-04 fails".to_owned(),
            days: "2026-03-01 to 2026-05-04".to_owned(),
        };
        let what = "Bisecting, 15 left".to_owned();
        let left = Some((seconds(40), seconds(360)));
        let now = Now { begin, what, ends: Some(ends), test: Some(test), left };
        let row = |columns| now.row(at, columns);
        let places = "Bisecting, 15 left (HEAD~120 2026-03-01 passes, HEAD~5 2026-05-04 fails): HEAD~37 0:04/0:20, 0:40 to 6:00 left, 1:03 in all";
        assert_eq!(row(200), places);
        let days = "Bisecting, 15 left (2026-03-01 to 2026-05-04): HEAD~37 0:04/0:20, 0:40 to 6:00 left, 1:03 in all";
        assert_eq!(row(100), days);
        assert_eq!(row(90), days.strip_suffix(", 1:03 in all").unwrap());
        let without = "Bisecting, 15 left: HEAD~37 0:04/0:20, 0:40 to 6:00 left, 1:03 in all";
        assert_eq!(row(77), without);
        assert_eq!(row(20), "Bisecting, 15 left:…");
        let now = Now { test: None, left: Some((seconds(40), Duration::MAX)), ..now };
        assert_eq!(now.row(at, 77), "Bisecting, 15 left (2026-03-01 to 2026-05-04), 1:03 in all");
    }
}
