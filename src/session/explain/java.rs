//! The chain of a Java program: both versions are recorded, what differs between their runs is followed back, and the links
//! are tested, see [`experiments`]. Without a version that passes, see [`switching`].

mod experiments;
mod switching;
mod trials;

use crate::Failure;
use crate::explain::finding::without_counterpart;
use crate::explain::java::experiments::{Experiments, Laboratory};
use crate::explain::model::{Desk, Explainer, interrupted};
use crate::explain::plain::{StepPlace, of_link};
use crate::explain::{change, words};
use crate::record::instruments::{Instruments, RecordedRun, RecordingPlace, RecordingTools};
use crate::record::{missed, observe, plain_build};
use crate::recorded::order::RecordOrder;
use idd_base::{Ending, TreeId, count};
use idd_explain::align::Alignment;
use idd_explain::align::statements::StatementNames;
use idd_explain::failure::{self, RunEnding};
use idd_explain::java::chain::JavaChainBegin;
use idd_explain::java::comparable_run::{MAX_STEPS, TakenRun};
use idd_explain::java::effects::{Remedy, StepEffects};
use idd_explain::java::{chain, comparable_run, story};
use idd_explain::link::Link;
use idd_report::chain::{ChainBeginning, Figures, ReportChain, VisibleFailure as Shown};
use idd_report::{Status, Untrusted};
use idd_trace::instrument::java::replace::Replacement;
use idd_trace::java::JavaPlayer;
use idd_trace::{Step, TraceError};
use idd_world::record::listen::TakenTrace as Process;
use idd_world::record::store;
use idd_world::run::classify;
use idd_world::run::sandbox::ProbeJob;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A version that was built and run.
pub(super) struct JavaSide {
    place: PathBuf,
    processes: Vec<Process>,
    ending: Ending,
    /// What the test printed.
    output: String,
}

impl JavaSide {
    fn player(&self, process: usize) -> Result<JavaPlayer, Failure> {
        let trace = store::open(&self.place.join(&self.processes[process].file))?;
        if !trace.is_complete {
            return Err(Failure::from(TraceError::Damaged("it is cut short")));
        }
        JavaPlayer::new(trace).map_err(Failure::from)
    }

    fn check_failing(&self) -> Result<(), Failure> {
        if self.ending != Ending::Exit(0) {
            return Ok(());
        }
        let message = "while it is recorded, the test passes on the failing version, too";
        Err(Failure::error(message))
    }

    /// The process of another side that corresponds to one: the same words, as many before it that have them.
    fn twin(&self, number: usize, other: &Self) -> Option<usize> {
        let process = &self.processes[number].process;
        let is_alike = |other: &Process| other.process.words == process.words;
        let nth = self.processes[..number].iter().filter(|other| is_alike(other)).count();
        let mut same = other.processes.iter().enumerate().filter(|(_, other)| is_alike(other));
        same.nth(nth).map(|(number, _)| number).or((number < other.processes.len()).then_some(number))
    }
}

/// Where a chain is to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainStart {
    /// At a statement that the change touches.
    Change,
    /// At this step, which was switched.
    Decision(Step),
}

impl ChainStart {
    /// Whether the chain is to begin at a step of the failing run.
    fn is_at(
        self,
        step: Step,
        run: &TakenRun,
        sources: &mut change::TreeSources,
        changed: &change::LinesByPath,
    ) -> bool {
        match self {
            Self::Change => run.place(step).is_some_and(|place| is_touched(place, sources, changed)),
            Self::Decision(switched) => step == switched,
        }
    }
}

/// A chain, and how its links can be tested.
struct Begun {
    chain: ReportChain,
    remedies: Vec<Remedy>,
    /// Whether it begins where it is to.
    is_whole: bool,
}

/// Both runs of a program.
pub(super) struct Runs {
    pub(super) failing: (JavaPlayer, TakenRun),
    pub(super) reference: (JavaPlayer, TakenRun),
    pub(super) alignment: Alignment,
    remarks: Vec<String>,
}

/// Where a run fails, and how, in a clause.
pub(super) struct WrongEnd {
    pub(super) step: Step,
    what: String,
}

