//! What commands ask of a recorded run, in whatever language its program is written.

use std::collections::HashMap;
use std::ops::Range;

use crate::input::{Contents, InputEntry};
use crate::output::Outputs;
use crate::slice::UsedPart;
use crate::stat::Stat;
use crate::statements::{Initial, StatementCounts};
use crate::tree::{CallNode, TreeLimits};
use crate::{Dependences, Detail, OriginAnswer, Place, Step, Steps, TraceError, VariableAnswer, Why, output};

/// A recorded run. Each method may play the whole run; the answer does not depend on what was asked before.
pub trait Execution {
    /// The number of steps.
    fn n_steps(&mut self) -> Result<u32, TraceError>;

    /// The counts.
    fn stat(&mut self) -> Result<Stat, TraceError>;

    /// The tree of calls and loops: the first calls of the threads, and how many are left out.
    fn tree(&mut self, limits: TreeLimits) -> Result<(Vec<CallNode>, u64), TraceError>;

    /// All facts about some steps, as far as they are known before `until`. Steps that do not exist are left out.
    ///
    /// - `steps`: ascending.
    fn details(&mut self, steps: &[Step], until: Step) -> Result<Vec<Detail>, TraceError>;

    /// All facts about one step; `None` if there is no such step.
    fn detail(&mut self, step: Step) -> Result<Option<Detail>, TraceError> {
        Ok(self.details(&[step], Step(u32::MAX))?.pop())
    }

    /// Follows the last definitions of a variable, from before a step, through at most `limit` steps.
    ///
    /// - `dependences`: the graph of the run, at least up to the step; any graph if `limit` is 0.
    fn why(&mut self, dependences: &Dependences, at: (Step, &str), limit: usize) -> Result<OriginAnswer, TraceError> {
        let (standing, asked) = match self.asked(at.0, at.1)? {
            Ok(found) => found,
            Err(answer) => return Ok(answer),
        };
        let (order, is_cut) = dependences.origins(asked.makers.iter().copied(), at.0, limit);
        let mut ascending = order.clone();
        ascending.sort_unstable();
        let details = self.details(&ascending, at.0)?.into_iter();
        let mut details: HashMap<Step, Detail> = details.map(|detail| (detail.standing.step, detail)).collect();
        let steps = order.iter().filter_map(|step| details.remove(step)).collect();
        Ok(OriginAnswer::Found(Why { standing, asked, steps, is_cut }))
    }

    /// A variable before a step, or the answer that there is none.
    fn asked(&mut self, step: Step, path: &str) -> Result<VariableAnswer, TraceError>;

    /// The dependence graph of the steps before `until`, without potential dependences.
    fn dependences(&mut self, until: Step) -> Result<Dependences, TraceError>;

    /// The dependence graph of the whole run with potential dependences, and the decisions before a wrong output that
    /// could have led to other output.
    ///
    /// - `wrong`: the step of the output, and the last step before it that printed; [`Step::START`] for no output.
    fn relevant_dependences(&mut self, wrong: (Step, Step)) -> Result<(Dependences, Vec<Step>), TraceError>;

    /// All executed statements, by functions in the order in which they were first called. Entries of functions are no
    /// statements.
    ///
    /// - `distances`: a number for each step, from [`Step::START`]; steps without one have [`u32::MAX`].
    ///
    /// - Result: also the functions that steps of the sets called, and that may have read or written what is not known.
    fn statements(&mut self, sets: &[&Steps], distances: &[u32]) -> Result<StatementCounts, TraceError>;

    /// The places of all statements of the program, whether they ran or not.
    fn program(&mut self) -> Result<Vec<Option<Place>>, TraceError>;

    /// The global variables whose initial values some steps read; without those that a statement of the program gives.
    fn initial(&mut self, steps: &Steps) -> Result<Vec<Initial>, TraceError>;

    /// The steps of statements at some places, ascending. Entries of functions are no statements.
    fn steps_at(&mut self, is_there: &dyn Fn(&Place) -> bool) -> Result<Vec<Step>, TraceError>;

    /// What the program read before a step, in order.
    ///
    /// - `contents`: the content of an input, if it is known.
    fn inputs(&mut self, until: Step, contents: &mut Contents<'_>) -> Result<Vec<InputEntry>, TraceError>;

    /// The steps with which a part of an input, or all of it, enters.
    fn entering(&mut self, entries: &[&InputEntry], range: Option<&Range<u64>>) -> Result<Vec<Step>, TraceError>;

    /// What the program wrote, and how it ended.
    fn outputs(&mut self) -> Result<Outputs, TraceError>;

    /// The steps that stored a byte of the output; `None` if the step that wrote it computed it, or had it from nowhere.
    fn part(&mut self, place: output::OutputByte) -> Result<Option<UsedPart>, TraceError>;

    /// Whether a byte, which is the last one of its call, ends a text that may have another length.
    fn ends_text(&mut self, place: output::OutputByte) -> Result<bool, TraceError>;
}

/// Implements [`Execution`] for the player of a language: by functions of its modules, which have the same names in each
/// language, and by methods of its own.
macro_rules! execution {
    ($player:ty { $($own:tt)* }) => {
        impl $crate::execution::Execution for $player {
            $crate::execution::execution! {
                stat::stat() -> $crate::stat::Stat;
                tree::tree(limits: $crate::tree::TreeLimits) -> (Vec<$crate::tree::CallNode>, u64);
                detail::details(steps: &[Step], until: Step) -> Vec<$crate::detail::Detail>;
                detail::asked(step: Step, path: &str) -> $crate::detail::VariableAnswer;
                uses::dependences(until: Step) -> $crate::dependence::Dependences;
                relevant::relevant_dependences(wrong: (Step, Step)) -> ($crate::dependence::Dependences, Vec<Step>);
                statements::statements(sets: &[&Steps], distances: &[u32]) -> $crate::statements::StatementCounts;
                statements::steps_at(is_there: &dyn Fn(&Place) -> bool) -> Vec<Step>;
                input::inputs(until: Step, contents: &mut $crate::input::Contents<'_>) -> Vec<InputEntry>;
                output::outputs() -> $crate::output::Outputs;
            }
            $($own)*
        }
    };
    ($($module:ident::$method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        $(fn $method(&mut self, $($argument: $type),*) -> Result<$answer, TraceError> {
            $module::$method(self, $($argument),*)
        })+
    };
}
pub(crate) use execution;
