//! Lists of arguments without names (`va_list`): what `vprintf` and its like print.
//!
//! What `va_start` writes into a list is the machine's affair, and is not recorded; where the list is, and what the function was called with, is. So a list
//! is known by its address: as long as nobody takes an argument from it, which writes to it, it holds all of them. A list that is handed on is the same one, where
//! an array is handed on as a pointer (x86-64); elsewhere its copy is not known.

use crate::Step;
use crate::native::NativeMachine;

/// Bytes of a list.
const SIZE: u64 = 24;

/// Lists that are remembered; the oldest are forgotten first.
const N_LISTS: usize = 64;

/// A list that somebody began.
#[derive(Debug, Clone)]
pub struct StartedList {
    address: u64,
    /// Who began it.
    step: Step,
    arguments: Box<[u64]>,
}

impl NativeMachine {
    /// The current step begins a list of what its function was called with.
    pub(super) fn begin_list(&mut self, address: u64) {
        let Some((step, arguments)) = self.frame().map(|frame| (frame.step, frame.unnamed.clone())) else { return };
        self.put_list(address, step, arguments);
    }

    /// The current step makes one list what another one is.
    pub(super) fn copy_list(&mut self, to: u64, from: u64) {
        let Some(step) = self.frame().map(|frame| frame.step) else { return };
        let arguments = self.list(from).map(Into::into);
        self.put_list(to, step, arguments);
    }

    fn put_list(&mut self, address: u64, step: Step, arguments: Option<Box<[u64]>>) {
        self.memory.define(address, SIZE, step);
        self.lists.retain(|list| list.address != address);
        if self.lists.len() == N_LISTS {
            self.lists.remove(0);
        }
        self.lists.extend(arguments.map(|arguments| StartedList { address, step, arguments }));
    }

    /// The arguments of the list at an address; `None` if they are not known, or some were taken.
    pub fn list(&self, address: u64) -> Option<&[u64]> {
        let list = self.lists.iter().find(|list| list.address == address)?;
        let mut is_whole = true;
        self.memory.writers(address, SIZE, |writer| is_whole &= writer == list.step);
        is_whole.then_some(&*list.arguments)
    }
}
