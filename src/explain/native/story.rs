//! A chain in the words of the source: which statement gave which variable which value, and what the reference has
//! there.
//!
//! A definition that only the failing run has is preceded by the decision that led there: the last one around it that
//! the reference has, too, and that went another way. Values that calls return are told where they differ. (The paper
//! has both as variables; here they are told, not tested.) A value that only the reference overwrites is told where
//! that is missing. A [link](crate::link) is what is told of a step, with its
//! [standing](crate::native::standing) and the names of [`variable`](crate::native::variable).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::chain::{Definition, FaultChain};
use crate::failure::RunWrong;
use crate::link::{Did, Link};
use crate::native::causality::{Causality, CausalityError, Forks, Omission};
use crate::native::instances::instances;
use crate::native::recorded::NativeRecorded;
use crate::native::standing::{Standing, giver, standing};
use crate::native::variable::{name_member, values, variable};
use crate::native::{texts, unwritten};
use idd_trace::{Step, TraceError};

/// Says which instance of its statement each link is, and the steps of some standings.
///
/// Cost: one pass over the failing run.
pub fn number(
    recorded: &mut NativeRecorded,
    links: &mut [Link],
    standings: &mut [(Step, &mut Standing)],
) -> Result<(), TraceError> {
    let steps = links.iter().map(|link| link.step).chain(standings.iter().map(|(step, _)| *step));
    let steps: Vec<Step> = steps.map(|step| giver(&recorded.run, step)).collect();
    let found = instances(recorded, &steps)?;
    let (of_links, of_standings) = steps.split_at(links.len());
    for (link, step) in links.iter_mut().zip(of_links) {
        // An empty arm has no steps that could be counted.
        link.instance = found.get(step).filter(|(_, place)| *place == link.place).map(|(instance, _)| *instance);
    }
    for ((_, standing), step) in standings.iter_mut().zip(of_standings) {
        standing.instance = found.get(step).map(|(instance, _)| *instance);
    }
    Ok(())
}

/// How much of a chain is told.
pub struct ToldExtent<'e, F: Forks> {
    /// Of a longer chain, so many definitions from its beginning and so many from its end are told in full; those between them without
    /// the decisions and calls behind them, and by the paths of their variables.
    pub n_kept: usize,
    /// Whether nothing more is to be told; asked between links.
    pub is_over: &'e mut dyn FnMut(&Causality<F>) -> bool,
}

/// What was told of a chain.
#[derive(Debug)]
pub struct ToldChain {
    /// The links in the order of time.
    pub links: Vec<Link>,
    /// The sets of the chain, from its end, that were told; the first one perhaps in part.
    pub n_sets: usize,
    /// The definitions without a link, if it was stopped.
    pub n_left: Option<usize>,
}

