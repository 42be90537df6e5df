//! Breakpoints on lines and on data.

use crate::session::dap::count::Count;
use crate::session::dap::lists::FIRST_NODE;
use crate::session::dap::lists::LOCALS;
use crate::session::dap::lists::READ;
use crate::session::dap::lists::STRIDE;
use crate::session::dap::lists::WRITTEN;
use crate::session::dap::recordings::of_trace;
use crate::session::dap::stand::Stand;
use crate::session::dap::tape;
use crate::session::dap::tape::Target;
use crate::session::expression;
use crate::session::expression::condition::Condition;
use crate::session::failure::Failure;
use crate::trace::place::Place;
use crate::trace::step::Step;
use serde_json::Value;
use serde_json::json;

impl Stand {
    /// Sets the breakpoints of a file.
    pub fn set_breakpoints(&mut self, arguments: &Value, first_line: i64) -> Result<Value, Failure> {
        let source = &arguments["source"];
        let (mut hits, mut shown) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let line = wanted["line"].as_i64().and_then(|line| u32::try_from(line.checked_add(first_line)?).ok());
            match self.hits(source, line.unwrap_or(0), wanted)? {
                Ok(found) => {
                    hits.extend(found);
                    shown.push(json!({"verified": true, "line": wanted["line"]}));
                }
                Err(message) => shown.push(json!({"verified": false, "line": wanted["line"], "message": message})),
            }
        }
        hits.sort_unstable();
        let name = source.to_string();
        self.lines.retain(|(other, _)| *other != name);
        self.lines.push((name, hits));
        Ok(json!({ "breakpoints": shown }))
    }

    /// The hits of a breakpoint, or why it cannot have any.
    fn hits(&mut self, source: &Value, line: u32, wanted: &Value) -> Result<Result<Vec<Step>, String>, Failure> {
        let is_here = |(number, place): (usize, &Place)| place.line == line && self.is_in(number, source);
        let places: Vec<bool> = self.tape.places.iter().enumerate().map(is_here).collect();
        let mut hits = self.tape.walk.at(|place| places.get(place as usize) == Some(&true));
        if hits.is_empty() {
            return Ok(Err("no statement of this line ran".to_owned()));
        }
        if let Some(text) = wanted["condition"].as_str().filter(|text| !text.trim().is_empty()) {
            let condition = match Condition::parse(text) {
                Ok(condition) => condition,
                Err(why) => return Ok(Err(why)),
            };
            let found = self.tape.test(&hits, &condition).map_err(of_trace)?;
            // A value may be unknown at some steps. If it is at all of them, the condition is wrong.
            if let Some(Err(why)) = found.first()
                && found.iter().all(Result::is_err)
            {
                return Ok(Err(why.clone()));
            }
            let mut found = found.into_iter();
            hits.retain(|_| found.next() == Some(Ok(true)));
        }
        if let Some(text) = wanted["hitCondition"].as_str().filter(|text| !text.trim().is_empty()) {
            let Some(count) = Count::parse(text) else {
                return Ok(Err("a hit count is a number, or `>= 5`, `> 5`, `% 5`".to_owned()));
            };
            let mut number = 0;
            hits.retain(|_| {
                number += 1;
                count.takes(number)
            });
        }
        Ok(Ok(hits))
    }

    /// Where a variable of a list, or an expression, is.
    pub fn data_info(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let name = arguments["name"].as_str().unwrap_or_default();
        let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
        let (level, text) = if let Some(node) = self.node(reference).cloned() {
            (node.level, self.part_of(&node, name)?.unwrap_or_default())
        } else {
            let frame = arguments["frameId"].as_u64().unwrap_or(1).saturating_sub(1);
            let level = if reference == 0 { frame } else { reference / STRIDE };
            (usize::try_from(level).unwrap_or(usize::MAX), name.to_owned())
        };
        let kind = if reference < FIRST_NODE { reference % STRIDE } else { LOCALS };
        let target = if kind == READ || kind == WRITTEN {
            let detail = self.tape.detail(self.step).map_err(of_trace)?;
            let accesses = detail.map(|detail| if kind == READ { detail.reads } else { detail.writes });
            let accesses = accesses.unwrap_or_default();
            accesses.iter().find(|access| access.named.name == name).map(tape::target)
        } else if let Ok(expression) = expression::parse(&text) {
            let meaning = self.tape.meaning((self.step, level), &expression).map_err(of_trace)?;
            meaning.ok().and_then(|meaning| meaning.target)
        } else {
            None
        };
        let id = target.map(|target| match target {
            Target::Memory(address, size) => format!("memory:{address}:{size}"),
            Target::Register(frame, name) => format!("register:{frame}:{name}"),
        });
        let description =
            if id.is_some() { format!("writes of {name}") } else { format!("{name} has no address here") };
        Ok(json!({"dataId": id, "description": description, "accessTypes": ["write"], "canPersist": false}))
    }

    /// Sets the data breakpoints.
    pub fn set_data_breakpoints(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let (mut hits, mut shown) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let Some(target) = wanted["dataId"].as_str().and_then(target_of) else {
                shown.push(json!({"verified": false, "message": "it is no place in the recorded run"}));
                continue;
            };
            hits.extend(self.tape.writers(&target).map_err(of_trace)?);
            shown.push(json!({"verified": true}));
        }
        hits.sort_unstable();
        // A step that has no place cannot be shown.
        hits.retain(|hit| self.tape.place(*hit).is_some());
        self.data = hits;
        Ok(json!({ "breakpoints": shown }))
    }
}

/// Reads what [`Stand::data_info`] gave.
fn target_of(id: &str) -> Option<Target> {
    let (kind, rest) = id.split_once(':')?;
    let (first, second) = rest.split_once(':')?;
    match kind {
        "memory" => Some(Target::Memory(first.parse().ok()?, second.parse().ok()?)),
        "register" => Some(Target::Register(first.parse().ok()?, second.to_owned())),
        _ => None,
    }
}