impl Explainer<'_> {
    /// Explains a test that runs Java programs; `None` if it runs none.
    pub(super) fn explain_java(&self, desk: &mut Desk<'_>) -> Result<Option<ReportChain>, Failure> {
        if let Some(budget) = self.order.switch_budget {
            return self.explain_java_switched(budget, desk);
        }
        let begin = Instant::now();
        let Some((bad, good)) = self.java_sides(desk)? else { return Ok(None) };
        let seconds = begin.elapsed().as_secs_f64();
        desk.talk.say("Searching for the chain.");
        let searched = Instant::now();
        let (mut runs, wrong, number) = self.java_runs(&bad, &good)?;
        let Begun { mut chain, remedies, .. } = self.java_chain(&mut runs, &wrong, ChainStart::Change)?;
        drop(runs);
        self.finish(&mut chain, &remedies, &bad, number, self.pair.failing.tree, desk)?;
        chain.figures.build_seconds = seconds;
        chain.figures.seconds = searched.elapsed().as_secs_f64();
        Ok(Some(chain))
    }

    /// Runs both versions, the failing one first in the result; `None` if the test runs no Java program.
    pub(super) fn java_sides(&self, desk: &mut Desk<'_>) -> Result<Option<(JavaSide, JavaSide)>, Failure> {
        if RecordingTools::of_java(self.location, self.context, self.pair.failing.tree).is_none() {
            return Ok(None);
        }
        desk.talk.say("Building and running the reference; Java programs are recorded.");
        let good = self.java_side("good", self.pair.reference, desk)?;
        if good.processes.is_empty() {
            desk.talk.say("The test ran no Java program of this repository.");
            return Ok(None);
        }
        if good.ending != Ending::Exit(0) {
            let said = missed::shown(classify::reported(&good.output));
            let said = if said.is_empty() { said } else { format!(": {said}") };
            let message = format!("the test does not pass on the reference, it ends with {}{said}", good.ending);
            return Err(Failure::error(message).with_hint("`--good` needs a version that passes"));
        }
        desk.talk.say("Building and running the failing version.");
        // Tests of links run what was built.
        desk.sandbox.keep_products();
        let bad = self.java_side("bad", self.pair.failing.tree, desk)?;
        bad.check_failing()?;
        Ok(Some((bad, good)))
    }

    fn java_instruments<'i>(
        &'i self,
        order: &'i RecordOrder,
        tree: TreeId,
        desk: &mut Desk<'_>,
    ) -> Result<Instruments<'i>, Failure> {
        let (location, context, root, surroundings) = (self.location, self.context, self.root, &self.surroundings);
        let at = RecordingPlace { order, location, context, root, surroundings };
        let tools = RecordingTools::of_java(self.location, self.context, tree);
        let tools = tools.ok_or_else(|| Failure::error("one of the versions has no Java program"))?;
        Instruments::create(tools, at, &desk.sandbox.tree_directory(), desk.talk)
    }

    /// Builds a version, and runs the test on it.
    fn java_side(&self, name: &str, tree: TreeId, desk: &mut Desk<'_>) -> Result<JavaSide, Failure> {
        self.java_run(name, tree, true, &[], desk)
    }

    /// Runs the test on a version.
    ///
    /// - `is_built`: whether it is built; otherwise it was built last.
    fn java_run(
        &self,
        name: &str,
        tree: TreeId,
        is_built: bool,
        replacements: &[Replacement],
        desk: &mut Desk<'_>,
    ) -> Result<JavaSide, Failure> {
        let order = self.record_args();
        let instruments = self.java_instruments(&order, tree, desk)?;
        let place = self.root.join(name);
        let mut interrupt = self.interrupt.clone();
        let job = ProbeJob { is_clean: is_built, ..ProbeJob::fresh(tree, self.limit()) };
        let RecordedRun { seen, taken, losses } =
            instruments.run_with(replacements, &job, &place, is_built, &mut |job, commands, listener| {
                observe(desk.sandbox, job, commands, listener, &mut interrupt)?.ok_or_else(interrupted)
            })?;
        let processes = taken.into_iter().filter(|taken| taken.is_java).collect();
        plain_build(&seen)?;
        for loss in losses {
            desk.talk.say(&loss);
        }
        Ok(JavaSide { place, processes, ending: seen.ending, output: seen.output })
    }

    /// The runs of the first program that fails in a way that the recordings show, and its number.
    pub(super) fn java_runs(&self, bad: &JavaSide, good: &JavaSide) -> Result<(Runs, WrongEnd, usize), Failure> {
        let mut is_any = false;
        for (number, process) in bad.processes.iter().enumerate() {
            if !self.is_wanted(number, process) {
                continue;
            }
            let Some(twin) = bad.twin(number, good) else { continue };
            is_any = true;
            if process.is_cut || good.processes[twin].is_cut {
                return Err(Failure::error("a run of the program is longer than the limit of its trace")
                    .with_hint("explain a smaller test; `--max-trace` sets another limit"));
            }
            let runs = runs(bad.player(number)?, good.player(twin)?)?;
            if let Some(wrong) = wrong(&runs) {
                return Ok((runs, wrong, number));
            }
        }
        if is_any {
            let message = "the recorded runs of both versions do the same and print the same";
            return Err(Failure::error(message).with_hint(
                "what the library of the program does is not recorded; `--process` and `--argument` select another \
                 process",
            ));
        }
        Err(Failure::error("no Java program that is wanted ran in the test on both versions"))
    }

    /// The steps from where the difference begins to the failure.
    fn java_steps(
        &self,
        Runs { failing: (_, ours), reference: (_, theirs), alignment, .. }: &Runs,
        wrong: &WrongEnd,
        touched: ChainStart,
    ) -> Result<chain::JavaChain, Failure> {
        let mut sources = change::TreeSources::new(self.location, self.pair.failing.tree)?;
        let mut old = change::TreeSources::new(self.location, self.pair.reference)?;
        let gone = change::gone(self.location, &self.pair)?;
        let mut is_gone = |step: Step| {
            touched == ChainStart::Change && theirs.place(step).is_some_and(|place| is_touched(place, &mut old, &gone))
        };
        let mut is_touched = |step: Step| touched.is_at(step, ours, &mut sources, &self.changed);
        let both = chain::RunPair { failing: ours, reference: theirs, alignment };
        Ok(both.chain(wrong.step, &mut is_touched, &mut is_gone))
    }

    /// The first step of the chain; `None` if the chain is only the failure.
    pub(super) fn java_first(&self, runs: &Runs, wrong: &WrongEnd) -> Result<Option<Step>, Failure> {
        let found = self.java_steps(runs, wrong, ChainStart::Change)?;
        let first = found.steps.first().filter(|_| found.begin != JavaChainBegin::Failure);
        Ok(first.map(|cause| cause.step))
    }

    fn java_chain(&self, runs: &mut Runs, wrong: &WrongEnd, touched: ChainStart) -> Result<Begun, Failure> {
        let mut sources = change::TreeSources::new(self.location, self.pair.failing.tree)?;
        let replaced = change::ReferenceLines::new(self.location, &self.pair)?;
        let found = self.java_steps(runs, wrong, touched)?;
        let Runs { failing: (failing, ours), reference: (reference, theirs), alignment, remarks } = runs;
        let both = chain::RunPair { failing: ours, reference: theirs, alignment };
        let told = {
            let mut players = story::Players { failing: &mut *failing, reference: &mut *reference };
            let mut is_touched = |step: Step| touched.is_at(step, ours, &mut sources, &self.changed);
            story::tell(&both, &mut players, &found.steps, &mut is_touched)?
        };
        let remedies = remedies(&both, failing, reference, &told.links)?;
        let at = StepPlace::new(ours.place(wrong.step), told.instance, &self.changed, &mut sources);
        let mut all = std::mem::take(remarks);
        let beginning = match touched {
            ChainStart::Change => beginning(&found),
            ChainStart::Decision(_) => switching::beginning(&found),
        };
        if ours.place(wrong.step).is_none() {
            all.push("the classes do not tell their lines: compile them with `javac -g`".to_owned());
        }
        if told.n_left > 0 {
            all.push(format!("{} left out that did the same as the one before", count(told.n_left, "link")));
        }
        let links = told.links.iter().enumerate().map(|(nth, link)| {
            let at = StepPlace::new(link.place.as_ref(), link.instance, &self.changed, &mut sources);
            // The change removed what the first step stands for.
            let begins = nth == 0 && found.begin == JavaChainBegin::Change && touched == ChainStart::Change;
            let in_change = at.in_change || begins;
            of_link(link, StepPlace { in_change, ..at }, &replaced)
        });
        let mut chain = ReportChain {
            bad: Untrusted::from(&*self.pair.names.0),
            good: Untrusted::from(&*self.pair.names.1),
            switched: None,
            summary: None,
            links: links.collect(),
            sets: Vec::new(),
            end: if found.begin == JavaChainBegin::Change { ChainBeginning::Benign } else { ChainBeginning::Stuck },
            beginning: Some(beginning.into()),
            failure: Shown {
                what: Untrusted::from(&*wrong.what),
                file: at.file,
                line: at.line,
                step: wrong.step.0,
                in_change: at.in_change,
                which: at.which,
            },
            figures: Figures {
                n_steps: ours.run.n_steps(),
                n_reference_steps: theirs.run.n_steps(),
                n_aligned: alignment.pairs.len(),
                ..Figures::default()
            },
            remarks: all.iter().map(|remark| Untrusted::from(&**remark)).collect(),
        };
        chain.summary = chain.clone().joined().in_short().map(Untrusted::from);
        Ok(Begun { chain, remedies, is_whole: found.begin == JavaChainBegin::Change })
    }

    /// Tests the links of a chain, if that is wanted, and says how many were tested.
    ///
    /// Cost: runs the program or the test on the failing version again for each link, see [`Laboratory::test`].
    fn finish(
        &self,
        chain: &mut ReportChain,
        remedies: &[Remedy],
        bad: &JavaSide,
        number: usize,
        tree: TreeId,
        desk: &mut Desk<'_>,
    ) -> Result<(), Failure> {
        if self.order.is_unchecked {
            chain.remarks.splice(..0, how(chain).map(Untrusted::from));
            return Ok(());
        }
        desk.talk.say("Testing the links: the failing version runs with values of the reference.");
        let order = self.record_args();
        let instruments = self.java_instruments(&order, tree, desk)?;
        let done = match Laboratory::new(self, &instruments, desk.sandbox, bad, number, tree).test(remedies) {
            // The chain is told without them.
            Err(failure) if failure.status == Status::Interrupted => Experiments::interrupted(),
            done => done?,
        };
        let (n_trials, time) = done.trials;
        chain.figures.n_tests = done.n_runs + n_trials;
        (chain.figures.n_trials, chain.figures.trial_seconds) = (n_trials, time.as_secs_f64());
        for (link, found) in chain.links.iter_mut().zip(done.found) {
            link.tested = found;
        }
        // Why none was tested says that none was.
        let is_said = done.remark.is_some() && chain.links.iter().all(|link| link.tested.is_none());
        let how = how(chain).filter(|_| !is_said);
        chain.remarks.splice(..0, how.into_iter().chain(done.remark).map(Untrusted::from));
        Ok(())
    }
}

