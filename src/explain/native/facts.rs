//! What a person sees of a step to judge it: the values that it uses, what it computes and decides; and what another run says of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::explain::align::Alignment;
use crate::explain::feedback::Feedback;
use crate::explain::native::recorded::Recorded;
use crate::explain::native::returns;
use crate::explain::native::seen;
use crate::explain::native::standing;
use crate::instrument::instruction::Op;
use crate::instrument::instruction::Value;
use crate::instrument::instruction::ValueId;
use crate::trace::TraceError;
use crate::trace::detail::Detail;
use crate::trace::native::detail;
use crate::trace::native::frame::Frame;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::play::Player;
use crate::trace::place::Place;
use crate::trace::step::Step;

/// A value that a step uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The variable, or the function that returned it: `n`, `read_line()`.
    pub name: String,
    /// The value, as it is written; `None` if that is not known.
    pub value: Option<String>,
    /// The steps that computed it; [`Step::START`] for what was there before the run.
    pub makers: Vec<Step>,
    /// Where it comes from, if no step computed it: an input, an initial value.
    pub origin: Option<String>,
    /// The structure that it points to, before the step.
    pub target: Option<String>,
}

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// All that was recorded of it.
    pub detail: Detail,
    /// The values that it uses, each once.
    pub used: Vec<Used>,
    /// How it decided, if it is a decision: `true`, `false`, or the line that was chosen.
    pub outcome: Option<standing::Outcome>,
}

/// The facts about a line; `None` if there is no such step.
///
/// - `members`: its steps, ascending.
///
/// Cost: plays four times from the checkpoint before each step to its end; and that of [`seen::name`].
pub fn facts(recorded: &mut Recorded, members: &[Step]) -> Result<Option<Facts>, TraceError> {
    let mut found: Option<Facts> = None;
    let nowhere: Arc<str> = "".into();
    for step in members {
        let Some(mut detail) = detail::detail(&mut recorded.player, *step)? else { continue };
        // What a call gives to the parameters of a function is named with that function.
        let first = found.as_ref().map(|found| &found.detail.standing.function);
        let home = match first {
            Some(_) if detail.standing.is_entry => Arc::clone(&nowhere),
            first => Arc::clone(first.unwrap_or(&detail.standing.function)),
        };
        seen::name(recorded, &mut detail, &home)?;
        let outcome = standing::standing(recorded, *step)?.outcome;
        let (returned, _) = returns::of_step(recorded, *step, u64::MAX)?;
        let mut used: Vec<Used> = Vec::new();
        let is_inside = |maker: &Step| members.contains(maker);
        for access in detail.reads.iter().filter(|access| !access.makers.iter().any(is_inside)) {
            let makers = access.makers.iter().chain(&access.text_makers).copied();
            add(&mut used, &access.named.name, access.named.value.as_ref(), makers);
            if let Some(known) = used.iter_mut().find(|known| known.name == access.named.name) {
                // What only a part of has no step is named by the steps of the other part.
                let is_given = known.makers.iter().all(|maker| *maker == Step::START);
                known.origin = access.origin.clone().filter(|_| is_given);
                known.target = known.target.take().or_else(|| access.target.clone());
            }
        }
        for back in returned {
            used.push(Used {
                name: format!("{}()", back.function),
                value: Some(back.text),
                makers: std::iter::once(back.step).chain(back.makers).collect(),
                origin: None,
                target: None,
            });
        }
        if detail.standing.is_entry {
            let known = found.as_ref().map_or(&[][..], |found| &found.used);
            let function = found.as_ref().map(|found| &*found.detail.standing.function);
            used.extend(passed(&detail, known, function.unwrap_or_default()));
        }
        let Some(all) = &mut found else {
            found = Some(Facts { detail, used, outcome });
            continue;
        };
        for each in used {
            let is_call = each.name.ends_with("()");
            if is_call || !all.used.iter().any(|known| known.name == each.name) {
                all.used.push(each);
            }
        }
        all.detail.reads.extend(detail.reads);
        all.detail.writes.extend(detail.writes);
        all.detail.calls.extend(detail.calls);
        all.detail.returned = detail.returned.or(all.detail.returned.take());
        all.detail.crash = all.detail.crash.take().or(detail.crash);
        all.outcome = outcome.or(all.outcome.take());
    }
    Ok(found)
}

