//! `git idd report --recording`: what walks over a recording found.

use crate::args::options::ReportFormat;
use crate::console::{CommandAnswer, Console};
use idd_report::escape::safe;
use idd_report::json::json_line;
use idd_report::{Explanation, markdown};
use idd_session::Failure;
use idd_session::debug::explained;
use idd_world::repo::Location;
use serde_json::json;

/// Prints the results of the walks over a recording, one after the other.
///
/// Errors: there is no such recording, or no walk over it has a result; the form is one of hunts only.
pub fn run(
    recording: String,
    format: ReportFormat,
    location: &Location,
    console: Console,
) -> Result<CommandAnswer, Failure> {
    let (name, walks) = explained::beside(recording, location)?;
    if walks.is_empty() {
        let name = safe(&name);
        return Err(Failure::error(format!("no walk over the recording {name} has a result"))
            .with_hint(format!("`git idd debug --recording {name}` begins or continues one")));
    }
    match format {
        _ if console.is_json => {}
        ReportFormat::Json => {}
        ReportFormat::Markdown => {
            return Ok(CommandAnswer::Page(walks.iter().map(markdown::of_walk).collect::<String>().into_bytes()));
        }
        ReportFormat::Text => {
            let texts: Vec<String> = walks.iter().map(|walk| walk.text(console.out_style)).collect();
            return Ok(CommandAnswer::Page(texts.join("\n").into_bytes()));
        }
        _ => {
            return Err(Failure::usage("a recording is reported as Markdown, text or JSON")
                .with_hint("the other forms are about a hunt"));
        }
    }
    let explanations: Vec<Explanation> = walks.into_iter().map(Explanation::Walk).collect();
    let value = json!({ "schema": "git-idd walks 1", "recording": name, "explanations": explanations });
    Ok(CommandAnswer::Page(json_line(&value)))
}
