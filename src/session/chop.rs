//! `git idd chop`: the statements that depend on the input of a failing run and on which its failure depends.
//!
//! Source: Gupta, He, Zhang and Gupta 2005, "Locating Faulty Code Using Failure-Inducing Chops". The chop is the
//! intersection of the forward slice of the input and the backward slice of the first wrong output, or of the crash.
//! Statements of the backward slice that depend on no input are listed apart: the paper adds them, because a wrong
//! constant is in no forward slice.
//!
//! [`subject`] finds the versions, [`reduced`] makes the input smaller, [`failure`] finds the first wrong value, [`lines`]
//! ranks what is left. Beyond the paper, lines that passing runs with similar inputs ran come last.

pub(crate) mod failure;
pub(crate) mod input;
mod lines;
mod reduced;
pub(crate) mod subject;

use crate::chop::lines::Ranked;
use crate::chop::reduced::ReducedVersions;
use crate::chop::subject::RecordedSubject;
use crate::debug::any_run::Walked;
use crate::debug::passing::{self, PassingComparison};
use crate::record::Others;
use crate::recorded::order::{ChopOrder, RecordOrder, ReductionOrder};
use crate::recorded::{ProcessChoice, RecordedProcess, failed};
use crate::slice::{SliceLine, size};
use crate::sources::RecordedSources;
use crate::version::TreeVersion;
use crate::{Context, Failure, Interrupt, Talk, explain, record, recorded, remark};
use idd_base::{Ending, TreeId};
use idd_report::chop::Chop;
use idd_report::{Explanation, Status, Untrusted, chop};
use idd_trace::input::InputEntry;
use idd_trace::output::Escape;
use idd_trace::{Dependences, Execution, Step, Steps, slice};
use idd_world::record::store::Recording;
use idd_world::repo::Location;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;

/// The number of inputs that a remark names.
const MAX_NAMED: usize = 5;

/// Steps; the lines of longer runs are not ranked by the passing version's run.
const MAX_COMPARED: u32 = 5_000_000;

/// A recorded failing run.
pub(crate) struct FailingRecording {
    /// The name of the recording.
    pub name: String,
    recording: Recording,
    /// The right output, if there is one to compare with.
    pub expected: Option<Vec<failure::Symbol>>,
    /// The recording of the passing version, if there is one.
    pub reference: Option<String>,
    /// The exceptions that no code of the passing version caught.
    escapes: Vec<Escape>,
    /// The lines that each passing run with a similar input ran.
    passing: Vec<BTreeSet<(String, u32)>>,
}

impl FailingRecording {
    /// Whether the test ended without an error, and no right output is known.
    fn passes(&self) -> bool {
        self.expected.is_none() && self.recording.ending == Ending::Exit(0).to_string()
    }

    /// What it is compared with.
    fn right(&self) -> failure::ChopReference<'_> {
        failure::ChopReference { output: self.expected.as_deref(), escapes: &self.escapes }
    }

    /// The error if it passes.
    fn refusal(&self) -> Failure {
        passes(match &self.recording.reference {
            Some(ending) if *ending == self.recording.ending => "the test passes, so there is no failure to explain",
            _ => "the test passes under instrumentation, so there is no failure to explain",
        })
    }
}

/// Reduces the input of the failing run, records the run, and intersects its slices. The chop of a hunt is stored
/// beside it, for its reports.
///
/// Errors: the test passes; an input that was asked for is not read.
///
/// Cost: a reduction, see [`shrink`](crate::shrink::run), and two to four runs with instrumentation.
pub fn run(order: &ChopOrder, location: &Location, context: &Context, talk: &mut dyn Talk) -> Result<Chop, Failure> {
    let mut chopping = Chopping { order, location, context, interrupt: context.interrupt()?, talk };
    input::refuse_directories(&order.inputs, context)?;
    let subject = subject::find(order, location, context, chopping.talk)?;
    let (run, reduced) = chopping.recorded(&subject)?;
    chopping.leave()?;
    let chop = chopping.chop(&run, reduced, &subject)?;
    // The reports of the hunt know the version that it found, not one with a smaller input.
    explain::keep(subject.hunt, subject.failing, || Explanation::Chop(chop.clone()), location, talk);
    Ok(chop)
}

