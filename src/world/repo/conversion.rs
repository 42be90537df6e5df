//! Conversion of a blob into a file: line ends, `$Id$`, encodings.
//!
//! Pure. Only git's built-in conversions are done, from the attributes of the tree. No configuration counts and no
//! program is started, so the same tree gives the same files everywhere. Results are those of git with an empty
//! configuration on a system whose line end is LF.

use std::collections::BTreeMap;

use crate::repo::attributes::AttributeValue;
use idd_base::BlobId;
use std::fmt;

/// A feature of a tree that is not supported; reported once to the user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConversionNotice {
    /// Files with an external filter; they are written as stored.
    Filter {
        /// The name in `filter=<name>`; raw, never printed unescaped.
        name: Vec<u8>,
    },
    /// A file that is only a pointer to content elsewhere.
    LfsPointer {
        /// From the root of the tree; raw, never printed unescaped.
        path: Vec<u8>,
    },
    /// Files with an unknown encoding; they are written as stored.
    Encoding {
        /// The name in `working-tree-encoding=<name>`; raw, never printed unescaped.
        name: Vec<u8>,
    },
}

impl fmt::Display for ConversionNotice {
    /// A full sentence. Names in it come from the repository; the caller escapes them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter { name } => {
                let name = String::from_utf8_lossy(name);
                write!(f, "Files with the attribute `filter={name}` are tested as stored: external filters do not run.")
            }
            Self::LfsPointer { path } => {
                let path = String::from_utf8_lossy(path);
                write!(f, "`{path}` is a pointer of Git LFS and is tested as it is: its content is not fetched.")
            }
            Self::Encoding { name } => {
                let name = String::from_utf8_lossy(name);
                write!(f, "Files with the unknown `working-tree-encoding={name}` are tested as stored.")
            }
        }
    }
}

/// How stored content becomes written content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conversion {
    line_end: LineEnd,
    has_ident: bool,
    encoding: Encoding,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LineEnd {
    #[default]
    AsStored,
    Crlf,
    /// Only if the content is text without any CR.
    CrlfIfText,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Encoding {
    #[default]
    AsStored,
    Utf16 {
        is_big_endian: bool,
        has_mark: bool,
    },
    Latin1,
}

impl Conversion {
    /// The conversion of a file with these attributes; the notices are unsupported features.
    pub fn choose(attributes: &BTreeMap<Vec<u8>, AttributeValue>) -> (Self, Vec<ConversionNotice>) {
        let mut notices = Vec::new();
        let get = |name: &str| attributes.get(name.as_bytes());
        if let Some(AttributeValue::Text(name)) = get("filter") {
            notices.push(ConversionNotice::Filter { name: name.clone() });
        }
        let encoding = match get("working-tree-encoding") {
            Some(AttributeValue::Text(name)) => Encoding::named(name).unwrap_or_else(|| {
                notices.push(ConversionNotice::Encoding { name: name.clone() });
                Encoding::AsStored
            }),
            _ => Encoding::AsStored,
        };
        let has_ident = get("ident") == Some(&AttributeValue::Set);
        (Self { line_end: LineEnd::choose(&get), has_ident, encoding }, notices)
    }

    /// The content to write.
    ///
    /// Content that the encoding cannot express is written as stored, as in git.
    pub fn apply(self, stored: Vec<u8>, blob_id: BlobId) -> Vec<u8> {
        let mut content = stored;
        if self.has_ident {
            content = expand_ident(&content, blob_id).unwrap_or(content);
        }
        if self.line_end.applies(&content) {
            content = with_crlf(&content);
        }
        self.encoding.encode(&content).unwrap_or(content)
    }
}

impl LineEnd {
    /// Source: git's `convert.c`, `convert_attrs`, with `core.autocrlf` false and a native line end of LF.
    fn choose<'a>(get: &impl Fn(&str) -> Option<&'a AttributeValue>) -> Self {
        let text = |name| match get(name) {
            Some(AttributeValue::Text(text)) if text != b"auto" && text != b"input" => None,
            other => other,
        };
        // Here only `eol` selects CRLF; it implies `text` unless that says otherwise.
        let is_crlf = matches!(get("eol"), Some(AttributeValue::Text(eol)) if eol == b"crlf");
        match text("text").or_else(|| text("crlf")) {
            _ if !is_crlf => Self::AsStored,
            Some(AttributeValue::Unset) => Self::AsStored,
            Some(AttributeValue::Text(text)) if text == b"auto" => Self::CrlfIfText,
            _ => Self::Crlf,
        }
    }

    /// Source: git's `convert.c`, `will_convert_lf_to_crlf`.
    fn applies(self, content: &[u8]) -> bool {
        match self {
            Self::AsStored => false,
            Self::Crlf => ByteCounts::of(content).lone_lf > 0,
            Self::CrlfIfText => {
                let counts = ByteCounts::of(content);
                counts.lone_lf > 0 && counts.lone_cr == 0 && counts.crlf == 0 && !counts.is_binary()
            }
        }
    }
}

