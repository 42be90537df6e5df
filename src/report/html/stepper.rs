//! A list of steps, of which the script shows one, and moves from one to the next. Without the script all are visible.

use std::collections::BTreeSet;

use crate::html::markup::{Markup, MarkupAttributes};
use crate::html::{diff, source};
use crate::patch::Patch;
use crate::story::FilePart;
use crate::{Inline, Untrusted};

/// A step.
#[derive(Debug)]
pub struct ShownStep<'s> {
    /// The path of its file.
    pub file: Option<&'s Untrusted>,
    /// Its line, from 1.
    pub line: Option<u64>,
    /// Whether the change touches the line.
    pub in_change: bool,
    /// What it does.
    pub title: Vec<Inline>,
    /// What follows the title in the overview.
    pub aside: String,
    /// Where it is.
    pub place: Vec<Inline>,
    /// The line that is stored with it.
    pub stored: Option<FilePart>,
    /// What stands beside its source.
    pub beside: Markup,
}

/// Adjacent steps in the overview.
#[derive(Debug)]
pub struct Fold {
    /// Their number.
    pub n_steps: usize,
    /// What stands in their place until a reader opens them; `None` if they are visible.
    pub words: Option<String>,
}

/// The list of a list.
#[derive(Debug)]
pub struct StepList {
    /// The attributes of the list.
    pub attributes: MarkupAttributes<'static>,
    /// The attributes of the part with the steps.
    pub steps: MarkupAttributes<'static>,
    /// The name of the overview.
    pub overview: &'static str,
    /// What a step is called.
    pub step: &'static str,
    /// What the ids of steps begin with.
    pub id: &'static str,
}

/// What is known of the lines of the steps.
#[derive(Debug, Clone, Copy)]
pub struct StepContext<'s> {
    /// The parts of files.
    pub sources: &'s [FilePart],
    /// The change.
    pub patch: &'s Patch,
    /// The prefix of the ids of its lines.
    pub prefix: &'static str,
}

/// The lines of the patch that the steps pass, as targets of links.
pub fn targets(steps: &[ShownStep<'_>], patch: &Patch) -> BTreeSet<(usize, u64)> {
    steps.iter().filter_map(|step| step.target(patch)).collect()
}

/// Writes the list.
///
/// - `folds`: all steps, in their order.
pub fn write(list: &StepList, steps: &[ShownStep<'_>], folds: &[Fold], context: StepContext<'_>, page: &mut Markup) {
    page.element("div", list.attributes, |page| {
        let overview = [("class", "overview"), ("tabindex", "0"), ("aria-label", list.overview)];
        page.element("ol", &overview, |page| {
            let mut first = 1;
            for Fold { n_steps, words } in folds {
                let entries = |page: &mut Markup| {
                    let steps = steps.iter().skip(first - 1).take(*n_steps);
                    (first..).zip(steps).for_each(|(number, step)| step.entry(list, number, page));
                };
                match words {
                    None => entries(page),
                    Some(words) => folded(first, words, entries, page),
                }
                first += n_steps;
            }
        });
        page.element("div", list.steps, |page| {
            for (number, step) in (1..).zip(steps) {
                step.write(list, [number, steps.len()], context, page);
                page.newline();
            }
        });
    });
}

fn folded(first: usize, words: &str, entries: impl FnOnce(&mut Markup), page: &mut Markup) {
    page.element("li", &[("value", &first.to_string())], |page| {
        page.element("details", &[], |page| {
            page.leaf("summary", &[], words);
            page.element("ol", &[], entries);
        });
    });
}

impl ShownStep<'_> {
    fn target(&self, patch: &Patch) -> Option<(usize, u64)> {
        diff::target(patch, self.file?, self.line?)
    }

    /// Writes it in the overview.
    fn entry(&self, list: &StepList, number: usize, page: &mut Markup) {
        page.element("li", &[("value", &number.to_string())], |page| {
            let target = format!("#{}-{number}", list.id);
            let class = if self.in_change { "changed" } else { "" };
            page.element("a", &[("href", &target), ("class", class)], |page| {
                page.phrase(&self.title);
                page.words(&self.aside);
                if self.in_change {
                    page.leaf("span", &[("class", "vh")], " (in the change)");
                }
            });
        });
    }

    fn write(&self, list: &StepList, [number, n_steps]: [usize; 2], context: StepContext<'_>, page: &mut Markup) {
        let id = format!("{}-{number}", list.id);
        let heading = format!("{id}-title");
        page.element("section", &[("class", "step"), ("id", &id), ("aria-labelledby", &heading)], |page| {
            page.element("h3", &[("id", &heading)], |page| {
                page.leaf("span", &[("class", "quiet")], format!("{} {number} of {n_steps}", list.step));
                page.words(" ");
                page.phrase(&self.title);
            });
            page.element("p", &[("class", "where")], |page| {
                page.phrase(&self.place);
                if self.in_change {
                    page.words(" ");
                    page.leaf("span", &[("class", "tag")], "in the change");
                }
                if let Some((file, line)) = self.target(context.patch) {
                    let target = format!("#{}{file}-{line}", context.prefix);
                    page.words(" ");
                    page.leaf("a", &[("href", &target), ("class", "jump")], "see it in the diff");
                }
            });
            page.element("div", &[("class", "pair")], |page| {
                source::write(self.file, self.line, context.sources.iter().chain(&self.stored), page);
                page.part(&self.beside);
            });
        });
    }
}
