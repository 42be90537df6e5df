//! The instructions of the Java machine.

use crate::instrument::Unsupported;
use crate::instrument::java::cursor::ByteCursor;
use crate::instrument::java::descriptor::ValueKind;

/// The elements of an array that an instruction reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// Objects.
    Reference,
    /// `byte` or `boolean`.
    Byte,
    /// `char`.
    Char,
    /// `short`.
    Short,
}

impl Element {
    /// The kind of the value on the stack.
    pub fn kind(self) -> ValueKind {
        match self {
            Self::Int | Self::Byte | Self::Char | Self::Short => ValueKind::Int,
            Self::Long => ValueKind::Long,
            Self::Float => ValueKind::Float,
            Self::Double => ValueKind::Double,
            Self::Reference => ValueKind::Reference,
        }
    }
}

/// An operator of two values of one kind; a shift takes an `int` on the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `>>>`.
    ShiftRightUnsigned,
    /// `&`.
    And,
    /// `|`.
    Or,
    /// `^`.
    Xor,
}

impl Arithmetic {
    /// Whether its right value is an `int` distance.
    pub fn is_shift(self) -> bool {
        matches!(self, Self::ShiftLeft | Self::ShiftRight | Self::ShiftRightUnsigned)
    }
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JumpCondition {
    /// `==`.
    Equal,
    /// `!=`.
    Different,
    /// `<`.
    Less,
    /// `>=`.
    NotLess,
    /// `>`.
    Greater,
    /// `<=`.
    NotGreater,
}

/// What a conditional jump compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JumpTest {
    /// An `int` with 0.
    Zero(JumpCondition),
    /// Two `int`s.
    Ints(JumpCondition),
    /// Two references: whether they are the same.
    Same(bool),
    /// A reference with `null`: whether it is.
    Null(bool),
}

/// How the stack is rearranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// `pop`.
    Pop,
    /// `pop2`.
    Pop2,
    /// `dup`.
    Dup,
    /// `dup_x1`.
    DupX1,
    /// `dup_x2`.
    DupX2,
    /// `dup2`.
    Dup2,
    /// `dup2_x1`.
    Dup2X1,
    /// `dup2_x2`.
    Dup2X2,
    /// `swap`.
    Swap,
}

impl Shuffle {
    /// The slots that it takes from the stack, and those that it puts there by their numbers among these, from the
    /// bottom.
    pub fn slots(self) -> (usize, &'static [usize]) {
        match self {
            Self::Pop => (1, &[]),
            Self::Pop2 => (2, &[]),
            Self::Dup => (1, &[0, 0]),
            Self::DupX1 => (2, &[1, 0, 1]),
            Self::DupX2 => (3, &[2, 0, 1, 2]),
            Self::Dup2 => (2, &[0, 1, 0, 1]),
            Self::Dup2X1 => (3, &[1, 2, 0, 1, 2]),
            Self::Dup2X2 => (4, &[2, 3, 0, 1, 2, 3]),
            Self::Swap => (2, &[1, 0]),
        }
    }
}

/// The smaller type to which an `int` is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Narrow {
    /// `byte`.
    Byte,
    /// `char`.
    Char,
    /// `short`.
    Short,
}

/// How a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Invoke {
    /// A method of the object.
    Virtual,
    /// A constructor, a private method, or one of the class that is extended.
    Special,
    /// A static method.
    Static,
    /// A method of an interface that the object implements.
    Interface,
    /// A call that is linked at run time: a lambda is made, texts are joined.
    Dynamic,
}

/// A `switch`. Its ways are offsets in the code first, then numbers of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The way if no case has the value.
    pub default: u32,
    /// The cases, ascending: value and way.
    pub cases: Vec<(i32, u32)>,
    /// Whether it is a `tableswitch`.
    pub is_table: bool,
}

