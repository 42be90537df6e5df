//! How well the simulated machine agrees with what was recorded.

/// The check of values: what is read must be what was written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Check {
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
