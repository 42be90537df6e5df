//! The commands of a hunt in which a person judges the revisions.

use crate::cli::args::options;
use crate::cli::args::options::Output;
use crate::cli::args::options::parse_duration;
use crate::session::by_hand::Given;
use crate::session::order::HuntOrder;
use std::ffi::OsString;
use std::time::Duration;

/// A hunt by hand.
#[derive(Debug, clap::Args)]
pub struct StartCommand {
    /// The bad revision, and good ones, as in `git bisect start <bad> <good>...` (default: HEAD, and a good one is searched).
    #[arg(value_name = "REV")]
    pub revisions: Vec<String>,

    #[command(flatten)]
    pub history: options::History,

    /// Shell line that is run in each checkout, before you look at it; a revision where it fails is repaired, or left out.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    /// Time limit of the build.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// Only print the directory of the checkout; without this option, a shell is started there, if there is a terminal.
    #[arg(long)]
    pub no_shell: bool,

    #[command(flatten)]
    pub output: Output,
}

/// A verdict of a person.
#[derive(Debug, clap::Args)]
pub struct Judged {
    /// The revision (default: the one that is checked out).
    #[arg(value_name = "REV")]
    pub revision: Option<String>,

    /// What you have seen; reports have it as a note.
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,

    #[command(flatten)]
    pub output: Output,
}

/// A command of a hunt by hand.
#[derive(Debug, Clone, PartialEq)]
pub enum ByHand {
    /// Begin one.
    Start {
        /// What is hunted, and how it is built.
        order: Box<HuntOrder>,
        /// Whether a shell is started in the checkout, on a terminal.
        has_shell: bool,
    },
    /// Go on with it.
    Given(Given),
}
