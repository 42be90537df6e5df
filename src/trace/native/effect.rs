//! Applies the [models](crate::trace::native::model) of library functions.

use crate::trace::native::machine::Awaited;
use crate::trace::native::machine::Content;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::memory::MAX_RANGE;
use crate::trace::native::model::Effect;
use crate::trace::native::model::Length;
use crate::trace::native::model::Model;
use crate::trace::native::model::ZERO;
use crate::trace::native::scanned;
use crate::trace::step::Step;

/// Strings that are looked through are no longer.
const MAX_STRING: u64 = 1 << 20;

/// A call that came back.
struct Called<'c> {
    step: Step,
    arguments: &'c [u64; 8],
    result: Option<u64>,
}

impl Called<'_> {
    fn argument(&self, index: usize) -> u64 {
        self.arguments.get(index).copied().unwrap_or(0)
    }

    /// What was returned, as an `int` or `long`; 0 if that is negative.
    fn count(&self) -> u64 {
        let result = self.result.unwrap_or(0);
        let is_negative = result >> 63 == 1 || result >> 31 == 1;
        if is_negative { 0 } else { result }
    }

    fn pointer(&self) -> Option<u64> {
        self.result.filter(|result| *result != 0)
    }
}

impl Machine {
    /// Does what a function does.
    pub fn apply<W: Watch>(&mut self, model: &Model, arguments: &[u64; 8], result: Option<u64>, watch: &mut W) {
        let step = self.frame().map_or(Step::START, |frame| frame.step);
        let called = Called { step, arguments, result };
        for effect in model.effects {
            self.effect(*effect, &called, watch);
        }
    }

    /// The bytes of a string with its zero; the limit if its end is not known.
    fn string_length(&self, address: u64, limit: u64) -> Option<u64> {
        let string = self.memory.string(address, limit.min(MAX_STRING));
        string.map(|string| string.len() as u64 + 1)
    }

    /// Whether the length of a string that has to be known is.
    fn is_known(&self, length: Length, called: &Called<'_>) -> bool {
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

    fn length(&self, length: Length, at: u64, called: &Called<'_>) -> u64 {
        let argument = |index| called.argument(index);
        let length = match length {
            Length::Bytes(n) => n,
            Length::Argument(index) => argument(index),
            Length::Product(one, other) => argument(one).saturating_mul(argument(other)),
            Length::Result => called.count(),
            Length::ResultTimes(index) => called.count().saturating_mul(argument(index)),
            Length::String => self.string_length(at, MAX_STRING).unwrap_or(1),
            Length::StringAtMost(index) => self.string_length(at, argument(index)).unwrap_or(argument(index)),
            Length::StringOf(index) => self.string_length(argument(index), MAX_STRING).unwrap_or(1),
            Length::StringOfAtMost(index, limit) => {
                self.string_length(argument(index), argument(limit)).unwrap_or(argument(limit))
            }
        };
        length.min(MAX_RANGE)
    }

    /// What a call prints by the format that is an argument of it. The library said how long the text is; what is as long is what it wrote.
    fn text(&self, format: usize, is_list: bool, called: &Called<'_>) -> Option<Vec<u8>> {
        let behind = called.arguments.get(format + 1..).unwrap_or_default();
        let arguments = if is_list { self.list(*behind.first()?)? } else { behind };
        let text = self.printed(called.argument(format), arguments)?;
        (text.len() as u64 == called.count()).then_some(text)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each effect")]
    fn effect<W: Watch>(&mut self, effect: Effect, called: &Called<'_>, watch: &mut W) {
        let step = called.step;
        match effect {
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
                    self.memory.define(at, length, step);
                    watch.writes(self, step, at, length);
                }
            }
            Effect::WritesResult(length) => {
                if let Some(at) = called.pointer() {
                    let length = self.length(length, at, called);
                    self.memory.define(at, length, step);
                    watch.writes(self, step, at, length);
                }
            }
            Effect::Copies(to, from, length) => {
                let (to, from) = (called.argument(to), called.argument(from));
                if !self.is_known(length, called) {
                    self.doubt_in_window();
                }
                let length = self.length(length, from, called);
                self.copy(step, to, from, length, watch);
            }
            Effect::Prints(to, format, limit) | Effect::PrintsList(to, format, limit) => {
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
                let place = called.argument(to);
                let text = self.text(format, matches!(effect, Effect::PrintsListAt(..)), called);
                self.memory.define(place, 8, step);
                watch.writes(self, step, place, 8);
                let content = match text {
                    Some(text) => Content::Text(text),
                    None => Content::Written,
                };
                self.await_pointer(Awaited { place, length: called.count() + 1, step, content });
            }
            Effect::Scans(format) => {
                let Some(text) = self.memory.string(called.argument(format), MAX_STRING) else { return };
                let pointers = called.arguments.get(format + 1..).unwrap_or_default().iter();
                let n_written = usize::try_from(called.count()).unwrap_or(0);
                for (at, length) in pointers.zip(scanned::lengths(&text)).take(n_written).filter(|(at, _)| **at != 0) {
                    self.memory.define(*at, length, step);
                    watch.writes(self, step, *at, length);
                }
            }
            Effect::Appends(to, from) => {
                let (to, from) = (called.argument(to), called.argument(from));
                match (self.string_length(to, MAX_STRING), self.string_length(from, MAX_STRING)) {
                    (Some(before), Some(length)) => {
                        self.look(step, to, before, watch);
                        self.copy(step, to + before - 1, from, length, watch);
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
                self.await_pointer(Awaited { place, length, step, content: Content::Unwritten });
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
                self.await_pointer(Awaited { place, length, step, content: Content::Written });
            }
        }
    }
}