/// Numbers of bytes or pairs. Source: git's `convert.c`, `gather_stats`.
#[derive(Default)]
struct ByteCounts {
    nul: usize,
    lone_cr: usize,
    lone_lf: usize,
    crlf: usize,
    printable: usize,
    unprintable: usize,
}

impl ByteCounts {
    fn of(content: &[u8]) -> Self {
        let mut counts = Self::default();
        let mut bytes = content.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\r' if bytes.next_if_eq(&b'\n').is_some() => counts.crlf += 1,
                b'\r' => counts.lone_cr += 1,
                b'\n' => counts.lone_lf += 1,
                0x08 | b'\t' | 0x1b | 0x0c => counts.printable += 1,
                0 => {
                    counts.nul += 1;
                    counts.unprintable += 1;
                }
                1..=0x1f | 0x7f => counts.unprintable += 1,
                _ => counts.printable += 1,
            }
        }
        // The end-of-file mark of DOS.
        if content.last() == Some(&0x1a) {
            counts.unprintable -= 1;
        }
        counts
    }

    fn is_binary(&self) -> bool {
        self.lone_cr > 0 || self.nul > 0 || self.printable / 128 < self.unprintable
    }
}

fn with_crlf(content: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(content.len() + content.len() / 16);
    let mut last = 0;
    for &byte in content {
        if byte == b'\n' && last != b'\r' {
            written.push(b'\r');
        }
        written.push(byte);
        last = byte;
    }
    written
}

/// `None` if there is nothing to expand.
///
/// Source: git's `convert.c`, `ident_filter_fn`. Deviation: git has a second routine for files that also have an
/// encoding or `text=auto eol=crlf`. It has other results for `$Id:x y$` and for adjacent dollars; here there is one
/// routine.
fn expand_ident(content: &[u8], blob_id: BlobId) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    let mut is_changed = false;
    let mut rest = content;
    while let Some(dollar) = rest.iter().position(|byte| *byte == b'$') {
        let keyword = &rest[dollar..];
        let n_matching = keyword.iter().zip(b"$Id").take_while(|(found, wanted)| found == wanted).count();
        let value_end = match (n_matching, keyword.get(3)) {
            (3, Some(b'$')) => Some(3),
            (3, Some(b':')) => keyword.iter().skip(4).position(|byte| matches!(byte, b'$' | b'\n')).map(|at| at + 4),
            _ => None,
        };
        let end = value_end.unwrap_or(n_matching.max(1)).min(keyword.len() - 1);
        if value_end.is_some() && keyword[end] == b'$' && !is_foreign(&keyword[3..end]) {
            written.extend_from_slice(&rest[..dollar]);
            written.extend_from_slice(format!("$Id: {blob_id} $").as_bytes());
            is_changed = true;
        } else {
            written.extend_from_slice(&rest[..=dollar + end]);
        }
        rest = &keyword[end + 1..];
    }
    written.extend_from_slice(rest);
    is_changed.then_some(written)
}

/// Whether another system made the expansion: it contains blanks, and is not changed.
fn is_foreign(value: &[u8]) -> bool {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    value.strip_prefix(b": ").and_then(<[u8]>::split_last).is_some_and(|(_, inner)| inner.iter().any(is_blank))
}

impl Encoding {
    /// `None` if it is unknown.
    fn named(name: &[u8]) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let utf16 = |is_big_endian, has_mark| Some(Self::Utf16 { is_big_endian, has_mark });
        match name.as_slice() {
            b"" | b"utf-8" | b"utf8" => Some(Self::AsStored),
            b"utf-16" | b"utf16" | b"utf-16le-bom" | b"utf16le-bom" => utf16(false, true),
            b"utf-16le" | b"utf16le" => utf16(false, false),
            b"utf-16be" | b"utf16be" => utf16(true, false),
            b"utf-16be-bom" | b"utf16be-bom" => utf16(true, true),
            b"iso-8859-1" | b"iso8859-1" | b"iso_8859-1" | b"latin1" | b"latin-1" => Some(Self::Latin1),
            _ => None,
        }
    }

    /// `None` if the content is not changed.
    fn encode(self, content: &[u8]) -> Option<Vec<u8>> {
        if content.is_empty() {
            return None;
        }
        match self {
            Self::AsStored => None,
            Self::Latin1 => {
                let text = str::from_utf8(content).ok()?;
                text.chars().map(|char| u8::try_from(char).ok()).collect()
            }
            Self::Utf16 { is_big_endian, has_mark } => {
                let text = str::from_utf8(content).ok()?;
                let mark = has_mark.then_some(0xfeff);
                let to_bytes = if is_big_endian { u16::to_be_bytes } else { u16::to_le_bytes };
                Some(mark.into_iter().chain(text.encode_utf16()).flat_map(to_bytes).collect())
            }
        }
    }
}

