//! What a program wrote to its standard streams, call by call, and how it ended.

use std::sync::Arc;

use crate::trace::TraceError;
use crate::trace::native::fault::Crash;
use crate::trace::native::globals::Globals;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::play::Player;
use crate::trace::native::run::said;
use crate::trace::native::shape::Call;
use crate::trace::step::Step;

/// A stream of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
    /// A file, a pipe, a socket.
    Other,
}

/// A call that wrote something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The step of the call.
    pub step: Step,
    /// Where it wrote.
    pub stream: Stream,
    /// The number of bytes; `None` if it is not known.
    pub length: Option<u64>,
    /// The bytes; `None` if they are not known.
    pub bytes: Option<Vec<u8>>,
}

/// The output of a run, and its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The calls that wrote something, in order.
    pub written: Vec<Written>,
    /// The step that crashed.
    pub crash: Option<Step>,
    /// The last step.
    pub last: Option<Step>,
}

/// Why there is no step for a byte of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoByte {
    /// The output is shorter: this is its length.
    Short(u64),
    /// The length of what this step wrote is not known.
    Unknown(Step),
}

impl Outputs {
    /// The step that wrote a byte of a stream, from 0.
    pub fn byte(&self, stream: Stream, offset: u64) -> Result<Step, NoByte> {
        let mut begin = 0_u64;
        for written in self.written.iter().filter(|written| written.stream == stream) {
            let length = written.length.ok_or(NoByte::Unknown(written.step))?;
            if offset - begin < length {
                return Ok(written.step);
            }
            begin += length;
        }
        Err(NoByte::Short(begin))
    }

    /// The bytes of a stream up to the first call whose bytes are not known, and whether these are all.
    pub fn text(&self, stream: Stream) -> (Vec<u8>, bool) {
        let mut text = Vec::new();
        for written in self.written.iter().filter(|written| written.stream == stream) {
            let Some(bytes) = &written.bytes else { return (text, false) };
            text.extend_from_slice(bytes);
        }
        (text, true)
    }
}

/// Reads the output of a run.
///
/// Cost: one pass over the trace; the text of the output in memory.
pub fn outputs(player: &mut Player) -> Result<Outputs, TraceError> {
    let globals = Arc::clone(&player.globals);
    let mut reader = Reader { globals: &globals, outputs: Outputs::default() };
    player.seek(0)?;
    player.play(&mut reader)?;
    Ok(reader.outputs)
}

struct Reader<'r> {
    globals: &'r Globals,
    outputs: Outputs,
}

impl Reader<'_> {
    fn stream(&self, machine: &Machine, function: &str, arguments: &[Option<u64>]) -> Stream {
        let argument = |index: usize| arguments.get(index).copied().flatten().unwrap_or(0);
        let handle = match function {
            "printf" | "puts" | "putchar" | "putchar_unlocked" | "vprintf" | "__printf_chk" => return Stream::Output,
            "perror" | "warn" | "warnx" | "vwarn" | "vwarnx" | "error" | "err" | "errx" | "verr" | "verrx" => {
                return Stream::Errors;
            }
            "write" | "dprintf" | "vdprintf" => {
                return match argument(0) & 0xffff_ffff {
                    1 => Stream::Output,
                    2 => Stream::Errors,
                    _ => Stream::Other,
                };
            }
            "fwrite" | "fwrite_unlocked" => argument(3),
            "fputs" | "fputs_unlocked" | "fputc" | "fputc_unlocked" | "putc" | "putc_unlocked" | "_IO_putc" => {
                argument(1)
            }
            _ => argument(0),
        };
        let is = |name: &str| {
            let held = self.globals.stream(name).and_then(|address| machine.memory.word(address, 8));
            held.is_some_and(|(pointer, _)| pointer == handle)
        };
        match () {
            () if is("stdout") => Stream::Output,
            () if is("stderr") => Stream::Errors,
            () => Stream::Other,
        }
    }
}

impl Watch for Reader<'_> {
    fn step(&mut self, machine: &Machine) {
        self.outputs.last = machine.frame().map(|frame| frame.step);
    }

    fn called(&mut self, machine: &Machine, call: &Call, arguments: &[Option<u64>], result: Option<u64>) {
        let Some(said) = said(machine, call, arguments, result) else { return };
        let stream = self.stream(machine, &said.function, arguments);
        // `printf` returns the length.
        let printed = said.function.contains("printf").then_some(result).flatten().map(|result| result & 0xffff_ffff);
        let length = said.text.as_ref().map(|text| text.len() as u64).or(printed);
        self.outputs.written.push(Written { step: said.step, stream, length, bytes: said.text });
    }

    fn crashes(&mut self, machine: &Machine, _crash: &Crash) {
        self.outputs.crash = machine.frame().map(|frame| frame.step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::native::stored::lines;
    use crate::trace::native::stored::player;

    #[test]
    fn a_byte_of_the_output_has_the_step_that_wrote_it() {
        let mut player = player("text", "good");
        let lines = lines(&mut player);
        let outputs = outputs(&mut player).unwrap();
        let (text, is_all) = outputs.text(Stream::Output);
        assert!(is_all && !text.is_empty());
        let last = outputs.byte(Stream::Output, text.len() as u64 - 1).unwrap();
        assert_eq!(Some(last), outputs.written.last().map(|written| written.step));
        assert!(lines[last.0 as usize] > 0);
        assert_eq!(outputs.byte(Stream::Output, text.len() as u64), Err(NoByte::Short(text.len() as u64)));
        assert_eq!(outputs.byte(Stream::Errors, 0), Err(NoByte::Short(0)));
        assert_eq!(outputs.crash, None);
    }

    #[test]
    fn the_crash_is_the_step_of_the_signal() {
        let mut player = player("crash", "bad");
        let lines = lines(&mut player);
        let outputs = outputs(&mut player).unwrap();
        let crash = outputs.crash.unwrap();
        assert_eq!(outputs.last, Some(crash));
        let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/crash.c")).unwrap();
        let line = source.lines().nth(lines[crash.0 as usize] as usize - 1).unwrap();
        assert!(line.contains("->") || line.contains('*') || line.contains('['), "{line}");
    }

    #[test]
    fn a_call_of_unknown_length_hides_what_comes_after_it() {
        let written = |step: u32, length: Option<u64>| {
            let bytes = length.map(|length| vec![b'a'; usize::try_from(length).unwrap()]);
            Written { step: Step(step), stream: Stream::Output, length, bytes }
        };
        let outputs =
            Outputs { written: vec![written(3, Some(2)), written(5, None), written(7, Some(4))], ..Outputs::default() };
        assert_eq!(outputs.byte(Stream::Output, 1), Ok(Step(3)));
        assert_eq!(outputs.byte(Stream::Output, 2), Err(NoByte::Unknown(Step(5))));
        assert_eq!(outputs.text(Stream::Output), (b"aa".to_vec(), false));
    }
}