/// Records the failing run as it is, and the output of the passing version if there is one.
///
/// Errors: the test passes.
///
/// Cost: one or two runs with instrumentation.
pub(crate) fn recorded(
    order: &ChopOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<(FailingRecording, RecordedSubject), Failure> {
    let mut chopping = Chopping { order, location, context, interrupt: context.interrupt()?, talk };
    let subject = subject::find(order, location, context, chopping.talk)?;
    let run = chopping.record(&subject, &[])?;
    if run.passes() {
        return Err(run.refusal());
    }
    chopping.leave()?;
    Ok((run, subject))
}

struct Chopping<'c> {
    order: &'c ChopOrder,
    location: &'c Location,
    context: &'c Context,
    interrupt: Interrupt,
    talk: &'c mut dyn Talk,
}

impl Chopping<'_> {
    /// Nothing is left to clean up: from now on a signal ends the program at once, if it does nothing else.
    fn leave(&self) -> Result<(), Failure> {
        match &self.context.interrupt {
            None => self.interrupt.end_at_once(),
            Some(interrupt) => interrupt.check("stopped"),
        }
    }

    /// The recorded run, on a reduced input where that is possible.
    fn recorded(&mut self, subject: &RecordedSubject) -> Result<(FailingRecording, ReducedVersions), Failure> {
        let named = input::named_files(&self.order.inputs, self.context);
        if named.is_empty() { self.on_found_files(subject) } else { self.on_named_files(subject, &named) }
    }

    /// The run as it is; or, if the user names no input, on those files reduced that it has read.
    fn on_found_files(&mut self, subject: &RecordedSubject) -> Result<(FailingRecording, ReducedVersions), Failure> {
        let run = self.record(subject, &[])?;
        if run.passes() {
            return Err(run.refusal());
        }
        let names = self.order.inputs.clone();
        let whole =
            ReducedVersions { subject: subject.clone(), names, files: Vec::new(), passing: Vec::new(), remark: None };
        let reduction = self.order.reduction.as_ref();
        let reduction = reduction.filter(|_| self.order.inputs.is_empty() && self.order.expected.is_none());
        let Some(reduction) = reduction else { return Ok((run, whole)) };
        let mut recorded = open(&run.name, self.location)?;
        let sources = RecordedSources::new(self.location, &recorded.recording);
        let files = input::read_files(recorded.run.execution(), &sources, &subject.record.command, self.location)?;
        if files.is_empty() {
            return Ok((run, whole));
        }
        Ok(match self.reduced_run(subject, &files, reduction)? {
            Ok((run, reduced)) => (run, ReducedVersions { names: Vec::new(), ..reduced }),
            Err(remark) => (run, ReducedVersions { remark: Some(remark), ..whole }),
        })
    }

    /// The run on the files that the user names, reduced if that is possible, else as they are on disk.
    fn on_named_files(
        &mut self,
        subject: &RecordedSubject,
        files: &[OsString],
    ) -> Result<(FailingRecording, ReducedVersions), Failure> {
        let whole = reduced::place(subject, files, self.location, self.context)?;
        let others = self.order.inputs.iter().filter(|name| !files.contains(&OsString::from(name))).cloned();
        let names: Vec<String> = whole.names.iter().cloned().chain(others).collect();
        let remark = match (&self.order.reduction, &self.order.expected) {
            (None, _) => None,
            (_, Some(_)) => {
                Some("The input is not shrunk: the file of `--expected` belongs to the whole input.".to_owned())
            }
            (Some(reduction), None) => match self.reduced_run(subject, files, reduction)? {
                Ok((run, reduced)) => return Ok((run, ReducedVersions { names, ..reduced })),
                Err(remark) => Some(remark),
            },
        };
        let run = self.record(&whole.subject, &[])?;
        Ok((run, ReducedVersions { names, remark, ..whole }))
    }

    /// The recorded run on reduced files; or why there is none.
    fn reduced_run(
        &mut self,
        subject: &RecordedSubject,
        files: &[OsString],
        reduction: &ReductionOrder,
    ) -> Result<Result<(FailingRecording, ReducedVersions), String>, Failure> {
        self.talk.say("Shrinking the input.");
        let reduced =
            reduced::reduce(subject, files, reduction, self.location, self.context, &self.interrupt, self.talk);
        let why = match reduced {
            Ok(reduced) => {
                let run = self.record(&reduced.subject, &reduced.passing)?;
                if self.fails(&run)? {
                    return Ok(Ok((run, reduced)));
                }
                "under instrumentation, the failure does not occur with the smaller input".to_owned()
            }
            Err(failure) if failure.status == Status::Interrupted => return Err(failure),
            // Files that were found here are no mistake of the user.
            Err(failure) if failure.status == Status::Usage && !self.order.inputs.is_empty() => return Err(failure),
            Err(failure) if failure.status == Status::BadPasses && subject.reference.is_none() => {
                return Err(passes("the test passes, so there is no failure to explain"));
            }
            Err(failure) => String::from_utf8_lossy(failure.message.as_bytes()).into_owned(),
        };
        Ok(Err(format!("The input is not shrunk: {why}.")))
    }

    /// Whether a recorded run shows a failure.
    fn fails(&self, run: &FailingRecording) -> Result<bool, Failure> {
        if run.expected.is_none() {
            return Ok(!run.passes());
        }
        let mut recorded = open(&run.name, self.location)?;
        let ended = recorded.traced().end;
        match failure::find(recorded.run.execution(), ended, &run.recording.ending, run.right()) {
            Err(failure) if failure.status == Status::BadPasses => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// Records the run of the passing version, if its output is needed, and the failing run.
    ///
    /// - `passing`: versions of the failing one with which the test passes.
    fn record(&mut self, subject: &RecordedSubject, passing: &[TreeId]) -> Result<FailingRecording, Failure> {
        let RecordedSubject { failing, reference, record, .. } = subject;
        let (location, context) = (self.location, self.context);
        let (expected, reference, escapes) = match (&self.order.expected, reference) {
            (Some(file), _) => (Some(failure::expected(file)?), None, Vec::new()),
            (None, Some(reference)) => {
                self.interrupt.check("stopped before the failing run was recorded")?;
                self.talk.say("Recording the run of the passing version.");
                let once = RecordOrder { once: true, ..record.clone() };
                let recorded =
                    record::of_tree(&once, TreeVersion { tree: *reference, ..*failing }, location, context, self.talk);
                let (name, _) = recorded.map_err(|failure| Failure {
                    message: [b"at the passing version: ", failure.message.as_bytes()].concat().into(),
                    ..failure
                })?;
                let escapes = failure::escapes(&name, location)?;
                (Some(failure::printed(&name, location)?), Some(name), escapes)
            }
            (None, None) => (None, None, Vec::new()),
        };
        self.interrupt.check("stopped before the failing run was recorded")?;
        self.talk.say("Recording the failing run.");
        let mut lines = Vec::new();
        let mut take = |_, mut run: recorded::ProcessRun| lines.extend(places(run.execution()).ok());
        let mut others = Others { trees: passing, take: &mut take };
        let (name, recording) = record::of_trees(record, *failing, &mut others, location, context, self.talk)?;
        Ok(FailingRecording { name, recording, expected, reference, escapes, passing: lines })
    }

    /// Intersects the slices of a run.
    fn chop(
        &mut self,
        run: &FailingRecording,
        reduced: ReducedVersions,
        original: &RecordedSubject,
    ) -> Result<Chop, Failure> {
        if run.passes() {
            return Err(run.refusal());
        }
        let order = self.order;
        let mut recorded = open(&run.name, self.location)?;
        let traced = recorded.traced().clone();
        let mut sources = RecordedSources::new(self.location, &recorded.recording);
        self.talk.say("Computing the slices.");
        let execution = recorded.run.execution();
        let failure = failure::find(execution, traced.end, &run.recording.ending, run.right())?;
        let (asked, others) = input::inputs(execution, &reduced.names, &sources)?;
        let names = input::names(&asked);
        let FailingRecording { recording, passing, .. } = run;
        let mut remarks = remarks(recording, names.is_empty());
        remarks.extend(reduced.remark);
        remarks.extend(left_out(&others));

        let (graph, mut skipped) = execution.relevant_dependences(failure.steps()).map_err(|error| failed(&error))?;
        skipped.extend(failure.text_before);
        let backward = failure.slice(&graph, &skipped, order.kinds);
        let steps = |entries: &[InputEntry]| entries.iter().map(|entry| entry.step).collect::<Vec<_>>();
        let forward = slice::forward(&graph, &steps(&asked), order.kinds);
        // What depends on another input is no constant.
        let everything = [steps(&asked), steps(&others)].concat();
        let constants = backward.difference(&slice::forward(&graph, &everything, order.kinds));
        let chop = forward.intersection(&backward);
        let distances = distances(&graph, failure.steps().0, &skipped);
        remarks.extend(remark::large(&graph));
        drop(graph);
        let sets = [&forward, &backward, &chop, &constants];
        let (all, unknown) = execution.statements(&sets, &distances).map_err(|error| failed(&error))?;
        remarks.extend(remark::unknown(&unknown));
        drop(distances);
        let initial = execution.initial(&backward).map_err(|error| failed(&error))?;
        let program = lines::program(execution)?;
        let files =
            all.iter().filter_map(|statement| statement.place.as_ref()).chain(initial.iter().map(|it| &it.place));
        let changed = lines::changed(files, &original.changed, &mut sources);
        let is_changed =
            |line: &SliceLine| changed.get(line.file.as_str()).is_some_and(|changed| changed.contains(&line.line));
        let nearest: HashMap<(&str, u32), u32> = all.iter().fold(HashMap::new(), |mut nearest, statement| {
            if let Some(place) = &statement.place {
                let distance = nearest.entry((&*place.file, place.line)).or_insert(u32::MAX);
                *distance = statement.nearest.min(*distance);
            }
            nearest
        });
        let differing = self.differing(&run.name, run.reference.as_deref(), &backward)?;
        let mut ranked = |set: usize| -> Result<Vec<chop::ChopLine>, Failure> {
            let ranked = |line: SliceLine| {
                let key = (line.file.clone(), line.line);
                let n_passing = passing.iter().filter(|lines| lines.contains(&key)).count();
                Ranked {
                    is_changed: is_changed(&line),
                    distance: nearest.get(&(line.file.as_str(), line.line)).copied().unwrap_or(u32::MAX),
                    n_passing: u32::try_from(n_passing).unwrap_or(u32::MAX),
                    differs: differing.get(&key).copied().unwrap_or(u32::MAX),
                    values: Vec::new(),
                    line,
                }
            };
            let mut ranked: Vec<Ranked> = crate::slice::lines(&all, set).into_iter().map(ranked).collect();
            ranked.retain(|one| one.has_text(&mut sources));
            ranked.sort_by_key(Ranked::rank);
            lines::values(execution, &mut ranked)?;
            Ok(ranked.into_iter().map(|one| one.with_source(&mut sources)).collect())
        };
        let (lines, mut constant_lines) = (ranked(2)?, ranked(3)?);
        constant_lines.extend(initial.iter().map(|it| lines::declared(it, &is_changed).with_source(&mut sources)));
        Ok(Chop {
            recording: recorded.name.as_str().into(),
            commit: recorded.recording.commit.as_str().into(),
            ending: recording.ending.as_str().into(),
            failure: failure.described(execution)?.into(),
            inputs: names.into_iter().map(Untrusted::from).collect(),
            reduced: reduced.files,
            n_passing: u32::try_from(passing.len()).unwrap_or(u32::MAX),
            program,
            run: size(&all, &|statement| statement.n_steps),
            forward: size(&all, &|statement| statement.inside[0].0),
            backward: size(&all, &|statement| statement.inside[1].0),
            chop: size(&all, &|statement| statement.inside[2].0),
            lines,
            constants: size(&all, &|statement| statement.inside[3].0),
            constant_lines,
            remarks: remarks.into_iter().map(Untrusted::from).collect(),
        })
    }

    /// By line, the first step that the failure depends on and that the passing version does not do, or does with other values.
    /// Empty if there is no such version, or if its run cannot be compared.
    fn differing(
        &self,
        name: &str,
        reference: Option<&str>,
        relevant: &Steps,
    ) -> Result<HashMap<(String, u32), u32>, Failure> {
        let mut found = HashMap::new();
        let Some(reference) = reference else { return Ok(found) };
        let mut failing = open(name, self.location)?;
        let n_steps = failing.run.execution().n_steps().map_err(|error| failed(&error))?;
        if n_steps > MAX_COMPARED {
            return Ok(found);
        }
        let compared = passing::compare(name, &mut failing.run, reference, self.location);
        let Ok(PassingComparison { run, named, passing: mut other, .. }) = compared else { return Ok(found) };
        let mut failing = Walked::new(failing.run, run, named);
        let statements = failing.statements().map_err(|error| failed(&error))?;
        let parted = other.candidates(&mut failing, relevant).map_err(|error| failed(&error))?;
        let only_here = (1..=n_steps).map(Step).filter(|step| other.alignment.reference(*step).is_none());
        for step in parted.iter().map(|one| one.step).chain(only_here).filter(|step| relevant.contains(*step)) {
            let statement = statements.of_steps.get(step.0 as usize).copied().unwrap_or(0);
            let Some(place) = &statements.places[statement as usize] else { continue };
            let first = found.entry((place.file.to_string(), place.line)).or_insert(u32::MAX);
            *first = step.0.min(*first);
        }
        Ok(found)
    }
}

fn open(name: &str, location: &Location) -> Result<RecordedProcess, Failure> {
    recorded::open(&ProcessChoice { recording: Some(name.to_owned()), process: None }, location)
}

/// The lines that a run ran.
fn places(run: &mut dyn Execution) -> Result<BTreeSet<(String, u32)>, Failure> {
    let (all, _) = run.statements(&[], &[]).map_err(|error| failed(&error))?;
    Ok(all.into_iter().filter_map(|statement| statement.place).map(|it| (it.file.to_string(), it.line)).collect())
}

/// The error if the test passes.
fn passes(message: &str) -> Failure {
    Failure::new(Status::BadPasses, message).with_hint(
        "a test that prints a wrong output and exits with code 0 needs `--expected <file>` or `--good <rev>`",
    )
}

/// The inputs that do not count, because `--input` names others.
fn left_out(others: &[InputEntry]) -> Option<String> {
    let others: Vec<InputEntry> = others.iter().filter(|entry| input::is_outside(entry)).cloned().collect();
    let names = input::names(&others);
    let shown = names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if names.len() > MAX_NAMED { ", ..." } else { "" };
    (!names.is_empty()).then(|| format!("`--input` leaves out other inputs of the program: {shown}{more}."))
}

/// What the recording says about how certain the chop is.
fn remarks(recording: &Recording, is_without_input: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    if recording.is_repeatable == Some(false) {
        remarks.push("A second run took another path: the failure may be another one there.".to_owned());
    }
    if let Some(ending) = recording.reference.as_ref().filter(|ending| **ending != recording.ending) {
        remarks.push(format!(
            "Without instrumentation the test ends with {ending}, in the recorded run with {}: it may fail in another \
             way.",
            recording.ending
        ));
    }
    if is_without_input {
        remarks.push(
            "The program read no input, so there is no chop; the statements are the backward slice of the failure."
                .to_owned(),
        );
    }
    remarks
}

/// For each step the number of dependences from it to the failure. A skipped decision is next to the failure.
fn distances(graph: &Dependences, failure: Step, skipped: &[Step]) -> Vec<u32> {
    let mut distances = graph.distances(&[failure]);
    for (distance, of_skipped) in distances.iter_mut().zip(graph.distances(skipped)) {
        *distance = (*distance).min(of_skipped.saturating_add(1));
    }
    distances
}
