//! What `scanf` and its like write: of each conversion of a format the bytes that its pointer gets.

/// Of a text without a given width so many bytes are taken for written: what is behind its end is read by nobody.
const TEXT: u64 = 32;

/// The bytes that each conversion writes, in the order of the pointers; conversions that write nothing (`%*d`, `%%`) are none.
pub fn lengths(format: &[u8]) -> Vec<u64> {
    let mut lengths = Vec::new();
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
        let length = match conversion {
            b'%' => continue,
            _ if is_block => 8,
            b's' | b'[' => width.map_or(TEXT, |width| width.saturating_add(1)),
            b'c' => width.unwrap_or(1),
            b'p' => 8,
            _ => size,
        };
        if !is_dropped {
            lengths.push(length);
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_conversion_writes_what_its_pointer_is_to() {
        assert_eq!(lengths(b"%d %ld%hhu,%hx %lf %Lf %p"), [4, 8, 1, 2, 8, 16, 8]);
        assert_eq!(lengths(b"%15[a-z] %*s %s %c %3c %[^]x] %ms 100%% %n"), [16, TEXT, 1, 3, TEXT, 8, 4]);
        assert!(lengths(b"%").is_empty());
    }
}
