//! Hunts from a program: `cargo run --example hunt -- '<test>'` in a repository whose test fails at HEAD.
//!
//! Prints each sentence of the hunt to stderr as it comes, and the first bad commit to stdout.

#[path = "common/to_stderr.rs"]
mod to_stderr;

use idd_session::order::{HuntOrder, TestCommand, Until};
use idd_session::{Context, Interrupt};
use std::io;
use std::io::Write as _;
use std::process::ExitCode;
use to_stderr::{ToStderr, to_stderr};

fn main() -> ExitCode {
    let Some(command) = TestCommand::from_words(std::env::args_os().skip(1).collect()) else {
        to_stderr("usage: hunt <test>");
        return ExitCode::from(129);
    };
    let mut order = HuntOrder::new(command);
    order.effort.until = Until::Commit;
    let report = Context::new(std::env::vars_os().collect()).and_then(|context| {
        let interrupt = Interrupt::register()?.flag;
        idd_session::hunt(order, &context.with_configuration(), interrupt, &mut ToStderr)
    });
    match report {
        Ok(report) => {
            match &report.first_bad {
                Some(first_bad) => drop(writeln!(io::stdout(), "{}", first_bad.commit.commit)),
                None => to_stderr(report.status.meaning()),
            }
            ExitCode::from(report.status.code())
        }
        Err(failure) => {
            to_stderr(&format!("error: {}", String::from_utf8_lossy(failure.message.as_bytes())));
            ExitCode::from(failure.status.code())
        }
    }
}
