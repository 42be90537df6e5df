//! `git idd explain`: runs the driver and prints the explanation.

use crate::args::recorded::RecordedRequest;
use crate::args::{Invocation, Request};
use crate::console::{CommandAnswer, CommandScene, Console};
use crate::progress::Volume;
use crate::{args, overdue};
use idd_base::{CommitId, count};
use idd_report::chain::{EffectKind, Figures, InstanceChoice, ReportChain, Switched};
use idd_report::json::json_line;
use idd_report::outline::{OutlineLine, outline};
use idd_report::{Explanation, Report, Status, Terminal, TextRole, Untrusted};
use idd_session::deadline::Deadline;
use idd_session::explain::change::TreeSources;
use idd_session::explain::model;
use idd_session::recorded::order::ExplainOrder;
use idd_session::talk::Talk as _;
use idd_session::{Context, Failure, kept};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::Duration;

/// Text of a program or of a tree, for a line of the terminal.
fn safe(text: &Untrusted) -> String {
    Terminal.line(text)
}

/// The switched decision: `the condition is true, made false`.
fn switch(switched: &Switched) -> String {
    if switched.outcome == switched.reference {
        return "the condition, inverted".to_owned();
    }
    let words = |outcome: &Option<Untrusted>, unknown: &str| outcome.as_ref().map_or_else(|| unknown.to_owned(), safe);
    let outcome = words(&switched.outcome, "decided so");
    match &*words(&switched.reference, "decided otherwise") {
        other @ ("true" | "false") => format!("the condition is {outcome}, made {other}"),
        other => format!("the condition is {outcome}, now {other}"),
    }
}

/// How doubtful a switched run is as a reference: `(1 of 20 switched decisions makes the test pass; 5 steps before the failure)`.
fn doubt(switched: &Switched) -> String {
    let Switched { n_passing, n_forks, distance, .. } = switched;
    let verb = if *n_passing == 1 { "makes" } else { "make" };
    let distance = count(usize::try_from(*distance).unwrap_or(usize::MAX), "step");
    let prefix = if switched.is_prefix {
        "; doubtful: the switched run prints only the beginning of what the failing run prints"
    } else {
        ""
    };
    format!(
        "  ({n_passing} of {n_forks} switched decisions {verb} the test pass; this one is {distance} before the failure{prefix})"
    )
}

/// Explains, and prints the chain; one that a signal cut off has the exit code of an interrupt.
pub fn run(order: &ExplainOrder, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let explained = idd_session::explain::run(order, location, context, &mut console.progress())?;
    let is_interrupted = explained.is_interrupted;
    let bytes = printed(explained, console);
    Ok(if is_interrupted { CommandAnswer::Text(bytes, Status::Interrupted.code()) } else { CommandAnswer::Page(bytes) })
}

/// The note of a hunt whose budget ended before its explanation.
const NOT_EXPLAINED: &str = "The budget was used up before the finding was explained; `git idd explain` explains it.";

/// Explains the finding of a hunt that has just ended; a message says why if that cannot be done. Returns the id of that hunt.
///
/// - `left`: the rest of the budget, if there is one. The explanation is given up at its end.
/// - `announced`: the commit that was printed before.
pub fn explain_found(
    report: &mut Report,
    left: Option<Duration>,
    announced: Option<CommitId>,
    scene: CommandScene<'_>,
) -> Result<Option<String>, Failure> {
    let CommandScene { location, context, console } = scene;
    let id = kept::newest_finding(location, None)?.0.id;
    let words = ["git-idd", "explain", "--hunt", &id].map(OsString::from).to_vec();
    let Ok(Invocation { request: Request::Recorded(RecordedRequest::Explain(order)), .. }) =
        args::parse(words, &context.configuration)
    else {
        return Ok(None);
    };
    let interrupt = context.interrupt()?;
    let deadline = left.and_then(|left| Deadline::after(left, &interrupt.flag));
    let limited = Context { interrupt: Some(interrupt), ..context.clone() };
    let order = ExplainOrder { budget: left.or(order.budget), ..order };
    let mut unexplained = report.clone();
    unexplained.notes.push(Untrusted::from(NOT_EXPLAINED));
    let late = move || Some(CommandAnswer::Report(Box::new(unexplained), Vec::new(), None, announced));
    let overdue = left.map(|left| overdue::end_with(late, left, scene));
    let explained = idd_session::explain::run(&order, location, &limited, &mut console.progress());
    drop(overdue);
    if deadline.is_some_and(|deadline| deadline.is_over()) {
        report.notes.push(Untrusted::from(NOT_EXPLAINED));
    } else if let Err(failure) = explained {
        let why = Terminal.line(&failure.message);
        console.progress().say(&format!("The finding is not explained: {why}"));
    }
    Ok(Some(id))
}

