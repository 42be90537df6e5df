//! A passing run beside the failing one: what a version of the failing run held there.
//!
//! What holds in both runs does not tell them apart. An invariant that leaves it out says why the one fails and the other
//! does not.
//!
//! Source: Weeratunge, Zhang, Sumner and Jagannathan 2010, "Analyzing Concurrency Bugs Using Dual Slicing": only what
//! differs between a failing and a passing run is followed, in both. Deviation: here it is conditions that differ, and the
//! passing run is followed only from what it stored and the failing run did not, up to the decision that skipped it.

use crate::align::Alignment;
use crate::invariant::history::{Because, HistoryVersion};
use crate::native::origin::is_input;
use idd_trace::logic::term::{TermId, TermNode, Terms, UnaryTerm, mask};
use idd_trace::native::event::{EventTime, StepEvent};
use idd_trace::native::symbolic::version::AssignedPlace;
use idd_trace::native::symbolic::{Evaluated, Symbolic, WrittenSource};
use idd_trace::native::{NativeCall, NativeMachine, NativePlayer, Watch};
use idd_trace::{Step, TraceError};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::discriminant;
use std::rc::Rc;

/// Input calls that only one run made, of which the decisions are followed.
const MAX_CALLS: usize = 8;

/// Steps among which the last one of both runs is looked for; else it is the decision before them.
const MAX_STEPS: usize = 20_000;

/// A statement of the failing run because of which something is not done as in the passing run: a decision, or what the
/// reason is else.
pub type OmittedStatement = (Step, Option<Because>);

/// Two corresponding events as terms, the failing one first; and the event of the passing run.
type EventPair = (Rc<Evaluated>, Rc<Evaluated>, Rc<StepEvent>);

/// The versions of the passing run that correspond to those of the failing one.
type Pairs = HashMap<HistoryVersion, HistoryVersion>;

/// The failing run.
pub struct FailingRun<'f, 's> {
    /// Its events as terms.
    pub symbolic: &'f mut Symbolic<'s>,
    /// The terms.
    pub terms: &'f mut Terms,
}

/// A passing run.
pub struct PassingTerms<'p> {
    symbolic: Symbolic<'p>,
    terms: Terms,
    alignment: Alignment,
    /// By event of the failing run: of the versions that it reads.
    pairs: HashMap<EventTime, Rc<Pairs>>,
    /// The input calls of both runs, once they were asked for: the failing one first.
    inputs: Option<[InputSteps; 2]>,
}

impl<'p> PassingTerms<'p> {
    /// - `alignment`: from the failing run to this one.
    pub fn new(symbolic: Symbolic<'p>, alignment: Alignment) -> Self {
        Self { symbolic, terms: Terms::default(), alignment, pairs: HashMap::new(), inputs: None }
    }

    /// The event that corresponds to one of the failing run, if it has the same instructions.
    pub fn counterpart(
        &mut self,
        ours: &mut Symbolic<'_>,
        moment: EventTime,
    ) -> Result<Option<Rc<StepEvent>>, TraceError> {
        let Some(event) = ours.tape.event(moment)? else { return Ok(None) };
        let Some(step) = self.alignment.reference(event.step) else { return Ok(None) };
        let place = ours.tape.moments(event.step).position(|other| other == moment);
        let Some(theirs) = place.and_then(|place| self.symbolic.tape.moments(step).nth(place)) else {
            return Ok(None);
        };
        let Some(other) = self.symbolic.tape.event(theirs)? else { return Ok(None) };
        let [one, two] = [&event, &other].map(|event| event.block_instructions().get(event.range.clone()));
        let (Some(one), Some(two)) = (one, two) else { return Ok(None) };
        let is_same = one.len() == two.len()
            && one.iter().zip(two).all(|(one, two)| discriminant(&one.op) == discriminant(&two.op));
        Ok(is_same.then_some(other))
    }

    /// Both events as terms, and the one of the passing run.
    fn both(&mut self, run: &mut FailingRun<'_, '_>, moment: EventTime) -> Result<Option<EventPair>, TraceError> {
        let Some(event) = self.counterpart(run.symbolic, moment)? else { return Ok(None) };
        let ours = run.symbolic.evaluated(run.terms, moment)?;
        let theirs = self.symbolic.evaluated(&mut self.terms, event.moment)?;
        Ok(ours.zip(theirs).map(|(ours, theirs)| (ours, theirs, event)))
    }

