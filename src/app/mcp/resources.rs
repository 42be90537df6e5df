//! The resources: reports and patches of stored hunts.

use crate::mcp::state::ServerState;
use data_encoding::BASE64;
use idd_report::{Report, Terminal, Untrusted};
use idd_session::kept::KeptHunt;
use idd_session::{Failure, kept, saved};

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
pub struct ListedResource {
    /// Its address.
    pub address: String,
    /// Its name.
    pub name: String,
    /// The type of its content.
    pub form: &'static str,
}

/// The content of a resource.
pub enum ResourceContent {
    /// As it is.
    Text(String),
    /// Bytes that are no text, in base64.
    Base64(String),
}

/// A resource that a hunt may have.
#[derive(Clone, Copy)]
enum HuntPart {
    Json,
    Markdown,
    Necessary,
    Sufficient,
    Fix,
    Revert,
}

/// The parts, in the order of [`TEMPLATES`].
const PARTS: [HuntPart; 6] =
    [HuntPart::Json, HuntPart::Markdown, HuntPart::Necessary, HuntPart::Sufficient, HuntPart::Fix, HuntPart::Revert];

/// The patch of a report; `None` if it has none, or the part is no patch.
fn patch(report: &Report, part: HuntPart) -> Option<&Untrusted> {
    let change = match part {
        HuntPart::Json | HuntPart::Markdown => return None,
        HuntPart::Necessary => report.change.necessary.as_ref(),
        HuntPart::Sufficient => report.change.sufficient.as_ref(),
        HuntPart::Fix => return report.fix.as_ref().map(|fix| &fix.patch),
        HuntPart::Revert => return report.revert().map(|fix| &fix.patch),
    };
    change.map(|change| &change.patch)
}

/// The addresses of what a hunt has.
pub fn of_hunt(id: &str, report: &Report) -> Vec<String> {
    let has = |part: HuntPart| matches!(part, HuntPart::Json | HuntPart::Markdown) || patch(report, part).is_some();
    let parts = TEMPLATES.iter().zip(PARTS).filter(|(_, part)| has(*part));
    parts.map(|((address, ..), _)| address.replace("{id}", id)).collect()
}

/// The resources of the last hunts of this worktree, the newest first.
pub fn all(state: &ServerState) -> Vec<ListedResource> {
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
                Some(ListedResource { name: format!("{name} ({id})"), address, form })
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
pub fn read(address: &str, state: &ServerState) -> Result<(ResourceContent, &'static str), Failure> {
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
        Ok(text) => ResourceContent::Text(text),
        Err(error) => ResourceContent::Base64(BASE64.encode(error.as_bytes())),
    };
    Ok((content, TEMPLATES[at].2))
}

fn bytes(part: HuntPart, kept: &KeptHunt, state: &ServerState) -> Result<Option<Vec<u8>>, Failure> {
    let report = kept.report()?;
    let explanations = || saved::explanations(&state.location, &kept.id, &report).0;
    let mut out = Vec::new();
    match part {
        HuntPart::Json => idd_report::json::write_explained(&report, &explanations(), &mut out)?,
        HuntPart::Markdown => {
            let test = Untrusted::from(saved::plan(&kept.replay)?.order.command.to_line());
            idd_report::markdown::write(&report, &test, None, &explanations(), &mut out)?;
        }
        HuntPart::Necessary | HuntPart::Sufficient | HuntPart::Fix | HuntPart::Revert => {
            return Ok(patch(&report, part).map(|patch| patch.as_bytes().to_vec()));
        }
    }
    Ok(Some(out))
}
