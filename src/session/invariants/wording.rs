//! The result in words.

use crate::explain::change::LinesByPath;
use crate::invariants::failing::{AskedFailure, FailingThing};
use crate::invariants::{InvariantsOrder, is_changed};
use crate::slice::size;
use crate::sources::RecordedSources;
use idd_base::count;
use idd_explain::invariant::history::{BackwardRun as _, Because, Time};
use idd_explain::invariant::minimal::minimal;
use idd_explain::invariant::{Abstraction, FailingState, SliceLink, SliceRole};
use idd_explain::native::invariant::{AddressMode, Native, moment, words};
use idd_report::Untrusted;
use idd_report::chop::Size;
use idd_report::invariants::{InvariantStatement, Invariants, Skipped};
use idd_trace::instrument::{Op, OperandValue};
use idd_trace::logic::substitute::variables;
use idd_trace::logic::term::{TermId, TermNode, Terms};
use idd_trace::native::NativePlayer;
use idd_trace::native::event::StepEvent;
use idd_trace::native::relevant::relevant_dependences;
use idd_trace::native::statements::statements;
use idd_trace::native::symbolic::version::AssignedPlace;
use idd_trace::slice::Kinds;
use idd_trace::{Dependences, Step, Steps, TraceError, slice};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

/// A run with more steps gets no dynamic slice to compare with.
pub const MAX_DYNAMIC: u32 = 5_000_000;

/// Functions that are named of the steps between two statements.
const MAX_FUNCTIONS: usize = 4;

/// What the engine found.
pub struct Result<'r> {
    /// The failure.
    pub failing: &'r FailingState,
    /// The slice.
    pub found: &'r Abstraction,
    /// The lines of the change.
    pub changed: Option<&'r LinesByPath>,
}

/// The sizes to compare with.
pub struct Dynamic {
    /// The executed part of the program.
    pub run: Size,
    /// The dynamic slice.
    pub slice: Option<Size>,
    /// The dependences, with potential ones.
    pub graph: Option<Dependences>,
    /// Decisions before a wrong output that could have led to other output.
    pub skipped: Vec<Step>,
}

/// The executed part of the program, and the relevant slice of the failure: data, addresses, and decisions, also those
/// that skipped something.
///
/// Cost: two passes over the trace.
pub fn dynamic(player: &mut NativePlayer, asked: &AskedFailure) -> std::result::Result<Dynamic, TraceError> {
    player.seek(u64::MAX)?;
    let n_steps = player.machine.n_steps;
    if n_steps > MAX_DYNAMIC {
        let (all, _) = statements(player, &[], &[])?;
        let run = size(&all, &|statement| statement.n_steps);
        return Ok(Dynamic { run, slice: None, graph: None, skipped: Vec::new() });
    }
    let (graph, skipped) = relevant_dependences(player, (asked.step, asked.previous))?;
    let until = match asked.what {
        FailingThing::Variable(..) | FailingThing::Assertion => asked.step,
        _ => Step(u32::MAX),
    };
    let criteria: Vec<(Step, Step)> = [(asked.step, until)]
        .into_iter()
        .chain(skipped.iter().chain(&asked.text_before).map(|decision| (*decision, asked.step)))
        .collect();
    let mut members = slice::backward(&graph, &criteria, Kinds::ALL);
    members.insert(asked.step);
    let (all, _) = statements(player, &[&members], &[])?;
    let slice = size(&all, &|statement| statement.inside[0].0);
    let run = size(&all, &|statement| statement.n_steps);
    Ok(Dynamic { run, slice: Some(slice), graph: Some(graph), skipped })
}

