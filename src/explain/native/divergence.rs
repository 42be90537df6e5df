//! Where a failing run first does something else than the run of a passing version, or of a passing input.
//!
//! One pass over each run takes a digest of what every step reads, writes, gets back and calls. Steps that correspond and have
//! different digests are candidates, as are decisions after which the runs part. Values that stay in registers are known
//! only where they are read, so the difference begins at a candidate, or at what computed a value that it uses. A digest
//! may differ by chance (addresses), so whoever asks compares the values of a candidate before believing it.

use std::hash::DefaultHasher;
use std::hash::Hash as _;
use std::hash::Hasher as _;

use crate::explain::align::Alignment;
use crate::explain::native::recorded::Recorded;
use crate::trace::TraceError;
use crate::trace::native::call::Call;
use crate::trace::native::machine::Machine;
use crate::trace::native::machine::Watch;
use crate::trace::native::play::Player;
use crate::trace::step::Step;
use crate::trace::step::Steps;

/// A step at which the failing run may begin to differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The step of the failing run.
    pub step: Step,
    /// Whether the reference has steps after it to which none of the failing run correspond: code may be missing there.
    pub is_before_more: bool,
}

/// The candidates, ascending.
///
/// - `relevant`: the steps on which the failure depends. Missing code may be beside any step.
///
/// Cost: one pass over each run, and 8 bytes for each step.
pub fn candidates(
    (failing, reference): (&mut Recorded, &mut Recorded),
    alignment: &Alignment,
    relevant: &Steps,
) -> Result<Vec<Candidate>, TraceError> {
    let ours = Digests::of(&mut failing.player)?;
    let theirs = Digests::of(&mut reference.player)?;
    let digest = |of: &[u64], step: Step| of.get(step.0 as usize).copied().unwrap_or(0);
    let mut found = Vec::new();
    let starts = [(Step::START, Step::START)];
    let pairs =
        starts.iter().chain(&alignment.pairs).filter(|(step, other)| (*step == Step::START) == (*other == Step::START));
    let mut pairs = pairs.peekable();
    while let Some((step, other)) = pairs.next() {
        let next = pairs.peek().map(|(step, other)| (step.0, other.0));
        let is_before_more = next.is_some_and(|(_, next)| next > other.0 + 1);
        let is_before_other = next.is_some_and(|(next, _)| next > step.0 + 1);
        let is_different =
            relevant.contains(*step) && (digest(&ours, *step) != digest(&theirs, *other) || is_before_other);
        if *step != Step::START && (is_different || is_before_more) {
            found.push(Candidate { step: *step, is_before_more });
        }
    }
    Ok(found)
}

/// By step, a digest of what it does.
#[derive(Default)]
struct Digests(Vec<u64>);

impl Digests {
    fn of(player: &mut Player) -> Result<Vec<u64>, TraceError> {
        let mut digests = Self::default();
        player.seek(0)?;
        player.play(&mut digests)?;
        Ok(digests.0)
    }

    fn mix(&mut self, step: Step, what: impl FnOnce(&mut DefaultHasher)) {
        let index = step.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        let mut hasher = DefaultHasher::new();
        self.0[index].hash(&mut hasher);
        what(&mut hasher);
        self.0[index] = hasher.finish();
    }
}

impl Watch for Digests {
    fn reads(&mut self, _: &Machine, step: Step, _: u64, bytes: &[u8]) {
        self.mix(step, |hasher| bytes.hash(hasher));
    }

    fn writes(&mut self, machine: &Machine, step: Step, address: u64, length: u64) {
        let bytes = usize::try_from(length).ok().and_then(|length| machine.memory.bytes(address, length));
        self.mix(step, |hasher| bytes.hash(hasher));
    }

    fn returned(&mut self, machine: &Machine, result: Option<u64>) {
        if let Some(step) = machine.frame().map(|frame| frame.step) {
            self.mix(step, |hasher| result.hash(hasher));
        }
    }

    fn called(&mut self, machine: &Machine, _: &Call, arguments: &[Option<u64>], result: Option<u64>) {
        if let Some(step) = machine.frame().map(|frame| frame.step) {
            self.mix(step, |hasher| (arguments, result).hash(hasher));
        }
    }
}
