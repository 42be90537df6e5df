//! Which paths look like a part of the tests.

/// Whether a path looks like a part of the tests: below a test directory, or named like a test.
pub(super) fn is_test_path(path: &[u8]) -> bool {
    const DIRECTORIES: [&str; 7] = ["test", "tests", "t", "spec", "specs", "testing", "testdata"];
    let path = String::from_utf8_lossy(path).to_lowercase();
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let is_named = |word: &str| {
        stem == word
            || stem.starts_with(&format!("{word}_"))
            || stem.starts_with(&format!("{word}-"))
            || stem.ends_with(&format!("_{word}"))
            || stem.ends_with(&format!("-{word}"))
    };
    parts.iter().any(|part| DIRECTORIES.contains(part))
        || ["test", "tests", "spec"].into_iter().any(is_named)
        || (stem.ends_with("test") && name.split('.').nth(1) == Some("java"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: bool) {
        assert_eq!(is_test_path(path.as_bytes()), expected, "{path}");
    }

    #[test]
    fn a_path_is_a_test_by_its_directory_or_its_name() {
        check("tests/add.case", true);
        check("t/0001-basic.sh", true);
        check("src/parser_test.c", true);
        check("test.sh", true);
        check("src/main/java/ParserTest.java", true);
        check("src/latest.c", false);
        check("src/contest.c", false);
        check("attest/main.c", false);
    }
}
