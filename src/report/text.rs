//! The report for a person at the end of a run, in git's words.
//!
//! The most interesting part comes first: the answer, its details, the changes, the evidence, the next steps, the cost.
//! Unknown parts are not printed. A [`screen`] has the answer in a few rows; the full text has all of it.

mod patch;
pub mod rows;
mod screen;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};

use crate::escape::Terminal;
use crate::explanation::Explained;
use crate::phrase::place;
use crate::places::{PatchSide, of_patch};
use crate::style::{Style, TextRole};
use crate::views::{ChangeView, is_marked_in_part, is_marked_whole, views};
use crate::{
    ChangePart, ChangePlace, Changes, ClaimEvidence, Commit, FetchedArtifacts, PortRung, Probes, ReducedChange,
    RepairControl, RepairDirection, Report, ReportedFix, ReportedNoise, ReportedRepair, Status, Suite, Untrusted,
};
use idd_base::{Outcome, Reason, Sought, count};

/// The look of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextLook {
    /// Colour.
    pub style: Style,
    /// Whether patches are written byte for byte, so that `git apply` accepts them: only if stdout is no terminal.
    pub is_raw: bool,
    /// The amount.
    pub detail: DetailLevel,
    /// The columns of the terminal: longer lines are cut, and longer sentences broken. `None` if stdout is no terminal.
    pub columns: Option<usize>,
    /// Whether there is a newer hunt: commands that go on with a hunt name this one.
    pub is_older: bool,
}

/// How much of a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetailLevel {
    /// What fits on a screen.
    Screen,
    /// Patches, fixes, evidence and costs in full.
    Full,
    /// The units of a change, too, each with the outcome of the test without it, and where the outputs are kept.
    Verbose,
}

/// Writes `report` for people, on a [`screen`] with the reason for the failure by one of `explanations`.
pub fn write(report: &Report, explanations: &[Explained], look: TextLook, out: &mut dyn Write) -> io::Result<()> {
    if look.detail == DetailLevel::Screen {
        return screen::write(report, explanations, look, out);
    }
    let mut page = TextPage::new(report, look);
    page.headline();
    page.facts();
    page.body();
    out.write_all(&page.text)
}

/// Writes `report` as [`write`](fn@write) does on a screen, without the next commands: for a reader who has no command line.
pub fn write_answer(
    report: &Report,
    explanations: &[Explained],
    look: TextLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    screen::write_answer(report, explanations, look, out)
}

/// Writes the beginning of [`write`](fn@write), which is known as soon as the first bad commit is proved: the commit,
/// its neighbours, and the failure.
pub fn write_culprit(report: &Report, look: TextLook, out: &mut dyn Write) -> io::Result<()> {
    if look.detail == DetailLevel::Screen {
        return screen::write_culprit(report, look, out);
    }
    let mut page = TextPage::new(report, look);
    page.rows(culprit(report, look.style, None));
    page.facts();
    out.write_all(&page.text)
}

/// Writes the rest of [`write`](fn@write), after the part of [`write_culprit`].
pub fn write_rest(report: &Report, explanations: &[Explained], look: TextLook, out: &mut dyn Write) -> io::Result<()> {
    if look.detail == DetailLevel::Screen {
        return screen::write_rest(report, explanations, look, out);
    }
    let mut page = TextPage::new(report, look);
    if is_found(report.status) {
        page.others();
    } else {
        page.row(format!("\n{}", Terminal.line(&report.sentence)));
    }
    page.body();
    out.write_all(&page.text)
}

/// The full text, as far as it is written.
struct TextPage<'r> {
    report: &'r Report,
    look: TextLook,
    text: Vec<u8>,
}

impl<'r> TextPage<'r> {
    fn new(report: &'r Report, look: TextLook) -> Self {
        Self { report, look, text: Vec::new() }
    }

    fn row(&mut self, row: impl Display) {
        self.text.extend_from_slice(format!("{row}\n").as_bytes());
    }

    fn rows(&mut self, rows: impl IntoIterator<Item = String>) {
        rows.into_iter().for_each(|row| self.row(row));
    }

