//! Runs a reduction: candidates become trees, and the answers go back to the engine.

use crate::hunt::{Hunt, Reproduced};
use crate::plan::Adjustments;
use crate::shrink::inputs::Input;
use crate::shrink::reference::{CandidatePair, ProgramVersion, ShrinkReference, VersionDifference};
use crate::shrink::script::Script;
use crate::shrink::shrunk::{Shrunk, ShrunkFile};
use crate::shrink::{judge, reference};
use crate::{Failure, Talk, hints};
use idd_base::{Asker, Asking, Outcome, Reason, Search as _, SearchStep, Signature, TreeId};
use idd_change::shrink::{InputCandidate, Isolated, PartForm, ShrinkProgress};
use idd_change::trees::Trees as _;
use idd_change::{EntryMode, shrink};
use idd_hunt::drive::{ProbeRunner as _, RunnerReply};
use idd_hunt::finding::Conclusion;
use idd_hunt::{Again, Phase, Probe};
use idd_report::{ErrorReport, Status};
use idd_world::repo::{HeldFiles, TreeStore, private};
use idd_world::run::classify::{classify, plain};
use idd_world::run::crash;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The number of passing candidates that a result has.
const MAX_PASSING: usize = 16;

/// The remark if verdicts are made of several runs.
const NOW_AND_THEN: &str = "The test fails only now and then, also with the same input: that nothing more can be left \
                            out is likely, not certain.";

/// The remark about a crash that may be another one.
const OTHER_STACK: &str =
    "The functions on the stack of the crash differ from those with the whole input: it may be another fault.";

/// The hint if the test passes with the whole input.
const FAILS: &str = "the test must fail with the input, or differ from that of `--good <rev>`; a script that exits with 0 \
                     for an interesting input is inverted by `!`: `'! ./interesting.sh'`. It runs in a checkout of `--at`";

/// A passing candidate that is larger than this is not kept.
const MAX_BYTES_PASSING: usize = 1 << 20;

/// Candidates that are larger than this are tried one at a time.
const MAX_BYTES_AT_ONCE: usize = 64 << 20;

/// What is reduced, and in which versions.
pub struct Material<'s> {
    /// The input files.
    pub inputs: &'s [Input],
    /// The script with arguments and variables, if they are reduced.
    pub script: Option<&'s Script>,
    /// The version that fails.
    pub failing: ProgramVersion,
    /// The version that it is compared with.
    pub reference: Option<ProgramVersion>,
}

/// A reduction that runs.
pub struct Shrinking<'s, 'h> {
    hunt: &'s mut Hunt<'h>,
    inputs: &'s [Input],
    script: Option<&'s Script>,
    store: TreeStore,
    /// The tree that fails, with what is held.
    base: TreeId,
    reference: Option<ShrinkReference>,
    signature: Signature,
    difference: Option<VersionDifference>,
    /// The last candidates that passed.
    passing: VecDeque<InputCandidate>,
}

impl<'s, 'h> Shrinking<'s, 'h> {
    /// Reproduces the failure, or the difference of the two versions.
    pub fn begin(hunt: &'s mut Hunt<'h>, material: Material<'s>) -> Result<Self, Failure> {
        let Material { inputs, script, failing, reference } = material;
        let open = || private::open(&private::private_directory(&hunt.location.idd_directory()));
        let plain = TreeStore::new(open()?, HeldFiles::default(), Vec::new())?;
        let store = TreeStore::new(open()?, hunt.plan.held(&Adjustments::default(), &plain)?, Vec::new())?;
        let base = store.view(failing.tree)?;
        for input in inputs {
            if store.file(base, &input.path)?.is_none_or(|(_, content)| content[..] != input.content[..]) {
                let name = input.name.to_string_lossy();
                return Err(Failure::usage(format!("git refuses a file with the name of the input `{name}`"))
                    .with_hint("copy the input to a file with another name"));
            }
        }
        let passing = VecDeque::new();
        if let Some(reference) = reference {
            let tree = store.view(reference.tree)?;
            if tree == base {
                let (one, other) = (failing.shown(), reference.shown());
                let message = format!("{one} and {other} are the same tree once the inputs are in place");
                return Err(Failure::usage(message)
                    .with_hint("`--good` names a version of the program that differs in more than held files"));
            }
            let (failing, version) = (ProgramVersion { tree: base, ..failing }, ProgramVersion { tree, ..reference });
            let (reference, signature, difference) = ShrinkReference::begin(hunt, &failing, version)?;
            let (reference, difference) = (Some(reference), Some(difference));
            return Ok(Self { hunt, inputs, script, store, base, reference, signature, difference, passing });
        }
        let signature = reproduce(hunt, &store, base)?;
        let (reference, difference) = (None, None);
        Ok(Self { hunt, inputs, script, store, base, reference, signature, difference, passing })
    }

