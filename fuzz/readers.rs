//! One function for each reader of untrusted bytes: whatever the bytes are, it returns.
//!
//! The fuzz targets call them with what the fuzzer makes, and the tests with the seeds.

use idd_base::{Ending, Observation, Stage, TreeId};
use idd_report::certificate::Certificate;
use idd_report::text::{DetailLevel, TextLook};
use idd_report::{Style, Terminal, Untrusted, json, junit as report_junit, markdown, sarif, text};
use idd_trace::instrument::java::class_file::ClassFile;
use idd_trace::instrument::java::rewrite::rewrite;
use idd_trace::instrument::java::sites;
use idd_trace::instrument::java::sites::RecordedContent;
use idd_trace::instrument::map::UnitMap;
use idd_trace::instrument::{SegmentGrain, map};
use idd_trace::native::units::RecordedUnits;
use idd_trace::native::uses::dependences;
use idd_trace::native::{NativePlayer, detail, tree};
use idd_trace::tree::TreeLimits;
use idd_trace::{ChunkKind, Execution, Step, Trace, TraceWriter};
use idd_world::journal;
use idd_world::repo::attributes::{AttributeFile, AttributeStack};
use idd_world::repo::conversion::Conversion;
use idd_world::repo::ignored::{IgnoreFile, IgnoreStack};
use idd_world::repo::{HeldFiles, TreeStore, untrusted};
use idd_world::run::compile_database::{CompileDatabase, DatabaseRoots};
use idd_world::run::complaints::TreeComplaints;
use idd_world::run::complaints::compiles::Compiles;
use idd_world::run::runners::junit;
use idd_world::run::{Criteria, SignatureMode, classify, failure_line, form, normalise};
use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::io::{Cursor, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// A file in memory with these bytes, and its path.
fn file_of(bytes: &[u8]) -> Option<(File, PathBuf)> {
    let mut file = File::from(rustix::fs::memfd_create("fuzz", rustix::fs::MemfdFlags::empty()).ok()?);
    file.write_all(bytes).ok()?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    Some((file, path))
}

/// A segment of the journal: the bytes as they are, and each line with the right sum.
pub fn journal(bytes: &[u8]) {
    let summed = bytes.split(|byte| *byte == b'\n').map(|line| {
        // A seed has sums already.
        let json = line.get(9..).filter(|_| line.get(8) == Some(&b' ')).unwrap_or(line);
        [format!("{:08x} ", crc32(json)).as_bytes(), json, b"\n"].concat()
    });
    for segment in [bytes.to_vec(), summed.collect::<Vec<_>>().concat()] {
        let Some((_file, path)) = file_of(&segment) else { return };
        let Ok(read) = journal::read(&path) else { continue };
        assert!(read.valid_bytes <= segment.len() as u64);
        let _ = journal::Replay::read(&path);
    }
}

/// A stored report, written in each form. What others wrote is escaped in all of them.
pub fn report(bytes: &[u8]) {
    let Ok(report) = json::read(bytes) else { return };
    let test = Untrusted::from("./test.sh");
    let mut written = Vec::new();
    for (detail, columns) in [(DetailLevel::Full, None), (DetailLevel::Screen, Some(40))] {
        let look = TextLook { style: Style::PLAIN, is_raw: false, detail, columns, is_older: false };
        let _ = text::write(&report, &[], look, &mut written);
    }
    let _ = markdown::write(&report, &test, None, &[], &mut written);
    let _ = sarif::write(&report, &test, None, &[], &mut |_, _, _, _| None, &mut written);
    let _ = report_junit::write(&report, &test, &mut written);
    assert!(!written.contains(&b'\x1b'), "{}", String::from_utf8_lossy(&written));
}

/// The checksum of gzip.
fn crc32(bytes: &[u8]) -> u32 {
    static TABLE: LazyLock<[u32; 256]> = LazyLock::new(|| {
        let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        std::array::from_fn(|byte| (0..8).fold(u32::try_from(byte).unwrap_or(0), |sum, _| step(sum)))
    });
    !bytes.iter().fold(u32::MAX, |sum, byte| sum >> 8 ^ TABLE[usize::from(sum.to_le_bytes()[0] ^ byte)])
}

/// The files of a recording, whose sums keep most damage from what they hold: that is what [`trace`] is for.
pub fn trace_file(bytes: &[u8]) {
    if let Ok(map) = UnitMap::read(bytes) {
        for index in 0..map.module.functions.len() {
            let _ = map.function(index);
        }
    }
    if let Ok(mut trace) = Trace::open(Box::new(Cursor::new(bytes.to_vec()))) {
        for chunk in trace.chunks().to_vec() {
            let _ = trace.read(&chunk);
        }
    }
}

/// Takes numbers and byte strings from the front.
struct Input<'b>(&'b [u8]);

