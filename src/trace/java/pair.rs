//! Two observers of the same run.

use crate::trace::java::frame::Frame;
use crate::trace::java::machine::{Machine, Watch, What};
use crate::trace::java::memory::Location;
use crate::trace::java::method::Callee;
use crate::trace::java::value::Value;
use crate::trace::step::Step;

/// Both are told everything, until neither wants more.
impl<A: Watch, B: Watch> Watch for (A, B) {
    fn step(&mut self, machine: &Machine, frame: &Frame) {
        self.0.step(machine, frame);
        self.1.step(machine, frame);
    }

    fn uses(&mut self, user: Step, maker: Step, what: What) {
        self.0.uses(user, maker, what);
        self.1.uses(user, maker, what);
    }

    fn reads(&mut self, machine: &Machine, frame: &Frame, location: Location, value: Value) {
        self.0.reads(machine, frame, location, value);
        self.1.reads(machine, frame, location, value);
    }

    fn writes(&mut self, machine: &Machine, frame: &Frame, location: Location, value: Value) {
        self.0.writes(machine, frame, location, value);
        self.1.writes(machine, frame, location, value);
    }

    fn decides(&mut self, machine: &Machine, frame: &Frame, way: u32) {
        self.0.decides(machine, frame, way);
        self.1.decides(machine, frame, way);
    }

    fn enters(&mut self, machine: &Machine, frame: &Frame) {
        self.0.enters(machine, frame);
        self.1.enters(machine, frame);
    }

    fn leaves(&mut self, machine: &Machine, frame: &Frame, is_return: bool, result: Option<Value>) {
        self.0.leaves(machine, frame, is_return, result);
        self.1.leaves(machine, frame, is_return, result);
    }

    fn called(&mut self, machine: &Machine, frame: &Frame, callee: &Callee, given: &[Value], result: Option<Value>) {
        self.0.called(machine, frame, callee, given, result);
        self.1.called(machine, frame, callee, given, result);
    }

    fn throws(&mut self, machine: &Machine, frame: &Frame, exception: Value) {
        self.0.throws(machine, frame, exception);
        self.1.throws(machine, frame, exception);
    }

    fn threw(&mut self, machine: &Machine, exception: Value) {
        self.0.threw(machine, exception);
        self.1.threw(machine, exception);
    }

    fn catches(&mut self, machine: &Machine, frame: &Frame, exception: Value) {
        self.0.catches(machine, frame, exception);
        self.1.catches(machine, frame, exception);
    }

    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }
}
