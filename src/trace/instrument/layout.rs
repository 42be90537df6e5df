//! How types lie in memory: the data layout of 64-bit little-endian machines that clang prints for C.

use crate::instrument::Unsupported;
use crate::instrument::types::{NamedTypes, Type};

/// A type nested deeper than this is refused: C has no such.
const MAX_DEPTH: u32 = 200;

/// Sizes and alignments in bytes, for one module.
#[derive(Debug, Clone, Copy)]
pub struct DataLayout<'m> {
    /// The structures that it names.
    pub named: &'m NamedTypes,
}

impl<'m> DataLayout<'m> {
    /// Refuses machines that are not 64-bit and little-endian.
    pub fn check(data_layout: &str) -> Result<(), Unsupported> {
        let is_little = data_layout.starts_with("e-");
        let has_small_pointers =
            data_layout.split('-').any(|part| part.starts_with("p:32") || part.starts_with("p:16"));
        if is_little && !has_small_pointers {
            return Ok(());
        }
        Err(Unsupported::new(format!("a machine with the data layout `{data_layout}`")))
    }

    /// Bytes that a value takes in memory, with its padding at the end, and its alignment.
    pub fn size_and_align(self, ty: &Type) -> Result<(u64, u64), Unsupported> {
        self.measure(ty, 0)
    }

    /// Bytes that a store writes.
    pub fn store_size(self, ty: &Type) -> Result<u64, Unsupported> {
        match ty {
            Type::Int(n_bits) => Ok(u64::from(n_bits.div_ceil(8))),
            Type::X86Fp80 => Ok(10),
            _ => Ok(self.size_and_align(ty)?.0),
        }
    }

    /// The offset of each field, and the size of all.
    pub fn offsets(self, ty: &Type) -> Result<Vec<u64>, Unsupported> {
        self.fields(ty, 0).map(|(offsets, _, _)| offsets)
    }

    fn fields(self, ty: &Type, depth: u32) -> Result<(Vec<u64>, u64, u64), Unsupported> {
        let Type::Struct { is_packed, fields } = self.resolve(ty)? else {
            return Err(Unsupported::new("fields of something that has none"));
        };
        let (mut offsets, mut size, mut align) = (Vec::new(), 0_u64, 1);
        for field in &**fields {
            let (field_size, field_align) = self.measure(field, depth + 1)?;
            let field_align = if *is_packed { 1 } else { field_align };
            size = round(size, field_align)?;
            offsets.push(size);
            size = size.checked_add(field_size).ok_or_else(too_large)?;
            align = align.max(field_align);
        }
        Ok((offsets, round(size, align)?, align))
    }

    /// The type behind a name.
    pub fn resolve<'t>(self, ty: &'t Type) -> Result<&'t Type, Unsupported>
    where
        'm: 't,
    {
        match ty {
            Type::Named(name) => match self.named.get(name) {
                Some(Some(ty)) => Ok(ty),
                _ => Err(Unsupported::new(format!("the type `{name}` without its fields"))),
            },
            _ => Ok(ty),
        }
    }

    fn measure(self, ty: &Type, depth: u32) -> Result<(u64, u64), Unsupported> {
        if depth > MAX_DEPTH {
            return Err(Unsupported::new("a type without an end"));
        }
        Ok(match ty {
            Type::Int(n_bits) => {
                let n_bytes = u64::from(n_bits.div_ceil(8));
                // `i128` was aligned to 8 up to clang 17. It is never a field: clang prints such structures with padding.
                let align = n_bytes.next_power_of_two().min(16);
                (round(n_bytes, align)?, align)
            }
            Type::Half => (2, 2),
            Type::Float => (4, 4),
            Type::Double | Type::Ptr => (8, 8),
            Type::X86Fp80 | Type::Fp128 => (16, 16),
            Type::Array(n_elements, element) => {
                let (size, align) = self.measure(element, depth + 1)?;
                (size.checked_mul(*n_elements).ok_or_else(too_large)?, align)
            }
            Type::Vector(n_elements, element) => {
                let n_bits = match &**element {
                    Type::Int(n_bits) => u64::from(*n_bits),
                    element => 8 * self.measure(element, depth + 1)?.0,
                };
                let size = n_bits.checked_mul(*n_elements).ok_or_else(too_large)?.div_ceil(8);
                let align = size.checked_next_power_of_two().ok_or_else(too_large)?;
                (round(size, align)?, align)
            }
            Type::Struct { .. } | Type::Named(_) => {
                let (_, size, align) = self.fields(ty, depth)?;
                (size, align)
            }
            Type::Void | Type::Function(..) | Type::Metadata => {
                return Err(Unsupported::new("the size of something that has none"));
            }
        })
    }
}

fn round(size: u64, align: u64) -> Result<u64, Unsupported> {
    size.checked_next_multiple_of(align).ok_or_else(too_large)
}

fn too_large() -> Unsupported {
    Unsupported::new("a type larger than memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::lex::TextCursor;

    #[track_caller]
    fn check(text: &str, size: u64, align: u64) {
        let inner = TextCursor::new("{ i8, double }").ty().unwrap();
        let named = NamedTypes::from([("s".into(), Some(inner)), ("open".into(), None)]);
        let layout = DataLayout { named: &named };
        let ty = TextCursor::new(text).ty().unwrap();
        assert_eq!(layout.size_and_align(&ty).unwrap(), (size, align), "{text}");
    }

    #[test]
    fn sizes_are_those_of_clang() {
        check("i1", 1, 1);
        check("i24", 4, 4);
        check("{ i8, i32, i16 }", 12, 4);
        check("<{ i8, i32, i16 }>", 7, 1);
        check("[3 x %s]", 48, 8);
        check("{ i8, x86_fp80 }", 32, 16);
        check("<4 x float>", 16, 16);
        check("<3 x i1>", 1, 1);
        check("{ }", 0, 1);
    }

    #[test]
    fn what_has_no_size_is_an_error() {
        let itself = TextCursor::new("{ %s }").ty().unwrap();
        let named = NamedTypes::from([("s".into(), Some(itself)), ("open".into(), None)]);
        let layout = DataLayout { named: &named };
        for text in ["%s", "%open", "%unknown", "void", "[18446744073709551615 x i64]"] {
            assert!(layout.size_and_align(&TextCursor::new(text).ty().unwrap()).is_err(), "{text}");
        }
    }
}
