//! The hunt on every fixture: expected against found, and nothing of the user's changed.
//!
//! The probes of most hunts are answered from records (`recorded.rs`). The module `live` has the same hunts with probes
//! that run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use idd_report::{Report, json};
use serde_json::Value;

use crate::expect::{ByHand, Expect, Finding};
use crate::fixture::{Fixture, Format};
use crate::recorded::hunt::Answering;
use crate::stories::stories;
use crate::{fixture, recorded};

/// One hunt of a story, and what it is to find.
struct Wanted {
    story: String,
    /// What distinguishes it from the hunt of the story itself.
    name: Option<String>,
    format: Format,
    arguments: Vec<String>,
    finding: Finding,
}

/// Who answers the probes of a hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probes {
    /// The record of the story.
    Recorded,
    /// The machine. The report must be that of the record.
    Live,
    /// The machine. The story has no record.
    OnlyLive,
}

impl Wanted {
    /// The hunt of the story itself.
    fn of(story: &str, expect: Expect) -> Self {
        let Expect { arguments, finding, .. } = expect;
        Self { story: story.to_owned(), name: None, format: Format::USUAL, arguments, finding }
    }

    /// The same finding with a known good revision, and with other arguments. Also the other hunts, and the reduction
    /// alone.
    fn others(story: &str, expect: &Expect) -> Vec<Self> {
        let mut others = Vec::new();
        let mut add = |name: &str, arguments: Vec<String>, finding: Finding| {
            others.push((name.to_owned(), arguments, finding));
        };
        let with = |words: &[&str]| {
            words.iter().map(|word| (*word).to_owned()).chain(expect.arguments.iter().cloned()).collect::<Vec<_>>()
        };
        if let Some(with_good) = &expect.with_good {
            let arguments = with(&["--until", "commit", "--good", &with_good.good]);
            add("with-good", arguments, expect.finding_with_good(with_good));
        }
        for (variant, arguments) in &expect.variants {
            add(variant, arguments.clone(), expect.finding_of_variant());
        }
        for (other, hunt) in &expect.hunts {
            add(other, hunt.arguments.clone(), hunt.finding.clone());
        }
        if let Some(minimize) = &expect.minimize {
            add("minimize", with(&["minimize", &minimize.good, &minimize.bad]), minimize.finding.clone());
        }
        let format = Format::NEWEST;
        let wanted =
            |(name, arguments, finding)| Self { story: story.to_owned(), name: Some(name), format, arguments, finding };
        others.into_iter().map(wanted).collect()
    }

    fn fixture(&self) -> Fixture {
        Fixture::make_in(self.format, &self.story)
    }

    /// Hunts, and compares everything that can be compared.
    fn check(&self, probes: Probes) {
        let name = self.name.as_deref();
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let hunt = recorded::hunt::Hunt { story: &self.story, name, args: &arguments };
        // The trees of a record have the ids of one format.
        let has_record = probes != Probes::OnlyLive && (name.is_none() || self.format.hash == Format::NEWEST.hash);
        let answering = if has_record { hunt.answering() } else { Answering::Live };
        let fixture = self.fixture();
        let what = format!("{} {}", self.story, name.unwrap_or_default());
        check_hunt(what.trim_end(), &fixture, |complaints| {
            let report = match answering {
                Answering::Record(record) if probes == Probes::Recorded => hunt.replay(&fixture, record, complaints),
                Answering::Machine if probes == Probes::Recorded => hunt.record(&fixture, &self.fixture(), complaints),
                answering => {
                    let report = fixture.report(&arguments);
                    if let Answering::Record(record) = answering {
                        hunt.compare((&report, &fixture), record, &self.fixture(), complaints);
                    }
                    report
                }
            };
            complaints.extend(self.finding.complaints(&report));
            if let Some(fix) = report.fix.as_ref().filter(|fix| fix.complete && !fixture.applies(fix.patch.as_bytes()))
            {
                let patch = String::from_utf8_lossy(fix.patch.as_bytes());
                complaints.push(format!("git apply does not take the fix:\n{patch}"));
            }
            shown(&report)
        });
    }
}

