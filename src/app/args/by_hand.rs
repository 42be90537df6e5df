//! The commands of a hunt in which a person judges the revisions.

use crate::args::options::{self, parse_duration};
use idd_session::by_hand::GivenVerdict;
use idd_session::order::{HistoryOrder, HuntOrder};
use std::ffi::OsString;
use std::time::Duration;

/// A hunt by hand.
#[derive(Debug, clap::Args)]
pub struct StartCommand {
    /// The bad revision, and good ones, as in `git bisect start <bad> <good>...` (default: HEAD, and a good one is searched).
    #[arg(value_name = "REV")]
    pub revisions: Vec<String>,

    #[command(flatten)]
    pub history: options::HistoryOptions,

    /// Shell line that is run in each checkout, before you look at it; a revision where it fails is repaired, or left out.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<OsString>,

    /// Time limit of the build.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// Only print the directory of the checkout; without this option, a shell is started there, if there is a terminal.
    #[arg(long)]
    pub no_shell: bool,
}

/// A verdict of a person.
#[derive(Debug, clap::Args)]
pub struct VerdictOptions {
    /// The revision (default: the one that is checked out).
    #[arg(value_name = "REV")]
    pub revision: Option<String>,

    /// What you have seen; reports have it as a note.
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
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
    Given(GivenVerdict),
}

impl StartCommand {
    /// Where to look. The error is what is wrong, and what to do.
    pub(super) fn history(&self) -> Result<HistoryOrder, (&'static str, &'static str)> {
        let mut history: HistoryOrder = self.history.clone().into();
        if let Some((bad, goods)) = self.revisions.split_first() {
            if history.bad != "HEAD" || !history.good.is_empty() || history.from_bisect {
                return Err((
                    "revisions are given twice",
                    "`git idd start <bad> <good>...` or `git idd start --bad <rev> --good <rev>`",
                ));
            }
            history.bad.clone_from(bad);
            history.good = goods.to_vec();
        }
        if self.build.as_ref().is_some_and(|line| line.to_string_lossy().trim().is_empty()) {
            return Err(("the command of `--build` is empty", "leave `--build` out if there is nothing to build"));
        }
        Ok(history)
    }
}
