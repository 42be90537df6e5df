//! An explanation for programs.

use crate::explain::chain::End;
use crate::explain::native::instances::Instance;
use crate::explain::native::story::Did;
use crate::session::explain::change::Sources;
use crate::session::explain::model::Explanation;
use crate::session::explain::words;
use crate::trace::place::Place;
use crate::trace::step::Step;
use serde_json::Value;
use serde_json::json;

/// The object.
pub fn value(explanation: &Explanation, sources: &mut Sources) -> Value {
    let mut place = |place: Option<&Place>| {
        let path = place.map(|place| sources.path(&place.file));
        let line = place.map(|place| place.line);
        let is_changed = path
            .as_ref()
            .zip(line)
            .is_some_and(|(path, line)| explanation.changed.get(path).is_some_and(|lines| lines.contains(&line)));
        let part = place.and_then(|place| sources.part(&place.file, place.line, place.column));
        (path, line, is_changed, part)
    };
    let nth = |instance: Option<Instance>| instance.map(|instance| instance.nth);
    let of = |instance: Option<Instance>| instance.map(|instance| instance.of);
    let chain: Vec<Value> = explanation
        .links
        .iter()
        .map(|link| {
            let (file, line, in_change, part) = place(link.place.as_ref());
            let (kind, variable, value, reference) = match &link.did {
                Did::Gave { variable, value, reference, .. } => {
                    ("value", Some(variable.as_str()), value.as_str(), reference.as_str())
                }
                Did::Returned { function, value, reference } => {
                    ("return", Some(&**function), value.as_str(), reference.as_str())
                }
                Did::Decided { outcome, reference } => ("decision", None, outcome.as_str(), reference.as_str()),
                Did::Differs => ("change", None, "that of the failing version", "that of the reference"),
            };
            let kept = matches!(link.did, Did::Gave { is_kept: true, .. });
            json!({
                "kind": kind, "file": file, "line": line, "function": link.function.as_deref(), "variable": variable, "value": value,
                "reference": reference, "step": link.step.0, "reference_step": link.reference.map(|step| step.0),
                "in_change": in_change, "kept": kept, "part": part, "instance": nth(link.instance), "of": of(link.instance),
                "text": link.text.as_ref().map(|text| json!({
                    "variable": text.variable, "value": text.value, "reference": text.reference,
                })),
            })
        })
        .collect();
    let set = |(step, variables): &(Step, Vec<String>)| json!({ "before_step": step.0, "variables": variables });
    let sets: Vec<Value> = explanation.sets.iter().map(set).collect();
    let (file, line, in_change, part) = place(explanation.failure.1.place.as_ref());
    let switched = explanation.switched.as_ref().map(|switched| {
        let (file, line, _, part) = place(switched.place.as_ref());
        json!({
            "file": file, "line": line, "part": part, "instance": nth(switched.instance), "of": of(switched.instance),
            "step": switched.step.0, "outcome": switched.outcome,
            "reference": switched.reference, "n_forks": switched.n_tried.0, "n_runs": switched.n_tried.1,
        })
    });
    let beginning = words::beginning(explanation, sources);
    let figures = &explanation.figures;
    let end = match explanation.chain.end {
        End::Benign => "benign",
        End::Start => "start",
        End::Stuck => "stuck",
        End::Unfinished => "unfinished",
    };
    json!({
        "schema": "git-idd explanation 1",
        "bad": explanation.pair.names.0,
        "good": explanation.pair.names.1,
        "switched": switched,
        "chain": chain,
        "sets": sets,
        "end": end,
        "beginning": beginning,
        "failure": {
            "what": words::failure(explanation), "file": file, "line": line, "step": explanation.failure.0.step.0,
            "in_change": in_change, "part": part, "instance": nth(explanation.failure.1.instance),
            "of": of(explanation.failure.1.instance),
        },
        "n_steps": figures.n_steps.0,
        "n_reference_steps": figures.n_steps.1,
        "n_aligned": figures.n_aligned,
        "n_tests": figures.n_tests,
        "n_forks": figures.n_forks,
        "n_states": figures.n_states,
        "build_seconds": figures.seconds.0,
        "seconds": figures.seconds.1,
        "remarks": explanation.remarks,
    })
}
