//! Follows the files that a program reads.
//!
//! The position in a file follows from the calls that read it. How far `fgets` or `scanf` read is not recorded: it is
//! computed from the content of the file if that is known, else from the bytes that the program looked at afterwards.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::input::{Contents, InputEntry, InputSource, Landing};
use crate::native::frame::narrow;
use crate::native::model::Input;
use crate::native::{NativeCall, NativeMachine, NativePlayer, RecordAction, Watch, scanned};
use crate::{Step, TraceError};

/// The longest name of a file or of a variable.
const MAX_NAME: u64 = 4096;

/// The longest value of a variable of the environment.
const MAX_VALUE: u64 = 1 << 17;

/// The longest line whose end is searched.
const MAX_LINE: u64 = 1 << 16;

/// The longest format of `scanf`.
const MAX_FORMAT: u64 = 1 << 16;

/// All entries of input before a step, in order.
///
/// Cost: one pass over the trace.
pub fn inputs(
    player: &mut NativePlayer,
    until: Step,
    contents: &mut Contents<'_>,
) -> Result<Vec<InputEntry>, TraceError> {
    player.seek(0)?;
    let mut inputs = OpenInputs {
        contents,
        open: Vec::new(),
        handles: HashMap::new(),
        variables: Vec::new(),
        entries: Vec::new(),
        in_blocks: Vec::new(),
        until,
        is_done: false,
    };
    player.play(&mut inputs)?;
    for file in 0..inputs.open.len() {
        inputs.settle(file, &player.machine, true);
    }
    Ok(inputs.entries)
}

struct OpenFile {
    source: InputSource,
    content: Option<Rc<[u8]>>,
    /// The position; `None` if it is not known.
    at: Option<u64>,
    is_exact: bool,
    /// An entry whose length is not known yet, and its limit.
    pending: Option<(usize, u64)>,
}

#[derive(PartialEq, Eq, Hash)]
enum FileHandle {
    Stream(u64),
    Descriptor(u64),
}

struct OpenInputs<'i> {
    contents: &'i mut Contents<'i>,
    open: Vec<OpenFile>,
    handles: HashMap<FileHandle, usize>,
    /// Values of the environment: where they begin, and the names of the variables.
    variables: Vec<(u64, String)>,
    entries: Vec<InputEntry>,
    /// Those whose bytes are in a block that is not known yet.
    in_blocks: Vec<usize>,
    until: Step,
    is_done: bool,
}

/// A call that came back.
struct ReturnedCall<'r> {
    machine: &'r NativeMachine,
    name: &'r Arc<str>,
    arguments: &'r [Option<u64>],
    result: u64,
}