/// The texts that an entry of a function gets by pointers to variables, without those that the line is known to use: an array
/// that is passed is read nowhere in the line.
fn passed<'d>(entry: &'d Detail, known: &'d [Used], caller: &'d str) -> impl Iterator<Item = Used> + 'd {
    let text = |value: &str| value.find('"').map(|at| value[at..].to_owned());
    entry.writes.iter().filter_map(move |access| {
        let name = access.text_name.as_ref().filter(|_| !access.text_makers.is_empty())?;
        let name = name.strip_suffix(&format!(" of {caller}")).unwrap_or(name);
        let name = name.strip_suffix("[0]").unwrap_or(name).to_owned();
        let value = access.named.value.as_deref().and_then(text)?;
        let is_known = known.iter().any(|used| used.value.as_deref().and_then(text).as_ref() == Some(&value));
        let makers = access.text_makers.iter().copied().collect();
        (!is_known).then_some(Used { name, value: Some(value), makers, origin: None, target: None })
    })
}

/// Adds a value, or its makers to those of the same variable.
fn add(used: &mut Vec<Used>, name: &str, value: Option<&String>, makers: impl Iterator<Item = Step>) {
    if let Some(known) = used.iter_mut().find(|known| known.name == name) {
        known.makers.extend(makers);
    } else {
        let (name, value, makers) = (name.to_owned(), value.cloned(), makers.collect());
        used.push(Used { name, value, makers, origin: None, target: None });
    }
}

/// What a run of another version, or of another input, says of a step of the failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// What it says of the step.
    pub feedback: Feedback,
    /// The values that both runs use there, and that are the same: their indices.
    pub same: Vec<usize>,
}

impl From<Feedback> for Comparison {
    fn from(feedback: Feedback) -> Self {
        Self { feedback, same: Vec::new() }
    }
}

/// Compares a step with that of another run.
///
/// Values are compared as they are written; of a pointer to a block, the step that allocated it is.
///
/// - `members`: the steps of a line, ascending.
///
/// Cost: the [facts] about the line in both runs.
pub fn judge(
    (failing, reference): (&mut Recorded, &mut Recorded),
    alignment: &Alignment,
    members: &[Step],
) -> Result<Comparison, TraceError> {
    let others: Vec<Step> = members.iter().filter_map(|step| alignment.reference(*step)).collect();
    // Two lines may end with the same step, as two `return` of a function do: the first step says where the run is.
    if members.first().is_none_or(|first| alignment.reference(*first).is_none()) {
        return Ok(Feedback::WrongPath.into());
    }
    let (Some(ours), Some(theirs)) = (facts(failing, members)?, facts(reference, &others)?) else {
        return Ok(Feedback::Unclear.into());
    };
    let values = Values { alignment };
    let compared: Vec<Option<bool>> =
        (0..ours.used.len()).map(|index| values.is_same(&ours.used, index, &theirs.used)).collect();
    let those = |wanted| compared.iter().enumerate().filter(move |(_, is_same)| **is_same == Some(wanted));
    let indices = |wanted| those(wanted).map(|(index, _)| index).collect::<Vec<usize>>();
    let (same, wrong) = (indices(true), indices(false));
    if !wrong.is_empty() {
        return Ok(Comparison { feedback: Feedback::WrongValue(wrong), same });
    }
    // A line that other steps belong to there decided otherwise inside of itself.
    let is_cut = others.len() < members.len();
    let is_decided = is_cut
        || match (&ours.outcome, &theirs.outcome) {
            (Some(ours), Some(theirs)) => ours.apart(theirs).is_some(),
            _ => false,
        };
    let is_wrong = is_decided || values.computed(&ours.detail, true) != values.computed(&theirs.detail, false);
    Ok(Comparison { feedback: if is_wrong { Feedback::WrongResult } else { Feedback::Correct }, same })
}

/// Compares values as they are written.
struct Values<'v> {
    alignment: &'v Alignment,
}

