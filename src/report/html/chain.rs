//! The section "why it fails": the chain of faulty values, one step at a time.
//!
//! Without the script all steps are visible. The script shows one of them, and moves from one to the next.

use std::collections::BTreeSet;

use crate::Untrusted;
use crate::chain::{Chain, Kind, Link, Which};
use crate::escape::Terminal;
use crate::html::markup::Markup;
use crate::html::{chart, diff, source};
use crate::outline::outline;
use crate::patch::Patch;
use crate::story::Source;

/// The number of values of earlier steps that are shown with those of a step.
const N_BEFORE: usize = 5;

/// A step: its place, its effect, and its values.
struct Step<'e> {
    file: Option<&'e Untrusted>,
    line: Option<u64>,
    function: Option<&'e Untrusted>,
    in_change: bool,
    clause: String,
    which: Which,
    /// `None` for the failure.
    link: Option<&'e Link>,
}

fn steps(chain: &Chain) -> Vec<Step<'_>> {
    let failure = &chain.failure;
    let last = Step {
        file: failure.file.as_ref(),
        line: failure.line,
        function: None,
        in_change: failure.in_change,
        clause: format!("thus {}", Terminal.line(&failure.what)),
        which: failure.which,
        link: None,
    };
    chain.links.iter().map(of_link).chain([last]).collect()
}

fn of_link(link: &Link) -> Step<'_> {
    Step {
        file: link.file.as_ref(),
        line: link.line,
        function: link.function.as_ref(),
        in_change: link.in_change,
        clause: [Some(link.clause(&|text| Terminal.line(text))), link.finding(&|text| Terminal.line(text))]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; "),
        which: link.which,
        link: Some(link),
    }
}

/// The lines of the patch that the chain passes, as targets of links.
pub fn targets(chain: &Chain, patch: &Patch) -> BTreeSet<(usize, u64)> {
    steps(chain).iter().filter_map(|step| target(step, patch)).collect()
}

fn target(step: &Step<'_>, patch: &Patch) -> Option<(usize, u64)> {
    diff::target(patch, step.file?, step.line?)
}

/// Writes the section.
///
/// - `patch`, `prefix`: the change, and the prefix of the ids of its lines.
pub fn write(chain: &Chain, sources: &[Source], (patch, prefix): (&Patch, &str), page: &mut Markup) {
    page.element("p", &[("class", "lead")], |page| {
        page.leaf("code", &[], chain.bad.clone());
        page.words(" fails; ");
        page.line(&chain.good);
        page.words(" passes. Each value below makes the next one wrong; this was tried in the running program.");
    });
    if let Some(switched) = &chain.switched
        && let Some(file) = &switched.file
    {
        page.element("p", &[], |page| {
            page.words("The decision at ");
            page.leaf("code", &[], source::place(file, switched.line));
            page.words(&switched.which.behind());
            page.words(" was switched.");
        });
    }
    if let Some(summary) = &chain.summary {
        page.leaf("p", &[], summary.clone());
    }
    let steps = steps(chain);
    page.element("div", &[("id", "stepper"), ("class", "stepper"), ("data-items", ".step")], |page| {
        overview(chain, &steps, page);
        page.element("div", &[("class", "steps"), ("id", "steps")], |page| {
            for (index, step) in steps.iter().enumerate() {
                write_step(index, &steps, (sources, target(step, patch), prefix), page);
            }
        });
    });
    if !chain.links.is_empty() || chain.beginning.is_some() {
        page.leaf("p", &[], chain.beginning());
    }
    if !chain.remarks.is_empty() {
        page.element("ul", &[("class", "notes")], |page| {
            chain.remarks.iter().for_each(|remark| page.leaf("li", &[], remark.clone()));
        });
    }
}

