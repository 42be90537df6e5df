//! The files of a recorded version.

use idd_base::TreeId;
use idd_trace::input::InputSource;
use idd_world::record::store::Recording;
use idd_world::repo::{Location, Repository, graph, private, source};
use std::collections::HashMap;

/// The lines of the recorded sources.
pub struct RecordedSources {
    repository: Option<Repository>,
    tree: Option<TreeId>,
    /// By their names: path and lines.
    files: HashMap<String, Option<(String, Vec<String>)>>,
}

impl RecordedSources {
    /// Those of the recorded tree. If the tree no longer exists, those of its revision.
    pub fn new(location: &Location, recording: &Recording) -> Self {
        let private = || {
            let repository = private::open(&private::private_directory(&location.idd_directory())).ok()?;
            let tree = recording.tree.as_ref()?.parse().ok()?;
            graph::has_tree(&repository, tree).then_some((repository, tree))
        };
        let of_revision = || {
            let repository = private::open(&location.git_directory).ok()?;
            let commit = graph::resolve(&repository, &recording.commit).ok()?;
            let tree = graph::tree_of(&repository, commit).ok()?;
            Some((repository, tree))
        };
        let (repository, tree) = private().or_else(of_revision).unzip();
        Self { repository, tree, files: HashMap::new() }
    }

    /// A line, from 1, without the space around it; `None` if the file is not in the tree.
    pub fn line(&mut self, file: &str, line: u32) -> Option<String> {
        self.indented(file, line).map(|line| line.trim_start().to_owned())
    }

    /// A line, from 1, with the space before it; `None` if the file is not in the tree.
    pub fn indented(&mut self, file: &str, line: u32) -> Option<String> {
        self.known(file)?.1.get((line as usize).checked_sub(1)?).cloned()
    }

    /// The path of a file; `None` if it is not in the tree.
    pub fn path(&mut self, file: &str) -> Option<&str> {
        self.known(file).map(|(path, _)| &**path)
    }

    fn known(&mut self, file: &str) -> Option<&(String, Vec<String>)> {
        if !self.files.contains_key(file) {
            let lines = |content: Vec<u8>| {
                String::from_utf8_lossy(&content).lines().map(|line| line.trim_end().to_owned()).collect()
            };
            let found = self.find(file).map(|(path, content)| (path, lines(content)));
            self.files.insert(file.to_owned(), found);
        }
        self.files.get(file)?.as_ref()
    }

    /// A file, by the name that a program or a compiler was given; `None` if it is not in the tree.
    pub fn content(&self, file: &str) -> Option<Vec<u8>> {
        self.find(file).map(|(_, content)| content)
    }

    /// The path and the content of a file, by the name that a program or a compiler was given; `None` if it is not in
    /// the tree.
    pub fn find(&self, file: &str) -> Option<(String, Vec<u8>)> {
        source::find_in(self.repository.as_ref()?, self.tree?, file)
    }

    /// The content of an input that is a file; `None` if it is not in the tree.
    pub fn input(&self, source: &InputSource) -> Option<Vec<u8>> {
        match source {
            InputSource::File(file) => self.content(file),
            _ => None,
        }
    }
}