/// The links of a chain in the order of time; told from the last one on, so that the end of the chain is told if it is stopped.
///
/// - `switched`: the decision that makes the reference, if it is a switched run: all that differs begins with it, so it
///   is a link.
///
/// Cost: plays some stretches of both runs for each link.
pub fn tell<F: Forks>(
    causality: &mut Causality<F>,
    chain: &FaultChain,
    switched: Option<Step>,
    ToldExtent { n_kept, is_over }: ToldExtent<'_, F>,
) -> Result<ToldChain, CausalityError<F::Error>> {
    let mut links = Links::new();
    let (last, time) = (causality.failure().step, causality.failure().time);
    add_decision(causality, last, &mut links)?;
    if let RunWrong::Skipped(..) = causality.failure().wrong {
        add_outcome(causality, last, &mut links)?;
    }
    add_returns(causality, last, time, &mut links)?;
    if let Some(decision) = switched {
        add_outcome(causality, decision, &mut links)?;
    }
    let places = ToldPlaces::new(chain, n_kept);
    let mut behind = HashSet::new();
    let mut n_links = 0;
    for (index, (point, set)) in chain.sets.iter().enumerate() {
        // Something is told in any case.
        let mut is_over = |causality: &Causality<F>, n_links: usize| n_links > 0 && is_over(causality);
        let stopped = |links: Links, n_links| ToldChain {
            links: links.into_values().collect(),
            n_sets: index.max(1),
            n_left: Some(chain.definitions.len().saturating_sub(n_links)),
        };
        if is_over(causality, n_links) {
            return Ok(stopped(links, n_links));
        }
        let state = causality.state(*point)?;
        let spans = texts::spans(&state, set);
        for definition in set.iter().rev() {
            let Some((_, cell)) = state.cells.iter().find(|(other, _)| other == definition) else { continue };
            // What only the reference overwrote is faulty from there on.
            let omitted = causality.omission(*definition, cell);
            let is_new = omitted.is_some() || behind.insert((cell.writer, definition.time));
            // The set nearest to the definition tells the value as it was there.
            let is_nearest = places.nearest.get(definition) == Some(&index);
            if !is_new && !is_nearest {
                continue;
            }
            if is_over(causality, n_links) {
                return Ok(stopped(links, n_links));
            }
            let span = spans.iter().find(|span| span.holds(definition));
            let is_between = omitted.is_none() && span.is_none() && places.between.contains(definition);
            let mut found = standing(causality.failing(), cell.writer)?;
            if cell.writer == Step::START {
                found.place.clone_from(&cell.declared);
            }
            let mut step = cell.writer;
            let is_decided = match omitted {
                Some(gap) => add_outcome(causality, gap.decision, &mut links)?,
                None => false,
            };
            let time = omitted.map_or(definition.time, |gap| {
                if is_decided { gap.time.max(causality.failing().run.falls(gap.decision)) } else { gap.time }
            });
            if let Some(gap) = omitted.filter(|_| !is_decided)
                && let Some(missing) = missing(causality, gap)?
            {
                (step, found) = missing;
            }
            if is_nearest {
                let reference = causality.alignment().reference(step);
                let (variable, (value, other)) = if is_between {
                    (cell.path.clone(), cell.shown.clone())
                } else {
                    let mut shown = values(causality, cell)?;
                    let mut variable = variable(causality, cell, step, *point)?;
                    name_member(causality, cell, &mut variable, &mut shown)?;
                    (variable, shown)
                };
                let text = span.and_then(|span| span.told(&variable, cell.address));
                let did = Did::Gave { variable, value, reference: other, is_kept: omitted.is_some() };
                let (function, place) = (found.function, found.place);
                let link = Link { reference, function, place, text, ..Link::new(step, time, did) };
                let writer = if omitted.is_some() { Step::START } else { cell.writer };
                links.insert(LinkTime::new(time, writer, Rank::Written, Some(*definition)), link);
                n_links += 1;
            }
            if omitted.is_some() || is_between || !is_new {
                continue;
            }
            add_decision(causality, step, &mut links)?;
            let run = &causality.failing().run;
            let giver = giver(run, step);
            add_returns(causality, giver, definition.time, &mut links)?;
        }
    }
    let mut links: Vec<Link> = links.into_values().collect();
    for link in &mut links {
        if let Did::Gave { value, is_kept: false, .. } | Did::Returned { value, .. } = &mut link.did
            && let Some(source) = unwritten::read(causality.failing(), link.step)?
        {
            value.push_str(" from ");
            value.push_str(&source);
        }
    }
    Ok(ToldChain { links, n_sets: chain.sets.len(), n_left: None })
}

/// Where not a decision, but the program itself leaves out what the reference has: in an arm without a step, which stands at its decision, or at a step.
fn missing<F: Forks>(
    causality: &mut Causality<F>,
    gap: Omission,
) -> Result<Option<(Step, Standing)>, CausalityError<F::Error>> {
    if gap.is_arm_empty {
        let decision = standing(causality.failing(), gap.decision)?;
        if decision.arm.is_some() {
            return Ok(Some((gap.decision, Standing { place: decision.arm.clone(), ..decision })));
        }
    }
    Ok(match gap.place {
        Some(place) => Some((place, standing(causality.failing(), place)?)),
        None => None,
    })
}

