//! `git idd try`: finds out what is proposed, runs the driver, and prints the judgement.

use crate::args::TryArgs;
use crate::commands::finding;
use crate::console::{CommandAnswer, CommandScene};
use idd_report::Status;
use idd_report::json::json_line;
use idd_session::trial::proposal::Proposal;
use idd_session::trial::{TrialOrder, TrialTask};
use idd_session::{Context, Failure, Interrupt, saved, trial};
use idd_world::files;
use idd_world::repo::{Location, graph, private};
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::Path;

/// The maximum size of a patch; a larger one is no fix that can be judged in useful time.
pub const MAX_PATCH: u64 = 64 << 20;

/// What a proposal can be.
const KINDS: &str = "`git idd try` takes a patch file, `-` for standard input, or a revision";

/// Judges a fix.
pub fn run(args: &TryArgs, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let kept = finding(args.which.hunt.as_deref(), location, console)?;
    let suite = args.suite.clone().or(saved::plan(&kept.replay)?.order.test.suite);
    let proposal = proposal(&args.fix, location, context)?;
    let order = TrialOrder { proposal, suite, budget: args.budget };
    let (interrupt, mut talk) = (Interrupt::register()?.flag, console.progress());
    let trial = trial::run(&order, TrialTask { kept: &kept, location, context, interrupt, talk: &mut talk })?;
    let code = if trial.is_accepted() || console.is_exit_zero { 0 } else { Status::Error.code() };
    let text = if console.is_json { json_line(&serde_json::to_value(&trial)?) } else { trial.text().into_bytes() };
    Ok(CommandAnswer::Text(text, code))
}

/// What a word of the command line proposes.
fn proposal(name: &OsStr, location: &Location, context: &Context) -> Result<Proposal, Failure> {
    let shown = name.to_string_lossy().into_owned();
    if name == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(MAX_PATCH + 1).read_to_end(&mut bytes);
        return patch(shown, read.map(|_| bytes));
    }
    let user = private::open(&location.git_directory)?;
    let path = context.directory.join(name);
    let is_revision = name.to_str().is_some_and(|name| graph::resolve(&user, name).is_ok());
    // In the directory of a bare repository, `HEAD` is the revision.
    let is_of_git = location.top.is_none() && context.directory == location.git_directory;
    let is_file = path.exists() && !path.is_dir() && !(is_revision && is_of_git);
    match (is_file, is_revision) {
        (true, false) => patch(shown, files::bytes_up_to(&path, MAX_PATCH)),
        (false, true) => Ok(Proposal::Revision(shown)),
        (true, true) => Err(Failure::usage(format!("`{shown}` is both a file and a revision"))
            .with_hint(format!("`./{shown}` is the file, `refs/heads/{shown}` a branch of this name"))),
        (false, false) => Err(Failure::usage(unknown(&shown, &path)).with_hint(KINDS)),
    }
}

fn unknown(shown: &str, path: &Path) -> String {
    let what = match () {
        () if path.is_dir() => "is a directory, and no revision",
        () if shown.contains("@{u") => "is no revision: the branch has no upstream",
        () => "is neither a file nor a revision",
    };
    format!("`{shown}` {what}")
}

/// A patch that was read.
fn patch(name: String, read: io::Result<Vec<u8>>) -> Result<Proposal, Failure> {
    let fails = |why: String| Err(Failure::usage(format!("the patch `{name}` {why}")).with_hint(KINDS));
    let too_large = || format!("has more than {} MiB", MAX_PATCH >> 20);
    match read {
        Ok(bytes) if bytes.trim_ascii().is_empty() => fails("is empty".to_owned()),
        Ok(bytes) if bytes.len() as u64 > MAX_PATCH => fails(too_large()),
        Ok(bytes) => Ok(Proposal::Patch { name, bytes }),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => fails(too_large()),
        Err(error) => fails(format!("cannot be read: {error}")),
    }
}
