//! Which pointer a program crashed at.

use std::collections::HashMap;

use crate::native::naming;
use crate::native::recorded::NativeRecorded;
use idd_trace::instrument::types::Type;
use idd_trace::instrument::{Instruction, Op, OperandValue, ValueId};
use idd_trace::native::visit::at_step;
use idd_trace::native::{NativeMachine, Watch};
use idd_trace::{Step, TraceError};

/// The null pointer that a step follows, or hands to a function of which nothing is known; `None` if there is none that
/// has a name.
///
/// Cost: plays one step.
pub fn null(recorded: &mut NativeRecorded, step: Step) -> Result<Option<String>, TraceError> {
    let mut look = CrashWatch::default();
    at_step(&mut recorded.player, step, &mut look)?;
    // Each load reads once; what follows the crash was not read.
    let is_null = |(_, is_zero): &&(u64, bool)| *is_zero;
    let nulls = look.followed.iter().filter_map(|nth| look.reads.get(*nth).filter(is_null));
    for (address, _) in nulls {
        if let Some(name) = naming::before(recorded, step, &[(*address, 8)], None)?.pop().flatten() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Takes down what a step reads.
#[derive(Default)]
struct CrashWatch {
    /// Which of the loads of the statement give pointers that it follows, in the order in which it does.
    followed: Vec<usize>,
    /// Where each load read, and whether there was nothing but zeros.
    reads: Vec<(u64, bool)>,
}

impl Watch for CrashWatch {
    fn step(&mut self, machine: &NativeMachine) {
        self.followed = machine.frame().map(|frame| followed(frame.instructions())).unwrap_or_default();
    }

    fn reads(&mut self, _machine: &NativeMachine, _step: Step, address: u64, bytes: &[u8]) {
        self.reads.push((address, bytes.iter().all(|byte| *byte == 0)));
    }
}

/// Which loads give the pointers that instructions follow, first those that are read through or written through, then
/// those that are handed on.
fn followed(instructions: &[Instruction]) -> Vec<usize> {
    let mut loads: HashMap<ValueId, usize> = HashMap::new();
    let (mut followed, mut given) = (Vec::new(), Vec::new());
    let mut n_loads = 0;
    for instruction in instructions {
        let load = |index: usize, loads: &HashMap<ValueId, usize>| match &instruction.operands.get(index)?.value {
            OperandValue::Local(id) => loads.get(id).copied(),
            _ => None,
        };
        match &instruction.op {
            Op::Load => {
                followed.extend(load(0, &loads));
                if let Some(result) = instruction.result.filter(|_| instruction.ty == Type::Ptr) {
                    loads.insert(result, n_loads);
                }
                n_loads += 1;
            }
            Op::Store => followed.extend(load(1, &loads)),
            Op::Element(_) => {
                if let (Some(result), Some(base)) = (instruction.result, load(0, &loads)) {
                    loads.insert(result, base);
                }
            }
            Op::Call(..) => given.extend((0..instruction.operands.len()).filter_map(|index| load(index, &loads))),
            _ => {}
        }
    }
    followed.extend(given);
    followed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::recorded;

    #[test]
    fn the_null_pointer_that_a_crash_follows_has_its_name() {
        let mut crashed = recorded("crash", "bad");
        let last = Step(crashed.run.n_steps());
        assert_eq!(null(&mut crashed, last).unwrap().as_deref(), Some("whole->part"));
        let mut whole = recorded("crash", "good");
        assert_eq!(null(&mut whole, last).unwrap(), None);
    }
}
