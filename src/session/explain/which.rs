//! Which of the processes of a test is explained.
//!
//! Both versions were run, and each process of the failing one is compared with its counterpart. The one that is explained is the nearest to the cause that can be
//! told from outside: a process whose ending differs, else one that prints something else, else one that takes another path.

use crate::Failure;
use crate::explain::model::Explainer;
use crate::explain::sides::{BuiltSide, is_start};
use idd_report::{Terminal, Untrusted};
use idd_trace::Run;
use idd_trace::container::REPLACED;
use idd_world::record::listen::TakenTrace;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What processes print is compared if all their records together are not longer than this, in bytes.
const MAX_READ: u64 = 64 << 20;

/// Processes that a message lists at the most.
const MAX_LISTED: usize = 8;

/// What two runs of a program differ in, the greatest that is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunDifference {
    /// Nothing, as far as it was compared.
    Nothing,
    /// They did more or less.
    Path,
    /// They printed something else.
    Output,
    /// They ended in another way.
    Ending,
}

impl RunDifference {
    fn told(self) -> &'static str {
        match self {
            Self::Nothing => "the same on both versions",
            Self::Path => "takes another path",
            Self::Output => "prints something else",
            Self::Ending => "ends in another way",
        }
    }
}

/// A process that may be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CandidateProcess {
    /// Its number among the processes of the failing version, and that of its counterpart.
    numbers: (usize, usize),
    /// The process that started it.
    parent: Option<usize>,
    difference: RunDifference,
    /// Whether it was called with the same words: else the cause lies in its caller.
    is_called_alike: bool,
    /// Whether no other program took its place, which would say more than it could.
    is_there: bool,
}

/// The candidate that is nearest to the cause.
///
/// A process that started one that differs although it was called alike only passes that on. Of equal ones the last is taken: a test ends with the one that fails it.
fn choose(candidates: &[CandidateProcess]) -> Option<CandidateProcess> {
    let is_cause =
        |candidate: &CandidateProcess| candidate.is_called_alike && candidate.difference >= RunDifference::Output;
    let of = |number: usize| candidates.iter().find(|candidate| candidate.numbers.0 == number);
    let parents = |candidate: &CandidateProcess| {
        std::iter::successors(candidate.parent, |parent| of(*parent)?.parent).collect::<Vec<_>>()
    };
    let passing_on: Vec<usize> = candidates.iter().filter(|candidate| is_cause(candidate)).flat_map(parents).collect();
    let rank = |candidate: &&CandidateProcess| {
        let CandidateProcess { difference, is_called_alike, is_there, .. } = **candidate;
        let is_ours = is_called_alike && difference > RunDifference::Nothing;
        (is_ours && !passing_on.contains(&candidate.numbers.0), is_ours, difference, is_there)
    };
    candidates.iter().max_by_key(rank).copied()
}

/// The process that is explained, and what is to be said about it.
pub(super) struct ExplainedProcess {
    /// Its number among the processes of the failing version.
    pub(super) number: usize,
    /// The number of its counterpart on the reference.
    pub(super) twin: usize,
    /// The others that differ too, with what they differ in.
    pub(super) others: Vec<(usize, RunDifference)>,
}

