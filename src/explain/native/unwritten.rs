//! Values that a step reads from where the program put none: memory that was never written, or outside of an array or a
//! block.

use crate::native::naming;
use crate::native::recorded::NativeRecorded;
use idd_trace::instrument::{BinaryOp, Op};
use idd_trace::native::visit::at_step;
use idd_trace::native::{NativeFrame, NativeMachine, RecordAction, UsedThing, View, Watch, bounds};
use idd_trace::{Step, TraceError};

/// From where a step reads a number or pointer though nobody put one there: `x, never written`, or `4 bytes behind the end of a`.
///
/// `None` also where this is not known: with several threads, and for memory that was never written after a call of a
/// function with unknown effects, or if the recording lacks its beginning.
///
/// Cost: plays the step, twice if there is such a value.
pub fn read(recorded: &mut NativeRecorded, step: Step) -> Result<Option<String>, TraceError> {
    if step == Step::START || recorded.run.n_threads > 1 {
        return Ok(None);
    }
    let mut reads = StepReads::default();
    at_step(&mut recorded.player, step, &mut reads)?;
    if reads.outside.is_some() {
        return Ok(reads.outside);
    }
    let found = reads.found;
    if found.is_empty() {
        return Ok(None);
    }
    let name = naming::before(recorded, step, &found, None)?.into_iter().flatten().next();
    Ok(name.map(|name| format!("{name}, never written")))
}

/// Looks at what one step reads.
#[derive(Default)]
struct StepReads {
    /// Whether the next value that it reads has bytes that no step wrote, and bytes that one wrote.
    makers: (bool, bool),
    /// Addresses and bytes.
    found: Vec<(u64, u64)>,
    /// The first that is outside of its array or block.
    outside: Option<String>,
}

impl Watch for StepReads {
    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, record: &[u8]) {
        if self.outside.is_none() {
            self.outside = bounds::outside(machine, action, record);
        }
    }

    fn uses(&mut self, _user: Step, maker: Step, what: UsedThing) {
        if let UsedThing::Memory(..) | UsedThing::Address(..) = what {
            self.makers.0 |= maker == Step::START;
            self.makers.1 |= maker != Step::START;
        }
    }

    fn reads(&mut self, machine: &NativeMachine, _step: Step, address: u64, bytes: &[u8]) {
        let makers = std::mem::take(&mut self.makers);
        let is_known = machine.check.n_unmodelled == 0 && !machine.is_window;
        let view = View::without_words(machine);
        if makers == (true, false) && is_known && bytes.len() <= 8 && is_ours(view, address) {
            self.found.push((address, bytes.len() as u64));
        }
    }

    fn looks(&mut self, _machine: &NativeMachine, _step: Step, _address: u64, _length: u64) {
        self.makers = (false, false);
    }

    fn writes(&mut self, machine: &NativeMachine, _step: Step, address: u64, length: u64) {
        // To write a bit-field, its neighbours are read and written again.
        if machine.frame().is_some_and(has_masks) {
            self.found.retain(|part| *part != (address, length));
        }
    }
}

/// Whether an address is in a block of the heap that is in use, or in a variable of an active function.
fn is_ours(view: View<'_>, address: u64) -> bool {
    if view.start(address).is_some() || view.machine.globals.find(address).is_some() {
        return false;
    }
    let is_in = |frame: &NativeFrame| {
        let begins = frame.shape.slots.iter().filter_map(|slot| Some((frame.given(slot.register)?, slot.size)));
        begins.into_iter().any(|(begin, size)| begin != 0 && address.checked_sub(begin).is_some_and(|at| at < size))
    };
    let block = view.machine.heap.find(address);
    block.is_some_and(|block| block.freed.is_none()) || view.machine.frames.iter().any(is_in)
}

/// Whether the current statement takes bits out of numbers.
fn has_masks(frame: &NativeFrame) -> bool {
    let is_mask = |op: &Op| matches!(op, Op::Binary(BinaryOp::And | BinaryOp::Or, _));
    frame.instructions().iter().any(|instruction| is_mask(&instruction.op))
}