/// How a statement or the head of one ends in its last line.
const ENDS: [char; 3] = [';', '{', '}'];

/// Whether a change touches the statement at a place.
fn is_touched(place: &idd_trace::Place, sources: &mut change::TreeSources, changed: &change::LinesByPath) -> bool {
    let line = sources.touched_until(&ENDS, &place.file, place.line, changed);
    changed.get(&sources.path(&place.file)).is_some_and(|lines| lines.contains(&line))
}

/// How the links are known, if not all of them were tested.
fn how(chain: &ReportChain) -> Option<String> {
    let n_tested = chain.links.iter().filter(|link| link.tested.is_some()).count();
    match chain.links.len() - n_tested {
        0 => None,
        _ if n_tested == 0 => Some("the links were observed, not tested".to_owned()),
        n_observed => {
            Some(format!("{n_tested} of {} were tested, the others observed", count(n_tested + n_observed, "link")))
        }
    }
}

/// How the steps of links come to do what the reference does.
///
/// Cost: plays each run once.
fn remedies(
    both: &chain::RunPair<'_>,
    failing: &mut JavaPlayer,
    reference: &mut JavaPlayer,
    links: &[Link],
) -> Result<Vec<Remedy>, Failure> {
    let steps: Vec<Step> = links.iter().map(|link| link.step).collect();
    let others: Vec<Step> = steps.iter().filter_map(|step| both.alignment.reference(*step)).collect();
    let (ours, theirs) = (StepEffects::read(failing, &steps)?, StepEffects::read(reference, &others)?);
    Ok(links.iter().map(|link| both.remedy(link, &ours, &theirs)).collect())
}

