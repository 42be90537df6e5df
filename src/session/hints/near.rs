//! Words that are probably meant by mistyped ones.

/// Whether a word is a slip of the keyboard away from a name: the same letters in another order, or one letter missing,
/// added or wrong.
pub fn is_slip(word: &[u8], name: &[u8]) -> bool {
    letters(name) == letters(word) || name.len() > 3 && is_one_letter_off(word, name)
}

/// Whether a file name is probably meant by another one: a slip, another case, or the same without its extension.
pub fn is_near_file(word: &[u8], name: &[u8]) -> bool {
    let stem = |name: &'_ [u8]| name.iter().rposition(|byte| *byte == b'.').map_or(name.len(), |at| at);
    word != name
        && (is_slip(word, name)
            || word.eq_ignore_ascii_case(name)
            || !word.is_empty() && word[..stem(word)] == name[..stem(name)] && stem(word) > 0)
}

fn letters(word: &[u8]) -> Vec<u8> {
    let mut letters = word.to_vec();
    letters.sort_unstable();
    letters
}

fn is_one_letter_off(left: &[u8], right: &[u8]) -> bool {
    let n_begin = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[n_begin..], &right[n_begin..]);
    let n_end = left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    left.len().max(right.len()) - n_end <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_near_by_a_slip_its_case_or_its_stem() {
        for (word, name) in [
            ("tset.sh", "test.sh"),
            ("tests.sh", "test.sh"),
            ("Test.sh", "test.sh"),
            ("test", "test.sh"),
            ("t.py", "t.sh"),
        ] {
            assert!(is_near_file(word.as_bytes(), name.as_bytes()), "{word} {name}");
        }
        for (word, name) in
            [("test.sh", "test.sh"), ("run.sh", "test.sh"), ("a", "b"), (".x", ".y"), ("test.sh", "testing.sh")]
        {
            assert!(!is_near_file(word.as_bytes(), name.as_bytes()), "{word} {name}");
        }
    }
}
