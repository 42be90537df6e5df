//! The versions that a chop is about.

use crate::explain::change::LinesByPath;
use crate::explain::model::Pair;
use crate::explain::{change, pair};
use crate::hold::FileHolder;
use crate::recorded::order::{ChopOrder, ExplainOrder, RecordOrder};
use crate::version::TreeVersion;
use crate::{Context, Failure, Talk, saved};
use idd_base::TreeId;
use idd_world::repo::{Location, graph, private};

/// What is recorded.
#[derive(Debug, Clone)]
pub struct RecordedSubject {
    /// The tree that fails, and its revision.
    pub failing: TreeVersion,
    /// A tree that passes.
    pub reference: Option<TreeId>,
    /// How they are recorded.
    pub record: RecordOrder,
    /// The lines of the failing tree that differ from the passing one.
    pub changed: LinesByPath,
    /// The hunt, if it found them.
    pub hunt: Option<String>,
}

/// Finds the versions: those of the order, or those of a hunt if the order has no command.
pub fn find(
    order: &ChopOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<RecordedSubject, Failure> {
    let user = private::open(&location.git_directory)?;
    let record = &order.record;
    let asked = |bad: Option<String>, good: Option<String>| ExplainOrder {
        command: order.command.clone(),
        bad,
        good,
        hunt: order.hunt.clone(),
        build: record.build.clone(),
        holding: record.holding.clone(),
        program: record.program.clone(),
        max_trace: record.max_trace,
        max_output: record.max_output,
        timeout: record.timeout,
        ..ExplainOrder::default()
    };
    let (Some(command), good) = (&order.command, &order.good) else {
        let (pair, completed) = pair::find(&asked(None, order.good.clone()), location, &user, talk)?;
        let changed = change::lines(location, &pair)?;
        let Pair { failing, reference, hunt, .. } = pair;
        let command = completed.command.unwrap_or_else(|| record.command.clone());
        let record = RecordOrder { command, build: completed.build, timeout: completed.timeout, ..record.clone() };
        return Ok(RecordedSubject { failing, reference: Some(reference), record, changed, hunt });
    };
    let bad = graph::resolve(&user, &record.at)?;
    drop(saved::make_private(location, &user, bad)?);
    let holder = FileHolder::new(command, &record.holding, bad, location, &user, context)?;
    let (mut failing, mut reference, build) = if let Some(good) = good {
        let asked = asked(Some(record.at.clone()), Some(good.clone()));
        let (pair, completed) = pair::find(&asked, location, &user, talk)?;
        (pair.failing, Some(pair.reference), completed.build)
    } else {
        (TreeVersion { tree: graph::tree_of(&user, bad)?, commit: bad }, None, record.build.clone())
    };
    let mut trees = vec![&mut failing.tree];
    trees.extend(reference.as_mut());
    holder.held(&mut trees, talk)?;
    let changed = match reference {
        Some(reference) => {
            let names = (String::new(), String::new());
            change::lines(location, &Pair { failing, reference, names, hunt: None })?
        }
        None => LinesByPath::new(),
    };
    Ok(RecordedSubject { failing, reference, record: RecordOrder { build, ..record.clone() }, changed, hunt: None })
}
