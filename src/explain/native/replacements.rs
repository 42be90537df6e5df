//! What decides a switched decision: the values in the failing run that make the test pass, too, if they are replaced.
//!
//! All that differs in a switched run begins with the switched decision; what the decision uses is the same in both
//! runs. So no chain leads further back, though the fault is often in a value that the decision uses. Here each such
//! value is replaced right after the step that computed it. If the program then does what it does in the switched run,
//! that step is a link, and the values that it uses are replaced in turn. A decision because of which such a step runs
//! is a link if the program does the same with that decision switched.
//!
//! Source: value replacement is of Jeffrey, Gupta and Gupta, "Fault Localization Using Value Replacement" (2008). They
//! replace the values of a statement by those of other runs and rank all statements. Deviation: only values that a link
//! uses are replaced, by values of the same statement elsewhere in the run, by those nearby, and by what the link behind
//! needs; and the program must do exactly what the switched run does. Sumner and Zhang do not go behind the decision.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};

use crate::link::{Did, Link, LinkSubject as Of};
use crate::native::recorded::NativeRecorded;
use crate::native::standing::{giver, standing};
use crate::native::{facts, returns};
use crate::statements::Statements;
use idd_trace::native::detail::detail;
use idd_trace::native::visit::at_step;
use idd_trace::native::{NativeMachine, Watch};
use idd_trace::{Access, Detail, Step, TraceError, UsedThing};

/// Links that are looked for.
const MAX_LINKS: usize = 12;

/// Links of one variable, of the results of one function, and of the decisions of one function.
const MAX_ALIKE: usize = 2;

/// Values that replace one value.
const MAX_VALUES: usize = 14;

/// Instances of a statement whose values are taken.
const MAX_INSTANCES: usize = 64;

/// Replacements that are tried.
pub const MAX_TRIED: usize = 300;

/// A value that replaces another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedValue {
    /// The segment of the process before which it is written, from 1.
    pub from: u64,
    /// Where it is written, and what.
    pub patch: (u64, Vec<u8>),
}

/// Finds the links that lead to a switched decision, in the order of time.
///
/// - `passing`: the decisions with which switched the program does the same.
/// - `passes`: whether the program does the same with a value replaced.
///
/// Cost: at most [`MAX_TRIED`] calls of `passes`, and some passes over the run for each link.
pub fn behind<E: From<TraceError>>(
    recorded: &mut NativeRecorded,
    decision: Step,
    passing: &[Step],
    passes: &mut dyn FnMut(&ReplacedValue) -> Result<bool, E>,
) -> Result<Vec<Link>, E> {
    let statements = facts::statements(&mut recorded.player)?;
    let mut search = BehindSearch {
        recorded,
        statements,
        passing,
        passes,
        n_left: MAX_TRIED,
        seen: HashSet::from([decision]),
        open: VecDeque::from([(decision, PassingChange::Turned)]),
        found: Vec::new(),
    };
    while let Some((step, change)) = search.open.pop_front() {
        if search.found.len() >= MAX_LINKS || search.n_left == 0 {
            break;
        }
        // What a function is entered with is computed by its call.
        search.values(giver(&search.recorded.run, step), step, &change)?;
    }
    // A call returns before what it returned is stored.
    search.found.sort_by_key(|link| (link.time, Reverse(link.step)));
    Ok(search.found)
}

/// What makes the test pass at a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PassingChange {
    /// It decides otherwise.
    Turned,
    /// It computes another value: the old and the new one.
    Value(WrittenNumber, WrittenNumber),
    /// Not known.
    Some,
}

/// A value as it is written in a report.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WrittenNumber {
    Int(i128),
    Float(f64),
}

impl Eq for WrittenNumber {}

/// What a step read: addresses and bytes, in order.
type Accesses = Vec<(u64, Vec<u8>)>;

struct BehindSearch<'s, E> {
    recorded: &'s mut NativeRecorded,
    statements: Statements,
    passing: &'s [Step],
    passes: &'s mut dyn FnMut(&ReplacedValue) -> Result<bool, E>,
    n_left: usize,
    seen: HashSet<Step>,
    open: VecDeque<(Step, PassingChange)>,
    found: Vec<Link>,
}

