//! Values as a C programmer writes them, by their type in the source.

use std::fmt::Write as _;

use crate::instrument::{Compound, Debug, MetadataId, SourceType, StructMember};

/// Elements of an array, and bytes of a string, that are shown.
const MAX_ELEMENTS: u64 = 32;

/// Bytes of a string that are shown.
const MAX_STRING: usize = 200;

/// Structures in structures are shown so deep.
const MAX_DEPTH: u32 = 4;

/// What a byte that is not known is written as.
const UNKNOWN: &str = "?";

/// Where values come from.
pub trait ValueContent {
    /// Bytes from the beginning of what is shown; `None` if one is not known.
    fn bytes(&self, offset: u64, length: usize) -> Option<Vec<u8>>;

    /// How a pointer is written that is not null, by what it points to.
    fn pointer(&self, pointer: u64, to: Option<(MetadataId, SourceType)>) -> String;
}

/// The bytes that a type takes; `None` if that is not known.
pub fn size_of(debug: Debug<'_>, ty: MetadataId, depth: u32) -> Option<u64> {
    if depth > 100 {
        return None;
    }
    match debug.plain_ty(ty)?.1 {
        SourceType::Base(_, bits, _) | SourceType::Enum(_, bits, _) => Some(bits / 8),
        SourceType::Pointer(_) => Some(8),
        SourceType::Struct(compound) | SourceType::Union(compound) => Some(compound.bits / 8),
        SourceType::Array(element, counts) => {
            let size = size_of(debug, element?, depth + 1)?;
            counts.into_iter().try_fold(size, |size, count| size.checked_mul(count?))
        }
        _ => None,
    }
}

/// Writes a value of a type.
pub fn show(debug: Debug<'_>, ty: MetadataId, content: &dyn ValueContent) -> String {
    let mut text = String::new();
    value(debug, ty, content, 0, 0, &mut text);
    text
}

fn value(debug: Debug<'_>, ty: MetadataId, content: &dyn ValueContent, at: u64, depth: u32, text: &mut String) {
    let Some((_, plain)) = debug.plain_ty(ty) else { return text.push_str(UNKNOWN) };
    match plain {
        SourceType::Base(_, bits, encoding) => base(bits, &encoding, content, at, text),
        SourceType::Enum(_, bits, constants) => {
            let Some(number) = integer(content, at, bits / 8, true) else { return text.push_str(UNKNOWN) };
            let unsigned = integer(content, at, bits / 8, false);
            let found = constants.iter().find(|(_, constant)| *constant == number || Some(*constant) == unsigned);
            match found {
                Some((name, _)) => text.push_str(name),
                None => put(text, number),
            }
        }
        SourceType::Pointer(to) => {
            let Some(number) = integer(content, at, 8, false).and_then(|number| u64::try_from(number).ok()) else {
                return text.push_str(UNKNOWN);
            };
            if number == 0 {
                return text.push_str("NULL");
            }
            text.push_str(&content.pointer(number, to.and_then(|to| debug.plain_ty(to))));
        }
        SourceType::Struct(compound) | SourceType::Union(compound) => {
            if depth >= MAX_DEPTH {
                return text.push_str("{...}");
            }
            text.push('{');
            members(debug, &compound, content, at, depth, text);
            text.push('}');
        }
        SourceType::Array(Some(element), counts) => array(debug, element, &counts, content, at, depth, text),
        _ => text.push_str(UNKNOWN),
    }
}

fn members(debug: Debug<'_>, compound: &Compound, content: &dyn ValueContent, at: u64, depth: u32, text: &mut String) {
    for (index, member) in compound.members.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        if !member.name.is_empty() {
            text.push_str(&member.name);
            text.push_str(" = ");
        }
        match member.ty {
            Some(ty) if member.is_bit_field => {
                text.push_str(&bit_field(debug, ty, content, 8 * at + member.offset_bits, member.bits));
            }
            Some(ty) => value(debug, ty, content, at + member.offset_bits / 8, depth + 1, text),
            None => text.push_str(UNKNOWN),
        }
    }
}

