//! The tests in the `JUnit` files that a test command writes into its checkout.

use crate::repo::files;
use crate::run::runners::junit;
use rustix::fs::FileType;
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

/// Bounds of one search. They are far above what runners write.
#[derive(Debug, Clone, Copy)]
struct SearchLimits {
    /// Levels of directories: `services/a/app/build/test-results/test/x.xml` has six.
    depth: usize,
    /// Names that are looked at: half a second.
    n_entries: usize,
    /// The size of all files together.
    n_bytes: usize,
    /// The size of the result, which is stored with each failing run: some 4,000 names.
    n_result_bytes: usize,
}

const LIMITS: SearchLimits =
    SearchLimits { depth: 12, n_entries: 300_000, n_bytes: 64 << 20, n_result_bytes: 256 << 10 };

/// Directories without reports, but with many files.
const PASSED_OVER: [&[u8]; 2] = [b".git", b"node_modules"];

/// A search for the files of one run.
pub struct ReportFiles<'r> {
    since_ns: i128,
    is_known: &'r dyn Fn(&[u8]) -> bool,
    left: SearchLimits,
    lines: Vec<String>,
}

impl<'r> ReportFiles<'r> {
    /// A search.
    ///
    /// - `since_ns`: when the run began, by the clock of the file system.
    /// - `is_known`: whether a content is that of a file of the repository. A copy of it is no report.
    pub fn new(since_ns: i128, is_known: &'r dyn Fn(&[u8]) -> bool) -> Self {
        Self { since_ns, is_known, left: LIMITS, lines: Vec::new() }
    }

    /// The tests in the files below directories, as [`RunnerReport`](super::runners::RunnerReport) reads them: the failing
    /// ones in the order of paths and cases, and then those that passed. Empty if there is no such file.
    ///
    /// Files of another mount, links, and files that cannot be read are left out.
    pub fn read(mut self, directories: &[&Path]) -> String {
        for directory in directories.iter().filter_map(|directory| File::open(directory).ok()) {
            self.visit(directory.as_fd(), 0);
        }
        let mut text = String::new();
        // Stable: the order stays that of the files.
        self.lines.sort_by_key(|line| !line.starts_with(junit::FAILED));
        for line in &self.lines {
            if text.len() + line.len() < LIMITS.n_result_bytes {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }

    fn visit(&mut self, directory: BorrowedFd<'_>, depth: usize) {
        let Ok(mut entries) = files::list(directory) else { return };
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, file_type) in entries {
            let Some(n_entries) = self.left.n_entries.checked_sub(1) else { return };
            self.left.n_entries = n_entries;
            match file_type {
                FileType::Directory if depth < self.left.depth && !PASSED_OVER.contains(&&name[..]) => {
                    if let Ok(inner) = files::open_as_it_is(directory, &name) {
                        self.visit(inner.as_fd(), depth + 1);
                    }
                }
                FileType::RegularFile if name.ends_with(b".xml") => self.take(directory, &name),
                _ => {}
            }
        }
    }

    fn take(&mut self, directory: BorrowedFd<'_>, name: &[u8]) {
        let Ok(Some(stat)) = files::look(directory, name) else { return };
        // A copy can keep the time of its content.
        if stat.mtime_ns.min(stat.ctime_ns) < self.since_ns || stat.n_bytes > self.left.n_bytes as u64 {
            return;
        }
        let Ok(content) = files::read_at_most(directory, name, self.left.n_bytes) else { return };
        self.left.n_bytes -= content.len();
        if (self.is_known)(&content) {
            return;
        }
        let cases = junit::cases(&String::from_utf8_lossy(&content)).unwrap_or_default();
        self.lines.extend(cases.iter().filter_map(junit::TestCase::lines));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::{Duration, UNIX_EPOCH};

    fn suite(class: &str, failed: &str) -> String {
        let failed: String = failed.split(' ').map(|name| case(class, name, "<failure/>")).collect();
        format!("<testsuite>{}{failed}</testsuite>", case(class, "works", ""))
    }

    fn case(class: &str, name: &str, inner: &str) -> String {
        format!("<testcase classname='{class}' name='{name}'>{inner}</testcase>")
    }

    #[test]
    fn only_files_of_this_run_in_the_checkout_name_tests_and_failing_ones_come_first() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("tree");
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let since = write("b/target/reports/TEST-b.xml", &suite("B", "two 2 one"));
        write("a.xml", &suite("A", "x\ny"));
        write("pom.xml", "<project><testcase name='z'/></project>");
        write("broken.xml", "<testsuite><testcase name='half'>");
        write("a.txt", &suite("Text", "x"));
        write("fixture.xml", &suite("Known", "x"));
        write("node_modules/p/r.xml", &suite("Passed", "x"));
        write("1/2/3/4/5/6/7/8/9/10/11/12/13/r.xml", &suite("Deep", "x"));
        let copied = write("copied.xml", &suite("Earlier", "x"));
        File::open(copied).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(7)).unwrap();
        fs::write(place.path().join("outside.xml"), suite("Outside", "x")).unwrap();
        symlink("../outside.xml", top.join("link.xml")).unwrap();
        symlink("..", top.join("above")).unwrap();

        let directory = File::open(since.parent().unwrap()).unwrap();
        let since_ns = files::look(directory.as_fd(), b"TEST-b.xml").unwrap().unwrap().ctime_ns;
        let is_known = |content: &[u8]| content.windows(5).any(|word| word == b"Known");
        let read = |since_ns| ReportFiles::new(since_ns, &is_known).read(&[&top, &top.join("nothing")]);
        assert_eq!(
            read(since_ns).lines().collect::<Vec<_>>(),
            [
                "JUnit failed: A.x y",
                "JUnit failed: B.two",
                "JUnit failed: B.2",
                "JUnit failed: B.one",
                "JUnit passed: A.works",
                "JUnit passed: B.works",
            ]
        );
        assert_eq!(read(since_ns + 3_600_000_000_000), "");
    }

    #[test]
    fn what_is_stored_has_a_limit_and_keeps_failing_tests() {
        let place = tempfile::tempdir().unwrap();
        let cases: String = (0..20_000).map(|n| case("of.a.long.package", &format!("test_{n}"), "")).collect();
        let text = format!("<testsuite>{cases}{}</testsuite>", case("z", "last", "<error/>"));
        fs::write(place.path().join("r.xml"), text).unwrap();
        let read = ReportFiles::new(0, &|_| false).read(&[place.path()]);
        assert!(read.len() <= LIMITS.n_result_bytes && read.starts_with("JUnit failed: z.last\n"), "{}", read.len());
    }
}
