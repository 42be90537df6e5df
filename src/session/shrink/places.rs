//! The places of the inputs in the checkouts, and why a file can have none.

use crate::Failure;
use crate::hold::inside;
use crate::shrink::inputs::{Input, same_place};
use crate::shrink::reference::ProgramVersion;
use idd_world::files;
use idd_world::repo::obstacle::{Obstacle, obstacle};
use idd_world::repo::{Location, TreeStore};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Gives each input a place that is possible in all these versions.
///
/// A file below a symbolic link of the revision gets its real place, where the test finds it through the link.
///
/// Errors: a version has no directory for the test; an input cannot be in a checkout; a file from outside would take the place of another file; two inputs have
/// the same place.
pub fn settle(
    inputs: &mut [Input],
    versions: &[&ProgramVersion],
    store: &TreeStore,
    location: &Location,
    directory: &Path,
) -> Result<(), Failure> {
    for input in &mut *inputs {
        for version in versions {
            let repository = store.repository();
            let mut found = obstacle(repository, version.tree, &input.path)?;
            if let Some(Obstacle::Link(_)) = found
                && let Some(path) = real_path(input, location, directory)
                && !matches!(obstacle(repository, version.tree, &path)?, Some(Obstacle::Link(_)))
            {
                found = obstacle(repository, version.tree, &path)?;
                input.path = path;
            }
            if let Some(obstacle) = found {
                return Err(refusal(input, &version.shown(), &obstacle));
            }
            refuse_collision(input, version, store)?;
        }
    }
    for version in versions {
        require_directory(inputs, version, store, location)?;
    }
    for (index, input) in inputs.iter().enumerate() {
        if let Some(other) = inputs[..index].iter().find(|other| other.path == input.path) {
            return Err(same_place(other, input));
        }
    }
    Ok(())
}

/// The directory of the test must be in the checkout, or be made for an input.
fn require_directory(
    inputs: &[Input],
    version: &ProgramVersion,
    store: &TreeStore,
    location: &Location,
) -> Result<(), Failure> {
    let path = location.prefix.as_os_str().as_bytes();
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let below = [path, b"/"].concat();
    if path.is_empty()
        || inputs.iter().any(|input| input.path.starts_with(&below))
        || obstacle(store.repository(), version.tree, path)? == Some(Obstacle::Directory)
    {
        return Ok(());
    }
    let message = format!("there is no directory `{}` at `{}`", String::from_utf8_lossy(path), version.name);
    Err(Failure::usage(message)
        .with_hint("build and test run in the directory of the checkout in which you are here; go to another one"))
}

/// The path of a file of the working tree without symbolic links; `None` if they lead out of it.
fn real_path(input: &Input, location: &Location, directory: &Path) -> Option<Vec<u8>> {
    let top = location.top.as_ref()?;
    let location = Location { top: files::real(top), ..location.clone() };
    inside(files::real(&directory.join(&input.name))?.as_os_str(), &location).filter(|_| input.is_inside)
}

/// A file from outside must not take the place of another one.
fn refuse_collision(input: &Input, version: &ProgramVersion, store: &TreeStore) -> Result<(), Failure> {
    if input.is_inside || store.file(version.tree, &input.path)?.is_none() {
        return Ok(());
    }
    let (name, path) = (input.name.to_string_lossy(), String::from_utf8_lossy(&input.path));
    let message = format!("the input `{name}` would take the place of `{path}` in the checkout");
    Err(Failure::usage(message)
        .with_hint("a file outside of the working tree is put there under its own name; rename it"))
}

fn refusal(input: &Input, version: &str, obstacle: &Obstacle) -> Failure {
    const ELSEWHERE: &str = "copy the file to another place; a file outside of the working tree is put into the \
                             directory of the test, under its own name";
    let name = input.name.to_string_lossy();
    let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let why = match obstacle {
        Obstacle::GitDirectory => "is in a git directory, which no checkout has".to_owned(),
        Obstacle::Submodule(path) => {
            format!("is in the submodule `{}`, whose files do not belong to {version}", shown(path))
        }
        Obstacle::Link(path) => {
            format!("is below `{}`, a symbolic link that leads out of the working tree", shown(path))
        }
        Obstacle::File(path) => format!("is below `{}`, which is a file at {version}", shown(path)),
        Obstacle::Directory => format!("has the place of `{}`, a directory at {version}", shown(&input.path)),
    };
    Failure::usage(format!("the input `{name}` {why}")).with_hint(ELSEWHERE)
}
