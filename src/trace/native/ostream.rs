//! What a C++ program prints with `<<` to `std::cout`, `std::cerr` and `std::clog`.
//!
//! The functions are those that the C++ library of GNU exports. Formats of a stream (width, base, precision) are not
//! known: numbers are taken to be printed in decimal, and the text of a floating-point number is not known.

use crate::RunArgument;
use crate::native::NativeMachine;

/// Bytes of a string that count as printed.
const MAX_TEXT: u64 = 1 << 16;

/// What is printed, by the second argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inserted {
    Text,
    String,
    Range,
    Character,
    Signed(u32),
    Unsigned(u32),
    Other,
}

/// The exported functions: `operator<<`, `put`, `write`.
const FUNCTIONS: [(&str, Inserted); 22] = [
    ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", Inserted::Text),
    (
        "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        Inserted::String,
    ),
    ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", Inserted::Character),
    ("_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l", Inserted::Range),
    ("_ZNSo5writeEPKcl", Inserted::Range),
    ("_ZNSo3putEc", Inserted::Character),
    ("_ZNSolsEs", Inserted::Signed(16)),
    ("_ZNSolsEt", Inserted::Unsigned(16)),
    ("_ZNSolsEi", Inserted::Signed(32)),
    ("_ZNSolsEj", Inserted::Unsigned(32)),
    ("_ZNSolsEl", Inserted::Signed(64)),
    ("_ZNSolsEm", Inserted::Unsigned(64)),
    ("_ZNSolsEx", Inserted::Signed(64)),
    ("_ZNSolsEy", Inserted::Unsigned(64)),
    ("_ZNSolsEb", Inserted::Unsigned(1)),
    ("_ZNSolsEf", Inserted::Other),
    ("_ZNSolsEd", Inserted::Other),
    ("_ZNSolsEe", Inserted::Other),
    ("_ZNSo9_M_insertIlEERSoT_", Inserted::Signed(64)),
    ("_ZNSo9_M_insertImEERSoT_", Inserted::Unsigned(64)),
    ("_ZNSo9_M_insertIdEERSoT_", Inserted::Other),
    ("_ZNSo9_M_insertIbEERSoT_", Inserted::Unsigned(1)),
];

/// What a call of `function` prints to a standard stream, as words and as a text; `None` if it prints nothing there.
///
/// - The text is `None` if it is not known.
pub fn inserted(
    machine: &NativeMachine,
    function: &str,
    arguments: &[Option<u64>],
) -> Option<(Vec<RunArgument>, Option<Vec<u8>>)> {
    if !function.starts_with("_Z") {
        return None;
    }
    let (_, kind) = FUNCTIONS.iter().find(|(name, _)| *name == function)?;
    let stream = arguments.first().copied().flatten()?;
    let (output, errors) = machine.ostreams;
    if output != Some(stream) && !errors.contains(&Some(stream)) {
        return None;
    }
    let value = arguments.get(1).copied().flatten().unwrap_or(0);
    let number = |text: String| (RunArgument::Number(value), Some(text.into_bytes()));
    let bytes = |at: u64, length: u64| machine.memory.bytes(at, usize::try_from(length.min(MAX_TEXT)).unwrap_or(0));
    let shown = |text: Option<Vec<u8>>| match text {
        Some(text) => (RunArgument::Text(text.clone()), Some(text)),
        None => (RunArgument::Pointer, None),
    };
    let (word, text) = match *kind {
        Inserted::Text => shown(machine.memory.string(value, MAX_TEXT)),
        Inserted::String => {
            let begin = machine.memory.word(value, 8).map(|(begin, _)| begin);
            let length = machine.memory.word(value.wrapping_add(8), 8).map(|(length, _)| length);
            shown(begin.zip(length).and_then(|(begin, length)| bytes(begin, length)))
        }
        Inserted::Range => shown(bytes(value, arguments.get(2).copied().flatten().unwrap_or(0))),
        Inserted::Character => (RunArgument::Number(value & 0xff), Some(vec![value.to_le_bytes()[0]])),
        Inserted::Signed(bits) => {
            let unused = 64 - bits;
            number(((value << unused).cast_signed() >> unused).to_string())
        }
        Inserted::Unsigned(bits) => number((value & (u64::MAX >> (64 - bits))).to_string()),
        Inserted::Other => (RunArgument::Number(value), None),
    };
    Some((vec![word], text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;

    const COUT: u64 = 0x1000;

    #[track_caller]
    fn check(function: &str, value: u64, expected: Option<&str>) {
        let mut machine = NativeMachine::default();
        machine.ostreams = (Some(COUT), [None, None]);
        machine.memory.write(0x2000, b"text\0", Step(1));
        machine.memory.write(0x3000, &[0x2000_u64.to_le_bytes(), 3_u64.to_le_bytes()].concat(), Step(1));
        let (_, text) = inserted(&machine, function, &[Some(COUT), Some(value)]).unwrap();
        assert_eq!(text.as_deref(), expected.map(str::as_bytes));
        assert_eq!(inserted(&machine, function, &[Some(0x1001), Some(value)]), None);
    }

    #[test]
    fn the_text_of_what_is_inserted_into_a_standard_stream_is_known() {
        check("_ZNSolsEi", 0xffff_fffe, Some("-2"));
        check("_ZNSolsEm", u64::MAX, Some("18446744073709551615"));
        check("_ZNSolsEb", 1, Some("1"));
        check("_ZNSo3putEc", 0x61, Some("a"));
        check("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", 0x2000, Some("text"));
        check(FUNCTIONS[1].0, 0x3000, Some("tex"));
        check("_ZNSolsEd", 1, None);
    }
}
