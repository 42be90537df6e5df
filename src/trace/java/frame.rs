//! An activation of a method.

use crate::instrument::java::operation::Operation;
use crate::instrument::java::sites::{Site, SiteProbe};
use crate::java::method::NONE;
use crate::java::{JavaValue, MachineMethod, MethodOperand};
use crate::regions::Regions;
use crate::{BlockId, Index, Place, Step};
use std::sync::Arc;

/// An activation of a method.
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
#[derive(Debug, Clone)]
pub struct JavaFrame {
    /// Its number in the process, from 1.
    pub number: u64,
    /// The method.
    pub method: Arc<MachineMethod>,
    /// The next instruction.
    pub at: u32,
    /// The locals.
    pub locals: Vec<JavaValue>,
    /// The stack; a `long` or `double` has two slots, of which the first holds it.
    pub stack: Vec<JavaValue>,
    /// The open decisions.
    pub regions: Regions,
    /// The current step.
    pub step: Step,
    /// The step of its entry.
    pub entry: Step,
    /// The step that called it; [`Step::START`] for the first one of a thread.
    pub caller: Step,
    /// The number of the current statement.
    pub statement: u32,
    /// Whether it goes on with an earlier one of its method: the stack held values when it began.
    pub is_rest: bool,
    /// Whether the caller named this method; otherwise code that is not recorded called it.
    pub is_direct: bool,
    /// Whether an instruction has run, or a record has followed the entry.
    pub is_begun: bool,
    /// Whether a record is expected before the next instruction.
    pub is_waiting: bool,
    /// The block of the last instruction that ran.
    pub block: Option<BlockId>,
    /// What the call was given that has begun and has not come back.
    pub pending: Option<Vec<JavaValue>>,
    /// The last step of a recorded method that came back to this call, and whether the call named that method.
    pub returned: Option<(Step, bool)>,
}

/// How a site fits to the next instructions of an activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It is the next one.
    Next,
    /// The method returns before.
    Returns,
    /// The code would record something else.
    Not,
}

impl JavaFrame {
    /// A new activation.
    pub fn new(number: u64, method: Arc<MachineMethod>, base: Index) -> Self {
        let locals = vec![JavaValue::UNKNOWN; usize::from(method.n_locals)];
        let is_waiting = method.is_announced[0];
        Self {
            number,
            method,
            at: 0,
            locals,
            stack: Vec::new(),
            regions: Regions::new(base),
            step: Step::START,
            entry: Step::START,
            caller: Step::START,
            statement: 0,
            is_rest: false,
            is_direct: false,
            is_begun: false,
            is_waiting,
            block: None,
            pending: None,
            returned: None,
        }
    }

    /// The control dependence of its current step. What initialises a class runs once, whoever uses the class first.
    pub fn decider(&self) -> Step {
        let caller = || if self.is_initialiser() { Step::START } else { self.caller };
        self.regions.decider().unwrap_or_else(caller)
    }

    /// Whether it initialises a class.
    pub fn is_initialiser(&self) -> bool {
        &*self.method.name == "<clinit>"
    }

    /// The place of its current statement.
    pub fn place(&self) -> &Place {
        let statement = if self.step == self.entry { 0 } else { self.statement };
        &self.method.places[statement as usize]
    }

    /// The first instruction from the present one on that is followed by a record or ends the method.
    pub fn stop(&self) -> u32 {
        self.method.stops[self.at as usize]
    }

    /// The instructions from the present one on up to the stop.
    fn until_stop(&self) -> impl Iterator<Item = (&Operation, &MethodOperand)> {
        let stop = self.stop();
        let first = (stop != NONE).then_some(self.at);
        let way = std::iter::successors(first, move |at| {
            (*at != stop).then(|| self.method.next[*at as usize]).filter(|next| *next != NONE)
        });
        way.map(|at| (&self.method.operations[at as usize], &self.method.operands[at as usize]))
    }

    /// The last instruction up to the stop that leaves a monitor, or the return before which nothing is recorded.
    pub fn last_exit(&self) -> Option<u32> {
        let stop = self.stop();
        if self.is_waiting || self.pending.is_some() || stop == NONE {
            return None;
        }
        if self.returns() {
            return Some(stop);
        }
        let next = |at: &u32| (*at != stop).then(|| self.method.next[*at as usize]);
        let is_exit = |at: &u32| matches!(self.method.operations[*at as usize], Operation::Exit);
        std::iter::successors(Some(self.at), next).filter(is_exit).last()
    }

    /// Whether it returns without another record, unless an exception is thrown.
    pub fn returns(&self) -> bool {
        let stop = self.stop();
        self.pending.is_none()
            && !self.is_waiting
            && stop != NONE
            && matches!(self.method.operations[stop as usize], Operation::Return(_))
    }

    /// Whether an instruction up to the stop, which records nothing, can throw an exception.
    pub fn may_throw(&self) -> bool {
        self.until_stop()
            .any(|(operation, operand)| operation.may_throw() && !matches!(operand, MethodOperand::Number(..)))
    }

    /// Whether an instruction up to the stop can make the machine initialise a class.
    pub fn may_initialise(&self) -> bool {
        let mut operations = self.until_stop().map(|(operation, _)| operation);
        operations.any(|operation| {
            matches!(operation, Operation::New(_) | Operation::LoadStatic(_) | Operation::StoreStatic(_))
        })
    }

    /// Whether an exception leaves it without a record now: it is a constructor before the one of the class that is
    /// extended, or one in which that moment is not known.
    pub fn is_unguarded(&self) -> bool {
        let mut sites = self.method.sites.iter();
        sites.clone().all(|site| site.probe != SiteProbe::Leave)
            || sites.find(|site| site.probe.is_constructed()).is_some_and(|site| self.at <= site.instruction)
    }

    /// How a site of a method fits.
    pub fn fits(&self, method: u32, site: &Site) -> Fit {
        let own = &*self.method;
        let is_own = own.number == method;
        if self.is_waiting {
            let is_next = is_own && site.instruction == self.at && site.probe.is_before();
            return if is_next { Fit::Next } else { Fit::Not };
        }
        let stop = self.stop();
        if stop == NONE {
            return Fit::Not;
        }
        let operation = &own.operations[stop as usize];
        if own.is_recorded[stop as usize] {
            let is_next = is_own && site.instruction == stop && !site.probe.is_before();
            return if is_next { Fit::Next } else { Fit::Not };
        }
        if self.returns() {
            return Fit::Returns;
        }
        if !is_own || !site.probe.is_before() {
            return Fit::Not;
        }
        let is_way = match operation {
            Operation::Throw => false,
            operation if operation.is_decision() => {
                operation.ways().contains(&site.instruction) || (operation.goes_on() && site.instruction == stop + 1)
            }
            _ => own.next[stop as usize] == site.instruction,
        };
        if is_way { Fit::Next } else { Fit::Not }
    }
}