impl ReturnedCall<'_> {
    fn argument(&self, index: usize) -> u64 {
        self.arguments.get(index).copied().flatten().unwrap_or(0)
    }

    /// An `int` or a `long`.
    fn signed(&self, index: usize) -> i64 {
        narrow(self.argument(index))
    }

    /// The result, if it is a number of bytes.
    fn count(&self) -> u64 {
        u64::try_from(narrow(self.result)).unwrap_or(0)
    }

    fn text(&self, index: usize) -> Option<String> {
        let text = self.machine.memory.string(self.argument(index), MAX_NAME)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The value that `getc` returns at the end.
fn is_end(result: u64) -> bool {
    narrow(result) < 0
}

impl OpenInputs<'_> {
    fn file(&mut self, source: InputSource) -> usize {
        let content = (self.contents)(&source).map(Rc::from);
        self.open.push(OpenFile { source, content, at: Some(0), is_exact: true, pending: None });
        self.open.len() - 1
    }

    fn standard(&mut self) -> usize {
        self.descriptor(0)
    }

    fn descriptor(&mut self, number: u64) -> usize {
        if let Some(file) = self.handles.get(&FileHandle::Descriptor(number)) {
            return *file;
        }
        let file = self.file(if number == 0 { InputSource::Standard } else { InputSource::Descriptor(number) });
        self.handles.insert(FileHandle::Descriptor(number), file);
        file
    }

    fn stream(&mut self, pointer: u64, machine: &NativeMachine) -> usize {
        if let Some(file) = self.handles.get(&FileHandle::Stream(pointer)) {
            return *file;
        }
        let address = machine.globals.stream("stdin");
        let standard = address.and_then(|address| machine.memory.word(address, 8)).map(|(pointer, _)| pointer);
        let file = if standard == Some(pointer) { self.standard() } else { self.file(InputSource::Stream) };
        self.handles.insert(FileHandle::Stream(pointer), file);
        file
    }

    /// Finds out how far the last read of a file came.
    ///
    /// - `is_last`: whether the line will not be there any more.
    fn settle(&mut self, file: usize, machine: &NativeMachine, is_last: bool) {
        let Some((entry, limit)) = self.open[file].pending else { return };
        let Landing::At(address) = self.entries[entry].landing else { return };
        let reader = self.entries[entry].step;
        let end = (0..limit.min(MAX_LINE)).find_map(|at| match machine.memory.word(address.checked_add(at)?, 1)? {
            (0, writer) if writer == reader => Some(at),
            // The program put its own end there, as a rule in place of the end of the line.
            (0 | 10, _) => Some(at + 1),
            _ => None,
        });
        let open = &mut self.open[file];
        if end.is_none() && !is_last {
            return;
        }
        open.pending = None;
        self.entries[entry].length = end;
        self.entries[entry].is_exact = false;
        open.is_exact = false;
        open.at = open.at.zip(end).map(|(at, end)| at + end);
    }

    /// A file is read.
    ///
    /// - `length`: `None` if it has to be found out.
    fn read(&mut self, file: usize, length: Option<u64>, landing: Landing, call: &ReturnedCall<'_>) -> usize {
        let open = &mut self.open[file];
        let (begin, is_exact) = (open.at, open.is_exact);
        open.at = open.at.zip(length).map(|(at, length)| at.saturating_add(length));
        let frame = call.machine.frame();
        self.entries.push(InputEntry {
            source: open.source.clone(),
            begin,
            length,
            is_exact,
            step: frame.map_or(Step::START, |frame| frame.step),
            function: Some(Arc::clone(call.name)),
            place: frame.and_then(|frame| frame.place().cloned()),
            landing,
        });
        self.entries.len() - 1
    }

    /// The content of a file from the position on.
    fn rest(&self, file: usize) -> Option<&[u8]> {
        let open = &self.open[file];
        open.content.as_ref()?.get(usize::try_from(open.at?).ok()?..)
    }

    /// `fgets`: up to the end of a line, or to a limit.
    fn line(&mut self, file: usize, limit: u64, call: &ReturnedCall<'_>) {
        let landing = Landing::At(call.argument(0));
        let length = self.rest(file).map(|rest| {
            let rest = &rest[..rest.len().min(usize::try_from(limit).unwrap_or(usize::MAX))];
            rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1) as u64
        });
        let at = self.open[file].at;
        let entry = self.read(file, length, landing, call);
        if length.is_none() {
            // The position stays until it is known how long the line was.
            self.open[file].at = at;
            self.open[file].pending = Some((entry, limit));
        }
    }

    fn fed(&mut self, input: Input, call: &ReturnedCall<'_>) {
        let file = match input {
            Input::Descriptor(index) => self.descriptor(call.argument(index) & 0xffff_ffff),
            // What it has came from memory of the program.
            Input::Stream(index) if call.machine.is_in_memory(call.argument(index)) => return,
            Input::Stream(index) => self.stream(call.argument(index), call.machine),
            Input::Standard => self.standard(),
            Input::Environment => {
                let Some(name) = call.text(0).filter(|_| call.result != 0) else { return };
                let file = self.file(InputSource::Environment(name.clone()));
                self.variables.push((call.result, name));
                self.read(file, None, Landing::Nowhere, call);
                return;
            }
            Input::System => {
                let file = self.file(InputSource::System(Arc::clone(call.name)));
                self.read(file, None, Landing::Nowhere, call);
                return;
            }
        };
        match &**call.name {
            "read" | "recv" | "recvfrom" if call.count() > 0 => {
                self.read(file, Some(call.count()), Landing::At(call.argument(1)), call);
            }
            "pread" | "pread64" if call.count() > 0 => {
                let at = self.open[file].at.replace(call.argument(3));
                self.read(file, Some(call.count()), Landing::At(call.argument(1)), call);
                self.open[file].at = at;
            }
            "readv" | "preadv" | "preadv64" if call.count() > 0 => {
                let is_moved = &**call.name == "readv";
                let before = if is_moved { None } else { Some(self.open[file].at.replace(call.argument(3))) };
                for (address, length) in call.machine.parts(call.argument(1), call.argument(2), call.count()) {
                    self.read(file, Some(length), Landing::At(address), call);
                }
                if let Some(at) = before {
                    self.open[file].at = at;
                }
            }
            "fread" | "fread_unlocked" if call.result > 0 => {
                let length = call.result.saturating_mul(call.argument(1));
                self.read(file, Some(length), Landing::At(call.argument(0)), call);
            }
            "fgets" | "fgets_unlocked" if call.result != 0 => self.line(file, call.argument(1).saturating_sub(1), call),
            "gets" if call.result != 0 => self.line(file, u64::MAX, call),
            "getline" | "getdelim" | "__getdelim" if !is_end(call.result) => {
                let entry = self.read(file, Some(call.count()), Landing::Block, call);
                // The line before is gone, if it was in the same block.
                self.in_blocks = vec![entry];
            }
            "fgetc" | "fgetc_unlocked" | "getc" | "getc_unlocked" | "getchar" | "getchar_unlocked"
                if !is_end(call.result) =>
            {
                self.read(file, Some(1), Landing::Nowhere, call);
            }
            name if name.ends_with("scanf") => {
                let format = usize::from(input != Input::Standard);
                let format = call.machine.memory.string(call.argument(format), MAX_FORMAT);
                let length = self.rest(file).zip(format).map(|(rest, format)| scanned::consumed(&format, rest) as u64);
                self.read(file, length, Landing::Nowhere, call);
            }
            _ => {}
        }
    }

    /// Calls that open files, or move in them.
    fn moved(&mut self, call: &ReturnedCall<'_>) {
        let is_open = |result: u64| narrow(result) >= 0;
        match &**call.name {
            "fopen" | "fopen64" | "freopen" | "freopen64" if call.result != 0 => {
                let source = call.text(0).map_or(InputSource::Stream, InputSource::File);
                let file = self.file(source);
                self.handles.insert(FileHandle::Stream(call.result), file);
            }
            "fdopen" if call.result != 0 => {
                let file = self.descriptor(call.argument(0) & 0xffff_ffff);
                self.handles.insert(FileHandle::Stream(call.result), file);
            }
            "open" | "open64" | "openat" | "openat64" if is_open(call.result) => {
                let name = usize::from(call.name.starts_with("openat"));
                let number = call.result & 0xffff_ffff;
                let source = call.text(name).map_or(InputSource::Descriptor(number), InputSource::File);
                let file = self.file(source);
                self.handles.insert(FileHandle::Descriptor(number), file);
            }
            "dup" if is_open(call.result) => {
                let file = self.descriptor(call.argument(0) & 0xffff_ffff);
                self.handles.insert(FileHandle::Descriptor(call.result & 0xffff_ffff), file);
            }
            "dup2" | "dup3" if is_open(call.result) => {
                let file = self.descriptor(call.argument(0) & 0xffff_ffff);
                self.handles.insert(FileHandle::Descriptor(call.argument(1) & 0xffff_ffff), file);
            }
            "close" => _ = self.handles.remove(&FileHandle::Descriptor(call.argument(0) & 0xffff_ffff)),
            "fclose" => _ = self.handles.remove(&FileHandle::Stream(call.argument(0))),
            "fseek" | "fseeko" | "fseeko64" if narrow(call.result) == 0 => {
                let file = self.stream(call.argument(0), call.machine);
                let base = match call.signed(2) {
                    0 => Some(0),
                    1 => self.open[file].at,
                    _ => self.open[file].content.as_ref().map(|content| content.len() as u64),
                };
                self.open[file].at = base.and_then(|base| base.checked_add_signed(call.signed(1)));
            }
            "rewind" => {
                let file = self.stream(call.argument(0), call.machine);
                (self.open[file].at, self.open[file].is_exact) = (Some(0), true);
            }
            "lseek" | "lseek64" if is_open(call.result) => {
                let file = self.descriptor(call.argument(0) & 0xffff_ffff);
                self.open[file].at = Some(call.result);
            }
            "ungetc" if !is_end(call.result) => {
                let file = self.stream(call.argument(1), call.machine);
                self.open[file].at = self.open[file].at.and_then(|at| at.checked_sub(1));
            }
            "mmap" | "mmap64" if narrow(call.result) != -1 && call.signed(4) >= 0 => {
                let file = self.descriptor(call.argument(4) & 0xffff_ffff);
                let at = self.open[file].at.replace(call.argument(5));
                let rest = self.rest(file).map(|rest| rest.len() as u64);
                let length = rest.map_or(call.argument(1), |rest| rest.min(call.argument(1)));
                self.read(file, Some(length), Landing::At(call.result), call);
                self.open[file].at = at;
            }
            _ => {}
        }
    }

    /// A read of bytes from before the run: of arguments, or of the environment.
    fn looked(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        let Some((source, begin)) = self.given(machine, address) else { return };
        let mut is_given = false;
        machine.memory.writers(address, length, |writer| is_given |= writer == Step::START);
        if !is_given || self.entries.last().is_some_and(|last| last.step == step && last.source == source) {
            return;
        }
        let place = machine.frame().and_then(|frame| frame.place().cloned());
        let (begin, length, landing) = (Some(begin), Some(length), Landing::At(address));
        self.entries.push(InputEntry { source, begin, length, is_exact: true, step, function: None, place, landing });
    }

    /// A read shows in which block a line is.
    #[inline]
    fn found_in_block(&mut self, machine: &NativeMachine, address: u64) {
        let Some(entry) = self.in_blocks.last().map(|index| &mut self.entries[*index]) else { return };
        if machine.memory.word(address, 1).is_some_and(|(_, writer)| writer == entry.step)
            && let Some(block) = machine.heap.find(address)
        {
            entry.landing = Landing::At(block.address);
            self.in_blocks.clear();
        }
    }

    /// The argument or variable that is at an address, and the offset in it.
    fn given(&self, machine: &NativeMachine, address: u64) -> Option<(InputSource, u64)> {
        if let Some((begin, text)) = &machine.texts
            && let Some(at) = address.checked_sub(*begin).and_then(|at| usize::try_from(at).ok())
            && at < text.len()
        {
            let before = &text[..at];
            let number = before.split(|byte| *byte == 0).count() - 1;
            let begin = before.iter().rposition(|byte| *byte == 0).map_or(0, |zero| zero + 1);
            return Some((InputSource::Argument(number), (at - begin) as u64));
        }
        let near =
            self.variables.iter().filter(|(begin, _)| (*begin..begin.saturating_add(MAX_VALUE)).contains(&address));
        let (begin, name) = near.max_by_key(|(begin, _)| *begin)?;
        Some((InputSource::Environment(name.clone()), address - begin))
    }
}

