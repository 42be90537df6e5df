//! Decides how changed files are divided: by the syntax of their language, into lines, or not at all if they are
//! generated.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::repo::{Repository, generated};
use git2::Tree;

use crate::repo::attributes::{AttributeFile, AttributeStack, AttributeValue};
use crate::repo::entry::entry_at;
use crate::repo::ids::oid;
use crate::repo::pattern::Pattern;
use idd_base::TreeId;
use idd_change::syntax::Language;
use idd_change::{FileDivision, FilePair, FileSide};

/// The name for no language.
const NO_LANGUAGE: &str = "none";

/// The attribute of generated files; other tools use it, too.
const ATTRIBUTE: &[u8] = b"linguist-generated";

/// Why the user's configuration cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DivisionError {
    /// There is no such language.
    #[error("bad value `{name}` of the configuration key `idd.grammar.{glob}`: expected one of {}", known.join(", "))]
    UnknownLanguage {
        /// The pattern of its files.
        glob: String,
        /// The given name.
        name: String,
        /// The valid names.
        known: Vec<&'static str>,
    },
    /// No file of a tree can have this path, or the pattern is one of files that are not generated.
    #[error("bad source `{source_path}` of `{glob}` in the configuration key `idd.generated`")]
    Source {
        /// The pattern of the generated files.
        glob: String,
        /// The given path.
        source_path: String,
    },
    /// The pattern cannot match anything.
    #[error("bad pattern `{pattern}` in the configuration key `{key}`")]
    Pattern {
        /// Its key.
        key: &'static str,
        /// The pattern.
        pattern: String,
    },
}