impl<'b> Input<'b> {
    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (number, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*number)
    }

    fn string(&mut self) -> Option<&'b [u8]> {
        let n_bytes = u32::from_le_bytes(self.number()?) as usize;
        let (string, rest) = self.0.split_at(n_bytes.min(self.0.len()));
        self.0 = rest;
        Some(string)
    }
}

/// What a recording holds: the text of a unit, and the chunks of a trace.
///
/// - The bytes: the text with its length in front; a number of functions, and the number of segments of each; then chunks: kind (1 byte), thread (4),
///   offset (8), content with its length in front. Numbers are little-endian; one without a size has 4 bytes.
pub fn trace(bytes: &[u8]) {
    let mut input = Input(bytes);
    let Some((map, trace)) = map_of(&mut input).zip(trace_of(&mut input)) else { return };
    let Ok(read) = UnitMap::read(&map) else { return };
    // A unit has as many segments as it has text for.
    let segments = read.segments();
    if segments.len() > bytes.len() {
        return;
    }
    let units = RecordedUnits::new([(0, segments)].into_iter(), Box::new(move |_| Ok(map.clone())));
    let Ok(trace) = Trace::open(Box::new(Cursor::new(trace))) else { return };
    let Ok(mut player) = NativePlayer::new(trace, units) else { return };
    let _ = tree::tree(&mut player, TreeLimits { depth: 9, width: 9 });
    let n_steps = player.machine.n_steps;
    for step in [1, 2, n_steps / 2, n_steps] {
        let Ok(Some(found)) = detail::detail(&mut player, Step(step)) else { continue };
        for (name, _) in found.variables.iter().take(3) {
            if let Ok(dependences) = dependences(&mut player, Step(step)) {
                let _ = player.why(&dependences, (Step(step), name), 9);
            }
        }
    }
}

fn map_of(input: &mut Input<'_>) -> Option<Vec<u8>> {
    let text = str::from_utf8(input.string()?).ok()?;
    let n_functions = u32::from_le_bytes(input.number()?).min(99);
    let n_segments: Vec<u32> = (0..n_functions).map_while(|_| Some(u32::from_le_bytes(input.number()?))).collect();
    Some(map::write(0, 1, SegmentGrain::from_number(0)?, &n_segments, text))
}

fn trace_of(input: &mut Input<'_>) -> Option<Vec<u8>> {
    let mut writer = TraceWriter::new(Vec::new()).ok()?;
    while let Some([kind]) = input.number() {
        let (thread, offset) = (u32::from_le_bytes(input.number()?), u64::from_le_bytes(input.number()?));
        let kind = ChunkKind::from_number(u32::from(kind))?;
        writer.add(kind, thread, offset, input.string()?).ok()?;
    }
    writer.finish().ok()
}

/// A class file, rewritten: the result is a class file, and a reader of a recording finds the same sites.
pub fn class_file(bytes: &[u8]) {
    for content in [RecordedContent::Values, RecordedContent::Steps] {
        match (rewrite(bytes, sites::FIRST_SITE, content, &[]), sites::sizes(bytes, content)) {
            (Ok(rewritten), Ok(sizes)) => {
                assert_eq!(sizes.len(), rewritten.n_sites as usize);
                assert!(ClassFile::read(&rewritten.bytes).is_ok());
            }
            (rewritten, sizes) => assert_eq!(rewritten.err(), sizes.err()),
        }
    }
}

/// A loose object as it lies on disk, and the content of one.
pub fn objects(bytes: &[u8]) {
    untrusted::read_loose(bytes);
    untrusted::read_content(bytes);
}

/// A patch, applied to a small tree.
pub fn patch(bytes: &[u8]) {
    const BASE: &[u8] = b"diff --git a/a.c b/a.c\nnew file mode 100644\n--- /dev/null\n+++ b/a.c\n@@ -0,0 +1,4 @@\n+one\n+two\n+three\n+four\n\
        diff --git a/d/b b/d/b\nnew file mode 100755\n--- /dev/null\n+++ b/d/b\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
    thread_local! {
        static STORE: Option<(TreeStore, TreeId)> = base(BASE);
    }
    STORE.with(|store| {
        let Some((store, tree)) = store else { panic!("the tree that patches are applied to cannot be made") };
        if let Ok(patched) = store.apply(*tree, bytes) {
            // What is taken can be printed, and that leads to the same tree.
            let (printed, _) = store.patch(*tree, patched).expect("two trees can be compared");
            if !printed.is_empty() {
                assert_eq!(store.apply(*tree, &printed).ok(), Some(patched), "{}", printed.escape_ascii());
            }
        }
    });
}

