//! What a passing run says of the lines of a failing one: which values are the same there, and where the runs may part. How
//! values are called so that both runs call them the same depends on the language of the program.

use crate::align::Alignment;
use crate::facts::{StepFacts, UsedValue};
use crate::feedback::Feedback;
use idd_trace::{Detail, Outside, Step, Steps, TraceError};

/// A run that is compared with another one.
pub trait ComparedRun {
    /// The facts about a line; `None` if there is no such step.
    ///
    /// - `members`: its steps, ascending.
    fn facts(&mut self, members: &[Step]) -> Result<Option<StepFacts>, TraceError>;

    /// By step, a digest of what it does. Equal in both runs if it does the same; it may differ by chance.
    ///
    /// Cost: at most one pass over the run.
    fn digests(&mut self) -> Result<Vec<u64>, TraceError>;

    /// A text about a line, without what depends on where things lie in this run.
    ///
    /// - `alignment`: of the failing run, which steps correspond; `None` for the other one.
    fn text(&self, text: &str, alignment: Option<&Alignment>) -> String;

    /// The same of a value; `None` if that is not known.
    fn value(&self, used: &UsedValue, alignment: Option<&Alignment>) -> Option<String> {
        used.value.as_ref().map(|value| self.text(value, alignment))
    }
}

/// What a run of another version, or of another input, says of a step of the failing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// What it says of the step.
    pub feedback: Feedback,
    /// The values that both runs use there, and that are the same: their indices.
    pub same: Vec<usize>,
}

impl From<Feedback> for Comparison {
    fn from(feedback: Feedback) -> Self {
        Self { feedback, same: Vec::new() }
    }
}

/// Compares a step with that of another run.
///
/// - `members`: the steps of a line, ascending.
///
/// Cost: the facts about the line in both runs.
pub fn judge(
    failing: &mut dyn ComparedRun,
    reference: &mut dyn ComparedRun,
    alignment: &Alignment,
    members: &[Step],
) -> Result<Comparison, TraceError> {
    let others: Vec<Step> = members.iter().filter_map(|step| alignment.reference(*step)).collect();
    // Two lines may end with the same step, as two `return` of a function do: the first step says where the run is.
    if members.first().is_none_or(|first| alignment.reference(*first).is_none()) {
        return Ok(Feedback::WrongPath.into());
    }
    let (Some(ours), Some(theirs)) = (failing.facts(members)?, reference.facts(&others)?) else {
        return Ok(Feedback::Unclear.into());
    };
    let values = Values { failing, reference, alignment };
    // A line that other steps belong to there decided otherwise inside of itself.
    Ok(values.compare(&ours, &theirs, others.len() < members.len()))
}

/// Compares values as they are written.
struct Values<'v> {
    failing: &'v dyn ComparedRun,
    reference: &'v dyn ComparedRun,
    alignment: &'v Alignment,
}

