//! `git idd trace --json`.

use idd_session::sources::RecordedSources;
use idd_trace::input::InputEntry;
use idd_trace::stat::Stat;
use idd_trace::tree::{CallNode, NodeKind};
use idd_trace::{Access, Detail, Doing, StepStanding, UsedThing, Why};
use idd_world::record::store::{Recording, Traced};
use serde_json::{Value, json};
use std::sync::Arc;

/// The version of these objects.
const SCHEMA: &str = "git-idd/trace/1";

/// Counts.
pub fn stat(recording: &str, traced: &Traced, stat: &Stat) -> Value {
    let check = stat.check;
    // Without values, nothing is known of these.
    let known = |value: Value| Some(value).filter(|_| traced.has_values);
    json!({
        "schema": SCHEMA,
        "recording": recording,
        "program": traced.program,
        "words": traced.words,
        "has_values": traced.has_values,
        "left_out": traced.left_out,
        "is_cut": traced.is_cut,
        "n_given_up": traced.n_given_up,
        "n_records": stat.n_records,
        "n_bytes": stat.n_bytes,
        "n_repeated": stat.n_repeated,
        "n_events": stat.n_events,
        "n_steps": stat.n_steps,
        "n_accesses": known(stat.n_accesses.into()),
        "n_uses": known(stat.n_uses.into()),
        "n_functions": stat.n_functions,
        "n_threads": stat.n_threads,
        "n_calls": stat.n_calls,
        "heap": known(json!({ "n_made": stat.heap.n_made, "n_live": stat.heap.n_live })),
        "check": known(json!({
            "n_reads": check.n_reads,
            "n_other": check.n_other,
            "n_reached": check.n_reached,
            "n_after_call": check.n_after_call,
        })),
        "outside": known(json!({
            "n_modelled": check.n_modelled,
            "n_unmodelled": check.n_unmodelled,
            "unmodelled": stat.unmodelled.iter().map(|(name, n)| json!({ "name": name, "n_calls": n })).collect::<Vec<_>>(),
        })),
        "n_unwound": check.n_unwound,
        "n_partial": check.n_partial,
    })
}

/// What the program read.
pub fn inputs(recording: &str, entries: &[InputEntry]) -> Value {
    let entry = |entry: &InputEntry| {
        json!({
            "source": entry.source.to_string(),
            "begin": entry.begin,
            "length": entry.length,
            "is_exact": entry.is_exact,
            "step": entry.step.0,
            "function": entry.function.as_deref(),
            "file": entry.place.as_ref().map(|place| &*place.file),
            "line": entry.place.as_ref().map(|place| place.line),
        })
    };
    json!({ "schema": SCHEMA, "recording": recording, "inputs": entries.iter().map(entry).collect::<Vec<_>>() })
}

/// All recordings.
pub fn list(all: &[(String, Recording)]) -> Value {
    let entry = |(name, recording): &(String, Recording)| {
        json!({
            "recording": name,
            "commit": recording.commit,
            "command": recording.command,
            "ending": recording.ending,
            "n_processes": recording.processes.len(),
            "has_values": recording.processes.iter().any(|traced| traced.has_values),
        })
    };
    json!({ "schema": SCHEMA, "recordings": all.iter().map(entry).collect::<Vec<_>>() })
}

/// Calls and loops.
pub fn tree(roots: &[CallNode], n_more: u64) -> Value {
    json!({ "schema": SCHEMA, "calls": roots.iter().map(node).collect::<Vec<_>>(), "n_more": n_more })
}

fn argument((name, value): &(Arc<str>, String)) -> Value {
    json!({ "name": name.as_ref(), "value": value })
}