    /// The versions that an event reads, with those that the corresponding event reads.
    fn pairs(&mut self, run: &mut FailingRun<'_, '_>, moment: EventTime) -> Result<Rc<Pairs>, TraceError> {
        if let Some(pairs) = self.pairs.get(&moment) {
            return Ok(Rc::clone(pairs));
        }
        let mut pairs = Pairs::new();
        if let Some((ours, theirs, other)) = self.both(run, moment)?
            && let Some(event) = run.symbolic.tape.event(moment)?
        {
            let mut pairing = Pairing { ours: run.terms, theirs: &self.terms, pairs, seen: HashSet::new() };
            let instructions = |event: &StepEvent| event.block_instructions()[event.range.clone()].to_vec();
            for (one, two) in instructions(&event).iter().zip(&instructions(&other)) {
                let value = |evaluated: &Evaluated, id| evaluated.values.get(&id?).copied().flatten();
                pairing.pair(value(&ours, one.result).zip(value(&theirs, two.result)));
            }
            for (one, two) in ours.arguments.iter().zip(&theirs.arguments) {
                pairing.pair(one.zip(*two));
            }
            pairing.pair(ours.returned.zip(theirs.returned));
            pairing.pair(ours.condition.zip(theirs.condition));
            for (one, two) in ours.stored.iter().zip(&theirs.stored) {
                pairing.pair(one.pointer.zip(two.pointer));
                if let (
                    WrittenSource::Term(one) | WrittenSource::Filled(one),
                    WrittenSource::Term(two) | WrittenSource::Filled(two),
                ) = (&one.source, &two.source)
                {
                    pairing.pair(Some((*one, *two)));
                }
            }
            pairs = pairing.pairs;
        }
        let pairs = Rc::new(pairs);
        self.pairs.insert(moment, Rc::clone(&pairs));
        Ok(pairs)
    }

    /// What a version that an event reads held in the passing run; `None` if nothing corresponds to it there. The address
    /// of a text is the same if the text is.
    pub fn value(
        &mut self,
        run: &mut FailingRun<'_, '_>,
        moment: EventTime,
        version: HistoryVersion,
    ) -> Result<Option<u64>, TraceError> {
        let Some(theirs) = self.held(run, moment, version)? else { return Ok(None) };
        let ours = run.symbolic.versions.get(version);
        if ours.width < 64 {
            return Ok(Some(theirs));
        }
        let text = run.symbolic.tape.player.machine.globals.literal(ours.value);
        Ok(match (text, self.symbolic.tape.player.machine.globals.literal(theirs)) {
            (None, _) => Some(theirs),
            (Some(text), other) => Some(ours.value).filter(|_| other == Some(text)),
        })
    }

    /// The value of a version, as a number.
    fn held(
        &mut self,
        run: &mut FailingRun<'_, '_>,
        moment: EventTime,
        version: HistoryVersion,
    ) -> Result<Option<u64>, TraceError> {
        let pairs = self.pairs(run, moment)?;
        if let Some(other) = pairs.get(&version) {
            return Ok(Some(self.symbolic.versions.get(*other).value));
        }
        let known = run.symbolic.versions.get(version).clone();
        if let AssignedPlace::Pointer(address, length) = known.place
            && let Some(stored) = run.symbolic.versions.find(AssignedPlace::Memory(address, length), known.assigned)
            && let Some(other) = pairs.get(&stored)
        {
            let other = self.symbolic.versions.get(*other).clone();
            let AssignedPlace::Memory(address, _) = other.place else { return Ok(None) };
            let is_same = self.is_same_writer(run.symbolic, known.assigned, other.assigned)?;
            return Ok(is_same.then_some(address));
        }
        self.assigned(run, version)
    }

    /// Whether the decision that corresponds to one went the same way; `None` if there is none.
    pub fn went_the_same_way(
        &mut self,
        run: &mut FailingRun<'_, '_>,
        moment: EventTime,
    ) -> Result<Option<bool>, TraceError> {
        let both = self.both(run, moment)?;
        Ok(both.map(|(ours, theirs, _)| ours.chosen == theirs.chosen))
    }

    /// Whether corresponding steps assigned something.
    fn is_same_writer(
        &mut self,
        ours: &mut Symbolic<'_>,
        one: Option<EventTime>,
        two: Option<EventTime>,
    ) -> Result<bool, TraceError> {
        let (Some(one), Some(two)) = (one, two) else { return Ok(one == two) };
        let (one, two) = (ours.tape.event(one)?, self.symbolic.tape.event(two)?);
        Ok(one.zip(two).is_some_and(|(one, two)| self.alignment.is_same(one.step, two.step)))
    }

