//! The report as Markdown, for an issue, a mail, or the summary of a job.
//!
//! It ends with a trailer in the form of the Linux kernel: `Fixes: <12 digits> ("<subject>")`.

use std::io;
use std::io::Write;

use crate::chain::{Chain, Switched, Which};
use crate::chop::Chop;
use crate::escape::{Markdown, Terminal};
use crate::explanation::{Explained, Explanation};
use crate::forge::Forge;
use crate::invariants::{Invariants, Statement};
use crate::outline::{Entry, outline};
use crate::views::{ChangeView, is_marked_in_part, views};
use crate::{ChangePlace, Commit, Report, Status, Untrusted};
use idd_base::plural::count;

/// The maximum number of linked places of a change.
const MAX_PLACES: usize = 10;

/// The maximum number of printed lines of a chop.
const MAX_LINES: usize = 20;

/// Writes `report`.
///
/// - `test`: the test command of the hunt.
/// - `forge`: the forge to which commits and lines are linked.
/// - `explanations`: the explanations of the failure.
pub fn write(
    report: &Report,
    (test, forge): (&Untrusted, Option<&Forge>),
    explanations: &[Explained],
    out: &mut dyn Write,
) -> io::Result<()> {
    let linked = Linked { report, forge };
    headline(&linked, test, out)?;
    facts(&linked, out)?;
    views(report).iter().try_for_each(|view| linked.block(view, out))?;
    for explained in explanations {
        match &explained.explanation {
            Explanation::Chain(chain) => why(chain, out)?,
            Explanation::Chop(chop) => leading(chop, out)?,
            Explanation::Walk(walk) => out.write_all(walk.markdown().as_bytes())?,
            Explanation::Invariants(found) => invariants(found, out)?,
        }
    }
    if let Some(fix) = report.reversal() {
        let place = if fix.complete { "HEAD".to_owned() } else { format!("`{}`", fix.commit.short()) };
        let title = if fix.is_revert() { "Revert" } else { "Fix" };
        writeln!(out, "**{title} for {place}** ({}, tested: {})\n", count(fix.lines, "line"), fix.tested)?;
        writeln!(out, "{}", Markdown.block("diff", &fix.patch))?;
    }
    evidence(report, out)?;
    for note in &report.notes {
        writeln!(out, "> {}\n", Markdown.code(note))?;
    }
    report.first_bad.as_ref().map_or(Ok(()), |first_bad| trailer(&first_bad.commit, out))
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

    fn block(&self, view: &ChangeView<'_>, out: &mut dyn Write) -> io::Result<()> {
        let ChangeView { title, change, size, claim } = view;
        writeln!(out, "**{title}** ({size}){}\n", self.places(&change.places))?;
        let necessary = self.report.change.necessary.iter().filter(|_| is_marked_in_part(change));
        let marked = necessary.map(|necessary| format!(" Marked{}.", self.places(&necessary.places)));
        let marked: String = marked.filter(|said| said != " Marked.").collect();
        writeln!(out, "{claim}{marked}\n")?;
        writeln!(out, "{}", Markdown.block("diff", &change.patch))
    }

    /// ` in a.c:3, a.c:9`: places in the first bad commit, linked if there is a forge; empty for none.
    fn places(&self, places: &[ChangePlace]) -> String {
        let named = places.iter().take(MAX_PLACES).map(|place| {
            let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
            let name = Markdown.code(&[place.file.as_bytes(), line.as_bytes()].concat().into());
            let commit = self.report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit);
            let address = self.forge.zip(commit).map(|(forge, commit)| forge.file(commit, &place.file, place.line));
            link(name, address)
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

fn headline(linked: &Linked<'_>, test: &Untrusted, out: &mut dyn Write) -> io::Result<()> {
    let report = linked.report;
    match &report.first_bad {
        Some(first_bad) => {
            let commit = linked.named(&first_bad.commit);
            writeln!(out, "### {} {} {commit}\n", Markdown.code(test), report.find.words().since)?;
        }
        None => writeln!(out, "### {}: {}\n", Markdown.code(test), report.status.word().replace('_', " "))?,
    }
    match &report.error {
        Some(error) => writeln!(out, "{}\n", Markdown.code(&error.message)),
        None if report.first_bad.is_none() => writeln!(out, "{}\n", Markdown.code(&report.sentence)),
        None => Ok(()),
    }
}

fn facts(linked: &Linked<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = linked.report;
    let mut rows = Vec::new();
    let [good, _, first] = report.find.words().labels.map(|label| label.trim_end_matches(':'));
    let is_given = report.status == Status::GoodFails && report.find.is_failure();
    let commits = [
        (first, report.first_bad.as_ref().map(|first_bad| &first_bad.commit)),
        (if is_given { "given as good" } else { good }, report.last_good.as_ref()),
        ("tested at", report.bad.as_ref()),
    ];
    for (label, commit) in commits {
        rows.extend(commit.map(|commit| (label, format!("{}, {}", linked.named(commit), commit.date.day()))));
    }
    rows.extend(report.first_bad.as_ref().map(|first_bad| ("author", Markdown.code(&first_bad.commit.author))));
    if let Some(signature) = &report.signature {
        let line = signature.line.as_ref().map(|line| format!(", {}", Markdown.code(line))).unwrap_or_default();
        let test = signature.test.as_ref().map(|test| format!("{}, ", Markdown.code(&test.name))).unwrap_or_default();
        rows.push((report.find.words().behaviour.trim_end_matches(':'), format!("{test}{}{line}", signature.ending)));
    }
    rows.extend(report.before.as_ref().map(|value| ("before", Markdown.code(value))));
    for candidate in report.range.iter().flat_map(|range| &range.candidates) {
        rows.push(("candidate", linked.named(candidate)));
    }
    rows.push(("cost", format!("{} of the test, {:.0} s", count(report.probes.run, "run"), report.seconds)));
    writeln!(out, "| | |\n|---|---|")?;
    rows.iter().try_for_each(|(label, value)| writeln!(out, "| {label} | {value} |"))?;
    writeln!(out)
}

/// The chain, one link in each line.
fn why(chain: &Chain, out: &mut dyn Write) -> io::Result<()> {
    let (bad, good) = (Markdown.code(&chain.bad), Markdown.code(&chain.good));
    writeln!(out, "**Why it fails**: {bad} compared with {good}\n")?;
    if let Some(Switched { file: Some(file), line, which, .. }) = &chain.switched {
        writeln!(out, "The decision at {}{} was switched.\n", place(file, *line), which.behind())?;
    }
    if let Some(summary) = &chain.summary {
        writeln!(out, "{}\n", Markdown.code(summary))?;
    }
    let mut number = 0;
    let mut item = |file: &Option<Untrusted>, (line, which): (Option<u64>, Which), in_change: bool, clause: &str| {
        number += 1;
        let place = file.as_ref().map(|file| format!("{}{}: ", place(file, line), which.behind())).unwrap_or_default();
        let mark = if in_change { "**in the change**, " } else { "" };
        writeln!(out, "{number}. {mark}{place}{clause}")
    };
    for entry in outline(&chain.links) {
        match entry {
            Entry::Link(link) => {
                let clause = link.clause(&|text| Markdown.code(text));
                let finding =
                    link.finding(&|text| Markdown.code(text)).map_or_else(String::new, |it| format!("; {it}"));
                item(&link.file, (link.line, link.which), link.in_change, &(clause + &finding))?;
            }
            other => item(&None, (None, Which::default()), false, &other.words().unwrap_or_default())?,
        }
    }
    let failure = &chain.failure;
    let what = format!("thus {}", Markdown.code(&failure.what));
    item(&failure.file, (failure.line, failure.which), failure.in_change, &what)?;
    writeln!(out)?;
    match &chain.beginning {
        Some(beginning) => writeln!(out, "{}\n", Markdown.code(beginning))?,
        None if chain.links.is_empty() => {}
        None => writeln!(out, "{}\n", chain.end.sentence())?,
    }
    chain.remarks.iter().try_for_each(|remark| writeln!(out, "> {}\n", Markdown.code(remark)))
}

/// The most suspicious lines of a chop, then those of its constants.
fn leading(chop: &Chop, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**What leads to the failure**: {}\n", Markdown.code(&chop.failure))?;
    let constants = chop.constant_lines.iter().map(|line| (line, "depends on no input, "));
    let lines: Vec<_> = chop.lines.iter().map(|line| (line, "")).chain(constants).collect();
    for (number, (line, kind)) in (1..=MAX_LINES).zip(&lines) {
        let mark = if line.is_changed { "**in the change**, " } else { "" };
        let source = line.source.as_ref().map(|source| format!(": {}", Markdown.code(source))).unwrap_or_default();
        let values: Vec<String> = line.values.iter().map(|value| Markdown.code(value)).collect();
        let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        let place = place(&line.file, Some(line.line.into()));
        writeln!(out, "{number}. {mark}{kind}{place} in {}{source}{values}", Markdown.code(&line.function))?;
    }
    writeln!(out)?;
    if let Some(n_more @ 1..) = lines.len().checked_sub(MAX_LINES) {
        writeln!(out, "... and {}\n", count(n_more, "more line"))?;
    }
    chop.remarks.iter().try_for_each(|remark| writeln!(out, "> {}\n", Markdown.code(remark)))
}

/// The statements of an abstract slice; of many, the first ones and the last ones.
fn invariants(found: &Invariants, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**What has to hold for the failure**: {}\n", Markdown.code(&found.failure))?;
    if found.is_partial {
        writeln!(out, "The slice is not complete: a limit was met.\n")?;
    }
    if found.compared.is_some() {
        writeln!(out, "What holds in the passing run, too, is left out.\n")?;
    }
    let statements: Vec<_> = found.shown().collect();
    let n_more = statements.len().saturating_sub(MAX_LINES);
    for (number, statement) in (1..).zip(&statements) {
        if number == MAX_LINES / 2 + 1 && n_more > 0 {
            writeln!(out, "\n... {} ...\n", count(n_more, "more statement"))?;
        }
        if number <= MAX_LINES / 2 || number > MAX_LINES / 2 + n_more {
            writeln!(out, "{number}. {}", condition(statement))?;
        }
    }
    writeln!(out)?;
    if let Some(verified) = &found.verified {
        writeln!(out, "{}\n", verified.sentence(|text| Markdown.code(text)))?;
    }
    found.remarks.iter().try_for_each(|remark| writeln!(out, "> {}\n", Markdown.code(remark)))
}

/// A statement, and the invariant before it.
fn condition(statement: &Statement) -> String {
    let mark = if statement.is_changed { "**in the change**, " } else { "" };
    let unknown = Untrusted::from("?");
    let place = place(statement.file.as_ref().unwrap_or(&unknown), statement.line.map(u64::from));
    let within = if statement.is_initial() { "," } else { " in" };
    let function = Markdown.code(&statement.function);
    let source = statement.source.as_ref().map(|source| format!(": {}", Markdown.code(source))).unwrap_or_default();
    let invariant: Vec<String> = statement.invariant.iter().map(|one| Markdown.code(one)).collect();
    let before = if invariant.is_empty() { String::new() } else { format!(" if {}", invariant.join(" and ")) };
    let notes = statement.notes().join("; ");
    let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
    format!("{mark}{place}{within} {function}{source}{before}{notes}")
}

fn place(file: &Untrusted, line: Option<u64>) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    Markdown.code(&[file.as_bytes(), line.as_bytes()].concat().into())
}

fn evidence(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.evidence.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>Evidence</summary>\n")?;
    for evidence in &report.evidence {
        let mark = if evidence.expected == evidence.outcome { "x" } else { " " };
        let checkout = if evidence.is_clean { "in a clean checkout" } else { "in a used checkout" };
        let place = evidence.place.as_ref().map(|place| format!(" on {}", Markdown.code(place))).unwrap_or_default();
        writeln!(out, "- [{mark}] {}: {}, {checkout}{place}", Markdown.code(&evidence.claim), evidence.outcome)?;
    }
    writeln!(out, "\n</details>\n")
}

fn trailer(commit: &Commit, out: &mut dyn Write) -> io::Result<()> {
    let line = format!("Fixes: {} (\"{}\")\n", commit.commit.short(), Terminal.line(&commit.subject));
    write!(out, "{}", Markdown.block("", &line.into()))
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
        write(report, (&"./t.sh `x`".into(), None), explanations, &mut out).unwrap();
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
        write(&samples::found(), (&"./t.sh".into(), Some(&forge)), &[], &mut out).unwrap();
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
