//! Calls that may throw (`invoke`): each is brought into the form in which the rest of the module reads them.
//!
//! Such a call ends its block, and goes on at one block if it returns, and at another if it throws. Where the first has
//! no other way in and follows in the text, both are read as one block with a call in the middle (see
//! [`joined`]). So a statement with several calls stays in one block, and what a call returned is recorded right
//! behind it. For each other call, [`normalised`] puts such a block in between.

use std::collections::{HashMap, HashSet};

use crate::instrument::function::label;

/// The name that every block begins with that is put in.
const STEM: &str = "idd.back.";

/// What a line begins with that continues the one before: the targets of an `invoke`, the clauses of a `landingpad`.
pub const CONTINUED: &str = "          ";

/// The text of a module in which the block that an `invoke` returns to follows it, and has no other way in.
pub fn normalised(text: String) -> String {
    if !text.contains(" unwind label %") {
        return text;
    }
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = &*text;
    while let Some(begin) = rest.find("\ndefine ") {
        let end = rest[begin..].find("\n}").map_or(rest.len(), |length| begin + length);
        out.push_str(&rest[..begin]);
        function(&rest[begin..end], &mut out);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

fn function(text: &str, out: &mut String) {
    if !text.contains(" unwind label %") {
        out.push_str(text);
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    let n_uses = uses(lines.iter().copied());
    let mut written: Vec<String> = Vec::with_capacity(lines.len());
    // By the name of a block: what its phis call the way from there, and are to call it.
    let mut renamed: HashMap<&str, Vec<(String, String)>> = HashMap::new();
    let mut block = String::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = label(line) {
            name.clone_into(&mut block);
        }
        written.push((*line).to_owned());
        let Some(target) = target(line) else { continue };
        let next = lines[index + 1..].iter().find(|line| !line.is_empty()).and_then(|line| label(line));
        if next == Some(target) && n_uses.get(target) == Some(&1) {
            continue;
        }
        let new = format!("{STEM}{index}");
        let quoted =
            if line.contains(&format!("label %\"{target}\"")) { format!("\"{target}\"") } else { target.into() };
        if let Some(last) = written.last_mut() {
            *last = last.replacen(&format!("to label %{quoted} "), &format!("to label %{new} "), 1);
        }
        written.push(format!("\n{new}:\n  br label %{quoted}"));
        renamed.entry(target).or_default().push((block.clone(), new));
    }
    let mut names = None;
    for line in &mut written {
        if let Some(name) = label(line) {
            names = renamed.get(name);
        } else if let Some(names) = names.filter(|_| line.contains(" = phi ")) {
            for (before, now) in names {
                for before in [format!("%{before} ]"), format!("%\"{before}\" ]")] {
                    *line = line.replace(&format!(", {before}"), &format!(", %{now} ]"));
                }
            }
        }
    }
    out.push_str(&written.join("\n"));
}

/// The number of jumps to each block.
fn uses<'t>(lines: impl Iterator<Item = &'t str>) -> HashMap<&'t str, usize> {
    let mut n_uses = HashMap::new();
    for line in lines {
        for (at, _) in line.match_indices("label %") {
            *n_uses.entry(name(&line[at + 7..])).or_default() += 1;
        }
    }
    n_uses
}

/// The block that an `invoke` returns to, by the line that says so.
fn target(line: &str) -> Option<&str> {
    let is_there = line.contains(" unwind label %");
    let at = line.rfind("to label %").filter(|_| is_there)?;
    Some(name(&line[at + 10..]))
}

/// The name at the beginning of a text, without quotes.
fn name(text: &str) -> &str {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => text.split([' ', ',', ']', '\n']).next().unwrap_or_default(),
    }
}

/// The blocks that are read as part of the block before, by their names; the lines are those of a body.
///
/// `Err`: the offset of a call that returns elsewhere; the text is not [`normalised`].
pub fn joined<'t>(lines: &[(usize, &'t str)]) -> Result<HashSet<&'t str>, usize> {
    let mut joined = HashSet::new();
    for (index, (begin, line)) in lines.iter().enumerate() {
        let Some(target) = target(line) else { continue };
        match lines.get(index + 1).and_then(|(_, line)| label(line)) {
            Some(next) if next == target => joined.insert(target),
            _ => return Err(*begin),
        };
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "source_filename = \"a.cpp\"

define i32 @f() personality ptr @p {
entry:
  %a = invoke i32 @g()
          to label %invoke.cont unwind label %lpad, !dbg !3

invoke.cont:
  invoke void @h(i32 %a)
          to label %end unwind label %lpad

lpad:
  %0 = landingpad { ptr, i32 }
          cleanup
  invoke void @throw()
          to label %\"never \" unwind label %lpad

end:
  %b = phi i32 [ 1, %invoke.cont ]
  ret i32 %b

\"never \":
  unreachable
}
";

    #[test]
    fn the_block_that_a_call_returns_to_follows_it() {
        let text = normalised(TEXT.to_owned());
        assert!(text.contains("to label %invoke.cont unwind label %lpad, !dbg !3\n\ninvoke.cont:\n"), "{text}");
        let put_in = "          to label %idd.back.8 unwind label %lpad\n\nidd.back.8:\n  br label %end\n\nlpad:";
        assert!(text.contains(put_in), "{text}");
        assert!(text.contains("%b = phi i32 [ 1, %idd.back.8 ]"), "{text}");
        assert!(text.contains("idd.back.14:\n  br label %\"never \"\n"), "{text}");
        assert!(text.ends_with("unreachable\n}\n") && text.matches("define").count() == 1, "{text}");
        assert_eq!(normalised(text.clone()), text);
    }
}