fn bit_field(debug: Debug<'_>, ty: MetadataId, content: &dyn ValueContent, at: u64, bits: u64) -> String {
    let is_signed = match debug.plain_ty(ty) {
        Some((_, SourceType::Base(_, _, encoding))) => encoding.starts_with("DW_ATE_signed"),
        _ => false,
    };
    let (first, last) = (at / 8, (at + bits.max(1) - 1) / 8);
    let bytes = usize::try_from(last - first + 1).ok().and_then(|length| content.bytes(first, length));
    let (Some(bytes), true) = (bytes, bits <= 64) else { return UNKNOWN.to_owned() };
    let whole = bytes.iter().rev().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    let number = whole >> (at % 8) & ((1 << bits) - 1);
    let number = number.cast_signed();
    let is_negative = is_signed && bits > 0 && number >> (bits - 1) & 1 == 1;
    (if is_negative { number - (1 << bits) } else { number }).to_string()
}

/// The text that begins at an offset of an array of so many characters; `?` where it is not known any more.
pub fn characters(content: &dyn ValueContent, at: u64, n: u64) -> String {
    let mut bytes = Vec::new();
    let mut rest = "";
    for index in 0..n {
        match content.bytes(at + index, 1).as_deref() {
            Some([0]) => break,
            _ if bytes.len() == MAX_STRING => {
                rest = "...";
                break;
            }
            Some(byte) => bytes.extend(byte),
            None => {
                rest = UNKNOWN;
                break;
            }
        }
    }
    quoted(&bytes, '"') + rest
}

fn array(
    debug: Debug<'_>,
    element: MetadataId,
    counts: &[Option<u64>],
    content: &dyn ValueContent,
    at: u64,
    depth: u32,
    text: &mut String,
) {
    let (Some((Some(n), rest)), Some(size)) =
        (counts.split_first().map(|(first, rest)| (*first, rest)), size_of(debug, element, 0))
    else {
        return text.push_str(UNKNOWN);
    };
    if rest.is_empty() && is_char(debug, element) {
        text.push_str(&characters(content, at, n));
        return;
    }
    if depth >= MAX_DEPTH {
        return text.push_str("{...}");
    }
    let stride = rest.iter().try_fold(size, |size, count| size.checked_mul((*count)?));
    let Some(stride) = stride else { return text.push_str(UNKNOWN) };
    text.push('{');
    for index in 0..n.min(MAX_ELEMENTS) {
        if index > 0 {
            text.push_str(", ");
        }
        if rest.is_empty() {
            value(debug, element, content, at + index * stride, depth + 1, text);
        } else {
            array(debug, element, rest, content, at + index * stride, depth + 1, text);
        }
    }
    if n > MAX_ELEMENTS {
        text.push_str(", ...");
    }
    text.push('}');
}

fn is_char(debug: Debug<'_>, ty: MetadataId) -> bool {
    match debug.plain_ty(ty) {
        Some((_, SourceType::Base(_, 8, encoding))) => encoding.ends_with("_char"),
        _ => false,
    }
}

fn integer(content: &dyn ValueContent, at: u64, size: u64, is_signed: bool) -> Option<i128> {
    let bytes = content.bytes(at, usize::try_from(size).ok().filter(|size| (1..=16).contains(size))?)?;
    let number = bytes.iter().rev().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    let shift = 128 - 8 * size;
    let number = (number << shift).cast_signed();
    Some(if is_signed { number >> shift } else { (number.cast_unsigned() >> shift).cast_signed() })
}

fn put(text: &mut String, number: impl std::fmt::Display) {
    write!(text, "{number}").expect("a string takes all");
}

fn base(bits: u64, encoding: &str, content: &dyn ValueContent, at: u64, text: &mut String) {
    let size = bits / 8;
    if encoding == "DW_ATE_float" {
        let bytes = usize::try_from(size).ok().and_then(|size| content.bytes(at, size.min(10)));
        return match bytes.as_deref() {
            Some(bytes) if bytes.len() == 4 || bytes.len() == 8 => text.push_str(&float_of(bytes)),
            Some(bytes) if bytes.len() == 10 => text.push_str(&float(extended(bytes), false)),
            _ => text.push_str(UNKNOWN),
        };
    }
    let is_signed = encoding.starts_with("DW_ATE_signed");
    let Some(number) = integer(content, at, size, is_signed) else { return text.push_str(UNKNOWN) };
    match encoding {
        "DW_ATE_boolean" => text.push_str(if number == 0 { "false" } else { "true" }),
        _ if !is_signed && size == 16 => put(text, number.cast_unsigned()),
        _ => put(text, number),
    }
    if encoding.ends_with("_char") && size == 1 {
        text.push(' ');
        text.push_str(&quoted(&[number.to_le_bytes()[0]], '\''));
    }
}