impl<E: From<TraceError>> BehindSearch<'_, E> {
    /// Looks for what leads to the values that a step uses, as far as they were computed before another one.
    fn values(&mut self, step: Step, until: Step, change: &PassingChange) -> Result<(), E> {
        let Some(detail) = detail(&mut self.recorded.player, step)? else { return Ok(()) };
        self.control(&detail)?;
        self.calls(&detail, until, change)?;
        let elsewhere = self.elsewhere(step)?;
        let own = elsewhere.get(&step).cloned().unwrap_or_default();
        let partners: Vec<WrittenNumber> = detail.reads.iter().filter_map(|read| number(read, &own)).collect();
        for access in &detail.reads {
            self.replace(access, step, change, &own, &elsewhere, &partners)?;
        }
        Ok(())
    }

    /// The decision because of which a step runs.
    fn control(&mut self, detail: &Detail) -> Result<(), E> {
        // The statement that calls a function does not decide about the call.
        let caller = detail.stack.first().map(|(caller, _)| *caller);
        detail.control.filter(|control| Some(*control) != caller).map_or(Ok(()), |control| self.decision(control))
    }

    /// A decision that makes the test pass, too.
    fn decision(&mut self, control: Step) -> Result<(), E> {
        if !self.passing.contains(&control) || !self.seen.insert(control) {
            return Ok(());
        }
        let found = standing(self.recorded, control)?;
        let told = found.outcome.map(|outcome| outcome.told).unwrap_or_default();
        let instead = match &*told {
            "true" => "false",
            "false" => "true",
            _ => return Ok(()),
        };
        self.link(control, control.0, Of::Decision, told, instead.to_owned())?;
        self.open.push_back((control, PassingChange::Turned));
        Ok(())
    }

    /// The calls whose results a step uses, and the steps whose temporary values it uses.
    fn calls(&mut self, detail: &Detail, until: Step, change: &PassingChange) -> Result<(), E> {
        let step = detail.standing.step;
        let (returned, _) = returns::of_step(self.recorded, step, u64::MAX)?;
        let is_used =
            |maker: Step| detail.uses.iter().any(|(other, what)| *other == maker && *what == UsedThing::Returned);
        for back in &returned {
            let is_later = until != step && back.step > until;
            if is_later || back.step == Step::START || !is_used(back.step) || !self.seen.insert(back.step) {
                continue;
            }
            let is_all = returned.len() == 1;
            let instead = match change {
                // The decision uses nothing else.
                PassingChange::Turned if is_all && detail.reads.is_empty() => {
                    Some(if back.bits == 0 { "another value" } else { "0" }.to_owned())
                }
                PassingChange::Value(WrittenNumber::Int(old), new)
                    if is_all && low(*old) == low(i128::from(back.bits)) =>
                {
                    Some(written(*new, &back.text))
                }
                _ => None,
            };
            if let Some(instead) = &instead {
                self.link(back.step, back.step.0, Of::Call(back.function.clone()), back.text.clone(), instead.clone())?;
            }
            let next = if instead.is_some() { change.clone() } else { PassingChange::Some };
            self.open.push_back((back.step, next));
        }
        for (maker, what) in &detail.uses {
            let is_part = matches!(what, UsedThing::Temporary | UsedThing::Decision);
            if !is_part || *maker == Step::START || (until != step && *maker > until) {
                continue;
            }
            self.decision(*maker)?;
            if self.seen.insert(*maker) {
                self.open.push_back((*maker, PassingChange::Some));
            }
        }
        Ok(())
    }

    /// Replaces a value that a step reads.
    fn replace(
        &mut self,
        access: &Access,
        step: Step,
        change: &PassingChange,
        own: &Accesses,
        elsewhere: &HashMap<Step, Accesses>,
        partners: &[WrittenNumber],
    ) -> Result<(), E> {
        let Some(maker) = access.makers.iter().max().copied().filter(|maker| *maker != Step::START) else {
            return Ok(());
        };
        if maker >= step || self.seen.contains(&maker) {
            return Ok(());
        }
        let Some(index) = own.iter().position(|(address, bytes)| is_of(access, *address, bytes)) else {
            return Ok(());
        };
        let bytes = &own[index].1;
        let made = detail(&mut self.recorded.player, maker)?;
        if made.is_none_or(|made| brings_input(&made)) {
            // With another input, the program does something else: that says nothing about the program.
            return Ok(());
        }
        let mut wrote = Wrote { place: (access.address, access.size), moment: (0, 0) };
        at_step(&mut self.recorded.player, maker, &mut wrote)?;
        let (n_records, time) = wrote.moment;
        if n_records == 0 {
            return Ok(());
        }
        let old = number(access, own);
        let other = |(at, reads): (&Step, &Accesses)| {
            let same = reads.get(index).filter(|(_, other)| other.len() == bytes.len() && other != bytes)?;
            Some((at.0.abs_diff(step.0), same.1.clone()))
        };
        let mut others: Vec<(u32, Vec<u8>)> = elsewhere.iter().filter_map(other).collect();
        others.sort();
        let others: Vec<Vec<u8>> = others.into_iter().map(|(_, bytes)| bytes).collect();
        for new in candidates(old, bytes, change, partners, &others) {
            if self.n_left == 0 {
                break;
            }
            self.n_left -= 1;
            let replacement = ReplacedValue { from: n_records + 1, patch: (access.address, new.clone()) };
            if !(self.passes)(&replacement)? {
                continue;
            }
            self.seen.insert(maker);
            let text = access.named.value.clone().unwrap_or_default();
            let new = old.map(|old| read(old, &new));
            let instead = new.map_or_else(|| "another pointer".to_owned(), |new| written(new, &text));
            self.link(maker, time, Of::Variable(access.named.name.clone()), text, instead)?;
            let next = old.zip(new).map_or(PassingChange::Some, |(old, new)| PassingChange::Value(old, new));
            self.open.push_back((maker, next));
            break;
        }
        Ok(())
    }

    /// What the instances of a step's statement read, the nearest ones.
    fn elsewhere(&mut self, step: Step) -> Result<HashMap<Step, Accesses>, E> {
        let of_steps = &self.statements.of_steps;
        let statement = of_steps.get(step.0 as usize).copied().unwrap_or(0);
        let same = (0_u32..).zip(of_steps).filter(|(_, other)| **other == statement).map(|(at, _)| Step(at));
        let mut same: Vec<Step> = same.collect();
        same.sort_by_key(|other| other.0.abs_diff(step.0));
        same.truncate(MAX_INSTANCES);
        let mut reads = ReadsOfSteps { steps: same.into_iter().collect(), found: HashMap::new() };
        self.recorded.player.replay(&mut reads)?;
        Ok(reads.found)
    }

    fn link(&mut self, step: Step, time: u32, what: Of, value: String, instead: String) -> Result<(), E> {
        let found = standing(self.recorded, step)?;
        if found.place.as_ref().is_none_or(|place| place.line == 0) {
            return Ok(());
        }
        let is_alike = |link: &&Link| match &link.did {
            Did::Replaced { what: other, .. } => *other == what && link.function == found.function,
            _ => false,
        };
        if self.found.iter().filter(is_alike).count() >= MAX_ALIKE {
            return Ok(());
        }
        let link = Link::new(step, time.into(), Did::Replaced { what, value, instead });
        self.found.push(Link { reference: Some(step), function: found.function, place: found.place, ..link });
        Ok(())
    }
}

