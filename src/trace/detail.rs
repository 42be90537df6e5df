//! All facts about one step, and the chain of steps from which a value comes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{Place, Step};

/// The maximum number of bytes of a read or write that are stored.
pub const MAX_CONTENT: u64 = 4096;

/// What a step used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UsedThing {
    /// Bytes at an address.
    Memory(u64, u64),
    /// Bytes at an address that only say where something is: a pointer that is followed, an index.
    Address(u64, u64),
    /// A temporary value of another statement.
    Temporary,
    /// The arguments of the call.
    Arguments,
    /// What the call returned.
    Returned,
    /// The decision that chose among values: by `&&`, `||` or `?:`.
    Decision,
}

/// What a step did when it crashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It read the range of the crash.
    Reading,
    /// It wrote there; what it would have written, if that is known and has at most 8 bytes.
    Writing(Option<u64>),
    /// It divided integers.
    Dividing,
}

/// What is at an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedAddress {
    /// Its name: `total`, `head->v` is `block of step 12+4`.
    pub name: String,
    /// Its value; `None` if that is not known.
    pub value: Option<String>,
}

/// The place of a step in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepStanding {
    /// The step.
    pub step: Step,
    /// The function, by its name in the source.
    pub function: Arc<str>,
    /// The place of the statement.
    pub place: Option<Place>,
    /// Whether it is the entry of the function.
    pub is_entry: bool,
    /// Whether no other statement of the function begins in its line.
    pub is_alone: bool,
}

/// A value that was read or written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// Its name, and the value that was read or written.
    pub named: NamedAddress,
    /// Its address, and its length in bytes.
    pub address: u64,
    /// See [`address`](Self::address).
    pub size: u64,
    /// The bytes that were read or written, at most the first [`MAX_CONTENT`]; `None` if one of them is not known.
    pub content: Option<Vec<u8>>,
    /// The step that wrote the value; [`Step::START`] for a value from before the run.
    pub makers: BTreeSet<Step>,
    /// For a pointer whose value shows the text that it points to: the steps that wrote the text, as for `makers`.
    pub text_makers: BTreeSet<Step>,
    /// The variable or block that has this text, if it is known.
    pub text_name: Option<String>,
    /// For a pointer to a structure: the structure before the step, if the names of the source were looked up.
    pub target: Option<String>,
    /// For a value from before the run, or from an [input](crate::input::name): its source.
    pub origin: Option<String>,
}

/// A call of a function that is not instrumented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// The function; `None` through a pointer.
    pub name: Option<Arc<str>>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The same as numbers; `None` for those that are not known.
    pub numbers: Vec<Option<u64>>,
    /// Its result.
    pub result: Option<String>,
    /// Whether it brings input into the program.
    pub is_input: bool,
    /// The [bytes of input](crate::input::name) that it brings, if they are known.
    pub input: Option<String>,
    /// Whether the effects of the function are known.
    pub is_modelled: bool,
}

/// All facts about a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detail {
    /// Its place.
    pub standing: StepStanding,
    /// Its thread.
    pub thread: u32,
    /// The number of times that its statement has run so far, if that was counted.
    pub instance: Option<u64>,
    /// The values that it reads.
    pub reads: Vec<Access>,
    /// The values that it writes.
    pub writes: Vec<Access>,
    /// Other values that it uses, with their makers.
    pub uses: BTreeSet<(Step, UsedThing)>,
    /// Calls of functions that are not instrumented.
    pub calls: Vec<Outside>,
    /// What it returned to a function that was recorded.
    pub returned: Option<String>,
    /// The crash, if it crashed: the number of the signal, and the access with its address; no access for a division.
    pub crash: Option<(u32, Option<(Doing, Access)>)>,
    /// Its control dependence; `None` for the first step.
    pub control: Option<Step>,
    /// The stack of calls, the innermost first: the calling step and the function.
    pub stack: Vec<(Step, Arc<str>)>,
    /// The visible variables before it runs: name and value.
    pub variables: Vec<(Arc<str>, String)>,
    /// Whether the recording lacks its beginning.
    pub is_window: bool,
}

impl Detail {
    /// The steps that computed the values it reads.
    pub fn makers(&self) -> BTreeSet<Step> {
        let read = self.reads.iter().flat_map(|access| access.makers.iter().copied());
        read.chain(self.uses.iter().map(|(step, _)| *step)).filter(|step| *step != Step::START).collect()
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The step before which the variable is examined.
    pub standing: StepStanding,
    /// The variable, its value there, and the last step that wrote it.
    pub asked: Access,
    /// The steps from which the value comes, the last one first: its last writers, the writers of the values that those
    /// read, and so on.
    pub steps: Vec<Detail>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// The answer to the question where the value of a variable comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginAnswer {
    /// The chain.
    Found(Why),
    /// The run has no such step.
    NoStep,
    /// No variable of that name is visible there; these are.
    NoVariable(Vec<Arc<str>>),
}

/// A variable before a step, with the place of the step, or the answer that there is none.
pub type VariableAnswer = Result<(StepStanding, Access), OriginAnswer>;
