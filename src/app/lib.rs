//! The command line: the only part that prints.
//!
//! [`args`] reads the command line, [`commands`] does what it asks for with the drivers of [`session`](idd_session);
//! [`progress`] and [`failure`] write to stderr.

mod announce;
pub mod args;
mod badge;
mod browser;
mod by_hand;
mod cc;
#[cfg(feature = "explain")]
pub mod chop;
mod columns;
pub mod commands;
mod completions;
pub mod console;
mod crash;
#[cfg(feature = "explain")]
mod dap;
#[cfg(feature = "explain")]
mod debug;
mod doctor;
mod each;
#[cfg(feature = "explain")]
mod explain;
pub mod failure;
mod full_screen;
mod help;
#[cfg(feature = "explain")]
mod invariants;
#[cfg(feature = "explain")]
mod java;
mod list;
mod log;
pub mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod notify;
mod overdue;
mod pager;
mod perf;
pub mod progress;
#[cfg(feature = "explain")]
mod record;
mod remote;
mod setup;
mod shrink;
#[cfg(feature = "explain")]
mod slice;
mod status;
mod status_line;
mod stdout;
#[cfg(feature = "explain")]
mod trace;
mod trial;
mod unknown;
#[cfg(feature = "explain")]
mod walks;
mod watch;

use crate::args::options::OutputOptions;
use crate::args::{Invocation, ParseError, Request};
use crate::console::{CommandAnswer, Console};
use crate::failure::warn;
use idd_base::CommitId;
use idd_report::json::json_line;
use idd_report::text::{TextLook, rows};
use idd_report::{Explained, Explanation, Report, Untrusted};
use idd_session::{Context, Failure};
use serde_json::json;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, panic};

/// Runs the program with the arguments and the environment of the process; returns its exit code.
pub fn main(args: Vec<OsString>, environment: Vec<(OsString, OsString)>) -> ExitCode {
    let is_json = AtomicBool::new(false);
    let code = panic::catch_unwind(AssertUnwindSafe(|| run(args, environment, &is_json)));
    // The error was printed when it occurred (a thread that could not be started, for example).
    ExitCode::from(code.unwrap_or_else(|_| {
        let failure = Failure::error("the program cannot go on; the reason is printed above")
            .with_hint("what was learned is kept; the same command goes on from there");
        fail(&failure, Console { is_json: is_json.load(Ordering::Relaxed), ..Console::plain() })
    }))
}

fn run(args: Vec<OsString>, environment: Vec<(OsString, OsString)>, is_json: &AtomicBool) -> u8 {
    if args.get(1).is_some_and(|word| word == crash::NAME) {
        return crash::run(&args[2..]);
    }
    if args.get(1).is_some_and(|word| word == perf::NAME) {
        return perf::run_peak(&args[2..], &environment);
    }
    #[cfg(feature = "explain")]
    if args.get(1).is_some_and(|word| word == java::NAME) {
        return java::run(&args[2..]);
    }
    let context = match Context::new(environment) {
        Ok(context) => context,
        Err(failure) => return fail(&failure, Console::plain()),
    };
    if let Some((name, n_words)) = cc::called_as(&args, &context) {
        let done = cc::run(&name, &args[n_words..], n_words == 1, &context);
        return done.unwrap_or_else(|failure| fail(&failure, Console::plain()));
    }
    let context = context.with_configuration();
    let invocation = match args::parse(args, &context.configuration) {
        Ok(invocation) => invocation,
        Err(ParseError::Display(text)) => {
            let result = write!(io::stdout(), "{text}").and_then(|()| io::stdout().flush());
            return written(result, None, Console::plain()).unwrap_or(0);
        }
        Err(ParseError::Help(help)) => {
            let console = console(OutputOptions::default(), &context);
            return give(help::answer(help, console).map_err(Failure::from), &context, console);
        }
        Err(ParseError::Usage(error)) => {
            let console = Console { is_json: error.is_json, ..Console::plain() };
            return fail(&Failure::from(error), console);
        }
    };
    let Invocation { request, output, warnings } = invocation;
    let is_full = matches!(request, Request::Show { is_full: true, .. });
    let console = Console { is_full, ..console(output, &context) };
    is_json.store(console.is_json, Ordering::Relaxed);
    memory::prepare(console);
    for warning in warnings {
        // If stderr is closed, this cannot be reported.
        let _ = warn(&Untrusted::from(warning), console.err_style, &mut io::stderr());
    }
    give(commands::run(request, &context, console), &context, console)
}

/// The output of the program as the options ask for it.
fn console(output: OutputOptions, context: &Context) -> Console {
    let is_terminal = io::stdout().is_terminal() || pager::is_in_use(context);
    Console::new(output, context, is_terminal, io::stderr().is_terminal())
}

