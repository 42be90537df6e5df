//! Conditions as expressions of C, with the names that hold at a moment of the run.

use std::collections::HashMap;

use crate::explain::native::invariant::Native;
use crate::explain::native::naming;
use crate::explain::native::naming::Kind;
use crate::logic::evaluate::signed;
use crate::logic::substitute::variables;
use crate::logic::term::Binary;
use crate::logic::term::Node;
use crate::logic::term::TermId;
use crate::logic::term::Terms;
use crate::logic::term::Unary;
use crate::trace::TraceError;
use crate::trace::native::event::Moment;
use crate::trace::native::machine::Machine;
use crate::trace::native::object::View;
use crate::trace::native::symbolic::version::Place;
use crate::trace::native::visit::before_step;
use crate::trace::step::Step;

/// The names of versions, and what their numbers are.
pub type Names = HashMap<u32, (String, Kind)>;

/// How tightly an operator binds; more is tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Prefix,
    Whole,
}

impl Native<'_> {
    /// The names that the versions of some conditions have right before an event.
    ///
    /// Cost: one seek, and a search for each part of memory.
    pub fn names(&mut self, terms: &Terms, moment: Moment, conditions: &[TermId]) -> Result<Names, TraceError> {
        let mut names = Names::new();
        let mut parts: Vec<(u32, (u64, u64), bool)> = Vec::new();
        for (version, _) in variables(terms, conditions) {
            let known = self.symbolic.versions.get(version).clone();
            let (name, kind) = match known.place {
                Place::Memory(address, length) => {
                    parts.push((version, (address, length), false));
                    continue;
                }
                Place::Pointer(address, length) => {
                    parts.push((version, (address, length), true));
                    continue;
                }
                Place::Parameter(_, index) => (self.parameter(known.assigned, moment, index)?, Kind::Signed),
                Place::Result(at) => (self.result(at)?, Kind::Signed),
                Place::Pinned(..) => ("a result".to_owned(), Kind::Signed),
            };
            names.insert(version, (name, kind));
        }
        let ranges: Vec<(u64, u64)> = parts.iter().map(|(_, range, _)| *range).collect();
        let found = self.named(moment, &ranges)?;
        for ((version, (address, length), is_pointer), found) in parts.into_iter().zip(found) {
            let (name, kind) = found.unwrap_or_else(|| (format!("*(char (*)[{length}]){address:#x}"), Kind::Signed));
            let shown = if is_pointer { (address_of(&name), Kind::Pointer) } else { (name, kind) };
            names.insert(version, shown);
        }
        Ok(names)
    }

    fn named(&mut self, moment: Moment, ranges: &[(u64, u64)]) -> Result<Vec<Option<(String, Kind)>>, TraceError> {
        let mut found = vec![None; ranges.len()];
        if ranges.is_empty() {
            return Ok(found);
        }
        let player = &mut *self.symbolic.tape.player;
        let globals = std::sync::Arc::clone(&player.globals);
        let words = player.trace().process.words.clone();
        let look = |machine: &Machine| {
            let view = View { machine, globals: &globals, words: &words };
            let mut found = naming::named(view, ranges, None);
            for (found, (address, length)) in found.iter_mut().zip(ranges).filter(|(found, _)| found.is_none()) {
                *found = view.name(*address, *length).map(|name| (name, Kind::Signed));
            }
            found
        };
        if moment.1 == 0 {
            player.seek(moment.0.saturating_sub(1))?;
            found = look(&player.machine);
        } else {
            before_step(player, Step(moment.1), |machine| found = look(machine))?;
        }
        Ok(found)
    }

    /// A parameter by its name.
    fn parameter(&mut self, call: Option<Moment>, moment: Moment, index: u32) -> Result<String, TraceError> {
        let event = self.event(moment)?;
        let function = &event.shape.body.function;
        let is_called = call.is_none_or(|call| self.symbolic.last_before(event.caller, moment) == Some(call));
        let parameter = function.parameters.get(index as usize).filter(|_| is_called);
        Ok(match parameter {
            Some(parameter) => function.values[parameter.value.0 as usize].to_string(),
            None => format!("argument {}", index + 1),
        })
    }

    /// What a call returned, by its function.
    fn result(&mut self, moment: Moment) -> Result<String, TraceError> {
        let event = self.event(moment)?;
        let call = event.segment().first.checked_sub(1).and_then(|index| event.block_instructions().get(index));
        Ok(call.and_then(|call| call.called()).map_or_else(|| "the result".to_owned(), |name| format!("{name}()")))
    }
}

