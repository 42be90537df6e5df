//! A report on one screen: the answer, the lines to look at, one row for the reason, the fix and the evidence each, and
//! the next commands at the end. What is left out is in the full text, and the last row says how to get it.

use crate::escape::Terminal;
use crate::explanation::{Explained, chain_of};
use crate::patch::{Patch, PatchFile, PatchLine, Sign};
use crate::style::TextRole;
use crate::text::{TextLook, patch, rows};
use crate::views::views;
use crate::{Commit, Report, ReportedFix, Status, Suite, Untrusted, places, summary, text};
use idd_base::{Outcome, count};
use std::collections::HashSet;
use std::io::{self, Write};

/// The rows of a screen of so many columns, with the ones of the culprit. A narrower one has more, for the same text.
const ROWS: usize = 30;
const COLUMNS: usize = 80;

/// The rows of the change, at least, if it has so many.
const MIN_CHANGE: usize = 4;

/// The rows of the notes if the change needs all others, with the blank one before them.
const MAX_NOTES: usize = 5;

/// The rows of the notes, at least.
const MIN_NOTES: usize = 1;

/// The candidates that are listed.
const MAX_CANDIDATES: usize = 10;

/// The other culprits that are listed.
const MAX_OTHERS: usize = 2;

/// The columns of a label.
const LABEL: usize = 10;

/// The command that prints what a screen leaves out.
const FULL: &str = "git idd show --full";

/// How every revision has the paths that are beside the tested trees.
const BESIDE: &str = "from your working tree; builds may change their copy";

/// The endings of the names of files that `git idd explain` understands.
const EXPLAINED: [&[u8]; 9] = [b".c", b".h", b".cc", b".cpp", b".cxx", b".hh", b".hpp", b".hxx", b".java"];

/// Writes all of it.
pub fn write(report: &Report, explanations: &[Explained], look: TextLook, out: &mut dyn Write) -> io::Result<()> {
    let screen = TextScreen { report, look };
    put(screen.all(explanations, screen.next(explanations)), look, out)
}

/// Writes all of it but the next commands.
pub fn write_answer(
    report: &Report,
    explanations: &[Explained],
    look: TextLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    put(TextScreen { report, look }.all(explanations, Vec::new()), look, out)
}

/// Writes the culprit, and what is known beside it.
pub fn write_culprit(report: &Report, look: TextLook, out: &mut dyn Write) -> io::Result<()> {
    put(TextScreen { report, look }.culprit(), look, out)
}

/// Writes what follows the culprit.
pub fn write_rest(report: &Report, explanations: &[Explained], look: TextLook, out: &mut dyn Write) -> io::Result<()> {
    let screen = TextScreen { report, look };
    let mut told = Vec::new();
    if !text::is_found(report.status) {
        told.push(String::new());
        told.extend(screen.sentence());
    }
    let n_head = screen.culprit().len() + told.len();
    let rest = screen.rest(explanations, n_head, screen.next(explanations));
    put(told.into_iter().chain(rest), look, out)
}

fn put(rows: impl IntoIterator<Item = String>, look: TextLook, out: &mut dyn Write) -> io::Result<()> {
    rows.into_iter().try_for_each(|row| writeln!(out, "{}", rows::cut(&row, look.columns)))
}

struct TextScreen<'r> {
    report: &'r Report,
    look: TextLook,
}

