//! The tools about hunts.

use crate::args::options::LogFormat;
use crate::args::{Invocation, ParseError, Request};
use crate::console::Console;
use crate::mcp::answer::{TextPart, ToolAnswer, failed};
use crate::mcp::arguments::Arguments;
use crate::mcp::jobs::{JobEnd, JobKind, JobMessages, RequestedJob};
use crate::mcp::state::ServerState;
use crate::mcp::{object, resources};
use crate::{args, console, list, log, status};
use idd_report::text::{DetailLevel, TextLook};
use idd_report::{Explained, Report, Status, Style, Terminal};
use idd_session::course::{HuntObserver, HuntState};
use idd_session::hunt::Task;
use idd_session::order::HuntOrder;
use idd_session::plan::Plan;
use idd_session::{Context, Failure, course, hunt, kept, require_support, saved};
use idd_world::repo::{Location, graph, private};
use serde_json::Value;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// The time in which a hunt gets its id: it reads the repository before.
const BEGINNING: Duration = Duration::from_secs(50);

/// Columns of a finding.
const COLUMNS: usize = 120;

/// Sentences of a job that are shown.
const N_SAID: usize = 3;

/// Lines of the output of the test, if no more are asked for, in bytes.
const MAX_OUTPUT: usize = 4000;

/// The request of a command line, with the user's configuration.
pub fn request(words: Vec<OsString>, context: &Context) -> Result<Request, Failure> {
    let words = [OsString::from("git-idd")].into_iter().chain(words).collect();
    match args::parse(words, &context.configuration) {
        Ok(Invocation { request, .. }) => Ok(request),
        Err(ParseError::Usage(error)) => Err(Failure::from(error)),
        Err(ParseError::Display(_) | ParseError::Help(_)) => Err(Failure::usage("the arguments make no command")),
    }
}

/// An option in one word, so its value is never an option itself.
pub fn option(name: &str, value: &str) -> OsString {
    format!("--{name}={value}").into()
}

/// The words of an argument.
pub fn words(arguments: &Arguments, name: &str) -> Vec<OsString> {
    arguments.texts(name).into_iter().map(OsString::from).collect()
}

/// The order of a hunt, with the commands of the user.
fn order(arguments: &Arguments, state: &ServerState) -> Result<HuntOrder, Failure> {
    let command = state.allowed.test(words(arguments, "test"))?;
    let build = state.allowed.build(arguments.text("build"))?;
    let mut options: Vec<OsString> =
        ["bad", "until", "match"].iter().filter_map(|name| Some(option(name, arguments.text(name)?))).collect();
    let number = |name: &&str| Some(option(name, &arguments.number(name)?.to_string()));
    options.extend(["timeout", "budget"].iter().filter_map(number));
    options.extend(arguments.texts("good").into_iter().map(|good| option("good", good)));
    options.extend(["--", "true"].map(OsString::from));
    let Request::Hunt(mut order) = request(options, &state.context)? else {
        return Err(Failure::usage("the arguments make no hunt"));
    };
    (order.command, order.test.build) = (command, build);
    (order.effort.notify, order.effort.explain) = (None, false);
    Ok(order)
}

/// Starts a hunt.
pub fn start(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    require_support()?;
    let order = order(arguments, state)?;
    let user = private::open(&state.location.git_directory)?;
    for name in order.history.good.iter().chain([&order.history.bad]) {
        graph::resolve(&user, name)?;
    }
    let number =
        state.start(JobKind::Hunt, None, move |location, context, heard| hunted(order, location, context, heard))?;
    let job = state.jobs.wait(number, BEGINNING, |job| job.hunt.is_some());
    match job {
        Some(RequestedJob { hunt: Some(hunt), .. }) => Ok(ToolAnswer::note(format!(
            "hunt {hunt} runs in the background; hunt_status with `wait` says how far it is, then hunt_finding"
        ))),
        Some(RequestedJob { ended: Some(Err(failure)), .. }) => Err(failure),
        _ => Ok(ToolAnswer::note("the hunt begins; hunt_status says its id")),
    }
}