/// Puts a slice into words. What the run is, is left empty.
pub fn tell(
    order: &InvariantsOrder,
    Result { failing, found, changed }: Result<'_>,
    native: &mut Native<'_>,
    terms: &mut Terms,
    sources: &mut RecordedSources,
) -> std::result::Result<Invariants, TraceError> {
    let deadline = order.limits.time.map(|time| Instant::now() + time);
    let minimal = if order.is_minimal { minimal(terms, found, deadline) } else { None };
    let (necessary, is_minimal) = minimal.unzip();
    let mut statements: Vec<InvariantStatement> = Vec::new();
    let mut times: Vec<Time> = Vec::new();
    let mut assumed: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (index, link) in found.links.iter().enumerate() {
        let event = native.event(moment(link.time))?;
        if !link.hypotheses.is_empty()
            && let Some(place) = event.shape.statements[event.statement as usize].place.as_ref()
        {
            assumed.entry(place.file.to_string()).or_default().insert(place.line);
        }
        // The entry of a function gives its parameters names: the statement is the call. `return x` gives a name to the
        // result: the statement is the one that has the call.
        let is_entry = event.statement == 0;
        if is_entry
            || link.role == SliceRole::Locates
            || (is_plain_return(native, terms, link, &event) && !native.is_only_here(link.time)?)
        {
            continue;
        }
        let is_necessary = necessary.as_ref().map(|necessary| necessary[index]);
        if let Some(last) = statements.last_mut().filter(|last| last.step == event.step.0) {
            last.is_decision &= link.role == SliceRole::Decides;
            last.is_parting |= link.role == SliceRole::Because(Because::Parts);
            last.is_elsewhere |= link.role == SliceRole::Because(Because::Elsewhere);
            last.is_unknown |= link.is_unknown;
            last.is_pinned |= link.is_pinned;
            last.is_necessary = last.is_necessary.zip(is_necessary).map(|(one, other)| one || other);
            continue;
        }
        let mut statement = statement(native, terms, &event, link.time, &link.before, sources)?;
        if link.role == SliceRole::Because(Because::Parts) {
            statement.values = values(native, terms, link.time, link.condition.as_slice())?;
        }
        statement.is_decision = link.role == SliceRole::Decides;
        statement.is_parting = link.role == SliceRole::Because(Because::Parts);
        statement.is_elsewhere = link.role == SliceRole::Because(Because::Elsewhere);
        statement.is_unknown = link.is_unknown;
        statement.is_pinned = link.is_pinned;
        statement.is_necessary = is_necessary;
        statements.push(statement);
        times.push(link.time);
    }
    let event = native.event(moment(failing.time))?;
    let mut last = statement(native, terms, &event, failing.time, &found.failure, sources)?;
    last.is_necessary = necessary.as_ref().map(|_| true);
    if statements.last().is_some_and(|before| before.step == last.step) {
        statements.pop();
        times.pop();
    }
    statements.push(last);
    times.push(failing.time);
    skipped(native, found, &times, &mut statements)?;
    let first = times.first().copied().unwrap_or(failing.time);
    let names = native.names(terms, moment(first), &found.rest)?;
    let rest = words::conditions(terms, &found.rest, &names);
    let declarations = declarations(native, terms, found, sources);
    let statements = [declarations, statements].concat();
    let mut statements = statements;
    for statement in &mut statements {
        statement.is_changed = match (&statement.file, statement.line) {
            (Some(file), Some(line)) => is_changed(changed, &String::from_utf8_lossy(file.as_bytes()), line),
            _ => false,
        };
    }
    let has_change = changed.map(|_| statements.iter().any(|statement| statement.is_changed));
    // Without a condition to begin with, that it is not there says nothing.
    let has_change = has_change.filter(|has| *has || !found.failure.is_empty());
    let ran = || statements.iter().filter(|one| one.step > 0);
    let lines: BTreeSet<_> = ran().map(|one| (one.file.clone(), one.line)).collect();
    let slice = Size { n_statements: lines.len(), n_lines: lines.len(), n_steps: ran().count() as u64 };
    let n_threads = native.symbolic.n_threads();
    let remarks = remarks(order, failing.depth, found, assumed, is_minimal, n_threads);
    Ok(Invariants {
        mode: match order.mode {
            AddressMode::Value => "value",
            AddressMode::Address => "address",
            AddressMode::Absolute => "absolute",
        }
        .into(),
        depth: (failing.depth < u32::MAX).then_some(failing.depth),
        slice,
        statements,
        rest: untrusted(&rest),
        is_partial: found.is_partial,
        n_questions: found.n_questions.0,
        n_unknown: found.n_questions.1,
        has_change,
        remarks,
        ..Invariants::default()
    })
}

