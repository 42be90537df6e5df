//! Takes a recorded run down, with what it said.

use std::collections::HashSet;
use std::sync::Arc;

use crate::native::frame::narrow;
use crate::native::ostream::inserted;
use crate::native::{Crash, NativeCall, NativeMachine, NativePlayer, Watch};
use crate::{Index, LateWrite, ObservableCall, OutlineReader, Revealed, Run, RunArgument, Step, StepStand, TraceError};

/// Bytes of a string that count as said.
const MAX_SAID: u64 = 1 << 16;

/// What looks like a pointer, and is none that anything is known of.
pub const LOWEST_POINTER: u64 = 1 << 16;

/// Functions that say something to the outside.
pub const OUTPUTS: [&str; 32] = [
    "printf",
    "puts",
    "putchar",
    "putchar_unlocked",
    "fprintf",
    "fputs",
    "fputs_unlocked",
    "fputc",
    "fputc_unlocked",
    "putc",
    "putc_unlocked",
    "_IO_putc",
    "fwrite",
    "fwrite_unlocked",
    "write",
    "vprintf",
    "vfprintf",
    "vdprintf",
    "__vfprintf_chk",
    "perror",
    "dprintf",
    "__printf_chk",
    "__fprintf_chk",
    "warn",
    "warnx",
    "vwarn",
    "vwarnx",
    "error",
    "err",
    "errx",
    "verr",
    "verrx",
];

/// Reads that are kept of what functions of the library left in memory.
const MAX_REVEALED: usize = 1 << 18;

/// Those of them that end the program, or may.
const LAST_WORDS: [&str; 5] = ["error", "err", "errx", "verr", "verrx"];

/// What a function says that has not come back when the run is over, if it is one that ends the program.
pub fn last_words(machine: &NativeMachine) -> Option<ObservableCall> {
    let frame = machine.frame()?;
    let (call, arguments) = frame.pending()?;
    let is_last = call.name.as_ref().is_some_and(|name| LAST_WORDS.contains(&&**name));
    is_last.then(|| said(machine, call, &arguments[..call.arguments.len().min(arguments.len())], None))?
}

/// What `call` says, if it says something.
pub fn said(
    machine: &NativeMachine,
    call: &NativeCall,
    arguments: &[Option<u64>],
    result: Option<u64>,
) -> Option<ObservableCall> {
    let function = call.name.as_ref()?;
    let step = machine.frame()?.step;
    if let Some((words, text)) = inserted(machine, function, arguments) {
        let time = u64::from(machine.n_steps);
        return Some(ObservableCall { step, time, function: Arc::clone(function), words, text });
    }
    if !OUTPUTS.contains(&&**function) {
        return None;
    }
    let arguments: Vec<u64> = arguments.iter().map(|argument| argument.unwrap_or(0)).collect();
    let has_length = matches!(&**function, "write" | "fwrite" | "fwrite_unlocked");
    let word = |(index, argument): (usize, &u64)| {
        let size = call.arguments.get(index).map_or(8, |argument| argument.size);
        if size < 8 {
            return RunArgument::Number(*argument & ((1 << (8 * size)) - 1));
        }
        if *argument < LOWEST_POINTER {
            return RunArgument::Number(*argument);
        }
        let text = if has_length {
            let length = match &**function {
                "write" => arguments.get(2).copied().unwrap_or(0),
                _ => arguments.get(1).copied().unwrap_or(0).saturating_mul(arguments.get(2).copied().unwrap_or(0)),
            };
            machine.memory.bytes(*argument, usize::try_from(length.min(MAX_SAID)).unwrap_or(0))
        } else {
            machine.memory.string(*argument, MAX_SAID)
        };
        match text {
            Some(text) => RunArgument::Text(text),
            None if *argument >> 47 == 0 => RunArgument::Pointer,
            None => RunArgument::Number(*argument),
        }
    };
    let words: Vec<RunArgument> = arguments.iter().enumerate().map(word).collect();
    let text = text(machine, function, &arguments, &words, result);
    let time = u64::from(machine.n_steps);
    Some(ObservableCall { step, time, function: Arc::clone(function), words, text })
}

