//! Goes to a step of the run that is not recommended: by its line, its function, the text of a value, or what it writes.

use crate::Failure;
use crate::debug::any_run::SearchTarget;
use crate::debug::calls::{CallIndex, Siblings};
use crate::debug::{DebugWalk, StepJudge};
use crate::recorded::failed;
use idd_explain::feedback::table::StepTable;
use idd_trace::{SearchOutcome, Step, TimeDirection};
use std::time::Instant;

/// What a person goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeekTarget {
    /// A run of a line: the file, as a whole or as its last part; and the number of the line.
    Line(String, u32),
    /// A call of a function.
    Function(String),
    /// A step that writes a value or calls a function whose text has this part.
    Text(String),
    /// A step that writes a variable: its name, its address, and how many bytes.
    Write(String, u64, u64),
    /// The same iteration or call, before or after.
    Beside,
}

/// A wish to go to another step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seek {
    /// What is gone to; `None` for the same as the last time.
    pub target: Option<SeekTarget>,
    /// The direction; `None` for forward, and backward if nothing is there.
    pub time: Option<TimeDirection>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct SeekResult {
    /// The step; `None` if nothing was.
    pub step: Option<Step>,
    /// What a person should know.
    pub note: Option<String>,
}

/// Goes to steps, and remembers to which ones last.
#[derive(Debug, Default)]
pub struct StepSeeker {
    /// What was counted.
    pub siblings: Siblings,
    last: Option<SeekTarget>,
    /// Where the last search was stopped, its direction, and the step from which it began.
    stopped: Option<(Step, TimeDirection, Step)>,
}

impl StepSeeker {
    /// Goes from a step to another one.
    ///
    /// Cost: for a line, a function and an iteration a look at each step in between; for a text or a write, plays these steps,
    /// until `person` stops it.
    pub fn seek(
        &mut self,
        walk: &mut DebugWalk,
        Seek { target, time }: Seek,
        from: Step,
        person: &mut dyn StepJudge,
    ) -> Result<SeekResult, Failure> {
        let stopped = self.stopped.take().filter(|_| target.is_none());
        let Some(target) = target.or_else(|| self.last.clone()) else {
            let note = Some("nothing was searched for yet".to_owned());
            return Ok(SeekResult { step: None, note });
        };
        self.last = Some(target.clone());
        let directions = match time {
            Some(time) => vec![time],
            None => vec![TimeDirection::Forward, TimeDirection::Backward],
        };
        for direction in &directions {
            // A search that was stopped goes on where it was.
            let begin = match stopped {
                Some((reached, time, begin)) if time == *direction && begin == from => reached,
                _ => from,
            };
            match self.find(walk, &target, begin, *direction, person)? {
                SearchOutcome::Found(step) => {
                    let is_other_way = time.is_none() && *direction == TimeDirection::Backward;
                    let note = is_other_way
                        .then(|| format!("{}: this is the last one before", nothing(&target, TimeDirection::Forward)));
                    return Ok(SeekResult { step: Some(step), note });
                }
                SearchOutcome::Stopped(step) => {
                    self.stopped = Some((step, *direction, from));
                    let key = if *direction == TimeDirection::Forward { 'n' } else { 'N' };
                    let note = format!("stopped at step {}, nothing found yet: {key} goes on", step.0);
                    return Ok(SeekResult { step: None, note: Some(note) });
                }
                SearchOutcome::Nothing => {}
            }
        }
        let note = match time {
            Some(time) => nothing(&target, time),
            None => nowhere(&target),
        };
        Ok(SeekResult { step: None, note: Some(note) })
    }

    fn find(
        &self,
        walk: &mut DebugWalk,
        target: &SeekTarget,
        from: Step,
        time: TimeDirection,
        person: &mut dyn StepJudge,
    ) -> Result<SearchOutcome, Failure> {
        let wanted = match target {
            SeekTarget::Line(file, line) => {
                let statements = &walk.statements;
                let is_wanted: Vec<bool> = statements
                    .places
                    .iter()
                    .map(|place| place.as_ref().is_some_and(|place| place.line == *line && is_file(&place.file, file)))
                    .collect();
                let entries = &walk.run.outline().entries;
                let is_line = |step: Step| {
                    is_wanted[walk.table.statement(step) as usize]
                        && !entries.get(step.0 as usize).is_some_and(|is| *is)
                };
                return Ok(scan(&walk.table, from, time, &is_line));
            }
            SeekTarget::Function(name) => {
                let is_wanted: Vec<bool> =
                    walk.statements.functions.iter().map(|function| is_function(function, name)).collect();
                let entries = &walk.run.outline().entries;
                let is_entry = |step: Step| {
                    entries.get(step.0 as usize).is_some_and(|is| *is) && is_wanted[walk.table.statement(step) as usize]
                };
                return Ok(scan(&walk.table, from, time, &is_entry));
            }
            SeekTarget::Beside => {
                let found = self.calls(walk).beside(from, time).map(|step| walk.table.shown(step));
                return Ok(found.map_or(SearchOutcome::Nothing, SearchOutcome::Found));
            }
            SeekTarget::Text(text) => SearchTarget::Text(text),
            SeekTarget::Write(name, address, size) => SearchTarget::Write(name, (*address, *size)),
        };
        let begin = Instant::now();
        let table = &walk.table;
        let shown = |step: Step| table.shown(step);
        let mut is_stopped = |at: Step| person.stops(at, begin.elapsed());
        walk.run.search(wanted, from, time, &shown, &mut is_stopped).map_err(|error| failed(&error))
    }

