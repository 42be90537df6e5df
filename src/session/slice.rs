//! `git idd slice`: the steps on which a value depends, or that depend on it.

pub mod criterion;

use crate::recorded::{ProcessChoice, failed};
use crate::slice::criterion::{Criterion, CriterionSteps};
use crate::sources::RecordedSources;
use crate::{Failure, recorded, remark};
use idd_report::chop::Size;
use idd_trace::Step;
use idd_trace::slice::{self, Kinds};
use idd_trace::statements::ExecutedStatement;
use idd_world::repo::Location;
use std::collections::BTreeMap;

/// The direction of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceDirection {
    /// What the criterion depends on.
    Backward,
    /// What depends on the criterion.
    Forward,
}

/// A slice of a recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceOrder {
    /// The run.
    pub which: ProcessChoice,
    /// The direction.
    pub direction: SliceDirection,
    /// What the slice begins with.
    pub criterion: Criterion,
    /// The dependences that it follows.
    pub kinds: Kinds,
}

/// A line of the source that is in a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceLine {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function.
    pub function: String,
    /// The number of its steps in the slice.
    pub n_steps: u64,
    /// The number of all its steps.
    pub n_run: u64,
    /// The last step in the slice.
    pub last: Step,
}

/// A slice.
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    /// The recording.
    pub recording: String,
    /// The recorded revision.
    pub commit: String,
    /// Its direction.
    pub direction: SliceDirection,
    /// What it begins with, in words.
    pub criterion: String,
    /// The number of steps that it begins with.
    pub n_criteria: usize,
    /// The slice.
    pub size: Size,
    /// The whole run.
    pub run: Size,
    /// Its lines, by file and number.
    pub lines: Vec<SliceLine>,
    /// Notes: limits of the slice.
    pub remarks: Vec<String>,
}

/// Computes a slice of a recorded run; with the sources of the run.
pub fn run(order: &SliceOrder, location: &Location) -> Result<(Slice, RecordedSources), Failure> {
    let mut recorded = recorded::open(&order.which, location)?;
    let sources = RecordedSources::new(location, &recorded.recording);
    let ended = recorded.traced().end;
    let run = recorded.run.execution();
    let found = order.criterion.find(run, ended, order.direction, &sources)?;
    let CriterionSteps { steps, words, part } = found;
    if steps.is_empty() {
        return Err(Failure::error(format!("the run has no step of {words}")));
    }
    let mut remarks: Vec<String> = Vec::new();
    let graph = if order.kinds.potential {
        run.relevant_dependences((Step::START, Step::START)).map_err(|error| failed(&error))?.0
    } else {
        run.dependences(Step(u32::MAX)).map_err(|error| failed(&error))?
    };
    let members = match order.direction {
        SliceDirection::Backward => match &part {
            Some(part) => {
                let mut members = slice::backward(&graph, &part.criteria(&graph, order.kinds), order.kinds);
                members.insert(part.step);
                members
            }
            None => slice::backward(&graph, &steps, order.kinds),
        },
        SliceDirection::Forward => {
            let steps: Vec<Step> = steps.iter().map(|(step, _)| *step).collect();
            slice::forward(&graph, &steps, order.kinds)
        }
    };
    remarks.extend(remark::large(&graph));
    if order.direction == SliceDirection::Backward && !order.kinds.address && part.is_none() {
        remarks.extend(remark::addresses(&graph, &steps));
    }
    drop(graph);
    let (all, unknown) = run.statements(&[&members], &[]).map_err(|error| failed(&error))?;
    remarks.extend(remark::unknown(&unknown));
    let slice = Slice {
        recording: recorded.name,
        commit: recorded.recording.commit,
        direction: order.direction,
        criterion: words,
        n_criteria: steps.len(),
        size: size(&all, &|statement| statement.inside[0].0),
        run: size(&all, &|statement| statement.n_steps),
        lines: lines(&all, 0),
        remarks,
    };
    Ok((slice, sources))
}

/// The size of what `n_steps` counts of each statement.
pub fn size(all: &[ExecutedStatement], n_steps: &dyn Fn(&ExecutedStatement) -> u64) -> Size {
    let inside = || all.iter().filter(|statement| n_steps(statement) > 0);
    let lines: std::collections::BTreeSet<_> =
        inside().filter_map(|statement| statement.place.as_ref()).map(|place| (&place.file, place.line)).collect();
    Size { n_statements: inside().count(), n_lines: lines.len(), n_steps: inside().map(n_steps).sum() }
}

/// The lines of a set of steps, by its index in [`ExecutedStatement::inside`].
pub fn lines(all: &[ExecutedStatement], set: usize) -> Vec<SliceLine> {
    let mut lines: BTreeMap<(&str, u32), SliceLine> = BTreeMap::new();
    for statement in all {
        let (Some(place), (n_steps @ 1.., last)) = (&statement.place, statement.inside[set]) else { continue };
        let line = lines.entry((&place.file, place.line)).or_insert_with(|| SliceLine {
            file: place.file.to_string(),
            line: place.line,
            function: statement.function.to_string(),
            n_steps: 0,
            n_run: 0,
            last,
        });
        line.n_steps += n_steps;
        line.n_run += statement.n_steps;
        line.last = line.last.max(last);
    }
    lines.into_values().collect()
}
