//! `git idd log`: the probes of a hunt.

use crate::args::options::LogFormat;
use crate::console::{CommandAnswer, Console};
use idd_base::{CommitId, Observation, Revision, count};
use idd_hunt::Phase;
use idd_report::escape::safe;
use idd_report::text::duration;
use idd_report::{Terminal, Untrusted};
use idd_session::kept::KeptHunt;
use idd_session::story::ending;
use idd_session::{Failure, saved};
use idd_world::cache::{Key, Observations};
use idd_world::journal::{AboutRecord, AnswerRecord, Record};
use idd_world::repo::{Location, RepoError, Repository, graph, private};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Prints the verdicts of a hunt.
pub fn verdicts(format: LogFormat, kept: &KeptHunt, location: &Location) -> Result<CommandAnswer, Failure> {
    let user = private::open(&location.git_directory)?;
    let verdicts = saved::verdicts(location, &kept.id)?;
    let (first_bad, last_good) = kept.report().map_or((None, None), |report| {
        (report.first_bad.map(|first_bad| first_bad.commit.commit), report.last_good.map(|commit| commit.commit))
    });
    let mut text = String::new();
    let history = saved::plan(&kept.replay).map(|plan| plan.order.history).unwrap_or_default();
    let sought = history.find;
    let [good, bad] = if sought.is_failure() { ["good", "bad"] } else { ["old", "new"] };
    let is_before = |older: CommitId, newer: CommitId| older == newer || graph::is_ancestor(&user, older, newer);
    // git refuses a log whose verdicts are not in the order of history.
    let is_aside = |commit: CommitId, term: &str| match (term, first_bad, last_good) {
        (word, Some(first_bad), _) if word == good => is_before(first_bad, commit),
        (word, _, Some(last_good)) if word == bad => is_before(commit, last_good),
        _ => false,
    };
    if format == LogFormat::Bisect {
        let terms = if sought.is_failure() { "" } else { " --term-old=old --term-new=new" };
        let first_parent = if history.first_parent { " --first-parent" } else { "" };
        let _ = writeln!(text, "git bisect start{first_parent}{terms}");
    }
    for (commit, outcome, is_repaired) in verdicts {
        let outcome = safe(&outcome);
        let name = named(&user, commit);
        let repaired = if is_repaired { ", repaired" } else { "" };
        let term = match outcome.as_str() {
            "pass" if !is_repaired => good,
            "fail" if !is_repaired => bad,
            _ => "skip",
        };
        if format == LogFormat::Bisect && is_aside(commit, term) {
            let _ = writeln!(text, "# {term}, aside from the search: {name}");
            continue;
        }
        let _ = match format {
            LogFormat::Text => writeln!(text, "{}{repaired}: {name}", sought.word(&outcome)),
            LogFormat::Bisect if term == "skip" => {
                writeln!(text, "# {outcome}{repaired}: {name}\ngit bisect skip {commit}")
            }
            LogFormat::Bisect => writeln!(text, "# {term}: {name}\ngit bisect {term} {commit}"),
        };
    }
    if let Some(commit) = first_bad {
        let hash = if format == LogFormat::Bisect { "# " } else { "" };
        let _ = writeln!(text, "{hash}{}: {}", sought.words().first, named(&user, commit));
    }
    Ok(CommandAnswer::Page(text.into_bytes()))
}

fn named(user: &Repository, commit: CommitId) -> String {
    let revision: Result<Revision, RepoError> = graph::revision_of(user, commit);
    let subject = revision.map(|revision| revision.subject).unwrap_or_default();
    format!("[{commit}] {}", safe(&subject))
}

/// What the journal of a hunt tells of its probes.
#[derive(Default)]
struct RecordedProbes {
    /// Number, ending and duration of each that ended.
    ran: Vec<(u64, String, Duration)>,
    answers: Vec<AnswerRecord>,
    /// For what a probe was started, by its number.
    abouts: HashMap<u64, AboutRecord>,
    /// As what a probe was counted, by its number.
    counts: HashMap<u64, String>,
}

