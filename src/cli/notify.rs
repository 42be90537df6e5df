//! `--notify`: a command of the user's that is told how a hunt ended.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;

use crate::cli::failure::Failure;
use crate::cli::plan::Surroundings;
use crate::report::Report;
use crate::report::Status;
use crate::report::Untrusted;
use crate::report::escape::Terminal;
use crate::report::style::Style;
use crate::report::summary;
use crate::report::text;
use crate::report::text::Look;
use crate::world::run::process;
use crate::world::run::process::Printed;

/// Runs `line` in a shell where the program was started, with the finding to read and its gist in the environment: `IDD_STATUS`, `IDD_COMMIT`
/// (the first bad revision, if one is known) and `IDD_SUMMARY`, one line. What it prints goes to stderr.
///
/// Whoever interrupts a hunt is there to see its end: then nothing is run. The error is a sentence about the command.
pub fn notify(
    line: &str,
    (result, test): (&Result<Report, Failure>, &Untrusted),
    around: &Surroundings,
) -> Result<(), String> {
    let failed;
    let report = match result {
        Ok(report) => report,
        Err(failure) => {
            failed = failure.report();
            &failed
        }
    };
    if report.status == Status::Interrupted {
        return Ok(());
    }
    let first_bad = report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit.to_string());
    let variables = [
        ("IDD_STATUS", report.status.word().to_owned()),
        ("IDD_COMMIT", first_bad.unwrap_or_default()),
        ("IDD_SUMMARY", Terminal.line(&summary::title(report, test))),
    ];
    let mut environment = around.environment.clone();
    environment.extend(variables.map(|(name, value)| (name.into(), OsString::from_vec(value.into_bytes()))));
    let told = told(report).map_err(|error| format!("the finding cannot be written for `--notify`: {error}"))?;
    let words = [OsStr::new("-c"), OsStr::new(line)];
    match process::feed(OsStr::new("sh"), &words, (&around.directory, &environment), (&told, Printed::ToStderr)) {
        Ok(0) => Ok(()),
        Ok(code) => Err(format!("the command of `--notify` ended with {code}")),
        Err(error) => Err(format!("the command of `--notify` cannot be run: {error}")),
    }
}

/// As people read it.
fn told(report: &Report) -> io::Result<Vec<u8>> {
    let mut told = Vec::new();
    if let Some(error) = &report.error {
        told.extend(format!("error: {}\n", Terminal.line(&error.message)).bytes());
    }
    text::write(report, Look { style: Style::PLAIN, is_raw: false, is_verbose: false }, &mut told)?;
    Ok(told)
}
