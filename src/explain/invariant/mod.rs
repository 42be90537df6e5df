//! Error invariants: for each point of a failing run, what has to hold so that the failure follows. Statements that keep
//! an invariant do not matter for the failure; the others are its *abstract slice*.
//!
//! Source: Oh, Schäf, Schwartz-Narbonne and Wies 2014, "Concolic Fault Abstraction"; Ermis, Schäf and Wies 2012, "Error
//! Invariants". Deviation: no interpolating prover. The engine goes back from the failure. It computes the weakest
//! precondition of each recorded statement that assigns something of the invariant, keeps the invariant if the statement
//! keeps it, and else [generalises](mod@generalise) the precondition. Each answer is a small question whether some conditions
//! contradict each other. The cost follows the slice, not the length of the run.
//!
//! The engine knows neither languages nor recordings: a [`BackwardRun`] gives it the statements as terms. [`minimal`] finds
//! the statements that are necessary, and [`verify`] makes the questions of an external solver.

mod generalise;
pub mod history;
pub mod minimal;
pub mod verify;

#[cfg(test)]
mod tests;

use crate::invariant::generalise::{Prover, generalise, holds, renamed, split};
use crate::invariant::history::{BackwardRun, Because, HistoryVersion, Time, VersionEffects};
use idd_trace::logic::substitute::{substitute, variables};
use idd_trace::logic::term::{BinaryTerm, TermId, Terms};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

/// Assumptions of later statements that are remembered.
const MAX_ASSUMED: usize = 64;

/// What limits the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvariantLimits {
    /// Statements of the slice.
    pub max_links: usize,
    /// The time; `None` for as long as it takes.
    pub time: Option<Duration>,
}

impl Default for InvariantLimits {
    fn default() -> Self {
        Self { max_links: 2000, time: Some(Duration::from_secs(10)) }
    }
}

/// Why a statement belongs to the slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceRole {
    /// It assigns something that the invariant after it says something of.
    Assigns,
    /// It stores something at the place of which the invariant after it says something, but what it stores does not
    /// matter.
    Locates,
    /// It decided that a statement of the slice runs.
    Decides,
    /// No condition asks for it; why it belongs to the slice nevertheless.
    Because(Because),
}

/// A statement of the slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceLink {
    /// When it ran.
    pub time: Time,
    /// Why it belongs to the slice.
    pub role: SliceRole,
    /// The invariant before it.
    pub before: Vec<TermId>,
    /// What it assigns.
    pub assigned: Vec<(HistoryVersion, TermId)>,
    /// The condition that made it go the way it did, if it is a decision.
    pub condition: Option<TermId>,
    /// What is assumed at it because the language says so.
    pub hypotheses: Vec<TermId>,
    /// What holds of results that it pins.
    pub facts: Vec<TermId>,
    /// What has to hold so that it reads what it reads.
    pub addresses: Vec<TermId>,
    /// What it needs, and what holds in a passing run, too.
    pub same: Vec<TermId>,
    /// Whether it computes something that is not modelled: its recorded value was taken.
    pub is_unknown: bool,
    /// Whether a question at it had no answer in its budget, so that recorded values were taken.
    pub is_pinned: bool,
}

/// A statement that keeps the invariant, although it assigns something of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptStatement {
    /// When it ran.
    pub time: Time,
    /// What it assigns, as in [`SliceLink`].
    pub assigned: Vec<(HistoryVersion, TermId)>,
    /// What is assumed at it.
    pub hypotheses: Vec<TermId>,
    /// As in [`SliceLink`].
    pub facts: Vec<TermId>,
    /// As in [`SliceLink`].
    pub addresses: Vec<TermId>,
    /// As in [`SliceLink`].
    pub same: Vec<TermId>,
}

/// What has to hold before a statement, and what is known there.
struct Required {
    conditions: Vec<TermId>,
    hypotheses: Vec<TermId>,
    facts: Vec<TermId>,
    addresses: Vec<TermId>,
}

/// The abstract slice of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abstraction {
    /// The failure, as conditions.
    pub failure: Vec<TermId>,
    /// What holds of results that the failing statement pins, and what it needs and holds in a passing run, too.
    pub facts: Vec<TermId>,
    /// The statements, the first that ran first.
    pub links: Vec<SliceLink>,
    /// Statements that keep the invariant, in the same order.
    pub kept: Vec<KeptStatement>,
    /// What has to hold before all of the slice. It says something of versions that are older than the run; and of others,
    /// if a limit was met.
    pub rest: Vec<TermId>,
    /// Whether a limit was met, so that statements before the first are missing.
    pub is_partial: bool,
    /// Decisions that are too far from the failure, so that they are not followed.
    pub n_left_out: usize,
    /// Questions that were asked, and those without an answer.
    pub n_questions: (u64, u64),
}

