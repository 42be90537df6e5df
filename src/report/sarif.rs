//! The report as SARIF 2.1.0: a result for each place of the finding; the first one has the fix, for all places
//! together.
//!
//! Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0, of 2020-03-27. All places, those of code
//! flows too, are lines of the commit in `properties.commit`, which `versionControlProvenance` also names if the address
//! of the repository is known. A hunt without a finding has no results, but a notification; and `executionSuccessful: false` after an error.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::chain::{EffectKind, InstanceChoice, ReportChain, ReportLink};
use crate::chop::Chop;
use crate::forge::encoded;
use crate::json::write_line;
use crate::places::{LineRun, ReplacedLines, places};
use crate::{Explained, Explanation, Report, Terminal, Untrusted, chop, invariants, summary, walk};
use idd_base::CommitId;

/// The address of the schema.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The base of relative references: the checkout.
const ROOT: &str = "%SRCROOT%";

/// Finds a line of an explained version in a commit: its path and its number there. `None` if it was changed or removed
/// in between.
pub type Find<'f> = &'f mut dyn FnMut(&Explained, CommitId, &Untrusted, u64) -> Option<(Untrusted, u64)>;

/// The code flow that is made of an explanation.
struct CodeFlow<'f, 'e> {
    explained: &'e Explained,
    /// The commit of the results.
    commit: Option<CommitId>,
    find: Find<'f>,
}

/// Writes `report`.
///
/// - `test`: the test command of the hunt.
/// - `repository`: the address of the repository, an absolute URI without secrets, if it has one.
/// - `explanations`: the explanations of the failure, which become code flows of the first result.
/// - `find`: finds a line of an explained version in another commit.
pub fn write(
    report: &Report,
    test: &Untrusted,
    repository: Option<&str>,
    explanations: &[Explained],
    find: Find<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let places = places(report);
    let commit = places.as_ref().map(|places| places.commit).or(report.bad.as_ref().map(|bad| bad.commit));
    let places = places.map(|places| places.places).unwrap_or_default();
    let mut results: Vec<Value> =
        places.iter().enumerate().map(|(nth, place)| result(report, test, nth, place)).collect();
    if let (Some(first), Some(fix)) = (results.first_mut(), fix(&places)) {
        first["fixes"] = json!([fix]);
    }
    if let Some(first) = results.first_mut() {
        let flow = |explained| code_flow(&mut CodeFlow { explained, commit, find: &mut *find });
        let code_flows: Vec<Value> = explanations.iter().filter_map(flow).collect();
        if !code_flows.is_empty() {
            first["codeFlows"] = code_flows.into();
        }
    }
    let [short, full] = if report.find.is_failure() {
        ["A change that broke a test.", "Without this change the test passes, with it the test fails."]
    } else {
        [report.find.words().changes[0], report.find.words().changes[2]]
    };
    let mut run = json!({
        "tool": { "driver": {
            "name": "git-idd",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": [{
                "id": "regression",
                "name": "Regression",
                "shortDescription": { "text": short },
                "fullDescription": { "text": full },
                "defaultConfiguration": { "level": if report.find.is_failure() { "error" } else { "note" } },
            }],
        } },
        "invocations": [invocation(report)],
        "columnKind": "utf16CodeUnits",
        "results": results,
        "properties": { "status": report.status.word(), "commit": commit.map(|commit| commit.to_string()) },
    });
    if let (Some(repository), Some(commit)) = (repository, commit) {
        run["versionControlProvenance"] = json!([{
            "repositoryUri": repository,
            "revisionId": commit.to_string(),
            "mappedTo": { "uriBaseId": ROOT },
        }]);
    }
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    write_line(&log, out)
}

fn invocation(report: &Report) -> Value {
    let notes = report.notes.iter().map(|note| ("note", note));
    let errors = report.error.iter().map(|error| ("error", &error.message));
    let notifications: Vec<Value> = errors
        .chain(notes)
        .map(|(level, text)| json!({ "level": level, "message": { "text": Terminal.line(text) } }))
        .collect();
    json!({
        "executionSuccessful": report.error.is_none(),
        "exitCode": report.status.code(),
        "toolExecutionNotifications": notifications,
    })
}

