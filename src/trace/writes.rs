//! An index of the writes of a run: which steps may write an address.

use crate::Step;
use std::ops::Range;

/// Steps of a block.
pub const N_STEPS: u32 = 1 << 15;

/// Bits of the filter of a block.
const N_BITS: usize = 1 << 16;

/// Bytes that share a bit.
const N_BYTES: u64 = 4;

/// A write of more bytes is kept as it is.
const MAX_LENGTH: u64 = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Write {
    step: Step,
    address: u64,
    length: u64,
}

/// The writes of a run, in 8 KiB for each block of 32,768 steps.
///
/// A block has a Bloom filter with one hash of the addresses that its steps write. A step that calls another function
/// may write long after it began: such writes, and those of many bytes, are in a list.
#[derive(Debug)]
pub struct Writes {
    /// Steps of a block.
    n_steps: u32,
    blocks: Vec<Box<[u64]>>,
    listed: Vec<Write>,
}

/// The position of a bit in a filter.
fn bit(unit: u64) -> usize {
    // Fibonacci hashing: the upper 16 bits of a product.
    usize::try_from(unit.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48).unwrap_or(0) % N_BITS
}

/// The units of addresses, first and last.
fn units(address: u64, length: u64) -> (u64, u64) {
    (address / N_BYTES, address.saturating_add(length.saturating_sub(1)) / N_BYTES)
}

impl Default for Writes {
    fn default() -> Self {
        Self::new(N_STEPS)
    }
}

impl Writes {
    /// No writes, and blocks of so many steps.
    pub fn new(n_steps: u32) -> Self {
        Self { n_steps, blocks: Vec::new(), listed: Vec::new() }
    }

    /// Takes a write in.
    ///
    /// - `now`: the number of steps that have begun, as of 1.
    pub fn add(&mut self, now: u32, step: Step, address: u64, length: u64) {
        let block = step.0 / self.n_steps;
        if block != now / self.n_steps || length > MAX_LENGTH {
            self.listed.push(Write { step, address, length });
            return;
        }
        let block = block as usize;
        while self.blocks.len() <= block {
            self.blocks.push(vec![0; N_BITS / 64].into_boxed_slice());
        }
        let (first, last) = units(address, length);
        for unit in first..=last {
            let bit = bit(unit);
            self.blocks[block][bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Whether a step of a range may write some bytes, other than those of [`listed`](Self::listed).
    pub fn may_write(&self, range: &Range<u32>, address: u64, length: u64) -> bool {
        let (begin, last) = units(address, length.max(1));
        let blocks = self
            .blocks
            .iter()
            .take(range.end.div_ceil(self.n_steps) as usize)
            .skip((range.start / self.n_steps) as usize);
        // A longer range has more units than a filter has bits.
        let is_long = last - begin >= N_BITS as u64;
        blocks.into_iter().any(|block| {
            let has = |unit: u64| block[bit(unit) / 64] >> (bit(unit) % 64) & 1 == 1;
            is_long || (begin..=last).any(has)
        })
    }

    /// The steps of a range that certainly write some bytes, and that playing these steps alone does not show; in no order, perhaps several times.
    pub fn listed(&self, range: &Range<u32>, address: u64, length: u64) -> impl Iterator<Item = Step> {
        let range = range.clone();
        let writes = self.listed.iter().filter(move |write| range.contains(&write.step.0));
        let meets = move |write: &&Write| {
            address < write.address.saturating_add(write.length) && write.address < address.saturating_add(length)
        };
        writes.filter(meets).map(|write| write.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_write_an_address_are_found_and_most_others_are_not() {
        let mut writes = Writes::default();
        for step in 1..200_000 {
            writes.add(step, Step(step), 0x1000 + u64::from(step) * 4, 4);
        }
        for step in [1, 32_767, 32_768, 100_000, 199_999] {
            let address = 0x1000 + u64::from(step) * 4;
            assert!(writes.may_write(&(step..step + 1), address + 3, 1), "{step}");
            assert!(writes.may_write(&(1..200_000), address, 8), "{step}");
        }
        let n_wrong = (0..1000).filter(|n| writes.may_write(&(32_768..65_536), 0x10_0000_0000 + n * 64, 4)).count();
        assert!(n_wrong < 700, "{n_wrong}");
        assert!(!writes.may_write(&(300_000..400_000), 0x1000, u64::MAX));
        assert!(writes.may_write(&(1..2), 0, u64::MAX));
    }

    #[test]
    fn late_and_long_writes_are_listed() {
        let mut writes = Writes::default();
        writes.add(100_000, Step(5), 64, 8);
        writes.add(7, Step(7), 1000, 5000);
        let listed =
            |range: Range<u32>, address| writes.listed(&range, address, 4).map(|step| step.0).collect::<Vec<_>>();
        assert_eq!((listed(1..10, 68), listed(1..10, 5996), listed(1..10, 6000)), (vec![5], vec![7], vec![]));
        assert_eq!(listed(6..10, 64), [0; 0]);
        assert!(!writes.may_write(&(1..200_000), 64, 8));
    }
}
