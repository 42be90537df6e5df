//! Hits of breakpoints that are found only by playing the run: as far as they are needed, and each part of the run once.

use crate::dap::count::HitCount;
use crate::dap::tape::{Tape, WatchedVariable};
use crate::expression::condition::Condition;
use idd_trace::walk::next_hit;
use idd_trace::writes::N_STEPS;
use idd_trace::{Step, TimeDirection, TraceError};
use std::ops::Range;

/// Sections of a run at the most.
const MAX_SECTIONS: u32 = 128;

/// Who waits for a search.
pub trait SearchWaiter {
    /// Whether the search is to end; asked often.
    fn is_over(&self) -> bool;

    /// Takes how much is done, from 0 to 1.
    fn goes_on(&mut self, share: f64);
}

/// Why a search ended without an answer.
#[derive(Debug)]
pub enum SearchEnding {
    /// Nobody waits any longer.
    Interrupted,
    /// The run cannot be read.
    Failed(TraceError),
}

impl From<TraceError> for SearchEnding {
    fn from(error: TraceError) -> Self {
        Self::Failed(error)
    }
}

/// What is searched for.
pub enum HitSubject {
    /// Those of some steps, ascending, before which a condition holds.
    Condition(Vec<Step>, Condition),
    /// Steps that write a variable.
    Writes(WatchedVariable),
}

/// The hits of a breakpoint.
pub enum Hits {
    /// All, ascending.
    Known(Vec<Step>),
    /// Those that are searched for.
    Searched(HitSearch),
}

/// The hits that are known so far.
pub struct HitSearch {
    subject: HitSubject,
    /// Which of them count.
    count: Option<HitCount>,
    /// The steps of a section; the last one may have fewer.
    n_steps: u32,
    /// The hits in each section, ascending; `None` for one that was not played.
    sections: Vec<Option<Vec<Step>>>,
}

impl HitSearch {
    /// Begins a search; nothing is played.
    pub fn new(tape: &Tape, subject: HitSubject, count: Option<HitCount>) -> Self {
        let n_all = tape.n_steps().saturating_add(1);
        let n_steps = n_all.div_ceil(MAX_SECTIONS).next_multiple_of(N_STEPS);
        let sections = vec![None; n_all.div_ceil(n_steps) as usize];
        Self { subject, count, n_steps, sections }
    }

    fn range(&self, section: usize) -> Range<u32> {
        let begin = u32::try_from(section).unwrap_or(u32::MAX).saturating_mul(self.n_steps);
        begin..begin.saturating_add(self.n_steps)
    }

    /// The hits in a section, without regard to the count.
    fn section(&mut self, tape: &mut Tape, number: usize, is_over: &dyn Fn() -> bool) -> Result<&[Step], SearchEnding> {
        if self.sections[number].is_none() {
            if is_over() {
                return Err(SearchEnding::Interrupted);
            }
            let range = self.range(number);
            let found = match &self.subject {
                HitSubject::Condition(steps, condition) => {
                    let mut hits = within(steps, &range).to_vec();
                    let mut held = tape.past.test(&hits, condition, is_over)?.into_iter();
                    if held.len() < hits.len() {
                        return Err(SearchEnding::Interrupted);
                    }
                    hits.retain(|_| held.next() == Some(Ok(true)));
                    hits
                }
                HitSubject::Writes(target) => {
                    let mut writers =
                        tape.past.writers(&tape.walk, target, range, is_over)?.ok_or(SearchEnding::Interrupted)?;
                    // A step that has no place cannot be shown.
                    writers.retain(|step| tape.place(*step).is_some());
                    writers
                }
            };
            self.sections[number] = Some(found);
        }
        Ok(self.sections[number].as_deref().unwrap_or_default())
    }