/// Where the definitions of a chain are told, and how.
struct ToldPlaces {
    /// The set that is nearest to each.
    nearest: HashMap<Definition, usize>,
    /// Those that are neither near the beginning nor near the end of the chain.
    between: HashSet<Definition>,
}

impl ToldPlaces {
    fn new(chain: &FaultChain, n_kept: usize) -> Self {
        let sets = chain.sets.iter().enumerate();
        let nearest =
            sets.flat_map(|(index, (_, set))| set.iter().map(move |definition| (*definition, index))).collect();
        let n_between = chain.definitions.len().saturating_sub(2 * n_kept);
        let between = chain.definitions.iter().skip(n_kept).take(n_between).copied().collect();
        Self { nearest, between }
    }
}

/// The links of a chain in the order in which values came to be.
type Links = BTreeMap<LinkTime, Link>;

/// When a link came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LinkTime {
    /// Steps that had begun by then.
    time: u64,
    /// Of steps that waited for the same one, the one that began last goes on first: the others called it.
    step: Reverse<Step>,
    rank: Rank,
    definition: Option<Definition>,
}

impl LinkTime {
    /// - `step`: what came to be with it; [`Step::START`] for what is only missing there, which comes last.
    fn new(time: u64, step: Step, rank: Rank, definition: Option<Definition>) -> Self {
        Self { time, step: Reverse(step), rank, definition }
    }
}

/// Calls come back before decisions fall with what they returned, and those before what is written because of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Returned,
    Decided,
    Written,
}

/// Adds what a step that the reference does not have runs because of.
fn add_decision<F: Forks>(
    causality: &mut Causality<F>,
    step: Step,
    links: &mut Links,
) -> Result<(), CausalityError<F::Error>> {
    match causality.decision(step) {
        Some(decision) => add_outcome(causality, decision, links).map(drop),
        None => Ok(()),
    }
}

/// Adds a decision if it went another way in the reference; returns whether it did.
fn add_outcome<F: Forks>(
    causality: &mut Causality<F>,
    decision: Step,
    links: &mut Links,
) -> Result<bool, CausalityError<F::Error>> {
    let other = causality.alignment().reference(decision);
    let ours = standing(causality.failing(), decision)?;
    let theirs = match other {
        Some(other) => standing(causality.reference(), other)?,
        None => Standing::default(),
    };
    let (Some(outcome), Some(reference)) = (ours.outcome, theirs.outcome) else { return Ok(false) };
    let apart = outcome.apart(&reference);
    let is_other = apart.is_some();
    if let Some((outcome, reference)) = apart {
        let did = Did::Decided { outcome, reference };
        let time = causality.failing().run.falls(decision);
        let (function, place) = (ours.function, ours.place);
        let link = Link { reference: other, function, place, ..Link::new(decision, time, did) };
        if links.insert(LinkTime::new(time, decision, Rank::Decided, None), link).is_none() {
            add_returns(causality, decision, u64::MAX, links)?;
        }
    }
    Ok(is_other)
}

