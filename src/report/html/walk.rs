//! The section "the first wrong step": the steps of a walk from there to the failure.

use crate::html::chart;
use crate::html::markup::Markup;
use crate::walk::{Step, Walk};

/// Writes the section.
pub fn write(walk: &Walk, page: &mut Markup) {
    page.leaf("p", &[("class", "lead")], walk.sentence());
    page.leaf(
        "p",
        &[],
        "The steps from there to the failure that a person judged to be wrong, in the order of the run:",
    );
    page.scroll("Steps", true, |page| {
        page.element("table", &[("class", "listing")], |page| {
            chart::head(&["Step", "Place", "Statement", "What is wrong", "Values"], page);
            page.element("tbody", &[], |page| walk.steps.iter().for_each(|step| row(step, page)));
        });
    });
    page.newline();
}

fn row(step: &Step, page: &mut Markup) {
    page.element("tr", &[], |page| {
        page.leaf("td", &[("class", "num")], step.step.to_string());
        page.element("td", &[], |page| {
            if let Some(file) = &step.file {
                let line = step.line.map(|line| format!(":{line}")).unwrap_or_default();
                page.leaf("code", &[], [file.as_bytes(), line.as_bytes()].concat());
                page.words(" in ");
            }
            page.leaf("code", &[], step.function.clone());
        });
        page.element("td", &[], |page| page.statement(step.source.as_ref()));
        page.leaf("td", &[], step.wrong.clone());
        page.element("td", &[], |page| page.codes(&step.values));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn each_wrong_step_is_a_row_and_text_is_escaped() {
        let mut page = Markup::default();
        write(&samples::walk(), &mut page);
        let page = page.as_str();
        assert!(
            page.contains("The first wrong step computes a wrong value from right ones; found with 3 answers."),
            "{page}"
        );
        assert!(page.contains("<code>src/parse.c:8</code> in <code>parse</code>"), "{page}");
        assert!(page.contains("<code>n = &lt;1&gt;</code>"), "{page}");
        assert!(page.contains("not in the repository"), "{page}");
        assert_eq!(page.matches("<tr").count(), 3, "{page}");
    }
}
