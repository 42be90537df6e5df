//! What is known of the memory of a process at one step, and which step wrote each byte last.
//!
//! A table of regions leads to pages; a small direct-mapped cache stands before it, because a program stays where it is. Pages are shared between copies of a
//! memory until one of them writes, so that a checkpoint costs the pages that change behind it.

use std::collections::HashMap;
use std::rc::Rc;

use crate::Step;

/// Bytes of a page.
const PAGE: usize = 4096;

/// Pages of a region.
const REGION: usize = 512;

/// Pages that are found without the table.
const CACHED: usize = 256;

/// No page: pages are counted from 1.
const NONE: u32 = 0;

/// A range longer than this is damage or a model's mistake; only so much of it is taken.
pub const MAX_RANGE: u64 = 1 << 30;

#[derive(Debug, Clone)]
struct MemoryPage {
    bytes: [u8; PAGE],
    /// Whether a byte is known: one bit each.
    known: [u64; PAGE / 64],
    /// Who wrote each byte last.
    writers: [Step; PAGE],
}

impl MemoryPage {
    fn empty() -> Self {
        Self { bytes: [0; PAGE], known: [0; PAGE / 64], writers: [Step::START; PAGE] }
    }

    fn is_known(&self, at: usize) -> bool {
        self.known[at / 64] >> (at % 64) & 1 == 1
    }

    /// The place of `N` bytes of which one word has the bits that say what is known: index of the word, the bits.
    #[inline]
    fn word<const N: usize>(at: usize) -> Option<(usize, u64)> {
        let shift = at % 64;
        (shift + N <= 64 && N < 64).then(|| (at / 64, ((1 << N) - 1) << shift))
    }

    /// Whether all of `length` bytes, which lie in the page, are known.
    fn are_known(&self, at: usize, length: usize) -> bool {
        let shift = at % 64;
        if shift + length <= 64 && length < 64 {
            let mask = ((1_u64 << length) - 1) << shift;
            return self.known[at / 64] & mask == mask;
        }
        (at..at + length).all(|at| self.is_known(at))
    }

    fn set_known(&mut self, at: usize, length: usize, is_known: bool) {
        if length == 0 {
            return;
        }
        let shift = at % 64;
        if shift + length <= 64 && length < 64 {
            let mask = ((1_u64 << length) - 1) << shift;
            if is_known {
                self.known[at / 64] |= mask;
            } else {
                self.known[at / 64] &= !mask;
            }
            return;
        }
        for at in at..at + length {
            self.set_known(at, 1, is_known);
        }
    }
}

/// Eight bytes of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Octet<'m> {
    /// Which of them are known: one bit each, the lowest for the first.
    pub known: u8,
    /// What they hold, the first byte the lowest; zero where it is not known and nothing was ever seen of it.
    pub word: u64,
    /// Who wrote each last; `None` if nothing is known of the memory around them.
    pub writers: Option<&'m [Step; 8]>,
}

/// Memory of a process, as far as it was seen.
#[derive(Debug, Clone)]
pub struct NativeMemory {
    /// Page 0 is never used.
    pages: Vec<Rc<MemoryPage>>,
    regions: HashMap<u64, Box<[u32; REGION]>>,
    cache: Box<[(u64, u32); CACHED]>,
    /// Pages that may have a known byte, and which they are.
    fresh: Vec<u32>,
    is_fresh: Vec<bool>,
}

impl Default for NativeMemory {
    fn default() -> Self {
        Self {
            pages: vec![Rc::new(MemoryPage::empty())],
            regions: HashMap::new(),
            cache: Box::new([(u64::MAX, NONE); CACHED]),
            fresh: Vec::new(),
            is_fresh: vec![false],
        }
    }
}

/// The parts of a range that lie in one page each: page, place in it, place in the range, length.
fn parts(address: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize, usize)> {
    let mut done = 0;
    let length = length.min(MAX_RANGE).min(u64::MAX - address);
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = address + done;
        let inside = low(at);
        let n = (PAGE - inside).min(usize::try_from(length - done).unwrap_or(PAGE));
        let part = (at / PAGE as u64, inside, usize::try_from(done).unwrap_or(usize::MAX), n);
        done += n as u64;
        Some(part)
    })
}

fn low(address: u64) -> usize {
    usize::try_from(address % PAGE as u64).expect("less than a page")
}

