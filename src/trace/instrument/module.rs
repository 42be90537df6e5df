//! A unit as a whole: what stands at the top level of its text.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::instrument::lex::TextCursor;
use crate::instrument::types::{NamedTypes, Type};
use crate::instrument::{DataLayout, DebugVariable, MetadataId, SourceType, Unsupported};

/// Where a function is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionHeader {
    /// Its name.
    pub name: Arc<str>,
    /// From `define` to behind the closing brace.
    pub text: Range<usize>,
    /// What the debug info says of it.
    pub subprogram: Option<MetadataId>,
    /// The group of its attributes.
    pub attributes: Option<u32>,
    /// Whether only this unit sees its name.
    pub is_internal: bool,
}

/// A global variable that is defined here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedGlobal {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Whether it cannot be written.
    pub is_constant: bool,
    /// Whether each thread has its own.
    pub is_thread_local: bool,
    /// The `DIGlobalVariableExpression` of it.
    pub debug: Option<MetadataId>,
}

/// Types of the source by their nodes; with each, whether it is a reference.
pub type KnownTypes = Mutex<HashMap<MetadataId, Option<(SourceType, bool)>>>;

/// Local variables by their nodes.
pub type KnownVariables = Mutex<HashMap<MetadataId, Option<DebugVariable>>>;

/// Scopes by the places in them and by the scopes in them; the flag is set for a scope.
pub type KnownScopes = Mutex<HashMap<(MetadataId, bool), Option<MetadataId>>>;

/// The top level of a unit; bodies are read one by one, see [`function::read`](crate::instrument::function::read).
#[derive(Debug, Default)]
pub struct Module {
    /// The name of the source file, as the compiler was given it.
    pub source: Arc<str>,
    /// Named structures.
    pub types: NamedTypes,
    /// Global variables that are defined.
    pub globals: Vec<DefinedGlobal>,
    /// The [standard streams](STREAMS) that it uses.
    pub streams: Vec<Arc<str>>,
    /// Functions that are defined, in the order of the text.
    pub functions: Vec<FunctionHeader>,
    /// Functions that are declared only.
    pub declared: HashSet<Arc<str>>,
    /// Those of them whose addresses it uses as values, in the order of their names: they may be called through pointers.
    pub pointed: Vec<Arc<str>>,
    /// The places of the numbered metadata nodes; index is the number, empty where there is none.
    pub metadata: Vec<Range<usize>>,
    /// Types that were read from the metadata, which takes long.
    pub source_types: KnownTypes,
    /// Variables that were read from the metadata.
    pub source_variables: KnownVariables,
    /// Scopes that were read from the metadata.
    pub source_scopes: KnownScopes,
    /// The words of each group of attributes.
    attributes: HashMap<u32, Range<usize>>,
}

