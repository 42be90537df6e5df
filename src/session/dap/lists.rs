//! Lists of variables, and what is in them: structures, arrays and targets of pointers have lists of their own.

use crate::dap::arguments;
use crate::dap::recordings::{complaint, of_trace};
use crate::dap::stand::DapStand;
use crate::dap::tape::{ShownVariable, StackPosition};
use crate::{Failure, expression};
use idd_trace::native::parts::VariableDivision;
use serde_json::{Value, json};

/// The kinds of lists of variables of an activation; a reference is 8 times the level, and one of these.
pub const LOCALS: u64 = 1;
/// What the statement reads; only of the innermost activation.
pub const READ: u64 = 2;
/// What it writes.
pub const WRITTEN: u64 = 3;
/// The global variables that it sees.
const GLOBALS: u64 = 4;
/// The difference of the references of two activations.
pub const STRIDE: u64 = 8;

/// The reference of the first list of parts; smaller ones are lists of activations.
pub const FIRST_NODE: u64 = 1 << 24;

/// Elements of an array that are given to a client that does not say how many it wants.
const MAX_ELEMENTS: u64 = 1000;

/// Lists of parts that are known at one step; a client that asks for more has them without parts.
const MAX_NODES: usize = 1 << 20;

/// A variable that has parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableWithParts {
    /// The level of the activation that sees it.
    pub level: usize,
    /// The expression for it.
    pub expression: String,
    /// How it is divided.
    division: VariableDivision,
}

impl DapStand {
    /// The lists of an activation.
    pub fn scopes(level: u64) -> Value {
        let scope = |name: &str, kind: u64| json!({"name": name, "variablesReference": level * STRIDE + kind, "expensive": kind == GLOBALS});
        let mut scopes = vec![scope("Locals", LOCALS)];
        scopes[0]["presentationHint"] = json!("locals");
        if level == 0 {
            scopes.extend([scope("Read here", READ), scope("Written here", WRITTEN)]);
        }
        scopes.push(scope("Globals", GLOBALS));
        json!({ "scopes": scopes })
    }

    /// The variable whose parts a reference stands for.
    pub fn node(&self, reference: u64) -> Option<&VariableWithParts> {
        let index = usize::try_from(reference.checked_sub(FIRST_NODE)?).ok()?;
        self.nodes.get(index)
    }

    /// A reference for the parts of a variable, and how many elements it has; both are 0 if it has none.
    fn reference(&mut self, level: usize, expression: &str, division: VariableDivision) -> (u64, u64) {
        let is_divided = division != VariableDivision::Whole && expression::parse(expression).is_ok();
        if !is_divided || self.nodes.len() >= MAX_NODES {
            return (0, 0);
        }
        let node = VariableWithParts { level, expression: expression.to_owned(), division };
        let index = self.nodes.len() as u64;
        self.nodes.push(node);
        (FIRST_NODE + index, if let VariableDivision::Elements(n) = division { n } else { 0 })
    }

    /// A variable for the client.
    fn described(&mut self, level: usize, shown: &ShownVariable) -> Value {
        let (reference, n_elements) = self.reference(level, &shown.expression, shown.division);
        let mut one = json!({"name": shown.name, "value": shown.value, "evaluateName": shown.expression,
            "variablesReference": reference});
        if n_elements > 0 {
            one["indexedVariables"] = json!(n_elements);
        }
        one
    }

