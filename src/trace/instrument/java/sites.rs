//! What a method records, and where.
//!
//! Recorded is what cannot be derived from the bytecode: that a method was entered, and with what; which way a decision
//! went; that an exception was caught; what was read from fields and arrays, and what a call gave. A reader that
//! interprets the code in between knows everything else. With [steps alone](RecordedContent::Steps), values are left out.
//!
//! Each place where something is recorded is a *site* with a number: it writes that number and then its payload, so a
//! stream describes itself. If another site follows than the code makes one expect, an exception was thrown in between, or a method was entered by code that is not recorded.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::{ClassFile, ClassMethod};
use crate::instrument::java::code::{Code, JavaInstruction};
use crate::instrument::java::descriptor::{MethodTypes, ValueKind};
use crate::instrument::java::doubt::{self, KnownInstructions};
use crate::instrument::java::layout::{CodeLayout, Insert};
use crate::instrument::java::operation::{Element, Operation};
use crate::instrument::java::pool::{Constant, PoolMember};
use crate::instrument::java::stack::{Constructed, constant_kind, constructed};
use std::ops::Range;

/// How much is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedContent {
    /// The steps, and all values that cannot be derived.
    Values,
    /// The steps. Of values there are the exceptions alone.
    Steps,
}

/// In the length of a stored class: steps alone are recorded.
const STEPS: u32 = 1 << 31;

impl RecordedContent {
    /// The length of a class, as it is stored before the class.
    ///
    /// - `length`: less than 2^31.
    pub fn mark(self, length: u32) -> u32 {
        length | if self == Self::Steps { STEPS } else { 0 }
    }

    /// What is recorded of a class, and its length, from the [marked](Self::mark) one.
    pub fn of_marked(length: u32) -> (Self, u32) {
        (if length & STEPS == 0 { Self::Values } else { Self::Steps }, length & !STEPS)
    }
}

/// What a site records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteProbe {
    /// The method was entered.
    Enter,
    /// What was given for a parameter, or `this`, which is in this local.
    Parameter(ValueKind, u16),
    /// A decision led to the instruction behind it, or a statement begins there that is [in doubt](doubt).
    Block,
    /// The exception handler behind it was entered: the exception.
    Handler,
    /// An exception leaves the method: the exception. The site is behind the last instruction, in a handler of its own.
    Leave,
    /// The result of the instruction before it; `None` for a call that returns nothing, and for one whose result is not
    /// recorded.
    Value(Option<ValueKind>),
    /// `this`, after the constructor of the class that is extended.
    This,
    /// The same, without the value.
    Constructed,
    /// The instruction before it entered a monitor.
    Monitor,
}

impl SiteProbe {
    /// Bytes of the payload.
    pub fn size(self) -> u8 {
        let of_kind = |kind: ValueKind| if kind.n_slots() == 2 { 8 } else { 4 };
        match self {
            Self::Parameter(kind, _) | Self::Value(Some(kind)) => of_kind(kind),
            Self::Handler | Self::Leave | Self::This => 4,
            Self::Enter | Self::Block | Self::Value(None) | Self::Constructed | Self::Monitor => 0,
        }
    }

    /// Whether it is behind the constructor of the class that is extended.
    pub fn is_constructed(self) -> bool {
        matches!(self, Self::This | Self::Constructed)
    }

    /// Whether it is before its instruction.
    pub fn is_before(self) -> bool {
        matches!(self, Self::Enter | Self::Parameter(..) | Self::Block | Self::Handler)
    }
}

/// A place where something is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Its instruction.
    pub instruction: u32,
    /// What it records.
    pub probe: SiteProbe,
}

/// The number of the first site of the first class. Smaller numbers are marks of the stream.
pub const FIRST_SITE: u32 = 16;

/// The mark before a value of the common counter of all threads.
pub const CLOCK: u32 = 1;

/// The mark where the limit of a recording was reached.
pub const CUT: u32 = 2;

/// The mark where a stream ends early for another reason.
pub const LOST: u32 = 3;

/// The constants that the rewritten class needs beside one number for each site.
pub const N_OWN_CONSTANTS: usize = 32;

/// The sites of a method in the order of the code, or why it is left as it is; `None` for one without code.
pub type MethodSites<'b> = Option<Result<(Code<'b>, Vec<Site>), Unsupported>>;

