//! Addresses of commits and lines on the web site of a known forge.
//!
//! Nothing is asked there: a commit that was not pushed has an address without a page.

use std::fmt::Write as _;

use crate::Untrusted;
use idd_base::CommitId;

/// A repository on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forge {
    /// The page of the repository, without a slash at its end.
    base: String,
    paths: &'static ForgePaths,
}

/// Where a forge has its pages, below that of a repository.
#[derive(Debug, PartialEq, Eq)]
struct ForgePaths {
    /// In front of the id of a commit.
    commit: &'static str,
    /// In front of the id of the commit of a file.
    file: &'static str,
    /// In front of the number of a line.
    line: &'static str,
}

const GITHUB: ForgePaths = ForgePaths { commit: "commit", file: "blob", line: "#L" };
const GITLAB: ForgePaths = ForgePaths { commit: "-/commit", file: "-/blob", line: "#L" };
const GITEA: ForgePaths = ForgePaths { commit: "commit", file: "src/commit", line: "#L" };
const BITBUCKET: ForgePaths = ForgePaths { commit: "commits", file: "src", line: "#lines-" };

impl Forge {
    /// The forge of a remote by the name of its host; `None` if it is not known.
    ///
    /// - `address`: an absolute URI without user name and query. The web site is below `https`, whatever its scheme.
    pub fn of(address: &str) -> Option<Self> {
        let (_, rest) = address.split_once("://")?;
        let (host, path) = rest.split_once('/')?;
        // A port of ssh is not one of the web site.
        let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let paths = match host.as_str() {
            "github.com" => &GITHUB,
            "gitlab.com" => &GITLAB,
            "codeberg.org" | "gitea.com" => &GITEA,
            "bitbucket.org" => &BITBUCKET,
            _ if host.starts_with("gitlab.") => &GITLAB,
            _ => return None,
        };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_project = path.contains('/') && !path.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        is_project.then(|| Self { base: format!("https://{host}/{}", encoded(path.as_bytes())), paths })
    }

    /// The address of a commit.
    pub fn commit(&self, commit: CommitId) -> String {
        format!("{}/{}/{commit}", self.base, self.paths.commit)
    }

    /// The address of a file in a commit, or of a line of it.
    pub fn file(&self, commit: CommitId, path: &Untrusted, line: Option<u64>) -> String {
        let line = line.map(|line| format!("{}{line}", self.paths.line)).unwrap_or_default();
        format!("{}/{}/{commit}/{}{line}", self.base, self.paths.file, encoded(path.as_bytes()))
    }
}

/// The path of an address: bytes that have a meaning there, or in Markdown, are written by their numbers.
pub(crate) fn encoded(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(byte) {
            text.push(char::from(*byte));
        } else {
            write!(text, "%{byte:02X}").expect("a string takes all");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_forge_has_pages_of_commits_and_lines() {
        let commit = CommitId::sha1([0xab; 20]);
        let id = "ab".repeat(20);
        for (address, of_commit, of_line) in [
            (
                "https://github.com/o/r.git",
                "https://github.com/o/r/commit/",
                "https://github.com/o/r/blob/{}/a%20b.c#L7",
            ),
            (
                "ssh://gitlab.com/g/s/r",
                "https://gitlab.com/g/s/r/-/commit/",
                "https://gitlab.com/g/s/r/-/blob/{}/a%20b.c#L7",
            ),
            (
                "ssh://gitlab.x.org:22/g/r",
                "https://gitlab.x.org/g/r/-/commit/",
                "https://gitlab.x.org/g/r/-/blob/{}/a%20b.c#L7",
            ),
            (
                "https://codeberg.org/o/r/",
                "https://codeberg.org/o/r/commit/",
                "https://codeberg.org/o/r/src/commit/{}/a%20b.c#L7",
            ),
            (
                "https://bitbucket.org/o/r",
                "https://bitbucket.org/o/r/commits/",
                "https://bitbucket.org/o/r/src/{}/a%20b.c#lines-7",
            ),
        ] {
            let forge = Forge::of(address).unwrap();
            assert_eq!(forge.commit(commit), format!("{of_commit}{id}"));
            assert_eq!(forge.file(commit, &"a b.c".into(), Some(7)), of_line.replace("{}", &id));
        }
    }

    #[test]
    fn other_hosts_and_paths_that_are_no_project_have_none() {
        for address in ["https://example.org/o/r", "https://github.com/o", "https://github.com/../r", "/srv/r.git", ""]
        {
            assert_eq!(Forge::of(address), None, "{address}");
        }
    }

    #[test]
    fn no_byte_of_a_path_ends_the_address() {
        let forge = Forge::of("https://github.com/o/r").unwrap();
        let address = forge.file(CommitId::sha1([1; 20]), &b"a)](b\n\xff?#\"<.c"[..].into(), None);
        assert!(address.ends_with("/a%29%5D%28b%0A%FF%3F%23%22%3C.c"), "{address}");
    }
}
