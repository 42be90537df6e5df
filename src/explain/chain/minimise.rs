//! The failure-inducing set at one point.

use std::collections::HashSet;

use crate::chain::executions::{AlignedPoint, CausalityTest, Definition, Executions, Goal};
use crate::chain::session::ExecutionSession;

/// Finds a minimal set of faulty definitions at `point` that induces `goal`, in temporal order.
///
/// Definitions of the goal that are faulty at `point` already are its base: no run from there on makes a definition of
/// an earlier time, so nothing without them induces the goal. The base is asked first, alone; of a goal that is the failure it
/// is empty. Then the rest of the faulty state is reduced over its fixed order.
///
/// None if not even the whole faulty state induces the goal.
///
/// Cost: one test if the base suffices; otherwise at most about 2 + 2k log2(n / k) + k, k = definitions found, n = faulty ones,
/// where every superset of what induces does so too; at most n² + 5n in any case.
///
/// Source: Sumner and Zhang, section 4.2. Deviations: the state is a flat list in a fixed order, not a memory graph; the set that
/// is to be induced is tried first, since it need not be the only minimal one; divide and conquer comes before delta
/// debugging, because a set is small and found in fewer tests so.
pub(super) fn inducing_set<E: Executions>(
    session: &mut ExecutionSession<'_, E>,
    point: AlignedPoint,
    goal: &Goal,
) -> Result<Option<Vec<Definition>>, E::Error> {
    let faulty = session.faulty(point)?;
    let wanted: HashSet<Definition> = match goal {
        Goal::Failure => HashSet::new(),
        Goal::Set { definitions, .. } => definitions.iter().copied().collect(),
    };
    let (base, rest): (Vec<_>, Vec<_>) = faulty.iter().partition(|definition| wanted.contains(definition));
    let with_base = |added: &[Definition]| {
        let mut retained = [&base, added].concat();
        retained.sort_unstable();
        retained
    };
    let test = |added: &[Definition]| CausalityTest { point, retained: with_base(added), goal: goal.clone() };
    let added = minimal(&rest, &mut |added| session.ask(test(added)))?;
    Ok(added.map(|added| with_base(&added)))
}

/// Answers whether a part of the whole, in its order, induces the goal.
type Induces<'a, E> = &'a mut dyn FnMut(&[Definition]) -> Result<bool, E>;

/// Reduces `whole` to a 1-minimal part that induces; none if `whole` does not.
fn minimal<E>(whole: &[Definition], induces: Induces<'_, E>) -> Result<Option<Vec<Definition>>, E> {
    if induces(&[])? {
        return Ok(Some(Vec::new()));
    }
    if !induces(whole)? {
        return Ok(None);
    }
    let mut smallest = whole.to_vec();
    let found = divided(&[], false, whole, &mut |part| {
        let is_induced = induces(part)?;
        if is_induced && part.len() < smallest.len() {
            smallest = part.to_vec();
        }
        Ok(is_induced)
    })?;
    let (found, n_chunks) = if induces(&found)? { (found, whole.len()) } else { (smallest, 2) };
    debugged(found, n_chunks, induces).map(Some)
}

/// Finds a part of `whole` that induces together with `given`.
///
/// - `is_asked`: whether `given` alone is worth a question (it is not where that is known not to induce).
/// - Result: minimal, and the first such set in the fixed order, if every superset of what induces does so too; otherwise it
///   may be neither minimal nor induce.
///
/// Source: Junker 2004, algorithm `QuickXplain`.
fn divided<E>(
    given: &[Definition],
    is_asked: bool,
    whole: &[Definition],
    induces: Induces<'_, E>,
) -> Result<Vec<Definition>, E> {
    if is_asked && induces(given)? {
        return Ok(Vec::new());
    }
    if whole.len() < 2 {
        return Ok(whole.to_vec());
    }
    let (earlier, later) = whole.split_at(whole.len() / 2);
    let of_later = divided(&[given, earlier].concat(), true, later, induces)?;
    let of_earlier = divided(&[given, &of_later].concat(), !of_later.is_empty(), earlier, induces)?;
    Ok([of_earlier, of_later].concat())
}

/// Shrinks `found`, which induces, to a 1-minimal part that does, beginning with chunks of one `n_chunks`-th.
///
/// Source: Zeller and Hildebrandt 2002, algorithm ddmin. Deviations: complements only; what is likely minimal already is first
/// tried without its single definitions, not without its halves.
fn debugged<E>(mut found: Vec<Definition>, n_chunks: usize, induces: Induces<'_, E>) -> Result<Vec<Definition>, E> {
    let mut n_chunks = n_chunks.min(found.len());
    while !found.is_empty() {
        let bound = |chunk: usize| chunk * found.len() / n_chunks;
        let mut smaller = None;
        for chunk in 0..n_chunks {
            let complement = [&found[..bound(chunk)], &found[bound(chunk + 1)..]].concat();
            if induces(&complement)? {
                smaller = Some(complement);
                break;
            }
        }
        if let Some(complement) = smaller {
            found = complement;
            n_chunks = n_chunks.saturating_sub(1).max(2).min(found.len());
        } else if n_chunks == found.len() {
            break;
        } else {
            n_chunks = (2 * n_chunks).min(found.len());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use std::convert::Infallible;

    use super::{Definition, minimal};
    use crate::chain::executions::PathVariable;

    const N: u32 = 6;

    fn whole() -> Vec<Definition> {
        (0..N).map(|variable| Definition { time: u64::from(N - variable), variable: PathVariable(variable) }).collect()
    }

    fn bits(part: &[Definition]) -> u32 {
        part.iter().map(|definition| 1 << definition.variable.0).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(500) })]

        /// Bit i of `inducing` says whether the definitions that are the bits of i induce.
        #[test]
        fn whatever_the_answers_the_set_induces_and_is_minimal(inducing in any::<u64>()) {
            let induces = |part: u32| inducing >> part & 1 == 1;
            let found = minimal(&whole(), &mut |part| Ok::<_, Infallible>(induces(bits(part)))).unwrap();
            match found.map(|found| bits(&found)) {
                None => prop_assert!(!induces(0) && !induces((1 << N) - 1)),
                Some(found) => {
                    prop_assert!(induces(found));
                    prop_assert!((0..N).all(|one| found >> one & 1 == 0 || !induces(found & !(1 << one))));
                }
            }
        }

        #[test]
        fn of_monotone_answers_the_first_minimal_set_is_found(needed in prop::collection::vec(1..1_u32 << N, 1..4)) {
            let induces = |part: u32| needed.iter().any(|needed| part & needed == *needed);
            let found = minimal(&whole(), &mut |part| Ok::<_, Infallible>(induces(bits(part)))).unwrap().unwrap();
            // Whose last definitions, in the fixed order, come first of all.
            let first = needed.iter().filter(|set| needed.iter().all(|other| other == *set || other & *set != *other)).min();
            prop_assert_eq!(bits(&found), *first.unwrap());
        }
    }
}
