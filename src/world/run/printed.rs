//! What a program prints, the same in every sandbox and for every commit of one tree.

use idd_base::CommitId;
use regex::{Captures, Regex};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::LazyLock;

/// Stands for the id of HEAD in outputs: a tree can be tested with several commits.
pub const COMMIT: &str = "<commit>";

/// The end of a path that is recognised behind `...` has at least so many bytes.
const SHORTEST_END: usize = 8;

/// A text with `<sandbox>` in place of the directory of a sandbox, and `<worktree>` in place of its checkout.
pub fn without_place(text: &str, directory: &Path) -> String {
    let place = String::from_utf8_lossy(directory.as_os_str().as_bytes());
    let text = without_path(text, &format!("{place}/tree"), "<worktree>");
    without_path(&text, &place, "<sandbox>")
}

/// A text with `with` in place of a path, also of one that the program has shortened: Lua prints `.../w0/tmp/t.lua`.
fn without_path(text: &str, path: &str, with: &str) -> String {
    let mut text = text.replace(path, with);
    for mark in ["...", "…"] {
        if !text.contains(mark) {
            continue;
        }
        let mut parts = text.split(mark);
        let mut replaced = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let mut ends = path.char_indices().map(|(at, _)| &path[at..]).take_while(|end| end.len() >= SHORTEST_END);
            let rest = ends.find_map(|end| part.strip_prefix(end));
            replaced += if rest.is_some() { with } else { mark };
            replaced += rest.unwrap_or(part);
        }
        text = replaced;
    }
    text
}

/// A text with [`COMMIT`] in place of the id of a commit, also an abbreviated one, as git prints it.
pub fn without_id(text: String, commit: CommitId) -> String {
    static IDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(g?)([0-9a-f]{7,64})\b").expect("a valid pattern"));
    let id = commit.to_string();
    if !text.contains(&id[..7]) {
        return text;
    }
    let shown = |found: &Captures<'_>| {
        let by = if id.starts_with(&found[2]) { COMMIT } else { &found[2] };
        format!("{}{by}", &found[1])
    };
    IDS.replace_all(&text, shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_sandbox_is_the_same_in_all_also_if_the_program_has_shortened_it() {
        let directory = Path::new("/home/eli/.cache/git-idd/14b532e78667-apart-mx3weklv/w0");
        for (printed, same) in [
            ("/home/eli/.cache/git-idd/14b532e78667-apart-mx3weklv/w0/tree/a.c:7", "<worktree>/a.c:7"),
            (
                "./lua: .../.cache/git-idd/14b532e78667-apart-mx3weklv/w0/tmp/t.lua:9: x",
                "./lua: <sandbox>/tmp/t.lua:9: x",
            ),
            ("…mx3weklv/w0/tree/a.c:7", "<worktree>/a.c:7"),
            ("loading...done, .../w0 and .../tree", "loading...done, .../w0 and .../tree"),
        ] {
            assert_eq!(without_place(printed, directory), same);
        }
    }
}
