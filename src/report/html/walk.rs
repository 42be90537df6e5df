//! The section "the first wrong step": the steps of a walk from there to the failure.

use crate::html::markup::Markup;
use crate::phrase::{code, place, words};
use crate::walk::{FinishedWalk, WrongStep};

/// Writes the section.
pub fn write(walk: &FinishedWalk, page: &mut Markup) {
    let about = "The steps from there to the failure that a person judged to be wrong, in the order of the run:";
    page.leaf("p", &[("class", "lead")], walk.sentence());
    page.leaf("p", &[], about);
    page.scroll("Steps", true, |page| {
        page.element("table", &[("class", "listing")], |page| {
            page.rows(&["Step", "Place", "Statement", "What is wrong", "Values"], &walk.steps, row);
        });
    });
    page.newline();
}

fn row(step: &WrongStep, page: &mut Markup) {
    page.element("tr", &[], |page| {
        page.number(step.step);
        let file = step.file.iter().flat_map(|file| [code(&place(file, step.line)), words(" in ")]);
        page.cell(|page| page.phrase(&file.chain([code(&step.function)]).collect::<Vec<_>>()));
        page.cell(|page| page.statement(step.source.as_ref()));
        page.leaf("td", &[], step.wrong.clone());
        page.cell(|page| page.codes(&step.values));
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