/// `&x`; the address of `*p` is `p`, that of `a[0]` is `a`.
fn address_of(name: &str) -> String {
    match name.strip_prefix('*') {
        Some(pointer) if pointer.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => pointer.to_owned(),
        _ => format!("&{name}"),
    }
}

/// Writes conditions, in the order of what they say something of. What the names say already is left out: that the
/// address of a variable is what it is, and that `p` leads to `p->n`.
pub fn conditions(terms: &Terms, all: &[TermId], names: &Names) -> Vec<String> {
    let mut texts: Vec<(bool, String)> = Vec::new();
    for condition in all {
        if is_said_by_names(terms, *condition, names) {
            continue;
        }
        let text = written(terms, *condition, names);
        texts.push((text.contains('&') && text.contains("== &"), text));
    }
    texts.sort();
    texts.dedup();
    texts.into_iter().map(|(_, text)| text).collect()
}

/// Whether a condition only says that a pointer leads to a place whose name begins with the pointer.
fn is_said_by_names(terms: &Terms, condition: TermId, names: &Names) -> bool {
    let Node::Binary(Binary::Eq, first, second) = terms.node(condition) else { return false };
    let location = |term: TermId| match terms.node(term) {
        Node::Variable(version) => names.get(&version).map(|(name, _)| &**name),
        _ => None,
    };
    let is_place = |name: &&str| name.starts_with('&');
    let pointer = |term: TermId| {
        let base = match terms.node(term) {
            Node::Binary(Binary::Add, base, offset) if terms.constant_of(offset).is_some() => base,
            _ => term,
        };
        location(base)
    };
    [(first, second), (second, first)].into_iter().any(|(place, other)| {
        let base = match terms.node(place) {
            Node::Binary(Binary::Add, base, offset) if terms.constant_of(offset).is_some() => base,
            _ => place,
        };
        let Some(name) = location(base).filter(is_place) else { return false };
        if terms.constant_of(other).is_some() {
            return true;
        }
        let Some(pointer) = pointer(other) else { return false };
        let rest = name[1..].strip_prefix(pointer);
        name[1..].strip_prefix('*') == Some(pointer)
            || rest.is_some_and(|rest| rest.starts_with("->") || rest.starts_with('['))
    })
}

/// Writes a condition.
pub fn written(terms: &Terms, condition: TermId, names: &Names) -> String {
    let writer = Writer { terms, names };
    writer.condition(condition, true).0
}

struct Writer<'w> {
    terms: &'w Terms,
    names: &'w Names,
}

