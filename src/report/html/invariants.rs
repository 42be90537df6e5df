//! The section "what has to hold for the failure": the statements of an abstract slice with the invariants between them,
//! one statement at a time.

use crate::html::markup::Markup;
use crate::html::stepper::{self, Fold, ShownStep, StepContext, StepList};
use crate::invariants::{InvariantStatement, Invariants, Skipped};
use crate::phrase::{code, line, place, words};
use crate::story::FilePart;
use crate::{Inline, Terminal, Untrusted};
use idd_base::count;

const LIST: StepList = StepList {
    attributes: &[("class", "stepper"), ("data-items", ".step")],
    steps: &[("class", "steps")],
    overview: "Statements that matter",
    step: "Statement",
    id: "statement",
};

/// The statements that are shown; the last one fails.
pub fn steps(found: &Invariants) -> Vec<ShownStep<'_>> {
    let n_shown = found.shown().count();
    let notes = (1..).map(|number| if number == n_shown { &["fails"][..] } else { &[] });
    found.shown().zip(notes).map(|(statement, notes)| of_statement(statement, notes)).collect()
}

fn of_statement<'s>(statement: &'s InvariantStatement, notes: &[&'static str]) -> ShownStep<'s> {
    let InvariantStatement { file, source, function, .. } = statement;
    let line = statement.line.map(u64::from);
    let title = match (source, file) {
        (Some(text), _) => code(text),
        (None, Some(file)) => code(&place(file, line)),
        (None, None) => code(function),
    };
    let stored = file.clone().zip(source.clone()).zip(line);
    ShownStep {
        file: file.as_ref(),
        line,
        in_change: statement.is_changed,
        title: vec![title],
        aside: String::new(),
        place: place_of(statement, notes),
        stored: stored.map(|((file, text), line)| FilePart { file, lines: vec![(line, text)] }),
        beside: Markup::of(|page| page.element("div", &[], |page| holds(statement, page))),
    }
}

/// Where a statement is, and what is special about it.
fn place_of(statement: &InvariantStatement, notes: &[&'static str]) -> Vec<Inline> {
    let InvariantStatement { file, function, step, .. } = statement;
    let [before, function, after] = if statement.is_initial() {
        [words(", "), line(function), words("")]
    } else {
        [words(" in "), code(function), words(format!(", step {step}"))]
    };
    let file = file.iter().flat_map(|file| [code(&place(file, statement.line)), before.clone()]);
    let notes = notes.iter().copied().chain(statement.notes()).map(|note| words(format!("; {note}")));
    file.chain([function, after]).chain(notes).collect()
}

/// Writes the section.
pub fn write(found: &Invariants, context: StepContext<'_>, page: &mut Markup) {
    page.paragraph("lead", &[words("The failure: "), line(&found.failure), words(".")]);
    page.element("p", &[], |page| {
        page.words(&format!("Of {}, {} matter for it. ", count(found.run.n_steps, "step"), found.slice.n_steps));
        page.words("Before each of these statements, its conditions hold; as long as they do, the failure follows, ");
        page.words("whatever the steps between do.");
        if found.compared.is_some() {
            page.words(" What holds in the passing run, too, is left out.");
        }
        if let Some(verified) = &found.verified {
            page.words(&format!(" {}", verified.sentence(|text| Terminal.line(text))));
        }
    });
    if found.is_partial {
        page.leaf("p", &[], "The slice is not complete: a limit was met. Before its first statement, this holds:");
        list(&found.rest, page);
    }
    let steps = steps(found);
    stepper::write(&LIST, &steps, &[Fold { n_steps: steps.len(), words: None }], context, page);
    page.notes(&[], &found.remarks);
}

fn holds(statement: &InvariantStatement, page: &mut Markup) {
    skipped(&statement.skipped, page);
    for (title, texts) in [("Before it, this holds:", &statement.invariant), ("Recorded values:", &statement.values)] {
        if !texts.is_empty() {
            page.leaf("p", &[], title);
            list(texts, page);
        }
    }
}

/// `Skipped before it: 12 steps (scan 9, main 3).`, and what assigns something without an effect.
fn skipped(Skipped { n_steps, functions, kept }: &Skipped, page: &mut Markup) {
    let mut parts = Vec::new();
    if *n_steps > 0 {
        parts.push(words(format!("Skipped before it: {}", count(*n_steps, "step"))));
        for (nth, (function, n)) in functions.iter().enumerate() {
            parts.extend([words(if nth == 0 { " (" } else { ", " }), code(function), words(format!(" {n}"))]);
        }
        parts.push(words(if functions.is_empty() { ". " } else { "). " }));
    }
    for (place, n) in kept {
        parts.extend([code(place), words(format!(" runs {} and keeps the conditions. ", count(*n, "time")))]);
    }
    if !parts.is_empty() {
        page.paragraph("quiet", &parts);
    }
}

fn list(texts: &[Untrusted], page: &mut Markup) {
    page.element("ul", &[], |page| {
        for text in texts {
            page.element("li", &[], |page| page.phrase(&[code(text)]));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Patch;
    use crate::samples;
    use crate::story::FilePart;

    fn written(found: &Invariants, sources: &[FilePart]) -> String {
        let mut page = Markup::default();
        write(found, StepContext { sources, patch: &Patch::default(), prefix: "p" }, &mut page);
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
        let page = written(&samples::invariants(), &[FilePart { file: "src/parse.c".into(), lines }]);
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
