//! One program, and its identity.

use crate::journal::path_text;
use crate::run::toolchain;
use crate::tools::modules;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// A program outside of the tree: how it is found, and its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Program {
    /// Whether it is found by name, in the directories of `PATH`.
    is_named: bool,
    /// Its path, links not resolved.
    #[serde(with = "path_text")]
    place: PathBuf,
    /// The path of the file, links resolved.
    #[serde(with = "path_text")]
    file: PathBuf,
    /// Its inode, size in bytes, and time of change in seconds and nanoseconds since 1970.
    identity: (u64, u64, i64, i64),
    /// A digest of the modules that it finds; `None` if it is no [interpreter](modules).
    modules: Option<String>,
}

impl Program {
    /// The program at `place`, an absolute path; `None` if it does not exist.
    pub(super) fn executed(place: &Path, environment: &[(OsString, OsString)]) -> Option<Self> {
        let at_place = Self::at(place, environment)?;
        let named = place.file_name().and_then(|name| Self::named(name.to_str()?, environment));
        Some(named.filter(|named| named.file == at_place.file).unwrap_or(at_place))
    }

    /// The program of this name in `PATH`; `None` if there is none.
    pub(super) fn named(name: &str, environment: &[(OsString, OsString)]) -> Option<Self> {
        let path = toolchain::variable(environment, "PATH")?;
        let place = toolchain::places(&path, name).find(|place| is_program(place))?;
        Some(Self { is_named: true, ..Self::at(&place, environment)? })
    }

    fn at(place: &Path, environment: &[(OsString, OsString)]) -> Option<Self> {
        let file = fs::canonicalize(place).ok()?;
        let metadata = fs::metadata(&file).ok().filter(fs::Metadata::is_file)?;
        let identity = (metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec());
        let modules = modules::digest(place, &file, environment);
        Some(Self { is_named: false, place: place.to_owned(), file, identity, modules })
    }

    /// Its path, links not resolved.
    pub fn place(&self) -> &Path {
        &self.place
    }

    fn name(&self) -> String {
        self.place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The name without a version: programs with the same one can replace each other.
    pub(super) fn family(&self) -> String {
        let name = self.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match name.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | '-')) {
            "" => name,
            family => family.to_owned(),
        }
    }

    /// Whether both are the same unchanged file.
    pub(super) fn is_file_of(&self, other: &Self) -> bool {
        (&self.file, self.identity) == (&other.file, other.identity)
    }

    /// The present difference; `None` if there is none.
    pub(super) fn change(&self, environment: &[(OsString, OsString)]) -> Option<ProgramChange> {
        let now = match self.place.file_name().and_then(|name| name.to_str()).filter(|_| self.is_named) {
            Some(name) => Self::named(name, environment),
            None => Self::at(&self.place, environment),
        };
        let how = match now {
            None => How::Gone,
            Some(now) if now.file != self.file => How::Elsewhere(now.place),
            Some(now) if now.identity != self.identity => How::Changed,
            Some(now) if now.modules != self.modules => How::Modules,
            Some(_) => return None,
        };
        Some(self.with(how))
    }

    /// The change that `other` is executed instead.
    pub(super) fn replaced_by(&self, other: &Self) -> ProgramChange {
        self.with(How::Elsewhere(other.place.clone()))
    }

    fn with(&self, how: How) -> ProgramChange {
        ProgramChange { what: Some((self.name(), self.place.clone(), how)) }
    }
}

fn is_program(place: &Path) -> bool {
    fs::metadata(place).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
}

/// Why earlier results are not used; as text, the program and its change. It can contain bytes from the user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramChange {
    /// Name, place, and change.
    what: Option<(String, PathBuf, How)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Changed,
    Modules,
    Gone,
    Elsewhere(PathBuf),
}

impl ProgramChange {
    /// The executed programs of that time are unknown.
    pub(super) fn unknown() -> Self {
        Self { what: None }
    }
}

impl fmt::Display for ProgramChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((name, place, how)) = &self.what else { return write!(f, "their programs are not known") };
        let place = place.display();
        match how {
            How::Changed => write!(f, "{name} ({place}) changed"),
            How::Modules => write!(f, "the modules of {name} ({place}) changed"),
            How::Gone => write!(f, "{name} ({place}) is gone"),
            How::Elsewhere(now) => write!(f, "{name} ({place}) is now {}", now.display()),
        }
    }
}