impl Watch for OpenInputs<'_> {
    fn step(&mut self, machine: &NativeMachine) {
        self.is_done = machine.frame().is_some_and(|frame| frame.step >= self.until);
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, _record: &[u8]) {
        // The called function may overwrite the line.
        let RecordAction::Call(index) = action else { return };
        if self.open.iter().all(|open| open.pending.is_none()) {
            return;
        }
        let Some(call) = machine.frame().map(|frame| frame.call(*index)) else { return };
        let is_input = call.model.is_some_and(|model| model.input.is_some());
        (0..self.open.len()).for_each(|file| self.settle(file, machine, is_input));
    }

    fn called(&mut self, machine: &NativeMachine, call: &NativeCall, arguments: &[Option<u64>], result: Option<u64>) {
        let Some(name) = &call.name else { return };
        let returned = ReturnedCall { machine, name, arguments, result: result.unwrap_or(0) };
        match call.model.and_then(|model| model.input) {
            Some(input) => self.fed(input, &returned),
            None => self.moved(&returned),
        }
    }

    fn reads(&mut self, machine: &NativeMachine, step: Step, address: u64, bytes: &[u8]) {
        self.found_in_block(machine, address);
        if machine.texts.is_some() || !self.variables.is_empty() {
            self.looked(machine, step, address, bytes.len() as u64);
        }
    }

    fn looks(&mut self, machine: &NativeMachine, step: Step, address: u64, length: u64) {
        self.found_in_block(machine, address);
        if machine.texts.is_some() || !self.variables.is_empty() {
            self.looked(machine, step, address, length);
        }
    }
}
