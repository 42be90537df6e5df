//! The way to a part of a variable, which is written down only where it is told of: most parts are the same in both runs.

use std::rc::Rc;
use std::sync::Arc;

/// A way, and how it goes on: `head->next->v`.
#[derive(Debug, Clone)]
#[must_use]
pub struct Way(Rc<Turn>);

#[derive(Debug)]
enum Turn {
    Begin(String),
    Member(Way, Arc<str>),
    Element(Way, u64),
    /// To the members of what a pointer leads to.
    Arrow(Way),
    /// To what a pointer leads to as a whole.
    Star(Way),
    /// To what lies behind the structure that a pointer leads to.
    Behind(Way),
}

impl Turn {
    /// Takes the way before it away.
    fn take_before(&mut self) -> Option<Way> {
        match std::mem::replace(self, Self::Begin(String::new())) {
            Self::Begin(_) => None,
            Self::Member(before, _)
            | Self::Element(before, _)
            | Self::Arrow(before)
            | Self::Star(before)
            | Self::Behind(before) => Some(before),
        }
    }
}

/// A way through a long list has as many turns as that: they are dropped one after the other, not one within the other.
impl Drop for Way {
    fn drop(&mut self) {
        let mut next = Rc::get_mut(&mut self.0).and_then(Turn::take_before);
        while let Some(mut way) = next {
            next = Rc::get_mut(&mut way.0).and_then(Turn::take_before);
        }
    }
}

impl Way {
    /// A variable, or what is told like one.
    pub fn begin(name: impl Into<String>) -> Self {
        Self(Rc::new(Turn::Begin(name.into())))
    }

    /// To a member; one without a name is nothing to tell of.
    pub fn member(&self, name: &Arc<str>) -> Self {
        if name.is_empty() { self.clone() } else { Self(Rc::new(Turn::Member(self.clone(), Arc::clone(name)))) }
    }

    /// To an element of an array or a block.
    pub fn element(&self, index: u64) -> Self {
        Self(Rc::new(Turn::Element(self.clone(), index)))
    }

    /// Along a pointer to a structure.
    pub fn arrow(&self) -> Self {
        Self(Rc::new(Turn::Arrow(self.clone())))
    }

    /// Along a pointer.
    pub fn star(&self) -> Self {
        Self(Rc::new(Turn::Star(self.clone())))
    }

    /// To the bytes behind the structure that a pointer leads to.
    pub fn behind(&self) -> Self {
        Self(Rc::new(Turn::Behind(self.clone())))
    }

    /// As C writes it.
    pub fn written(&self) -> String {
        let mut turns = Vec::new();
        let mut way = self;
        let mut text = loop {
            way = match &*way.0 {
                Turn::Begin(name) => break name.clone(),
                Turn::Member(before, _)
                | Turn::Element(before, _)
                | Turn::Arrow(before)
                | Turn::Star(before)
                | Turn::Behind(before) => {
                    turns.push(&*way.0);
                    before
                }
            };
        };
        for turn in turns.iter().rev() {
            match turn {
                Turn::Begin(_) => {}
                Turn::Member(_, name) => {
                    if !text.ends_with("->") {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                Turn::Element(_, index) => text.extend(["[", &index.to_string(), "]"]),
                Turn::Arrow(_) => text.push_str("->"),
                Turn::Star(_) => text.insert(0, '*'),
                Turn::Behind(_) => text = format!("({text} + 1)"),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_through_a_long_list_needs_no_deep_stack() {
        let mut way = Way::begin("list");
        for _ in 0..1_000_000 {
            way = way.arrow();
        }
        let same = way.clone();
        drop(way);
        assert!(same.written().starts_with("list->"));
    }

    #[test]
    fn a_way_is_written_as_c_writes_it() {
        let name = |name: &str| Arc::<str>::from(name);
        let head = Way::begin("head");
        assert_eq!(head.written(), "head");
        let next = head.arrow().member(&name("next"));
        assert_eq!(next.arrow().member(&name("")).member(&name("v")).element(3).written(), "head->next->v[3]");
        assert_eq!(head.element(1).member(&name("p")).star().written(), "*head[1].p");
        assert_eq!(head.behind().element(3).written(), "(head + 1)[3]");
    }
}