impl TextScreen<'_> {
    fn all(&self, explanations: &[Explained], next: Vec<String>) -> Vec<String> {
        let head = self.head();
        let rest = self.rest(explanations, head.len(), next);
        [head, rest].concat()
    }

    fn head(&self) -> Vec<String> {
        if text::is_found(self.report.status) && self.report.first_bad.is_some() {
            return self.culprit();
        }
        let mut rows = if text::has_sentence(self.report) { self.sentence() } else { Vec::new() };
        let facts = self.facts();
        if !rows.is_empty() && !facts.is_empty() {
            rows.push(String::new());
        }
        rows.extend(facts);
        rows
    }

    fn culprit(&self) -> Vec<String> {
        let mut rows = text::culprit(self.report, self.look.style, self.look.columns);
        if !rows.is_empty() {
            rows.push(String::new());
        }
        rows.extend(self.facts());
        rows
    }

    fn facts(&self) -> Vec<String> {
        let facts = text::facts(self.report, self.look);
        facts.iter().map(|(label, fact)| format!("{label:<LABEL$} {fact}")).collect()
    }

    fn sentence(&self) -> Vec<String> {
        rows::broken("", &Terminal.line(&self.report.sentence), self.look.columns)
    }

    fn labelled(&self, label: &str, sentence: &str) -> Vec<String> {
        rows::broken(&format!("{label:<LABEL$} "), sentence, self.look.columns)
    }

    fn heading(&self, title: &str) -> String {
        self.look.style.paint(TextRole::Heading, format!("{title}:")).to_string()
    }

    /// The rows after the first `n_head`.
    ///
    /// - `next`: the last ones.
    fn rest(&self, explanations: &[Explained], n_head: usize, next: Vec<String>) -> Vec<String> {
        let mut parts = [self.others(), self.candidates(), Vec::new(), self.table(explanations), Vec::new(), next];
        let n_rows = |part: &Vec<String>| if part.is_empty() { 0 } else { part.len() + 1 };
        let n_screen = ROWS * COLUMNS / self.look.columns.unwrap_or(COLUMNS).clamp(COLUMNS / 4, COLUMNS);
        let n_left = n_screen.saturating_sub(n_head + parts.iter().map(n_rows).sum::<usize>());
        let (change, notes) = (self.change(None), self.notes());
        let n_notes = n_rows(&notes).min(MAX_NOTES);
        let max = n_left.saturating_sub(n_notes + 1).max(MIN_CHANGE);
        parts[2] = if change.len() > max { cut(self.change(Some(max)), change.len(), max) } else { change };
        parts[4] = shortened(notes, n_left.saturating_sub(n_rows(&parts[2]) + 1).max(MIN_NOTES));
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .flat_map(|part| std::iter::once(String::new()).chain(part))
            .collect()
    }

    fn others(&self) -> Vec<String> {
        let with = if self.report.range.is_some() {
            "The change has parts of"
        } else if self.report.interaction {
            self.report.find.words().together[0]
        } else {
            "Culprits, too"
        };
        self.list(with, &text::other_culprits(self.report), MAX_OTHERS)
    }

    fn candidates(&self) -> Vec<String> {
        let candidates = text::candidates(self.report);
        self.list(&text::one_of(self.report, candidates.len()), &candidates, MAX_CANDIDATES)
    }

    fn list(&self, title: &str, commits: &[&Commit], max: usize) -> Vec<String> {
        if commits.is_empty() {
            return Vec::new();
        }
        let rows = commits.iter().map(|commit| format!("  {}", text::name(commit, self.look))).collect();
        let mut list = shortened(rows, max);
        list.insert(0, self.heading(title));
        list
    }

    /// The change to look at first: what was tested of it, and its lines.
    ///
    /// - `max`: the rows that there is room for; the [nearest] lines are shown in them, and a row that says how many are
    ///   left out.
    fn change(&self, max: Option<usize>) -> Vec<String> {
        let Some(view) = views(self.report).into_iter().next() else { return Vec::new() };
        let mut rows = vec![self.heading(&format!("{} ({})", view.title, view.size))];
        rows.extend(rows::broken("", &view.claim, self.look.columns));
        let patch = view.patch();
        let has_margin = patch.edits().any(|line| line.is_marked);
        let shown = max.map(|max| nearest(&patch, max.saturating_sub(rows.len() + 1)));
        let mut places = view.change.places.iter();
        let mut n_before = 0;
        for file in &patch.files {
            let name = Terminal.line(&file.paths[1]);
            let mut has_lines = false;
            for run in file.runs() {
                has_lines = true;
                let line = places.next().and_then(|place| place.line);
                let numbered = (n_before..).zip(run);
                n_before += run.len();
                let is_shown = |at: &usize| shown.as_ref().is_none_or(|shown| shown.contains(at));
                let run: Vec<PatchLine> =
                    numbered.filter(|(at, _)| is_shown(at)).map(|(_, line)| line.clone()).collect();
                if run.is_empty() {
                    continue;
                }
                let at = line.map_or_else(|| name.clone(), |line| format!("{name}:{line}"));
                let of = view.commit_of(&file.paths[1], &run).map(|commit| format!(" (of {})", commit.short()));
                rows.push(format!("  {}{}", self.look.style.paint(TextRole::Hunk, at), of.unwrap_or_default()));
                rows.extend(self.run(&run, has_margin));
            }
            if !has_lines {
                places.next();
                rows.push(format!("  {name}: {}", Terminal.line(&places::whole(file))));
            }
        }
        rows
    }

    /// A run of changed lines, without the blank space that all of them begin with.
    fn run(&self, run: &[PatchLine], has_margin: bool) -> Vec<String> {
        let margin = margin(run);
        let is_crlf = patch::has_crlf(run.iter().map(|line| line.text.as_bytes()));
        let row = |line: &PatchLine| {
            let (sign, role) = if line.sign == Sign::Added { ('+', TextRole::Added) } else { ('-', TextRole::Removed) };
            let bar = if has_margin { patch::MARGINS[usize::from(!line.is_marked)] } else { "" };
            let text = line.text.as_bytes();
            let text = if is_crlf { text.strip_suffix(b"\r").unwrap_or(text) } else { text };
            let text = String::from_utf8_lossy(text.get(margin..).unwrap_or_default()).replace('\t', "    ");
            let text = Terminal.block(&text.as_str().into());
            format!("  {bar}{}", self.look.style.paint(role, format!("{sign} {text}")))
        };
        run.iter().map(row).collect()
    }

    /// One row, or a few, for each other part of the finding.
    fn table(&self, explanations: &[Explained]) -> Vec<String> {
        let report = self.report;
        let other = views(report).into_iter().nth(1).map(|other| {
            let title = other.title.replacen('A', "a", 1).replacen("The", "the", 1);
            format!("{title} ({}), `{FULL}` shows it", other.size)
        });
        let mut rows: Vec<String> = other.into_iter().flat_map(|other| self.labelled("other:", &other)).collect();
        let chain = chain_of(explanations);
        rows.extend(chain.into_iter().flat_map(|chain| self.labelled("why:", &chain.in_one_line())));
        if !report.repaired.is_empty() {
            let tested = count(report.repaired.len(), "revision");
            rows.extend(self.labelled("repairs:", &format!("{tested} tested with a repair")));
        }
        let places = [("held:", false, "as now, in every revision"), ("beside:", true, BESIDE)];
        for (label, beside, how) in places.into_iter().filter(|_| text::is_found(report.status)) {
            let (shown, n_more) = report.shown_held(beside);
            if !shown.is_empty() {
                let mut held: Vec<String> = shown.iter().map(|held| Terminal.line(&held.path)).collect();
                held.extend((n_more > 0).then(|| format!("{n_more} more")));
                rows.extend(self.labelled(label, &format!("{}, {how}", held.join(", "))));
            }
        }
        rows.extend(self.fix().into_iter().flat_map(|fix| self.labelled("fix:", &fix)));
        let revert = report.sound_revert().filter(|_| report.no_fix.is_some());
        rows.extend(revert.into_iter().flat_map(|revert| self.labelled("revert:", &result(revert))));
        rows.extend(self.evidence().into_iter().flat_map(|(label, said)| self.labelled(label, &said)));
        rows
    }

    /// The fix by its size and outcome, or why there is none.
    fn fix(&self) -> Option<String> {
        let report = self.report;
        if let Some(why) = &report.no_fix {
            return Some(format!("none is recommended: {}", Terminal.line(why)));
        }
        report.fix.as_ref().map(result)
    }

    /// How many claims held, and what that cost.
    fn evidence(&self) -> Option<(&'static str, String)> {
        let probes = &self.report.probes;
        let cost = format!("{} in {}", count(probes.run, "probe"), text::duration(self.report.seconds));
        match summary::evidence(self.report) {
            None if probes.run + probes.cached == 0 => None,
            None => Some(("cost:", cost)),
            Some(held) => Some(("evidence:", format!("{held}; {cost}"))),
        }
    }

    fn notes(&self) -> Vec<String> {
        let label = self.look.style.paint(TextRole::Warning, "note:").to_string() + " ";
        let note = |note: &Untrusted| text::resumable(&Terminal.line(note), self.report, self.look);
        let broken = |said: &Untrusted| rows::broken(&label, &note(said), self.look.columns);
        self.report.notes.iter().flat_map(broken).collect()
    }

    /// The next commands.
    fn next(&self, explanations: &[Explained]) -> Vec<String> {
        let report = self.report;
        let label = self.look.style.paint(TextRole::Heading, "next:").to_string() + " ";
        if !text::is_found(report.status) || report.status == Status::Culprit {
            return text::next_step(report, self.look)
                .map_or_else(Vec::new, |said| rows::broken(&label, &said, self.look.columns));
        }
        // The finding of another job is not stored in this worktree.
        if report.hunt.is_none() {
            return Vec::new();
        }
        let mut commands = Vec::new();
        if report.fix.as_ref().is_some_and(|fix| fix.complete) && report.status == Status::Found {
            commands.push(("git idd apply", "put the fix into the working tree"));
        } else if report.no_fix.is_some() && report.sound_revert().is_some() {
            commands.push(("git idd apply --revert", "apply the revert that was tested"));
        }
        let is_explained = |file: &Untrusted| EXPLAINED.iter().any(|ending| file.as_bytes().ends_with(ending));
        let mut views = views(report).into_iter();
        if report.find.is_failure()
            && explanations.is_empty()
            && views.next().is_some_and(|view| view.change.files.iter().any(is_explained))
        {
            commands.push(("git idd explain", "tell how these lines lead to the failure"));
        }
        // A hunt by hand has neither evidence nor reversals.
        if report.hunt.is_some() && !(report.evidence.is_empty() && report.fixes.is_empty()) {
            let what = match &report.fix {
                _ if report.no_fix.is_some() => "the reversals that were tried, and the evidence",
                Some(_) => "the fix, the evidence and the cost in full",
                None => "the evidence and the cost in full",
            };
            commands.push((FULL, what));
        }
        let labels = std::iter::once(label).chain(std::iter::repeat(" ".repeat(rows::width("next: "))));
        let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
        labels.zip(commands).map(|(label, (command, what))| format!("{label}{command:<width$}  {what}")).collect()
    }
}

