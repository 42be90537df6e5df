//! The global variables of a process: where they are, and what they hold when it begins.

use std::sync::Arc;

use crate::instrument::lex::TextCursor;
use crate::instrument::map::UnitMap;
use crate::instrument::types::Type;
use crate::instrument::{DataLayout, MetadataId, Unsupported};
use crate::native::NativeMemory;
use crate::native::units::RecordedUnits;
use crate::{ChunkKind, Place, Step, Trace, TraceError};
use std::collections::HashMap;

/// A variable that starts with more zeros than this starts with nothing known.
const MAX_ZEROS: u64 = 1 << 20;

/// A global variable of the process.
#[derive(Debug, Clone)]
pub struct Global {
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// Its name in the source, or that of the text for what has none there.
    pub name: Arc<str>,
    /// Whether it has a name in the source.
    pub is_named: bool,
    /// Whether only its unit, or only a function, sees it.
    pub unit: u32,
    pub ty: Option<MetadataId>,
    /// Where it is declared.
    pub place: Option<Place>,
    pub map: Arc<UnitMap>,
}

/// All of them, by address.
#[derive(Debug, Default)]
pub struct Globals {
    all: Vec<Global>,
    contents: Vec<(u64, Vec<u8>)>,
    /// The standard streams of the C library: names, and addresses of the pointers to them.
    streams: Vec<(Arc<str>, u64)>,
    /// The functions that no unit defines, by address, as far as their addresses are used as values.
    functions: HashMap<u64, Arc<str>>,
    maps: Vec<Arc<UnitMap>>,
}

impl Globals {
    /// Reads the chunks that tell the addresses.
    pub fn read(trace: &mut Trace, units: &mut RecordedUnits) -> Result<Self, TraceError> {
        let chunks: Vec<_> = trace.chunks().iter().filter(|chunk| chunk.kind == ChunkKind::Globals).copied().collect();
        let known = units.numbers().to_vec();
        let mut found = Vec::new();
        for chunk in chunks.iter().filter(|chunk| known.contains(&chunk.thread)) {
            let bytes = trace.read(chunk)?;
            let map = Arc::clone(units.map(chunk.thread)?);
            let address = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let addresses: Vec<u64> = bytes.chunks_exact(8).map(address).collect();
            let (n_globals, n_streams) = (map.module.globals.len(), map.module.streams.len());
            let n_all = n_globals + n_streams + map.module.pointed.len();
            // Older recordings have no streams, or no functions.
            if ![n_globals, n_globals + n_streams, n_all].contains(&addresses.len()) {
                return Err(TraceError::Damaged("a unit has other global variables than it had"));
            }
            found.push((map, addresses));
        }
        let mut by_name: HashMap<Arc<str>, u64> = HashMap::new();
        for (map, addresses) in &found {
            for (global, address) in map.module.globals.iter().zip(addresses) {
                by_name.insert(Arc::clone(&global.name), *address);
            }
        }
        let mut globals = Self::default();
        let mut functions = HashMap::new();
        for (map, addresses) in &found {
            let (streams, pointed) =
                addresses[map.module.globals.len()..].split_at_checked(map.module.streams.len()).unwrap_or_default();
            for (name, address) in map.module.pointed.iter().zip(pointed).filter(|(_, address)| **address != 0) {
                by_name.insert(Arc::clone(name), *address);
                functions.insert(*address, Arc::clone(name));
            }
            let streams = map.module.streams.iter().zip(streams);
            globals.streams.extend(streams.map(|(name, address)| (Arc::clone(name), *address)));
        }
        for (map, addresses) in &found {
            globals.unit(map, addresses, &mut by_name);
        }
        globals.functions = functions;
        globals.maps = found.iter().map(|(map, _)| Arc::clone(map)).collect();
        globals.all.sort_by_key(|global| global.address);
        Ok(globals)
    }

