//! Reads the tokens of an expression of C, one after the other, from what is left of it.

/// Takes a token and the space after it; returns whether it was there.
///
/// - `rest`: begins with no space, before and after.
pub fn eat(rest: &mut &str, token: &str) -> bool {
    let after = rest.strip_prefix(token);
    if let Some(after) = after {
        *rest = after.trim_start();
    }
    after.is_some()
}

/// Takes a name or a number and the space after it; `None` if there is neither.
///
/// - `rest`: as of [`eat`].
pub fn word<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after.trim_start();
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_taken_one_after_the_other() {
        let mut rest = "p -> size_2[ 13 ]";
        assert_eq!(word(&mut rest), Some("p"));
        assert!(!eat(&mut rest, ".") && eat(&mut rest, "->"));
        assert_eq!((word(&mut rest), word(&mut rest)), (Some("size_2"), None));
        assert!(eat(&mut rest, "["));
        assert_eq!((word(&mut rest), rest), (Some("13"), "]"));
    }
}
