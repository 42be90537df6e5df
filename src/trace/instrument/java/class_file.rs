//! A class file as far as its methods are concerned.

use crate::instrument::Unsupported;
use crate::instrument::java::cursor::ByteCursor;
use crate::instrument::java::pool::Pool;
use crate::instrument::java::stratum::Stratum;
use std::ops::Range;
use std::sync::Arc;

/// The newest version whose instructions are known: that of Java 25.
const NEWEST: u16 = 69;

/// The first version whose methods have frames for the verifier (Java 6).
pub const FRAMES: u16 = 50;

/// The modifier `static`.
pub const STATIC: u16 = 0x0008;

/// A class.
#[derive(Debug, Clone)]
pub struct ClassFile<'b> {
    /// The whole file.
    pub bytes: &'b [u8],
    /// The version: 52 for Java 8, one more for each version since.
    pub version: u16,
    /// Its constants.
    pub pool: Pool,
    /// Its name: `org/example/Main$Inner`.
    pub name: Arc<str>,
    /// The name of its source file, without a directory.
    pub source: Option<Arc<str>>,
    /// The lines of functions that are copied into it.
    pub stratum: Stratum,
    /// Its methods.
    pub methods: Vec<ClassMethod>,
    /// The names and types of its fields.
    pub fields: Vec<(Arc<str>, Arc<str>)>,
    /// Where the constants end.
    pub after_pool: usize,
    /// Where the methods begin, behind their number.
    pub methods_at: usize,
    /// Where they end.
    pub after_methods: usize,
}

/// A method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassMethod {
    /// Its modifiers.
    pub access: u16,
    /// Its name: `<init>` for a constructor, `<clinit>` for static initialisers.
    pub name: Arc<str>,
    /// Its type: `(I)V`.
    pub descriptor: Arc<str>,
    /// Where it is in the file.
    pub range: Range<usize>,
    /// Where its `Code` attribute is, with name and length; `None` for an abstract or native method.
    pub code: Option<Range<usize>>,
}

impl ClassMethod {
    /// Whether it has no `this`.
    pub fn is_static(&self) -> bool {
        self.access & STATIC != 0
    }

    /// Whether it is a constructor.
    pub fn is_constructor(&self) -> bool {
        &*self.name == "<init>"
    }
}

/// The bytes of the header of an attribute: its name and its length.
pub const ATTRIBUTE_HEADER: usize = 6;

impl<'b> ClassFile<'b> {
    /// Reads a class file.
    ///
    /// Errors: it is no class file, is cut short, or is of a newer version than is known.
    pub fn read(bytes: &'b [u8]) -> Result<Self, Unsupported> {
        let mut cursor = ByteCursor::new(bytes);
        if cursor.u4()? != 0xcafe_babe {
            return Err(Unsupported::new("no class file"));
        }
        let (_minor, version) = (cursor.u2()?, cursor.u2()?);
        if version > NEWEST {
            return Err(Unsupported::new(format!("class files of version {version} are not known")));
        }
        let pool = Pool::read(&mut cursor)?;
        let after_pool = cursor.at();
        let (_access, this, _extended) = (cursor.u2()?, cursor.u2()?, cursor.u2()?);
        let name = Arc::clone(pool.class(this)?);
        for _ in 0..cursor.u2()? {
            cursor.u2()?;
        }
        let mut fields = Vec::new();
        for _ in 0..cursor.u2()? {
            let (_access, name, descriptor) = (cursor.u2()?, cursor.u2()?, cursor.u2()?);
            fields.push((Arc::clone(pool.text(name)?), Arc::clone(pool.text(descriptor)?)));
            for _ in 0..cursor.u2()? {
                cursor.attribute()?;
            }
        }
        let n_methods = cursor.u2()?;
        let methods_at = cursor.at();
        let methods = (0..n_methods).map(|_| method(&mut cursor, &pool)).collect::<Result<_, _>>()?;
        let after_methods = cursor.at();
        let (mut source, mut stratum) = (None, Stratum::default());
        for _ in 0..cursor.u2()? {
            let (attribute, content) = cursor.attribute()?;
            match &**pool.text(attribute)? {
                "SourceFile" => source = Some(Arc::clone(pool.text(ByteCursor::new(content).u2()?)?)),
                "SourceDebugExtension" => stratum = Stratum::read(content),
                _ => {}
            }
        }
        if !cursor.is_at_end() {
            return Err(Unsupported::new("bytes after the end of the class"));
        }
        let class = Self {
            bytes,
            version,
            pool,
            name,
            source,
            stratum,
            methods,
            fields,
            after_pool,
            methods_at,
            after_methods,
        };
        Ok(class)
    }

    /// The source file as javac found it by its package: `org/example/Main.java`; the name of the class without one.
    pub fn source_path(&self) -> String {
        let package = self.name.rfind('/').map_or("", |end| &self.name[..=end]);
        match &self.source {
            Some(source) => format!("{package}{source}"),
            None => self.name.to_string(),
        }
    }
}

fn method(cursor: &mut ByteCursor<'_>, pool: &Pool) -> Result<ClassMethod, Unsupported> {
    let begin = cursor.at();
    let (access, name, descriptor) = (cursor.u2()?, cursor.u2()?, cursor.u2()?);
    let (name, descriptor) = (Arc::clone(pool.text(name)?), Arc::clone(pool.text(descriptor)?));
    let mut code = None;
    for _ in 0..cursor.u2()? {
        let at = cursor.at();
        let (attribute, _) = cursor.attribute()?;
        if &**pool.text(attribute)? == "Code" {
            code = Some(at..cursor.at());
        }
    }
    Ok(ClassMethod { access, name, descriptor, range: begin..cursor.at(), code })
}