impl Values<'_> {
    /// Compares a line with that of the other run.
    ///
    /// - `is_cut`: whether steps of the line correspond to none there: it decided otherwise inside of itself.
    fn compare(&self, ours: &StepFacts, theirs: &StepFacts, is_cut: bool) -> Comparison {
        let compared: Vec<Option<bool>> =
            (0..ours.used.len()).map(|index| self.is_same(&ours.used, index, &theirs.used)).collect();
        let those = |wanted| compared.iter().enumerate().filter(move |(_, is_same)| **is_same == Some(wanted));
        let indices = |wanted| those(wanted).map(|(index, _)| index).collect::<Vec<usize>>();
        let (same, wrong) = (indices(true), indices(false));
        if !wrong.is_empty() {
            return Comparison { feedback: Feedback::WrongValue(wrong), same };
        }
        let is_decided = is_cut
            || match (&ours.outcome, &theirs.outcome) {
                (Some(ours), Some(theirs)) => ours.apart(theirs).is_some(),
                _ => false,
            };
        let is_wrong = is_decided || self.computed(&ours.detail, true) != self.computed(&theirs.detail, false);
        Comparison { feedback: if is_wrong { Feedback::WrongResult } else { Feedback::Correct }, same }
    }

    /// Whether a value is that of the same name there; of several calls of one function, what the same one of them returned.
    /// What a call returned that did not return there is another value. `None` if there is no such variable.
    fn is_same(&self, ours: &[UsedValue], index: usize, theirs: &[UsedValue]) -> Option<bool> {
        let used = &ours[index];
        let name = self.text(&used.name, true);
        let mut same: Vec<&UsedValue> = theirs.iter().filter(|other| self.text(&other.name, false) == name).collect();
        if used.name.ends_with("()") {
            let nth = ours[..index].iter().filter(|other| other.name == used.name).count();
            same = same.into_iter().skip(nth).take(1).collect();
            if same.is_empty() {
                return Some(false);
            }
        }
        let value = self.failing.value(used, Some(self.alignment));
        let is_same = |other: &&UsedValue| self.reference.value(other, None) == value;
        (!same.is_empty()).then(|| same.iter().any(is_same))
    }

    /// What a step wrote, and what it called the library with.
    fn computed(&self, detail: &Detail, is_failing: bool) -> Vec<String> {
        let text = |text: &str| self.text(text, is_failing);
        let wrote = detail
            .writes
            .iter()
            .map(|access| text(&format!("{} = {}", access.named.name, access.named.value.as_deref().unwrap_or("?"))));
        let called = detail.calls.iter().map(|call| text(&said(call)));
        let returned = detail.returned.iter().map(|value| text(&format!("returns {value}")));
        wrote.chain(called).chain(returned).collect()
    }

    fn text(&self, text: &str, is_failing: bool) -> String {
        if is_failing { self.failing.text(text, Some(self.alignment)) } else { self.reference.text(text, None) }
    }
}

/// What a call of the library was given and gave, as values are written.
fn said(call: &Outside) -> String {
    let result = call.result.as_deref().unwrap_or("nothing");
    format!("{}({}) = {result}", call.name.as_deref().unwrap_or("*"), call.arguments.join(", "))
}

/// A step at which the failing run may begin to differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferingStep {
    /// The step of the failing run.
    pub step: Step,
    /// Whether the reference has steps after it to which none of the failing run correspond: code may be missing there.
    pub is_before_more: bool,
}

/// Where the failing run may first do something else than the other one, ascending: steps that correspond and have different
/// digests, and decisions after which the runs part. A value that is known only where it is read lets the difference begin
/// at what computed it. Whoever asks compares the values of a candidate before believing it.
///
/// - `relevant`: the steps on which the failure depends. Missing code may be beside any step.
///
/// Cost: that of the digests.
pub fn candidates(
    failing: &mut dyn ComparedRun,
    reference: &mut dyn ComparedRun,
    alignment: &Alignment,
    relevant: &Steps,
) -> Result<Vec<DifferingStep>, TraceError> {
    let (ours, theirs) = (failing.digests()?, reference.digests()?);
    let digest = |of: &[u64], step: Step| of.get(step.0 as usize).copied().unwrap_or(0);
    let mut found = Vec::new();
    let starts = [(Step::START, Step::START)];
    let pairs =
        starts.iter().chain(&alignment.pairs).filter(|(step, other)| (*step == Step::START) == (*other == Step::START));
    let mut pairs = pairs.peekable();
    while let Some((step, other)) = pairs.next() {
        let next = pairs.peek().map(|(step, other)| (step.0, other.0));
        let is_before_more = next.is_some_and(|(_, next)| next > other.0 + 1);
        let is_before_other = next.is_some_and(|(next, _)| next > step.0 + 1);
        let is_different =
            relevant.contains(*step) && (digest(&ours, *step) != digest(&theirs, *other) || is_before_other);
        if *step != Step::START && (is_different || is_before_more) {
            found.push(DifferingStep { step: *step, is_before_more });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_call_is_written_as_a_value() {
        // In quotes the number of an object would be a part of a text, and the same object another one in another run.
        let call = Outside {
            name: Some("Text#12.append".into()),
            arguments: vec!["\"#1\"".to_owned(), "2".to_owned()],
            numbers: Vec::new(),
            result: Some("Text#12".to_owned()),
            is_input: false,
            input: None,
            is_modelled: true,
        };
        assert_eq!(said(&call), "Text#12.append(\"#1\", 2) = Text#12");
        assert_eq!(said(&Outside { result: None, ..call }), "Text#12.append(\"#1\", 2) = nothing");
    }
}