    fn heading(&mut self, title: &str) {
        let heading = self.look.style.paint(TextRole::Heading, format!("{title}:"));
        self.row(format!("\n{heading}"));
    }

    /// Rows below a heading; nothing if there are none.
    fn section(&mut self, title: &str, rows: Vec<String>) {
        if !rows.is_empty() {
            self.heading(title);
            self.rows(rows);
        }
    }

    fn body(&mut self) {
        self.candidates();
        self.changes();
        self.repairs();
        self.fix();
        self.fixes();
        self.evidence();
        for (title, beside) in [
            ("Kept in every revision as they are now", false),
            ("Beside every revision, from your working tree; builds may change their copy", true),
        ] {
            let held = self.report.held_paths(beside);
            self.section(title, held.map(|held| format!("  {}{}", Terminal.line(&held.path), held.words())).collect());
        }
        self.notes();
        self.costs();
    }

    fn headline(&mut self) {
        if is_found(self.report.status) && self.report.first_bad.is_some() {
            self.rows(culprit(self.report, self.look.style, None));
            self.others();
        } else if has_sentence(self.report) {
            self.row(Terminal.line(&self.report.sentence));
        }
    }

    /// The other commits that take part, with the notes on them.
    fn others(&mut self) {
        let report = self.report;
        let others = other_culprits(report);
        if !others.is_empty() {
            let with = if report.interaction { report.find.words().together[0] } else { "Culprits, too" };
            self.row(format!("\n{with}:"));
            self.rows(self.list(&others));
        }
        if report.no_fix.is_some() && !report.sentence.is_empty() {
            self.row(format!("\n{}", Terminal.line(&report.sentence)));
        }
    }

    fn facts(&mut self) {
        let facts = facts(self.report, self.look);
        let width = facts.iter().map(|(label, _)| label.len()).max().unwrap_or(0).max(10);
        if !facts.is_empty() && (has_sentence(self.report) || is_found(self.report.status)) {
            self.row("");
        }
        self.rows(facts.into_iter().map(|(label, fact)| format!("{label:<width$} {fact}")));
    }

    fn candidates(&mut self) {
        let candidates = candidates(self.report);
        self.section(&one_of(self.report, candidates.len()), self.list(&candidates));
    }

    fn changes(&mut self) {
        let report = self.report;
        for view in views(report) {
            self.change(&view);
        }
        let Changes { sufficient, necessary, .. } = &report.change;
        if let Some(change) = sufficient {
            self.units("Without one of its units, the test shows", change);
        }
        if let Some(change) = necessary.as_ref().filter(|_| !sufficient.as_ref().is_some_and(is_marked_whole)) {
            self.units("With one of its units left in, the test shows", change);
        }
    }

    fn change(&mut self, view: &ChangeView<'_>) {
        let (ChangeView { title, change, size, claim }, style) = (view, self.look.style);
        self.heading(&format!("{title} ({size})"));
        self.row(claim);
        // A patch that is redirected stays one that `git apply` accepts.
        if self.look.is_raw && is_marked_in_part(change) {
            self.row(format!("Marked: {}.", self.marked()));
        }
        let commits: BTreeSet<_> = change.units.iter().filter_map(|unit| unit.commit).collect();
        if commits.len() > 1 {
            self.rows(change.units.iter().map(|unit| {
                let commit = unit.commit.map_or_else(|| "?".to_owned(), |commit| commit.short());
                let (file, lines) = (Terminal.line(&unit.file), count(unit.lines, "line"));
                format!("  {} {file} ({lines})", style.paint(TextRole::Commit, commit))
            }));
        }
        self.patch(&change.patch, &change.marked);
    }

    /// A patch after an empty row.
    fn patch(&mut self, patch: &Untrusted, marked: &[u64]) {
        self.row("");
        self.text.extend(patch::shown(patch, marked, self.look));
    }

    /// The places of the necessary change in the first bad commit.
    fn marked(&self) -> String {
        let places = self.report.change.necessary.iter().flat_map(|change| &change.places);
        let named = places.map(|ChangePlace { file, line }| Terminal.line(&place(file, *line)));
        named.collect::<Vec<_>>().join(", ")
    }

