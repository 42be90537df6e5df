//! The operators of instructions: arithmetic, conversions, comparisons.

/// Arithmetic of two operands of one type. `U` and `S` are for unsigned and signed integers, `F` is for floating-point
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants have the names of LLVM")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

impl BinaryOp {
    const NAMES: [(&'static str, Self); 18] = [
        ("add", Self::Add),
        ("sub", Self::Sub),
        ("mul", Self::Mul),
        ("udiv", Self::UDiv),
        ("sdiv", Self::SDiv),
        ("urem", Self::URem),
        ("srem", Self::SRem),
        ("shl", Self::Shl),
        ("lshr", Self::LShr),
        ("ashr", Self::AShr),
        ("and", Self::And),
        ("or", Self::Or),
        ("xor", Self::Xor),
        ("fadd", Self::FAdd),
        ("fsub", Self::FSub),
        ("fmul", Self::FMul),
        ("fdiv", Self::FDiv),
        ("frem", Self::FRem),
    ];

    /// The operator that LLVM calls `name`.
    pub(super) fn find(name: &str) -> Option<Self> {
        find(&Self::NAMES, name)
    }

    /// Its name in LLVM.
    pub fn name(self) -> &'static str {
        name(&Self::NAMES, self)
    }

    /// Whether it divides integers, for the quotient or the remainder.
    pub fn is_division(self) -> bool {
        matches!(self, Self::UDiv | Self::SDiv | Self::URem | Self::SRem)
    }
}

/// What the compiler promises of an integer operation. If a promise does not hold, the result is poison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// The result is exact for signed operands (`nsw`): of `add`, `sub`, `mul` and `shl`.
    pub no_signed_wrap: bool,
    /// The result is exact for unsigned operands (`nuw`): of `add`, `sub`, `mul` and `shl`.
    pub no_unsigned_wrap: bool,
    /// No bit is lost (`exact`): of `udiv`, `sdiv`, `lshr` and `ashr`.
    pub is_exact: bool,
}

impl Flags {
    /// Sets the flag that LLVM calls `word`; another word changes nothing.
    pub(super) fn set(&mut self, word: &str) {
        match word {
            "nsw" => self.no_signed_wrap = true,
            "nuw" => self.no_unsigned_wrap = true,
            "exact" => self.is_exact = true,
            _ => {}
        }
    }
}

/// Conversion to another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants have the names of LLVM")]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    IntToPtr,
    BitCast,
    AddrSpaceCast,
}

impl CastOp {
    const NAMES: [(&'static str, Self); 13] = [
        ("trunc", Self::Trunc),
        ("zext", Self::ZExt),
        ("sext", Self::SExt),
        ("fptrunc", Self::FpTrunc),
        ("fpext", Self::FpExt),
        ("fptoui", Self::FpToUi),
        ("fptosi", Self::FpToSi),
        ("uitofp", Self::UiToFp),
        ("sitofp", Self::SiToFp),
        ("ptrtoint", Self::PtrToInt),
        ("inttoptr", Self::IntToPtr),
        ("bitcast", Self::BitCast),
        ("addrspacecast", Self::AddrSpaceCast),
    ];

    /// The conversion that LLVM calls `name`.
    pub(super) fn find(name: &str) -> Option<Self> {
        find(&Self::NAMES, name)
    }

    /// Its name in LLVM.
    pub fn name(self) -> &'static str {
        name(&Self::NAMES, self)
    }
}

/// Comparison of two operands: of integers or addresses (`icmp`), where `U` is for unsigned and `S` for signed ones, or
/// of floating-point numbers (`fcmp`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants have the names of LLVM")]
pub enum Predicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
    Float(FloatPredicate),
}

impl Predicate {
    const NAMES: [(&'static str, Self); 10] = [
        ("eq", Self::Eq),
        ("ne", Self::Ne),
        ("ugt", Self::Ugt),
        ("uge", Self::Uge),
        ("ult", Self::Ult),
        ("ule", Self::Ule),
        ("sgt", Self::Sgt),
        ("sge", Self::Sge),
        ("slt", Self::Slt),
        ("sle", Self::Sle),
    ];

    /// The predicate of `icmp` that LLVM calls `name`, or that of `fcmp` if `is_float`: some names belong to both.
    pub(super) fn find(name: &str, is_float: bool) -> Option<Self> {
        if is_float { find(&FloatPredicate::NAMES, name).map(Self::Float) } else { find(&Self::NAMES, name) }
    }

    /// Its name in LLVM, which may be that of another predicate too: `ult` is one of `icmp` and one of `fcmp`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float(predicate) => name(&FloatPredicate::NAMES, predicate),
            predicate => name(&Self::NAMES, predicate),
        }
    }
}

/// Comparison of two floating-point numbers. With `O` (ordered) it is false if one of them is not a number, with `U`
/// (unordered) it is true then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants have the names of LLVM")]
pub enum FloatPredicate {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    True,
}

impl FloatPredicate {
    const NAMES: [(&'static str, Self); 16] = [
        ("false", Self::False),
        ("oeq", Self::Oeq),
        ("ogt", Self::Ogt),
        ("oge", Self::Oge),
        ("olt", Self::Olt),
        ("ole", Self::Ole),
        ("one", Self::One),
        ("ord", Self::Ord),
        ("ueq", Self::Ueq),
        ("ugt", Self::Ugt),
        ("uge", Self::Uge),
        ("ult", Self::Ult),
        ("ule", Self::Ule),
        ("une", Self::Une),
        ("uno", Self::Uno),
        ("true", Self::True),
    ];
}

fn find<T: Copy>(names: &[(&'static str, T)], name: &str) -> Option<T> {
    names.iter().find(|(other, _)| *other == name).map(|(_, operator)| *operator)
}

fn name<T: Copy + PartialEq>(names: &[(&'static str, T)], operator: T) -> &'static str {
    let entry = names.iter().find(|(_, other)| *other == operator);
    entry.map(|(name, _)| *name).expect("each operator has an entry in the table of its type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operator_has_one_name() {
        for (name, operator) in BinaryOp::NAMES {
            assert_eq!((BinaryOp::find(name), operator.name()), (Some(operator), name));
        }
        for (name, operator) in CastOp::NAMES {
            assert_eq!((CastOp::find(name), operator.name()), (Some(operator), name));
        }
        for (name, predicate) in Predicate::NAMES {
            assert_eq!((Predicate::find(name, false), predicate.name()), (Some(predicate), name));
        }
        for (name, predicate) in FloatPredicate::NAMES {
            let predicate = Predicate::Float(predicate);
            assert_eq!((Predicate::find(name, true), predicate.name()), (Some(predicate), name));
        }
    }
}