/// What the invariants assume, and what is left out.
fn remarks(
    order: &InvariantsOrder,
    depth: u32,
    found: &Abstraction,
    assumed: BTreeMap<String, BTreeSet<u32>>,
    is_minimal: Option<bool>,
    n_threads: usize,
) -> Vec<Untrusted> {
    let mut remarks: Vec<Untrusted> = Vec::new();
    for (file, lines) in assumed {
        let lines: Vec<String> = lines.into_iter().map(|line| line.to_string()).collect();
        let text = format!("Assumed: no signed overflow in {file}, line {}.", lines.join(", "));
        remarks.push(text.as_str().into());
    }
    if found.n_left_out > 0 {
        let n = count(found.n_left_out, "decision");
        let far = depth;
        remarks.push(
            format!("Left out: {n} more than {far} away from the failure. They go as in the run; `--depth {}` follows more.", far + 1)
                .as_str()
                .into(),
        );
    }
    if n_threads > 1 {
        remarks.push("Assumed: the threads run in the recorded order.".into());
    }
    if order.is_minimal && is_minimal != Some(true) {
        remarks.push("There may be statements that are not necessary: not all questions had an answer in time.".into());
    }
    remarks
}

/// Whether a statement of the slice only returns what a local variable holds.
fn is_plain_return(native: &Native<'_>, terms: &Terms, link: &SliceLink, event: &StepEvent) -> bool {
    let is_slot = |value: &OperandValue| event.shape.slots.iter().any(|slot| *value == OperandValue::Local(slot.id));
    let instructions = event.block_instructions().get(event.range.clone()).unwrap_or_default();
    let mut loads = instructions.iter().filter(|instruction| matches!(instruction.op, Op::Load));
    link.role == SliceRole::Assigns
        && loads.all(|load| load.operands.first().is_some_and(|pointer| is_slot(&pointer.value)))
        && link.assigned.iter().all(|(version, value)| {
            let place = native.symbolic.versions.get(*version).place;
            let is_variable = matches!(terms.node(*value), TermNode::Variable(_));
            matches!(place, AssignedPlace::Pointer(..)) || (matches!(place, AssignedPlace::Result(_)) && is_variable)
        })
}

fn untrusted(texts: &[String]) -> Vec<Untrusted> {
    texts.iter().map(|text| text.as_str().into()).collect()
}

/// The recorded values of the variables of some conditions: `x = 3`.
fn values(
    native: &mut Native<'_>,
    terms: &mut Terms,
    time: Time,
    conditions: &[TermId],
) -> std::result::Result<Vec<Untrusted>, TraceError> {
    let names = native.names(terms, moment(time), conditions)?;
    let mut values: Vec<String> = Vec::new();
    for (version, width) in variables(terms, conditions) {
        let is_pinned = matches!(native.symbolic.versions.get(version).place, AssignedPlace::Pinned(..));
        if let Some((name, kind)) = names.get(&version).filter(|(name, _)| !is_pinned && !name.starts_with('&')) {
            values.push(format!("{name} = {}", words::number(native.value(version), width, *kind)));
        }
    }
    values.sort();
    values.dedup();
    Ok(untrusted(&values))
}

fn statement(
    native: &mut Native<'_>,
    terms: &mut Terms,
    event: &StepEvent,
    time: Time,
    invariant: &[TermId],
    sources: &mut RecordedSources,
) -> std::result::Result<InvariantStatement, TraceError> {
    let values = values(native, terms, time, invariant)?;
    let names = native.names(terms, moment(time), invariant)?;
    let place = event.shape.statements[event.statement as usize].place.clone();
    let source = place.as_ref().and_then(|place| sources.line(&place.file, place.line));
    Ok(InvariantStatement {
        step: event.step.0,
        file: place.as_ref().map(|place| (&*place.file).into()),
        line: place.as_ref().map(|place| place.line),
        function: (&*event.shape.name()).into(),
        source: source.as_deref().map(Into::into),
        invariant: untrusted(&words::conditions(terms, invariant, &names)),
        values,
        ..InvariantStatement::default()
    })
}