    /// The outcome without each unit of a change, with `--verbose`.
    fn units(&mut self, title: &str, change: &ReducedChange) {
        if self.look.detail != DetailLevel::Verbose || change.units.iter().all(|unit| unit.without.is_none()) {
            return;
        }
        let find = self.report.find;
        let shown =
            |unit: &ChangePart| unit.without.map_or_else(|| "not seen".to_owned(), |outcome| find.outcome(outcome));
        let width = change.units.iter().map(|unit| shown(unit).len()).max().unwrap_or(0);
        let row = |unit: &ChangePart| {
            let mut lines = unit.text.as_bytes().split_inclusive(|byte| *byte == b'\n');
            let first = lines
                .next()
                .and_then(<[u8]>::split_first)
                .map(|(sign, line)| format!(": {} {}", char::from(*sign), Terminal.line(&line.trim_ascii().into())));
            let more = if lines.next().is_some() { " ..." } else { "" };
            format!("  {:<width$}  {}{}{more}", shown(unit), Terminal.line(&unit.file), first.unwrap_or_default())
        };
        self.section(title, change.units.iter().map(row).collect());
    }

    fn repairs(&mut self) {
        let row = |repair: &ReportedRepair| {
            let direction = match repair.direction {
                RepairDirection::Newer => "newer",
                RepairDirection::Older => "older",
            };
            let control = match repair.control {
                RepairControl::Held => "known verdict unchanged",
                RepairControl::Flipped => "it reverses a known verdict",
                RepairControl::Provisional => "not checked: there was no known verdict to check it against",
            };
            let commit = self.look.style.paint(TextRole::Commit, repair.commit.short());
            let lines = count(repair.lines, "line");
            format!("  {commit}: {lines} of the {direction} {}, {control}", repair.source.short())
        };
        // If a repair was reduced to nothing, none was needed.
        let rows = self.report.repairs.iter().filter(|repair| !repair.patch.is_empty()).map(row).collect();
        self.section("Repairs that made revisions testable (`git idd show --json` has their patches)", rows);
    }

    fn fix(&mut self) {
        let Some(fix) = &self.report.fix else { return };
        let commit = fix.commit.short();
        let (place, apply) = if fix.complete {
            ("HEAD", "`git idd apply` puts it into the working tree.".to_owned())
        } else {
            (commit.as_str(), format!("It was carried as far as {commit} and tested there, not at HEAD."))
        };
        let suite = match fix.suite {
            Suite::Same => "The fix makes no other test fail that was run.",
            Suite::Worse => "With the fix, tests of the suite fail that passed before.",
            Suite::NotRun => "Only this command was run with the fix, no suite (`--suite`).",
        };
        let rung = match fix.rung {
            PortRung::Merge => "",
            PortRung::Lines => "It was carried there line by line, since a merge conflicts.\n",
            PortRung::Syntax => "It was carried there by syntax, since a merge conflicts.\n",
            PortRung::Renamed => "It was carried there by syntax and with new names, since a merge conflicts.\n",
            PortRung::Reduced => "Where it could not be carried further, a new reduction found it.\n",
        };
        let (lines, scope) = (count(fix.lines, "line"), fix.part());
        self.heading(&format!("Fix for {place} ({lines}: {scope}; tested: {})", fix.result()));
        self.patch(&fix.patch, &[]);
        self.row(format!("\n{suite}\n{rung}{apply}"));
        self.rows(fix.complaints.iter().map(|complaint| format!("New with it: {}", Terminal.line(complaint))));
    }

    /// All reversals that were tried, if none is recommended or with `--verbose`.
    fn fixes(&mut self) {
        let report = self.report;
        let is_asked = self.look.detail == DetailLevel::Verbose || report.fix.is_none();
        let rows = |fix: &ReportedFix| {
            let row = match &fix.reverts {
                Some(reverted) => format!("  {}\n    {}: {}", name(reverted, self.look), fix.scope.words(), tried(fix)),
                None => format!("  {:<12}  {}", fix.scope.word(), tried(fix)),
            };
            let fails = fix.fails.iter().map(|line| format!("    fails with it: {}", Terminal.line(line)));
            std::iter::once(row).chain(fails).collect::<Vec<_>>()
        };
        let rows = [&report.fixes, &report.reverts].map(|fixes| fixes.iter().flat_map(rows).collect());
        for (title, rows) in ["Reversals that were tried", "Reverts"].into_iter().zip(rows).filter(|_| is_asked) {
            self.section(title, rows);
        }
    }

