//! Inserts the sites into a class file.
//!
//! The inserted code copies a value on the stack, adds the number of the site, and calls a static method of
//! [`RECORDER`]. Only places move: those of jumps, handlers, lines, variables and frames.
//!
//! One handler is added behind the last instruction of a method. It takes the exceptions that leave the method, and
//! throws them again. Its frame has no locals, so it fits to every instruction.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::Class;
use crate::instrument::java::class_file::FRAMES;
use crate::instrument::java::class_file::Method;
use crate::instrument::java::code::Code;
use crate::instrument::java::code::Handler;
use crate::instrument::java::code::Instruction;
use crate::instrument::java::code::Offsets;
use crate::instrument::java::cursor::Cursor;
use crate::instrument::java::descriptor::Kind;
use crate::instrument::java::frames;
use crate::instrument::java::frames::Frame;
use crate::instrument::java::frames::Shape;
use crate::instrument::java::frames::Slot;
use crate::instrument::java::layout::Layout;
use crate::instrument::java::layout::SITE_STACK;
use crate::instrument::java::layout::is_of_entry;
use crate::instrument::java::operation::Operation;
use crate::instrument::java::sites;
use crate::instrument::java::sites::Probe;
use crate::instrument::java::sites::Site;
use crate::instrument::java::stack::frames_of;
use std::collections::HashMap;

/// The class that records, as class files name it.
pub const RECORDER: &str = "git_idd/recording/Recorder";

/// The class of all exceptions.
const EXCEPTION: &str = "java/lang/Throwable";

/// The attribute that has the frames.
const TABLE: &str = "StackMapTable";

/// The largest number that an instruction can have in itself.
const MAX_SHORT: u32 = i16::MAX as u32;

/// A rewritten class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The class file.
    pub bytes: Vec<u8>,
    /// The number of its sites.
    pub n_sites: u32,
    /// The number of methods that were left as they are.
    pub n_skipped: u32,
}

/// Inserts the sites into a class.
///
/// - `first_site`: the number of its first site.
///
/// Errors: it cannot be read, or is of a version that is not known; it is to be left as it is.
pub fn rewrite(bytes: &[u8], first_site: u32) -> Result<Rewritten, Unsupported> {
    let class = Class::read(bytes)?;
    let methods = sites::of_class(&class);
    let mut constants = Constants::new(class.pool.len());
    let mut rewritten = Rewritten { bytes: Vec::new(), n_sites: 0, n_skipped: 0 };
    let mut out = Vec::with_capacity(2 * bytes.len());
    for (method, sites) in class.methods.iter().zip(methods) {
        match sites {
            Some(Ok((code, sites))) => {
                let n_sites = u32::try_from(sites.len()).expect("as many as fit into a class");
                let first = first_site + rewritten.n_sites;
                first.checked_add(n_sites).ok_or_else(|| Unsupported::new("too many sites"))?;
                let Some(range) = &method.code else { continue };
                let attribute = code_attribute((class.version, method), (&code, &sites), first, &mut constants)?;
                out.extend(&class.bytes[method.range.start..range.start]);
                out.extend(&class.bytes[range.start..range.start + 2]);
                out.extend(u32::try_from(attribute.len()).unwrap_or(u32::MAX).to_be_bytes());
                out.extend(attribute);
                out.extend(&class.bytes[range.end..method.range.end]);
                rewritten.n_sites += n_sites;
            }
            left => {
                rewritten.n_skipped += u32::from(left.is_some());
                out.extend(&class.bytes[method.range.clone()]);
            }
        }
    }
    let mut file = class.bytes[..8].to_vec();
    file.extend(constants.n.to_be_bytes());
    file.extend(&class.bytes[10..class.after_pool]);
    file.extend(&constants.bytes);
    file.extend(&class.bytes[class.after_pool..class.methods_at]);
    file.extend(out);
    file.extend(&class.bytes[class.after_methods..]);
    rewritten.bytes = file;
    Ok(rewritten)
}

