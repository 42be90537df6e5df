//! The stored hunts, and the choice of the hunt for a command.
//!
//! All worktrees share the journals. The list of a worktree's own hunts is stored in its git directory; without
//! `--hunt`, a command uses one of these.

use crate::order::TestCommand;
use crate::plan::Plan;
use crate::{Failure, saved, tally};
use idd_hunt::finding::{Conclusion, Finding};
use idd_report::{Report, Status, Terminal, Untrusted};
use idd_world::journal::{JournalError, Replay};
use idd_world::repo::Location;
use idd_world::{files, journal};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Digits of an id; enough for the milliseconds until the year 2059.
const N_DIGITS: usize = 8;

/// The advice if a hunt is not found.
const SEE_LIST: &str = "`git idd list` lists the hunts and their ids";

/// A stored hunt.
#[derive(Debug)]
pub struct KeptHunt {
    /// Its id.
    pub id: String,
    /// Its journal.
    pub replay: Replay,
}

impl KeptHunt {
    fn read(location: &Location, id: String) -> Result<Self, Failure> {
        let path = saved::segment_path(location, &id)?;
        match Replay::read(&path) {
            Ok(replay) => Ok(Self { id, replay }),
            Err(error) => Err(error.into()),
        }
    }

    /// The result of the hunt, with its costs until now: those of all runs of the program together.
    pub fn report(&self) -> Result<Report, Failure> {
        let value = self.replay.finding.as_ref().ok_or_else(|| {
            Failure::error(format!("the hunt {} has no result yet", self.id)).with_hint(format!(
                "`git idd status --hunt {0}` says how far it is; if it was stopped, `git idd resume --hunt {0}` goes on",
                self.id
            ))
        })?;
        let text = serde_json::to_vec(value)?;
        let mut report = idd_report::json::read(&text).map_err(|error| {
            Failure::error(format!(
                "the finding of the hunt {} was stored by another version of `git idd` ({error})",
                self.id
            ))
            .with_hint("hunt again with `--no-cache`, or `git idd reset` forgets it")
        })?;
        self.update_costs(&mut report);
        Ok(report)
    }

    /// Brings the costs in a report up to date: the hunt may have gone on since, and may have been stopped again.
    pub fn update_costs(&self, report: &mut Report) {
        tally::update(&mut report.probes, &self.replay.counts);
        report.seconds = report.seconds.max(self.replay.elapsed.as_secs_f64());
    }

    /// Whether the hunt has a finding: a first bad commit, a change, or a list of candidates.
    pub fn is_finding(&self) -> bool {
        let Some(finding) = &self.replay.finding else { return false };
        let ends = [Status::Found, Status::Culprit, Status::Unfixed, Status::Range];
        let has_ended_so = finding.get("status").is_some_and(|status| ends.iter().any(|end| *status == end.word()));
        has_ended_so || finding.get("first_bad").is_some_and(|first_bad| !first_bad.is_null())
    }

    /// How far its finding goes, as [`reach`].
    fn reach(&self) -> u8 {
        let has = |pointer: &str| {
            let value = self.replay.finding.as_ref().and_then(|finding| finding.pointer(pointer));
            value.is_some_and(|value| !value.is_null() && *value != json!(false) && *value != json!([]))
        };
        let has_fixes = ["/fix", "/fixes", "/reverts", "/no_fix"].into_iter().any(has);
        reach([has("/first_bad"), has("/proved"), has("/change/sufficient"), has_fixes])
    }

    /// The test and the bad revision; `None` if another version made the journal.
    fn subject(&self) -> Option<(TestCommand, PathBuf, String)> {
        let saved = saved::plan(&self.replay).ok()?;
        Some((saved.order.command, saved.prefix, saved.bad))
    }

    /// Its state, in a word: that of its end, or `running`, or `stopped` if it was killed.
    pub fn state(&self, location: &Location) -> Result<String, Failure> {
        Ok(match &self.replay.status {
            _ if saved::is_running(location, &self.id)? => "running".to_owned(),
            Some(status) => Terminal.line(&Untrusted::from(status.as_str())),
            None => "stopped".to_owned(),
        })
    }

