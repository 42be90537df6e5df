//! `git idd chop`: the statements that depend on the input of a failing run and on which its failure depends.
//!
//! Source: Gupta, He, Zhang and Gupta 2005, "Locating Faulty Code Using Failure-Inducing Chops". The chop is the
//! intersection of the forward slice of the input and the backward slice of the first wrong output, or of the crash.
//! Statements of the backward slice that depend on no input are listed apart: the paper adds them, because a wrong
//! constant is in no forward slice.
//!
//! [`subject`] finds the versions, [`failure`] the first wrong value.

mod failure;
mod subject;

use crate::report::Status;
use crate::report::Untrusted;
use crate::report::chop;
use crate::report::chop::Chop;
use crate::report::chop::Size;
use crate::report::explanation::Explanation;
use crate::session::chop::subject::Subject;
use crate::session::context::Context;
use crate::session::explain;
use crate::session::failure::Failure;
use crate::session::order::RecordOrder;
use crate::session::order::TestCommand;
use crate::session::record;
use crate::session::recorded;
use crate::session::recorded::Which;
use crate::session::recorded::failed;
use crate::session::slice::Line;
use crate::session::slice::criterion::is_named;
use crate::session::slice::lines;
use crate::session::slice::size;
use crate::session::sources::Sources;
use crate::session::talk::Talk;
use crate::trace::dependence::Dependences;
use crate::trace::native::detail;
use crate::trace::native::detail::Detail;
use crate::trace::native::initial::Initial;
use crate::trace::native::initial::initial;
use crate::trace::native::input;
use crate::trace::native::input::Entry;
use crate::trace::native::input::Source;
use crate::trace::native::play::Player;
use crate::trace::native::relevant::dependences;
use crate::trace::native::statements::statements;
use crate::trace::slice;
use crate::trace::slice::Kinds;
use crate::trace::step::Step;
use crate::world::repo::locate::Location;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::ffi::OsString;

/// The number of lines whose values are looked up.
const MAX_VALUES: usize = 200;

/// A chop.
#[derive(Debug, Clone, PartialEq)]
pub struct ChopOrder {
    /// How the run is recorded. The revision counts only with a command.
    pub record: RecordOrder,
    /// The test; that of the newest finding if it is `None`.
    pub command: Option<TestCommand>,
    /// The hunt, if it is not the newest finding.
    pub hunt: Option<String>,
    /// A revision at which the test passes.
    pub good: Option<String>,
    /// A file with the output that is right.
    pub expected: Option<OsString>,
    /// The inputs, by names; all that the program reads if there is none.
    pub inputs: Vec<String>,
    /// The dependences that the slices follow.
    pub kinds: Kinds,
}

/// A line of a chop without its source.
struct Ranked {
    line: Line,
    is_changed: bool,
    distance: u32,
    /// Variables with their values at the last step: what it wrote, or what it read if it wrote nothing.
    values: Vec<String>,
}

impl Ranked {
    fn with_source(self, sources: &mut Sources) -> chop::Line {
        let Line { file, line, function, n_steps, n_run, last } = self.line;
        chop::Line {
            source: sources.line(&file, line).map(Untrusted::from),
            file: file.into(),
            line,
            function: function.into(),
            is_changed: self.is_changed,
            distance: Some(self.distance).filter(|distance| *distance != u32::MAX),
            n_steps,
            n_run,
            last: last.0,
            values: self.values.into_iter().map(Untrusted::from).collect(),
        }
    }
}

