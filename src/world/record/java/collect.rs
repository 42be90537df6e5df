//! Makes a trace of the streams that the recorder of a virtual machine wrote: a file each, and what is in a [ring].
//!
//! All numbers are little-endian. A thread's stream begins with 4 bytes "IDDJ", 4 version, 4 number of the thread, 2 length,
//! its name, and zeros up to a multiple of 4. Records follow: 4 bytes site, and a value whose size follows from the site.
//! Site 0 is the end, [`CLOCK`] has 4 bytes, [`CUT`] and [`LOST`] none. All files are as long as they may become, and end with zeros. A
//! killed virtual machine can stop anywhere, but the site of a record is written when its value is there.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::files;
use crate::record::java::{self, ring, serve};
use crate::record::listen::TakenTrace;
use idd_trace::container::MAX_CHUNK;
use idd_trace::instrument::java::class_file::ClassFile;
use idd_trace::instrument::java::sites::{self, CLOCK, CUT, FIRST_SITE, LOST, RecordedContent};
use idd_trace::{ChunkKind, TraceWriter, TracedProcess};

/// Bytes of a chunk of records.
const CHUNK: usize = 1 << 20;

/// Bytes that are read first of a file of records. A short thread has hardly more, and zeros of a file cost as much to read as
/// records.
const FIRST_READ: usize = 4 << 10;

/// The maximum length of the reason why a virtual machine was not recorded.
const MAX_REASON: u64 = 1 << 10;

/// Makes a trace of each virtual machine that recorded something, in the order in which they loaded the first class.
///
/// - `base`: the directory that the agents were told.
/// - `directory`: where traces are put; their names follow those of `taken`, which are there.
/// - `taken`: gets the traces.
///
/// Result: what is known to be missing, a sentence without a full stop for each reason.
pub fn collect(base: &Path, directory: &Path, taken: &mut Vec<TakenTrace>) -> io::Result<Vec<String>> {
    let number = |taken: &TakenTrace| taken.file.strip_suffix(".trace")?.parse::<usize>().ok();
    let mut next = taken.iter().filter_map(number).max().map_or(0, |last| last + 1);
    let mut losses = Vec::new();
    if !base.join(java::ORDER).is_file() {
        losses.push("the test removed files of the recorder of Java programs".to_owned());
    }
    for place in machines(base) {
        let is_lost = place.join(serve::LOST_MARK).exists();
        if has_gaps(&place) && !is_lost {
            losses.push("the test removed files of the recorder of a Java virtual machine".to_owned());
        }
        if is_lost {
            losses.push("a thread of a Java virtual machine was not recorded: it had no file or no memory".to_owned());
        }
        if let Some(one) = take(&place, directory, next)? {
            next += 1;
            taken.push(one);
        }
    }
    for name in files::names(base) {
        let Some(pid) = name.to_str().and_then(|name| name.strip_prefix("failed-")) else { continue };
        let reason = files::bytes_up_to(&base.join(&name), MAX_REASON).unwrap_or_default();
        let reason = String::from_utf8_lossy(&reason);
        losses.push(format!(
            "the Java virtual machine with process id {pid} was not recorded, or only in part: {reason}"
        ));
    }
    losses.dedup();
    Ok(losses)
}

/// Whether files of a virtual machine are missing.
fn has_gaps(place: &Path) -> bool {
    let names = files::names(place);
    let threads = || names.iter().filter_map(|name| name.to_str()?.strip_prefix("thread-")?.parse::<usize>().ok());
    // The process that makes the files may not have come to it.
    let is_begun = threads().next().is_some();
    let has = |name: &str| names.iter().any(|other| other == name);
    let n_threads = threads().max().map_or(0, |last| last + 1);
    is_begun && !["info", "process", "classes", "objects"].iter().all(|name| has(name))
        || threads().count() != n_threads
}

/// The directories of virtual machines, the earliest first.
pub(super) fn machines(base: &Path) -> Vec<PathBuf> {
    let start = |name: &str| name.split_once('-').and_then(|(_, start)| start.parse::<u64>().ok());
    let names = files::names(base).into_iter().filter_map(|name| name.into_string().ok());
    let mut found: Vec<(u64, String)> = names.filter_map(|name| Some((start(&name)?, name))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| base.join(name)).collect()
}