/// The failure of a run, as the engine begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingState {
    /// Conditions that hold right before [`time`](Self::time), and make it fail.
    pub conditions: Vec<TermId>,
    /// What has to be known of the versions in them.
    pub effects: VersionEffects,
    /// When it fails.
    pub time: Time,
    /// How far decisions are followed: 0 not at all, 1 those on which the values of the failure depend, 2 those on which
    /// the values in their conditions depend, too, and so on.
    pub depth: u32,
}

/// Finds the abstract slice of a failure.
///
/// Errors: those of the history.
///
/// Cost: for each statement that assigns something of the invariant some questions, see
/// [`generalise`](generalise::generalise).
pub fn abstraction<H: BackwardRun>(
    terms: &mut Terms,
    history: &mut H,
    failing: &FailingState,
    limits: InvariantLimits,
) -> Result<Abstraction, H::Error> {
    let deadline = limits.time.map(|time| Instant::now() + time);
    let prover = Prover { n_questions: 0, n_unknown: 0, deadline };
    let mut engine = InvariantEngine {
        terms,
        history,
        prover,
        invariant: Vec::new(),
        decisions: BTreeMap::new(),
        decided: HashSet::new(),
        levels: HashMap::new(),
        n_left_out: 0,
        assumed: Vec::new(),
        depth: failing.depth,
        links: Vec::new(),
        kept: Vec::new(),
        is_partial: false,
    };
    let facts = engine.begin(failing)?;
    let failure = engine.invariant.clone();
    while engine.back(limits.max_links)? {}
    let InvariantEngine { mut links, mut kept, invariant, is_partial, n_left_out, prover, .. } = engine;
    links.reverse();
    kept.reverse();
    let n_questions = (prover.n_questions, prover.n_unknown);
    Ok(Abstraction { failure, facts, links, kept, rest: invariant, is_partial, n_left_out, n_questions })
}

struct InvariantEngine<'e, H> {
    terms: &'e mut Terms,
    history: &'e mut H,
    prover: Prover,
    /// The conditions of the invariant at the present point.
    invariant: Vec<TermId>,
    /// Decisions that the engine comes to, with their level: the number of decisions from there to the failure.
    decisions: BTreeMap<Time, u32>,
    /// Statements whose decisions were asked for.
    decided: HashSet<Time>,
    /// The level of versions of the invariant.
    levels: HashMap<HistoryVersion, u32>,
    /// Decisions that are too far from the failure.
    n_left_out: usize,
    /// What is assumed at later statements of the versions that hold now.
    assumed: Vec<TermId>,
    depth: u32,
    links: Vec<SliceLink>,
    kept: Vec<KeptStatement>,
    is_partial: bool,
}

