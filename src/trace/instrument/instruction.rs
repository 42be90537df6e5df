//! One instruction.

use std::ops::Range;
use std::sync::Arc;

use crate::BlockId;
use crate::instrument::lex::TextCursor;
use crate::instrument::types::Type;
use crate::instrument::{BinaryOp, CastOp, Flags, Predicate, Unsupported};

/// A local value of one function: index into [`Function::values`](crate::instrument::function::Function::values).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A numbered metadata node of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetadataId(pub u32);

/// What is computed with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OperandValue {
    /// A parameter, or the result of an instruction.
    Local(ValueId),
    /// The address of a global variable or function.
    Global(Arc<str>),
    /// A constant integer (`true` is 1) or the null pointer; as many low bits count as the type has.
    Int(i128),
    /// Another constant, as it is written.
    Constant(Arc<str>),
}

/// A value and its type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TypedValue {
    /// The type.
    pub ty: Type,
    /// The value.
    pub value: OperandValue,
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// A function, or a pointer to one.
    Value(OperandValue),
    /// Assembler, as it is written, and its constraints.
    Asm(Arc<str>, Arc<str>),
}

/// What an instruction does; its operands stand beside it, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Room in the frame for this type, as often as the operand says (one without operand).
    Alloca(Type),
    /// Reads the operand's target.
    Load,
    /// Writes the first operand to the second one's target.
    Store,
    /// Address of a part: base, then indices, over this type.
    Element(Type),
    /// Arithmetic of two operands, and what the compiler promises of it.
    Binary(BinaryOp, Flags),
    /// Negation of a floating-point number.
    Negate,
    /// Conversion to the type of the result.
    Cast(CastOp),
    /// Comparison of two operands.
    Compare(Predicate),
    /// The value that belongs to the block before; one operand for each.
    Phi(Vec<BlockId>),
    /// The second operand if the first is true, else the third.
    Select,
    /// Takes a part out of a structure (indices), or puts the second operand into the first.
    Part(&'static str, Vec<u32>),
    /// Vectors: taking out, putting in, shuffling.
    Vector(&'static str),
    /// The operand, made definite.
    Freeze,
    /// The next variable argument of the list that the operand points to.
    NextArgument,
    /// Atomic read and write of the first operand's target, by LLVM's name.
    AtomicUpdate(&'static str),
    /// Atomic compare (second operand) and exchange (third).
    CompareExchange,
    /// Nothing that is seen.
    Fence,
    /// A call; the operands are the arguments. The first number is that of the attributes at the call, the second, for a variadic function, that of its
    /// parameters with a name. Then come the arguments of which the function gets a copy in memory (`byval`), by their index, with the type of the copy.
    /// Last is the block that an exception of the function goes to (`invoke`).
    Call(Box<Callee>, Option<u32>, Option<u32>, Box<[(usize, Type)]>, Option<BlockId>),
    /// The beginning of a block that an exception goes to, and whether some are caught there.
    LandingPad(bool),
    /// Passes an exception on to the caller.
    Resume,
    /// The end of the function, with the operand if there is one.
    Return,
    /// Goes on there.
    Jump(BlockId),
    /// Goes on at the first if the operand is true, else at the second.
    Branch(BlockId, BlockId),
    /// Goes on where the operand says, else at the first block.
    Switch(BlockId, Vec<(i128, BlockId)>),
    /// Goes on at one of these.
    IndirectJump(Vec<BlockId>),
    /// Never reached.
    Unreachable,
}

/// An instruction of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// What it computes; `None` if nothing.
    pub result: Option<ValueId>,
    /// Type of the result; [`Type::Void`] if there is none.
    pub ty: Type,
    /// What it does.
    pub op: Op,
    /// With what.
    pub operands: Vec<TypedValue>,
    /// Its place in the source.
    pub location: Option<MetadataId>,
    /// Its bytes in the text of the module, without the end of the line.
    pub text: Range<usize>,
}

impl Instruction {
    /// Whether it ends its block.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self.op,
            Op::Return
                | Op::Jump(_)
                | Op::Branch(..)
                | Op::Switch(..)
                | Op::IndirectJump(_)
                | Op::Resume
                | Op::Unreachable
        )
    }

    /// The name of the function that is called directly.
    pub fn called(&self) -> Option<&str> {
        match &self.op {
            Op::Call(callee, ..) => match &**callee {
                Callee::Value(OperandValue::Global(name)) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// The pointer that the called function is taken from.
    pub fn pointer(&self) -> Option<ValueId> {
        match &self.op {
            Op::Call(callee, ..) => match &**callee {
                Callee::Value(OperandValue::Local(id)) => Some(*id),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Names of the function that is being read.
pub(super) trait FunctionNames {
    /// The local value of this name.
    fn value(&mut self, name: &str) -> ValueId;

    fn block(&self, label: &str) -> Result<BlockId, Unsupported>;
}

const UPDATES: [&str; 19] = [
    "xchg",
    "add",
    "sub",
    "and",
    "nand",
    "or",
    "xor",
    "max",
    "min",
    "umax",
    "umin",
    "fadd",
    "fsub",
    "fmax",
    "fmin",
    "uinc_wrap",
    "udec_wrap",
    "usub_cond",
    "usub_sat",
];

const VECTORS: [&str; 3] = ["extractelement", "insertelement", "shufflevector"];

fn known(table: &[&'static str], word: &str) -> Option<&'static str> {
    table.iter().find(|entry| **entry == word).copied()
}

/// Reads the instruction `line`, which stands at the offset `begin` of the module's text.
pub(super) fn instruction(line: &str, begin: usize, names: &mut dyn FunctionNames) -> Result<Instruction, Unsupported> {
    let mut cursor = TextCursor::new(line);
    let result = if cursor.peek() == b'%' {
        let name = cursor.name('%')?;
        cursor.expect("=")?;
        Some(names.value(name))
    } else {
        None
    };
    let mut reader = InstructionReader { cursor, names, operands: Vec::new() };
    let (op, ty) = reader.op()?;
    let rest = reader.cursor.rest();
    let location = rest.find("!dbg !").map(|at| TextCursor::new(&rest[at + 6..]).number::<u32>()).transpose()?;
    let operands = reader.operands;
    Ok(Instruction {
        result,
        ty,
        op,
        operands,
        location: location.map(MetadataId),
        text: begin..begin + line.trim_end().len(),
    })
}

struct InstructionReader<'r, 't> {
    cursor: TextCursor<'t>,
    names: &'r mut dyn FunctionNames,
    operands: Vec<TypedValue>,
}

impl InstructionReader<'_, '_> {
    fn op(&mut self) -> Result<(Op, Type), Unsupported> {
        let word = self.cursor.word()?;
        if let Some(op) = BinaryOp::find(word) {
            let flags = self.flags()?;
            let ty = self.operand()?;
            self.second(&ty)?;
            return Ok((Op::Binary(op, flags), ty));
        }
        if let Some(op) = CastOp::find(word) {
            self.flagged()?;
            self.cursor.expect("to")?;
            return Ok((Op::Cast(op), self.cursor.ty()?));
        }
        if let Some(name) = known(&VECTORS, word) {
            let first = self.operand()?;
            let mut last = first.clone();
            while self.cursor.eat(",") && self.cursor.is_at_type() {
                last = self.operand()?;
            }
            let ty = match (name, &first) {
                ("extractelement", Type::Vector(_, element)) => (**element).clone(),
                ("shufflevector", Type::Vector(_, element)) => match last {
                    Type::Vector(n_elements, _) => Type::Vector(n_elements, Arc::clone(element)),
                    _ => return Err(Unsupported::new("a shuffle without a mask")),
                },
                _ => first,
            };
            return Ok((Op::Vector(name), ty));
        }
        match word {
            "alloca" => self.alloca(),
            "load" => {
                self.skip_flags()?;
                let ty = self.cursor.ty()?;
                self.cursor.expect(",")?;
                self.operand()?;
                Ok((Op::Load, ty))
            }
            "store" => {
                self.flagged()?;
                self.cursor.expect(",")?;
                self.operand()?;
                Ok((Op::Store, Type::Void))
            }
            "getelementptr" => {
                self.skip_flags()?;
                let ty = self.cursor.ty()?;
                while self.cursor.eat(",") && self.cursor.is_at_type() {
                    self.operand()?;
                }
                if self.operands.iter().any(|operand| matches!(operand.ty, Type::Vector(..))) {
                    return Err(Unsupported::new("addresses in a vector"));
                }
                Ok((Op::Element(ty), Type::Ptr))
            }
            "fneg" => Ok((Op::Negate, self.flagged()?)),
            "freeze" => Ok((Op::Freeze, self.flagged()?)),
            "icmp" | "fcmp" => self.compare(word == "fcmp"),
            "phi" => self.phi(),
            "select" => {
                self.flagged()?;
                self.cursor.expect(",")?;
                self.operand()?;
                self.cursor.expect(",")?;
                let ty = self.operand()?;
                Ok((Op::Select, ty))
            }
            "extractvalue" | "insertvalue" => self.part(word == "insertvalue"),
            "va_arg" => {
                self.operand()?;
                self.cursor.expect(",")?;
                Ok((Op::NextArgument, self.cursor.ty()?))
            }
            "atomicrmw" => self.update(),
            "cmpxchg" => {
                self.flagged()?;
                self.cursor.expect(",")?;
                let ty = self.operand()?;
                self.cursor.expect(",")?;
                self.operand()?;
                let fields = [ty, Type::Int(1)];
                Ok((Op::CompareExchange, Type::Struct { is_packed: false, fields: fields.into() }))
            }
            "fence" => Ok((Op::Fence, Type::Void)),
            "call" => self.call(false),
            "invoke" => self.call(true),
            "landingpad" => {
                let ty = self.cursor.ty()?;
                Ok((Op::LandingPad(self.cursor.rest().contains("catch ")), ty))
            }
            "tail" | "notail" => {
                self.cursor.expect("call")?;
                self.call(false)
            }
            _ => self.terminator(word),
        }
    }

    fn terminator(&mut self, word: &str) -> Result<(Op, Type), Unsupported> {
        let op = match word {
            "ret" => {
                if !self.cursor.eat("void") {
                    self.operand()?;
                }
                Op::Return
            }
            "br" if self.cursor.peek_word() == "label" => Op::Jump(self.label()?),
            "br" => {
                self.operand()?;
                self.cursor.expect(",")?;
                let then = self.label()?;
                self.cursor.expect(",")?;
                Op::Branch(then, self.label()?)
            }
            "switch" => {
                self.operand()?;
                self.cursor.expect(",")?;
                let default = self.label()?;
                self.cursor.expect("[")?;
                let mut cases = Vec::new();
                while !self.cursor.eat("]") {
                    self.cursor.ty()?;
                    let case = self.cursor.number()?;
                    self.cursor.expect(",")?;
                    cases.push((case, self.label()?));
                }
                Op::Switch(default, cases)
            }
            "indirectbr" => {
                self.operand()?;
                self.cursor.expect(",")?;
                self.cursor.expect("[")?;
                let mut targets = Vec::new();
                while !self.cursor.eat("]") {
                    targets.push(self.label()?);
                    self.cursor.eat(",");
                }
                Op::IndirectJump(targets)
            }
            "resume" => {
                self.operand()?;
                Op::Resume
            }
            "unreachable" => Op::Unreachable,
            _ => return Err(Unsupported::new(format!("the instruction `{word}`"))),
        };
        Ok((op, Type::Void))
    }

    fn alloca(&mut self) -> Result<(Op, Type), Unsupported> {
        if self.cursor.eat("inalloca") {
            return Err(Unsupported::new("`inalloca`"));
        }
        let ty = self.cursor.ty()?;
        if self.cursor.eat(",") && self.cursor.is_at_type() {
            self.operand()?;
        }
        if self.cursor.rest().contains("addrspace") {
            return Err(Unsupported::new("an address space"));
        }
        Ok((Op::Alloca(ty), Type::Ptr))
    }

    fn compare(&mut self, is_float: bool) -> Result<(Op, Type), Unsupported> {
        // Flags may stand before the predicate.
        let predicate = loop {
            let word = self.cursor.word()?;
            if let Some(predicate) = Predicate::find(word, is_float) {
                break predicate;
            }
        };
        let ty = self.operand()?;
        self.second(&ty)?;
        let ty = match ty {
            Type::Vector(n_elements, _) => Type::Vector(n_elements, Arc::new(Type::Int(1))),
            _ => Type::Int(1),
        };
        Ok((Op::Compare(predicate), ty))
    }

    fn phi(&mut self) -> Result<(Op, Type), Unsupported> {
        self.skip_flags()?;
        let ty = self.cursor.ty()?;
        let mut blocks = Vec::new();
        while self.cursor.eat("[") {
            let value = self.value(&ty)?;
            self.operands.push(TypedValue { ty: ty.clone(), value });
            self.cursor.expect(",")?;
            let label = self.cursor.name('%')?;
            blocks.push(self.names.block(label)?);
            self.cursor.expect("]")?;
            if !(self.cursor.eat(",") && self.cursor.peek() == b'[') {
                break;
            }
        }
        Ok((Op::Phi(blocks), ty))
    }

    fn part(&mut self, is_insertion: bool) -> Result<(Op, Type), Unsupported> {
        let whole = self.operand()?;
        if is_insertion {
            self.cursor.expect(",")?;
            self.operand()?;
        }
        let mut indices = Vec::new();
        while self.cursor.eat(",") && self.cursor.peek().is_ascii_digit() {
            indices.push(self.cursor.number()?);
        }
        if is_insertion {
            return Ok((Op::Part("insertvalue", indices), whole));
        }
        let mut ty = whole;
        for index in &indices {
            ty = match ty {
                Type::Struct { fields, .. } => fields.get(*index as usize).cloned(),
                Type::Array(_, element) => Some((*element).clone()),
                _ => None,
            }
            .ok_or_else(|| Unsupported::new("a part of a value whose type has a name"))?;
        }
        Ok((Op::Part("extractvalue", indices), ty))
    }

    fn update(&mut self) -> Result<(Op, Type), Unsupported> {
        self.cursor.eat("volatile");
        let word = self.cursor.word()?;
        let name = known(&UPDATES, word).ok_or_else(|| Unsupported::new(format!("the atomic operation `{word}`")))?;
        self.operand()?;
        self.cursor.expect(",")?;
        let ty = self.operand()?;
        Ok((Op::AtomicUpdate(name), ty))
    }

    fn call(&mut self, is_invoke: bool) -> Result<(Op, Type), Unsupported> {
        while !self.cursor.is_at_type() {
            self.cursor.skip_attribute()?;
        }
        let mut n_named = None;
        let ty = match self.cursor.ty()? {
            Type::Function(result, parameters, is_variadic) => {
                n_named = u32::try_from(parameters.len()).ok().filter(|_| is_variadic);
                (*result).clone()
            }
            ty => ty,
        };
        let callee = if self.cursor.eat("asm") {
            while self.cursor.peek() != b'"' {
                self.cursor.word()?;
            }
            let assembler = self.cursor.string()?;
            self.cursor.expect(",")?;
            Callee::Asm(assembler.into(), self.cursor.string()?.into())
        } else {
            Callee::Value(self.value(&Type::Ptr)?)
        };
        self.cursor.expect("(")?;
        let mut copied = Vec::new();
        while !self.cursor.eat(")") {
            let ty = self.cursor.ty()?;
            if ty == Type::Metadata {
                let text = self.cursor.part()?;
                self.operands.push(TypedValue { ty, value: OperandValue::Constant(text.into()) });
            } else {
                let copy = self.cursor.passed()?;
                copied.extend(copy.map(|copy| (self.operands.len(), copy)));
                let value = self.value(&ty)?;
                self.operands.push(TypedValue { ty, value });
            }
            self.cursor.eat(",");
        }
        // Attributes at the call: words, and the number of a group.
        let mut attributes = None;
        loop {
            match self.cursor.peek() {
                b'#' => {
                    self.cursor.expect("#")?;
                    attributes = Some(self.cursor.number()?);
                }
                b'[' => return Err(Unsupported::new("a call with an operand bundle")),
                _ if matches!(self.cursor.peek_word(), "" | "to") => break,
                _ => self.cursor.skip_attribute()?,
            }
        }
        let mut unwind = None;
        if is_invoke {
            self.cursor.expect("to")?;
            self.label()?;
            self.cursor.expect("unwind")?;
            unwind = Some(self.label()?);
        }
        Ok((Op::Call(Box::new(callee), attributes, n_named, copied.into(), unwind), ty))
    }

    /// Reads the flags of an operation, and skips the ones that [`Flags`] does not have.
    fn flags(&mut self) -> Result<Flags, Unsupported> {
        let mut flags = Flags::default();
        while !self.cursor.is_at_type() {
            flags.set(self.cursor.peek_word());
            self.cursor.skip_attribute()?;
        }
        Ok(flags)
    }

    fn skip_flags(&mut self) -> Result<(), Unsupported> {
        while !self.cursor.is_at_type() {
            self.cursor.skip_attribute()?;
        }
        Ok(())
    }

    /// Flags, and an operand behind them.
    fn flagged(&mut self) -> Result<Type, Unsupported> {
        self.skip_flags()?;
        self.operand()
    }

    fn second(&mut self, ty: &Type) -> Result<(), Unsupported> {
        self.cursor.expect(",")?;
        let value = self.value(ty)?;
        self.operands.push(TypedValue { ty: ty.clone(), value });
        Ok(())
    }

    fn operand(&mut self) -> Result<Type, Unsupported> {
        let ty = self.cursor.ty()?;
        let value = self.value(&ty)?;
        self.operands.push(TypedValue { ty: ty.clone(), value });
        Ok(ty)
    }

    fn label(&mut self) -> Result<BlockId, Unsupported> {
        self.cursor.expect("label")?;
        let label = self.cursor.name('%')?;
        self.names.block(label)
    }

    fn value(&mut self, ty: &Type) -> Result<OperandValue, Unsupported> {
        if self.cursor.peek() == b'%' {
            let name = self.cursor.name('%')?;
            return Ok(OperandValue::Local(self.names.value(name)));
        }
        let text = self.cursor.value()?;
        Ok(constant(text, ty))
    }
}

/// A constant as it is written.
pub(super) fn constant(text: &str, ty: &Type) -> OperandValue {
    let int = match (ty, text) {
        (Type::Int(_), "true") => Some(1),
        (Type::Int(_), "false") | (Type::Ptr, "null") => Some(0),
        (Type::Int(_), _) => text.parse().ok(),
        _ => None,
    };
    match (int, text.strip_prefix('@')) {
        (Some(int), _) => OperandValue::Int(int),
        (None, Some(name)) => OperandValue::Global(name.trim_matches('"').into()),
        (None, None) => OperandValue::Constant(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::FloatPredicate;

    struct Nameless;

    impl FunctionNames for Nameless {
        fn value(&mut self, _: &str) -> ValueId {
            ValueId(0)
        }

        fn block(&self, label: &str) -> Result<BlockId, Unsupported> {
            Err(Unsupported::new(label))
        }
    }

    #[track_caller]
    fn check(line: &str, expected: &Op) {
        let read = instruction(line, 0, &mut Nameless).unwrap();
        assert_eq!((&read.op, read.operands.len()), (expected, if matches!(expected, Op::Cast(_)) { 1 } else { 2 }));
    }

    #[test]
    fn flags_of_arithmetic_are_read() {
        let none = Flags::default();
        let (signed, unsigned) = (Flags { no_signed_wrap: true, ..none }, Flags { no_unsigned_wrap: true, ..none });
        let exact = Flags { is_exact: true, ..none };
        check("%r = add i32 %a, 1", &Op::Binary(BinaryOp::Add, none));
        check("%r = add nsw i32 %a, 1", &Op::Binary(BinaryOp::Add, signed));
        check("%r = sub nuw i32 %a, 1", &Op::Binary(BinaryOp::Sub, unsigned));
        check("%r = add nsw nuw i32 %a, 1", &Op::Binary(BinaryOp::Add, Flags { no_unsigned_wrap: true, ..signed }));
        check(
            "%r = shl nuw nsw <2 x i8> %a, %b",
            &Op::Binary(BinaryOp::Shl, Flags { no_signed_wrap: true, ..unsigned }),
        );
        check("%r = sdiv exact i32 %a, 4", &Op::Binary(BinaryOp::SDiv, exact));
        check("%r = lshr exact i64 %a, %b", &Op::Binary(BinaryOp::LShr, exact));
        check("%r = or disjoint i64 %a, %b", &Op::Binary(BinaryOp::Or, none));
        check("%r = fadd nnan ninf double %a, %b", &Op::Binary(BinaryOp::FAdd, none));
    }

    #[test]
    fn casts_are_read_without_their_flags() {
        check("%r = zext nneg i32 %a to i64", &Op::Cast(CastOp::ZExt));
        check("%r = trunc nuw nsw i64 %a to i8", &Op::Cast(CastOp::Trunc));
        check("%r = uitofp i32 %a to double", &Op::Cast(CastOp::UiToFp));
        check("%r = ptrtoint ptr %a to i64", &Op::Cast(CastOp::PtrToInt));
    }

    #[test]
    fn predicates_of_integers_and_of_floating_point_numbers_are_distinct() {
        check("%r = icmp ult i32 %a, %b", &Op::Compare(Predicate::Ult));
        check("%r = fcmp ult double %a, %b", &Op::Compare(Predicate::Float(FloatPredicate::Ult)));
        check("%r = icmp samesign sle i32 %a, 5", &Op::Compare(Predicate::Sle));
        check("%r = fcmp nnan true float %a, %b", &Op::Compare(Predicate::Float(FloatPredicate::True)));
        assert!(instruction("%r = icmp oeq i32 %a, %b", 0, &mut Nameless).is_err());
        assert!(instruction("%r = fcmp slt double %a, %b", 0, &mut Nameless).is_err());
        assert_eq!(Predicate::Ult.name(), Predicate::Float(FloatPredicate::Ult).name());
    }
}