/// The size and outcome of a reversal.
fn result(fix: &ReportedFix) -> String {
    let size = match fix.lines {
        0 => text::whole_files(&fix.patch),
        n_lines => format!("{} ({})", count(n_lines, "line"), fix.part()),
    };
    if !fix.complete {
        return format!("{size}, carried as far as {} only: {}", fix.commit.short(), fix.tested);
    }
    let suite = match fix.suite {
        Suite::Same => "no other test newly fails with it",
        Suite::Worse => "tests of the suite fail with it that passed before",
        Suite::NotRun => "no suite was used (`--suite`)",
    };
    let test = if fix.tested == Outcome::Pass { "the test passes".to_owned() } else { fix.tested.to_string() };
    let others = if fix.still_fails { ", where other tests still make the command fail" } else { "" };
    let warnings = text::warnings(fix).map(|warnings| format!("; {warnings}")).unwrap_or_default();
    let tests = text::changed_tests(fix).map(|tests| format!("; {tests}")).unwrap_or_default();
    format!("{size}: {test} at HEAD{others}, {suite}{warnings}{tests}")
}

/// The first rows, with a row that counts the others.
fn shortened(rows: Vec<String>, max: usize) -> Vec<String> {
    let n_all = rows.len();
    cut(rows, n_all, max)
}

