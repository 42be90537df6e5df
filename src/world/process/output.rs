//! Stores output of any length in constant memory: its head and its tail.

use std::collections::VecDeque;

/// The bytes that are stored of the beginning.
pub const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The bytes that are stored of the end.
pub const MAX_TAIL_BYTES: usize = 96 * 1024;
/// The part that is shown while a command runs, in bytes.
pub const MAX_END_BYTES: usize = 4 * 1024;
/// The distance in which a cut searches a line end, so that no half line looks like a message.
const MAX_LINE_BYTES: usize = 4 * 1024;
/// Space for the line that marks the cut.
const MARK_BYTES: usize = 64;

/// The first 32 KiB and the last 96 KiB of the written bytes.
#[derive(Debug, Default)]
pub struct BoundedOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    n_dropped: usize,
}

impl BoundedOutput {
    /// Appends `bytes`; the part between head and tail is dropped.
    pub fn push(&mut self, bytes: &[u8]) {
        let (for_head, rest) = bytes.split_at(bytes.len().min(MAX_HEAD_BYTES - self.head.len()));
        self.head.extend_from_slice(for_head);
        let (skipped, rest) = rest.split_at(rest.len().saturating_sub(MAX_TAIL_BYTES));
        let n_evicted = (self.tail.len() + rest.len()).saturating_sub(MAX_TAIL_BYTES);
        self.tail.drain(..n_evicted);
        self.tail.extend(rest);
        self.n_dropped += skipped.len() + n_evicted;
    }

    /// The last bytes, at most `max_bytes`.
    pub fn end(&self, max_bytes: usize) -> Vec<u8> {
        let n_of_head = max_bytes.saturating_sub(self.tail.len()).min(self.head.len());
        // What was dropped lies between the two.
        let head = if self.n_dropped == 0 { &self.head[self.head.len() - n_of_head..] } else { &[] };
        let n_before = self.tail.len().saturating_sub(max_bytes);
        head.iter().chain(self.tail.iter().skip(n_before)).copied().collect()
    }

    /// Counts bytes as dropped that were never here. The head must be full, and the whole tail must follow.
    pub fn skip(&mut self, n_bytes: u64) {
        self.n_dropped += usize::try_from(n_bytes).unwrap_or(usize::MAX);
    }

    /// The output, at most 128 KiB. A cut is at line ends, and marked by a line `[... n bytes cut ...]`.
    pub fn finish(self) -> Vec<u8> {
        let Self { mut head, tail, mut n_dropped } = self;
        let mut tail = Vec::from(tail);
        if n_dropped > 0 {
            let searched_from = head.len().saturating_sub(MAX_LINE_BYTES);
            if let Some(at) = head[searched_from..].iter().rposition(|byte| *byte == b'\n') {
                n_dropped += head.len() - (searched_from + at + 1);
                head.truncate(searched_from + at + 1);
            } else {
                n_dropped += 1;
                head.pop();
                head.push(b'\n');
            }
            let searched_to = tail.len().min(MARK_BYTES + MAX_LINE_BYTES);
            let line_end = tail[MARK_BYTES..searched_to].iter().position(|byte| *byte == b'\n');
            let n_cut = line_end.map_or(MARK_BYTES, |at| MARK_BYTES + at + 1);
            n_dropped += n_cut;
            tail.drain(..n_cut);
            head.extend_from_slice(format!("[... {n_dropped} bytes cut ...]\n").as_bytes());
        }
        head.append(&mut tail);
        head
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounded(chunks: &[&[u8]]) -> Vec<u8> {
        let mut output = BoundedOutput::default();
        for chunk in chunks {
            output.push(chunk);
        }
        output.finish()
    }

    /// The number in the mark, and the lengths before and after the mark's line.
    fn cut(output: &[u8]) -> (usize, usize, usize) {
        let text = str::from_utf8(output).unwrap();
        let from = text.find("[... ").unwrap();
        let to = from + text[from..].find('\n').unwrap() + 1;
        let number = text[from + 5..].split(' ').next().unwrap().parse().unwrap();
        (number, from, text.len() - to)
    }

    #[test]
    fn output_up_to_the_bound_is_kept_whole() {
        let all = vec![b'x'; MAX_HEAD_BYTES + MAX_TAIL_BYTES];
        assert_eq!(bounded(&[b"one\n", b"two\n"]), b"one\ntwo\n");
        assert_eq!(bounded(&[&all]), all);
    }

    #[test]
    fn a_cut_falls_between_lines_and_says_how_much_is_missing() {
        let lines: Vec<String> = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let all = lines.concat();
        let output = bounded(&[all.as_bytes()]);
        let (n_cut, n_before, n_after) = cut(&output);
        assert_eq!(n_cut + n_before + n_after, all.len());
        assert!(output.starts_with(&all.as_bytes()[..n_before]) && output.ends_with(b"\nline 99999\n"));
        assert!(output[..n_before].ends_with(b"\n") && output[output.len() - n_after..].starts_with(b"line "));
    }

    proptest! {
        #[test]
        fn any_chunks_give_what_one_chunk_gives(sizes in prop::collection::vec(0_usize..150_000, 1..6), is_lined: bool) {
            let n_bytes: usize = sizes.iter().sum();
            let all: Vec<u8> = (0..n_bytes).map(|n| if is_lined && n % 50 == 49 { b'\n' } else { b'a' }).collect();
            let mut rest = &all[..];
            let mut output = BoundedOutput::default();
            for size in sizes {
                let (chunk, after) = rest.split_at(size);
                output.push(chunk);
                rest = after;
            }
            let output = output.finish();
            prop_assert!(output.len() <= MAX_HEAD_BYTES + MAX_TAIL_BYTES);
            prop_assert_eq!(&output, &bounded(&[&all]));
        }
    }
}
