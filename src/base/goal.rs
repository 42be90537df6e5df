//! The goal of a hunt: its last stage, and the time limit of the reduction.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The last stage of a hunt. Journals store these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HuntStage {
    /// The first bad commit, before its proof.
    Found,
    /// The first bad commit, proved.
    Commit,
    /// Also the minimal change inside it.
    Change,
    /// Also a fix.
    #[default]
    Fix,
}

impl HuntStage {
    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Commit => "commit",
            Self::Change => "change",
            Self::Fix => "fix",
        }
    }
}

/// A time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// At most this long.
    Within(Duration),
    /// Without a limit.
    Unlimited,
}

/// The goal of a run of a hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntGoal {
    /// The last stage.
    pub until: HuntStage,
    /// The time limit of the reduction; `None` if none was given.
    pub reduction: Option<Bound>,
}
