//! The resources: reports and patches of stored hunts.

use crate::mcp::state::State;
use idd_report::escape::Terminal;
use idd_report::{Report, Untrusted, base64};
use idd_session::failure::Failure;
use idd_session::kept::Kept;
use idd_session::{kept, saved};

/// The beginning of all addresses.
const PREFIX: &str = "idd://hunt/";

/// Hunts of which resources are listed.
const MAX_HUNTS: usize = 20;

/// The largest resource, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Bytes of an address in an error.
const MAX_SHOWN: usize = 200;

/// The forms of resources: an address, a name, and the type of its content.
pub const TEMPLATES: [(&str, &str, &str); 6] = [
    ("idd://hunt/{id}/report.json", "report of a hunt", "application/json"),
    ("idd://hunt/{id}/report.md", "report of a hunt, for people", "text/markdown"),
    ("idd://hunt/{id}/patch/necessary", "patch that is reversed to make the test pass", "text/x-diff"),
    ("idd://hunt/{id}/patch/sufficient", "patch that makes the test fail", "text/x-diff"),
    ("idd://hunt/{id}/patch/fix", "recommended fix", "text/x-diff"),
    ("idd://hunt/{id}/patch/revert", "revert of a whole commit, which is no fix", "text/x-diff"),
];

/// A resource of the list.
pub struct Found {
    /// Its address.
    pub address: String,
    /// Its name.
    pub name: String,
    /// The type of its content.
    pub form: &'static str,
}

/// The content of a resource.
pub enum Content {
    /// As it is.
    Text(String),
    /// Bytes that are no text, in base64.
    Base64(String),
}

/// A resource that a hunt may have.
#[derive(Clone, Copy)]
enum Part {
    Json,
    Markdown,
    Necessary,
    Sufficient,
    Fix,
    Revert,
}

/// The parts, in the order of [`TEMPLATES`].
const PARTS: [Part; 6] = [Part::Json, Part::Markdown, Part::Necessary, Part::Sufficient, Part::Fix, Part::Revert];

/// The patch of a report; `None` if it has none, or the part is no patch.
fn patch(report: &Report, part: Part) -> Option<&Untrusted> {
    let change = match part {
        Part::Json | Part::Markdown => return None,
        Part::Necessary => report.change.necessary.as_ref(),
        Part::Sufficient => report.change.sufficient.as_ref(),
        Part::Fix => return report.fix.as_ref().map(|fix| &fix.patch),
        Part::Revert => return report.revert().map(|fix| &fix.patch),
    };
    change.map(|change| &change.patch)
}

/// The addresses of what a hunt has.
pub fn of_hunt(id: &str, report: &Report) -> Vec<String> {
    let has = |part: Part| matches!(part, Part::Json | Part::Markdown) || patch(report, part).is_some();
    let parts = TEMPLATES.iter().zip(PARTS).filter(|(_, part)| has(*part));
    parts.map(|((address, ..), _)| address.replace("{id}", id)).collect()
}

/// The resources of the last hunts of this worktree, the newest first.
pub fn all(state: &State) -> Vec<Found> {
    let ids = kept::own(&state.location).into_iter().rev().take(MAX_HUNTS);
    let hunts = ids.filter_map(|id| {
        let report = kept::find(&state.location, &id).ok()??.report().ok()?;
        Some((id, report))
    });
    hunts
        .flat_map(|(id, report)| {
            of_hunt(&id, &report).into_iter().filter_map(move |address| {
                let template = |name: &str| name.replace("{id}", &id);
                let (_, name, form) = TEMPLATES.into_iter().find(|(name, ..)| template(name) == address)?;
                Some(Found { name: format!("{name} ({id})"), address, form })
            })
        })
        .collect()
}

fn none(address: &str) -> Failure {
    let shown = Terminal.line(&Untrusted::from(address).cut(MAX_SHOWN));
    Failure::error(format!("there is no resource `{shown}`"))
        .with_hint("`resources/list` lists them; `hunt_list` lists the hunts")
}

/// The content of a resource, and its type.
///
/// Errors: there is none at this address, or it is too large.
pub fn read(address: &str, state: &State) -> Result<(Content, &'static str), Failure> {
    let (id, rest) = address.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/')).ok_or_else(|| none(address))?;
    let is_meant = |template: &str| template.strip_prefix("idd://hunt/{id}/") == Some(rest);
    let at = TEMPLATES.iter().position(|(template, ..)| is_meant(template)).ok_or_else(|| none(address))?;
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_id {
        return Err(none(address));
    }
    let kept = kept::newest(&state.location, Some(id))?;
    let bytes = bytes(PARTS[at], &kept, state)?.ok_or_else(|| none(address))?;
    if bytes.len() > MAX_BYTES {
        return Err(Failure::error("the resource is larger than 4 MiB")
            .with_hint("`git idd report --hunt <id>` prints it on the command line"));
    }
    let content = match String::from_utf8(bytes) {
        Ok(text) => Content::Text(text),
        Err(error) => Content::Base64(base64::encode(error.as_bytes())),
    };
    Ok((content, TEMPLATES[at].2))
}

fn bytes(part: Part, kept: &Kept, state: &State) -> Result<Option<Vec<u8>>, Failure> {
    let report = kept.report()?;
    let explanations = || saved::explanations(&state.location, &kept.id, &report).0;
    let mut out = Vec::new();
    match part {
        Part::Json => idd_report::json::write_explained(&report, &explanations(), &mut out)?,
        Part::Markdown => {
            let test = Untrusted::from(saved::plan(&kept.replay)?.order.command.to_line());
            idd_report::markdown::write(&report, (&test, None), &explanations(), &mut out)?;
        }
        Part::Necessary | Part::Sufficient | Part::Fix | Part::Revert => {
            return Ok(patch(&report, part).map(|patch| patch.as_bytes().to_vec()));
        }
    }
    Ok(Some(out))
}