fn base(patch: &[u8]) -> Option<(TreeStore, TreeId)> {
    let place = std::env::temp_dir().join(format!("git-idd-fuzz-{}", std::process::id()));
    let repository = git2::Repository::init_bare(&place).ok()?;
    let empty = repository.treebuilder(None).ok()?.write().ok()?;
    let empty = TreeId::sha1(empty.as_bytes().try_into().ok()?);
    // From here on nothing is written to disk.
    repository.odb().ok()?.add_new_mempack_backend(999).ok()?;
    let store = TreeStore::new(repository.into(), HeldFiles::default(), Vec::new()).ok()?;
    let tree = store.apply(empty, patch).ok()?;
    let _ = fs::remove_dir_all(&place);
    Some((store, tree))
}

/// A compile database.
pub fn compile_database(bytes: &[u8]) {
    let Some((_file, path)) = file_of(bytes) else { return };
    let grounds = DatabaseRoots { top: Path::new("/src"), foreign: &[], path: OsStr::new("/usr/bin:/bin") };
    let Some(database) = CompileDatabase::read(&path, &grounds) else { return };
    let _ = (database.compilers().count(), database.line(&[b"a.c".to_vec()]), database.line_with(b"a.c", "-Wall"));
}

/// What a test, a build or a checker printed; the first two bytes say how the test ended.
pub fn output(bytes: &[u8]) {
    let (head, rest) = bytes.split_at(bytes.len().min(2));
    let text = String::from_utf8_lossy(rest);
    let code = head.first().copied().unwrap_or(1);
    let ending = if code < 200 { Ending::Exit(i32::from(code)) } else { Ending::Signal(i32::from(code % 32)) };
    let stage = if head.get(1).is_some_and(|byte| byte % 2 == 1) { Stage::Build } else { Stage::Test };
    let (duration, limit) = (Duration::from_secs(1), Duration::from_secs(9));
    let observation = Observation {
        stage,
        ending,
        duration,
        limit,
        output: text.clone().into_owned(),
        reported: junit::cases(&text).unwrap_or_default().iter().filter_map(junit::TestCase::lines).collect(),
        is_clean: true,
        is_tampered: false,
        place: None,
    };
    let signature = classify::signature(&observation, &observation, SignatureMode::Auto);
    let criteria = Criteria { signature, ..Criteria::default() };
    let outcome = classify::classify(&observation, &criteria);
    assert_eq!(classify::classify(&observation, &criteria), outcome);
    let _ = (classify::reproduced(&observation, &criteria), classify::is_build_failure(&observation));
    let _ = (classify::printed_failure(&observation, &criteria), classify::printed_trouble(&observation));
    let _ = (failure_line(&text), TreeComplaints::read(&text), Compiles::read(&text));
    for line in text.lines() {
        let once = normalise(line);
        assert_eq!(normalise(line), once);
        let _ = form(line);
    }
    let shown = Terminal.block(&Untrusted::from(rest));
    assert!(shown.chars().all(|character| matches!(character, '\n' | '\t') || !character.is_control()));
    assert_eq!(Terminal.block(&Untrusted::from(shown.as_str())), shown, "what is harmless stays as it is");
}

/// A certificate.
pub fn certificate(bytes: &[u8]) {
    let Ok(certificate) = serde_json::from_slice::<Certificate>(bytes) else { return };
    let written = serde_json::to_vec(&certificate).expect("a certificate can be written");
    assert_eq!(serde_json::from_slice::<Certificate>(&written).ok(), Some(certificate));
}

/// Rules for files, `.gitattributes` and `.gitignore`; what stands behind the last NUL is the path that they are asked for.
pub fn attributes(bytes: &[u8]) {
    let end = bytes.iter().rposition(|byte| *byte == 0);
    let (rules, path) = end.map_or((bytes, &b"d/a.c"[..]), |end| (&bytes[..end], &bytes[end + 1..]));
    let mut attributes = AttributeStack::default();
    attributes.push(0, AttributeFile::parse(rules));
    let (conversion, _) = Conversion::choose(&attributes.lookup(path));
    let _ = conversion.apply(rules.to_vec(), idd_base::BlobId::sha1([7; 20]));
    let mut ignored = IgnoreStack::default();
    ignored.push(0, IgnoreFile::parse(rules));
    let _ = (ignored.is_ignored(path, false), ignored.is_ignored(path, true));
}
