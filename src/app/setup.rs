//! `git idd setup`: installs the man page and the completions.

use crate::args::options::Shell;
use crate::console::CommandAnswer;
use crate::{completions, man};
use idd_report::escape::safe;
use idd_session::setup::{self, InstallDirectories, InstalledFile, PARTS, StandingFile};
use idd_session::{Context, Failure};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Installs the files, or removes them; says what was done and what remains to do.
///
/// The exit code is 1 if a file was not written because another one has its place.
pub fn run(is_removal: bool, is_dry_run: bool, context: &Context) -> Result<CommandAnswer, Failure> {
    let places = InstallDirectories::of(context);
    if is_removal { remove(&places, is_dry_run) } else { install(&places, is_dry_run, context) }
}

/// Whether the man page is at one of its places.
pub fn has_page(context: &Context) -> bool {
    InstallDirectories::of(context).all(InstalledFile::Page).iter().any(|path| path.exists())
}

fn install(places: &InstallDirectories, is_dry_run: bool, context: &Context) -> Result<CommandAnswer, Failure> {
    let (mut text, mut tail, mut code) = (String::new(), String::new(), 0);
    for part in PARTS {
        let path = places.place(part)?;
        let found = setup::found(part, &path);
        let n_made = match &found {
            StandingFile::Ours(present) => part.n_made(present),
            _ => setup::n_missing(&path),
        };
        let bytes = content(part, n_made)?;
        let why = skipped(&found);
        let deed = match found {
            StandingFile::Other | StandingFile::Blocked(_) => {
                code = 1;
                "Skipped"
            }
            StandingFile::Ours(present) if present == bytes => "Unchanged:",
            StandingFile::Ours(_) | StandingFile::Nothing if is_dry_run => "Would write",
            StandingFile::Ours(_) | StandingFile::Nothing => {
                setup::write(part, &path, &bytes)?;
                "Wrote"
            }
        };
        line(&mut text, deed, &why, part, &path);
        if !is_dry_run && let Some(remains) = setup::remains(part, &path, context) {
            let _ = writeln!(tail, "To do: {}", shown(Path::new(&remains)));
        }
    }
    if setup::directory(context).is_none() {
        tail.push_str("To do: add the directory of this program to PATH, so that `git idd` finds it.\n");
    }
    if tail.is_empty() && !is_dry_run && code == 0 {
        tail.push_str("Nothing else is to be done; `git idd --help` opens the manual.\n");
    }
    Ok(CommandAnswer::Done(text + &tail, code))
}

fn remove(places: &InstallDirectories, is_dry_run: bool) -> Result<CommandAnswer, Failure> {
    let mut text = String::new();
    let mut removed = Vec::new();
    for part in PARTS {
        for path in places.all(part) {
            let found = setup::found(part, &path);
            let why = skipped(&found);
            match found {
                StandingFile::Nothing | StandingFile::Blocked(_) => {}
                StandingFile::Other => line(&mut text, "Skipped", &why, part, &path),
                StandingFile::Ours(_) if is_dry_run => line(&mut text, "Would remove", &why, part, &path),
                StandingFile::Ours(bytes) => {
                    setup::remove(part, &path)?;
                    line(&mut text, "Removed", &why, part, &path);
                    removed.push((path, part.n_made(&bytes)));
                }
            }
        }
    }
    // The first part that was written made the directories that later ones share.
    for (path, n_made) in removed.iter().rev() {
        setup::remove_directories(path, *n_made);
    }
    if text.is_empty() {
        text.push_str("There is nothing to remove.\n");
    }
    Ok(CommandAnswer::Done(text, 0))
}

/// The bytes of a part, with its mark and the number of directories that were made for it.
fn content(part: InstalledFile, n_made: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match part {
        InstalledFile::Page => man::write(&mut bytes)?,
        InstalledFile::Bash => bytes.extend_from_slice(completions::function(Shell::Bash).as_bytes()),
        InstalledFile::Zsh => bytes.extend_from_slice(completions::function(Shell::Zsh).as_bytes()),
        InstalledFile::Fish => bytes.extend_from_slice(completions::function(Shell::Fish).as_bytes()),
    }
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    for line in [part.mark(), &part.line_of_made(n_made)] {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Why a part is skipped.
fn skipped(found: &StandingFile) -> String {
    match found {
        StandingFile::Nothing | StandingFile::Ours(_) => String::new(),
        StandingFile::Other => ", because `git idd setup` did not write the file that is there".to_owned(),
        StandingFile::Blocked(place) => format!(", because `{}` is no directory", shown(place)),
    }
}

fn line(text: &mut String, deed: &str, why: &str, part: InstalledFile, path: &Path) {
    let _ = writeln!(text, "{deed} {}{why}: {}", part.word(), shown(path));
}

fn shown(path: &Path) -> String {
    safe(&path.to_string_lossy())
}
