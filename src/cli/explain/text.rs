//! An explanation for people.

use crate::cli::commands::Console;
use crate::cli::explain::Explanation;
use crate::cli::explain::change::Sources;
use crate::cli::explain::switching::Switched;
use crate::cli::progress::Volume;
use crate::explain::align::run::Said;
use crate::explain::align::run::Word;
use crate::explain::chain::End;
use crate::explain::failure::Ending;
use crate::explain::failure::Wrong;
use crate::explain::story::Did;
use crate::instrument::debug::Place;
use crate::plural::count;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::report::style::Role;
use crate::trace::value;
use std::fmt::Write as _;

/// Text of a program or of a tree, for a line of the terminal.
fn safe(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

/// What was said: the text, or the call as C would write it.
pub fn said(said: &Said) -> String {
    if let Some(text) = &said.text {
        return value::quoted(text, '"');
    }
    let texts = said.words.iter().filter_map(|word| match word {
        Word::Text(text) => Some(value::quoted(text, '"')),
        Word::Number(number) if number.leading_zeros() < 33 => Some(number.cast_signed().to_string()),
        // A smaller number may be an `int`.
        Word::Number(number) => Some(u32::try_from(*number).unwrap_or(0).cast_signed().to_string()),
        Word::Pointer => None,
    });
    format!("{}({})", said.function, texts.collect::<Vec<_>>().join(", "))
}

fn ending(ending: Ending) -> String {
    match ending {
        Ending::Exit(code) => format!("exits with {code}"),
        Ending::Signal(signal) => format!("is killed by signal {signal}"),
        Ending::Endless => "does not end".to_owned(),
    }
}

/// The failure in one clause.
pub fn failure(explanation: &Explanation) -> String {
    let (failure, _) = &explanation.failure;
    match &failure.wrong {
        Wrong::Said(wrong, Some(other)) => format!("the program says {} (reference {})", said(wrong), said(other)),
        Wrong::Said(wrong, None) => format!("the program says {} (reference: nothing more)", said(wrong)),
        Wrong::Skipped(other, _) => format!("the program does not say {}, as the reference does", said(other)),
        Wrong::Silent(other) => format!("the program says nothing more (reference {})", said(other)),
        Wrong::Ended => format!("the program {} (reference: {})", ending(failure.ending), ending(failure.reference)),
    }
}

/// What was switched: `the condition is true, made false`.
fn switch(switched: &Switched) -> String {
    let outcome = switched.outcome.as_deref().unwrap_or("decided so");
    match switched.reference.as_deref().unwrap_or("decided otherwise") {
        other @ ("true" | "false") => format!("the condition is {outcome}, made {other}"),
        other => format!("the condition is {outcome}, now {other}"),
    }
}

/// Where the chain begins.
fn beginning(end: End) -> &'static str {
    match end {
        End::Benign => "Nothing before it is needed: what it uses is the same in both versions.",
        End::Start => {
            "It begins with what was there at the start: an input, or something that only the reference does."
        }
        End::Stuck => "No earlier state leads to it by itself, so it may begin too late.",
        End::Unfinished => "This is its end only: `--max-tests` were used up before its beginning was found.",
    }
}

/// Writes it.
pub fn write(explanation: &Explanation, sources: &mut Sources, console: Console) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    let style = console.out_style;
    let (bad, good) = &explanation.pair.names;
    line(format!("{} fails, {} passes:", safe(bad), safe(good)));
    line(String::new());
    let standing = explanation.switched.as_ref().map(|switched| (switched, switched.place.as_ref()));
    if let Some((switched, Some(place))) = standing {
        line(format!("switched: {}:{}  {}", safe(&sources.path(&place.file)), place.line, switch(switched)));
        line(String::new());
    }
    let mut tell = |place: Option<&Place>, what: &str, line: &mut dyn FnMut(String)| {
        let Some(place) = place.filter(|place| place.line > 0) else {
            return line(format!("  {what}"));
        };
        let path = sources.path(&place.file);
        let is_changed = explanation.changed.get(&path).is_some_and(|lines| lines.contains(&place.line));
        let mark = if is_changed { "*" } else { " " };
        line(format!("{mark} {}:{}  {}", safe(&path), place.line, what));
        if let Some(source) = sources.line(&place.file, place.line) {
            line(format!("      {}", style.paint(Role::Faint, safe(&source))));
        }
    };
    for found in &explanation.links {
        let what = match &found.did {
            Did::Gave { variable, value, reference, is_kept: true } => {
                format!("{} stays {} (reference {})", safe(variable), safe(value), safe(reference))
            }
            Did::Gave { variable, value, reference, .. } if value == reference => {
                format!("{} is given {} (reference: the same, elsewhere)", safe(variable), safe(value))
            }
            Did::Gave { variable, value, reference, .. } => {
                format!("{} is given {} (reference {})", safe(variable), safe(value), safe(reference))
            }
            Did::Decided { outcome, reference } => format!("the condition is {outcome} (reference {reference})"),
            Did::Differs => "here the versions differ, which leads to the following".to_owned(),
            Did::Returned { function, value, reference } => {
                format!("{} returns {} (reference {})", safe(function), safe(value), safe(reference))
            }
        };
        tell(found.place.as_ref(), &what, &mut line);
    }
    let what = format!("thus {}", safe(&failure(explanation)));
    tell(explanation.failure.1.place.as_ref(), &what, &mut line);
    line(String::new());
    if explanation.links.is_empty() {
        line("No faulty value leads to the failure: it is made where it is seen.".to_owned());
    } else {
        line(beginning(explanation.chain.end).to_owned());
    }
    for remark in &explanation.remarks {
        line(format!("note: {}", safe(remark)));
    }
    if console.volume == Volume::Verbose {
        let figures = &explanation.figures;
        let share = 100 * figures.n_aligned as u64 / u64::from(figures.n_steps.0.max(1));
        line(format!(
            "{} of {} steps have a counterpart among the {} of the reference ({share} %)",
            figures.n_aligned, figures.n_steps.0, figures.n_steps.1
        ));
        line(format!(
            "{} for the chain, {} and {} in all",
            count(figures.n_tests, "causality test"),
            count(figures.n_forks, "fork"),
            count(figures.n_states, "compared state")
        ));
        line(format!("{:.1} s for builds and runs, {:.2} s for the chain", figures.seconds.0, figures.seconds.1));
    }
    text
}
