//! Names and values of what a step reads and writes, for a person who judges it.
//!
//! A detail names what it finds at an address: the variable of some frame, or a block of the heap and an offset. Here the same parts
//! of memory are named as the source names them ([`naming`]), and what the library wrote is shown if it is known [`later`].

use std::collections::HashMap;
use std::sync::Arc;

use crate::native::later::later;
use crate::native::naming::{self, MemoryPart, NamedPart};
use crate::native::recorded::NativeRecorded;
use idd_trace::detail::MAX_CONTENT;
use idd_trace::native::visit::before_step;
use idd_trace::native::{View, value};
use idd_trace::{Access, Detail, NamedAddress, Step, TraceError};

/// How a detail begins the name of a variable of the compiler.
const TEMPORARY: &str = "temporary of ";

/// How a detail begins the name of what is in a block of the heap.
const BLOCK: &str = "block of step ";

/// How a detail begins the name of what is in a block that was freed.
const FREED: &str = "freed ";

/// The bytes of the longest name that the source has for a part of memory.
const MAX_NAME: usize = 100;

/// A value that waits in no variable: the result of a part of an expression.
const INTERMEDIATE: &str = "an intermediate result";

/// Names what a step reads, writes and passes to the library as the function `home` sees it, and leaves out what the source has no name for:
/// what is written to variables of the compiler, and constants, which stand in the line.
///
/// - `home`: of what is in no variable of it, the name has the function: `price.factor`. An empty one is no function.
///
/// Cost: that of [`naming::before`]; if the library wrote values that are not known, that of [`later`].
pub fn name(recorded: &mut NativeRecorded, detail: &mut Detail, home: &Arc<str>) -> Result<(), TraceError> {
    let step = detail.standing.step;
    let revealed = revealed(recorded, detail)?;
    let contents: Vec<Vec<Option<u8>>> = accesses(detail).map(|access| content(access, &revealed)).collect();
    let pointers = detail.calls.iter().flat_map(|call| call.numbers.iter().map(|number| number.unwrap_or(0)));
    let of_accesses = accesses(detail).zip(&contents);
    // Of a text whose end is not known, only the beginning is sure.
    let length = |access: &Access, bytes: &[_]| if bytes.is_empty() { access.size.min(1) } else { access.size };
    let parts: Vec<MemoryPart<'_>> = of_accesses
        .map(|(access, bytes)| MemoryPart { address: access.address, length: length(access, bytes), bytes })
        .chain(pointers.map(|address| MemoryPart { address, length: 0, bytes: &[] }))
        .collect();
    let mut seen = naming::seen_before(recorded, step, &parts, Some(home))?.into_iter();
    for (access, seen) in detail.reads.iter_mut().chain(&mut detail.writes).zip(&mut seen) {
        match seen {
            Some(seen) => rename(access, seen),
            None if detail.standing.is_entry && home.is_empty() => {
                access.named.name = format!("{}.{}", detail.standing.function, access.named.name);
            }
            None => rename_new(access, step),
        }
    }
    for call in &mut detail.calls {
        for (text, seen) in call.arguments.iter_mut().zip(&mut seen) {
            if let (Some((address, object)), Some(seen)) = (text.split_once(" -> "), seen)
                && (object.contains('+') || !object.contains(BLOCK))
            {
                *text = format!("{address} -> {}", seen.name);
            }
        }
    }
    detail.writes.retain(|access| access.size > 0 && !access.named.name.starts_with(TEMPORARY));
    detail.reads.retain(|access| access.named.name != "a constant" && !is_stream(access));
    for access in &mut detail.reads {
        if access.named.name.starts_with(TEMPORARY) {
            rename_result(recorded, access)?;
        }
    }
    for value in detail.reads.iter_mut().chain(&mut detail.writes).filter_map(|access| access.named.value.as_mut()) {
        if let Some((address, _)) = value.split_once(&format!(" -> {TEMPORARY}")) {
            *value = address.to_owned();
        }
    }
    Ok(())
}

/// Whether it is the pointer to a stream of the library, which the program did not set.
fn is_stream(access: &Access) -> bool {
    naming::STREAMS.contains(&&*access.named.name) && access.makers.iter().all(|maker| *maker == Step::START)
}

fn accesses(detail: &Detail) -> impl Iterator<Item = &Access> {
    detail.reads.iter().chain(&detail.writes)
}

/// Whether a value is not known, or not all of it.
fn is_unknown(value: Option<&str>) -> bool {
    value.is_none_or(|value| value.ends_with('?') || value.contains("?,") || value.contains("?}"))
}