impl<H: BackwardRun> InvariantEngine<'_, H> {
    fn begin(&mut self, failing: &FailingState) -> Result<Vec<TermId>, H::Error> {
        let required = self.required(&failing.conditions, &failing.effects);
        self.assume(&[], &required.hypotheses);
        let (different, same) = self.compared(&required.conditions, &failing.effects);
        // The failure itself is what is asked for.
        let is_different = !different.is_empty();
        let (conditions, same) = if is_different { (different, same) } else { (required.conditions, Vec::new()) };
        self.invariant = self.general(&conditions);
        self.note(&conditions, 0);
        self.decided_by(failing.time, 0)?;
        Ok([required.facts, same].concat())
    }

    /// Goes back to the last statement that matters for the invariant; returns whether there was one.
    fn back(&mut self, max_links: usize) -> Result<bool, H::Error> {
        let all: Vec<HistoryVersion> =
            variables(self.terms, &self.invariant).into_iter().map(|(version, _)| version).collect();
        let mut last: BTreeMap<Time, Vec<HistoryVersion>> = BTreeMap::new();
        for version in all {
            if let Some(time) = self.history.assigned(version)? {
                last.entry(time).or_default().push(version);
            }
        }
        let assigned = last.pop_last();
        let decision = self.decisions.last_key_value().map(|(decision, level)| (*decision, *level));
        let is_over = self.links.len() >= max_links || self.prover.deadline.is_some_and(|end| Instant::now() > end);
        if is_over && (assigned.is_some() || decision.is_some()) {
            self.is_partial = true;
            return Ok(false);
        }
        match (assigned, decision) {
            (None, None) => return Ok(false),
            (Some((time, versions)), decision) if decision.is_none_or(|(decision, _)| decision <= time) => {
                self.assign(time, &versions)?;
            }
            (_, Some((decision, level))) => {
                self.decisions.remove(&decision);
                self.decide(decision, level)?;
            }
            (Some(_), None) => {}
        }
        Ok(true)
    }

    /// Goes back over a statement that assigns versions of the invariant.
    fn assign(&mut self, time: Time, versions: &[HistoryVersion]) -> Result<(), H::Error> {
        let effects = self.history.effects(self.terms, time, versions)?;
        let values: HashMap<HistoryVersion, TermId> =
            effects.assignments.iter().map(|assignment| (assignment.version, assignment.value)).collect();
        let is_location = effects.assignments.iter().all(|assignment| assignment.is_location);
        let (touched, others): (Vec<TermId>, Vec<TermId>) =
            self.invariant.iter().copied().partition(|condition| self.mentions(*condition, versions));
        let mut conditions: Vec<TermId> =
            touched.iter().map(|condition| substitute(self.terms, *condition, &values)).collect();
        conditions.extend(effects.assignments.iter().flat_map(|assignment| assignment.requires.iter().copied()));
        let Required { conditions, hypotheses, facts, mut addresses } = self.required(&conditions, &effects);
        let level = versions.iter().filter_map(|version| self.levels.get(version)).min().copied().unwrap_or(0);
        self.note(&conditions, level);
        addresses.extend(effects.assignments.iter().flat_map(|assignment| assignment.requires.iter().copied()));
        let assigned: Vec<(HistoryVersion, TermId)> =
            effects.assignments.iter().map(|assignment| (assignment.version, assignment.value)).collect();
        self.assume(versions, &hypotheses);
        if self.keeps(&touched, &others, &conditions, &effects) {
            self.omitted(time, level)?;
            self.kept.push(KeptStatement { time, assigned, hypotheses, facts, addresses, same: Vec::new() });
            return Ok(());
        }
        let after = std::mem::take(&mut self.invariant);
        let (conditions, same) = self.compared(&conditions, &effects);
        let n_unknown = self.prover.n_unknown;
        let before = self.general(&[&others[..], &conditions].concat());
        let n_unknown = self.prover.n_unknown - n_unknown;
        self.invariant = before;
        if self.is_kept_forward(&after, &effects) {
            self.omitted(time, level)?;
            self.kept.push(KeptStatement { time, assigned, hypotheses, facts, addresses, same });
            return Ok(());
        }
        self.decided_by(time, level)?;
        self.links.push(SliceLink {
            time,
            role: if is_location { SliceRole::Locates } else { SliceRole::Assigns },
            before: self.invariant.clone(),
            assigned,
            condition: None,
            hypotheses,
            facts,
            addresses,
            same,
            is_unknown: effects.is_unknown,
            is_pinned: n_unknown > 0,
        });
        Ok(())
    }

    /// Goes back over a decision that let a statement of the slice run.
    fn decide(&mut self, decision: Time, level: u32) -> Result<(), H::Error> {
        let (condition, effects) = self.history.condition(self.terms, decision)?;
        let Required { conditions, hypotheses, facts, addresses } = self.required(&[condition], &effects);
        self.assume(&[], &hypotheses);
        let (conditions, same) = self.compared(&conditions, &effects);
        if conditions.is_empty() && effects.is_same_way == Some(true) && !effects.is_unknown {
            // The passing run went the same way, for the same reason.
            return Ok(());
        }
        let known = [&self.invariant[..], &self.assumed].concat();
        let mut new = Vec::new();
        for condition in &conditions {
            if !self.prover.follows(self.terms, &known, *condition) {
                new.push(*condition);
            }
        }
        // A call decides nothing itself.
        let is_call = self.terms.constant_of(condition).is_some();
        self.decided_by(decision, if is_call { level } else { level + 1 })?;
        self.note(&new, level + 1);
        let role = match effects.because {
            Some(because) => SliceRole::Because(because),
            None if conditions.is_empty() && effects.is_same_way == Some(false) => SliceRole::Because(Because::Parts),
            None => SliceRole::Decides,
        };
        if new.is_empty() && !effects.is_unknown && role == SliceRole::Decides && effects.is_same_way != Some(false) {
            return Ok(());
        }
        let n_unknown = self.prover.n_unknown;
        let all = [&self.invariant[..], &new].concat();
        self.invariant = self.general(&all);
        let is_pinned = self.prover.n_unknown > n_unknown;
        self.links.push(SliceLink {
            time: decision,
            role,
            before: self.invariant.clone(),
            assigned: Vec::new(),
            condition: Some(condition),
            hypotheses,
            facts,
            addresses,
            same,
            is_unknown: effects.is_unknown,
            is_pinned,
        });
        Ok(())
    }

    /// Notes the decisions on which a statement depends.
    fn decided_by(&mut self, time: Time, level: u32) -> Result<(), H::Error> {
        if self.depth == 0 || !self.decided.insert(time) {
            return Ok(());
        }
        for (decision, is_same) in self.history.decisions(self.terms, time)? {
            let level = if is_same { level.saturating_sub(1) } else { level };
            self.follow(decision, level);
        }
        self.omitted(time, level)
    }

    /// Notes the statements because of which something that a statement reads was not assigned.
    fn omitted(&mut self, time: Time, level: u32) -> Result<(), H::Error> {
        for omission in self.history.omissions(self.terms, time)? {
            self.follow(omission, level);
        }
        Ok(())
    }

    /// Notes a decision, unless it is too far away.
    fn follow(&mut self, decision: Time, level: u32) {
        if level >= self.depth {
            self.n_left_out += 1;
        } else if !self.decided.contains(&decision) {
            let known = self.decisions.entry(decision).or_insert(level);
            *known = level.min(*known);
        }
    }

    /// Notes the level of the versions of some conditions.
    fn note(&mut self, conditions: &[TermId], level: u32) {
        for (version, _) in variables(self.terms, conditions) {
            let known = self.levels.entry(version).or_insert(level);
            *known = level.min(*known);
        }
    }

    /// Goes back over assignments of some versions; adds what is assumed at a statement.
    fn assume(&mut self, assigned: &[HistoryVersion], hypotheses: &[TermId]) {
        let terms = &*self.terms;
        self.assumed.retain(|one| variables(terms, &[*one]).iter().all(|(version, _)| !assigned.contains(version)));
        for hypothesis in hypotheses {
            if !self.assumed.contains(hypothesis) {
                self.assumed.push(*hypothesis);
            }
        }
        let n_old = self.assumed.len().saturating_sub(MAX_ASSUMED);
        self.assumed.drain(..n_old);
    }

    fn mentions(&self, condition: TermId, versions: &[HistoryVersion]) -> bool {
        variables(self.terms, &[condition]).iter().any(|(version, _)| versions.contains(version))
    }

    /// Conditions with all that they need: the addresses of what they read, results that are pinned. And the
    /// hypotheses.
    fn required(&mut self, conditions: &[TermId], effects: &VersionEffects) -> Required {
        let (mut required, mut facts, mut addresses) = (conditions.to_vec(), Vec::new(), Vec::new());
        let mut done: HashSet<HistoryVersion> = HashSet::new();
        loop {
            let mut values: HashMap<HistoryVersion, TermId> = HashMap::new();
            let mut more = Vec::new();
            for (version, width) in variables(self.terms, &required) {
                if let Some(conditions) = effects.pinned.get(&version) {
                    let value = self.terms.constant(self.history.value(version), width);
                    values.insert(version, value);
                    let variable = self.terms.variable(version, width);
                    let mut fact = self.terms.binary(BinaryTerm::Eq, variable, value);
                    for condition in conditions {
                        let fails = self.terms.not(*condition);
                        fact = self.terms.binary(BinaryTerm::Or, fact, fails);
                    }
                    more.extend(conditions.iter().copied());
                    facts.push(fact);
                }
                if done.insert(version) {
                    let own = effects.addresses.get(&version).into_iter().flatten().copied();
                    addresses.extend(own.clone());
                    more.extend(own);
                }
            }
            if values.is_empty() && more.is_empty() {
                break;
            }
            for condition in &mut required {
                *condition = substitute(self.terms, *condition, &values);
            }
            required.extend(more);
        }
        let mut conditions = Vec::new();
        for condition in required {
            split(self.terms, condition, &mut conditions);
        }
        conditions.sort_unstable();
        conditions.dedup();
        let mut hypotheses = Vec::new();
        for hypothesis in &effects.hypotheses {
            let own = variables(self.terms, &[*hypothesis]);
            let is_plain = own.iter().all(|(version, _)| !effects.pinned.contains_key(version));
            if is_plain {
                hypotheses.push(*hypothesis);
            }
        }
        Required { conditions, hypotheses, facts, addresses }
    }

    /// Whether a condition holds in the passing run, too, and says something of values that are known there.
    fn holds_in_both(&self, condition: TermId, effects: &VersionEffects) -> bool {
        let own = variables(self.terms, &[condition]);
        let is_known = own.iter().all(|(version, _)| effects.passing.contains_key(version));
        !own.is_empty() && is_known && holds(self.terms, condition, &|version| effects.passing[&version])
    }

    /// Conditions that do not hold in the passing run, or of which that is not known, without the versions that have the
    /// same value there; and what holds there, too.
    fn compared(&mut self, conditions: &[TermId], effects: &VersionEffects) -> (Vec<TermId>, Vec<TermId>) {
        let (mut different, mut same) = (Vec::new(), Vec::new());
        for condition in conditions {
            let own = variables(self.terms, &[*condition]);
            if self.holds_in_both(*condition, effects) {
                same.push(*condition);
                continue;
            }
            let mut values: HashMap<HistoryVersion, TermId> = HashMap::new();
            for (version, width) in own {
                let recorded = self.history.value(version);
                if effects.passing.get(&version) == Some(&recorded) {
                    let (variable, bits) = (self.terms.variable(version, width), self.terms.constant(recorded, width));
                    same.push(self.terms.binary(BinaryTerm::Eq, variable, bits));
                    values.insert(version, bits);
                }
            }
            let condition = substitute(self.terms, *condition, &values);
            split(self.terms, condition, &mut different);
        }
        same.sort_unstable();
        same.dedup();
        (different, same)
    }

    /// Conditions from which these follow, and which are simpler.
    fn general(&mut self, conditions: &[TermId]) -> Vec<TermId> {
        let hypotheses = &self.assumed[..];
        let history = &*self.history;
        let value = |version: HistoryVersion| history.value(version);
        generalise(self.terms, &mut self.prover, conditions, hypotheses, &value)
    }

    /// Whether the invariant, of what the places held before a statement, is one there, too.
    fn keeps(
        &mut self,
        touched: &[TermId],
        others: &[TermId],
        conditions: &[TermId],
        effects: &VersionEffects,
    ) -> bool {
        let mut versions = HashMap::new();
        for assignment in &effects.assignments {
            let Some(before) = assignment.before else { return false };
            versions.insert(assignment.version, before);
        }
        let mut same: Vec<TermId> = Vec::new();
        for condition in touched {
            let condition = renamed(self.terms, *condition, &versions);
            if !self.holds(condition) {
                return false;
            }
            same.push(condition);
        }
        if same.iter().any(|condition| self.holds_in_both(*condition, effects)) {
            // What differs from the passing run arises here.
            return false;
        }
        let from = [&same[..], others, &self.assumed].concat();
        let is_kept = conditions.iter().all(|condition| self.prover.follows(self.terms, &from, *condition));
        if is_kept {
            let mut all = [others, &same].concat();
            all.sort_unstable();
            all.dedup();
            self.invariant = all;
        }
        is_kept
    }

    /// Whether the present invariant, of what the places held after a statement, holds there and implies the invariant
    /// that was found there.
    fn is_kept_forward(&mut self, after: &[TermId], effects: &VersionEffects) -> bool {
        let mut versions = HashMap::new();
        for assignment in &effects.assignments {
            if let Some(before) = assignment.before {
                versions.insert(before, assignment.version);
            }
        }
        if versions.len() < effects.assignments.len() {
            return false;
        }
        let before = self.invariant.clone();
        let moved: Vec<TermId> = before.iter().map(|condition| renamed(self.terms, *condition, &versions)).collect();
        moved.iter().all(|condition| self.holds(*condition))
            && after.iter().all(|condition| self.prover.follows(self.terms, &moved, *condition))
    }

    fn holds(&self, condition: TermId) -> bool {
        holds(self.terms, condition, &|version| self.history.value(version))
    }
}
