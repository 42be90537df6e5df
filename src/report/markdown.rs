//! The report as Markdown, for an issue, a mail, or the summary of a job.
//!
//! It ends with a trailer in the form of the Linux kernel: `Fixes: <12 digits> ("<subject>")`.

use std::fmt::Display;
use std::io::{self, Write};

use crate::chain::{InstanceChoice, ReportChain};
use crate::chop::{Chop, ChopLine};
use crate::forge::Forge;
use crate::invariants::{InvariantStatement, Invariants};
use crate::outline::{OutlineLine, outline};
use crate::phrase::{codes, place};
use crate::views::{ChangeView, is_marked_in_part, views};
use crate::walk::{FinishedWalk, WrongStep};
use crate::{
    ChangePlace, ClaimEvidence, Commit, Explained, Explanation, Markdown, Report, Status, Terminal, Untrusted, summary,
};
use idd_base::count;

/// The maximum number of linked places of a change.
const MAX_PLACES: usize = 10;

/// The maximum number of printed lines of a chop, and of statements.
const MAX_LINES: usize = 20;

/// The maximum number of steps of a walk.
const MAX_STEPS: usize = 100;

/// Writes `report`.
///
/// - `test`: the test command of the hunt.
/// - `forge`: the forge to which commits and lines are linked.
/// - `explanations`: the explanations of the failure.
pub fn write(
    report: &Report,
    test: &Untrusted,
    forge: Option<&Forge>,
    explanations: &[Explained],
    out: &mut dyn Write,
) -> io::Result<()> {
    let linked = Linked { report, forge };
    let mut page = Document::default();
    linked.headline(test, &mut page);
    page.list(["| | |".to_owned(), "|---|---|".to_owned()].into_iter().chain(linked.facts()));
    for view in views(report) {
        linked.block(&view, &mut page);
    }
    for explained in explanations {
        match &explained.explanation {
            Explanation::Chain(chain) => why(chain, &mut page),
            Explanation::Chop(chop) => leading(chop, &mut page),
            Explanation::Walk(walk) => wrong(walk, &mut page),
            Explanation::Invariants(found) => invariants(found, &mut page),
        }
    }
    if let Some(fix) = report.reversal() {
        let place = if fix.complete { "HEAD".to_owned() } else { format!("`{}`", fix.commit.short()) };
        let title = if fix.is_revert() { "Revert" } else { "Fix" };
        page.paragraph(format!("**{title} for {place}** ({}, tested: {})", count(fix.lines, "line"), fix.result()));
        page.patch(&fix.patch);
    }
    if !report.evidence.is_empty() {
        page.paragraph("<details><summary>Evidence</summary>");
        page.list(report.evidence.iter().map(claim));
        page.paragraph("</details>");
    }
    page.remarks(&report.notes);
    let trailer = report.first_bad.as_ref().map(|first_bad| trailer(&first_bad.commit));
    out.write_all((page.text + &trailer.unwrap_or_default()).as_bytes())
}

/// A document: blocks, each with an empty line at its end.
#[derive(Debug, Default)]
struct Document {
    text: String,
}

impl Document {
    fn paragraph(&mut self, text: impl Display) {
        self.text.extend([text.to_string().as_str(), "\n\n"]);
    }

    fn list(&mut self, items: impl IntoIterator<Item = String>) {
        self.text.extend(items.into_iter().map(|item| item + "\n"));
        self.text.push('\n');
    }

    fn numbered(&mut self, items: impl IntoIterator<Item = String>) {
        self.list((1..).zip(items).map(|(number, item)| format!("{number}. {item}")));
    }

    fn patch(&mut self, patch: &Untrusted) {
        self.text.extend([Markdown.block("diff", patch).as_str(), "\n"]);
    }

    fn remarks(&mut self, remarks: &[Untrusted]) {
        for remark in remarks {
            self.paragraph(format!("> {}", Markdown.code(remark)));
        }
    }

    /// What follows a list that ends after `max` of so many items.
    fn more(&mut self, n_items: usize, max: usize, noun: &str) {
        if n_items > max {
            self.paragraph(format!("... and {}", count(n_items - max, noun)));
        }
    }
}

/// A report whose commits are linked.
struct Linked<'r> {
    report: &'r Report,
    forge: Option<&'r Forge>,
}