fn result(report: &Report, test: &Untrusted, nth: usize, place: &ReplacedLines) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(&place.file) });
    if let Some(lines) = &place.lines {
        physical["region"] = region(lines);
    }
    json!({
        "ruleId": "regression",
        "ruleIndex": 0,
        "level": "error",
        "message": { "text": Terminal.line(&summary::title(report, test)) },
        "partialFingerprints": { "commitAndPlace/v1": fingerprint(report, nth) },
        "locations": [{ "physicalLocation": physical }],
    })
}

/// The statements of an explanation in the order of their execution; `None` if it has no statement.
fn code_flow(flow: &mut CodeFlow<'_, '_>) -> Option<Value> {
    let (explained, commit) = (flow.explained, flow.commit.unwrap_or(flow.explained.commit));
    let (sentence, mut locations) = match &explained.explanation {
        Explanation::Chain(chain) => of_chain(chain, flow),
        Explanation::Chop(chop) => of_chop(chop, flow),
        Explanation::Walk(walk) => (walk.sentence(), walk.steps.iter().map(|one| step(one, flow)).collect()),
        Explanation::Invariants(found) => {
            let sentence = format!("The statements that matter for the failure: {}.", Terminal.line(&found.failure));
            (sentence, found.shown().map(|one| statement(one, flow)).collect())
        }
    };
    if locations.is_empty() {
        return None;
    }
    for (nth, location) in locations.iter_mut().enumerate() {
        location["executionOrder"] = json!(nth + 1);
    }
    Some(json!({
        "message": { "text": sentence },
        "threadFlows": [{ "locations": locations }],
        "properties": { "commit": commit.to_string(), "explained": explained.commit.to_string() },
    }))
}

/// A sentence, and the chain from the change to the failure with the values of each statement.
fn of_chain(chain: &ReportChain, flow: &mut CodeFlow<'_, '_>) -> (String, Vec<Value>) {
    let mut locations: Vec<Value> = chain.links.iter().map(|one| link(one, flow)).collect();
    let failure = &chain.failure;
    let what = format!("thus {}{}", Terminal.line(&failure.what), which(failure.which));
    locations.push(flow.location(failure.file.as_ref(), failure.line, None, &what, failure.in_change));
    let (bad, good) = (Terminal.line(&chain.bad), Terminal.line(&chain.good));
    (format!("How the change leads to the failure: {bad} compared with {good}."), locations)
}

fn link(link: &ReportLink, flow: &mut CodeFlow<'_, '_>) -> Value {
    let clause = format!("{}{}", link.clause(&|text| Terminal.line(text)), which(link.which));
    let mut location = flow.location(link.file.as_ref(), link.line, link.function.as_ref(), &clause, link.in_change);
    if let (Some(variable), EffectKind::Value) = (&link.variable, link.kind) {
        location["state"] = json!({ Terminal.line(variable): { "text": Terminal.line(&link.value) } });
    }
    location
}

fn which(which: InstanceChoice) -> String {
    which.words().map_or_else(String::new, |words| format!(", {words}"))
}

/// A sentence, and the lines of a chop and of its constants in the order of their last steps.
fn of_chop(chop: &Chop, flow: &mut CodeFlow<'_, '_>) -> (String, Vec<Value>) {
    let constants = chop.constant_lines.iter().map(|line| (line, ", depends on no input"));
    let mut lines: Vec<_> = chop.lines.iter().map(|line| (line, "")).chain(constants).collect();
    lines.sort_by_key(|(line, _)| line.last);
    let sentence = format!("The statements that lead to the failure: {}.", Terminal.line(&chop.failure));
    (sentence, lines.into_iter().map(|(one, kind)| line(one, kind, flow)).collect())
}

