//! The events of a run, found by step and played when they are asked for.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use crate::native::event::{Collector, EventTime, StepEvent};
use crate::native::{NativeMachine, NativePlayer, RecordAction, Watch};
use crate::{Step, TraceError};

/// Records before one that is asked for which are played with it.
const WINDOW: u64 = 400;

/// Windows that are remembered.
const MAX_WINDOWS: usize = 24;

/// The events of a run.
pub struct EventTape<'t> {
    /// Plays the run.
    pub player: &'t mut NativePlayer,
    /// By step: the number of the record that it begins in.
    begins: Vec<u64>,
    /// Steps that went on in another record than they began in, and the record; ascending.
    resumes: Vec<(Step, u64)>,
    windows: VecDeque<Window>,
}

struct Window {
    records: Range<u64>,
    events: HashMap<EventTime, Rc<StepEvent>>,
}

impl<'t> EventTape<'t> {
    /// The events of a run.
    ///
    /// Cost: one pass over the trace; 8 bytes for each step, 16 for each call.
    pub fn new(player: &'t mut NativePlayer) -> Result<Self, TraceError> {
        let mut index = Indexer { begins: vec![0], resumes: Vec::new(), record: 0 };
        player.replay(&mut index)?;
        let Indexer { begins, mut resumes, .. } = index;
        resumes.sort_unstable();
        Ok(Self { player, begins, resumes, windows: VecDeque::new() })
    }

    /// The number of steps.
    pub fn n_steps(&self) -> u32 {
        u32::try_from(self.begins.len() - 1).unwrap_or(u32::MAX)
    }

    /// When the events of a step happened, the first one first.
    pub fn moments(&self, step: Step) -> impl DoubleEndedIterator<Item = EventTime> + use<> {
        let begin = self.begins.get(step.0 as usize).filter(|_| step != Step::START);
        let first = self.resumes.partition_point(|(other, _)| *other < step);
        let last = self.resumes.partition_point(|(other, _)| *other <= step);
        let mut moments: Vec<EventTime> = begin.map(|record| EventTime(*record, step.0)).into_iter().collect();
        moments.extend(self.resumes[first..last].iter().map(|(_, record)| EventTime(*record, 0)));
        moments.into_iter()
    }

    /// An event; `None` if none happened then.
    ///
    /// Cost: plays from the last checkpoint before it, unless it was played lately.
    pub fn event(&mut self, moment: EventTime) -> Result<Option<Rc<StepEvent>>, TraceError> {
        let is_here = |window: &Window| window.records.contains(&moment.0);
        if let Some(at) = self.windows.iter().position(is_here) {
            return Ok(self.windows[at].events.get(&moment).cloned());
        }
        // Played again where another window begins, events would be cut at other places.
        let begin = moment.0.saturating_sub(1) / WINDOW * WINDOW;
        self.player.seek(begin)?;
        let mut collector = Collector::new(begin + WINDOW);
        self.player.play(&mut collector)?;
        collector.close(&self.player.machine);
        let events = collector.events.into_iter().map(|event| (event.moment, Rc::new(event))).collect();
        if self.windows.len() == MAX_WINDOWS {
            self.windows.pop_front();
        }
        self.windows.push_back(Window { records: begin + 1..begin + WINDOW + 1, events });
        Ok(self.windows.back().and_then(|window| window.events.get(&moment).cloned()))
    }
}

/// Takes down where the steps are.
struct Indexer {
    begins: Vec<u64>,
    resumes: Vec<(Step, u64)>,
    record: u64,
}

impl Watch for Indexer {
    fn step(&mut self, machine: &NativeMachine) {
        self.begins.push(machine.n_records);
    }

    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, _record: &[u8]) {
        if self.record != machine.n_records {
            self.record = machine.n_records;
            if !matches!(action, RecordAction::Step(_))
                && let Some(frame) = machine.frame()
            {
                self.resumes.push((frame.step, machine.n_records));
            }
        }
    }
}
