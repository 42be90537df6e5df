//! The counts of a run and of its recording.

/// The counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stat {
    /// Records.
    pub n_records: u64,
    /// Their size in bytes.
    pub n_bytes: u64,
    /// Bytes of records that are left out: what a program that was stopped repeated before.
    pub n_repeated: u64,
    /// Events that the records tell of.
    pub n_events: u64,
    /// Steps.
    pub n_steps: u32,
    /// Reads and writes of memory and variables.
    pub n_accesses: u64,
    /// Uses of values that another step produced.
    pub n_uses: u64,
    /// Functions that ran.
    pub n_functions: usize,
    /// Threads that ran.
    pub n_threads: usize,
    /// Calls of functions that were recorded.
    pub n_calls: u64,
    /// Blocks of the heap, or objects.
    pub heap: HeapCounts,
    /// How well the replayed run agrees with what was recorded.
    pub check: ValueCheck,
    /// Functions without a model, and how often each was called; the most called first.
    pub unmodelled: Vec<(String, u64)>,
}

/// Blocks of the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapCounts {
    /// Those that were made.
    pub n_made: u64,
    /// Those that were not freed.
    pub n_live: usize,
}

/// The check of values: what is read must be what was written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValueCheck {
    /// Reads of memory.
    pub n_reads: u64,
    /// Those that found other bytes than were written last.
    pub n_other: u64,
    /// Those of them behind a call of an unknown function that was given a pointer to there.
    pub n_reached: u64,
    /// Those of them behind some call of an unknown function.
    pub n_after_call: u64,
    /// Calls of functions that are not instrumented, with a model and without.
    pub n_modelled: u64,
    /// See [`n_modelled`](Self::n_modelled).
    pub n_unmodelled: u64,
    /// Frames that were left without a return: `longjmp`, the end of a thread.
    pub n_unwound: u64,
    /// Frames that were met in the middle.
    pub n_partial: u64,
}
