//! The run that is walked over, in whatever language its program is written.

use crate::expression::condition::Condition;
use crate::expression::states::States as _;
use crate::recorded;
use idd_explain::comparison::ComparedRun;
use idd_explain::facts::StepFacts;
use idd_explain::java::object_names::JavaNames;
use idd_explain::statements::Statements;
use idd_explain::{java, native};
use idd_trace::java::outline;
use idd_trace::native::run::RunReader;
use idd_trace::native::search;
use idd_trace::{Dependences, Execution, Run, SearchOutcome, Step, TimeDirection, TraceError};
use std::sync::Arc;

/// A run with what was taken down of it.
pub enum Walked {
    /// Of a C program.
    Native(Box<native::recorded::NativeRecorded>),
    /// Of a Java program.
    Java(Box<java::recorded::JavaRecorded>),
}

/// What is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchTarget<'w> {
    /// A write of a value that the step where the search begins reads or writes: its name, its address, and how many bytes.
    Write(&'w str, (u64, u64)),
    /// A text in the name of a called function, in `name = value` of what is written, or in a call of a function that is not
    /// recorded.
    Text(&'w str),
}

impl From<native::recorded::NativeRecorded> for Walked {
    fn from(recorded: native::recorded::NativeRecorded) -> Self {
        Self::Native(Box::new(recorded))
    }
}

impl From<java::recorded::JavaRecorded> for Walked {
    fn from(recorded: java::recorded::JavaRecorded) -> Self {
        Self::Java(Box::new(recorded))
    }
}

/// In a Java program, what made a value that is wrong at the failure, or decided for that step, is so much more suspicious than
/// other steps: a failure is an exception, which is thrown near the fault, or an assertion about what a small method returned.
const NEAR: f64 = 20.0;

/// See [`Walked::near`].
pub fn near(run: &recorded::ProcessRun) -> f64 {
    match run {
        recorded::ProcessRun::Native(_) => 1.0,
        recorded::ProcessRun::Java(_) => NEAR,
    }
}

/// Where the steps of a run stand, and their statements.
///
/// Cost: one pass over the run.
pub fn outline(run: &mut recorded::ProcessRun) -> Result<(Run, Statements), TraceError> {
    match run {
        recorded::ProcessRun::Native(player) => {
            let mut read = (RunReader::outline(), Statements::new());
            player.replay(&mut read)?;
            Ok((read.0.end(&player.machine), read.1))
        }
        recorded::ProcessRun::Java(player) => {
            let mut read = (outline::JavaOutlineReader::new(), Statements::new());
            player.replay(&mut read)?;
            Ok((read.0.end(), read.1))
        }
    }
}

/// The dependence graph of a run, with potential dependences: a decision that skipped what should have changed a value is as
/// suspicious as what made the value.
///
/// Cost: one pass over the run.
pub fn graph(run: &mut recorded::ProcessRun, output: (Step, Step)) -> Result<Dependences, TraceError> {
    Ok(run.execution().relevant_dependences(output)?.0)
}

impl Walked {
    /// A run, and its outline.
    ///
    /// - `named`: what objects of Java are called, if the run is compared with another one.
    pub fn new(run: recorded::ProcessRun, outline: Run, named: Option<JavaNames>) -> Self {
        match run {
            recorded::ProcessRun::Native(player) => {
                native::recorded::NativeRecorded { player: *player, run: outline }.into()
            }
            recorded::ProcessRun::Java(player) => {
                java::recorded::JavaRecorded { player: *player, run: outline, named }.into()
            }
        }
    }

    /// The run, to compare it with another one in the same language.
    pub fn compared(&mut self) -> &mut dyn ComparedRun {
        match self {
            Self::Native(recorded) => &mut **recorded,
            Self::Java(recorded) => &mut **recorded,
        }
    }

    /// How much more suspicious the steps are that made what is wrong at the failure, or decided for it.
    pub fn near(&self) -> f64 {
        match self {
            Self::Native(_) => 1.0,
            Self::Java(_) => NEAR,
        }
    }

    /// Its statements.
    ///
    /// Cost: one pass over the run.
    pub fn statements(&mut self) -> Result<Statements, TraceError> {
        match self {
            Self::Native(recorded) => native::facts::statements(&mut recorded.player),
            Self::Java(recorded) => {
                let mut found = Statements::new();
                recorded.player.replay(&mut found)?;
                Ok(found)
            }
        }
    }

    /// Its dependence graph; see [`graph`].
    pub fn graph(&mut self, output: (Step, Step)) -> Result<Dependences, TraceError> {
        let execution: &mut dyn Execution = match self {
            Self::Native(recorded) => &mut recorded.player,
            Self::Java(recorded) => &mut recorded.player,
        };
        Ok(execution.relevant_dependences(output)?.0)
    }

    /// Where its steps stand.
    pub fn outline(&self) -> &Run {
        match self {
            Self::Native(recorded) => &recorded.run,
            Self::Java(recorded) => &recorded.run,
        }
    }

    /// What is known of a line; `None` if there is no such step.
    ///
    /// - `members`: its steps, ascending.
    pub fn facts(&mut self, members: &[Step]) -> Result<Option<StepFacts>, TraceError> {
        self.compared().facts(members)
    }

    /// Searches from a step on: the first one after it, or the last one before it.
    ///
    /// - `shown`: the step that a person looks at for another one; `from` is such a step, and so is the result.
    /// - `is_stopped`: is given the step that the search has come to; asked often.
    pub fn search(
        &mut self,
        wanted: SearchTarget<'_>,
        from: Step,
        time: TimeDirection,
        shown: &dyn Fn(Step) -> Step,
        is_stopped: &mut dyn FnMut(Step) -> bool,
    ) -> Result<SearchOutcome, TraceError> {
        match self {
            Self::Native(recorded) => {
                let player = &mut recorded.player;
                let wanted = match wanted {
                    SearchTarget::Text(text) => search::NativeTarget::Text(text.to_owned()),
                    SearchTarget::Write(_, (address, size)) => {
                        let owner = search::owner_at(player, from, address, size)?;
                        search::NativeTarget::Write(address, size, owner)
                    }
                };
                search::search(player, &wanted, from, time, shown, is_stopped)
            }
            Self::Java(recorded) => {
                let wanted = match wanted {
                    SearchTarget::Text(text) => java::search::JavaTarget::Text(text),
                    SearchTarget::Write(name, _) => java::search::JavaTarget::Write(name),
                };
                java::search::search(&mut recorded.player, wanted, from, time, shown, is_stopped)
            }
        }
    }

    /// Whether a condition holds right before some steps, ascending; see [`Condition::test`].
    pub fn test(&mut self, condition: &Condition, steps: &[Step]) -> Result<Vec<Result<bool, String>>, TraceError> {
        match self {
            Self::Native(recorded) => condition.test(&mut recorded.player, steps, &|| false),
            Self::Java(recorded) => condition.test(&mut recorded.player, steps, &|| false),
        }
    }

    /// The names of the variables that are visible at a step.
    pub fn names(&mut self, step: Step) -> Result<Vec<Arc<str>>, TraceError> {
        let found = match self {
            Self::Native(recorded) => recorded.player.look_at(step, |state| {
                let variables = state.view.variables(state.frame);
                variables.into_iter().map(|place| place.name.to_string().into()).collect()
            })?,
            Self::Java(recorded) => recorded.player.look_at(step, |state| state.names())?,
        };
        Ok(found.unwrap_or_default())
    }

    /// Of the values that a step uses, those that a condition names: their indices, ascending.
    pub fn named(&mut self, condition: &Condition, step: Step, facts: &StepFacts) -> Result<Vec<usize>, TraceError> {
        let named = condition.subject().named();
        let mut texts: Vec<String> = named.iter().filter_map(|named| named.written()).collect();
        match self {
            Self::Native(recorded) => {
                // A computed element is known by its address.
                let extents = recorded.player.look_at(step, |state| {
                    let places = named.iter().filter_map(|named| state.place(named));
                    let in_memory = places.filter(|place| place.held.is_none());
                    in_memory.map(|place| place.address..place.address.saturating_add(place.size)).collect::<Vec<_>>()
                })?;
                let extents = extents.unwrap_or_default();
                let is_read = facts.detail.reads.iter().filter(|access| {
                    let end = access.address.saturating_add(access.size);
                    extents.iter().any(|extent| extent.start < end && access.address < extent.end)
                });
                texts.extend(is_read.map(|access| access.named.name.clone()));
            }
            Self::Java(recorded) => {
                let found = recorded
                    .player
                    .look_at(step, |state| named.iter().filter_map(|named| state.name(named)).collect::<Vec<_>>())?;
                texts.extend(found.unwrap_or_default());
            }
        }
        let indices = facts.used.iter().enumerate().filter(|(_, used)| texts.contains(&used.name));
        Ok(indices.map(|(index, _)| index).collect())
    }
}
