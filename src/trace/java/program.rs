//! The classes of a recorded program.

use crate::instrument::java::class_file::ClassFile;
use crate::instrument::java::pool::PoolMember;
use crate::instrument::java::sites::{self, RecordedContent};
use crate::java::{FieldId, MachineMethod};
use crate::{ChunkKind, Naming, Trace, TraceError};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassField {
    /// Its class, as the first instruction that was met named it.
    pub class: Arc<str>,
    pub name: Arc<str>,
    pub descriptor: Arc<str>,
    /// Whether no recorded class declares it: a class of the library does, whose methods read and write it, too.
    pub is_of_library: bool,
}

/// The class of a static field, or nothing; the name, and the type.
type FieldName = (Arc<str>, Arc<str>, Arc<str>);

/// A class, of which only the sites are known before it is met.
struct StoredClass {
    sites: Range<u32>,
    bytes: Range<usize>,
    content: RecordedContent,
}

/// The classes of a program, read when they are met.
pub struct JavaProgram {
    bytes: Vec<u8>,
    /// By their sites, ascending.
    classes: Vec<StoredClass>,
    methods: Vec<Arc<MachineMethod>>,
    fields: Vec<ClassField>,
    by_name: HashMap<FieldName, FieldId>,
    /// The names and types of the fields that the classes declare.
    declared: HashSet<(Arc<str>, Arc<str>)>,
    sizes: PayloadSizes,
    /// For each site the number of its method, and [`NONE`] before that is met.
    by_site: Vec<u32>,
    /// What methods are called in place of their own names.
    naming: Option<Naming>,
}

/// No method.
const NONE: u32 = u32::MAX;

/// Bytes of the payload of each site.
#[derive(Debug, Clone, Default)]
struct PayloadSizes(Vec<u8>);

impl JavaProgram {
    /// Reads the classes of a trace: only their sites.
    pub fn read(trace: &mut Trace) -> Result<Self, TraceError> {
        let mut bytes = Vec::new();
        for chunk in trace.chunks().to_vec().iter().filter(|chunk| chunk.kind == ChunkKind::Classes) {
            bytes.extend(trace.read(chunk)?);
        }
        let (mut classes, mut declared) = (Vec::new(), HashSet::new());
        let mut sizes = vec![0; sites::FIRST_SITE as usize];
        sizes[sites::CLOCK as usize] = 4;
        let mut at = 0;
        while at < bytes.len() {
            let number = |at: usize| {
                let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
                found.map(|number| u32::from_le_bytes(*number)).ok_or(TraceError::Damaged("a class is cut short"))
            };
            let (first, n_sites) = (number(at)?, number(at + 4)?);
            let (content, length) = RecordedContent::of_marked(number(at + 8)?);
            let range = at + 12..at.saturating_add(12).saturating_add(length as usize);
            let class = bytes.get(range.clone()).ok_or(TraceError::Damaged("a class is cut short"))?;
            let class = ClassFile::read(class).map_err(|_| TraceError::Damaged("a class file in it cannot be read"))?;
            let own = sites::sizes_of(&sites::of_class(&class, content));
            declared.extend(class.fields);
            if first as usize != sizes.len() || own.len() != n_sites as usize {
                return Err(TraceError::Damaged("the sites of a class are not those of its code"));
            }
            sizes.extend(own);
            at = range.end;
            classes.push(StoredClass { sites: first..first + n_sites, bytes: range, content });
        }
        Ok(Self {
            bytes,
            classes,
            methods: Vec::new(),
            fields: Vec::new(),
            by_name: HashMap::new(),
            declared,
            by_site: vec![NONE; sizes.len()],
            sizes: PayloadSizes(sizes),
            naming: None,
        })
    }

    /// What was recorded: the same of all classes.
    pub fn content(&self) -> RecordedContent {
        self.classes.first().map_or(RecordedContent::Values, |class| class.content)
    }

    /// The methods that were met so far.
    pub fn methods(&self) -> &[Arc<MachineMethod>] {
        &self.methods
    }

