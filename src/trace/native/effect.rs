//! Applies the [models](crate::native::model) of library functions.

use crate::Step;
use crate::native::frame::number;
use crate::native::memory::MAX_RANGE;
use crate::native::model::{Effect, Emitted, Input, Length, Model, ZERO};
use crate::native::nodes::Linking;
use crate::native::scanned::ScannedConversion;
use crate::native::stream::NativeStream;
use crate::native::{Awaited, BlockContent, NativeMachine, Watch, nodes, object, scanned};

/// Strings that are looked through are no longer.
const MAX_STRING: u64 = 1 << 20;

/// The ranges of a list are no more.
const MAX_PARTS: u64 = 1024;

/// The bytes that count as read of a string whose end is not known.
const MAX_UNKNOWN: u64 = 64;

/// The bytes that a text of unknown length takes at most, so that reading words into a large buffer costs little.
const MAX_ROOM: u64 = 4096;

/// The same where something else may stand behind the text, such as the next member of a structure.
const MIN_ROOM: u64 = 32;

/// A call that came back.
pub struct CallEffect<'c> {
    pub step: Step,
    pub(super) arguments: &'c [u64; 8],
    pub(super) result: Option<u64>,
    /// What was read back: addresses and bytes.
    pub(super) read_back: &'c [(u64, Box<[u8]>)],
}

impl CallEffect<'_> {
    pub fn argument(&self, index: usize) -> u64 {
        self.arguments.get(index).copied().unwrap_or(0)
    }

    /// What was returned, as an `int` or `long`; 0 if that is negative.
    fn count(&self) -> u64 {
        let result = self.result.unwrap_or(0);
        let is_negative = result >> 63 == 1 || result >> 31 == 1;
        if is_negative { 0 } else { result }
    }

    /// The result, unless it is null.
    pub fn pointer(&self) -> Option<u64> {
        self.result.filter(|result| *result != 0)
    }
}

impl NativeMachine {
    /// Does what a function does.
    pub fn apply<W: Watch + ?Sized>(&mut self, model: &Model, called: &CallEffect<'_>, watch: &mut W) {
        if let Some(Input::Stream(index)) = model.input
            && !self.streams.is_empty()
        {
            self.reads_from(called.argument(index), called.step, watch);
        }
        for effect in model.effects {
            self.effect(*effect, called, watch);
        }
        // What was there before, such as the environment.
        if model.input == Some(Input::Environment) {
            self.see(called);
        }
    }

    /// A call writes bytes: those that were read back, and others that are not known.
    fn write_back<W: Watch + ?Sized>(&mut self, at: u64, length: u64, called: &CallEffect<'_>, watch: &mut W) {
        if length == 0 {
            return;
        }
        self.memory.define(at, length, called.step);
        self.see(called);
        watch.writes(self, called.step, at, length);
    }

    /// Notes what was read back.
    fn see(&mut self, called: &CallEffect<'_>) {
        for (address, bytes) in called.read_back {
            self.memory.read(*address, bytes, |_, writer| writer, |_| {});
        }
    }

    /// The first bytes of the ranges of a list (`iovec`): addresses and lengths.
    ///
    /// - `n`: the number of ranges.
    pub fn parts(&self, list: u64, n: u64, n_bytes: u64) -> Vec<(u64, u64)> {
        let (mut parts, mut rest) = (Vec::new(), n_bytes);
        for index in 0..n.min(MAX_PARTS) {
            let word = |offset| self.memory.word(list.checked_add(16 * index + offset)?, 8).map(|(word, _)| word);
            let (Some(at), Some(length)) = (word(0), word(8)) else { break };
            let length = length.min(rest);
            if length == 0 && rest == 0 {
                break;
            }
            parts.push((at, length));
            rest -= length;
        }
        parts
    }

    /// The bytes of a string with its zero; the limit if its end is not known.
    pub(super) fn string_length(&self, address: u64, limit: u64) -> Option<u64> {
        let string = self.memory.string(address, limit.min(MAX_STRING));
        string.map(|string| string.len() as u64 + 1)
    }

