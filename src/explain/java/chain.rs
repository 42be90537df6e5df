//! The way back from a failure over what differs from the reference, up to where the difference begins.
//!
//! A step **differs** if the reference has no step that corresponds, or if that wrote, returned or decided otherwise. From
//! a step that differs the way goes on to the steps that made the values which differ there; if the reference has what
//! the failing run left out, to the decision around that; from a step that the reference does not have, to the decision
//! because of which it runs. The shortest way to a step of the change is the chain.
//!
//! Source: Sumner and Zhang, section 2, for what a chain is. Deviation: the way is not chosen by experiments, as their causal
//! state minimisation does. Each link is a dependence that was observed, and is tested afterwards.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use crate::align::{Alignment, beside};
use crate::java::comparable_run::{TakenRun, Use};
use idd_trace::Step;

/// Two runs.
pub struct RunPair<'p> {
    /// The failing run.
    pub failing: &'p TakenRun,
    /// The reference.
    pub reference: &'p TakenRun,
    /// Which steps correspond.
    pub alignment: &'p Alignment,
}

/// A step because of which another one differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// The step of the failing run.
    pub step: Step,
    /// The step of the reference that wrote the value, if the failing run left that out: `step` stands for it.
    pub omitted: Option<Step>,
    /// Whether `step` differs itself, or something was left out.
    is_needed: bool,
}

/// Where a chain begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JavaChainBegin {
    /// At a step that the change touches.
    Change,
    /// At a step that does something else with the same values, and that the change does not touch.
    Elsewhere,
    /// At the failure: nothing before it differs.
    Failure,
}

/// A chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaChain {
    /// The steps of the failing run, each with the one after it that it causes; the last one is that of the failure.
    pub steps: Vec<Cause>,
    /// Where it begins.
    pub begin: JavaChainBegin,
}

