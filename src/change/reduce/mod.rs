//! The engines that shrink a change to the units that matter, by one experiment after the other.
//!
//! [`reduce`] takes an interesting subset of a [`ChangeSet`] and asks a [`Judge`] about smaller ones. The judge defines
//! "interesting" (still fails, passes again, can be tested at all); an unresolved outcome is "not interesting". Every
//! engine is a plan: a sequence of parts to remove. One session runs them all, stores what is known, and tells the
//! judge which candidates can follow either answer. So several candidates can be tried at once without changing the
//! result.

mod artho;
mod bisection;
mod counting;
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

use crate::reduce::session::ReduceSession;
use crate::{ChangeSet, Level, Subset};

/// Decides which candidates are interesting.
pub trait Judge {
    /// An error that ends the work. A candidate that cannot be tested is no error; it is not interesting.
    type Error;

    /// Returns whether a candidate is interesting.
    ///
    /// - `candidate`: a closed subset, never the same twice.
    /// - `ahead`: the candidates that can follow, for judges that can try several at once.
    ///
    /// The last accepted candidate is the best result so far. A judge that gives up with an error must store it.
    fn is_interesting(
        &mut self,
        candidate: &Subset,
        ahead: NextCandidates<'_>,
    ) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Receives the number of candidates that the filter rejected before the next one.
    ///
    /// No candidate is counted twice, and speculative ones are not counted.
    fn note_refused(&mut self, n_refused: usize);
}

/// The known answer for a candidate before its turn: whether it is interesting.
pub type KnownAnswer<'a> = &'a dyn Fn(&Subset) -> Option<bool>;

/// At most this many candidates that may be asked next, the likeliest first, given the known answers.
pub type NextCandidates<'a> = &'a dyn Fn(KnownAnswer<'_>, usize) -> Vec<Subset>;

/// Whether a closed candidate is worth a question to the judge. Called lazily, in the order of the candidates.
pub type CandidateFilter<'a> = &'a dyn Fn(&Subset) -> bool;

/// The algorithm of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reducer {
    /// Rung by rung from files to lines: bisection, counting, and singles at the end.
    #[default]
    Hierarchical,
    /// Depth first, then singles: fewer probes, often a larger result.
    Fast,
    /// Artho's bisection over files, hunks, lines: the reduction of a linear walk.
    Artho,
}

impl Reducer {
    /// Whether a result is 1-minimal for every judge: each removal of a single group has been judged.
    pub fn is_exact(self) -> bool {
        self != Self::Artho
    }

    /// Whether it uses only files, hunks and lines, as its paper says: for change sets without syntax.
    pub fn is_plain(self) -> bool {
        self == Self::Artho
    }
}

/// The options of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReduceOptions {
    /// The algorithm.
    pub reducer: Reducer,
    /// The finest level: only groups of this level or larger are removed alone.
    pub finest: Level,
    /// Whether every list of groups is reversed. This can lead to another result.
    pub is_reversed: bool,
}

impl Default for ReduceOptions {
    fn default() -> Self {
        Self { reducer: Reducer::default(), finest: Level::Line, is_reversed: false }
    }
}

/// Shrinks `start` to a smaller subset that is still interesting.
///
/// - `start`: closed and interesting; it is not asked again.
/// - Result: a closed, interesting part of `start`. For an exact reducer it is 1-minimal at `options.finest`: if any
///   one group of that level is removed, with the units that need it, the rest is not interesting, for every judge. For
///   `Artho` this holds only if every superset of an interesting subset is interesting. Empty only if the empty subset
///   is interesting.
/// - `filter`: rejected candidates are skipped. The last round asks about them anyway, so the promise does not depend
///   on the filter. `Artho` does not use it.
///
/// The empty subset is asked first, alone. No subset is asked twice. The result and the used candidates depend only on
/// the answers, not on speculation.
///
/// Cost in probes, n = units of `start`, R = rungs down to `finest` with the two of names: `Hierarchical` about m log2
/// n when m units matter, each by itself, and at most (1.1R + 1.5) n² + (14R + 3) n + 11R, for every filter; `Fast` at
/// most (R + 1) n (n + 1) / 2 + 3n. With n = groups of `finest`: `Artho` at most 2n - 1 (one pass; for a fix-point,
/// reduce the result again until nothing changes).
pub async fn reduce<J: Judge>(
    change_set: &ChangeSet,
    start: Subset,
    options: &ReduceOptions,
    filter: CandidateFilter<'_>,
    judge: &mut J,
) -> Result<Subset, J::Error> {
    let mut session = ReduceSession::new(change_set, start, filter, judge);
    session.is_reversed = options.is_reversed;
    if session.is_empty_interesting().await? {
        return Ok(change_set.empty());
    }
    match options.reducer {
        Reducer::Hierarchical => hierarchical::run(&mut session, options.finest).await?,
        Reducer::Fast => fast::run(&mut session, options.finest).await?,
        Reducer::Artho => artho::run(&mut session, options.finest).await?,
    }
    Ok(session.current)
}
