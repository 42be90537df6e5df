//! Where the input of a program enters it: which step brought which bytes of which file.
//!
//! The position in a file follows from the calls that read it. How far `fgets` or `scanf` read is not recorded: it is
//! computed from the content of the file if that is known, else from the bytes that the program looked at afterwards.
//!
//! Source: the *input slots* of Gupta, He, Zhang and Gupta 2005, "Locating Faulty Code Using Failure-Inducing Chops",
//! which the paper finds in system calls.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::trace::TraceError;
use crate::trace::native::detail::Detail;
use crate::trace::native::globals::Globals;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::machine::What;
use crate::trace::native::model::Input;
use crate::trace::native::play::Player;
use crate::trace::native::scanned;
use crate::trace::native::shape::Action;
use crate::trace::native::shape::Call;
use crate::trace::place::Place;
use crate::trace::step::Step;

/// The longest name of a file or of a variable.
const MAX_NAME: u64 = 4096;

/// The longest value of a variable of the environment.
const MAX_VALUE: u64 = 1 << 17;

/// The longest line whose end is searched.
const MAX_LINE: u64 = 1 << 16;

/// The longest format of `scanf`.
const MAX_FORMAT: u64 = 1 << 16;

/// What a program reads from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A file, by the name that the program used.
    File(String),
    /// Standard input.
    Standard,
    /// Another descriptor: a socket, a pipe, an inherited file.
    Descriptor(u64),
    /// A stream that was not seen when it was opened.
    Stream,
    /// An argument of the program; 0 is the name of the program.
    Argument(usize),
    /// A variable of the environment.
    Environment(String),
    /// The system: the time, a number of a process, a random number. The function is named.
    System(Arc<str>),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name) => f.write_str(name),
            Self::Standard => f.write_str("standard input"),
            Self::Descriptor(number) => write!(f, "descriptor {number}"),
            Self::Stream => f.write_str("a stream without a known name"),
            Self::Argument(number) => write!(f, "argument {number}"),
            Self::Environment(name) => write!(f, "the environment variable {name}"),
            Self::System(function) => write!(f, "the system ({function})"),
        }
    }
}

/// Where the bytes of an entry are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
    /// Nowhere: the call returned the byte, or only a part of it is known.
    Nowhere,
    /// From this address on.
    At(u64),
    /// At the beginning of a block of the heap that the program never read.
    Block,
}

/// Bytes that entered the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The source.
    pub source: Source,
    /// The offset of the first byte in the source; `None` if it is not known.
    pub begin: Option<u64>,
    /// The number of bytes; `None` if it is not known.
    pub length: Option<u64>,
    /// Whether offset and length are certain. If not, they follow from the bytes that the program looked at.
    pub is_exact: bool,
    /// The step.
    pub step: Step,
    /// The function that was called; `None` for a read of memory.
    pub function: Option<Arc<str>>,
    /// The place of the statement.
    pub place: Option<Place>,
    /// The bytes in memory.
    pub landing: Landing,
}

impl Entry {
    /// The bytes of the source; `None` if they are not known.
    pub fn range(&self) -> Option<Range<u64>> {
        let begin = self.begin?;
        Some(begin..begin.saturating_add(self.length?))
    }

    /// The bytes of the source that are in a part of memory; `None` if that is not known.
    pub fn part(&self, address: u64, length: u64) -> Option<Range<u64>> {
        let Landing::At(base) = self.landing else { return None };
        let first = self.begin?.checked_add(address.checked_sub(base)?)?;
        let end = first.saturating_add(length);
        let last = self.range().map_or(u64::MAX, |range| range.end);
        (first < last).then(|| first..end.min(last))
    }
}

impl Entry {
    /// Its bytes in words: `bytes 3 to 7`.
    pub fn bytes(&self) -> String {
        let about = if self.is_exact { "" } else { "about " };
        match (self.range(), self.begin) {
            (Some(range), _) if range.is_empty() => "no bytes".to_owned(),
            (Some(range), _) => format!("{about}{}", bytes(&range)),
            (None, Some(begin)) => format!("{about}bytes from {begin} on"),
            (None, None) => "bytes whose place is not known".to_owned(),
        }
    }
}

/// `byte 3` or `bytes 3 to 7`.
pub fn bytes(range: &Range<u64>) -> String {
    match range.end - range.start {
        1 => format!("byte {}", range.start),
        _ => format!("bytes {} to {}", range.start, range.end - 1),
    }
}

