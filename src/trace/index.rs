//! Structural execution indices: what a step is called so that it has the same name in another run.
//!
//! Source: Sumner and Zhang, section 3 (structural execution indexing), and Xin, Sumner and Zhang 2008 for the stack that computes it. The index of a step is
//! the way from the root of the run through calls, decisions and iterations to it. Here it is a number of 64 bits, mixed from the index of the innermost
//! region around the step and the [key](Keys) of its statement:
//!
//! - A **call** begins a region: its index is mixed from that of the calling step, the key of the function and how many functions the step
//!   called before. So is a call back out of a library, and a handler of a signal: it belongs to the step that it interrupts.
//! - A **decision** begins a region that ends where all ways from it meet again. Everything up to there lies below it, also behind a `goto`,
//!   `break`, `continue` or early `return`, whose decision reaches so much further.
//! - A loop's decision stands below the one of the iteration before, as in the paper's grammar; each **edge back** to the head of a loop changes the region around it besides, so that
//!   iterations of a loop without a decision of its own differ, too.
//! - After a **`longjmp`** the regions are those that were open when `setjmp` first returned, changed by how often it has returned.
//! - A decision or function that only one version has is transparent (section 4.5 of the paper: only what both versions have is indexed): its region has the index of the
//!   one around it. Its steps have indices that no step of the other version has.
//! - **Threads** have a root each; their steps are not ordered among each other.
//!
//! Two steps of one run differ in their indices unless a cycle of blocks has no decision with a key on it; then the first of them is meant.

use std::sync::Arc;

/// The index of a step or region; equal for points that correspond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(pub u64);

/// Mixed in where a region goes on changed.
const AGAIN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Index {
    /// That of the first functions of a thread.
    pub fn root(thread: u32) -> Self {
        Self(0x243f_6a88_85a3_08d3).below(u64::from(thread) + 1)
    }

    /// That of what has this key below it.
    #[must_use]
    #[inline]
    pub fn below(self, key: u64) -> Self {
        // The finaliser of SplitMix64, over a sum that is not symmetric.
        let mut mixed = self.0.rotate_left(25).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ key.wrapping_add(AGAIN);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(mixed ^ (mixed >> 31))
    }

    /// The same region for the `n`-th time.
    #[must_use]
    #[inline]
    pub fn again(self, n: u64) -> Self {
        self.below(AGAIN ^ n)
    }
}

/// In a key: only this version of the program has it.
const LOCAL: u64 = 1 << 63;

/// What a function and its statements are called: the same in all versions of a program that have them, unless they are only of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The function.
    pub function: u64,
    /// Its statements, in order.
    pub statements: Box<[u64]>,
}

impl Keys {
    /// Keys from names: those of a program that is compared with itself.
    pub fn of(file: &str, function: &str, n_statements: usize) -> Self {
        let function = hash(&[file.as_bytes(), &[0], function.as_bytes()].concat()) & !LOCAL;
        let key = |number| Index(function).below(number).0 & !LOCAL;
        Self { function, statements: (1..=n_statements as u64).map(key).collect() }
    }

    /// The same for a function that only this version has.
    #[must_use]
    pub fn local(self) -> Self {
        let statements = self.statements.iter().map(|key| key | LOCAL).collect();
        Self { function: self.function | LOCAL, statements }
    }

    /// Whether other versions have what has this key, too.
    #[inline]
    pub fn is_shared(key: u64) -> bool {
        key & LOCAL == 0
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Gives the keys of a function, by its unit's source file, its name and the number of its statements.
pub type Naming = Arc<dyn Fn(&str, &str, usize) -> Keys + Send + Sync>;
