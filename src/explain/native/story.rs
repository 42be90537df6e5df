//! A chain in the words of the source: which statement gave which variable which value, and what the reference has
//! there.
//!
//! A definition that only the failing run has is preceded by the decision that led there: the last one around it that
//! the reference has, too, and that went another way. Values that calls return are told where they differ. (The paper
//! has both as variables; here they are told, not tested.) A value that only the reference overwrites is told where
//! that is missing.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use crate::explain::chain::Chain;
use crate::explain::chain::Definition;
use crate::explain::chain::Point;
use crate::explain::failure::Wrong;
use crate::explain::native::align::state::Cell;
use crate::explain::native::align::statements;
use crate::explain::native::causality::Causality;
use crate::explain::native::causality::CausalityError;
use crate::explain::native::causality::Forks;
use crate::explain::native::instances::Instance;
use crate::explain::native::instances::instances;
use crate::explain::native::naming;
use crate::explain::native::recorded::Recorded;
use crate::explain::native::texts;
use crate::explain::native::texts::Text;
use crate::explain::native::unions;
use crate::explain::native::unwritten;
use crate::instrument::instruction::Op;
use crate::plural::count;
use crate::plural::ordinal;
use crate::trace::TraceError;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::visit::at_step;
use crate::trace::place::Place;
use crate::trace::run::Run;
use crate::trace::step::Step;

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// It gave a variable a value.
    Gave {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What the reference has there.
        reference: String,
        /// Whether it is faulty only because the reference overwrote it later.
        is_kept: bool,
    },
    /// A call came back with a value.
    Returned {
        /// The function.
        function: Arc<str>,
        /// Its value.
        value: String,
        /// What it returned in the reference.
        reference: String,
    },
    /// It decided: whether its condition was true, or in which line it went on; in both runs.
    Decided {
        /// In the failing run.
        outcome: String,
        /// In the reference.
        reference: String,
    },
    /// It is of the change, and leads to the next link in a way that no variable shows; where both runs go on if that is where they part.
    Differs(Option<(String, String)>),
    /// The versions differ there, and the next link reads from the file with this path, which it used.
    Used(String),
    /// It is before the switched decision: with another value there, the program does what it does when the decision is switched.
    Replaced {
        /// What has the value.
        what: What,
        /// The value.
        value: String,
        /// The value with which the test passes.
        instead: String,
    },
}

/// What has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A variable.
    Variable(String),
    /// A function that returned it.
    Call(Arc<str>),
    /// A decision.
    Decision,
}

/// A link of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The step of the failing run; [`Step::START`] for what was there from the beginning.
    pub step: Step,
    /// When it was, in steps that had begun.
    pub time: u64,
    /// The step of the reference that corresponds.
    pub reference: Option<Step>,
    /// Its function.
    pub function: Option<Arc<str>>,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// Which instance of its statement it is, once that is known.
    pub instance: Option<Instance>,
    /// What it did.
    pub did: Did,
    /// The text that it is one of the characters of.
    pub text: Option<Text>,
}

/// Where a step stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its function.
    pub function: Option<Arc<str>>,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// For a decision: how it went.
    pub outcome: Option<Outcome>,
    /// Which instance of its statement it is, once that is known.
    pub instance: Option<Instance>,
}

/// How a decision went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// `true`, `false`, or the line that was chosen.
    pub told: String,
    /// The line that was chosen.
    way: String,
    /// What the decision computes.
    condition: Option<String>,
    /// Which of its successors was chosen.
    successor: Option<Successor>,
}

/// That a run goes on at a place.
pub fn way(place: &Place) -> String {
    format!("decided for line {}", place.line)
}

/// One of the blocks that a decision leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Successor {
    /// That of a branch where its condition holds, or does not hold.
    Branch(bool),
    /// That of a `case`; none for the default.
    Case(Option<i128>),
}

impl Outcome {
    fn is_boolean(&self) -> bool {
        matches!(&*self.told, "true" | "false")
    }