/// A `float` of 4 bytes, or a `double` of 8.
pub fn float_of(bytes: &[u8]) -> String {
    match bytes {
        [a, b, c, d] => float(f64::from(f32::from_le_bytes([*a, *b, *c, *d])), true),
        _ => bytes.first_chunk().map_or_else(|| UNKNOWN.to_owned(), |bytes| float(f64::from_le_bytes(*bytes), false)),
    }
}

/// Whether all of it can be read by people.
pub fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace())
}

fn float(number: f64, is_single: bool) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "the value is that of a `float`")]
    let shortest = if is_single { format!("{:?}", number as f32) } else { format!("{number:?}") };
    shortest.strip_suffix(".0").map(str::to_owned).unwrap_or(shortest)
}

/// The closest `double` of an 80-bit number.
fn extended(bytes: &[u8]) -> f64 {
    let mantissa = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let head = u16::from_le_bytes([bytes[8], bytes[9]]);
    let exponent = i32::from(head & 0x7fff) - 16383 - 63;
    #[expect(clippy::cast_precision_loss, reason = "the closest is asked for")]
    let number = match head & 0x7fff {
        0x7fff if mantissa << 1 == 0 => f64::INFINITY,
        0x7fff => f64::NAN,
        // Two factors, because one alone may be outside of what a `double` holds.
        _ => (mantissa as f64) * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2),
    };
    if head & 0x8000 == 0 { number } else { -number }
}

/// Bytes between quotes, as C writes them.
pub fn quoted(bytes: &[u8], quote: char) -> String {
    let mut text = String::from(quote);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\\' => text.push_str("\\\\"),
                _ if character == quote => text.extend(['\\', quote]),
                _ if character.is_control() => {
                    write!(text, "\\{:03o}", u32::from(character)).expect("a string takes all");
                }
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\{byte:03o}").expect("a string takes all");
        }
    }
    text.push(quote);
    text
}

/// A part of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariablePart {
    /// A whole of this type.
    Whole(MetadataId),
    /// Bit-fields that lie in the same bytes: the bits before each, counted from the beginning of the part, and the field. They are read and written together.
    BitFields(Vec<(i64, StructMember)>),
    /// Characters of an array.
    Characters,
    /// An element of an array of arrays: what its elements are in the end, and how many in each dimension.
    Row(MetadataId, Vec<Option<u64>>),
}

/// Writes a part of `size` bytes.
pub fn show_part(debug: Debug<'_>, part: &VariablePart, content: &dyn ValueContent, size: u64) -> String {
    match part {
        VariablePart::Whole(ty) => show(debug, *ty, content),
        VariablePart::Row(element, counts) => {
            let mut text = String::new();
            array(debug, *element, counts, content, 0, 0, &mut text);
            text
        }
        VariablePart::BitFields(fields) => {
            let show = |(at, field): &(i64, StructMember)| match (field.ty, u64::try_from(*at)) {
                (Some(ty), Ok(at)) => bit_field(debug, ty, content, at, field.bits),
                _ => UNKNOWN.to_owned(),
            };
            if let [only] = &fields[..] {
                return show(only);
            }
            let all: Vec<String> = fields.iter().map(|field| format!("{} = {}", field.1.name, show(field))).collect();
            format!("{{{}}}", all.join(", "))
        }
        VariablePart::Characters => match content.bytes(0, usize::try_from(size).unwrap_or(MAX_STRING).min(MAX_STRING))
        {
            Some(bytes) => quoted(bytes.strip_suffix(&[0]).unwrap_or(&bytes), '"'),
            None if content.bytes(0, 1).is_some() => characters(content, 0, size),
            None => UNKNOWN.to_owned(),
        },
    }
}