impl Explainer<'_> {
    /// Whether a process is one that the user asked for.
    pub(super) fn is_wanted(&self, number: usize, taken: &TakenTrace) -> bool {
        let order = self.order;
        let is_in = |argument: &OsStr| {
            let words = taken.process.words.split(|byte| *byte == 0);
            let mut after_name = words.skip(1);
            after_name.any(|word| contains(word, argument.as_bytes()))
        };
        order.process.is_none_or(|process| process == number)
            && order.program.as_deref().is_none_or(|program| name(taken) == Some(program))
            && order.argument.as_deref().is_none_or(is_in)
    }

    /// What is said where no process is the one that the user asked for.
    pub(super) fn none_wanted(&self, side: &BuiltSide) -> Failure {
        let order = self.order;
        let message = match (order.process, &order.program) {
            (Some(process), _) if side.taken.get(process).is_some_and(|taken| !is_start(taken)) => {
                format!("process {process} was forked and ran no program of its own: its parent is to be explained")
            }
            (Some(process), _) => format!("the test ran no process {process} that the other version has, too"),
            (None, Some(program)) => {
                format!("the test ran no instrumented program `{}` as it is wanted", program.to_string_lossy())
            }
            (None, None) if order.argument.is_some() => "the test ran no program with this argument".to_owned(),
            (None, None) => "no program ran in the test on both versions".to_owned(),
        };
        Failure::error(message).with_hint(format!("on the failing version it ran: {}", list(side, 0..side.taken.len())))
    }

    /// The process of the failing version that is explained, and its counterpart.
    ///
    /// One that was forked goes on where its parent was, which stands for it.
    ///
    /// Cost: reads all traces if there are several processes.
    pub(super) fn which(&self, bad: &BuiltSide, good: &BuiltSide) -> Result<ExplainedProcess, Failure> {
        let starts = |side: &BuiltSide| -> Vec<usize> {
            (0..side.taken.len()).filter(|number| is_start(&side.taken[*number])).collect()
        };
        let (ours, theirs) = (starts(bad), starts(good));
        let is_short = |side: &BuiltSide| side.taken.iter().map(|taken| taken.n_bytes).sum::<u64>() <= MAX_READ;
        let is_read = ours.len() > 1 && is_short(bad) && is_short(good);
        let mut candidates = Vec::new();
        for number in ours.iter().copied() {
            let one = &bad.taken[number];
            let Some(twin) = twin(bad, &ours, good, &theirs, number) else { continue };
            if !self.is_wanted(number, one) {
                continue;
            }
            let other = &good.taken[twin];
            let difference = if one.end != other.end {
                RunDifference::Ending
            } else if is_read && !is_cut(one) && !is_cut(other) && said(bad, number)? != said(good, twin)? {
                RunDifference::Output
            } else if one.n_bytes != other.n_bytes {
                RunDifference::Path
            } else {
                RunDifference::Nothing
            };
            let parent = (0..number).rev().find(|earlier| bad.taken[*earlier].process.pid == one.process.parent);
            candidates.push(CandidateProcess {
                numbers: (number, twin),
                parent,
                difference,
                is_called_alike: one.process.words == other.process.words,
                is_there: one.end != Some(REPLACED),
            });
        }
        let Some(CandidateProcess { numbers: (number, twin), .. }) = choose(&candidates) else {
            return Err(self.none_wanted(bad));
        };
        let others =
            candidates.iter().filter(|other| other.numbers.0 != number && other.difference >= RunDifference::Output);
        Ok(ExplainedProcess { number, twin, others: others.map(|other| (other.numbers.0, other.difference)).collect() })
    }
}

/// If the test ran several processes, what is remarked about the one that is explained.
pub(super) fn remark(side: &BuiltSide, which: &ExplainedProcess) -> Option<String> {
    let n_all = side.taken.len();
    if n_all < 2 {
        return None;
    }
    let process = &side.taken[which.number].process;
    let words = process.arguments().join(" ");
    let mut later = side.taken[which.number + 1..].iter();
    let has_forked = later.any(|taken| !is_start(taken) && taken.process.parent == process.pid);
    let forked =
        if has_forked { "; of its child processes, only the effects that it observes are explained" } else { "" };
    let others = which.others.iter().take(MAX_LISTED).map(|(number, difference)| {
        let words = side.taken[*number].process.arguments().join(" ");
        format!("; number {number}, `{words}`, {}, too", difference.told())
    });
    let (number, others) = (which.number, others.collect::<String>());
    Some(format!(
        "the test ran {n_all} processes; number {number} is explained, `{words}`{forked}{others}: `--process` selects another"
    ))
}

/// The process as it was called, for a message.
pub(super) fn called(side: &BuiltSide, number: usize) -> String {
    Terminal.line(&Untrusted::from(side.taken[number].process.arguments().join(" ").as_str()))
}

/// Processes with their numbers, for a message.
fn list(side: &BuiltSide, numbers: impl ExactSizeIterator<Item = usize>) -> String {
    let n_more = numbers.len().saturating_sub(MAX_LISTED);
    let mut listed: Vec<String> =
        numbers.take(MAX_LISTED).map(|number| format!("{number}: `{}`", called(side, number))).collect();
    if n_more > 0 {
        listed.push(format!("and {n_more} more"));
    }
    listed.join(", ")
}

