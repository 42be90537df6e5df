//! Checks that the data of a binary patch are complete.
//!
//! diffy 0.5.2 loops for ever on a cut stream, while its output grows without limit.

use diffy::binary::BinaryBlock;
use zlib_rs::{Inflate, InflateFlush, Status};

/// Whether the compressed stream of a block ends, and has the size in its header.
pub(super) fn is_whole(block: &BinaryBlock<'_>) -> bool {
    let Some(compressed) = decoded(block.data.data) else { return false };
    let mut inflate = Inflate::new(true, 15);
    let mut scratch = vec![0; 64 * 1024];
    loop {
        let (n_in, n_out) = (inflate.total_in(), inflate.total_out());
        let rest = usize::try_from(n_in).ok().and_then(|n_in| compressed.get(n_in..)).unwrap_or_default();
        match inflate.decompress(rest, &mut scratch, InflateFlush::NoFlush) {
            Ok(Status::StreamEnd) => return inflate.total_out() == block.data.size,
            Ok(_) if inflate.total_out() > block.data.size => return false,
            Ok(_) if (inflate.total_in(), inflate.total_out()) == (n_in, n_out) => return false,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// Decodes lines in the base 85 of git: the length (`A` 1 to `Z` 26, `a` 27 to `z` 52), then five characters for four
/// bytes.
fn decoded(lines: &[u8]) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    let mut bytes = Vec::new();
    for line in lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty()) {
        let (first, text) = line.split_first()?;
        let n_bytes = match first {
            b'A'..=b'Z' => first - b'A' + 1,
            b'a'..=b'z' => first - b'a' + 27,
            _ => return None,
        };
        let begin = bytes.len();
        for five in text.chunks(5) {
            let digit = |byte: &u8| DIGITS.iter().position(|digit| digit == byte);
            let value = five.iter().try_fold(0_u64, |value, byte| Some(value * 85 + digit(byte)? as u64))?;
            bytes.extend(u32::try_from(value).ok()?.to_be_bytes());
        }
        let end = begin + usize::from(n_bytes);
        if text.len() % 5 != 0 || bytes.len() < end {
            return None;
        }
        bytes.truncate(end);
    }
    Some(bytes)
}