impl Linked<'_> {
    /// Short id and subject of a commit.
    fn named(&self, commit: &Commit) -> String {
        let id = format!("`{}`", commit.commit.short());
        format!("{} {}", link(id, self.forge.map(|forge| forge.commit(commit.commit))), Markdown.code(&commit.subject))
    }

    fn headline(&self, test: &Untrusted, page: &mut Document) {
        let (report, test) = (self.report, Markdown.code(test));
        if let Some(first_bad) = &report.first_bad {
            page.paragraph(format!("### {test} {} {}", report.find.words().since, self.named(&first_bad.commit)));
        } else {
            page.paragraph(format!("### {test}: {}", report.status.word().replace('_', " ")));
        }
        if let Some(error) = &report.error {
            page.paragraph(Markdown.code(&error.message));
        } else if report.first_bad.is_none() {
            page.paragraph(Markdown.code(&report.sentence));
        }
    }

    /// The rows of the table.
    fn facts(&self) -> Vec<String> {
        let report = self.report;
        let row = |label: &str, value: String| format!("| {} | {value} |", label.trim_end_matches(':'));
        let [good, _, first] = report.find.words().labels;
        let is_given = report.status == Status::GoodFails && report.find.is_failure();
        let commits = [
            (first, report.first_bad.as_ref().map(|first_bad| &first_bad.commit)),
            (if is_given { "given as good" } else { good }, report.last_good.as_ref()),
            ("tested at", report.bad.as_ref()),
        ];
        let commits = commits.into_iter().filter_map(|(label, commit)| Some((label, commit?)));
        let dated =
            |(label, commit): (&str, &Commit)| row(label, format!("{}, {}", self.named(commit), commit.date.day()));
        let mut rows: Vec<String> = commits.map(dated).collect();
        rows.extend(report.first_bad.iter().map(|first_bad| row("author", Markdown.code(&first_bad.commit.author))));
        let failure = report.signature.iter().map(|signature| Markdown.phrase(&signature.in_short()));
        rows.extend(failure.map(|failure| row(report.find.words().behaviour, failure)));
        rows.extend(report.before.iter().map(|value| row("before", Markdown.code(value))));
        let candidates = report.range.iter().flat_map(|range| &range.candidates);
        rows.extend(candidates.map(|candidate| row("candidate", self.named(candidate))));
        rows.push(row("cost", summary::cost(report)));
        rows
    }

    fn block(&self, view: &ChangeView<'_>, page: &mut Document) {
        let ChangeView { title, change, size, claim } = view;
        page.paragraph(format!("**{title}** ({size}){}", self.places(&change.places)));
        let necessary = self.report.change.necessary.iter().filter(|_| is_marked_in_part(change));
        let marked = necessary.map(|necessary| format!(" Marked{}.", self.places(&necessary.places)));
        let marked: String = marked.filter(|said| said != " Marked.").collect();
        page.paragraph(format!("{claim}{marked}"));
        page.patch(&change.patch);
    }

    /// ` in a.c:3, a.c:9`: places in the first bad commit, linked if there is a forge; empty for none.
    fn places(&self, places: &[ChangePlace]) -> String {
        let commit = self.report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit);
        let named = places.iter().take(MAX_PLACES).map(|ChangePlace { file, line }| {
            let address = self.forge.zip(commit).map(|(forge, commit)| forge.file(commit, file, *line));
            link(Markdown.code(&place(file, *line)), address)
        });
        let named: Vec<String> = named.collect();
        if named.is_empty() { String::new() } else { format!(" in {}", named.join(", ")) }
    }
}

fn link(text: String, address: Option<String>) -> String {
    match address {
        Some(address) => format!("[{text}]({address})"),
        None => text,
    }
}

/// A claim of the finding.
fn claim(evidence: &ClaimEvidence) -> String {
    let mark = if evidence.holds() { "x" } else { " " };
    let checkout = if evidence.is_clean { "in a clean checkout" } else { "in a used checkout" };
    let place = evidence.place.as_ref().map(|place| format!(" on {}", Markdown.code(place))).unwrap_or_default();
    format!("- [{mark}] {}: {}, {checkout}{place}", Markdown.code(&evidence.claim), evidence.outcome)
}