/// The number of the counterpart: the one that was called alike, as many of these before it; else the one of the same program, as many of these before it.
fn twin(bad: &BuiltSide, ours: &[usize], good: &BuiltSide, theirs: &[usize], number: usize) -> Option<usize> {
    let process = &bad.taken[number].process;
    let nth = |is_alike: &dyn Fn(&TakenTrace) -> bool| {
        let n_before = ours.iter().filter(|other| **other < number && is_alike(&bad.taken[**other])).count();
        theirs.iter().filter(|other| is_alike(&good.taken[**other])).nth(n_before).copied()
    };
    let is_program = |taken: &TakenTrace| taken.process.program == process.program;
    nth(&|taken| is_program(taken) && taken.process.words == process.words).or_else(|| nth(&is_program))
}

fn is_cut(taken: &TakenTrace) -> bool {
    taken.is_cut || taken.is_lost || taken.is_left || taken.n_given_up > 0
}

/// What a process printed: the calls, without their steps.
fn said(side: &BuiltSide, number: usize) -> Result<Vec<impl PartialEq>, Failure> {
    let mut player = side.player(number)?;
    let said = Run::read(&mut player)?.said.into_iter();
    Ok(said.map(|said| (said.function, said.words, said.text)).collect())
}

/// The name of its program.
fn name(taken: &TakenTrace) -> Option<&OsStr> {
    Path::new(OsStr::from_bytes(&taken.process.program)).file_name()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(number: usize, difference: RunDifference) -> CandidateProcess {
        CandidateProcess { numbers: (number, number), parent: None, difference, is_called_alike: true, is_there: true }
    }

    fn chosen(candidates: &[CandidateProcess]) -> usize {
        choose(candidates).unwrap().numbers.0
    }

    #[test]
    fn the_last_of_those_that_differ_most_is_chosen() {
        use RunDifference::{Ending, Nothing, Output, Path};
        let of = |all: &[RunDifference]| {
            let candidates = all.iter().enumerate().map(|(number, difference)| candidate(number, *difference));
            chosen(&candidates.collect::<Vec<_>>())
        };
        assert_eq!(of(&[Ending, Output, Path, Nothing]), 0);
        assert_eq!(of(&[Path, Output, Path, Nothing]), 1);
        assert_eq!(of(&[Output, Output, Nothing]), 1);
        assert_eq!(of(&[Nothing, Nothing]), 1);
        assert_eq!(choose(&[]), None);
    }

    #[test]
    fn a_runner_passes_on_what_a_program_does_that_it_called_alike() {
        let runner = candidate(0, RunDifference::Ending);
        let called = |is_called_alike| CandidateProcess {
            parent: Some(0),
            is_called_alike,
            ..candidate(1, RunDifference::Output)
        };
        assert_eq!(chosen(&[runner, called(true)]), 1);
        assert_eq!(chosen(&[runner, called(false)]), 0, "it was given something else");
        let same = CandidateProcess { parent: Some(0), ..candidate(1, RunDifference::Nothing) };
        assert_eq!(chosen(&[runner, same]), 0);
        // Over a process in between that did nothing itself.
        let between = CandidateProcess { parent: Some(0), ..candidate(1, RunDifference::Nothing) };
        let last = CandidateProcess { parent: Some(1), ..candidate(2, RunDifference::Output) };
        assert_eq!(chosen(&[runner, between, last]), 2);
    }

    #[test]
    fn a_process_in_whose_place_another_program_ran_is_the_last_choice() {
        let gone = CandidateProcess { is_there: false, ..candidate(1, RunDifference::Ending) };
        assert_eq!(chosen(&[candidate(0, RunDifference::Ending), gone]), 0);
    }

    #[test]
    fn an_argument_is_found_in_a_word() {
        assert!(contains(b"--depth=3", b"=3") && contains(b"x", b""));
        assert!(!contains(b"dept", b"depth"));
    }
}
