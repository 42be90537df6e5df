//! Lines of one failure that differ in some of their words.

/// Stands for any words in the pattern of a line.
const ANY: &str = "<any>";

/// With fewer words in common, two lines have nothing to do with each other.
const MIN_COMMON: usize = 2;

/// The pattern of two normalised lines: the words that they have in common, in their order. `None` if these are fewer than
/// two, or less than half of the words of a line. Of an exception with a value alone (`KeyError: 'x'`), its kind is enough.
///
/// - `pattern`: a line, or the pattern of some.
pub fn common(pattern: &str, line: &str) -> Option<String> {
    let [one, other] = [pattern, line].map(|line| line.split(' ').collect::<Vec<_>>());
    if let ([kind, _], [other, _]) = (&one[..], &other[..])
        && kind == other
        && (kind.ends_with("Error:") || kind.ends_with("Exception:"))
    {
        return Some(format!("{kind} {ANY}"));
    }
    // The longest common part of what follows, for each pair of positions.
    let mut longest = vec![vec![0; other.len() + 1]; one.len() + 1];
    for (i, word) in one.iter().enumerate().rev() {
        for (j, other) in other.iter().enumerate().rev() {
            let is_same = word == other && *word != ANY;
            longest[i][j] = if is_same { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let n_words = |words: &[&str]| words.iter().filter(|word| **word != ANY).count();
    if longest[0][0] < MIN_COMMON.max(n_words(&one).max(n_words(&other)).div_ceil(2)) {
        return None;
    }
    let (mut words, mut i, mut j) = (Vec::new(), 0, 0);
    while i < one.len() || j < other.len() {
        if i < one.len() && j < other.len() && one[i] == other[j] && one[i] != ANY {
            words.push(one[i]);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        if words.last() != Some(&ANY) {
            words.push(ANY);
        }
        let skips = i < one.len() && (j == other.len() || longest[i + 1][j] >= longest[i][j + 1]);
        (i, j) = if skips { (i + 1, j) } else { (i, j + 1) };
    }
    Some(words.join(" "))
}

/// Whether a normalised line is this one, or has its pattern.
pub fn matches(line: &str, pattern: &str) -> bool {
    fn match_words(words: &[String], pattern: &[String]) -> bool {
        match pattern {
            [] => words.is_empty(),
            [any, rest @ ..] if any == ANY => (0..=words.len()).any(|n| match_words(&words[n..], rest)),
            [word, rest @ ..] => words.first() == Some(word) && match_words(&words[1..], rest),
        }
    }
    let words = |text: &'_ str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    line == pattern || (pattern.contains(ANY) && match_words(&words(line), &words(pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_that_share_half_of_their_words_have_a_pattern() {
        let pattern = common("release Zebra: total is N", "release Black Cat: total is N").unwrap();
        assert_eq!(pattern, "release <any> total is N");
        assert_eq!(common(&pattern, "release Ox: sum is N").as_deref(), Some("release <any> is N"));
        assert_eq!(common("error: omega wrong", "error: delta absent"), None);
        assert_eq!(common("FAIL one", "FAIL two"), None);
        assert_eq!(common("KeyError: 'a'", "KeyError: 'b'").as_deref(), Some("KeyError: <any>"));
        assert_eq!(common("AssertionError: sum wrong", "AssertionError: no file"), None);
    }

    #[test]
    fn a_pattern_stands_for_any_words() {
        assert!(matches("release Black Cat: total is N", "release <any> total is N"));
        assert!(matches("release total is N", "release <any> total is N"));
        assert!(!matches("release Zebra: sum is N", "release <any> total is N"));
        assert!(matches("a <any>", "a <any>") && !matches("a", "b"));
    }

    proptest! {
        #[test]
        fn a_pattern_matches_the_lines_that_it_is_made_of(one in "[a-c]( [a-c]){0,9}", other in "[a-c]( [a-c]){0,9}") {
            if let Some(pattern) = common(&one, &other) {
                prop_assert!(matches(&one, &pattern) && matches(&other, &pattern), "{pattern}");
            }
        }
    }
}
