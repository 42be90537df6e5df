//! Files through which a change leads to a value that is read: their position and content are in no variable.

use std::collections::HashMap;

use idd_trace::native::frame::narrow;
use idd_trace::native::model::Input;
use idd_trace::native::target::written_to;
use idd_trace::native::{NativeCall, NativeMachine, NativePlayer, Watch};
use idd_trace::{Step, TraceError};

/// The longest path that is read.
const MAX_PATH: u64 = 4096;

/// A file that a changed step used, and a later step read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Through {
    /// The last changed step that opened, moved in, read or wrote the file.
    pub step: Step,
    /// The path by which the program opened it.
    pub path: Vec<u8>,
}

/// The file that a step reads, if one of the changed steps before used it.
///
/// - `changed`: in order.
///
/// Cost: one pass over the run up to the end of the step.
pub fn through(player: &mut NativePlayer, step: Step, changed: &[Step]) -> Result<Option<Through>, TraceError> {
    let mut files = ThroughFiles { step, changed, open: HashMap::new(), found: None, is_done: false };
    player.replay(&mut files)?;
    Ok(files.found)
}

struct ThroughFiles<'c> {
    step: Step,
    changed: &'c [Step],
    /// By descriptor, or the address of the stream, which is never as small: the path, and the last changed step that used it.
    open: HashMap<u64, (Vec<u8>, Option<Step>)>,
    found: Option<Through>,
    is_done: bool,
}

/// The argument that is the open file which a function uses, and whether it is a descriptor.
fn used(name: &str, call: &NativeCall) -> Option<(usize, bool)> {
    let input = call.model.and_then(|model| model.input.as_ref());
    match (input, name) {
        (Some(Input::Stream(index)), _) => Some((*index, false)),
        (Some(Input::Descriptor(index)), _) => Some((*index, true)),
        (_, "fseek" | "fseeko" | "fseeko64" | "rewind" | "fsetpos" | "fflush" | "setvbuf") => Some((0, false)),
        (_, "ungetc") => Some((1, false)),
        (_, "lseek" | "lseek64" | "ftruncate" | "pwrite") => Some((0, true)),
        _ => written_to(name).map(|index| (index, matches!(name, "write" | "dprintf" | "vdprintf"))),
    }
}

impl Watch for ThroughFiles<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        self.is_done |= machine.n_steps > self.step.0 && machine.frame().is_some_and(|frame| frame.step > self.step);
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let (Some(name), Some(frame)) = (call.name.as_deref(), machine.frame()) else { return };
        let step = frame.step;
        let changed = self.changed.binary_search(&step).is_ok().then_some(step);
        let argument = |index: usize| arguments.get(index).copied().flatten().unwrap_or(0);
        let result = result.unwrap_or(0);
        let opened = match name {
            "fopen" | "fopen64" | "freopen" | "freopen64" => (result != 0).then_some((0, result)),
            "open" | "open64" | "creat" | "creat64" => (narrow(result) >= 0).then_some((0, result & 0xffff_ffff)),
            "openat" | "openat64" => (narrow(result) >= 0).then_some((1, result & 0xffff_ffff)),
            _ => None,
        };
        if let Some((path, handle)) = opened {
            let path = machine.memory.string(argument(path), MAX_PATH).unwrap_or_default();
            self.open.insert(handle, (path, changed));
            return;
        }
        let Some((index, is_descriptor)) = used(name, call) else { return };
        let handle = if is_descriptor { argument(index) & 0xffff_ffff } else { argument(index) };
        let Some((path, user)) = self.open.get_mut(&handle) else { return };
        let is_read = call.model.is_some_and(|model| model.input.is_some());
        if step == self.step && is_read {
            self.found = user.map(|step| Through { step, path: path.clone() });
            self.is_done |= self.found.is_some();
        }
        if changed.is_some() {
            *user = changed;
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
