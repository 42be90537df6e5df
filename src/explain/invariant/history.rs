//! What the engine needs to know of a recorded run.

use idd_trace::logic::term::{TermId, Terms};
use std::collections::HashMap;

/// When something happened, in an order that its [`BackwardRun`] chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(pub u64, pub u32);

/// What a place held between two assignments: a variable of the terms, by its number.
pub type HistoryVersion = u32;

/// One effect of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// What is assigned.
    pub version: HistoryVersion,
    /// What it gets, by what held before the statement.
    pub value: TermId,
    /// What the same place held before the statement, if the statement reads that.
    pub before: Option<HistoryVersion>,
    /// What has to hold before the statement, so that it is this place that is assigned.
    pub requires: Vec<TermId>,
    /// Whether it says only where something is stored, not what.
    pub is_location: bool,
}

/// What a statement does to some versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionEffects {
    /// The assignments of those that were asked for.
    pub assignments: Vec<Assignment>,
    /// What is assumed of the run because the language says so, such as that no sum overflows.
    pub hypotheses: Vec<TermId>,
    /// Results that are not computed by a term: if these conditions hold, the version has its recorded value.
    pub pinned: HashMap<HistoryVersion, Vec<TermId>>,
    /// By a version that the statement reads: what has to hold so that it is this one that is read.
    pub addresses: HashMap<HistoryVersion, Vec<TermId>>,
    /// The values that the versions which the statement reads have in a passing run. Conditions that also hold there are
    /// not followed.
    pub passing: HashMap<HistoryVersion, u64>,
    /// Why the statement belongs to the slice, whatever its condition is.
    pub because: Option<Because>,
    /// Of a decision: whether the corresponding one of the passing run went the same way; `None` if there is none.
    pub is_same_way: Option<bool>,
    /// Whether something is assigned by a computation that is not modelled. Its recorded value is taken.
    pub is_unknown: bool,
}

/// Why a statement belongs to a slice that no condition asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// After it, the failing and the passing run do different things, although the same holds in both.
    Parts,
    /// It stores at another address than in the passing run, which stored there what is read.
    Elsewhere,
    /// It wrote something that is read, and that is not known.
    Supplies,
}

/// A recorded run, backward.
pub trait BackwardRun {
    /// Why the run cannot be read.
    type Error;

    /// When a version was assigned; `None` if it is older than the run.
    fn assigned(&mut self, version: HistoryVersion) -> Result<Option<Time>, Self::Error>;

    /// The recorded value.
    fn value(&self, version: HistoryVersion) -> u64;

    /// What was done at a time to some versions, which were all assigned then.
    fn effects(
        &mut self,
        terms: &mut Terms,
        time: Time,
        versions: &[HistoryVersion],
    ) -> Result<VersionEffects, Self::Error>;

    /// The decisions on which something depends, all before it: the last one that let it run, and those because of which
    /// something else did not run that could have changed what it uses.
    ///
    /// With each whether it is a part of the same condition of the source: of `&&`, `||` or `?:`.
    fn decisions(&mut self, terms: &mut Terms, time: Time) -> Result<Vec<(Time, bool)>, Self::Error>;

    /// Statements, all before it, because of which something that a statement reads was not assigned as in a passing run.
    fn omissions(&mut self, terms: &mut Terms, time: Time) -> Result<Vec<Time>, Self::Error>;

    /// What held at a decision, so that it went the way it did. With what has to be known of the versions that it reads.
    fn condition(&mut self, terms: &mut Terms, decision: Time) -> Result<(TermId, VersionEffects), Self::Error>;
}