/// Hunts; returns how it ended.
fn hunted(
    order: HuntOrder,
    location: &Location,
    context: &Context,
    heard: &mut JobMessages,
) -> Result<JobEnd, Failure> {
    let user = private::open(&location.git_directory)?;
    let plan = Plan::new(order, None, location, &user, context)?;
    let saved = saved::open(&plan, location, None, false)?;
    heard.is_hunt(&saved.id);
    let interrupt = context.interrupt()?.flag;
    let report = hunt::run(Task { plan: &plan, location, context, saved, interrupt, talk: heard }, &user)?;
    let error = report.error.as_ref().map(|error| {
        let hint = error.hint.as_ref().map(|hint| format!("; {}", Terminal.line(hint))).unwrap_or_default();
        format!("\nerror: {}{hint}", Terminal.line(&error.message))
    });
    Ok(format!("{} ({}){}", report.status.word(), report.status.meaning(), error.unwrap_or_default()).into())
}

/// What a job has come to.
fn progress(job: &RequestedJob) -> String {
    let mut text = match &job.ended {
        None => format!("running:   {}\n", job.name()),
        Some(Ok(end)) if job.kind == JobKind::Hunt => format!("ended:     {}\n", end.text),
        Some(Ok(end)) => end.text.clone(),
        Some(Err(failure)) => failed(failure) + "\n",
    };
    if job.is_running() || job.ended.as_ref().is_some_and(Result::is_err) {
        let n_left_out = job.said.len().saturating_sub(N_SAID);
        for sentence in job.said.iter().skip(n_left_out) {
            let _ = writeln!(text, "said:      {sentence}");
        }
    }
    text
}

/// Says how far a hunt, or what else runs, is.
pub fn status(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let named = arguments.text("hunt");
    let is_meant = |job: &RequestedJob| match (named, &job.hunt) {
        (None, _) => true,
        (Some(named), Some(hunt)) => !named.is_empty() && hunt.starts_with(named),
        (Some(_), None) => false,
    };
    let mut job = state.jobs.last().filter(is_meant);
    if let (Some(found), Some(seconds)) = (&job, arguments.number("wait")) {
        let n_proved = found.n_proved;
        let is_new = |job: &RequestedJob| job.n_proved > n_proved;
        job = state.wait(found.number, Duration::from_secs(seconds), is_new);
    }
    let part = TextPart::of(arguments);
    let hunt = match (named, &job) {
        // What is no hunt is said by the job alone.
        (None, Some(job)) if job.kind != JobKind::Hunt => {
            let about = if job.is_running() { "it runs; hunt_status with `wait` waits for it" } else { "it has ended" };
            let end = job.ended.as_ref().and_then(|end| end.as_ref().ok());
            let object = end.and_then(|end| end.object.clone()).unwrap_or_else(|| state_of(job));
            return Ok(ToolAnswer::data(about, &progress(job), part).with_object(object));
        }
        (_, Some(RequestedJob { hunt: Some(hunt), .. })) => Some(hunt.as_str()),
        (named, _) => named,
    };
    if let (None, Some(job)) = (hunt, &job) {
        return Ok(ToolAnswer::data("", &progress(job), part).with_object(state_of(job)));
    }
    let kept = kept::newest(&state.location, hunt)?;
    let word = kept.state(&state.location)?;
    let shown = HuntState { words: word.clone(), is_running: word == "running" };
    let course = HuntObserver::new(&state.location)?.look(&kept, &shown)?;
    let mut text = course.rows(status::now()).join("\n") + "\n";
    text.extend(job.as_ref().map(progress));
    let next = match word.as_str() {
        "running" => "hunt_status with `wait` waits for it, hunt_cancel stops it",
        _ if kept.is_finding() => "hunt_finding has the result",
        _ if kept.is_unfinished() => "the same hunt_start continues it",
        _ => "hunt_finding says why there is no result",
    };
    let object = object::of_report(&course::report(&kept, &course, &word))?;
    Ok(ToolAnswer::data(&format!("hunt {}: {word}; {next}", kept.id), &text, part).with_object(object))
}

/// The object of a job that has no other.
fn state_of(job: &RequestedJob) -> Value {
    object::of_status(match &job.ended {
        None => Status::Running.word(),
        Some(Ok(_)) => "ended",
        Some(Err(failure)) => failure.status.word(),
    })
}

/// Asks what runs to stop. Whoever starts something next waits for its end.
#[expect(clippy::unnecessary_wraps, reason = "one form for all tools")]
pub fn cancel(_arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    Ok(ToolAnswer::note(match state.jobs.cancel() {
        Some(job) => format!("{} is asked to stop; hunt_status with `wait` waits for it", job.name()),
        None => "nothing runs".to_owned(),
    }))
}