    /// Reads all classes.
    ///
    /// Errors: the code of one cannot be read.
    pub fn meet_all(&mut self) -> Result<(), TraceError> {
        for class in 0..self.classes.len() {
            let sites = self.classes[class].sites.clone();
            if self.by_site[sites.start as usize..sites.end as usize].contains(&NONE) {
                self.method_of(sites.start)?;
            }
        }
        Ok(())
    }

    /// Gives methods other names for their indices, before the run is played again.
    pub fn rename(&mut self, naming: &Naming) {
        for method in &mut self.methods {
            let keys = naming(&method.file, &method.key(), method.places.len());
            Arc::make_mut(method).keys = keys;
        }
        self.naming = Some(Arc::clone(naming));
    }

    /// Bytes of the payload of a site; `None` for one that does not exist.
    #[inline]
    pub fn size(&self, site: u32) -> Option<usize> {
        self.sizes.0.get(site as usize).map(|size| usize::from(*size))
    }

    /// A field.
    pub fn field(&self, field: FieldId) -> &ClassField {
        &self.fields[field.0 as usize]
    }

    /// The fields that were met.
    pub fn fields(&self) -> impl Iterator<Item = (FieldId, &ClassField)> {
        (0..).map(FieldId).zip(&self.fields)
    }

    /// The fields of a name.
    pub fn fields_named(&self, name: &str) -> impl Iterator<Item = FieldId> {
        self.fields().filter(move |(_, field)| &*field.name == name).map(|(id, _)| id)
    }

    /// The method of a site, and the number of the site in it.
    #[inline]
    pub fn site(&mut self, site: u32) -> Result<(Arc<MachineMethod>, usize), TraceError> {
        let unknown = TraceError::Damaged("a record of a site that does not exist");
        let Some(number) = self.by_site.get(site as usize).copied() else { return Err(unknown) };
        let number = if number == NONE { self.method_of(site)?.ok_or(unknown)? } else { number };
        let method = &self.methods[number as usize];
        Ok((Arc::clone(method), (site - method.first_site) as usize))
    }

    /// The number of the method of a site, which was not met before.
    fn method_of(&mut self, site: u32) -> Result<Option<u32>, TraceError> {
        let class = self.classes.partition_point(|class| class.sites.end <= site);
        if self.classes.get(class).is_some_and(|class| class.sites.contains(&site)) {
            self.meet(class).map_err(|_| TraceError::Damaged("a class file in it cannot be read"))?;
        }
        Ok(self.by_site.get(site as usize).copied().filter(|number| *number != NONE))
    }

    /// Reads the methods of a class.
    fn meet(&mut self, class: usize) -> Result<(), crate::instrument::Unsupported> {
        let stored = &self.classes[class];
        let bytes = self.bytes[stored.bytes.clone()].to_vec();
        let mut first = stored.sites.start;
        let read = ClassFile::read(&bytes)?;
        let sites = sites::of_class(&read, stored.content);
        let Self { fields, by_name, declared, methods, by_site, naming, .. } = self;
        let mut id = |member: &PoolMember, is_static: bool| {
            // A static field may be named by a class that inherits it; the name of the class is taken as it stands.
            let class = if is_static { Arc::clone(&member.class) } else { Arc::from("") };
            let key = (class, Arc::clone(&member.name), Arc::clone(&member.descriptor));
            *by_name.entry(key).or_insert_with(|| {
                let id = FieldId(u32::try_from(fields.len()).expect("fields are numbered by u32"));
                let PoolMember { class, name, descriptor } = member.clone();
                let is_of_library = !declared.contains(&(Arc::clone(&name), Arc::clone(&descriptor)));
                fields.push(ClassField { class, name, descriptor, is_of_library });
                id
            })
        };
        for (declared, found) in read.methods.iter().zip(sites) {
            let Some(Ok((code, sites))) = found else { continue };
            let n_sites = sites.len();
            let number = u32::try_from(methods.len()).unwrap_or(NONE);
            let mut method = MachineMethod::new(&read, declared, code, sites, number, first, &mut id)?;
            if let Some(naming) = naming {
                method.keys = naming(&method.file, &method.key(), method.places.len());
            }
            methods.push(Arc::new(method));
            by_site[first as usize..first as usize + n_sites].fill(number);
            first += u32::try_from(n_sites).unwrap_or(NONE);
        }
        Ok(())
    }
}
