//! Shrinks the input of a failing test.
//!
//! A candidate is the tree of the revision with other contents of the input files. So it is run, cached and journalled
//! as the candidate trees of a hunt are.

mod inputs;
mod judge;
mod script;

use crate::change::Mode;
use crate::hunt::Again;
use crate::hunt::drive::ProbeRunner as _;
use crate::hunt::drive::Reply;
use crate::hunt::event::Phase;
use crate::hunt::finding::Conclusion;
use crate::hunt::probe::Probe;
use crate::outcome::Outcome;
use crate::outcome::Reason;
use crate::outcome::Signature;
use crate::report::Status;
use crate::revision::TreeId;
use crate::search::Asker;
use crate::search::Asking;
use crate::search::Search as _;
use crate::search::Step;
use crate::session::context::Context;
use crate::session::failure::Failure;
use crate::session::hunt::Hunt;
use crate::session::hunt::Reproduced;
use crate::session::hunt::Task;
use crate::session::order::Bound;
use crate::session::order::Effort;
use crate::session::order::History;
use crate::session::order::HuntOrder;
use crate::session::order::ShrinkOrder;
use crate::session::plan::Adjustments;
use crate::session::plan::Plan;
use crate::session::saved;
use crate::session::shrink::inputs::Input;
use crate::session::shrink::script::Script;
use crate::session::talk::Talk;
use crate::shrink;
use crate::shrink::Candidate;
use crate::shrink::Form;
use crate::shrink::Isolated;
use crate::shrink::Progress;
use crate::world::files::OnDisk;
use crate::world::process::Words;
use crate::world::repo::Repository;
use crate::world::repo::graph;
use crate::world::repo::locate::Location;
use crate::world::repo::private;
use crate::world::repo::store::Held;
use crate::world::repo::store::TreeStore;
use std::cell::RefCell;
use std::ffi::OsString;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
}

/// A reduced input file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShrunkFile {
    /// Its name as the user gave it.
    pub name: OsString,
    /// Its size before, in bytes.
    pub n_bytes_before: usize,
    /// Its reduced content.
    pub content: Vec<u8>,
}

