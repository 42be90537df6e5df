//! Where the instructions of a method are when code is inserted between them.

use crate::instrument::Unsupported;
use crate::instrument::java::code::Code;
use crate::instrument::java::operation::Operation;
use crate::instrument::java::sites::{Site, SiteProbe};

/// Slots of the stack that inserted code needs: a value and a number.
pub const MORE_STACK: u16 = 3;

/// Where code is inserted, in the order of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InsertPlace {
    /// Before the first instruction of a method; a jump to that leads behind the code: a method is entered once.
    Entry,
    /// Before an instruction; a jump to that leads to the code.
    Before,
    /// Behind an instruction.
    Behind,
}

/// Code to insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Insert {
    /// The instruction; one more than the last one for the end of the method.
    pub instruction: u32,
    /// On which side of it.
    pub at: InsertPlace,
    /// Bytes of the code.
    pub length: usize,
}

impl From<&Site> for Insert {
    fn from(site: &Site) -> Self {
        let at = match site.probe {
            SiteProbe::Enter | SiteProbe::Parameter(..) => InsertPlace::Entry,
            probe if probe.is_before() => InsertPlace::Before,
            _ => InsertPlace::Behind,
        };
        Self { instruction: site.instruction, at, length: length(site.probe) }
    }
}

/// Bytes of a number on the stack.
pub const NUMBER: usize = 3;
/// Bytes of a call.
pub const CALL: usize = 3;

/// Places in the rewritten code, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLayout {
    /// For each instruction, and for the end: where a jump to it leads, and what its line and its handlers begin with.
    pub targets: Vec<u16>,
    /// For each instruction: its own place.
    pub own: Vec<u16>,
    /// The length of the code.
    pub length: u16,
}

/// Bytes of the code of a site.
fn length(probe: SiteProbe) -> usize {
    let copy = match probe {
        SiteProbe::Enter | SiteProbe::Block | SiteProbe::Value(None) | SiteProbe::Constructed | SiteProbe::Monitor => 0,
        SiteProbe::Parameter(_, local) => {
            if u8::try_from(local).is_ok() {
                2
            } else {
                4
            }
        }
        SiteProbe::Handler | SiteProbe::Value(Some(_)) | SiteProbe::This => 1,
        // It throws the exception again.
        SiteProbe::Leave => 2,
    };
    copy + NUMBER + CALL
}

/// Whether a jump to the first instruction of a method leads behind this site: the method is entered once.
pub fn is_of_entry(probe: SiteProbe) -> bool {
    matches!(probe, SiteProbe::Enter | SiteProbe::Parameter(..))
}

impl CodeLayout {
    /// Lays out the code of a method.
    ///
    /// - `inserts`: in the order of the code.
    ///
    /// Errors: the code would be longer than 64 KiB, a jump too far for its instruction, or the stack too large.
    pub fn of(code: &Code<'_>, inserts: impl Iterator<Item = Insert>) -> Result<Self, Unsupported> {
        if code.max_stack.checked_add(MORE_STACK).is_none() {
            return Err(Unsupported::new("a stack of more than 64 Ki slots"));
        }
        // One handler and the table of frames may be added.
        if code.handlers.len().max(code.attributes.len()) >= usize::from(u16::MAX) {
            return Err(Unsupported::new("too many handlers or attributes"));
        }
        let too_long = || Unsupported::new("a method that would be longer than 64 KiB");
        let narrow = |at: usize| u16::try_from(at).map_err(|_| too_long());
        let mut layout = Self { targets: Vec::new(), own: Vec::new(), length: 0 };
        let mut inserts = inserts.peekable();
        let mut at = 0;
        for (number, instruction) in (0_u32..).zip(&code.instructions) {
            let mut next = |wanted: InsertPlace| {
                let is_wanted = |insert: &Insert| insert.instruction == number && insert.at == wanted;
                inserts.next_if(is_wanted).map(|insert| insert.length)
            };
            while let Some(length) = next(InsertPlace::Entry) {
                at += length;
            }
            layout.targets.push(narrow(at)?);
            while let Some(length) = next(InsertPlace::Before) {
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
            while let Some(length) = next(InsertPlace::Behind) {
                at += length;
            }
        }
        layout.targets.push(narrow(at)?);
        at += inserts.map(|insert| insert.length).sum::<usize>();
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