/// The constants that are added to a class.
pub(super) struct Constants {
    /// The number of all constants, which is that of the next one.
    n: u16,
    bytes: Vec<u8>,
    texts: HashMap<&'static str, u16>,
    methods: HashMap<(&'static str, &'static str), u16>,
}

impl Constants {
    pub(super) fn new(n: usize) -> Self {
        let n = u16::try_from(n).expect("a pool has at most 64 Ki constants");
        Self { n, bytes: Vec::new(), texts: HashMap::new(), methods: HashMap::new() }
    }

    fn add(&mut self, tag: u8, content: &[u8]) -> Result<u16, Unsupported> {
        let number = self.n;
        self.n = self.n.checked_add(1).ok_or_else(|| Unsupported::new("too many constants"))?;
        self.bytes.push(tag);
        self.bytes.extend(content);
        Ok(number)
    }

    fn text(&mut self, text: &'static str) -> Result<u16, Unsupported> {
        if let Some(number) = self.texts.get(text) {
            return Ok(*number);
        }
        let length = u16::try_from(text.len()).expect("our own names are short");
        let number = self.add(1, &[&length.to_be_bytes(), text.as_bytes()].concat())?;
        self.texts.insert(text, number);
        Ok(number)
    }

    fn class(&mut self, name: &'static str) -> Result<u16, Unsupported> {
        // No method has this type.
        if let Some(number) = self.methods.get(&(name, "")) {
            return Ok(*number);
        }
        let text = self.text(name)?;
        let number = self.add(7, &text.to_be_bytes())?;
        self.methods.insert((name, ""), number);
        Ok(number)
    }

    /// A method of the recorder.
    fn method(&mut self, name: &'static str, descriptor: &'static str) -> Result<u16, Unsupported> {
        if let Some(number) = self.methods.get(&(name, descriptor)) {
            return Ok(*number);
        }
        let recorder = self.class(RECORDER)?;
        let (name_text, descriptor_text) = (self.text(name)?, self.text(descriptor)?);
        let both = self.add(12, &[name_text.to_be_bytes(), descriptor_text.to_be_bytes()].concat())?;
        let number = self.add(10, &[recorder.to_be_bytes(), both.to_be_bytes()].concat())?;
        self.methods.insert((name, descriptor), number);
        Ok(number)
    }
}

