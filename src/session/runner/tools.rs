//! Messages about the programs that the commands execute.

use crate::runner::Runner;
use idd_base::count;
use idd_report::{Terminal, Untrusted};
use idd_world::cache::Observations;
use idd_world::tools::ProgramChange;
use std::collections::BTreeSet;

/// The maximum number of named programs; the others are counted.
const MAX_NAMED: usize = 3;

/// The message if executions cannot be seen.
const GUESSED: &str =
    "Not every program that the commands execute could be seen; the cache compares common tools instead.";

impl Runner<'_> {
    /// Reports, the first time only, that earlier results are not used because a program changed.
    pub(super) fn tell_of_changed_tools(&mut self) {
        if self.noticed.changed_tool.is_some() {
            return;
        }
        let change = self.answers.observations().refused().values().next().map(ToString::to_string);
        if let Some(change) = change {
            let printed = Terminal.line(&Untrusted::from(change.as_str()));
            self.talk.say(&format!("Earlier results are not used: {printed}."));
            self.noticed.changed_tool = Some(change);
        }
    }

    /// The notes of the report on the executed programs.
    pub fn notes_of_tools(&self) -> Vec<String> {
        let observations = self.answers.observations();
        let is_guessed = observations.executions().is_some_and(|executions| executions.has_gaps());
        refused(&observations).into_iter().chain(is_guessed.then(|| GUESSED.to_owned())).collect()
    }
}

/// How many earlier results were not used, with the changed programs; `None` if there were none.
fn refused(observations: &Observations) -> Option<String> {
    let refused = observations.refused();
    let changes: BTreeSet<&ProgramChange> = refused.values().collect();
    let mut named: Vec<String> = changes.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    if changes.len() > MAX_NAMED {
        named.push(count(changes.len() - MAX_NAMED, "more change"));
    }
    let (are, results) = (if refused.len() == 1 { "is" } else { "are" }, count(refused.len(), "earlier result"));
    (!refused.is_empty()).then(|| format!("{results} {are} not used: {}.", named.join(", ")))
}
