//! Bytes as text, for what is not UTF-8 (RFC 4648, with padding).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes `bytes` in the standard alphabet.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let padded = [chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let [first, second, third] = padded;
        let digits = [first >> 2, (first & 3) << 4 | second >> 4, (second & 15) << 2 | third >> 6, third & 63];
        for (index, digit) in digits.into_iter().enumerate() {
            text.push(if index <= chunk.len() { char::from(ALPHABET[usize::from(digit)]) } else { '=' });
        }
    }
    text
}

/// Reads what [`encode`] wrote; `None` for anything else.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0_u32;
    let mut n_bits = 0;
    for character in text.trim_end_matches('=').bytes() {
        let digit = ALPHABET.iter().position(|known| *known == character)?;
        bits = (bits << 6 | u32::try_from(digit).ok()?) & 0xFFF;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from(bits >> n_bits & 0xFF).ok()?);
        }
    }
    (encode(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_vectors_of_the_standard_come_out() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn text_that_encode_never_writes_is_refused() {
        for text in ["Zg=", "Zh==", "Z", "Zg==Zg==", "Zm 9", "ä"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decode_undoes_encode(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
