//! The section "what leads to the failure": the lines of a chop, under their files and functions.

use crate::chop::{Chop, ChopLine};
use crate::html::markup::{Markup, ROWS};
use crate::phrase::{code, codes, line, words};
use idd_base::count;

/// Writes the section.
pub fn write(chop: &Chop, page: &mut Markup) {
    let ending = [words(" (the test ended with "), line(&chop.ending), words(").")];
    page.paragraph("lead", &[&[words("The failure: "), line(&chop.failure)], &ending[..]].concat());
    for file in &chop.reduced {
        let sizes = format!(" was shrunk from {} to {}", count(file.n_bytes_before, "byte"), file.n_bytes);
        let mut parts = vec![words("The input "), code(&file.name), words(sizes)];
        parts.extend(file.text.iter().flat_map(|text| [words(": "), code(text)]));
        parts.push(words("."));
        page.paragraph("", &parts);
    }
    if !chop.lines.is_empty() {
        page.element("p", &[], |page| {
            page.words("These lines depend on the input");
            page.words(if chop.inputs.is_empty() { "" } else { " " });
            page.phrase(&codes(&chop.inputs, ", "));
            let all = count(chop.run.n_lines, "executed line");
            page.words(&format!(", and the failure depends on them: {} of {all}. ", chop.chop.n_lines));
            if chop.tells_apart() {
                let runs = count(chop.n_passing, "passing run");
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
    page.notes(&[], &chop.remarks);
}

/// Lines in the order of the source, with a table for each function; `lines` are in the order of their ranks.
fn listing(lines: &[ChopLine], page: &mut Markup) {
    let mut ranked: Vec<(usize, &ChopLine)> = (1..).zip(lines).collect();
    ranked.sort_by_key(|(_, line)| (&line.file, line.line));
    let is_same = |one: &ChopLine, other: &ChopLine| (&one.file, &one.function) == (&other.file, &other.function);
    page.element("div", &[("data-items", ROWS)], |page| {
        for of_function in ranked.chunk_by(|(_, one), (_, other)| is_same(one, other)) {
            page.scroll("Lines", false, |page| table(of_function, page));
            page.newline();
        }
    });
}

fn table(ranked: &[(usize, &ChopLine)], page: &mut Markup) {
    let (_, ChopLine { file, function, .. }) = ranked[0];
    page.element("table", &[("class", "listing")], |page| {
        page.element("caption", &[], |page| page.phrase(&[code(file), words(" in "), code(function)]));
        page.rows(&["Rank", "Line", "Statement", "Values at its last step"], ranked, |(rank, line), page| {
            row(*rank, line, page);
        });
    });
}

fn row(rank: usize, line: &ChopLine, page: &mut Markup) {
    page.element("tr", &[("class", if line.is_changed { "changed" } else { "" })], |page| {
        page.number(rank);
        page.number(line.line);
        page.cell(|page| {
            page.words(if line.is_changed { "★ " } else { "" });
            page.statement(line.source.as_ref());
            if line.is_changed {
                page.leaf("span", &[("class", "vh")], " (in the change)");
            }
        });
        page.cell(|page| page.codes(&line.values));
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