fn overview(chain: &Chain, steps: &[Step<'_>], page: &mut Markup) {
    page.element(
        "ol",
        &[("class", "overview"), ("tabindex", "0"), ("aria-label", "Steps from the change to the failure")],
        |page| {
            let mut next = 0;
            for entry in outline(&chain.links) {
                let n_hidden = entry.n_hidden();
                match entry.words() {
                    None => overview_of((next, &steps[next]), page),
                    Some(words) => folded((next, &steps[next..next + n_hidden]), &words, page),
                }
                next += n_hidden.max(1);
            }
            overview_of((next, &steps[next]), page);
        },
    );
}

/// Steps that repeat, or lie between turning points.
fn folded((first, steps): (usize, &[Step<'_>]), words: &str, page: &mut Markup) {
    page.element("li", &[("value", &(first + 1).to_string())], |page| {
        page.element("details", &[], |page| {
            page.leaf("summary", &[], words);
            page.element("ol", &[], |page| (first..).zip(steps).for_each(|step| overview_of(step, page)));
        });
    });
}

fn overview_of((index, step): (usize, &Step<'_>), page: &mut Markup) {
    page.element("li", &[("value", &(index + 1).to_string())], |page| {
        let target = format!("#step-{}", index + 1);
        let class = if step.in_change { "changed" } else { "" };
        page.element("a", &[("href", &target), ("class", class)], |page| {
            page.words(&step.clause);
            page.words(&step.which.behind());
            if step.in_change {
                page.leaf("span", &[("class", "vh")], " (in the change)");
            }
        });
    });
}

fn write_step(
    index: usize,
    steps: &[Step<'_>],
    (sources, target, prefix): (&[Source], Option<(usize, u64)>, &str),
    page: &mut Markup,
) {
    let step = &steps[index];
    let (id, number) = (format!("step-{}", index + 1), format!("Step {} of {}", index + 1, steps.len()));
    let title = format!("{id}-title");
    page.element("section", &[("class", "step"), ("id", &id), ("aria-labelledby", &title)], |page| {
        page.element("h3", &[("id", &title)], |page| {
            page.leaf("span", &[("class", "quiet")], number);
            page.words(" ");
            page.words(&step.clause);
        });
        page.element("p", &[("class", "where")], |page| {
            if let Some(file) = step.file {
                page.leaf("code", &[], source::place(file, step.line));
            }
            if let Some(function) = step.function {
                page.words(" in ");
                page.leaf("code", &[], function.clone());
            }
            page.words(&step.which.behind());
            if step.in_change {
                page.words(" ");
                page.leaf("span", &[("class", "tag")], "in the change");
            }
            if let Some((file, line)) = target {
                page.words(" ");
                page.leaf(
                    "a",
                    &[("href", &format!("#{prefix}{file}-{line}")), ("class", "jump")],
                    "see it in the diff",
                );
            }
        });
        page.element("div", &[("class", "pair")], |page| {
            source::write((step.file, step.line), sources, page);
            values(&steps[..=index], page);
        });
    });
    page.newline();
}

/// The values of this step and the previous ones, in both runs.
fn values(steps: &[Step<'_>], page: &mut Markup) {
    let links: Vec<(usize, &Link)> =
        steps.iter().enumerate().filter_map(|(index, step)| Some((index, step.link?))).collect();
    let last = steps.len() - 1;
    page.scroll("Values", false, |page| {
        page.element("table", &[("class", "values")], |page| {
            chart::head(&["Value", "Failing run", "Passing run"], page);
            page.element("tbody", &[], |page| {
                for (index, link) in links.iter().skip(links.len().saturating_sub(N_BEFORE + 1)) {
                    let class = if *index == last { "now" } else { "before" };
                    page.element("tr", &[("class", class)], |page| {
                        page.element("th", &[("scope", "row")], |page| match (&link.variable, link.kind) {
                            (Some(variable), Kind::Value) => page.leaf("code", &[], variable.clone()),
                            (Some(function), _) => {
                                page.leaf("code", &[], function.clone());
                                page.words(" returns");
                            }
                            (None, Kind::Change) => page.words("the statement"),
                            (None, _) => page.words("the condition"),
                        });
                        page.element("td", &[("class", "wrong")], |page| {
                            page.leaf("code", &[], link.value.clone());
                        });
                        page.element("td", &[], |page| page.leaf("code", &[], link.reference.clone()));
                    });
                }
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn repeated_steps_are_folded_in_the_overview_and_keep_their_numbers() {
        let mut chain = samples::chain();
        chain.summary = Some("All <of> it.".into());
        let link = chain.links[1].clone();
        chain.links = vec![link; 6];
        let mut page = Markup::default();
        write(&chain, &[], (&Patch::read(&"".into()), "p"), &mut page);
        let text = page.as_str();
        assert!(text.contains("All &lt;of&gt; it."), "{text}");
        assert!(text.contains("<summary>... 4 more links like this ...</summary>"), "{text}");
        for n in 1..=7 {
            assert_eq!(text.matches(&format!("href=\"#step-{n}\"")).count(), 1, "{text}");
        }
        let (before, folded) = text.split_once("<details>").unwrap();
        let (folded, behind) = folded.split_once("</details>").unwrap();
        let steps = |text: &str| text.matches("href=\"#step-").count();
        assert_eq!((steps(before), steps(folded), steps(behind)), (1, 4, 2));
    }
}