fn too_long() -> Failure {
    let message = format!("a run of the program has more than {MAX_STEPS} steps");
    Failure::error(message).with_hint("take a smaller test: one test method, or less input")
}

/// Takes both runs down by names that both versions share; see [`comparable_run::both`].
///
/// Errors: a run is too long.
pub(crate) fn taken(
    failing: &mut JavaPlayer,
    reference: &mut JavaPlayer,
) -> Result<(TakenRun, TakenRun, Arc<StatementNames>), Failure> {
    let found = comparable_run::both(failing, reference)?;
    if found.0.run.n_steps().max(found.1.run.n_steps()) > MAX_STEPS {
        return Err(too_long());
    }
    Ok(found)
}

/// Takes both runs down, and says which steps correspond.
///
/// Cost: plays each run once.
fn runs(mut failing: JavaPlayer, mut reference: JavaPlayer) -> Result<Runs, Failure> {
    let (ours, theirs, names) = taken(&mut failing, &mut reference)?;
    let alignment = Alignment::new(&ours.run, &theirs.run);
    let mut remarks = without_counterpart(&names);
    if ours.run.n_threads > 1 || theirs.run.n_threads > 1 {
        remarks.push("the program has several threads: steps of different threads are not ordered".to_owned());
    }
    Ok(Runs { failing: (failing, ours), reference: (reference, theirs), alignment, remarks })
}