/// Calls `hunt`, which adds complaints and returns what is printed below them.
///
/// Nothing of the user's may change, and no process may be left.
#[track_caller]
fn check_hunt(what: &str, fixture: &Fixture, hunt: impl FnOnce(&mut Vec<String>) -> String) {
    let before = fixture.state();
    let mut complaints = Vec::new();
    let shown = hunt(&mut complaints);
    let after = fixture.state();
    for name in before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name)) {
        complaints.push(format!("the hunt changed {name}: {:?} became {:?}", before.get(name), after.get(name)));
    }
    complaints.extend(fixture.processes_left().iter().map(|command| format!("still running: {command}")));
    assert!(complaints.is_empty(), "{what}:\n{}\n\n{shown}", complaints.join("\n"));
}

fn shown(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

/// The hunt of a story itself.
pub fn hunt(story: &str, probes: Probes) {
    let expect = Expect::of(story);
    if expect.by_hand.is_none() && expect.each.is_empty() {
        return Wanted::of(story, expect).check(probes);
    }
    let fixture = Fixture::make(story);
    check_hunt(story, &fixture, |complaints| match &expect.by_hand {
        Some(by_hand) => judge(&fixture, by_hand, complaints),
        None => hunt_each(&fixture, complaints),
    });
}

/// The other hunts of a story, in another format of git.
pub fn hunt_otherwise(story: &str, probes: Probes) {
    let others = Wanted::others(story, &Expect::of(story));
    let Some(format) = (!others.is_empty()).then(|| Format::NEWEST.known()[0]) else { return };
    for other in others {
        Wanted { format, ..other }.check(probes);
    }
}

/// The answer to a command of a hunt by hand: the report, or the subject and the directory of the revision that waits.
enum Answer {
    Report(Box<Report>),
    Waiting(String, PathBuf),
}

/// Runs a command of a hunt by hand.
fn answer(fixture: &Fixture, args: &[&str]) -> Answer {
    let output = fixture.run(&[args, &["--json"]].concat());
    if let Ok(report) = json::read(&output.stdout) {
        assert_eq!(output.status.code(), Some(i32::from(report.status.code())));
        return Answer::Report(Box::new(report));
    }
    let value: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr)));
    let text =
        |name: &str| value[name].as_str().unwrap_or_else(|| panic!("{args:?}: no `{name}` in {value}")).to_owned();
    Answer::Waiting(text("subject"), text("directory").into())
}

/// Gives the verdicts of a person, of which the first one is a slip and is taken back; compares the report at the end.
fn judge(fixture: &Fixture, by_hand: &ByHand, complaints: &mut Vec<String>) -> String {
    let arguments: Vec<&str> = fixture.expect.arguments.iter().map(String::as_str).collect();
    let verdict = |directory: &PathBuf| {
        let seen = fixture.shell(&format!("cd '{}' && {}", directory.display(), by_hand.look));
        match seen.status.code() {
            Some(0) => "good",
            Some(1) => "bad",
            Some(125) => "skip",
            _ => panic!("`{}` sees nothing in {}: {seen:?}", by_hand.look, directory.display()),
        }
    };
    let mut now = answer(fixture, &arguments);
    if let Answer::Waiting(first, directory) = &now {
        let slip = if verdict(directory) == "good" { "bad" } else { "good" };
        answer(fixture, &[slip, "--why", "a slip"]);
        let again = answer(fixture, &["undo"]);
        if !matches!(&again, Answer::Waiting(subject, _) if subject == first) {
            complaints.push(format!("`git idd undo` does not show `{first}` again"));
        }
        now = again;
    }
    let (mut said, mut skipped, mut n_verdicts) = (String::new(), Vec::new(), 0);
    while let Answer::Waiting(subject, directory) = &now {
        let verdict = verdict(directory);
        n_verdicts += 1;
        if verdict == "skip" {
            skipped.push(subject.clone());
        }
        writeln!(said, "{verdict}: {subject}").unwrap();
        assert!(n_verdicts < 100, "the hunt does not end:\n{said}");
        now = answer(fixture, &[verdict]);
    }
    let Answer::Report(report) = now else { unreachable!("the loop ends with a report") };
    complaints.extend(fixture.expect.finding.complaints(&report));
    if skipped != by_hand.skipped_subjects {
        complaints.push(format!("skipped_subjects: expected {:?}, found {skipped:?}", by_hand.skipped_subjects));
    }
    if n_verdicts > by_hand.max_verdicts {
        complaints.push(format!("max_verdicts: expected at most {}, found {n_verdicts}", by_hand.max_verdicts));
    }
    format!("{said}\n{}", shown(&report))
}

