//! A parked process, and experiments in forks of it.
//!
//! A program that was built by the instrumenting compiler runs with [`ParkControl::variables`]. At the given instance of a
//! segment, it connects to [`ParkControl`] and waits. Every [`Parked::test`] forks it there. The child applies patches to
//! memory, runs on to another point, and returns the content of memory there. See `runtime/control.c` for the files
//! that a child may change: none.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::{process, system};
use idd_trace::TracedProcess;

/// The n-th instance of a segment, n from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentInstance {
    /// The number of the segment.
    pub segment: u32,
    /// The number of the instance.
    pub n: u64,
}

/// An instance of a decision that goes the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnedDecision {
    /// The segment.
    pub at: SegmentInstance,
    /// The value that a `switch` uses instead of its own. Ignored for a branch, which goes the other way.
    pub case: i64,
    /// Which [choice](idd_trace::instrument::choice) of the segment is inverted, from 1; 0 for the decision at its end.
    pub choice: u8,
}

/// Bytes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    /// Where.
    pub address: u64,
    /// How many.
    pub length: u64,
}

/// The program and arguments of a process number, as far as the system knows them.
pub fn process_of(pid: u32) -> TracedProcess {
    let program = system::program_of(pid).map(|path| path.into_os_string().into_encoded_bytes());
    let words = system::words_of(pid);
    TracedProcess { pid, parent: 0, forked_at: None, program: program.unwrap_or_default(), words }
}

/// An experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkTest {
    /// Addresses and bytes that are written before the fork runs on.
    pub patches: Vec<(u64, Vec<u8>)>,
    /// The end of the run, counted from the parking point; `None` for the end of the program.
    pub stop: Option<SegmentInstance>,
    /// A decision that goes the other way; the instance at the parking point is the first.
    pub switch: Option<TurnedDecision>,
    /// The memory that is returned at the end.
    pub dumps: Vec<ByteRange>,
    /// Whether the records are returned.
    pub is_traced: bool,
    /// The segment of the process, from 1, before which the experiment begins; if the process is already there, it
    /// begins at once.
    pub from: u64,
    /// The maximum number of segments.
    pub budget: u64,
    /// The time limit, in whole milliseconds.
    pub limit: Duration,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestEnding {
    /// It reached its end point.
    Reached,
    /// The program exited with this code.
    Exit(u32),
    /// It was killed by this signal.
    Signal(u32),
    /// It reached its maximum number of segments.
    Budget,
    /// It reached its time limit.
    Time,
    /// It could not be confined, or a patch could not be written.
    Refused,
}

/// The result of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkReply {
    /// How it ended.
    pub ended: TestEnding,
    /// Segments that it ran.
    pub n_segments: u64,
    /// Standard output and error since it was forked, at most 1 MiB.
    pub output: Vec<u8>,
    /// The dumps, in order, if it reached its end point; else empty.
    pub dumps: Vec<Vec<u8>>,
    /// The records of its thread, if they were requested, from the parking segment on.
    pub records: Vec<u8>,
}

/// Waits for a program to park.
#[derive(Debug)]
pub struct ParkControl {
    listener: UnixListener,
    socket: PathBuf,
}

impl ParkControl {
    /// Listens at `socket`.
    pub fn new(socket: &Path) -> io::Result<Self> {
        Ok(Self { listener: UnixListener::bind(socket)?, socket: socket.to_owned() })
    }

    /// The variables that make a program park at `stop`; its tests may write only below `scratch`.
    pub fn variables(&self, stop: SegmentInstance, scratch: &Path) -> Vec<(OsString, OsString)> {
        vec![
            ("IDD_CONTROL".into(), self.socket.clone().into()),
            ("IDD_STOP".into(), format!("{}:{}", stop.segment, stop.n).into()),
            ("IDD_SCRATCH".into(), scratch.into()),
        ]
    }