impl Writer<'_> {
    /// A truth, or its contrary.
    fn condition(&self, term: TermId, is_true: bool) -> (String, Binding) {
        let terms = self.terms;
        match terms.node(term) {
            Node::Constant(bits) => (if (bits == 1) == is_true { "true" } else { "false" }.to_owned(), Binding::Whole),
            Node::Unary(Unary::Not, inner) => self.condition(inner, !is_true),
            Node::Binary(op, first, second) if op.is_comparison() => self.comparison(op, first, second, is_true),
            Node::Binary(op @ (Binary::And | Binary::Or), first, second) => {
                let is_and = (op == Binary::And) == is_true;
                let (word, binding) = if is_and { ("&&", Binding::And) } else { ("||", Binding::Or) };
                let [one, other] = [first, second].map(|side| {
                    let (text, inner) = self.condition(side, is_true);
                    if inner < binding { format!("({text})") } else { text }
                });
                (format!("{one} {word} {other}"), binding)
            }
            Node::Binary(Binary::Xor, first, second) => {
                let [one, other] = [first, second].map(|side| self.inside(side, Binding::Relation));
                (format!("{one} {} {other}", if is_true { "!=" } else { "==" }), Binding::Equality)
            }
            _ => {
                let text = self.inside(term, Binding::Prefix);
                (if is_true { text } else { format!("!{text}") }, Binding::Prefix)
            }
        }
    }

    fn comparison(&self, op: Binary, first: TermId, second: TermId, is_true: bool) -> (String, Binding) {
        if self.terms.width(first) == 1 {
            let same = (op == Binary::Eq) == is_true;
            let [one, other] = [first, second].map(|side| {
                let (text, inner) = self.condition(side, true);
                if inner <= Binding::Relation { format!("({text})") } else { text }
            });
            return (format!("{one} {} {other}", if same { "==" } else { "!=" }), Binding::Equality);
        }
        let (word, is_swapped) = match (op, is_true) {
            (Binary::Eq, true) => ("==", false),
            (Binary::Eq, false) => ("!=", false),
            (Binary::Ult | Binary::Slt, true) => ("<", false),
            (Binary::Ule | Binary::Sle, true) => ("<=", false),
            (Binary::Ult | Binary::Slt, false) => ("<=", true),
            (_, _) => ("<", true),
        };
        let (mut one, mut other, mut word) = if is_swapped { (second, first, word) } else { (first, second, word) };
        // A constant stands to the right.
        if self.terms.constant_of(one).is_some() && word.starts_with('<') {
            std::mem::swap(&mut one, &mut other);
            word = if word == "<" { ">" } else { ">=" };
        }
        let kind = self.kind(one).or_else(|| self.kind(other)).unwrap_or_default();
        let is_unsigned = matches!(op, Binary::Ult | Binary::Ule);
        let kind = match kind {
            Kind::Signed if is_unsigned && self.terms.width(one) == 64 => Kind::Unsigned,
            kind => kind,
        };
        let binding = if word.contains("==") || word == "!=" { Binding::Equality } else { Binding::Relation };
        let [mut left, mut right] = [one, other].map(|side| self.side(side, kind, Binding::Shift));
        if op == Binary::Eq && self.terms.constant_of(other).is_none() && right < left {
            std::mem::swap(&mut left, &mut right);
        }
        if is_unsigned && matches!(kind, Kind::Signed | Kind::Character) {
            left = format!("(unsigned){left}");
        }
        (format!("{left} {word} {right}"), binding)
    }

    fn side(&self, term: TermId, kind: Kind, binding: Binding) -> String {
        match self.terms.constant_of(term) {
            Some(bits) => number(bits, self.terms.width(term), kind),
            None => self.inside(term, binding),
        }
    }

    /// What the number of a term is, as far as a variable says so.
    fn kind(&self, term: TermId) -> Option<Kind> {
        match self.terms.node(term) {
            Node::Variable(version) => self.names.get(&version).map(|(_, kind)| *kind),
            Node::ZeroExtend(inner) | Node::SignExtend(inner) => match self.kind(inner)? {
                Kind::Character if self.terms.width(term) == 32 => Some(Kind::Character),
                kind => Some(kind),
            },
            Node::Binary(Binary::Add | Binary::Sub, first, second) => {
                let (one, other) = (self.kind(first), self.kind(second));
                [one, other].into_iter().flatten().find(|kind| *kind == Kind::Pointer).or(one).or(other)
            }
            _ => None,
        }
    }

    /// A term inside of another one.
    fn inside(&self, term: TermId, binding: Binding) -> String {
        let (text, own) = self.expression(term);
        if own < binding { format!("({text})") } else { text }
    }

    fn expression(&self, term: TermId) -> (String, Binding) {
        let terms = self.terms;
        let width = terms.width(term);
        match terms.node(term) {
            Node::Constant(bits) => (number(bits, width, Kind::Signed), Binding::Prefix),
            Node::Variable(version) => {
                let name = self.names.get(&version).map_or_else(|| format!("v{version}"), |(name, _)| name.clone());
                let is_prefixed = name.starts_with(['*', '&']);
                (name, if is_prefixed { Binding::Prefix } else { Binding::Whole })
            }
            Node::ZeroExtend(inner) | Node::SignExtend(inner) => {
                if terms.width(inner) == 1 {
                    let (text, own) = self.condition(inner, true);
                    return (text, own);
                }
                self.expression(inner)
            }
            Node::Unary(Unary::Neg, inner) => (format!("-{}", self.inside(inner, Binding::Prefix)), Binding::Prefix),
            Node::Unary(Unary::Not, inner) if width == 1 => self.condition(inner, false),
            Node::Unary(Unary::Not, inner) => (format!("~{}", self.inside(inner, Binding::Prefix)), Binding::Prefix),
            Node::Binary(op, ..) if width == 1 && (op.is_comparison() || op != Binary::Add) => {
                self.condition(term, true)
            }
            Node::Binary(op, first, second) => self.operation(op, first, second),
            Node::Extract(inner, 0) => {
                let ty = match width {
                    8 => "unsigned char",
                    16 => "unsigned short",
                    32 => "unsigned",
                    _ => {
                        return (
                            format!("{} & {:#x}", self.inside(inner, Binding::BitAnd), crate::logic::term::mask(width)),
                            Binding::BitAnd,
                        );
                    }
                };
                (format!("({ty}){}", self.inside(inner, Binding::Prefix)), Binding::Prefix)
            }
            Node::Extract(inner, low) => {
                let mask = crate::logic::term::mask(width);
                (format!("{} >> {low} & {mask:#x}", self.inside(inner, Binding::Shift)), Binding::BitAnd)
            }
            Node::Concat(upper, lower) => {
                let by = terms.width(lower);
                let [upper, lower] = [upper, lower].map(|part| self.inside(part, Binding::Shift));
                (format!("{upper} << {by} | {lower}"), Binding::BitOr)
            }
            Node::If(condition, yes, no) => {
                let (text, own) = self.condition(condition, true);
                let text = if own <= Binding::Choice { format!("({text})") } else { text };
                let [yes, no] = [yes, no].map(|side| self.inside(side, Binding::Or));
                (format!("{text} ? {yes} : {no}"), Binding::Choice)
            }
        }
    }

    fn operation(&self, op: Binary, first: TermId, second: TermId) -> (String, Binding) {
        let (word, binding) = match op {
            Binary::And => ("&", Binding::BitAnd),
            Binary::Or => ("|", Binding::BitOr),
            Binary::Xor => ("^", Binding::BitXor),
            Binary::Add => ("+", Binding::Sum),
            Binary::Sub => ("-", Binding::Sum),
            Binary::Mul => ("*", Binding::Product),
            Binary::UDiv | Binary::SDiv => ("/", Binding::Product),
            Binary::URem | Binary::SRem => ("%", Binding::Product),
            Binary::Shl => ("<<", Binding::Shift),
            Binary::LShr | Binary::AShr => (">>", Binding::Shift),
            _ => return (self.condition(first, true).0, Binding::Choice),
        };
        let left = self.inside(first, binding);
        let width = self.terms.width(second);
        if op == Binary::Add
            && let Some(bits) = self.terms.constant_of(second)
            && signed(bits, width) < 0
        {
            return (format!("{left} - {}", signed(bits, width).unsigned_abs()), Binding::Sum);
        }
        let is_bits = matches!(op, Binary::And | Binary::Or | Binary::Xor);
        let right = match self.terms.constant_of(second) {
            Some(bits) if is_bits && bits > 9 => format!("{bits:#x}"),
            _ => {
                let (text, own) = self.expression(second);
                if own <= binding { format!("({text})") } else { text }
            }
        };
        (format!("{left} {word} {right}"), binding)
    }
}

/// A number as it is written in C.
pub fn number(bits: u64, width: u32, kind: Kind) -> String {
    match kind {
        Kind::Pointer if bits == 0 => "NULL".to_owned(),
        Kind::Pointer => format!("{bits:#x}"),
        Kind::Character if width == 8 || width == 32 => match u8::try_from(signed(bits, width)) {
            Ok(byte @ (b' '..=b'~')) => match byte {
                b'\'' | b'\\' => format!("'\\{}'", char::from(byte)),
                _ => format!("'{}'", char::from(byte)),
            },
            Ok(b'\n') => "'\\n'".to_owned(),
            Ok(b'\t') => "'\\t'".to_owned(),
            _ => signed(bits, width).to_string(),
        },
        Kind::Float if width == 64 => format!("{:?}", f64::from_bits(bits)),
        Kind::Float if width == 32 => {
            format!("{:?}", f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0)))
        }
        Kind::Unsigned => bits.to_string(),
        _ if width == 64 && bits > 1 << 40 && bits < 1 << 48 => format!("{bits:#x}"),
        _ => signed(bits, width).to_string(),
    }
}
