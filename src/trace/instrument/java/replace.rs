//! Inserts points into a class file at which another value can be put in place of one.
//!
//! The inserted code hands the value and the number of the point to a static method of [`REPLACER`], and goes on with what
//! comes back.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::{ClassFile, ClassMethod};
use crate::instrument::java::code::Code;
use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::insert::{self, Constants, Inserts, load, put_local};
use crate::instrument::java::layout::{CALL, Insert, InsertPlace, NUMBER};

/// The class that replaces values, as class files name it.
pub const REPLACER: &str = "git_idd/recording/Replacer";

/// Where the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueHolder {
    /// In this local when the method is entered.
    Parameter(u16),
    /// In this local behind the instruction.
    Local(u16),
    /// On top of the stack before the instruction.
    Operand,
    /// On top of the stack behind the instruction.
    Result,
}

/// A point at which a value can be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacementPoint {
    /// The class of the method: `org/example/Main`.
    pub class: String,
    /// The name of the method.
    pub method: String,
    /// Its type.
    pub descriptor: String,
    /// The number of the instruction in the method.
    pub instruction: u32,
    /// Where the value is.
    pub holder: ValueHolder,
    /// The type of the value.
    pub of: String,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// A number, by its bits.
    Bits(u64),
    /// `null`.
    Null,
    /// Any object.
    Object,
    /// A string.
    Text(String),
    /// A number, character or truth value in an object, by its text.
    Boxed(String),
    /// A constant of an enumeration, by its name.
    Constant(String),
}

/// What happens at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The point.
    pub point: ReplacementPoint,
    /// Which time, from 1.
    pub nth: u64,
    /// What must be there; `None` for anything.
    pub expected: Option<Instead>,
    /// What is put there.
    pub instead: Instead,
}

impl ReplacementPoint {
    fn kind(&self) -> Result<ValueKind, Unsupported> {
        ValueKind::of(&self.of)?.ok_or_else(|| Unsupported::new("a value of no type"))
    }

    /// The class that a replaced object is said to be of; `None` if any is right.
    fn cast(&self) -> Option<&str> {
        match self.of.as_str() {
            "Ljava/lang/Object;" => None,
            array if array.starts_with('[') => Some(array),
            of => of.strip_prefix('L')?.strip_suffix(';'),
        }
    }

    /// Where its code goes, and how long that is.
    pub(super) fn insert(&self) -> Insert {
        let local = |local: u16| if u8::try_from(local).is_ok() { 2 * 2 } else { 2 * 4 };
        let (at, more) = match self.holder {
            ValueHolder::Parameter(of) => (InsertPlace::Entry, local(of)),
            ValueHolder::Local(of) => (InsertPlace::Behind, local(of)),
            ValueHolder::Operand => (InsertPlace::Before, 0),
            ValueHolder::Result => (InsertPlace::Behind, 0),
        };
        let instruction = if at == InsertPlace::Entry { 0 } else { self.instruction };
        let cast = if self.cast().is_some() { CAST } else { 0 };
        Insert { instruction, at, length: NUMBER + CALL + cast + more }
    }
}

/// Bytes of a cast.
const CAST: usize = 3;

const INVOKESTATIC: u8 = 184;
const CHECKCAST: u8 = 192;

/// How far the instruction that writes a local is behind the one that reads it.
const STORE: u8 = 33;

/// Inserts the points of a class; `None` if it has none of them.
///
/// - `points`: those of all classes, by their numbers.
///
/// Errors: the class or one of the methods cannot be rewritten, or has no such instruction.
pub fn replace(bytes: &[u8], points: &[ReplacementPoint]) -> Result<Option<Vec<u8>>, Unsupported> {
    let class = ClassFile::read(bytes)?;
    let mut constants = Constants::new(class.pool.len());
    let mut codes = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        let here = points_of(&class, method, points);
        if here.is_empty() {
            codes.push(None);
            continue;
        }
        let code = Code::of(&class, method)?.ok_or_else(|| Unsupported::new("a method without code"))?;
        check(&here, &code)?;
        let inserts: Vec<Insert> = here.iter().map(|(_, point)| point.insert()).collect();
        let mut put = |nth: usize, out: &mut Vec<u8>, constants: &mut Constants| {
            let (number, point) = here[nth];
            put_point(out, number, point, constants)
        };
        let inserts = Inserts { all: &inserts, put: &mut put, guarded: None };
        codes.push(Some(insert::code_attribute(class.version, &code, inserts, &mut constants)?));
    }
    let is_any = codes.iter().any(Option::is_some);
    Ok(is_any.then(|| insert::with_code(&class, &codes, &constants)))
}

/// The points in a method with their numbers, in the order of the code.
pub(super) fn points_of<'p>(
    class: &ClassFile<'_>,
    method: &ClassMethod,
    points: &'p [ReplacementPoint],
) -> Vec<(u32, &'p ReplacementPoint)> {
    let is_here = |point: &ReplacementPoint| {
        *point.class == *class.name && *point.method == *method.name && *point.descriptor == *method.descriptor
    };
    let mut here: Vec<(u32, &ReplacementPoint)> = (0..).zip(points).filter(|(_, point)| is_here(point)).collect();
    here.sort_by_key(|(_, point)| {
        let Insert { instruction, at, .. } = point.insert();
        (instruction, at)
    });
    here
}

/// Errors: one of the instructions is not there.
pub(super) fn check(here: &[(u32, &ReplacementPoint)], code: &Code<'_>) -> Result<(), Unsupported> {
    let is_there = here.iter().all(|(_, point)| point.instruction < code.end());
    if is_there { Ok(()) } else { Err(Unsupported::new("an instruction that is not there")) }
}

/// The method of the replacer for values of a kind.
fn taker(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Int => "(II)I",
        ValueKind::Long => "(JI)J",
        ValueKind::Float => "(FI)F",
        ValueKind::Double => "(DI)D",
        ValueKind::Reference => "(Ljava/lang/Object;I)Ljava/lang/Object;",
    }
}

/// Writes the code of a point.
pub(super) fn put_point(
    out: &mut Vec<u8>,
    number: u32,
    point: &ReplacementPoint,
    constants: &mut Constants,
) -> Result<(), Unsupported> {
    let kind = point.kind()?;
    let local = match point.holder {
        ValueHolder::Parameter(local) | ValueHolder::Local(local) => Some(local),
        ValueHolder::Operand | ValueHolder::Result => None,
    };
    if let Some(local) = local {
        put_local(out, load(kind), local);
    }
    constants.put_number(number, out)?;
    out.push(INVOKESTATIC);
    out.extend(constants.method(REPLACER, "of", taker(kind))?.to_be_bytes());
    if let Some(class) = point.cast() {
        out.push(CHECKCAST);
        out.extend(constants.class(class)?.to_be_bytes());
    }
    if let Some(local) = local {
        put_local(out, load(kind) + STORE, local);
    }
    Ok(())
}
