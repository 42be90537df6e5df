//! The files of a recorded revision.

use crate::revision::CommitId;
use crate::trace::native::input::Source;
use crate::world::repo::Repository;
use crate::world::repo::graph;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::repo::source;
use std::collections::HashMap;

/// The lines of the recorded sources.
pub struct Sources {
    repository: Option<Repository>,
    commit: Option<CommitId>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// - `commit`: the recorded revision.
    pub fn new(location: &Location, commit: &str) -> Self {
        let repository = private::open(&location.git_directory).ok();
        let commit = repository.as_ref().and_then(|repository| graph::resolve(repository, commit).ok());
        Self { repository, commit, files: HashMap::new() }
    }

    /// A line, from 1, without the space around it; `None` if the file is not in the commit.
    pub fn line(&mut self, file: &str, line: u32) -> Option<String> {
        if !self.files.contains_key(file) {
            let lines = |content: Vec<u8>| {
                String::from_utf8_lossy(&content).lines().map(|line| line.trim().to_owned()).collect()
            };
            let lines = self.content(file).map(lines);
            self.files.insert(file.to_owned(), lines);
        }
        self.files.get(file)?.as_ref()?.get((line as usize).checked_sub(1)?).cloned()
    }

    /// A file, by the name that a program or a compiler was given; `None` if it is not in the commit.
    pub fn content(&self, file: &str) -> Option<Vec<u8>> {
        source::find(self.repository.as_ref()?, self.commit?, file)
    }

    /// The content of an input that is a file; `None` if it is not in the commit.
    pub fn input(&self, source: &Source) -> Option<Vec<u8>> {
        match source {
            Source::File(file) => self.content(file),
            _ => None,
        }
    }
}
