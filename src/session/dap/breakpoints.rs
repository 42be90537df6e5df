//! Breakpoints on lines and on data.

use crate::dap::count::HitCount;
use crate::dap::lists::{FIRST_NODE, LOCALS, READ, STRIDE, WRITTEN};
use crate::dap::recordings::of_trace;
use crate::dap::search::{HitSearch, HitSubject, Hits};
use crate::dap::stand::{Breakpoint, DapStand};
use crate::dap::tape::{StackPosition, WatchedVariable};
use crate::dap::{arguments, tape};
use crate::expression::condition::Condition;
use crate::{Failure, expression};
use idd_trace::Place;
use serde_json::{Value, json};
use std::mem;

impl DapStand {
    /// Sets the breakpoints of a file. One that is set again keeps the hits that were found.
    pub fn set_breakpoints(&mut self, arguments: &Value, first_line: i64) -> Result<Value, Failure> {
        let source = &arguments["source"];
        let name = source.to_string();
        let index = self.lines.iter().position(|(other, _)| *other == name);
        let mut before = index.map(|index| self.lines.swap_remove(index).1).unwrap_or_default();
        let (mut set, mut shown) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let line = wanted["line"].as_i64().and_then(|line| u32::try_from(line.checked_add(first_line)?).ok());
            let hits = match kept(&mut before, wanted) {
                Some(hits) => Ok(hits),
                None => self.hits(source, line.unwrap_or(0), wanted)?,
            };
            match hits {
                Ok(hits) => {
                    set.push(Breakpoint { wanted: wanted.clone(), hits });
                    shown.push(json!({"verified": true, "line": wanted["line"]}));
                }
                Err(message) => shown.push(json!({"verified": false, "line": wanted["line"], "message": message})),
            }
        }
        self.lines.push((name, set));
        Ok(json!({ "breakpoints": shown }))
    }

    /// The hits of a breakpoint, or why it cannot have any.
    fn hits(&mut self, source: &Value, line: u32, wanted: &Value) -> Result<Result<Hits, String>, Failure> {
        let is_here = |(number, place): (usize, &Place)| place.line == line && self.is_in(number, source);
        let places: Vec<bool> = self.tape.places.iter().enumerate().map(is_here).collect();
        let mut hits = self.tape.walk.at(|place| places.get(place as usize) == Some(&true));
        if hits.is_empty() {
            return Ok(Err("no statement of this line ran".to_owned()));
        }
        let count = match count(wanted) {
            Ok(count) => count,
            Err(why) => return Ok(Err(why)),
        };
        let condition = match arguments::text(&wanted["condition"], "a condition") {
            Ok(condition) => condition,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(text) = condition {
            let condition = match Condition::parse(text) {
                Ok(condition) => condition,
                Err(why) => return Ok(Err(why)),
            };
            let mut search = HitSearch::new(&self.tape, HitSubject::Condition(hits, condition), count);
            let complaint = search.complaint(&mut self.tape).map_err(of_trace)?;
            return Ok(complaint.map_or(Ok(Hits::Searched(search)), Err));
        }
        if let Some(count) = count {
            let mut number = 0;
            hits.retain(|_| {
                number += 1;
                count.takes(number)
            });
        }
        Ok(Ok(Hits::Known(hits)))
    }

    /// Where a variable of a list, or an expression, is.
    pub fn data_info(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let name = arguments["name"].as_str().unwrap_or_default();
        let reference = arguments::whole(arguments, "variablesReference")?.unwrap_or(0);
        let (level, text) = if let Some(node) = self.node(reference).cloned() {
            (node.level, self.part_of(&node, name)?.unwrap_or_default())
        } else {
            let of_list = usize::try_from(reference / STRIDE).unwrap_or(usize::MAX);
            (if reference == 0 { arguments::level(arguments)? } else { of_list }, name.to_owned())
        };
        let kind = if reference < FIRST_NODE { reference % STRIDE } else { LOCALS };
        let mut target = None;
        if kind == READ || kind == WRITTEN {
            let detail = self.tape.past.detail(self.step).map_err(of_trace)?;
            let accesses = detail.map(|detail| if kind == READ { detail.reads } else { detail.writes });
            let accesses = accesses.unwrap_or_default();
            target = accesses.iter().find(|access| access.named.name == name).and_then(tape::target);
        }
        if let (None, Ok(expression)) = (&target, expression::parse(&text)) {
            let meaning =
                self.tape.past.meaning(StackPosition { step: self.step, level }, &expression).map_err(of_trace)?;
            target = meaning.ok().and_then(|meaning| meaning.target);
        }
        let id = target.map(|target| target.id());
        let description =
            if id.is_some() { format!("writes of {name}") } else { format!("{name} has no address here") };
        Ok(json!({"dataId": id, "description": description, "accessTypes": ["write"], "canPersist": false}))
    }

    /// Sets the data breakpoints. One that is set again keeps the hits that were found.
    pub fn set_data_breakpoints(&mut self, arguments: &Value) -> Value {
        let mut before = mem::take(&mut self.data);
        let mut shown = Vec::new();
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let hits = match kept(&mut before, wanted) {
                Some(hits) => Ok(hits),
                None => self.data_hits(wanted),
            };
            match hits {
                Ok(hits) => {
                    self.data.push(Breakpoint { wanted: wanted.clone(), hits });
                    shown.push(json!({"verified": true}));
                }
                Err(message) => shown.push(json!({"verified": false, "message": message})),
            }
        }
        json!({ "breakpoints": shown })
    }

    /// The hits of a data breakpoint, or why it cannot have any.
    fn data_hits(&self, wanted: &Value) -> Result<Hits, String> {
        let target =
            wanted["dataId"].as_str().and_then(WatchedVariable::of_id).ok_or("it is no place in the recorded run")?;
        if arguments::text(&wanted["condition"], "a condition")?.is_some() {
            return Err("a data breakpoint has no condition".to_owned());
        }
        let count = count(wanted)?;
        Ok(Hits::Searched(HitSearch::new(&self.tape, HitSubject::Writes(target), count)))
    }
}

/// The hits of a breakpoint that was set before in the same way; they are taken out.
fn kept(before: &mut Vec<Breakpoint>, wanted: &Value) -> Option<Hits> {
    let index = before.iter().position(|other| other.wanted == *wanted)?;
    Some(before.swap_remove(index).hits)
}

/// Which hits of a breakpoint count; all of them if the client does not say.
fn count(wanted: &Value) -> Result<Option<HitCount>, String> {
    match arguments::text(&wanted["hitCondition"], "a hit count")? {
        None => Ok(None),
        Some(text) => {
            let count = HitCount::parse(text).ok_or("a hit count is a number, or `>= 5`, `> 5`, `% 5`")?;
            Ok(Some(count))
        }
    }
}
