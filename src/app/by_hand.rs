//! The commands of a hunt in which a person judges the revisions.

use crate::args::ByHand;
use crate::console::{CommandAnswer, CommandScene, Console};
use idd_base::{Sought, count};
use idd_report::escape::safe;
use idd_report::{Status, Style, Terminal, TextRole, Untrusted};
use idd_session::by_hand::{ByHandState, GivenVerdict, WaitingRevision};
use idd_session::kept::KeptHunt;
use idd_session::plan::Plan;
use idd_session::saved::Saved;
use idd_session::verdict_records::HuntScene;
use idd_session::{Context, Failure, Talk, by_hand, kept, saved};
use idd_world::process;
use idd_world::repo::{Location, Repository, private};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

/// The shell if the environment names none.
const SHELL: &str = "/bin/sh";

/// Carries out one of the commands.
pub fn run(request: ByHand, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let has_shell = matches!(request, ByHand::Start { has_shell: true, .. });
    answered(step(request, location, context, &mut console.progress())?, has_shell, context, console)
}

/// Carries out one of the commands; what it comes to is not shown yet.
pub fn step(
    request: ByHand,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<ByHandState, Failure> {
    let user = private::open(&location.git_directory)?;
    match request {
        ByHand::Start { order, .. } => {
            let plan = Plan::new(*order, None, location, &user, context)?;
            let unfinished = by_hand::newest(location).ok().filter(KeptHunt::is_unfinished);
            let saved = saved::open_new(&plan, location)?;
            let scene = HuntScene { plan: &plan, location, context, user: &user };
            let id = saved.id.clone();
            let step = by_hand::go_on(&scene, saved, GivenVerdict::Nothing, talk);
            if step.as_ref().is_err_and(|failure| failure.status == Status::Usage) {
                // Nothing was judged, so there is nothing to go on with.
                kept::remove(location, &id)?;
            }
            let step = step?;
            if let Some(kept) = unfinished {
                let id = kept.id;
                talk.say(&format!("The unfinished hunt {id} is kept; `git idd resume --hunt={id}` goes on with it."));
            }
            Ok(step)
        }
        ByHand::Given(given) => {
            let kept = by_hand::newest(location)?;
            let is_open = kept.is_unfinished() || given == GivenVerdict::Undo;
            if !is_open {
                return Err(Failure::usage(format!("the hunt by hand {} has ended", kept.id))
                    .with_hint("`git idd show` prints its result, and `git idd undo` takes back the last verdict"));
            }
            go_on(&kept, given, location, &user, context, talk)
        }
    }
}

/// Shows the revision of a hunt again that waits for a person.
pub fn resume(kept: &KeptHunt, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let user = private::open(&location.git_directory)?;
    let step = go_on(kept, GivenVerdict::Nothing, location, &user, context, &mut console.progress())?;
    answered(step, true, context, console)
}

fn go_on(
    kept: &KeptHunt,
    given: GivenVerdict,
    location: &Location,
    user: &Repository,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<ByHandState, Failure> {
    let stored = saved::plan(&kept.replay)?;
    let place = Location { prefix: stored.prefix.clone(), ..location.clone() };
    let plan = Plan::new(stored.pinned_order(), None, &place, user, context)?;
    let saved = Saved { remarks: Vec::new(), ..saved::open_again(&kept.id, location)? };
    let scene = HuntScene { plan: &plan, location: &place, context, user };
    by_hand::go_on(&scene, saved, given, talk)
}

fn answered(step: ByHandState, has_shell: bool, context: &Context, console: Console) -> Result<CommandAnswer, Failure> {
    let waiting = match step {
        ByHandState::Ended(report) => return Ok(CommandAnswer::report(*report)),
        ByHandState::Waiting(waiting) => waiting,
    };
    if console.is_json {
        let mut text = serde_json::to_vec(&object(&waiting))?;
        text.push(b'\n');
        return Ok(CommandAnswer::Text(text, 0));
    }
    let text = text(&waiting, console.out_style);
    if !(has_shell && io::stdin().is_terminal() && console.is_terminal) {
        return Ok(CommandAnswer::Text(text.into_bytes(), 0));
    }
    let shell = context.variable("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| SHELL.into());
    let shell = shell.as_os_str();
    let name = Path::new(shell).file_name().unwrap_or(shell).to_string_lossy().into_owned();
    console.progress().say(&format!(
        "Starting `{}` in the checkout, where these commands work too; `exit` leaves it, and `git idd resume` comes back.",
        safe(&name)
    ));
    let _ = write!(io::stderr(), "\n{text}");
    let code = process::relay(shell, &[], &waiting.directory, &context.environment, false);
    code.map_err(|error| {
        let shell = safe(&shell.to_string_lossy());
        Failure::error(format!("failed to start `{shell}`: {error}"))
            .with_hint("`SHELL` names another one; `git idd start --no-shell` only prints the directory")
    })?;
    Ok(CommandAnswer::Text(Vec::new(), 0))
}

/// What a person has to do now.
pub fn text(waiting: &WaitingRevision, style: Style) -> String {
    let WaitingRevision { commit, is_repaired, directory, n_left, distance, n_judged, find } = waiting;
    let id = style.paint(TextRole::Commit, commit.commit.short());
    let repaired = if *is_repaired { ", repaired so that it builds" } else { "" };
    let mut text = format!("Judge {id} {} ({}){repaired}.\n", Terminal.line(&commit.subject), commit.date.day());
    let directory = safe(&directory.to_string_lossy());
    let _ = writeln!(text, "It is checked out in {directory}");
    let left = match (n_left, distance) {
        (Some(n_left), _) => format!("{} left after it", count(*n_left, "revision")),
        (None, Some(distance)) => format!("{} back; a {} one is searched", count(*distance, "step"), older(*find)),
        (None, None) => String::new(),
    };
    let judged = count(*n_judged, "verdict");
    let _ = writeln!(text, "So far {judged}{}{left}.", if left.is_empty() { "" } else { "; " });
    text.push_str(
        "\nnext: git idd good, git idd bad or git idd skip, each with --why <text> if you like; git idd undo\n",
    );
    text
}

/// The verdict that older revisions get.
fn older(find: Sought) -> &'static str {
    if find == Sought::Fix { "bad" } else { "good" }
}

/// The same as JSON.
pub fn object(waiting: &WaitingRevision) -> impl Serialize {
    #[derive(Serialize)]
    struct ByHandObject {
        schema: &'static str,
        status: &'static str,
        commit: String,
        subject: Untrusted,
        repaired: bool,
        directory: String,
        n_left: Option<usize>,
        n_judged: usize,
    }
    ByHandObject {
        schema: "git-idd by hand 1",
        status: Status::Waiting.word(),
        commit: waiting.commit.commit.to_string(),
        subject: waiting.commit.subject.clone(),
        repaired: waiting.is_repaired,
        directory: waiting.directory.to_string_lossy().into_owned(),
        n_left: waiting.n_left,
        n_judged: waiting.n_judged,
    }
}
