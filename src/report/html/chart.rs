//! Charts and tables: the size of the patch before and after each reduction, and the reasons for unresolved probes.
//!
//! Source: Artho, *Iterative Delta Debugging*, Figures 9 to 22 (size of the patch before and after delta debugging,
//! over the revisions) and Tables 2 and 3 (reasons of failures, by iteration and by subset). Deviations: sizes are on a
//! logarithmic scale, because a fix of two lines and a commit of two thousand are in one picture; reductions are in the
//! order of the hunt, which is not always that of the revisions.

use std::collections::{BTreeMap, BTreeSet};

use crate::Report;
use crate::html::history::Shown;
use crate::html::markup::Markup;
use crate::story::{Reduction, Story};

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

/// Writes the sizes of the patches.
pub fn sizes(story: &Story, shown: &Shown, page: &mut Markup) {
    let reductions = &story.reductions[story.reductions.len().saturating_sub(MAX_DRAWN)..];
    if reductions.is_empty() {
        page.leaf(
            "p",
            &[],
            "Nothing was reduced in this hunt, or it was made by an older version, which did not write that down.",
        );
        return;
    }
    page.leaf("p", &[("class", "lead")], "Lines of the patch before and after each reduction, on a logarithmic scale.");
    page.element("ul", &[("class", "legend"), ("aria-hidden", "true")], |page| {
        for (class, words) in [("input", "before the reduction"), ("kept", "after it")] {
            page.element("li", &[], |page| {
                page.element(
                    "svg",
                    &[("class", "sign"), ("width", "24"), ("height", "24"), ("viewBox", "0 0 24 24")],
                    |page| {
                        mark(class, (12, 12), page);
                    },
                );
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
fn mark(class: &str, (x, y): (usize, usize), page: &mut Markup) {
    if class == "input" {
        let (x, y) = (x.to_string(), y.to_string());
        page.element("circle", &[("class", class), ("cx", &x), ("cy", &y), ("r", "5")], |_| {});
    } else {
        let (x, y) = ((x - 4).to_string(), (y - 4).to_string());
        page.element("rect", &[("class", class), ("x", &x), ("y", &y), ("width", "8"), ("height", "8")], |_| {});
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

fn draw(reductions: &[Reduction], page: &mut Markup) {
    let largest = reductions.iter().map(|reduction| reduction.before.max(reduction.after)).max().unwrap_or(1);
    let n_decades = (1..18).find(|n| 10_u64.pow(*n) >= largest).unwrap_or(18);
    let step = (STEP.2 / reductions.len()).clamp(STEP.0, STEP.1);
    let x = |nth: usize| LEFT + step / 2 + nth * step;
    let (width, whole) = (LEFT + reductions.len() * step + 20, TOP + HEIGHT + 62);
    let (view, width_text, whole) = (format!("0 0 {width} {whole}"), width.to_string(), whole.to_string());
    let name = format!(
        "Lines of a patch before and after each of {} reductions; the table below has the numbers.",
        reductions.len()
    );
    let attributes = [
        ("class", "chart"),
        ("width", &*width_text),
        ("height", &*whole),
        ("viewBox", &*view),
        ("role", "img"),
        ("aria-label", &*name),
    ];
    page.element("svg", &attributes, |page| {
        for decade in 0..=n_decades {
            let at = height(10_u64.pow(decade), n_decades);
            let path = format!("M{LEFT} {at} H{}", width - 20);
            page.element("path", &[("class", "grid"), ("d", &path)], |_| {});
            let (x, y) = ((LEFT - 8).to_string(), (at + 4).to_string());
            page.leaf("text", &[("x", &x), ("y", &y), ("text-anchor", "end")], 10_u64.pow(decade).to_string());
        }
        for (class, size) in [("input", Reduction::input as fn(&Reduction) -> u64), ("kept", Reduction::output)] {
            let points =
                reductions.iter().enumerate().map(|(nth, it)| format!("{} {}", x(nth), height(size(it), n_decades)));
            let path = format!("M{}", points.collect::<Vec<_>>().join(" L"));
            page.element("path", &[("class", &format!("curve {class}")), ("d", &path)], |_| {});
            for (nth, reduction) in reductions.iter().enumerate() {
                mark(class, (x(nth), height(size(reduction), n_decades)), page);
            }
        }
        for (nth, reduction) in reductions.iter().enumerate() {
            let (x, y) = (x(nth), TOP + HEIGHT + 14);
            let turn = format!("translate({} {y}) rotate(-50)", x + 4);
            let id = reduction.commit.to_string();
            page.leaf("text", &[("transform", &turn), ("text-anchor", "end")], &id[..7]);
        }
    });
}

impl Reduction {
    fn input(&self) -> u64 {
        self.before
    }

    fn output(&self) -> u64 {
        self.after
    }
}

fn table(reductions: &[Reduction], shown: &Shown, page: &mut Markup) {
    page.element("table", &[], |page| {
        head(&["Reduced", "At revision", "Lines before", "Lines after"], page);
        page.element("tbody", &[], |page| {
            for reduction in reductions {
                page.element("tr", &[], |page| {
                    page.leaf("td", &[], reduction.what.clone());
                    page.element("td", &[], |page| shown.commit(reduction.commit, page));
                    page.leaf("td", &[("class", "num")], reduction.before.to_string());
                    page.leaf("td", &[("class", "num")], reduction.after.to_string());
                });
            }
        });
    });
}

/// The head of a table. Numeric columns have names that begin with `Lines`, or are counts.
pub fn head(names: &[&str], page: &mut Markup) {
    page.element("thead", &[], |page| {
        page.element("tr", &[], |page| {
            for name in names {
                page.leaf("th", &[("scope", "col")], *name);
            }
        });
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
            head(&names, page);
            page.element("tbody", &[], |page| {
                for (phase, title) in PHASES {
                    let Some(counts) = outcomes.get(phase) else { continue };
                    page.element("tr", &[], |page| {
                        page.leaf("th", &[("scope", "row")], title);
                        let count = |word: &str| counts.get(word).copied().unwrap_or(0);
                        let all = [count("pass"), count("fail")];
                        let others = unresolved.iter().map(|reason| count(&format!("unresolved({reason})")));
                        for n_answers in all.into_iter().chain(others) {
                            let text = if n_answers == 0 { "·".to_owned() } else { n_answers.to_string() };
                            page.leaf("td", &[("class", "num")], text);
                        }
                    });
                }
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
                let width = (count * 100 / all).max(1).to_string();
                page.element(
                    "svg",
                    &[
                        ("width", "100%"),
                        ("height", "10"),
                        ("viewBox", "0 0 100 10"),
                        ("preserveAspectRatio", "none"),
                        ("aria-hidden", "true"),
                    ],
                    |page| {
                        page.element("rect", &[("class", "bar"), ("width", &width), ("height", "10")], |_| {});
                    },
                );
                page.leaf("span", &[("class", "num")], format!("{count} ({} %)", count * 100 / all));
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
