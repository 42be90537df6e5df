//! A run in the form in which two runs are compared: the index of each step, and its output.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Step;

/// A call that the outside of the program can observe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservableCall {
    /// The step of the call.
    pub step: Step,
    /// The number of steps that had begun at this point.
    pub time: u64,
    /// The function.
    pub function: Arc<str>,
    /// The arguments: numbers, and strings behind pointers. The values of other pointers are left out, because they differ
    /// between two runs.
    pub words: Vec<RunArgument>,
    /// The text, if it is known.
    pub text: Option<Vec<u8>>,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunArgument {
    /// A number.
    Number(u64),
    /// A string.
    Text(Vec<u8>),
    /// A pointer.
    Pointer,
}

impl ObservableCall {
    /// Whether both arguments are equal.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.text, &other.text) {
            (Some(text), Some(other)) => text == other,
            _ => self.function == other.function && self.words == other.words,
        }
    }
}

/// A write by a step after later steps had begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateWrite {
    /// The address.
    pub address: u64,
    /// The length in bytes.
    pub length: u64,
    /// The number of steps that had begun at this point.
    pub time: u32,
    /// The number of records up to the one of this write.
    pub n_records: u64,
}

/// Bytes that a function of the library left, and that were seen when they were read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revealed {
    /// Where they are.
    pub address: u64,
    /// The bytes, and how many they are, 1 to 8.
    pub bytes: [u8; 8],
    /// See [`bytes`](Self::bytes).
    pub length: u8,
    /// The step that called the function.
    pub writer: Step,
}

/// A whole run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// For each step from [`Step::START`]: its index; 0 if it has none. Empty in an outline.
    pub indices: Vec<u64>,
    /// For each step: the number of records before its first one. Empty in an outline.
    pub records: Vec<u64>,
    /// For each step: the head of the innermost region around it; 0 for the root. The head of an iteration is its decision;
    /// the decisions of all iterations have the head of the first one.
    pub leaders: Vec<u32>,
    /// For each step: its control dependence, which is the innermost decision around it, else the call of its function; 0
    /// for the root.
    pub deciders: Vec<u32>,
    /// For each step: the call of its function; 0 for the root.
    pub callers: Vec<u32>,
    /// For each step: whether it is the entry of a function.
    pub entries: Vec<bool>,
    /// For each step: whether it goes on with the statement of an earlier step of its activation, such as the second line of
    /// a call. Known of Java programs only.
    pub rests: Vec<bool>,
    /// For each step: the number of steps at the point where it continued after later steps had begun; 0 if it did not.
    pub returns: Vec<u32>,
    /// The writes of these steps after that point: by step, then in order.
    pub late: Vec<(u32, LateWrite)>,
    /// The observable calls, in order.
    pub said: Vec<ObservableCall>,
    /// The last step of `main`, if that returned; in C++ the program goes on after it.
    pub main_end: Option<Step>,
    /// The step that was under way when a C program was ended; others that it called may have begun after it.
    pub end: Option<Step>,
    /// What functions of the library left in memory without a record (`read`, `fgets`, `sscanf`, `qsort`), as far as it was read
    /// later and is not too much.
    pub revealed: Vec<Revealed>,
    /// The number of records.
    pub n_records: u64,
    /// The number of threads.
    pub n_threads: usize,
}

impl Run {
    /// The number of steps that had begun when a step decided or returned; the steps of its callees come before that.
    pub fn falls(&self, step: Step) -> u64 {
        u64::from(self.returned(step).unwrap_or(step.0))
    }

    /// The number of steps at the point where a step continued after later steps had begun; `None` if it did not.
    pub fn returned(&self, step: Step) -> Option<u32> {
        self.returns.get(step.0 as usize).copied().filter(|time| *time != 0)
    }