    fn evidence(&mut self) {
        let (evidence, find) = (&self.report.evidence, self.report.find);
        let claims: Vec<String> = evidence.iter().map(|evidence| Terminal.line(&evidence.claim)).collect();
        let width = claims.iter().map(|claim| claim.chars().count()).max().unwrap_or(0);
        let has_places = evidence.iter().any(|evidence| evidence.place.is_some());
        let row = |(claim, evidence): (&String, &ClaimEvidence)| {
            let (mark, role) = if evidence.holds() { ("✓", TextRole::Added) } else { ("✗", TextRole::Removed) };
            let commit = evidence.commit.map_or_else(|| format!("{:<12}", "-"), |commit| commit.short());
            let checkout = if evidence.is_clean { "clean" } else { "incremental" };
            let expected = Some(evidence.expected).filter(|_| !evidence.holds());
            let expected = expected.map(|expected| format!(", expected {}", find.outcome(expected)));
            let style = self.look.style;
            let (mark, commit) = (style.paint(role, mark), style.paint(TextRole::Commit, commit));
            let is_repaired = evidence.commit.is_some_and(|commit| self.report.repaired.contains(&commit));
            let repaired = if is_repaired { "repaired, " } else { "" };
            let place = match &evidence.place {
                Some(place) => format!(", on {}", Terminal.line(place)),
                None if has_places => ", on this machine".to_owned(),
                None => String::new(),
            };
            let seen = shown_as(evidence.outcome, find) + &expected.unwrap_or_default();
            let reach = evidence.verified.word();
            format!("  {mark} {claim:<width$}  {commit}  {seen} ({repaired}{checkout}, {reach}{place})")
        };
        self.section("Evidence", claims.iter().zip(evidence).map(row).collect());
    }

    fn notes(&mut self) {
        let (report, look) = (self.report, self.look);
        let advice = next_step(report, look);
        if !report.notes.is_empty() || advice.is_some() {
            self.row("");
        }
        let notes = report.notes.iter().map(|note| resumable(&Terminal.line(note), report, look));
        self.rows(notes.map(|note| format!("{} {note}", look.style.paint(TextRole::Warning, "note:"))));
        self.rows(advice.map(|advice| format!("{} {advice}", look.style.paint(TextRole::Heading, "next:"))));
    }

    fn costs(&mut self) {
        let probes = &self.report.probes;
        if probes.run + probes.cached + probes.refused > 0 {
            self.rows(costs(self.report));
        }
        let log = self.report.log.as_ref().filter(|_| self.look.detail == DetailLevel::Verbose);
        self.rows(log.map(|log| format!("outputs: {}", Terminal.line(log))));
    }

    fn list(&self, commits: &[&Commit]) -> Vec<String> {
        commits.iter().map(|commit| format!("  {}", name(commit, self.look))).collect()
    }
}