    /// Why a condition has no value at any of its steps; `None` if it has one at some, or if that is not known yet.
    ///
    /// Cost: plays the section of the first step.
    pub fn complaint(&mut self, tape: &mut Tape) -> Result<Option<String>, TraceError> {
        let HitSubject::Condition(steps, condition) = &self.subject else { return Ok(None) };
        let Some(first) = steps.first() else { return Ok(None) };
        let section = first.0 / self.n_steps;
        let steps_here = within(steps, &self.range(section as usize));
        let found = tape.past.test(steps_here, condition, &|| false)?;
        let why = found.first().and_then(|held| held.as_ref().err()).filter(|_| found.iter().all(Result::is_err));
        // A value may be unknown at some steps, but a variable that is not seen at one of a line is at none.
        let is_certain = |why: &&String| steps_here.len() == steps.len() || why.starts_with("no variable");
        if let Some(why) = why.filter(is_certain) {
            return Ok(Some(why.clone()));
        }
        let hits = steps_here.iter().zip(&found).filter(|(_, held)| **held == Ok(true));
        self.sections[section as usize] = Some(hits.map(|(step, _)| *step).collect());
        Ok(None)
    }

    /// The next hit in a direction, without `from` itself.
    ///
    /// - `bound`: hits beyond it are not wanted.
    ///
    /// Cost: plays the sections up to the hit that were not played yet; with a count, all sections.
    fn next(
        &mut self,
        tape: &mut Tape,
        from: Step,
        time: TimeDirection,
        bound: Option<Step>,
        waiting: &mut dyn SearchWaiter,
    ) -> Result<Option<Step>, SearchEnding> {
        let last = self.sections.len().saturating_sub(1);
        let of = |step: Step| ((step.0 / self.n_steps) as usize).min(last);
        let end = bound.map_or(if time == TimeDirection::Forward { last } else { 0 }, of);
        let here = of(from);
        let numbers: Vec<usize> = match (time, self.count) {
            (_, Some(_)) => (0..=last).collect(),
            (TimeDirection::Forward, None) => (here..=end).collect(),
            (TimeDirection::Backward, None) => (end..=here).rev().collect(),
        };
        #[expect(clippy::cast_precision_loss, reason = "there are few sections")]
        let share = |done: usize| done as f64 / numbers.len() as f64;
        for (n_done, number) in numbers.iter().enumerate() {
            let (is_known, is_counted) = (self.sections[*number].is_some(), self.count.is_some());
            let hits = self.section(tape, *number, &|| waiting.is_over())?;
            if let Some(hit) = next_hit(hits, from, time).filter(|_| !is_counted) {
                return Ok(Some(hit));
            }
            if !is_known {
                waiting.goes_on(share(n_done + 1));
            }
        }
        let Some(count) = self.count else { return Ok(None) };
        let counted = (1..).zip(self.sections.iter().flatten().flatten()).filter(|(number, _)| count.takes(*number));
        let hits: Vec<Step> = counted.map(|(_, step)| *step).collect();
        Ok(next_hit(&hits, from, time))
    }
}

impl Hits {
    /// The next hit in a direction, without `from` itself; it may be beyond `bound`, see [`HitSearch`].
    pub fn next(
        &mut self,
        tape: &mut Tape,
        from: Step,
        time: TimeDirection,
        bound: Option<Step>,
        waiting: &mut dyn SearchWaiter,
    ) -> Result<Option<Step>, SearchEnding> {
        match self {
            Self::Known(hits) => Ok(next_hit(hits, from, time)),
            Self::Searched(search) => search.next(tape, from, time, bound, waiting),
        }
    }
}

