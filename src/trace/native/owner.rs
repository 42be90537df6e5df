//! Which variable or block an address belongs to. Frames and blocks use the same addresses again, so the address alone does not say it.

use crate::Step;
use crate::native::NativeMachine;
use crate::native::object::slot_at;

/// What a byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A variable of an activation, by the [number](crate::native::frame::NativeFrame::number) of that.
    Activation(u64),
    /// A block of the heap: the step that made it, and how many that step had made before it.
    Block(Step, u32),
    /// The program: a global variable, an argument.
    Program,
}

/// What a byte belongs to now.
pub fn owner(machine: &NativeMachine, address: u64) -> Owner {
    let frame = machine.all_frames().find(|frame| slot_at(frame, address).is_some());
    match (frame, machine.heap.find(address)) {
        (Some(frame), _) => Owner::Activation(frame.number),
        (None, Some(block)) => Owner::Block(block.made, block.nth),
        (None, None) => Owner::Program,
    }
}