/// The chain, one link in each line.
fn why(chain: &ReportChain, page: &mut Document) {
    let (bad, good) = (Markdown.code(&chain.bad), Markdown.code(&chain.good));
    page.paragraph(format!("**Why it fails**: {bad} compared with {good}"));
    chain.switching().iter().for_each(|sentence| page.paragraph(Markdown.phrase(sentence)));
    chain.summary.iter().for_each(|summary| page.paragraph(Markdown.code(summary)));
    let item = |file: &Option<Untrusted>, line: Option<u64>, which: InstanceChoice, in_change: bool, what: &str| {
        let at = file.as_ref().map(|file| format!("{}{}: ", Markdown.code(&place(file, line)), which.behind()));
        format!("{}{}{what}", mark(in_change), at.unwrap_or_default())
    };
    let code = |text: &Untrusted| Markdown.code(text);
    let links = outline(&chain.links).into_iter().map(|entry| match entry {
        OutlineLine::Link(link) => {
            let finding = link.finding(&code).map(|finding| format!("; {finding}"));
            let what = link.clause(&code) + &finding.unwrap_or_default();
            item(&link.file, link.line, link.which, link.in_change, &what)
        }
        other => other.words(&code).unwrap_or_default(),
    });
    let failure = &chain.failure;
    let what = format!("thus {}", Markdown.code(&failure.what));
    let last = item(&failure.file, failure.line, failure.which, failure.in_change, &what);
    page.numbered(links.chain([last]));
    match &chain.beginning {
        Some(beginning) => page.paragraph(Markdown.code(beginning)),
        None if chain.links.is_empty() => {}
        None => page.paragraph(chain.end.sentence()),
    }
    page.remarks(&chain.remarks);
}

/// The most suspicious lines of a chop, then those of its constants.
fn leading(chop: &Chop, page: &mut Document) {
    page.paragraph(format!("**What leads to the failure**: {}", Markdown.code(&chop.failure)));
    let item = |line: &ChopLine, kind: &str| {
        let statement = statement(&line.file, Some(line.line), " in ", &line.function) + &source(line.source.as_ref());
        format!("{}{kind}{statement}{}", mark(line.is_changed), texts(" (", &line.values, ", ", ")"))
    };
    let lines = chop.lines.iter().map(|line| item(line, ""));
    let constants = chop.constant_lines.iter().map(|line| item(line, "depends on no input, "));
    page.numbered(lines.chain(constants).take(MAX_LINES));
    page.more(chop.lines.len() + chop.constant_lines.len(), MAX_LINES, "more line");
    page.remarks(&chop.remarks);
}

/// The steps of a walk.
fn wrong(walk: &FinishedWalk, page: &mut Document) {
    page.paragraph(format!("**{}**: {}", walk.fault.title(), walk.sentence()));
    let item = |step: &WrongStep| {
        let function = || Markdown.code(&step.function);
        let statement = step.file.as_ref().map(|file| statement(file, step.line, " in ", &step.function));
        let (statement, source) = (statement.unwrap_or_else(function), source(step.source.as_ref()));
        let (wrong, values) = (Markdown.code(&step.wrong), texts("; ", &step.values, ", ", ""));
        format!("step {}, {statement}{source}, {wrong}{values}", step.step)
    };
    page.numbered(walk.steps.iter().take(MAX_STEPS).map(item));
    page.more(walk.steps.len(), MAX_STEPS, "more step");
}

/// A walk as a paragraph and a list.
pub fn of_walk(walk: &FinishedWalk) -> String {
    let mut page = Document::default();
    wrong(walk, &mut page);
    page.text
}

/// The statements of an abstract slice; of many, the first ones and the last ones.
fn invariants(found: &Invariants, page: &mut Document) {
    page.paragraph(format!("**What has to hold for the failure**: {}", Markdown.code(&found.failure)));
    if found.is_partial {
        page.paragraph("The slice is not complete: a limit was met.");
    }
    if found.compared.is_some() {
        page.paragraph("What holds in the passing run, too, is left out.");
    }
    let mut items: Vec<String> =
        (1..).zip(found.shown()).map(|(number, statement)| format!("{number}. {}", condition(statement))).collect();
    if let Some(n_more @ 1..) = items.len().checked_sub(MAX_LINES) {
        let more = format!("\n... {} ...\n", count(n_more, "more statement"));
        items.splice(MAX_LINES / 2..MAX_LINES / 2 + n_more, [more]);
    }
    page.list(items);
    found.verified.iter().for_each(|verified| page.paragraph(verified.sentence(|text| Markdown.code(text))));
    page.remarks(&found.remarks);
}

/// A statement, and the invariant before it.
fn condition(found: &InvariantStatement) -> String {
    let unknown = Untrusted::from("?");
    let within = if found.is_initial() { ", " } else { " in " };
    let statement = statement(found.file.as_ref().unwrap_or(&unknown), found.line, within, &found.function);
    let (source, before) = (source(found.source.as_ref()), texts(" if ", &found.invariant, " and ", ""));
    let notes = found.notes().join("; ");
    let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
    format!("{}{statement}{source}{before}{notes}", mark(found.is_changed))
}

/// What stands before a line of the change.
fn mark(in_change: bool) -> &'static str {
    if in_change { "**in the change**, " } else { "" }
}

/// Place and function of a statement.
fn statement(file: &Untrusted, line: Option<impl Into<u64>>, within: &str, function: &Untrusted) -> String {
    format!("{}{within}{}", Markdown.code(&place(file, line)), Markdown.code(function))
}