impl RecordedProbes {
    fn read(kept: &KeptHunt, location: &Location) -> Result<Self, Failure> {
        let mut probes = Self::default();
        saved::each_record(location, &kept.id, &mut |record| match record {
            Record::Intent { sequence, about: Some(about), .. } => {
                probes.abouts.insert(sequence, about);
            }
            Record::Observed { sequence, observation, .. } => {
                probes.ran.push((sequence, ending(&observation), observation.duration));
            }
            Record::Ran { sequence, counts, .. } => {
                probes.counts.insert(sequence, counts.join(", "));
            }
            Record::Answer(answer) => probes.answers.push(answer),
            _ => {}
        })?;
        Ok(probes)
    }
}

/// Prints every probe that was run, with its number.
pub fn probes(kept: &KeptHunt, location: &Location) -> Result<CommandAnswer, Failure> {
    let RecordedProbes { ran, answers, abouts, counts } = RecordedProbes::read(kept, location)?;
    let numbered = answers.iter().filter_map(|answer| Some((answer.sequence?, answer)));
    let answers: HashMap<u64, &AnswerRecord> = numbered.collect();
    let sought = saved::plan(&kept.replay).map(|plan| plan.order.history.find).unwrap_or_default();
    let mut text = String::new();
    for (sequence, ending, took) in ran {
        let answer = answers.get(&sequence);
        let revision = answer.map(|answer| answer.revision).or(abouts.get(&sequence).map(|about| about.revision));
        let revision = revision.map_or_else(|| "-".to_owned(), |revision| revision.short());
        let outcome = answer.map_or("-", |answer| sought.word(&answer.outcome));
        let phase = answer.map(|answer| &answer.phase).or(counts.get(&sequence)).map_or("-", String::as_str);
        let (outcome, phase) = (safe(outcome), safe(phase));
        let took = duration(took.as_secs_f64());
        let _ = writeln!(text, "{sequence:>6}  {phase:<9}  {revision:<12}  {outcome:<18}  {ending} ({took})");
    }
    Ok(CommandAnswer::Page(text.into_bytes()))
}

/// Prints the output of a probe.
///
/// - `name`: the number of a probe; or a revision, for the probe that decided its verdict.
pub fn output(name: &str, kept: &KeptHunt, location: &Location, console: Console) -> Result<CommandAnswer, Failure> {
    let user = private::open(&location.git_directory)?;
    let sought = saved::plan(&kept.replay).map(|plan| plan.order.history.find).unwrap_or_default();
    let RecordedProbes { answers, abouts, .. } = RecordedProbes::read(kept, location)?;
    let number = name.parse::<u64>().ok();
    let numbered =
        number.map(|number| observed(location, kept, |sequence, _| sequence == number)).transpose()?.flatten();
    let (answer, found) = if let Some(found) = numbered {
        (answers.into_iter().rev().find(|answer| answer.sequence == number), found)
    } else {
        let answer = of_revision(name, answers, kept, &user)?;
        let found = match answer.sequence {
            Some(number) => observed(location, kept, |sequence, _| sequence == number)?,
            None => observed(location, kept, |_, key| key == answer.key)?,
        };
        let found = found.or_else(|| Some((None, earlier(location, &answer.key)?)));
        let found = found.ok_or_else(|| {
            let id = answer.revision.short();
            Failure::error(format!("the output of the test at {id} is not stored any more"))
                .with_hint("an earlier hunt ran it, and `git idd gc` removed the journal of that hunt")
        })?;
        (Some(answer), found)
    };
    let (sequence, observation) = found;
    let mut text = String::new();
    match (sequence, &answer) {
        (Some(sequence), Some(answer)) => {
            let _ =
                writeln!(text, "probe {sequence} ({}): {}", safe(&answer.phase), safe(sought.word(&answer.outcome)));
        }
        (Some(sequence), None) => {
            let about = abouts.get(&sequence);
            let phase = about.map_or_else(String::new, |about| format!(" ({})", safe(&about.phase)));
            let is_of_search = about.is_some_and(|about| about.phase == Phase::Search.word());
            let of_search = if is_of_search { ": the search did not need its answer" } else { "" };
            let _ = writeln!(text, "probe {sequence}{phase}{of_search}");
            if let Some(about) = about {
                let _ = writeln!(text, "revision {}", named(&user, about.revision));
            }
        }
        (None, Some(answer)) => {
            let _ = writeln!(
                text,
                "probe of an earlier hunt ({}): {}",
                safe(&answer.phase),
                safe(sought.word(&answer.outcome))
            );
        }
        (None, None) => {}
    }
    if let Some(answer) = &answer {
        let _ = writeln!(text, "revision {}", named(&user, answer.revision));
        let is_commit = graph::tree_of(&user, answer.revision).is_ok_and(|tree| tree == answer.tree);
        let _ = writeln!(
            text,
            "tree {}{}",
            answer.tree,
            if is_commit { "" } else { ": the commit with held files, a repair, or a part of a change in it" }
        );
    }
    let took = duration(observation.duration.as_secs_f64());
    let checkout = if observation.is_clean { ", in a fresh checkout" } else { "" };
    let size = count(observation.output.lines().count(), "line");
    let _ = writeln!(text, "{} after {took}{checkout}; {size} of output\n", ending(&observation));
    // The stored part is text; characters that could deceive a terminal are escaped.
    let mut bytes = text.into_bytes();
    if console.is_terminal {
        bytes.extend(Terminal.block(&Untrusted::from(observation.output)).into_bytes());
    } else {
        bytes.extend(Terminal.raw(observation.output.as_bytes()));
    }
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    Ok(CommandAnswer::Page(bytes))
}

