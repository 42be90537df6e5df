//! The chain between two runs, and everything that is said with it.

use crate::explain::forks::ForkServer;
use crate::explain::model::{ChainLimits, Explainer, Explanation, Figures, Limit, Sides, Switched, interrupted};
use crate::explain::progress::ReportedExecutions;
use crate::explain::{change, forks};
use crate::{Failure, Talk};
use idd_base::count;
use idd_explain::align::Alignment;
use idd_explain::align::statements::{StatementNames, VersionFunction, WhichVersion};
use idd_explain::chain::{self, ChainEnd, Definition, Executions as _, FaultChain};
use idd_explain::failure::{RunEnding, RunFailure, RunWrong};
use idd_explain::link::Link;
use idd_explain::native::align::done;
use idd_explain::native::causality::{Causality, CausalityError};
use idd_explain::native::recorded::NativeRecorded;
use idd_explain::native::roots::Missing;
use idd_explain::native::standing::Standing;
use idd_explain::native::story::{ToldChain, ToldExtent};
use idd_explain::native::{crash, endless, governing, naming, origin, roots, standing, story};
use idd_trace::native::NativePlayer;
use idd_trace::native::target::target;
use idd_trace::{ObservableCall, Place, Run, RunArgument, Step, TraceError};
use idd_world::process::CommandWatch as _;
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When the search was stopped, what was found is told for so long.
const GRACE: Duration = Duration::from_secs(1);

/// Links of a long chain that the report shows, from its beginning and from its end.
const N_KEPT: usize = 200;

impl Explainer<'_> {
    /// Aligns the runs and finds the chain.
    pub(super) fn chain(&self, sides: Sides, before: f64, talk: &mut dyn Talk) -> Result<Explanation, Failure> {
        let begin = Instant::now();
        let (pair, mut changed) = (self.pair.clone(), self.changed.clone());
        let mut remarks = Vec::new();
        let Sides {
            failing: (mut failing, ending),
            reference: (mut reference, expected),
            mut server,
            mut switched,
            n_processes,
            limits: ChainLimits { max_tests, time: budget },
        } = sides;
        if switched.is_none() {
            remarks.extend(rename(&mut failing, &mut reference)?);
        }
        let run = Run::read(&mut failing)?;
        let other = Run::read(&mut reference)?;
        let alignment = Alignment::new(&run, &other);
        let failure = RunFailure::find(&run, &other, &alignment, ending, expected);
        let failure = failure
            .ok_or_else(|| if run.said.iter().any(is_unknown) { unknown_texts(&run.said) } else { no_difference() })?;
        remarks.extend(unknown_before(&run, &failure));
        if run.n_threads > 1 || other.n_threads > 1 {
            remarks.push(
                "the program has several threads: steps of different threads are not ordered, and experiments run \
                 only the first thread"
                    .to_owned(),
            );
        }
        let mut figures = Figures {
            n_steps: (run.n_steps(), other.n_steps()),
            n_aligned: alignment.pairs.len(),
            ..Figures::default()
        };
        let (failing, reference) =
            (NativeRecorded { player: failing, run }, NativeRecorded { player: reference, run: other });
        server.limit(budget);
        let mut causality = Causality::new(failing, reference, alignment, failure, server);
        let mut found = chain::compute(&mut ReportedExecutions::new(&mut causality, talk), max_tests).map_err(told)?;
        remarks.extend(self.verify(&found, &mut causality, talk)?);
        let mut is_over = after_grace();
        let (mut links, is_whole) = tell(&mut causality, &mut found, switched.as_ref(), &mut is_over, &mut remarks)?;
        let mut sources = change::TreeSources::new(self.location, pair.failing.tree)?;
        let mut missing = None;
        if switched.is_none() && is_whole {
            missing = lead(&mut causality, &found, &mut links, &mut sources, &changed)?;
        }
        let is_apart = missing.is_some();
        let from_outside =
            if is_apart { origin::outside(&mut causality, &links, n_processes).map_err(told)? } else { None };
        if is_apart && from_outside.is_none() && found.end != ChainEnd::Unfinished {
            // None of its lines is in the chain: perhaps because none of them runs.
            remarks.extend(self.mark_around(&mut causality, &mut sources, &mut changed)?);
            missing = lead(&mut causality, &found, &mut links, &mut sources, &changed)?;
        }
        let sets = sets(&mut causality, &found, &mut is_over).map_err(told)?;
        let failure = causality.failure().clone();
        let target = match failure.wrong {
            RunWrong::Said(..) => target(&mut causality.failing().player, failure.step)?,
            _ => None,
        };
        let mut standing = stand(&mut causality, &mut links, &mut switched)?;
        let reason = reason(&mut causality, &mut standing)?;
        let in_change = if switched.is_some() {
            None
        } else {
            let place = links.first().map_or(standing.place.as_ref(), |link| link.place.as_ref());
            Some(place.is_some_and(|place| is_touched(place, &mut sources, &changed)))
        };
        if causality.is_stopped() && in_change == Some(false) {
            // Whether a step of the change leads to it was not tested.
            found.end = ChainEnd::Unfinished;
        }
        let limit = self.limit_of(&found, &causality);
        let origin =
            origin::origin(&mut causality, &links, found.end, in_change, missing, from_outside).map_err(told)?;
        if causality.n_unpatched > 0 {
            remarks.push(format!(
                "up to {} differing variables could not be overwritten, because they point to something that the \
                 failing run does not have",
                causality.n_unpatched
            ));
        }
        figures.n_tests = found.n_tests;
        figures.n_forks = causality.n_forks;
        figures.n_states = causality.n_states;
        figures.seconds = (before, begin.elapsed().as_secs_f64());
        let failure = (failure, standing);
        Ok(Explanation {
            links,
            chain: found,
            sets,
            failure,
            target,
            reason,
            origin,
            changed,
            pair,
            figures,
            switched,
            limit,
            remarks,
        })
    }
}

