//! The types of the IR.

use std::collections::HashMap;
use std::sync::Arc;

use crate::instrument::Unsupported;
use crate::instrument::lex::TextCursor;

/// A first-class type, or one of the few others that stand where types do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of so many bits, at least 1.
    Int(u32),
    /// `half`, or `bfloat`.
    Half,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// 80 bits in 16 bytes.
    X86Fp80,
    /// 128 bits.
    Fp128,
    /// A pointer.
    Ptr,
    /// So many of one type.
    Array(u64, Arc<Type>),
    /// So many of one type, in a register.
    Vector(u64, Arc<Type>),
    /// Fields in order.
    Struct {
        /// Without padding.
        is_packed: bool,
        /// Their types.
        fields: Arc<[Type]>,
    },
    /// A structure that the module names.
    Named(Arc<str>),
    /// The type of a function: what it returns, what it takes, whether more may follow.
    Function(Arc<Type>, Arc<[Type]>, bool),
    /// What is passed to intrinsics about the program.
    Metadata,
}

/// The structures that a module names; `None` for one that is only declared.
pub type NamedTypes = HashMap<Arc<str>, Option<Type>>;

impl TextCursor<'_> {
    /// Steps over a type.
    pub fn ty(&mut self) -> Result<Type, Unsupported> {
        let mut ty = match self.peek() {
            b'%' => Type::Named(self.name('%')?.into()),
            b'[' => {
                self.expect("[")?;
                let (n_elements, element) = self.sequence()?;
                self.expect("]")?;
                Type::Array(n_elements, element)
            }
            b'{' => self.fields(false)?,
            b'<' => {
                self.expect("<")?;
                let ty = if self.peek() == b'{' {
                    self.fields(true)?
                } else {
                    let (n_elements, element) = self.sequence()?;
                    Type::Vector(n_elements, element)
                };
                self.expect(">")?;
                ty
            }
            _ => {
                let word = self.peek_word();
                let ty = plain(word).ok_or_else(|| self.unexpected("a type"))?;
                self.word()?;
                if ty == Type::Ptr && self.eat("addrspace") {
                    return Err(Unsupported::new("an address space"));
                }
                ty
            }
        };
        while self.peek() == b'(' {
            self.expect("(")?;
            let mut parameters = Vec::new();
            let mut is_variadic = false;
            while !self.eat(")") {
                if self.eat("...") {
                    is_variadic = true;
                } else {
                    parameters.push(self.ty()?);
                }
                self.eat(",");
            }
            ty = Type::Function(Arc::new(ty), parameters.into(), is_variadic);
        }
        if self.peek() == b'*' {
            return Err(Unsupported::new("a pointer with a type, as clang before 15 prints it"));
        }
        Ok(ty)
    }

    /// Whether a type stands here.
    pub fn is_at_type(&self) -> bool {
        matches!(self.peek(), b'%' | b'[' | b'{' | b'<') || plain(self.peek_word()).is_some()
    }

    fn sequence(&mut self) -> Result<(u64, Arc<Type>), Unsupported> {
        let n_elements = self.number()?;
        self.expect("x")?;
        Ok((n_elements, Arc::new(self.ty()?)))
    }

    fn fields(&mut self, is_packed: bool) -> Result<Type, Unsupported> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.eat("}") {
            fields.push(self.ty()?);
            self.eat(",");
        }
        Ok(Type::Struct { is_packed, fields: fields.into() })
    }
}

fn plain(word: &str) -> Option<Type> {
    Some(match word {
        "void" => Type::Void,
        "half" | "bfloat" => Type::Half,
        "float" => Type::Float,
        "double" => Type::Double,
        "x86_fp80" => Type::X86Fp80,
        "fp128" => Type::Fp128,
        "ptr" => Type::Ptr,
        "metadata" => Type::Metadata,
        _ => {
            let n_bits = word.strip_prefix('i')?.parse().ok()?;
            (n_bits > 0).then_some(Type::Int(n_bits))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_to_their_end() {
        let mut cursor = TextCursor::new("<{ i8, [2 x %struct.s], ptr }> x");
        let fields = [Type::Int(8), Type::Array(2, Arc::new(Type::Named("struct.s".into()))), Type::Ptr];
        assert_eq!(cursor.ty().unwrap(), Type::Struct { is_packed: true, fields: fields.into() });
        assert_eq!(cursor.rest(), "x");
        let mut cursor = TextCursor::new("i32 (ptr, ...) @printf");
        assert_eq!(cursor.ty().unwrap(), Type::Function(Arc::new(Type::Int(32)), [Type::Ptr].into(), true));
        assert_eq!(cursor.rest(), "@printf");
    }

    #[test]
    fn what_is_no_type_of_ours_is_said() {
        for text in ["i32*", "ptr addrspace(1)", "i0", "opaque", "[2 x", "{ i8", "token", ""] {
            assert!(TextCursor::new(text).ty().is_err(), "{text}");
        }
    }
}