fn line(line: &chop::ChopLine, kind: &str, flow: &mut CodeFlow<'_, '_>) -> Value {
    let (source, values) = (source(line.source.as_ref()), Terminal.lines(&line.values, ", "));
    let values = if line.values.is_empty() { values } else { format!(" ({values})") };
    let number = Some(u64::from(line.line)).filter(|line| *line > 0);
    let text = format!("{source}{values}{kind}");
    let mut location = flow.location(Some(&line.file), number, Some(&line.function), &text, line.is_changed);
    location["state"] = state(&line.values);
    location
}

fn step(step: &walk::WrongStep, flow: &mut CodeFlow<'_, '_>) -> Value {
    let text = format!("{}: {}", source(step.source.as_ref()), Terminal.line(&step.wrong));
    flow.location(step.file.as_ref(), step.line.map(u64::from), Some(&step.function), &text, false)
}

/// A statement of an abstract slice with the invariant before it.
fn statement(statement: &invariants::InvariantStatement, flow: &mut CodeFlow<'_, '_>) -> Value {
    let source = source(statement.source.as_ref());
    let text = match statement.invariant.as_slice() {
        [] if statement.is_initial() => format!("{source} ({})", Terminal.line(&statement.function)),
        [] => source,
        invariant => format!("{source} (before it: {})", Terminal.lines(invariant, " and ")),
    };
    let (file, line) = (statement.file.as_ref(), statement.line.map(u64::from));
    let function = Some(&statement.function).filter(|_| !statement.is_initial());
    let mut location = flow.location(file, line, function, &text, statement.is_changed);
    location["state"] = state(&statement.values);
    location
}

fn source(source: Option<&Untrusted>) -> String {
    source.map_or_else(|| "source not known".to_owned(), |source| Terminal.line(source))
}

/// Values such as `n = 3`, by the names of their variables.
fn state(values: &[Untrusted]) -> Value {
    let values: Vec<String> = values.iter().map(|value| Terminal.line(value)).collect();
    let named = values.iter().filter_map(|value| value.split_once(" = "));
    named.map(|(name, value)| (name.to_owned(), json!({ "text": value }))).collect()
}

impl CodeFlow<'_, '_> {
    /// A location in the commit of the results. A line that is not there any more is named in the text only.
    ///
    /// - `file` and `line`: in the explained version, as far as known. A path outside of the repository is absolute.
    fn location(
        &mut self,
        file: Option<&Untrusted>,
        line: Option<u64>,
        function: Option<&Untrusted>,
        text: &str,
        in_change: bool,
    ) -> Value {
        let importance = if in_change { "essential" } else { "important" };
        let mut location = json!({ "message": { "text": text } });
        match self.place(file, line) {
            Ok(None) => {}
            Ok(Some((file, line))) => {
                let artifact = match file.as_bytes() {
                    path @ [b'/', ..] => json!({ "uri": format!("file://{}", encoded(path)) }),
                    _ => artifact(&file),
                };
                location["physicalLocation"] = json!({ "artifactLocation": artifact });
                if let Some(line) = line {
                    location["physicalLocation"]["region"] = json!({ "startLine": line });
                }
            }
            Err(there) => location["message"]["text"] = json!(format!("{text} ({there})")),
        }
        if let Some(function) = function {
            location["logicalLocations"] = json!([{ "name": Terminal.line(function), "kind": "function" }]);
        }
        json!({ "location": location, "importance": importance, "properties": { "inChange": in_change } })
    }

    /// The place in the commit of the results; an error is the name of a place that is not there.
    fn place(
        &mut self,
        file: Option<&Untrusted>,
        line: Option<u64>,
    ) -> Result<Option<(Untrusted, Option<u64>)>, String> {
        let Some(file) = file else { return Ok(None) };
        let there = self.explained.commit;
        match (self.commit, line) {
            (Some(commit), Some(line)) if commit != there && !file.as_bytes().starts_with(b"/") => {
                let found = (self.find)(self.explained, commit, file, line);
                let (file, line) =
                    found.ok_or_else(|| format!("{}:{line} in the commit {}", Terminal.line(file), there.short()))?;
                Ok(Some((file, Some(line))))
            }
            _ => Ok(Some((file.clone(), line))),
        }
    }
}

