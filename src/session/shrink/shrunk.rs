//! The result of a reduction.

use crate::shrink::reference::VersionDifference;
use idd_base::Signature;
use idd_change::EntryMode;
use idd_report::Status;
use std::ffi::OsString;
use std::rc::Rc;

/// A reduced input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// The input files, in the order of the order.
    pub files: Vec<ShrunkFile>,
    /// What is left of the arguments and the variables of the test: what it is, and its words in the quoting of the
    /// shell.
    pub words: Vec<(&'static str, OsString)>,
    /// With `passing`: the passing input that is as similar to the only file as was found.
    pub passing: Option<Vec<u8>>,
    /// The failure.
    pub signature: Signature,
    /// The statement at which all candidates failed, as the test prints it; `None` if it prints none.
    pub place: Option<String>,
    /// Runs of the test.
    pub n_run: u64,
    /// Answers that were known.
    pub n_cached: u64,
    /// Why the reduction ended before its end; `None` if the result is minimal.
    pub stopped: Option<Status>,
    /// How the other version behaves with the reduced input, if there is one.
    pub difference: Option<VersionDifference>,
    /// What limits the result, as sentences.
    pub remarks: Vec<String>,
    /// The last candidates with which the test passed, or both versions behaved in the same way: the contents of
    /// [`files`](Self::files), in their order. The last of them is the last one that was tried.
    pub passing_candidates: Vec<Vec<Rc<[u8]>>>,
}

/// A reduced input file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShrunkFile {
    /// Its name as the user gave it.
    pub name: OsString,
    /// Its path in the checkout, relative to the top.
    pub path: Vec<u8>,
    /// Its mode in the checkout.
    pub mode: EntryMode,
    /// Whether it is in the working tree of the user.
    pub is_inside: bool,
    /// Its size before, in bytes.
    pub n_bytes_before: usize,
    /// Its reduced content.
    pub content: Rc<[u8]>,
}
