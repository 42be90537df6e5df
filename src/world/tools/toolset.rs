//! A set of programs, stored under the digest of its content, so that damage is noticed.

use crate::cache::Key;
use crate::files;
use crate::tools::{Program, ProgramChange};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The maximum size of a set, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The programs that build and test executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolset {
    /// The programs.
    pub programs: BTreeSet<Program>,
    /// Whether executions could not all be seen, so that it contains a list of common tools.
    pub is_guessed: bool,
}

impl Toolset {
    /// Writes the set into `directory`, if it is not there yet, and returns its name.
    pub(super) fn keep(&self, directory: &Path) -> io::Result<String> {
        let bytes = serde_json::to_vec(self)?;
        let id = id(&bytes);
        let path = path(directory, &id);
        // Garbage collection uses the time of the last use.
        if !files::touch(&path) {
            files::replace(&path, &bytes)?;
        }
        Ok(id)
    }

    /// The set of this name; `None` if it is missing or damaged.
    pub(super) fn read(directory: &Path, name: &str) -> Option<Self> {
        // A name that is no digest can be the name of another file.
        let key: Key = name.parse().ok()?;
        let bytes = files::bytes_up_to(&path(directory, &key.to_string()), MAX_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|_| id(&bytes) == name)
    }

    /// The first program that has changed; `None` if there is none.
    pub(super) fn change(&self, environment: &[(OsString, OsString)]) -> Option<ProgramChange> {
        self.programs.iter().find_map(|program| program.change(environment))
    }

    /// The change if `newer` replaces a program of this set: it lacks the program, but has another one of its family that
    /// this set does not have.
    pub(super) fn replaced_in(&self, newer: &Self) -> Option<ProgramChange> {
        let lacks = |set: &Self, program: &Program| !set.programs.iter().any(|other| other.is_file_of(program));
        newer.programs.iter().filter(|program| lacks(self, program)).find_map(|program| {
            let family = program.family();
            let missing = self.programs.iter().find(|older| older.family() == family && lacks(newer, older));
            missing.map(|older| older.replaced_by(program))
        })
    }
}

fn path(directory: &Path, id: &str) -> PathBuf {
    directory.join(format!("{id}.json"))
}

fn id(bytes: &[u8]) -> String {
    Key(Sha256::digest(bytes).into()).to_string()
}
