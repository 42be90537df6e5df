//! Debug info: source names, types and lines.
//!
//! Nodes are read from the text when they are asked for. A node that is not there, or is no such node, is `None`: debug info says more about a
//! program, and nothing depends on it being complete.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Place;
use crate::instrument::lex::TextCursor;
use crate::instrument::module::Module;
use crate::instrument::{MetadataId, Unsupported};

/// A chain of nodes longer than this has no end.
const MAX_CHAIN: usize = 1000;

/// Classes and namespaces in each other are no more.
const MAX_SCOPES: usize = 50;

/// Where headers of libraries are.
const SYSTEM: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];

/// What is kept of a key, or is read and kept now.
fn known<K: Eq + Hash, V: Clone>(kept: &Mutex<HashMap<K, V>>, key: K, read: impl FnOnce() -> V) -> V {
    let lock = || kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = lock().get(&key) {
        return found.clone();
    }
    // Reading may ask for others.
    let found = read();
    lock().insert(key, found.clone());
    found
}

/// The debug info of a module.
#[derive(Debug, Clone, Copy)]
pub struct Debug<'m> {
    module: &'m Module,
    text: &'m str,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugVariable {
    /// Its name.
    pub name: Arc<str>,
    /// The line of its declaration.
    pub line: u32,
    /// Which parameter it is, from 1; 0 for none.
    pub parameter: u32,
    /// Its type.
    pub ty: Option<MetadataId>,
    /// The block or function that it belongs to.
    pub scope: Option<MetadataId>,
}

/// What a type of the source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceType {
    /// A number or character: name, bits, DWARF's encoding (`DW_ATE_signed`).
    Base(Arc<str>, u64, Arc<str>),
    /// A pointer; to `void` if it is to nothing.
    Pointer(Option<MetadataId>),
    /// A structure.
    Struct(Arc<Compound>),
    /// A union.
    Union(Arc<Compound>),
    /// An enumeration: name, bits, constants.
    Enum(Option<Arc<str>>, u64, Arc<[(Arc<str>, i128)]>),
    /// An array: its elements and how many in each dimension; `None` for a number known only when it runs.
    Array(Option<MetadataId>, Vec<Option<u64>>),
    /// Another name for a type.
    Typedef(Arc<str>, Option<MetadataId>),
    /// `const`, `volatile` and their like.
    Qualified(Option<MetadataId>),
    /// A function.
    Function,
}

/// A structure or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compound {
    /// Its tag.
    pub name: Option<Arc<str>>,
    /// Its size in bits.
    pub bits: u64,
    /// Its members in order.
    pub members: Vec<StructMember>,
    /// Whether it is only declared.
    pub is_incomplete: bool,
}

/// A member of a structure or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructMember {
    /// Its name; empty for an unnamed structure or union.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Option<MetadataId>,
    /// Bits before it.
    pub offset_bits: u64,
    /// Its bits.
    pub bits: u64,
    /// Whether it is a bit-field.
    pub is_bit_field: bool,
}

/// A node and its fields, as they are written.
#[derive(Debug, Clone)]
struct DebugNode<'m> {
    kind: &'m str,
    fields: Vec<(&'m str, &'m str)>,
}