    /// The number of steps that had begun when `writer` last wrote to `address`. Only writes within the first `n_records`
    /// records count.
    pub fn time(&self, writer: Step, address: u64, n_records: u64) -> u64 {
        let first = self.late.partition_point(|(step, _)| *step < writer.0);
        let end = self.late.partition_point(|(step, late)| (*step, late.n_records) <= (writer.0, n_records));
        let late = self.late.get(first..end).unwrap_or_default().iter().map(|(_, late)| late);
        let found = late.rev().find(|late| address >= late.address && address - late.address < late.length);
        u64::from(found.map_or(writer.0, |late| late.time))
    }

    /// Whether a step goes on with the statement of an earlier one.
    pub fn is_rest(&self, step: Step) -> bool {
        self.rests.get(step.0 as usize).is_some_and(|is_rest| *is_rest)
    }

    /// The number of steps.
    pub fn n_steps(&self) -> u32 {
        u32::try_from(self.indices.len().max(self.leaders.len()).saturating_sub(1)).expect("steps are numbered by u32")
    }
}

/// Where a step stands when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepStand {
    /// The number of its activation.
    pub frame: u64,
    /// Its control dependence; [`Step::START`] for none.
    pub decider: Step,
    /// The call of its function; [`Step::START`] for none.
    pub caller: Step,
    /// The number of its statement in the function, if it is a decision.
    pub decision: Option<u32>,
    /// Whether it is the entry of its function.
    pub is_entry: bool,
    /// Whether it goes on with the statement of an earlier step.
    pub is_rest: bool,
    /// Its thread.
    pub thread: u32,
}

/// Takes down where the steps of a run stand, in order: what an outline of it has.
#[derive(Debug, Default)]
pub struct OutlineReader {
    /// The run so far.
    pub run: Run,
    /// By step: the statement and the activation of a decision; `u32::MAX` and 0 for other steps.
    decisions: Vec<(u32, u32)>,
    threads: HashSet<u32>,
    last_thread: Option<u32>,
}

impl OutlineReader {
    /// Before the first step.
    pub fn new() -> Self {
        let mut outline = Self::default();
        outline.push(0, 0, 0, (u32::MAX, 0), false);
        outline
    }

    fn push(&mut self, leader: u32, decider: u32, caller: u32, decision: (u32, u32), is_entry: bool) {
        self.decisions.push(decision);
        self.run.leaders.push(leader);
        self.run.deciders.push(decider);
        self.run.callers.push(caller);
        self.run.entries.push(is_entry);
        self.run.returns.push(0);
    }

    /// The decision of the iteration before: another instance of the same one, in whose region it is.
    fn sibling(&self, stand: &StepStand, statement: u32) -> Option<u32> {
        let mut around = stand.decider.0;
        loop {
            match self.decisions[around as usize] {
                (known, frame) if known != u32::MAX && u64::from(frame) == stand.frame => {
                    if known == statement {
                        return Some(around);
                    }
                    around = self.run.leaders[around as usize];
                }
                _ => return None,
            }
        }
    }

    /// A step begins.
    pub fn step(&mut self, stand: &StepStand) {
        let sibling = stand.decision.and_then(|statement| self.sibling(stand, statement));
        let leader = sibling.map_or(stand.decider.0, |sibling| self.run.leaders[sibling as usize]);
        let frame = u32::try_from(stand.frame).unwrap_or(u32::MAX);
        let decision = stand.decision.map_or((u32::MAX, 0), |statement| (statement, frame));
        if stand.is_rest {
            self.run.rests.resize(self.run.leaders.len(), false);
            self.run.rests.push(true);
        }
        self.push(leader, stand.decider.0, stand.caller.0, decision, stand.is_entry);
        if self.last_thread != Some(stand.thread) {
            self.last_thread = Some(stand.thread);
            self.threads.insert(stand.thread);
            self.run.n_threads = self.threads.len();
        }
    }

    /// A step continues after so many steps had begun.
    pub fn returns(&mut self, step: Step, n_steps: u32) {
        if let Some(time) = self.run.returns.get_mut(step.0 as usize) {
            *time = n_steps;
        }
    }
}
