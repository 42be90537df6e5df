//! The section "what has to hold for the failure": the statements of an abstract slice with the invariants between them.

use crate::plural::count;
use crate::report::html::chart;
use crate::report::html::markup::Markup;
use crate::report::invariants::Invariants;
use crate::report::invariants::Statement;

/// Writes the section.
pub fn write(found: &Invariants, page: &mut Markup) {
    page.element("p", &[("class", "lead")], |page| {
        page.words("The failure: ");
        page.line(&found.failure);
        page.words(".");
    });
    page.element("p", &[], |page| {
        let steps = count(usize::try_from(found.run.n_steps).unwrap_or(usize::MAX), "step");
        page.words(&format!("Of {steps}, {} matter for it. ", found.slice.n_steps));
        page.words("Before each of these statements, the conditions beside it hold; as long as they do, the failure follows, whatever the steps between do. A star marks a line of the change.");
    });
    let attributes = [("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", "Statements")];
    page.element("div", &attributes, |page| {
        page.element("table", &[("class", "listing")], |page| {
            chart::head(&["Before it holds", "Step", "Place", "Statement", "Values", "Steps skipped before it"], page);
            page.element("tbody", &[], |page| found.shown().for_each(|statement| row(statement, page)));
        });
    });
    page.newline();
    if !found.remarks.is_empty() {
        page.element("ul", &[("class", "notes")], |page| {
            found.remarks.iter().for_each(|remark| page.leaf("li", &[], remark.clone()));
        });
    }
}

fn row(statement: &Statement, page: &mut Markup) {
    page.element("tr", &[("class", if statement.is_changed { "changed" } else { "" })], |page| {
        page.element("td", &[], |page| {
            for (nth, condition) in statement.invariant.iter().enumerate() {
                page.words(if nth == 0 { "" } else { " and " });
                page.leaf("code", &[], condition.clone());
            }
        });
        page.leaf("td", &[("class", "num")], statement.step.to_string());
        page.element("td", &[], |page| {
            if let Some(file) = &statement.file {
                let line = statement.line.map(|line| format!(":{line}")).unwrap_or_default();
                page.leaf("code", &[], [file.as_bytes(), line.as_bytes()].concat());
                page.words(" in ");
            }
            page.leaf("code", &[], statement.function.clone());
        });
        page.element("td", &[], |page| {
            if statement.is_changed {
                page.words("★ ");
            }
            match &statement.source {
                Some(source) => page.leaf("code", &[], source.clone()),
                None => page.leaf("span", &[("class", "quiet")], "not in the repository"),
            }
            if statement.is_decision {
                page.leaf("span", &[("class", "quiet")], " decides");
            }
        });
        page.element("td", &[], |page| {
            for (nth, value) in statement.values.iter().enumerate() {
                page.words(if nth == 0 { "" } else { ", " });
                page.leaf("code", &[], value.clone());
            }
        });
        page.leaf("td", &[("class", "num")], statement.skipped.n_steps.to_string());
    });
}
