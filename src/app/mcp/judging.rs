//! The tools of a hunt in which the client judges the revisions.

use crate::args::{ByHand, Request};
use crate::by_hand;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::Arguments;
use crate::mcp::hunts::{option, request, short};
use crate::mcp::jobs::{JobEnd, JobKind};
use crate::mcp::object;
use crate::mcp::runs::result;
use crate::mcp::state::ServerState;
use idd_report::Style;
use idd_session::by_hand::{ByHandState, GivenVerdict, PersonVerdict};
use idd_session::{Failure, require_support, saved};
use std::ffi::OsString;
use std::sync::Arc;

/// Begins such a hunt.
pub fn start(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    require_support()?;
    let mut words = ["start", "--no-shell"].map(OsString::from).to_vec();
    words.extend(arguments.text("bad").map(|bad| option("bad", bad)));
    words.extend(arguments.texts("good").into_iter().map(|good| option("good", good)));
    let Request::ByHand(ByHand::Start { mut order, has_shell }) = request(words, &state.context)? else {
        return Err(Failure::usage("the arguments make no hunt by hand"));
    };
    order.test.build = state.allowed.build(arguments.text("build"))?;
    step(ByHand::Start { order, has_shell }, arguments, state)
}

/// Judges the revision that is shown, or another one, and shows the next one.
pub fn judge(arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    require_support()?;
    let kept = idd_session::by_hand::newest(&state.location)?;
    state.allowed.check_build(saved::plan(&kept.replay)?.order.test.build.as_ref())?;
    let text = |name| arguments.text(name).map(str::to_owned);
    let verdict = |verdict| GivenVerdict::Verdict { verdict, revision: text("revision"), why: text("why") };
    let given = match arguments.text("verdict") {
        Some("good") => verdict(PersonVerdict::Good),
        Some("bad") => verdict(PersonVerdict::Bad),
        Some("skip") => verdict(PersonVerdict::Skip),
        Some("undo") => GivenVerdict::Undo,
        _ => GivenVerdict::Nothing,
    };
    step(ByHand::Given(given), arguments, state)
}

fn step(request: ByHand, arguments: &Arguments, state: &Arc<ServerState>) -> Result<ToolAnswer, Failure> {
    let number = state.start(JobKind::Judging, None, move |location, context, heard| {
        Ok(match by_hand::step(request, location, context, heard)? {
            ByHandState::Waiting(waiting) => JobEnd {
                text: by_hand::text(&waiting, Style::PLAIN),
                object: Some(object::of(&by_hand::object(&waiting))?),
            },
            ByHandState::Ended(report) => {
                JobEnd { text: short(&report, &[])?, object: Some(object::of_report(&report)?) }
            }
        })
    })?;
    result(number, "hunt by hand; `judge` takes the verdict on what is checked out", arguments, state)
}
