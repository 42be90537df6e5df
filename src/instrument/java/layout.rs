//! Where the instructions of a method are when the sites are in it.

use crate::instrument::Unsupported;
use crate::instrument::java::code::Code;
use crate::instrument::java::operation::Operation;
use crate::instrument::java::sites::Probe;
use crate::instrument::java::sites::Site;

/// Slots of the stack that a site needs: a value and a number.
pub const SITE_STACK: u16 = 3;

/// Bytes of a number on the stack, and of a call.
const NUMBER: usize = 3;
const CALL: usize = 3;

/// Places in the rewritten code, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// For each instruction, and for the end: where a jump to it leads, and what its line and its handlers begin with.
    pub targets: Vec<u16>,
    /// For each instruction: its own place.
    pub own: Vec<u16>,
    /// The length of the code.
    pub length: u16,
}

/// Bytes of the code of a site.
pub fn length(probe: Probe) -> usize {
    let copy = match probe {
        Probe::Enter | Probe::Block | Probe::Value(None) | Probe::Monitor => 0,
        Probe::Parameter(_, local) => {
            if u8::try_from(local).is_ok() {
                2
            } else {
                4
            }
        }
        Probe::Handler | Probe::Value(Some(_)) | Probe::This => 1,
        // It throws the exception again.
        Probe::Leave => 2,
    };
    copy + NUMBER + CALL
}

/// Whether a jump to the first instruction of a method leads behind this site: the method is entered once.
pub fn is_of_entry(probe: Probe) -> bool {
    matches!(probe, Probe::Enter | Probe::Parameter(..))
}

impl Layout {
    /// Lays out the code of a method.
    ///
    /// - `sites`: in the order of the code.
    ///
    /// Errors: the code would be longer than 64 KiB, a jump too far for its instruction, or the stack too large.
    pub fn of(code: &Code<'_>, sites: &[Site]) -> Result<Self, Unsupported> {
        if code.max_stack.checked_add(SITE_STACK).is_none() {
            return Err(Unsupported::new("a stack of more than 64 Ki slots"));
        }
        // One handler and the table of frames may be added.
        if code.handlers.len().max(code.attributes.len()) >= usize::from(u16::MAX) {
            return Err(Unsupported::new("too many handlers or attributes"));
        }
        let too_long = || Unsupported::new("a method that would be longer than 64 KiB");
        let narrow = |at: usize| u16::try_from(at).map_err(|_| too_long());
        let mut layout = Self { targets: Vec::new(), own: Vec::new(), length: 0 };
        let mut sites = sites.iter().peekable();
        let mut at = 0;
        for (number, instruction) in (0_u32..).zip(&code.instructions) {
            let mut next = |is_wanted: fn(Probe) -> bool| {
                let is_wanted = |site: &&Site| site.instruction == number && is_wanted(site.probe);
                sites.next_if(is_wanted).map(|site| length(site.probe))
            };
            while let Some(length) = next(is_of_entry) {
                at += length;
            }
            layout.targets.push(narrow(at)?);
            while let Some(length) = next(Probe::is_before) {
                at += length;
            }
            layout.own.push(narrow(at)?);
            at += match &instruction.operation {
                Operation::Switch(switch) => {
                    let padding = 3 - at % 4;
                    let cases = if switch.is_table { 8 + 4 * switch.cases.len() } else { 4 + 8 * switch.cases.len() };
                    1 + padding + 4 + cases
                }
                _ => instruction.length as usize,
            };
            while let Some(length) = next(|_| true) {
                at += length;
            }
        }
        layout.targets.push(narrow(at)?);
        at += sites.map(|site| length(site.probe)).sum::<usize>();
        layout.length = narrow(at)?;
        for (number, instruction) in code.instructions.iter().enumerate() {
            // `goto_w` and switches have 32 bits.
            if matches!(instruction.operation, Operation::Switch(_)) || instruction.length == 5 {
                continue;
            }
            for way in instruction.operation.ways() {
                let from = i32::from(layout.own[number]);
                i16::try_from(i32::from(layout.targets[way as usize]) - from).map_err(|_| too_long())?;
            }
        }
        Ok(layout)
    }
}
