//! `git idd invariants`: runs the driver and prints the slice.

use crate::console::CommandScene;
use crate::progress::Volume;
use crate::slice::share;
use idd_base::count;
use idd_report::invariants::{InvariantStatement, Invariants, Skipped};
use idd_report::json::json_line;
use idd_report::{Explanation, Terminal, Untrusted};
use idd_session::Failure;
use idd_session::invariants::InvariantsOrder;
use std::fmt::Write as _;

/// The number of printed conditions of an invariant, unless all are asked for.
const N_CONDITIONS: usize = 12;

/// The number of printed statements that keep an invariant, unless all are asked for.
const N_KEPT: usize = 4;

/// The number of printed statements after the initial values, and of those before the failure, unless all are asked for.
const N_ENDS: (usize, usize) = (8, 40);

/// A longer condition or line of source is cut, in bytes.
const MAX_TEXT: usize = 200;

/// Longer names do not widen their column, in characters.
const MAX_WIDTH: usize = 32;

/// Finds the error invariants of a run; the result is the printed text.
pub fn run(order: &InvariantsOrder, scene: CommandScene<'_>) -> Result<Vec<u8>, Failure> {
    let CommandScene { location, context, console } = scene;
    let found = idd_session::invariants::run(order, location, context, &mut console.progress())?;
    if console.is_json {
        return Ok(json_line(&Explanation::Invariants(found)));
    }
    Ok(text(&found, console.volume == Volume::Verbose).into_bytes())
}

/// A text in one line.
fn safe(text: &Untrusted) -> String {
    Terminal.line(text)
}

/// The text of the result.
struct InvariantsText {
    text: String,
    is_verbose: bool,
    /// The widths of the columns of places and functions, in characters.
    widths: (usize, usize),
}

/// The statements for people.
pub fn text(found: &Invariants, is_verbose: bool) -> String {
    let width = |name: &dyn Fn(&InvariantStatement) -> String| {
        let widths = found.shown().map(|one| name(one).chars().count());
        widths.filter(|width| *width <= MAX_WIDTH).max().unwrap_or(0)
    };
    let widths = (width(&place), width(&|one| if one.is_initial() { String::new() } else { safe(&one.function) }));
    let mut listing = InvariantsText { text: String::new(), is_verbose, widths };
    listing.head(found);
    listing.statements(found);
    listing.end(found);
    listing.text
}

/// `src/parse.c:8`.
fn place(statement: &InvariantStatement) -> String {
    match (&statement.file, statement.line) {
        (Some(file), Some(line)) => format!("{}:{line}", safe(file)),
        _ => "?".to_owned(),
    }
}

fn number(n: u64, noun: &str) -> String {
    count(usize::try_from(n).unwrap_or(usize::MAX), noun)
}

impl InvariantsText {
    fn put(&mut self, line: &str) {
        writeln!(self.text, "{}", line.trim_end()).expect("a string takes all");
    }

    /// A text in one line, cut if it is long.
    fn short(&self, text: &Untrusted) -> String {
        if self.is_verbose { safe(text) } else { safe(&text.cut(MAX_TEXT)) }
    }

    fn head(&mut self, found: &Invariants) {
        self.put(&format!("failure:         {} (the test ended with {})", safe(&found.failure), safe(&found.ending)));
        if let Some(dynamic) = found.dynamic {
            self.put(&format!("dynamic slice:   {}", share(dynamic, found.run)));
        }
        self.put(&format!("abstract slice:  {}", share(found.slice, found.run)));
        if let Some(compared) = &found.compared {
            self.put(&format!("compared with:   recording {}, in which the test passed", safe(compared)));
        }
        match found.has_change {
            Some(true) => self.put("change:          in the slice; `*` marks its lines"),
            Some(false) => self.put("change:          not in the slice"),
            None => {}
        }
        self.put("");
        self.put(if found.is_partial {
            "The slice is not complete: a limit was met. Before its first statement, this holds."
        } else if found.compared.is_some() {
            "The failure follows as long as the conditions between the statements hold. What both runs have in common is left out."
        } else {
            "The failure follows as long as the conditions between the statements hold."
        });
        self.put("");
    }