impl<'m> DebugNode<'m> {
    fn field(&self, name: &str) -> Option<&'m str> {
        self.fields.iter().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> u64 {
        self.field(name).and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    fn small(&self, name: &str) -> u32 {
        u32::try_from(self.number(name)).unwrap_or(0)
    }

    fn string(&self, name: &str) -> Option<Arc<str>> {
        Some(unescaped(self.field(name)?.strip_prefix('"')?.strip_suffix('"')?))
    }

    fn reference(&self, name: &str) -> Option<MetadataId> {
        reference(self.field(name)?)
    }

    fn has_flag(&self, flag: &str) -> bool {
        self.field("flags").is_some_and(|flags| flags.split(" | ").any(|found| found == flag))
    }
}

fn reference(text: &str) -> Option<MetadataId> {
    text.strip_prefix('!')?.parse().ok().map(MetadataId)
}

/// The name of a function or class without the arguments of its template, unless these are short.
fn without_arguments(name: Arc<str>) -> Arc<str> {
    const MAX_LENGTH: usize = 40;
    match name.find('<').filter(|at| name.len() > MAX_LENGTH && *at > 0 && name.ends_with('>')) {
        Some(at) => format!("{}<...>", &name[..at]).into(),
        None => name,
    }
}

/// A string with its `\xx` as what they stand for.
fn unescaped(text: &str) -> Arc<str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into()
}

impl<'m> Debug<'m> {
    /// The debug info of `module`, whose text is `text`.
    pub fn new(module: &'m Module, text: &'m str) -> Self {
        Self { module, text }
    }

    /// The module, by its place: the same for all debug info of it.
    pub fn module(&self) -> *const Module {
        std::ptr::from_ref(self.module)
    }

