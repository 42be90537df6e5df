//! A stream whose other end is memory of the program; [`streams`](crate::native::streams) says what calls do with it.

use crate::Step;

/// What a call printed to a stream: its step, the number of bytes, and these if they are known.
pub type StreamOutput = (Step, u64, Option<Vec<u8>>);

#[derive(Debug, Clone)]
pub enum NativeStream {
    /// `open_memstream`: where the address and the size of the block go, and what was printed.
    Block { pointer: u64, size: u64, printed: Vec<StreamOutput> },
    /// `fmemopen`: where the buffer is, its size, and the position of writing.
    Buffer { address: u64, size: u64, at: u64 },
}