impl Explainer<'_> {
    /// Tests a chain again, unless that is not wanted; returns a remark where it was not done or the chain does not hold.
    fn verify(
        &self,
        found: &FaultChain,
        causality: &mut Causality<ForkServer>,
        talk: &mut dyn Talk,
    ) -> Result<Option<String>, Failure> {
        if self.order.is_unchecked {
            return Ok(None);
        }
        if !causality.is_stopped() {
            talk.say("Testing the chain again.");
            match chain::verify(found, causality) {
                Ok(Ok(())) => return Ok(None),
                Ok(Err(what)) => return Ok(Some(format!("tested again, the chain does not hold: {what}"))),
                Err(_) if causality.is_stopped() => {}
                Err(error) => return Err(told(error)),
            }
        }
        Ok(Some("the search ended before the chain was tested again".to_owned()))
    }

    /// What ended the search before the beginning was found.
    fn limit_of(&self, found: &FaultChain, causality: &Causality<ForkServer>) -> Option<Limit> {
        (found.end == ChainEnd::Unfinished).then(|| match () {
            () if self.interrupt.is_interrupted() => Limit::Interrupt,
            () if causality.is_stopped() => Limit::Budget,
            () => Limit::MaxTests,
        })
    }

    /// Marks lines that stand for changed lines of which nothing runs: what leads to them, and the uses of variables that they declare. Returns remarks about these.
    fn mark_around(
        &self,
        causality: &mut Causality<ForkServer>,
        sources: &mut change::TreeSources,
        changed: &mut change::LinesByPath,
    ) -> Result<Vec<String>, Failure> {
        let mut remarks = Vec::new();
        let thinned = change::ReferenceLines::new(self.location, &self.pair)?.thinned();
        let mut of_file = |file: &str| {
            let path = sources.path(file);
            let of = |lines: &change::LinesByPath| lines.get(&path).cloned().unwrap_or_default();
            (of(changed), of(&thinned))
        };
        let mut marked = governing::governing(causality.failing(), &mut of_file)?;
        marked.dedup_by_key(|(place, line)| (place.line, *line));
        for (place, line) in marked {
            let path = sources.path(&place.file);
            remarks.push(format!(
                "no code of the changed line {path}:{line} runs; line {}, which leads to it, is marked",
                place.line
            ));
            changed.entry(path).or_default().insert(place.line);
        }
        for (path, lines) in changed.clone() {
            for (name, line, uses) in sources.declared(&path, &lines) {
                if !uses.is_empty() {
                    remarks.push(format!(
                        "the changed line {path}:{line} declares {name}; the lines that use it are marked"
                    ));
                    changed.entry(path.clone()).or_default().extend(uses);
                }
            }
        }
        Ok(remarks)
    }
}

/// Whether the search was stopped at least [`GRACE`] ago; that begins when it is first asked.
fn after_grace() -> impl FnMut(&Causality<ForkServer>) -> bool {
    let mut stopped = None;
    move |causality| causality.is_stopped() && stopped.get_or_insert_with(Instant::now).elapsed() >= GRACE
}

