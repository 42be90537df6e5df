//! The drivers: they carry out a command with the engines and the world, from the order to the report, without a
//! command line.
//!
//! [`hunt`](hunt()) is the entry point for programs. An [`order`] has the wishes of the user, [`plan`] resolves them
//! against the repository, [`hunt`](mod@hunt) drives the engines, and [`runner`] answers their probes. [`saved`] stores
//! everything that outlives the process. Messages go to a [`talk::Talk`].

pub mod announce;
pub mod audit;
pub mod bisect;
pub mod by_hand;
pub mod certificate;
pub mod chop;
mod chronicle;
pub mod context;
pub mod course;
pub mod criteria;
pub mod dap;
pub mod deadline;
pub mod debug;
mod ending;
mod environment;
pub mod estimate;
pub mod explain;
pub mod expression;
pub mod failure;
pub mod finding;
pub mod hints;
pub mod hold;
pub mod hunt;
mod identity;
pub mod interrupt;
pub mod invariants;
pub mod kept;
pub mod leak;
pub mod lease;
pub mod lines;
pub mod mend;
pub mod narrowing;
mod never_passed;
pub mod order;
mod outside;
pub mod perf;
pub mod plan;
pub mod positions;
pub mod precheck;
pub mod record;
pub mod recorded;
pub mod remark;
pub mod remote;
mod reproduce;
pub mod runner;
pub mod sandboxes;
pub mod saved;
pub mod service;
pub mod setup;
pub mod share;
pub mod shrink;
pub mod side_results;
pub mod slice;
pub mod sources;
mod spent;
pub mod story;
pub mod suite;
mod surroundings;
pub mod talk;
pub mod tally;
pub mod test_list;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trial;
mod upstream;
mod varying_line;
pub mod verdict_records;

use crate::context::Context;
use crate::failure::Failure;
use crate::hunt::Task;
use crate::interrupt::Interrupt;
use crate::mend::mend;
use crate::order::HuntOrder;
use crate::perf::places;
use crate::plan::Plan;
use crate::talk::Talk;
use crate::verdict_records::HuntScene;
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
///   [`interrupt::Interrupt::register`] makes signals set it.
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
        return perf::hunt(&scene, saved, (perf, Interrupt(interrupt)), talk);
    }
    let saved = saved::open(&plan, &location, None, false)?;
    hunt::run(Task { plan: &plan, location: &location, context, saved, interrupt, talk }, &user)
}

/// Refuses to run tests on a system on which that is not supported.
pub fn require_support() -> Result<(), Failure> {
    system::unsupported().map_or(Ok(()), |why| Err(Failure::error(why)))
}