/// The first difference that can be seen from outside: an exception that nobody caught, then what was printed, then where
/// the program ended.
fn wrong(runs: &Runs) -> Option<WrongEnd> {
    let ((_, ours), (_, theirs), alignment) = (&runs.failing, &runs.reference, &runs.alignment);
    let is_new = |step: Step| {
        let other = alignment.reference(step);
        !theirs.escapes.iter().any(|escape| Some(escape.step) == other)
    };
    if let Some(escape) = ours.escapes.iter().find(|escape| is_new(escape.step)) {
        let exception = escape.exception.as_deref().unwrap_or("an exception");
        let what = format!("{exception} leaves {} (reference: none)", escape.function);
        return Some(WrongEnd { step: escape.step, what });
    }
    // The system sees the lower byte.
    let ending = |taken: &TakenRun| RunEnding::Exit(taken.exit.unwrap_or(0).cast_unsigned() & 0xff);
    let found = failure::RunFailure::find(&ours.run, &theirs.run, alignment, ending(ours), ending(theirs));
    if let Some(found) = found {
        return Some(WrongEnd { step: found.step, what: words::wrong(&found, None, None) });
    }
    let both = chain::RunPair { failing: ours, reference: theirs, alignment };
    let last = Step(ours.run.n_steps());
    both.differs(last).then(|| WrongEnd { step: last, what: "the program ends here (reference: elsewhere)".to_owned() })
}

fn beginning(found: &chain::JavaChain) -> &'static str {
    match found.begin {
        JavaChainBegin::Change if found.steps.len() == 1 => "The failing statement is part of the change.",
        JavaChainBegin::Change => "It begins with the change.",
        JavaChainBegin::Elsewhere => {
            "It does not begin with the change: the first statement of it does something else with values that are the \
             same in both runs. How the change leads to it is not known."
        }
        JavaChainBegin::Failure => {
            "Nothing that it is known to depend on differs: how the change leads to it is not known."
        }
    }
}
