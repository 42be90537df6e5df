//! The recorded process as [expressions](crate::expression) see it.

use crate::expression;
use crate::expression::arithmetic::{Number, Type};
use crate::expression::states::States;
use crate::expression::{Expression, Held, Objects};
use idd_trace::TraceError;
use idd_trace::instrument::debug::SourceType;
use idd_trace::native::frame::Frame;
use idd_trace::native::object::{Place, View};
use idd_trace::native::play::Player;
use idd_trace::native::value;
use idd_trace::native::value::Part;
use idd_trace::step::Step;

/// An activation of a function, and the process around it.
#[derive(Clone, Copy)]
pub struct State<'s> {
    /// The process.
    pub view: View<'s>,
    /// The activation.
    pub frame: &'s Frame,
}

impl<'s> State<'s> {
    /// The variable, or the part of one, that an expression names.
    pub fn place(self, expression: &Expression) -> Option<Place<'s>> {
        expression::place(&self, expression)
    }

    fn integer(self, place: &Place<'s>, bits: u64, is_signed: bool) -> Result<Number, String> {
        let number = self.view.number(place, bits / 8).ok_or_else(unknown)?;
        let ty = Type { bits: u32::try_from(bits).unwrap_or(64), is_signed };
        Ok(Number::Integer(ty.wrap(i128::from(number)), ty))
    }
}

fn unknown() -> String {
    "the value is not known here".to_owned()
}

impl<'s> Objects for State<'s> {
    type Place = Place<'s>;

    fn variable(&self, name: &str) -> Option<Place<'s>> {
        self.view.variable(self.frame, name)
    }

    fn member(&self, place: &Place<'s>, name: &str) -> Option<Place<'s>> {
        self.view.member(place, name)
    }

    fn element(&self, place: &Place<'s>, index: i64) -> Option<Place<'s>> {
        self.view.element(place, index)
    }

    fn held(&self, place: &Place<'s>) -> Result<Held, String> {
        let size = |place: &Place<'s>| self.view.element(place, 0).map(|element| element.size);
        match &place.part {
            Some(Part::BitFields(fields)) => {
                let number = self.view.show(place).parse::<i128>().map_err(|_| unknown())?;
                let bits = fields.first().map_or(32, |(_, field)| field.bits);
                // A bit-field that `int` can hold is one.
                let is_int = Type::INT.wrap(number) == number && bits <= 32;
                let ty = if is_int {
                    Type::INT
                } else if bits <= 32 {
                    Type::UNSIGNED
                } else {
                    Type::LONG
                };
                return Ok(Held::Number(Number::Integer(ty.wrap(number), ty)));
            }
            Some(Part::Row(..)) => return Ok(Held::Pointer(place.address, size(place))),
            Some(_) => return Ok(Held::Other),
            None => {}
        }
        let ty = place.ty.and_then(|ty| place.debug.plain_ty(ty)).map(|(_, ty)| ty);
        match ty {
            Some(SourceType::Base(_, bits, encoding)) if &*encoding == "DW_ATE_float" => {
                let number = self.view.show(place).parse::<f64>().map_err(|_| unknown())?;
                Ok(Held::Number(Number::Float(number, false).to_float(bits == 32)))
            }
            Some(SourceType::Base(_, _, encoding)) if &*encoding == "DW_ATE_boolean" => {
                let number = self.view.number(place, 1).ok_or_else(unknown)?;
                Ok(Held::Number(Number::Integer(i128::from(number != 0), Type { bits: 1, is_signed: false })))
            }
            Some(SourceType::Base(name, bits, encoding)) => {
                if bits > 64 {
                    return Err(format!("numbers of the type `{name}` are not evaluated"));
                }
                self.integer(place, bits, encoding.starts_with("DW_ATE_signed")).map(Held::Number)
            }
            Some(SourceType::Enum(_, bits, constants)) => {
                let is_signed = constants.iter().any(|(_, constant)| *constant < 0);
                self.integer(place, bits, is_signed).map(Held::Number)
            }
            Some(SourceType::Pointer(to)) => {
                let size = to.and_then(|to| value::size_of(place.debug, to, 0));
                Ok(Held::Pointer(self.view.number(place, 8).ok_or_else(unknown)?, size))
            }
            Some(SourceType::Array(..)) => Ok(Held::Pointer(place.address, size(place))),
            _ => Ok(Held::Other),
        }
    }

    fn constant(&self, place: &Place<'s>, name: &str) -> Option<Number> {
        let Some((_, SourceType::Enum(_, _, constants))) = place.debug.plain_ty(place.ty?) else { return None };
        let (_, constant) = constants.iter().find(|(constant, _)| &**constant == name)?;
        Some(Number::Integer(*constant, Type::LONG))
    }

    fn extent(&self, place: &Place<'s>) -> (u64, u64) {
        (place.address, place.size)
    }

    fn shown(&self, place: &Place<'s>) -> String {
        self.view.show(place)
    }
}

impl States for Player {
    type State<'s> = State<'s>;

    fn look_from(&mut self, step: Step, mut look: impl FnMut(Step, State<'_>) -> bool) -> Result<(), TraceError> {
        Self::look_from(self, step, |machine, frame| look(frame.step, State { view: View::new(machine), frame }))
    }

    fn approach(&mut self, step: Step) -> Result<(), TraceError> {
        Self::approach(self, step)
    }
}
