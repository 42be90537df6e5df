//! What `printf` and its like make of a format and its arguments.

use std::iter::{Copied, Peekable};
use std::slice::Iter;

use crate::native::NativeMachine;

/// Longer than this nothing is told.
const MAX_LENGTH: usize = 1 << 20;

/// One conversion of a format: `%-08.3ld`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct FormatConversion {
    is_left: bool,
    is_zero: bool,
    is_alternate: bool,
    sign: Option<char>,
    width: usize,
    precision: Option<usize>,
    n_bits: u32,
}

/// A string that an argument points to, in what `printf` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintedString {
    /// Its offset in the text.
    pub at: usize,
    pub address: u64,
    /// Its length in bytes.
    pub length: usize,
    /// Whether no conversion comes before it.
    pub is_first: bool,
}

impl NativeMachine {
    /// The strings that the arguments of a format point to: the address of each, and at most how many bytes of it are read.
    pub fn strings(&self, format: u64, arguments: &[u64]) -> Vec<(u64, u64)> {
        let Some(format) = self.memory.string(format, MAX_LENGTH as u64) else { return Vec::new() };
        let (mut strings, mut parser) = (Vec::new(), Parser::new(&format, arguments));
        while let Some(piece) = parser.next() {
            let FormatPiece::Conversion(found, conversion, argument) = piece else { continue };
            if conversion == b's' && found.n_bits == 32 && argument != 0 {
                strings.push((argument, found.precision.unwrap_or(MAX_LENGTH) as u64));
            }
        }
        strings
    }

    /// The text that a format and its arguments give; `None` where something in it is not known, or is not understood.
    ///
    /// Only as good as the arguments: whoever knows how long the text was compares that.
    pub fn printed(&self, format: u64, arguments: &[u64]) -> Option<Vec<u8>> {
        self.printed_parts(format, arguments).map(|(text, _)| text)
    }

    /// The same, with the strings of which it has copies.
    pub fn printed_parts(&self, format: u64, arguments: &[u64]) -> Option<(Vec<u8>, Vec<PrintedString>)> {
        let format = self.memory.string(format, MAX_LENGTH as u64)?;
        let string = |address: u64, limit: Option<usize>| {
            let limit = limit.unwrap_or(MAX_LENGTH) as u64;
            match self.memory.string(address, limit) {
                None if limit < MAX_LENGTH as u64 => self.memory.bytes(address, usize::try_from(limit).ok()?),
                found => found,
            }
        };
        print(&format, arguments, &string)
    }
}

enum FormatPiece {
    /// A byte that is printed.
    Byte(u8),
    /// A conversion, its letter, and its argument.
    Conversion(FormatConversion, u8, u64),
}

/// Takes a format apart.
struct Parser<'p> {
    rest: Peekable<Copied<Iter<'p, u8>>>,
    arguments: Copied<Iter<'p, u64>>,
    /// Whether something was not understood.
    is_lost: bool,
}

impl<'p> Parser<'p> {
    fn new(format: &'p [u8], arguments: &'p [u64]) -> Self {
        Self { rest: format.iter().copied().peekable(), arguments: arguments.iter().copied(), is_lost: false }
    }

    /// The next piece; `None` at the end, and where something is not understood.
    fn next(&mut self) -> Option<FormatPiece> {
        let byte = self.rest.next()?;
        if byte != b'%' {
            return Some(FormatPiece::Byte(byte));
        }
        let piece = self.conversion();
        self.is_lost |= piece.is_none();
        piece
    }

    fn number(&mut self) -> Option<i32> {
        if self.rest.next_if_eq(&b'*').is_some() {
            return self.arguments.next().map(low);
        }
        let mut number = 0_i32;
        while let Some(digit) = self.rest.next_if(u8::is_ascii_digit) {
            number = number.checked_mul(10)?.checked_add(i32::from(digit - b'0'))?;
        }
        Some(number)
    }

