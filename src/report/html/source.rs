//! The source around a step.

use crate::Untrusted;
use crate::html::markup::Markup;
use crate::story::FilePart;

/// The number of source lines before and after a step.
const N_AROUND: u64 = 5;

/// Writes the lines around a step, from the first of `sources` that has its line.
pub fn write<'s>(
    file: Option<&Untrusted>,
    line: Option<u64>,
    sources: impl IntoIterator<Item = &'s FilePart>,
    page: &mut Markup,
) {
    let has_line =
        |source: &FilePart| Some(&source.file) == file && source.lines.iter().any(|(number, _)| Some(*number) == line);
    let Some((source, line)) = sources.into_iter().find(|source| has_line(source)).zip(line) else {
        page.leaf("p", &[("class", "quiet")], "The source of this step is not in the repository.");
        return;
    };
    let near = line.saturating_sub(N_AROUND)..=line.saturating_add(N_AROUND);
    let attributes = [("class", "source"), ("tabindex", "0"), ("role", "group"), ("aria-label", "Source")];
    page.element("div", &attributes, |page| {
        for (number, text) in source.lines.iter().filter(|(number, _)| near.contains(number)) {
            let class = if *number == line { "l here" } else { "l" };
            page.element("div", &[("class", class)], |page| {
                page.leaf("span", &[("class", "n")], number.to_string());
                page.element("code", &[], |page| page.block(text));
            });
        }
    });
}