/// The sites of all methods of a class, in order. A site has the number of those before it, plus a first number that the
/// class was given.
///
/// Methods that cannot be rewritten have none: they use `jsr`, would be longer than 64 KiB, or their class would have
/// too many constants.
pub fn of_class<'b>(class: &ClassFile<'b>, content: RecordedContent) -> Vec<MethodSites<'b>> {
    let mut n_constants = class.pool.len() + N_OWN_CONSTANTS;
    let mut all = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        let sites = of_method(class, method, content).transpose().map(|found| {
            let (code, sites) = found?;
            // A number that `sipush` cannot have is a constant.
            if n_constants + sites.len() > usize::from(u16::MAX) {
                return Err(Unsupported::new("too many constants"));
            }
            CodeLayout::of(&code, sites.iter().map(Insert::from))?;
            n_constants += sites.len();
            Ok((code, sites))
        });
        all.push(sites);
    }
    all
}

/// The methods of a class that have code and are left as they are, and why: `org/example/Main.run: too many constants`.
///
/// - `methods`: what [`of_class`] gave.
pub fn left_out(class: &ClassFile<'_>, methods: &[MethodSites<'_>]) -> Vec<String> {
    let why = |(method, found): (&ClassMethod, &MethodSites<'_>)| {
        let why = found.as_ref()?.as_ref().err()?;
        Some(format!("{}.{}: {}", class.name, method.name, why.what))
    };
    class.methods.iter().zip(methods).filter_map(why).collect()
}

/// Bytes of the payload of each site of a class, by its number.
pub fn sizes(bytes: &[u8], content: RecordedContent) -> Result<Vec<u8>, Unsupported> {
    Ok(sizes_of(&of_class(&ClassFile::read(bytes)?, content)))
}

/// The same, from what [`of_class`] gave.
pub fn sizes_of(methods: &[MethodSites<'_>]) -> Vec<u8> {
    let sites = methods.iter().flatten().flatten();
    sites.flat_map(|(_, sites)| sites.iter().map(|site| site.probe.size())).collect()
}

fn of_method<'b>(
    class: &ClassFile<'b>,
    method: &ClassMethod,
    content: RecordedContent,
) -> Result<Option<(Code<'b>, Vec<Site>)>, Unsupported> {
    let Some(code) = Code::of(class, method)? else { return Ok(None) };
    let constructed = constructed(&code, method, &class.pool)?;
    let mut is_chosen = vec![false; code.instructions.len()];
    for (number, instruction) in code.instructions.iter().enumerate() {
        if instruction.operation.is_decision() {
            for way in instruction.operation.ways() {
                is_chosen[way as usize] = true;
            }
            if let Some(next) = is_chosen.get_mut(number + 1).filter(|_| instruction.operation.goes_on()) {
                *next = true;
            }
        }
    }
    let mut is_handler = vec![false; code.instructions.len()];
    for handler in &code.handlers {
        is_handler[handler.begin as usize] = true;
    }
    let before: Vec<bool> = is_handler.iter().zip(&is_chosen).map(|(handler, chosen)| *handler || *chosen).collect();
    let mut results = Vec::with_capacity(code.instructions.len());
    let mut throwing = Vec::with_capacity(code.instructions.len());
    for ((number, JavaInstruction { operation, .. }), is_own) in
        (0..).zip(&code.instructions).zip(own_fields(method, &code))
    {
        let result = result(class, operation, constructed.get(&number).copied())?;
        let is_number = matches!(operation, Operation::Constant(_)) && result.is_none();
        throwing.push(content.may_throw(operation) && !is_number && !is_own);
        results.push(result.and_then(|probe| content.kept(probe, operation)));
    }
    let behind: Vec<bool> = results.iter().map(Option::is_some).collect();
    let is_needed =
        doubt::statements(&code, &KnownInstructions { before: &before, behind: &behind, throwing: &throwing });
    let mut sites = entry(method, content)?;
    for (number, result) in (0_u32..).zip(results) {
        let at = number as usize;
        let before = if is_handler[at] { Some(SiteProbe::Handler) } else { None };
        let before = before.or((is_chosen[at] || is_needed[at]).then_some(SiteProbe::Block));
        sites.extend(before.into_iter().chain(result).map(|probe| Site { instruction: number, probe }));
    }
    if guarded(method, &code, &sites).is_some() {
        sites.push(Site { instruction: code.end(), probe: SiteProbe::Leave });
    }
    Ok(Some((code, sites)))
}

impl RecordedContent {
    /// What is recorded of a probe behind an instruction.
    fn kept(self, probe: SiteProbe, operation: &Operation) -> Option<SiteProbe> {
        match (self, probe) {
            (Self::Values, _) | (_, SiteProbe::Monitor) => Some(probe),
            (Self::Steps, SiteProbe::This) => Some(SiteProbe::Constructed),
            (Self::Steps, _) => matches!(operation, Operation::Invoke(..)).then_some(SiteProbe::Value(None)),
        }
    }

    /// Whether an instruction may throw an exception that a reader does not foresee. Who knows the values foresees those for
    /// `null`, for an index, and for a division.
    fn may_throw(self, operation: &Operation) -> bool {
        match self {
            Self::Steps => operation.may_throw(),
            Self::Values => {
                matches!(
                    operation,
                    Operation::Cast(_) | Operation::New(_) | Operation::StoreElement(Element::Reference)
                )
            }
        }
    }
}

