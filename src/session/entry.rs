//! The entry point for other programs.

use crate::hunt::{self, Task};
use crate::mend::mend;
use crate::order::HuntOrder;
use crate::perf::{self, places};
use crate::plan::Plan;
use crate::verdict_records::HuntScene;
use crate::{Context, Failure, Talk, saved};
use idd_report::Report;
use idd_world::repo::{locate, private};
use idd_world::system;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Hunts in the repository of the context's directory.
///
/// The user's working tree, index and refs are not changed; results are stored below `idd/` in the git directory. If an
/// earlier call with the same order was stopped, this one continues it.
///
/// - `interrupt`: when it is set, the hunt stops, and its report has the status `interrupted`.
///   [`crate::Interrupt::register`] makes signals set it.
///
/// Errors: there is no repository, another hunt runs in this worktree, the order names no revision, the disk is full. A
/// hunt without a finding is no error: see [`Report::status`].
///
/// Cost: at least two runs of the test at the bad revision, about log2 of the history, those of the reduction, and at
/// most six that prove the answer.
pub fn hunt(
    order: HuntOrder,
    context: &Context,
    interrupt: Arc<AtomicBool>,
    talk: &mut dyn Talk,
) -> Result<Report, Failure> {
    require_support()?;
    let location = locate::locate(&context.directory, &context.environment)?;
    mend(&location, true, talk)?;
    let user = private::open(&location.git_directory)?;
    let plan = Plan::new(order, None, &location, &user, context)?;
    if let Some(perf) = plan.order.perf {
        places::check(perf.measure)?;
        let saved = saved::open(&plan, &location, None, false)?;
        let scene = HuntScene { plan: &plan, location: &location, context, user: &user };
        return perf::hunt(&scene, saved, perf, interrupt.into(), talk);
    }
    let saved = saved::open(&plan, &location, None, false)?;
    hunt::run(Task { plan: &plan, location: &location, context, saved, interrupt, talk }, &user)
}

/// Refuses to run tests on a system on which that is not supported.
pub fn require_support() -> Result<(), Failure> {
    system::unsupported().map_or(Ok(()), |why| Err(Failure::error(why)))
}
