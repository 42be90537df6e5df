//! Charts and tables: the size of the patch before and after each reduction, and the reasons for unresolved probes.
//!
//! Source: Artho, *Iterative Delta Debugging*, Figures 9 to 22 (size of the patch before and after delta debugging,
//! over the revisions) and Tables 2 and 3 (reasons of failures, by iteration and by subset). Deviations: sizes are on a
//! logarithmic scale, because a fix of two lines and a commit of two thousand are in one picture; reductions are in the
//! order of the hunt, which is not always that of the revisions.

use std::collections::{BTreeMap, BTreeSet};

use crate::Report;
use crate::html::history::LinkTargets;
use crate::html::markup::{Markup, MarkupAttributes};
use crate::story::{ReductionStory, Story};

/// The maximum number of drawn reductions, the last ones. The table has them too.
const MAX_DRAWN: usize = 120;

/// Pixels between two reductions: minimum, maximum, and the width of the picture that decides between them.
const STEP: (usize, usize, usize) = (40, 90, 560);

/// Space for the numbers at the left, and for the revisions below.
const LEFT: usize = 56;

/// The height of the drawing without the space below.
const HEIGHT: usize = 190;

/// Space above.
const TOP: usize = 16;

/// The attributes of a sign in a legend.
pub const SIGN: [(&str, &str); 4] = [("class", "sign"), ("width", "24"), ("height", "24"), ("viewBox", "0 0 24 24")];

/// The attributes of a bar.
const BAR: MarkupAttributes<'static> = &[
    ("width", "100%"),
    ("height", "10"),
    ("viewBox", "0 0 100 10"),
    ("preserveAspectRatio", "none"),
    ("aria-hidden", "true"),
];

/// Writes the sizes of the patches.
pub fn sizes(story: &Story, shown: &LinkTargets, page: &mut Markup) {
    let reductions = &story.reductions[story.reductions.len().saturating_sub(MAX_DRAWN)..];
    if reductions.is_empty() {
        let why =
            "Nothing was reduced in this hunt, or it was made by an older version, which did not write that down.";
        page.leaf("p", &[], why);
        return;
    }
    page.leaf("p", &[("class", "lead")], "Lines of the patch before and after each reduction, on a logarithmic scale.");
    page.element("ul", &[("class", "legend"), ("aria-hidden", "true")], |page| {
        for (class, words) in [("input", "before the reduction"), ("kept", "after it")] {
            page.element("li", &[], |page| {
                page.element("svg", &SIGN, |page| mark(class, 12, 12, page));
                page.words(words);
            });
        }
    });
    page.scroll("Chart of patch sizes", false, |page| draw(reductions, page));
    page.element("details", &[("class", "sub")], |page| {
        page.leaf("summary", &[], "The same as a table");
        page.scroll("Table of patch sizes", true, |page| table(reductions, shown, page));
    });
}

/// A mark: open and round before the reduction, filled and angular after it.
fn mark(class: &str, x: usize, y: usize, page: &mut Markup) {
    match class {
        "input" => page.shape("circle", class, &[("cx", x), ("cy", y), ("r", 5)]),
        _ => page.shape("rect", class, &[("x", x - 4), ("y", y - 4), ("width", 8), ("height", 8)]),
    }
}

/// The height of a size on the scale from 1 line to 10 to the `n_decades`.
fn height(lines: u64, n_decades: u32) -> usize {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "pixels, from 0 to HEIGHT"
    )]
    let height = ((lines.max(1) as f64).log10() / f64::from(n_decades) * HEIGHT as f64).round() as usize;
    TOP + HEIGHT - height.min(HEIGHT)
}

