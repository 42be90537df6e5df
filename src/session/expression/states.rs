//! The states of a recorded run before its steps, as [expressions](crate::expression) see them.

use crate::expression::StateVariables;
use idd_trace::{Step, TraceError};

/// A recorded run whose states can be looked at.
pub trait States {
    /// An activation of a function, and the process around it.
    type State<'s>: StateVariables;

    /// Looks at the state right before each step, from a step on, as long as `look` wants to see more.
    ///
    /// Cost: plays from the last checkpoint before the step.
    fn look_from(&mut self, step: Step, look: impl FnMut(Step, Self::State<'_>) -> bool) -> Result<(), TraceError>;

    /// Goes near a step that is looked at, if it will be looked at again, or steps around it.
    fn approach(&mut self, step: Step) -> Result<(), TraceError>;

    /// Looks at the state right before a step; `None` if there is no such step.
    ///
    /// Cost: plays from the last checkpoint before the step.
    fn look_at<T>(&mut self, step: Step, look: impl FnOnce(Self::State<'_>) -> T) -> Result<Option<T>, TraceError> {
        let (mut look, mut found) = (Some(look), None);
        self.approach(step)?;
        self.look_from(step, |at, state| {
            if at == step {
                found = look.take().map(|look| look(state));
            }
            at < step
        })?;
        Ok(found)
    }
}
