//! A run, as far as it is needed to compare it: the index of each step, and what it said.

use std::collections::HashMap;
use std::sync::Arc;

use crate::trace::step::Step;

/// Something that a run said to the outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The step that said it.
    pub step: Step,
    /// How many steps had begun when it was said.
    pub time: u64,
    /// The function.
    pub function: Arc<str>,
    /// Its arguments: numbers, and the strings that pointers point to. Other pointers are left out, because they differ
    /// between programs.
    pub words: Vec<Word>,
    /// The text, if it is known.
    pub text: Option<Vec<u8>>,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A number.
    Number(u64),
    /// A string.
    Text(Vec<u8>),
    /// A pointer.
    Pointer,
}

impl Said {
    /// Whether both say the same.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.text, &other.text) {
            (Some(text), Some(other)) => text == other,
            _ => self.function == other.function && self.words == other.words,
        }
    }
}

/// What a step wrote after others had begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub length: u64,
    /// How many steps had begun.
    pub time: u32,
    /// Records up to the one that tells it.
    pub n_records: u64,
}

/// A whole run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// By step, from [`Step::START`]: its index, 0 if it has none.
    pub indices: Vec<u64>,
    /// By step: records before its first one.
    pub records: Vec<u64>,
    /// By step: the one that leads the innermost region around it; 0 for the root. An iteration is led by its decision,
    /// and the decisions of all iterations by what leads the first one.
    pub leaders: Vec<u32>,
    /// By step: the one that decided that it runs: the innermost decision around it, else the call of its function; 0
    /// for the root.
    pub deciders: Vec<u32>,
    /// By step: the one that called its function; 0 for the root.
    pub callers: Vec<u32>,
    /// By step: whether it is the entry of a function.
    pub entries: Vec<bool>,
    /// For steps that went on after others had begun: how many had begun then.
    pub returns: HashMap<u32, u32>,
    /// What these steps wrote then, in order.
    pub late: HashMap<u32, Vec<Late>>,
    /// What it said, in order.
    pub said: Vec<Said>,
    /// All its records.
    pub n_records: u64,
    /// Threads that ran.
    pub n_threads: usize,
}

impl Run {
    /// How many steps had begun when a step had decided, or returned: what it calls comes before that.
    pub fn falls(&self, step: Step) -> u64 {
        u64::from(self.returns.get(&step.0).copied().unwrap_or(step.0))
    }

    /// The number of steps that had begun when `writer` last wrote to `address`. Only writes within the first `n_records`
    /// records count.
    pub fn time(&self, writer: Step, address: u64, n_records: u64) -> u64 {
        let late = self
            .late
            .get(&writer.0)
            .map_or(&[][..], |late| &late[..late.partition_point(|late| late.n_records <= n_records)]);
        let found = late.iter().rev().find(|late| address >= late.address && address - late.address < late.length);
        u64::from(found.map_or(writer.0, |late| late.time))
    }

    /// Steps.
    pub fn n_steps(&self) -> u32 {
        u32::try_from(self.indices.len() - 1).expect("steps are numbered by u32")
    }
}