/// The content of the `Code` attribute of a method with its sites.
pub(super) fn code_attribute(
    (version, method): (u16, &Method),
    (code, sites): (&Code<'_>, &[Site]),
    first: u32,
    constants: &mut Constants,
) -> Result<Vec<u8>, Unsupported> {
    let layout = Layout::of(code, sites)?;
    let body = body(code, (&layout, sites), first, constants)?;
    let max_stack = code.max_stack.checked_add(SITE_STACK).expect("the sites were found to fit");
    let mut out = max_stack.to_be_bytes().to_vec();
    out.extend(code.max_locals.to_be_bytes());
    out.extend(u32::from(layout.length).to_be_bytes());
    out.extend(body);
    let count = |n: usize| u16::try_from(n).expect("the sites were found to fit").to_be_bytes();
    let target = |instruction: u32| layout.targets[instruction as usize];
    let mut handlers = code.handlers.clone();
    let mut frames = frames_of(code)?;
    let is_guarded = sites.iter().any(|site| site.probe == Probe::Leave);
    if let Some(guarded) = sites::guarded(method, code, sites).filter(|_| is_guarded) {
        handlers.push(Handler { guarded, begin: code.end(), class: 0 });
        let exception = Slot::Object(constants.class(EXCEPTION)?);
        frames.push(Frame { at: code.end(), shape: Shape::Full(Vec::new(), vec![exception]) });
    }
    out.extend(count(handlers.len()));
    // A monitor is guarded from the moment it is entered: else the machine takes it for one that is never left if the
    // site throws, and never compiles the method.
    let begin = |start: u32| match start.checked_sub(1) {
        Some(before) if matches!(code.instructions[before as usize].operation, Operation::Enter) => {
            layout.own[before as usize] + 1
        }
        _ => target(start),
    };
    for handler in &handlers {
        let places = [begin(handler.guarded.start), target(handler.guarded.end), target(handler.begin)];
        out.extend(places.iter().flat_map(|place| place.to_be_bytes()));
        out.extend(handler.class.to_be_bytes());
    }
    let offsets = code.offsets();
    let mut attributes: Vec<(u16, Vec<u8>)> = Vec::new();
    if version >= FRAMES && !frames.is_empty() {
        let own = |at: u32| layout.own[at as usize];
        let table = code.attributes.iter().find(|(name, ..)| &**name == TABLE);
        let name = table.map_or_else(|| constants.text(TABLE), |(_, number, _)| Ok(*number))?;
        attributes.push((name, frames::write(&frames, target, own)));
    }
    for (name, number, content) in &code.attributes {
        let moved = match &**name {
            "LineNumberTable" => lines(content, &offsets, &layout)?,
            "LocalVariableTable" => variables(content, &offsets, &layout)?,
            // Annotations of types within the code, and type arguments of variables: nothing reads them while it runs.
            _ => continue,
        };
        attributes.push((*number, moved));
    }
    out.extend(count(attributes.len()));
    for (number, content) in attributes {
        out.extend(number.to_be_bytes());
        out.extend(u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend(content);
    }
    Ok(out)
}

/// A place of the debugging information: what is visible from the beginning is so from the first site on.
fn place(instruction: u32, layout: &Layout) -> u16 {
    if instruction == 0 { 0 } else { layout.targets[instruction as usize] }
}

fn lines(content: &[u8], offsets: &Offsets, layout: &Layout) -> Result<Vec<u8>, Unsupported> {
    let mut cursor = Cursor::new(content);
    let n = cursor.u2()?;
    let mut out = n.to_be_bytes().to_vec();
    for _ in 0..n {
        let (begin, line) = (offsets.number(u32::from(cursor.u2()?))?, cursor.u2()?);
        out.extend([place(begin, layout), line].iter().flat_map(|number| number.to_be_bytes()));
    }
    Ok(out)
}

fn variables(content: &[u8], offsets: &Offsets, layout: &Layout) -> Result<Vec<u8>, Unsupported> {
    let mut cursor = Cursor::new(content);
    let n = cursor.u2()?;
    let mut out = n.to_be_bytes().to_vec();
    for _ in 0..n {
        let (begin, length) = (u32::from(cursor.u2()?), u32::from(cursor.u2()?));
        let begin_at = place(offsets.number(begin)?, layout);
        let end_at = layout.targets[offsets.number(begin + length)? as usize];
        out.extend(begin_at.to_be_bytes());
        out.extend(end_at.saturating_sub(begin_at).to_be_bytes());
        out.extend(cursor.take(6)?);
    }
    Ok(out)
}

/// The instructions with the sites between them.
fn body(
    code: &Code<'_>,
    (layout, sites): (&Layout, &[Site]),
    first: u32,
    constants: &mut Constants,
) -> Result<Vec<u8>, Unsupported> {
    let mut out = Vec::with_capacity(usize::from(layout.length));
    let mut rest = (first..).zip(sites).peekable();
    for (number, instruction) in (0_u32..).zip(&code.instructions) {
        for is_wanted in [is_of_entry, Probe::is_before] {
            while let Some((site, probe)) = rest
                .next_if(|(_, site)| site.instruction == number && is_wanted(site.probe))
                .map(|(number, site)| (number, site.probe))
            {
                put_site(&mut out, probe, site, constants)?;
            }
        }
        put_instruction(&mut out, code, (number, instruction), layout);
        while let Some((site, probe)) =
            rest.next_if(|(_, site)| site.instruction == number).map(|(number, site)| (number, site.probe))
        {
            put_site(&mut out, probe, site, constants)?;
        }
    }
    for (site, Site { probe, .. }) in rest {
        put_site(&mut out, *probe, site, constants)?;
    }
    Ok(out)
}

const SIPUSH: u8 = 17;
const LDC_W: u8 = 19;
const ILOAD: u8 = 21;
const ALOAD: u8 = 25;
const ALOAD_0: u8 = 42;
const DUP: u8 = 89;
const DUP2: u8 = 92;
const INVOKESTATIC: u8 = 184;
const ATHROW: u8 = 191;
const WIDE: u8 = 196;

/// The instruction that reads a local of a kind; the others of the five are between these.
fn load(kind: Kind) -> u8 {
    match kind {
        Kind::Int => ILOAD,
        Kind::Long => ILOAD + 1,
        Kind::Float => ILOAD + 2,
        Kind::Double => ILOAD + 3,
        Kind::Reference => ALOAD,
    }
}

/// The method of the recorder that takes values of a kind.
fn taker(kind: Kind) -> &'static str {
    match kind {
        Kind::Int => "(II)V",
        Kind::Long => "(JI)V",
        Kind::Float => "(FI)V",
        Kind::Double => "(DI)V",
        Kind::Reference => "(Ljava/lang/Object;I)V",
    }
}

fn put_site(out: &mut Vec<u8>, probe: Probe, site: u32, constants: &mut Constants) -> Result<(), Unsupported> {
    let method = match probe {
        Probe::Enter | Probe::Block | Probe::Value(None) | Probe::Monitor => constants.method("at", "(I)V")?,
        Probe::Parameter(kind, local) => {
            if let Ok(local) = u8::try_from(local) {
                out.extend([load(kind), local]);
            } else {
                out.extend([WIDE, load(kind)]);
                out.extend(local.to_be_bytes());
            }
            constants.method("of", taker(kind))?
        }
        Probe::Value(Some(kind)) => {
            out.push(if kind.n_slots() == 2 { DUP2 } else { DUP });
            constants.method("of", taker(kind))?
        }
        Probe::This => {
            out.push(ALOAD_0);
            constants.method("of", taker(Kind::Reference))?
        }
        Probe::Handler | Probe::Leave => {
            out.push(DUP);
            constants.method("of", taker(Kind::Reference))?
        }
    };
    if site <= MAX_SHORT {
        out.push(SIPUSH);
        out.extend(u16::try_from(site).expect("it is small").to_be_bytes());
    } else {
        out.push(LDC_W);
        out.extend(constants.add(3, &site.to_be_bytes())?.to_be_bytes());
    }
    out.push(INVOKESTATIC);
    out.extend(method.to_be_bytes());
    if probe == Probe::Leave {
        out.push(ATHROW);
    }
    Ok(())
}

/// An instruction at its new place.
fn put_instruction(out: &mut Vec<u8>, code: &Code<'_>, (number, instruction): (u32, &Instruction), layout: &Layout) {
    let begin = instruction.offset as usize;
    let own = i32::from(layout.own[number as usize]);
    let far = |way: u32| (i32::from(layout.targets[way as usize]) - own).to_be_bytes();
    match &instruction.operation {
        Operation::Jump(_, way) | Operation::Goto(way) => {
            out.push(code.bytes[begin]);
            // The layout says that it fits.
            let far = far(*way);
            out.extend(if instruction.length == 5 { &far[..] } else { &far[2..] });
        }
        Operation::Switch(switch) => {
            out.push(code.bytes[begin]);
            out.extend(std::iter::repeat_n(0, (4 - out.len() % 4) % 4));
            out.extend(far(switch.default));
            if switch.is_table {
                let bounds = [switch.cases.first(), switch.cases.last()];
                out.extend(bounds.into_iter().flatten().flat_map(|(value, _)| value.to_be_bytes()));
            } else {
                out.extend(u32::try_from(switch.cases.len()).unwrap_or(u32::MAX).to_be_bytes());
            }
            for (value, way) in &switch.cases {
                if !switch.is_table {
                    out.extend(value.to_be_bytes());
                }
                out.extend(far(*way));
            }
        }
        _ => out.extend(&code.bytes[begin..begin + instruction.length as usize]),
    }
}
