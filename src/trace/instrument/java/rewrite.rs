//! Inserts the sites into a class file.
//!
//! The inserted code copies a value on the stack, adds the number of the site, and calls a static method of
//! [`RECORDER`]. A handler behind the last instruction of a method takes the exceptions that leave the method, and throws
//! them again.

use crate::instrument::Unsupported;
use crate::instrument::java::class_file::{ClassFile, ClassMethod};
use crate::instrument::java::code::Code;
use crate::instrument::java::descriptor::ValueKind;
use crate::instrument::java::insert::{Constants, Inserts, load, put_local};
use crate::instrument::java::layout::{Insert, InsertPlace};
use crate::instrument::java::replace::{ReplacementPoint, check, points_of, put_point};
use crate::instrument::java::sites::{RecordedContent, Site, SiteProbe};
use crate::instrument::java::{insert, sites};

/// The class that records, as class files name it.
pub const RECORDER: &str = "git_idd/recording/Recorder";

/// A rewritten class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewrittenClass {
    /// The class file.
    pub bytes: Vec<u8>,
    /// The number of its sites.
    pub n_sites: u32,
    /// The number of methods that were left as they are.
    pub n_skipped: u32,
}

/// Inserts the sites into a class.
///
/// - `first_site`: the number of its first site.
/// - `content`: what is recorded.
/// - `points`: those at which values are replaced besides, of all classes. What is recorded is what is put there.
///
/// Errors: it cannot be read, or is of a version that is not known; it is to be left as it is.
pub fn rewrite(
    bytes: &[u8],
    first_site: u32,
    content: RecordedContent,
    points: &[ReplacementPoint],
) -> Result<RewrittenClass, Unsupported> {
    let class = ClassFile::read(bytes)?;
    let methods = sites::of_class(&class, content);
    let mut constants = Constants::new(class.pool.len());
    let mut rewritten = RewrittenClass { bytes: Vec::new(), n_sites: 0, n_skipped: 0 };
    let mut codes = Vec::with_capacity(class.methods.len());
    for (method, sites) in class.methods.iter().zip(methods) {
        match sites {
            Some(Ok((code, sites))) => {
                let n_sites = u32::try_from(sites.len()).expect("as many as fit into a class");
                let first = first_site + rewritten.n_sites;
                first.checked_add(n_sites).ok_or_else(|| Unsupported::new("too many sites"))?;
                let points = points_of(&class, method, points);
                let version = class.version;
                codes.push(Some(code_attribute(version, method, &code, &sites, &points, first, &mut constants)?));
                rewritten.n_sites += n_sites;
            }
            left => {
                rewritten.n_skipped += u32::from(left.is_some());
                codes.push(None);
            }
        }
    }
    rewritten.bytes = insert::with_code(&class, &codes, &constants);
    Ok(rewritten)
}

/// The content of the `Code` attribute of a method with its sites and points.
pub(super) fn code_attribute(
    version: u16,
    method: &ClassMethod,
    code: &Code<'_>,
    sites: &[Site],
    points: &[(u32, &ReplacementPoint)],
    first: u32,
    constants: &mut Constants,
) -> Result<Vec<u8>, Unsupported> {
    check(points, code)?;
    let of_sites = sites.iter().enumerate().map(|(nth, site)| (Insert::from(site), InsertPart::Site(nth)));
    let of_points = points.iter().enumerate().map(|(nth, (_, point))| (point.insert(), InsertPart::Point(nth)));
    let mut parts: Vec<(Insert, InsertPart)> = of_sites.chain(of_points).collect();
    if !points.is_empty() {
        // A value is replaced before it is recorded. The way to a decision is recorded before that.
        parts.sort_by_key(|(Insert { instruction, at, .. }, part)| {
            (*instruction, *at, matches!(part, InsertPart::Point(_)) == (*at == InsertPlace::Before))
        });
    }
    let inserts: Vec<Insert> = parts.iter().map(|(insert, _)| *insert).collect();
    let is_guarded = sites.iter().any(|site| site.probe == SiteProbe::Leave);
    let guarded = sites::guarded(method, code, sites).filter(|_| is_guarded);
    let mut put = |nth: usize, out: &mut Vec<u8>, constants: &mut Constants| match parts[nth].1 {
        InsertPart::Site(nth) => {
            let site = first + u32::try_from(nth).expect("as many as fit into a class");
            put_site(out, sites[nth].probe, site, constants)
        }
        InsertPart::Point(nth) => {
            let (number, point) = points[nth];
            put_point(out, number, point, constants)
        }
    };
    insert::code_attribute(version, code, Inserts { all: &inserts, put: &mut put, guarded }, constants)
}

/// What an insert is of, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InsertPart {
    Site(usize),
    Point(usize),
}

const ALOAD_0: u8 = 42;
const DUP: u8 = 89;
const DUP2: u8 = 92;
const INVOKESTATIC: u8 = 184;
const ATHROW: u8 = 191;

/// The method of the recorder that takes values of a kind.
fn taker(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Int => "(II)V",
        ValueKind::Long => "(JI)V",
        ValueKind::Float => "(FI)V",
        ValueKind::Double => "(DI)V",
        ValueKind::Reference => "(Ljava/lang/Object;I)V",
    }
}

fn put_site(out: &mut Vec<u8>, probe: SiteProbe, site: u32, constants: &mut Constants) -> Result<(), Unsupported> {
    let method = match probe {
        SiteProbe::Enter | SiteProbe::Block | SiteProbe::Value(None) | SiteProbe::Constructed | SiteProbe::Monitor => {
            constants.method(RECORDER, "at", "(I)V")?
        }
        SiteProbe::Parameter(kind, local) => {
            put_local(out, load(kind), local);
            constants.method(RECORDER, "of", taker(kind))?
        }
        SiteProbe::Value(Some(kind)) => {
            out.push(if kind.n_slots() == 2 { DUP2 } else { DUP });
            constants.method(RECORDER, "of", taker(kind))?
        }
        SiteProbe::This => {
            out.push(ALOAD_0);
            constants.method(RECORDER, "of", taker(ValueKind::Reference))?
        }
        SiteProbe::Handler | SiteProbe::Leave => {
            out.push(DUP);
            constants.method(RECORDER, "of", taker(ValueKind::Reference))?
        }
    };
    constants.put_number(site, out)?;
    out.push(INVOKESTATIC);
    out.extend(method.to_be_bytes());
    if probe == SiteProbe::Leave {
        out.push(ATHROW);
    }
    Ok(())
}