/// Names the bytes of input that steps read, and that calls brought.
pub fn name(details: &mut [Detail], entries: &[Entry]) {
    let mut by_step: HashMap<Step, Vec<&Entry>> = HashMap::new();
    for entry in entries {
        by_step.entry(entry.step).or_default().push(entry);
    }
    for detail in details {
        for access in &mut detail.reads {
            let mut makers = access.makers.iter().filter_map(|maker| by_step.get(maker)).flatten();
            let part = |entry: &&Entry| {
                let about = if entry.is_exact { "" } else { "about " };
                let range = entry.part(access.address, access.size)?;
                Some(format!("{about}{} of {}", bytes(&range), entry.source))
            };
            let named = makers.find_map(part);
            access.origin = access.origin.take().or(named);
        }
        let mut of_calls =
            by_step.get(&detail.standing.step).into_iter().flatten().filter(|entry| entry.function.is_some());
        for call in detail.calls.iter_mut().filter(|call| call.is_input) {
            call.input = of_calls.next().map(|entry| match entry.source {
                Source::Environment(_) | Source::System(_) => entry.source.to_string(),
                _ => format!("{} of {}", entry.bytes(), entry.source),
            });
        }
    }
}

/// The content of a source, if it is known.
pub type Contents<'c> = dyn FnMut(&Source) -> Option<Vec<u8>> + 'c;

/// All entries of input before a step, in order.
///
/// Cost: one pass over the trace.
pub fn inputs(player: &mut Player, until: Step, contents: &mut Contents<'_>) -> Result<Vec<Entry>, TraceError> {
    player.seek(0)?;
    let globals = Arc::clone(&player.globals);
    let mut inputs = Inputs {
        globals: &globals,
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

/// The steps with which a part of an input enters: calls that bring only bytes of it, and steps that read bytes of it
/// which a call brought together with others.
///
/// Cost: nothing, or one pass over the trace if a call brought other bytes, too.
pub fn entering(player: &mut Player, entries: &[&Entry], range: Option<&Range<u64>>) -> Result<Vec<Step>, TraceError> {
    let Some(range) = range else { return Ok(entries.iter().map(|entry| entry.step).collect()) };
    let (mut steps, mut partly) = (Vec::new(), HashMap::new());
    for entry in entries {
        let Some(bytes) = entry.range() else {
            // It may be any of them.
            steps.push(entry.step);
            continue;
        };
        if bytes.start >= range.end || bytes.end <= range.start {
            continue;
        }
        if range.start <= bytes.start && bytes.end <= range.end || entry.landing == Landing::Nowhere {
            steps.push(entry.step);
        } else {
            partly.insert(entry.step, *entry);
        }
    }
    if !partly.is_empty() {
        player.seek(0)?;
        let mut readers = Readers { partly, range, steps };
        player.play(&mut readers)?;
        steps = readers.steps;
    }
    steps.sort_unstable();
    steps.dedup();
    Ok(steps)
}

/// Collects the steps that use a part of what a call read.
struct Readers<'r> {
    partly: HashMap<Step, &'r Entry>,
    range: &'r Range<u64>,
    steps: Vec<Step>,
}

impl Watch for Readers<'_> {
    fn uses(&mut self, user: Step, maker: Step, what: What) {
        let Some(entry) = self.partly.get(&maker) else { return };
        let (What::Memory(address, length) | What::Address(address, length)) = what else { return };
        // In a block of the heap the place of the bytes is not known: all of them count.
        let is_used = match entry.landing {
            Landing::At(_) => entry
                .part(address, length)
                .is_some_and(|bytes| bytes.start < self.range.end && self.range.start < bytes.end),
            _ => true,
        };
        if is_used && self.steps.last() != Some(&user) {
            self.steps.push(user);
        }
    }
}

/// An open file.
struct Open {
    source: Source,
    content: Option<Rc<[u8]>>,
    /// The position; `None` if it is not known.
    at: Option<u64>,
    is_exact: bool,
    /// An entry whose length is not known yet, and its limit.
    pending: Option<(usize, u64)>,
}

#[derive(PartialEq, Eq, Hash)]
enum Handle {
    Stream(u64),
    Descriptor(u64),
}

struct Inputs<'i> {
    globals: &'i Globals,
    contents: &'i mut Contents<'i>,
    open: Vec<Open>,
    handles: HashMap<Handle, usize>,
    /// Values of the environment: where they begin, and the names of the variables.
    variables: Vec<(u64, String)>,
    entries: Vec<Entry>,
    /// Those whose bytes are in a block that is not known yet.
    in_blocks: Vec<usize>,
    until: Step,
    is_done: bool,
}

