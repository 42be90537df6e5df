//! A reader of Rust source that knows just enough to leave out what is no code of the product.

/// Blanks comments and the contents of string and character literals; line breaks stay where they are.
pub fn code_of(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => find(bytes, at, b"\n").unwrap_or(bytes.len()),
            b'/' if bytes[at..].starts_with(b"/*") => end_of_comment(bytes, at),
            b'r' if !is_word_before(bytes, at) => end_of_raw_string(bytes, at).unwrap_or(at),
            b'"' => end_of_string(bytes, at),
            b'\'' => end_of_character(bytes, at).unwrap_or(at),
            _ => at,
        };
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(code).expect("whole literals and comments are blanked, so no character is cut")
}

/// Cuts the items under `#[cfg(test)]` or `#[cfg(any(test, feature))]` out of what [`code_of`] gave; also returns the names of such modules that are
/// files of their own.
pub fn without_tests(code: &str) -> (String, Vec<String>) {
    let mut kept = String::new();
    let mut modules = Vec::new();
    let mut rest = code;
    let first = |text: &str| ["#[cfg(test)]", "#[cfg(any(test,"].iter().filter_map(|mark| text.find(mark)).min();
    while let Some(at) = first(rest) {
        let (before, item) = rest.split_at(at);
        kept.push_str(before);
        let end = end_of_item(item);
        let head = item[..end].trim_end_matches(';').trim();
        if let Some((_, name)) = head.rsplit_once("mod ").filter(|_| !head.contains('{')) {
            modules.push(name.trim().to_owned());
        }
        kept.extend(item[..end].chars().filter(|character| *character == '\n'));
        rest = &item[end..];
    }
    kept.push_str(rest);
    (kept, modules)
}

/// The first `;` or the end of the first block, whichever comes first.
fn end_of_item(item: &str) -> usize {
    let mut depth = 0;
    for (index, character) in item.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth <= 1 => return index + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return index + 1,
            _ => {}
        }
    }
    item.len()
}

fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    bytes[from..].windows(needle.len()).position(|window| window == needle).map(|index| from + index)
}

fn is_word_before(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_') && bytes[at - 1] != b'b'
}

fn end_of_comment(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn end_of_raw_string(bytes: &[u8], from: usize) -> Option<usize> {
    let n_hashes = bytes[from + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = from + 1 + n_hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".to_vec(), vec![b'#'; n_hashes]].concat();
    Some(find(bytes, open + 1, &close).map_or(bytes.len(), |index| index + close.len()))
}

fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `None` if it is a lifetime.
fn end_of_character(bytes: &[u8], from: usize) -> Option<usize> {
    let text = str::from_utf8(&bytes[from + 1..]).ok()?;
    let mut characters = text.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        return find(bytes, from + 3, b"'").map(|index| index + 1);
    }
    let (index, second) = characters.next()?;
    (second == '\'').then_some(from + 1 + index + 1)
}

#[test]
fn comments_and_literals_are_blanked_and_lifetimes_are_not() {
    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(code_of(source), expected);
    }
    check("a(); // git2::x\nb", "a();           \nb");
    check("a /* x /* y */ z */ b", "a                   b");
    check(r#"f("git2\"::", 'x', '\'', '"') g"#, "f(          ,    ,     ,    ) g");
    check("r#\"a\"b\"# c<'a> 'ä' x", "         c<'a>      x");
    check("for x in r { b'\\n' }", "for x in r { b     }");
}

#[test]
fn test_modules_are_cut_out_and_those_in_files_are_named() {
    let code =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { c.unwrap() }\n}\nfn d() {}\n#[cfg(test)]\nmod samples;\n";
    let (kept, modules) = without_tests(code);
    assert_eq!(kept, "fn a() {}\n\n\n\n\nfn d() {}\n\n\n");
    assert_eq!(modules, ["samples"]);
}