impl Values<'_> {
    /// Whether a value is that of the same name there; of several calls of one function, what the same one of them returned.
    /// `None` if there is none.
    fn is_same(&self, ours: &[Used], index: usize, theirs: &[Used]) -> Option<bool> {
        let used = &ours[index];
        let name = self.text(&used.name, true);
        let mut same: Vec<&Used> = theirs.iter().filter(|other| self.text(&other.name, false) == name).collect();
        if used.name.ends_with("()") {
            let nth = ours[..index].iter().filter(|other| other.name == used.name).count();
            same = same.into_iter().skip(nth).take(1).collect();
        }
        let value = used.value.as_ref().map(|value| self.text(value, true));
        let is_same = |other: &&Used| other.value.as_ref().map(|value| self.text(value, false)) == value;
        (!same.is_empty()).then(|| same.iter().any(is_same))
    }

    /// What a step wrote, and what it called the library with.
    fn computed(&self, detail: &Detail, is_failing: bool) -> Vec<String> {
        let text = |text: &str| self.text(text, is_failing);
        let wrote = detail
            .writes
            .iter()
            .map(|access| text(&format!("{} = {}", access.named.name, access.named.value.as_deref().unwrap_or("?"))));
        let called = detail.calls.iter().map(|call| {
            text(&format!("{}({}) {:?}", call.name.as_deref().unwrap_or("*"), call.arguments.join(", "), call.result))
        });
        let returned = detail.returned.iter().map(|value| text(&format!("returns {value}")));
        wrote.chain(called).chain(returned).collect()
    }

    /// With the numbers of the failing run's steps as those of the reference, and without addresses: blocks lie elsewhere
    /// in another run.
    fn text(&self, text: &str, is_failing: bool) -> String {
        let text = &without_addresses(text);
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("step ") {
            let (before, after) = rest.split_at(at + "step ".len());
            out.push_str(before);
            let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = after.split_at(n_digits);
            let step = number.parse().ok().map(Step);
            match step.filter(|_| is_failing).and_then(|step| self.alignment.reference(step)) {
                Some(other) => out.push_str(&other.0.to_string()),
                None => out.push_str(number),
            }
            rest = behind;
        }
        out + rest
    }
}

/// A text with `0x` for each address in it.
fn without_addresses(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let (before, after) = rest.split_at(at + 2);
        out.push_str(before);
        rest = after.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
    }
    out + rest
}

/// The statement of each step of a run, by a number from 1; and where each statement is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statements {
    /// By step, from [`Step::START`].
    pub of_steps: Vec<u32>,
    /// By number, from 0, which is none.
    pub places: Vec<Option<Place>>,
    /// By number: the number of its line; 0 for none.
    pub lines: Vec<u32>,
    /// By the number of the function, and by statement in it: the number of the statement; 0 if it has none yet.
    known: Vec<Vec<u32>>,
    known_lines: HashMap<Place, u32>,
}

impl Statements {
    /// Of a run.
    ///
    /// Cost: one pass over the run.
    pub fn read(player: &mut Player) -> Result<Self, TraceError> {
        let mut found = Self::new();
        player.seek(0)?;
        player.play(&mut found)?;
        Ok(found)
    }

    /// The function of each statement, by the number of the statement: [`Shape::index`](crate::trace::native::shape::Shape::index);
    /// [`u32::MAX`] for none.
    pub fn functions(&self) -> Vec<u32> {
        let mut found = vec![u32::MAX; self.places.len()];
        for (function, numbers) in (0_u32..).zip(&self.known) {
            for number in numbers.iter().filter(|number| **number != 0) {
                found[*number as usize] = function;
            }
        }
        found
    }

    /// Before the first step; it watches the run.
    pub fn new() -> Self {
        Self { of_steps: vec![0], places: vec![None], lines: vec![0], ..Self::default() }
    }

    fn number(&mut self, frame: &Frame) -> u32 {
        let (function, statement) = (frame.shape.index as usize, frame.statement as usize);
        if self.known.len() <= function {
            self.known.resize(function + 1, Vec::new());
        }
        let of = &mut self.known[function];
        if of.is_empty() {
            of.resize(frame.shape.statements.len(), 0);
        }
        if of[statement] == 0 {
            of[statement] = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let place = frame.place().cloned();
            let next = u32::try_from(self.known_lines.len() + 1).unwrap_or(u32::MAX);
            let line = place.clone().filter(|place| place.line > 0 && !is_bare_return(frame));
            let line = line.map(|place| Place { column: 0, ..place });
            self.lines.push(line.map_or(0, |line| *self.known_lines.entry(line).or_insert(next)));
            self.places.push(place);
        }
        self.known[function][statement]
    }
}

impl Watch for Statements {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let number = self.number(frame);
        self.of_steps.push(number);
    }
}

/// Whether the current statement only returns what a `return` before it stored in a variable of the compiler: it stands at
/// the closing brace.
fn is_bare_return(frame: &Frame) -> bool {
    let statement = frame.current();
    let function = &frame.shape.body.function;
    let all = &function.block(statement.block).instructions[statement.first..statement.end];
    let [load, end] = all else { return false };
    if load.op != Op::Load || end.op != Op::Return || end.operands.len() != 1 {
        return false;
    }
    let is_named = |slot: ValueId| function.declarations.iter().any(|known| known.address == slot);
    matches!(load.operands.first().map(|operand| &operand.value), Some(Value::Local(slot)) if !is_named(*slot))
}
