//! `git idd try`.

use crate::args::options::{HuntChoice, parse_duration};
use clap::Args;
use std::ffi::OsString;
use std::time::Duration;

/// A fix to judge.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct TryArgs {
    /// The fix: a file with a patch for HEAD (`git diff`, `git format-patch`), `-` for a patch on standard input, or a
    /// revision. The change of a revision that HEAD does not lead to is merged into HEAD, from their common ancestor on.
    #[arg(value_name = "PATCH|REV")]
    pub fix: OsString,

    /// For which hunt.
    #[command(flatten)]
    pub which: HuntChoice,

    /// Shell line with more tests: they must fail no more than at HEAD (default: that of the hunt).
    #[arg(long, value_name = "COMMAND")]
    pub suite: Option<OsString>,

    /// Stop after this time.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub budget: Option<Duration>,
}
