//! What a program wrote to its standard streams, call by call, and how it ended.

use crate::native::frame::narrow;
use crate::native::run::said;
use crate::native::{Crash, NativeCall, NativeMachine, NativePlayer, UsedThing, Watch, printed};
use crate::output::{OutputByte, OutputStream, Outputs, WrittenOutput};
use crate::slice::UsedPart;
use crate::{Step, TraceError};

/// The longest string that is printed.
const MAX_TEXT: u64 = 1 << 20;

/// Reads the output of a run.
///
/// Cost: one pass over the trace; the text of the output in memory.
pub fn outputs(player: &mut NativePlayer) -> Result<Outputs, TraceError> {
    let mut outputs = Outputs::default();
    player.replay(&mut outputs)?;
    // The step that called the last one may have gone on.
    outputs.last = player.machine.frame().map(|frame| frame.step).or(outputs.last);
    Ok(outputs)
}

/// The origin of a byte of the output: the steps that stored it. `None` if it is computed by the call, or is text of a format.
///
/// Cost: plays from the checkpoint before the step to the end of the call.
pub fn part(player: &mut NativePlayer, place: OutputByte) -> Result<Option<UsedPart>, TraceError> {
    Ok(ByteSeeker::sought(player, place)?.found)
}

/// What of a call a byte of the output comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ByteOrigin {
    /// The byte at this address.
    Byte(u64),
    /// An argument, by its index: a number, or a character.
    Argument(usize),
    /// Something else: text of a format, or what is not known.
    #[default]
    Unknown,
}

/// Finds what a byte of the output comes from.
///
/// Cost: plays from the checkpoint before the step to the end of the call.
pub fn origin(player: &mut NativePlayer, place: OutputByte) -> Result<ByteOrigin, TraceError> {
    Ok(ByteSeeker::sought(player, place)?.origin)
}

/// An argument of the call that printed a byte, as it was passed; `None` if that is not known.
///
/// Cost: plays from the checkpoint before the step to the end of the call.
pub fn passed(player: &mut NativePlayer, place: OutputByte, index: usize) -> Result<Option<u64>, TraceError> {
    Ok(ByteSeeker::sought(player, place)?.arguments.get(index).copied().flatten())
}

/// What of a call makes a byte of what it prints what it is: the byte of a text; or a number, if with another number the
/// byte is another one.
fn printed_from(machine: &NativeMachine, function: &str, arguments: &[Option<u64>], offset: u64) -> Option<ByteOrigin> {
    let format = match function {
        "putchar" | "putchar_unlocked" | "fputc" | "putc" | "_IO_putc" | "fputc_unlocked" | "putc_unlocked" => {
            return Some(ByteOrigin::Argument(0));
        }
        "printf" => 0,
        "fprintf" | "dprintf" | "__printf_chk" => 1,
        "__fprintf_chk" => 2,
        _ => return None,
    };
    let numbers: Vec<u64> = arguments.get(format + 1..)?.iter().map(|argument| argument.unwrap_or(0)).collect();
    let text = |numbers: &[u64]| machine.printed_parts(arguments[format]?, numbers);
    let (whole, strings) = text(&numbers)?;
    let offset = usize::try_from(offset).ok()?;
    let byte = |string: &printed::PrintedString| ByteOrigin::Byte(string.address + (offset - string.at) as u64);
    let is_in = |string: &&printed::PrintedString| (string.at..string.at + string.length).contains(&offset);
    if let Some(string) = strings.iter().find(is_in) {
        return Some(byte(string));
    }
    let is_string = |number: u64| strings.iter().any(|string| string.address == number);
    let other = |index: usize, number: u64| {
        let mut numbers = numbers.clone();
        numbers[index] = number;
        text(&numbers).map(|(text, _)| text)
    };
    let is_made_by = |index: usize| {
        let number = numbers[index];
        let others = [number.wrapping_add(1), number ^ 1 << 63, 0, !number, number ^ 1 << 31, 1_000_000];
        let others = others.into_iter().filter_map(|changed| other(index, changed));
        // What is before the number, and what is after it, stays.
        others.filter(|text| *text != whole).any(|text| {
            let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
            let before = text.iter().zip(&whole).take_while(same).count();
            let after = text[before..].iter().rev().zip(whole[before..].iter().rev()).take_while(same).count();
            (before..whole.len() - after).contains(&offset)
        })
    };
    let index = (0..numbers.len()).filter(|index| !is_string(numbers[*index])).find(|index| is_made_by(*index));
    if let Some(index) = index {
        return Some(ByteOrigin::Argument(format + 1 + index));
    }
    // Behind the last byte of a text comes what would be the next one if the text were longer.
    strings.iter().find(|string| string.at + string.length == offset).map(byte)
}

