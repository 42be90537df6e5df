//! `git idd invariants`: what has to hold at each point of a failing run so that the failure follows, and the few
//! statements that matter for it.
//!
//! [`failing`] turns the failure into conditions, [`assertion`] an expression of the user. The engine is
//! [`explain::invariant`](idd_explain::invariant), [`wording`] puts its result into words, and [`solver`] asks an external
//! solver.

mod assertion;
mod failing;
mod passing_run;
mod recursion;
mod solver;
mod wording;

use crate::debug::expect::Expectation;
use crate::explain::change::LinesByPath;
use crate::recorded::order::ChopOrder;
use crate::recorded::{ProcessChoice, failed};
use crate::slice::criterion::{Criterion, is_fault};
use crate::sources::RecordedSources;
use crate::{Context, Failure, Talk, chop, explain, recorded};
use idd_explain::invariant::{InvariantLimits, abstraction};
use idd_explain::native::invariant::passing::PassingTerms;
use idd_explain::native::invariant::{AddressMode, Native};
use idd_report::invariants::Invariants;
use idd_report::{Explanation, Untrusted};
use idd_trace::logic::term::Terms;
use idd_trace::native::NativePlayer;
use idd_trace::native::symbolic::Symbolic;
use idd_trace::native::tape::EventTape;
use idd_world::repo::Location;
use std::ffi::OsString;

/// What is said of a crash that depends on nothing.
const OVERWRITTEN: &str = "The cause may be memory that was overwritten before, which is not followed. A build with \
                           `-fsanitize=address` can say where.";

/// How far decisions are followed if nothing else is said.
const DEPTH: u32 = 2;

/// The run that is examined.
#[derive(Debug, Clone, PartialEq)]
pub enum ExaminedRun {
    /// A recording, and the output that is right, if it is known.
    Recording(ProcessChoice, Option<Right>),
    /// The run of a test, or that of a finding.
    Test(Box<ChopOrder>),
}

/// Where the right output is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Right {
    /// In a file.
    File(OsString),
    /// In a recording.
    Recording(String),
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct InvariantsOrder {
    /// The run.
    pub subject: ExaminedRun,
    /// What the invariants say of addresses.
    pub mode: AddressMode,
    /// The failure, if it is not the first that is found.
    pub at: Option<Criterion>,
    /// An expression that should hold at a place, in place of the failure.
    pub assertion: Option<Expectation>,
    /// How far decisions are followed, see [`FailingState::depth`](idd_explain::invariant::FailingState::depth). Default:
    /// [`DEPTH`]; without a limit if there is a passing run to compare with.
    pub depth: Option<u32>,
    /// Whether the failing run is explained without a passing one.
    pub is_alone: bool,
    /// What limits the work.
    pub limits: InvariantLimits,
    /// Whether statements that are not necessary are left out.
    pub is_minimal: bool,
    /// The command of a solver that checks all invariants.
    pub solver: Option<String>,
}