fn length_of(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

impl NativeMemory {
    /// Pages in use, and the bytes of memory that each of them takes.
    pub fn n_pages(&self) -> (usize, usize) {
        (self.pages.len() - 1, size_of::<MemoryPage>())
    }

    #[inline]
    fn lookup(&self, page: u64) -> u32 {
        let (cached, number) = self.cache[slot(page)];
        if cached == page {
            return number;
        }
        self.regions.get(&(page / REGION as u64)).map_or(NONE, |region| region[index(page)])
    }

    #[inline]
    fn find(&self, page: u64) -> Option<&MemoryPage> {
        let number = self.lookup(page);
        (number != NONE).then(|| &*self.pages[number as usize])
    }

    #[inline]
    fn find_mut(&mut self, page: u64) -> &mut MemoryPage {
        let (cached, number) = self.cache[slot(page)];
        let number = if cached == page { number } else { self.enter(page) };
        Rc::make_mut(&mut self.pages[number as usize])
    }

    #[cold]
    fn enter(&mut self, page: u64) -> u32 {
        let region = self.regions.entry(page / REGION as u64).or_insert_with(|| Box::new([NONE; REGION]));
        let number = &mut region[index(page)];
        if *number == NONE {
            *number = u32::try_from(self.pages.len())
                .expect("pages of 4 KiB in a 47-bit address space, as far as our own memory holds them");
            self.pages.push(Rc::new(MemoryPage::empty()));
            self.is_fresh.push(false);
        }
        self.cache[slot(page)] = (page, *number);
        if !std::mem::replace(&mut self.is_fresh[*number as usize], true) {
            self.fresh.push(*number);
        }
        *number
    }

    /// Notes that something was written nobody knows where: no byte is known any more. Who wrote each of them last stays as a guess.
    ///
    /// Cost: the pages that were written or read since it was noted last.
    pub fn doubt(&mut self) {
        for number in self.fresh.drain(..) {
            self.is_fresh[number as usize] = false;
            Rc::make_mut(&mut self.pages[number as usize]).known = [0; PAGE / 64];
        }
        self.cache.fill((u64::MAX, NONE));
    }

    /// Notes that `writer` wrote `bytes`.
    #[inline]
    pub fn write(&mut self, address: u64, bytes: &[u8], writer: Step) {
        let is_done = match bytes.len() {
            8 => self.write_word::<8>(address, bytes, writer),
            4 => self.write_word::<4>(address, bytes, writer),
            1 => self.write_word::<1>(address, bytes, writer),
            _ => false,
        };
        if !is_done {
            self.write_any(address, bytes, writer);
        }
    }

    /// Does what [`write`](Self::write) says if it is simple.
    #[inline]
    fn write_word<const N: usize>(&mut self, address: u64, bytes: &[u8], writer: Step) -> bool {
        let at = low(address);
        let (Some((word, bits)), Some(bytes)) = (MemoryPage::word::<N>(at), bytes.first_chunk::<N>()) else {
            return false;
        };
        let page = self.find_mut(address / PAGE as u64);
        let (Some(place), Some(writers)) =
            (page.bytes[at..].first_chunk_mut::<N>(), page.writers[at..].first_chunk_mut::<N>())
        else {
            return false;
        };
        *place = *bytes;
        *writers = [writer; N];
        page.known[word] |= bits;
        true
    }

    fn write_any(&mut self, address: u64, bytes: &[u8], writer: Step) {
        for (page, at, from, n) in parts(address, length_of(bytes)) {
            let page = self.find_mut(page);
            page.bytes[at..at + n].copy_from_slice(&bytes[from..from + n]);
            page.writers[at..at + n].fill(writer);
            page.set_known(at, n, true);
        }
    }

    /// Notes bytes that were seen later, where `writer` left some that are not known.
    pub fn reveal(&mut self, address: u64, bytes: &[u8], writer: Step) {
        for (number, at, from, n) in parts(address, length_of(bytes)) {
            let is_left = |page: &MemoryPage, at: usize| !page.is_known(at) && page.writers[at] == writer;
            // A page that is shared is copied only if something is written to it.
            if self.find(number).is_some_and(|page| (at..at + n).any(|at| is_left(page, at))) {
                let page = self.find_mut(number);
                for (at, byte) in (at..).zip(&bytes[from..from + n]) {
                    if is_left(page, at) {
                        page.bytes[at] = *byte;
                        page.set_known(at, 1, true);
                    }
                }
            }
        }
    }

    /// Notes that `writer` wrote a range with bytes that are not known.
    pub fn define(&mut self, address: u64, length: u64, writer: Step) {
        for (page, at, _, n) in parts(address, length) {
            let page = self.find_mut(page);
            page.writers[at..at + n].fill(writer);
            page.set_known(at, n, false);
        }
    }

    /// The only writer of `bytes`, if these are what is known to be at an address.
    #[inline]
    pub fn expected(&self, address: u64, bytes: &[u8]) -> Option<Step> {
        match bytes.len() {
            8 => self.expected_word::<8>(address, bytes),
            4 => self.expected_word::<4>(address, bytes),
            1 => self.expected_word::<1>(address, bytes),
            _ => None,
        }
    }

    #[inline]
    fn expected_word<const N: usize>(&self, address: u64, bytes: &[u8]) -> Option<Step> {
        let at = low(address);
        let (word, bits) = MemoryPage::word::<N>(at)?;
        let page = self.find(address / PAGE as u64)?;
        let writers = page.writers[at..].first_chunk::<N>()?;
        let is_same = page.known[word] & bits == bits
            && page.bytes[at..].first_chunk::<N>() == bytes.first_chunk::<N>()
            && writers.iter().all(|writer| *writer == writers[0]);
        is_same.then_some(writers[0])
    }

    /// Notes that `bytes` were seen at an address: bytes that were not known are so from now on; where they are others than those that are known,
    /// `blame` is given the address and the last writer, and says who wrote them. Returns whether there are such, and gives the writers of the range to `each`,
    /// one after the other, runs of the same once.
    pub fn read(
        &mut self,
        address: u64,
        bytes: &[u8],
        mut blame: impl FnMut(u64, Step) -> Step,
        mut each: impl FnMut(Step),
    ) -> bool {
        let mut is_other = false;
        for (number, at, from, n) in parts(address, length_of(bytes)) {
            let page = self.find_mut(number);
            let seen = &bytes[from..from + n];
            if !page.are_known(at, n) || page.bytes[at..at + n] != *seen {
                for (at, byte) in (at..).zip(seen) {
                    if page.is_known(at) && page.bytes[at] != *byte {
                        page.writers[at] = blame(number * PAGE as u64 + at as u64, page.writers[at]);
                        is_other = true;
                    }
                    page.bytes[at] = *byte;
                }
                page.set_known(at, n, true);
            }
            let writers = &page.writers[at..at + n];
            let mut last = writers[0];
            each(last);
            for writer in &writers[1..] {
                if *writer != last {
                    last = *writer;
                    each(last);
                }
            }
        }
        is_other
    }

    /// Notes that nobody has written a range yet, and that its bytes are not known.
    pub fn forget(&mut self, address: u64, length: u64) {
        for (page, at, _, n) in parts(address, length) {
            if self.lookup(page) != NONE {
                let page = self.find_mut(page);
                page.writers[at..at + n].fill(Step::START);
                page.set_known(at, n, false);
            }
        }
    }

    /// Copies a range with its writers.
    pub fn relocate(&mut self, to: u64, from: u64, length: u64) {
        let mut content: Vec<(Option<u8>, Step)> = Vec::new();
        for (page, at, _, n) in parts(from, length) {
            match self.find(page) {
                Some(page) => {
                    content
                        .extend((at..at + n).map(|at| (page.is_known(at).then(|| page.bytes[at]), page.writers[at])));
                }
                None => content.extend(std::iter::repeat_n((None, Step::START), n)),
            }
        }
        for (page, at, from, n) in parts(to, content.len() as u64) {
            let page = self.find_mut(page);
            for (at, (byte, writer)) in (at..).zip(&content[from..from + n]) {
                page.writers[at] = *writer;
                page.set_known(at, 1, byte.is_some());
                page.bytes[at] = byte.unwrap_or(0);
            }
        }
    }

    /// Gives the writers of a range to `each`, runs of the same once.
    pub fn writers(&self, address: u64, length: u64, mut each: impl FnMut(Step)) {
        let mut last = None;
        for (page, at, _, n) in parts(address, length) {
            let found = self.find(page);
            let mut take = |writer: Step| {
                if last.replace(writer) != Some(writer) {
                    each(writer);
                }
            };
            match found {
                Some(page) => page.writers[at..at + n].iter().copied().for_each(&mut take),
                None => take(Step::START),
            }
        }
    }

    /// The bytes of a range; `None` where one is not known.
    pub fn bytes(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length.min(PAGE));
        for (page, at, _, n) in parts(address, length as u64) {
            let page = self.find(page)?;
            if !page.are_known(at, n) {
                return None;
            }
            bytes.extend(&page.bytes[at..at + n]);
        }
        (bytes.len() == length).then_some(bytes)
    }

    /// What up to eight bytes hold, the lowest first, and who wrote one of them last; `None` if one is not known, or if they lie in two pages.
    pub fn word(&self, address: u64, length: u64) -> Option<(u64, Step)> {
        let (at, length) = (low(address), usize::try_from(length).ok().filter(|length| (1..=8).contains(length))?);
        let page = self.find(address / PAGE as u64).filter(|_| at + length <= PAGE)?;
        if !page.are_known(at, length) {
            return None;
        }
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(&page.bytes[at..at + length]);
        let writer = page.writers[at..at + length].iter().copied().max()?;
        Some((u64::from_le_bytes(bytes), writer))
    }

    /// The eight bytes from an address on that is a multiple of eight; of another address, from such a one before it.
    pub fn octet(&self, address: u64) -> Octet<'_> {
        let at = low(address) / 8 * 8;
        let Some(page) = self.find(address / PAGE as u64) else { return Octet { known: 0, word: 0, writers: None } };
        let [known, ..] = (page.known[at / 64] >> (at % 64)).to_le_bytes();
        let word = page.bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Octet { known, word, writers: page.writers[at..].first_chunk() }
    }

    /// The bytes from an address on up to a zero byte, which is not among them; `None` if an unknown one or `limit` comes first.
    pub fn string(&self, address: u64, limit: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (page, at, _, n) in parts(address, limit) {
            let page = self.find(page)?;
            for at in at..at + n {
                if !page.is_known(at) {
                    return None;
                }
                if page.bytes[at] == 0 {
                    return Some(bytes);
                }
                bytes.push(page.bytes[at]);
            }
        }
        None
    }

    /// Copies what is known of a range; `writer` wrote all of it.
    pub fn copy(&mut self, to: u64, from: u64, length: u64, writer: Step) {
        let mut content = Vec::new();
        for (page, at, _, n) in parts(from, length) {
            match self.find(page) {
                Some(page) => content.extend((at..at + n).map(|at| page.is_known(at).then(|| page.bytes[at]))),
                None => content.extend(std::iter::repeat_n(None, n)),
            }
        }
        for (page, at, from, n) in parts(to, content.len() as u64) {
            let page = self.find_mut(page);
            page.writers[at..at + n].fill(writer);
            for (at, byte) in (at..).zip(&content[from..from + n]) {
                page.set_known(at, 1, byte.is_some());
                page.bytes[at] = byte.unwrap_or(0);
            }
        }
    }

    /// Fills a range with one byte.
    pub fn fill(&mut self, address: u64, byte: u8, length: u64, writer: Step) {
        for (page, at, _, n) in parts(address, length) {
            let page = self.find_mut(page);
            page.bytes[at..at + n].fill(byte);
            page.writers[at..at + n].fill(writer);
            page.set_known(at, n, true);
        }
    }
}

