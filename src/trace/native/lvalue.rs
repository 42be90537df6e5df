//! Parts of variables, as a C programmer names them: `a[3]`, `s.f`, `p->f`, `*p`, `list->next->name[i]`.

use crate::instrument::SourceType;
use crate::native::{NativeFrame, VariablePlace, View, tokens};

/// A name is not longer.
const MAX_LENGTH: usize = 1000;

impl<'v> View<'v> {
    /// What an expression names at the current statement of a frame: a variable, or a part of one, reached by `.`, `->`, `[]` and `*`. An index is a
    /// number or such an expression. `None` if there is no such thing, or a pointer on the way is not known.
    pub fn named_by(self, frame: &'v NativeFrame, text: &str) -> Option<VariablePlace<'v>> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let mut reader = LvalueReader { view: self, frame, rest: text.trim() };
        let place = reader.prefixed()?;
        reader.rest.is_empty().then_some(VariablePlace { name: text.trim().into(), ..place })
    }
}

struct LvalueReader<'v, 't> {
    view: View<'v>,
    frame: &'v NativeFrame,
    rest: &'t str,
}

impl<'v, 't> LvalueReader<'v, 't> {
    fn eat(&mut self, token: &str) -> bool {
        tokens::eat(&mut self.rest, token)
    }

    fn word(&mut self) -> Option<&'t str> {
        tokens::word(&mut self.rest)
    }

    fn prefixed(&mut self) -> Option<VariablePlace<'v>> {
        if self.eat("*") {
            let pointer = self.prefixed()?;
            return self.view.element(&pointer, 0);
        }
        let mut place = if self.eat("(") {
            let inner = self.prefixed()?;
            self.eat(")").then_some(inner)?
        } else {
            let name = self.word()?;
            self.view.variable(self.frame, name)?
        };
        loop {
            if self.eat("->") {
                place = self.view.element(&place, 0)?;
                place = self.member(&place)?;
            } else if self.eat(".") {
                place = self.member(&place)?;
            } else if self.eat("[") {
                let index = self.index()?;
                place = self.view.element(&place, index)?;
                self.eat("]").then_some(())?;
            } else {
                return Some(place);
            }
        }
    }

    fn index(&mut self) -> Option<i64> {
        let is_negative = self.eat("-");
        if self.rest.starts_with(|letter: char| letter.is_ascii_digit()) {
            let number: i64 = self.word()?.parse().ok()?;
            return Some(if is_negative { -number } else { number });
        }
        let place = self.prefixed()?;
        let (_, SourceType::Base(_, bits, encoding)) = place.debug.plain_ty(place.ty?)? else { return None };
        let number = self.view.number(&place, bits / 8)?;
        let shift = 64_u64.checked_sub(bits)?;
        let number = (number << shift).cast_signed() >> shift;
        let is_signed = encoding.starts_with("DW_ATE_signed");
        let number = if is_signed { number } else { ((number.cast_unsigned() << shift) >> shift).cast_signed() };
        Some(if is_negative { -number } else { number })
    }

    fn member(&mut self, place: &VariablePlace<'v>) -> Option<VariablePlace<'v>> {
        let name = self.word()?;
        self.view.member(place, name)
    }
}
