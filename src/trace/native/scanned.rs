//! What `scanf` and its like write: of each conversion of a format the bytes that its pointer gets.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScannedConversion {
    /// The number of characters that were read so far (`%n`): so many bytes. It is not counted in what the call returns.
    Position(u64),
    /// So many bytes.
    Bytes(u64),
    /// A text: at most so many bytes with its zero, if a width is given.
    Text(Option<u64>),
}

/// What each conversion writes, in the order of the pointers. Conversions that write nothing (`%*d`, `%%`) are left out.
pub fn conversions(format: &[u8]) -> Vec<ScannedConversion> {
    use ScannedConversion::{Bytes, Position, Text};
    let mut conversions = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let is_dropped = rest.next_if_eq(&b'*').is_some();
        let mut width: Option<u64> = None;
        while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
            width = Some(width.unwrap_or(0).saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        }
        let mut size = 4;
        // `%as` and `%ms` make a block; its address is written.
        let is_block = rest.next_if_eq(&b'm').is_some();
        while let Some(letter) = rest.next_if(|letter| b"hlzjtqL".contains(letter)) {
            size = match (letter, size) {
                (b'h', 4) => 2,
                (b'h', _) => 1,
                (b'L', _) => 16,
                _ => 8,
            };
        }
        let Some(conversion) = rest.next() else { break };
        if conversion == b'[' {
            rest.next_if_eq(&b'^');
            rest.next_if_eq(&b']');
            rest.by_ref().find(|letter| *letter == b']');
        }
        let written = match conversion {
            b'%' => continue,
            b'n' => Position(size),
            b's' | b'[' if !is_block => Text(width.map(|width| width.saturating_add(1))),
            b'c' if !is_block => Bytes(width.unwrap_or(1)),
            _ => Bytes(if is_block || conversion == b'p' { 8 } else { size }),
        };
        if !is_dropped {
            conversions.push(written);
        }
    }
    conversions
}

/// The conversions of a format of which a call that has returned `n` wrote the result: the first `n`, and `%n` before the next one.
pub fn assigned(format: &[u8], n: u64) -> Vec<ScannedConversion> {
    let mut n_left = n;
    let is_assigned = |conversion: &ScannedConversion| {
        let is_counted = !matches!(conversion, ScannedConversion::Position(_));
        let is_reached = !is_counted || n_left > 0;
        n_left -= u64::from(is_counted && is_reached);
        is_reached
    };
    conversions(format).into_iter().take_while(is_assigned).collect()
}

/// The number of bytes that a format reads from a text: up to the first one that does not match.
///
/// Deviation from the C library: of a number the longest run of its characters counts, so that all of `1e+` is read.
pub fn consumed(format: &[u8], text: &[u8]) -> usize {
    let (mut format, mut at) = (format.iter().copied().peekable(), 0);
    let skip = |at: &mut usize, is_part: &dyn Fn(u8) -> bool, width: usize| {
        let n = text[*at..].iter().take(width).take_while(|byte| is_part(**byte)).count();
        *at += n;
        n
    };
    while let Some(byte) = format.next() {
        if byte.is_ascii_whitespace() {
            skip(&mut at, &|byte| byte.is_ascii_whitespace(), usize::MAX);
            continue;
        }
        if byte != b'%' || format.next_if_eq(&b'%').is_some() {
            if text.get(at) != Some(&byte) {
                break;
            }
            at += 1;
            continue;
        }
        let mut width = None;
        while let Some(letter) = format.next_if(|letter| letter.is_ascii_digit() || b"*mhlzjtqL".contains(letter)) {
            if letter.is_ascii_digit() {
                width = Some(width.unwrap_or(0_usize).saturating_mul(10).saturating_add(usize::from(letter - b'0')));
            }
        }
        let Some(conversion) = format.next() else { break };
        if !matches!(conversion, b'c' | b'[' | b'n') {
            skip(&mut at, &|byte| byte.is_ascii_whitespace(), usize::MAX);
        }
        let is_whole = match conversion {
            b'n' => continue,
            b'c' => skip(&mut at, &|_| true, width.unwrap_or(1)) == width.unwrap_or(1),
            b'[' => {
                let is_negated = format.next_if_eq(&b'^').is_some();
                let mut set: Vec<u8> = format.next_if_eq(&b']').into_iter().collect();
                set.extend(format.by_ref().take_while(|letter| *letter != b']'));
                let is_in = |byte: u8| {
                    set.contains(&byte)
                        || set.windows(3).any(|range| range[1] == b'-' && (range[0]..=range[2]).contains(&byte))
                };
                skip(&mut at, &|byte| is_in(byte) != is_negated, width.unwrap_or(usize::MAX)) > 0
            }
            b's' => skip(&mut at, &|byte| !byte.is_ascii_whitespace(), width.unwrap_or(usize::MAX)) > 0,
            _ => {
                let is_digit = |byte: u8| match conversion {
                    b'd' | b'u' => byte.is_ascii_digit(),
                    b'o' => (b'0'..=b'7').contains(&byte),
                    b'i' | b'x' | b'X' | b'p' => byte.is_ascii_hexdigit() || byte == b'x',
                    _ => byte.is_ascii_digit() || b".+-eExXpPinfatyINFAN".contains(&byte),
                };
                let sign = skip(&mut at, &|byte| matches!(byte, b'+' | b'-'), 1);
                skip(&mut at, &is_digit, width.unwrap_or(usize::MAX).saturating_sub(sign)) > 0
            }
        };
        if !is_whole {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_reads_up_to_what_does_not_match() {
        for (format, text, expected) in [
            ("%d", "23\n4", 2),
            (" %d %d", "\n 1  -2 x", 7),
            ("%d,%d", "1;2", 1),
            ("%3d%d", "12345", 5),
            ("%s", "  word next", 6),
            ("%c%c", " ab", 2),
            ("%[a-c]%n]", "abca]d", 5),
            ("%*[^\n]\n", "line\nnext", 5),
            ("%lf %x", "1.5e3 0xff;", 10),
            ("100%% %ld", "100% 7", 6),
            ("%d", "", 0),
            ("%", "a", 0),
        ] {
            assert_eq!(consumed(format.as_bytes(), text.as_bytes()), expected, "{format:?} of {text:?}");
        }
    }

    #[test]
    fn each_conversion_writes_what_its_pointer_is_to() {
        use ScannedConversion::{Bytes, Position, Text};
        assert_eq!(conversions(b"%d %ld%hhu,%hx %lf %Lf %p"), [4, 8, 1, 2, 8, 16, 8].map(Bytes));
        let expected = [Text(Some(16)), Text(None), Bytes(1), Bytes(3), Text(None), Bytes(8), Position(4)];
        assert_eq!(conversions(b"%15[a-z] %*s %s %c %3c %[^]x] %ms 100%% %n"), expected);
        assert!(conversions(b"%").is_empty());
    }
}