    /// The calls and loops of a walk.
    pub fn calls<'c>(&'c self, walk: &'c DebugWalk) -> CallIndex<'c> {
        CallIndex {
            table: &walk.table,
            run: walk.run.outline(),
            statements: &walk.statements,
            siblings: &self.siblings,
        }
    }
}

/// The nearest step in a direction that a person looks at for one that is wanted.
fn scan(table: &StepTable, from: Step, time: TimeDirection, is_wanted: &dyn Fn(Step) -> bool) -> SearchOutcome {
    let n_steps = u32::try_from(table.shown.len()).unwrap_or(u32::MAX);
    let found = match time {
        TimeDirection::Forward => {
            (from.0 + 1..n_steps).map(Step).find(|step| is_wanted(*step) && table.shown(*step) > from)
        }
        TimeDirection::Backward => (1..n_steps.min(from.0.saturating_add(1)))
            .rev()
            .map(Step)
            .find(|step| is_wanted(*step) && table.shown(*step) < from),
    };
    found.map_or(SearchOutcome::Nothing, |step| SearchOutcome::Found(table.shown(step)))
}

/// Whether the name of a file is this one, or ends with it after a slash.
fn is_file(file: &str, name: &str) -> bool {
    file == name || file.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
}

/// Whether the name of a function is this one, with or without its class and its parameters.
fn is_function(function: &str, name: &str) -> bool {
    let bare = function.split('(').next().unwrap_or(function);
    let inner =
        |whole: &str| whole.strip_suffix(name).is_some_and(|before| before.ends_with("::") || before.ends_with('.'));
    !name.is_empty() && (function == name || bare == name || inner(bare) || inner(function))
}

fn named(target: &SeekTarget) -> String {
    match target {
        SeekTarget::Line(file, line) => format!("run of {file}:{line}"),
        SeekTarget::Function(name) => format!("call of {name}"),
        SeekTarget::Text(text) => format!("match of /{text}"),
        SeekTarget::Write(name, ..) => format!("write of {name}"),
        SeekTarget::Beside => "iteration or call of the same line".to_owned(),
    }
}

fn nothing(target: &SeekTarget, time: TimeDirection) -> String {
    let when = if time == TimeDirection::Forward { "later" } else { "earlier" };
    format!("no {when} {}", named(target))
}

/// What is said if there is nothing in the whole run.
fn nowhere(target: &SeekTarget) -> String {
    let hint = match target {
        SeekTarget::Function(name) => format!("; /{name} looks at functions of libraries, too"),
        _ => String::new(),
    };
    format!("no {} before or after this step{hint}", named(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debug::calls::example;

    #[test]
    fn files_and_functions_are_named_in_part() {
        assert!(is_file("src/a.c", "a.c") && is_file("a.c", "a.c") && is_file("/x/src/a.c", "src/a.c"));
        assert!(!is_file("ba.c", "a.c") && !is_file("a.c", "src/a.c"));
        assert!(is_function("n::List::add(int)", "add") && is_function("n::List::add(int)", "List::add"));
        assert!(is_function("add", "add") && !is_function("padd", "add") && !is_function("add", ""));
    }

    #[test]
    fn lines_are_found_in_both_directions_by_the_steps_that_are_shown() {
        let (table, run, _) = example();
        let is_entry = |step: Step| run.entries[step.0 as usize];
        let find = |from: u32, time: TimeDirection| scan(&table, Step(from), time, &is_entry);
        // An entry is shown as its call, and the call that one stands at is not found again.
        assert_eq!(find(1, TimeDirection::Forward), SearchOutcome::Found(Step(2)));
        assert_eq!(find(2, TimeDirection::Forward), SearchOutcome::Found(Step(6)));
        assert_eq!(find(6, TimeDirection::Forward), SearchOutcome::Nothing);
        assert_eq!(find(10, TimeDirection::Backward), SearchOutcome::Found(Step(6)));
        assert_eq!(find(6, TimeDirection::Backward), SearchOutcome::Found(Step(2)));
        assert_eq!(find(2, TimeDirection::Backward), SearchOutcome::Nothing);
    }

    #[test]
    fn what_is_not_found_is_named() {
        let line = SeekTarget::Line("a.c".to_owned(), 7);
        assert_eq!(nothing(&line, TimeDirection::Forward), "no later run of a.c:7");
        assert_eq!(nowhere(&line), "no run of a.c:7 before or after this step");
        let call = SeekTarget::Function("f".to_owned());
        assert_eq!(nowhere(&call), "no call of f before or after this step; /f looks at functions of libraries, too");
    }
}