/// The instructions that read a field of `this`, which is not null.
fn own_fields(method: &ClassMethod, code: &Code<'_>) -> Vec<bool> {
    let operations = || code.instructions.iter().map(|instruction| &instruction.operation);
    let is_kept =
        !method.is_static() && operations().all(|operation| *operation != Operation::Store(ValueKind::Reference, 0));
    let mut is_this = false;
    let is_own = |operation: &Operation| {
        let is_own = is_this && matches!(operation, Operation::LoadField(_));
        is_this = is_kept && *operation == Operation::Load(ValueKind::Reference, 0);
        is_own
    };
    operations().map(is_own).collect()
}

/// The instructions whose exceptions are recorded when they leave the method; `None` if there are none.
///
/// In a constructor, these are the ones after the call of the constructor of the class that is extended: before that, no
/// handler may have the object, and a frame would have to say so. What is thrown there is seen by what follows. There are
/// none if such a call is made in two places, or is not known, or if code that runs before it is behind it.
pub fn guarded(method: &ClassMethod, code: &Code<'_>, sites: &[Site]) -> Option<Range<u32>> {
    let mut begins = sites.iter().filter(|site| site.probe.is_constructed()).map(|site| site.instruction + 1);
    let begin = match (begins.next(), begins.next()) {
        (None, _) if !method.is_constructor() => 0,
        (Some(begin), None) => begin,
        _ => return None,
    };
    let is_left = |before: u32, way: u32| before < begin && begin <= way;
    // A compiler may put some of what runs before that call behind it.
    let is_mixed = (0..).zip(&code.instructions).any(|(number, instruction)| {
        number < begin && instruction.operation.ways().iter().any(|way| is_left(number, *way))
    }) || code.handlers.iter().any(|handler| is_left(handler.guarded.start, handler.begin));
    (begin < code.end() && !is_mixed).then_some(begin..code.end())
}

/// The sites at the beginning of a method.
fn entry(method: &ClassMethod, content: RecordedContent) -> Result<Vec<Site>, Unsupported> {
    let mut sites = vec![Site { instruction: 0, probe: SiteProbe::Enter }];
    if content == RecordedContent::Steps {
        return Ok(sites);
    }
    let mut local = 0;
    let mut add = |kind: ValueKind, is_given: bool| {
        if is_given {
            sites.push(Site { instruction: 0, probe: SiteProbe::Parameter(kind, local) });
        }
        // A method has at most 255 parameters.
        local += kind.n_slots();
    };
    if !method.is_static() {
        // The verifier lets nobody have the object of a constructor so early.
        add(ValueKind::Reference, !method.is_constructor());
    }
    for kind in MethodTypes::of(&method.descriptor)?.kinds()? {
        add(kind, true);
    }
    Ok(sites)
}

/// What is recorded after an instruction.
fn result(
    class: &ClassFile<'_>,
    operation: &Operation,
    constructed: Option<Constructed>,
) -> Result<Option<SiteProbe>, Unsupported> {
    let pool = &class.pool;
    let kind = |member: PoolMember| ValueKind::of(&member.descriptor);
    Ok(match operation {
        Operation::Constant(number) => {
            let is_known = matches!(
                pool.get(*number)?,
                Constant::Int(_) | Constant::Float(_) | Constant::Long(_) | Constant::Double(_)
            );
            if is_known { None } else { Some(SiteProbe::Value(Some(constant_kind(pool, *number)?))) }
        }
        Operation::LoadElement(element) => Some(SiteProbe::Value(Some(element.kind()))),
        Operation::LoadStatic(number) | Operation::LoadField(number) => {
            Some(SiteProbe::Value(kind(pool.member(*number)?)?))
        }
        Operation::Invoke(_, number) => match constructed {
            Some(Constructed::Top) => Some(SiteProbe::Value(Some(ValueKind::Reference))),
            Some(Constructed::This) => Some(SiteProbe::This),
            Some(Constructed::Unknown) => Some(SiteProbe::Value(None)),
            None => {
                let member = pool.member(*number)?;
                Some(SiteProbe::Value(MethodTypes::of(&member.descriptor)?.result_kind()?))
            }
        },
        Operation::NewBasicArray(_) | Operation::NewArray(_) | Operation::NewArrays(..) => {
            Some(SiteProbe::Value(Some(ValueKind::Reference)))
        }
        Operation::InstanceOf(_) => Some(SiteProbe::Value(Some(ValueKind::Int))),
        Operation::Enter => Some(SiteProbe::Monitor),
        _ => None,
    })
}