    /// What the passing run assigned where the failing one assigned a version.
    fn assigned(&mut self, run: &mut FailingRun<'_, '_>, version: HistoryVersion) -> Result<Option<u64>, TraceError> {
        let known = run.symbolic.versions.get(version).clone();
        let Some(moment) = known.assigned else { return Ok(None) };
        let Some((ours, theirs, _)) = self.both(run, moment)? else { return Ok(None) };
        let value = |term: Option<TermId>| Some(self.symbolic.versions.value(&self.terms, term?));
        Ok(match known.place {
            AssignedPlace::Memory(address, length) | AssignedPlace::Pointer(address, length) => {
                let end = address.saturating_add(length);
                let covers = |begin: u64, n: u64| begin <= address && end <= begin.saturating_add(n);
                let Some(nth) = ours.stored.iter().rposition(|one| covers(one.address, one.length)) else {
                    return Ok(None);
                };
                let Some(other) = theirs.stored.get(nth).filter(|other| other.length == ours.stored[nth].length) else {
                    return Ok(None);
                };
                let offset = address - ours.stored[nth].address;
                match (&other.source, known.place) {
                    (_, AssignedPlace::Pointer(..)) => Some(other.address.wrapping_add(offset)),
                    (WrittenSource::Term(term), _) if offset < 8 => {
                        value(Some(*term)).map(|bits| bits >> (8 * offset) & mask(known.width))
                    }
                    (WrittenSource::Filled(byte), _) if known.width == 8 => value(Some(*byte)),
                    _ => None,
                }
            }
            AssignedPlace::Parameter(_, index) => value(theirs.arguments.get(index as usize).copied().flatten()),
            AssignedPlace::Result(_) => value(theirs.returned),
            AssignedPlace::Pinned(..) => None,
        })
    }

    /// The statements of the failing run because of which it did not store what the passing run stored, and read in the
    /// event that corresponds to this one.
    pub fn omissions(
        &mut self,
        run: &mut FailingRun<'_, '_>,
        moment: EventTime,
    ) -> Result<Vec<OmittedStatement>, TraceError> {
        let pairs = self.pairs(run, moment)?;
        let mut found: BTreeMap<Step, Option<Because>> = BTreeMap::new();
        for (version, other) in &*pairs {
            let Some(assigned) = self.symbolic.versions.get(*other).assigned else { continue };
            let Some(event) = self.symbolic.tape.event(assigned)? else { continue };
            found.extend(self.skipped(run, event.step)?);
            let known = run.symbolic.versions.get(*version).clone();
            if let (Some(ours), AssignedPlace::Memory(address, length)) =
                (self.alignment.failing(event.step), known.place)
                && !self.is_same_writer(run.symbolic, known.assigned, Some(assigned))?
                && !writes(run.symbolic, ours, address, length)?
            {
                // The statement is another one here, or it stores at another address.
                let is_same = self.is_in_both(run.symbolic, ours)?;
                found.insert(ours, Some(if is_same { Because::Elsewhere } else { Because::Parts }));
            }
        }
        let here = run.symbolic.tape.event(moment)?;
        for maker in here.as_ref().map(|event| self.read_otherwise(run, event.step)).transpose()?.into_iter().flatten()
        {
            found.extend(self.skipped(run, maker)?);
        }
        if let Some(event) = here
            && event.back.as_ref().and_then(|back| back.library.as_ref()).is_some_and(|(call, _)| is_input(call))
        {
            found.extend(self.shifted(run, event.step)?);
        }
        Ok(found.into_iter().collect())
    }

    /// The steps of the passing run that wrote the first byte that a function of the library read otherwise in a step of the failing run.
    fn read_otherwise(&mut self, run: &mut FailingRun<'_, '_>, step: Step) -> Result<Vec<Step>, TraceError> {
        let Some(other) = self.alignment.reference(step) else { return Ok(Vec::new()) };
        let moments: Vec<_> = run.symbolic.tape.moments(step).zip(self.symbolic.tape.moments(other)).collect();
        let mut makers = Vec::new();
        for (ours, theirs) in moments {
            let (ours, theirs) = (run.symbolic.tape.event(ours)?, self.symbolic.tape.event(theirs)?);
            let looked = |event: Option<Rc<StepEvent>>| {
                let back = event.and_then(|event| event.back.clone()).filter(|back| back.library.is_some());
                back.map(|back| back.access.looked).unwrap_or_default()
            };
            for (one, two) in looked(ours).iter().zip(&looked(theirs)) {
                let mut bytes = one.bytes.iter().zip(&two.bytes);
                makers.extend(bytes.find(|(one, two)| one.0 != two.0).map(|(_, (_, maker))| *maker));
            }
        }
        Ok(makers)
    }