/// The rows about what ran.
fn costs(report: &Report) -> Vec<String> {
    let Probes { run, cached, refused, same_product, prechecked, precheck_refused, .. } = &report.probes;
    let purposes = [
        ("to reproduce", report.probes.reproduce),
        ("to search", report.probes.search),
        ("to repair", report.probes.repair),
        ("to reduce", report.probes.reduce),
        ("to port", report.probes.port),
        ("to verify", report.probes.verify),
    ];
    let parts = purposes.iter().filter(|(_, n_probes)| *n_probes > 0);
    let parts: Vec<String> = parts.map(|(purpose, n_probes)| format!("{n_probes} {purpose}")).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let refused = Some(refused).filter(|refused| **refused > 0);
    let refused = refused.map(|refused| format!(", {refused} rejected before they were built")).unwrap_or_default();
    let time = duration(report.seconds);
    let mut rows = vec![format!("\nprobes: {run} run{parts}, {cached} known before{refused}, in {time}")];
    if report.in_place == Some(false) {
        let place = "place:  checkouts elsewhere, not at the path of the working tree (`git idd doctor` shows why)";
        rows.push(place.to_owned());
    }
    rows.extend(others(&report.probes).map(|others| format!("also run: {others}")));
    if *same_product > 0 {
        let builds = count(same_product, "build");
        rows.push(format!("same product: {builds} not tested again, byte for byte as before"));
    }
    if let Some(FetchedArtifacts { fetched, cached, absent, built, revisions }) = &report.artifacts {
        let (tested, built) = (count(revisions.len(), "revision"), count(built, "build"));
        let searched = format!("{tested} tested by them, {built} to search");
        rows.push(format!("artifacts: {fetched} fetched, {cached} used again, {absent} absent; {searched}"));
    }
    if *prechecked > 0 {
        let refused = count(precheck_refused, "candidate");
        rows.push(format!("prechecks: {prechecked} run, {refused} refused before the build"));
    }
    rows
}

/// The rows about the first bad commit, if it is known; the first one is broken at `columns`.
fn culprit(report: &Report, style: Style, columns: Option<usize>) -> Vec<String> {
    let Some(Commit { commit, author, date, subject }) = report.first_bad.as_ref().map(|first_bad| &first_bad.commit)
    else {
        return Vec::new();
    };
    let first = format!("{} is the {}", style.paint(TextRole::Commit, commit), first_words(report));
    let mut rows = rows::broken("", &first, columns);
    rows.extend([format!("Author: {}", Terminal.line(author)), format!("Date:   {date}"), String::new()]);
    rows.push(format!("    {}", style.paint(TextRole::Heading, Terminal.line(subject))));
    rows
}

/// The commits that take part beside the first bad one.
fn other_culprits(report: &Report) -> Vec<&Commit> {
    let first = report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit);
    report.culprits.iter().filter(|other| Some(other.commit) != first).collect()
}

fn candidates(report: &Report) -> Vec<&Commit> {
    report.range.iter().flat_map(|range| &range.candidates).collect()
}

/// The title of the candidates.
fn one_of(report: &Report, n_candidates: usize) -> String {
    format!("The {} is one of {}", report.find.words().first, count(n_candidates, "candidate"))
}

/// An error has already been printed to stderr.
fn has_sentence(report: &Report) -> bool {
    let (sentence, status) = (&report.sentence, report.status);
    let is_told = matches!(status, Status::Error | Status::Usage) && *sentence == status.meaning().into();
    !sentence.is_empty() && !is_told
}

/// What is known beside the answer, each with its label.
fn facts(report: &Report, look: TextLook) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let words = report.find.words();
    // A list of candidates follows.
    if !is_found(report.status) && report.status != Status::Range {
        let doubt = if report.proved { "" } else { ", not proved" };
        facts.extend(report.first_bad.as_ref().map(|first| (words.labels[2], name(&first.commit, look) + doubt)));
    }
    let good = if report.status == Status::GoodFails { "given as good:" } else { words.labels[0] };
    let good = if report.find.is_failure() { good } else { words.labels[0] };
    facts.extend(report.last_good.as_ref().map(|commit| (good, name(commit, look))));
    facts.extend(report.bad.as_ref().map(|commit| (words.labels[1], name(commit, look))));
    if let Some(signature) = &report.signature {
        let line = signature.line.as_ref().map(|line| format!(", `{}`", Terminal.line(line)));
        let test = signature.test.as_ref().map(|test| format!("`{}`, ", Terminal.line(&test.name)));
        let fact = match report.find {
            Sought::Failure | Sought::Slower => {
                test.unwrap_or_default() + &signature.ending + &line.unwrap_or_default()
            }
            Sought::Fix => "the test passes".to_owned(),
            Sought::Change => line.unwrap_or_default().trim_start_matches(", ").to_owned(),
        };
        facts.push((words.behaviour, fact));
        facts.extend(report.before.as_ref().map(|value| ("before:", format!("`{}`", Terminal.line(value)))));
    }
    facts.extend(report.loss.as_ref().map(|loss| (words.behaviour, loss.in_one_line())));
    if let Some(confidence) = report.confidence {
        facts.push(("confidence:", certainty(confidence, report.noise)));
    }
    facts
}