/// The links of a chain, and whether these are all. The chain is reduced to what is told, and a remark says so.
fn tell(
    causality: &mut Causality<ForkServer>,
    found: &mut FaultChain,
    switched: Option<&Switched>,
    is_over: &mut dyn FnMut(&Causality<ForkServer>) -> bool,
    remarks: &mut Vec<String>,
) -> Result<(Vec<Link>, bool), Failure> {
    let extent = ToldExtent { n_kept: N_KEPT, is_over };
    let decision = switched.map(|switched| switched.step);
    let ToldChain { links, n_sets, n_left } = story::tell(causality, found, decision, extent).map_err(told)?;
    if let Some(n_left) = n_left {
        found.sets.truncate(n_sets);
        let kept: HashSet<Definition> = found.sets.iter().flat_map(|(_, set)| set).copied().collect();
        found.definitions.retain(|definition| kept.contains(definition));
        found.end = ChainEnd::Unfinished;
        let values = count(n_left, "more faulty value");
        remarks.push(format!("{values} found, but not shown: the explanation was stopped"));
    }
    Ok((links, n_left.is_none()))
}

/// The sets of a chain, as many as can be named in time: the step of the failing run before which each one is, and its variables as they are called there.
fn sets(
    causality: &mut Causality<ForkServer>,
    found: &FaultChain,
    is_over: &mut dyn FnMut(&Causality<ForkServer>) -> bool,
) -> Result<Vec<(Step, Vec<String>)>, CausalityError<io::Error>> {
    let mut sets = Vec::new();
    for (point, set) in &found.sets {
        if !sets.is_empty() && is_over(causality) {
            break;
        }
        let state = causality.state(*point)?;
        let held = state.cells.iter().filter(|(definition, _)| set.contains(definition));
        let cells: Vec<_> = held.map(|(_, cell)| cell).collect();
        let parts: Vec<_> = cells.iter().map(|cell| (cell.address, cell.length)).collect();
        let step = causality.steps(*point).0;
        let names = naming::before(causality.failing(), step, &parts, None)?;
        let names = names.into_iter().zip(&cells).map(|(name, cell)| name.unwrap_or_else(|| cell.path.clone()));
        sets.push((step, names.collect()));
    }
    Ok(sets)
}

/// Whether a change touches a place; of the declaration of a global variable, also its initial value.
pub(super) fn is_touched(place: &Place, sources: &mut change::TreeSources, changed: &change::LinesByPath) -> bool {
    let line = if place.column == 0 { sources.touched(&place.file, place.line, changed) } else { place.line };
    changed.get(&sources.path(&place.file)).is_some_and(|lines| lines.contains(&line))
}

/// Leads a chain back to the change; returns why not if it is not in it then.
fn lead(
    causality: &mut Causality<ForkServer>,
    found: &FaultChain,
    links: &mut Vec<Link>,
    sources: &mut change::TreeSources,
    changed: &change::LinesByPath,
) -> Result<Option<Missing>, Failure> {
    let mut is_touched = |place: &Place| is_touched(place, sources, changed);
    match roots::lead(causality, found, links, &mut is_touched) {
        // Nothing was proved.
        Err(_) if causality.is_stopped() => Ok(None),
        led => led.map_err(told),
    }
}

/// Looks up where the failure and the decision that was switched stand, and which instances they and the links are; returns where the failure is.
fn stand(
    causality: &mut Causality<ForkServer>,
    links: &mut [Link],
    switched: &mut Option<Switched>,
) -> Result<Standing, TraceError> {
    let failure = causality.failure().clone();
    let mut standing = standing::standing(causality.failing(), failure.step)?;
    let mut decision = None;
    if let Some(switched) = switched.as_mut() {
        let standing = standing::standing(causality.failing(), switched.step)?;
        switched.place.clone_from(&standing.place);
        switched.outcome = standing.outcome.as_ref().map(|outcome| outcome.told.clone());
        if let Some(step) = causality.alignment().reference(switched.step) {
            let standing = standing::standing(causality.reference(), step)?;
            switched.reference = standing.outcome.map(|outcome| outcome.told);
        }
        decision = Some((switched.step, standing));
    }
    let seen = decision.iter_mut().map(|(step, standing)| (*step, standing)).chain([(failure.step, &mut standing)]);
    story::number(causality.failing(), links, &mut seen.collect::<Vec<_>>())?;
    if let (Some(switched), Some((_, decision))) = (switched, decision) {
        switched.instance = decision.instance;
    }
    Ok(standing)
}

