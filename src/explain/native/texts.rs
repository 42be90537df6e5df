//! Characters that one step wrote behind each other, told as the text that they are.
//!
//! The search asks for each character by itself; whoever reads the chain wants `text is given "20.1168"` instead of a link for each digit.

use std::collections::HashMap;

use crate::chain::Definition;
use crate::link::PairedText;
use crate::native::causality::FaultyState;
use idd_trace::Step;
use idd_trace::native::value;

/// Characters of one text that are told.
const MAX_LENGTH: usize = 160;

/// Where a text lies, and what it is.
#[derive(Debug, Clone)]
pub struct Span {
    definitions: Vec<Definition>,
    begin: u64,
    value: Vec<u8>,
    reference: Vec<u8>,
}

/// The texts of which several characters are in a set.
pub fn spans(state: &FaultyState, set: &[Definition]) -> Vec<Span> {
    let characters = || state.cells.iter().filter(|(_, cell)| cell.length == 1);
    let mut chosen: Vec<_> = characters().filter(|(definition, _)| set.contains(definition)).collect();
    chosen.sort_unstable_by_key(|(_, cell)| cell.address);
    let references: HashMap<u64, u8> =
        characters().filter_map(|(_, cell)| Some((cell.address, *cell.reference.as_ref()?.first()?))).collect();
    let of = |writer: Step, address: u64| {
        state.byte(address).filter(|(byte, step)| *byte != 0 && *step == writer).map(|(byte, _)| byte)
    };
    let mut spans: Vec<Span> = Vec::new();
    for (definition, cell) in chosen {
        let is_inside = |span: &Span| cell.address < span.begin + span.value.len() as u64;
        if let Some(span) = spans.last_mut().filter(|span| is_inside(span)) {
            span.definitions.push(*definition);
            continue;
        }
        let mut begin = cell.address;
        while cell.address - begin < MAX_LENGTH as u64 && of(cell.writer, begin - 1).is_some() {
            begin -= 1;
        }
        let value: Vec<u8> = (begin..).map_while(|address| of(cell.writer, address)).take(MAX_LENGTH).collect();
        let theirs = |address: u64| references.get(&address).copied().or_else(|| of(cell.writer, address));
        let reference = (begin..).map_while(|address| theirs(address).filter(|byte| *byte != 0)).take(MAX_LENGTH);
        spans.push(Span { definitions: vec![*definition], begin, value, reference: reference.collect() });
    }
    spans.retain(|span| span.definitions.len() > 1 && value::is_text(&span.value) && value::is_text(&span.reference));
    spans
}

impl Span {
    /// Whether the character that a definition gave is in it.
    pub fn holds(&self, definition: &Definition) -> bool {
        self.definitions.contains(definition)
    }

    /// The text; `variable` is what one of its characters is called, which is at this address. `None` if that is no element of something.
    pub fn told(&self, variable: &str, address: u64) -> Option<PairedText> {
        let (row, index) = variable.strip_suffix(']')?.rsplit_once('[')?;
        let first = index.parse::<u64>().ok()?.checked_sub(address - self.begin)?;
        let last = first + (self.value.len() as u64).saturating_sub(1);
        Some(PairedText {
            variable: if first == 0 { row.to_owned() } else { format!("{row}[{first}..{last}]") },
            value: value::quoted(&self.value, '"'),
            reference: value::quoted(&self.reference, '"'),
        })
    }
}
