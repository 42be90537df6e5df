//! The section "what leads to the failure": the lines of a chop, under their files and functions.

use crate::chop::{Chop, Line};
use crate::html::chart;
use crate::html::markup::{Markup, ROWS};
use idd_base::plural::count;

/// Writes the section.
pub fn write(chop: &Chop, page: &mut Markup) {
    page.element("p", &[("class", "lead")], |page| {
        page.words("The failure: ");
        page.line(&chop.failure);
        page.words(" (the test ended with ");
        page.line(&chop.ending);
        page.words(").");
    });
    for file in &chop.reduced {
        page.element("p", &[], |page| {
            page.words("The input ");
            page.leaf("code", &[], file.name.clone());
            let before = count(file.n_bytes_before, "byte");
            page.words(&format!(" was shrunk from {before} to {}", file.n_bytes));
            if let Some(text) = &file.text {
                page.words(": ");
                page.leaf("code", &[], text.clone());
            }
            page.words(".");
        });
    }
    if !chop.lines.is_empty() {
        page.element("p", &[], |page| {
            page.words("These lines depend on the input");
            for (nth, input) in chop.inputs.iter().enumerate() {
                page.words(if nth == 0 { " " } else { ", " });
                page.leaf("code", &[], input.clone());
            }
            let all = count(chop.run.n_lines, "executed line");
            page.words(&format!(", and the failure depends on them: {} of {all}. ", chop.chop.n_lines));
            if chop.tells_apart() {
                let runs = count(chop.n_passing as usize, "passing run");
                page.words(&format!("Lines that fewer of {runs} with similar inputs ran have a higher rank. "));
            }
            page.words("Rank 1 is the most suspicious one. A star marks a line of the change.");
        });
        listing(&chop.lines, page);
    }
    if !chop.constant_lines.is_empty() {
        page.leaf("h3", &[], "Constants");
        page.leaf("p", &[], "The failure also depends on these lines, which depend on no input.");
        listing(&chop.constant_lines, page);
    }
    if !chop.remarks.is_empty() {
        page.element("ul", &[("class", "notes")], |page| {
            chop.remarks.iter().for_each(|remark| page.leaf("li", &[], remark.clone()));
        });
    }
}

/// Lines in the order of the source, with a table for each function; `lines` are in the order of their ranks.
fn listing(lines: &[Line], page: &mut Markup) {
    let mut ranked: Vec<(usize, &Line)> = (1..).zip(lines).collect();
    ranked.sort_by_key(|(_, line)| (&line.file, line.line));
    page.element("div", &[("data-items", ROWS)], |page| {
        for of_function in
            ranked.chunk_by(|(_, one), (_, other)| (&one.file, &one.function) == (&other.file, &other.function))
        {
            page.scroll("Lines", false, |page| {
                page.element("table", &[("class", "listing")], |page| {
                    let (_, first) = of_function[0];
                    page.element("caption", &[], |page| {
                        page.leaf("code", &[], first.file.clone());
                        page.words(" in ");
                        page.leaf("code", &[], first.function.clone());
                    });
                    chart::head(&["Rank", "Line", "Statement", "Values at its last step"], page);
                    page.element("tbody", &[], |page| {
                        for (rank, line) in of_function {
                            row(*rank, line, page);
                        }
                    });
                });
            });
            page.newline();
        }
    });
}

fn row(rank: usize, line: &Line, page: &mut Markup) {
    page.element("tr", &[("class", if line.is_changed { "changed" } else { "" })], |page| {
        page.leaf("td", &[("class", "num")], rank.to_string());
        page.leaf("td", &[("class", "num")], line.line.to_string());
        page.element("td", &[], |page| {
            if line.is_changed {
                page.words("★ ");
            }
            page.statement(line.source.as_ref());
            if line.is_changed {
                page.leaf("span", &[("class", "vh")], " (in the change)");
            }
        });
        page.element("td", &[], |page| page.codes(&line.values));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn lines_stand_under_their_functions_in_the_order_of_the_source() {
        let mut page = Markup::default();
        write(&samples::chop(), &mut page);
        insta::assert_snapshot!(page.as_str().replace("<tr", "\n<tr").replace("<p", "\n<p"));
    }
}