/// Why the program crashed or did not end, in a clause. The failure is seen at the loop that does not end.
fn reason(causality: &mut Causality<ForkServer>, standing: &mut Standing) -> Result<Option<String>, TraceError> {
    let failure = causality.failure().clone();
    match failure.ending {
        RunEnding::Signal(_) if failure.wrong == RunWrong::Ended => {
            Ok(crash::null(causality.failing(), failure.step)?.map(|name| format!("{name} is NULL")))
        }
        RunEnding::Endless => {
            let Some(found) = endless::find(causality.failing())? else { return Ok(None) };
            *standing = standing::standing(causality.failing(), found.step)?;
            Ok(Some(found.words))
        }
        _ => Ok(None),
    }
}

fn told(error: CausalityError<io::Error>) -> Failure {
    match error {
        CausalityError::Fork(error) if error.kind() == io::ErrorKind::Interrupted => interrupted(),
        CausalityError::Fork(error) => forks::failure(&error),
        CausalityError::Stopped => interrupted(),
        error @ CausalityError::Trace(_) => Failure::from_error(&error),
    }
}

/// Whether a text that is printed is not known.
fn is_unknown(said: &ObservableCall) -> bool {
    said.text.is_none() && said.words.contains(&RunArgument::Pointer)
}

/// A remark on texts that were printed before the failure and are not known.
fn unknown_before(run: &Run, failure: &RunFailure) -> Option<String> {
    let before = run.said.iter().take_while(|said| said.time < failure.time);
    let n_unknown = before.filter(|said| is_unknown(said)).count();
    let is = if n_unknown == 1 { "is" } else { "are" };
    (n_unknown > 0 && failure.wrong != RunWrong::Ended).then(|| {
        let texts = count(n_unknown, "text");
        format!("{texts} printed before it {is} not known, so the first difference may be earlier")
    })
}

/// What the library reads into memory is recorded only where the program itself looks at it.
fn unknown_texts(said: &[ObservableCall]) -> Failure {
    let functions: BTreeSet<&str> = said.iter().filter(|said| is_unknown(said)).map(|said| &*said.function).collect();
    let functions = functions.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Failure::error(format!(
        "what the program prints by {functions} is not known where it prints a text that it has read: no difference is \
         seen"
    ))
    .with_hint(
        "what the library reads into memory is recorded only where the program itself looks at it: a loop over the text \
         before it is printed makes it known",
    )
}

pub(super) fn no_difference() -> Failure {
    Failure::error("both versions of the program print the same and end in the same way").with_hint(
        "the failure may show in another process (`--process`), or in a file that the program writes without a call \
         that is recorded",
    )
}

/// Gives two versions names that both share; returns remarks about what has no counterpart.
///
/// Which functions ran is known only when the traces have been read; then they are to be read again.
pub(crate) fn rename(failing: &mut NativePlayer, reference: &mut NativePlayer) -> Result<Vec<String>, Failure> {
    Run::read(failing)?;
    let functions = |player: &NativePlayer| player.shapes().map(|shape| done::function(shape)).collect::<Vec<_>>();
    let (mut ours, mut theirs) = (functions(failing), functions(reference));
    complete(&mut ours, &theirs, failing)?;
    complete(&mut theirs, &ours, reference)?;
    let names = Arc::new(StatementNames::new(&ours, &theirs));
    failing.rename(names.naming(WhichVersion::First));
    reference.rename(names.naming(WhichVersion::Second));
    Ok(without_counterpart(&names))
}

/// What names do not match, in words.
pub(super) fn without_counterpart(names: &StatementNames) -> Vec<String> {
    let (n_functions, n_statements) = (names.n_functions, names.n_statements);
    let remark = |(n_all, n_without), what: &str| {
        (n_without > 0).then(|| format!("{n_without} of {n_all} {what} have no counterpart in the reference"))
    };
    let without = [remark(n_functions, "functions that ran"), remark(n_statements, "statements")];
    let renamed =
        names.renamed.iter().map(|(name, other)| format!("`{name}` is compared with `{other}` of the reference"));
    without.into_iter().flatten().chain(renamed).collect()
}

/// Adds the functions that ran only in the other version.
fn complete(
    functions: &mut Vec<VersionFunction>,
    others: &[VersionFunction],
    player: &mut NativePlayer,
) -> Result<(), Failure> {
    for other in others {
        if functions.iter().all(|function| function.name != other.name || function.file != other.file) {
            let found = player.function(&other.file, &other.name)?;
            functions.extend(found.map(|shape| done::function(&shape)));
        }
    }
    Ok(())
}