    /// Whether it can be continued.
    pub fn is_unfinished(&self) -> bool {
        saved::is_unfinished(self.replay.status.as_deref())
    }
}

/// The named hunt, or else the one of this worktree that ran last.
///
/// - `named`: an id, or the beginning of one.
pub fn newest(location: &Location, named: Option<&str>) -> Result<KeptHunt, Failure> {
    match named {
        Some(name) => KeptHunt::read(location, resolve(location, name)?),
        None => KeptHunt::read(location, own(location).pop().ok_or_else(|| no_hunt(location))?),
    }
}

/// The hunt of this worktree that ran last, if it runs; else the newest one that runs in another worktree; else the first.
pub fn running(location: &Location) -> Result<KeptHunt, Failure> {
    let runs = |id: &String| saved::is_running(location, id).unwrap_or(false);
    let own = own(location).pop();
    let other = || all(location).unwrap_or_default().into_iter().rev().find(runs);
    match own.clone().filter(runs).or_else(other).or(own) {
        Some(id) => KeptHunt::read(location, id),
        None => Err(no_hunt(location)),
    }
}

/// How far a finding goes: the last of its stages commit, proof, change and fix, from 1; 0 if it has none. The stage of the
/// fix is reached, too, if reverts were tried or if it is known that there is no fix.
fn reach(stages: [bool; 4]) -> u8 {
    (1..).zip(stages).filter(|(_, has)| *has).map(|(stage, _)| stage).last().unwrap_or(0)
}

/// At most this many hunts of a worktree are compared.
const MAX_COMPARED: usize = 20;

/// Whether another hunt of this worktree went further than the finding of `plan` for the same test and bad revision. Then
/// the refs of that hunt stay.
pub fn is_outdone(location: &Location, id: &str, plan: &Plan, finding: &Finding) -> bool {
    let has_fixes = finding.fix.is_some() || !finding.fixes.is_empty() || finding.conclusion == Conclusion::Unfixed;
    let reach = reach([finding.first_bad.is_some(), finding.is_proved, finding.sufficient.is_some(), has_fixes]);
    let subject = (plan.order.command.clone(), plan.commands.directory.clone(), plan.bad.to_string());
    let others = own(location).into_iter().rev().filter(|other| other != id).take(MAX_COMPARED);
    let mut others = others.filter_map(|other| KeptHunt::read(location, other).ok());
    others.any(|other| other.is_finding() && other.reach() > reach && other.subject().as_ref() == Some(&subject))
}

/// The named hunt, or else the newest of this worktree with a finding; if there is none, the newest. A hunt does not
/// replace an older one that went further for the same test and bad revision.
///
/// - `named`: an id, or the beginning of one.
/// - Result: also a message if another hunt is newer.
pub fn newest_finding(location: &Location, named: Option<&str>) -> Result<(KeptHunt, Option<String>), Failure> {
    let newest = newest(location, named);
    if named.is_some() {
        return newest.map(|kept| (kept, None));
    }
    let older = own(location).into_iter().rev().skip(1).take(MAX_COMPARED);
    let mut older = older.filter_map(|id| KeptHunt::read(location, id).ok()).filter(KeptHunt::is_finding);
    let better = match newest.as_ref().ok().filter(|newest| newest.is_finding()) {
        Some(newest) => newest.subject().and_then(|subject| {
            older.find(|older| older.reach() > newest.reach() && older.subject().as_ref() == Some(&subject))
        }),
        None => older.next(),
    };
    let Some(finding) = better else { return newest.map(|kept| (kept, None)) };
    let what = match newest {
        Ok(newest) if newest.is_finding() => {
            format!("the newer hunt {} went less far ({})", newest.id, newest.state(location).unwrap_or_default())
        }
        Ok(newest) => {
            format!("the newer hunt {} has no finding ({})", newest.id, newest.state(location).unwrap_or_default())
        }
        Err(_) => "a newer hunt cannot be read".to_owned(),
    };
    let remark = format!("This is the finding of the hunt {}; {what}. `git idd list` lists them.", finding.id);
    Ok((finding, Some(remark)))
}

