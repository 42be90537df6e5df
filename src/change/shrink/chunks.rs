//! Removes long pieces of a large text, until it is small enough for units that have a meaning.

use crate::shrink::plan::ShrinkPlan;
use std::ops::Range;
use std::rc::Rc;

/// When and how a text is cut into chunks, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSizes {
    /// A text with at most this many bytes is not cut any further.
    pub enough: usize,
    /// The length of the shortest chunks.
    pub shortest: usize,
}

pub const OF_FILES: ChunkSizes = ChunkSizes { enough: 16 << 20, shortest: 4 << 10 };

/// The first chunks are this part of the text, and the chunks of each later level of those before.
const N_CHUNKS: usize = 16;

/// The number of chunks that are tried together at the beginning of a later level.
const N_AT_ONCE: usize = 4;

/// Removes chunks: runs of them from the end, twice as many after a success and half as many after a refusal; then
/// shorter ones. A chunk of a text ends with a line, unless the line is long.
///
/// It stores ranges in place of a mark for each byte, so it needs little memory beside the text.
///
/// Cost: about 2 k log2(n / k) probes for each level, n chunks of which k stay.
#[derive(Clone)]
pub struct Chunks {
    text: Rc<[u8]>,
    sizes: ChunkSizes,
    /// The chunks that are left, in order.
    kept: Rc<Vec<Range<usize>>>,
    n_bytes: usize,
    length: usize,
    /// The chunks before this one were not tried yet at this level.
    end: usize,
    n_tried: usize,
    has_hit: bool,
}

impl Chunks {
    /// Removes chunks of `text`; nothing of a text that is small enough.
    pub fn new(text: &Rc<[u8]>, sizes: ChunkSizes) -> Self {
        let length = (text.len() / N_CHUNKS).max(sizes.shortest);
        let kept = Rc::new(cut(text, &(0..text.len()), length));
        let n_tried = kept.len() / 2;
        let (end, n_bytes) = (kept.len(), text.len());
        let mut chunks = Self { text: Rc::clone(text), sizes, n_bytes, kept, length, end, n_tried, has_hit: false };
        chunks.settle();
        chunks
    }

    /// Goes on to shorter chunks after the last one of a level.
    fn settle(&mut self) {
        while self.end == 0 && self.length > self.sizes.shortest && self.n_bytes > self.sizes.enough {
            self.length = (self.length / N_CHUNKS).max(self.sizes.shortest);
            self.kept = Rc::new(self.kept.iter().flat_map(|chunk| cut(&self.text, chunk, self.length)).collect());
            (self.end, self.n_tried) = (self.kept.len(), N_AT_ONCE);
        }
        self.n_tried = self.n_tried.clamp(1, self.end.max(1));
    }

    fn tried(&self) -> Range<usize> {
        self.end - self.n_tried..self.end
    }
}

/// Cuts a range of a text into chunks of about this length.
fn cut(text: &[u8], range: &Range<usize>, length: usize) -> Vec<Range<usize>> {
    /// A line that is longer is cut.
    const MAX_LINE: usize = 4 << 10;
    let mut chunks = Vec::with_capacity(range.len() / length + 1);
    let mut begin = range.start;
    while begin < range.end {
        let end = begin.saturating_add(length).min(range.end);
        let rest = &text[end..range.end.min(end + length.min(MAX_LINE))];
        let is_at_line = text[end - 1] == b'\n';
        let end = match rest.iter().position(|byte| *byte == b'\n') {
            Some(more) if !is_at_line => end + more + 1,
            _ => end,
        };
        chunks.push(begin..end);
        begin = end;
    }
    chunks
}

impl ShrinkPlan for Chunks {
    fn next(&self) -> Option<Vec<u8>> {
        if self.end == 0 || self.n_bytes <= self.sizes.enough {
            return None;
        }
        let tried = self.tried();
        let n_removed: usize = self.kept[tried.clone()].iter().map(Range::len).sum();
        let mut content = Vec::with_capacity(self.n_bytes - n_removed);
        for chunk in self.kept[..tried.start].iter().chain(&self.kept[tried.end..]) {
            content.extend_from_slice(&self.text[chunk.clone()]);
        }
        Some(content)
    }

    fn answer(&mut self, is_failing: bool) {
        self.has_hit = is_failing;
        if is_failing {
            let tried = self.tried();
            let kept = Rc::make_mut(&mut self.kept);
            self.n_bytes -= kept.drain(tried.clone()).map(|chunk| chunk.len()).sum::<usize>();
            self.end = tried.start;
            self.n_tried *= 2;
        } else if self.n_tried == 1 {
            self.end -= 1;
        } else {
            self.n_tried /= 2;
        }
        self.settle();
    }

    fn odds(&self) -> f64 {
        if self.has_hit { 0.6 } else { 0.15 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text that is left, and the number of probes.
    fn reduced(text: &[u8], sizes: ChunkSizes, fails: impl Fn(&[u8]) -> bool) -> (Vec<u8>, usize) {
        let mut plan = Chunks::new(&Rc::from(text), sizes);
        let (mut left, mut n_probes) = (text.to_vec(), 0);
        while let Some(content) = plan.next() {
            assert!(content.len() < left.len());
            n_probes += 1;
            let is_failing = fails(&content);
            plan.answer(is_failing);
            if is_failing {
                left = content;
            }
        }
        (left, n_probes)
    }

    #[test]
    fn two_lines_of_a_large_text_are_found_in_few_probes() {
        let text: Vec<u8> = (0..100_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let has = |text: &[u8], line: &str| text.windows(line.len()).any(|window| window == line.as_bytes());
        let fails = |text: &[u8]| has(text, "line 777\n") && has(text, "line 99998\n");
        let (left, n_probes) = reduced(&text, ChunkSizes { enough: 100, shortest: 32 }, fails);
        assert!(left.len() <= 100 && n_probes < 100, "{} bytes after {n_probes} probes", left.len());
        let (left, n_probes) = reduced(&text, ChunkSizes { enough: text.len(), shortest: 32 }, fails);
        assert_eq!((left.len(), n_probes), (text.len(), 0));
    }

    proptest! {
        #[test]
        fn what_is_left_fails_and_no_shortest_chunk_of_it_can_be_removed(
            text in prop::collection::vec(prop::sample::select(b"ab\n{}".to_vec()), 1..400),
            n_wanted in 0_usize..4,
        ) {
            let n_braces = |text: &[u8]| text.split(|byte| *byte == b'{').count() - 1;
            let fails = |text: &[u8]| n_braces(text) >= n_wanted;
            prop_assume!(fails(&text));
            let (left, _) = reduced(&text, ChunkSizes { enough: 0, shortest: 1 }, fails);
            prop_assert!(fails(&left));
            prop_assert_eq!(n_braces(&left), n_wanted);
        }
    }
}