fn node(node: &CallNode) -> Value {
    let mut value = match &node.kind {
        NodeKind::Call { function, arguments, result, is_unfinished, is_earlier } => json!({
            "function": function.as_ref(),
            "arguments": arguments.as_ref().map(|all| all.iter().map(argument).collect::<Vec<_>>()),
            "result": result,
            "is_unfinished": is_unfinished,
            "is_earlier": is_earlier,
        }),
        NodeKind::Loop { n_iterations } => json!({ "n_iterations": n_iterations }),
    };
    value["first_step"] = node.step.0.into();
    value["last_step"] = node.last.0.into();
    value["file"] = node.place.as_ref().map(|place| place.file.as_ref()).into();
    value["line"] = node.place.as_ref().map(|place| place.line).into();
    value["iteration"] = node.iteration.into();
    value["children"] = node.children.iter().map(self::node).collect();
    value["n_more"] = node.n_more.into();
    value
}

fn standing(standing: &StepStanding, sources: &mut RecordedSources) -> Value {
    let place = standing.place.as_ref();
    json!({
        "step": standing.step.0,
        "function": standing.function.as_ref(),
        "file": place.map(|place| place.file.as_ref()),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "text": place.and_then(|place| sources.line(&place.file, place.line)),
        "is_entry": standing.is_entry,
        "is_alone_in_line": standing.is_alone,
    })
}

fn access(access: &Access) -> Value {
    json!({
        "name": access.named.name,
        "value": access.named.value,
        "address": access.address,
        "size": access.size,
        "made_by": access.makers.iter().map(|step| step.0).filter(|step| *step > 0).collect::<Vec<_>>(),
        "origin": access.origin,
    })
}

fn crash((signal, at): &(u32, Option<(Doing, Access)>)) -> Value {
    let what = match at {
        Some((Doing::Reading, _)) => "read",
        Some((Doing::Writing(_), _)) => "write",
        Some((Doing::Dividing, _)) | None => "division",
    };
    json!({ "signal": signal, "what": what, "access": at.as_ref().map(|(_, at)| access(at)) })
}

/// A step.
pub fn detail(detail: &Detail, sources: &mut RecordedSources) -> Value {
    let mut value = standing(&detail.standing, sources);
    let uses = |(step, what): &(idd_trace::Step, UsedThing)| {
        let what = match what {
            UsedThing::Memory(..) | UsedThing::Address(..) => "memory",
            UsedThing::Temporary => "temporary value",
            UsedThing::Arguments => "arguments",
            UsedThing::Returned => "returned value",
            UsedThing::Decision => "decision",
        };
        json!({ "step": step.0, "what": what })
    };
    value["schema"] = SCHEMA.into();
    value["thread"] = detail.thread.into();
    value["crash"] = detail.crash.as_ref().map(crash).into();
    value["instance"] = detail.instance.into();
    value["reads"] = detail.reads.iter().map(access).collect();
    value["writes"] = detail.writes.iter().map(access).collect();
    value["uses"] = detail.uses.iter().map(uses).collect();
    value["data_dominators"] = detail.makers().iter().map(|step| step.0).collect();
    value["is_window"] = detail.is_window.into();
    value["control_dominator"] = detail.control.map(|step| step.0).into();
    value["stack"] =
        detail.stack.iter().map(|(step, function)| json!({ "step": step.0, "function": function.as_ref() })).collect();
    value["variables"] =
        detail.variables.iter().map(|(name, value)| json!({ "name": name.as_ref(), "value": value })).collect();
    value["calls"] = detail
        .calls
        .iter()
        .map(|call| {
            json!({
                "name": call.name.as_deref(),
                "arguments": call.arguments,
                "result": call.result,
                "is_input": call.is_input,
                "is_modelled": call.is_modelled,
            })
        })
        .collect();
    value
}

/// Where a value comes from.
pub fn why(why: &Why, sources: &mut RecordedSources) -> Value {
    json!({
        "schema": SCHEMA,
        "at": standing(&why.standing, sources),
        "variable": access(&why.asked),
        "steps": why.steps.iter().map(|step| detail(step, sources)).collect::<Vec<_>>(),
        "is_cut": why.is_cut,
    })
}