/// The trace of a virtual machine; `None` if it has no records.
fn take(place: &Path, directory: &Path, number: usize) -> io::Result<Option<TakenTrace>> {
    let process = files::bytes(&place.join("process")).ok();
    let Some(process) = process.and_then(|bytes| TracedProcess::from_bytes(&bytes)) else { return Ok(None) };
    let classes = files::bytes(&place.join("classes")).unwrap_or_default();
    let ClassTable { sizes, ends: class_ends, content, left_out } = table(&classes);
    let mut threads: Vec<u32> = files::names(place)
        .into_iter()
        .filter_map(|name| name.to_str()?.strip_prefix("thread-")?.parse().ok())
        .collect();
    threads.sort_unstable();
    if sizes.is_empty() || threads.is_empty() {
        return Ok(None);
    }
    let file = format!("{number}.trace");
    let path = directory.join(&file);
    let mut writer = TraceWriter::new(BufWriter::with_capacity(1 << 20, File::create(&path)?))?;
    writer.add(ChunkKind::Process, 0, 0, &process.to_bytes())?;
    pieces(&mut writer, ChunkKind::Classes, &classes, &class_ends)?;
    if let Ok(stream) = ring::stream(place, ring::OBJECTS) {
        objects(&mut writer, stream)?;
    }
    let has_values = content == RecordedContent::Values;
    let mut taken = TakenTrace { file, process, is_java: true, has_values, left_out, ..TakenTrace::default() };
    for thread in threads {
        let mut input = BufReader::with_capacity(FIRST_READ, ring::stream(place, thread)?);
        let ended =
            records(&mut input, &sizes, &mut |offset, bytes| writer.add(ChunkKind::Records, thread, offset, bytes))?;
        taken.n_bytes += ended.n_bytes;
        taken.is_cut |= ended.last == CUT;
        taken.is_lost |= !ended.is_known || ended.last == LOST;
    }
    taken.is_cut |= place.join(serve::FULL_MARK).exists();
    taken.n_packed = writer.size();
    writer.finish()?;
    if taken.n_bytes > 0 {
        return Ok(Some(taken));
    }
    fs::remove_file(path)?;
    Ok(None)
}

/// What the file of classes tells.
struct ClassTable {
    /// Bytes of the value for each site, from [`FIRST_SITE`] on.
    sizes: Vec<u8>,
    /// The ends of the classes.
    ends: Vec<usize>,
    /// What was recorded of them.
    content: RecordedContent,
    /// The methods that were not recorded, and why.
    left_out: Vec<String>,
}

/// Reads the classes, up to one that is damaged or not there as a whole.
fn table(classes: &[u8]) -> ClassTable {
    let mut table =
        ClassTable { sizes: Vec::new(), ends: Vec::new(), content: RecordedContent::Values, left_out: Vec::new() };
    let mut at = 0;
    while let Some(head) = classes.get(at..at + 12) {
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (content, length) = RecordedContent::of_marked(number(8));
        let end = at + 12 + length as usize;
        let is_next = number(0) as usize == FIRST_SITE as usize + table.sizes.len();
        let class = classes.get(at + 12..end).filter(|_| is_next).and_then(|class| ClassFile::read(class).ok());
        let Some(class) = class else { break };
        let methods = sites::of_class(&class, content);
        let sizes = sites::sizes_of(&methods);
        if sizes.len() != number(4) as usize {
            break;
        }
        table.sizes.extend(sizes);
        table.ends.push(end);
        table.left_out.extend(sites::left_out(&class, &methods));
        table.content = content;
        at = end;
    }
    table
}

/// Adds bytes as chunks that are cut at some of the `ends` of parts.
fn pieces<W: io::Write>(writer: &mut TraceWriter<W>, kind: ChunkKind, bytes: &[u8], ends: &[usize]) -> io::Result<()> {
    let (mut begin, mut before) = (0, 0);
    for end in ends {
        if end - begin > MAX_CHUNK as usize && before > begin {
            writer.add(kind, 0, begin as u64, &bytes[begin..before])?;
            begin = before;
        }
        before = *end;
    }
    writer.add(kind, 0, begin as u64, &bytes[begin..before])
}

/// Adds the descriptions of objects: those that are there as a whole.
fn objects<W: io::Write>(writer: &mut TraceWriter<W>, stream: impl Read) -> io::Result<()> {
    let mut input = BufReader::with_capacity(FIRST_READ, stream);
    let (mut chunk, mut n_before) = (Vec::new(), 0);
    while let Some(object) = object(&mut input)? {
        chunk.extend(object);
        if chunk.len() >= CHUNK {
            writer.add(ChunkKind::Objects, 0, n_before, &chunk)?;
            n_before += chunk.len() as u64;
            chunk.clear();
        }
    }
    if chunk.is_empty() { Ok(()) } else { writer.add(ChunkKind::Objects, 0, n_before, &chunk) }
}

/// The next description; `None` at the end.
fn object(input: &mut dyn Read) -> io::Result<Option<Vec<u8>>> {
    let mut object = Vec::new();
    let mut more = |object: &mut Vec<u8>, n: u64| Ok::<_, io::Error>(input.take(n).read_to_end(object)? as u64 == n);
    let is_there = more(&mut object, 8)? && object[..4] != [0; 4];
    for behind in [2, 4] {
        let length = object.last_chunk().map_or(0, |length| u16::from_le_bytes(*length));
        if !is_there || !more(&mut object, u64::from(length) + behind)? {
            return Ok(None);
        }
    }
    Ok(Some(object))
}

