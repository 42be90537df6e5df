//! Edits that a change needs to make sense, in addition to those that the test needs: a use needs its definition.
//!
//! It reads names only, so it works for every language. It decides which edits are printed and applied, never which
//! candidates are tried: names forbid too much (one in twelve of their objections is right).

use std::collections::BTreeSet;

use crate::mentioned_names::{TextNames, is_word, tokens};
use crate::set::ChangeSet;
use crate::subset::Subset;
use crate::unit::Level;

/// The names that one edit touches.
struct EditNames {
    units: Subset,
    /// The group of its declaration, by index among the groups of that level.
    place: Option<usize>,
    /// Whether it is outside of all bodies: its lines are not indented.
    is_outside: bool,
    /// Names in its inserted text, and names that it defines there.
    inserted: [BTreeSet<Vec<u8>>; 2],
    /// The same for its deleted text.
    deleted: [BTreeSet<Vec<u8>>; 2],
}

impl ChangeSet {
    /// Adds to `subset` the definitions and assignments that it needs and that only one version has.
    ///
    /// - If an edit of `subset` mentions a name that only the newer version has: all edits that define the name or
    ///   assign to it.
    /// - If `subset` deletes the last definition of a name that only the older version has: all edits that delete a
    ///   mention of it.
    ///
    /// Names are compared within the changed files; names in quotes do not count. A name that one body defines does not
    /// count in another body, unless it is a member of something. Cost: no probe.
    #[must_use]
    pub fn with_definitions(&self, subset: &Subset) -> Subset {
        let edits = self.named_edits();
        let members = self.members();
        let (older, newer) = self.names();
        let only_newer: BTreeSet<&Vec<u8>> = newer.difference(&older).collect();
        let only_older: BTreeSet<&Vec<u8>> = older.difference(&newer).collect();
        let mut taken = subset.clone();
        loop {
            let is_taken = |edit: &&EditNames| edit.units.is_subset(&taken);
            // A name that one place defines is visible at the other.
            let reaches = |name: &Vec<u8>, definer: &EditNames, user: &EditNames| {
                definer.place == user.place || definer.is_outside || members.contains(name)
            };
            let users: Vec<&EditNames> = edits.iter().filter(is_taken).collect();
            let is_wanted = |name: &&Vec<u8>, definer: &EditNames| {
                let mentions = |user: &&EditNames| user.inserted[0].contains(*name) && reaches(name, definer, user);
                only_newer.contains(name) && users.iter().any(mentions)
            };
            let is_gone = |name: &&Vec<u8>, user: &EditNames| {
                let definers =
                    || edits.iter().filter(|edit| edit.deleted[1].contains(*name) && reaches(name, edit, user));
                only_older.contains(name) && definers().next().is_some() && definers().all(|edit| is_taken(&edit))
            };
            let mut more = taken.clone();
            for edit in edits.iter().filter(|edit| !is_taken(edit)) {
                if edit.inserted[1].iter().any(|name| is_wanted(&name, edit))
                    || edit.deleted[0].iter().any(|name| is_gone(&name, edit))
                {
                    more = more.union(&edit.units);
                }
            }
            let more = self.complete(&more);
            if more == taken {
                return taken;
            }
            taken = more;
        }
    }

    fn named_edits(&self) -> Vec<EditNames> {
        let places = self.groups(Level::Unit);
        let edit = |group| {
            let units = self.subset(group);
            let place = places.iter().position(|place| units.has_any_of(place));
            let (mut inserted, mut deleted) = (Vec::new(), Vec::new());
            for unit in &units {
                let text = self.describe(unit);
                inserted.extend_from_slice(text.inserted);
                deleted.extend_from_slice(text.deleted);
            }
            let names = |text: &[u8]| {
                let named = TextNames::of(text);
                let owned = |names: &BTreeSet<&[u8]>| names.iter().map(|name| name.to_vec()).collect();
                let mut defined: BTreeSet<Vec<u8>> = owned(&named.assigned);
                defined.extend(declared(text).map(<[u8]>::to_vec));
                [owned(&named.all), defined]
            };
            let is_outside = [&inserted, &deleted].into_iter().all(|text| !is_indented(text));
            EditNames { units, place, is_outside, inserted: names(&inserted), deleted: names(&deleted) }
        };
        self.groups(Level::Line).iter().map(edit).collect()
    }

    /// Names that follow a dot or an arrow anywhere in the changed files.
    fn members(&self) -> BTreeSet<Vec<u8>> {
        let mut members = BTreeSet::new();
        for side in self.files().iter().flat_map(|pair| [&pair.older, &pair.newer]).flatten() {
            let text = side.text().unwrap_or_default();
            let tokens: Vec<&[u8]> = tokens(text).collect();
            let is_access = |before: &[u8]| matches!(before, b"." | b">");
            let pairs = tokens.windows(2).filter(|pair| is_access(pair[0]) && is_word(pair[1][0]));
            members.extend(pairs.map(|pair| pair[1].to_vec()));
        }
        members
    }

