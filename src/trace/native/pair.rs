//! Two watchers of the same pass.

use crate::detail::What;
use crate::native::call::Call;
use crate::native::fault::Crash;
use crate::native::machine::{Machine, Watch};
use crate::native::shape::Action;
use crate::step::Step;

/// Methods that tell both.
macro_rules! both {
    ($($name:ident($($argument:ident: $type:ty),+);)+) => {
        $(fn $name(&mut self, $($argument: $type),+) {
            self.0.$name($($argument),+);
            self.1.$name($($argument),+);
        })+
    };
}

impl<A: Watch, B: Watch> Watch for (A, B) {
    both! {
        step(machine: &Machine);
        uses(user: Step, maker: Step, what: What);
        reads(machine: &Machine, step: Step, address: u64, bytes: &[u8]);
        writes(machine: &Machine, step: Step, address: u64, length: u64);
        enters(machine: &Machine);
        leaves(machine: &Machine, is_return: bool);
        block(machine: &Machine);
        looks(machine: &Machine, step: Step, address: u64, length: u64);
        returned(machine: &Machine, result: Option<u64>);
        acts(machine: &Machine, action: &Action, record: &[u8]);
        crashes(machine: &Machine, crash: &Crash);
        called(machine: &Machine, call: &Call, arguments: &[Option<u64>], result: Option<u64>);
    }

    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }
}