    fn conversion(&mut self) -> Option<FormatPiece> {
        let mut found = FormatConversion { n_bits: 32, ..FormatConversion::default() };
        while let Some(flag) = self.rest.next_if(|byte| b"-0#+ ".contains(byte)) {
            match flag {
                b'-' => found.is_left = true,
                b'0' => found.is_zero = true,
                b'#' => found.is_alternate = true,
                b'+' => found.sign = Some('+'),
                _ => found.sign = found.sign.or(Some(' ')),
            }
        }
        let width = self.number()?;
        found.is_left |= width < 0;
        found.width = usize::try_from(width.unsigned_abs()).ok()?;
        if self.rest.next_if_eq(&b'.').is_some() {
            found.precision = usize::try_from(self.number()?).ok();
        }
        while let Some(size) = self.rest.next_if(|byte| b"hlzjtqL".contains(byte)) {
            found.n_bits = match (size, found.n_bits) {
                (b'h', 32) => 16,
                (b'h', _) => 8,
                (b'L', _) => return None,
                _ => 64,
            };
        }
        match self.rest.next()? {
            b'%' => Some(FormatPiece::Byte(b'%')),
            conversion => Some(FormatPiece::Conversion(found, conversion, self.arguments.next()?)),
        }
    }
}

fn print(
    format: &[u8],
    arguments: &[u64],
    string: &dyn Fn(u64, Option<usize>) -> Option<Vec<u8>>,
) -> Option<(Vec<u8>, Vec<PrintedString>)> {
    let (mut text, mut parts, mut is_first) = (Vec::new(), Vec::new(), true);
    let mut parser = Parser::new(format, arguments);
    while let Some(piece) = parser.next() {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let (found, conversion, argument) = match piece {
            FormatPiece::Byte(byte) => {
                text.push(byte);
                continue;
            }
            FormatPiece::Conversion(found, conversion, argument) => (found, conversion, argument),
        };
        let (sign, digits, is_number) = match conversion {
            b'd' | b'i' => {
                let shift = 64 - found.n_bits;
                let number = (argument << shift).cast_signed() >> shift;
                let sign = if number < 0 { Some('-') } else { found.sign };
                (sign, found.digits(number.unsigned_abs().to_string()), true)
            }
            b'u' | b'x' | b'X' | b'o' => {
                let number = argument << (64 - found.n_bits) >> (64 - found.n_bits);
                let digits = match (conversion, found.is_alternate && number != 0) {
                    (b'u', _) => number.to_string(),
                    (b'x', is_alternate) => format!("{}{number:x}", if is_alternate { "0x" } else { "" }),
                    (b'X', is_alternate) => format!("{}{number:X}", if is_alternate { "0X" } else { "" }),
                    (_, is_alternate) => format!("{}{number:o}", if is_alternate { "0" } else { "" }),
                };
                (None, found.digits(digits), true)
            }
            b'c' => (None, vec![argument.to_le_bytes()[0]], false),
            b's' => {
                let mut bytes = string(argument, found.precision)?;
                bytes.truncate(found.precision.unwrap_or(usize::MAX));
                (None, bytes, false)
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
                let number = f64::from_bits(argument);
                let sign = if number.is_sign_negative() { Some('-') } else { found.sign };
                let digits = found.float(number.abs(), conversion)?;
                (sign, digits.into_bytes(), number.is_finite())
            }
            _ => return None,
        };
        let begin = text.len();
        found.pad(
            sign,
            &digits,
            is_number && !(found.precision.is_some() && b"diuxXo".contains(&conversion)),
            &mut text,
        );
        if conversion == b's' {
            let at = if found.is_left { begin } else { text.len() - digits.len() };
            parts.push(PrintedString { at, address: argument, length: digits.len(), is_first });
        }
        is_first = false;
    }
    (text.len() <= MAX_LENGTH && !parser.is_lost).then_some((text, parts))
}

