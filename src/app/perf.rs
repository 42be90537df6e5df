//! `git idd --perf`: finds the commit since which a command needs more time or memory.

use crate::console::{CommandAnswer, CommandScene, Console};
use crate::unknown;
use idd_report::Status;
use idd_session::kept::KeptHunt;
use idd_session::order::{HuntOrder, Perf};
use idd_session::perf::{peak, places};
use idd_session::plan::Plan;
use idd_session::saved::Saved;
use idd_session::verdict_records::HuntScene;
use idd_session::{Failure, Interrupt, kept, perf, saved};
use idd_world::repo::{Location, private};
use std::ffi::OsString;
use std::io::{self, Write as _};

/// The name of the mode that measures the memory of one command; it is no command for users.
pub use idd_session::perf::peak::NAME;

/// Starts a hunt, or goes on with the one of the same order that was stopped.
pub fn start(order: HuntOrder, perf: Perf, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    places::check(perf.measure)?;
    unknown::refuse(&order, location, context)?;
    let user = private::open(&location.git_directory)?;
    let plan = Plan::new(order, None, location, &user, context)?;
    let saved = saved::open(&plan, location, None, false)?;
    let scene = HuntScene { plan: &plan, location, context, user: &user };
    hunt(&scene, saved, perf, console)
}

/// Goes on with a hunt.
pub fn resume(kept: &KeptHunt, perf: Perf, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    places::check(perf.measure)?;
    let user = private::open(&location.git_directory)?;
    let stored = saved::plan(&kept.replay)?;
    let place = Location { prefix: stored.prefix.clone(), ..location.clone() };
    let resolved = Plan::new(stored.pinned_order(), None, &place, &user, context)?;
    let plan = Plan { order: stored.order, target: stored.target.parse()?, ..resolved };
    let saved = saved::open(&plan, &place, Some(kept), false)?;
    let scene = HuntScene { plan: &plan, location: &place, context, user: &user };
    hunt(&scene, saved, perf, console)
}

fn hunt(scene: &HuntScene<'_>, saved: Saved, perf: Perf, console: Console) -> Result<CommandAnswer, Failure> {
    let (id, is_new) = (saved.id.clone(), saved.is_new);
    let interrupt = Interrupt::register()?;
    let result = perf::hunt(scene, saved, perf, interrupt, &mut console.progress());
    if is_new && result.as_ref().is_err_and(|failure| failure.status == Status::Usage) {
        // Nothing was measured, so there is nothing to go on with.
        kept::remove(scene.location, &id)?;
    }
    Ok(CommandAnswer::report(result?))
}

/// Runs one command and writes its peak into a file; the result is its exit code.
pub fn run_peak(words: &[OsString], environment: &[(OsString, OsString)]) -> u8 {
    match peak::run(words, &io::stdout(), environment) {
        Ok(code) => u8::try_from(code).unwrap_or(1),
        Err(error) => {
            let _ = io::stderr().write_all(format!("git-idd: cannot run the command: {error}\n").as_bytes());
            127
        }
    }
}
