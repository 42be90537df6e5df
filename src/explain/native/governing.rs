//! The decisions that a change governs where none of its lines runs.
//!
//! A change may add only an `else`, a `break`, a label or a brace, or a branch that the failing run does not take. Then no step stands in its lines; what it changed is
//! what a decision leads to: the one because of which the changed statement, or where the line has none the next one behind it, does not run.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::native::recorded::NativeRecorded;
use idd_trace::native::FunctionShape;
use idd_trace::{BlockId, Place, TraceError};

/// Statements that ran: functions by their number among those met, and statements by theirs.
type ExecutedStatements = HashSet<(u32, u32)>;

type FileLines = BTreeSet<u32>;

/// Places of the decisions, each with the changed line that it governs, from 1; each place once.
///
/// - `changed`: the changed lines of a file, as the compiler was given its name, and those of them in whose place the reference has more code.
///
/// Only functions and decisions that ran count, and changed lines of which nothing ran. A statement that depends on no decision is given itself. Where
/// the reference has more code there may have been a jump or a check: then the statement before is given, too.
///
/// Cost: one pass over the run.
pub fn governing(
    recorded: &mut NativeRecorded,
    changed: &mut dyn FnMut(&str) -> (FileLines, FileLines),
) -> Result<Vec<(Place, u32)>, TraceError> {
    let mut ran = ExecutedStatements::new();
    recorded.player.each_step(|_, frame| _ = ran.insert((frame.shape.index, frame.statement)))?;
    let mut found: Vec<(Place, u32)> = Vec::new();
    for shape in recorded.player.shapes() {
        let Some(entry) = shape.statements.first().and_then(|statement| statement.place.as_ref()) else { continue };
        let (lines, thinned) = changed(&entry.file);
        for (place, line) in of_function(shape, &entry.file, &lines, &thinned, &ran) {
            if found.iter().all(|(other, _)| *other != place) {
                found.push((place, line));
            }
        }
    }
    Ok(found)
}

fn of_function(
    shape: &FunctionShape,
    file: &Arc<str>,
    changed: &FileLines,
    thinned: &FileLines,
    ran: &ExecutedStatements,
) -> Vec<(Place, u32)> {
    let first = shape.statements[0].place.as_ref().map_or(u32::MAX, |place| place.line);
    if changed.range(first..).next().is_none() {
        return Vec::new();
    }
    let debug = shape.debug();
    let mut code: Vec<(u32, BlockId)> = Vec::new();
    for (number, block) in (0..).zip(&shape.body.function.blocks) {
        let places = block.instructions.iter().filter_map(|instruction| debug.place(instruction.location?));
        let places = places.filter(|place| place.file == *file && place.line > 0);
        code.extend(places.map(|place| (place.line, BlockId(number))));
    }
    code.sort_unstable();
    code.dedup();
    let last = code.last().map_or(0, |(line, _)| *line);
    let has_run = |line: u32| {
        let is_there = |place: &Place| place.line == line && place.file == *file;
        (0..).zip(&shape.statements).any(|(number, statement)| {
            statement.place.as_ref().is_some_and(is_there) && ran.contains(&(shape.index, number))
        })
    };
    let mut found = Vec::new();
    for line in changed.range(first..).filter(|line| **line <= last && !has_run(**line)) {
        let behind = code.partition_point(|(other, _)| other < line);
        if thinned.contains(line)
            && let Some((before, _)) = code[..behind].last().filter(|(before, _)| has_run(*before))
        {
            found.extend(first_of(shape, file, *before).map(|place| (place, *line)));
        }
        let next = code[behind..].first().map_or(0, |(line, _)| *line);
        for (_, block) in code.iter().filter(|(other, _)| *other == next) {
            found.extend(deciding(shape, *block, ran).into_iter().map(|place| (place, *line)));
        }
    }
    found
}

fn first_of(shape: &FunctionShape, file: &Arc<str>, line: u32) -> Option<Place> {
    let places = shape.statements.iter().filter_map(|statement| statement.place.as_ref());
    places.filter(|place| place.line == line && place.file == *file).min_by_key(|place| place.column).cloned()
}

/// Where those decisions on which a block depends stand that were made; its own beginning if it runs in any case.
fn deciding(shape: &FunctionShape, block: BlockId, ran: &ExecutedStatements) -> Vec<Place> {
    let has_run = |number: u32| ran.contains(&(shape.index, number));
    let dependence = &shape.flow.control_dependence[block.0 as usize];
    let is_meant = |block: BlockId| {
        let numbered = (0..).zip(&shape.statements).filter(move |(_, statement)| statement.block == block);
        numbered.filter(|(number, statement)| has_run(*number) && statement.place.is_some())
    };
    if dependence.is_empty() {
        return is_meant(block).next().and_then(|(_, statement)| statement.place.clone()).into_iter().collect();
    }
    let decisions = dependence.iter().filter_map(|(decision, _)| is_meant(*decision).last());
    decisions.filter_map(|(_, statement)| statement.place.clone()).collect()
}