    /// How both went, if not in the same way. The same condition in both versions is compared by what it chose, because lines move.
    pub(super) fn apart(&self, reference: &Self) -> Option<(String, String)> {
        if self.is_boolean() && reference.is_boolean() && self.told != reference.told {
            return Some((self.told.clone(), reference.told.clone()));
        }
        if self.condition.is_some() && self.condition == reference.condition && self.successor == reference.successor {
            return None;
        }
        // The versions have other conditions, perhaps with the same outcome.
        (self.way != reference.way).then(|| (self.way.clone(), reference.way.clone()))
    }
}

/// The step that stands for another one: for the entry of a function its call.
pub(super) fn giver(run: &Run, step: Step) -> Step {
    let caller = Step(run.callers[step.0 as usize]);
    if run.entries[step.0 as usize] && caller != Step::START { caller } else { step }
}

/// Says which instance of its statement each link is, and the steps of some standings.
///
/// Cost: one pass over the failing run.
pub fn number(
    recorded: &mut Recorded,
    links: &mut [Link],
    standings: &mut [(Step, &mut Standing)],
) -> Result<(), TraceError> {
    let steps = links.iter().map(|link| link.step).chain(standings.iter().map(|(step, _)| *step));
    let steps: Vec<Step> = steps.map(|step| giver(&recorded.run, step)).collect();
    let found = instances(recorded, &steps)?;
    let (of_links, of_standings) = steps.split_at(links.len());
    for (link, step) in links.iter_mut().zip(of_links) {
        link.instance = found.get(step).copied();
    }
    for ((_, standing), step) in standings.iter_mut().zip(of_standings) {
        standing.instance = found.get(step).copied();
    }
    Ok(())
}

/// Looks a step up in its run; what the entry of a function gives to its parameters is given at the call.
pub fn standing(recorded: &mut Recorded, step: Step) -> Result<Standing, TraceError> {
    let step = giver(&recorded.run, step);
    looked(recorded, step)
}

/// Looks a step up; there is nothing to say of the start.
fn looked(recorded: &mut Recorded, step: Step) -> Result<Standing, TraceError> {
    let mut look = Look { block: 0, statement: 0, standing: Standing::default(), is_over: false };
    at_step(&mut recorded.player, step, &mut look)?;
    Ok(look.standing)
}

/// How much of a chain is told.
pub struct Extent<'e, F: Forks> {
    /// Of a longer chain, so many definitions from its beginning and so many from its end are told in full; those between them without
    /// the decisions and calls behind them, and by the paths of their variables.
    pub n_kept: usize,
    /// Whether nothing more is to be told; asked between links.
    pub is_over: &'e mut dyn FnMut(&Causality<F>) -> bool,
}