fn printed(explained: model::Explained, console: Console) -> Vec<u8> {
    let model::Explained { chain, sources, .. } = explained;
    if console.is_json {
        return json_line(&Explanation::Chain(chain));
    }
    with_sources(chain, sources, console).into_bytes()
}

/// The explanation for people, with the lines of the explained version.
pub fn with_sources(chain: ReportChain, mut sources: TreeSources, console: Console) -> String {
    let mut source = |file: &Untrusted, line: u64| {
        sources.line(&String::from_utf8_lossy(file.as_bytes()), u32::try_from(line).ok()?)
    };
    text(chain, &mut source, console)
}

/// The explanation for people.
///
/// - `source`: returns a line of a file.
fn text(chain: ReportChain, source: &mut dyn FnMut(&Untrusted, u64) -> Option<String>, console: Console) -> String {
    let chain = chain.joined();
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    let style = console.out_style;
    line(format!("{} fails; {} passes:", safe(&chain.bad), safe(&chain.good)));
    line(String::new());
    if let Some(summary) = &chain.summary {
        line(safe(summary));
        line(String::new());
    }
    if let Some(switched) = &chain.switched
        && let (Some(file), Some(number)) = (&switched.file, switched.line)
    {
        let which = switched.which.behind();
        line(format!("switched: {}:{number}{which}  {}", safe(file), switch(switched)));
        line(doubt(switched));
        for other in &switched.others {
            let at = other.file.as_ref().zip(other.line).map(|(file, line)| format!("{}:{line}", safe(file)));
            let (at, which) = (at.unwrap_or_default(), other.which.behind());
            line(format!("  or: {at}{which}, with a chain of {}", count(other.n_links, "link")));
        }
        line(String::new());
    }
    let mut step =
        |(file, number): (&Option<Untrusted>, Option<u64>), (in_change, which): (bool, InstanceChoice), what: &str| {
            let (Some(file), Some(number)) = (file, number.filter(|number| *number > 0)) else {
                return line(format!("  {what}"));
            };
            let mark = if in_change { "*" } else { " " };
            line(format!("{mark} {}:{number}{}  {what}", safe(file), which.behind()));
            if let Some(source) = source(file, number) {
                line(format!("      {}", style.paint(TextRole::Faint, safe(&source.into()))));
            }
        };
    let mut is_told = false;
    let is_verbose = console.volume == Volume::Verbose;
    let entries = if is_verbose { chain.links.iter().map(OutlineLine::Link).collect() } else { outline(&chain.links) };
    for entry in &entries {
        match entry {
            OutlineLine::Link(found) => {
                let difference = found.difference(&safe).filter(|_| found.kind != EffectKind::Change && !is_told);
                is_told |= found.was.is_some();
                let clauses = [Some(found.clause(&safe)), difference, found.finding(&safe)];
                let what: Vec<String> = clauses.into_iter().flatten().collect();
                step((&found.file, found.line), (found.in_change, found.which), &what.join("; "));
            }
            other => step((&None, None), (false, InstanceChoice::default()), &other.words(&safe).unwrap_or_default()),
        }
    }
    let failure = &chain.failure;
    let what = format!("thus {}", safe(&failure.what));
    step((&failure.file, failure.line), (failure.in_change, failure.which), &what);
    line(String::new());
    line(safe(&chain.beginning()));
    for remark in &chain.remarks {
        line(format!("note: {}", safe(remark)));
    }
    let n_links = entries.iter().filter(|entry| matches!(entry, OutlineLine::Link(_))).count();
    if n_links < entries.len() {
        line(format!("note: {n_links} of {} are shown; -v shows all", count(chain.links.len(), "link")));
    }
    if is_verbose {
        figures(&chain.figures, &mut text);
    }
    text
}