/// Records the failing run, and intersects its slices. The chop of a hunt is stored beside it, for its reports.
pub fn run(order: &ChopOrder, location: &Location, context: &Context, talk: &mut dyn Talk) -> Result<Chop, Failure> {
    let Subject { failing, reference, record, changed, hunt } = subject::find(order, location, context, talk)?;
    let expected = match (&order.expected, reference) {
        (Some(file), _) => Some(failure::expected(file)?),
        (None, Some(reference)) => {
            talk.say("Recording the run of the passing version.");
            let once = RecordOrder { once: true, ..record.clone() };
            let (name, _) = record::of_tree(&once, (reference, failing.1), location, context, talk)?;
            failure::printed(&name, location)?
        }
        (None, None) => None,
    };
    talk.say("Recording the failing run.");
    let (name, recording) = record::of_tree(&record, failing, location, context, talk)?;
    if recording.ending == crate::outcome::Ending::Exit(0).to_string() {
        return Err(Failure::new(
            Status::Error,
            "the test passes under instrumentation, so there is no failure to explain",
        )
        .with_hint("`git idd chop` takes a test that fails; `git idd record` shows what it does"));
    }
    let mut recorded = recorded::open(&Which { recording: Some(name), process: None }, location)?;
    let traced = recorded.traced().clone();
    let mut sources = Sources::new(location, &recorded.recording.commit);
    talk.say("Computing the slices.");
    let player = &mut recorded.player;
    let failure = failure::find(player, traced.end, expected.as_deref())?;
    let mut remarks = Vec::new();
    if recording.is_repeatable == Some(false) {
        remarks.push("A second run took another path: the failure may be another one there.".to_owned());
    }
    let (asked, others) = inputs(player, order, &sources)?;
    let names = names(&asked);

    let (graph, skipped) = dependences(player, failure.steps()).map_err(|error| failed(&error))?;
    let mut criteria = failure.criteria(&graph);
    criteria.extend(skipped.iter().map(|decision| (*decision, failure.steps().0)));
    let backward = slice::backward(&graph, &criteria, order.kinds);
    let steps = |entries: &[Entry]| entries.iter().map(|entry| entry.step).collect::<Vec<_>>();
    let forward = slice::forward(&graph, &steps(&asked), order.kinds);
    // What depends on another input is no constant.
    let everything = [steps(&asked), steps(&others)].concat();
    let constants = backward.difference(&slice::forward(&graph, &everything, order.kinds));
    let chop = forward.intersection(&backward);
    let distances = distances(&graph, failure.steps().0, &skipped);
    drop(graph);
    let sets = [&forward, &backward, &chop, &constants];
    let all = statements(player, &sets, &distances).map_err(|error| failed(&error))?;
    drop(distances);
    let initial = initial(player, &backward).map_err(|error| failed(&error))?;
    let program = program(player)?;
    if names.is_empty() {
        remarks.push(
            "The program read no input, so there is no chop; the statements are the backward slice of the failure."
                .to_owned(),
        );
    }
    let is_changed = |line: &Line| {
        changed.iter().any(|(path, lines)| {
            let before = line.file.strip_suffix(path.as_str());
            lines.contains(&line.line) && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    };
    let nearest: HashMap<(&str, u32), u32> = all.iter().fold(HashMap::new(), |mut nearest, statement| {
        if let Some(place) = &statement.place {
            let distance = nearest.entry((&*place.file, place.line)).or_insert(u32::MAX);
            *distance = statement.nearest.min(*distance);
        }
        nearest
    });
    let mut ranked = |set: usize| -> Result<Vec<chop::Line>, Failure> {
        let ranked = |line: Line| Ranked {
            is_changed: is_changed(&line),
            distance: nearest.get(&(line.file.as_str(), line.line)).copied().unwrap_or(u32::MAX),
            values: Vec::new(),
            line,
        };
        let mut ranked: Vec<Ranked> = lines(&all, set).into_iter().map(ranked).collect();
        ranked.sort_by_key(|one| (!one.is_changed, one.distance, one.line.n_run, Reverse(one.line.last)));
        values(player, &mut ranked)?;
        Ok(ranked.into_iter().map(|one| one.with_source(&mut sources)).collect())
    };
    let (lines, mut constant_lines) = (ranked(2)?, ranked(3)?);
    constant_lines.extend(initial.into_iter().map(|it| declared(it, &is_changed).with_source(&mut sources)));
    let chop = Chop {
        recording: recorded.name.as_str().into(),
        commit: recorded.recording.commit.as_str().into(),
        ending: recording.ending.into(),
        failure: failure.words.into(),
        inputs: names.into_iter().map(Untrusted::from).collect(),
        program,
        run: size(&all, |statement| statement.n_steps),
        forward: size(&all, |statement| statement.inside[0].0),
        backward: size(&all, |statement| statement.inside[1].0),
        chop: size(&all, |statement| statement.inside[2].0),
        lines,
        constants: size(&all, |statement| statement.inside[3].0),
        constant_lines,
        remarks: remarks.into_iter().map(Untrusted::from).collect(),
    };
    explain::keep(hunt, failing, || Explanation::Chop(chop.clone()), (location, talk));
    Ok(chop)
}

/// For each step the number of dependences from it to the failure. A skipped decision is next to the failure.
fn distances(graph: &Dependences, failure: Step, skipped: &[Step]) -> Vec<u32> {
    let mut distances = graph.distances(&[failure]);
    for (distance, of_skipped) in distances.iter_mut().zip(graph.distances(skipped)) {
        *distance = (*distance).min(of_skipped.saturating_add(1));
    }
    distances
}

/// All statements of the program.
fn program(player: &mut Player) -> Result<Size, Failure> {
    let shapes = player.program().map_err(|error| failed(&error))?;
    let statements = || shapes.iter().flat_map(|shape| shape.statements.iter().skip(1));
    let lines: BTreeSet<_> =
        statements().filter_map(|statement| statement.place.as_ref()).map(|place| (&place.file, place.line)).collect();
    Ok(Size { n_statements: statements().count(), n_lines: lines.len(), n_steps: 0 })
}

/// The line of a declaration.
fn declared(initial: Initial, is_changed: &dyn Fn(&Line) -> bool) -> Ranked {
    let Initial { name, place, n_reads, last } = initial;
    let (file, function) = (place.file.to_string(), format!("initial value of {name}"));
    let line = Line { file, line: place.line, function, n_steps: n_reads, n_run: n_reads, last };
    Ranked { is_changed: is_changed(&line), distance: u32::MAX, values: Vec::new(), line }
}

/// The entries of the inputs that were asked for, and all others that come from outside of the process.
fn inputs(player: &mut Player, order: &ChopOrder, sources: &Sources) -> Result<(Vec<Entry>, Vec<Entry>), Failure> {
    let is_named = |source: &Source| order.inputs.iter().any(|name| is_named(source, name));
    let read = |player: &mut Player, standard: Option<&String>| {
        let mut contents = |source: &Source| match (source, standard) {
            (Source::Standard, Some(file)) => sources.content(file),
            _ => sources.input(source),
        };
        input::inputs(player, Step(u32::MAX), &mut contents).map_err(|error| failed(&error))
    };
    let entries = read(player, None)?;
    let is_outside = |entry: &Entry| !matches!(entry.source, Source::System(_));
    if order.inputs.is_empty() {
        return Ok(entries.into_iter().partition(is_outside));
    }
    if entries.iter().any(|entry| is_named(&entry.source)) {
        return Ok(entries.into_iter().partition(|entry| is_named(&entry.source)));
    }
    // A test may redirect its file to the program.
    if entries.iter().any(|entry| entry.source == Source::Standard) {
        let entries = read(player, order.inputs.first())?;
        return Ok(entries.into_iter().partition(|entry| entry.source == Source::Standard));
    }
    let (known, asked) = (names(&entries).join(", "), order.inputs.join("`, `"));
    let failure = Failure::new(Status::Error, format!("the program did not read `{asked}`"));
    Err(if known.is_empty() {
        failure.with_hint("it read no input; `--program` names another program that the test runs")
    } else {
        failure.with_hint(format!("its inputs are: {known} (`-` is standard input)"))
    })
}

/// The sources of entries, each once.
fn names(entries: &[Entry]) -> Vec<String> {
    let mut names: Vec<String> = entries.iter().map(|entry| entry.source.to_string()).collect();
    names.sort();
    names.dedup();
    names
}

/// Looks up the values at the last step of each line.
///
/// Cost: one pass over the trace.
fn values(player: &mut Player, ranked: &mut [Ranked]) -> Result<(), Failure> {
    let mut steps: Vec<Step> = ranked.iter().take(MAX_VALUES).map(|one| one.line.last).collect();
    steps.sort_unstable();
    steps.dedup();
    player.seek(0).map_err(|error| failed(&error))?;
    let details = detail::details(player, &steps, Step(u32::MAX)).map_err(|error| failed(&error))?;
    let details: HashMap<Step, Detail> = details.into_iter().map(|detail| (detail.standing.step, detail)).collect();
    for one in ranked {
        let Some(detail) = details.get(&one.line.last) else { continue };
        let accesses = if detail.writes.is_empty() { &detail.reads } else { &detail.writes };
        let shown = |access: &detail::Access| Some(format!("{} = {}", access.named.name, access.named.value.as_ref()?));
        // A temporary of the compiler, such as the one for the result, has no name in the source.
        let named = accesses.iter().filter(|access| !access.named.name.starts_with("temporary of "));
        one.values = named.filter_map(shown).take(3).collect();
    }
    Ok(())
}