    /// The bytes of a string with its zero, as far as they are known: up to a zero, else those that were written together.
    fn text_length(&self, address: u64, limit: u64) -> u64 {
        if let Some(length) = self.string_length(address, limit) {
            return length;
        }
        let limit = limit.min(MAX_UNKNOWN);
        let is_zero = |n: &u64| self.memory.word(address.saturating_add(*n), 1).is_some_and(|(byte, _)| byte == 0);
        if let Some(zero) = (0..limit).find(is_zero) {
            return zero + 1;
        }
        self.written_together(address, limit)
    }

    /// How many bytes from an address on the step wrote that wrote the first one.
    fn written_together(&self, address: u64, limit: u64) -> u64 {
        let writer = |n: u64| {
            let mut found = Step::START;
            self.memory.writers(address.saturating_add(n), 1, |writer| found = writer);
            found
        };
        let first = writer(0);
        (1..limit).find(|n| writer(*n) != first).unwrap_or(limit)
    }

    /// How many bytes a copy of a string writes whose length is not known: as many as the string may have, up to where
    /// the bytes that it overwrites were written by someone else than the first one. Old bytes behind the first one would
    /// otherwise count as the rest of the text.
    fn unknown_text(&self, from: u64, to: u64) -> u64 {
        let length = self.text_length(from, MAX_STRING).clamp(1, MAX_UNKNOWN);
        self.written_together(to, length)
    }

    /// Whether the length of a string that has to be known is.
    fn is_known(&self, length: Length, called: &CallEffect<'_>) -> bool {
        let argument = |index| called.argument(index);
        match length {
            Length::StringOf(index) => self.string_length(argument(index), MAX_STRING).is_some(),
            Length::StringOfAtMost(index, limit) => self.string_length(argument(index), argument(limit)).is_some(),
            _ => true,
        }
    }

    /// In a window a string may be one from before it; what is written over then is anybody's guess.
    fn doubt_in_window(&mut self) {
        if self.is_window {
            self.memory.doubt();
        }
    }

    fn length(&self, length: Length, at: u64, called: &CallEffect<'_>) -> u64 {
        let argument = |index| called.argument(index);
        let length = match length {
            Length::Bytes(n) => n,
            Length::Argument(index) => argument(index),
            Length::Product(one, other) => argument(one).saturating_mul(argument(other)),
            Length::Result => called.count(),
            Length::ResultTimes(index) => called.count().saturating_mul(argument(index)),
            Length::String => self.text_length(at, MAX_STRING),
            Length::StringAtMost(index) => self.string_length(at, argument(index)).unwrap_or(argument(index)),
            Length::StringOf(index) => self.string_length(argument(index), MAX_STRING).unwrap_or(1),
            Length::StringOfAtMost(index, limit) => {
                self.string_length(argument(index), argument(limit)).unwrap_or(argument(limit))
            }
            Length::Rest => self.room(at),
        };
        length.min(MAX_RANGE)
    }

    /// The bytes that a text of unknown length takes at most: up to the end of its array; where that is not known, of its
    /// variable or block, if one step has written all of it before, or none has. What is behind the end of the text is read
    /// by nobody.
    fn room(&self, at: u64) -> u64 {
        let (rest, is_array) = object::rest(self, at).unwrap_or((MIN_ROOM, false));
        let rest = rest.min(MAX_ROOM);
        let mut n_writers = 0;
        self.memory.writers(at, rest, |_| n_writers += 1);
        if is_array || n_writers <= 1 { rest } else { rest.min(MIN_ROOM) }
    }

    /// Links nodes; if that is not known, some of them hold other pointers than before.
    fn link<W: Watch + ?Sized>(&mut self, step: Step, linking: Linking, nodes: &[u64], watch: &mut W) {
        if let Some(written) = nodes::linked(&self.memory, linking) {
            for (address, bytes) in written {
                self.memory.write(address, &bytes, step);
                watch.writes(self, step, address, bytes.len() as u64);
            }
            return;
        }
        let length = if matches!(linking, Linking::Insert { .. }) { 32 } else { 16 };
        for node in nodes {
            self.memory.define(*node, length, step);
            watch.writes(self, step, *node, length);
        }
    }