/// The text of a statement after its place, if it is known.
fn source(source: Option<&Untrusted>) -> String {
    source.map(|source| format!(": {}", Markdown.code(source))).unwrap_or_default()
}

/// Texts in brackets, if there are any.
fn texts(before: &str, texts: &[Untrusted], between: &str, after: &str) -> String {
    let shown = Markdown.phrase(&codes(texts, between));
    if texts.is_empty() { shown } else { format!("{before}{shown}{after}") }
}

fn trailer(commit: &Commit) -> String {
    let line = format!("Fixes: {} (\"{}\")\n", commit.commit.short(), Terminal.line(&commit.subject));
    Markdown.block("", &line.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn written(report: &Report) -> String {
        explained(report, &[])
    }

    fn explained(report: &Report, explanations: &[Explained]) -> String {
        let mut out = Vec::new();
        write(report, &"./t.sh `x`".into(), None, explanations, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_finding_is_written_with_its_changes_and_a_trailer() {
        insta::assert_snapshot!(written(&samples::found()));
    }

    #[test]
    fn commits_and_lines_are_linked_to_a_forge() {
        let forge = Forge::of("https://github.com/o/r").unwrap();
        let mut out = Vec::new();
        write(&samples::found(), &"./t.sh".into(), Some(&forge), &[], &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let id = "3".repeat(40);
        let since = format!("fails since [`333333333333`](https://github.com/o/r/commit/{id}) `parse");
        let place = format!("in [`src/parse.c:8`](https://github.com/o/r/blob/{id}/src/parse.c#L8)\n");
        assert!(text.contains(&since) && text.contains(&place), "{text}");
    }

    #[test]
    fn a_chain_tells_why_it_fails() {
        let written = explained(&samples::found(), &samples::explanations()[..1]);
        let (_, why) = written.split_once("**Why it fails**").unwrap();
        insta::assert_snapshot!(why.split("**Fix for").next().unwrap());
    }

    #[test]
    fn a_walk_is_a_list_of_its_steps() {
        let written = explained(&samples::found(), &[samples::of_hunt(Explanation::Walk(samples::walk()))]);
        assert!(written.contains("**The first wrong step**: The first wrong step computes a wrong value"), "{written}");
        let first = "\n1. step 12, `src/parse.c:8` in `parse`: `n = max - 1;`, `computes a wrong value`; `max = 4`, `n = <1>`\n";
        assert!(written.contains(first), "{written}");
        assert!(written.contains("\n2. step 27, `src/parse.c:9` in `parse`, `uses the wrong n"), "{written}");
    }

    #[test]
    fn a_chop_is_a_short_list_of_its_most_suspicious_lines() {
        let mut chop = samples::chop();
        let list = |chop: &Chop| {
            let explanations = [samples::of_hunt(Explanation::Chop(chop.clone()))];
            let written = explained(&samples::found(), &explanations);
            let (_, list) = written.split_once("**What leads to the failure**").unwrap();
            list.split("**Fix for").next().unwrap().to_owned()
        };
        insta::assert_snapshot!(list(&chop));
        chop.lines = vec![chop.lines[2].clone(); 30];
        let list = list(&chop);
        assert_eq!(list.matches("` in `parse`: ").count(), MAX_LINES);
        assert!(list.contains("\n20. ") && list.contains("\n... and 11 more lines\n"), "{list}");
    }

    #[test]
    fn invariants_are_a_list_of_statements_with_the_conditions_before_them() {
        let mut found = samples::invariants();
        let list = |found: &Invariants| {
            let explanations = [samples::of_hunt(Explanation::Invariants(found.clone()))];
            let written = explained(&samples::found(), &explanations);
            let (_, list) = written.split_once("**What has to hold for the failure**").unwrap();
            list.split("**Fix for").next().unwrap().to_owned()
        };
        insta::assert_snapshot!(list(&found));
        found.statements = [vec![found.statements[1].clone(); 30], vec![found.statements[2].clone()]].concat();
        found.is_partial = true;
        let list = list(&found);
        assert!(list.contains("The slice is not complete"), "{list}");
        assert_eq!(list.matches("` in `parse`").count(), MAX_LINES);
        assert!(list.contains("\n10. ") && list.contains("\n... 11 more statements ...\n\n22. "), "{list}");
        assert!(list.contains("\n31. `src/parse.c:9` in `parse` if `n > 4` and "), "{list}");
    }

    #[test]
    fn what_was_not_found_is_said_and_text_of_others_is_harmless() {
        insta::assert_snapshot!(written(&samples::range()));
        insta::assert_snapshot!(written(&samples::error()));
    }
}
