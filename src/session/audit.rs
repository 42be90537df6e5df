//! A list of the trees that a hunt rejects without a build; for measurements.

use crate::{Context, Failure};
use idd_base::TreeId;
use idd_world::files;
use std::path::PathBuf;

/// The environment variable that names the file of the list.
pub const VARIABLE: &str = "IDD_AUDIT";

/// A file with one line of JSON for each tree: `tree` and `reason`.
#[derive(Debug)]
pub struct Audit(PathBuf);

impl Audit {
    /// Makes the file empty. `None` if [`VARIABLE`] is not set; an error if the file cannot be written.
    pub fn open(context: &Context) -> Result<Option<Self>, Failure> {
        let Some(name) = context.variable(VARIABLE) else { return Ok(None) };
        let path = context.directory.join(&name);
        files::replace(&path, b"").map_err(|error| {
            Failure::usage(format!("failed to write the list `{}`: {error}", name.to_string_lossy()))
                .with_hint(format!("`{VARIABLE}` takes the name of a file that can be written"))
        })?;
        Ok(Some(Self(path)))
    }

    /// Adds a tree, with a word for the reason. An error is ignored: a full disk shows again in the journal.
    pub fn add(&self, tree: TreeId, reason: &str) {
        let line = format!("{{\"tree\":\"{tree}\",\"reason\":\"{reason}\"}}\n");
        let _ = files::append(&self.0, line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embedding;
    use idd_report::Status;
    use std::path::Path;

    fn open(directory: &Path, name: Option<&str>) -> Result<Option<Audit>, Failure> {
        let environment = name.map(|name| (VARIABLE.into(), name.into()));
        let directory = directory.to_owned();
        Audit::open(&Context {
            directory,
            environment: environment.into_iter().collect(),
            configuration: Vec::new(),
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        })
    }

    #[test]
    fn a_list_begins_empty_and_has_a_line_for_each_tree() {
        let directory = tempfile::tempdir().unwrap();
        assert!(open(directory.path(), None).unwrap().is_none());
        let file = directory.path().join("list");
        std::fs::write(&file, "of an earlier hunt").unwrap();
        let audit = open(directory.path(), Some("list")).unwrap().unwrap();
        let tree: TreeId = "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap();
        audit.add(tree, "syntax");
        audit.add(tree, "precheck");
        let expected =
            ["syntax", "precheck"].map(|reason| format!("{{\"tree\":\"{tree}\",\"reason\":\"{reason}\"}}\n")).concat();
        assert_eq!(std::fs::read_to_string(file).unwrap(), expected);
    }

    #[test]
    fn a_list_that_cannot_be_written_is_an_error_of_usage() {
        let directory = tempfile::tempdir().unwrap();
        let failure = open(directory.path(), Some(".")).unwrap_err();
        assert_eq!(failure.status, Status::Usage);
        let message = String::from_utf8_lossy(failure.message.as_bytes());
        assert!(message.starts_with("failed to write the list `.`"), "{message}");
    }
}