/// An instruction. Constants are named by their numbers in the [pool](crate::instrument::java::pool::Pool), ways by the
/// numbers of their instructions.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Does nothing.
    Nothing,
    /// `null`.
    Null,
    /// An `int` in the code.
    Int(i32),
    /// A `long` in the code.
    Long(i64),
    /// A `float` in the code.
    Float(f32),
    /// A `double` in the code.
    Double(f64),
    /// A constant.
    Constant(u16),
    /// Reads a local.
    Load(ValueKind, u16),
    /// Writes a local.
    Store(ValueKind, u16),
    /// Reads an element of an array.
    LoadElement(Element),
    /// Writes an element of an array.
    StoreElement(Element),
    /// Rearranges the stack.
    Shuffle(Shuffle),
    /// Computes.
    Arithmetic(Arithmetic, ValueKind),
    /// The negative value.
    Negate(ValueKind),
    /// Adds to an `int` local.
    Increment(u16, i16),
    /// Converts between kinds.
    Convert(ValueKind, ValueKind),
    /// Cuts an `int`.
    Narrow(Narrow),
    /// Compares two values of a kind: -1, 0 or 1; for one that is no number, the result is the second field.
    Compare(ValueKind, i32),
    /// A conditional jump.
    Jump(JumpTest, u32),
    /// A jump.
    Goto(u32),
    /// A `switch`.
    Switch(Box<Switch>),
    /// Returns a value, or nothing.
    Return(Option<ValueKind>),
    /// Reads a static field.
    LoadStatic(u16),
    /// Writes a static field.
    StoreStatic(u16),
    /// Reads a field.
    LoadField(u16),
    /// Writes a field.
    StoreField(u16),
    /// Calls a method.
    Invoke(Invoke, u16),
    /// Makes an object, whose constructor did not run yet.
    New(u16),
    /// Makes an array of a basic type, by its number in the specification.
    NewBasicArray(u8),
    /// Makes an array of objects.
    NewArray(u16),
    /// Makes an array of arrays of so many dimensions.
    NewArrays(u16, u8),
    /// The length of an array.
    Length,
    /// Throws an exception.
    Throw,
    /// Checks the class of an object.
    Cast(u16),
    /// Asks for the class of an object.
    InstanceOf(u16),
    /// Begins a `synchronized` block.
    Enter,
    /// Ends a `synchronized` block.
    Exit,
}