    /// The variables that make every instrumented program park before its first segment.
    pub fn variables_at_start(&self, scratch: &Path) -> Vec<(OsString, OsString)> {
        vec![
            ("IDD_CONTROL".into(), self.socket.clone().into()),
            ("IDD_PARK".into(), "1".into()),
            ("IDD_SCRATCH".into(), scratch.into()),
        ]
    }

    /// Waits until a program has parked.
    ///
    /// Errors: it ended before it reached its point ([`io::ErrorKind::UnexpectedEof`]).
    pub fn wait(&self) -> io::Result<Parked> {
        let (stream, _) = self.listener.accept()?;
        Parked::greeted(stream)
    }

    /// The same with a time limit; `None` if no program has parked by then, or it is over.
    ///
    /// Cost: checks every two milliseconds.
    pub fn wait_at_most(&self, limit: Duration, is_over: &dyn Fn() -> bool) -> io::Result<Option<Parked>> {
        let begin = Instant::now();
        self.listener.set_nonblocking(true)?;
        let stream = loop {
            match self.listener.accept() {
                Ok((stream, _)) => break Some(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if begin.elapsed() > limit || is_over() {
                        break None;
                    }
                    thread::sleep(Duration::from_millis(2));
                }
                Err(error) => return Err(error),
            }
        };
        self.listener.set_nonblocking(false)?;
        let Some(stream) = stream else { return Ok(None) };
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(GREETING))?;
        let parked = Parked::greeted(stream)?;
        parked.stream.set_read_timeout(None)?;
        Ok(Some(parked))
    }
}

impl Drop for ParkControl {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}

/// The time to wait for the answer to a test after its own limit. The process ends it in time, so this is more than a
/// loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time in which a process that connects says who it is. It does so at once; on a loaded machine it may lose the
/// processor in between.
const GREETING: Duration = Duration::from_secs(20);

/// How often is checked whether it is over while a process is waited for: every 50 ms.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The error for a process that does not answer.
const SILENT: &str = "the stopped program does not answer";

/// The error for a process that cannot answer.
const UNHEARD: &str = "the program closes inherited descriptors with raw system calls, and with them the socket by which its forks answer";

/// A parked process.
#[derive(Debug)]
pub struct Parked {
    stream: UnixStream,
    /// Its number.
    pub pid: u32,
    /// Its threads that ran something; if there are several, tests are not reliable.
    pub n_threads: u32,
    /// Whether its forks would lack something that it has: children, pipes and the like, shared memory. Then the
    /// process must start a test at its beginning, with [`ForkTest::from`].
    pub is_bound: bool,
}

const READ: u32 = 1;
const TEST: u32 = 2;
const GO: u32 = 3;
const SPAWN: u32 = 4;
const GLOBAL: u32 = 5;
const TURN: u32 = 6;

/// The maximum size of all patches of a test.
const MAX_PATCHES: usize = 1 << 20;

/// The maximum number of dumps of a test.
const MAX_DUMPS: usize = 4096;

impl Parked {
    fn greeted(stream: UnixStream) -> io::Result<Self> {
        let mut parked = Self { stream, pid: 0, n_threads: 0, is_bound: false };
        parked.pid = parked.number()?;
        parked.n_threads = parked.number()?;
        parked.is_bound = parked.number()? != 0;
        if parked.pid == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(parked)
    }

