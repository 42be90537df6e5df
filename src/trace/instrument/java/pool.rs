//! The constants of a class.

use crate::instrument::Unsupported;
use crate::instrument::java::cursor::ByteCursor;
use std::sync::Arc;

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// No constant: number 0, and the one after a constant of two slots.
    None,
    /// A text.
    Text(Arc<str>),
    /// An `int`.
    Int(i32),
    /// A `float`, by its bits.
    Float(u32),
    /// A `long`.
    Long(i64),
    /// A `double`, by its bits.
    Double(u64),
    /// A class, by its name.
    Class(u16),
    /// A string, by its text.
    String(u16),
    /// A field or method: its class, and its name and type.
    Member(u16, u16),
    /// A name and a descriptor.
    NameAndType(u16, u16),
    /// A constant that is computed: its name and type.
    Dynamic(u16),
    /// A call that is linked at run time: its name and type.
    InvokeDynamic(u16),
    /// A method handle, method type, module or package.
    Other,
}

/// The constants of a class, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    constants: Vec<Constant>,
}

/// A field or method that an instruction names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolMember {
    /// The class, as the pool has it: `java/util/List`; empty for a call that is linked at run time.
    pub class: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its type: `I`, `(Ljava/lang/Object;)Z`.
    pub descriptor: Arc<str>,
}

impl Pool {
    /// Reads the constants, from their number on.
    pub fn read(cursor: &mut ByteCursor<'_>) -> Result<Self, Unsupported> {
        let n = cursor.u2()?;
        let mut constants = vec![Constant::None];
        while constants.len() < usize::from(n) {
            let constant = match cursor.u1()? {
                1 => {
                    let length = cursor.u2()?;
                    Constant::Text(text(cursor.take(usize::from(length))?))
                }
                3 => Constant::Int(cursor.u4()?.cast_signed()),
                4 => Constant::Float(cursor.u4()?),
                5 => Constant::Long(cursor.u8()?.cast_signed()),
                6 => Constant::Double(cursor.u8()?),
                7 => Constant::Class(cursor.u2()?),
                8 => Constant::String(cursor.u2()?),
                9..=11 => Constant::Member(cursor.u2()?, cursor.u2()?),
                12 => Constant::NameAndType(cursor.u2()?, cursor.u2()?),
                15 => cursor.take(3).map(|_| Constant::Other)?,
                16 | 19 | 20 => cursor.take(2).map(|_| Constant::Other)?,
                17 => cursor.u2().and_then(|_| Ok(Constant::Dynamic(cursor.u2()?)))?,
                18 => cursor.u2().and_then(|_| Ok(Constant::InvokeDynamic(cursor.u2()?)))?,
                tag => return Err(Unsupported::new(format!("a constant of the unknown kind {tag}"))),
            };
            let is_long = matches!(constant, Constant::Long(_) | Constant::Double(_));
            constants.push(constant);
            if is_long {
                constants.push(Constant::None);
            }
        }
        if constants.len() != usize::from(n) {
            return Err(Unsupported::new("a number of constants that they do not have"));
        }
        Ok(Self { constants })
    }

    /// The number of constants, with number 0.
    pub fn len(&self) -> usize {
        self.constants.len()
    }

    /// Whether there are no constants.
    pub fn is_empty(&self) -> bool {
        self.constants.len() <= 1
    }

    /// A constant.
    pub fn get(&self, number: u16) -> Result<&Constant, Unsupported> {
        self.constants.get(usize::from(number)).ok_or_else(|| Unsupported::new("a constant that does not exist"))
    }

    /// A text.
    pub fn text(&self, number: u16) -> Result<&Arc<str>, Unsupported> {
        match self.get(number)? {
            Constant::Text(text) => Ok(text),
            _ => Err(Unsupported::new("a name that is no text")),
        }
    }

    /// The name of a class: `java/util/List`.
    pub fn class(&self, number: u16) -> Result<&Arc<str>, Unsupported> {
        match self.get(number)? {
            Constant::Class(name) => self.text(*name),
            _ => Err(Unsupported::new("a class that is none")),
        }
    }

    /// A name and a descriptor.
    fn name_and_type(&self, number: u16) -> Result<(Arc<str>, Arc<str>), Unsupported> {
        match self.get(number)? {
            Constant::NameAndType(name, descriptor) => {
                Ok((Arc::clone(self.text(*name)?), Arc::clone(self.text(*descriptor)?)))
            }
            _ => Err(Unsupported::new("a name and type that is none")),
        }
    }

    /// The field or method that an instruction names.
    pub fn member(&self, number: u16) -> Result<PoolMember, Unsupported> {
        let (class, name_and_type) = match self.get(number)? {
            Constant::Member(class, name_and_type) => (Arc::clone(self.class(*class)?), *name_and_type),
            Constant::InvokeDynamic(name_and_type) | Constant::Dynamic(name_and_type) => {
                (Arc::from(""), *name_and_type)
            }
            _ => return Err(Unsupported::new("a field or method that is none")),
        };
        let (name, descriptor) = self.name_and_type(name_and_type)?;
        Ok(PoolMember { class, name, descriptor })
    }
}

/// A text of the pool: UTF-8, but a zero has two bytes, and a character beyond 16 bits is two surrogates of three bytes.
fn text(bytes: &[u8]) -> Arc<str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let low = |at: usize| rest.get(at).map_or(0, |byte| u16::from(byte & 0x3f));
        let (unit, length) = match first {
            0..0x80 => (u16::from(*first), 1),
            0xc0..0xe0 => (u16::from(first & 0x1f) << 6 | low(1), 2),
            0xe0..0xf0 => (u16::from(first & 0xf) << 12 | low(1) << 6 | low(2), 3),
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = rest.get(length..).unwrap_or_default();
    }
    String::from_utf16_lossy(&units).into()
}