/// Whether a step reads from outside of the process, or the arguments of the program.
fn brings_input(detail: &Detail) -> bool {
    let is_argument = |access: &Access| access.origin.as_ref().is_some_and(|origin| origin.starts_with("argument"));
    detail.calls.iter().any(|call| call.is_input) || detail.reads.iter().any(is_argument)
}

fn is_of(access: &Access, address: u64, bytes: &[u8]) -> bool {
    access.address == address && access.size == bytes.len() as u64 && matches!(bytes.len(), 1 | 2 | 4 | 8)
}

/// The number that was read; `None` for a pointer, and for what is not one value.
fn number(access: &Access, own: &[(u64, Vec<u8>)]) -> Option<WrittenNumber> {
    let (_, bytes) = own.iter().find(|(address, bytes)| is_of(access, *address, bytes))?;
    let text = access.named.value.as_deref()?;
    if text.parse::<i128>().is_err()
        && let Ok(float) = text.parse::<f64>()
        && matches!(bytes.len(), 4 | 8)
    {
        return Some(read(WrittenNumber::Float(float), bytes));
    }
    let is_number = text.parse::<i128>().is_ok() || bytes.len() < 8;
    is_number.then(|| read(WrittenNumber::Int(text.parse().unwrap_or(0)), bytes))
}