    /// The arguments behind the format.
    fn behind<'c>(&'c self, format: usize, is_list: bool, called: &'c CallEffect<'_>) -> Option<&'c [u64]> {
        let behind = called.arguments.get(format + 1..).unwrap_or_default();
        if is_list { self.list(*behind.first()?) } else { Some(behind) }
    }

    /// A call reads a format, unless that is a constant, and the strings that the arguments behind it point to.
    fn read_format<W: Watch + ?Sized>(&mut self, format: usize, is_list: bool, called: &CallEffect<'_>, watch: &mut W) {
        let at = called.argument(format);
        let arguments = self.behind(format, is_list, called).unwrap_or_default();
        let strings = self.strings(at, arguments);
        let mut is_computed = false;
        self.memory.writers(at, 1, |writer| is_computed |= writer != Step::START);
        for (at, limit) in is_computed.then_some((at, MAX_STRING)).into_iter().chain(strings) {
            let length = self.text_length(at, limit);
            self.look(called.step, at, length, watch);
        }
    }

    /// What a call printed, if something is known of it.
    fn emitted(&self, emitted: Emitted, called: &CallEffect<'_>) -> Option<(u64, Option<Vec<u8>>)> {
        let bytes = |at: u64, length: u64| self.memory.bytes(at, usize::try_from(length.min(MAX_STRING)).unwrap_or(0));
        Some(match emitted {
            Emitted::Format(format) => (called.count(), self.text(format, false, called)),
            Emitted::FormatList(format) => (called.count(), self.text(format, true, called)),
            Emitted::Text(index) => {
                let text = self.memory.string(called.argument(index), MAX_STRING)?;
                (text.len() as u64, Some(text))
            }
            Emitted::Byte(index) => (1, Some(vec![called.argument(index).to_le_bytes()[0]])),
            Emitted::Block(index) => {
                let length = called.count().saturating_mul(called.argument(index + 1));
                (length, bytes(called.argument(index), length))
            }
        })
    }

    /// What a call prints by the format that is an argument of it. The library said how long the text is; what is as long is what it wrote.
    fn text(&self, format: usize, is_list: bool, called: &CallEffect<'_>) -> Option<Vec<u8>> {
        let arguments = self.behind(format, is_list, called)?;
        let text = self.printed(called.argument(format), arguments)?;
        (text.len() as u64 == called.count()).then_some(text)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each effect")]
    fn effect<W: Watch + ?Sized>(&mut self, effect: Effect, called: &CallEffect<'_>, watch: &mut W) {
        let step = called.step;
        match effect {
            Effect::ReadsString(index) => {
                let at = called.argument(index);
                let word = |at| self.memory.word(at, 8).map_or(0, |(word, _)| word);
                let (begin, length) = (word(at), word(at.wrapping_add(8)));
                self.look(step, at, 16, watch);
                if begin != 0 {
                    self.look(step, begin, length.min(MAX_STRING), watch);
                }
            }
            Effect::Reads(index, length) => {
                let at = called.argument(index);
                let length = self.length(length, at, called);
                if at != 0 {
                    self.look(step, at, length, watch);
                }
            }
            Effect::Writes(index, length) => {
                let at = called.argument(index);
                let length = self.length(length, at, called);
                if at != 0 {
                    self.write_back(at, length, called, watch);
                }
            }
            Effect::WritesParts(list, n) => {
                let parts = self.parts(called.argument(list), called.argument(n), called.count());
                for (at, length) in parts {
                    self.write_back(at, length, called, watch);
                }
            }
            Effect::WritesResult(length) => {
                if let Some(at) = called.pointer() {
                    let length = self.length(length, at, called);
                    self.write_back(at, length, called, watch);
                }
            }
            Effect::Copies(to, from, length) => {
                let (to, from) = (called.argument(to), called.argument(from));
                let is_known = self.is_known(length, called);
                if !is_known {
                    self.doubt_in_window();
                }
                let length = match length {
                    Length::StringOf(_) if !is_known => self.unknown_text(from, to),
                    _ => self.length(length, from, called),
                };
                self.copy(step, to, from, length, watch);
            }
            Effect::Prints(to, format, limit) | Effect::PrintsList(to, format, limit) => {
                self.read_format(format, matches!(effect, Effect::PrintsList(..)), called, watch);
                let at = called.argument(to);
                let room = limit.map_or(MAX_RANGE, |limit| called.argument(limit));
                let length = (called.count() + 1).min(room);
                if at == 0 || length == 0 {
                    return;
                }
                match self.text(format, matches!(effect, Effect::PrintsList(..)), called) {
                    Some(mut text) => {
                        text.truncate(usize::try_from(length - 1).unwrap_or(0));
                        text.push(0);
                        self.memory.write(at, &text, step);
                    }
                    None => self.memory.define(at, length, step),
                }
                watch.writes(self, step, at, length);
            }
            Effect::PrintsAt(to, format) | Effect::PrintsListAt(to, format) => {
                self.read_format(format, matches!(effect, Effect::PrintsListAt(..)), called, watch);
                let place = called.argument(to);
                let text = self.text(format, matches!(effect, Effect::PrintsListAt(..)), called);
                self.memory.define(place, 8, step);
                watch.writes(self, step, place, 8);
                let content = match text {
                    Some(text) => BlockContent::Text(text),
                    None => BlockContent::Written,
                };
                self.await_pointer(Awaited { place, length: called.count() + 1, step, content });
            }
            Effect::Formats(format) => self.read_format(format, false, called, watch),
            Effect::FormatsList(format) => self.read_format(format, true, called, watch),
            Effect::Emits(stream, emitted) => {
                let stream = called.argument(stream);
                if self.is_in_memory(stream)
                    && let Some((length, bytes)) = self.emitted(emitted, called)
                {
                    self.prints(stream, (step, length, bytes), watch);
                }
            }
            Effect::OpensBlock(pointer, size) => {
                if let Some(stream) = called.pointer() {
                    let (pointer, size) = (called.argument(pointer), called.argument(size));
                    self.streams.insert(stream, NativeStream::Block { pointer, size, printed: Vec::new() });
                }
            }
            Effect::OpensBuffer(address, size) => {
                let (address, size) = (called.argument(address), called.argument(size));
                if let Some(stream) = called.pointer().filter(|_| address != 0) {
                    self.streams.insert(stream, NativeStream::Buffer { address, size, at: 0 });
                }
            }
            Effect::Flushes(stream) => self.flushes(called.argument(stream), step, watch),
            Effect::Closes(stream) => {
                let stream = called.argument(stream);
                if self.is_in_memory(stream) {
                    self.flushes(stream, step, watch);
                    self.streams.remove(&stream);
                }
            }
            Effect::Splits(save) => {
                let save = save.map_or(0, |save| called.argument(save));
                self.splits(called, save, watch);
            }
            Effect::Scans(format) => {
                let Some(text) = self.memory.string(called.argument(format), MAX_STRING) else { return };
                let pointers = called.arguments.get(format + 1..).unwrap_or_default().iter();
                for (at, conversion) in
                    pointers.zip(scanned::assigned(&text, called.count())).filter(|(at, _)| **at != 0)
                {
                    let length = match conversion {
                        ScannedConversion::Bytes(length)
                        | ScannedConversion::Position(length)
                        | ScannedConversion::Text(Some(length)) => length,
                        ScannedConversion::Text(None) => self.room(*at),
                    };
                    self.write_back(*at, length, called, watch);
                }
            }
            Effect::Appends(to, from, limit) => {
                let (to, from) = (called.argument(to), called.argument(from));
                let limit = limit.map_or(MAX_STRING, |limit| called.argument(limit));
                let is_cut = self.string_length(from, limit).is_none();
                let length = match self.string_length(from, limit) {
                    // No zero among the first bytes: these are appended, and a zero.
                    None if limit < MAX_STRING => Some(limit),
                    length => length,
                };
                match (self.string_length(to, MAX_STRING), length) {
                    (Some(before), Some(length)) => {
                        self.look(step, to, before, watch);
                        self.copy(step, to + before - 1, from, length, watch);
                        if is_cut {
                            self.memory.write(to + before - 1 + length, &[0], step);
                        }
                    }
                    _ => self.doubt_in_window(),
                }
            }
            Effect::Fills(to, byte, length) => {
                let to = called.argument(to);
                let length = self.length(length, to, called);
                let byte = if byte == ZERO { 0 } else { called.argument(byte) };
                self.memory.fill(to, byte.to_le_bytes()[0], length, step);
                watch.writes(self, step, to, length);
            }
            Effect::InsertsNode => {
                let (node, parent, header) = (called.argument(1), called.argument(2), called.argument(3));
                let is_left = called.argument(0).to_le_bytes()[0] != 0;
                self.link(step, Linking::Insert { is_left, node, parent, header }, &[node, parent, header], watch);
            }
            Effect::HooksNode => {
                let (node, before) = (called.argument(0), called.argument(1));
                self.link(step, Linking::Hook { node, before }, &[node, before], watch);
            }
            Effect::UnhooksNode => {
                self.link(step, Linking::Unhook { node: called.argument(0) }, &[], watch);
            }
            Effect::Duplicates(from) => {
                let from = called.argument(from);
                match (called.pointer(), self.string_length(from, MAX_STRING)) {
                    (Some(to), Some(length)) => {
                        self.heap.make(to, length, step);
                        self.copy(step, to, from, length, watch);
                    }
                    _ => self.doubt_in_window(),
                }
            }
            Effect::Allocates(length) => {
                if let Some(at) = called.pointer() {
                    let length = self.length(length, called.argument(0), called);
                    self.heap.make(at, length, step);
                    self.memory.forget(at, length);
                }
            }
            Effect::AllocatesZero(length) => {
                if let Some(at) = called.pointer() {
                    let length = self.length(length, at, called);
                    self.heap.make(at, length, step);
                    self.memory.fill(at, 0, length, step);
                    watch.writes(self, step, at, length);
                }
            }
            Effect::AllocatesAt(index, length) => {
                let place = called.argument(index);
                let length = self.length(length, place, called);
                self.memory.define(place, 8, step);
                watch.writes(self, step, place, 8);
                self.await_pointer(Awaited { place, length, step, content: BlockContent::Unwritten });
            }
            Effect::Frees(index) => {
                self.heap.free(called.argument(index), step);
            }
            Effect::Moves(index, length) => {
                let Some(to) = called.pointer() else { return };
                let from = called.argument(index);
                let length = self.length(length, to, called);
                let before = self.heap.free(from, step);
                self.heap.make(to, length, step);
                if to != from {
                    match before.map(|before| before.size.min(length)) {
                        // A block that moves keeps who wrote it: nobody calls the move a definition.
                        Some(kept) => {
                            self.memory.relocate(to, from, kept);
                            self.memory.forget(to + kept, length - kept);
                        }
                        None => self.memory.forget(to, length),
                    }
                }
            }
            Effect::ReadsLine(pointer, size) => {
                for place in [pointer, size] {
                    self.memory.define(called.argument(place), 8, step);
                    watch.writes(self, step, called.argument(place), 8);
                }
                let (place, length) = (called.argument(pointer), called.count() + 1);
                self.await_pointer(Awaited { place, length, step, content: BlockContent::Written });
                if let Some((_, pointer)) = called.read_back.iter().find(|(address, _)| *address == place) {
                    self.found(place, number(pointer, 0, 8).unwrap_or(0));
                    self.see(called);
                }
            }
        }
    }
}