fn artifact(file: &Untrusted) -> Value {
    json!({ "uri": encoded(file.as_bytes()), "uriBaseId": ROOT })
}

/// The fix, if all its places are lines.
fn fix(places: &[ReplacedLines]) -> Option<Value> {
    let mut changes = Vec::new();
    for of_file in places.chunk_by(|one, two| one.file == two.file) {
        let lines = of_file.iter().map(|place| place.lines.as_ref()).collect::<Option<Vec<_>>>()?;
        let replacements: Vec<Value> = lines
            .into_iter()
            .map(|lines| {
                let instead = Terminal.block(&lines.instead);
                json!({ "deletedRegion": deleted(lines), "insertedContent": { "text": instead } })
            })
            .collect();
        changes.push(json!({ "artifactLocation": artifact(&of_file[0].file), "replacements": replacements }));
    }
    Some(json!({ "description": { "text": "Take back what broke the test." }, "artifactChanges": changes }))
}

/// The lines for people: an empty run has the line before which something is missing.
fn region(lines: &LineRun) -> Value {
    json!({ "startLine": lines.begin, "endLine": lines.end() })
}

/// The lines with their ends: from the first column of the first one to the first column after the last one.
fn deleted(lines: &LineRun) -> Value {
    let end = lines.begin.saturating_add(lines.count);
    json!({ "startLine": lines.begin, "startColumn": 1, "endLine": end, "endColumn": 1 })
}

