//! What a program wrote to its standard streams, call by call, and how it ended.

use std::sync::Arc;

use crate::Step;

/// A stream of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
    /// A file, a pipe, a socket.
    Other,
}

/// A call that wrote something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenOutput {
    /// The step of the call.
    pub step: Step,
    /// Where it wrote.
    pub stream: OutputStream,
    /// The number of bytes; `None` if it is not known.
    pub length: Option<u64>,
    /// The bytes; `None` if they are not known.
    pub bytes: Option<Vec<u8>>,
}

/// An exception that no code of the program caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escape {
    /// The step that threw it.
    pub step: Step,
    /// The exception, in words.
    pub exception: String,
    /// The last function that it left.
    pub function: Arc<str>,
}

/// A byte of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutputByte {
    /// The step that wrote it.
    pub step: Step,
    /// The number of calls of this step that wrote something before.
    pub nth: usize,
    /// The offset of the byte in the bytes of the call.
    pub offset: u64,
}

/// The output of a run, and its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The calls that wrote something, in order.
    pub written: Vec<WrittenOutput>,
    /// The step that crashed.
    pub crash: Option<Step>,
    /// The exceptions that ended the first method of a thread, or a method that code outside of the program called; the
    /// crash is the last of them.
    pub escapes: Vec<Escape>,
    /// The last step.
    pub last: Option<Step>,
}

/// Why there is no step for a byte of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoByte {
    /// The output is shorter: this is its length.
    Short(u64),
    /// The length of what this step wrote is not known.
    Unknown(Step),
}

impl Outputs {
    /// The place of a byte of a stream, from 0.
    pub fn byte(&self, stream: OutputStream, offset: u64) -> Result<OutputByte, NoByte> {
        let mut begin = 0_u64;
        for (index, written) in self.written.iter().enumerate().filter(|(_, written)| written.stream == stream) {
            let length = written.length.ok_or(NoByte::Unknown(written.step))?;
            if offset - begin < length {
                return Ok(self.place(index, offset - begin));
            }
            begin += length;
        }
        Err(NoByte::Short(begin))
    }

    /// The place of a byte of a call, which is given by its index.
    pub fn place(&self, index: usize, offset: u64) -> OutputByte {
        let step = self.written[index].step;
        let nth = self.written[..index].iter().rev().take_while(|before| before.step == step).count();
        OutputByte { step, nth, offset }
    }

    /// The bytes of a stream up to the first call whose bytes are not known, and whether these are all.
    pub fn text(&self, stream: OutputStream) -> (Vec<u8>, bool) {
        let mut text = Vec::new();
        for written in self.written.iter().filter(|written| written.stream == stream) {
            let Some(bytes) = &written.bytes else { return (text, false) };
            text.extend_from_slice(bytes);
        }
        (text, true)
    }
}