    /// The contents of all parts: the files, then what the script has.
    fn start(&self) -> InputCandidate {
        let files = self.inputs.iter().map(|input| Rc::clone(&input.content));
        let words = self.script.map(Script::parts).unwrap_or_default();
        InputCandidate { parts: files.chain(words.into_iter().map(Rc::from)).collect() }
    }

    /// Reduces all parts.
    pub fn shrink(&mut self) -> Result<Shrunk, Failure> {
        let start = self.start();
        let n_files = self.inputs.len();
        let mut empty = start.clone();
        empty.parts[..n_files].fill(Rc::from([]));
        let forms = self.inputs.iter().map(|input| PartForm::File(self.hunt.plan.divisions.language(&input.path)));
        let forms = forms.chain(start.parts[n_files..].iter().map(|_| PartForm::Words)).collect();
        let progress = Rc::new(RefCell::new(ShrinkProgress { current: start.clone(), units: "files" }));
        let (shared, whole, nothing) = (Rc::clone(&progress), start.clone(), empty.clone());
        let engine = |asker: Asker<InputCandidate, Outcome>| async move {
            if n_files > 0 && asker.one(nothing.clone()).await == Outcome::Fail {
                return nothing;
            }
            shrink::shrink(asker, whole, forms, shared).await
        };
        let n_before = start.size();
        let shown = |talk: &mut dyn Talk, units: &str, n_bytes: usize| talk.shrinking(units, n_bytes, n_before);
        let (found, stopped) = self.drive(Asking::new(engine), &progress, &shown)?;
        let current = found.unwrap_or_else(|| progress.borrow().current.clone());
        if n_files > 0 && current == empty {
            return Err(self.unread());
        }
        self.shrunk(&current, None, stopped)
    }

    /// Isolates the difference between the only file and one with which the test passes.
    pub fn isolate(&mut self, passing: &[u8]) -> Result<Shrunk, Failure> {
        let failing = self.start();
        let passing = InputCandidate { parts: vec![Rc::from(passing)] };
        let progress = Rc::new(RefCell::new(ShrinkProgress { current: failing.clone(), units: "lines" }));
        let (shared, older) = (Rc::clone(&progress), passing.clone());
        let engine = |asker: Asker<InputCandidate, Outcome>| async move {
            if asker.one(older.clone()).await != Outcome::Pass {
                return None;
            }
            Some(shrink::isolate(asker, older, failing, shared).await)
        };
        let shown = |talk: &mut dyn Talk, units: &str, _: usize| talk.isolating(units);
        let (found, stopped) = self.drive(Asking::new(engine), &progress, &shown)?;
        let ends = match found {
            Some(Some(ends)) => ends,
            Some(None) => {
                return Err(Failure::usage("the test does not pass with the file of `--passing`")
                    .with_hint("without `--passing`, the input is reduced by itself"));
            }
            None => Isolated { passing, failing: progress.borrow().current.clone() },
        };
        self.shrunk(&ends.failing, Some(ends.passing.parts[0].to_vec()), stopped)
    }