/// How the records of a thread end.
#[derive(Debug, PartialEq, Eq)]
struct ThreadEnding {
    /// Bytes of all records.
    n_bytes: u64,
    /// The site of the last one; 0 if there is none.
    last: u32,
    /// Whether zeros follow, and no site that is not known.
    is_known: bool,
}

/// Reads the file of a thread, and gives its records in chunks of whole ones, with the number of bytes before.
fn records(
    input: &mut dyn Read,
    sizes: &[u8],
    add: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<ThreadEnding> {
    let mut ended = ThreadEnding { n_bytes: 0, last: 0, is_known: true };
    let mut head = Vec::new();
    input.take(14).read_to_end(&mut head)?;
    if head.len() < 14 || !head.starts_with(b"IDDJ") {
        return Ok(ended);
    }
    let length = usize::from(u16::from_le_bytes([head[12], head[13]]));
    let behind = (14 + length).next_multiple_of(4);
    input.take((behind - 14) as u64).read_to_end(&mut head)?;
    let mut bytes = Vec::new();
    let mut at = 0;
    loop {
        let n_more = bytes.len().clamp(FIRST_READ, CHUNK).min(CHUNK - bytes.len());
        let is_end = input.take(n_more as u64).read_to_end(&mut bytes)? < n_more;
        let is_over = ended.follow(&bytes, &mut at, sizes) || is_end;
        if at > 0 && (is_over || bytes.len() == CHUNK) {
            add(ended.n_bytes, &bytes[..at])?;
            ended.n_bytes += at as u64;
            bytes.drain(..at);
            at = 0;
        }
        if is_over {
            return Ok(ended);
        }
    }
}

impl ThreadEnding {
    /// Follows the records from `at` to the last whole one, which `at` is put behind; whether none comes after it.
    fn follow(&mut self, bytes: &[u8], at: &mut usize, sizes: &[u8]) -> bool {
        while let Some(site) = bytes.get(*at..).and_then(|rest| rest.first_chunk()) {
            let site = u32::from_le_bytes(*site);
            let length = match site {
                CLOCK => Some(4),
                CUT | LOST => Some(0),
                _ => site.checked_sub(FIRST_SITE).and_then(|index| sizes.get(index as usize)).copied(),
            };
            self.is_known &= site == 0 || length.is_some();
            let Some(length) = length else { return true };
            let next = *at + 4 + usize::from(length);
            if next > bytes.len() {
                return false;
            }
            (*at, self.last) = (next, site);
            if site == CUT || site == LOST {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A thread's file with these words behind its head.
    fn file(records: &[u32]) -> Vec<u8> {
        [&b"IDDJ\x01\0\0\0\0\0\0\0\x04\0main\0\0"[..], &words(records)].concat()
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[u32], last: u32, is_known: bool) {
        let mut found: Vec<u8> = Vec::new();
        let mut add = |offset: u64, bytes: &[u8]| {
            assert_eq!(offset, found.len() as u64);
            found.extend(bytes);
            Ok(())
        };
        // Sites 16 to 18: no value, an int, a long.
        let ended = records(&mut &*bytes, &[0, 4, 8], &mut add).unwrap();
        assert_eq!(found, words(expected));
        assert_eq!(ended, ThreadEnding { n_bytes: 4 * expected.len() as u64, last, is_known });
    }

    #[test]
    fn records_are_whole_ones_up_to_the_zeros() {
        check(&file(&[1, 7, 16, 17, 0, 18, 5, 6, 0, 0]), &[1, 7, 16, 17, 0, 18, 5, 6], 18, true);
        check(&file(&[1, 7, 18, 5]), &[1, 7], 1, true);
        check(&file(&[16, 2, 16]), &[16, 2], 2, true);
        check(&file(&[16, 3, 16]), &[16, 3], 3, true);
        check(&file(&[16, 19, 16]), &[16], 16, false);
        check(&file(&[])[..9], &[], 0, true);
    }

    #[test]
    fn records_that_cross_the_border_of_chunks_stay_whole() {
        let many: Vec<u32> = (0..400_000).flat_map(|number| [18, number, 1]).collect();
        check(&file(&many), &many, 18, true);
    }

    #[test]
    fn objects_end_where_one_is_not_whole() {
        let one = [&words(&[9])[..], b"\x01\0\x01\0A\x02\0xy\x02\0\0\0"].concat();
        let two = [&one[..], &one, &[0; 40]].concat();
        let mut input = &two[..];
        assert_eq!(object(&mut input).unwrap(), Some(one.clone()));
        assert_eq!(object(&mut input).unwrap(), Some(one.clone()));
        assert_eq!(object(&mut input).unwrap(), None);
        for end in 0..one.len() {
            assert_eq!(object(&mut &one[..end]).unwrap(), None, "{end}");
        }
    }
}
