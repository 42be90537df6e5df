//! Goes to a step of the run that is not recommended: by its line, its function, the text of a value, or what it writes.

use crate::debug::calls::{Calls, Siblings};
use crate::debug::walked::Wanted;
use crate::debug::{Person, Walk};
use crate::failure::Failure;
use crate::recorded::failed;
use idd_explain::feedback::table::Table;
use idd_trace::step::Step;
use idd_trace::walk::{Sought, Time};
use std::time::Instant;

/// What a person goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
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
    pub target: Option<Target>,
    /// The direction; `None` for forward, and backward if nothing is there.
    pub time: Option<Time>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The step; `None` if nothing was.
    pub step: Option<Step>,
    /// What a person should know.
    pub note: Option<String>,
}

/// Goes to steps, and remembers to which ones last.
#[derive(Debug, Default)]
pub struct Seeker {
    /// What was counted.
    pub siblings: Siblings,
    last: Option<Target>,
    /// Where the last search was stopped, its direction, and the step from which it began.
    stopped: Option<(Step, Time, Step)>,
}

impl Seeker {
    /// Goes from a step to another one.
    ///
    /// Cost: for a line, a function and an iteration a look at each step in between; for a text or a write, plays these steps,
    /// until `person` stops it.
    pub fn seek(
        &mut self,
        walk: &mut Walk,
        Seek { target, time }: Seek,
        from: Step,
        person: &mut dyn Person,
    ) -> Result<Found, Failure> {
        let stopped = self.stopped.take().filter(|_| target.is_none());
        let Some(target) = target.or_else(|| self.last.clone()) else {
            let note = Some("nothing was searched for yet".to_owned());
            return Ok(Found { step: None, note });
        };
        self.last = Some(target.clone());
        let directions = match time {
            Some(time) => vec![time],
            None => vec![Time::Forward, Time::Backward],
        };
        for direction in &directions {
            // A search that was stopped goes on where it was.
            let begin = match stopped {
                Some((reached, time, begin)) if time == *direction && begin == from => reached,
                _ => from,
            };
            match self.find(walk, &target, (begin, *direction), person)? {
                Sought::Found(step) => {
                    let is_other_way = time.is_none() && *direction == Time::Backward;
                    let note = is_other_way
                        .then(|| format!("{}: this is the last one before", nothing(&target, Time::Forward)));
                    return Ok(Found { step: Some(step), note });
                }
                Sought::Stopped(step) => {
                    self.stopped = Some((step, *direction, from));
                    let key = if *direction == Time::Forward { 'n' } else { 'N' };
                    let note = format!("stopped at step {}, nothing found yet: {key} goes on", step.0);
                    return Ok(Found { step: None, note: Some(note) });
                }
                Sought::Nothing => {}
            }
        }
        let note = match time {
            Some(time) => nothing(&target, time),
            None => nowhere(&target),
        };
        Ok(Found { step: None, note: Some(note) })
    }

    fn find(
        &self,
        walk: &mut Walk,
        target: &Target,
        (from, time): (Step, Time),
        person: &mut dyn Person,
    ) -> Result<Sought, Failure> {
        let wanted = match target {
            Target::Line(file, line) => {
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
                return Ok(scan(&walk.table, (from, time), &is_line));
            }
            Target::Function(name) => {
                let is_wanted: Vec<bool> =
                    walk.statements.functions.iter().map(|function| is_function(function, name)).collect();
                let entries = &walk.run.outline().entries;
                let is_entry = |step: Step| {
                    entries.get(step.0 as usize).is_some_and(|is| *is) && is_wanted[walk.table.statement(step) as usize]
                };
                return Ok(scan(&walk.table, (from, time), &is_entry));
            }
            Target::Beside => {
                let found = self.calls(walk).beside(from, time).map(|step| walk.table.shown(step));
                return Ok(found.map_or(Sought::Nothing, Sought::Found));
            }
            Target::Text(text) => Wanted::Text(text),
            Target::Write(name, address, size) => Wanted::Write(name, (*address, *size)),
        };
        let begin = Instant::now();
        let table = &walk.table;
        let shown = |step: Step| table.shown(step);
        let mut is_stopped = |at: Step| person.stops(at, begin.elapsed());
        walk.run.search(wanted, (from, time), &shown, &mut is_stopped).map_err(|error| failed(&error))
    }

    /// The calls and loops of a walk.
    pub fn calls<'c>(&'c self, walk: &'c Walk) -> Calls<'c> {
        Calls { table: &walk.table, run: walk.run.outline(), statements: &walk.statements, siblings: &self.siblings }
    }
}

/// The nearest step in a direction that a person looks at for one that is wanted.
fn scan(table: &Table, (from, time): (Step, Time), is_wanted: &dyn Fn(Step) -> bool) -> Sought {
    let n_steps = u32::try_from(table.shown.len()).unwrap_or(u32::MAX);
    let found = match time {
        Time::Forward => (from.0 + 1..n_steps).map(Step).find(|step| is_wanted(*step) && table.shown(*step) > from),
        Time::Backward => (1..n_steps.min(from.0.saturating_add(1)))
            .rev()
            .map(Step)
            .find(|step| is_wanted(*step) && table.shown(*step) < from),
    };
    found.map_or(Sought::Nothing, |step| Sought::Found(table.shown(step)))
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

fn named(target: &Target) -> String {
    match target {
        Target::Line(file, line) => format!("run of {file}:{line}"),
        Target::Function(name) => format!("call of {name}"),
        Target::Text(text) => format!("match of /{text}"),
        Target::Write(name, ..) => format!("write of {name}"),
        Target::Beside => "iteration or call of the same line".to_owned(),
    }
}

fn nothing(target: &Target, time: Time) -> String {
    let when = if time == Time::Forward { "later" } else { "earlier" };
    format!("no {when} {}", named(target))
}

/// What is said if there is nothing in the whole run.
fn nowhere(target: &Target) -> String {
    let hint = match target {
        Target::Function(name) => format!("; /{name} looks at functions of libraries, too"),
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
        let find = |from: u32, time: Time| scan(&table, (Step(from), time), &is_entry);
        // An entry is shown as its call, and the call that one stands at is not found again.
        assert_eq!(find(1, Time::Forward), Sought::Found(Step(2)));
        assert_eq!(find(2, Time::Forward), Sought::Found(Step(6)));
        assert_eq!(find(6, Time::Forward), Sought::Nothing);
        assert_eq!(find(10, Time::Backward), Sought::Found(Step(6)));
        assert_eq!(find(6, Time::Backward), Sought::Found(Step(2)));
        assert_eq!(find(2, Time::Backward), Sought::Nothing);
    }

    #[test]
    fn what_is_not_found_is_named() {
        let line = Target::Line("a.c".to_owned(), 7);
        assert_eq!(nothing(&line, Time::Forward), "no later run of a.c:7");
        assert_eq!(nowhere(&line), "no run of a.c:7 before or after this step");
        let call = Target::Function("f".to_owned());
        assert_eq!(nowhere(&call), "no call of f before or after this step; /f looks at functions of libraries, too");
    }
}
