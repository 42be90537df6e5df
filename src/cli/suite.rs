//! The rest of the tests: what they fail, and which command runs them.

use crate::outcome::Observation;
use crate::revision::TreeId;
use crate::world::repo::RepoError;
use crate::world::repo::store::TreeStore;
use crate::world::run::is_telling;
use crate::world::run::normalise;
use std::collections::BTreeSet;

/// At most this many new lines of a suite are reported.
pub const MAX_LINES: usize = 5;

/// The lines by which a suite says what failed, normalised.
pub fn failures(seen: &Observation) -> BTreeSet<String> {
    seen.output.lines().filter(|line| is_telling(line)).map(normalise).collect()
}

/// The command that obviously runs all tests of a tree, by the files at its top; `None` if there is none.
///
/// It is named to the user, and never run unasked.
pub fn obvious(store: &TreeStore, tree: TreeId) -> Result<Option<&'static str>, RepoError> {
    let text = |path: &str| -> Result<String, RepoError> {
        let file = store.file(tree, path.as_bytes())?;
        Ok(match file {
            Some((_, bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            None => String::new(),
        })
    };
    let has_target =
        |makefile: &str, target: &str| makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
    for makefile in ["Makefile", "makefile", "GNUmakefile"] {
        let makefile = text(makefile)?;
        for (target, command) in [("check", "make check"), ("test", "make test")] {
            if has_target(&makefile, target) {
                return Ok(Some(command));
            }
        }
    }
    if !text("Makefile.am")?.is_empty() {
        return Ok(Some("make check"));
    }
    if text("CMakeLists.txt")?.contains("enable_testing") {
        return Ok(Some("ctest"));
    }
    if !text("pom.xml")?.is_empty() {
        return Ok(Some("mvn test"));
    }
    if text("package.json")?.contains("\"test\":") {
        return Ok(Some("npm test"));
    }
    let is_of_pytest = !text("pytest.ini")?.is_empty()
        || !text("tox.ini")?.is_empty()
        || ["pyproject.toml", "setup.cfg"]
            .iter()
            .try_fold(false, |found, path| Ok(found || text(path)?.contains("pytest")))?;
    Ok(is_of_pytest.then_some("pytest"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Ending;
    use crate::outcome::Stage;
    use std::time::Duration;

    #[test]
    fn what_failed_is_told_without_what_differs_between_runs() {
        let seen = Observation {
            stage: Stage::Test,
            ending: Ending::Exit(1),
            duration: Duration::ZERO,
            limit: Duration::ZERO,
            output: "ok\nFAIL: a, line 3\nFAIL: b\n".to_owned(),
            is_clean: true,
            is_tampered: false,
        };
        assert_eq!(failures(&seen).into_iter().collect::<Vec<_>>(), ["FAIL: a, line N", "FAIL: b"]);
    }
}
