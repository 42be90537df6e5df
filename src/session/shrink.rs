//! Shrinks the input of a failing test.
//!
//! A candidate is the tree of the revision with other contents of the input files. So it is run, cached and journalled
//! as the candidate trees of a hunt are. [`driving`] runs the search, [`judge`] says what is the same failure,
//! [`mod@reference`] compares with another version, [`places`] says where the inputs are.

mod driving;
pub(crate) mod inputs;
mod judge;
pub(crate) mod places;
mod reference;
mod script;
mod shrunk;

use crate::failure::chain;
use crate::hunt::{Hunt, Task};
use crate::order::{Bound, EffortOrder, HistoryOrder, HuntOrder, ShrinkOrder, TestOrder};
use crate::plan::Plan;
use crate::shrink::driving::{Material, Shrinking};
use crate::shrink::inputs::Input;
pub use crate::shrink::judge::LOCATE_CRASH;
pub use crate::shrink::reference::{ProgramVersion, VersionDifference};
use crate::shrink::script::Script;
pub use crate::shrink::shrunk::{Shrunk, ShrunkFile};
use crate::version::TreeVersion;
use crate::{Context, Failure, Talk, saved};
use idd_base::TreeId;
use idd_change::{EntryMode, shrink};
use idd_world::files::OnDisk;
use idd_world::process::CommandWords;
use idd_world::repo::{HeldFiles, Location, Repository, TreeStore, graph, private};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Shrinks the input files of a failing test; the files of the user are not changed.
///
/// Errors: the test passes, or cannot be run; an input cannot be read; the test fails in the same way with empty inputs;
/// with another version: it behaves in the same way, or cannot be built.
///
/// Cost: see [`shrink::shrink`](idd_change::shrink::shrink()), and at least two runs that reproduce the failure; with another
/// version, up to twice as much.
pub fn run(
    order: &ShrinkOrder,
    location: &Location,
    context: &Context,
    interrupt: Arc<AtomicBool>,
    talk: &mut dyn Talk,
) -> Result<Shrunk, Failure> {
    let subject = |plan: &Plan, user: &Repository| {
        let failing = ProgramVersion { name: order.at.clone(), tree: graph::tree_of(user, plan.bad)? };
        let reference = match &order.good {
            Some(name) => {
                let commit = graph::resolve(user, name)
                    .map_err(|error| Failure::usage(chain(&error)).with_hint("`git log --oneline` lists revisions"))?;
                Some(ProgramVersion { name: name.clone(), tree: graph::tree_of(user, commit)? })
            }
            None => None,
        };
        Ok((failing, reference))
    };
    reduce(order, location, context, interrupt, talk, &subject)
}

/// Shrinks the input files of a test that fails in a tree of the private repository.
///
/// - `order`: without revisions, and without held files, which the trees have; [`ShrinkOrder::at`],
///   [`ShrinkOrder::good`] and its held paths are not used.
/// - `reference`: a tree that behaves differently with the input; then the difference is the failure, as with
///   [`ShrinkOrder::good`]. Without it, the test must fail.
///
/// Errors and cost: as [`run`].
pub fn of_trees(
    order: &ShrinkOrder,
    failing: TreeVersion,
    reference: Option<TreeId>,
    location: &Location,
    context: &Context,
    interrupt: Arc<AtomicBool>,
    talk: &mut dyn Talk,
) -> Result<Shrunk, Failure> {
    let order = ShrinkOrder {
        at: failing.commit.to_string(),
        good: None,
        test: TestOrder { hold: Vec::new(), no_hold: true, ..order.test.clone() },
        ..order.clone()
    };
    let subject = |_: &Plan, _: &Repository| {
        let failing = ProgramVersion { name: "the failing version".to_owned(), tree: failing.tree };
        let reference = reference.map(|tree| ProgramVersion { name: "the passing version".to_owned(), tree });
        Ok((failing, reference))
    };
    reduce(&order, location, context, interrupt, talk, &subject)
}

/// Finds the version that fails, and the other one.
type ShrinkSubject<'s> = dyn Fn(&Plan, &Repository) -> Result<(ProgramVersion, Option<ProgramVersion>), Failure> + 's;

fn reduce(
    order: &ShrinkOrder,
    location: &Location,
    context: &Context,
    interrupt: Arc<AtomicBool>,
    talk: &mut dyn Talk,
    subject: &ShrinkSubject<'_>,
) -> Result<Shrunk, Failure> {
    let mut inputs = inputs::read_all(&order.input, location, context)?;
    let passing = order.passing.as_ref().map(|name| Input::read_passing(name, location, context)).transpose()?;
    if passing.is_some() && (inputs.len() != 1 || order.args || !order.env.is_empty()) {
        return Err(Failure::usage("`--passing` needs exactly one `--input`, and nothing else to reduce")
            .with_hint("it isolates the difference of two files: the passing one and the failing one"));
    }
    let larger = passing.iter().chain(&inputs).find(|input| input.content.len() > shrink::MAX_BYTES_WITH_UNITS);
    if let (Some(_), Some(larger)) = (&passing, larger) {
        let (name, max) = (larger.name.to_string_lossy(), shrink::MAX_BYTES_WITH_UNITS >> 20);
        return Err(Failure::usage(format!("`{name}` has more than {max} MiB, too much for `--passing`"))
            .with_hint("reduce the failing file without `--passing` first"));
    }
    let user = private::open(&location.git_directory)?;
    let hunt = HuntOrder {
        by_hand: false,
        known: Vec::new(),
        perf: None,
        command: inputs::localised(&order.command, &inputs, context),
        history: HistoryOrder { bad: order.at.clone(), ..HistoryOrder::default() },
        test: order.test.clone(),
        effort: EffortOrder { reduction: Some(Bound::Unlimited), ..order.effort.clone() },
    };
    let mut plan = Plan::new(hunt, None, location, &user, context)?;
    let (failing, reference) = subject(&plan, &user)?;
    let store = TreeStore::new(saved::make_private(location, &user, plan.bad)?, HeldFiles::default(), Vec::new())?;
    let versions: Vec<&ProgramVersion> = [&failing].into_iter().chain(&reference).collect();
    places::settle(&mut inputs, &versions, &store, location, &context.directory)?;
    drop(store);
    for input in &inputs {
        let is_executable = input.mode == EntryMode::Executable;
        plan.held.insert(input.path.clone(), OnDisk::File { is_executable, bytes: input.content.to_vec() });
    }
    let script = Script::new(&plan.order.command, order.args, &order.env, context)?;
    if let Some(script) = &script {
        let parts = script.parts();
        let text = script.text(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let bytes = text.expect("the parts of a script make it again");
        plan.held.insert(Script::path(&location.prefix), OnDisk::File { is_executable: false, bytes });
        plan.commands.test = CommandWords::Argv(Script::command());
    }
    let saved = saved::open_apart(&plan, location)?;
    let mut hunt = Hunt::open(Task { plan: &plan, location, context, saved, interrupt, talk }, &user)?;
    hunt.subject = Some(failing.tree);
    let material = Material { inputs: &inputs, script: script.as_ref(), failing, reference };
    let result = Shrinking::begin(&mut hunt, material).and_then(|mut shrinking| match &passing {
        Some(passing) => shrinking.isolate(&passing.content),
        None => shrinking.shrink(),
    });
    hunt.runner.talk.finish();
    hunt.runner.close();
    result
}