/// Finds the abstract slice of a failing run.
///
/// Errors: the run cannot be read, or does not fail.
///
/// Cost: three passes over the trace, and the questions of the engine; a test is recorded first.
pub fn run(
    order: &InvariantsOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<Invariants, Failure> {
    let (which, expected, passing, changed, kept) = match &order.subject {
        ExaminedRun::Recording(which, right) => {
            let (expected, passing) = match right {
                Some(Right::File(file)) => (Some(chop::failure::expected(file)?), None),
                Some(Right::Recording(name)) => {
                    passing_run::check(which, name, location)?;
                    (Some(chop::failure::printed(name, location)?), Some(name.clone()))
                }
                None => (None, None),
            };
            (which.clone(), expected, passing, None, None)
        }
        ExaminedRun::Test(test) => {
            let (run, subject) = chop::recorded(test, location, context, talk)?;
            let which = ProcessChoice { recording: Some(run.name), process: None };
            let changed = Some(subject.changed).filter(|changed| !changed.is_empty());
            (which, run.expected, run.reference, changed, Some((subject.hunt, subject.failing)))
        }
    };
    let mut recorded = recorded::open(&which, location)?;
    let mut sources = RecordedSources::new(location, &recorded.recording);
    let ended = recorded.traced().end;
    let ending = recorded.recording.ending.clone();
    recorded.run.native()?;
    talk.say("Computing the invariants.");
    let mut remarks: Vec<Untrusted> = Vec::new();
    let mut beside = None;
    if let Some(name) = passing.filter(|_| !order.is_alone) {
        match passing_run::open(&mut recorded, &name, location)? {
            Ok(found) => beside = Some(found),
            Err(remark) => remarks.push(remark.as_str().into()),
        }
    }
    if let (ExaminedRun::Test(test), Some(changed), true) = (&order.subject, &changed, beside.is_some()) {
        remarks.extend(other_input(test, changed, recorded.run.native()?, &sources)?);
    }
    let depth = order.depth.unwrap_or(if beside.is_some() { u32::MAX } else { DEPTH });
    let asked =
        failing::find(order, recorded.run.native()?, ended, &ending, expected.as_deref(), beside.as_ref(), &sources)?;
    let asked = failing::endless(order, &which, ended, location)?.unwrap_or(asked);
    let dynamic = wording::dynamic(recorded.run.native()?, &asked).map_err(|error| failed(&error))?;
    let tape = EventTape::new(recorded.run.native()?).map_err(|error| failed(&error))?;
    let mut native = Native::new(Symbolic::new(tape), order.mode);
    native.potential = dynamic.graph;
    native.failing = Some(asked.step);
    native.skipped = dynamic.skipped;
    let compared = beside.as_ref().map(|beside| beside.name.as_str().into());
    if let Some(beside) = &mut beside {
        let is_first = order.at.is_none() && order.assertion.is_none();
        native.right = beside.right().filter(|_| is_first && asked.what != failing::FailingThing::Crash);
        let tape = EventTape::new(&mut beside.player).map_err(|error| failed(&error))?;
        native.passing = Some(PassingTerms::new(Symbolic::new(tape), beside.alignment.clone()));
    }
    let mut terms = Terms::default();
    let failing = failing::criterion(order, depth, &asked, &mut native, &mut terms)?;
    let found = abstraction(&mut terms, &mut native, &failing, order.limits);
    let found = found.map_err(|error| failed(&error))?;
    let result = wording::Result { failing: &failing, found: &found, changed: changed.as_ref() };
    let told = wording::tell(order, result, &mut native, &mut terms, &mut sources).map_err(|error| failed(&error))?;
    remarks.extend(told.remarks.iter().cloned());
    if expected.is_some() && asked.what == failing::FailingThing::Crash {
        remarks.push("The crash is the failure; the right output is not used.".into());
    }
    if found.failure.is_empty() {
        remarks.push("The failing statement uses no value whose origin is known: only decisions matter for it.".into());
        if told.slice.n_statements <= 1 && is_fault(ended) {
            remarks.push(OVERWRITTEN.into());
        }
    }
    let words = asked.words.clone();
    let verified = match &order.solver {
        Some(command) => Some(solver::verify(command, &mut terms, &found, &native, context, talk)?),
        None => None,
    };
    drop(native);
    let invariants = Invariants {
        recording: recorded.name.as_str().into(),
        commit: recorded.recording.commit.as_str().into(),
        ending: ending.as_str().into(),
        failure: words.as_str().into(),
        run: dynamic.run,
        dynamic: dynamic.slice,
        compared,
        verified,
        remarks,
        ..told
    };
    if let Some((hunt, version)) = kept {
        explain::keep(hunt, version, || Explanation::Invariants(invariants.clone()), location, talk);
    }
    Ok(invariants)
}

/// Remarks on files that the program reads and that the change touches.
fn other_input(
    test: &ChopOrder,
    changed: &LinesByPath,
    player: &mut NativePlayer,
    sources: &RecordedSources,
) -> Result<Vec<Untrusted>, Failure> {
    let command = test.command.as_ref().unwrap_or(&test.record.command);
    let files = chop::input::changed_files(player, sources, command, changed)?;
    let remark = |file: String| {
        format!(
            "The change touches {file}, which the program reads: both runs have other input. `--hold {file}` takes that of \
             the working tree for both."
        )
    };
    Ok(files.into_iter().map(|file| remark(file).as_str().into()).collect())
}

/// Whether a line is one of the change.
fn is_changed(changed: Option<&LinesByPath>, file: &str, line: u32) -> bool {
    changed.is_some_and(|changed| {
        changed.iter().any(|(path, lines)| {
            let before = file.strip_suffix(path.as_str());
            lines.contains(&line) && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    })
}