/// Prints an answer or an error; returns the exit code.
fn give(answered: Result<CommandAnswer, Failure>, context: &Context, console: Console) -> u8 {
    match answered {
        Ok(CommandAnswer::Report(report, explanations, notice, announced)) => {
            tell_error(&report, console);
            let text = match announced {
                Some(commit) => rest(&report, &explanations, commit, console),
                None => rendered(&report, &explanations, false, console),
            };
            let code = put_kept(text, console).unwrap_or(console.code(report.status));
            if let Some(notice) = notice {
                notice.give(&report, context, console);
            }
            code
        }
        Ok(CommandAnswer::Shown(report, explanations, is_older)) => {
            tell_error(&report, console);
            show(rendered(&report, &explanations, is_older, console), context, console)
        }
        Ok(CommandAnswer::Done(message, code)) if console.is_json => {
            put(Ok(json_line(&json!({ "message": message.trim_end() }))), console).unwrap_or(code)
        }
        Ok(CommandAnswer::Done(message, code)) => put(Ok(message.into_bytes()), console).unwrap_or(code),
        Ok(CommandAnswer::Text(text, code)) => put(Ok(text), console).unwrap_or(code),
        Ok(CommandAnswer::Page(text)) => show(Ok(text), context, console),
        Err(failure) => fail(&failure, console),
    }
}

/// Prints the error of a report to stderr, if there is one.
fn tell_error(report: &Report, console: Console) {
    if let Some(error) = &report.error
        && !console.is_json
    {
        let failure = Failure { status: report.status, message: error.message.clone(), hint: error.hint.clone() };
        let _ = failure::write(&failure, console.err_style, &mut io::stderr());
    }
}

/// The text of the report for stdout; of explanations, the text has the walks, as the others have commands of their own.
///
/// - `is_older`: whether there is a newer hunt.
fn rendered(report: &Report, explanations: &[Explained], is_older: bool, console: Console) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    if console.is_json {
        idd_report::json::write_explained(report, explanations, &mut out)?;
        return Ok(out);
    }
    idd_report::text::write(report, explanations, TextLook { is_older, ..console.look() }, &mut out)?;
    for explained in explanations {
        if let Explanation::Walk(walk) = &explained.explanation {
            write!(out, "\n{}", walk.text(console.out_style))?;
        }
    }
    Ok(out)
}

/// The part of a report that follows the printed commit.
fn rest(report: &Report, explanations: &[Explained], announced: CommitId, console: Console) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    announce::write_rest(report, explanations, announced, console.look(), &mut out)?;
    Ok(out)
}

/// Prints long text: on a terminal with a pager.
fn show(text: io::Result<Vec<u8>>, context: &Context, console: Console) -> u8 {
    let text = text.map(|text| if console.is_json { text } else { fitted(text, console) });
    match text {
        Ok(text) if io::stdout().is_terminal() && !console.is_json && pager::page(&text, context) => 0,
        text => put(text, console).unwrap_or(0),
    }
}

/// The text with its lines broken at the width of the terminal; without a terminal they stay whole.
fn fitted(text: Vec<u8>, console: Console) -> Vec<u8> {
    match String::from_utf8(text) {
        Ok(text) => rows::fitted(&text, console.look().columns).into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// Prints to stdout; returns the exit code if that fails.
fn put(text: io::Result<Vec<u8>>, console: Console) -> Option<u8> {
    written(printed(text), None, console)
}

/// The same for a finding that is kept.
fn put_kept(text: io::Result<Vec<u8>>, console: Console) -> Option<u8> {
    written(printed(text), Some("the finding is kept; `git idd show` prints it again"), console)
}

fn printed(text: io::Result<Vec<u8>>) -> io::Result<()> {
    let mut out = io::stdout();
    let is_open = if stdout::is_closed() { Err(io::Error::other("it is closed")) } else { Ok(()) };
    is_open.and(text).and_then(|text| out.write_all(&text)).and_then(|()| out.flush())
}

/// The exit code of a failure to write the result. A closed pipe is no failure.
fn written(result: io::Result<()>, hint: Option<&str>, console: Console) -> Option<u8> {
    let error = result.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)?;
    let failure = Failure::error(format!("failed to write to standard output: {error}"));
    let failure = hint.into_iter().fold(failure, Failure::with_hint);
    let _ = failure::write(&failure, console.err_style, &mut io::stderr());
    Some(failure.status.code())
}

fn fail(failure: &Failure, console: Console) -> u8 {
    let _ = failure::write(failure, console.err_style, &mut io::stderr());
    if console.is_json {
        let _ = idd_report::json::write(&failure.report(), &mut io::stdout());
    }
    failure.status.code()
}