/// The user's rules for files. They win over the rules of languages and the contents of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Divisions {
    /// In the order of the configuration: the last match counts.
    grammars: Vec<(Pattern, Option<&'static Language>)>,
    /// The same, with the sources of the files.
    generated: Vec<(Pattern, Vec<Vec<u8>>)>,
    /// The configured values, in their order.
    words: Vec<(&'static str, String)>,
    /// Whether generated files are part of no change, because they are written again for each probe.
    pub is_regenerated: bool,
    /// Whether every file is divided into lines, without syntax.
    pub is_plain: bool,
}

impl Divisions {
    /// Reads the configuration.
    ///
    /// - `grammars`: patterns, each with the name of a language or `none`.
    /// - `generated`: patterns, each alone or as `pattern: sources`. Sources are paths from the top or from the file.
    pub fn new<'a>(
        grammars: impl Iterator<Item = (&'a str, &'a str)>,
        generated: impl Iterator<Item = &'a str>,
    ) -> Result<Self, DivisionError> {
        let pattern = |key: &'static str, text: &str| {
            let found = Pattern::parse(text.trim().as_bytes());
            found.ok_or_else(|| DivisionError::Pattern { key, pattern: text.to_owned() })
        };
        let mut divisions = Self::default();
        for (glob, name) in grammars {
            let language = Language::named(name);
            if language.is_none() && name != NO_LANGUAGE {
                let known = Language::all().iter().map(Language::name).chain([NO_LANGUAGE]).collect();
                return Err(DivisionError::UnknownLanguage { glob: glob.to_owned(), name: name.to_owned(), known });
            }
            divisions.grammars.push((pattern("idd.grammar", glob)?, language));
            divisions.words.push(("grammar", format!("{glob}\n{name}")));
        }
        for text in generated {
            let (glob, sources) = text.split_once(": ").unwrap_or((text, ""));
            let pattern = pattern("idd.generated", glob)?;
            let is_path = |source: &str| !source.starts_with('/') && !source.contains(['*', '?', '[', '\\']);
            if let Some(bad) = sources.split_whitespace().find(|source| pattern.is_negated || !is_path(source)) {
                return Err(DivisionError::Source { glob: glob.to_owned(), source_path: bad.to_owned() });
            }
            let sources = sources.split_whitespace().map(|source| source.as_bytes().to_vec()).collect();
            divisions.generated.push((pattern, sources));
            divisions.words.push(("generated", text.to_owned()));
        }
        Ok(divisions)
    }

    /// The whole configuration, in a form that is equal only for equal configurations.
    pub fn identity(&self) -> Vec<u8> {
        let flags = [("regenerated", self.is_regenerated), ("plain", self.is_plain)];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, ""));
        let words = self.words.iter().map(|(name, text)| (*name, text.as_str()));
        // A configured value contains no NUL.
        words.chain(flags).flat_map(|(name, text)| format!("{name}={text}\0").into_bytes()).collect()
    }

    /// The language of a file: the configured one, else the first language by name that matches the path.
    pub fn language(&self, path: &[u8]) -> Option<&'static Language> {
        self.languages(path).into_iter().next()
    }

    /// The same, for a file with this text: of several languages that match the path, the one that has the fewest syntax
    /// errors in the text. A header of C++ is no header of C.
    pub(super) fn language_of(&self, path: &[u8], text: &[u8]) -> Option<&'static Language> {
        let languages = self.languages(path);
        if languages.len() < 2 {
            return languages.into_iter().next();
        }
        languages.into_iter().min_by_key(|language| language.n_errors(text).unwrap_or(usize::MAX))
    }

    /// The configured language of a path, or the languages that match it, by name.
    fn languages(&self, path: &[u8]) -> Vec<&'static Language> {
        if let Some((_, language)) = self.grammars.iter().rev().find(|(pattern, _)| pattern.matches(path)) {
            return language.iter().copied().collect();
        }
        let is_of = |language: &&Language| {
            let mut patterns = language.files().iter().filter_map(|files| Pattern::parse(files.as_bytes()));
            patterns.any(|pattern| pattern.matches(path))
        };
        Language::all().iter().filter(is_of).collect()
    }

    /// The possible sources of a file, if it is generated; most of these paths need not exist.
    ///
    /// `is_marked`: the attribute of its tree. The configuration wins over the attribute, and the attribute over the
    /// header of the file. If the configuration names sources, those in the header do not count.
    fn sources(&self, path: &[u8], text: &[u8], is_marked: Option<bool>) -> Option<Vec<Vec<u8>>> {
        let said = self.generated.iter().rev().find(|(pattern, _)| pattern.matches(path));
        let is_generated = match said {
            Some((pattern, _)) => !pattern.is_negated,
            None => is_marked.unwrap_or_else(|| generated::is_marked(text)),
        };
        if !is_generated {
            return None;
        }
        match said {
            Some((_, sources)) if !sources.is_empty() => {
                Some(sources.iter().flat_map(|source| generated::resolved(path, source)).collect())
            }
            _ => Some(generated::named_paths(path, text)),
        }
    }

    /// How a changed file is divided; `newer` and `older` are the trees of its sides.
    pub(super) fn of(&self, pair: &FilePair, older: &Marks, newer: &Marks) -> FileDivision {
        let sides = [(&pair.newer, newer), (&pair.older, older)];
        let Some((side, marks)) = sides.into_iter().find_map(|(side, marks)| Some((side.as_ref()?, marks))) else {
            return FileDivision::Lines;
        };
        match self.sources_of(side, marks) {
            Some(sources) if !self.is_plain || self.is_regenerated => FileDivision::Whole { sources },
            _ if self.is_plain => FileDivision::Lines,
            _ => {
                let language = self.language_of(&side.path, side.text().unwrap_or_default());
                language.map_or(FileDivision::Lines, FileDivision::Syntax)
            }
        }
    }

    /// Whether the file at a path of a tree is generated; false if there is no text.
    pub fn is_generated(&self, repository: &Repository, tree: TreeId, path: &[u8]) -> bool {
        let Ok(tree) = repository.git().find_tree(oid(tree.0)) else { return false };
        let Some((_, blob)) = entry_at(repository, &tree, path) else { return false };
        let Ok(blob) = repository.git().find_blob(blob) else { return false };
        self.sources(path, blob.content(), Marks::new(repository, tree).is_generated(path)).is_some()
    }

    /// As [`sources`](Self::sources), for a file of a tree; a file without text is not generated.
    fn sources_of(&self, side: &FileSide, marks: &Marks) -> Option<Vec<Vec<u8>>> {
        self.sources(&side.path, side.text()?, marks.is_generated(&side.path))
    }
}

/// The attributes of one tree.
pub(super) struct Marks<'r> {
    repository: &'r Repository,
    tree: Tree<'r>,
    /// By directory, also for directories without a `.gitattributes`; the root is empty.
    files: RefCell<BTreeMap<Vec<u8>, AttributeFile>>,
}

impl<'r> Marks<'r> {
    pub(super) fn new(repository: &'r Repository, tree: Tree<'r>) -> Self {
        Self { repository, tree, files: RefCell::default() }
    }

    /// Whether the file is generated according to the attributes; `None` if they do not say.
    pub(super) fn is_generated(&self, path: &[u8]) -> Option<bool> {
        let mut stack = AttributeStack::default();
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        for directory_bytes in [0].into_iter().chain(slashes) {
            stack.push(directory_bytes, self.file(&path[..directory_bytes]));
        }
        match stack.lookup(path).get(ATTRIBUTE)? {
            AttributeValue::Set => Some(true),
            AttributeValue::Unset => Some(false),
            AttributeValue::Text(text) => Some(!text.eq_ignore_ascii_case(b"false")),
            AttributeValue::Unspecified => None,
        }
    }

