//! The file that a call wrote to, and where in it.

use std::collections::HashMap;

use crate::native::frame::narrow;
use crate::native::run::said;
use crate::native::{NativeCall, NativeMachine, NativePlayer, Watch};
use crate::{Step, TraceError};

/// The longest path that is read.
const MAX_PATH: u64 = 4096;

/// A file that the program opened by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedFile {
    /// As the program gave it.
    pub path: Vec<u8>,
    /// Where the call wrote, from 0; `None` if the program moved in the file, appended to it, or wrote what is not known.
    pub offset: Option<u64>,
}

/// The file that the call of a step wrote to; of several such calls the first. `None` if it wrote to no file that the program opened.
///
/// Cost: one pass over the trace up to the step.
pub fn target(player: &mut NativePlayer, step: Step) -> Result<Option<OpenedFile>, TraceError> {
    let mut files = OpenFiles { step, open: HashMap::new(), found: None, is_done: false };
    player.replay(&mut files)?;
    Ok(files.found)
}

struct OpenFiles {
    step: Step,
    /// By the descriptor, or the address of the stream, which is never as small.
    open: HashMap<u64, OpenedFile>,
    found: Option<OpenedFile>,
    is_done: bool,
}

/// The argument that is the file which a function writes to; `None` if it writes to a standard stream.
pub fn written_to(function: &str) -> Option<usize> {
    match function {
        "fwrite" | "fwrite_unlocked" => Some(3),
        "fputs" | "fputs_unlocked" | "fputc" | "fputc_unlocked" | "putc" | "putc_unlocked" | "_IO_putc" => Some(1),
        "fprintf" | "__fprintf_chk" | "vfprintf" | "__vfprintf_chk" | "write" | "dprintf" | "vdprintf" => Some(0),
        _ => None,
    }
}

impl OpenFiles {
    fn opens(&mut self, machine: &NativeMachine, path: u64, mode: Option<u64>, handle: u64) {
        let Some(path) = machine.memory.string(path, MAX_PATH) else { return };
        let is_appended = mode.and_then(|mode| machine.memory.string(mode, 8)).is_some_and(|mode| mode.contains(&b'a'));
        self.open.insert(handle, OpenedFile { path, offset: (!is_appended).then_some(0) });
    }
}

impl Watch for OpenFiles {
    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let Some(name) = call.name.as_deref() else { return };
        let argument = |index: usize| arguments.get(index).copied().flatten().unwrap_or(0);
        let returned = result.unwrap_or(0);
        let is_descriptor = result.is_some_and(|result| narrow(result) > 2);
        match name {
            "fopen" | "fopen64" | "freopen" | "freopen64" if returned != 0 => {
                self.opens(machine, argument(0), Some(argument(1)), returned);
            }
            "open" | "open64" | "creat" | "creat64" if is_descriptor => {
                self.opens(machine, argument(0), None, returned & 0xffff_ffff);
            }
            "openat" | "openat64" if is_descriptor => {
                self.opens(machine, argument(1), None, returned & 0xffff_ffff);
            }
            "fdopen" => {
                if let Some(target) = self.open.get(&(argument(0) & 0xffff_ffff)).cloned() {
                    self.open.insert(returned, target);
                }
            }
            "fclose" => drop(self.open.remove(&argument(0))),
            "close" => drop(self.open.remove(&(argument(0) & 0xffff_ffff))),
            "fseek" | "fseeko" | "fseeko64" | "rewind" | "fsetpos" | "lseek" | "lseek64" | "ftruncate" => {
                let handle = if name.starts_with('l') { argument(0) & 0xffff_ffff } else { argument(0) };
                self.open.entry(handle).and_modify(|target| target.offset = None);
            }
            _ => {
                let Some(said) = said(machine, call, arguments, result) else { return };
                let Some(index) = written_to(name) else { return };
                let is_number = matches!(name, "write" | "dprintf" | "vdprintf");
                let handle = if is_number { argument(index) & 0xffff_ffff } else { argument(index) };
                let target = self.open.get_mut(&handle);
                if said.step == self.step {
                    self.found = target.cloned();
                    self.is_done = true;
                    return;
                }
                let length = said.text.map(|text| text.len() as u64);
                if let Some(target) = target {
                    target.offset = target.offset.zip(length).map(|(offset, length)| offset + length);
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
