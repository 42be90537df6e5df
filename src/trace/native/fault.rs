//! Faults: how far a program came in the record that stood for what it did when it crashed.
//!
//! A record is reserved before the statements of its segment run, and says nothing of how many of them did. The signal does: the address that could not be read
//! or written, or that a division was not possible. What stands behind the first access of that kind to that address, or the first division by zero, was never executed.
//! Where no or more than one place comes into question (an address that is not known, the work of a library), the record is taken for executed.
//!
//! The chunk of a fault has, little-endian: 8 the end of the broken record among those of its thread, 8 the address, 4 the signal, 4 its code (`si_code`), 4 the access
//! (0 not known, 1 read, 2 write, 3 fetch of an instruction), 4 whether the fault is taken back: its handler returned, and the record went on.

use std::collections::HashMap;
use std::sync::Arc;

use crate::native::frame::number;
use crate::native::records::NativeRecord;
use crate::native::{FunctionShape, NativeMachine, RecordAction, ValueSource, Watch};
use crate::{ChunkKind, Doing, Trace, TraceError};

const SIGBUS: u32 = 7;
const SIGFPE: u32 = 8;
const SIGSEGV: u32 = 11;

/// The code of a fault that the processor tells no address of: the address was none (x86).
const SI_KERNEL: u32 = 0x80;

/// The code of a division of integers.
const FPE_INTDIV: u32 = 1;

/// The code of an overflow of integers, which is told by a division alone.
const FPE_INTOVF: u32 = 2;

/// What an access may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccessKind {
    Any,
    Read,
    Write,
    Fetch,
}

/// A fault of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    address: u64,
    signal: u32,
    code: u32,
    way: AccessKind,
}

/// The crash of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    /// The number of the signal.
    pub signal: u32,
    /// What the step did.
    pub doing: Doing,
    /// Where; 0 for a division.
    pub address: u64,
    /// So many bytes; 0 for a division.
    pub length: u64,
}

/// Where the record of a fault ends, of the content of its chunk; `None` if that is none.
pub fn offset(content: &[u8]) -> Option<u64> {
    (content.len() == 32).then(|| number(content, 0, 8)).flatten()
}

/// The faults of a trace: by thread, and by the end of the record.
pub fn faults(trace: &mut Trace) -> Result<HashMap<(u32, u64), Fault>, TraceError> {
    let mut faults = HashMap::new();
    let chunks: Vec<_> = trace.chunks().iter().filter(|chunk| chunk.kind == ChunkKind::Fault).copied().collect();
    for chunk in chunks {
        let content = trace.read(&chunk)?;
        let field = |at: u32| number(&content, at, 4).and_then(|field| u32::try_from(field).ok());
        let fields = (number(&content, 8, 8), field(16), field(20), field(24), field(28));
        let (Some(address), Some(signal), Some(code), Some(way), Some(is_over)) = fields else {
            return Err(TraceError::Damaged("a fault is cut short"));
        };
        let way = [AccessKind::Any, AccessKind::Read, AccessKind::Write, AccessKind::Fetch]
            .get(way as usize)
            .copied()
            .unwrap_or(AccessKind::Any);
        let place = (chunk.thread, chunk.begin());
        if is_over == 0 {
            faults.insert(place, Fault { address, signal, code, way });
        } else {
            faults.remove(&place);
        }
    }
    Ok(faults)
}

impl Fault {
    /// Takes the record in that was broken off, as far as the program came.
    ///
    /// Cost: the record is taken twice, the first time by a copy of the machine.
    pub fn take<W: Watch + ?Sized>(
        &self,
        machine: &mut NativeMachine,
        shape: &Arc<FunctionShape>,
        record: &NativeRecord<'_>,
        watch: &mut W,
    ) -> Result<(), TraceError> {
        let mut suspects = CrashSuspects { fault: self, n_actions: 0, found: Vec::new() };
        machine.clone().take(shape, record, &mut suspects as &mut dyn Watch)?;
        let actions = &shape.piece(record.segment).actions;
        let is_call = |action: &RecordAction| matches!(action, RecordAction::Call(call) if shape.calls[*call as usize].is_external);
        // What may be the fault of a library is not that of the only statement that it could be.
        let may_guess = suspects.found.len() == 1 && !actions.last().is_some_and(is_call);
        let found = suspects.found.first().filter(|(_, _, is_sure)| *is_sure || may_guess);
        match found {
            Some((n_before, crash, _)) => {
                machine.take_until(shape, record, *n_before, watch)?;
                watch.crashes(machine, crash);
                Ok(())
            }
            None => machine.take(shape, record, watch),
        }
    }

    fn is_access(&self) -> bool {
        self.signal == SIGSEGV || self.signal == SIGBUS
    }

    fn is_division(&self) -> bool {
        self.signal == SIGFPE && [FPE_INTDIV, FPE_INTOVF].contains(&self.code)
    }