/// The bit-fields of a structure that lie in a range of bytes; `None` if something else lies there, too, or only a part of one.
fn bit_fields(compound: &Compound, offset: u64, size: u64) -> Option<Vec<(i64, StructMember)>> {
    let (begin, end) = (8 * offset, 8 * (offset + size));
    let is_there = |member: &&StructMember| member.offset_bits < end && member.offset_bits + member.bits > begin;
    let fields: Vec<&StructMember> = compound.members.iter().filter(is_there).collect();
    let is_inside = |member: &&StructMember| {
        member.is_bit_field && member.offset_bits >= begin && member.offset_bits + member.bits <= end
    };
    if fields.is_empty() || !fields.iter().all(is_inside) {
        return None;
    }
    let at = |member: &StructMember| i64::try_from(member.offset_bits).ok()?.checked_sub(i64::try_from(begin).ok()?);
    fields.into_iter().map(|member| Some((at(member)?, member.clone()))).collect()
}

/// The way from a type to the part of it that begins at `offset` and has `size` bytes: `.next[2]`, and what the part is.
pub fn path(debug: Debug<'_>, ty: MetadataId, offset: u64, size: u64) -> (String, Option<VariablePart>) {
    let mut text = String::new();
    let (mut ty, mut offset) = (ty, offset);
    for _ in 0..100 {
        if offset == 0 && size_of(debug, ty, 0) == Some(size) {
            return (text, Some(VariablePart::Whole(ty)));
        }
        match debug.plain_ty(ty) {
            Some((_, SourceType::Struct(compound) | SourceType::Union(compound))) => {
                if let Some(fields) = bit_fields(&compound, offset, size) {
                    let names: Vec<&str> = fields.iter().map(|(_, field)| &*field.name).collect();
                    match &names[..] {
                        [only] => write!(text, ".{only}").expect("a string takes all"),
                        _ => write!(text, ".{{{}}}", names.join(", ")).expect("a string takes all"),
                    }
                    return (text, Some(VariablePart::BitFields(fields)));
                }
                let holds = |member: &&StructMember| {
                    let begin = member.offset_bits / 8;
                    // Also a part without a size begins before the end of its member.
                    begin <= offset && offset + size.max(1) <= (member.offset_bits + member.bits).div_ceil(8)
                };
                let Some(member) = compound.members.iter().find(holds) else { break };
                let Some(inner) = member.ty else { break };
                // An object is not called by the pointer to its virtual functions, with which it begins.
                if size == 0 && member.name.starts_with("_vptr$") {
                    break;
                }
                if !member.name.is_empty() {
                    text.push('.');
                    text.push_str(&member.name);
                }
                if member.is_bit_field {
                    return (text, None);
                }
                offset -= member.offset_bits / 8;
                ty = inner;
            }
            Some((_, SourceType::Array(Some(element), counts))) => {
                let Some(element_size) = size_of(debug, element, 0).filter(|size| *size > 0) else { break };
                let mut rest = &counts[..];
                while let Some((_, behind)) = rest.split_first() {
                    let stride = behind.iter().try_fold(element_size, |size, count| size.checked_mul((*count)?));
                    let Some(stride) = stride.filter(|stride| *stride > 0) else { return (text, None) };
                    if offset % stride + size > stride {
                        let is_string = behind.is_empty() && is_char(debug, element);
                        if offset > 0 || !is_string {
                            write!(text, "[{}..]", offset / stride).expect("a string takes all");
                        }
                        return (text, is_string.then_some(VariablePart::Characters));
                    }
                    write!(text, "[{}]", offset / stride).expect("a string takes all");
                    offset %= stride;
                    rest = behind;
                }
                ty = element;
            }
            _ => break,
        }
    }
    if offset > 0 {
        write!(text, "+{offset}").expect("a string takes all");
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::module::Module;

    const TYPES: &str = "source_filename = \"a.c\"
!0 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)
!1 = !DIBasicType(name: \"char\", size: 8, encoding: DW_ATE_signed_char)
!2 = !DIBasicType(name: \"double\", size: 64, encoding: DW_ATE_float)
!3 = !DIBasicType(name: \"float\", size: 32, encoding: DW_ATE_float)
!4 = !DIBasicType(name: \"long double\", size: 128, encoding: DW_ATE_float)
!5 = !DIBasicType(name: \"unsigned int\", size: 32, encoding: DW_ATE_unsigned)
!6 = !DIBasicType(name: \"_Bool\", size: 8, encoding: DW_ATE_boolean)
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !1, size: 64)
!8 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, elements: !9)
!9 = !{!10}
!10 = !DISubrange(count: 4)
!11 = !DICompositeType(tag: DW_TAG_array_type, baseType: !0, elements: !12)
!12 = !{!13, !14}
!13 = !DISubrange(count: 2)
!14 = !DISubrange(count: 3)
!15 = !DICompositeType(tag: DW_TAG_enumeration_type, name: \"e\", baseType: !5, size: 32, elements: !16)
!16 = !{!17, !18}
!17 = !DIEnumerator(name: \"LOW\", value: -1)
!18 = !DIEnumerator(name: \"ONE\", value: 1)
!19 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"s\", size: 96, elements: !20)
!20 = !{!21, !22, !23, !24}
!21 = !DIDerivedType(tag: DW_TAG_member, name: \"a\", baseType: !0, size: 32)
!22 = !DIDerivedType(tag: DW_TAG_member, name: \"f\", baseType: !0, size: 3, offset: 32, flags: DIFlagBitField)
!23 = !DIDerivedType(tag: DW_TAG_member, name: \"g\", baseType: !5, size: 5, offset: 35, flags: DIFlagBitField)
!24 = !DIDerivedType(tag: DW_TAG_member, name: \"text\", baseType: !8, size: 32, offset: 64)
!25 = !DICompositeType(tag: DW_TAG_array_type, baseType: !0, elements: !26)
!26 = !{!27}
!27 = !DISubrange(count: 33)
!28 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, elements: !29)
!29 = !{!30}
!30 = !DISubrange(count: 200)
!31 = !DICompositeType(tag: DW_TAG_array_type, baseType: !1, elements: !32)
!32 = !{!33}
!33 = !DISubrange(count: 201)
!34 = !DICompositeType(tag: DW_TAG_array_type, baseType: !19, elements: !12)
";

    const INT: u32 = 0;
    const CHAR: u32 = 1;
    const TEXT: u32 = 8;
    const MATRIX: u32 = 11;
    const ENUM: u32 = 15;
    const STRUCT: u32 = 19;

    /// The first bytes; the others are not known.
    struct Known<'k>(&'k [u8]);

    impl ValueContent for Known<'_> {
        fn bytes(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
            let begin = usize::try_from(offset).ok()?;
            self.0.get(begin..begin + length).map(<[u8]>::to_vec)
        }

        fn pointer(&self, pointer: u64, to: Option<(MetadataId, SourceType)>) -> String {
            format!("{pointer:#x} to {:?}", to.map(|(id, _)| id.0))
        }
    }

    fn with_debug<T>(look: impl FnOnce(Debug<'_>) -> T) -> T {
        let module = Module::read(TYPES).unwrap();
        look(Debug::new(&module, TYPES))
    }

    #[track_caller]
    fn check(ty: u32, bytes: &[u8], expected: &str) {
        assert_eq!(with_debug(|debug| show(debug, MetadataId(ty), &Known(bytes))), expected);
    }

    #[test]
    fn a_number_is_written_by_its_encoding() {
        check(INT, &[255; 4], "-1");
        check(5, &[255; 4], "4294967295");
        check(CHAR, b"A", "65 'A'");
        check(CHAR, b"\n", "10 '\\n'");
        check(CHAR, &[200], "-56 '\\310'");
        check(6, &[0], "false");
        check(6, &[2], "true");
        check(3, &1.5_f32.to_le_bytes(), "1.5");
        check(3, &0.1_f32.to_le_bytes(), "0.1");
        check(2, &(-2.0_f64).to_le_bytes(), "-2");
        check(2, &f64::NAN.to_le_bytes(), "NaN");
        check(INT, &[1, 2, 3], "?");
        check(99, &[0; 8], "?");
    }

    #[test]
    fn a_number_of_eighty_bits_is_written_as_the_closest_double() {
        let of = |head: u16, mantissa: u64| {
            let mut bytes = mantissa.to_le_bytes().to_vec();
            bytes.extend(head.to_le_bytes());
            bytes.extend([0; 6]);
            bytes
        };
        check(4, &of(16383, 1 << 63), "1");
        check(4, &of(0x8000 | 16384, 0xc << 60), "-3");
        check(4, &of(0, 0), "0");
        check(4, &of(0x7fff, 1 << 63), "inf");
        check(4, &of(0x7fff, 3 << 62), "NaN");
    }

    #[test]
    fn a_constant_has_its_name_and_another_number_of_its_type_has_none() {
        check(ENUM, &1_u32.to_le_bytes(), "ONE");
        check(ENUM, &u32::MAX.to_le_bytes(), "LOW");
        check(ENUM, &7_u32.to_le_bytes(), "7");
    }

    #[test]
    fn a_pointer_is_null_or_what_it_points_to() {
        check(7, &[0; 8], "NULL");
        check(7, &0x10_u64.to_le_bytes(), "0x10 to Some(1)");
        check(7, &[0; 7], "?");
    }

    #[test]
    fn an_array_of_characters_is_a_text_up_to_its_end() {
        check(TEXT, b"ab\0d", "\"ab\"");
        check(TEXT, b"abcd", "\"abcd\"");
        check(TEXT, b"a\"\\\x01", "\"a\\\"\\\\\\001\"");
        check(TEXT, b"ab", "\"ab\"?");
    }

    #[test]
    fn a_text_that_is_shown_to_its_end_has_no_dots() {
        let whole = format!("\"{}\"", "x".repeat(200));
        check(28, &[b'x'; 200], &whole);
        check(31, &[b'x'; 201], &format!("{whole}..."));
        check(31, &[&[b'x'; 200][..], b"\0"].concat(), &whole);
    }

    #[test]
    fn arrays_of_arrays_have_braces_and_long_ones_dots() {
        let numbers: Vec<u8> = (1_u32..=6).flat_map(u32::to_le_bytes).collect();
        check(MATRIX, &numbers, "{{1, 2, 3}, {4, 5, 6}}");
        let text = with_debug(|debug| show(debug, MetadataId(25), &Known(&[0; 132])));
        assert_eq!((text.matches('0').count(), text.ends_with(", 0, ...}")), (32, true), "{text}");
    }

    #[test]
    fn bit_fields_have_the_sign_of_their_type() {
        // `f` is 111 and `g` is 10001 in one byte.
        let bytes = [5, 0, 0, 0, 0b1000_1111, 0, 0, 0, b'o', b'k', 0, 0];
        check(STRUCT, &bytes, "{a = 5, f = -1, g = 17, text = \"ok\"}");
    }

    #[track_caller]
    fn check_path(ty: u32, offset: u64, size: u64, expected: &str, part: &str) {
        with_debug(|debug| {
            let (text, found) = path(debug, MetadataId(ty), offset, size);
            assert_eq!(text, expected);
            let bytes: Vec<u8> = (b'a'..).take(usize::try_from(size).unwrap()).collect();
            assert_eq!(found.map_or_else(String::new, |found| show_part(debug, &found, &Known(&bytes), size)), part);
        });
    }

    #[test]
    fn the_way_to_a_part_leads_through_members_and_elements() {
        check_path(INT, 0, 4, "", "1684234849");
        check_path(STRUCT, 0, 4, ".a", "1684234849");
        check_path(STRUCT, 8, 4, ".text", "\"abcd\"");
        check_path(STRUCT, 9, 1, ".text[1]", "97 'a'");
        check_path(STRUCT, 9, 2, ".text[1..]", "\"ab\"");
        check_path(STRUCT, 4, 1, ".{f, g}", "{f = 1, g = 12}");
        check_path(MATRIX, 16, 4, "[1][1]", "1684234849");
        check_path(MATRIX, 12, 12, "[1][0..]", "");
        check_path(34, 12 * 4 + 9, 1, "[1][1].text[1]", "97 'a'");
        // Bytes of two members, and a part of a number.
        check_path(STRUCT, 2, 4, "+2", "");
        // What a pointer leads to has no size: it begins there, and is not the end of what stands before.
        let module = Module::read(TYPES).unwrap();
        let (way, _) = path(Debug::new(&module, TYPES), MetadataId(STRUCT), 8, 0);
        assert!(way.starts_with(".text"), "{way}");
        check_path(INT, 1, 1, "+1", "");
    }

    #[test]
    fn the_size_of_a_type_is_known_if_all_its_parts_are() {
        let size = |ty| with_debug(|debug| size_of(debug, MetadataId(ty), 0));
        assert_eq!([INT, 7, MATRIX, STRUCT, 34].map(size), [Some(4), Some(8), Some(24), Some(12), Some(72)]);
        assert_eq!(size(9), None);
    }
}