/// What became of a reversal: `2 lines, pass, suite worse`.
fn tried(fix: &ReportedFix) -> String {
    if fix.tested == Outcome::Unresolved(Reason::DoesNotApply) {
        let since = |commit: &Commit| format!(" since {} {}", commit.commit.short(), Terminal.line(&commit.subject));
        return format!("does not apply{}", fix.stopped_by.as_ref().map(since).unwrap_or_default());
    }
    let suite = match fix.suite {
        Suite::Same => ", suite as before",
        Suite::Worse => ", suite worse",
        Suite::NotRun => "",
    };
    let complaints = warnings(fix).map(|warnings| format!(", {warnings}")).unwrap_or_default();
    let at = if fix.complete { String::new() } else { format!(" at {}", fix.commit.short()) };
    let reduced = if fix.rung == PortRung::Reduced { ", found by a new reduction" } else { "" };
    let partial = if fix.is_partial() { ", in part: newer commits rewrote the rest" } else { "" };
    let tests = changed_tests(fix).map(|tests| format!(", {tests}")).unwrap_or_default();
    let (lines, tested) = (count(fix.lines, "line"), fix.result());
    format!("{lines}, {tested}{at}{reduced}{suite}{complaints}{partial}{tests}")
}

/// How many warnings are new with a reversal, if any is.
fn warnings(fix: &ReportedFix) -> Option<String> {
    (!fix.complaints.is_empty()).then(|| count(fix.complaints.len(), "new warning"))
}

/// The files with tests that a reversal changes, if it does.
fn changed_tests(fix: &ReportedFix) -> Option<String> {
    let verb = if fix.is_revert() { "takes back tests in" } else { "changes" };
    (!fix.tests.is_empty()).then(|| format!("it {verb} {}", Terminal.lines(&fix.tests, ", ")))
}

/// Short id, subject and day, in one line.
fn name(commit: &Commit, look: TextLook) -> String {
    let id = look.style.paint(TextRole::Commit, commit.commit.short());
    let day = look.style.paint(TextRole::Faint, format!("({})", commit.date.day()));
    format!("{id} {} {day}", Terminal.line(&commit.subject))
}

/// "97 % (of the runs without the cause 11 % fail, of those with it 0 % pass)".
fn certainty(confidence: f64, noise: Option<ReportedNoise>) -> String {
    let percent = |share: f64| format!("{} %", (100.0 * share).floor());
    let rates = noise.map(|noise| {
        let (fails, passes) = (percent(noise.false_fails), percent(noise.false_passes));
        format!(" (of the runs without the cause {fails} fail, of those with it {passes} pass)")
    });
    percent(confidence) + &rates.unwrap_or_default()
}

/// What a patch without lines does, for its first file: `a.bin, its bytes changed (not a text)`.
fn whole_files(patch: &Untrusted) -> String {
    let place = of_patch(patch, PatchSide::Newer).into_iter().next();
    place.map_or_else(String::new, |place| format!("{}, {}", Terminal.line(&place.file), Terminal.line(&place.whole)))
}

/// What the first bad commit is called: `first bad commit`, or `first bad commit (not proved)`.
fn first_words(report: &Report) -> String {
    let first = report.find.words().first;
    if report.proved { first.to_owned() } else { format!("{first} (not proved)") }
}

fn is_found(status: Status) -> bool {
    matches!(status, Status::Found | Status::Unfixed | Status::Culprit)
}

/// An outcome in words: a rejected candidate passed or failed, but was not accepted.
fn shown_as(outcome: Outcome, find: Sought) -> String {
    match outcome {
        Outcome::Unresolved(Reason::Complaint) => "rejected: new warnings".to_owned(),
        Outcome::Unresolved(Reason::Suite) => "rejected: the suite is worse".to_owned(),
        outcome => find.outcome(outcome),
    }
}

