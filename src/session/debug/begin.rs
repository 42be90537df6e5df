//! Where a walk begins: a recording is opened, or two versions are built and run.

use crate::debug::any_run::Walked;
use crate::debug::grounds::{Building, FailingStep};
use crate::debug::{DebugOrder, DebugWalk, any_run, asserted, passing, recent};
use crate::explain::change::LinesByPath;
use crate::explain::recorded_pair::PairedRuns;
use crate::explain::with_explainer;
use crate::recorded::order::ExplainOrder;
use crate::recorded::{self, failed};
use crate::slice::SliceDirection;
use crate::slice::criterion::{Criterion, CriterionSteps, is_in_line, of_line};
use crate::sources::RecordedSources;
use crate::{Context, Failure, Talk};
use idd_base::TreeId;
use idd_explain::feedback::table::StepTable;
use idd_explain::statements::Statements;
use idd_hunt::test_paths::is_test_path;
use idd_trace::run::Run as Outline;
use idd_trace::{Execution, Place, Step};
use idd_world::record::store;
use idd_world::repo::Location;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// A statement in a line that was changed lately is so much more suspicious.
const RECENT: f64 = 3.0;

/// A statement of a test is so much less suspicious than one of the code under test.
const OF_TEST: f64 = 0.2;

/// The last of the steps at which a failure is seen, and the last step before it that printed.
pub(super) fn last_output(run: &Outline, criteria: &[(Step, Step)]) -> (Step, Step) {
    let failure = criteria.iter().map(|(step, _)| *step).max().unwrap_or(Step::START);
    let before = run.said.iter().rev().map(|said| said.step).find(|step| *step < failure);
    (failure, before.unwrap_or(Step::START))
}

/// The run of a recording, its sources, and the file where the answers of a walk from the same failure are kept.
pub fn of_recording(order: &DebugOrder, location: &Location) -> Result<(DebugWalk, RecordedSources, PathBuf), Failure> {
    let mut recorded = recorded::open(&order.which, location)?;
    let mut sources = RecordedSources::new(location, &recorded.recording);
    let ended = recorded.traced().end;
    let compare = |other: &String| passing::compare(&recorded.name, &mut recorded.run, other, location);
    let other = order.passing.as_ref().map(compare).transpose()?;
    let (outline, statements) = any_run::outline(&mut recorded.run).map_err(|error| failed(&error))?;
    let (run, named, passing, lines) = match other {
        Some(other) => (other.run, other.named, Some(other.passing), Some(other.lines)),
        None => (outline, None, None, None),
    };
    let execution = recorded.run.execution();
    let find = |criterion: &Criterion, execution: &mut dyn Execution| {
        criterion.find(execution, ended, SliceDirection::Backward, &sources)
    };
    let steps = match (&order.from, ended, run.said.last()) {
        // The run was just played.
        (Some(Criterion::Line(file, line)), ..) => in_line(file, *line, &run, &statements)?.steps,
        (Some(criterion), ..) => find(criterion, execution)?.steps,
        // The program is content with itself, so what it printed is wrong.
        (None, Some(0), Some(said)) => vec![(said.step, Step(u32::MAX))],
        (None, ..) => find(&Criterion::Crash, execution).or_else(|_| find(&Criterion::End, execution))?.steps,
    };
    let place = store::directory(&location.session_directory()).join(&recorded.name);
    let (at, recording, process) = (place.clone(), recorded.recording.clone(), recorded.process);
    let output = last_output(&run, &steps);
    let graph = move || any_run::graph(&mut recorded::run(&at, &recording, process)?, output);
    let table = Arc::new(StepTable::new(&run, statements.of_steps.clone(), &statements.lines));
    let path = |file: &str| sources.find(file).map(|(path, _)| path);
    let prior = prior(&statements, path, &recent::lines(location, &recorded.recording), lines.as_ref());
    let assertions = asserted::assertions(&statements, &mut sources);
    let held = asserted::held(&assertions, &table, output.0);
    let building = Building::begin(
        graph,
        Arc::clone(&table),
        FailingStep { criteria: steps, prior, held, near: any_run::near(&recorded.run) },
    );
    let run = Walked::new(recorded.run, run, named);
    let mut walk = DebugWalk::of(run, statements, table, building, passing, output.0);
    walk.assertions = assertions;
    walk.tree = recorded.recording.tree.as_ref().and_then(|tree| tree.parse().ok());
    walk.expect(&order.expected)?;
    if order.from.is_none() && ended != Some(0) && walk.judged.is_empty() {
        walk.fail_assertion()?;
    }
    let kept = place.join(format!("walk-{}-{}{}.answers", recorded.process, walk.failure.0, walk.answered()));
    Ok((walk, sources, kept))
}

/// The steps of a line in a run that was played.
fn in_line(file: &str, line: u32, run: &Outline, statements: &Statements) -> Result<CriterionSteps, Failure> {
    let is_here = |place: &Option<Place>| place.as_ref().is_some_and(|place| is_in_line(place, file, line));
    let is_here: Vec<bool> = statements.places.iter().map(is_here).collect();
    let steps = (1..).map(Step).zip(statements.of_steps.iter().zip(&run.entries).skip(1));
    let steps = steps.filter(|(_, (statement, is_entry))| is_here[**statement as usize] && !**is_entry);
    of_line(file, line, steps.map(|(step, _)| step).collect())
}

/// How suspicious statements are before the first answer, where that is not 1.
///
/// - `path`: the path in the repository of a file, if it is known.
/// - `recent`: by path, the lines that were changed lately.
/// - `passed`: the lines that ran in a passing run, if there is one.
pub(super) fn prior(
    statements: &Statements,
    path: impl Fn(&str) -> Option<String>,
    recent: &LinesByPath,
    passed: Option<&HashSet<(Arc<str>, u32)>>,
) -> HashMap<u32, f64> {
    let mut paths: HashMap<&str, String> = HashMap::new();
    let mut prior = HashMap::new();
    for (number, place) in (0_u32..).zip(&statements.places) {
        let Some(place) = place else { continue };
        let path =
            paths.entry(&place.file).or_insert_with(|| path(&place.file).unwrap_or_else(|| place.file.to_string()));
        let is_recent = recent.get(path).is_some_and(|lines| lines.contains(&place.line));
        let is_only_here = passed.is_some_and(|lines| !lines.contains(&(Arc::clone(&place.file), place.line)));
        let reasons =
            [(is_recent, RECENT), (is_only_here, passing::ONLY_HERE), (is_test_path(path.as_bytes()), OF_TEST)];
        let factor: f64 = reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, factor)| factor).product();
        if reasons.into_iter().any(|(holds, _)| holds) {
            prior.insert(number, factor);
        }
    }
    prior
}

/// Builds and runs two versions, and has the failing one debugged.
pub fn of_versions<T>(
    order: &ExplainOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
    debug: impl FnOnce(DebugWalk, &ComparedVersions) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_explainer(order, location, context, talk, |explainer, desk| {
        let PairedRuns { failing, passing, failure, first } = explainer.both(desk)?;
        let mut walk = DebugWalk::new(failing, Some(passing), &[(failure, Step(u32::MAX))])?;
        let (changed, tree) = (explainer.changed.clone(), explainer.pair.failing.tree);
        walk.tree = Some(tree);
        walk.first = first;
        debug(walk, &ComparedVersions { changed, tree })
    })
}

/// What is known of two versions besides their runs.
pub struct ComparedVersions {
    /// The lines of the failing version that the change touches.
    pub changed: LinesByPath,
    /// The tree of the failing version.
    pub tree: TreeId,
}