    /// Forks a child that runs on, parks before the `n`-th segment of the process, counted from 1, and connects to
    /// `control`. `None` if it has not done so in this time, or when it is over.
    pub fn spawn(
        &mut self,
        n: u64,
        control: &ParkControl,
        limit: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<Option<Self>> {
        let mut message = SPAWN.to_ne_bytes().to_vec();
        message.extend(n.to_ne_bytes());
        self.stream.write_all(&message)?;
        let begin = Instant::now();
        while let Some(parked) = control.wait_at_most(limit.saturating_sub(begin.elapsed()), is_over)? {
            if process::parent_of(parked.pid) == Some(self.pid) {
                return Ok(Some(parked));
            }
            // Another program that the test has started.
            parked.go()?;
        }
        Ok(None)
    }

    /// The addresses of the global variables of its units, in the form of a trace: the number of the unit, and 8 bytes
    /// each.
    pub fn globals(&mut self) -> io::Result<Vec<(u32, Vec<u8>)>> {
        self.stream.write_all(&GLOBAL.to_ne_bytes())?;
        let n = self.number()?;
        let unit = |parked: &mut Self| {
            let (unit, count) = (parked.number()?, parked.number()?);
            Ok((unit, parked.bytes(8 * u64::from(count))?))
        };
        (0..n).map(|_| unit(self)).collect()
    }

    /// Reads its memory; unreadable parts are zeros.
    pub fn read(&mut self, ranges: &[ByteRange]) -> io::Result<Vec<Vec<u8>>> {
        if ranges.len() > MAX_DUMPS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut message = READ.to_ne_bytes().to_vec();
        message.extend(length_of(ranges)?.to_ne_bytes());
        put_ranges(ranges, &mut message);
        self.stream.write_all(&message)?;
        self.ranges(ranges)
    }

    /// Forks it, and runs an experiment in the child.
    ///
    /// Errors: more than 1 MiB of patches or 4,096 dumps; the process is gone; the child has closed its connection.
    pub fn test(&mut self, test: &ForkTest) -> io::Result<ForkReply> {
        self.test_until(test, &|| false)
    }

    /// The same, unless it is over before there is an answer: then the result is the error
    /// [`io::ErrorKind::Interrupted`], and the process can be asked nothing any more.
    pub fn test_until(&mut self, test: &ForkTest, is_over: &dyn Fn() -> bool) -> io::Result<ForkReply> {
        let mut patches = Vec::new();
        for (address, bytes) in &test.patches {
            patches.extend(address.to_ne_bytes());
            patches.extend((bytes.len() as u64).to_ne_bytes());
            patches.extend(bytes);
        }
        if patches.len() > MAX_PATCHES || test.dumps.len() > MAX_DUMPS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let never = SegmentInstance { segment: 0, n: 0 };
        let (stop, switch) =
            (test.stop.unwrap_or(never), test.switch.unwrap_or(TurnedDecision { at: never, case: 0, choice: 0 }));
        let milliseconds = u32::try_from(test.limit.as_millis()).unwrap_or(u32::MAX >> 1);
        let mut message = TEST.to_ne_bytes().to_vec();
        message.extend(stop.segment.to_ne_bytes());
        message.extend(length_of(&test.patches)?.to_ne_bytes());
        message.extend(stop.n.to_ne_bytes());
        message.extend(test.budget.to_ne_bytes());
        message.extend(milliseconds.to_ne_bytes());
        message.extend(length_of(&test.dumps)?.to_ne_bytes());
        message.extend(switch.at.segment.to_ne_bytes());
        message.extend(u32::from(test.is_traced).to_ne_bytes());
        message.extend(switch.at.n.to_ne_bytes());
        message.extend(switch.case.to_ne_bytes());
        message.extend(u64::from(switch.choice).to_ne_bytes());
        message.extend(test.from.to_ne_bytes());
        message.extend((patches.len() as u64).to_ne_bytes());
        message.extend(patches);
        put_ranges(&test.dumps, &mut message);
        self.stream.write_all(&message)?;
        self.wait_for_reply(test.limit + PATIENCE, is_over)?;
        self.stream.set_read_timeout(Some(test.limit + PATIENCE))?;
        let reply = self.reply(&test.dumps).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::other(SILENT),
            _ => error,
        })?;
        self.stream.set_read_timeout(None)?;
        Ok(reply)
    }

    /// Waits until there is something to read, at most this long.
    fn wait_for_reply(&self, limit: Duration, is_over: &dyn Fn() -> bool) -> io::Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < limit {
            if is_over() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let mut stream = [PollFd::new(&self.stream, PollFlags::IN)];
            match rustix::event::poll(&mut stream, Some(&WAIT)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads the answer to a test with these `dumps`.
    fn reply(&mut self, dumps: &[ByteRange]) -> io::Result<ForkReply> {
        let mut head = [0; 40];
        self.stream.read_exact(&mut head)?;
        let number = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let long =
            |at: usize| u64::from_ne_bytes(*head[at..].first_chunk().expect("40 bytes have four times 8 behind 8"));
        let (kind, code) = (number(0), number(4));
        let (n_segments, n_output, n_dumped, n_records) = (long(8), long(16), long(24), long(32));
        let output = self.bytes(n_output)?;
        let dumped = if n_dumped > 0 { self.ranges(dumps)? } else { Vec::new() };
        let records = self.bytes(n_records)?;
        let ended = match kind {
            1 => TestEnding::Reached,
            2 => TestEnding::Exit(code),
            3 => TestEnding::Signal(code),
            4 => TestEnding::Budget,
            5 => TestEnding::Time,
            7 => return Err(io::Error::other(UNHEARD)),
            _ => TestEnding::Refused,
        };
        Ok(ForkReply { ended, n_segments, output, dumps: dumped, records })
    }

    /// Makes the process itself take the other branch when it continues; the instance at the parking point is the
    /// first.
    pub fn turn(&mut self, turn: TurnedDecision) -> io::Result<()> {
        let mut message = TURN.to_ne_bytes().to_vec();
        message.extend(turn.at.segment.to_ne_bytes());
        message.extend(turn.at.n.to_ne_bytes());
        message.extend(turn.case.to_ne_bytes());
        message.extend(u64::from(turn.choice).to_ne_bytes());
        self.stream.write_all(&message)
    }

    /// Lets it continue normally.
    pub fn go(mut self) -> io::Result<()> {
        self.stream.write_all(&GO.to_ne_bytes())
    }

    fn bytes(&mut self, length: u64) -> io::Result<Vec<u8>> {
        if length == 0 {
            return Ok(Vec::new());
        }
        let mut bytes = Vec::new();
        let n = (&mut self.stream).take(length).read_to_end(&mut bytes)?;
        if n as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.stream.read_exact(&mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    fn ranges(&mut self, ranges: &[ByteRange]) -> io::Result<Vec<Vec<u8>>> {
        let bytes = self.bytes(ranges.iter().map(|range| range.length).sum())?;
        let mut rest = bytes.as_slice();
        let mut next = |range: &ByteRange| {
            let (bytes, behind) = rest.split_at(usize::try_from(range.length).expect("it was read into memory"));
            rest = behind;
            bytes.to_vec()
        };
        Ok(ranges.iter().map(&mut next).collect())
    }
}

fn length_of<T>(list: &[T]) -> io::Result<u32> {
    u32::try_from(list.len()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn put_ranges(ranges: &[ByteRange], message: &mut Vec<u8>) {
    for range in ranges {
        message.extend(range.address.to_ne_bytes());
        message.extend(range.length.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::shim::built;
    use idd_trace::instrument::SegmentGrain;
    use idd_trace::instrument::map::UnitMap;

    const PROGRAM: &str = r#"
#include <stdio.h>
#include <sys/mman.h>
static int *total;
static int step(int x)
{
    if (x > 3)
        *total += x;
    else
        *total -= x;
    return *total;
}
int main(void)
{
    total = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (int i = 0; i < 10; i++)
        step(i);
    printf("%d\n", *total);
    FILE *file = fopen("written", "w");
    if (file != NULL)
        fclose(file);
    return *total == 33 ? 0 : 3;
}
"#;

    const TOTAL: u64 = 0x1000_0000;

    fn test() -> ForkTest {
        let (patches, dumps) = (Vec::new(), vec![ByteRange { address: TOTAL, length: 4 }]);
        ForkTest {
            patches,
            stop: None,
            switch: None,
            dumps,
            is_traced: false,
            from: 0,
            budget: 100_000,
            limit: Duration::from_secs(60),
        }
    }

    fn numbers(records: &[u8], map: &UnitMap) -> Vec<u32> {
        let (mut rest, mut numbers) = (records, Vec::new());
        while let Some(number) = rest.first_chunk() {
            let number = u32::from_le_bytes(*number);
            let index = map.function_of(number).expect("a record begins with the number of a segment");
            let (_, segments) = map.function(index).unwrap().unwrap();
            rest = &rest[segments.segments[(number - map.firsts[index]) as usize].size as usize..];
            numbers.push(number);
        }
        numbers
    }

    #[test]
    fn a_process_that_loses_the_processor_before_it_says_who_it_is_is_heard() {
        let place = tempfile::tempdir().unwrap();
        let control = ParkControl::new(&place.path().join("control")).unwrap();
        let mut program = UnixStream::connect(&control.socket).unwrap();
        let speaking = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            let greeting: Vec<u8> = [7_u32, 1, 0].iter().flat_map(|number| number.to_ne_bytes()).collect();
            program.write_all(&greeting).unwrap();
        });
        let parked = control.wait_at_most(Duration::from_millis(4), &|| false).unwrap().expect("it has connected");
        assert_eq!((parked.pid, parked.n_threads), (7, 1));
        speaking.join().unwrap();
    }

    #[test]
    fn a_child_of_a_parked_process_parks_later_and_its_tests_tell_their_records() {
        let place = tempfile::tempdir().unwrap();
        let build = built(place.path(), PROGRAM, SegmentGrain::Statement);
        let map = UnitMap::read(&fs::read(build.map(1)).unwrap()).unwrap();
        let scratch = place.path().join("scratch");
        fs::create_dir(&scratch).unwrap();
        let control = ParkControl::new(&place.path().join("control")).unwrap();
        let environment = control.variables_at_start(&scratch);
        let directory = place.path().to_owned();
        let program = directory.join("a");
        let run = thread::spawn(move || process::capture(program.as_os_str(), &[], &directory, &environment).unwrap());
        let limit = Duration::from_secs(60);
        let mut start = control.wait_at_most(limit, &|| false).unwrap().expect("the program parks at once");
        let traced = ForkTest { is_traced: true, dumps: Vec::new(), ..test() };
        let whole = start.test(&traced).unwrap();
        assert_eq!((whole.ended, &*whole.output), (TestEnding::Exit(0), &b"33\n"[..]));
        let all = numbers(&whole.records, &map);
        assert_eq!(all.len() as u64, whole.n_segments + 1);

        let mut later = start.spawn(40, &control, limit, &|| false).unwrap().expect("the run is longer");
        let rest = later.test(&traced).unwrap();
        assert_eq!((rest.ended, &*rest.output), (TestEnding::Exit(0), &b"33\n"[..]));
        assert_eq!(numbers(&rest.records, &map), all[39..]);
        let mut last = later.spawn(41, &control, limit, &|| false).unwrap().expect("the run is longer");
        assert_eq!(numbers(&last.test(&traced).unwrap().records, &map), all[40..]);
        // Each from the one before: their confinements do not add up.
        for n in 42..64 {
            last = last.spawn(n, &control, limit, &|| false).unwrap().expect("the run is longer");
        }
        assert_eq!(numbers(&last.test(&traced).unwrap().records, &map), all[62..]);
        let beyond = start.spawn(100_000, &control, limit, &|| false);
        assert_eq!(beyond.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(!place.path().join("written").exists(), "a test wrote a file");
        start.go().unwrap();
        assert_eq!(&*run.join().unwrap().stdout, b"33\n");
    }

    #[test]
    fn tests_of_a_parked_process_tell_what_a_change_makes_and_leave_no_trace() {
        let place = tempfile::tempdir().unwrap();
        let build = built(place.path(), PROGRAM, SegmentGrain::Straight);
        let map = UnitMap::read(&fs::read(build.map(1)).unwrap()).unwrap();
        let step = map.module.functions.iter().position(|header| &*header.name == "step").unwrap();
        let entry = map.firsts[step];

        let scratch = place.path().join("scratch");
        fs::create_dir(&scratch).unwrap();
        let control = ParkControl::new(&place.path().join("control")).unwrap();
        let environment = control.variables(SegmentInstance { segment: entry, n: 5 }, &scratch);
        let directory = place.path().to_owned();
        let program = directory.join("a");
        let run = thread::spawn(move || process::capture(program.as_os_str(), &[], &directory, &environment).unwrap());
        let mut parked = control.wait().unwrap();
        assert_eq!(parked.n_threads, 1);
        let memory =
            parked.read(&[ByteRange { address: TOTAL, length: 4 }, ByteRange { address: 16, length: 2 }]).unwrap();
        assert_eq!(memory, [(-6_i32).to_le_bytes().to_vec(), vec![0, 0]]);

        let unchanged = parked.test(&test()).unwrap();
        assert_eq!((unchanged.ended, &*unchanged.output), (TestEnding::Exit(0), &b"33\n"[..]));
        let switch = Some(TurnedDecision { at: SegmentInstance { segment: entry, n: 1 }, case: 0, choice: 0 });
        let switched = parked.test(&ForkTest { switch, ..test() }).unwrap();
        // 4 is subtracted, not added.
        assert_eq!((switched.ended, &*switched.output), (TestEnding::Exit(3), &b"25\n"[..]));
        let patches = vec![(TOTAL, 100_i32.to_le_bytes().to_vec())];
        let overwritten = parked.test(&ForkTest { patches: patches.clone(), ..test() }).unwrap();
        assert_eq!((overwritten.ended, &*overwritten.output), (TestEnding::Exit(3), &b"139\n"[..]));
        let at_seven = Some(SegmentInstance { segment: entry, n: 2 });
        let halted = parked.test(&ForkTest { patches, stop: at_seven, ..test() }).unwrap();
        assert_eq!((halted.ended, halted.dumps), (TestEnding::Reached, vec![109_i32.to_le_bytes().to_vec()]));
        assert_eq!(parked.test(&ForkTest { budget: 3, ..test() }).unwrap().ended, TestEnding::Budget);
        let wild = parked.test(&ForkTest { patches: vec![(16, vec![1])], ..test() }).unwrap();
        assert_eq!(wild.ended, TestEnding::Refused);
        assert!(!place.path().join("written").exists(), "a test wrote a file");

        parked.go().unwrap();
        let said = run.join().unwrap();
        assert_eq!((said.code, &*said.stdout), (Some(0), &b"33\n"[..]));
        assert!(place.path().join("written").exists());
    }

    #[test]
    fn a_process_that_is_turned_does_everything_else_itself() {
        let place = tempfile::tempdir().unwrap();
        let build = built(place.path(), PROGRAM, SegmentGrain::Straight);
        let map = UnitMap::read(&fs::read(build.map(1)).unwrap()).unwrap();
        let step = map.module.functions.iter().position(|header| &*header.name == "step").unwrap();
        let control = ParkControl::new(&place.path().join("control")).unwrap();
        let environment = control.variables_at_start(place.path());
        let directory = place.path().to_owned();
        let program = directory.join("a");
        let run = thread::spawn(move || process::capture(program.as_os_str(), &[], &directory, &environment).unwrap());
        let mut parked = control.wait().unwrap();
        parked
            .turn(TurnedDecision { at: SegmentInstance { segment: map.firsts[step], n: 5 }, case: 0, choice: 0 })
            .unwrap();
        parked.go().unwrap();
        let said = run.join().unwrap();
        assert_eq!((said.code, &*said.stdout), (Some(3), &b"25\n"[..]));
        assert!(place.path().join("written").exists());
    }
}