    /// Answers an engine until it ends, or must stop; then it has found nothing.
    ///
    /// - `show`: reports the units and the size whenever one of them has changed.
    fn drive<F: Clone>(
        &mut self,
        mut search: Asking<'_, InputCandidate, Outcome, F>,
        progress: &Rc<RefCell<ShrinkProgress>>,
        show: &dyn Fn(&mut dyn Talk, &str, usize),
    ) -> Result<(Option<F>, Option<Status>), Failure> {
        let mut said = (usize::MAX, "");
        loop {
            let state = (progress.borrow().current.size(), progress.borrow().units);
            if state != said {
                said = state;
                show(&mut *self.hunt.runner.talk, state.1, state.0);
            }
            // Each guess would need as much memory and space again.
            let width = if state.0 > MAX_BYTES_AT_ONCE { 1 } else { self.hunt.runner.width() };
            let candidates = match search.ask(width) {
                SearchStep::Found(found) => return Ok((Some(found), None)),
                SearchStep::Probe(candidates) => candidates,
            };
            let pairs = candidates.iter().map(|candidate| self.pair(candidate));
            let pairs: Vec<Option<CandidatePair>> = pairs.collect::<Result<_, _>>()?;
            // A candidate that no tree can hold is no failure.
            if pairs[0].is_none() {
                search.tell(&[Outcome::Unresolved(Reason::Path)]);
                continue;
            }
            let pairs: Vec<CandidatePair> = pairs.into_iter().map_while(|pair| pair).collect();
            let probes: Vec<Probe> = pairs.iter().map(|pair| pair.failing).collect();
            let reply = match &self.reference {
                Some(reference) => reference.answer(&mut self.hunt.runner, &pairs)?,
                None => self.hunt.runner.answer(&probes)?,
            };
            match reply {
                RunnerReply::Stop(Conclusion::Interrupted) => return Ok((None, Some(Status::Interrupted))),
                RunnerReply::Stop(_) | RunnerReply::Spent => return Ok((None, Some(Status::Budget))),
                RunnerReply::Again(_) if self.reference.is_some() => {
                    return Err(Failure::new(Status::NotReproducible, "the runs of a candidate disagree")
                        .with_hint("make the test repeatable; versions are compared by single runs"));
                }
                RunnerReply::Again(_) => judge::expect_noise(self.hunt, self.base)?,
                RunnerReply::Overheard(known) => {
                    for (probe, outcome) in known {
                        if let Some(at) = probes.iter().position(|asked| *asked == probe) {
                            search.overhear(candidates[at].clone(), outcome);
                        }
                    }
                }
                RunnerReply::Outcomes(outcomes) => {
                    let n_used = search.tell(&outcomes);
                    self.used(&pairs[..n_used], &outcomes[..n_used])?;
                    for (candidate, outcome) in candidates.iter().zip(&outcomes[..n_used]) {
                        self.remember(candidate, *outcome);
                    }
                }
            }
        }
    }

    /// Takes the answers of these pairs as used.
    fn used(&mut self, pairs: &[CandidatePair], outcomes: &[Outcome]) -> Result<(), Failure> {
        for (pair, outcome) in pairs.iter().zip(outcomes) {
            self.hunt.runner.used(&[pair.failing], &[*outcome])?;
            if let Some(reference) = pair.reference
                && self.hunt.runner.seen(&reference)?.is_some()
            {
                self.hunt.runner.used(&[reference], &[*outcome])?;
            }
        }
        Ok(())
    }

    fn remember(&mut self, candidate: &InputCandidate, outcome: Outcome) {
        if outcome == Outcome::Pass && candidate.size() <= MAX_BYTES_PASSING {
            self.passing.truncate(MAX_PASSING - 1);
            self.passing.push_front(candidate.clone());
        }
    }