    fn statements(&mut self, found: &Invariants) {
        let n_shown = found.shown().count();
        let n_initial = found.shown().take_while(|one| one.is_initial()).count();
        let mut last_step = 0;
        let middle = n_initial + N_ENDS.0..n_shown.saturating_sub(N_ENDS.1);
        for (nth, one) in found.shown().enumerate() {
            if !self.is_verbose && middle.len() > 1 && middle.contains(&nth) {
                if nth == middle.start {
                    let n = count(middle.len(), "more statement");
                    self.put("");
                    self.put(&format!("       ... {n} of the slice; `-v` prints all"));
                    self.put("");
                }
                last_step = one.step;
                continue;
            }
            if nth == n_initial && found.rest != one.invariant {
                self.conditions(&found.rest);
            }
            let mut notes = one.notes();
            if one.step < last_step {
                notes.insert(0, "after its calls");
            }
            if nth + 1 == n_shown {
                notes.insert(0, "fails");
            }
            last_step = one.step;
            self.statement(one, &notes);
        }
    }

    fn statement(&mut self, statement: &InvariantStatement, notes: &[&str]) {
        self.conditions(&statement.invariant);
        self.skipped(&statement.skipped);
        let source = statement.source.as_ref().map_or_else(|| "?".to_owned(), |source| self.short(source));
        let mark = if statement.is_changed { "*" } else { " " };
        let notes = if notes.is_empty() { String::new() } else { format!("   [{}]", notes.join("; ")) };
        let step = if statement.is_initial() { String::new() } else { format!("#{}", statement.step) };
        let (place, function) = (place(statement), safe(&statement.function));
        let (wide, wider) = self.widths;
        self.put(&format!("{mark} {step:<7} {place:<wide$}  {function:<wider$}  {source}{notes}"));
        if (self.is_verbose || statement.is_parting) && !statement.values.is_empty() {
            let values: Vec<String> = statement.values.iter().map(safe).collect();
            self.put(&format!("          values: {}", values.join(", ")));
        }
    }

    fn conditions(&mut self, all: &[Untrusted]) {
        let n_shown = if self.is_verbose { all.len() } else { N_CONDITIONS };
        for condition in all.iter().take(n_shown) {
            self.put(&format!("    | {}", self.short(condition)));
        }
        if let Some(n_more @ 1..) = all.len().checked_sub(n_shown) {
            self.put(&format!("    | ... {}; `-v` prints all", count(n_more, "more condition")));
        }
    }

    /// `... 212 steps skipped (scan_text 200, main 9, others 3)`, and what assigns something without an effect.
    fn skipped(&mut self, Skipped { n_steps, functions, kept }: &Skipped) {
        if *n_steps > 0 {
            let mut parts: Vec<String> = functions.iter().map(|(name, n)| format!("{} {n}", safe(name))).collect();
            let n_named: u64 = functions.iter().map(|(_, n)| n).sum();
            if let Some(n_others @ 1..) = n_steps.checked_sub(n_named) {
                parts.push(format!("others {n_others}"));
            }
            self.put(&format!("       ... {} skipped ({})", number(*n_steps, "step"), parts.join(", ")));
        }
        let n_shown = if self.is_verbose { kept.len() } else { N_KEPT };
        for (place, n) in kept.iter().take(n_shown) {
            self.put(&format!("       ... {} runs {} and keeps the conditions", safe(place), number(*n, "time")));
        }
        if let Some(n_more @ 1..) = kept.len().checked_sub(n_shown) {
            self.put(&format!("       ... and {}", count(n_more, "more line")));
        }
    }