    fn line(&self, id: MetadataId) -> Option<&'m str> {
        let range = self.module.metadata.get(id.0 as usize)?.clone();
        let (_, value) = self.text.get(range)?.split_once(" = ")?;
        Some(value.strip_prefix("distinct ").unwrap_or(value))
    }

    fn node(&self, id: MetadataId) -> Option<DebugNode<'m>> {
        let read = |line: &'m str| -> Result<DebugNode<'m>, Unsupported> {
            let mut cursor = TextCursor::new(line);
            let kind = cursor.name('!')?;
            cursor.expect("(")?;
            let mut fields = Vec::new();
            while !cursor.eat(")") {
                let name = cursor.word()?;
                cursor.expect(":")?;
                fields.push((name, cursor.part()?));
                cursor.eat(",");
            }
            Ok(DebugNode { kind, fields })
        };
        read(self.line(id)?).ok()
    }

    /// The elements of a list, `!{!1, null, !2}`.
    fn list(&self, id: Option<MetadataId>) -> Vec<Option<MetadataId>> {
        let content = id.and_then(|id| self.line(id)).and_then(|line| line.strip_prefix("!{")?.strip_suffix('}'));
        content.unwrap_or_default().split(", ").filter(|part| !part.is_empty()).map(reference).collect()
    }

    /// Where a `DILocation` is.
    pub fn place(&self, location: MetadataId) -> Option<Place> {
        let node = self.node(location).filter(|node| node.kind == "DILocation")?;
        let file = self.file(node.reference("scope")?)?;
        Some(Place { file, line: node.small("line"), column: node.small("column") })
    }

    /// The scope of a `DILocation`.
    ///
    /// Cost: it is read from the text only the first time.
    pub fn scope(&self, location: MetadataId) -> Option<MetadataId> {
        known(&self.module.source_scopes, (location, false), || {
            self.node(location).filter(|node| node.kind == "DILocation")?.reference("scope")
        })
    }

    /// The scope around a scope; `None` at the function.
    ///
    /// Cost: it is read from the text only the first time.
    pub fn outer_scope(&self, scope: MetadataId) -> Option<MetadataId> {
        known(&self.module.source_scopes, (scope, true), || {
            let node = self.node(scope)?;
            if node.kind == "DISubprogram" { None } else { node.reference("scope") }
        })
    }

    /// Line and column of a block's beginning.
    pub fn place_of_block(&self, scope: MetadataId) -> Option<(u32, u32)> {
        let node = self.node(scope).filter(|node| node.kind == "DILexicalBlock")?;
        Some((node.small("line"), node.small("column")))
    }

    fn file(&self, scope: MetadataId) -> Option<Arc<str>> {
        let mut id = scope;
        for _ in 0..MAX_CHAIN {
            let node = self.node(id)?;
            if node.kind == "DIFile" {
                return node.string("filename");
            }
            id = node.reference("file").or_else(|| node.reference("scope"))?;
        }
        None
    }

    /// The source's name of a function, and where it is defined.
    pub fn function(&self, subprogram: MetadataId) -> Option<(Arc<str>, Place)> {
        let node = self.node(subprogram).filter(|node| node.kind == "DISubprogram")?;
        let place = Place { file: self.file(subprogram)?, line: node.small("line"), column: 0 };
        let name = without_arguments(node.string("name")?);
        Some((node.reference("scope").map_or_else(|| Arc::clone(&name), |scope| self.within(scope, &name)), place))
    }

    /// A name behind those of the classes and namespaces around it: `ns::Stack::push`.
    fn within(&self, scope: MetadataId, name: &Arc<str>) -> Arc<str> {
        let mut names = Vec::new();
        let mut at = Some(scope);
        while let Some(node) = at.filter(|_| names.len() < MAX_SCOPES).and_then(|id| self.node(id)) {
            match node.kind {
                "DICompositeType" => names.extend(node.string("name").map(without_arguments)),
                // A namespace that is in line is left out by who uses it.
                "DINamespace" if node.field("exportSymbols") == Some("true") && node.string("name").is_some() => {}
                "DINamespace" => names.push(node.string("name").unwrap_or_else(|| "(anonymous namespace)".into())),
                "DISubprogram" => {}
                _ => break,
            }
            at = node.reference("scope");
        }
        if names.is_empty() {
            return Arc::clone(name);
        }
        names.reverse();
        names.push(Arc::clone(name));
        names.join("::").into()
    }

    /// Whether a function belongs to a library: it stands in a header of the system.
    pub fn is_of_library(&self, subprogram: MetadataId) -> bool {
        let file = self.node(subprogram).filter(|node| node.kind == "DISubprogram").and_then(|_| self.file(subprogram));
        file.is_some_and(|file| SYSTEM.iter().any(|directory| file.starts_with(directory)))
    }

    /// Whether a type is a reference.
    pub fn is_reference(&self, ty: MetadataId) -> bool {
        self.known_ty(ty).is_some_and(|(_, is_reference)| is_reference)
    }

    /// The type of what a function returns; `None` if it returns nothing.
    pub fn result(&self, subprogram: MetadataId) -> Option<MetadataId> {
        let node = self.node(subprogram).filter(|node| node.kind == "DISubprogram")?;
        let ty = self.node(node.reference("type")?).filter(|node| node.kind == "DISubroutineType")?;
        self.list(ty.reference("types")).into_iter().next().flatten()
    }

    /// A local variable.
    ///
    /// Cost: it is read from the text only the first time.
    pub fn variable(&self, id: MetadataId) -> Option<DebugVariable> {
        known(&self.module.source_variables, id, || self.read_variable(id))
    }

    fn read_variable(&self, id: MetadataId) -> Option<DebugVariable> {
        let node = self.node(id).filter(|node| node.kind == "DILocalVariable")?;
        Some(DebugVariable {
            name: node.string("name")?,
            line: node.small("line"),
            parameter: node.small("arg"),
            ty: node.reference("type"),
            scope: node.reference("scope"),
        })
    }

    /// A global variable, by what its definition is marked with.
    pub fn global(&self, expression: MetadataId) -> Option<DebugVariable> {
        let node = self.node(expression)?;
        let node = match node.kind {
            "DIGlobalVariableExpression" => self.node(node.reference("var")?)?,
            _ => node,
        };
        if node.kind != "DIGlobalVariable" {
            return None;
        }
        Some(DebugVariable {
            name: node.string("name")?,
            line: node.small("line"),
            parameter: 0,
            ty: node.reference("type"),
            scope: node.reference("scope"),
        })
    }

    /// Where a global variable is declared, by what its definition is marked with.
    pub fn global_place(&self, expression: MetadataId) -> Option<Place> {
        let node = self.node(expression)?;
        let node = match node.kind {
            "DIGlobalVariableExpression" => self.node(node.reference("var")?)?,
            _ => node,
        };
        let file = self.file(node.reference("file").or_else(|| node.reference("scope"))?)?;
        Some(Place { file, line: node.small("line"), column: 0 })
    }

    /// A type.
    ///
    /// Cost: it is read from the text only the first time.
    pub fn ty(&self, id: MetadataId) -> Option<SourceType> {
        self.known_ty(id).map(|(ty, _)| ty)
    }

    /// A type, and whether it is a reference.
    fn known_ty(&self, id: MetadataId) -> Option<(SourceType, bool)> {
        known(&self.module.source_types, id, || {
            let node = self.node(id)?;
            let tag = node.field("tag");
            let is_reference = matches!(tag, Some("DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type"));
            Some((self.read_ty(&node)?, is_reference))
        })
    }

    fn read_ty(&self, node: &DebugNode<'m>) -> Option<SourceType> {
        let base = node.reference("baseType");
        Some(match (node.kind, node.field("tag").unwrap_or_default()) {
            ("DIBasicType", _) => {
                let encoding = node.field("encoding").unwrap_or_default().into();
                SourceType::Base(node.string("name")?, node.number("size"), encoding)
            }
            ("DISubroutineType", _) => SourceType::Function,
            ("DIDerivedType", "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type") => {
                SourceType::Pointer(base)
            }
            ("DIDerivedType", "DW_TAG_ptr_to_member_type") => return None,
            ("DIDerivedType", "DW_TAG_typedef") => SourceType::Typedef(node.string("name")?, base),
            ("DIDerivedType", _) => SourceType::Qualified(base),
            ("DICompositeType", "DW_TAG_structure_type" | "DW_TAG_class_type") => {
                SourceType::Struct(Arc::new(self.compound(node)))
            }
            ("DICompositeType", "DW_TAG_union_type") => SourceType::Union(Arc::new(self.compound(node))),
            ("DICompositeType", "DW_TAG_enumeration_type") => {
                let constants = self.list(node.reference("elements")).into_iter().flatten();
                let constant = |id| {
                    let node = self.node(id)?;
                    Some((node.string("name")?, node.field("value")?.parse().ok()?))
                };
                SourceType::Enum(node.string("name"), node.number("size"), constants.filter_map(constant).collect())
            }
            ("DICompositeType", "DW_TAG_array_type") => {
                let ranges = self.list(node.reference("elements")).into_iter().flatten();
                let count = |id| self.node(id).and_then(|node| node.field("count")?.parse().ok());
                SourceType::Array(base, ranges.map(count).collect())
            }
            _ => return None,
        })
    }

    fn compound(&self, node: &DebugNode<'m>) -> Compound {
        let members = self.list(node.reference("elements")).into_iter().flatten();
        let member = |id| {
            let node = self.node(id).filter(|node| !node.has_flag("DIFlagStaticMember"))?;
            let ty = node.reference("baseType");
            match node.field("tag") {
                Some("DW_TAG_member") => Some(StructMember {
                    name: node.string("name").unwrap_or_else(|| "".into()),
                    ty,
                    offset_bits: node.number("offset"),
                    bits: node.number("size"),
                    is_bit_field: node.has_flag("DIFlagBitField"),
                }),
                // The members of a class that it is made from are its own. Where a virtual one is, only the object says.
                Some("DW_TAG_inheritance") if !node.has_flag("DIFlagVirtual") => {
                    let bits = self.node(ty?).map_or(0, |base| self.bits_of_base(&base));
                    (bits > 0).then(|| StructMember {
                        name: "".into(),
                        ty,
                        offset_bits: node.number("offset"),
                        bits,
                        is_bit_field: false,
                    })
                }
                _ => None,
            }
        };
        Compound {
            name: node.string("name"),
            bits: node.number("size"),
            members: members.filter_map(member).collect(),
            is_incomplete: node.has_flag("DIFlagFwdDecl"),
        }
    }

    /// The bits of a class that others are made from; 0 if it has no members.
    fn bits_of_base(&self, node: &DebugNode<'m>) -> u64 {
        match node.kind {
            "DICompositeType" if self.compound(node).members.is_empty() => 0,
            "DICompositeType" => node.number("size"),
            _ => node.reference("baseType").and_then(|id| self.node(id)).map_or(0, |node| self.bits_of_base(&node)),
        }
    }

    /// The type behind other names and qualifiers.
    pub fn plain_ty(&self, id: MetadataId) -> Option<(MetadataId, SourceType)> {
        let mut id = id;
        for _ in 0..MAX_CHAIN {
            match self.ty(id)? {
                SourceType::Typedef(_, behind) | SourceType::Qualified(behind) => id = behind?,
                ty => return Some((id, ty)),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "source_filename = \"a.c\"
!0 = !DIFile(filename: \"dir/a\\22.c\", directory: \"/w\")
!1 = distinct !DISubprogram(name: \"main\", scope: !0, file: !0, line: 3, type: !9, spFlags: DISPFlagDefinition)
!2 = distinct !DILexicalBlock(scope: !1, file: !0, line: 4, column: 2)
!3 = !DILocation(line: 5, column: 7, scope: !2)
!4 = !DILocalVariable(name: \"s\", arg: 1, scope: !2, file: !0, line: 4, type: !5)
!5 = !DIDerivedType(tag: DW_TAG_typedef, name: \"S\", file: !0, line: 1, baseType: !6)
!6 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"s\", file: !0, line: 1, size: 64, elements: !7)
!7 = !{!8}
!8 = !DIDerivedType(tag: DW_TAG_member, name: \"a\", scope: !6, file: !0, line: 1, baseType: !9, size: 3, offset: 2, flags: DIFlagBitField | DIFlagX)
!9 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)
!10 = !DIDerivedType(tag: DW_TAG_typedef, name: \"loop\", baseType: !10)
!11 = !DICompositeType(tag: DW_TAG_array_type, baseType: !9, elements: !12)
!12 = !{!13, !14}
!13 = !DISubrange(count: 4, lowerBound: 0)
!14 = !DISubrange(count: !4)
";

    #[test]
    fn names_places_and_types_are_those_of_the_source() {
        let module = Module::read(TEXT).unwrap();
        let debug = Debug::new(&module, TEXT);
        assert_eq!(debug.place(MetadataId(3)), Some(Place { file: "dir/a\".c".into(), line: 5, column: 7 }));
        assert_eq!(debug.outer_scope(MetadataId(2)), Some(MetadataId(1)));
        assert_eq!(debug.function(MetadataId(1)).unwrap().0, "main".into());
        let variable = debug.variable(MetadataId(4)).unwrap();
        assert_eq!((&*variable.name, variable.parameter, variable.ty), ("s", 1, Some(MetadataId(5))));
        let Some((_, SourceType::Struct(compound))) = debug.plain_ty(MetadataId(5)) else { panic!() };
        let member = &compound.members[0];
        assert_eq!((&*member.name, member.offset_bits, member.bits, member.is_bit_field), ("a", 2, 3, true));
        assert_eq!(debug.ty(MetadataId(11)), Some(SourceType::Array(Some(MetadataId(9)), vec![Some(4), None])));
    }

    #[test]
    fn a_chain_without_an_end_and_a_missing_node_are_nothing() {
        let module = Module::read(TEXT).unwrap();
        let debug = Debug::new(&module, TEXT);
        assert_eq!(debug.plain_ty(MetadataId(10)), None);
        assert_eq!(debug.ty(MetadataId(99)), None);
        assert_eq!(debug.place(MetadataId(9)), None);
    }
}
