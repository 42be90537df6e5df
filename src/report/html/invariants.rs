//! The section "what has to hold for the failure": the statements of an abstract slice with the invariants between them,
//! one statement at a time.
//!
//! Without the script all statements are visible, as in [`chain`](crate::html::chain).

use std::collections::BTreeSet;

use crate::Untrusted;
use crate::escape::Terminal;
use crate::html::markup::Markup;
use crate::html::{diff, source};
use crate::invariants::{Invariants, Skipped, Statement};
use crate::patch::Patch;
use crate::story::Source;
use idd_base::plural::count;

/// The lines of the patch that the slice has, as targets of links.
pub fn targets(found: &Invariants, patch: &Patch) -> BTreeSet<(usize, u64)> {
    found.shown().filter_map(|statement| target(statement, patch)).collect()
}

fn target(statement: &Statement, patch: &Patch) -> Option<(usize, u64)> {
    diff::target(patch, statement.file.as_ref()?, statement.line?.into())
}

/// Writes the section.
///
/// - `patch`, `prefix`: the change, and the prefix of the ids of its lines.
pub fn write(found: &Invariants, sources: &[Source], (patch, prefix): (&Patch, &str), page: &mut Markup) {
    page.element("p", &[("class", "lead")], |page| {
        page.words("The failure: ");
        page.line(&found.failure);
        page.words(".");
    });
    page.element("p", &[], |page| {
        let steps = number(found.run.n_steps, "step");
        page.words(&format!("Of {steps}, {} matter for it. ", found.slice.n_steps));
        page.words("Before each of these statements, its conditions hold; as long as they do, the failure follows, ");
        page.words("whatever the steps between do.");
        if found.compared.is_some() {
            page.words(" What holds in the passing run, too, is left out.");
        }
        if let Some(verified) = &found.verified {
            page.words(" ");
            page.words(&verified.sentence(|text| Terminal.line(text)));
        }
    });
    if found.is_partial {
        page.element("p", &[], |page| {
            page.words("The slice is not complete: a limit was met. Before its first statement, this holds:");
        });
        list(&found.rest, page);
    }
    let shown: Vec<&Statement> = found.shown().collect();
    page.element("div", &[("class", "stepper"), ("data-items", ".step")], |page| {
        let attributes = [("class", "overview"), ("tabindex", "0"), ("aria-label", "Statements that matter")];
        page.element("ol", &attributes, |page| {
            (1..).zip(&shown).for_each(|(nth, statement)| overview_of(nth, statement, page));
        });
        page.element("div", &[("class", "steps")], |page| {
            for (nth, statement) in (1..).zip(&shown) {
                let link = target(statement, patch).map(|(file, line)| format!("#{prefix}{file}-{line}"));
                write_step((nth, shown.len()), statement, (sources, link.as_deref()), page);
            }
        });
    });
    if !found.remarks.is_empty() {
        page.element("ul", &[("class", "notes")], |page| {
            found.remarks.iter().for_each(|remark| page.leaf("li", &[], remark.clone()));
        });
    }
}

fn overview_of(nth: usize, statement: &Statement, page: &mut Markup) {
    page.element("li", &[("value", &nth.to_string())], |page| {
        let class = if statement.is_changed { "changed" } else { "" };
        page.element("a", &[("href", &format!("#statement-{nth}")), ("class", class)], |page| {
            title(statement, page);
            if statement.is_changed {
                page.leaf("span", &[("class", "vh")], " (in the change)");
            }
        });
    });
}

fn title(statement: &Statement, page: &mut Markup) {
    match (&statement.source, &statement.file) {
        (Some(text), _) => page.leaf("code", &[], text.clone()),
        (None, Some(file)) => page.leaf("code", &[], source::place(file, statement.line.map(u64::from))),
        (None, None) => page.leaf("code", &[], statement.function.clone()),
    }
}

