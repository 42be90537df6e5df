//! Replays one step of a run.

use crate::native::{Crash, NativeCall, NativeFrame, NativeMachine, NativePlayer, RecordAction, UsedThing, Watch};
use crate::{Step, TraceError};

/// Replays one step, and reports what it does to `watch`; nothing if there is no such step.
///
/// - [`Watch::step`] is called once, at its beginning. The step ends when its function begins another step or returns.
/// - Facts about its own frame go to the methods of the same names, and [`Watch::leaves`] is called for each function
///   that the step called itself.
///
/// Cost: plays from the last checkpoint before it to the end of the step, calls included.
pub fn at_step(player: &mut NativePlayer, step: Step, watch: &mut dyn Watch) -> Result<(), TraceError> {
    player.approach(step)?;
    player.play(&mut Visit { step, frame: None, watch, is_over: step == Step::START })?;
    Ok(())
}

/// Calls `look` with the machine right before a step runs; does not call it if there is no such step.
///
/// Cost: plays from the last checkpoint before the step.
pub fn before_step(player: &mut NativePlayer, step: Step, look: impl FnOnce(&NativeMachine)) -> Result<(), TraceError> {
    let mut look = Some(look);
    player.approach(step)?;
    player.look_from(step, |machine, frame| {
        if let Some(look) = look.take_if(|_| frame.step == step) {
            look(machine);
        }
        frame.step < step
    })
}

impl NativePlayer {
    /// Looks at the machine right before each step, from a step on, as long as `look` wants to see more.
    ///
    /// Cost: plays from the nearest place that is known before the step.
    pub fn look_from(
        &mut self,
        step: Step,
        look: impl FnMut(&NativeMachine, &NativeFrame) -> bool,
    ) -> Result<(), TraceError> {
        self.replay_from(step, &mut Looking { look, is_done: false })
    }

    /// Looks at the machine right before each step of the run.
    ///
    /// Cost: one pass over the trace.
    pub fn each_step(&mut self, mut look: impl FnMut(&NativeMachine, &NativeFrame)) -> Result<(), TraceError> {
        self.look_from(Step(1), |machine, frame| {
            look(machine, frame);
            true
        })
    }
}

struct Looking<F> {
    look: F,
    is_done: bool,
}

impl<F: FnMut(&NativeMachine, &NativeFrame) -> bool> Watch for Looking<F> {
    fn step(&mut self, machine: &NativeMachine) {
        if let Some(frame) = machine.frame() {
            self.is_done |= !(self.look)(machine, frame);
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Passes on the facts about one step.
struct Visit<'w> {
    step: Step,
    /// Its frame, once it has begun.
    frame: Option<u64>,
    watch: &'w mut dyn Watch,
    is_over: bool,
}

impl Visit<'_> {
    fn is_here(&self, machine: &NativeMachine) -> bool {
        !self.is_over && self.frame.is_some() && machine.frame().map(|frame| frame.number) == self.frame
    }

    fn is_of(&self, step: Step) -> bool {
        !self.is_over && step == self.step
    }
}

impl Watch for Visit<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        if self.is_here(machine) {
            self.is_over = true;
        } else if machine.n_steps == self.step.0 {
            self.frame = machine.frame().map(|frame| frame.number);
            self.watch.step(machine);
        }
    }

    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        if self.is_of(user) {
            self.watch.uses(user, maker, what);
        }
    }

    fn reads(&mut self, machine: &NativeMachine, step: Step, address: u64, bytes: &[u8]) {
        if self.is_of(step) {
            self.watch.reads(machine, step, address, bytes);
        }
    }

    fn writes(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        if self.is_of(step) {
            self.watch.writes(machine, step, address, length);
        }
    }

    fn looks(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        if self.is_of(step) {
            self.watch.looks(machine, step, address, length);
        }
    }

    fn block(&mut self, machine: &NativeMachine) {
        if self.is_here(machine) {
            self.watch.block(machine);
        }
    }

    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, record: &[u8]) {
        if self.is_here(machine) {
            self.watch.acts(machine, action, record);
        }
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        if self.is_here(machine) {
            self.watch.called(machine, call, arguments, result);
        }
    }

    fn returned(&mut self, machine: &NativeMachine, result: Option<u64>) {
        if self.is_here(machine) {
            self.watch.returned(machine, result);
        }
    }

    fn crashes(&mut self, machine: &NativeMachine, crash: &Crash) {
        if self.is_here(machine) {
            self.watch.crashes(machine, crash);
        }
    }

    fn leaves(&mut self, machine: &NativeMachine, is_return: bool) {
        if self.is_here(machine) {
            self.is_over = true;
        } else if !self.is_over
            && self.frame.is_some()
            && machine.frame().is_some_and(|frame| frame.caller == self.step)
        {
            self.watch.leaves(machine, is_return);
        }
    }

    fn is_done(&self) -> bool {
        self.is_over || self.watch.is_done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::machine::tests::{CHOICE, walk_through};
    use crate::native::stored::player;

    /// Stores the names of the calls.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl Watch for Told {
        fn step(&mut self, machine: &NativeMachine) {
            self.0.push(format!("step {}", machine.n_steps));
        }

        fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
            self.0.push(format!("{user:?} uses {maker:?} {what:?}"));
        }

        fn block(&mut self, machine: &NativeMachine) {
            self.0.push(format!("block {}", machine.frame().unwrap().block.0));
        }

        fn writes(&mut self, _machine: &NativeMachine, step: Step, _address: u64, length: u64) {
            self.0.push(format!("{step:?} writes {length}"));
        }

        fn called(
            &mut self,
            _machine: &NativeMachine,
            call: &NativeCall,
            _arguments: &[Option<u64>],
            _result: Option<u64>,
        ) {
            self.0.push(format!("called {}", call.name.as_deref().unwrap_or("?")));
        }
    }

    #[test]
    fn a_visit_tells_what_its_step_does_and_nothing_of_others() {
        let told = |step: u32| {
            let mut told = Told::default();
            let mut visit = Visit { step: Step(step), frame: None, watch: &mut told, is_over: false };
            walk_through(CHOICE, &["entry", "land.rhs", "land.end"], &mut visit);
            assert_eq!(visit.is_done(), (1..=3).contains(&step));
            told.0
        };
        assert_eq!(told(1), ["step 1", "called f", "block 1"]);
        assert_eq!(told(2), ["step 2", "called g", "block 2"]);
        assert_eq!(told(3)[..3], ["step 3", "#3 uses #2 Temporary", "#3 uses #1 Decision"]);
        assert_eq!(told(3)[3], "#3 writes 4");
        assert_eq!(told(4), [""; 0]);
    }

    #[test]
    fn before_a_step_it_is_looked_once() {
        let looks = |step: u32| {
            let mut n_looks = 0;
            before_step(&mut player("list", "bad"), Step(step), |machine| n_looks += machine.n_steps).unwrap();
            n_looks
        };
        assert_eq!((looks(0), looks(2), looks(100_000)), (0, 2, 0));
    }
}
