//! `.gitignore` of one tree: which untracked files are build products that are kept.
//!
//! Only files of the tree count, not those that the test wrote, nor the rules of the user or of the repository.

use crate::repo::pattern::Pattern;

/// One `.gitignore`, parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IgnoreFile {
    patterns: Vec<Pattern>,
}

impl IgnoreFile {
    /// Reads a file.
    pub fn parse(content: &[u8]) -> Self {
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let lines = content.split(|byte| *byte == b'\n');
        let patterns = lines
            .filter(|line| !line.starts_with(b"#"))
            .map(|line| trim_end(line.strip_suffix(b"\r").unwrap_or(line)))
            .filter(|line| !line.is_empty())
            .filter_map(Pattern::parse)
            .collect();
        Self { patterns }
    }

    /// `Some(true)` if the last matching line ignores, `Some(false)` if it is negated, `None` if no line matches.
    fn verdict(&self, path: &[u8], is_directory: bool) -> Option<bool> {
        let is_match = |pattern: &&Pattern| (is_directory || !pattern.is_directory_only) && pattern.matches(path);
        self.patterns.iter().rev().find(is_match).map(|pattern| !pattern.is_negated)
    }
}

/// Removes blanks at the end, except one after a backslash.
fn trim_end(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b' ' => {}
            b'\\' if at + 1 == line.len() => return line,
            b'\\' => {
                at += 1;
                end = at + 1;
            }
            _ => end = at + 1,
        }
        at += 1;
    }
    &line[..end]
}

/// The ignore files from the root down to one directory.
#[derive(Debug, Clone, Default)]
pub struct IgnoreStack {
    levels: Vec<(usize, IgnoreFile)>,
}

impl IgnoreStack {
    /// Enters a directory; the root comes first. `directory_bytes`: the length of its path with a slash at the end, 0
    /// at the root.
    pub fn push(&mut self, directory_bytes: usize, file: IgnoreFile) {
        self.levels.push((directory_bytes, file));
    }

    /// Leaves the directory.
    pub fn pop(&mut self) {
        self.levels.pop();
    }

    /// Whether a rule matches `path` (from the root) itself. The caller must know whether a directory above it is
    /// ignored.
    pub fn is_ignored(&self, path: &[u8], is_directory: bool) -> bool {
        let verdict =
            |(directory_bytes, file): &(usize, IgnoreFile)| file.verdict(&path[*directory_bytes..], is_directory);
        self.levels.iter().rev().find_map(verdict).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::repo::testing::Sandbox;

    /// Whether a path, or a directory above it, is ignored: a small version of the caller.
    fn is_ignored(root: &[u8], nested: &[u8], path: &str) -> bool {
        let mut stack = IgnoreStack::default();
        stack.push(0, IgnoreFile::parse(root));
        for (at, _) in path.match_indices('/') {
            if stack.is_ignored(&path.as_bytes()[..at], true) {
                return true;
            }
            if &path[..at] == "d" {
                stack.push(2, IgnoreFile::parse(nested));
            }
        }
        stack.is_ignored(path.as_bytes(), false)
    }

    #[track_caller]
    fn check_like_git(root: &str, nested: &str, paths: &[&str]) {
        let sandbox = Sandbox::new();
        sandbox.write(".gitignore", root.as_bytes());
        sandbox.write("d/.gitignore", nested.as_bytes());
        let input = paths.join("\0") + "\0";
        let output =
            sandbox.git_with_input(&["check-ignore", "-z", "-n", "-v", "--no-index", "--stdin"], input.as_bytes());
        let fields: Vec<_> = output.split('\0').collect();
        assert_eq!(fields.len() / 4, paths.len());
        for (row, path) in fields.chunks_exact(4).zip(paths) {
            let of_git = !row[2].is_empty() && !row[2].starts_with('!');
            assert_eq!(is_ignored(root.as_bytes(), nested.as_bytes(), path), of_git, "{path}: {root:?} {nested:?}");
        }
    }

    #[test]
    fn rules_are_those_of_git_check_ignore() {
        let root = "*.o\n!keep.o\n/out/\nspace\\ \nblank  \n\\#x\n\\!y\n#no\nbuild\r\n/d/*.a\ndeep/**/x\n{p,q}\n";
        let nested = "!z.o\n*.log\n/anchored\nsub/\n";
        let paths = [
            "a.o",
            "keep.o",
            "out/x",
            "space ",
            "space",
            "blank",
            "#x",
            "!y",
            "#no",
            "build",
            "build/x",
            "d/x.a",
            "d/e/x.a",
            "deep/x",
            "deep/a/b/x",
            "p",
            "{p,q}",
            "d/z.o",
            "d/y.o",
            "d/x.log",
            "d/anchored",
            "d/e/anchored",
            "d/sub/x",
            "x.log",
        ];
        check_like_git(root, nested, &paths);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn random_ignore_files_mean_what_git_says(
            root in prop::collection::vec("!?[ab*?/\\[\\]\\-\\\\ .]{1,6}", 1..5),
            nested in prop::collection::vec("!?[ab*?/\\[\\]\\-\\\\ .]{1,6}", 1..3),
        ) {
            // Git's own matcher is wrong for `x**/y`: it forgets the part before the stars.
            prop_assume!(root.iter().chain(&nested).all(|pattern| !pattern.contains("**")));
            let paths = ["a", "b", "ab", "a/b", "d/a", "d/a/b", "d/ab/b", "[", "-", "d/]", "b/a/b", "a b"];
            check_like_git(&(root.join("\n") + "\n"), &nested.join("\n"), &paths);
        }
    }
}
