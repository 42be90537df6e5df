//! The classes of a recorded program.

use crate::instrument::java::class_file::Class;
use crate::instrument::java::pool::Member;
use crate::instrument::java::sites;
use crate::trace::TraceError;
use crate::trace::container::Kind;
use crate::trace::container::Trace;
use crate::trace::java::method::FieldId;
use crate::trace::java::method::Method;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The name of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its class, as the first instruction that was met named it.
    pub class: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub descriptor: Arc<str>,
}

/// The class of a static field, or nothing; the name, and the type.
type FieldName = (Arc<str>, Arc<str>, Arc<str>);

/// A class, of which only the sites are known before it is met.
struct Stored {
    sites: Range<u32>,
    bytes: Range<usize>,
    /// The methods that have sites; empty before it is met.
    methods: Vec<Arc<Method>>,
    is_read: bool,
}

/// The classes of a program, read when they are met.
pub struct Program {
    bytes: Vec<u8>,
    /// By their sites, ascending.
    classes: Vec<Stored>,
    methods: Vec<Arc<Method>>,
    fields: Vec<Field>,
    by_name: HashMap<FieldName, FieldId>,
    /// The position of each class, by its name. Two classes of one name have different loaders; the first one counts.
    by_class: HashMap<Arc<str>, usize>,
    sizes: Sizes,
}

/// Bytes of the payload of each site.
#[derive(Debug, Clone, Default)]
struct Sizes(Vec<u8>);

impl Program {
    /// Reads the classes of a trace: only their sites.
    pub fn read(trace: &mut Trace) -> Result<Self, TraceError> {
        let mut bytes = Vec::new();
        for chunk in trace.chunks().to_vec().iter().filter(|chunk| chunk.kind == Kind::Classes) {
            bytes.extend(trace.read(chunk)?);
        }
        let mut classes = Vec::new();
        let mut sizes = vec![0; sites::FIRST_SITE as usize];
        sizes[sites::CLOCK as usize] = 4;
        let mut at = 0;
        while at < bytes.len() {
            let number = |at: usize| {
                let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
                found.map(|number| u32::from_le_bytes(*number)).ok_or(TraceError::Damaged("a class is cut short"))
            };
            let (first, n_sites, length) = (number(at)?, number(at + 4)?, number(at + 8)?);
            let range = at + 12..at.saturating_add(12).saturating_add(length as usize);
            let class = bytes.get(range.clone()).ok_or(TraceError::Damaged("a class is cut short"))?;
            let own = sites::sizes(class).map_err(|error| TraceError::Program(Box::new(error)))?;
            if first as usize != sizes.len() || own.len() != n_sites as usize {
                return Err(TraceError::Damaged("the sites of a class are not those of its code"));
            }
            sizes.extend(own);
            at = range.end;
            classes.push(Stored { sites: first..first + n_sites, bytes: range, methods: Vec::new(), is_read: false });
        }
        Ok(Self {
            bytes,
            classes,
            methods: Vec::new(),
            fields: Vec::new(),
            by_name: HashMap::new(),
            by_class: HashMap::new(),
            sizes: Sizes(sizes),
        })
    }

    /// Bytes of the payload of a site; `None` for one that does not exist.
    #[inline]
    pub fn size(&self, site: u32) -> Option<usize> {
        self.sizes.0.get(site as usize).map(|size| usize::from(*size))
    }

    /// The number of classes.
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The methods that were met.
    pub fn methods(&self) -> &[Arc<Method>] {
        &self.methods
    }

    /// A field.
    pub fn field(&self, field: FieldId) -> &Field {
        &self.fields[field.0 as usize]
    }

    /// The fields of a name.
    pub fn fields_named(&self, name: &str) -> impl Iterator<Item = FieldId> {
        (0..).map(FieldId).zip(&self.fields).filter(move |(_, field)| &*field.name == name).map(|(id, _)| id)
    }

    /// The method of a site, and the number of the site in it.
    pub fn site(&mut self, site: u32) -> Result<(Arc<Method>, usize), TraceError> {
        let unknown = TraceError::Damaged("a record of a site that does not exist");
        let class = self.classes.partition_point(|class| class.sites.end <= site);
        let Some(stored) = self.classes.get(class).filter(|class| class.sites.contains(&site)) else {
            return Err(unknown);
        };
        if !stored.is_read {
            self.meet(class).map_err(|error| TraceError::Program(Box::new(error)))?;
        }
        let methods = &self.classes[class].methods;
        let method = methods.partition_point(|method| method.first_site <= site).checked_sub(1);
        let method = method.map(|method| &methods[method]).ok_or(unknown)?;
        Ok((Arc::clone(method), (site - method.first_site) as usize))
    }

    /// Reads the methods of a class.
    fn meet(&mut self, class: usize) -> Result<(), crate::instrument::Unsupported> {
        let stored = &self.classes[class];
        let bytes = self.bytes[stored.bytes.clone()].to_vec();
        let mut first = stored.sites.start;
        let read = Class::read(&bytes)?;
        let mut methods = Vec::new();
        let sites = sites::of_class(&read);
        let Self { fields, by_name, .. } = self;
        let mut id = |member: &Member, is_static: bool| {
            // A static field may be named by a class that inherits it; the name of the class is taken as it stands.
            let class = if is_static { Arc::clone(&member.class) } else { Arc::from("") };
            let key = (class, Arc::clone(&member.name), Arc::clone(&member.descriptor));
            *by_name.entry(key).or_insert_with(|| {
                let id = FieldId(u32::try_from(fields.len()).expect("fields are numbered by u32"));
                let Member { class, name, descriptor } = member.clone();
                fields.push(Field { class, name, descriptor });
                id
            })
        };
        let mut number = u32::try_from(self.methods.len()).unwrap_or(u32::MAX);
        for (declared, found) in read.methods.iter().zip(sites) {
            let Some(Ok((code, sites))) = found else { continue };
            let n_sites = u32::try_from(sites.len()).unwrap_or(u32::MAX);
            let method = Method::new(&read, declared, (code, sites), (number, first), &mut id)?;
            number += 1;
            first += n_sites;
            methods.push(Arc::new(method));
        }
        self.methods.extend(methods.iter().cloned());
        self.by_class.entry(Arc::clone(&read.name)).or_insert(class);
        let stored = &mut self.classes[class];
        (stored.methods, stored.is_read) = (methods, true);
        Ok(())
    }

    /// Whether a class is recorded and was met.
    pub fn is_recorded(&self, class: &str) -> bool {
        self.by_class.contains_key(class)
    }
}