/// Hunts several failing tests: the list names all of them with their commits, and each has a finding of its own.
fn hunt_each(fixture: &Fixture, complaints: &mut Vec<String>) -> String {
    let expect = &fixture.expect;
    let args: Vec<&str> = ["--json"].into_iter().chain(expect.arguments.iter().map(String::as_str)).collect();
    let output = fixture.run(&args);
    let all: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr)));
    let tests = all["tests"].as_array().expect("a list of tests");
    let names: Vec<&str> = tests.iter().map(|test| test["test"].as_str().unwrap()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(expect.each.keys()) {
        complaints.push(format!("each: expected {:?}, found {names:?}", expect.each.keys()));
    }
    complaints.extend(
        expect
            .finding
            .complaints_about_cost(output.status.code(), tests.iter().filter_map(|test| test["runs"].as_u64()).sum()),
    );
    for (test, name) in tests.iter().zip(names) {
        let (stdout, _) = fixture.said(&["show", "--json", "--hunt", test["hunt"].as_str().unwrap()], 0);
        let report = json::read(stdout.as_bytes()).unwrap();
        let found = expect.each.get(name).into_iter().flat_map(|finding| finding.complaints(&report));
        complaints.extend(found.map(|complaint| format!("{name}: {complaint}")));
        let subject = report
            .first_bad
            .as_ref()
            .map(|first_bad| String::from_utf8_lossy(first_bad.commit.subject.as_bytes()).into_owned());
        if test["status"] != report.status.word() || test["first_bad"]["subject"].as_str() != subject.as_deref() {
            complaints
                .push(format!("{name}: the list says {test}, the report {} and {subject:?}", report.status.word()));
        }
    }
    serde_json::to_string_pretty(&all).unwrap()
}

/// The tests of stories, in a module for each.
macro_rules! tests {
    ($($test:ident: $name:literal),* ; $probes:ident) => {
        $(mod $test {
            use crate::hunt::Probes;

            #[test]
            fn the_hunt_finds_what_is_expected() {
                crate::hunt::hunt($name, Probes::$probes);
            }

            #[test]
            fn the_hunt_asked_otherwise_finds_the_same() {
                crate::hunt::hunt_otherwise($name, Probes::$probes);
            }
        })*
    };
}

pub(crate) use tests;

macro_rules! hunts {
    (recorded { $($test:ident: $name:literal,)* } live { $($other:ident: $other_name:literal, $why:literal;)* }) => {
        const NAMES: &[&str] = &[$($name,)* $($other_name,)*];

        const RECORDED: &[&str] = &[$($name),*];

        tests! { $($test: $name),*; Recorded }

        tests! { $($other: $other_name),*; OnlyLive }
    };
}

stories! { hunts }

#[test]
fn every_fixture_is_hunted_in() {
    let missing: Vec<String> = fixture::names().into_iter().filter(|name| !NAMES.contains(&name.as_str())).collect();
    assert_eq!(missing, Vec::<String>::new(), "name them in `stories.rs`");
}

#[test]
fn every_record_is_that_of_a_hunt() {
    let file = |name: Option<&str>, story: &str| recorded::hunt::Hunt { story, name, args: &[] }.file();
    for story in fixture::names() {
        let expect = Expect::of(&story);
        let others = Wanted::others(&story, &expect);
        let names = [None].into_iter().chain(others.iter().map(|other| other.name.as_deref()));
        let wanted = names.filter(|_| RECORDED.contains(&story.as_str())).map(|name| file(name, &story));
        let entries = fs::read_dir(fixture::story(&story)).unwrap().map(|entry| entry.unwrap().path());
        let found = entries.filter(|path| path.file_name().unwrap().as_encoded_bytes().starts_with(b"observations"));
        assert_eq!(found.collect::<BTreeSet<_>>(), wanted.collect::<BTreeSet<_>>(), "{story}");
    }
}
