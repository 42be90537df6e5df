//! The revisions of a `git bisect` that is under way.

use crate::Failure;
use crate::order::{HistoryOrder, HuntOrder};
use idd_base::count;
use idd_world::repo::Location;
use idd_world::repo::bisect::{self, Bisect};

/// The order with the revisions of the `git bisect`, if it asks for them.
///
/// Errors: none is under way, a mark of it is broken, or it has no bad revision yet.
pub fn resolved(mut order: HuntOrder, location: &Location) -> Result<HuntOrder, Failure> {
    if !order.history.from_bisect {
        return Ok(order);
    }
    let Some(Bisect { bad, goods, broken }) = bisect::under_way(location) else {
        return Err(Failure::usage("no `git bisect` is under way in this worktree")
            .with_hint("`--good <rev>` and `--bad <rev>` name the revisions"));
    };
    if let Some(name) = broken.first() {
        let message = format!(
            "`{name}`, a mark of the `git bisect` that is under way, is broken: it names no commit of the repository"
        );
        return Err(Failure::usage(message).with_hint(format!(
            "`git update-ref --no-deref -d {name}` removes it, and `git bisect` can mark the revision again; or give \
             `--good <rev>` and `--bad <rev>` in place of `--from-bisect`"
        )));
    }
    let Some(bad) = bad else {
        return Err(Failure::usage("the `git bisect` that is under way has no bad revision yet")
            .with_hint("`git bisect bad <rev>` marks it; or give `--bad <rev>` in place of `--from-bisect`"));
    };
    let good = goods.iter().map(ToString::to_string).collect();
    order.history = HistoryOrder { bad: bad.to_string(), good, from_bisect: false, ..order.history };
    Ok(order)
}

/// The message about a `git bisect` that is under way, for a hunt whose revisions were not given.
///
/// Cost: looks for one file.
pub fn remark(history: &HistoryOrder, location: &Location) -> Option<String> {
    if history.bad != "HEAD" || !history.good.is_empty() {
        return None;
    }
    let Bisect { bad, goods, broken } = bisect::under_way(location)?;
    let take = match bad {
        _ if !broken.is_empty() => format!("its mark `{}` is broken", broken[0]),
        Some(_) => format!("`--from-bisect` takes its bad revision and its {}", count(goods.len(), "good one")),
        None => "`--bad <rev>` names another one".to_owned(),
    };
    Some(format!("A `git bisect` is under way, so HEAD is the revision that it tests, and the bad one here; {take}."))
}
