//! The recorded process as [expressions](crate::expression) see it.

use crate::expression::arithmetic::{IntegerType, Number};
use crate::expression::states::States;
use crate::expression::{self, Expression, StateVariables, VariableContent};
use idd_trace::instrument::SourceType;
use idd_trace::native::{NativeFrame, NativePlayer, VariablePart, VariablePlace, View, value};
use idd_trace::{Step, TraceError};

/// An activation of a function, and the process around it.
#[derive(Clone, Copy)]
pub struct ProcessState<'s> {
    /// The process.
    pub view: View<'s>,
    /// The activation.
    pub frame: &'s NativeFrame,
}

impl<'s> ProcessState<'s> {
    /// The variable, or the part of one, that an expression names.
    pub fn place(self, expression: &Expression) -> Option<VariablePlace<'s>> {
        expression::place(&self, expression)
    }

    fn integer(self, place: &VariablePlace<'s>, bits: u64, is_signed: bool) -> Result<Number, String> {
        let number = self.view.number(place, bits / 8).ok_or_else(unknown)?;
        let ty = IntegerType { bits: u32::try_from(bits).unwrap_or(64), is_signed };
        Ok(Number::Integer(ty.wrap(i128::from(number)), ty))
    }
}

fn unknown() -> String {
    "the value is not known here".to_owned()
}

impl<'s> StateVariables for ProcessState<'s> {
    type Place = VariablePlace<'s>;

    fn variable(&self, name: &str) -> Option<VariablePlace<'s>> {
        self.view.variable(self.frame, name)
    }

    fn member(&self, place: &VariablePlace<'s>, name: &str) -> Option<VariablePlace<'s>> {
        self.view.member(place, name)
    }

    fn element(&self, place: &VariablePlace<'s>, index: i64) -> Option<VariablePlace<'s>> {
        self.view.element(place, index)
    }

    fn held(&self, place: &VariablePlace<'s>) -> Result<VariableContent, String> {
        let size = |place: &VariablePlace<'s>| self.view.element(place, 0).map(|element| element.size);
        match &place.part {
            Some(VariablePart::BitFields(fields)) => {
                let number = self.view.show(place).parse::<i128>().map_err(|_| unknown())?;
                let bits = fields.first().map_or(32, |(_, field)| field.bits);
                // A bit-field that `int` can hold is one.
                let is_int = IntegerType::INT.wrap(number) == number && bits <= 32;
                let ty = if is_int {
                    IntegerType::INT
                } else if bits <= 32 {
                    IntegerType::UNSIGNED
                } else {
                    IntegerType::LONG
                };
                return Ok(VariableContent::Number(Number::Integer(ty.wrap(number), ty)));
            }
            Some(VariablePart::Row(..)) => return Ok(VariableContent::Pointer(place.address, size(place))),
            Some(_) => return Ok(VariableContent::Other),
            None => {}
        }
        let ty = place.ty.and_then(|ty| place.debug.plain_ty(ty)).map(|(_, ty)| ty);
        match ty {
            Some(SourceType::Base(_, bits, encoding)) if &*encoding == "DW_ATE_float" => {
                let number = self.view.show(place).parse::<f64>().map_err(|_| unknown())?;
                Ok(VariableContent::Number(Number::Float(number, false).to_float(bits == 32)))
            }
            Some(SourceType::Base(_, _, encoding)) if &*encoding == "DW_ATE_boolean" => {
                let number = self.view.number(place, 1).ok_or_else(unknown)?;
                Ok(VariableContent::Number(Number::Integer(
                    i128::from(number != 0),
                    IntegerType { bits: 1, is_signed: false },
                )))
            }
            Some(SourceType::Base(name, bits, encoding)) => {
                if bits > 64 {
                    return Err(format!("numbers of the type `{name}` are not evaluated"));
                }
                self.integer(place, bits, encoding.starts_with("DW_ATE_signed")).map(VariableContent::Number)
            }
            Some(SourceType::Enum(_, bits, constants)) => {
                let is_signed = constants.iter().any(|(_, constant)| *constant < 0);
                self.integer(place, bits, is_signed).map(VariableContent::Number)
            }
            Some(SourceType::Pointer(to)) => {
                let size = to.and_then(|to| value::size_of(place.debug, to, 0));
                Ok(VariableContent::Pointer(self.view.number(place, 8).ok_or_else(unknown)?, size))
            }
            Some(SourceType::Array(..)) => Ok(VariableContent::Pointer(place.address, size(place))),
            _ => Ok(VariableContent::Other),
        }
    }

    fn constant(&self, place: &VariablePlace<'s>, name: &str) -> Option<Number> {
        let Some((_, SourceType::Enum(_, _, constants))) = place.debug.plain_ty(place.ty?) else { return None };
        let (_, constant) = constants.iter().find(|(constant, _)| &**constant == name)?;
        Some(Number::Integer(*constant, IntegerType::LONG))
    }

    fn extent(&self, place: &VariablePlace<'s>) -> (u64, u64) {
        (place.address, place.size)
    }

    fn shown(&self, place: &VariablePlace<'s>) -> String {
        self.view.show(place)
    }
}

impl States for NativePlayer {
    type State<'s> = ProcessState<'s>;

    fn look_from(
        &mut self,
        step: Step,
        mut look: impl FnMut(Step, ProcessState<'_>) -> bool,
    ) -> Result<(), TraceError> {
        Self::look_from(self, step, |machine, frame| look(frame.step, ProcessState { view: View::new(machine), frame }))
    }

    fn approach(&mut self, step: Step) -> Result<(), TraceError> {
        Self::approach(self, step)
    }
}
