//! The types of values, and the descriptors that name them.

use crate::instrument::Unsupported;

/// The kind of a value, as the machine distinguishes them: `boolean`, `byte`, `char` and `short` are `int`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// An object or array, or `null`.
    Reference,
}

impl ValueKind {
    /// The slots that a value takes on the stack and among the locals.
    pub fn n_slots(self) -> u16 {
        if matches!(self, Self::Long | Self::Double) { 2 } else { 1 }
    }

    /// A type of the kind.
    pub fn descriptor(self) -> &'static str {
        match self {
            Self::Int => "I",
            Self::Long => "J",
            Self::Float => "F",
            Self::Double => "D",
            Self::Reference => "Ljava/lang/Object;",
        }
    }

    /// The kind of values of a type: `I`, `[J`, `Ljava/lang/String;`; `None` for `V`.
    pub fn of(descriptor: &str) -> Result<Option<Self>, Unsupported> {
        let kind = match descriptor.as_bytes().first() {
            Some(b'B' | b'C' | b'I' | b'S' | b'Z') => Self::Int,
            Some(b'J') => Self::Long,
            Some(b'F') => Self::Float,
            Some(b'D') => Self::Double,
            Some(b'L' | b'[') => Self::Reference,
            Some(b'V') => return Ok(None),
            _ => return Err(unknown()),
        };
        Ok(Some(kind))
    }
}

/// Whether values of a type are objects or arrays.
pub fn is_reference(descriptor: &str) -> bool {
    descriptor.starts_with(['L', '['])
}

/// The type of what a method returns, from its type; `V` if it returns nothing.
pub fn result_type(descriptor: &str) -> &str {
    descriptor.rsplit(')').next().unwrap_or("V")
}

/// The largest number of parameters, and of dimensions of an array.
const MOST: usize = 255;

fn unknown() -> Unsupported {
    Unsupported::new("a type that is not known")
}

/// The types of a method: those of its parameters, and that of its result, each as a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodTypes<'d> {
    /// In order, without `this`.
    pub parameters: Vec<&'d str>,
    /// `V` if it returns nothing.
    pub result: &'d str,
}

impl<'d> MethodTypes<'d> {
    /// Reads the descriptor of a method: `(ILjava/lang/String;)V`.
    pub fn of(descriptor: &'d str) -> Result<Self, Unsupported> {
        let mut rest = descriptor.strip_prefix('(').ok_or_else(unknown)?;
        let mut parameters = Vec::new();
        while !rest.starts_with(')') {
            if parameters.len() == MOST {
                return Err(Unsupported::new("a method of too many parameters"));
            }
            let length = length(rest)?;
            let (parameter, after) = rest.split_at_checked(length).ok_or_else(unknown)?;
            parameters.push(parameter);
            rest = after;
        }
        Ok(Self { parameters, result: &rest[1..] })
    }

    /// The kinds of the parameters.
    pub fn kinds(&self) -> Result<Vec<ValueKind>, Unsupported> {
        let kind = |parameter: &&str| ValueKind::of(parameter)?.ok_or_else(unknown);
        self.parameters.iter().map(kind).collect()
    }

    /// The kind of the result.
    pub fn result_kind(&self) -> Result<Option<ValueKind>, Unsupported> {
        ValueKind::of(self.result)
    }
}

/// The bytes of the first type of a descriptor.
fn length(descriptor: &str) -> Result<usize, Unsupported> {
    let n_dimensions = descriptor.bytes().take(MOST).take_while(|byte| *byte == b'[').count();
    let length = match descriptor.as_bytes().get(n_dimensions) {
        Some(b'L') => descriptor[n_dimensions..].find(';').ok_or_else(unknown)? + 1,
        Some(b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z') => 1,
        _ => return Err(unknown()),
    };
    Ok(n_dimensions + length)
}
