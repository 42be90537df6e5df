//! The supported languages, and the files of each.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;
use tree_sitter::Query;
use tree_sitter_language::LanguageFn;

use crate::syntax::hidden_words::{self, Unseen};
use crate::syntax::tree::UnitClass;

/// The embedded data of one language; see `grammars/README.md`.
struct Grammar {
    name: &'static str,
    parser: LanguageFn,
    /// Those that it builds upon, in their order; its own part is the last one.
    parts: &'static [GrammarDirectory],
}

/// A directory in `grammars/`.
struct GrammarDirectory {
    units: &'static str,
    declarations: &'static str,
    language: &'static str,
    replacements: &'static str,
}

macro_rules! part {
    ($name:literal) => {
        GrammarDirectory {
            units: include_str!(concat!("../grammars/", $name, "/units.scm")),
            declarations: include_str!(concat!("../grammars/", $name, "/declarations.scm")),
            language: include_str!(concat!("../grammars/", $name, "/language.toml")),
            replacements: include_str!(concat!("../grammars/", $name, "/replacements.toml")),
        }
    };
}

macro_rules! grammar {
    ($name:literal, $parser:expr $(, $base:literal)*) => {
        Grammar { name: $name, parser: $parser, parts: &[$(part!($base),)* part!($name)] }
    };
}

/// Every language; a new one is a line here and a directory in `grammars/`. The names after the parser are those of the
/// directories that it builds upon.
static GRAMMARS: [Grammar; 9] = [
    grammar!("c", tree_sitter_c::LANGUAGE),
    grammar!("cpp", tree_sitter_cpp::LANGUAGE, "c"),
    grammar!("go", tree_sitter_go::LANGUAGE),
    grammar!("java", tree_sitter_java::LANGUAGE),
    grammar!("javascript", tree_sitter_javascript::LANGUAGE, "ecmascript"),
    grammar!("python", tree_sitter_python::LANGUAGE),
    grammar!("rust", tree_sitter_rust::LANGUAGE),
    grammar!("tsx", tree_sitter_typescript::LANGUAGE_TSX, "ecmascript", "typescript"),
    grammar!("typescript", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, "ecmascript"),
];

/// A language whose texts can be parsed.
pub struct Language {
    name: &'static str,
    files: Vec<String>,
    unordered: Vec<String>,
    pub(super) atoms: Vec<String>,
    /// Kinds of nodes that belong to the node after them.
    pub(super) leading: Vec<String>,
    unseen: hidden_words::Patterns,
    /// For a kind of node, the list of alternatives that contains it.
    alternatives: BTreeMap<String, usize>,
    pub(super) parser: tree_sitter::Language,
    grammar: &'static Grammar,
    compiled: OnceLock<Compiled>,
}

/// Compiling takes a tenth of a second, so it is done when the first text is parsed.
pub(super) struct Compiled {
    pub(super) unseen: Unseen,
    pub(super) units: Query,
    /// By index of the capture in `units`; `None`: no unit, but a part of the unit around it.
    pub(super) classes: Vec<Option<UnitClass>>,
    pub(super) declarations: Query,
}

/// The capture of a node that is no unit, although a pattern before says so.
const PART: &str = "part";

const EMBEDDED: &str = "embedded knowledge is checked by a test";

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageFacts {
    files: Vec<String>,
    unordered: Vec<String>,
    atoms: Vec<String>,
    #[serde(default)]
    leading: Vec<String>,
    #[serde(default)]
    unseen: hidden_words::Patterns,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Replacements {
    alternatives: BTreeMap<String, Vec<String>>,
}

impl Language {
    /// Every language, in the order of their names.
    pub fn all() -> &'static [Self] {
        static LANGUAGES: OnceLock<Vec<Language>> = OnceLock::new();
        LANGUAGES.get_or_init(|| GRAMMARS.iter().map(Self::read).collect())
    }

    /// The language of this name; lower case, as in `grammars/`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|language| language.name == name)
    }

    fn read(grammar: &'static Grammar) -> Self {
        let mut facts = LanguageFacts::default();
        let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for part in grammar.parts {
            let own: LanguageFacts = toml::from_str(part.language).expect(EMBEDDED);
            (facts.files, facts.unseen) = (own.files, own.unseen);
            facts.unordered.extend(own.unordered);
            facts.atoms.extend(own.atoms);
            facts.leading.extend(own.leading);
            let replacements: Replacements = toml::from_str(part.replacements).expect(EMBEDDED);
            for (list, kinds) in replacements.alternatives {
                lists.entry(list).or_default().extend(kinds);
            }
        }
        let lists = lists.into_values().enumerate();
        Self {
            name: grammar.name,
            files: facts.files,
            unordered: facts.unordered,
            atoms: facts.atoms,
            leading: facts.leading,
            unseen: facts.unseen,
            alternatives: lists.flat_map(|(list, kinds)| kinds.into_iter().map(move |kind| (kind, list))).collect(),
            parser: tree_sitter::Language::new(grammar.parser),
            grammar,
            compiled: OnceLock::new(),
        }
    }

    pub(super) fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let query = |text: fn(&GrammarDirectory) -> &'static str| {
                let texts: Vec<&str> = self.grammar.parts.iter().map(text).collect();
                Query::new(&self.parser, &texts.concat()).expect(EMBEDDED)
            };
            let units = query(|part| part.units);
            let class = |name: &&str| (*name != PART).then(|| UnitClass::named(name).expect(EMBEDDED));
            Compiled {
                unseen: Unseen::new(&self.unseen).expect(EMBEDDED),
                classes: units.capture_names().iter().map(class).collect(),
                units,
                declarations: query(|part| part.declarations),
            }
        })
    }

    /// Its name, as in `grammars/` and `idd.grammar.<glob>`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The default paths of its files, as git patterns.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether the children of a node of this kind may have any order.
    pub fn is_unordered(&self, kind: &str) -> bool {
        self.unordered.iter().any(|unordered| unordered == kind)
    }

    /// Whether a word is a keyword of the language, so nothing can have this name.
    pub(super) fn is_keyword(&self, word: &[u8]) -> bool {
        let is_word = word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        is_word && std::str::from_utf8(word).is_ok_and(|word| self.parser.id_for_node_kind(word, false) != 0)
    }

    /// Whether a node of one kind can replace a node of the other kind.
    pub fn are_alternatives(&self, one: &str, other: &str) -> bool {
        one == other || self.alternatives.get(one).is_some_and(|list| self.alternatives.get(other) == Some(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_knowledge_can_be_read() {
        let names: Vec<&str> = Language::all().iter().map(Language::name).collect();
        assert_eq!(names, ["c", "cpp", "go", "java", "javascript", "python", "rust", "tsx", "typescript"]);
        for language in Language::all() {
            language.compiled();
            let lists = language.unordered.iter().chain(&language.atoms).chain(&language.leading);
            for kind in language.alternatives.keys().chain(lists) {
                assert_ne!(language.parser.id_for_node_kind(kind, true), 0, "{}: `{kind}`", language.name);
            }
        }
    }

    #[test]
    fn a_declaration_may_stand_where_a_statement_stood_and_a_case_may_not() {
        let c = Language::named("c").unwrap();
        assert!(c.are_alternatives("if_statement", "return_statement"));
        assert!(!c.are_alternatives("case_statement", "return_statement"));
        assert!(c.are_alternatives("anything", "anything"));
    }
}
