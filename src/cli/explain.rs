//! `git idd explain`: runs the driver and prints the explanation.

use crate::cli::console::Console;
use crate::cli::progress::Volume;
use crate::cli::trace::json_line;
use crate::plural::count;
use crate::report::chain;
use crate::report::chain::Which;
use crate::report::escape::Terminal;
use crate::report::escape::Untrusted;
use crate::report::style::Role;
use crate::session;
use crate::session::context::Context;
use crate::session::explain::change::Sources;
use crate::session::explain::model::Explained;
use crate::session::explain::model::Explanation;
use crate::session::explain::model::Switched;
use crate::session::explain::words;
use crate::session::failure::Failure;
use crate::session::order::ExplainOrder;
use crate::trace::place::Place;
use crate::world::repo::locate::Location;
use serde_json::Value;
use std::fmt::Write as _;

/// Text of a program or of a tree, for a line of the terminal.
fn safe(text: &str) -> String {
    Terminal.line(&Untrusted::from(text))
}

/// The switched decision: `the condition is true, made false`.
fn switch(switched: &Switched) -> String {
    let outcome = switched.outcome.as_deref().unwrap_or("decided so");
    match switched.reference.as_deref().unwrap_or("decided otherwise") {
        other @ ("true" | "false") => format!("the condition is {outcome}, made {other}"),
        other => format!("the condition is {outcome}, now {other}"),
    }
}

/// Explains; the result is the printed text.
pub fn run(order: &ExplainOrder, location: &Location, context: &Context, console: Console) -> Result<Vec<u8>, Failure> {
    let Explained { explanation, value, mut sources } =
        session::explain::run(order, location, context, &mut console.progress())?;
    if console.is_json {
        return Ok(json_line(&value));
    }
    Ok(text(&explanation, &value, &mut sources, console)?.into_bytes())
}

/// The explanation for people; `value` is the JSON form.
fn text(explanation: &Explanation, value: &Value, sources: &mut Sources, console: Console) -> Result<String, Failure> {
    let links = chain::links(value)?;
    let seen = chain::seen(value)?;
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    let style = console.out_style;
    let (bad, good) = &explanation.pair.names;
    line(format!("{} fails; {} passes:", safe(bad), safe(good)));
    line(String::new());
    let standing = explanation.switched.as_ref().map(|switched| (switched, switched.place.as_ref()));
    if let Some((switched, Some(place))) = standing {
        let which = chain::switched(value).map_or_else(String::new, |switched| switched.which.behind());
        let path = safe(&sources.path(&place.file));
        line(format!("switched: {path}:{}{which}  {}", place.line, switch(switched)));
        line(String::new());
    }
    let mut tell = |place: Option<&Place>, (in_change, which): (bool, Which), what: &str| {
        let Some(place) = place.filter(|place| place.line > 0) else {
            return line(format!("  {what}"));
        };
        let mark = if in_change { "*" } else { " " };
        line(format!("{mark} {}:{}{}  {}", safe(&sources.path(&place.file)), place.line, which.behind(), what));
        if let Some(source) = sources.line(&place.file, place.line) {
            line(format!("      {}", style.paint(Role::Faint, safe(&source))));
        }
    };
    for (found, link) in explanation.links.iter().zip(&links) {
        tell(found.place.as_ref(), (link.in_change, link.which), &link.clause(|text| Terminal.line(text)));
    }
    let what = format!("thus {}", safe(&words::failure(explanation)));
    tell(explanation.failure.1.place.as_ref(), (seen.in_change, seen.which), &what);
    line(String::new());
    line(safe(&words::beginning(explanation, sources)));
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
    Ok(text)
}
