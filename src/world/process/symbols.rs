//! The functions of a program file, as its symbol table names them.
//!
//! Source: `elf(5)`, the files of machines with 64 bits and the lowest byte first.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// A larger table is not read.
const MAX_TABLE: u64 = 64 << 20;

/// The name of the function at an offset in a file; `None` if the file does not have it.
///
/// Cost: reads the whole symbol table.
pub(super) fn function_at(file: &Path, offset: u64) -> Option<String> {
    /// Kinds of sections: the symbols, and those for the dynamic linker.
    const SYMBOLS: [u32; 2] = [2, 11];
    let file = File::open(file).ok()?;
    let header = read(&file, 0, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let segments = table(&file, u64_at(&header, 32)?, u16_at(&header, 54)?, u16_at(&header, 56)?)?;
    let address = segments.iter().find_map(|segment| address_in(segment, offset))?;
    let sections = table(&file, u64_at(&header, 40)?, u16_at(&header, 58)?, u16_at(&header, 60)?)?;
    SYMBOLS.iter().find_map(|kind| {
        let symbols = sections.iter().find(|section| u32_at(section, 4) == Some(*kind))?;
        let names = sections.get(usize::try_from(u32_at(symbols, 40)?).ok()?)?;
        let content = |section: &[u8]| read(&file, u64_at(section, 24)?, u64_at(section, 32)?);
        name_in(&content(symbols)?, &content(names)?, address)
    })
}

/// The name of the function with this address in a symbol table.
fn name_in(symbols: &[u8], names: &[u8], address: u64) -> Option<String> {
    /// The size of a symbol, and the kind of a function.
    const SIZE: usize = 24;
    const FUNCTION: u8 = 2;
    let symbol = symbols.chunks_exact(SIZE).find(|symbol| {
        let range = || Some((u64_at(symbol, 8)?, u64_at(symbol, 16)?));
        symbol[4] & 15 == FUNCTION
            && range().is_some_and(|(begin, length)| begin <= address && address - begin < length)
    })?;
    let name = names.get(usize::try_from(u32_at(symbol, 0)?).ok()?..)?;
    let end = name.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&name[..end]).into_owned()).filter(|name| !name.is_empty())
}

/// The address of an offset of the file that is in a loaded segment.
fn address_in(segment: &[u8], offset: u64) -> Option<u64> {
    const LOADED: u32 = 1;
    let (begin, address, length) = (u64_at(segment, 8)?, u64_at(segment, 16)?, u64_at(segment, 32)?);
    let is_inside = u32_at(segment, 0) == Some(LOADED) && begin <= offset && offset - begin < length;
    is_inside.then(|| address.wrapping_add(offset - begin))
}

/// The entries of a table of headers: their size and number.
fn table(file: &File, at: u64, size: u16, n: u16) -> Option<Vec<Vec<u8>>> {
    let bytes = read(file, at, u64::from(size) * u64::from(n))?;
    (size > 0).then(|| bytes.chunks_exact(size.into()).map(<[u8]>::to_vec).collect())
}

fn read(file: &File, at: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length.min(MAX_TABLE + 1)).ok().filter(|_| length <= MAX_TABLE)?];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_its_address_and_other_files_have_none() {
        let symbol = |name: u32, kind: u8, begin: u64, length: u64| {
            [&name.to_le_bytes()[..], &[kind, 0, 1, 0], &begin.to_le_bytes(), &length.to_le_bytes()].concat()
        };
        let symbols = [symbol(1, 0x11, 0x10, 0x20), symbol(3, 0x12, 0x10, 0x20)].concat();
        let name = |address| name_in(&symbols, b"\0v\0main\0", address);
        assert_eq!((name(0x10), name(0x2f)), (Some("main".to_owned()), Some("main".to_owned())));
        assert_eq!((name(0xf), name(0x30)), (None, None));
        assert_eq!(function_at(Path::new("/dev/null"), 0), None);
        assert_eq!(function_at(Path::new("Cargo.toml"), 0), None);
    }
}
