//! Where the reduced files are written.
//!
//! With `-o` no file of the user is replaced. The result of a reduction that stopped before its end is: the same
//! command goes on from there. So what was written is noted in the git directory.

use crate::args::ShrinkArgs;
use idd_session::order::{EffortOrder, ShrinkOrder};
use idd_session::shrink::Shrunk;
use idd_session::{Context, Failure};
use idd_world::cache::Key;
use idd_world::files;
use idd_world::repo::Location;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The places of the reduced files.
pub struct ReducedFiles {
    /// The place of each input, in their order.
    pub places: Vec<PathBuf>,
    /// The place of the passing input, if there is one.
    pub passing: Option<PathBuf>,
    /// Whether the user names the directory.
    is_given: bool,
    /// The file with what was written by the last reduction that stopped before its end.
    notes: PathBuf,
    /// The digest of the order.
    order: String,
}

/// What a reduction wrote that stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// The digest of its order.
    order: String,
    /// The digest of the content of each file, by its path.
    files: BTreeMap<String, String>,
}

impl ReducedFiles {
    /// Plans the output.
    ///
    /// Errors: a file is there already, and it is not the earlier result of the same command; the directory cannot be
    /// written.
    pub fn plan(args: &ShrinkArgs, location: &Location, context: &Context) -> Result<Self, Failure> {
        let directory = match &args.output {
            Some(output) => context.directory.join(output),
            None => location.session_directory().join("shrunk"),
        };
        let names: Vec<&OsStr> = args.order.input.iter().map(|name| file_name(name)).collect();
        let place = |(index, name): (usize, &&OsStr)| {
            let is_twice = names[..index].contains(name);
            if is_twice { directory.join(index.to_string()).join(name) } else { directory.join(name) }
        };
        let places: Vec<PathBuf> = names.iter().enumerate().map(place).collect();
        let passing = args.order.passing.as_ref().and(places.first()).map(|place| beside(place));
        let output = Self {
            places,
            passing,
            is_given: args.output.is_some(),
            notes: location.session_directory().join("shrunk.unfinished"),
            order: digest_of(&args.order, context),
        };
        if output.is_given {
            output.check(&directory)?;
        }
        Ok(output)
    }

    fn check(&self, directory: &Path) -> Result<(), Failure> {
        let usage = |message: String| {
            Failure::usage(message)
                .with_hint("`--output` takes a directory in which the reduced files do not exist yet")
        };
        let above: Vec<&Path> = self.all().filter_map(|place| place.parent()).chain([directory]).collect();
        for directory in above {
            // A link that leads nowhere exists, too.
            let existing = directory.ancestors().find(|directory| directory.symlink_metadata().is_ok());
            let Some(existing) = existing else { continue };
            if !existing.is_dir() {
                return Err(usage(format!("`{}` is not a directory", existing.display())));
            }
            if !files::can_create_in(existing) {
                return Err(usage(format!("the directory `{}` cannot be written", existing.display())));
            }
        }
        let note = self.note();
        let is_own = |place: &Path| {
            let known = note.as_ref().and_then(|note| note.files.get(&*place.to_string_lossy()));
            known.is_some_and(|known| files::bytes(place).is_ok_and(|bytes| digest(&bytes) == *known))
        };
        match self.all().find(|place| place.symlink_metadata().is_ok() && !is_own(place)) {
            Some(place) => Err(usage(format!("`{}` exists already", place.display()))),
            None => Ok(()),
        }
    }

    /// All files that are written.
    fn all(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().chain(&self.passing).map(PathBuf::as_path)
    }

    /// The note of an earlier reduction with the same order.
    fn note(&self) -> Option<Note> {
        let note: Note = serde_json::from_slice(&files::bytes(&self.notes).ok()?).ok()?;
        (note.order == self.order).then_some(note)
    }

    /// Writes the files.
    pub fn write(&self, shrunk: &Shrunk) -> Result<(), Failure> {
        let contents = || shrunk.files.iter().map(|file| &file.content[..]).chain(shrunk.passing.as_deref());
        let note = self.note();
        for (place, content) in self.all().zip(contents()) {
            let is_own = note.as_ref().is_some_and(|note| note.files.contains_key(&*place.to_string_lossy()));
            write(place, content, self.is_given && !is_own)?;
        }
        if !self.is_given {
            return Ok(());
        }
        if shrunk.stopped.is_none() {
            // If it stays, the next command finds another content in the place of its result.
            let _ = files::remove(&self.notes);
            return Ok(());
        }
        let digests = self.all().zip(contents()).map(|(place, content)| {
            let path = place.to_string_lossy().into_owned();
            (path, digest(content))
        });
        let note = Note { order: self.order.clone(), files: digests.collect() };
        Ok(files::replace(&self.notes, &serde_json::to_vec(&note)?)?)
    }
}

/// The digest of an order without its limits.
fn digest_of(order: &ShrinkOrder, context: &Context) -> String {
    let EffortOrder { clean, no_cache, .. } = order.effort;
    let order = ShrinkOrder { effort: EffortOrder { clean, no_cache, ..EffortOrder::default() }, ..order.clone() };
    digest(format!("{order:?} in {}", context.directory.display()).as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    Key(Sha256::digest(bytes).into()).to_string()
}

/// The place of the passing input beside that of the failing one.
fn beside(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".passing");
    PathBuf::from(name)
}

fn file_name(name: &OsStr) -> &OsStr {
    Path::new(name).file_name().unwrap_or(name)
}

fn write(place: &Path, content: &[u8], is_new: bool) -> Result<(), Failure> {
    let written: io::Result<()> = files::make_directory_of(place)
        .and_then(|()| if is_new { files::write_new(place, content) } else { files::replace(place, content) });
    written.map_err(|error| {
        Failure::error(format!("failed to write the reduced input `{}`: {error}", place.display()))
            .with_hint("`--output <dir>` names another directory; known results are not run again")
    })
}