/// Global variables whose initial values the slice depends on, as statements: their declarations.
fn declarations(
    native: &Native<'_>,
    terms: &Terms,
    found: &Abstraction,
    sources: &mut RecordedSources,
) -> Vec<InvariantStatement> {
    let globals = &native.symbolic.tape.player.machine.globals;
    let mut declared: BTreeMap<(Arc<str>, u32), Arc<str>> = BTreeMap::new();
    for (version, _) in variables(terms, &found.rest) {
        let known = native.symbolic.versions.get(version);
        let (AssignedPlace::Memory(address, _), None) = (known.place, known.assigned) else { continue };
        let Some(global) = globals.find(address).filter(|global| global.is_named) else { continue };
        if let Some(place) = global.place.as_ref().filter(|place| place.line > 0) {
            declared.insert((place.file.to_string().into(), place.line), Arc::clone(&global.name));
        }
    }
    let statement = |((file, line), name): ((Arc<str>, u32), Arc<str>)| InvariantStatement {
        step: 0,
        source: sources.line(&file, line).as_deref().map(Into::into),
        file: Some((&*file).into()),
        line: Some(line),
        function: format!("initial value of {name}").as_str().into(),
        ..InvariantStatement::default()
    };
    declared.into_iter().map(statement).collect()
}

/// Fills in what lies between the statements.
///
/// Cost: one pass over the trace.
fn skipped(
    native: &mut Native<'_>,
    found: &Abstraction,
    times: &[Time],
    statements: &mut [InvariantStatement],
) -> std::result::Result<(), TraceError> {
    let mut kept: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); statements.len()];
    for one in &found.kept {
        let event = native.event(moment(one.time))?;
        let gap = times.partition_point(|time| *time < one.time);
        let place = event.shape.statements[event.statement as usize].place.as_ref();
        if let (Some(place), Some(kept)) = (place, kept.get_mut(gap)) {
            *kept.entry(format!("{}:{}", place.file, place.line)).or_default() += 1;
        }
    }
    let mut steps = Steps::new(native.symbolic.tape.n_steps());
    let last = statements.iter().map(|statement| Step(statement.step)).inspect(|step| _ = steps.insert(*step)).max();
    let begins: Vec<u32> = statements.iter().map(|statement| statement.step).collect();
    let last = last.unwrap_or(Step::START);
    let mut counts: HashMap<(usize, u32), (u64, Arc<str>)> = HashMap::new();
    native.symbolic.tape.player.look_from(Step(1), |_, frame| {
        let is_over = frame.step > last;
        if !is_over && !steps.contains(frame.step) && frame.statement != 0 {
            let gap = begins.iter().position(|begin| *begin > frame.step.0).unwrap_or(begins.len());
            counts.entry((gap, frame.shape.index)).or_insert_with(|| (0, frame.shape.name())).0 += 1;
        }
        !is_over
    })?;
    let mut by_gap: BTreeMap<usize, Vec<(u64, Arc<str>)>> = BTreeMap::new();
    for ((gap, _), (n, name)) in counts {
        by_gap.entry(gap).or_default().push((n, name));
    }
    for (gap, statement) in statements.iter_mut().enumerate() {
        let mut functions = by_gap.remove(&gap).unwrap_or_default();
        functions.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        statement.skipped = Skipped {
            n_steps: functions.iter().map(|(n, _)| n).sum(),
            functions: functions.into_iter().take(MAX_FUNCTIONS).map(|(n, name)| ((&*name).into(), n)).collect(),
            kept: std::mem::take(&mut kept[gap]).into_iter().map(|(place, n)| (place.as_str().into(), n)).collect(),
        };
    }
    Ok(())
}
