//! Conditions as expressions of C, with the names that hold at a moment of the run.

use std::collections::HashMap;

use crate::native::invariant::Native;
use crate::native::naming::{self, NumberKind};
use idd_trace::logic::evaluate::signed;
use idd_trace::logic::substitute::variables;
use idd_trace::logic::term::{BinaryTerm, TermId, TermNode, Terms, UnaryTerm};
use idd_trace::native::event::EventTime;
use idd_trace::native::symbolic::version::AssignedPlace;
use idd_trace::native::visit::before_step;
use idd_trace::native::{NativeMachine, View};
use idd_trace::{Step, TraceError};

/// The names of versions, and what their numbers are.
pub type VersionNames = HashMap<u32, (String, NumberKind)>;

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
    pub fn names(
        &mut self,
        terms: &Terms,
        moment: EventTime,
        conditions: &[TermId],
    ) -> Result<VersionNames, TraceError> {
        let mut names = VersionNames::new();
        let mut parts: Vec<(u32, (u64, u64), bool)> = Vec::new();
        for (version, _) in variables(terms, conditions) {
            let known = self.symbolic.versions.get(version).clone();
            let (name, kind) = match known.place {
                AssignedPlace::Memory(address, length) => {
                    parts.push((version, (address, length), false));
                    continue;
                }
                AssignedPlace::Pointer(address, length) => {
                    parts.push((version, (address, length), true));
                    continue;
                }
                AssignedPlace::Parameter(_, index) => {
                    (self.parameter(known.assigned, moment, index)?, NumberKind::Signed)
                }
                AssignedPlace::Result(at) => (self.result(at)?, NumberKind::Signed),
                AssignedPlace::Pinned(..) => ("a result".to_owned(), NumberKind::Signed),
            };
            names.insert(version, (name, kind));
        }
        let ranges: Vec<(u64, u64)> = parts.iter().map(|(_, range, _)| *range).collect();
        let found = self.named(moment, &ranges)?;
        for ((version, (address, length), is_pointer), found) in parts.into_iter().zip(found) {
            let found = match found.filter(|(name, _)| name != "the environment") {
                None if length == 1 => self.argument_byte(address)?.map(|name| (name, NumberKind::Character)),
                found => found,
            };
            let (name, kind) =
                found.unwrap_or_else(|| (format!("*(char (*)[{length}]){address:#x}"), NumberKind::Signed));
            let shown = if is_pointer { (address_of(&name), NumberKind::Pointer) } else { (name, kind) };
            names.insert(version, shown);
        }
        Ok(names)
    }

    fn named(
        &mut self,
        moment: EventTime,
        ranges: &[(u64, u64)],
    ) -> Result<Vec<Option<(String, NumberKind)>>, TraceError> {
        let mut found = vec![None; ranges.len()];
        if ranges.is_empty() {
            return Ok(found);
        }
        let player = &mut *self.symbolic.tape.player;
        let look = |machine: &NativeMachine| {
            let view = View::new(machine);
            let mut found = naming::named(view, ranges, None);
            for (found, (address, length)) in found.iter_mut().zip(ranges).filter(|(found, _)| found.is_none()) {
                *found = view.name(*address, *length).map(|name| (name, NumberKind::Signed));
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

    fn parameter(&mut self, call: Option<EventTime>, moment: EventTime, index: u32) -> Result<String, TraceError> {
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
    fn result(&mut self, moment: EventTime) -> Result<String, TraceError> {
        let event = self.event(moment)?;
        let instructions = event.block_instructions();
        let call = event.segment().before(instructions).map(|index| &instructions[index]);
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
pub fn conditions(terms: &Terms, all: &[TermId], names: &VersionNames) -> Vec<String> {
    let mut texts: Vec<(bool, String)> = Vec::new();
    for condition in all {
        if is_said_by_names(terms, *condition, names) {
            continue;
        }
        let text = written(terms, *condition, names);
        // What the program was started with is rarely of interest.
        texts.push((text.contains("argv") || text.contains("== &") || text.contains("== 0x"), text));
    }
    texts.sort();
    texts.dedup();
    texts.into_iter().map(|(_, text)| text).collect()
}

/// Whether a condition only says that a pointer leads to a place whose name begins with the pointer.
fn is_said_by_names(terms: &Terms, condition: TermId, names: &VersionNames) -> bool {
    let TermNode::Binary(BinaryTerm::Eq, first, second) = terms.node(condition) else { return false };
    let location = |term: TermId| match terms.node(term) {
        TermNode::Variable(version) => names.get(&version).map(|(name, _)| &**name),
        _ => None,
    };
    let is_place = |name: &&str| name.starts_with('&');
    let pointer = |term: TermId| {
        let base = match terms.node(term) {
            TermNode::Binary(BinaryTerm::Add, base, offset) if terms.constant_of(offset).is_some() => base,
            _ => term,
        };
        location(base)
    };
    [(first, second), (second, first)].into_iter().any(|(place, other)| {
        let Some(name) = pointer(place).filter(is_place) else { return false };
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
pub fn written(terms: &Terms, condition: TermId, names: &VersionNames) -> String {
    let writer = ConditionWriter { terms, names };
    writer.condition(condition, true).0
}

struct ConditionWriter<'w> {
    terms: &'w Terms,
    names: &'w VersionNames,
}

/// The type that an expression has in C: its bits, and whether it has a sign.
type Ty = (u32, bool);

/// An expression: how it is written, how tightly it binds, and its type.
type WrittenExpression = (String, Binding, Ty);

fn type_name((bits, is_signed): Ty) -> &'static str {
    match (bits, is_signed) {
        (..=8, true) => "signed char",
        (..=8, false) => "unsigned char",
        (..=16, true) => "short",
        (..=16, false) => "unsigned short",
        (..=32, true) => "int",
        (..=32, false) => "unsigned",
        (_, true) => "long",
        (_, false) => "unsigned long",
    }
}

/// The type of C that holds so many bits.
fn whole(bits: u32) -> u32 {
    bits.next_power_of_two().clamp(8, 64)
}

fn inside((text, own, _): WrittenExpression, binding: Binding) -> String {
    if own < binding { format!("({text})") } else { text }
}

/// An expression with a cast, unless it has the value without it.
fn cast(written: WrittenExpression, ty: Ty) -> WrittenExpression {
    let (bits, is_signed) = written.2;
    let is_same = (bits, is_signed) == ty || (bits < ty.0 && (!is_signed || ty.1));
    if is_same {
        written
    } else {
        (format!("({}){}", type_name(ty), inside(written, Binding::Prefix)), Binding::Prefix, ty)
    }
}

impl ConditionWriter<'_> {
    /// A truth, or its contrary.
    fn condition(&self, term: TermId, is_true: bool) -> (String, Binding) {
        let terms = self.terms;
        match terms.node(term) {
            TermNode::Constant(bits) => {
                (if (bits == 1) == is_true { "true" } else { "false" }.to_owned(), Binding::Whole)
            }
            TermNode::Unary(UnaryTerm::Not, inner) => self.condition(inner, !is_true),
            TermNode::Binary(op, first, second) if op.is_comparison() => self.comparison(op, first, second, is_true),
            TermNode::Binary(op @ (BinaryTerm::And | BinaryTerm::Or), first, second) => {
                let is_and = (op == BinaryTerm::And) == is_true;
                let (word, binding) = if is_and { ("&&", Binding::And) } else { ("||", Binding::Or) };
                let [one, other] = [first, second].map(|side| {
                    let (text, inner) = self.condition(side, is_true);
                    if inner < binding { format!("({text})") } else { text }
                });
                (format!("{one} {word} {other}"), binding)
            }
            TermNode::Binary(BinaryTerm::Xor, first, second) => {
                self.comparison(BinaryTerm::Eq, first, second, !is_true)
            }
            _ => {
                let text = inside(self.expression(term, false), Binding::Prefix);
                (if is_true { text } else { format!("!{text}") }, Binding::Prefix)
            }
        }
    }

    fn comparison(&self, op: BinaryTerm, first: TermId, second: TermId, is_true: bool) -> (String, Binding) {
        let width = self.terms.width(first);
        if width == 1 {
            let same = (op == BinaryTerm::Eq) == is_true;
            let [one, other] = [first, second].map(|side| {
                let (text, inner) = self.condition(side, true);
                if inner <= Binding::Relation { format!("({text})") } else { text }
            });
            return (format!("{one} {} {other}", if same { "==" } else { "!=" }), Binding::Equality);
        }
        let (word, is_swapped) = match (op, is_true) {
            (BinaryTerm::Eq, true) => ("==", false),
            (BinaryTerm::Eq, false) => ("!=", false),
            (BinaryTerm::Ult | BinaryTerm::Slt, true) => ("<", false),
            (BinaryTerm::Ule | BinaryTerm::Sle, true) => ("<=", false),
            (BinaryTerm::Ult | BinaryTerm::Slt, false) => ("<=", true),
            (_, _) => ("<", true),
        };
        let (mut one, mut other, mut word) = if is_swapped { (second, first, word) } else { (first, second, word) };
        // A constant stands to the right.
        if self.terms.constant_of(one).is_some() && word.starts_with('<') {
            std::mem::swap(&mut one, &mut other);
            word = if word == "<" { ">" } else { ">=" };
        }
        let has_sign = matches!(op, BinaryTerm::Slt | BinaryTerm::Sle);
        let is_equality = op == BinaryTerm::Eq;
        let wanted = if is_equality { self.sign(one).or_else(|| self.sign(other)).unwrap_or(true) } else { has_sign };
        let kind = self.kind(one).or_else(|| self.kind(other)).unwrap_or_default();
        let kind = match kind {
            NumberKind::Signed | NumberKind::Character if !wanted => NumberKind::Unsigned,
            NumberKind::Unsigned if wanted => NumberKind::Signed,
            NumberKind::Pointer if has_sign => NumberKind::Signed,
            kind => kind,
        };
        let side = |term: TermId| match self.terms.constant_of(term) {
            Some(bits) => number(bits, width, kind),
            None if kind == NumberKind::Pointer => inside(self.expression(term, wanted), Binding::Shift),
            None => inside(cast(self.expression(term, wanted), (whole(width), wanted)), Binding::Shift),
        };
        let (mut left, mut right) = (side(one), side(other));
        if is_equality && self.terms.constant_of(other).is_none() && right < left {
            std::mem::swap(&mut left, &mut right);
        }
        (format!("{left} {word} {right}"), if is_equality { Binding::Equality } else { Binding::Relation })
    }

    /// What the number of a term is, as far as a variable says so.
    fn kind(&self, term: TermId) -> Option<NumberKind> {
        match self.terms.node(term) {
            TermNode::Variable(version) => self.names.get(&version).map(|(_, kind)| *kind),
            TermNode::ZeroExtend(inner) | TermNode::SignExtend(inner) => match self.kind(inner)? {
                NumberKind::Character if self.terms.width(term) == 32 => Some(NumberKind::Character),
                NumberKind::Pointer => Some(NumberKind::Pointer),
                _ => None,
            },
            TermNode::Binary(BinaryTerm::Add | BinaryTerm::Sub, first, second) => {
                let (one, other) = (self.kind(first), self.kind(second));
                [one, other].into_iter().flatten().find(|kind| *kind == NumberKind::Pointer).or(one).or(other)
            }
            _ => None,
        }
    }

    /// Whether a term has a sign, as far as it says so.
    fn sign(&self, term: TermId) -> Option<bool> {
        match self.terms.node(term) {
            TermNode::Variable(version) => {
                let (_, kind) = self.names.get(&version)?;
                Some(matches!(kind, NumberKind::Signed | NumberKind::Character))
            }
            TermNode::SignExtend(_) => Some(true),
            TermNode::ZeroExtend(inner) => Some(self.terms.width(inner) < 32 || self.sign(inner)?),
            TermNode::Binary(_, first, second) => match (self.sign(first), self.sign(second)) {
                (Some(one), Some(other)) => Some(one && other),
                (one, other) => one.or(other),
            },
            _ => None,
        }
    }

    /// - `wanted`: whether it should have a sign, where nothing else says so.
    fn expression(&self, term: TermId, wanted: bool) -> WrittenExpression {
        let terms = self.terms;
        let width = terms.width(term);
        let ty = (whole(width), wanted);
        match terms.node(term) {
            TermNode::Constant(bits) => (
                number(bits, width, if wanted { NumberKind::Signed } else { NumberKind::Unsigned }),
                Binding::Prefix,
                ty,
            ),
            TermNode::Variable(version) => {
                let (name, kind) =
                    self.names.get(&version).cloned().unwrap_or((format!("v{version}"), NumberKind::Signed));
                let is_prefixed = name.starts_with(['*', '&']);
                let is_signed = matches!(kind, NumberKind::Signed | NumberKind::Character);
                (name, if is_prefixed { Binding::Prefix } else { Binding::Whole }, (whole(width), is_signed))
            }
            TermNode::ZeroExtend(inner) | TermNode::SignExtend(inner) if terms.width(inner) == 1 => {
                let (text, own) = self.condition(inner, true);
                if matches!(terms.node(term), TermNode::SignExtend(_)) {
                    return (format!("-({text})"), Binding::Prefix, (32, true));
                }
                (text, own, (32, true))
            }
            TermNode::ZeroExtend(inner) => cast(self.expression(inner, false), (whole(terms.width(inner)), false)),
            TermNode::SignExtend(inner) => cast(self.expression(inner, true), (whole(terms.width(inner)), true)),
            TermNode::Unary(UnaryTerm::Not, inner) if width == 1 => {
                let (text, own) = self.condition(inner, false);
                (text, own, (32, true))
            }
            TermNode::Binary(..) if width == 1 => {
                let (text, own) = self.condition(term, true);
                (text, own, (32, true))
            }
            TermNode::Unary(op, inner) => {
                let sign = if op == UnaryTerm::Neg { '-' } else { '~' };
                let text = format!("{sign}{}", inside(self.expression(inner, wanted), Binding::Prefix));
                Self::cut((text, Binding::Prefix, ty), width)
            }
            TermNode::Binary(op, first, second) => self.operation(op, first, second, wanted),
            TermNode::Extract(inner, 0) if whole(width) == width => (
                format!("({}){}", type_name(ty), inside(self.expression(inner, wanted), Binding::Prefix)),
                Binding::Prefix,
                ty,
            ),
            TermNode::Extract(inner, low) => {
                let mask = idd_trace::logic::term::mask(width);
                let bits = cast(self.expression(inner, false), (whole(terms.width(inner)), false));
                let shifted = if low == 0 {
                    inside(bits, Binding::BitAnd)
                } else {
                    format!("{} >> {low}", inside(bits, Binding::Shift))
                };
                (format!("{shifted} & {mask:#x}"), Binding::BitAnd, (whole(width), false))
            }
            TermNode::Concat(upper, lower) => {
                let by = terms.width(lower);
                let [upper, lower] = [upper, lower]
                    .map(|part| inside(cast(self.expression(part, false), (whole(width), false)), Binding::Shift));
                (format!("{upper} << {by} | {lower}"), Binding::BitOr, (whole(width), false))
            }
            TermNode::If(condition, yes, no) => {
                let (text, own) = self.condition(condition, true);
                let text = if own <= Binding::Choice { format!("({text})") } else { text };
                let [yes, no] = [yes, no].map(|side| inside(cast(self.expression(side, wanted), ty), Binding::Or));
                (format!("{text} ? {yes} : {no}"), Binding::Choice, ty)
            }
        }
    }

    /// An operation that C does in an `int` becomes one of fewer bits.
    fn cut((text, own, ty): WrittenExpression, width: u32) -> WrittenExpression {
        if width >= 32 {
            return (text, own, ty);
        }
        (format!("({}){}", type_name(ty), inside((text, own, ty), Binding::Prefix)), Binding::Prefix, ty)
    }

    fn operation(&self, op: BinaryTerm, first: TermId, second: TermId, wanted: bool) -> WrittenExpression {
        let (word, binding, sign) = match op {
            BinaryTerm::And => ("&", Binding::BitAnd, None),
            BinaryTerm::Or => ("|", Binding::BitOr, None),
            BinaryTerm::Xor => ("^", Binding::BitXor, None),
            BinaryTerm::Add => ("+", Binding::Sum, None),
            BinaryTerm::Sub => ("-", Binding::Sum, None),
            BinaryTerm::Mul => ("*", Binding::Product, None),
            BinaryTerm::UDiv => ("/", Binding::Product, Some(false)),
            BinaryTerm::SDiv => ("/", Binding::Product, Some(true)),
            BinaryTerm::URem => ("%", Binding::Product, Some(false)),
            BinaryTerm::SRem => ("%", Binding::Product, Some(true)),
            BinaryTerm::LShr => (">>", Binding::Shift, Some(false)),
            BinaryTerm::AShr => (">>", Binding::Shift, Some(true)),
            _ => ("<<", Binding::Shift, None),
        };
        let width = self.terms.width(first);
        let is_signed = sign.or_else(|| self.sign(first).zip(self.sign(second)).map(|(one, other)| one && other));
        let is_signed = is_signed.or_else(|| self.sign(first)).or_else(|| self.sign(second)).unwrap_or(wanted);
        let ty = (whole(width), is_signed);
        let is_pointer =
            self.kind(first) == Some(NumberKind::Pointer) || self.kind(second) == Some(NumberKind::Pointer);
        let operand = |term: TermId| {
            let written = self.expression(term, is_signed);
            if is_pointer || width < 32 { written } else { cast(written, ty) }
        };
        let left = inside(operand(first), binding);
        if op == BinaryTerm::Add
            && let Some(bits) = self.terms.constant_of(second)
            && signed(bits, width) < 0
        {
            let text = format!("{left} - {}", signed(bits, width).unsigned_abs());
            return Self::cut((text, Binding::Sum, ty), width);
        }
        let is_bits = matches!(op, BinaryTerm::And | BinaryTerm::Or | BinaryTerm::Xor);
        let right = match self.terms.constant_of(second) {
            Some(bits) if is_bits && bits > 9 => format!("{bits:#x}"),
            _ => {
                let (text, own, _) = operand(second);
                if own <= binding { format!("({text})") } else { text }
            }
        };
        Self::cut((format!("{left} {word} {right}"), binding, ty), width)
    }
}

/// A number as it is written in C.
pub fn number(bits: u64, width: u32, kind: NumberKind) -> String {
    match kind {
        NumberKind::Pointer if bits == 0 => "NULL".to_owned(),
        NumberKind::Pointer => format!("{bits:#x}"),
        NumberKind::Character if width == 8 || width == 32 => match u8::try_from(signed(bits, width)) {
            Ok(byte @ (b' '..=b'~')) => match byte {
                b'\'' | b'\\' => format!("'\\{}'", char::from(byte)),
                _ => format!("'{}'", char::from(byte)),
            },
            Ok(b'\n') => "'\\n'".to_owned(),
            Ok(b'\t') => "'\\t'".to_owned(),
            _ => signed(bits, width).to_string(),
        },
        NumberKind::Float if width == 64 => format!("{:?}", f64::from_bits(bits)),
        NumberKind::Float if width == 32 => {
            format!("{:?}f", f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0)))
        }
        NumberKind::Unsigned => bits.to_string(),
        _ if width == 64 && bits > 1 << 40 && bits < 1 << 48 => format!("{bits:#x}"),
        _ => signed(bits, width).to_string(),
    }
}
