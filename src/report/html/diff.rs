//! A patch on a page: with line numbers; the lines of the minimal change are marked, long runs of others are folded.

use std::collections::BTreeSet;

use crate::Untrusted;
use crate::html::markup::Markup;
use crate::patch::{Patch, PatchLine, Sign};
use idd_base::count;

/// The maximum number of lines of a patch; the others are counted.
const MAX_LINES: usize = 6_000;

/// The maximum number of bytes of a line.
const MAX_LINE: usize = 2_000;

/// The maximum number of header lines of a file, such as its mode.
const MAX_FACTS: usize = 4;

/// Longer runs of unmarked lines are folded, if the patch has any marked line.
const MAX_PLAIN: usize = 14;

/// The number of unmarked lines that stay visible beside a marked one.
const N_AROUND: usize = 4;

/// The place of a line of the newer side: index of the file, and number. `None` if the patch does not show it.
pub fn target(patch: &Patch, file: &Untrusted, newer: u64) -> Option<(usize, u64)> {
    let index = patch.files.iter().position(|other| other.paths[1] == *file)?;
    let n_before: usize = patch.files[..index].iter().map(|file| file.lines.len()).sum();
    let is_it = |line: &PatchLine| matches!(line.sign, Sign::Added | Sign::Same) && u64::from(line.newer) == newer;
    let shown = patch.files[index].lines.iter().take(MAX_LINES.saturating_sub(n_before));
    shown.into_iter().any(is_it).then_some((index, newer))
}

fn short(line: &Untrusted) -> Untrusted {
    match line.as_bytes().get(..MAX_LINE) {
        None => line.clone(),
        Some(begin) => [begin, " …".as_bytes()].concat().into(),
    }
}

/// Writes a patch.
///
/// - `prefix`: the prefix of the ids of its lines, unique on the page.
/// - `targets`: lines of the newer side that are targets of links, as [`target`] returns them.
pub fn write(patch: &Patch, prefix: &str, targets: &BTreeSet<(usize, u64)>, page: &mut Markup) {
    let is_marked = patch.edits().any(|line| line.is_marked);
    let mut n_left = MAX_LINES;
    page.element("div", &[("class", "patch"), ("data-items", ".add, .del")], |page| {
        for (index, file) in patch.files.iter().enumerate() {
            let shown = &file.lines[..file.lines.len().min(n_left)];
            n_left -= shown.len();
            let n_edits = shown.iter().filter(|line| line.is_edit()).count();
            let n_marked = shown.iter().filter(|line| line.is_marked).count();
            let attributes = [("class", "file"), ("open", "")];
            let n_attributes = if !is_marked || n_marked > 0 { 2 } else { 1 };
            page.element("details", &attributes[..n_attributes], |page| {
                page.element("summary", &[], |page| {
                    page.leaf("code", &[], file.paths[1].clone());
                    let n_edits = count(n_edits, "line");
                    let of = if n_marked > 0 { format!("{n_marked} of {n_edits} marked") } else { n_edits };
                    page.leaf("span", &[("class", "quiet")], of);
                });
                let facts = file.header.iter().filter(|line| !line.as_bytes().starts_with(b"index "));
                // The rest of a binary patch is not readable.
                for fact in facts.take(MAX_FACTS) {
                    page.leaf("p", &[("class", "fact quiet")], short(fact));
                }
                if !shown.is_empty() {
                    let name = format!("Lines of file {} of the patch", index + 1);
                    let attributes = [("class", "diff"), ("tabindex", "0"), ("role", "group"), ("aria-label", &*name)];
                    page.element("div", &attributes, |page| lines(shown, prefix, index, targets, page));
                }
            });
            page.newline();
        }
    });
    let n_left_out = patch.files.iter().map(|file| file.lines.len()).sum::<usize>().saturating_sub(MAX_LINES);
    if n_left_out > 0 {
        page.leaf("p", &[("class", "quiet")], format!("{} are left out here.", count(n_left_out, "more line")));
    }
}

fn lines(shown: &[PatchLine], prefix: &str, index: usize, targets: &BTreeSet<(usize, u64)>, page: &mut Markup) {
    let folds = shown.iter().any(|line| line.is_marked);
    let is_near = |at: usize| {
        let (begin, end) = (at.saturating_sub(N_AROUND), (at + N_AROUND + 1).min(shown.len()));
        shown[begin..end].iter().any(|line| line.is_marked)
    };
    let mut at = 0;
    while at < shown.len() {
        let n_plain = (at..shown.len()).take_while(|at| folds && !is_near(*at)).count();
        let is_folded = n_plain > MAX_PLAIN;
        let n_run = if is_folded { n_plain } else { n_plain.max(1) };
        let run = |page: &mut Markup| {
            for line in &shown[at..at + n_run] {
                let target = (index, u64::from(line.newer));
                let is_target = targets.contains(&target) && matches!(line.sign, Sign::Added | Sign::Same);
                write_line(line, is_target.then(|| format!("{prefix}{index}-{}", line.newer)).as_deref(), page);
            }
        };
        if is_folded {
            page.element("details", &[("class", "fold")], |page| {
                page.leaf("summary", &[], count(n_run, "more line"));
                run(page);
            });
        } else {
            run(page);
        }
        at += n_run;
    }
}

fn write_line(line: &PatchLine, id: Option<&str>, page: &mut Markup) {
    let (class, sign) = match line.sign {
        Sign::Hunk => ("l hunk", ""),
        Sign::Same => ("l", " "),
        Sign::Added => ("l add", "+"),
        Sign::Removed => ("l del", "−"),
    };
    let class = if line.is_marked { format!("{class} mark") } else { class.to_owned() };
    let mut attributes = vec![("class", &*class)];
    attributes.extend(id.map(|id| ("id", id)));
    attributes.extend(line.is_marked.then_some(("data-marked", "")));
    page.element("div", &attributes, |page| {
        if line.sign == Sign::Hunk {
            page.leaf("code", &[], short(&line.text));
            return;
        }
        let number = |is_there: bool, number: u32| if is_there { number.to_string() } else { String::new() };
        page.leaf("span", &[("class", "n")], number(line.sign != Sign::Added, line.older));
        page.leaf("span", &[("class", "n")], number(line.sign != Sign::Removed, line.newer));
        page.leaf("span", &[("class", "s")], sign);
        page.element("code", &[], |page| page.block(&short(&line.text)));
        if line.is_marked {
            page.leaf("span", &[("class", "vh")], " (marked)");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_patch_is_cut_and_what_is_left_out_is_no_target() {
        let long = format!("diff --git a/a b/a\n@@ -0,0 +1,{} @@\n{}", 7000, "+x\n".repeat(7000));
        let patch = Patch::read(&long.as_str().into());
        let mut page = Markup::default();
        write(&patch, "d", &BTreeSet::new(), &mut page);
        assert!(page.as_str().contains("1001 more lines are left out"));
        assert_eq!(target(&patch, &"a".into(), 21), Some((0, 21)));
        assert_eq!(target(&patch, &"a".into(), 6_500), None);
        assert_eq!(target(&patch, &"b".into(), 21), None);
    }
}
