//! Lines that a change reaches through a name: those that expand a changed macro, and those that use a variable whose
//! declaration changed.
//!
//! Neither is in the change by itself. A macro has no code where it is defined, and a declaration has none without an
//! initial value; what they change are the lines that mention them. Names are compared as words of the text outside of
//! comments and literals: scopes are not resolved, except that a declaration inside a function ends with it.

use crate::explain::change::LinesByPath;
use crate::explain::source_text::{code, words};
use std::collections::{BTreeMap, BTreeSet};

/// The macros whose definitions a patch changes.
pub fn changed_macros(patch: &str) -> BTreeSet<String> {
    let mut sides = [BTreeMap::<String, Vec<String>>::new(), BTreeMap::new()];
    let mut open: [Option<String>; 2] = [None, None];
    for line in patch.lines().filter(|line| !line.starts_with("+++") && !line.starts_with("---")) {
        let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        for (side, own) in ["-", "+"].iter().enumerate() {
            if mark != " " && mark != *own {
                continue;
            }
            if let Some((name, _)) = definition(text) {
                sides[side].entry(name.to_owned()).or_default().push(words(text).collect::<Vec<_>>().concat());
                open[side] = Some(name.to_owned());
            } else if let Some(body) = open[side].as_ref().and_then(|name| sides[side].get_mut(name)) {
                body.push(words(text).collect::<Vec<_>>().concat());
            }
            open[side] = open[side].take().filter(|_| text.ends_with('\\'));
        }
    }
    let [old, new] = &sides;
    old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

/// Adds the macros of these texts whose bodies mention a changed one, directly or not.
pub fn close<'t>(macros: &mut BTreeSet<String>, texts: impl Iterator<Item = &'t str>) {
    let mut definitions = Vec::new();
    for text in texts {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some((name, body)) = definition(line) else { continue };
            let mut mentioned: BTreeSet<&str> = words(body).collect();
            let mut last = line;
            while last.ends_with('\\') {
                last = lines.next().unwrap_or_default();
                mentioned.extend(words(last));
            }
            definitions.push((name, mentioned));
        }
    }
    loop {
        let is_new = |(name, body): &&(&str, BTreeSet<&str>)| {
            !macros.contains(*name) && body.iter().any(|word| macros.contains(*word))
        };
        let found: Vec<String> = definitions.iter().filter(is_new).map(|(name, _)| (*name).to_owned()).collect();
        if found.is_empty() {
            return;
        }
        macros.extend(found);
    }
}

/// Adds the lines of a file that mention one of these names; returns how many.
pub fn mark(lines: &mut LinesByPath, path: &str, text: &str, names: &BTreeSet<String>) -> usize {
    let mut n_found = 0;
    for (number, line) in (1..).zip(code(text)) {
        if words(&line).any(|word| names.contains(word)) {
            lines.entry(path.to_owned()).or_default().insert(number);
            n_found += 1;
        }
    }
    n_found
}

/// The variables that these lines of a file declare without a value, each with the lines of its scope that mention it.
pub fn declared(text: &str, changed: &BTreeSet<u32>) -> Vec<(String, u32, BTreeSet<u32>)> {
    let code: Vec<String> = code(text).collect();
    let mut found = Vec::new();
    for number in changed {
        let Some(index) = (*number as usize).checked_sub(1).filter(|index| *index < code.len()) else { continue };
        let is_global = !code[index].starts_with([' ', '\t']);
        let end = code[index..].iter().position(|line| line.starts_with('}')).map_or(code.len(), |n| index + n);
        let scope = if is_global { 0..code.len() } else { index..end };
        for name in declarators(&code[index]) {
            let is_use = |at: &usize| *at != index && words(&code[*at]).any(|word| word == name);
            let uses = scope.clone().filter(is_use).filter_map(|at| u32::try_from(at + 1).ok()).collect();
            found.push((name.to_owned(), *number, uses));
        }
    }
    found
}

/// The names that a line declares, if it is nothing but a declaration without a value.
fn declarators(line: &str) -> Vec<&str> {
    let Some(list) = line.trim().strip_suffix(';').filter(|list| !list.contains(['(', ')', '=', '{', '}', '.', '>']))
    else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for (n, part) in list.split(',').enumerate() {
        let part = part.split('[').next().unwrap_or_default();
        let all: Vec<&str> = words(part).filter(|word| is_name(word)).collect();
        match all.last() {
            // The first has a type in front.
            Some(name) if n > 0 || (all.len() > 1 && !matches!(all[0], "return" | "goto" | "typedef")) => {
                names.push(*name);
            }
            _ => return Vec::new(),
        }
    }
    names
}

/// The name and the rest of a line that defines a macro.
fn definition(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("define").or_else(|| rest.strip_prefix("undef"))?;
    let name = words(rest).next().filter(|name| is_name(name) && rest.starts_with([' ', '\t']))?;
    let begin = rest.find(name)? + name.len();
    Some((name, &rest[begin..]))
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_macro_is_changed_if_its_definition_is_and_not_if_it_moves() {
        let patch = "--- a/x.h\n+++ b/x.h\n@@ -1,6 +1,6 @@\n-#define MOVED 3\n-# define N 256\n+#define  N 26\n #define KEPT 1\n #define LONG(a) \\\n-  ((a) + 1)\n+  ((a) - 1)\n+#define MOVED 3\n+#undef GONE\n";
        assert_eq!(changed_macros(patch), set(&["GONE", "LONG", "N"]));
        assert_eq!(changed_macros("@@ -1 +1 @@\n-#define N 1 \n+#define N  1\n"), set(&[]));
    }

    #[test]
    fn a_macro_that_mentions_a_changed_one_is_changed() {
        let text = "#define SIZE N\n#define ALL (SIZE * \\\n  2)\n#define NONE 1\n#define MORE ALL\n";
        let mut macros = set(&["N"]);
        close(&mut macros, [text].into_iter());
        assert_eq!(macros, set(&["ALL", "MORE", "N", "SIZE"]));
    }

    #[test]
    fn lines_mention_a_name_outside_of_comments_and_literals() {
        let text = "int a[N];\nputs(\"N\"); // N\n/* N\nN */ x = N;\nNN = 1;\nc = '\\''; N;\n";
        let mut lines = LinesByPath::new();
        assert_eq!(mark(&mut lines, "a.c", text, &set(&["N"])), 3);
        assert_eq!(lines["a.c"], BTreeSet::from([1, 4, 6]));
    }

    #[test]
    fn a_declaration_without_a_value_reaches_the_lines_that_use_it() {
        let text = "int all[3];\nvoid f(void)\n{\n  float n; /* n */\n  n = 1;\n  g(n);\n}\nvoid g(int n)\n{\n  all[n] = 2;\n}\n";
        let found = declared(text, &BTreeSet::from([1, 4, 5, 6]));
        let expected = [("all", 1, BTreeSet::from([10])), ("n", 4, BTreeSet::from([5, 6]))];
        assert_eq!(found, expected.map(|(name, line, uses)| (name.to_owned(), line, uses)));
        assert_eq!(declarators("  const char *p, **q, r[4];"), ["p", "q", "r"]);
        assert_eq!(declarators("  return x;"), [""; 0]);
        assert_eq!(declarators("  x = 1;"), [""; 0]);
        assert_eq!(declarators("  int x = 1;"), [""; 0]);
    }
}