/// Bytes as a number of the same kind: of an integer that was not below 0 in a signed type, the sign is not known.
fn read(like: WrittenNumber, bytes: &[u8]) -> WrittenNumber {
    match (like, bytes.len()) {
        (WrittenNumber::Float(_), 4) => {
            WrittenNumber::Float(f32::from_le_bytes(bytes.try_into().unwrap_or_default()).into())
        }
        (WrittenNumber::Float(_), _) => WrittenNumber::Float(f64::from_le_bytes(bytes.try_into().unwrap_or_default())),
        (WrittenNumber::Int(_), n) => {
            let mut wide = [if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 }; 16];
            wide[..n.min(16)].copy_from_slice(&bytes[..n.min(16)]);
            WrittenNumber::Int(i128::from_le_bytes(wide))
        }
    }
}

fn bytes_of(number: WrittenNumber, n: usize) -> Vec<u8> {
    match (number, n) {
        #[expect(clippy::cast_possible_truncation, reason = "the variable is that short")]
        (WrittenNumber::Float(float), 4) => (float as f32).to_le_bytes().to_vec(),
        (WrittenNumber::Float(float), _) => float.to_le_bytes().to_vec(),
        (WrittenNumber::Int(int), n) => int.to_le_bytes()[..n.min(16)].to_vec(),
    }
}

/// The low 32 bits, by which values of unlike width are compared.
fn low(int: i128) -> i128 {
    int & 0xffff_ffff
}

/// A number as the text of another one is written.
fn written(number: WrittenNumber, like: &str) -> String {
    match number {
        WrittenNumber::Int(int) => {
            match u8::try_from(int).ok().filter(|byte| like.starts_with('\'') && byte.is_ascii_graphic()) {
                Some(byte) => format!("'{}'", char::from(byte)),
                None => int.to_string(),
            }
        }
        WrittenNumber::Float(float) => float.to_string(),
    }
}

/// What a value is replaced by, in this order.
fn candidates(
    old: Option<WrittenNumber>,
    bytes: &[u8],
    change: &PassingChange,
    partners: &[WrittenNumber],
    others: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    let n = bytes.len();
    let mut all: Vec<Vec<u8>> = Vec::new();
    let numbers: Vec<WrittenNumber> = match old {
        Some(WrittenNumber::Int(old)) => {
            let ints = partners.iter().filter_map(|partner| match partner {
                WrittenNumber::Int(int) => Some(*int),
                WrittenNumber::Float(_) => None,
            });
            let wanted = match change {
                // What was copied, and what another value was added to.
                PassingChange::Value(WrittenNumber::Int(before), WrittenNumber::Int(after)) => {
                    vec![*after, old + after - before, old - after + before]
                }
                _ => Vec::new(),
            };
            let near = [old + 1, old - 1];
            let around = ints.flat_map(|int| [int, int + 1, int - 1]);
            wanted.into_iter().chain(near).chain(around).chain([0, 1, -1, -old]).map(WrittenNumber::Int).collect()
        }
        Some(WrittenNumber::Float(old)) => {
            let floats = partners.iter().filter_map(|partner| match partner {
                WrittenNumber::Float(float) => Some(*float),
                WrittenNumber::Int(_) => None,
            });
            let wanted = match change {
                PassingChange::Value(WrittenNumber::Float(before), WrittenNumber::Float(after)) => {
                    vec![*after, old + after - before]
                }
                _ => Vec::new(),
            };
            let around = floats.flat_map(|float| [float, float + 1.0, float - 1.0]);
            wanted.into_iter().chain(around).chain([0.0, 1.0, -old]).map(WrittenNumber::Float).collect()
        }
        None => Vec::new(),
    };
    let n_near = if matches!(change, PassingChange::Value(..)) { 3 } else { 2 };
    let numbers: Vec<Vec<u8>> = numbers.into_iter().map(|number| bytes_of(number, n)).collect();
    let (first, last) = numbers.split_at(n_near.min(numbers.len()));
    let null = if old.is_none() { vec![vec![0; n]] } else { Vec::new() };
    for next in first.iter().chain(others.iter().take(MAX_VALUES / 2)).chain(last).chain(&null) {
        if next != bytes && !all.contains(next) {
            all.push(next.clone());
        }
    }
    all.truncate(MAX_VALUES);
    all
}