fn draw(reductions: &[ReductionStory], page: &mut Markup) {
    let largest = reductions.iter().map(|reduction| reduction.before.max(reduction.after)).max().unwrap_or(1);
    let n_decades = (1..18).find(|n| 10_u64.pow(*n) >= largest).unwrap_or(18);
    let step = (STEP.2 / reductions.len()).clamp(STEP.0, STEP.1);
    let x = |nth: usize| LEFT + step / 2 + nth * step;
    let (width, whole) = (LEFT + reductions.len() * step + 20, TOP + HEIGHT + 62);
    let n_reductions = reductions.len();
    let name = format!(
        "Lines of a patch before and after each of {n_reductions} reductions; the table below has the numbers."
    );
    page.picture("chart", [width, whole], [("role", "img"), ("aria-label", &name)], |page| {
        for decade in 0..=n_decades {
            let at = height(10_u64.pow(decade), n_decades);
            page.path("grid", &format!("M{LEFT} {at} H{}", width - 20));
            let (x, y) = ((LEFT - 8).to_string(), (at + 4).to_string());
            page.leaf("text", &[("x", &x), ("y", &y), ("text-anchor", "end")], 10_u64.pow(decade).to_string());
        }
        for (class, at) in [("input", 0), ("kept", 1)] {
            let sizes = reductions.iter().map(|reduction| [reduction.before, reduction.after][at]);
            let at = sizes.enumerate().map(|(nth, size)| (x(nth), height(size, n_decades)));
            let points = at.clone().map(|(x, y)| format!("{x} {y}"));
            page.path(&format!("curve {class}"), &format!("M{}", points.collect::<Vec<_>>().join(" L")));
            at.for_each(|(x, y)| mark(class, x, y, page));
        }
        for (nth, reduction) in reductions.iter().enumerate() {
            let (x, y) = (x(nth), TOP + HEIGHT + 14);
            let turn = format!("translate({} {y}) rotate(-50)", x + 4);
            let id = reduction.commit.to_string();
            page.leaf("text", &[("transform", &turn), ("text-anchor", "end")], &id[..7]);
        }
    });
}

fn table(reductions: &[ReductionStory], shown: &LinkTargets, page: &mut Markup) {
    let row = |reduction: &ReductionStory, page: &mut Markup| {
        page.element("tr", &[], |page| {
            page.leaf("td", &[], reduction.what.clone());
            page.cell(|page| shown.commit(reduction.commit, page));
            page.number(reduction.before);
            page.number(reduction.after);
        });
    };
    page.element("table", &[], |page| {
        page.rows(&["Reduced", "At revision", "Lines before", "Lines after"], reductions, row);
    });
}

/// The printed name of a phase, and whether its probes are about whole revisions (otherwise about parts of a change).
const PHASES: [(&str, &str); 6] = [
    ("reproduce", "reproducing the failure"),
    ("search", "searching through history"),
    ("repair", "repairing revisions"),
    ("reduce", "reducing the culprit"),
    ("port", "carrying the fix"),
    ("verify", "proving the finding"),
];

/// Writes the answers by phase and outcome, and the reasons for unresolved ones.
pub fn reasons(report: &Report, page: &mut Markup) {
    let outcomes = &report.probes.outcomes;
    let words: BTreeSet<&String> = outcomes.values().flat_map(BTreeMap::keys).collect();
    let unresolved: Vec<&str> =
        words.iter().filter_map(|word| word.strip_prefix("unresolved(")?.strip_suffix(')')).collect();
    page.scroll("Table of outcomes", true, |page| {
        page.element("table", &[], |page| {
            page.leaf("caption", &[], "Answers, by what they were for");
            let mut names = vec!["For", "pass", "fail"];
            names.extend(&unresolved);
            let phases = PHASES.iter().filter_map(|(phase, title)| Some((title, outcomes.get(*phase)?)));
            page.rows(&names, phases, |(title, counts), page| {
                page.element("tr", &[], |page| {
                    page.leaf("th", &[("scope", "row")], *title);
                    let reasons = unresolved.iter().map(|reason| format!("unresolved({reason})"));
                    for word in ["pass".to_owned(), "fail".to_owned()].into_iter().chain(reasons) {
                        let n_answers = counts.get(&word).filter(|n_answers| **n_answers > 0);
                        page.number(n_answers.map_or_else(|| "·".to_owned(), u64::to_string));
                    }
                });
            });
        });
    });
    let all: u64 = unresolved.iter().map(|reason| of_reason(report, reason)).sum();
    if all == 0 {
        page.leaf("p", &[], "Everything that was asked could be tested.");
        return;
    }
    page.element("ul", &[("class", "bars"), ("aria-label", "Reasons why something could not be tested")], |page| {
        for reason in &unresolved {
            let count = of_reason(report, reason);
            page.element("li", &[], |page| {
                page.leaf("span", &[], *reason);
                let percent = count * 100 / all;
                let width = usize::try_from(percent.max(1)).unwrap_or(100);
                page.element("svg", BAR, |page| page.shape("rect", "bar", &[("width", width), ("height", 10)]));
                page.leaf("span", &[("class", "num")], format!("{count} ({percent} %)"));
            });
        }
    });
}

fn of_reason(report: &Report, reason: &str) -> u64 {
    let word = format!("unresolved({reason})");
    report.probes.outcomes.values().filter_map(|counts| counts.get(&word)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_goes_from_one_line_at_the_bottom_to_the_largest_at_the_top() {
        assert_eq!([0, 1, 10, 100, u64::MAX].map(|lines| height(lines, 2)), [206, 206, 111, 16, 16]);
    }
}