/// What was told of a chain.
#[derive(Debug)]
pub struct Told {
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
    chain: &Chain,
    switched: Option<Step>,
    Extent { n_kept, is_over }: Extent<'_, F>,
) -> Result<Told, CausalityError<F::Error>> {
    let mut links = Links::new();
    let (last, time) = (causality.failure().step, causality.failure().time);
    add_decision(causality, last, &mut links)?;
    if let Wrong::Skipped(..) = causality.failure().wrong {
        add_outcome(causality, last, &mut links)?;
    }
    add_returns(causality, last, time, &mut links)?;
    if let Some(decision) = switched {
        add_outcome(causality, decision, &mut links)?;
    }
    let places = Places::new(chain, n_kept);
    let mut behind = HashSet::new();
    let mut n_links = 0;
    for (index, (point, set)) in chain.sets.iter().enumerate() {
        // Something is told in any case.
        let mut is_over = |causality: &Causality<F>, n_links: usize| n_links > 0 && is_over(causality);
        let stopped = |links: Links, n_links| Told {
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
            if let Some(place) = omitted.filter(|_| !is_decided).and_then(|gap| gap.place) {
                // Not a decision, but the program itself leaves it out: it is missing there.
                (step, found) = (place, standing(causality.failing(), place)?);
            }
            if is_nearest {
                let reference = causality.alignment().reference(step);
                let (variable, (value, other)) = if is_between {
                    (cell.path.clone(), cell.shown.clone())
                } else {
                    let mut shown = values(causality, cell)?;
                    let mut variable = variable(causality, cell, (step, *point), omitted.is_some())?;
                    name_member(causality, cell, &mut variable, &mut shown)?;
                    (variable, shown)
                };
                let text = span.and_then(|span| span.told(&variable, cell.address));
                let did = Did::Gave { variable, value, reference: other, is_kept: omitted.is_some() };
                let (function, place) = (found.function, found.place);
                let link = Link { step, time, reference, function, place, instance: None, did, text };
                let writer = if omitted.is_some() { Step::START } else { cell.writer };
                links.insert(Moment::new(time, writer, Rank::Written, Some(*definition)), link);
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
            && let Some(name) = unwritten::read(causality.failing(), link.step)?
        {
            value.push_str(" from ");
            value.push_str(&name);
            value.push_str(", never written");
        }
    }
    Ok(Told { links, n_sets: chain.sets.len(), n_left: None })
}

/// Where the definitions of a chain are told, and how.
struct Places {
    /// The set that is nearest to each.
    nearest: HashMap<Definition, usize>,
    /// Those that are neither near the beginning nor near the end of the chain.
    between: HashSet<Definition>,
}

impl Places {
    fn new(chain: &Chain, n_kept: usize) -> Self {
        let sets = chain.sets.iter().enumerate();
        let nearest =
            sets.flat_map(|(index, (_, set))| set.iter().map(move |definition| (*definition, index))).collect();
        let n_between = chain.definitions.len().saturating_sub(2 * n_kept);
        let between = chain.definitions.iter().skip(n_kept).take(n_between).copied().collect();
        Self { nearest, between }
    }
}

/// What a variable is called where its link stands; what the entry of a function gives is a parameter of that, and
/// stands at the call.
fn variable<F: Forks>(
    causality: &mut Causality<F>,
    cell: &Cell,
    (step, point): (Step, Point),
    is_kept: bool,
) -> Result<String, CausalityError<F::Error>> {
    let run = &causality.failing().run;
    if !is_kept && step != Step::START && giver(run, step) != step {
        let function = looked(causality.failing(), step)?.function.unwrap_or_default();
        let name = cell.path.strip_prefix(&*format!("{function}.")).unwrap_or(&cell.path);
        return Ok(format!("{function}.{name}"));
    }
    name(causality, (cell.address, cell.length), &cell.path, (step, point))
}

/// What bytes are called at a step, else at a point; `path` is told of what is no variable: what a function returns,
/// what the program was given.
fn name<F: Forks>(
    causality: &mut Causality<F>,
    (address, length): (u64, u64),
    path: &str,
    (step, point): (Step, Point),
) -> Result<String, CausalityError<F::Error>> {
    let place = [(address, length)];
    if let Some(found) = naming::before(causality.failing(), step, &place, None)?.pop().flatten() {
        return Ok(found);
    }
    let Some(block) = causality.state(point)?.block(address) else { return Ok(path.to_owned()) };
    let home = standing(causality.failing(), step)?.function;
    let at = causality.steps(point).0;
    if let Some(found) = naming::before(causality.failing(), at, &place, home.as_ref())?.pop().flatten() {
        return Ok(found);
    }
    let made = standing(causality.failing(), block.made)?.place.map_or(0, |place| place.line);
    Ok(format!("{} at {} of the block made in line {made}", count(length, "byte"), address - block.address))
}

/// Names the member of a union that a cell is, and shows it as its type has it, if both runs stored the same member.
fn name_member<F: Forks>(
    causality: &mut Causality<F>,
    cell: &Cell,
    variable: &mut String,
    shown: &mut (String, String),
) -> Result<(), CausalityError<F::Error>> {
    let (Some(union), Some(reference)) = (&cell.union, &cell.reference) else { return Ok(()) };
    let stored = unions::stored(causality.failing(), cell.writer, (cell.address, cell.length))?;
    let Some(ty) = stored else { return Ok(()) };
    let theirs = unions::stored(causality.reference(), cell.reference_writer, (cell.reference_address, cell.length))?;
    if theirs.as_ref() != Some(&ty) {
        return Ok(());
    }
    let named = union.member(&ty).and_then(|member| union.named(variable, cell.length, member));
    if let Some(named) = named {
        *variable = named;
        if let (Some(ours), Some(theirs)) = (unions::shown(&ty, &cell.bytes), unions::shown(&ty, reference)) {
            *shown = (ours, theirs);
        }
    }
    Ok(())
}

/// What a variable holds in both runs. Pointers to blocks that look the same are told apart by the statements that made
/// the blocks.
fn values<F: Forks>(causality: &mut Causality<F>, cell: &Cell) -> Result<(String, String), CausalityError<F::Error>> {
    let (mut value, mut other) = cell.shown.clone();
    if let (Some(ours), Some(theirs)) = cell.made {
        value.push_str(&made(causality.failing(), ours)?);
        let here = causality.alignment().failing(theirs);
        if let Some(here) = here {
            other.push_str(&made(causality.failing(), here)?);
        } else {
            other.push_str(&made(causality.reference(), theirs)?);
            other.push_str(", which only the reference does");
        }
    }
    Ok((value, other))
}

/// Where a block was made.
fn made(recorded: &mut Recorded, step: Step) -> Result<String, TraceError> {
    let line = standing(recorded, step)?.place.map_or(0, |place| place.line);
    let instance = instances(recorded, &[step])?.remove(&step).filter(|instance| instance.of > 1);
    let which = instance.map(|instance| format!(", {} time", ordinal(u64::from(instance.nth))));
    Ok(format!(" made in line {line}{}", which.unwrap_or_default()))
}

/// The links of a chain in the order in which values came to be.
type Links = BTreeMap<Moment, Link>;

/// When a link came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    /// Steps that had begun by then.
    time: u64,
    /// Of steps that waited for the same one, the one that began last goes on first: the others called it.
    step: Reverse<Step>,
    rank: Rank,
    definition: Option<Definition>,
}

impl Moment {
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
        let link = Link { step: decision, time, reference: other, function, place, instance: None, did, text: None };
        if links.insert(Moment::new(time, decision, Rank::Decided, None), link).is_none() {
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
        let link = Link {
            step: ours.step,
            time,
            reference: Some(theirs.step),
            function: found.function,
            place: found.place,
            instance: None,
            did,
            text: None,
        };
        if links.insert(Moment::new(time, ours.step, Rank::Returned, None), link).is_none() {
            add_decision(causality, ours.step, links)?;
        }
    }
    Ok(())
}

/// Looks where a step stands, and how it decided.
struct Look {
    /// Its block, and its number in its function.
    block: u32,
    statement: u32,
    standing: Standing,
    is_over: bool,
}

impl Watch for Look {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        self.standing.function = Some(frame.shape.name());
        self.standing.place = frame.place().cloned();
        if frame.shape.is_decision(frame.statement) {
            (self.block, self.statement) = (frame.block.0, frame.statement);
        } else {
            self.is_over = true;
        }
    }

    fn block(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let function = &frame.shape.body.function;
        let decision = function.blocks[self.block as usize].instructions.last();
        let label = &*function.block(frame.block).label;
        let is_taken =
            ["if.then", "for.body", "while.body", "do.body", "cond.true", "land.rhs", "land.lhs.true", "lor.end"];
        let is_left = [
            "if.end",
            "if.else",
            "for.end",
            "while.end",
            "do.end",
            "cond.false",
            "land.end",
            "lor.rhs",
            "lor.lhs.false",
        ];
        let begins = |labels: &[&str]| labels.iter().any(|begin| label.starts_with(begin));
        let statement = frame.shape.statements.iter().find(|statement| statement.block == frame.block);
        let place = statement.and_then(|statement| statement.place.as_ref());
        let way = place.map_or_else(|| "decided so".to_owned(), way);
        let decision = decision.map(|instruction| &instruction.op);
        let told = match decision {
            Some(Op::Branch(..)) if begins(&is_taken) => "true".to_owned(),
            Some(Op::Branch(..)) if begins(&is_left) => "false".to_owned(),
            _ => way.clone(),
        };
        let successor = match decision {
            Some(Op::Branch(then, _)) => Some(Successor::Branch(*then == frame.block)),
            Some(Op::Switch(_, cases)) => {
                let case = cases.iter().find(|(_, block)| *block == frame.block);
                Some(Successor::Case(case.map(|(value, _)| *value)))
            }
            _ => None,
        };
        let condition = statements::exactly(&frame.shape, self.statement);
        self.standing.outcome = Some(Outcome { told, way, condition, successor });
        self.is_over = true;
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::failure::Ending;
    use crate::explain::native::stored::causality;
    use crate::explain::native::stored::chain;
    use crate::explain::native::stored::links;

    #[test]
    fn links_stand_in_the_order_in_which_values_came_to_be() {
        // `x = outer()` is step 4; `outer` returns with 6, which calls `inner`, which decides with 8 and returns with
        // 10.
        let order = [
            Moment::new(8, Step(8), Rank::Decided, None),
            Moment::new(10, Step(10), Rank::Returned, None),
            Moment::new(10, Step(6), Rank::Returned, None),
            Moment::new(10, Step(4), Rank::Decided, None),
            Moment::new(10, Step(4), Rank::Written, None),
            // What the reference would have overwritten because of the decision.
            Moment::new(10, Step::START, Rank::Written, None),
            Moment::new(11, Step(11), Rank::Returned, None),
        ];
        assert!(order.is_sorted());
    }

    #[test]
    fn the_same_condition_is_compared_by_what_it_chose_and_another_one_by_its_line() {
        let outcome = |told: &str, line: u32, condition: &str, successor| Outcome {
            told: told.to_owned(),
            way: format!("decided for line {line}"),
            condition: Some(condition.to_owned()),
            successor: Some(successor),
        };
        let case = |n| Successor::Case(Some(n));
        let (five, moved) = (outcome("", 5, "switch x", case(1)), outcome("", 6, "switch x", case(1)));
        assert_eq!(five.apart(&moved), None, "lines move");
        let pair = |one: &str, two: &str| Some((one.to_owned(), two.to_owned()));
        let other = outcome("", 9, "switch x", case(2));
        assert_eq!(five.apart(&other), pair("decided for line 5", "decided for line 9"));
        let (yes, no) = (Successor::Branch(true), Successor::Branch(false));
        let taken = outcome("true", 5, "x", yes);
        assert_eq!(taken.apart(&outcome("false", 5, "y", no)), pair("true", "false"));
        let inverted = outcome("true", 7, "not x", yes);
        assert_eq!(taken.apart(&inverted), pair("decided for line 5", "decided for line 7"));
    }

    /// What the links of all that is faulty before the failure say: line, and value and reference, if they have one.
    fn told(program: &str) -> Vec<(u32, String)> {
        let mut causality = causality(program, Ending::Exit(0));
        let last = causality.failure().step;
        let chain = chain(&mut causality, last, |_, _| true);
        let text = |did: Did| match did {
            Did::Gave { variable, value, reference, .. } => format!("{variable} = {value} ({reference})"),
            Did::Returned { function, value, reference } => format!("{function} returned {value} ({reference})"),
            Did::Decided { outcome, reference } => format!("{outcome} ({reference})"),
            Did::Differs(_) | Did::Used(_) | Did::Replaced { .. } => String::new(),
        };
        links(&mut causality, &chain)
            .into_iter()
            .map(|link| (link.place.map_or(0, |place| place.line), text(link.did)))
            .collect()
    }

    /// The variables of the links of a chain with a set for each faulty variable before the failure, of which `n_told` are told; and how many are left.
    fn told_in_part(n_kept: usize, n_told: usize) -> (Vec<String>, Option<usize>) {
        let mut causality = causality("list", Ending::Exit(0));
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
        let told = tell(&mut causality, &chain, None, Extent { n_kept, is_over: &mut is_over }).unwrap();
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
