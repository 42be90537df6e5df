//! The engines that shrink a change to what matters, asking for one experiment after the other.
//!
//! [`reduce`] takes an interesting subset of a [`ChangeSet`] and asks a [`Judge`] about smaller ones. What "interesting"
//! means (still fails, passes again, can be tested at all) is the judge's affair; an unresolved outcome is plainly "not
//! interesting". Every engine is a plan: a sequence of parts to take out. One session runs them all,
//! keeps what is known, and tells the judge what may be asked next after either answer, so that several candidates can be
//! tried at once without changing the result.

mod artho;
mod bisection;
mod counting;
mod ddmin;
mod descent;
mod fast;
mod hierarchical;
mod plan;
mod session;
mod singles;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

use std::future::Future;
use std::str::FromStr;

use thiserror::Error;

use crate::change::{ChangeSet, Level, Subset};
use crate::reduce::session::Session;

/// Says which candidates are interesting.
pub trait Judge {
    /// What stops the work (not: a candidate that cannot be tested; that one is not interesting).
    type Error;

    /// Returns whether a candidate is interesting.
    ///
    /// - `candidate`: a closed subset, never the same twice.
    /// - `ahead`: what may be asked next, for those who can try several candidates at once.
    ///
    /// The last candidate accepted is the best result so far; a judge that gives up by an error keeps it itself.
    fn is_interesting(
        &mut self,
        candidate: &Subset,
        ahead: Ahead<'_>,
    ) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Is told how many candidates the filter refused on the way to the next one.
    ///
    /// None is counted twice, and none that was only looked at ahead.
    fn note_refused(&mut self, n_refused: usize);
}

/// What is known of a candidate before its turn: whether it is interesting.
pub type Known<'a> = &'a dyn Fn(&Subset) -> Option<bool>;

/// At most so many candidates that may be asked about next, the likeliest first, given what is known already.
pub type Ahead<'a> = &'a dyn Fn(Known<'_>, usize) -> Vec<Subset>;

/// Says of a closed candidate whether it is worth asking the judge. Asked lazily, in the order of the candidates.
pub type Filter<'a> = &'a dyn Fn(&Subset) -> bool;

/// Which algorithm shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reducer {
    /// Rung by rung from files to lines: bisection, counting, and singles at the end (`default`).
    #[default]
    Hierarchical,
    /// Depth first, then singles: fewer probes, often a larger result (`fast`).
    Fast,
    /// Zeller and Hildebrandt's minimising delta debugging on the finest level (`ddmin`).
    Ddmin,
    /// Artho's bisection over files, hunks, lines (`artho`).
    Artho,
    /// Artho's bisection over the finest level alone (`artho-flat`).
    ArthoFlat,
}

impl Reducer {
    /// Whether a result is 1-minimal whatever the judge answers, each removal of a single group having been judged.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Hierarchical | Self::Fast | Self::Ddmin)
    }

    /// Whether it works on files, hunks and lines alone, as its paper has it: for change sets in which syntax has no part.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::Ddmin | Self::Artho | Self::ArthoFlat)
    }
}

/// A word that names no reducer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no reducer is called `{0}`; there are `default`, `fast`, `ddmin`, `artho` and `artho-flat`")]
pub struct UnknownReducer(String);

impl FromStr for Reducer {
    type Err = UnknownReducer;

    fn from_str(word: &str) -> Result<Self, UnknownReducer> {
        match word {
            "default" => Ok(Self::Hierarchical),
            "fast" => Ok(Self::Fast),
            "ddmin" => Ok(Self::Ddmin),
            "artho" => Ok(Self::Artho),
            "artho-flat" => Ok(Self::ArthoFlat),
            _ => Err(UnknownReducer(word.to_owned())),
        }
    }
}

/// How to shrink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The algorithm.
    pub reducer: Reducer,
    /// Nothing smaller than a group of this level is taken out alone.
    pub finest: Level,
    /// Whether every list of groups is turned round: another way through the same change set, to another result perhaps.
    pub is_reversed: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { reducer: Reducer::default(), finest: Level::Line, is_reversed: false }
    }
}

/// Shrinks `start` to a smaller subset that is still interesting.
///
/// - `start`: closed and interesting; it is not asked again.
/// - Result: a closed, interesting part of `start`. For an exact reducer it is 1-minimal at `options.finest`:
///   taking out any one group of that level, with the units that need it, is no longer interesting, whatever the judge
///   answers. For `Artho` and `ArthoFlat` that holds only if every superset of an interesting subset is interesting.
///   Empty only if the empty subset is interesting.
/// - `filter`: candidates that it refuses are passed over; the last round asks about them all the same, so that nothing
///   that is promised rests on it. `Ddmin`, `Artho` and `ArthoFlat` do not use it.
///
/// The empty subset is asked first, alone. No subset is asked twice. The result and the candidates consumed are a
/// function of the answers: they do not depend on how far ahead the judge looks.
///
/// Cost in probes, n = units of `start`, R = rungs down to `finest` with the two of names: `Hierarchical` about m log2 n
/// when m units matter, each by itself, and at most (1.1R + 1.5) n² + (14R + 3) n + 11R, whatever the filter says; `Fast`
/// at most (R + 1) n (n + 1) / 2 + 3n. With n = groups of `finest`: `Ddmin` at most n² + 3n; `Artho` and `ArthoFlat` at most
/// 2n - 1 (one pass; reduce the result again until it stays for a fix-point).
pub async fn reduce<J: Judge>(
    change_set: &ChangeSet,
    start: Subset,
    options: &Options,
    filter: Filter<'_>,
    judge: &mut J,
) -> Result<Subset, J::Error> {
    let mut session = Session::new(change_set, start, filter, judge);
    session.is_reversed = options.is_reversed;
    if session.is_empty_interesting().await? {
        return Ok(change_set.empty());
    }
    match options.reducer {
        Reducer::Hierarchical => hierarchical::run(&mut session, options.finest).await?,
        Reducer::Fast => fast::run(&mut session, options.finest).await?,
        Reducer::Ddmin => ddmin::run(&mut session, options.finest).await?,
        Reducer::Artho => artho::run(&mut session, options.finest).await?,
        Reducer::ArthoFlat => artho::run_flat(&mut session, options.finest).await?,
    }
    Ok(session.into_current())
}