/// Those of some steps, ascending, that are in a range.
fn within<'s>(steps: &'s [Step], range: &Range<u32>) -> &'s [Step] {
    let at = |bound: u32| steps.partition_point(|step| step.0 < bound);
    &steps[at(range.start)..at(range.end)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dap::tape::StackPosition;
    use crate::expression;
    use idd_trace::native::stored::player;
    use idd_trace::writes::Writes;

    /// Somebody who waits until so much is done.
    struct Until(f64, bool);

    impl SearchWaiter for Until {
        fn is_over(&self) -> bool {
            self.1
        }

        fn goes_on(&mut self, share: f64) {
            self.1 |= share >= self.0;
        }
    }

    /// A search with sections of a few steps finds what a look at the whole run finds, from each step.
    #[track_caller]
    fn check(tape: &mut Tape, subject: impl Fn() -> HitSubject, count: Option<HitCount>) {
        let whole = match subject() {
            HitSubject::Condition(steps, condition) => {
                let held = tape.past.test(&steps, &condition, &|| false).unwrap();
                steps.iter().zip(held).filter(|(_, held)| *held == Ok(true)).map(|(step, _)| *step).collect()
            }
            HitSubject::Writes(target) => {
                tape.past.writers(&tape.walk, &target, 0..u32::MAX, &|| false).unwrap().unwrap()
            }
        };
        let counted = (1..).zip(&whole).filter(|(number, _)| count.is_none_or(|count| count.takes(*number)));
        let all: Vec<Step> = counted.map(|(_, step)| *step).filter(|step| tape.place(*step).is_some()).collect();
        assert!(!all.is_empty());
        for from in 1..=tape.n_steps() {
            for time in [TimeDirection::Forward, TimeDirection::Backward] {
                let mut search = HitSearch::new(tape, subject(), count);
                search.n_steps = 5;
                search.sections = vec![None; tape.n_steps() as usize / 5 + 1];
                for _ in 0..2 {
                    let found = search.next(tape, Step(from), time, None, &mut Until(2.0, false)).unwrap();
                    assert_eq!(found, next_hit(&all, Step(from), time), "from {from}, {time:?}");
                }
            }
        }
    }

    /// A run whose writes are indexed by 5 steps.
    fn tape(program: &str) -> Tape {
        Tape::read(player(program, "bad"), Writes::new(5), &|| false).unwrap().unwrap()
    }

    #[test]
    fn hits_of_conditions_are_found_in_sections_as_in_the_whole_run() {
        let mut tape = tape("list");
        let lines = tape.walk.at(|_| true);
        let sum = || HitSubject::Condition(lines.clone(), Condition::parse("sum > 0").unwrap());
        check(&mut tape, sum, None);
        check(&mut tape, sum, HitCount::parse("% 2"));
    }

    #[test]
    fn writers_are_found_in_sections_as_in_the_whole_run() {
        for (program, name) in [("list", "list"), ("list", "list->value"), ("returns", "both"), ("returns", "chosen")] {
            let mut tape = tape(program);
            let last = tape.walk.last().unwrap();
            let expression = expression::parse(name).unwrap();
            let target = tape
                .past
                .meaning(StackPosition { step: last, level: 0 }, &expression)
                .unwrap()
                .unwrap()
                .target
                .unwrap();
            check(&mut tape, || HitSubject::Writes(target.clone()), None);
        }
    }

    #[test]
    fn an_interrupted_search_goes_on_where_it_was() {
        let mut tape = tape("list");
        let lines = tape.walk.at(|_| true);
        let never = HitSubject::Condition(lines, Condition::parse("1 == 2").unwrap());
        let mut search = HitSearch::new(&tape, never, None);
        search.n_steps = 5;
        search.sections = vec![None; tape.n_steps() as usize / 5 + 1];
        let ended = search.next(&mut tape, Step(1), TimeDirection::Forward, None, &mut Until(0.5, false));
        assert!(matches!(ended, Err(SearchEnding::Interrupted)), "{ended:?}");
        let n_played = search.sections.iter().flatten().count();
        assert!(n_played > 0 && n_played < search.sections.len());
        assert_eq!(
            search.next(&mut tape, Step(1), TimeDirection::Forward, None, &mut Until(2.0, false)).unwrap(),
            None
        );
    }
}