    fn end(&mut self, found: &Invariants) {
        let mut paragraphs = Vec::new();
        paragraphs.extend(found.verified.as_ref().map(|verified| verified.sentence(safe)));
        if self.is_verbose {
            let questions = number(found.n_questions, "question");
            paragraphs.push(format!("{questions} to the built-in solver, {} without an answer.", found.n_unknown));
        }
        paragraphs.extend(found.remarks.iter().map(safe));
        paragraphs.push(format!("`git idd trace step <number>` shows a step of recording {}.", safe(&found.recording)));
        for paragraph in paragraphs {
            self.put("");
            self.put(&paragraph);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_report::samples;

    #[test]
    fn conditions_come_before_the_skipped_steps_and_the_statement() {
        insta::assert_snapshot!(text(&samples::invariants(), false));
    }

    #[test]
    fn verbose_prints_values_and_all_conditions() {
        let mut found = samples::invariants();
        let last = found.statements.last_mut().unwrap();
        last.invariant = (0..N_CONDITIONS + 2).map(|n| format!("n != {n}").as_str().into()).collect();
        last.skipped.kept = vec![("a.c:1".into(), 1); N_KEPT + 2];
        let brief = text(&found, false);
        assert!(brief.contains("| n != 11\n    | ... 2 more conditions; `-v` prints all\n"), "{brief}");
        assert!(brief.contains("... and 2 more lines\n") && !brief.contains("values:"), "{brief}");
        let whole = text(&found, true);
        assert!(whole.contains("    | n != 13\n") && whole.contains("          values: n = 5, "), "{whole}");
        assert_eq!(whole.matches("a.c:1 runs 1 time and keeps").count(), N_KEPT + 2);
        assert!(whole.contains("\n5 questions to the built-in solver, 1 without an answer.\n"), "{whole}");
    }

    #[test]
    fn a_comparison_is_told_with_where_the_runs_part() {
        let mut found = samples::invariants();
        found.compared = Some("0001".into());
        let last = found.statements.last_mut().unwrap();
        (last.is_parting, last.is_elsewhere) = (true, true);
        let text = text(&found, false);
        assert!(text.contains("\ncompared with:   recording 0001, in which the test passed\n"), "{text}");
        assert!(
            text.contains("conditions between the statements hold. What both runs have in common is left out.\n"),
            "{text}"
        );
        assert!(text.contains("[fails; the runs part here; stores elsewhere than in the passing run]\n"), "{text}");
    }

    #[test]
    fn text_of_others_is_escaped_and_cut() {
        let mut found = samples::invariants();
        let evil = || Untrusted::from("x\x1b[2J\n");
        let last = found.statements.last_mut().unwrap();
        (last.file, last.function, last.source) = (Some(evil()), evil(), Some("y".repeat(MAX_TEXT + 1).into()));
        (last.invariant, last.skipped.functions) = (vec![evil()], vec![(evil(), 1)]);
        (found.failure, found.remarks) = (evil(), vec![evil()]);
        let text = text(&found, false);
        assert!(!text.contains('\x1b') && text.contains("\n    | x\\x1b[2J"), "{text}");
        assert!(text.contains(&format!("  {}…   [fails]\n", "y".repeat(MAX_TEXT))), "{text}");
    }

    #[test]
    fn of_a_long_slice_both_ends_are_printed() {
        let mut found = samples::invariants();
        let last = found.statements.last().unwrap().clone();
        found.statements.extend((0..200).map(|step| InvariantStatement { step: last.step + 1 + step, ..last.clone() }));
        let n_more = found.statements.iter().filter(|one| !one.is_initial()).count() - N_ENDS.0 - N_ENDS.1;
        assert!(
            text(&found, false)
                .contains(&format!("       ... {n_more} more statements of the slice; `-v` prints all\n"))
        );
        assert!(!text(&found, true).contains("more statements"));
    }

    #[test]
    fn an_incomplete_slice_begins_with_what_holds_before_it() {
        let mut found = samples::invariants();
        found.statements.remove(0);
        (found.is_partial, found.rest) = (true, vec!["max > 3".into()]);
        let text = text(&found, false);
        let begin = "Before its first statement, this holds.\n\n    | max > 3\n    | max == 4\n";
        assert!(text.contains(begin), "{text}");
    }
}