/// Bytes of parts of memory, each given by its address and its length; `None` for those that are not known.
type RevealedParts = HashMap<(u64, u64), Vec<Option<u8>>>;

/// What is known later of what is not known at a step, by address and bytes.
fn revealed(recorded: &mut NativeRecorded, detail: &Detail) -> Result<RevealedParts, TraceError> {
    let unknown = |access: &&Access| {
        access.content.is_none() && access.size <= MAX_CONTENT && is_unknown(access.named.value.as_deref())
    };
    let mut parts: Vec<(u64, u64)> =
        accesses(detail).filter(unknown).map(|access| (access.address, access.size)).collect();
    parts.sort_unstable();
    parts.dedup();
    let found = later(recorded, detail.standing.step, &parts)?;
    let found = parts.into_iter().zip(found);
    Ok(found.filter(|(_, bytes)| bytes.iter().any(Option::is_some)).collect())
}

/// The bytes of an access, if its value can be shown by them.
fn content(access: &Access, revealed: &RevealedParts) -> Vec<Option<u8>> {
    let known = access.content.as_ref().filter(|content| content.len() as u64 == access.size);
    let known = known.map(|content| content.iter().copied().map(Some).collect());
    known.or_else(|| revealed.get(&(access.address, access.size)).cloned()).unwrap_or_default()
}

/// Gives an access its name, and its value by its type unless the detail says more.
fn rename(access: &mut Access, seen: NamedPart) {
    let is_freed = access.named.name.starts_with(FREED);
    // Not even the first character is known.
    access.named.value.take_if(|value| *value == "?" || *value == "\"\"?");
    let is_text = match access.named.value.as_deref() {
        Some(value) => value.starts_with('"'),
        None => seen.value.is_none(),
    };
    let name = if is_text { seen.name.trim_end_matches("[0]").to_owned() } else { seen.name };
    // A way through a long list says less than the step that made the block.
    if name.len() <= MAX_NAME {
        access.named.name = if is_freed { format!("{name} (freed)") } else { name };
    }
    access.target = seen.target;
    let Some(value) = seen.value else { return };
    let known = access.named.value.as_deref();
    // Before the step, what a pointer of it leads to may not be there yet.
    let is_richer = known.is_some_and(|known| known.contains('"') || known.contains(" -> "));
    let says_more = is_richer && !value.contains('"') && !value.starts_with('{');
    if is_unknown(known) || !says_more {
        access.named.value = Some(value);
    }
}

/// Names what a step writes to a block that it allocates.
fn rename_new(access: &mut Access, step: Step) {
    let (made, offset) = access.named.name.split_once('+').unwrap_or((&access.named.name, ""));
    if made != format!("{BLOCK}{}", step.0) {
        return;
    }
    let plus = if offset.is_empty() { "" } else { "+" };
    access.named.name = format!("the new block{plus}{offset}");
    let text = access.content.as_deref().and_then(|content| content.strip_suffix(&[0]));
    if let Some(text) = text.filter(|text| !text.is_empty() && value::is_text(text)) {
        access.named.value = Some(value::quoted(text, '"'));
    }
}

/// Names what is in a variable of the compiler: by the function that returned it, if it is a structure.
fn rename_result(recorded: &mut NativeRecorded, access: &mut Access) -> Result<(), TraceError> {
    INTERMEDIATE.clone_into(&mut access.named.name);
    let Some(maker) = access.makers.last().filter(|maker| **maker != Step::START) else { return Ok(()) };
    let bytes: Option<Vec<Option<u8>>> =
        access.content.as_ref().map(|content| content.iter().copied().map(Some).collect());
    let mut found = None;
    before_step(&mut recorded.player, *maker, |machine| {
        let Some(frame) = machine.frame() else { return };
        let (shape, debug) = (&frame.shape, frame.shape.debug());
        let ty = shape.body.function.subprogram.and_then(|subprogram| debug.result(subprogram));
        let Some(ty) = ty.filter(|ty| value::size_of(debug, *ty, 0) == Some(access.size)) else { return };
        let view = View::without_words(machine);
        let value = bytes.as_ref().map(|bytes| view.typed(debug, &value::VariablePart::Whole(ty), bytes));
        found = Some((format!("{}()", shape.name()), value));
    })?;
    if let Some((name, value)) = found {
        access.named = NamedAddress { name, value };
    }
    Ok(())
}