/// Looks for the byte in memory that a call prints.
#[derive(Default)]
struct ByteSeeker {
    place: OutputByte,
    /// The number of calls of the step that were seen.
    n_before: usize,
    uses: Vec<(Step, UsedThing)>,
    found: Option<UsedPart>,
    origin: ByteOrigin,
    arguments: Vec<Option<u64>>,
    is_done: bool,
}

impl ByteSeeker {
    fn sought(player: &mut NativePlayer, place: OutputByte) -> Result<Self, TraceError> {
        let mut seeker = Self { place, ..Self::default() };
        player.replay_from(place.step, &mut seeker)?;
        Ok(seeker)
    }
}

impl Watch for ByteSeeker {
    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        if user == self.place.step {
            self.uses.push((maker, what));
        }
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        if machine.frame().is_none_or(|frame| frame.step != self.place.step)
            || said(machine, call, arguments, result).is_none()
        {
            return;
        }
        self.n_before += 1;
        if self.n_before <= self.place.nth {
            return;
        }
        self.is_done = true;
        self.arguments = arguments.to_vec();
        let Some(name) = &call.name else { return };
        let from = || printed_from(machine, name, arguments, self.place.offset);
        let copied = copied(machine, name, arguments, self.place.offset);
        self.origin = match copied {
            Some((_, address)) => ByteOrigin::Byte(address),
            None => from().unwrap_or(ByteOrigin::Unknown),
        };
        if let Some((begin, address)) = copied {
            let mut makers = Vec::new();
            machine.memory.writers(address, 1, |writer| makers.push(writer));
            let is_other = |what: &UsedThing| !matches!(what, UsedThing::Memory(at, _) if *at == begin);
            let others = self.uses.iter().filter(|(_, what)| is_other(what)).map(|(maker, _)| *maker).collect();
            self.found = Some(UsedPart { step: self.place.step, makers, others });
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// The address of the bytes that a call prints, and that of one of them, if it prints bytes of memory as they are.
///
/// What stands behind a text of variable length moves with it, so only the first text of a format counts.
fn copied(machine: &NativeMachine, function: &str, arguments: &[Option<u64>], offset: u64) -> Option<(u64, u64)> {
    let argument = |index: usize| arguments.get(index).copied().flatten();
    let format = match function {
        "fwrite" | "fwrite_unlocked" => return argument(0).map(|begin| (begin, begin + offset)),
        "write" => return argument(1).map(|begin| (begin, begin + offset)),
        "puts" | "fputs" | "fputs_unlocked" => {
            let begin = argument(0)?;
            let length = machine.memory.string(begin, MAX_TEXT)?.len() as u64;
            return (offset < length).then_some((begin, begin + offset));
        }
        "printf" => 0,
        "fprintf" | "dprintf" | "__printf_chk" => 1,
        "__fprintf_chk" => 2,
        _ => return None,
    };
    let behind: Vec<u64> = arguments.get(format + 1..)?.iter().map(|argument| argument.unwrap_or(0)).collect();
    let offset = usize::try_from(offset).ok()?;
    let (_, parts) = machine.printed_parts(argument(format)?, &behind)?;
    let part = parts.first().filter(|part| part.is_first && (part.at..part.at + part.length).contains(&offset))?;
    Some((part.address, part.address + (offset - part.at) as u64))
}

fn stream(machine: &NativeMachine, function: &str, arguments: &[Option<u64>]) -> OutputStream {
    let argument = |index: usize| arguments.get(index).copied().flatten().unwrap_or(0);
    if function.starts_with("_Z") {
        return match machine.ostreams {
            (Some(output), _) if output == argument(0) => OutputStream::Output,
            _ => OutputStream::Errors,
        };
    }
    let handle = match function {
        "printf" | "puts" | "putchar" | "putchar_unlocked" | "vprintf" | "__printf_chk" => return OutputStream::Output,
        "perror" | "warn" | "warnx" | "vwarn" | "vwarnx" | "error" | "err" | "errx" | "verr" | "verrx" => {
            return OutputStream::Errors;
        }
        "write" | "dprintf" | "vdprintf" => {
            return match argument(0) & 0xffff_ffff {
                1 => OutputStream::Output,
                2 => OutputStream::Errors,
                _ => OutputStream::Other,
            };
        }
        "fwrite" | "fwrite_unlocked" => argument(3),
        "fputs" | "fputs_unlocked" | "fputc" | "fputc_unlocked" | "putc" | "putc_unlocked" | "_IO_putc" => argument(1),
        _ => argument(0),
    };
    let is = |name: &str| {
        let held = machine.globals.stream(name).and_then(|address| machine.memory.word(address, 8));
        held.is_some_and(|(pointer, _)| pointer == handle)
    };
    match () {
        () if is("stdout") => OutputStream::Output,
        () if is("stderr") => OutputStream::Errors,
        () => OutputStream::Other,
    }
}

impl Watch for Outputs {
    fn step(&mut self, machine: &NativeMachine) {
        self.last = machine.frame().map(|frame| frame.step);
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let Some(said) = said(machine, call, arguments, result) else { return };
        let stream = stream(machine, &said.function, arguments);
        // `printf` returns the length; what a call that failed has printed is not known.
        let printed = said.function.contains("printf").then_some(result).flatten();
        let printed = printed.and_then(|length| u64::try_from(narrow(length)).ok());
        let length = said.text.as_ref().map(|text| text.len() as u64).or(printed);
        self.written.push(WrittenOutput { step: said.step, stream, length, bytes: said.text });
    }

    fn crashes(&mut self, machine: &NativeMachine, _crash: &Crash) {
        self.crash = machine.frame().map(|frame| frame.step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::stored::{lines, player};
    use crate::output::NoByte;

    #[test]
    fn a_byte_of_the_output_has_the_step_that_wrote_it() {
        let mut player = player("text", "good");
        let lines = lines(&mut player);
        let outputs = outputs(&mut player).unwrap();
        let (text, is_all) = outputs.text(OutputStream::Output);
        assert!(is_all && !text.is_empty());
        let last = outputs.byte(OutputStream::Output, text.len() as u64 - 1).unwrap();
        assert_eq!(Some(last.step), outputs.written.last().map(|written| written.step));
        assert!(lines[last.step.0 as usize] > 0);
        assert_eq!(outputs.byte(OutputStream::Output, text.len() as u64), Err(NoByte::Short(text.len() as u64)));
        assert_eq!(outputs.byte(OutputStream::Errors, 0), Err(NoByte::Short(0)));
        assert_eq!(outputs.crash, None);
    }

    #[test]
    fn the_crash_is_the_step_of_the_signal() {
        let mut player = player("crash", "bad");
        let lines = lines(&mut player);
        let outputs = outputs(&mut player).unwrap();
        let crash = outputs.crash.unwrap();
        assert_eq!(outputs.last, Some(crash));
        let source =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/traces/crash.c")).unwrap();
        let line = source.lines().nth(lines[crash.0 as usize] as usize - 1).unwrap();
        assert!(line.contains("->") || line.contains('*') || line.contains('['), "{line}");
    }

    #[test]
    fn a_call_of_unknown_length_hides_what_comes_after_it() {
        let written = |step: u32, length: Option<u64>| {
            let bytes = length.map(|length| vec![b'a'; usize::try_from(length).unwrap()]);
            WrittenOutput { step: Step(step), stream: OutputStream::Output, length, bytes }
        };
        let outputs =
            Outputs { written: vec![written(3, Some(2)), written(5, None), written(7, Some(4))], ..Outputs::default() };
        assert_eq!(outputs.byte(OutputStream::Output, 1), Ok(OutputByte { step: Step(3), nth: 0, offset: 1 }));
        assert_eq!(outputs.byte(OutputStream::Output, 2), Err(NoByte::Unknown(Step(5))));
        assert_eq!(outputs.text(OutputStream::Output), (b"aa".to_vec(), false));
    }
}
