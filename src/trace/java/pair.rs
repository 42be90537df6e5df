//! Two observers of the same run.

use crate::java::frame::Frame;
use crate::java::machine::{Machine, Watch, What};
use crate::java::memory::Location;
use crate::java::method::Callee;
use crate::java::value::Value;
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

/// Both are told everything, until neither wants more.
impl<A: Watch, B: Watch> Watch for (A, B) {
    both! {
        step(machine: &Machine, frame: &Frame);
        uses(user: Step, maker: Step, what: What);
        reads(machine: &Machine, frame: &Frame, location: Location, value: Value);
        writes(machine: &Machine, frame: &Frame, location: Location, value: Value);
        decides(machine: &Machine, frame: &Frame, way: u32);
        enters(machine: &Machine, frame: &Frame);
        leaves(machine: &Machine, frame: &Frame, is_return: bool, result: Option<Value>);
        called(machine: &Machine, frame: &Frame, callee: &Callee, given: &[Value], result: Option<Value>);
        throws(machine: &Machine, frame: &Frame, exception: Value);
        threw(machine: &Machine, exception: Value);
        catches(machine: &Machine, frame: &Frame, exception: Value);
    }

    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }
}