/// The same if some of all rows were left out before.
fn cut(mut rows: Vec<String>, n_all: usize, max: usize) -> Vec<String> {
    if n_all > max {
        rows.truncate(max - 1);
        let n_left = n_all - rows.len();
        rows.push(format!("  ... {} (`{FULL}`)", count(n_left, "more row")));
    }
    rows
}

/// The edits to show in so many rows, by their numbers in the patch: the marked ones, then those nearest to them; the first
/// ones if none is marked; no blank ones. Each run of them takes one more row, for its place.
fn nearest(patch: &Patch, n_rows: usize) -> HashSet<usize> {
    let runs = patch.files.iter().flat_map(PatchFile::runs).enumerate();
    let edits: Vec<(usize, &PatchLine)> = runs.flat_map(|(of, run)| run.iter().map(move |line| (of, line))).collect();
    let marked: Vec<usize> = (0..edits.len()).filter(|at| edits[*at].1.is_marked).collect();
    let is_blank = |at: &usize| edits[*at].1.text.as_bytes().trim_ascii().is_empty();
    let mut order: Vec<usize> = (0..edits.len()).filter(|at| !is_blank(at)).collect();
    order.sort_by_key(|at| marked.iter().map(|mark| mark.abs_diff(*at)).min().unwrap_or(0));
    let (mut shown, mut places, mut left) = (HashSet::new(), HashSet::new(), n_rows);
    for at in order {
        let cost = 1 + usize::from(!places.contains(&edits[at].0));
        if cost > left {
            break;
        }
        left -= cost;
        places.insert(edits[at].0);
        shown.insert(at);
    }
    shown
}

/// How many bytes of blank space all lines begin with.
fn margin(run: &[PatchLine]) -> usize {
    let texts = run.iter().map(|line| line.text.as_bytes()).filter(|text| !text.trim_ascii().is_empty());
    let mut common: Option<&[u8]> = None;
    for text in texts {
        let blank = &text[..text.len() - text.trim_ascii_start().len()];
        let known = common.unwrap_or(blank);
        let n_same = known.iter().zip(blank).take_while(|(known, blank)| known == blank).count();
        common = Some(&known[..n_same]);
    }
    common.map_or(0, <[u8]>::len)
}