    fn unit(&mut self, map: &Arc<UnitMap>, addresses: &[u64], by_name: &mut HashMap<Arc<str>, u64>) {
        let debug = crate::instrument::debug::Debug::new(&map.module, &map.text);
        let layout = map.module.layout();
        for (global, address) in map.module.globals.iter().zip(addresses) {
            // Names that only a unit sees may be those of others, too.
            by_name.insert(Arc::clone(&global.name), *address);
        }
        let mut lines: HashMap<Arc<str>, &str> = HashMap::new();
        for line in map.text.lines().filter(|line| line.starts_with('@')) {
            if let Ok(name) = TextCursor::new(line).name('@') {
                lines.insert(name.into(), line);
            }
        }
        for (global, address) in map.module.globals.iter().zip(addresses) {
            let Ok((size, _)) = layout.size_and_align(&global.ty) else { continue };
            if *address == 0 {
                continue;
            }
            let variable = global.debug.and_then(|id| debug.global(id));
            self.all.push(Global {
                address: *address,
                size,
                name: variable.as_ref().map_or_else(|| Arc::clone(&global.name), |variable| Arc::clone(&variable.name)),
                is_named: variable.is_some(),
                unit: map.unit,
                place: global.debug.and_then(|id| debug.global_place(id)),
                ty: variable.and_then(|variable| variable.ty),
                map: Arc::clone(map),
            });
            if let Some(line) = lines.get(&global.name) {
                let mut image = Image { layout, by_name, bytes: Vec::new(), known: Vec::new() };
                if size <= MAX_ZEROS && image.line(line).is_ok() && image.bytes.len() as u64 == size {
                    let mut at = 0;
                    for (bytes, is_known) in runs(&image.bytes, &image.known) {
                        if is_known {
                            self.contents.push((*address + at, bytes.to_vec()));
                        }
                        at += bytes.len() as u64;
                    }
                }
            }
        }
    }

    /// Puts what they hold when the process begins into a memory.
    pub fn fill(&self, memory: &mut NativeMemory) {
        for (address, bytes) in &self.contents {
            memory.write(*address, bytes, Step::START);
        }
    }

    /// All of them, by address.
    pub fn iter(&self) -> impl Iterator<Item = &Global> {
        self.all.iter()
    }

    /// The one that an address is in.
    pub fn find(&self, address: u64) -> Option<&Global> {
        let behind = self.all.partition_point(|global| global.address <= address);
        // Several may have the same address if some are empty.
        self.all[..behind].iter().rev().take(4).find(|global| address - global.address < global.size)
    }

    /// The text of the program that begins at an address: of what has no name in the source.
    pub fn literal(&self, address: u64) -> Option<&[u8]> {
        let global = self.find(address).filter(|global| !global.is_named)?;
        self.contents.iter().find_map(|(begin, bytes)| {
            let offset = usize::try_from(address.checked_sub(*begin)?).ok()?;
            let length = usize::try_from(global.address + global.size - address).ok()?;
            bytes.get(offset..offset.checked_add(length)?)
        })
    }

    /// The functions that no unit defines, by address, as far as their addresses are used as values.
    pub fn functions(&self) -> &HashMap<u64, Arc<str>> {
        &self.functions
    }

    pub fn maps(&self) -> &[Arc<UnitMap>] {
        &self.maps
    }

    /// The address of the pointer to a standard stream: `stdin`, `stdout`, `stderr`.
    pub fn stream(&self, name: &str) -> Option<u64> {
        self.streams.iter().find(|(known, _)| &**known == name).map(|(_, address)| *address)
    }

    /// The one of this name: of the unit, if several have it.
    pub fn named(&self, name: &str, unit: u32) -> Option<&Global> {
        let named = || self.all.iter().filter(|global| global.is_named && &*global.name == name);
        named().find(|global| global.unit == unit).or_else(|| named().next())
    }

    /// What a unit calls so, and the source does not: a text.
    pub fn unnamed(&self, name: &str, unit: u32) -> Option<&Global> {
        self.all.iter().find(|global| !global.is_named && global.unit == unit && &*global.name == name)
    }
}

/// Bytes that are known, and bytes that are not, in turn.
fn runs<'b>(bytes: &'b [u8], known: &'b [bool]) -> impl Iterator<Item = (&'b [u8], bool)> {
    let mut at = 0;
    known.chunk_by(|one, other| one == other).map(move |run| {
        let piece = &bytes[at..at + run.len()];
        at += run.len();
        (piece, run[0])
    })
}