impl RunPair<'_> {
    /// Whether a step differs.
    pub fn differs(&self, step: Step) -> bool {
        let Some(other) = self.alignment.reference(step) else { return step != Step::START };
        self.failing.did[step.0 as usize] != self.reference.did[other.0 as usize] || self.decides_otherwise(step, other)
    }

    /// Whether a step and that of the reference decide otherwise.
    pub fn decides_otherwise(&self, step: Step, other: Step) -> bool {
        let (ours, theirs) = (self.failing.ways[step.0 as usize], self.reference.ways[other.0 as usize]);
        let is_same = match (ours.truth, theirs.truth) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => ours.number == theirs.number,
        };
        ours.number != 0 && theirs.number != 0 && !is_same
    }

    /// The uses of a step whose value is another one in the reference, with what the reference uses there.
    pub fn wrong(&self, step: Step, other: Step) -> Vec<(Use, Option<Use>)> {
        let mut theirs: HashMap<u32, VecDeque<Use>> = HashMap::new();
        for used in self.reference.uses(other).iter().filter(|used| used.place != 0) {
            theirs.entry(used.place).or_default().push_back(*used);
        }
        let mut found = Vec::new();
        for used in self.failing.uses(step) {
            let other = if used.place == 0 { None } else { theirs.get_mut(&used.place).and_then(VecDeque::pop_front) };
            let is_same = other.is_some_and(|other| other.value == used.value && used.value != 0);
            if !is_same {
                found.push((*used, other));
            }
        }
        found
    }

    /// The step of the failing run that stands for one of the reference: the one that corresponds, else the last one before
    /// it of the same decision or call, else that decision or call, and so on outwards.
    fn stands_for(&self, other: Step) -> Option<Step> {
        let run = &self.reference.run;
        let mut at = other;
        while at != Step::START {
            if let Some(found) = self.alignment.failing(at) {
                return Some(found);
            }
            if let Some(before) = beside::before(run, at).find_map(|step| self.alignment.failing(step)) {
                // What only the failing run does there stands in its place.
                let next = beside::next(&self.failing.run, before);
                return next.filter(|next| self.alignment.reference(*next).is_none()).or(Some(before));
            }
            at = Step(run.deciders[at.0 as usize]);
        }
        None
    }

    /// A step of the reference that the failing run left out, and the decisions and calls around it that it left out, too.
    fn left_out(&self, other: Step) -> impl Iterator<Item = Step> {
        let around = |step: &Step| Some(Step(self.reference.run.deciders[step.0 as usize]));
        std::iter::successors(Some(other), around)
            .take_while(|step| *step != Step::START && self.alignment.failing(*step).is_none())
    }

    /// The steps because of which a step differs, as far as they are known.
    fn causes(&self, step: Step) -> Vec<Cause> {
        let mut causes = Vec::new();
        let mut add = |step: Step, omitted: Option<Step>| {
            causes.push(Cause { step, omitted, is_needed: omitted.is_some() || self.differs(step) });
        };
        match self.alignment.reference(step) {
            None => {
                let decider = Step(self.failing.run.deciders[step.0 as usize]);
                add(decider, None);
                // It would not have run if that had decided otherwise, whatever it uses.
                if let Some((before, thrower)) = self.uncaught(step) {
                    add(self.stands_for(thrower).unwrap_or(before), Some(thrower));
                } else if !self.differs(decider) {
                    let makers = self.failing.uses(step).iter().map(|used| used.maker);
                    makers.filter(|maker| self.differs(*maker)).for_each(|maker| add(maker, None));
                }
            }
            Some(other) => {
                for (used, theirs) in self.wrong(step, other) {
                    let is_made_otherwise = used.place == 0 || self.differs(used.maker);
                    // What was done to an object before leads to the step that changed it last.
                    if is_made_otherwise || used.is_contents() {
                        add(used.maker, None);
                    }
                    let is_missing = |maker: &Step| {
                        if used.is_contents() { self.alignment.failing(*maker).is_none() } else { !is_made_otherwise }
                    };
                    if let Some(omitted) = theirs.map(|theirs| theirs.maker).filter(is_missing)
                        && let Some(found) = self.stands_for(omitted)
                    {
                        add(found, Some(omitted));
                    }
                }
            }
        }
        causes.retain(|cause| cause.step != Step::START && cause.step != step);
        causes
    }

    /// The last step before one of the same decision or call during which only the reference caught an exception, and the
    /// step of the reference that threw it: because of it the reference does not come to the step.
    fn uncaught(&self, step: Step) -> Option<(Step, Step)> {
        beside::before(&self.failing.run, step).find_map(|before| {
            let thrower = self.reference.caught.get(&self.alignment.reference(before)?)?;
            (!self.failing.caught.contains_key(&before)).then_some((before, *thrower))
        })
    }

    /// Finds the chain that ends at a failure.
    ///
    /// - `is_touched`: whether the change touches a step.
    /// - `is_gone`: whether the change removed or replaced the line of a step of the reference.
    ///
    /// Cost: looks once at each step that the failure depends on and that may differ.
    pub fn chain(
        &self,
        failure: Step,
        is_touched: &mut dyn FnMut(Step) -> bool,
        is_gone: &mut dyn FnMut(Step) -> bool,
    ) -> JavaChain {
        let last = Cause { step: failure, omitted: None, is_needed: true };
        // By step: how it is a cause, and of what.
        let mut from: HashMap<Step, (Cause, Step)> = HashMap::from([(failure, (last, failure))]);
        let mut queue = VecDeque::from([last]);
        let (mut change, mut passed, mut elsewhere) = (None, None, None);
        while let Some(Cause { step, omitted, is_needed }) = queue.pop_front() {
            let causes = self.causes(step);
            let is_end = is_needed && !causes.iter().any(|cause| cause.is_needed);
            // The change may have removed the call in which the step is.
            let is_removed = omitted.is_some_and(|other| is_gone(other) || self.left_out(other).any(&mut *is_gone));
            if is_removed || is_needed && is_touched(step) {
                if is_end || is_removed {
                    change = Some(step);
                    break;
                }
                // Its own values differ already, so the change may take effect before.
                passed = passed.or(Some(step));
            }
            if is_end {
                // The earliest one is the nearest to the beginning.
                elsewhere = Some(elsewhere.map_or(step, |known: Step| known.min(step)));
            }
            for cause in causes {
                if let Entry::Vacant(entry) = from.entry(cause.step) {
                    entry.insert((cause, step));
                    queue.push_back(cause);
                }
            }
        }
        let (first, begin) = match (change.or(passed), elsewhere) {
            (Some(step), _) => (step, JavaChainBegin::Change),
            (None, Some(step)) if step != failure => (step, JavaChainBegin::Elsewhere),
            _ => (failure, JavaChainBegin::Failure),
        };
        let mut steps = Vec::new();
        let mut at = first;
        loop {
            let (cause, next) = from[&at];
            steps.push(cause);
            if at == failure {
                break;
            }
            at = next;
        }
        JavaChain { steps, begin }
    }
}