/// Shrinks the input files of a failing test; the files of the user are not changed.
///
/// Errors: the test passes, or cannot be run; an input cannot be read; the test fails in the same way with empty inputs.
///
/// Cost: see [`shrink::shrink`], and at least two runs that reproduce the failure.
pub fn run(
    order: &ShrinkOrder,
    location: &Location,
    context: &Context,
    interrupt: Arc<AtomicBool>,
    talk: &mut dyn Talk,
) -> Result<Shrunk, Failure> {
    let inputs = inputs::read_all(&order.input, location, context)?;
    let passing = order.passing.as_ref().map(|name| Input::read(name, location, context)).transpose()?;
    if passing.is_some() && (inputs.len() != 1 || order.args || !order.env.is_empty()) {
        return Err(Failure::new(Status::Usage, "`--passing` needs exactly one `--input`, and nothing else to reduce")
            .with_hint("it isolates the difference of two files: the passing one and the failing one"));
    }
    let user = private::open(&location.git_directory)?;
    let hunt = HuntOrder {
        command: inputs::localised(&order.command, &inputs, context),
        history: History { bad: order.at.clone(), ..History::default() },
        test: order.test.clone(),
        effort: Effort { reduction: Some(Bound::Unlimited), ..order.effort.clone() },
    };
    let mut plan = Plan::new(hunt, None, location, &user, context)?;
    for input in &inputs {
        refuse_collision(input, &plan, &user)?;
        let is_executable = input.mode == Mode::Executable;
        plan.held.insert(input.path.clone(), OnDisk::File { is_executable, bytes: input.content.clone() });
    }
    let script = Script::new(&plan.order.command, order.args, &order.env, context)?;
    if let Some(script) = &script {
        let parts = script.parts();
        let text = script.text(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let bytes = text.expect("the parts of a script make it again");
        plan.held.insert(Script::path(&location.prefix), OnDisk::File { is_executable: false, bytes });
        plan.commands.test = Words::Argv(Script::command());
    }
    let saved = saved::open_apart(&plan, location)?;
    let mut hunt = Hunt::open(Task { plan: &plan, location, context, saved, interrupt, talk }, &user)?;
    let result = Shrinking::begin(&mut hunt, &inputs, script.as_ref()).and_then(|mut shrinking| match &passing {
        Some(passing) => shrinking.isolate(&passing.content),
        None => shrinking.shrink(),
    });
    hunt.runner.talk.finish();
    hunt.runner.close();
    result
}

/// A file from outside must not take the place of another one.
fn refuse_collision(input: &Input, plan: &Plan, user: &Repository) -> Result<(), Failure> {
    if input.is_inside || !graph::has_path(user, plan.bad, &input.path) {
        return Ok(());
    }
    let (name, path) = (input.name.to_string_lossy(), String::from_utf8_lossy(&input.path));
    let message = format!("the input `{name}` would take the place of `{path}` in the checkout");
    Err(Failure::new(Status::Usage, message)
        .with_hint("a file outside of the working tree is put there under its own name; rename it"))
}

/// A reduction that runs.
struct Shrinking<'s, 'h> {
    hunt: &'s mut Hunt<'h>,
    inputs: &'s [Input],
    script: Option<&'s Script>,
    store: TreeStore,
    /// The tree of the revision, with what is held.
    base: TreeId,
    signature: Signature,
}

impl<'s, 'h> Shrinking<'s, 'h> {
    /// Reproduces the failure.
    fn begin(hunt: &'s mut Hunt<'h>, inputs: &'s [Input], script: Option<&'s Script>) -> Result<Self, Failure> {
        use crate::change::trees::Trees as _;
        let open = || private::open(&private::private_directory(&hunt.location.idd_directory()));
        let mut adjustments = Adjustments::default();
        let plain = TreeStore::new(open()?, Held::default(), Vec::new())?;
        let store = TreeStore::new(open()?, hunt.plan.held(&adjustments, &plain)?, Vec::new())?;
        let mut reproduced = hunt.reproduce(&adjustments, &store)?;
        if let Reproduced::NowAndThen = reproduced {
            hunt.runner.talk.say(
                "The test fails only now and then, so a single run is no verdict: each candidate is run more often.",
            );
            adjustments.adjust(&Again::Noisy);
            reproduced = hunt.reproduce(&adjustments, &store)?;
        }
        match (reproduced, hunt.signature.clone()) {
            (Reproduced::Yes, Some(signature)) => {
                let base = store.view(graph::tree_of(store.repository(), hunt.plan.bad)?)?;
                judge::refine(hunt, base, adjustments.is_noisy)?;
                Ok(Self { hunt, inputs, script, store, base, signature })
            }
            (Reproduced::No(conclusion, error), _) => Err(not_reproduced(conclusion, error)),
            _ => Err(Failure::new(Status::NotReproducible, "the runs of the test disagree")),
        }
    }

    /// The contents of all parts: the files, then what the script has.
    fn start(&self) -> Candidate {
        let files = self.inputs.iter().map(|input| Rc::from(&input.content[..]));
        let words = self.script.map(Script::parts).unwrap_or_default();
        Candidate { parts: files.chain(words.into_iter().map(Rc::from)).collect() }
    }

    /// Reduces all parts.
    fn shrink(&mut self) -> Result<Shrunk, Failure> {
        let start = self.start();
        let n_files = self.inputs.len();
        let mut empty = start.clone();
        empty.parts[..n_files].fill(Rc::from([]));
        let forms = self.inputs.iter().map(|input| Form::File(self.hunt.plan.divisions.language(&input.path)));
        let forms = forms.chain(start.parts[n_files..].iter().map(|_| Form::Words)).collect();
        let progress = Rc::new(RefCell::new(Progress { current: start.clone(), units: "files" }));
        let (shared, whole, nothing) = (Rc::clone(&progress), start.clone(), empty.clone());
        let engine = |asker: Asker<Candidate, Outcome>| async move {
            if n_files > 0 && asker.one(nothing.clone()).await == Outcome::Fail {
                return nothing;
            }
            shrink::shrink(asker, whole, forms, shared).await
        };
        let (found, stopped) = self.drive(Asking::new(engine), &progress, start.size())?;
        let current = found.unwrap_or_else(|| progress.borrow().current.clone());
        if n_files > 0 && current == empty {
            return Err(self.unread());
        }
        Ok(self.shrunk(&current, None, stopped))
    }

    /// Isolates the difference between the only file and one with which the test passes.
    fn isolate(&mut self, passing: &[u8]) -> Result<Shrunk, Failure> {
        let failing = self.start();
        let passing = Candidate { parts: vec![Rc::from(passing)] };
        let n_bytes = failing.size();
        let progress = Rc::new(RefCell::new(Progress { current: failing.clone(), units: "lines" }));
        let (shared, older) = (Rc::clone(&progress), passing.clone());
        let engine = |asker: Asker<Candidate, Outcome>| async move {
            if asker.one(older.clone()).await != Outcome::Pass {
                return None;
            }
            Some(shrink::isolate(asker, older, failing, shared).await)
        };
        let (found, stopped) = self.drive(Asking::new(engine), &progress, n_bytes)?;
        let ends = match found {
            Some(Some(ends)) => ends,
            Some(None) => {
                return Err(Failure::new(Status::Usage, "the test does not pass with the file of `--passing`")
                    .with_hint("without `--passing`, the input is reduced by itself"));
            }
            None => Isolated { passing, failing: progress.borrow().current.clone() },
        };
        Ok(self.shrunk(&ends.failing, Some(ends.passing.parts[0].to_vec()), stopped))
    }

    /// Answers an engine until it ends, or must stop; then it has found nothing.
    fn drive<F: Clone>(
        &mut self,
        mut search: Asking<'_, Candidate, Outcome, F>,
        progress: &Rc<RefCell<Progress>>,
        n_bytes_before: usize,
    ) -> Result<(Option<F>, Option<Status>), Failure> {
        let mut said = (n_bytes_before, "");
        loop {
            let state = (progress.borrow().current.size(), progress.borrow().units);
            if state != said {
                said = state;
                self.hunt.runner.talk.shrinking(state.1, state.0, n_bytes_before);
            }
            let candidates = match search.ask(self.hunt.runner.width()) {
                Step::Found(found) => return Ok((Some(found), None)),
                Step::Probe(candidates) => candidates,
            };
            let probes = candidates.iter().map(|candidate| self.probe(candidate));
            let probes: Vec<Option<Probe>> = probes.collect::<Result<_, _>>()?;
            // A candidate that no tree can hold is no failure.
            if probes[0].is_none() {
                search.tell(&[Outcome::Unresolved(Reason::Path)]);
                continue;
            }
            let probes: Vec<Probe> = probes.into_iter().map_while(|probe| probe).collect();
            match self.hunt.runner.answer(&probes)? {
                Reply::Stop(Conclusion::Interrupted) => return Ok((None, Some(Status::Interrupted))),
                Reply::Stop(_) | Reply::Spent => return Ok((None, Some(Status::Budget))),
                Reply::Disagree => judge::expect_noise(self.hunt, self.base)?,
                Reply::Overheard(known) => {
                    for (probe, outcome) in known {
                        if let Some(at) = probes.iter().position(|asked| *asked == probe) {
                            search.overhear(candidates[at].clone(), outcome);
                        }
                    }
                }
                Reply::Outcomes(outcomes) => {
                    let n_used = search.tell(&outcomes);
                    self.hunt.runner.used(&probes[..n_used], &outcomes[..n_used])?;
                }
            }
        }
    }

    fn shrunk(&self, current: &Candidate, passing: Option<Vec<u8>>, stopped: Option<Status>) -> Shrunk {
        let files = self.inputs.iter().zip(&current.parts).map(|(input, content)| ShrunkFile {
            name: input.name.clone(),
            n_bytes_before: input.content.len(),
            content: content.to_vec(),
        });
        let names = self.script.map(Script::names).unwrap_or_default();
        let words = current.parts[self.inputs.len()..].iter().map(|part| Script::shown(part));
        Shrunk {
            files: files.collect(),
            words: names.into_iter().zip(words).collect(),
            passing,
            signature: self.signature.clone(),
            place: self.hunt.runner.criteria.place.clone(),
            n_run: self.hunt.runner.tally.n_runs(),
            n_cached: self.hunt.runner.tally.n_cached,
            stopped,
        }
    }

    /// The probe of a candidate; `None` if no tree can hold it.
    fn probe(&self, candidate: &Candidate) -> Result<Option<Probe>, Failure> {
        let (files, words) = candidate.parts.split_at(self.inputs.len());
        let files = self.inputs.iter().zip(files);
        let mut files: Vec<(&[u8], Mode, &[u8])> =
            files.map(|(input, content)| (&input.path[..], input.mode, &content[..])).collect();
        let words: Vec<&[u8]> = words.iter().map(|part| &part[..]).collect();
        let (path, text);
        if let Some(script) = self.script {
            let Some(made) = script.text(&words) else { return Ok(None) };
            (path, text) = (Script::path(&self.hunt.plan.commands.directory), made);
            files.push((&path, Mode::Regular, &text));
        }
        let tree = self.store.with_files(self.base, files)?;
        Ok(tree.map(|tree| Probe::of(tree, self.hunt.plan.bad, Phase::Reduce)))
    }

    /// The failure if the inputs do not matter.
    fn unread(&self) -> Failure {
        let names: Vec<_> = self.inputs.iter().map(|input| format!("`{}`", input.name.to_string_lossy())).collect();
        let what = if names.len() == 1 { "it is" } else { "they are" };
        let message = format!("the test fails in the same way when {} is empty", names.join(", "));
        let locals: Vec<_> = self.inputs.iter().map(|input| format!("`{}`", input.local.to_string_lossy())).collect();
        Failure::new(Status::Error, message).with_hint(format!(
            "perhaps it does not read the input; in the checkout {what} {}, seen from the directory of the test",
            locals.join(", ")
        ))
    }
}

/// The failure of a test that did not fail as expected.
fn not_reproduced(conclusion: Conclusion, error: Option<crate::report::ErrorReport>) -> Failure {
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
        (Conclusion::BadPasses, None) => Failure::new(status, "the test passes with this input")
            .with_hint("the test runs in a checkout of `--at`; `git idd shrink` needs one that fails"),
        (Conclusion::Interrupted, None) => Failure::new(status, "stopped while the failure was reproduced"),
        (Conclusion::Budget, None) => Failure::new(status, "the budget is used up before the failure is reproduced"),
        (_, None) => Failure::new(status, "the failure could not be reproduced"),
    }
}