    fn shrunk(
        &mut self,
        current: &InputCandidate,
        passing: Option<Vec<u8>>,
        stopped: Option<Status>,
    ) -> Result<Shrunk, Failure> {
        if let (Some(reference), Some(pair)) = (&self.reference, self.pair(current)?)
            && let Some(difference) = reference.difference(&mut self.hunt.runner, &pair)?
        {
            self.difference = Some(difference);
        }
        let mut remarks: Vec<String> =
            self.is_other_stack(current)?.then(|| OTHER_STACK.to_owned()).into_iter().collect();
        if self.hunt.runner.judging.noise.is_some() || (stopped.is_none() && !self.fails_again(current)?) {
            remarks.push(NOW_AND_THEN.to_owned());
        }
        let files = self.inputs.iter().zip(&current.parts).map(|(input, content)| ShrunkFile {
            name: input.name.clone(),
            path: input.path.clone(),
            mode: input.mode,
            is_inside: input.is_inside,
            n_bytes_before: input.content.len(),
            content: Rc::clone(content),
        });
        let names = self.script.map(Script::names).unwrap_or_default();
        let words = current.parts[self.inputs.len()..].iter().map(|part| Script::shown(part));
        Ok(Shrunk {
            files: files.collect(),
            words: names.into_iter().zip(words).collect(),
            passing,
            signature: self.signature.clone(),
            place: self.hunt.runner.judging.criteria.place.clone(),
            n_run: self.hunt.runner.effort.tally.n_runs(),
            n_cached: self.hunt.runner.effort.tally.n_cached,
            stopped,
            difference: self.difference.clone(),
            remarks,
            passing_candidates: self.passing.iter().rev().map(|one| one.parts[..self.inputs.len()].to_vec()).collect(),
        })
    }

    /// Whether other functions are on the stack of the crash than with the whole input.
    fn is_other_stack(&mut self, current: &InputCandidate) -> Result<bool, Failure> {
        let start = self.start();
        let mut functions = |candidate: &InputCandidate| -> Result<Vec<String>, Failure> {
            let Some(pair) = self.pair(candidate)? else { return Ok(Vec::new()) };
            let seen = self.hunt.runner.seen(&pair.failing)?;
            Ok(seen.map(|seen| crash::functions(&plain(&seen.output))).unwrap_or_default())
        };
        let (before, after) = (functions(&start)?, functions(current)?);
        Ok(!before.is_empty() && !after.is_empty() && before != after)
    }

    /// Whether the test fails with the result in two further runs, too; not examined if it hangs, or if two versions are
    /// compared.
    fn fails_again(&mut self, current: &InputCandidate) -> Result<bool, Failure> {
        if self.reference.is_some() || self.hunt.runner.hunts_hang() {
            return Ok(true);
        }
        let Some(pair) = self.pair(current)? else { return Ok(true) };
        let runs = self.hunt.runner.reproduce(pair.failing, &[1, 2])?.unwrap_or_default();
        Ok(runs.iter().all(|run| classify(run, &self.hunt.runner.judging.criteria) == Outcome::Fail))
    }

    /// The probes of a candidate; `None` if no tree can hold it.
    fn pair(&self, candidate: &InputCandidate) -> Result<Option<CandidatePair>, Failure> {
        let (files, words) = candidate.parts.split_at(self.inputs.len());
        let files = self.inputs.iter().zip(files);
        let mut files: Vec<(&[u8], EntryMode, &[u8])> =
            files.map(|(input, content)| (&input.path[..], input.mode, &content[..])).collect();
        let words: Vec<&[u8]> = words.iter().map(|part| &part[..]).collect();
        let (path, text);
        if let Some(script) = self.script {
            let Some(made) = script.text(&words) else { return Ok(None) };
            (path, text) = (Script::path(&self.hunt.plan.commands.directory), made);
            files.push((&path, EntryMode::Regular, &text));
        }
        let bad = self.hunt.plan.bad;
        let Some(tree) = self.store.with_files(self.base, files.iter().copied())? else { return Ok(None) };
        let failing = Probe::of(tree, bad, Phase::Reduce);
        let Some(reference) = &self.reference else { return Ok(Some(CandidatePair { failing, reference: None })) };
        let tree = self.store.with_files(reference.tree(), files)?;
        Ok(tree.map(|tree| CandidatePair { failing, reference: Some(reference::probe(tree, bad, Phase::Reduce)) }))
    }

