//! The member of a union that a statement wrote.
//!
//! Nothing in a union says which of its members is in use. The type of the store in the IR says it for a member that is a
//! number or a pointer, if no other member has that type.

use crate::native::recorded::NativeRecorded;
use idd_trace::instrument::types::Type;
use idd_trace::instrument::{Compound, Debug, Op, OperandValue, SourceType};
use idd_trace::native::visit::at_step;
use idd_trace::native::{NativeFrame, NativeMachine, RecordAction, Watch, value};
use idd_trace::{Step, TraceError};

/// The members of a union that are numbers or pointers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Union {
    n_bytes: u64,
    /// The names of all members and their bytes, in order.
    all: Vec<(String, u64)>,
    /// The name of a member, and the type that a store to it has.
    members: Vec<(String, Type)>,
}

impl Union {
    /// The members of a union of the source.
    pub fn new(debug: Debug<'_>, compound: &Compound) -> Self {
        let stored = |ty| match debug.plain_ty(ty)?.1 {
            SourceType::Base(_, bits, encoding) if &*encoding == "DW_ATE_float" => match bits {
                32 => Some(Type::Float),
                64 => Some(Type::Double),
                _ => None,
            },
            SourceType::Base(_, bits, _) | SourceType::Enum(_, bits, _) => Some(Type::Int(u32::try_from(bits).ok()?)),
            SourceType::Pointer(_) => Some(Type::Ptr),
            _ => None,
        };
        let members = compound.members.iter().filter(|member| !member.is_bit_field && !member.name.is_empty());
        let members = members.filter_map(|member| Some((member.name.to_string(), stored(member.ty?)?))).collect();
        let all = compound.members.iter().map(|member| (member.name.to_string(), member.bits / 8)).collect();
        Self { n_bytes: compound.bits / 8, all, members }
    }

    /// The only member that a store of this type writes.
    pub fn member(&self, ty: &Type) -> Option<&str> {
        let mut found = self.members.iter().filter(|(_, other)| other == ty);
        let (name, _) = found.next()?;
        found.next().is_none().then_some(name)
    }

    /// The name of a member; `None` if that is not known.
    ///
    /// - `name`: the name of the first `n_bytes` bytes of the union. It ends with the union, or with its first member
    ///   that has so many bytes.
    pub fn named(&self, name: &str, n_bytes: u64, member: &str) -> Option<String> {
        let whole = if n_bytes == self.n_bytes {
            name
        } else {
            let (first, _) = self.all.iter().find(|(_, size)| *size >= n_bytes)?;
            name.strip_suffix(&**first)?.strip_suffix('.')?
        };
        Some(format!("{whole}.{member}"))
    }
}

/// A value as the type of its store has it; `None` where that adds nothing to its bytes.
pub fn shown(ty: &Type, bytes: &[u8]) -> Option<String> {
    matches!((ty, bytes.len()), (Type::Double, 8) | (Type::Float, 4)).then(|| value::float_of(bytes))
}

/// The type with which a step stored what is at an address; `None` if the statement stores values of several types and
/// this size, or if something else wrote there.
///
/// Cost: plays the step.
pub fn stored(
    recorded: &mut NativeRecorded,
    step: Step,
    address: u64,
    length: u64,
) -> Result<Option<Type>, TraceError> {
    let mut stores = Stores { address, length, current: None, found: None };
    at_step(&mut recorded.player, step, &mut stores)?;
    Ok(stores.found)
}

/// Looks at what is written at an address.
struct Stores {
    address: u64,
    length: u64,
    /// The type of the store that runs, if it is one to the address.
    current: Option<Type>,
    found: Option<Type>,
}

impl Watch for Stores {
    fn acts(&mut self, machine: &NativeMachine, action: &RecordAction, record: &[u8]) {
        let Some(frame) = machine.frame() else { return };
        let place = match *action {
            RecordAction::Store { address, size, .. } => frame.number_at(address, record, 8).zip(Some(u64::from(size))),
            RecordAction::StorePlain { slot, size, .. } => frame.value(slot).zip(Some(u64::from(size))),
            _ => None,
        };
        self.current = if place == Some((self.address, self.length)) { only_type(frame, self.length) } else { None };
    }

    fn writes(&mut self, _machine: &NativeMachine, _step: Step, address: u64, length: u64) {
        if address < self.address + self.length && self.address < address.saturating_add(length) {
            self.found = self.current.take();
        }
    }
}

/// The type of all values of a size that the current statement stores. What a function takes or returns in registers is
/// stored with another type than that of the member.
fn only_type(frame: &NativeFrame, length: u64) -> Option<Type> {
    let function = &frame.shape.body.function;
    let mut found = None;
    for store in frame.instructions().iter().filter(|instruction| instruction.op == Op::Store) {
        let [value, target] = &store.operands[..] else { return None };
        let size = match value.ty {
            Type::Int(bits) => u64::from(bits.div_ceil(8)),
            Type::Float => 4,
            Type::Double | Type::Ptr => 8,
            _ => 0,
        };
        if size != length {
            continue;
        }
        let is_coerced =
            matches!(&target.value, OperandValue::Local(id) if function.written(*id).starts_with("%coerce"));
        if is_coerced || frame.statement == 0 || found.replace(&value.ty).is_some_and(|other| *other != value.ty) {
            return None;
        }
    }
    found.cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn union(members: &[(&str, u64, Type)]) -> Union {
        Union {
            n_bytes: 8,
            all: members.iter().map(|(name, size, _)| ((*name).to_owned(), *size)).collect(),
            members: members.iter().map(|(name, _, ty)| ((*name).to_owned(), ty.clone())).collect(),
        }
    }

    #[test]
    fn a_store_tells_the_member_if_only_one_has_its_type() {
        let union = union(&[("n", 4, Type::Int(32)), ("f", 4, Type::Float), ("u", 4, Type::Int(32))]);
        assert_eq!(union.member(&Type::Float), Some("f"));
        assert_eq!(union.member(&Type::Int(32)), None);
        assert_eq!(union.member(&Type::Ptr), None);
    }

    #[test]
    fn the_name_of_a_member_replaces_that_of_the_first_member_of_its_size() {
        let union = union(&[("n", 4, Type::Int(32)), ("f", 4, Type::Float), ("d", 8, Type::Double)]);
        assert_eq!(union.named("v->u", 8, "d").as_deref(), Some("v->u.d"));
        assert_eq!(union.named("v->u.n", 4, "f").as_deref(), Some("v->u.f"));
        assert_eq!(union.named("v[0]", 4, "f"), None);
    }
}