/// Whether a blob is a pointer of git-lfs.
pub fn is_lfs_pointer(content: &[u8]) -> bool {
    content.len() < 1024 && content.starts_with(b"version https://git-lfs.github.com/spec/")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::repo::attributes::{AttributeFile, AttributeStack};
    use crate::repo::ids::object_id;
    use crate::repo::testing::Sandbox;

    const CONTENTS: [&[u8]; 15] = [
        b"",
        b"one\ntwo\n",
        b"one\r\ntwo\n",
        b"one\rtwo\n",
        b"a\0b\n",
        b"\x01\x02\n",
        b"plain\x1a",
        b"line\n\x1a",
        b"$Id$ $Id: x $ $Id: a b c $ $Idx$\n",
        b"$Id:\n$ $Id: open\n",
        b"$Id:$$Id: $$Id:x y$$Id:  $\n$",
        b"$$Id$ $Id$$Id$ $I$Id$ $Id: a\tb$Id$ $Id$I",
        "caf\u{e9} \u{1f600}\n".as_bytes(),
        "caf\u{e9}\n".as_bytes(),
        b"\xff\xfe invalid\n",
    ];

    #[test]
    fn written_content_is_that_of_git_checkout_index() {
        let attributes = [
            "text",
            "-text eol=crlf",
            "eol=crlf",
            "text eol=crlf",
            "text=auto eol=crlf",
            "text=auto",
            "text=auto eol=lf",
            "crlf=auto eol=crlf",
            "-crlf eol=crlf",
            "text=odd eol=crlf",
            "text=input eol=crlf",
            "!text eol=crlf ident",
            "ident",
            "-ident",
            "working-tree-encoding=UTF-16LE",
            "working-tree-encoding=utf-16be eol=crlf",
            "working-tree-encoding=UTF-16LE-BOM",
            "working-tree-encoding=UTF-16BE-BOM",
            "working-tree-encoding=UTF-16",
            "working-tree-encoding=ISO-8859-1 ident",
            "working-tree-encoding=utf8",
            "binary eol=crlf",
        ];
        let sandbox = Sandbox::new();
        let mut rules = String::new();
        let mut files = Vec::new();
        for (kind, line) in attributes.iter().enumerate() {
            writeln!(rules, "{kind}-* {line}").unwrap();
            for (number, content) in CONTENTS.iter().enumerate() {
                files.push((format!("{kind}-{number}"), content.to_vec()));
            }
        }
        files.push((".gitattributes".into(), rules.clone().into_bytes()));
        sandbox.stage(&files);
        sandbox.git(&["checkout-index", "-a", "-f"]);
        let mut stack = AttributeStack::default();
        stack.push(0, AttributeFile::parse(rules.as_bytes()));
        for (path, content) in files {
            let blob_id = BlobId(object_id(git2::Oid::hash_object(git2::ObjectType::Blob, &content).unwrap()));
            let (conversion, _) = Conversion::choose(&stack.lookup(path.as_bytes()));
            let of_git = std::fs::read(sandbox.path(&path)).unwrap();
            // The second routine of git, see `expand_ident`.
            if matches!(path.as_str(), "19-10" | "19-11") {
                continue;
            }
            let kind = path.split('-').next().and_then(|kind| kind.parse::<usize>().ok()).map(|kind| attributes[kind]);
            assert_eq!(conversion.apply(content.clone(), blob_id), of_git, "{path} {content:?} {kind:?}");
        }
    }

    #[test]
    fn what_is_not_done_is_noticed() {
        let mut stack = AttributeStack::default();
        stack.push(0, AttributeFile::parse(b"* filter=lfs working-tree-encoding=EBCDIC\n"));
        let (conversion, notices) = Conversion::choose(&stack.lookup(b"x"));
        assert_eq!(conversion, Conversion::default());
        assert_eq!(
            notices,
            [ConversionNotice::Filter { name: b"lfs".into() }, ConversionNotice::Encoding { name: b"EBCDIC".into() }]
        );
        assert!(is_lfs_pointer(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"));
        assert!(!is_lfs_pointer(b"version 1\n"));
    }
}