    /// The variables of a list.
    pub fn variables(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let no_list = || complaint("there is no such list of variables");
        let reference = arguments::whole(arguments, "variablesReference")?.unwrap_or(0);
        let start = arguments::whole(arguments, "start")?.unwrap_or(0);
        let wanted = arguments::whole(arguments, "count")?.filter(|count| *count > 0);
        let end = start.saturating_add(wanted.unwrap_or(u64::MAX));
        if let Some(node) = self.node(reference).cloned() {
            return self.parts(&node, start, wanted, arguments["filter"].as_str());
        }
        let (level, kind) = (usize::try_from(reference / STRIDE).unwrap_or(usize::MAX), reference % STRIDE);
        let all: Vec<Value> = if kind == LOCALS || kind == GLOBALS {
            let variables = self
                .tape
                .past
                .variables(StackPosition { step: self.step, level }, kind == GLOBALS)
                .map_err(of_trace)?
                .ok_or_else(no_list)?;
            variables.iter().map(|shown| self.described(level, shown)).collect()
        } else if level == 0 && (kind == READ || kind == WRITTEN) {
            let detail = self.tape.past.detail(self.step).map_err(of_trace)?;
            let accesses = detail.map(|detail| if kind == READ { detail.reads } else { detail.writes });
            let one = |name: &str, value: &str| json!({"name": name, "value": value, "variablesReference": 0});
            let accesses = accesses.unwrap_or_default();
            let named = accesses.iter().map(|access| &access.named);
            named.map(|named| one(&named.name, named.value.as_deref().unwrap_or("?"))).collect()
        } else {
            return Err(no_list());
        };
        let is_inside = |number: &u64| (start..end).contains(number);
        let list = (0..).zip(all).filter(|(number, _)| is_inside(number)).map(|(_, one)| one);
        Ok(json!({"variables": list.collect::<Vec<_>>()}))
    }

    fn parts(
        &mut self,
        node: &VariableWithParts,
        start: u64,
        wanted: Option<u64>,
        filter: Option<&str>,
    ) -> Result<Value, Failure> {
        let is_indexed = matches!(node.division, VariableDivision::Elements(_));
        if filter == Some("indexed") && !is_indexed || filter == Some("named") && is_indexed {
            return Ok(json!({"variables": []}));
        }
        let n_most = wanted.unwrap_or(if is_indexed { MAX_ELEMENTS } else { u64::MAX });
        let end = start.saturating_add(n_most);
        let list = self.listed(node, start, end)?;
        let mut all: Vec<Value> = list.iter().map(|part| self.described(node.level, part)).collect();
        if let VariableDivision::Elements(n) = node.division
            && wanted.is_none()
            && n > end
        {
            let rest = format!("{} more elements", n - end);
            all.push(json!({"name": format!("[{end}..]"), "value": rest, "variablesReference": 0}));
        }
        Ok(json!({"variables": all}))
    }

    /// The expression for a part of a variable, by its name in the list of parts.
    pub fn part_of(&mut self, node: &VariableWithParts, name: &str) -> Result<Option<String>, Failure> {
        let index = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')?.parse::<u64>().ok());
        let index = index.filter(|_| matches!(node.division, VariableDivision::Elements(_)));
        let (start, end) = index.map_or((0, MAX_ELEMENTS), |index| (index, index.saturating_add(1)));
        let parts = self.listed(node, start, end)?;
        Ok(parts.into_iter().find(|part| part.name == name).map(|part| part.expression))
    }

    /// The parts of a variable at some positions.
    pub fn listed(&mut self, node: &VariableWithParts, start: u64, end: u64) -> Result<Vec<ShownVariable>, Failure> {
        let expression = expression::parse(&node.expression).map_err(complaint)?;
        // `*p` is a part of another variable only between parentheses.
        let is_plain = |text: &str| {
            !text.starts_with(['*', '&', '-', '+', '!', '~', '('])
                && !text.contains([' ', '?', '<', '/', '%', '|', '^', '='])
        };
        let text = if is_plain(&node.expression) { node.expression.clone() } else { format!("({})", node.expression) };
        let at = StackPosition { step: self.step, level: node.level };
        let found = self.tape.past.parts(at, &expression, &text, start..end).map_err(of_trace)?;
        Ok(found.unwrap_or_default())
    }

    /// The value of an expression.
    pub fn evaluate(&mut self, arguments: &Value) -> Result<Value, Failure> {
        let text = arguments["expression"].as_str().unwrap_or_default().trim();
        let level = arguments::level(arguments)?;
        let expression = expression::parse(text).map_err(complaint)?;
        let meaning =
            self.tape.past.meaning(StackPosition { step: self.step, level }, &expression).map_err(of_trace)?;
        let meaning = meaning.map_err(|why| complaint(format!("`{text}`: {why}")))?;
        let (reference, n_elements) = self.reference(level, text, meaning.division);
        let mut body = json!({"result": meaning.value, "variablesReference": reference});
        if n_elements > 0 {
            body["indexedVariables"] = json!(n_elements);
        }
        Ok(body)
    }
}
