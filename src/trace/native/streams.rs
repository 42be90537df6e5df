//! Streams whose other end is memory of the program: `open_memstream`, `fmemopen`; and the positions of `strtok`.
//!
//! The block of `open_memstream` gets what was printed when the stream is flushed or closed. Each byte keeps the step that printed it. Movements in such streams
//! (`fseek`) are not followed.

use crate::Step;
use crate::native::effect::CallEffect;
use crate::native::stream::{NativeStream, StreamOutput};
use crate::native::{Awaited, BlockContent, NativeMachine, UsedThing, Watch};

impl NativeMachine {
    /// Whether a stream reads from memory of the program.
    pub fn is_in_memory(&self, stream: u64) -> bool {
        self.streams.contains_key(&stream)
    }

    /// A call printed to a stream.
    pub(super) fn prints<W: Watch + ?Sized>(
        &mut self,
        stream: u64,
        (step, length, bytes): StreamOutput,
        watch: &mut W,
    ) {
        match self.streams.get_mut(&stream) {
            Some(NativeStream::Block { printed, .. }) => printed.push((step, length, bytes)),
            Some(NativeStream::Buffer { address, size, at }) => {
                let (begin, length) = (*address + *at, length.min(size.saturating_sub(*at)));
                *at += length;
                match bytes.and_then(|bytes| Some(bytes.get(..usize::try_from(length).ok()?)?.to_vec())) {
                    Some(bytes) => self.memory.write(begin, &bytes, step),
                    None => self.memory.define(begin, length, step),
                }
                watch.writes(self, step, begin, length);
            }
            None => {}
        }
    }

    pub(super) fn reads_from<W: Watch + ?Sized>(&mut self, stream: u64, step: Step, watch: &mut W) {
        if let Some(NativeStream::Buffer { address, size, .. }) = self.streams.get(&stream) {
            let (address, size) = (*address, *size);
            self.look(step, address, size, watch);
        }
    }

    /// A stream is flushed; all streams are if it is 0.
    pub(super) fn flushes<W: Watch + ?Sized>(&mut self, stream: u64, step: Step, watch: &mut W) {
        let blocks = self.streams.iter().filter(|(handle, _)| stream == 0 || **handle == stream);
        let blocks = blocks.filter_map(|(_, stream)| match stream {
            NativeStream::Block { pointer, size, printed } => Some((*pointer, *size, printed.clone())),
            NativeStream::Buffer { .. } => None,
        });
        for (pointer, size, printed) in blocks.collect::<Vec<_>>() {
            let length: u64 = printed.iter().map(|(_, length, _)| length).sum();
            for (maker, _, _) in &printed {
                watch.uses(step, *maker, UsedThing::Memory(size, 8));
            }
            self.memory.define(pointer, 8, step);
            watch.writes(self, step, pointer, 8);
            self.memory.write(size, &length.to_le_bytes(), step);
            watch.writes(self, step, size, 8);
            self.await_pointer(Awaited {
                place: pointer,
                length: length + 1,
                step,
                content: BlockContent::Printed(printed),
            });
        }
    }

    /// Cuts a token out of a string.
    ///
    /// - `save`: where the position is kept; 0 for `strtok`.
    pub(super) fn splits<W: Watch + ?Sized>(&mut self, called: &CallEffect<'_>, save: u64, watch: &mut W) {
        let step = called.step;
        let from = match called.argument(0) {
            0 => self.tokens.get(&save).copied().unwrap_or(0),
            from => from,
        };
        let delimiters = self.memory.string(called.argument(1), 1 << 16).unwrap_or_default();
        if from == 0 {
            return;
        }
        let Some(token) = called.pointer() else {
            let length = self.string_length(from, 1 << 20).unwrap_or(1);
            self.look(step, from, length, watch);
            return;
        };
        let byte = |at: u64| self.memory.word(at, 1).and_then(|(byte, _)| u8::try_from(byte).ok());
        let mut end = token;
        let last = loop {
            match byte(end) {
                Some(byte) if byte != 0 && !delimiters.contains(&byte) => end += 1,
                last => break last,
            }
        };
        self.look(step, from, (end + 1).saturating_sub(from), watch);
        if last.is_some_and(|last| last != 0) {
            self.memory.write(end, &[0], step);
            watch.writes(self, step, end, 1);
        }
        let next = if last == Some(0) { end } else { end + 1 };
        self.tokens.insert(save, next);
        if save != 0 {
            self.memory.write(save, &next.to_le_bytes(), step);
            watch.writes(self, step, save, 8);
        }
    }
}