    /// The failure if the inputs do not matter.
    fn unread(&self) -> Failure {
        let names: Vec<_> = self.inputs.iter().map(|input| format!("`{}`", input.name.to_string_lossy())).collect();
        if self.reference.is_some() {
            let message = format!("the two versions behave differently also when {} is empty", names.join(", "));
            return Failure::error(message)
                .with_hint("the difference does not depend on the input, so there is nothing to reduce");
        }
        let what = if names.len() == 1 { "it is" } else { "they are" };
        let message = format!("the test fails in the same way when {} is empty", names.join(", "));
        let locals: Vec<_> = self.inputs.iter().map(|input| format!("`{}`", input.local.to_string_lossy())).collect();
        let unread = || {
            let locals = locals.join(", ");
            format!(
                "perhaps it does not read the input; in the checkout {what} {locals}, seen from the directory of the test"
            )
        };
        Failure::error(message).with_hint(missing_file(self.hunt).unwrap_or_else(unread))
    }
}

/// The hint about a file that the test names, and that only the working tree has.
fn missing_file(hunt: &Hunt<'_>) -> Option<String> {
    hunt.with_scene(&hunt.seen, hints::files::missing).flatten()
}

/// Reproduces the failure of the test, which becomes the criteria.
fn reproduce(hunt: &mut Hunt<'_>, store: &TreeStore, base: TreeId) -> Result<Signature, Failure> {
    let mut adjustments = Adjustments::default();
    let mut reproduced = hunt.reproduce(&mut adjustments, store)?;
    if let Reproduced::NowAndThen = reproduced {
        hunt.runner
            .talk
            .say("The test fails only now and then, so a single run is no verdict: each candidate is run more often.");
        adjustments.adjust(&Again::Noisy);
        reproduced = hunt.reproduce(&mut adjustments, store)?;
    }
    match (reproduced, hunt.signature.clone()) {
        (Reproduced::Yes, Some(signature)) => {
            judge::refine(hunt, base, adjustments.is_noisy)?;
            Ok(hunt.runner.judging.criteria.signature.clone().unwrap_or(signature))
        }
        (Reproduced::No(Conclusion::BadPasses, None), _) => {
            Err(Failure::new(Status::BadPasses, "the test passes with this input")
                .with_hint(missing_file(hunt).unwrap_or_else(|| FAILS.to_owned())))
        }
        (Reproduced::No(conclusion, error), _) => Err(not_reproduced(conclusion, error)),
        _ => Err(Failure::new(Status::NotReproducible, "the runs of the test disagree")),
    }
}

/// The failure of a test that did not fail as expected.
fn not_reproduced(conclusion: Conclusion, error: Option<ErrorReport>) -> Failure {
    let status = match conclusion {
        Conclusion::BadPasses => Status::BadPasses,
        Conclusion::NothingTestable => Status::NothingTestable,
        Conclusion::NotReproducible => Status::NotReproducible,
        Conclusion::Interrupted => Status::Interrupted,
        Conclusion::Budget => Status::Budget,
        _ => Status::Error,
    };
    match (conclusion, error) {
        (_, Some(error)) => Failure { status, message: error.message, hint: error.hint },
        (Conclusion::Interrupted, None) => Failure::new(status, "stopped while the failure was reproduced"),
        (Conclusion::Budget, None) => Failure::new(status, "the budget is used up before the failure is reproduced")
            .with_hint("a larger `--budget` is needed; the same command goes on from there"),
        (_, None) => Failure::new(status, "the failure could not be reproduced"),
    }
}
