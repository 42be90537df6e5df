//! Words that are probably meant by mistyped ones.

use strsim::osa_distance;

/// Whether a word is a slip of the keyboard away from a name: the same letters in another order, or one letter missing,
/// added or wrong.
pub fn is_slip(word: &[u8], name: &[u8]) -> bool {
    let distance = || osa_distance(&String::from_utf8_lossy(word), &String::from_utf8_lossy(name));
    letters(name) == letters(word) || name.len() > 3 && distance() <= 1
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

/// The candidate that is nearest to `word`, if at most two letters are missing, added, wrong or swapped, and fewer than
/// half of them; the first one of several. Case does not count.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let is_near = |(distance, name): &(usize, &str)| *distance <= 2 && distance * 2 < name.chars().count();
    let word = word.to_lowercase();
    let with_distance = candidates.into_iter().map(|name| (osa_distance(&word, &name.to_lowercase()), name));
    with_distance.filter(is_near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
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

    #[test]
    fn only_what_is_similar_is_near() {
        let names = ["idd.timeout", "idd.jobs", "idd.good"];
        assert_eq!(nearest("idd.timout", names), Some("idd.timeout"));
        assert_eq!(nearest("IDD.JOB", names), Some("idd.jobs"));
        assert_eq!(nearest("idd.speed", names), None);
        assert_eq!(nearest("ab", ["cd"]), None);
    }
}