impl Operation {
    /// The instructions that may follow, without the next one; see [`goes_on`](Self::goes_on).
    pub fn ways(&self) -> Vec<u32> {
        match self {
            Self::Jump(_, way) | Self::Goto(way) => vec![*way],
            Self::Switch(switch) => {
                std::iter::once(switch.default).chain(switch.cases.iter().map(|(_, way)| *way)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn ways_mut(&mut self) -> Vec<&mut u32> {
        match self {
            Self::Jump(_, way) | Self::Goto(way) => vec![way],
            Self::Switch(switch) => {
                std::iter::once(&mut switch.default).chain(switch.cases.iter_mut().map(|(_, way)| way)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the next instruction may follow.
    pub fn goes_on(&self) -> bool {
        !matches!(self, Self::Goto(_) | Self::Switch(_) | Self::Return(_) | Self::Throw)
    }

    /// Whether it may throw an exception: by itself, or because a class is loaded for it.
    pub fn may_throw(&self) -> bool {
        match self {
            Self::Constant(_)
            | Self::LoadElement(_)
            | Self::StoreElement(_)
            | Self::LoadStatic(_)
            | Self::StoreStatic(_)
            | Self::LoadField(_)
            | Self::StoreField(_)
            | Self::Invoke(..)
            | Self::New(_)
            | Self::NewBasicArray(_)
            | Self::NewArray(_)
            | Self::NewArrays(..)
            | Self::Length
            | Self::Cast(_)
            | Self::InstanceOf(_)
            | Self::Enter
            | Self::Exit
            | Self::Throw => true,
            Self::Arithmetic(operator, kind) => {
                matches!(operator, Arithmetic::Divide | Arithmetic::Remainder)
                    && matches!(kind, ValueKind::Int | ValueKind::Long)
            }
            _ => false,
        }
    }

    /// Whether it chooses among ways.
    pub fn is_decision(&self) -> bool {
        matches!(self, Self::Jump(..) | Self::Switch(_))
    }
}

/// The five kinds, in the order in which instructions have them.
const KINDS: [ValueKind; 5] =
    [ValueKind::Int, ValueKind::Long, ValueKind::Float, ValueKind::Double, ValueKind::Reference];

const ELEMENTS: [Element; 8] = [
    Element::Int,
    Element::Long,
    Element::Float,
    Element::Double,
    Element::Reference,
    Element::Byte,
    Element::Char,
    Element::Short,
];

const SHUFFLES: [Shuffle; 9] = [
    Shuffle::Pop,
    Shuffle::Pop2,
    Shuffle::Dup,
    Shuffle::DupX1,
    Shuffle::DupX2,
    Shuffle::Dup2,
    Shuffle::Dup2X1,
    Shuffle::Dup2X2,
    Shuffle::Swap,
];

const CONDITIONS: [JumpCondition; 6] = [
    JumpCondition::Equal,
    JumpCondition::Different,
    JumpCondition::Less,
    JumpCondition::NotLess,
    JumpCondition::Greater,
    JumpCondition::NotGreater,
];

const CONVERSIONS: [(ValueKind, ValueKind); 12] = [
    (ValueKind::Int, ValueKind::Long),
    (ValueKind::Int, ValueKind::Float),
    (ValueKind::Int, ValueKind::Double),
    (ValueKind::Long, ValueKind::Int),
    (ValueKind::Long, ValueKind::Float),
    (ValueKind::Long, ValueKind::Double),
    (ValueKind::Float, ValueKind::Int),
    (ValueKind::Float, ValueKind::Long),
    (ValueKind::Float, ValueKind::Double),
    (ValueKind::Double, ValueKind::Int),
    (ValueKind::Double, ValueKind::Long),
    (ValueKind::Double, ValueKind::Float),
];

/// Reads an instruction; its ways are offsets.
///
/// Errors: the instruction is unknown, or is one of the old `jsr` and `ret`.
pub fn read(cursor: &mut ByteCursor<'_>) -> Result<Operation, Unsupported> {
    let at = u32::try_from(cursor.at()).map_err(|_| Unsupported::new("code of more than 4 GiB"))?;
    let code = cursor.u1()?;
    let near = |cursor: &mut ByteCursor<'_>| Ok(at.wrapping_add_signed(i32::from(cursor.u2()?.cast_signed())));
    let far = |cursor: &mut ByteCursor<'_>| Ok::<_, Unsupported>(at.wrapping_add_signed(cursor.u4()?.cast_signed()));
    let at_index = |first: u8| usize::from(code - first);
    Ok(match code {
        0 => Operation::Nothing,
        1 => Operation::Null,
        2..=8 => Operation::Int(i32::from(code) - 3),
        9 | 10 => Operation::Long(i64::from(code) - 9),
        11..=13 => Operation::Float(f32::from(code - 11)),
        14 | 15 => Operation::Double(f64::from(code - 14)),
        16 => Operation::Int(i32::from(cursor.u1()?.cast_signed())),
        17 => Operation::Int(i32::from(cursor.u2()?.cast_signed())),
        18 => Operation::Constant(u16::from(cursor.u1()?)),
        19 | 20 => Operation::Constant(cursor.u2()?),
        21..=25 => Operation::Load(KINDS[at_index(21)], u16::from(cursor.u1()?)),
        26..=45 => Operation::Load(KINDS[at_index(26) / 4], u16::from((code - 26) % 4)),
        46..=53 => Operation::LoadElement(ELEMENTS[at_index(46)]),
        54..=58 => Operation::Store(KINDS[at_index(54)], u16::from(cursor.u1()?)),
        59..=78 => Operation::Store(KINDS[at_index(59) / 4], u16::from((code - 59) % 4)),
        79..=86 => Operation::StoreElement(ELEMENTS[at_index(79)]),
        87..=95 => Operation::Shuffle(SHUFFLES[at_index(87)]),
        96..=115 => {
            let operators = [
                Arithmetic::Add,
                Arithmetic::Subtract,
                Arithmetic::Multiply,
                Arithmetic::Divide,
                Arithmetic::Remainder,
            ];
            Operation::Arithmetic(operators[at_index(96) / 4], KINDS[at_index(96) % 4])
        }
        116..=119 => Operation::Negate(KINDS[at_index(116)]),
        120..=131 => {
            let operators = [
                Arithmetic::ShiftLeft,
                Arithmetic::ShiftRight,
                Arithmetic::ShiftRightUnsigned,
                Arithmetic::And,
                Arithmetic::Or,
                Arithmetic::Xor,
            ];
            Operation::Arithmetic(operators[at_index(120) / 2], KINDS[at_index(120) % 2])
        }
        132 => Operation::Increment(u16::from(cursor.u1()?), i16::from(cursor.u1()?.cast_signed())),
        133..=144 => {
            let (from, to) = CONVERSIONS[at_index(133)];
            Operation::Convert(from, to)
        }
        145 => Operation::Narrow(Narrow::Byte),
        146 => Operation::Narrow(Narrow::Char),
        147 => Operation::Narrow(Narrow::Short),
        148 => Operation::Compare(ValueKind::Long, 0),
        149 => Operation::Compare(ValueKind::Float, -1),
        150 => Operation::Compare(ValueKind::Float, 1),
        151 => Operation::Compare(ValueKind::Double, -1),
        152 => Operation::Compare(ValueKind::Double, 1),
        153..=158 => Operation::Jump(JumpTest::Zero(CONDITIONS[at_index(153)]), near(cursor)?),
        159..=164 => Operation::Jump(JumpTest::Ints(CONDITIONS[at_index(159)]), near(cursor)?),
        165 | 166 => Operation::Jump(JumpTest::Same(code == 165), near(cursor)?),
        167 => Operation::Goto(near(cursor)?),
        168 | 169 | 201 => return Err(Unsupported::new("the old instructions `jsr` and `ret`")),
        170 | 171 => Operation::Switch(Box::new(switch(cursor, at, code == 170)?)),
        172..=176 => Operation::Return(Some(KINDS[at_index(172)])),
        177 => Operation::Return(None),
        178 => Operation::LoadStatic(cursor.u2()?),
        179 => Operation::StoreStatic(cursor.u2()?),
        180 => Operation::LoadField(cursor.u2()?),
        181 => Operation::StoreField(cursor.u2()?),
        182 => Operation::Invoke(Invoke::Virtual, cursor.u2()?),
        183 => Operation::Invoke(Invoke::Special, cursor.u2()?),
        184 => Operation::Invoke(Invoke::Static, cursor.u2()?),
        185 | 186 => {
            let invoke = if code == 185 { Invoke::Interface } else { Invoke::Dynamic };
            let operation = Operation::Invoke(invoke, cursor.u2()?);
            cursor.u2()?;
            operation
        }
        187 => Operation::New(cursor.u2()?),
        188 => Operation::NewBasicArray(cursor.u1()?),
        189 => Operation::NewArray(cursor.u2()?),
        190 => Operation::Length,
        191 => Operation::Throw,
        192 => Operation::Cast(cursor.u2()?),
        193 => Operation::InstanceOf(cursor.u2()?),
        194 => Operation::Enter,
        195 => Operation::Exit,
        196 => wide(cursor)?,
        197 => Operation::NewArrays(cursor.u2()?, cursor.u1()?),
        198 | 199 => Operation::Jump(JumpTest::Null(code == 198), near(cursor)?),
        200 => Operation::Goto(far(cursor)?),
        202.. => return Err(Unsupported::new(format!("the unknown instruction {code}"))),
    })
}

/// An instruction with a local beyond 255.
fn wide(cursor: &mut ByteCursor<'_>) -> Result<Operation, Unsupported> {
    let code = cursor.u1()?;
    let local = cursor.u2()?;
    match code {
        21..=25 => Ok(Operation::Load(KINDS[usize::from(code - 21)], local)),
        54..=58 => Ok(Operation::Store(KINDS[usize::from(code - 54)], local)),
        132 => Ok(Operation::Increment(local, cursor.u2()?.cast_signed())),
        _ => Err(Unsupported::new("an unknown wide instruction")),
    }
}

fn switch(cursor: &mut ByteCursor<'_>, at: u32, is_table: bool) -> Result<Switch, Unsupported> {
    cursor.take((4 - cursor.at() % 4) % 4)?;
    let way = |cursor: &mut ByteCursor<'_>| Ok(at.wrapping_add_signed(cursor.u4()?.cast_signed()));
    let default = way(cursor)?;
    let mut cases = Vec::new();
    if is_table {
        let (low, high) = (cursor.u4()?.cast_signed(), cursor.u4()?.cast_signed());
        if low > high {
            return Err(Unsupported::new("a table of no cases"));
        }
        for value in low..=high {
            cases.push((value, way(cursor)?));
        }
    } else {
        for _ in 0..cursor.u4()? {
            cases.push((cursor.u4()?.cast_signed(), way(cursor)?));
        }
    }
    Ok(Switch { default, cases, is_table })
}