    /// Whether a step of the failing run corresponds to one with the same instructions.
    fn is_in_both(&mut self, ours: &mut Symbolic<'_>, step: Step) -> Result<bool, TraceError> {
        let first = ours.tape.moments(step).next();
        Ok(first.map(|first| self.counterpart(ours, first)).transpose()?.flatten().is_some())
    }

    /// Where both runs parted before a step that only the failing run made, if no decision was the reason: because a
    /// statement was added or removed that leaves the function. The last step of both runs, and the first one after it.
    pub fn parting(
        &mut self,
        run: &mut FailingRun<'_, '_>,
        step: Step,
        decider: Step,
    ) -> Result<Vec<Step>, TraceError> {
        if self.is_in_both(run.symbolic, step)? || !self.is_in_both(run.symbolic, decider)? {
            return Ok(Vec::new());
        }
        if let Some(moment) = run.symbolic.tape.moments(decider).next_back()
            && self.went_the_same_way(run, moment)? == Some(false)
        {
            return Ok(Vec::new());
        }
        let mut last = decider;
        for before in (decider.0..step.0).rev().take(MAX_STEPS).map(Step) {
            if self.alignment.reference(before).is_some() && self.is_in_both(run.symbolic, before)? {
                last = before;
                break;
            }
        }
        // A call before it was the last step of both.
        let here = run.symbolic.around(step)?.map(|(frame, ..)| frame);
        let first = Step(last.0 + 1);
        while last > decider
            && let Some((other, _, caller)) = run.symbolic.around(last)?
            && Some(other) != here
        {
            last = caller;
        }
        Ok([last, first].into_iter().filter(|parting| *parting < step).collect())
    }

    /// Why a step ran in the passing run only: the last decision of both before it; or, if that went the same way, the last
    /// step of both in its function, and the one after it if that ran in the failing run only. Nothing if it ran in both.
    pub fn skipped(&mut self, run: &mut FailingRun<'_, '_>, step: Step) -> Result<Vec<OmittedStatement>, TraceError> {
        let (mut outer, mut decision) = (step, step);
        while decision != Step::START && self.alignment.failing(decision).is_none() {
            outer = decision;
            decision = self.symbolic.around(decision)?.map_or(Step::START, |(_, decider, _)| decider);
        }
        let Some(ours) = self.alignment.failing(decision).filter(|_| decision != step) else { return Ok(Vec::new()) };
        let last = run.symbolic.tape.moments(ours).next_back();
        let way = last.map(|last| self.went_the_same_way(run, last)).transpose()?.flatten();
        if way == Some(false) {
            return Ok(vec![(ours, None)]);
        }
        // In the function of the outermost call that only the passing run made.
        let here = self.symbolic.around(outer)?.map(|(frame, ..)| frame);
        let mut last = decision;
        for before in (decision.0..outer.0).rev().take(MAX_STEPS).map(Step) {
            if self.alignment.failing(before).is_some()
                && self.symbolic.around(before)?.map(|(frame, ..)| frame) == here
            {
                last = before;
                break;
            }
        }
        let Some(parting) = self.alignment.failing(last) else { return Ok(Vec::new()) };
        let next = Step(parting.0 + 1);
        let is_new = !self.is_in_both(run.symbolic, next)?;
        Ok([parting, next]
            .into_iter()
            .take(1 + usize::from(is_new))
            .map(|parting| (parting, Some(Because::Parts)))
            .collect())
    }

