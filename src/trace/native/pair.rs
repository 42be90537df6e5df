//! Two watchers of the same pass.

use crate::trace::detail::What;
use crate::trace::native::call::Call;
use crate::trace::native::fault::Crash;
use crate::trace::native::machine::{Machine, Watch};
use crate::trace::native::shape::Action;
use crate::trace::step::Step;

impl<A: Watch, B: Watch> Watch for (A, B) {
    fn step(&mut self, machine: &Machine) {
        self.0.step(machine);
        self.1.step(machine);
    }

    fn uses(&mut self, user: Step, maker: Step, what: What) {
        self.0.uses(user, maker, what);
        self.1.uses(user, maker, what);
    }

    fn reads(&mut self, machine: &Machine, step: Step, address: u64, bytes: &[u8]) {
        self.0.reads(machine, step, address, bytes);
        self.1.reads(machine, step, address, bytes);
    }

    fn writes(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        self.0.writes(machine, step, address, length);
        self.1.writes(machine, step, address, length);
    }

    fn enters(&mut self, machine: &Machine) {
        self.0.enters(machine);
        self.1.enters(machine);
    }

    fn leaves(&mut self, machine: &Machine, is_return: bool) {
        self.0.leaves(machine, is_return);
        self.1.leaves(machine, is_return);
    }

    fn block(&mut self, machine: &Machine) {
        self.0.block(machine);
        self.1.block(machine);
    }

    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }

    fn looks(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        self.0.looks(machine, step, address, length);
        self.1.looks(machine, step, address, length);
    }

    fn returned(&mut self, machine: &Machine, result: Option<u64>) {
        self.0.returned(machine, result);
        self.1.returned(machine, result);
    }

    fn acts(&mut self, machine: &Machine, action: &Action, record: &[u8]) {
        self.0.acts(machine, action, record);
        self.1.acts(machine, action, record);
    }

    fn crashes(&mut self, machine: &Machine, crash: &Crash) {
        self.0.crashes(machine, crash);
        self.1.crashes(machine, crash);
    }

    fn called(&mut self, machine: &Machine, call: &Call, arguments: &[Option<u64>], result: Option<u64>) {
        self.0.called(machine, call, arguments, result);
        self.1.called(machine, call, arguments, result);
    }
}