fn low(argument: u64) -> i32 {
    let bytes = argument.to_le_bytes();
    i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

impl FormatConversion {
    fn digits(self, digits: String) -> Vec<u8> {
        let mut bytes = digits.into_bytes();
        if let Some(precision) = self.precision {
            if precision == 0 && bytes == b"0" {
                return Vec::new();
            }
            while bytes.len() < precision {
                bytes.insert(0, b'0');
            }
        }
        bytes
    }

    fn float(self, number: f64, conversion: u8) -> Option<String> {
        let is_upper = conversion.is_ascii_uppercase();
        if !number.is_finite() {
            let text = if number.is_nan() { "nan" } else { "inf" };
            return Some(if is_upper { text.to_uppercase() } else { text.to_owned() });
        }
        let precision = self.precision.unwrap_or(6);
        if precision > 200 {
            return None;
        }
        let text = match conversion.to_ascii_lowercase() {
            b'f' => format!("{number:.precision$}"),
            b'e' => exponential(number, precision)?,
            _ => {
                let precision = precision.max(1);
                let exponential = exponential(number, precision - 1)?;
                let exponent: i32 = exponential.split_once('e')?.1.parse().ok()?;
                let is_short = exponent < -4 || exponent >= i32::try_from(precision).ok()?;
                let text = if is_short {
                    exponential
                } else {
                    let n_behind = usize::try_from(i32::try_from(precision).ok()? - 1 - exponent).ok()?;
                    format!("{number:.n_behind$}")
                };
                if self.is_alternate { text } else { without_zeros(&text) }
            }
        };
        let text = if self.is_alternate && !text.contains('.') {
            let end = text.find('e').unwrap_or(text.len());
            format!("{}.{}", &text[..end], &text[end..])
        } else {
            text
        };
        Some(if is_upper { text.to_uppercase() } else { text })
    }

    fn pad(self, sign: Option<char>, digits: &[u8], is_zero: bool, text: &mut Vec<u8>) {
        let n = digits.len() + usize::from(sign.is_some());
        let n_missing = self.width.saturating_sub(n).min(MAX_LENGTH);
        let sign = sign.map(|sign| u8::try_from(sign).unwrap_or(b'?'));
        if self.is_left {
            text.extend(sign);
            text.extend(digits);
            text.extend(std::iter::repeat_n(b' ', n_missing));
        } else if self.is_zero && is_zero {
            text.extend(sign);
            text.extend(std::iter::repeat_n(b'0', n_missing));
            text.extend(digits);
        } else {
            text.extend(std::iter::repeat_n(b' ', n_missing));
            text.extend(sign);
            text.extend(digits);
        }
    }
}

/// As `%e` has it: the exponent has a sign and at least two digits.
fn exponential(number: f64, precision: usize) -> Option<String> {
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let sign = if exponent < 0 { '-' } else { '+' };
    Some(format!("{mantissa}e{sign}{:02}", exponent.abs()))
}

fn without_zeros(text: &str) -> String {
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, format!("e{exponent}")),
        None => (text, String::new()),
    };
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{mantissa}{exponent}")
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;

    fn printed(format: &str, arguments: &[u64]) -> String {
        let string = |address: u64, limit: Option<usize>| {
            let text = if address == 1000 { "hello" } else { "" };
            Some(text.as_bytes()[..text.len().min(limit.unwrap_or(99))].to_vec())
        };
        String::from_utf8(print(format.as_bytes(), arguments, &string).unwrap().0).unwrap()
    }

    #[test]
    fn numbers_and_strings_are_as_the_c_library_prints_them() {
        // What `printf` of a shell prints, which hands the format on.
        let numbers = [0_i64, 1, -1, 42, 123_456_789, -9_876_543];
        let formats =
            ["%ld", "%5ld", "%-8ld|", "%08ld", "%+ld", "% ld", "%.3ld", "%8.3ld", "%lx", "%#lx", "%lo", "%lu", "%lX"];
        for format in formats {
            for number in numbers {
                let said = process::Command::new("/usr/bin/printf")
                    .arg(format.replace('l', ""))
                    .arg(number.to_string())
                    .output()
                    .unwrap();
                assert_eq!(
                    printed(format, &[number.cast_unsigned()]),
                    String::from_utf8(said.stdout).unwrap(),
                    "{format} {number}"
                );
            }
        }
        assert_eq!(
            printed("%s and %-7s|%.2s|%7.3s %c%%", &[1000, 1000, 1000, 1000, 65]),
            "hello and hello  |he|    hel A%"
        );
        assert_eq!(printed("%d %hhd %hd %u", &[u64::MAX, 0x1ff, 0x1_8000, u64::MAX]), "-1 -1 -32768 4294967295");
        assert_eq!(printed("%*d|%-*d|%.*f", &[5, 42, 5, 42, 2, 1.5_f64.to_bits()]), "   42|42   |1.50");
    }

    #[test]
    fn floating_point_numbers_are_as_the_c_library_prints_them() {
        let numbers =
            [0.0, 1.0, -1.5, 3.0, 0.1, 100_000.0, 1_000_000.0, 1e-5, 123.456, 2.5e30, -0.000_012_34, 1.0 / 3.0];
        for format in
            ["%g", "%.10g", "%e", "%.2e", "%f", "%.3f", "%10.2f", "%-12g|", "%012.3f", "%+g", "%.15g", "%#g", "%G"]
        {
            for number in numbers {
                let said = process::Command::new("awk")
                    .arg(format!("BEGIN {{ printf \"{format}\", {number:?} }}"))
                    .output()
                    .unwrap();
                let said = String::from_utf8(said.stdout).unwrap();
                assert_eq!(printed(format, &[f64::to_bits(number)]), said, "{format} {number}");
            }
        }
    }
}