/// A call that came back.
struct Returned<'r> {
    machine: &'r Machine,
    name: &'r Arc<str>,
    arguments: &'r [Option<u64>],
    result: u64,
}

impl Returned<'_> {
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

/// A number that may be a negative one of 32 bits.
fn narrow(number: u64) -> i64 {
    u32::try_from(number).map_or(number.cast_signed(), |number| number.cast_signed().into())
}

/// The value that `getc` returns at the end.
fn is_end(result: u64) -> bool {
    narrow(result) < 0
}

impl Inputs<'_> {
    fn file(&mut self, source: Source) -> usize {
        let content = (self.contents)(&source).map(Rc::from);
        self.open.push(Open { source, content, at: Some(0), is_exact: true, pending: None });
        self.open.len() - 1
    }

    fn standard(&mut self) -> usize {
        self.descriptor(0)
    }

    fn descriptor(&mut self, number: u64) -> usize {
        if let Some(file) = self.handles.get(&Handle::Descriptor(number)) {
            return *file;
        }
        let file = self.file(if number == 0 { Source::Standard } else { Source::Descriptor(number) });
        self.handles.insert(Handle::Descriptor(number), file);
        file
    }

    fn stream(&mut self, pointer: u64, machine: &Machine) -> usize {
        if let Some(file) = self.handles.get(&Handle::Stream(pointer)) {
            return *file;
        }
        let address = self.globals.stream("stdin");
        let standard = address.and_then(|address| machine.memory.word(address, 8)).map(|(pointer, _)| pointer);
        let file = if standard == Some(pointer) { self.standard() } else { self.file(Source::Stream) };
        self.handles.insert(Handle::Stream(pointer), file);
        file
    }

    /// Finds out how far the last read of a file came.
    ///
    /// - `is_last`: whether the line will not be there any more.
    fn settle(&mut self, file: usize, machine: &Machine, is_last: bool) {
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
    fn read(&mut self, file: usize, length: Option<u64>, landing: Landing, call: &Returned<'_>) -> usize {
        let open = &mut self.open[file];
        let (begin, is_exact) = (open.at, open.is_exact);
        open.at = open.at.zip(length).map(|(at, length)| at.saturating_add(length));
        let frame = call.machine.frame();
        self.entries.push(Entry {
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
    fn line(&mut self, file: usize, limit: u64, call: &Returned<'_>) {
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

    fn fed(&mut self, input: Input, call: &Returned<'_>) {
        let file = match input {
            Input::Descriptor(index) => self.descriptor(call.argument(index) & 0xffff_ffff),
            Input::Stream(index) => self.stream(call.argument(index), call.machine),
            Input::Standard => self.standard(),
            Input::Environment => {
                let Some(name) = call.text(0).filter(|_| call.result != 0) else { return };
                let file = self.file(Source::Environment(name.clone()));
                self.variables.push((call.result, name));
                self.read(file, None, Landing::Nowhere, call);
                return;
            }
            Input::System => {
                let file = self.file(Source::System(Arc::clone(call.name)));
                self.read(file, None, Landing::Nowhere, call);
                return;
            }
        };
        match &**call.name {
            "read" | "recv" if call.count() > 0 => {
                self.read(file, Some(call.count()), Landing::At(call.argument(1)), call);
            }
            "pread" if call.count() > 0 => {
                let at = self.open[file].at.replace(call.argument(3));
                self.read(file, Some(call.count()), Landing::At(call.argument(1)), call);
                self.open[file].at = at;
            }
            "fread" | "fread_unlocked" if call.result > 0 => {
                let length = call.result.saturating_mul(call.argument(1));
                self.read(file, Some(length), Landing::At(call.argument(0)), call);
            }
            "fgets" if call.result != 0 => self.line(file, call.argument(1).saturating_sub(1), call),
            "getline" | "getdelim" | "__getdelim" if !is_end(call.result) => {
                let entry = self.read(file, Some(call.count()), Landing::Block, call);
                // The line before is gone, if it was in the same block.
                self.in_blocks = vec![entry];
            }
            "fgetc" | "getc" | "getc_unlocked" | "getchar" | "getchar_unlocked" if !is_end(call.result) => {
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
    fn moved(&mut self, call: &Returned<'_>) {
        let is_open = |result: u64| narrow(result) >= 0;
        match &**call.name {
            "fopen" | "fopen64" | "freopen" | "freopen64" if call.result != 0 => {
                let source = call.text(0).map_or(Source::Stream, Source::File);
                let file = self.file(source);
                self.handles.insert(Handle::Stream(call.result), file);
            }
            "fdopen" if call.result != 0 => {
                let file = self.descriptor(call.argument(0) & 0xffff_ffff);
                self.handles.insert(Handle::Stream(call.result), file);
            }
            "open" | "open64" | "openat" | "openat64" if is_open(call.result) => {
                let name = usize::from(call.name.starts_with("openat"));
                let number = call.result & 0xffff_ffff;
                let source = call.text(name).map_or(Source::Descriptor(number), Source::File);
                let file = self.file(source);
                self.handles.insert(Handle::Descriptor(number), file);
            }
            "dup" if is_open(call.result) => {
                let file = self.descriptor(call.argument(0) & 0xffff_ffff);
                self.handles.insert(Handle::Descriptor(call.result & 0xffff_ffff), file);
            }
            "dup2" | "dup3" if is_open(call.result) => {
                let file = self.descriptor(call.argument(0) & 0xffff_ffff);
                self.handles.insert(Handle::Descriptor(call.argument(1) & 0xffff_ffff), file);
            }
            "close" => _ = self.handles.remove(&Handle::Descriptor(call.argument(0) & 0xffff_ffff)),
            "fclose" => _ = self.handles.remove(&Handle::Stream(call.argument(0))),
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
    fn looked(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        let Some((source, begin)) = self.given(machine, address) else { return };
        let mut is_given = false;
        machine.memory.writers(address, length, |writer| is_given |= writer == Step::START);
        if !is_given || self.entries.last().is_some_and(|last| last.step == step && last.source == source) {
            return;
        }
        let place = machine.frame().and_then(|frame| frame.place().cloned());
        let (begin, length, landing) = (Some(begin), Some(length), Landing::At(address));
        self.entries.push(Entry { source, begin, length, is_exact: true, step, function: None, place, landing });
    }

    /// A read shows in which block a line is.
    #[inline]
    fn found_in_block(&mut self, machine: &Machine, address: u64) {
        let Some(entry) = self.in_blocks.last().map(|index| &mut self.entries[*index]) else { return };
        if machine.memory.word(address, 1).is_some_and(|(_, writer)| writer == entry.step)
            && let Some(block) = machine.heap.find(address)
        {
            entry.landing = Landing::At(block.address);
            self.in_blocks.clear();
        }
    }

    /// The argument or variable that is at an address, and the offset in it.
    fn given(&self, machine: &Machine, address: u64) -> Option<(Source, u64)> {
        if let Some((begin, text)) = &machine.texts
            && let Some(at) = address.checked_sub(*begin).and_then(|at| usize::try_from(at).ok())
            && at < text.len()
        {
            let before = &text[..at];
            let number = before.split(|byte| *byte == 0).count() - 1;
            let begin = before.iter().rposition(|byte| *byte == 0).map_or(0, |zero| zero + 1);
            return Some((Source::Argument(number), (at - begin) as u64));
        }
        let near =
            self.variables.iter().filter(|(begin, _)| (*begin..begin.saturating_add(MAX_VALUE)).contains(&address));
        let (begin, name) = near.max_by_key(|(begin, _)| *begin)?;
        Some((Source::Environment(name.clone()), address - begin))
    }
}

impl Watch for Inputs<'_> {
    fn step(&mut self, machine: &Machine) {
        self.is_done = machine.frame().is_some_and(|frame| frame.step >= self.until);
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn acts(&mut self, machine: &Machine, action: &Action, _record: &[u8]) {
        // The called function may overwrite the line.
        let Action::Call(index) = action else { return };
        if self.open.iter().all(|open| open.pending.is_none()) {
            return;
        }
        let Some(call) = machine.frame().map(|frame| frame.call(*index)) else { return };
        let is_input = call.model.is_some_and(|model| model.input.is_some());
        (0..self.open.len()).for_each(|file| self.settle(file, machine, is_input));
    }

    fn called(&mut self, machine: &Machine, call: &Call, arguments: &[Option<u64>], result: Option<u64>) {
        let Some(name) = &call.name else { return };
        let returned = Returned { machine, name, arguments, result: result.unwrap_or(0) };
        match call.model.and_then(|model| model.input) {
            Some(input) => self.fed(input, &returned),
            None => self.moved(&returned),
        }
    }

    fn reads(&mut self, machine: &Machine, step: Step, address: u64, bytes: &[u8]) {
        self.found_in_block(machine, address);
        if machine.texts.is_some() || !self.variables.is_empty() {
            self.looked(machine, step, address, bytes.len() as u64);
        }
    }

    fn looks(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        self.found_in_block(machine, address);
        if machine.texts.is_some() || !self.variables.is_empty() {
            self.looked(machine, step, address, length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::native::detail::detail;
    use crate::trace::native::stored::player;
    use crate::trace::native::stored::step;

    const LETTERS: &[u8] = b"abc\nde\nfghi";

    /// The entries of the stored run: source, range, exactness, function.
    fn shown(player: &mut Player, contents: &mut Contents<'_>) -> Vec<String> {
        let entries = inputs(player, Step(u32::MAX), contents).unwrap();
        let text = |entry: &Entry| {
            let range = entry.range().map_or_else(|| "?".to_owned(), |range| format!("{range:?}"));
            let sign = if entry.is_exact { "" } else { "~" };
            format!("{} {sign}{range} {}", entry.source, entry.function.as_deref().unwrap_or("-"))
        };
        entries.iter().map(text).collect()
    }

    #[test]
    fn each_read_has_its_place_in_its_source() {
        let mut player = player("inputs", "good");
        let known =
            shown(&mut player, &mut |source| (*source == Source::File("letters".into())).then(|| LETTERS.to_vec()));
        let expected = [
            "letters 0..4 fgets",
            "letters 4..7 fgets",
            "letters 7..8 getc",
            "letters 7..10 fread",
            "argument 1 0..8 -",
            "argument 2 0..2 -",
            "the environment variable SIZE ? getenv",
            "the environment variable SIZE 0..1 -",
        ];
        assert_eq!(known, expected);
        // Without the content of the file, the program's own reads show where its lines end.
        let guessed = shown(&mut player, &mut |_| None);
        let sign = |text: &str| text.replace("letters ", "letters ~");
        assert_eq!(
            guessed,
            expected.map(|text| if text.starts_with("letters") { sign(text) } else { text.to_owned() })
        );
    }

    #[test]
    fn where_a_value_comes_from_ends_at_bytes_of_the_input() {
        let mut player = player("inputs", "good");
        let entries = inputs(&mut player, Step(u32::MAX), &mut |_| Some(LETTERS.to_vec())).unwrap();
        let (second, call) = (step(&mut player, 15, 1), entries[2].step);
        let mut details = [second, call].map(|step| detail(&mut player, step).unwrap().unwrap());
        name(&mut details, &entries);
        let origins: Vec<&String> = details[0].reads.iter().filter_map(|access| access.origin.as_ref()).collect();
        assert_eq!(origins, ["byte 1 of letters"]);
        assert_eq!(details[1].calls[0].input.as_deref(), Some("byte 7 of letters"));
    }

    #[test]
    fn what_scanf_leaves_is_read_next() {
        let mut player = player("input", "good");
        assert_eq!(shown(&mut player, &mut |_| Some(b"21\n".to_vec())), ["number 0..2 __isoc99_fscanf"]);
        assert_eq!(shown(&mut player, &mut |_| None), ["number ? __isoc99_fscanf"]);
    }

    #[test]
    fn a_part_of_an_input_enters_where_it_is_used() {
        let mut player = player("inputs", "good");
        let entries = inputs(&mut player, Step(u32::MAX), &mut |_| Some(LETTERS.to_vec())).unwrap();
        let of_file: Vec<&Entry> =
            entries.iter().filter(|entry| entry.source == Source::File("letters".into())).collect();
        let adds = |player: &mut Player, nth| step(player, 15, nth);
        // `b`, by the two tests of the loop and by the addition.
        let one = entering(&mut player, &of_file, Some(&(1..2))).unwrap();
        assert!(one.contains(&adds(&mut player, 1)) && !one.contains(&adds(&mut player, 0)), "{one:?}");
        assert!(!one.contains(&adds(&mut player, 2)) && one.len() == 3, "{one:?}");
        // The second line as a whole, and `f` by the next byte and in the block.
        let more = entering(&mut player, &of_file, Some(&(4..8))).unwrap();
        assert!(more.contains(&of_file[1].step) && more.contains(&of_file[2].step), "{more:?}");
        assert!(!more.contains(&of_file[3].step) && more.contains(&step(&mut player, 23, 0)), "{more:?}");
        assert_eq!(entering(&mut player, &of_file, None).unwrap().len(), 4);
    }
}
