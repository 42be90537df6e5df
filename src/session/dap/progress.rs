//! The progress of a long search, for the client.

use crate::dap::search::SearchWaiter;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A shorter search has no progress.
const PATIENCE: Duration = Duration::from_millis(300);

/// The time between two messages.
const BETWEEN: Duration = Duration::from_millis(100);

/// Takes events to the client: a name and a body.
pub type Tell<'t> = &'t mut dyn FnMut(&str, Value);

/// Reports a search to the client.
pub struct SearchProgress<'p> {
    is_over: &'p dyn Fn() -> bool,
    /// `None` if the client does not show progress.
    tell: Option<Tell<'p>>,
    id: String,
    request: i64,
    begin: Instant,
    /// When the client was told last.
    told: Option<Instant>,
}

impl<'p> SearchProgress<'p> {
    /// A search that begins now.
    ///
    /// - `request`: the number of the request that began it, and that of the search.
    pub fn new(is_over: &'p dyn Fn() -> bool, tell: Option<Tell<'p>>, request: i64, number: u64) -> Self {
        Self { is_over, tell, id: format!("search-{number}"), request, begin: Instant::now(), told: None }
    }

    /// Ends the progress, if the client was told of it.
    pub fn end(self) {
        if let (Some(tell), Some(_)) = (self.tell, self.told) {
            tell("progressEnd", json!({"progressId": self.id}));
        }
    }
}

impl SearchWaiter for SearchProgress<'_> {
    fn is_over(&self) -> bool {
        (self.is_over)()
    }

    fn goes_on(&mut self, share: f64) {
        let Some(tell) = &mut self.tell else { return };
        let percentage = (share * 100.0).floor();
        match self.told {
            None if self.begin.elapsed() >= PATIENCE => {
                let body = json!({"progressId": self.id, "title": "Searching the recording", "requestId": self.request,
                    "cancellable": true, "percentage": percentage});
                tell("progressStart", body);
            }
            Some(told) if told.elapsed() >= BETWEEN => {
                tell("progressUpdate", json!({"progressId": self.id, "percentage": percentage}));
            }
            _ => return,
        }
        self.told = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_search_has_a_progress_and_a_short_one_has_none() {
        let mut told = Vec::new();
        let mut tell = |name: &str, body: Value| told.push((name.to_owned(), body));
        let mut short = SearchProgress::new(&|| false, Some(&mut tell), 7, 1);
        short.goes_on(0.5);
        short.end();
        let mut long = SearchProgress::new(&|| false, Some(&mut tell), 7, 2);
        long.begin = long.begin.checked_sub(PATIENCE).unwrap();
        long.goes_on(0.129);
        long.goes_on(0.2);
        long.told = long.told.and_then(|told| told.checked_sub(BETWEEN));
        long.goes_on(0.3);
        long.end();
        let names: Vec<&str> = told.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["progressStart", "progressUpdate", "progressEnd"]);
        assert_eq!((&told[0].1["percentage"], &told[0].1["requestId"]), (&json!(12.0), &json!(7)));
        assert_eq!((&told[1].1["percentage"], &told[2].1["progressId"]), (&json!(30.0), &json!("search-2")));
    }
}