fn write_step(
    (nth, n_shown): (usize, usize),
    statement: &Statement,
    (sources, jump): (&[Source], Option<&str>),
    page: &mut Markup,
) {
    let id = format!("statement-{nth}");
    let heading = format!("{id}-title");
    page.element("section", &[("class", "step"), ("id", &id), ("aria-labelledby", &heading)], |page| {
        page.element("h3", &[("id", &heading)], |page| {
            page.leaf("span", &[("class", "quiet")], format!("Statement {nth} of {n_shown}"));
            page.words(" ");
            title(statement, page);
        });
        page.element("p", &[("class", "where")], |page| {
            if let Some(file) = &statement.file {
                page.leaf("code", &[], source::place(file, statement.line.map(u64::from)));
                page.words(if statement.is_initial() { ", " } else { " in " });
            }
            if statement.is_initial() {
                page.line(&statement.function);
            } else {
                page.leaf("code", &[], statement.function.clone());
                page.words(&format!(", step {}", statement.step));
            }
            let fails = if nth == n_shown { Some("fails") } else { None };
            for note in fails.into_iter().chain(statement.notes()) {
                page.words(&format!("; {note}"));
            }
            if statement.is_changed {
                page.words(" ");
                page.leaf("span", &[("class", "tag")], "in the change");
            }
            if let Some(jump) = jump {
                page.words(" ");
                page.leaf("a", &[("href", jump), ("class", "jump")], "see it in the diff");
            }
        });
        page.element("div", &[("class", "pair")], |page| {
            let line = statement.line.map(u64::from);
            source::write((statement.file.as_ref(), line), sources.iter().chain(&of_line(statement)), page);
            page.element("div", &[], |page| holds(statement, page));
        });
    });
    page.newline();
}

/// The line that is stored with a statement.
fn of_line(statement: &Statement) -> Option<Source> {
    let (file, text) = statement.file.clone().zip(statement.source.clone())?;
    Some(Source { file, lines: vec![(statement.line?.into(), text)] })
}

fn holds(statement: &Statement, page: &mut Markup) {
    skipped(&statement.skipped, page);
    if !statement.invariant.is_empty() {
        page.leaf("p", &[], "Before it, this holds:");
        list(&statement.invariant, page);
    }
    if !statement.values.is_empty() {
        page.leaf("p", &[], "Recorded values:");
        list(&statement.values, page);
    }
}

/// `Skipped before it: 12 steps (scan 9, main 3).`, and what assigns something without an effect.
fn skipped(Skipped { n_steps, functions, kept }: &Skipped, page: &mut Markup) {
    if *n_steps == 0 && kept.is_empty() {
        return;
    }
    page.element("p", &[("class", "quiet")], |page| {
        if *n_steps > 0 {
            page.words(&format!("Skipped before it: {}", number(*n_steps, "step")));
            for (nth, (function, n)) in functions.iter().enumerate() {
                page.words(if nth == 0 { " (" } else { ", " });
                page.leaf("code", &[], function.clone());
                page.words(&format!(" {n}"));
            }
            page.words(if functions.is_empty() { ". " } else { "). " });
        }
        for (place, n) in kept {
            page.leaf("code", &[], place.clone());
            page.words(&format!(" runs {} and keeps the conditions. ", number(*n, "time")));
        }
    });
}

fn number(n: u64, noun: &str) -> String {
    count(usize::try_from(n).unwrap_or(usize::MAX), noun)
}

fn list(texts: &[Untrusted], page: &mut Markup) {
    page.element("ul", &[], |page| {
        for text in texts {
            page.element("li", &[], |page| page.leaf("code", &[], text.clone()));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn written(found: &Invariants, sources: &[Source]) -> String {
        let mut page = Markup::default();
        write(found, sources, (&Patch::read(&"".into()), "p"), &mut page);
        page.as_str().to_owned()
    }

    #[test]
    fn each_statement_is_a_step_with_what_holds_before_it() {
        let page = written(&samples::invariants(), &[]);
        let breaks = ["<section", "<p", "<ul", "<li", "<div class=\"pair\""];
        insta::assert_snapshot!(
            breaks.iter().fold(page, |page, element| page.replace(element, &format!("\n{element}")))
        );
    }

    #[test]
    fn lines_around_a_statement_are_shown_if_they_are_known() {
        let lines = (1..30).map(|number| (number, format!("line {number};").as_str().into())).collect();
        let page = written(&samples::invariants(), &[Source { file: "src/parse.c".into(), lines }]);
        assert!(page.contains("<code>line 3;</code>") && page.contains("<code>line 14;</code>"), "{page}");
        assert!(!page.contains("<code>line 15;</code>"), "{page}");
    }

    #[test]
    fn statements_that_are_not_necessary_are_left_out_and_a_limit_is_said() {
        let mut found = samples::invariants();
        found.statements[1].is_necessary = Some(false);
        found.is_partial = true;
        let page = written(&found, &[]);
        assert!(page.contains("Statement 1 of 2") && !page.contains("n = max + 1;"), "{page}");
        assert!(page.contains("The slice is not complete"), "{page}");
    }
}
