//! What a person sees of a step to judge it: the values that it uses, what it computes and decides; and what another run says of it.

use std::collections::HashMap;

use crate::explain::align::Alignment;
use crate::explain::feedback::Feedback;
use crate::explain::native::recorded::Recorded;
use crate::explain::native::returns;
use crate::explain::native::returns::Returned;
use crate::explain::native::story;
use crate::trace::TraceError;
use crate::trace::native::detail;
use crate::trace::native::detail::Detail;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::machine::What;
use crate::trace::native::play::Player;
use crate::trace::place::Place;
use crate::trace::step::Step;

/// A value that a step uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The variable, or the function that returned it: `n`, `read_line()`.
    pub name: String,
    /// The value, as it is written; `None` if that is not known.
    pub value: Option<String>,
    /// The steps that computed it; [`Step::START`] for what was there before the run.
    pub makers: Vec<Step>,
    /// Where it comes from, if no step computed it: an input, an initial value.
    pub origin: Option<String>,
}

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// All that was recorded of it.
    pub detail: Detail,
    /// The values that it uses, each once.
    pub used: Vec<Used>,
    /// How it decided, if it is a decision: `true`, `false`, or the line that was chosen.
    pub outcome: Option<story::Outcome>,
    /// What its calls returned.
    returned: Vec<Returned>,
}

/// The facts about a step; `None` if there is no such step.
///
/// Cost: plays three times from the checkpoint before the step to its end.
pub fn facts(recorded: &mut Recorded, step: Step) -> Result<Option<Facts>, TraceError> {
    let Some(detail) = detail::detail(&mut recorded.player, step)? else { return Ok(None) };
    let outcome = story::standing(recorded, step)?.outcome;
    let (returned, _) = returns::of_step(recorded, step, u64::MAX)?;
    let mut used: Vec<Used> = Vec::new();
    for access in &detail.reads {
        let Some(known) = used.iter_mut().find(|used| used.name == access.named.name) else {
            used.push(Used {
                name: access.named.name.clone(),
                value: access.named.value.clone(),
                makers: access.makers.iter().copied().collect(),
                origin: access.origin.clone(),
            });
            continue;
        };
        known.makers.extend(&access.makers);
    }
    for back in &returned {
        used.push(Used {
            name: format!("{}()", back.function),
            value: Some(back.text.clone()),
            makers: vec![back.step],
            origin: None,
        });
    }
    let temporary = |(_, what): &&(Step, What)| *what == What::Temporary;
    for (maker, _) in detail.uses.iter().filter(temporary).filter(|(maker, _)| *maker != Step::START) {
        used.push(Used { name: "a part of the expression".to_owned(), value: None, makers: vec![*maker], origin: None });
    }
    Ok(Some(Facts { detail, used, outcome, returned }))
}

/// What a run of another version, or of another input, says of a step of the failing run.
///
/// Values are compared as they are written; of a pointer to a block, the step that allocated it is.
///
/// Cost: the [facts] about the step in both runs, and about the parts of its expression.
pub fn judge(
    (failing, reference): (&mut Recorded, &mut Recorded),
    alignment: &Alignment,
    step: Step,
) -> Result<Feedback, TraceError> {
    let Some(other) = alignment.reference(step) else { return Ok(Feedback::WrongPath) };
    let (Some(ours), Some(theirs)) = (facts(failing, step)?, facts(reference, other)?) else {
        return Ok(Feedback::Unclear);
    };
    let mut wrong = Vec::new();
    let values = Values { alignment };
    for (index, used) in ours.used.iter().enumerate() {
        let is_wrong = match &used.value {
            None => {
                let part = used.makers.first().copied().filter(|maker| *maker < step);
                match part {
                    Some(part) => !matches!(judge((failing, reference), alignment, part)?, Feedback::Correct),
                    None => false,
                }
            }
            Some(_) => values.differs(used, &theirs.used),
        };
        if is_wrong {
            wrong.push(index);
        }
    }
    if !wrong.is_empty() {
        return Ok(Feedback::WrongValue(wrong));
    }
    let is_decided = match (&ours.outcome, &theirs.outcome) {
        (Some(ours), Some(theirs)) => ours.apart(theirs).is_some(),
        _ => false,
    };
    let is_wrong = is_decided || values.computed(&ours.detail, true) != values.computed(&theirs.detail, false);
    Ok(if is_wrong { Feedback::WrongResult } else { Feedback::Correct })
}

/// Compares values as they are written.
struct Values<'v> {
    alignment: &'v Alignment,
}

impl Values<'_> {
    fn differs(&self, used: &Used, theirs: &[Used]) -> bool {
        let name = self.text(&used.name, true);
        let same: Vec<&Used> = theirs.iter().filter(|other| self.text(&other.name, false) == name).collect();
        let value = used.value.as_ref().map(|value| self.text(value, true));
        let is_same = |other: &&Used| other.value.as_ref().map(|value| self.text(value, false)) == value;
        !same.is_empty() && !same.iter().any(is_same)
    }

    /// What a step wrote, and what it called the library with.
    fn computed(&self, detail: &Detail, is_failing: bool) -> Vec<String> {
        let text = |text: &str| self.text(text, is_failing);
        let wrote = detail.writes.iter().map(|access| {
            text(&format!("{} = {}", access.named.name, access.named.value.as_deref().unwrap_or("?")))
        });
        let called = detail.calls.iter().map(|call| {
            text(&format!("{}({}) {:?}", call.name.as_deref().unwrap_or("*"), call.arguments.join(", "), call.result))
        });
        wrote.chain(called).collect()
    }

    /// With the numbers of the failing run's steps as those of the reference, and without addresses.
    fn text(&self, text: &str, is_failing: bool) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("step ") {
            let (before, after) = rest.split_at(at + "step ".len());
            out.push_str(before);
            let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = after.split_at(n_digits);
            let step = number.parse().ok().map(Step);
            match step.filter(|_| is_failing).and_then(|step| self.alignment.reference(step)) {
                Some(other) => out.push_str(&other.0.to_string()),
                None => out.push_str(number),
            }
            rest = behind;
        }
        out + rest
    }
}

/// The statement of each step of a run, by a number from 1; and where each statement is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statements {
    /// By step, from [`Step::START`].
    pub of_steps: Vec<u32>,
    /// By number, from 0, which is none.
    pub places: Vec<Option<Place>>,
    known: HashMap<(u32, u32), u32>,
}

impl Statements {
    /// Of a run.
    ///
    /// Cost: one pass over the run.
    pub fn read(player: &mut Player) -> Result<Self, TraceError> {
        let mut found = Self { of_steps: vec![0], places: vec![None], known: HashMap::new() };
        player.seek(0)?;
        player.play(&mut found)?;
        Ok(found)
    }
}

impl Watch for Statements {
    fn step(&mut self, machine: &Machine) {
        let Some(frame) = machine.frame() else { return };
        let next = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let number = *self.known.entry((frame.shape.index, frame.statement)).or_insert(next);
        if number == next {
            self.places.push(frame.place().cloned());
        }
        self.of_steps.push(number);
    }
}