fn figures(figures: &Figures, text: &mut String) {
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    let share = 100 * figures.n_aligned as u64 / u64::from(figures.n_steps.max(1));
    line(format!(
        "{} of {} steps have a counterpart among the {} of the reference ({share} %)",
        figures.n_aligned, figures.n_steps, figures.n_reference_steps
    ));
    line(format!(
        "{} for the chain, {} and {} in all",
        count(figures.n_tests, "causality test"),
        count(figures.n_forks, "fork"),
        count(figures.n_states, "compared state")
    ));
    if figures.n_trials > 0 {
        line(format!("{} of the tests in one virtual machine, in {:.1} s", figures.n_trials, figures.trial_seconds));
    }
    line(format!("{:.1} s for builds and runs, {:.2} s for the chain", figures.build_seconds, figures.seconds));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_link_after_a_text_of_several_characters_has_its_own_place() {
        let link = |line: u64, variable: &str, text: Value| {
            json!({ "kind": "value", "file": "a.c", "line": line, "function": "main", "variable": variable, "value": "1",
                "reference": "2", "in_change": line == 1, "text": text })
        };
        let word = json!({ "variable": "s", "value": "\"no\"", "reference": "\"so\"" });
        let chain = json!({
            "bad": "b\u{1b}", "good": "g", "switched": null, "end": "benign", "beginning": null, "remarks": [],
            "chain": [link(1, "s[0]", word.clone()), link(1, "s[1]", word), link(2, "n", Value::Null)],
            "failure": { "what": "the program fails", "file": null, "line": null, "in_change": false },
        });
        let chain = serde_json::from_value(chain).unwrap();
        let printed = text(chain, &mut |_, line| (line == 2).then(|| "n = s[0];".to_owned()), Console::plain());
        insta::assert_snapshot!(printed, @r#"
        b\x1b fails; g passes:

        * a.c:1  s is given "no" (reference "so")
          a.c:2  n is given 1 (reference 2)
              n = s[0];
          thus the program fails

        Nothing before it is needed: the values that it uses are the same in both runs.
        "#);
    }

    #[test]
    fn a_long_chain_opens_with_a_sentence_and_folds_what_repeats() {
        let link = |n: u64| {
            json!({ "kind": "value", "file": "a.c", "line": if n == 0 { 3 } else { 7 }, "function": "main",
                "variable": "n", "value": n.to_string(), "reference": "9", "in_change": n == 0, "step": n })
        };
        let chain = json!({
            "bad": "b", "good": "g", "switched": null, "end": "benign", "beginning": null, "remarks": [],
            "chain": (0..6).map(link).collect::<Vec<_>>(),
            "failure": { "what": "the program fails", "file": null, "line": null, "in_change": false },
        });
        let mut chain: ReportChain = serde_json::from_value(chain).unwrap();
        chain.summary = chain.in_short().map(Untrusted::from);
        let printed = text(chain, &mut |_, _| None, Console::plain());
        insta::assert_snapshot!(printed, @r"
        b fails; g passes:

        The change takes effect in a.c:3, where n is given 0 (reference 9); thus the program fails.

        * a.c:3  n is given 0 (reference 9)
          a.c:7  n is given 1 (reference 9)
          ... 3 more links like this ...
          a.c:7  n is given 5 (reference 9)
          thus the program fails

        Nothing before it is needed: the values that it uses are the same in both runs.
        note: 3 of 6 links are shown; -v shows all
        ");
    }

    #[test]
    fn a_switched_run_is_printed_with_its_doubts_and_alternatives() {
        let other = json!({ "file": "b.c", "line": 4, "step": 3, "n_links": 1, "instance": 1, "of": 2 });
        let switched = json!({ "file": "a.c", "line": 8, "step": 12, "outcome": "true", "reference": "false", "n_forks": 20,
            "n_runs": 3, "n_passing": 2, "distance": 1, "is_prefix": true, "others": [other] });
        let chain = json!({
            "bad": "b", "good": "g", "switched": switched, "end": "benign", "beginning": null, "remarks": [], "chain": [],
            "failure": { "what": "the program fails", "file": null, "line": null, "in_change": false },
        });
        let chain = serde_json::from_value(chain).unwrap();
        let printed = text(chain, &mut |_, _| None, Console::plain());
        insta::assert_snapshot!(printed, @r"
        b fails; g passes:

        switched: a.c:8  the condition is true, made false
          (2 of 20 switched decisions make the test pass; this one is 1 step before the failure; doubtful: the switched run prints only the beginning of what the failing run prints)
          or: b.c:4 (1st time of 2), with a chain of 1 link

          thus the program fails

        Nothing before it is needed: the values that it uses are the same in both runs.
        ");
    }
}
