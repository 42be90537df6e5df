//! `git idd doctor`: what the system permits, and how it can permit more.

use crate::console::CommandAnswer;
use idd_session::{Context, Failure, sandboxes};
use idd_world::files;
use idd_world::place::ProbePlace;
use idd_world::repo::Location;
use std::fmt::Write as _;

/// Tries what a hunt would use, and removes it again.
pub fn run(location: &Location, context: &Context) -> Result<CommandAnswer, Failure> {
    let root = sandboxes::trial(context)?;
    let place = ProbePlace::try_out(location, &root, &context.environment);
    files::remove(&root).map_err(|error| Failure::error(format!("failed to remove a trial: {error}")))?;
    let mut said = String::new();
    let mut line = |label: &str, text: &str| writeln!(said, "{label:<12} {text}").expect("a string takes all");
    match &place {
        Ok(place) => {
            line("place:", &format!("probes see their checkout at {}", place.top.display()));
            line("rights:", place.rights_in_words());
            line(
                "your files:",
                if place.has_overlays { "are shown where they are; changes do not reach them" } else { COPIED },
            );
        }
        Err(why) => {
            line(
                "place:",
                &format!("probes see their checkout below {}, because {why}", root.parent().unwrap_or(&root).display()),
            );
            // A bare repository has no files that a probe could see instead.
            if location.top.is_some() {
                line("your files:", COPIED);
                line(
                    "instead:",
                    "a test that reads tracked files of your working tree, or changes a file there, is stopped",
                );
                for remedy in ProbePlace::remedies() {
                    line("remedy:", &remedy);
                }
            }
        }
    }
    Ok(CommandAnswer::Done(said.trim_end().to_owned(), 0))
}

/// How files of the user become visible without an overlay.
const COPIED: &str = "what the test needs of them is copied into each checkout";
