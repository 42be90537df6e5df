//! The tools about runs of a program: explanations, recordings, and questions about them.

use crate::args::Request;
use crate::args::recorded::{RecordedRequest, RecordingView, TraceArgs, criterion};
use crate::console::Console;
use crate::debug::once;
use crate::mcp::answer::{TextPart, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::hunts::{option, request, words};
use crate::mcp::jobs::{JobKind, RequestedJob};
use crate::mcp::object;
use crate::mcp::state::ServerState;
use crate::{chop, explain, invariants, record, slice, trace};
use idd_report::{Explained, Explanation, Status, Style};
use idd_session::debug::DebugOrder;
use idd_session::explain::change::TreeSources;
use idd_session::kept::{self, KeptHunt};
use idd_session::recorded::ProcessChoice;
use idd_session::slice::{SliceDirection, SliceOrder};
use idd_session::trial::proposal::Proposal;
use idd_session::trial::{self, TrialOrder, TrialTask};
use idd_session::{Failure, Silent, require_support, saved};
use idd_trace::slice::Kinds;
use idd_world::repo::{Location, graph, private};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// The usual time that a result is waited for, in seconds.
const PATIENCE: u64 = 20;

/// The result of a job that was started, if it comes in time.
pub fn result(number: u64, about: &str, arguments: &Arguments, state: &ServerState) -> Result<ToolAnswer, Failure> {
    let wait = Duration::from_secs(arguments.number("wait").unwrap_or(PATIENCE));
    match state.wait(number, wait, |_| false) {
        Some(RequestedJob { ended: Some(Ok(end)), .. }) => {
            Ok(ToolAnswer { object: end.object, ..ToolAnswer::data(about, &end.text, TextPart::of(arguments)) })
        }
        Some(RequestedJob { ended: Some(Err(failure)), .. }) => Err(failure),
        Some(job) => Ok(ToolAnswer::note(format!(
            "{} runs in the background; hunt_status with `wait` waits for it, and has the result",
            job.name()
        ))
        .with_object(object::of_status(Status::Running.word()))),
        None => Err(Failure::error("another job has begun; hunt_status says which")),
    }
}

/// The finding of which a tool runs the test, and whose commands the user allowed.
fn runnable_finding(arguments: &Arguments, state: &ServerState) -> Result<KeptHunt, Failure> {
    require_support()?;
    let (kept, _) = kept::newest_finding(&state.location, arguments.text("hunt"))?;
    let plan = saved::plan(&kept.replay)?;
    state.allowed.check(&plan.order.command, plan.order.test.build.as_ref())?;
    Ok(kept)
}

/// Explains the finding of a hunt.
pub fn explain(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let kept = runnable_finding(arguments, state)?;
    let words = vec![OsString::from("explain"), option("hunt", &kept.id)];
    let Request::Recorded(RecordedRequest::Explain(mut order)) = request(words, &state.context)? else {
        return Err(Failure::usage("the arguments make no explanation"));
    };
    // The build of the hunt, which was checked.
    order.build = None;
    let number = state.start(JobKind::Explanation, Some(kept.id.clone()), move |location, context, heard| {
        let found = idd_session::explain::run(&order, location, context, heard)?;
        Ok(explain::with_sources(found.chain, found.sources, Console::plain()).into())
    })?;
    result(number, &format!("explanation of the hunt {}; it is stored", kept.id), arguments, state)
}

/// Judges a fix for a finding.
pub fn judge(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let kept = runnable_finding(arguments, state)?;
    let proposal = match (arguments.text("patch"), arguments.text("revision")) {
        (Some(patch), None) => Proposal::Patch { name: "patch".to_owned(), bytes: patch.as_bytes().to_vec() },
        (None, Some(revision)) => Proposal::Revision(revision.to_owned()),
        _ => return Err(Failure::usage("either `patch` or `revision` is needed")),
    };
    // A suite of the configuration is the user's.
    let suite = state.context.configured("idd.suite").last().map(OsString::from);
    let order = TrialOrder { proposal, suite, budget: None };
    let id = kept.id.clone();
    let number = state.start(JobKind::Trial, Some(id.clone()), move |location, context, heard| {
        let interrupt = context.interrupt()?.flag;
        let task = TrialTask { kept: &kept, location, context, interrupt, talk: heard };
        Ok(trial::run(&order, task)?.text().into())
    })?;
    result(number, &format!("judgement of a fix for the hunt {id}"), arguments, state)
}

/// Chops the failing run of a finding.
pub fn chop(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let kept = runnable_finding(arguments, state)?;
    let mut words = vec![OsString::from("chop"), option("hunt", &kept.id)];
    words.extend(arguments.flag("data").then(|| OsString::from("--data")));
    let Request::Recorded(RecordedRequest::Chop(mut order)) = request(words, &state.context)? else {
        return Err(Failure::usage("the arguments make no chop"));
    };
    // The build of the hunt, which was checked.
    order.record.build = None;
    let number = state.start(JobKind::Explanation, Some(kept.id.clone()), move |location, context, heard| {
        Ok(chop::text(&idd_session::chop::run(&order, location, context, heard)?, false).into())
    })?;
    result(number, &format!("chop of the hunt {}; it is stored", kept.id), arguments, state)
}

/// What has to hold before the statements that matter for the failure of a recorded run.
pub fn invariants(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let mut words = vec![OsString::from("invariants")];
    for (name, value) in [("recording", "recording"), ("from", "criterion"), ("passing", "passing")] {
        words.extend(arguments.text(value).map(|value| option(name, value)));
    }
    words.extend(arguments.number("process").map(|number| option("process", &number.to_string())));
    words.extend(arguments.flag("data").then(|| OsString::from("--data")));
    let Request::Recorded(RecordedRequest::Invariants(order)) = request(words, &state.context)? else {
        return Err(Failure::usage("the arguments ask for no invariants"));
    };
    let found = idd_session::invariants::run(&order, &state.location, &state.context, &mut Silent)?;
    Ok(ToolAnswer::data(
        "numbers after # are steps: trace_step, trace_why",
        &invariants::text(&found, false),
        TextPart::of(arguments),
    ))
}

/// The stored explanations of a finding.
pub fn explanation(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let (kept, _) = kept::newest_finding(&state.location, arguments.text("hunt"))?;
    let (explanations, complaints) = saved::explanations(&state.location, &kept.id, &kept.report()?);
    let mut texts = complaints;
    for explained in explanations {
        texts.push(told(explained, &state.location)?);
    }
    if texts.is_empty() {
        return Err(Failure::error(format!("the hunt {} has no explanation", kept.id)).with_hint("`explain` makes one"));
    }
    Ok(ToolAnswer::data(&format!("hunt {}", kept.id), &texts.join("\n"), TextPart::of(arguments)))
}

/// A stored explanation for people.
fn told(explained: Explained, location: &Location) -> Result<String, Failure> {
    Ok(match explained.explanation {
        Explanation::Chain(chain) => {
            explain::with_sources(chain, TreeSources::new(location, explained.tree)?, Console::plain())
        }
        Explanation::Chop(found) => chop::text(&found, false),
        Explanation::Walk(walk) => walk.text(Style::PLAIN),
        Explanation::Invariants(found) => invariants::text(&found, false),
    })
}

/// Records a test.
pub fn record(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    require_support()?;
    let command = state.allowed.test(words(arguments, "test"))?;
    let build = state.allowed.build(arguments.text("build"))?;
    let mut options = vec![OsString::from("record")];
    options.extend(arguments.text("at").map(|at| option("at", at)));
    options.extend(["--", "true"].map(OsString::from));
    let Request::Recorded(RecordedRequest::Record(mut order)) = request(options, &state.context)? else {
        return Err(Failure::usage("the arguments make no recording"));
    };
    (order.command, order.build) = (command, build);
    graph::resolve(&private::open(&state.location.git_directory)?, &order.at)?;
    let number = state.start(JobKind::Recording, None, move |location, context, heard| {
        let (name, recording) = idd_session::record::run(&order, location, context, heard)?;
        Ok(record::text(&name, &recording).into())
    })?;
    result(number, "trace_tree shows it", arguments, state)
}

/// The process of a recording that is meant.
fn which(arguments: &Arguments) -> ProcessChoice {
    let process = arguments.number("process").and_then(|number| usize::try_from(number).ok());
    ProcessChoice { recording: arguments.text("recording").map(str::to_owned), process }
}

fn traced(
    shown: RecordingView,
    about: &str,
    arguments: &Arguments,
    state: &ServerState,
) -> Result<ToolAnswer, Failure> {
    let args = TraceArgs { which: which(arguments), shown };
    let bytes = trace::run(&args, &state.location, Console::plain())?;
    Ok(ToolAnswer::data(about, &String::from_utf8_lossy(&bytes), TextPart::of(arguments)))
}

fn size(arguments: &Arguments, name: &str, usual: usize) -> usize {
    arguments.number(name).and_then(|number| usize::try_from(number).ok()).unwrap_or(usual)
}

fn step_of(arguments: &Arguments) -> u32 {
    // The table of the tools allows no other numbers.
    arguments.number("step").and_then(|step| u32::try_from(step).ok()).unwrap_or(1)
}

/// Lists the recordings.
pub fn recordings(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    traced(RecordingView::List, "", arguments, state)
}

/// Calls and loops.
pub fn tree(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let shown = RecordingView::Tree { depth: size(arguments, "depth", 6), width: size(arguments, "width", 20) };
    traced(shown, "numbers after # are steps: trace_step, trace_why", arguments, state)
}

/// A step.
pub fn step(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    traced(RecordingView::Step(step_of(arguments)), "", arguments, state)
}

/// The origin of a value.
pub fn why(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let variable = arguments.text("variable").unwrap_or_default().to_owned();
    let shown = RecordingView::Why { step: step_of(arguments), variable, limit: size(arguments, "limit", 20) };
    traced(shown, "", arguments, state)
}

/// A slice.
pub fn slice(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let criterion = criterion::parse(arguments.text("criterion").unwrap_or_default()).map_err(Failure::usage)?;
    let direction = match arguments.text("direction") {
        Some("forward") => SliceDirection::Forward,
        _ => SliceDirection::Backward,
    };
    let kinds = Kinds { address: false, control: !arguments.flag("data"), potential: false };
    let order = SliceOrder { which: which(arguments), direction, criterion, kinds };
    let bytes = slice::run(&order, &state.location, Console::plain())?;
    Ok(ToolAnswer::data("", &String::from_utf8_lossy(&bytes), TextPart::of(arguments)))
}

/// A walk over a recording.
fn walk(arguments: &Arguments) -> DebugOrder {
    DebugOrder {
        which: which(arguments),
        is_restarted: arguments.flag("restart"),
        is_plain: true,
        ..DebugOrder::default()
    }
}

/// The next question of a walk.
pub fn question(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let text = once::ask(&walk(arguments), None, &state.location)?;
    Ok(ToolAnswer::data("debug_answer takes the answer", &text, TextPart::of(arguments)))
}

/// Answers the question of a walk.
pub fn answer(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let text = once::ask(&walk(arguments), arguments.text("answer"), &state.location)?;
    Ok(ToolAnswer::data("debug_answer takes the next answer, if there is a question", &text, TextPart::of(arguments)))
}
