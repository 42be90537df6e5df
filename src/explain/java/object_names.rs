//! What the objects of a run are called, so that another run calls them the same.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::align::Alignment;
use crate::comparison::ComparedRun;
use crate::facts::{StepFacts, UsedValue};
use crate::java::facts;
use crate::java::recorded::JavaRecorded;
use idd_trace::{Step, TraceError};

/// Names, and digests of steps; see [`TakenRun`](crate::java::comparable_run::TakenRun).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JavaNames {
    /// By object.
    pub objects: HashMap<u32, u32>,
    /// By the step that last changed what the library keeps in an object, and by the object: a digest of that.
    pub contents: HashMap<(Step, u32), u64>,
    /// By step, a digest of what it does.
    pub digests: Vec<u64>,
}

impl JavaNames {
    /// A text with names in place of the numbers of objects.
    fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut quote = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            out.push(character);
            match (character, quote) {
                ('\\', Some(_)) => out.extend(characters.next()),
                ('"' | '\'', None) => quote = Some(character),
                (_, Some(end)) if end == character => quote = None,
                ('#', None) => {
                    let mut number = String::new();
                    while let Some(digit) = characters.next_if(char::is_ascii_digit) {
                        number.push(digit);
                    }
                    let name = number.parse().ok().and_then(|id: u32| self.objects.get(&id));
                    write!(out, "{}", name.copied().unwrap_or(0)).expect("a string takes all");
                }
                _ => {}
            }
        }
        out
    }

    /// The digest of what the library keeps in an object, if a value is that.
    fn content(&self, used: &UsedValue) -> Option<u64> {
        let object = used.name.strip_prefix(facts::CONTENTS).and(used.value.as_ref())?;
        let (_, number) = object.rsplit_once('#')?;
        let maker = used.makers.iter().max()?;
        self.contents.get(&(*maker, number.parse().ok()?)).copied()
    }
}

impl ComparedRun for JavaRecorded {
    fn facts(&mut self, members: &[Step]) -> Result<Option<StepFacts>, TraceError> {
        facts::facts(self, members)
    }

    fn digests(&mut self) -> Result<Vec<u64>, TraceError> {
        Ok(self.named.as_ref().map(|named| named.digests.clone()).unwrap_or_default())
    }

    /// An object is called by its birth, so no step has to be looked up in the other run.
    fn text(&self, text: &str, _alignment: Option<&Alignment>) -> String {
        self.named.as_ref().map_or_else(|| text.to_owned(), |named| named.text(text))
    }

    fn value(&self, used: &UsedValue, alignment: Option<&Alignment>) -> Option<String> {
        let mut value = self.text(used.value.as_ref()?, alignment);
        if let Some(content) = self.named.as_ref().and_then(|named| named.content(used)) {
            write!(value, " {content:x}").expect("a string takes all");
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_objects_are_replaced_outside_of_texts() {
        let named = JavaNames { objects: HashMap::from([(12, 77)]), ..JavaNames::default() };
        assert_eq!(
            named.text("Item#12 {name = \"a#12\\\"#12\"}, '#', Item#12, int[3]#5"),
            "Item#77 {name = \"a#12\\\"#12\"}, '#', Item#77, int[3]#0"
        );
    }
}