/// The hunts of this worktree that can be continued, without `id`; the newest first.
pub fn other_unfinished(location: &Location, id: &str) -> Option<String> {
    let mut others = own(location).into_iter().rev().filter(|other| other != id);
    others.find(|other| KeptHunt::read(location, other.clone()).is_ok_and(|kept| kept.is_unfinished()))
}

fn no_hunt(location: &Location) -> Failure {
    let failure = Failure::error("there is no hunt in this worktree");
    match all(location) {
        Ok(all) if !all.is_empty() => {
            failure.with_hint("`git idd <test-cmd>` starts one; `git idd list` lists those that are kept")
        }
        _ => failure.with_hint("`git idd <test-cmd>` starts one"),
    }
}

/// The id with this beginning.
fn resolve(location: &Location, name: &str) -> Result<String, Failure> {
    let shown = Terminal.line(&Untrusted::from(name));
    let mut ids: Vec<String> = all(location)?;
    if let Some(exact) = ids.iter().position(|id| id == name) {
        return Ok(ids.swap_remove(exact));
    }
    ids.retain(|id| !name.is_empty() && id.starts_with(name));
    match ids.len() {
        1 => Ok(ids.remove(0)),
        0 => Err(Failure::error(format!("no hunt is kept under the id `{shown}`")).with_hint(SEE_LIST)),
        _ => {
            let ids = ids.join(", ");
            Err(Failure::error(format!("the id `{shown}` may be that of several hunts: {ids}")).with_hint(SEE_LIST))
        }
    }
}

/// The ids of journals that are no hunts begin so.
pub const APART: &str = "apart-";

/// The ids of all hunts of the repository, sorted.
pub fn all(location: &Location) -> Result<Vec<String>, Failure> {
    let segments = journal::segments(&location.idd_directory());
    let segments = segments?;
    Ok(segments.into_iter().map(|(id, _)| id).filter(|id| !id.starts_with(APART)).collect())
}

