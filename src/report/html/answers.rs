//! All answers of a hunt in one table, and the outputs that are not printed elsewhere.
//!
//! The page contains all rows, so it can be read without the script. The script removes the rows, and shows those that
//! the reader selects.

use std::collections::BTreeSet;

use crate::html::history::{LinkTargets, outcome, output_anchor};
use crate::html::markup::Markup;
use crate::story::{Story, UsedAnswer};
use idd_base::count;

/// The maximum number of rows.
const MAX_ROWS: usize = 50_000;

/// The maximum size of all outputs together, in bytes.
const MAX_OUTPUTS: usize = 4 << 20;

/// Writes the section.
pub fn write(story: &Story, shown: &mut LinkTargets, page: &mut Markup) {
    if story.answers.is_empty() {
        let why = "The journal of this hunt is gone, or was written by an older version; it holds no answers.";
        page.leaf("p", &[], why);
        return;
    }
    let rows = &story.answers[..story.answers.len().min(MAX_ROWS)];
    let used: BTreeSet<usize> = rows.iter().filter_map(|row| row.seen.as_ref()?.output).collect();
    let new: Vec<usize> = used.into_iter().filter(|output| !shown.has_output(*output)).collect();
    let mut others = Markup::default();
    let mut n_left_out = 0;
    for output in new {
        if others.len() < MAX_OUTPUTS {
            shown.output(output, story, &mut others);
        } else {
            n_left_out += 1;
        }
    }
    page.element("div", &[("id", "filters"), ("class", "filters")], |_| {});
    let all = format!("{} that the search used", count(story.answers.len(), "answer"));
    page.leaf("p", &[("id", "count"), ("class", "quiet"), ("role", "status")], all);
    page.scroll_of("scroll rows", "Answers", true, |page| {
        page.element("table", &[("id", "answers"), ("aria-labelledby", "all-title")], |page| {
            let names = ["No.", "For", "At revision", "Outcome", "Seen", "Seconds", "Output"];
            page.rows(&names, (1..).zip(rows), |(nth, answer), page| {
                row(nth, answer, shown, page);
                page.newline();
            });
        });
    });
    if rows.len() < story.answers.len() {
        let n_more = count(story.answers.len() - rows.len(), "more answer");
        page.leaf("p", &[("class", "quiet")], format!("{n_more} are left out; the journal of the hunt has them."));
    }
    if others.len() > 0 {
        page.leaf("h3", &[], "Other outputs");
        page.element("div", &[("class", "outputs")], |page| page.part(&others));
    }
    if n_left_out > 0 {
        let n_left_out = count(n_left_out, "more output");
        let why = "are left out for their size; the journal of the hunt has them.";
        page.leaf("p", &[("class", "quiet")], format!("{n_left_out} {why}"));
    }
}

fn row(nth: usize, answer: &UsedAnswer, shown: &LinkTargets, page: &mut Markup) {
    page.element("tr", &[], |page| {
        page.number(nth);
        page.leaf("td", &[], answer.phase.clone());
        page.cell(|page| shown.commit(answer.commit, page));
        page.cell(|page| outcome(answer.outcome, page));
        let Some(seen) = &answer.seen else {
            page.leaf("td", &[("class", "quiet")], "not known any more");
            page.cell(|_| {});
            page.cell(|_| {});
            return;
        };
        let clean = if seen.is_clean { ", clean" } else { "" };
        let known = if answer.is_known { ", known" } else { "" };
        page.leaf("td", &[], format!("{}{clean}{known}", seen.ending));
        page.number(format!("{:.2}", seen.seconds));
        page.cell(|page| {
            if let Some(output) = seen.output.filter(|output| shown.has_output(*output)) {
                let target = format!("#{}", output_anchor(output));
                page.leaf("a", &[("href", &target), ("aria-label", &format!("output of {nth}"))], "output");
            }
        });
    });
}