/// What a function prints.
fn text(
    machine: &NativeMachine,
    function: &str,
    arguments: &[u64],
    words: &[RunArgument],
    result: Option<u64>,
) -> Option<Vec<u8>> {
    let argument = |index: usize| match words.get(index) {
        Some(RunArgument::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let beginning = |index: usize, length: u64| {
        let mut text = argument(index)?;
        text.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Some(text)
    };
    // A call that failed may have printed a part.
    let is_failed = result.is_some_and(|result| narrow(result) < 0);
    let format = match function {
        "write" => return beginning(1, u64::try_from(result?.cast_signed()).unwrap_or(0)),
        "fwrite" | "fwrite_unlocked" => return beginning(0, result?.saturating_mul(*arguments.get(1)?)),
        _ if is_failed => return None,
        "printf" | "vprintf" => 0,
        "fprintf" | "dprintf" | "__printf_chk" | "vfprintf" | "vdprintf" => 1,
        "__fprintf_chk" | "__vfprintf_chk" => 2,
        "puts" => return argument(0).map(|text| [text, b"\n".to_vec()].concat()),
        "fputs" | "fputs_unlocked" => return argument(0),
        "putchar" | "putchar_unlocked" | "fputc" | "fputc_unlocked" | "putc" | "putc_unlocked" | "_IO_putc" => {
            return Some(vec![arguments.first()?.to_le_bytes()[0]]);
        }
        _ => return None,
    };
    let behind = &arguments[format + 1..];
    let has_list = function.trim_start_matches('_').starts_with('v');
    let behind = if has_list { machine.list(*behind.first()?)? } else { behind };
    let text = machine.printed(*arguments.get(format)?, behind)?;
    (text.len() as u64 == result? & 0xffff_ffff).then_some(text)
}

impl Run {
    /// Takes a whole trace down.
    ///
    /// Cost: 33 bytes for each step, 40 for each value that waited for a call, 8 more for each step while it is read, and one pass over the trace.
    pub fn read(player: &mut NativePlayer) -> Result<Self, TraceError> {
        player.seek(0)?;
        let mut reader = RunReader::whole();
        player.play(&mut reader)?;
        Ok(reader.end(&player.machine))
    }
}

/// Takes a run down while it is played.
#[derive(Default)]
pub struct RunReader {
    outline: OutlineReader,
    /// Whether indices, records and writes are left out.
    is_outline: bool,
    /// Steps that left bytes which are not known.
    leaving: HashSet<u32>,
    /// What they left and was read, by address.
    revealed: HashSet<(u64, u32)>,
    crashed: Option<Step>,
    /// The last step that returned to a function which goes on with a record of its own, and how many records there were.
    returned: Option<(Step, u64)>,
}

impl RunReader {
    /// All of a run.
    pub fn whole() -> Self {
        let mut reader = Self { outline: OutlineReader::new(), ..Self::default() };
        reader.outline.run.indices.push(0);
        reader.outline.run.records.push(0);
        reader
    }

    /// Where its steps stand, when they continued, and what was said. Two runs cannot be compared by that.
    ///
    /// Cost: 17 bytes for each step.
    pub fn outline() -> Self {
        Self { outline: OutlineReader::new(), is_outline: true, ..Self::default() }
    }

    /// The run, after all of it was played.
    pub fn end(self, machine: &NativeMachine) -> Run {
        let mut run = self.outline.run;
        run.said.extend(last_words(machine));
        // A `return` is recorded before it is done. If it was, the caller would have a record of what it does next.
        let returning = self.returned.filter(|(_, n_records)| *n_records == machine.n_records).map(|(step, _)| step);
        run.end = self.crashed.or(returning).or_else(|| machine.frame().map(|frame| frame.step));
        run.n_records = machine.n_records;
        run.late.sort_by_key(|(step, _)| *step);
        run
    }
}

impl Watch for RunReader {
    fn crashes(&mut self, machine: &NativeMachine, _crash: &Crash) {
        self.crashed = machine.frame().map(|frame| frame.step);
    }

    fn step(&mut self, machine: &NativeMachine) {
        let Some(frame) = machine.frame() else { return };
        if !self.is_outline {
            self.outline.run.indices.push(frame.index().map_or(0, |Index(index)| index.max(1)));
            self.outline.run.records.push(machine.n_records.saturating_sub(1));
        }
        self.outline.step(&StepStand {
            frame: frame.number,
            decider: frame.decider(),
            caller: frame.caller,
            decision: frame.shape.is_decision(frame.statement).then_some(frame.statement),
            is_entry: frame.statement == 0,
            is_rest: false,
            thread: machine.thread,
        });
    }

    fn reads(&mut self, machine: &NativeMachine, _step: Step, address: u64, bytes: &[u8]) {
        if self.leaving.is_empty() || bytes.len() > 8 || self.outline.run.revealed.len() == MAX_REVEALED {
            return;
        }
        let Some((_, writer)) = machine.memory.word(address, bytes.len() as u64) else { return };
        if self.leaving.contains(&writer.0) && self.revealed.insert((address, writer.0)) {
            let mut held = [0; 8];
            held[..bytes.len()].copy_from_slice(bytes);
            let length = u8::try_from(bytes.len()).expect("at most 8");
            self.outline.run.revealed.push(Revealed { address, bytes: held, length, writer });
        }
    }

    fn writes(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        if self.is_outline {
            return;
        }
        if length > 0 && machine.memory.word(address, 1).is_none() {
            self.leaving.insert(step.0);
        }
        if step.0 != machine.n_steps {
            let late = LateWrite { address, length, time: machine.n_steps, n_records: machine.n_records };
            self.outline.run.late.push((step.0, late));
        }
    }

    fn leaves(&mut self, machine: &NativeMachine, is_return: bool) {
        match &machine.frames[..] {
            [frame] if is_return && &*frame.shape.body.function.name == "main" => {
                self.outline.run.main_end = Some(frame.step);
            }
            [.., caller, frame] if is_return && caller.external.is_none() => {
                self.returned = Some((frame.step, machine.n_records));
            }
            _ => {}
        }
    }

    fn returned(&mut self, machine: &NativeMachine, _result: Option<u64>) {
        if let Some(frame) = machine.frame() {
            self.outline.returns(frame.step, machine.n_steps);
        }
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let Some(frame) = machine.frame() else { return };
        if frame.step.0 != machine.n_steps {
            self.outline.returns(frame.step, machine.n_steps);
        }
        self.outline.run.said.extend(said(machine, call, arguments, result));
    }
}
