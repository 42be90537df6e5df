//! A place in the bytes of a class file.

use crate::instrument::Unsupported;

/// A place in some bytes. Every read checks the bounds: a file that is cut short is [`Unsupported`], never a panic.
#[derive(Debug, Clone, Copy)]
pub struct ByteCursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> ByteCursor<'b> {
    /// The beginning of some bytes.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The number of bytes before the place.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether nothing follows.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next bytes.
    pub fn take(&mut self, n: usize) -> Result<&'b [u8], Unsupported> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..n).ok_or_else(|| Unsupported::new("the class file is cut short"))?;
        self.at += n;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unsupported> {
        let taken = self.take(N)?;
        Ok(*taken.first_chunk().expect("that many bytes were taken"))
    }

    /// The next byte.
    pub fn u1(&mut self) -> Result<u8, Unsupported> {
        Ok(self.array::<1>()?[0])
    }

    /// The next two bytes, a number.
    pub fn u2(&mut self) -> Result<u16, Unsupported> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// The next four bytes, a number.
    pub fn u4(&mut self) -> Result<u32, Unsupported> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// The next eight bytes, a number.
    pub fn u8(&mut self) -> Result<u64, Unsupported> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// The content of an attribute: its name in the pool, and its bytes.
    pub fn attribute(&mut self) -> Result<(u16, &'b [u8]), Unsupported> {
        let name = self.u2()?;
        let length = self.u4()?;
        Ok((name, self.take(length as usize)?))
    }
}