/// A hunt by its id; `None` if it has only just begun, or no longer exists.
pub fn find(location: &Location, id: &str) -> Result<Option<KeptHunt>, Failure> {
    match Replay::read(&saved::segment_path(location, id)?) {
        Ok(replay) => Ok(Some(KeptHunt { id: id.to_owned(), replay })),
        Err(JournalError::NoPlan { .. }) => Ok(None),
        Err(JournalError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The stored list of a worktree's own hunts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct OwnHunts {
    /// The one that ran last is at the end.
    hunts: Vec<String>,
}

/// The ids of this worktree's hunts; the one that ran last is at the end.
pub fn own(location: &Location) -> Vec<String> {
    own_of(&location.session_directory(), &location.idd_directory())
}

fn own_of(session: &Path, idd: &Path) -> Vec<String> {
    let bytes = files::bytes(&place(session)).unwrap_or_default();
    let OwnHunts { hunts } = serde_json::from_slice(&bytes).unwrap_or_default();
    let is_there = |id: &String| journal::segment_path(idd, id).is_ok_and(|path| path.is_file());
    hunts.into_iter().filter(is_there).collect()
}

/// Makes `id` the hunt of this worktree that ran last.
pub fn add(location: &Location, id: &str) -> Result<(), Failure> {
    let mut hunts = own(location);
    hunts.retain(|known| known != id);
    hunts.push(id.to_owned());
    keep(location, hunts)
}

/// Removes `id` from the hunts of this worktree.
pub fn remove(location: &Location, id: &str) -> Result<(), Failure> {
    let mut hunts = own(location);
    hunts.retain(|known| known != id);
    keep(location, hunts)
}

/// Removes all hunts from this worktree.
pub fn clear(location: &Location) -> Result<(), Failure> {
    files::remove(&place(&location.session_directory())).map_err(Failure::from)
}

fn keep(location: &Location, hunts: Vec<String>) -> Result<(), Failure> {
    let place = place(&location.session_directory());
    let text = serde_json::to_vec(&OwnHunts { hunts })?;
    files::replace(&place, &text)
        .map_err(|error| Failure::error(format!("failed to write `{}`: {error}", place.display())))
}

fn place(session: &Path) -> PathBuf {
    session.join("session.json")
}

/// The id of a hunt that begins at this time since 1970.
///
/// It is the number of milliseconds to the base 36: later hunts have later ids, and a few characters distinguish two
/// hunts of a day.
pub fn id_at(time: Duration) -> String {
    let mut rest = time.as_millis();
    let mut digits = Vec::new();
    while rest > 0 || digits.len() < N_DIGITS {
        let digit = u32::try_from(rest % 36).expect("a remainder of 36 is below 36");
        digits.push(char::from_digit(digit, 36).expect("a digit to the base 36"));
        rest /= 36;
    }
    digits.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_world::journal::{JournalSegment, PlanRecord, Record};

    /// A repository with these hunts of its worktree: id, status of the finding, whether it names a first bad commit.
    fn with_hunts(hunts: &[(&str, Option<(&str, bool)>)]) -> (tempfile::TempDir, Location) {
        let directory = tempfile::tempdir().unwrap();
        let git = directory.path().to_owned();
        let location =
            Location { git_directory: git.clone(), common_directory: git, top: None, prefix: PathBuf::new() };
        for (id, finding) in hunts {
            let plan = PlanRecord::new(json!({}), "d".to_owned(), 0);
            let mut segment = JournalSegment::create(&saved::segment_path(&location, id).unwrap(), &plan).unwrap();
            if let Some((status, has_first_bad)) = finding {
                let first_bad = has_first_bad.then(|| json!({}));
                let value = json!({"status": status, "first_bad": first_bad});
                segment.append(&Record::Finding { value }).unwrap();
                segment.append(&Record::Ended { status: (*status).to_owned() }).unwrap();
            }
            add(&location, id).unwrap();
        }
        (directory, location)
    }

    #[track_caller]
    fn check(hunts: &[(&str, Option<(&str, bool)>)], expected: &str, remark: Option<&str>) {
        let (_directory, location) = with_hunts(hunts);
        let (kept, said) = newest_finding(&location, None).unwrap();
        assert_eq!(kept.id, expected);
        assert_eq!(said.as_deref(), remark);
        assert_eq!(newest(&location, None).unwrap().id, hunts.last().unwrap().0);
    }

    #[test]
    fn a_hunt_without_a_finding_never_takes_the_place_of_one() {
        check(&[("a", Some(("found", true)))], "a", None);
        check(&[("a", Some(("found", true))), ("b", Some(("range", false)))], "b", None);
        check(
            &[("a", Some(("found", true))), ("b", Some(("never_passed", false)))],
            "a",
            Some(
                "This is the finding of the hunt a; the newer hunt b has no finding (never_passed). `git idd list` lists them.",
            ),
        );
        check(
            &[("a", Some(("unported", true))), ("b", Some(("bad_passes", false))), ("c", None)],
            "a",
            Some(
                "This is the finding of the hunt a; the newer hunt c has no finding (stopped). `git idd list` lists them.",
            ),
        );
        // Interrupted once the first bad commit was proved.
        check(&[("a", Some(("found", true))), ("b", Some(("interrupted", true)))], "b", None);
        check(&[("a", None), ("b", Some(("bad_passes", false)))], "b", None);
    }

    #[test]
    fn a_hunt_of_a_newer_version_of_the_program_hides_no_finding() {
        let (_directory, location) = with_hunts(&[("a", Some(("found", true))), ("b", None)]);
        let json = r#"{"plan":{"version":99}}"#;
        let line = format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()));
        std::fs::write(saved::segment_path(&location, "b").unwrap(), line).unwrap();
        let (kept, said) = newest_finding(&location, None).unwrap();
        assert_eq!(kept.id, "a");
        assert!(said.unwrap().contains("; a newer hunt cannot be read. `git idd list` "));
        let failure = newest(&location, Some("b")).unwrap_err();
        assert!(String::from_utf8_lossy(failure.message.as_bytes()).contains("it has format 99"));
        assert_eq!(failure.hint, Some("another version of the program made the hunt; that one reads it".into()));
    }

    #[test]
    fn an_id_may_be_abbreviated_and_what_is_not_clear_is_an_error() {
        let (_directory, location) = with_hunts(&[("abc", None), ("abcd", None), ("b", None)]);
        let id = |name: &str| newest(&location, Some(name)).map(|kept| kept.id);
        assert_eq!(id("abc").unwrap(), "abc");
        assert_eq!(id("abcd").unwrap(), "abcd");
        assert_eq!(id("b").unwrap(), "b");
        for (name, message) in [
            ("ab", "the id `ab` may be that of several hunts: abc, abcd"),
            ("x", "no hunt is kept under the id `x`"),
            ("", "no hunt is kept under the id ``"),
            ("../b", "no hunt is kept under the id `../b`"),
        ] {
            let failure = id(name).unwrap_err();
            assert_eq!(failure.message, Untrusted::from(message));
            assert_eq!(failure.hint, Some(Untrusted::from(SEE_LIST)));
        }
    }

    #[test]
    fn the_hunt_that_ran_last_is_at_the_end_of_the_list_and_one_without_a_journal_is_not_in_it() {
        let (_directory, location) = with_hunts(&[("a", None), ("b", None)]);
        keep(&location, vec!["a".to_owned()]).unwrap();
        assert_eq!(own(&location), ["a"]);
        add(&location, "b").unwrap();
        assert_eq!(own(&location), ["a", "b"]);
        add(&location, "a").unwrap();
        assert_eq!(own(&location), ["b", "a"]);
        remove(&location, "a").unwrap();
        std::fs::remove_file(saved::segment_path(&location, "b").unwrap()).unwrap();
        assert!(own(&location).is_empty());
        assert_eq!(newest(&location, None).unwrap_err().message, "there is no hunt in this worktree".into());
    }

    #[test]
    fn a_report_has_the_costs_of_the_runs_of_the_program_after_it() {
        let (_directory, location) = with_hunts(&[]);
        let mut report = Report::new(Status::Budget, "The budget is used up.");
        (report.seconds, report.hunt) = (2.5, Some("a".to_owned()));
        (report.probes.run, report.probes.search, report.probes.cached) = (3, 3, 7);
        let plan = PlanRecord::new(json!({}), "d".to_owned(), 0);
        let mut segment = JournalSegment::create(&saved::segment_path(&location, "a").unwrap(), &plan).unwrap();
        let ran = |sequence, word: &str, elapsed_ms| Record::Ran {
            sequence,
            counts: vec![word.to_owned()],
            elapsed: Duration::from_millis(elapsed_ms),
        };
        for sequence in 0..3 {
            segment.append(&ran(sequence, "search", 1000)).unwrap();
        }
        segment.append(&Record::Finding { value: serde_json::to_value(&report).unwrap() }).unwrap();
        let costs = || {
            let Report { probes, seconds, .. } = find(&location, "a").unwrap().unwrap().report().unwrap();
            (probes.run, (probes.search, probes.reduce), (probes.checks, probes.cached), seconds)
        };
        assert_eq!(costs(), (3, (3, 0), (0, 7), 2.5));
        segment.append(&ran(3, "search", 4000)).unwrap();
        segment.append(&ran(4, "reduce", 5000)).unwrap();
        segment.append(&ran(5, "check", 6000)).unwrap();
        assert_eq!(costs(), (5, (4, 1), (1, 7), 6.0));
    }

    #[test]
    fn later_hunts_have_later_ids() {
        let id = |milliseconds| id_at(Duration::from_millis(milliseconds));
        assert_eq!(id(0), "00000000");
        assert_eq!(id(1_795_372_113_618), "mws678wi");
        assert!(id(1_795_372_113_618) < id(1_795_372_113_619));
        // Older ids begin with the milliseconds to the base 10.
        assert!("01795372113618-2ab3" < id(1_795_372_113_618).as_str());
    }
}