    /// - `directory`: with a slash at the end, or empty.
    fn file(&self, directory: &[u8]) -> AttributeFile {
        if let Some(known) = self.files.borrow().get(directory) {
            return known.clone();
        }
        let path = [directory, b".gitattributes"].concat();
        let entry = entry_at(self.repository, &self.tree, &path).filter(|(mode, _)| mode & 0o170_000 == 0o100_000);
        let blob = entry.and_then(|(_, id)| self.repository.git().find_blob(id).ok());
        let file = blob.map(|blob| AttributeFile::parse(blob.content())).unwrap_or_default();
        self.files.borrow_mut().insert(directory.to_vec(), file.clone());
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::testing::Sandbox;
    use idd_change::{EntryContent, EntryMode};

    fn divisions(grammars: &[(&str, &str)], generated: &[&str]) -> Result<Divisions, DivisionError> {
        Divisions::new(grammars.iter().copied(), generated.iter().copied())
    }

    #[track_caller]
    fn check_language(grammars: &[(&str, &str)], path: &str, expected: Option<&str>) {
        let divisions = divisions(grammars, &[]).unwrap();
        assert_eq!(divisions.language(path.as_bytes()).map(Language::name), expected, "{path}");
    }

    #[test]
    fn a_language_knows_its_files_and_the_user_knows_better() {
        check_language(&[], "src/x.c", Some("c"));
        check_language(&[], "src/x.py", Some("python"));
        check_language(&[], "src/x.h", Some("c"));
        check_language(&[], "src/x.hpp", Some("cpp"));
        check_language(&[], "src/x.d.ts", Some("typescript"));
        check_language(&[], "src/x.jsx", Some("javascript"));
        check_language(&[], "src/x.tsx", Some("tsx"));
        check_language(&[], "x.txt", None);
        check_language(&[("*.tpl", "c")], "a/x.tpl", Some("c"));
        check_language(&[("*.h", "none")], "x.h", None);
        check_language(&[("old/**", "none"), ("old/new/*.c", "c")], "old/new/x.c", Some("c"));
        check_language(&[("old/new/*.c", "c"), ("old/**", "none")], "old/new/x.c", None);
    }

    #[test]
    fn a_header_is_of_the_language_that_understands_it_and_the_user_knows_better() {
        let name = |grammars: &[(&str, &str)], text: &str| {
            let divisions = divisions(grammars, &[]).unwrap();
            divisions.language_of(b"src/x.h", text.as_bytes()).map(Language::name)
        };
        assert_eq!(name(&[], "struct box { int side; };\n"), Some("c"));
        assert_eq!(name(&[], "class Box {\npublic:\n  int side() const;\n};\n"), Some("cpp"));
        assert_eq!(name(&[], "int class(int new);\n"), Some("c"));
        assert_eq!(name(&[], "\0"), Some("c"));
        assert_eq!(name(&[("*.h", "cpp")], "int class(int new);\n"), Some("cpp"));
        assert_eq!(name(&[("*.h", "none")], "class Box {};\n"), None);
    }

    #[test]
    fn an_unknown_language_is_refused_with_those_that_there_are() {
        let error = divisions(&[("*.x", "cobol")], &[]).unwrap_err();
        insta::assert_snapshot!(error, @"bad value `cobol` of the configuration key `idd.grammar.*.x`: expected one of c, cpp, go, java, javascript, python, rust, tsx, typescript, none");
        assert!(matches!(divisions(&[("[", "c")], &[]), Err(DivisionError::Pattern { key: "idd.grammar", .. })));
    }

    #[test]
    fn a_source_that_is_no_path_of_a_tree_is_refused() {
        let error = divisions(&[], &["a.c: /usr/share/x"]).unwrap_err();
        insta::assert_snapshot!(error, @"bad source `/usr/share/x` of `a.c` in the configuration key `idd.generated`");
        for text in ["a.c: table.txt *.txt", "a.c: x?", "!a.c: table.txt"] {
            assert!(matches!(divisions(&[], &[text]), Err(DivisionError::Source { .. })), "{text}");
        }
        assert!(divisions(&[], &["*.c: ../gen/table.txt", "!b.c"]).is_ok());
    }

    #[test]
    fn the_attributes_of_the_tree_mark_generated_files() {
        let sandbox = Sandbox::new();
        let attributes = b"*.c linguist-generated\nb.c -linguist-generated\nc.c linguist-generated=false\n*.h linguist-generated=true\n";
        let nested = b"a.c !linguist-generated\nb.c linguist-generated\n";
        let sources =
            ["a.c", "b.c", "c.c", "x.h", "x.txt", "d/a.c", "d/b.c", "d/e/c.c"].map(|path| (path, &b"int a;\n"[..]));
        let rules = [(".gitattributes", &attributes[..]), ("d/.gitattributes", &nested[..])];
        let files = [&sources[..], &rules].concat();
        let files: Vec<_> = files.into_iter().map(|(path, text)| (path.to_owned(), text.to_vec())).collect();
        let tree = sandbox.stage(&files);
        let repository = sandbox.repository();
        let marks = Marks::new(&repository, repository.git().find_tree(oid(tree.0)).unwrap());
        let said = |path: &str| marks.is_generated(path.as_bytes());
        assert_eq!(["a.c", "x.h", "d/b.c"].map(said), [Some(true); 3]);
        assert_eq!(["b.c", "c.c", "d/e/c.c"].map(said), [Some(false); 3]);
        assert_eq!(["x.txt", "d/a.c"].map(said), [None; 2]);
        let nothing = Divisions::default();
        assert!(nothing.is_generated(&repository, tree, b"a.c"));
        assert!(!nothing.is_generated(&repository, tree, b"b.c"));
        assert!(!nothing.is_generated(&repository, tree, b"gone.c"));
    }

    #[test]
    fn divisions_have_the_same_identity_only_if_the_user_said_the_same() {
        let said = |grammars: &[(&str, &str)], generated: &[&str]| divisions(grammars, generated).unwrap();
        let all = [
            said(&[], &[]),
            said(&[("*.x", "c")], &[]),
            said(&[("*.x", "none")], &[]),
            said(&[("*.x", "c"), ("*.y", "c")], &[]),
            said(&[("*.y", "c"), ("*.x", "c")], &[]),
            said(&[], &["*.x"]),
            said(&[], &["*.x: a"]),
            Divisions { is_plain: true, ..said(&[], &[]) },
            Divisions { is_regenerated: true, ..said(&[], &[]) },
        ];
        let identities: std::collections::BTreeSet<Vec<u8>> = all.iter().map(Divisions::identity).collect();
        assert_eq!(identities.len(), all.len());
        assert_eq!(said(&[("*.x", "c")], &["*.y"]).identity(), b"grammar=*.x\nc\0generated=*.y\0");
    }

    #[test]
    fn files_are_divided_into_plain_lines_if_that_is_asked_for() {
        let sandbox = Sandbox::new();
        let tree = sandbox.stage(&[("a.c".to_owned(), b"int a;\n".to_vec())]);
        let repository = sandbox.repository();
        let marks = Marks::new(&repository, repository.git().find_tree(oid(tree.0)).unwrap());
        let side = |text: &str| FileSide {
            path: b"a.c".to_vec(),
            mode: EntryMode::Regular,
            content: EntryContent::Bytes(text.as_bytes().into()),
        };
        let of = |divisions: &Divisions, text: &str| {
            divisions.of(&FilePair { older: None, newer: Some(side(text)) }, &marks, &marks)
        };
        let plain = Divisions { is_plain: true, ..Divisions::default() };
        let generated = "// @generated\n";
        assert!(matches!(of(&Divisions::default(), "int b;\n"), FileDivision::Syntax(_)));
        assert!(matches!(of(&Divisions::default(), generated), FileDivision::Whole { .. }));
        assert_eq!([of(&plain, "int b;\n"), of(&plain, generated)], [FileDivision::Lines, FileDivision::Lines]);
        let regenerated = Divisions { is_regenerated: true, ..plain };
        assert!(matches!(of(&regenerated, generated), FileDivision::Whole { .. }));
    }

    #[test]
    fn of_generated_files_the_user_knows_best_then_the_attributes_then_the_header() {
        let marked = b"// @generated\n";
        let nothing = divisions(&[], &[]).unwrap();
        assert!(nothing.sources(b"a.c", marked, None).is_some());
        assert!(nothing.sources(b"a.c", marked, Some(false)).is_none());
        assert!(nothing.sources(b"a.c", b"", Some(true)).is_some());
        let said = divisions(&[], &["*.c: gen/a.txt", "!b.c"]).unwrap();
        assert_eq!(said.sources(b"x/a.c", b"", Some(false)).unwrap(), [b"x/gen/a.txt".to_vec(), b"gen/a.txt".to_vec()]);
        let header = b"/* Generated by gen.sh from table.txt. Do not edit. */\n";
        assert_eq!(said.sources(b"a.c", header, None).unwrap(), [b"gen/a.txt".to_vec()]);
        assert!(
            divisions(&[], &["*.c"]).unwrap().sources(b"a.c", header, None).unwrap().contains(&b"table.txt".to_vec())
        );
        assert!(said.sources(b"x/b.c", marked, Some(true)).is_none());
        assert!(said.sources(b"x/a.h", b"", None).is_none());
    }
}