/// Adds the calls behind a step whose values are in no variable.
fn add_returns<F: Forks>(
    causality: &mut Causality<F>,
    step: Step,
    before: u64,
    links: &mut Links,
) -> Result<(), CausalityError<F::Error>> {
    for (ours, theirs) in causality.returns(step, before)? {
        let found = standing(causality.failing(), ours.step)?;
        let did = Did::Returned { function: ours.function, value: ours.text, reference: theirs.text };
        // A `return` that calls comes after what it calls.
        let time = causality.failing().run.falls(ours.step);
        let (reference, function, place) = (Some(theirs.step), found.function, found.place);
        let link = Link { reference, function, place, ..Link::new(ours.step, time, did) };
        if links.insert(LinkTime::new(time, ours.step, Rank::Returned, None), link).is_none() {
            add_decision(causality, ours.step, links)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::RunEnding;
    use crate::native::stored::{causality, chain, links};

    #[test]
    fn links_stand_in_the_order_in_which_values_came_to_be() {
        // `x = outer()` is step 4; `outer` returns with 6, which calls `inner`, which decides with 8 and returns with
        // 10.
        let order = [
            LinkTime::new(8, Step(8), Rank::Decided, None),
            LinkTime::new(10, Step(10), Rank::Returned, None),
            LinkTime::new(10, Step(6), Rank::Returned, None),
            LinkTime::new(10, Step(4), Rank::Decided, None),
            LinkTime::new(10, Step(4), Rank::Written, None),
            // What the reference would have overwritten because of the decision.
            LinkTime::new(10, Step::START, Rank::Written, None),
            LinkTime::new(11, Step(11), Rank::Returned, None),
        ];
        assert!(order.is_sorted());
    }

    /// What the links of all that is faulty before the failure say: line, and value and reference, if they have one.
    fn told(program: &str) -> Vec<(u32, String)> {
        let mut causality = causality(program, RunEnding::Exit(0));
        let last = causality.failure().step;
        let chain = chain(&mut causality, last, |_, _| true);
        let text = |did: Did| match did {
            Did::Gave { variable, value, reference, .. } => format!("{variable} = {value} ({reference})"),
            Did::Returned { function, value, reference } => format!("{function} returned {value} ({reference})"),
            Did::Decided { outcome, reference } => format!("{outcome} ({reference})"),
            Did::Differs(_) | Did::Holds { .. } | Did::Used(_) | Did::Replaced { .. } => String::new(),
        };
        links(&mut causality, &chain)
            .into_iter()
            .map(|link| (link.place.map_or(0, |place| place.line), text(link.did)))
            .collect()
    }

    /// The variables of the links of a chain with a set for each faulty variable before the failure, of which `n_told` are told; and how many are left.
    fn told_in_part(n_kept: usize, n_told: usize) -> (Vec<String>, Option<usize>) {
        let mut causality = causality("list", RunEnding::Exit(0));
        let last = causality.failure().step;
        let mut chain = chain(&mut causality, last, |_, _| true);
        let (point, set) = chain.sets.remove(0);
        chain.sets = set.iter().map(|definition| (point, vec![*definition])).collect();
        let mut n_asked = 0;
        // It is asked before each set, and before each link.
        let mut is_over = |_: &Causality<_>| {
            n_asked += 1;
            n_asked > 2 * (n_told - 1)
        };
        let told = tell(&mut causality, &chain, None, ToldExtent { n_kept, is_over: &mut is_over }).unwrap();
        assert_eq!(told.n_sets, n_told.min(set.len()));
        let variable = |link: Link| match link.did {
            Did::Gave { variable, .. } => Some(variable),
            _ => None,
        };
        (told.links.into_iter().filter_map(variable).collect(), told.n_left)
    }

    #[test]
    fn a_chain_that_is_not_told_to_its_beginning_has_its_last_links() {
        let (all, n_left) = told_in_part(200, 1000);
        assert!(all.len() > 1 && n_left.is_none(), "{all:?}");
        for n_told in 1..all.len() {
            let n_left = all.len() - n_told;
            assert_eq!(told_in_part(200, n_told), (all[n_left..].to_vec(), Some(n_left)));
        }
    }

    #[test]
    fn links_between_those_that_are_kept_are_told_without_a_search_for_their_names() {
        let ((all, _), (plain, n_left)) = (told_in_part(200, 1000), told_in_part(0, 1000));
        assert_eq!((plain.len(), n_left), (all.len(), None));
        assert_ne!(plain, all);
    }

    #[test]
    fn initial_values_parts_of_the_heap_and_characters_are_told_where_they_came_to_be() {
        let expected = [(8, "weights[1] = 4 (3)"), (26, "node->value = 4 (3)"), (18, "total returned 11 (10)")];
        assert_eq!(told("list"), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(told("text"), [(11, "text[1] = 111 'o' (105 'i')".to_owned())]);
    }
}