/// The bytes of an initial value.
struct Image<'i> {
    layout: DataLayout<'i>,
    by_name: &'i HashMap<Arc<str>, u64>,
    bytes: Vec<u8>,
    known: Vec<bool>,
}

impl Image<'_> {
    fn line(&mut self, line: &str) -> Result<(), Unsupported> {
        let mut cursor = TextCursor::new(line);
        cursor.name('@')?;
        cursor.expect("=")?;
        while !matches!(cursor.peek_word(), "global" | "constant") {
            cursor.skip_attribute()?;
        }
        cursor.word()?;
        let ty = cursor.ty()?;
        self.value(&mut cursor, &ty, 0)
    }

    fn put(&mut self, bytes: &[u8], size: u64, is_known: bool) {
        let size = usize::try_from(size).unwrap_or(0);
        self.bytes.extend(bytes.iter().copied().chain(std::iter::repeat(0)).take(size));
        self.known.resize(self.bytes.len(), is_known);
    }

    fn value(&mut self, cursor: &mut TextCursor<'_>, ty: &Type, depth: u32) -> Result<(), Unsupported> {
        if depth > 100 {
            return Err(Unsupported::new("a value without an end"));
        }
        let size = self.layout.size_and_align(ty)?.0;
        if matches!(cursor.peek_word(), "zeroinitializer" | "null" | "undef" | "false" | "true") {
            let is_true = cursor.word()? == "true";
            self.put(&[u8::from(is_true)], size, true);
            return Ok(());
        }
        if cursor.rest().trim_start().starts_with("c\"") {
            let part = cursor.part()?;
            let bytes = unescaped(part.trim_start_matches('c'));
            self.put(&bytes, size, true);
            return Ok(());
        }
        let resolved = self.layout.resolve(ty)?.clone();
        match (&resolved, cursor.peek()) {
            (Type::Array(..), b'[') => {
                cursor.expect("[")?;
                while !cursor.eat("]") {
                    let ty = cursor.ty()?;
                    self.value(cursor, &ty, depth + 1)?;
                    cursor.eat(",");
                }
            }
            (Type::Struct { is_packed, fields }, _) => {
                let offsets = self.layout.offsets(&resolved)?;
                let begin = self.bytes.len();
                if *is_packed {
                    cursor.expect("<")?;
                }
                cursor.expect("{")?;
                for (_, offset) in fields.iter().zip(&offsets) {
                    let padding = (begin as u64 + offset).saturating_sub(self.bytes.len() as u64);
                    self.put(&[], padding, true);
                    let ty = cursor.ty()?;
                    self.value(cursor, &ty, depth + 1)?;
                    cursor.eat(",");
                }
                cursor.expect("}")?;
                if *is_packed {
                    cursor.expect(">")?;
                }
                let padding = (begin as u64 + size).saturating_sub(self.bytes.len() as u64);
                self.put(&[], padding, true);
            }
            (Type::Int(_), b'-' | b'0'..=b'9') => {
                let number: i128 = cursor.number()?;
                self.put(&number.to_le_bytes(), size, size <= 16);
            }
            (Type::Ptr, b'@') => {
                let name = cursor.name('@')?;
                match self.by_name.get(name) {
                    Some(address) if *address != 0 => self.put(&address.to_le_bytes(), size, true),
                    _ => self.put(&[], size, false),
                }
            }
            (Type::Double | Type::Float, _) => {
                let part = cursor.part()?;
                match number(part) {
                    // As the text has it, also a `float` is written as a `double`.
                    #[expect(clippy::cast_possible_truncation, reason = "the value is that of a `float`")]
                    Some(number) if resolved == Type::Float => {
                        self.put(&(number as f32).to_bits().to_le_bytes(), size, true);
                    }
                    Some(number) => self.put(&number.to_bits().to_le_bytes(), size, true),
                    None => self.put(&[], size, false),
                }
            }
            _ => {
                cursor.part()?;
                self.put(&[], size, false);
            }
        }
        Ok(())
    }
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok().map(f64::from_bits)
        }
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// The bytes between quotes, with `\xx` and `\\` as what they stand for.
pub fn unescaped(text: &str) -> Vec<u8> {
    let text = text.trim_matches('"').as_bytes();
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if text[at] == b'\\' => {
                bytes.push(byte);
                at += 3;
            }
            _ => {
                bytes.push(text[at]);
                at += if text[at..].starts_with(br"\\") { 2 } else { 1 };
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::module::Module;
    use crate::native::stored::player;

    const TYPES: &str = "source_filename = \"a.c\"

%struct.s = type { i8, i32, ptr }
";

    /// The bytes of an initial value, where `@known` is at 0x1234; bytes that are not known are `None`.
    fn image(line: &str) -> Vec<Option<u8>> {
        let module = Module::read(TYPES).unwrap();
        let by_name = HashMap::from([(Arc::from("known"), 0x1234), (Arc::from("nowhere"), 0)]);
        let mut image = Image { layout: module.layout(), by_name: &by_name, bytes: Vec::new(), known: Vec::new() };
        image.line(line).unwrap();
        image.bytes.iter().zip(&image.known).map(|(byte, is_known)| is_known.then_some(*byte)).collect()
    }

    #[track_caller]
    fn check(value: &str, expected: &[u8]) {
        let expected: Vec<Option<u8>> = expected.iter().copied().map(Some).collect();
        assert_eq!(image(&format!("@a = internal constant {value}, align 4")), expected, "{value}");
    }

    #[test]
    fn an_initial_value_has_the_bytes_that_the_program_has() {
        check("i32 -2", &[254, 255, 255, 255]);
        check("i8 200", &[200]);
        check("i1 true", &[1]);
        check("[2 x i16] [i16 1, i16 -1]", &[1, 0, 255, 255]);
        check("[2 x [2 x i8]] [[2 x i8] c\"ab\", [2 x i8] zeroinitializer]", b"ab\0\0");
        check("[4 x i8] c\"c\\22\\00c\"", b"c\"\0c");
        check(r#"[6 x i8] c"\\5C\\\22\00""#, b"\\5C\\\"\0");
        check("double 1.500000e+00", &1.5_f64.to_le_bytes());
        check("double 0x3FF8000000000000", &1.5_f64.to_le_bytes());
        // The text of a `float` is that of a `double`.
        check("float 0x3FB99999A0000000", &0.1_f32.to_le_bytes());
        check("ptr null", &[0; 8]);
        check("ptr @known", &[0x34, 0x12, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_structure_is_padded_unless_it_is_packed() {
        let padded = [&[1, 0, 0, 0, 2, 0, 0, 0][..], &[0; 8]].concat();
        check("%struct.s { i8 1, i32 2, ptr null }", &padded);
        check("<{ i8, i32 }> <{ i8 1, i32 2 }>", &[1, 2, 0, 0, 0]);
        check("{ i32, i8 } { i32 2, i8 1 }", &[2, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn what_cannot_be_computed_is_not_known_and_the_rest_is() {
        assert_eq!(image("@a = global ptr @nowhere"), [None; 8]);
        assert_eq!(image("@a = global ptr @other, align 8"), [None; 8]);
        let mixed = image("@a = global { i32, ptr } { i32 1, ptr @other }");
        assert_eq!(mixed[..8], [1, 0, 0, 0, 0, 0, 0, 0].map(Some));
        assert_eq!(mixed[8..], [None; 8]);
    }

    #[test]
    fn bytes_that_are_known_and_those_that_are_not_come_in_turn() {
        let found: Vec<_> = runs(b"abcde", &[true, true, false, true, true]).collect();
        assert_eq!(found, [(&b"ab"[..], true), (b"c", false), (b"de", true)]);
        assert_eq!(runs(b"", &[]).count(), 0);
    }

    #[test]
    fn a_global_is_found_by_each_of_its_bytes_and_by_its_name() {
        let globals = Arc::clone(&player("list", "bad").machine.globals);
        let weights = globals.named("weights", 99).unwrap();
        assert_eq!(weights.size, 12);
        let at = |offset: u64| globals.find(weights.address + offset).map(|global| global.address);
        assert_eq!((at(0), at(11)), (Some(weights.address), Some(weights.address)));
        assert_ne!(at(12), Some(weights.address));
        assert!(globals.named("list", 1).is_none());
    }
}
