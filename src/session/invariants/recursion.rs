//! A recursion that does not end: where it begins to repeat itself.
//!
//! A run that exhausts its stack crashes at an arbitrary step, in an activation that is like thousands before it. What
//! has to be explained is why the function calls itself again, and the first activations say that as well as the last.

use idd_trace::native::NativePlayer;
use idd_trace::{Step, TraceError};
use std::sync::Arc;

/// A stack with fewer activations is not exhausted by a recursion.
const MIN_DEPTH: usize = 1000;

/// Activations of the longest recursion that is seen: `a` calls `b`, which calls `c`, which calls `a`.
const MAX_PERIOD: usize = 64;

/// Periods that are left before the one that is explained.
const N_BEFORE: usize = 2;

/// A recursion that does not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recursion {
    /// The step that makes the call with which the function runs for the third time.
    pub step: Step,
    /// The function.
    pub function: Arc<str>,
    /// How many activations there are at the end.
    pub depth: usize,
}

/// The recursion in which a run ends, if it ends in one.
///
/// - `is_shared`: whether a passing run makes the same call. Then one that it does not make is explained.
///
/// Cost: one pass over the trace, unless the player is at its end.
pub fn find(player: &mut NativePlayer, is_shared: &dyn Fn(Step) -> bool) -> Result<Option<Recursion>, TraceError> {
    player.seek(u64::MAX)?;
    let frames = &player.machine.frames;
    // An activation as a number: its function, and the statement that it is at.
    let sites: Vec<(u32, u32)> = frames.iter().map(|frame| (frame.shape.index, frame.statement)).collect();
    let Some(begin) = repeats_from(&sites) else { return Ok(None) };
    let mut after = frames.iter().skip(begin);
    let Some(frame) = after.find(|frame| !is_shared(frame.step)) else { return Ok(None) };
    Ok(Some(Recursion { step: frame.step, function: frame.shape.name(), depth: frames.len() }))
}

/// The last activation of the second period of what repeats at the end, but for the last period; `None` if that is not
/// most of it.
fn repeats_from(sites: &[(u32, u32)]) -> Option<usize> {
    let n = sites.len().checked_sub(MAX_PERIOD).filter(|_| sites.len() >= MIN_DEPTH)?;
    let begin = |period: usize| {
        let n_same = (period..n).rev().take_while(|at| sites[*at] == sites[*at - period]).count();
        (n - n_same - period, n_same)
    };
    let (period, (begin, _)) =
        (1..=MAX_PERIOD).map(|period| (period, begin(period))).find(|(_, (_, n_same))| 2 * n_same > sites.len())?;
    Some(begin + N_BEFORE * period - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_repeats_is_found() {
        let begin = [(1, 1), (2, 5), (3, 1)];
        let all = |period: &[(u32, u32)], n: usize| -> Vec<(u32, u32)> {
            begin.into_iter().chain(period.iter().copied().cycle().take(n)).collect()
        };
        assert_eq!(repeats_from(&all(&[(7, 2)], 2000)), Some(3 + 1));
        assert_eq!(repeats_from(&all(&[(7, 2), (8, 2), (9, 1)], 2000)), Some(3 + 5));
        assert_eq!(repeats_from(&all(&[(7, 2)], 900)), None, "too few");
        let mut other = all(&[(7, 2)], 2000);
        other.extend((0..2100).map(|n| (n, n)));
        assert_eq!(repeats_from(&other), None, "the end does not repeat");
        let mut crashing = all(&[(7, 2), (8, 2)], 2000);
        crashing.extend([(10, 1), (11, 1)]);
        assert_eq!(repeats_from(&crashing), Some(3 + 3), "the last ones call something else");
    }
}
