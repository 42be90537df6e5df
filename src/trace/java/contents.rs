//! What calls of the library do to what an object of it holds, by their names: collections, texts and buffers.

/// How a call changes what an object holds, in words. A word in braces stands for a value of the call: `{first}` and `{last}`
/// for arguments, `{element}` for the result, or for the first argument if the result is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentsChange {
    /// What the object lacks or still has without the call.
    pub without: &'static str,
    /// What it has or lacks with the call.
    pub with: &'static str,
    /// What the call did to that: a participle.
    pub done: &'static str,
}

/// A class, its methods, and what they do. A `*` stands for any text, at one end of a name.
type ContentsRow = (&'static str, &'static [&'static str], ContentsChange);

const fn change(without: &'static str, with: &'static str, done: &'static str) -> ContentsChange {
    ContentsChange { without, with, done }
}

const ADDED: ContentsChange = change("lacks {last}", "also has {last}", "added");
const PUT: ContentsChange = change("lacks {first} = {last}", "also has {first} = {last}", "put");
const SET: ContentsChange = change("lacks {last} at {first}", "has {last} at {first}", "set");
// There may be others that are equal.
const REMOVED: ContentsChange = change("still has {element}", "has one {element} less", "removed");
const KEY_REMOVED: ContentsChange = change("still has {first}", "lacks {first}", "removed");
const CLEARED: ContentsChange = change("is not cleared", "is cleared", "cleared");
const SHORTENED: ContentsChange = change("is not shortened", "is shortened", "shortened");
const ORDERED: ContentsChange = change("keeps its order", "has another order", "ordered");
const REPLACED: ContentsChange = change("keeps its elements", "has other elements", "replaced");
const PASSED: ContentsChange = change("does not go on", "goes on", "went on");

/// The first row that fits counts.
const ROWS: &[ContentsRow] = &[
    ("*Map", &["put*", "replace"], PUT),
    ("*Map", &["compute*", "merge"], change("lacks {first} = {element}", "also has {first} = {element}", "put")),
    ("*Map", &["remove"], KEY_REMOVED),
    ("Properties", &["put*", "setProperty"], PUT),
    ("Hashtable", &["put*"], PUT),
    ("String*", &["append*", "insert", "write", "add"], change("lacks {last}", "also has {last}", "appended")),
    ("String*", &["setCharAt", "replace"], SET),
    ("String*", &["setLength", "delete*"], SHORTENED),
    ("*Writer", &["append", "write", "print*", "format"], change("lacks {last}", "also has {last}", "written")),
    ("*OutputStream", &["write*"], change("lacks {last}", "also has {last}", "written")),
    ("*Buffer", &["put*"], change("lacks {last}", "also has {last}", "put")),
    ("BitSet", &["set", "flip"], change("lacks {first}", "has {first}", "set")),
    ("BitSet", &["clear"], CLEARED),
    ("Atomic*", &["set*", "lazySet", "getAndSet", "compareAndSet"], change("is not {last}", "is {last}", "set")),
    (
        "Atomic*",
        &["increment*", "decrement*", "add*", "getAnd*", "update*"],
        change("does not become {element}", "becomes {element}", "counted"),
    ),
    ("*", &["add*", "offer*", "push"], ADDED),
    ("*", &["set*"], SET),
    ("*", &["remove", "removeFirst*", "removeLast*", "poll*", "pop", "take"], REMOVED),
    ("*", &["clear", "removeAllElements"], CLEARED),
    ("*", &["removeIf", "removeAll", "retainAll", "removeRange", "drainTo"], SHORTENED),
    ("*", &["sort", "reverse", "shuffle", "swap", "rotate"], ORDERED),
    ("*", &["replaceAll", "fill"], REPLACED),
    ("*", &["next*", "previous*", "read*"], PASSED),
];

/// What a call of a method does to what its object holds; `None` if that is not known.
///
/// - `class`: that of the object, without its package.
pub fn change_of(class: &str, method: &str) -> Option<ContentsChange> {
    let is_of = |(of, methods, _): &&ContentsRow| fits(class, of) && methods.iter().any(|name| fits(method, name));
    ROWS.iter().find(is_of).map(|(.., change)| *change)
}

/// Words for a call with these arguments and this result.
pub fn told(words: &str, arguments: &[String], result: Option<&str>) -> String {
    let first = arguments.first().map_or("?", String::as_str);
    let last = arguments.last().map_or("?", String::as_str);
    let is_value = |result: &&str| !matches!(*result, "true" | "false" | "null");
    words
        .replace("{first}", first)
        .replace("{last}", last)
        .replace("{element}", result.filter(is_value).unwrap_or(first))
}

/// Whether a name is the one of a pattern.
pub(super) fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_by_what_it_does_to_its_object() {
        let check = |class: &str, method: &str, arguments: &[&str], result: Option<&str>, expected: &str| {
            let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
            let found = change_of(class, method).map(|change| told(change.without, &arguments, result));
            assert_eq!(found.as_deref(), Some(expected).filter(|text| !text.is_empty()), "{class}.{method}");
        };
        check("ArrayList", "add", &["1", "\"x\""], None, "lacks \"x\"");
        check("ArrayDeque", "push", &["7"], None, "lacks 7");
        check("TreeMap", "put", &["\"k\"", "2"], Some("null"), "lacks \"k\" = 2");
        check("TreeMap", "merge", &["\"k\"", "1", "Integer$Lambda"], Some("3"), "lacks \"k\" = 3");
        check("HashMap", "remove", &["\"k\""], Some("2"), "still has \"k\"");
        check("ArrayList", "remove", &["0"], Some("\"x\""), "still has \"x\"");
        check("HashSet", "remove", &["\"x\""], Some("true"), "still has \"x\"");
        check("ArrayDeque", "poll", &[], Some("3"), "still has 3");
        check("StringBuilder", "append", &["'c'"], Some("StringBuilder#3"), "lacks 'c'");
        check("LinkedList", "clear", &[], None, "is not cleared");
        check("ArrayList", "set", &["2", "\"y\""], Some("\"x\""), "lacks \"y\" at 2");
        check("Matcher", "find", &[], Some("true"), "");
    }
}