fn slot(page: u64) -> usize {
    usize::try_from(page % CACHED as u64).expect("less than the cache")
}

fn index(page: u64) -> usize {
    usize::try_from(page % REGION as u64).expect("less than a region")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Doing {
        Write(u64, Vec<u8>),
        Define(u64, u64),
        Read(u64, Vec<u8>),
        Copy(u64, u64, u64),
        Fill(u64, u8, u64),
        Relocate(u64, u64, u64),
        Forget(u64, u64),
    }

    /// Addresses around the border of two pages that share a place in the cache with others.
    fn address() -> impl Strategy<Value = u64> {
        (0..3_u64, 4000..4200_u64).prop_map(|(n, at)| n * (PAGE * CACHED) as u64 + at)
    }

    fn doing() -> impl Strategy<Value = Doing> {
        let bytes = || proptest::collection::vec(0..3_u8, 1..130);
        prop_oneof![
            (address(), bytes()).prop_map(|(at, bytes)| Doing::Write(at, bytes)),
            (address(), 0..130_u64).prop_map(|(at, length)| Doing::Define(at, length)),
            (address(), bytes()).prop_map(|(at, bytes)| Doing::Read(at, bytes)),
            (address(), address(), 0..130_u64).prop_map(|(to, from, length)| Doing::Copy(to, from, length)),
            (address(), 0..3_u8, 0..130_u64).prop_map(|(at, byte, length)| Doing::Fill(at, byte, length)),
            (address(), address(), 0..130_u64).prop_map(|(to, from, length)| Doing::Relocate(to, from, length)),
            (address(), 0..130_u64).prop_map(|(at, length)| Doing::Forget(at, length)),
        ]
    }

    proptest! {
        #[test]
        fn a_memory_is_what_a_table_of_bytes_is(doings in proptest::collection::vec(doing(), 0..40), n_before in 0..40_usize) {
            let mut memory = NativeMemory::default();
            let mut kept = None;
            let mut plain: HashMap<u64, (Option<u8>, Step)> = HashMap::new();
            for (number, doing) in (1..).zip(&doings) {
                let step = Step(number);
                if number as usize == n_before {
                    kept = Some((memory.clone(), plain.clone()));
                }
                match doing {
                    Doing::Write(at, bytes) => {
                        memory.write(*at, bytes, step);
                        plain.extend((*at..).zip(bytes).map(|(at, byte)| (at, (Some(*byte), step))));
                    }
                    Doing::Define(at, length) => {
                        memory.define(*at, *length, step);
                        plain.extend((*at..*at + *length).map(|at| (at, (None, step))));
                    }
                    Doing::Read(at, bytes) => {
                        let mut found = Vec::new();
                        let is_other = memory.read(*at, bytes, |_, _| step, |step| found.push(step));
                        let mut expected = Vec::new();
                        let mut is_expected_other = false;
                        for (at, byte) in (*at..).zip(bytes) {
                            let (known, writer) = plain.entry(at).or_insert((None, Step::START));
                            if known.is_some_and(|known| known != *byte) {
                                *writer = step;
                                is_expected_other = true;
                            }
                            *known = Some(*byte);
                            expected.push(*writer);
                        }
                        prop_assert_eq!(is_other, is_expected_other);
                        found.dedup();
                        expected.dedup();
                        prop_assert_eq!(found, expected);
                    }
                    Doing::Copy(to, from, length) => {
                        memory.copy(*to, *from, *length, step);
                        let content: Vec<_> = (*from..*from + *length).map(|at| plain.get(&at).and_then(|byte| byte.0)).collect();
                        plain.extend((*to..).zip(content).map(|(at, byte)| (at, (byte, step))));
                    }
                    Doing::Relocate(to, from, length) => {
                        memory.relocate(*to, *from, *length);
                        let empty = (None, Step::START);
                        let content: Vec<_> =
                            (*from..*from + *length).map(|at| plain.get(&at).copied().unwrap_or(empty)).collect();
                        plain.extend((*to..).zip(content));
                    }
                    Doing::Forget(at, length) => {
                        memory.forget(*at, *length);
                        plain.extend((*at..*at + *length).map(|at| (at, (None, Step::START))));
                    }
                    Doing::Fill(at, byte, length) => {
                        memory.fill(*at, *byte, *length, step);
                        plain.extend((*at..*at + *length).map(|at| (at, (Some(*byte), step))));
                    }
                }
            }
            for (memory, plain) in kept.into_iter().chain([(memory, plain)]) {
                for (at, (byte, writer)) in &plain {
                    prop_assert_eq!(memory.bytes(*at, 1), byte.map(|byte| vec![byte]));
                    let mut found = Vec::new();
                    memory.writers(*at, 1, |step| found.push(step));
                    prop_assert_eq!(found, vec![*writer]);
                    let octet = memory.octet(*at);
                    let within = at % 8;
                    prop_assert_eq!(octet.known >> within & 1 == 1, byte.is_some());
                    prop_assert!(byte.is_none_or(|byte| octet.word.to_le_bytes()[usize::try_from(within).unwrap()] == byte));
                    prop_assert_eq!(octet.writers.map_or(Step::START, |writers| writers[usize::try_from(within).unwrap()]), *writer);
                    // Within a page a word is what its bytes are.
                    for length in 1..=8 {
                        let mut last = Step::START;
                        memory.writers(*at, length, |step| last = last.max(step));
                        let bytes = memory.bytes(*at, usize::try_from(length).unwrap());
                        let word = bytes.map(|bytes| (bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)), last));
                        let is_in_page = low(*at) as u64 + length <= PAGE as u64;
                        prop_assert_eq!(memory.word(*at, length), word.filter(|_| is_in_page));
                    }
                }
            }
        }
    }

    #[test]
    fn a_string_ends_at_its_zero_and_is_none_where_it_is_not_known() {
        let mut memory = NativeMemory::default();
        memory.write(4093, b"abcdef\0g", Step(1));
        assert_eq!(memory.string(4093, 100), Some(b"abcdef".to_vec()));
        assert_eq!(memory.string(4093, 3), None);
        assert_eq!(memory.string(4100, 100), None);
        memory.write(u64::MAX - 2, b"abcdef", Step(1));
        assert_eq!(memory.bytes(u64::MAX - 2, 6), None);
    }
}
