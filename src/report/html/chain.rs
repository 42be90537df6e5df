//! The section "why it fails": the chain of faulty values, one step at a time.

use crate::Terminal;
use crate::chain::{EffectKind, ReportChain, ReportLink};
use crate::html::markup::Markup;
use crate::html::stepper::{self, Fold, ShownStep, StepContext, StepList};
use crate::outline::outline;
use crate::phrase::{code, line, place, words};

/// The number of values of earlier steps that are shown with those of a step.
const N_BEFORE: usize = 5;

const LIST: StepList = StepList {
    attributes: &[("id", "stepper"), ("class", "stepper"), ("data-items", ".step")],
    steps: &[("class", "steps"), ("id", "steps")],
    overview: "Steps from the change to the failure",
    step: "Step",
    id: "step",
};

/// The links, and the failure.
pub fn steps(chain: &ReportChain) -> Vec<ShownStep<'_>> {
    let failure = &chain.failure;
    let last = ShownStep {
        file: failure.file.as_ref(),
        line: failure.line,
        in_change: failure.in_change,
        title: vec![words(format!("thus {}", Terminal.line(&failure.what)))],
        aside: failure.which.behind(),
        place: failure.file.iter().map(|file| code(&place(file, failure.line))).collect(),
        stored: None,
        beside: values(&chain.links, None),
    };
    let links =
        chain.links.iter().enumerate().map(|(nth, link)| of_link(link, values(&chain.links[..=nth], Some(nth))));
    let mut steps: Vec<ShownStep<'_>> = links.chain([last]).collect();
    for step in &mut steps {
        step.place.push(words(step.aside.as_str()));
    }
    steps
}

fn of_link(link: &ReportLink, values: Markup) -> ShownStep<'_> {
    let clauses = [Some(link.clause(&|text| Terminal.line(text))), link.finding(&|text| Terminal.line(text))];
    let file = link.file.iter().map(|file| code(&place(file, link.line)));
    ShownStep {
        file: link.file.as_ref(),
        line: link.line,
        in_change: link.in_change,
        title: vec![words(clauses.into_iter().flatten().collect::<Vec<_>>().join("; "))],
        aside: link.which.behind(),
        place: file.chain(link.function.iter().flat_map(|function| [words(" in "), code(function)])).collect(),
        stored: None,
        beside: values,
    }
}

/// Writes the section.
pub fn write(chain: &ReportChain, context: StepContext<'_>, page: &mut Markup) {
    let way = " passes. Each value below makes the next one wrong; this was tried in the running program.";
    page.paragraph("lead", &[code(&chain.bad), words(" fails; "), line(&chain.good), words(way)]);
    if let Some(sentence) = chain.switching() {
        page.paragraph("", &sentence);
    }
    if let Some(summary) = &chain.summary {
        page.leaf("p", &[], summary.clone());
    }
    let shown = Fold { n_steps: 1, words: None };
    let folds = outline(&chain.links)
        .into_iter()
        .map(|entry| Fold { n_steps: entry.n_hidden().max(1), words: entry.words(&|text| Terminal.line(text)) });
    stepper::write(&LIST, &steps(chain), &folds.chain([shown]).collect::<Vec<_>>(), context, page);
    if !chain.links.is_empty() || chain.beginning.is_some() {
        page.leaf("p", &[], chain.beginning());
    }
    page.notes(&[], &chain.remarks);
}

/// The last values in both runs.
///
/// - `now`: the index of the one that belongs to the step.
fn values(links: &[ReportLink], now: Option<usize>) -> Markup {
    let names = ["Value", "Failing run", "Passing run"];
    let last = links.iter().enumerate().skip(links.len().saturating_sub(N_BEFORE + 1));
    let row = |(nth, link): (usize, &ReportLink), page: &mut Markup| {
        let class = if Some(nth) == now { "now" } else { "before" };
        page.element("tr", &[("class", class)], |page| {
            page.element("th", &[("scope", "row")], |page| match (&link.variable, link.kind) {
                (Some(variable), EffectKind::Value | EffectKind::Contents) => page.phrase(&[code(variable)]),
                (Some(function), _) => page.phrase(&[code(function), words(" returns")]),
                (None, EffectKind::Change) => page.words("the statement"),
                (None, _) => page.words("the condition"),
            });
            page.element("td", &[("class", "wrong")], |page| page.phrase(&[code(&link.value)]));
            page.cell(|page| page.phrase(&[code(&link.reference)]));
        });
    };
    Markup::of(|page| {
        page.scroll("Values", false, |page| {
            page.element("table", &[("class", "values")], |page| page.rows(&names, last, row));
        });
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Patch;
    use crate::samples;

    #[test]
    fn repeated_steps_are_folded_in_the_overview_and_keep_their_numbers() {
        let mut chain = samples::chain();
        chain.summary = Some("All <of> it.".into());
        let link = chain.links[1].clone();
        chain.links = vec![link; 6];
        let mut page = Markup::default();
        let context = StepContext { sources: &[], patch: &Patch::default(), prefix: "p" };
        write(&chain, context, &mut page);
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