/// The next step for the user, unless the error or a note names one.
fn next_step(report: &Report, look: TextLook) -> Option<String> {
    let names_one = |text: &Untrusted| {
        let text = String::from_utf8_lossy(text.as_bytes());
        text.contains("`--") || text.contains("`git ") || text.contains("`chmod ")
    };
    // The others can be continued, whatever their notes say.
    let is_explained = matches!(
        report.status,
        Status::BadPasses
            | Status::GoodFails
            | Status::NothingTestable
            | Status::NotReproducible
            | Status::NeverPassed
            | Status::Culprit
    );
    let has_hint = report.error.as_ref().is_some_and(|error| error.hint.is_some());
    let is_named = is_explained && (has_hint || report.notes.iter().any(names_one));
    advice(report).filter(|_| !is_named).map(|said| resumable(said, report, look))
}

/// A sentence whose `git idd resume` goes on with this hunt, even if there is a newer one.
fn resumable(said: &str, report: &Report, look: TextLook) -> String {
    match &report.hunt {
        Some(id) if look.is_older => said.replace("`git idd resume", &format!("`git idd resume --hunt {id}")),
        _ => said.to_owned(),
    }
}

/// The usual next step.
fn advice(report: &Report) -> Option<&'static str> {
    let [newer, older, all] = report.find.words().advice;
    Some(match report.status {
        Status::Found if report.no_fix.is_none() => return None,
        Status::Found | Status::Unfixed if report.sound_revert().is_some() && report.fixes.is_empty() => {
            "`git idd apply --revert` applies the revert that was tested"
        }
        Status::Found | Status::Unfixed if report.sound_revert().is_some() => {
            "`git idd apply --revert` applies the revert that was tested; `git idd apply --rung <name>` takes back a part"
        }
        Status::Found | Status::Unfixed
            if report.fixes.iter().all(|fix| fix.tested == Outcome::Unresolved(Reason::DoesNotApply)) =>
        {
            "`git idd show --full` shows the change; newer commits rewrote the code around it"
        }
        Status::Found | Status::Unfixed => {
            "`git idd apply --rung <name>` applies one of the reversals that were tried; `--json` has their patches"
        }
        Status::Error | Status::Usage => return None,
        Status::Range if report.artifacts.as_ref().is_some_and(|artifacts| artifacts.built == 0) => {
            "the same command with `--build <command>` builds the candidates, and uses what is known"
        }
        Status::Range if report.noise.is_some() => {
            "make the test repeatable, or try `-j1`, `--isolate-home` or `--match <regex>`"
        }
        Status::Range => "a change that makes the candidates testable can be put over them with `--overlay <patch>`",
        Status::BadPasses => newer,
        Status::GoodFails => older,
        Status::NothingTestable => {
            "read the kept outputs; `--build <cmd>` and `--timeout <duration>` are the usual remedy"
        }
        Status::NotReproducible => "make the test repeatable, or try `-j1`, `--isolate-home` or `--match <regex>`",
        Status::Culprit => "`git idd status` says how far the hunt is; if it was stopped, `git idd resume` goes on",
        Status::Running => "`git idd watch` follows the hunt",
        Status::Waiting => {
            "`git idd good`, `git idd bad` or `git idd skip` says what you see; `git idd resume` shows the revision"
        }
        Status::Elsewhere => "a job that was killed loses its lease after three minutes; then the same command hunts",
        Status::Budget | Status::Interrupted => "`git idd resume` goes on where it stopped",
        Status::NeverPassed => all,
    })
}

/// What a hunt ran beside its probes, which no other count contains; `None` for nothing.
pub fn others(probes: &Probes) -> Option<String> {
    let parts = [(probes.checks, "warning check"), (probes.suite, "suite run")];
    let parts = parts.into_iter().filter(|(n_runs, _)| *n_runs > 0);
    let parts: Vec<String> = parts.map(|(n_runs, noun)| count(n_runs, noun)).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// `0.4 s`, `12 s`, `3 min 5 s`, `2 h 0 min`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let seconds = std::time::Duration::try_from_secs_f64(seconds.round()).unwrap_or_default().as_secs();
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests;
