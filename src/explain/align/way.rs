//! The way to a part of a variable, which is written down only where it is told of: most parts are the same in both runs.

use std::rc::Rc;
use std::sync::Arc;

/// A way, and how it goes on: `head->next->v`.
#[derive(Debug, Clone)]
#[must_use]
pub struct AccessPath(Rc<PathTurn>);

#[derive(Debug)]
enum PathTurn {
    Begin(String),
    Member(AccessPath, Arc<str>),
    Element(AccessPath, u64),
    /// To the members of what a pointer leads to.
    Arrow(AccessPath),
    /// To what a pointer leads to as a whole.
    Star(AccessPath),
    /// To what lies behind the structure that a pointer leads to.
    Behind(AccessPath),
}

impl PathTurn {
    /// Takes the way before it away.
    fn take_before(&mut self) -> Option<AccessPath> {
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
impl Drop for AccessPath {
    fn drop(&mut self) {
        let mut next = Rc::get_mut(&mut self.0).and_then(PathTurn::take_before);
        while let Some(mut way) = next {
            next = Rc::get_mut(&mut way.0).and_then(PathTurn::take_before);
        }
    }
}

impl AccessPath {
    /// A variable, or what is told like one.
    pub fn begin(name: impl Into<String>) -> Self {
        Self(Rc::new(PathTurn::Begin(name.into())))
    }

    /// To a member; one without a name is nothing to tell of.
    pub fn member(&self, name: &Arc<str>) -> Self {
        if name.is_empty() { self.clone() } else { Self(Rc::new(PathTurn::Member(self.clone(), Arc::clone(name)))) }
    }

    /// To an element of an array or a block.
    pub fn element(&self, index: u64) -> Self {
        Self(Rc::new(PathTurn::Element(self.clone(), index)))
    }

    /// Along a pointer to a structure.
    pub fn arrow(&self) -> Self {
        Self(Rc::new(PathTurn::Arrow(self.clone())))
    }

    /// Along a pointer.
    pub fn star(&self) -> Self {
        Self(Rc::new(PathTurn::Star(self.clone())))
    }

    /// To the bytes behind the structure that a pointer leads to.
    pub fn behind(&self) -> Self {
        Self(Rc::new(PathTurn::Behind(self.clone())))
    }

    /// As C writes it.
    pub fn written(&self) -> String {
        let mut turns = Vec::new();
        let mut way = self;
        let mut text = loop {
            way = match &*way.0 {
                PathTurn::Begin(name) => break name.clone(),
                PathTurn::Member(before, _)
                | PathTurn::Element(before, _)
                | PathTurn::Arrow(before)
                | PathTurn::Star(before)
                | PathTurn::Behind(before) => {
                    turns.push(&*way.0);
                    before
                }
            };
        };
        for turn in turns.iter().rev() {
            match turn {
                PathTurn::Begin(_) => {}
                PathTurn::Member(_, name) => {
                    if !text.ends_with("->") {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                PathTurn::Element(_, index) => text.extend(["[", &index.to_string(), "]"]),
                PathTurn::Arrow(_) => text.push_str("->"),
                PathTurn::Star(_) => text.insert(0, '*'),
                PathTurn::Behind(_) => text = format!("({text} + 1)"),
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
        let mut way = AccessPath::begin("list");
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
        let head = AccessPath::begin("head");
        assert_eq!(head.written(), "head");
        let next = head.arrow().member(&name("next"));
        assert_eq!(next.arrow().member(&name("")).member(&name("v")).element(3).written(), "head->next->v[3]");
        assert_eq!(head.element(1).member(&name("p")).star().written(), "*head[1].p");
        assert_eq!(head.behind().element(3).written(), "(head + 1)[3]");
    }
}