/// The bytes of an answer on the command line, as text.
pub fn printed(answer: console::CommandAnswer) -> String {
    match answer {
        console::CommandAnswer::Text(bytes, _) | console::CommandAnswer::Page(bytes) => {
            String::from_utf8_lossy(&bytes).into_owned()
        }
        console::CommandAnswer::Done(text, _) => text,
        // No tool asks for these.
        console::CommandAnswer::Report(..) | console::CommandAnswer::Shown(..) => String::new(),
    }
}

/// Lists the hunts.
pub fn list(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let text = printed(list::run(&state.location, Console::plain())?);
    let object = printed(list::run(&state.location, Console { is_json: true, ..Console::plain() })?);
    let object: Value = serde_json::from_str(&object)?;
    Ok(ToolAnswer::data("", &text, TextPart::of(arguments)).with_object(object::of(&object)?))
}

fn look(detail: DetailLevel) -> TextLook {
    TextLook { style: Style::PLAIN, is_raw: false, detail, columns: Some(COLUMNS), is_older: false }
}

/// A finding as on a screen.
pub fn short(report: &Report, explanations: &[Explained]) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    idd_report::text::write_answer(report, explanations, look(DetailLevel::Screen), &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The finding of a hunt.
pub fn finding(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let (kept, remark) = kept::newest_finding(&state.location, arguments.text("hunt"))?;
    let report = kept.report()?;
    let (explanations, complaints) = saved::explanations(&state.location, &kept.id, &report);
    let is_full = arguments.flag("full");
    let text = if is_full {
        let mut bytes = Vec::new();
        idd_report::text::write(&report, &explanations, look(DetailLevel::Full), &mut bytes)?;
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        short(&report, &explanations)?
    };
    let mut about = format!("hunt {}: {}", kept.id, report.status.word());
    for remark in remark.iter().chain(&complaints) {
        let _ = write!(about, "\nnote: {}", Terminal.line(&remark.as_str().into()));
    }
    let mut next = Vec::new();
    if !is_full {
        next.push("hunt_finding with `full`".to_owned());
    }
    if report.first_bad.is_some() {
        next.push(if explanations.is_empty() { "explain".to_owned() } else { "explanation".to_owned() });
    }
    if let Some(first_bad) = &report.first_bad {
        next.push(format!("probe_output with `probe`: {}", first_bad.commit.commit.short()));
    }
    if !next.is_empty() {
        let _ = write!(about, "\nask on: {}", next.join(", "));
    }
    let resources = resources::of_hunt(&kept.id, &report);
    let patches: Vec<&str> = resources.iter().filter_map(|address| address.split("/patch/").nth(1)).collect();
    if !patches.is_empty() {
        let _ = write!(about, "\nresources: idd://hunt/{}/patch/{}", kept.id, patches.join("|"));
    }
    Ok(ToolAnswer::data(&about, &text, TextPart::of(arguments)).with_object(object::of_report(&report)?))
}

/// All probes of a hunt.
pub fn probes(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let kept = kept::newest(&state.location, arguments.text("hunt"))?;
    let verdicts = printed(log::verdicts(LogFormat::Text, &kept, &state.location)?);
    let probes = printed(log::probes(&kept, &state.location)?);
    let about = format!("hunt {}; the verdicts of the revisions, then each run of the test with its number", kept.id);
    Ok(ToolAnswer::data(&about, &format!("{verdicts}\n{probes}"), TextPart::of(arguments)))
}

/// The output of a probe.
pub fn output(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let kept = kept::newest(&state.location, arguments.text("hunt"))?;
    let name = arguments.text("probe").unwrap_or_default();
    // As for a terminal: everything is escaped.
    let console = Console { is_terminal: true, ..Console::plain() };
    let text = printed(log::output(name, &kept, &state.location, console)?);
    let (head, output) = text.split_once("\n\n").unwrap_or(("", &text));
    let wanted = TextPart { is_tail: true, ..TextPart::of(arguments) };
    let is_usual = wanted.offset.is_none() && arguments.number("max_bytes").is_none();
    let part = if is_usual { TextPart { max_bytes: MAX_OUTPUT, ..wanted } } else { wanted };
    Ok(ToolAnswer::headed(&format!("hunt {}", kept.id), head, output, part))
}