    /// Whether the fault is in a range.
    fn is_in(&self, address: u64, length: u64) -> bool {
        if self.code == SI_KERNEL {
            // The upper 17 bits of an address are all the same.
            let is_address = |address: u64| [0, (1 << 17) - 1].contains(&(address >> 47));
            return length > 0 && !(is_address(address) && is_address(address.wrapping_add(length - 1)));
        }
        self.address.wrapping_sub(address) < length
    }
}

/// Finds the actions of a record that may have crashed.
struct CrashSuspects<'f> {
    fault: &'f Fault,
    n_actions: usize,
    /// Actions before it, what it would be, and whether it is sure to crash if it came so far; others are sure not to.
    found: Vec<(usize, Crash, bool)>,
}

impl CrashSuspects<'_> {
    fn add(&mut self, doing: Doing, address: u64, length: u64, is_sure: bool) {
        let crash = Crash { signal: self.fault.signal, doing, address, length };
        self.found.push((self.n_actions, crash, is_sure));
    }

    fn access(&mut self, doing: Doing, address: Option<u64>, length: Option<u64>) {
        let way = if doing == Doing::Reading { AccessKind::Read } else { AccessKind::Write };
        // The processor does not tell how it came to something that is no address.
        let may_be = [AccessKind::Any, way].contains(&self.fault.way) || self.fault.code == SI_KERNEL;
        if !self.fault.is_access() || !may_be {
            return;
        }
        match (address, length) {
            (Some(address), Some(length)) if self.fault.is_in(address, length) => {
                self.add(doing, address, length, true);
            }
            (Some(_), Some(_)) => {}
            (None, length) if self.fault.code != SI_KERNEL => {
                self.add(doing, self.fault.address, length.unwrap_or(1), false);
            }
            _ => self.add(doing, self.fault.address, 1, false),
        }
    }
}

impl Watch for CrashSuspects<'_> {
    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, record: &[u8]) {
        let Some(frame) = machine.frame() else { return };
        let number = |source: ValueSource, size: u32| frame.number_at(source, record, size);
        let place = |source| number(source, 8);
        match *action {
            RecordAction::Load { address, size, .. } => self.access(Doing::Reading, place(address), Some(size.into())),
            RecordAction::Store { address, source, size } => {
                let written = if size <= 8 { number(source, size) } else { None };
                self.access(Doing::Writing(written), place(address), Some(size.into()));
            }
            RecordAction::Update { address, size, .. } | RecordAction::Exchange { address, size, .. } => {
                self.access(Doing::Writing(None), place(address), Some(size.into()));
            }
            RecordAction::Copy { to, from, length } => {
                self.access(Doing::Reading, place(from), place(length));
                self.access(Doing::Writing(None), place(to), place(length));
            }
            RecordAction::Fill { to, length, .. } => self.access(Doing::Writing(None), place(to), place(length)),
            RecordAction::Divide { dividend, divisor, size, is_signed } if self.fault.is_division() => {
                let mask = u64::MAX >> (64 - 8 * size);
                let value = |source| number(source, size).map(|value| value & mask);
                let (dividend, divisor) = (value(dividend), value(divisor));
                // The least number divided by -1 is no number.
                let least = (mask >> 1) + 1;
                match divisor {
                    Some(0) => self.add(Doing::Dividing, 0, 0, true),
                    Some(divisor) if is_signed && divisor == mask && dividend.is_none_or(|it| it == least) => {
                        self.add(Doing::Dividing, 0, 0, dividend.is_some());
                    }
                    Some(_) => {}
                    None => self.add(Doing::Dividing, 0, 0, false),
                }
            }
            _ => {}
        }
        self.n_actions += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(address: u64, code: u32) -> Fault {
        Fault { address, signal: SIGSEGV, code, way: AccessKind::Read }
    }

    #[test]
    fn a_fault_is_in_the_range_that_has_its_address() {
        assert!(fault(0, 1).is_in(0, 1) && fault(0x1fff, 1).is_in(0x1ffc, 4));
        // Of an access that goes over the end of a page only the next page faults.
        assert!(fault(0x2000, 1).is_in(0x1ffe, 4));
        assert!(!fault(0x2000, 1).is_in(0x1ffc, 4) && !fault(0x1000, 1).is_in(0x1001, 8));
        assert!(!fault(5, 1).is_in(5, 0));
    }

    #[test]
    fn what_is_no_address_faults_without_one() {
        let is_in = |address| fault(0, SI_KERNEL).is_in(address, 4);
        assert!(is_in(0x4141_4141_4141_4141) && is_in(0x0000_7fff_ffff_fffe) && is_in(1 << 63));
        assert!(!is_in(0) && !is_in(0x0000_7fff_ffff_f000) && !is_in(0xffff_8000_0000_0000));
    }
}