    /// All names of the changed files, on the older side and on the newer one.
    fn names(&self) -> (BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>) {
        let (mut older, mut newer) = (BTreeSet::new(), BTreeSet::new());
        for pair in self.files() {
            for (side, names) in [(&pair.older, &mut older), (&pair.newer, &mut newer)] {
                let text = side.as_ref().and_then(|side| side.text()).unwrap_or_default();
                names.extend(TextNames::of(text).all.into_iter().map(<[u8]>::to_vec));
            }
        }
        (older, newer)
    }
}

/// Whether the first line that is not blank begins with white space.
fn is_indented(text: &[u8]) -> bool {
    let first = text.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| line[0].is_ascii_whitespace())
}

/// Words that can precede a name without declaring it.
const NO_TYPES: [&[u8]; 24] = [
    b"return",
    b"else",
    b"case",
    b"goto",
    b"throw",
    b"throws",
    b"new",
    b"in",
    b"not",
    b"and",
    b"or",
    b"if",
    b"elif",
    b"while",
    b"await",
    b"yield",
    b"del",
    b"raise",
    b"is",
    b"instanceof",
    b"extends",
    b"implements",
    b"assert",
    b"sizeof",
];

/// The names that a text seems to declare: they follow another word or the `*` of a type, and precede the end of a
/// declarator.
fn declared(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let tokens: Vec<&[u8]> = tokens(text).collect();
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if !is_word(token[0]) || token[0].is_ascii_digit() {
            continue;
        }
        let mut before = index;
        while before > 0 && matches!(tokens[before - 1], b"*" | b"&" | b">" | b"]" | b"[") {
            before -= 1;
        }
        let is_typed = before > 0 && is_word(tokens[before - 1][0]) && !NO_TYPES.contains(&tokens[before - 1]);
        let ends = tokens
            .get(index + 1)
            .is_none_or(|next| matches!(*next, b";" | b"=" | b"," | b")" | b"[" | b"(" | b"{" | b":"));
        if is_typed && ends {
            found.push(*token);
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Language;
    use crate::{EntryContent, EntryMode, FileDivision, FilePair, FileSide};

    /// The inserted and deleted lines that come with the edit that has a text.
    #[track_caller]
    fn check(older: &str, newer: &str, taken: &str, expected: &[&str]) {
        let side = |text: &str| {
            let content = EntryContent::Bytes(text.as_bytes().into());
            Some(FileSide { path: b"a.c".to_vec(), mode: EntryMode::Regular, content })
        };
        let pairs = vec![FilePair { older: side(older), newer: side(newer) }];
        let language = Language::named("c").unwrap();
        let set = ChangeSet::divided(pairs, |_| FileDivision::Syntax(language)).with_whole_edits();
        let has = |unit: &crate::UnitId| {
            let text = set.describe(*unit);
            [text.inserted, text.deleted].concat().windows(taken.len()).any(|part| part == taken.as_bytes())
        };
        let mut subset = set.empty();
        subset.extend(set.full().iter().filter(has));
        let closed = set.with_definitions(&subset);
        let shown = closed.iter().flat_map(|unit| {
            let text = set.describe(unit);
            [('-', text.deleted), ('+', text.inserted)]
                .into_iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(sign, text)| format!("{sign}{}", String::from_utf8_lossy(text.trim_ascii())))
                .collect::<Vec<_>>()
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_use_comes_with_its_definition_and_the_value_it_was_given() {
        check(
            "void f(void)\n{\n  g();\n  a();\n  h();\n  b();\n}\n",
            "void f(void)\n{\n  int left;\n  g();\n  left = 3;\n  a();\n  h();\n  b();\n  use(left);\n}\n",
            "use(left)",
            &["+int left;", "+left = 3;", "+use(left);"],
        );
    }

    #[test]
    fn a_definition_goes_with_its_uses() {
        check(
            "void f(void)\n{\n  int left;\n  g();\n  h();\n  use(left);\n}\n",
            "void f(void)\n{\n  g();\n  h();\n}\n",
            "int left",
            &["-int left;", "-use(left);"],
        );
    }

    #[test]
    fn what_one_function_defines_is_nothing_to_another() {
        check(
            "void f(void)\n{\n  a();\n}\nvoid g(void)\n{\n  b();\n}\n",
            "void f(void)\n{\n  int n = 1;\n  a();\n  use(n);\n}\nvoid g(void)\n{\n  int n = 2;\n  b();\n}\n",
            "use(n)",
            &["+int n = 1;", "+use(n);"],
        );
    }

    #[test]
    fn names_that_both_versions_have_bring_nothing() {
        check(
            "int n;\nvoid f(void)\n{\n  n = 1;\n  g();\n  use(n);\n}\n",
            "int n;\nvoid f(void)\n{\n  n = 2;\n  g();\n  use(n + 1);\n}\n",
            "use(n + 1)",
            &["-use(n);", "+use(n + 1);"],
        );
    }
}