/// What some steps read.
struct ReadsOfSteps {
    steps: HashSet<Step>,
    found: HashMap<Step, Accesses>,
}

impl Watch for ReadsOfSteps {
    fn reads(&mut self, _machine: &NativeMachine, step: Step, address: u64, bytes: &[u8]) {
        if self.steps.contains(&step) {
            self.found.entry(step).or_default().push((address, bytes.to_vec()));
        }
    }
}

/// When a step wrote to a place last.
struct Wrote {
    place: (u64, u64),
    /// Records and steps by then, 0 if it did not.
    moment: (u64, u32),
}

impl Watch for Wrote {
    fn writes(&mut self, machine: &NativeMachine, _step: Step, address: u64, length: u64) {
        let (begin, size) = self.place;
        if address < begin + size && begin < address + length {
            self.moment = (machine.n_records, machine.n_steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(change: &PassingChange, old: i128, partners: &[i128], others: &[i128]) -> Vec<i128> {
        let bytes = |int: i128| bytes_of(WrittenNumber::Int(int), 4);
        let partners: Vec<WrittenNumber> = partners.iter().copied().map(WrittenNumber::Int).collect();
        let others: Vec<Vec<u8>> = others.iter().copied().map(bytes).collect();
        let found = candidates(Some(WrittenNumber::Int(old)), &bytes(old), change, &partners, &others);
        let int = |bytes: &Vec<u8>| match read(WrittenNumber::Int(0), bytes) {
            WrittenNumber::Int(int) => int,
            WrittenNumber::Float(_) => panic!("an integer stays one"),
        };
        found.iter().map(int).collect()
    }

    #[test]
    fn a_value_is_replaced_by_what_the_next_link_needs_then_by_its_neighbours() {
        let change = PassingChange::Value(WrittenNumber::Int(10), WrittenNumber::Int(8));
        assert_eq!(ints(&change, 5, &[5], &[70]), [8, 3, 7, 70, 6, 4, 0, 1, -1, -5]);
        assert_eq!(ints(&PassingChange::Turned, 5, &[5, 9], &[]), [6, 4, 9, 10, 8, 0, 1, -1, -5]);
        assert_eq!(ints(&PassingChange::Turned, 0, &[], &[]), [1, -1]);
        let many: Vec<i128> = (100..200).collect();
        assert_eq!(ints(&PassingChange::Turned, 5, &many, &many).len(), MAX_VALUES);
    }

    #[test]
    fn a_pointer_is_replaced_by_others_and_by_null() {
        let other = 0x1234_u64.to_le_bytes().to_vec();
        let found =
            candidates(None, &[1, 0, 0, 0, 0, 0, 0, 0], &PassingChange::Some, &[], std::slice::from_ref(&other));
        assert_eq!(found, [other, vec![0; 8]]);
    }

    #[test]
    fn numbers_keep_their_kind_and_their_way_to_be_written() {
        assert_eq!(read(WrittenNumber::Int(0), &[0xff, 0xff]), WrittenNumber::Int(-1));
        assert_eq!(read(WrittenNumber::Float(0.0), &1.5_f32.to_le_bytes()), WrittenNumber::Float(1.5));
        assert_eq!(bytes_of(WrittenNumber::Float(0.1), 8), 0.1_f64.to_le_bytes());
        assert_eq!(written(WrittenNumber::Int(65), "'x'"), "'A'");
        assert_eq!(written(WrittenNumber::Int(65), "66"), "65");
        assert_eq!(written(WrittenNumber::Int(10), "'x'"), "10");
        let floats = candidates(
            Some(WrittenNumber::Float(2.0)),
            &2.0_f64.to_le_bytes(),
            &PassingChange::Value(WrittenNumber::Float(3.0), WrittenNumber::Float(4.0)),
            &[WrittenNumber::Float(2.0)],
            &[],
        );
        assert_eq!(floats[..2], [4.0_f64.to_le_bytes().to_vec(), 3.0_f64.to_le_bytes().to_vec()]);
    }
}
