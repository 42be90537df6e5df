//! What a person sees of a step to judge it: the values that it uses, what it computes and decides. How these are found depends
//! on the language of the program.

use idd_trace::{Detail, Place, Step};

/// A value that a step uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedValue {
    /// The variable, or the function that returned it: `n`, `read_line()`.
    pub name: String,
    /// The value, as it is written; `None` if that is not known.
    pub value: Option<String>,
    /// The steps that computed it; [`Step::START`] for what was there before the run.
    pub makers: Vec<Step>,
    /// Where it comes from, if no step computed it: an input, an initial value.
    pub origin: Option<String>,
    /// The structure that it points to, before the step.
    pub target: Option<String>,
}

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFacts {
    /// All that was recorded of it.
    pub detail: Detail,
    /// The values that it uses, each once.
    pub used: Vec<UsedValue>,
    /// How it decided, if it is a decision: `true`, `false`, or the line that was chosen.
    pub outcome: Option<DecisionOutcome>,
}

/// How a decision went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecisionOutcome {
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
pub enum Successor {
    /// That of a branch where its condition holds, or does not hold.
    Branch(bool),
    /// That of a `case`; none for the default.
    Case(Option<i128>),
}

impl DecisionOutcome {
    /// How a decision went.
    ///
    /// - `told`: `true`, `false`, or the [way].
    /// - `condition`: what it computes, for a comparison with another version; `None` if that is not known.
    pub fn new(told: String, way: String, condition: Option<String>, successor: Option<Successor>) -> Self {
        Self { told, way, condition, successor }
    }

    fn is_boolean(&self) -> bool {
        matches!(&*self.told, "true" | "false")
    }

    /// How both went, if not in the same way. The same condition in both versions is compared by what it chose, because lines move.
    pub fn apart(&self, reference: &Self) -> Option<(String, String)> {
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

impl StepFacts {
    /// The facts about the steps of a line so far, with those about its next step. The line stands where its first step
    /// does, and decides as its last decision does; of a variable, what it held first counts.
    #[must_use]
    pub fn joined(mut self, next: Self) -> Self {
        for each in next.used {
            let is_call = each.name.ends_with("()");
            if is_call || !self.used.iter().any(|known| known.name == each.name) {
                self.used.push(each);
            }
        }
        let (all, detail) = (&mut self.detail, next.detail);
        all.reads.extend(detail.reads);
        all.writes.extend(detail.writes);
        all.calls.extend(detail.calls);
        all.returned = detail.returned.or(all.returned.take());
        all.crash = all.crash.take().or(detail.crash);
        self.outcome = next.outcome.or(self.outcome);
        self
    }
}

/// The values that a step reads, each once, without those that a step of the same line made.
///
/// - `members`: the steps of the line.
pub fn read(detail: &Detail, members: &[Step]) -> Vec<UsedValue> {
    let mut used: Vec<UsedValue> = Vec::new();
    let is_inside = |maker: &Step| members.contains(maker);
    for access in detail.reads.iter().filter(|access| !access.makers.iter().any(is_inside)) {
        let makers = access.makers.iter().chain(&access.text_makers).copied();
        add(&mut used, &access.named.name, access.named.value.as_ref(), makers);
        if let Some(known) = used.iter_mut().find(|known| known.name == access.named.name) {
            // What only a part of has no step is named by the steps of the other part.
            let is_given = known.makers.iter().all(|maker| *maker == Step::START);
            known.origin = access.origin.clone().filter(|_| is_given);
            known.target = known.target.take().or_else(|| access.target.clone());
        }
    }
    used
}

/// Adds a value, or its makers to those of the same variable.
fn add(used: &mut Vec<UsedValue>, name: &str, value: Option<&String>, makers: impl Iterator<Item = Step>) {
    if let Some(known) = used.iter_mut().find(|known| known.name == name) {
        known.makers.extend(makers);
    } else {
        let (name, value, makers) = (name.to_owned(), value.cloned(), makers.collect());
        used.push(UsedValue { name, value, makers, origin: None, target: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_condition_is_compared_by_what_it_chose_and_another_one_by_its_line() {
        let outcome = |told: &str, line: u32, condition: &str, successor| DecisionOutcome {
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
}