    /// Decisions because of which the failing run is at another place of its input than the passing one, when a step of it
    /// reads: those of the input calls that only one of them made since they last were at the same place.
    fn shifted(&mut self, run: &mut FailingRun<'_, '_>, step: Step) -> Result<Vec<OmittedStatement>, TraceError> {
        let Some(other) = self.alignment.reference(step) else { return Ok(Vec::new()) };
        if self.inputs.is_none() {
            self.inputs = Some([inputs(run.symbolic.tape.player)?, inputs(self.symbolic.tape.player)?]);
        }
        let Some([one, two]) = &self.inputs else { return Ok(Vec::new()) };
        let place = |inputs: &InputSteps, step: Step| {
            let at = inputs.partition_point(|(other, _)| *other < step);
            (at, at.checked_sub(1).map_or(0, |at| inputs[at].1))
        };
        let ((end, here), (other_end, there)) = (place(one, step), place(two, other));
        if here == there {
            return Ok(Vec::new());
        }
        let (mut begin, mut other_begin) = (0, 0);
        for (at, (step, moved)) in one[..end].iter().enumerate().rev() {
            let Some(other) = self.alignment.reference(*step) else { continue };
            let other_at = two.partition_point(|(step, _)| *step <= other);
            if other_at.checked_sub(1).is_some_and(|at| two[at].1 == *moved) {
                (begin, other_begin) = (at + 1, other_at);
                break;
            }
        }
        let added: Vec<Step> = one[begin..end]
            .iter()
            .map(|(step, _)| *step)
            .filter(|step| self.alignment.reference(*step).is_none())
            .collect();
        let missing: Vec<Step> = two[other_begin.min(other_end)..other_end].iter().map(|(step, _)| *step).collect();
        let mut found = Vec::new();
        for step in added.into_iter().take(MAX_CALLS) {
            let decider = run.symbolic.around(step)?.map(|(_, decider, _)| decider);
            found.extend(decider.filter(|decider| *decider != Step::START).map(|decider| (decider, None)));
        }
        for step in missing {
            found.extend(self.skipped(run, step)?);
            if found.len() >= MAX_CALLS {
                break;
            }
        }
        Ok(found)
    }
}

/// Whether a step writes a byte of a range.
fn writes(symbolic: &mut Symbolic<'_>, step: Step, address: u64, length: u64) -> Result<bool, TraceError> {
    for moment in symbolic.tape.moments(step) {
        if symbolic.tape.event(moment)?.is_some_and(|event| event.writes(address, length)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The steps that read input, and how far each of them has come: in calls, and `ungetc` goes back.
type InputSteps = Vec<(Step, i64)>;

/// The input calls of a run.
///
/// Cost: one pass over the trace.
fn inputs(player: &mut NativePlayer) -> Result<InputSteps, TraceError> {
    let mut reader = EventReader::default();
    player.replay(&mut reader)?;
    Ok(reader.inputs)
}

#[derive(Default)]
struct EventReader {
    inputs: InputSteps,
    place: i64,
}

impl Watch for EventReader {
    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, _arguments: &[Option<u64>], _result: Option<u64>) {
        let Some(frame) = machine.frame() else { return };
        match call.name.as_deref() {
            Some("ungetc") => self.place -= 1,
            _ if is_input(call) => self.place += 1,
            _ => return,
        }
        self.inputs.push((frame.step, self.place));
    }
}

/// Finds the versions that correspond in two terms.
struct Pairing<'t> {
    ours: &'t Terms,
    theirs: &'t Terms,
    pairs: Pairs,
    seen: HashSet<(TermId, TermId)>,
}

impl Pairing<'_> {
    fn pair(&mut self, both: Option<(TermId, TermId)>) {
        let Some((one, two)) = both else { return };
        if !self.seen.insert((one, two)) {
            return;
        }
        match (self.ours.node(one), self.theirs.node(two)) {
            (TermNode::Variable(ours), TermNode::Variable(theirs)) => {
                if self.ours.width(one) == self.theirs.width(two) {
                    self.pairs.entry(ours).or_insert(theirs);
                }
            }
            // A decision that went the other way.
            (TermNode::Unary(UnaryTerm::Not, inner), other) if !matches!(other, TermNode::Unary(UnaryTerm::Not, _)) => {
                self.pair(Some((inner, two)));
            }
            (other, TermNode::Unary(UnaryTerm::Not, inner)) if !matches!(other, TermNode::Unary(UnaryTerm::Not, _)) => {
                self.pair(Some((one, inner)));
            }
            (ours, theirs) => {
                let is_same = match (ours, theirs) {
                    (TermNode::Unary(ours, _), TermNode::Unary(theirs, _)) => ours == theirs,
                    (TermNode::Binary(ours, ..), TermNode::Binary(theirs, ..)) => ours == theirs,
                    _ => discriminant(&ours) == discriminant(&theirs),
                };
                if is_same {
                    for both in ours.parts().zip(theirs.parts()) {
                        self.pair(Some(both));
                    }
                }
            }
        }
    }
}
