//! The engine that shrinks the input of a failing test: which smaller input to try next.
//!
//! [`shrink`] takes an input of one or several parts (files, lists of words) and asks about smaller ones. It knows no
//! files and no tests: the answer to a [`Candidate`] is an [`Outcome`]. A [`views`] of the bytes divides them into
//! units (lines, brackets, tags, syntax, tokens, bytes); a [`plan`] decides which units to remove next; [`words`] makes
//! words shorter; [`isolate`] moves a passing and a failing input towards each other.

mod candidate;
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

use crate::outcome::Outcome;
use crate::search::Asker;
pub use crate::shrink::candidate::Candidate;
pub use crate::shrink::candidate::Form;
pub use crate::shrink::candidate::Progress;
pub use crate::shrink::isolate::Isolated;
pub use crate::shrink::isolate::isolate;
use crate::shrink::removal::Removal;
use crate::shrink::session::Session;
use crate::shrink::words::Shortening;

/// If a part is longer than this after all coarser units were tried, its bytes are not tried one by one.
pub const MAX_BYTES_ONE_BY_ONE: usize = 1 << 20;

/// Shrinks `start` to a smaller input that still fails.
///
/// - `start`: fails; it is not asked again. `forms` has the form of each part.
/// - `progress`: always has the smallest failing input so far.
/// - Result: an input that fails. If any one byte of it is removed, it does not fail; nor if any one unit of a coarser
///   level is. Of a part that is still longer than [`MAX_BYTES_ONE_BY_ONE`], this holds for the coarser levels only.
///   An outcome other than `Fail` counts as "does not fail".
///
/// No candidate is asked twice. The result and the used answers do not depend on the width of the search.
///
/// Cost in probes, with m bytes in the result and n in `start`: about m log2(n / m) for removals, and m more for each
/// round that changed something; usually two or three rounds.
pub async fn shrink(
    asker: Asker<Candidate, Outcome>,
    start: Candidate,
    forms: Vec<Form>,
    progress: Rc<RefCell<Progress>>,
) -> Candidate {
    let mut session = Session::new(asker, start, progress);
    loop {
        let before = session.current.size();
        for (index, form) in forms.iter().enumerate() {
            while session.is_nonempty(index) && coarse(&mut session, index, *form).await {}
        }
        for index in 0..forms.len() {
            fine(&mut session, index).await;
        }
        if session.current.size() == before {
            return session.current;
        }
    }
}

/// Removes units from the largest down to tokens; returns whether the part has become much smaller, so that a second
/// round is worth its probes.
async fn coarse(session: &mut Session, index: usize, form: Form) -> bool {
    const WORTH: usize = 2;
    let before = session.current.parts[index].len();
    for (units, divide) in views::coarse(form) {
        let Some(division) = divide(&session.current.parts[index]) else { continue };
        session.run(index, units, Removal::new(&session.current.parts[index], division)).await;
    }
    session.current.parts[index].len() * WORTH < before
}

/// Makes words shorter, and removes single tokens and bytes.
async fn fine(session: &mut Session, index: usize) {
    let text = Rc::clone(&session.current.parts[index]);
    session.run(index, "tokens", Removal::new(&text, views::tokens(&text))).await;
    let text = Rc::clone(&session.current.parts[index]);
    session.run(index, "words", Shortening::new(&text)).await;
    if session.current.parts[index].len() <= MAX_BYTES_ONE_BY_ONE {
        let text = Rc::clone(&session.current.parts[index]);
        session.run(index, "bytes", Removal::new(&text, views::bytes(&text))).await;
    }
}