/// Equal for the same finding, even if its lines have moved.
fn fingerprint(report: &Report, nth: usize) -> String {
    let commit = report.first_bad.as_ref().map(|first_bad| first_bad.commit.commit.to_string());
    format!("{}:{nth}", commit.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::Invariants;
    use crate::{Status, samples};

    fn written(report: &Report) -> Value {
        explained(report, &[])
    }

    fn explained(report: &Report, explanations: &[Explained]) -> Value {
        let mut out = Vec::new();
        let test = "./t.sh".into();
        // All lines have moved by 100, and line 12 is gone.
        let mut find = |_: &Explained, commit, file: &Untrusted, line: u64| {
            assert_eq!(commit, report.fix.as_ref().unwrap().commit);
            (line != 12).then(|| (file.clone(), line + 100))
        };
        write(report, &test, Some("https://example.com/x.git"), explanations, &mut find, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    fn schema() -> jsonschema::Validator {
        let schema: Value = serde_json::from_str(include_str!("../../tests/schemas/sarif-2.1.0.json")).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    }

    #[test]
    fn every_report_satisfies_the_published_schema() {
        let schema = schema();
        let ends = crate::status::TABLE.map(|row| Report::new(row.status, row.meaning));
        let samples = [samples::found(), samples::range(), samples::never_passed(), samples::error()];
        let explanations = samples::explanations();
        let written_twice = |report: &Report| [written(report), explained(report, &explanations)];
        for (report, value) in ends.iter().chain(&samples).flat_map(|it| written_twice(it).map(|value| (it, value))) {
            let complaints: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(complaints.is_empty(), "{:?}: {complaints:?}", report.status);
        }
    }

    #[test]
    fn the_schema_refuses_what_is_no_sarif() {
        let schema = schema();
        for (path, value) in
            [("/version", json!("2.0")), ("/runs/0/results/0/level", json!("bad")), ("/runs/0/tool", json!({}))]
        {
            let mut log = written(&samples::found());
            *log.pointer_mut(path).unwrap() = value;
            assert!(!schema.is_valid(&log), "{path}");
        }
    }

    #[test]
    fn a_finding_has_its_place_and_its_fix() {
        let log = written(&samples::found());
        insta::assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["results"]).unwrap());
        assert_eq!(log["runs"][0]["versionControlProvenance"][0]["revisionId"], "44".repeat(20));
        assert_eq!(written(&Report::new(Status::Range, "x"))["runs"][0]["results"], json!([]));
    }

    #[test]
    fn a_chain_is_a_code_flow_of_the_first_result() {
        let log = explained(&samples::found(), &samples::explanations()[..1]);
        insta::assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["results"][0]["codeFlows"]).unwrap());
    }

    #[test]
    fn all_lines_are_those_of_the_revision_of_the_results() {
        let (report, explanations) = (samples::found(), samples::explanations());
        let (head, culprit) = ("44".repeat(20), "33".repeat(20));
        let lines = |log: &Value| -> Vec<Value> {
            let flow = &log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
            let of = |it: &Value| it["location"]["physicalLocation"]["region"]["startLine"].clone();
            flow.as_array().unwrap().iter().map(of).collect()
        };
        let log = explained(&report, &explanations[..1]);
        let run = &log["runs"][0];
        assert_eq!(run["properties"]["commit"], head);
        assert_eq!(run["versionControlProvenance"][0]["revisionId"], head);
        assert_eq!(run["versionControlProvenance"][0]["mappedTo"]["uriBaseId"], "%SRCROOT%");
        let properties = &run["results"][0]["codeFlows"][0]["properties"];
        assert_eq!((&properties["commit"], &properties["explained"]), (&json!(head), &json!(culprit)));
        let at_head = lines(&log);
        // Without a fix at HEAD, the results are in the first bad commit, and so is the explanation.
        let log = explained(&Report { fix: None, ..report }, &explanations[..1]);
        let run = &log["runs"][0];
        assert_eq!(run["properties"]["commit"], culprit);
        assert_eq!(run["results"][0]["codeFlows"][0]["properties"]["commit"], culprit);
        let moved = |line: &Value| {
            line.as_u64().map_or(Value::Null, |line| if line == 12 { Value::Null } else { json!(line + 100) })
        };
        assert_eq!(at_head, lines(&log).iter().map(moved).collect::<Vec<_>>());
    }

    #[test]
    fn a_walk_is_a_code_flow_from_the_first_wrong_step_on() {
        let log = explained(&samples::found(), &[samples::of_hunt(Explanation::Walk(samples::walk()))]);
        let flow = &log["runs"][0]["results"][0]["codeFlows"][0];
        let first = &flow["threadFlows"][0]["locations"][0]["location"];
        assert_eq!(first["message"]["text"], "n = max - 1;: computes a wrong value");
        assert_eq!(first["physicalLocation"]["region"]["startLine"], 108);
    }

    #[test]
    fn a_chop_is_a_code_flow_in_the_order_of_the_last_steps() {
        let explanations = |chop| [samples::of_hunt(Explanation::Chop(chop))];
        let log = explained(&samples::found(), &explanations(samples::chop()));
        insta::assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["results"][0]["codeFlows"]).unwrap());
        let empty = Chop { lines: Vec::new(), constant_lines: Vec::new(), ..samples::chop() };
        let log = explained(&samples::found(), &explanations(empty));
        assert_eq!(log["runs"][0]["results"][0].get("codeFlows"), None);
    }

    #[test]
    fn invariants_are_a_code_flow_with_the_values_that_were_recorded() {
        let mut found = samples::invariants();
        let of = |found: &Invariants| {
            let log = explained(&samples::found(), &[samples::of_hunt(Explanation::Invariants(found.clone()))]);
            log["runs"][0]["results"][0]["codeFlows"].clone()
        };
        insta::assert_snapshot!(serde_json::to_string_pretty(&of(&found)).unwrap());
        found.statements.iter_mut().for_each(|statement| statement.is_necessary = Some(false));
        assert_eq!(of(&found), Value::Null);
    }

    #[test]
    fn a_path_is_a_reference_whatever_is_in_it() {
        assert_eq!(encoded(b"a b/\xe9#?:%.c"), "a%20b/%E9%23%3F%3A%25.c");
    }
}