/// Variables of the C library that point to its standard streams, and those of the C++ library that are such streams.
pub const STREAMS: [&str; 6] = ["stdin", "stdout", "stderr", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"];

/// Metadata nodes are numbered without gaps, so there are no more than lines; a larger number is no number.
const MAX_METADATA: u32 = 50_000_000;

impl Module {
    /// Reads the top level.
    pub fn read(text: &str) -> Result<Self, Unsupported> {
        let mut module = Self::default();
        let mut at = 0;
        while at < text.len() {
            let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
            at = module.line(text, at..end).map_err(|error| error.at(text, at))?;
        }
        if module.source.is_empty() {
            return Err(Unsupported::new("a text that names no source"));
        }
        module.pointed = module.pointed_in(text);
        Ok(module)
    }

    fn pointed_in(&self, text: &str) -> Vec<Arc<str>> {
        let names = text.match_indices(" @").filter_map(|(at, found)| {
            let mut cursor = TextCursor::new(&text[at + found.len() - 1..]);
            let name = cursor.name('@').ok()?;
            // What `(` follows is called or declared.
            self.declared.get(name).filter(|name| cursor.peek() != b'(' && !name.starts_with("llvm.")).cloned()
        });
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The layout of its types.
    pub fn layout(&self) -> DataLayout<'_> {
        DataLayout { named: &self.types }
    }

    /// Whether the group of attributes has this word.
    pub fn has_attribute(&self, text: &str, group: u32, word: &str) -> bool {
        let words = self.attributes.get(&group).and_then(|range| text.get(range.clone())).unwrap_or_default();
        words.split([' ', '{', '}']).any(|found| found == word)
    }

    /// Takes the line in; returns where the next one begins.
    fn line(&mut self, text: &str, range: Range<usize>) -> Result<usize, Unsupported> {
        let line = &text[range.clone()];
        match line.as_bytes().first() {
            Some(b'%') => self.named_type(line)?,
            Some(b'@') => self.global(line)?,
            Some(b'!') => self.node(line, range.clone()),
            Some(b'd') if line.starts_with("define ") => {
                let end =
                    text[range.start..].find("\n}").ok_or_else(|| Unsupported::new("a function without an end"))?;
                let whole = range.start..range.start + end + 2;
                self.functions.push(header(line, whole.clone())?);
                return Ok(whole.end + 1);
            }
            Some(b'd') if line.starts_with("declare ") => {
                let at = line.find('@').ok_or_else(|| Unsupported::new("a declaration without a name"))?;
                self.declared.insert(TextCursor::new(&line[at..]).name('@')?.into());
            }
            Some(b'a') if line.starts_with("attributes #") => {
                let group = TextCursor::new(&line["attributes #".len()..]).number()?;
                self.attributes.insert(group, range.clone());
            }
            Some(b't') if line.starts_with("target datalayout = ") => {
                DataLayout::check(TextCursor::new(&line["target datalayout = ".len()..]).string()?)?;
            }
            Some(b's') if line.starts_with("source_filename = ") => {
                self.source = TextCursor::new(&line["source_filename = ".len()..]).string()?.into();
            }
            _ => {}
        }
        Ok(range.end + 1)
    }

    fn named_type(&mut self, line: &str) -> Result<(), Unsupported> {
        let mut cursor = TextCursor::new(line);
        let name = cursor.name('%')?.into();
        cursor.expect("=")?;
        cursor.expect("type")?;
        let ty = if cursor.eat("opaque") { None } else { Some(cursor.ty()?) };
        self.types.insert(name, ty);
        Ok(())
    }

    fn global(&mut self, line: &str) -> Result<(), Unsupported> {
        let mut cursor = TextCursor::new(line);
        let name: Arc<str> = cursor.name('@')?.into();
        cursor.expect("=")?;
        let (mut is_external, mut is_thread_local) = (false, false);
        loop {
            match cursor.peek_word() {
                "external" | "extern_weak" => is_external = true,
                "thread_local" => is_thread_local = true,
                "addrspace" => return Err(Unsupported::new("an address space")),
                // A second name of something that is defined under another one.
                "alias" | "ifunc" => return Ok(()),
                "global" | "constant" => break,
                _ => {}
            }
            cursor.skip_attribute()?;
        }
        let is_constant = cursor.word()? == "constant";
        let ty = cursor.ty()?;
        let debug = line.rfind(", !dbg !").map(|at| TextCursor::new(&line[at + 8..]).number()).transpose()?;
        if is_external && STREAMS.contains(&&*name) {
            self.streams.push(name);
        } else if !is_external {
            self.globals.push(DefinedGlobal { name, ty, is_constant, is_thread_local, debug: debug.map(MetadataId) });
        }
        Ok(())
    }

    fn node(&mut self, line: &str, range: Range<usize>) {
        let Some((number, _)) = line[1..].split_once(" = ") else { return };
        let Ok(number) = number.parse::<u32>() else { return };
        if number > MAX_METADATA {
            return;
        }
        let index = number as usize;
        if self.metadata.len() <= index {
            self.metadata.resize(index + 1, 0..0);
        }
        self.metadata[index] = range;
    }
}

fn header(line: &str, text: Range<usize>) -> Result<FunctionHeader, Unsupported> {
    let at = line.find('@').ok_or_else(|| Unsupported::new("a function without a name"))?;
    let is_internal = line[..at].split(' ').any(|word| matches!(word, "internal" | "private"));
    let mut cursor = TextCursor::new(&line[at..]);
    let name = cursor.name('@')?.into();
    cursor.brackets()?;
    let rest = cursor.rest();
    let subprogram = rest.find("!dbg !").map(|at| TextCursor::new(&rest[at + 6..]).number()).transpose()?;
    let attributes = rest.find('#').map(|at| TextCursor::new(&rest[at + 1..]).number()).transpose()?;
    Ok(FunctionHeader { name, text, subprogram: subprogram.map(MetadataId), attributes, is_internal })
}