/// The answer that decided the verdict of a revision.
fn of_revision(
    name: &str,
    answers: Vec<AnswerRecord>,
    kept: &KeptHunt,
    user: &Repository,
) -> Result<AnswerRecord, Failure> {
    let (name_shown, id) = (safe(name), &kept.id);
    let commit = graph::resolve(user, name).map_err(|_| {
        Failure::error(format!("`{name_shown}` is neither a revision nor the number of a probe of the hunt {id}"))
            .with_hint(
                "`git idd log` lists the revisions that were tested, `git idd log -v` all probes with their numbers",
            )
    })?;
    let of_commit: Vec<AnswerRecord> = answers.into_iter().filter(|answer| answer.revision == commit).collect();
    let verdict = of_commit.iter().rposition(|answer| answer.phase == "search");
    let last = of_commit.len().checked_sub(1);
    let place = verdict.or(last).ok_or_else(|| {
        Failure::error(format!("the hunt {id} did not test {}", commit.short()))
            .with_hint("`git idd log` lists the revisions that it tested")
    })?;
    Ok(of_commit.into_iter().nth(place).expect("a position in this list"))
}

/// The last such observation of the hunt, with its number.
fn observed(
    location: &Location,
    kept: &KeptHunt,
    is_meant: impl Fn(u64, &str) -> bool,
) -> Result<Option<(Option<u64>, Observation)>, Failure> {
    let mut found = None;
    saved::each_record(location, &kept.id, &mut |record| {
        if let Record::Observed { sequence, key, observation, .. } = record
            && is_meant(sequence, &key)
        {
            found = Some((Some(sequence), observation));
        }
    })?;
    Ok(found)
}

/// An observation of any hunt with this key.
fn earlier(location: &Location, key: &str) -> Option<Observation> {
    let key: Key = key.parse().ok()?;
    let (mut observations, _) = Observations::open(&location.idd_directory()).ok()?;
    observations.lookup_any(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_session::order::Until;
    use idd_session::testing::{World, hunted, order, test};
    use idd_session::{kept, saved};

    #[test]
    fn a_verdict_that_does_not_fit_the_pair_is_a_comment_for_git() {
        let world = World::with_culprit();
        let mut order = order();
        order.effort.until = Until::Commit;
        let plan = world.plan(order);
        hunted(&world, &plan, test);
        let mut again = saved::open(&plan, world.location(), None, true).unwrap();
        for (commit, outcome) in [(0, "fail"), (3, "pass")] {
            let (revision, outcome) = (world.commits[commit], outcome.to_owned());
            again.segment.append(&Record::Tested { revision, outcome, is_repaired: false }).unwrap();
        }
        drop(again);
        let kept = kept::newest(world.location(), None).unwrap();
        let Ok(CommandAnswer::Page(text)) = verdicts(LogFormat::Bisect, &kept, world.location()) else {
            panic!("no page")
        };
        let text = String::from_utf8(text).unwrap();
        for (commit, word) in [(0, "bad"), (3, "good")] {
            assert!(text.contains(&format!("# {word}, aside from the search: [{}]", world.commits[commit])), "{text}");
            assert!(!text.contains(&format!("git bisect {word} {}", world.commits[commit])), "{text}");
        }
        assert!(text.contains(&format!("git bisect bad {}\n", world.commits[2])), "{text}");
        assert!(text.contains(&format!("git bisect good {}\n", world.commits[1])), "{text}");
    }
}
