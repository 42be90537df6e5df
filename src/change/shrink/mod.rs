//! The engine that shrinks the input of a failing test: which smaller input to try next.
//!
//! [`shrink`] takes an input of one or several parts (files, lists of words) and asks about smaller ones. It knows no
//! files and no tests: the answer to a [`InputCandidate`] is an [`Outcome`]. A [`views`] of the bytes divides them into
//! units (lines, brackets, tags, syntax, tokens, bytes); a [`plan`] decides which units to remove next; [`words`] makes
//! words shorter; [`mod@isolate`] moves a passing and a failing input towards each other.

mod candidate;
mod chunks;
mod isolate;
mod plan;
mod removal;
mod session;
mod views;
mod words;

#[cfg(test)]
mod properties;

use std::cell::RefCell;
use std::rc::Rc;

pub use crate::shrink::candidate::{InputCandidate, PartForm, ShrinkProgress};
use crate::shrink::chunks::Chunks;
pub use crate::shrink::isolate::{Isolated, isolate};
use crate::shrink::removal::NodeRemoval;
use crate::shrink::session::ShrinkSession;
use crate::shrink::words::Shortening;
use idd_base::{Asker, Outcome};

/// If a part is longer than this after all coarser units were tried, its bytes are not tried one by one.
pub const MAX_BYTES_ONE_BY_ONE: usize = 1 << 20;

/// If a part is longer than this after long chunks of it were tried, no units of it are tried.
pub const MAX_BYTES_WITH_UNITS: usize = 64 << 20;

/// Shrinks `start` to a smaller input that still fails.
///
/// - `start`: fails; it is not asked again. `forms` has the form of each part.
/// - `progress`: always has the smallest failing input so far.
/// - Result: an input that fails. If any one byte of it is removed, it does not fail; nor if any one unit of a coarser
///   level is. Of a part that is still longer than [`MAX_BYTES_ONE_BY_ONE`], this holds for the coarser levels only; of
///   one that is longer than [`MAX_BYTES_WITH_UNITS`], for chunks of 4 KiB.
///   An outcome other than `Fail` counts as "does not fail".
///
/// No candidate is asked twice. The result and the used answers do not depend on the width of the search.
///
/// Cost in probes, with m bytes in the result and n in `start`: about m log2(n / m) for removals, and at most 12 m more
/// for each round that changed something; usually two to four rounds.
pub async fn shrink(
    asker: Asker<InputCandidate, Outcome>,
    start: InputCandidate,
    forms: Vec<PartForm>,
    progress: Rc<RefCell<ShrinkProgress>>,
) -> InputCandidate {
    let mut session = ShrinkSession::new(asker, start, progress);
    for index in 0..forms.len() {
        let text = Rc::clone(&session.current.parts[index]);
        session.run(index, "chunks", Chunks::new(&text, chunks::OF_FILES)).await;
    }
    let stages = [ShrinkStage::Coarse, ShrinkStage::Fine, ShrinkStage::Polish];
    let mut at = 0;
    while let Some(stage) = stages.get(at) {
        let before = session.current.clone();
        for (index, form) in forms.iter().enumerate() {
            if session.current.parts[index].len() > MAX_BYTES_WITH_UNITS {
                continue;
            }
            stage.run(&mut session, index, *form).await;
        }
        // A success makes coarser units removable, which takes fewer probes than going on.
        at = if session.current == before { at + 1 } else { 0 };
    }
    session.current
}

/// What is tried; a stage comes after those before it change nothing.
enum ShrinkStage {
    /// Units down to tokens, and words everywhere at once.
    Coarse,
    /// Single bytes.
    Fine,
    /// What succeeds rarely: words that become equal to others, single occurrences of words, and runs of tokens of which none can be removed alone.
    Polish,
}

impl ShrinkStage {
    /// Runs the stage for a part.
    async fn run(&self, session: &mut ShrinkSession, index: usize, form: PartForm) {
        let text = |session: &ShrinkSession| Rc::clone(&session.current.parts[index]);
        match self {
            Self::Coarse => {
                for (units, divide) in views::coarse(form) {
                    let text = text(session);
                    if let Some(division) = divide(&text) {
                        session.run(index, units, NodeRemoval::new(&text, division)).await;
                    }
                }
                session.run(index, "words", Shortening::of_words(&text(session), true)).await;
            }
            Self::Fine => {
                let text = text(session);
                if text.len() <= MAX_BYTES_ONE_BY_ONE {
                    session.run(index, "bytes", NodeRemoval::new(&text, views::bytes(&text))).await;
                }
            }
            Self::Polish => {
                session.run(index, "words", Shortening::of_words(&text(session), false)).await;
                session.run(index, "single words", Shortening::of_occurrences(&text(session))).await;
                let text = text(session);
                if let Some(division) = views::runs_of_tokens(&text) {
                    session.run(index, "runs of tokens", NodeRemoval::new(&text, division)).await;
                }
            }
        }
    }
}
