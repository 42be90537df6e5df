//! The system's process table, from `/proc`.
//!
//! Everything here is a snapshot that can be outdated: a process is identified by its number *and* its start time.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crate::system::process::Process;

/// The maximum time for `exec`; then an empty environment counts as empty.
const MAX_EXEC: Duration = Duration::from_secs(1);

/// The process with this number, if there is one.
pub fn read(pid: i32) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `/proc/<pid>/stat`. The program's name, second and in parentheses, can contain anything.
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    fn number<T: FromStr>(field: &str) -> Option<T> {
        field.parse().ok()
    }
    let fields = fields_after_name(stat)?;
    Some(Process {
        pid,
        parent: number(fields.get(1)?)?,
        group: number(fields.get(2)?)?,
        session: number(fields.get(3)?)?,
        start_time: number(fields.get(19)?)?,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

fn fields_after_name(stat: &[u8]) -> Option<Vec<&str>> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    Some(str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().collect())
}

/// Every visible process.
pub fn all() -> Vec<Process> {
    numbered_entries("/proc").into_iter().filter_map(read).collect()
}

/// The processor time of the ended children of this process, and of theirs; zero if the system does not report it.
pub fn time_of_ended_children() -> Duration {
    const USER: usize = 13;
    const SYSTEM: usize = 14;
    let stat = fs::read("/proc/self/stat").unwrap_or_default();
    let fields = fields_after_name(&stat).unwrap_or_default();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_secs(ticks(USER) + ticks(SYSTEM))
        / u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100)
}

/// The numbers of the children of `pid`; children that start or end at the same time may be missing.
///
/// Costs one read for each thread of `pid` if the kernel lists children, else a walk over the whole table.
pub fn children(pid: i32) -> Vec<i32> {
    let mut children = Vec::new();
    for thread in numbered_entries(&format!("/proc/{pid}/task")) {
        match fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")) {
            Ok(list) => children.extend(list.split_ascii_whitespace().filter_map(|child| child.parse::<i32>().ok())),
            Err(_) if fs::exists(format!("/proc/{pid}/task/{thread}/stat")).unwrap_or(false) => {
                return all().iter().filter(|process| process.parent == pid).map(|process| process.pid).collect();
            }
            // The thread has ended in the meantime; its children went to another one.
            Err(_) => {}
        }
    }
    children
}

/// The value of `variable` when the process was started; `None` also if it may not be read.
///
/// During `exec` a process shows nothing for a moment; this function waits for that.
pub fn environment_value(pid: i32, variable: &str) -> Option<String> {
    let deadline = Instant::now() + MAX_EXEC;
    let mut environment = environment(pid).ok()?;
    while environment.is_empty() && !is_without_environment(pid) && Instant::now() < deadline {
        thread::sleep(Duration::from_micros(50));
        environment = self::environment(pid).ok()?;
    }
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(variable.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// The program that a process runs, as far as it may be known.
pub fn program_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The words with which a process was started, each with a zero at its end; empty if they may not be known.
pub fn words_of(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// Whether there is a process with this number.
pub fn is_there(pid: u32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap_or(false)
}

/// Reads everything at once if possible: reading in pieces ends early if the process calls `exec` in the meantime.
fn environment(pid: i32) -> io::Result<Vec<u8>> {
    let mut file = File::open(format!("/proc/{pid}/environ"))?;
    let mut environment = Vec::new();
    let mut piece = vec![0; 256 * 1024];
    loop {
        let n_read = file.read(&mut piece)?;
        if n_read == 0 {
            return Ok(environment);
        }
        environment.extend_from_slice(&piece[..n_read]);
    }
}

/// Whether the process has an empty environment, or no memory at all: it has ended, or belongs to the kernel.
fn is_without_environment(pid: i32) -> bool {
    const VIRTUAL_SIZE: usize = 20;
    const BEGIN_OF_CODE: usize = 23;
    const BEGIN_OF_ENVIRONMENT: usize = 47;
    const END_OF_ENVIRONMENT: usize = 48;
    let Ok(stat) = fs::read(format!("/proc/{pid}/stat")) else { return true };
    let fields = fields_after_name(&stat).unwrap_or_default();
    let field = |index: usize| fields.get(index).copied().unwrap_or("0");
    // The kernel shows the code address only when the environment is complete.
    let is_started = field(BEGIN_OF_CODE) != "0";
    field(VIRTUAL_SIZE) == "0" || is_started && field(BEGIN_OF_ENVIRONMENT) == field(END_OF_ENVIRONMENT)
}

fn numbered_entries(directory: &str) -> Vec<i32> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;

    use super::*;

    #[test]
    fn a_program_name_with_parentheses_and_blanks_is_skipped() {
        let stat = b"42 (a) Z (b) S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1000 200 18446744073709551615 1";
        let expected = Process { pid: 42, parent: 7, group: 8, session: 9, start_time: 12345, is_zombie: false };
        assert_eq!(parse(42, stat), Some(expected));
        assert_eq!(parse(42, b"42 (short) S 7"), None);
    }

    #[test]
    fn a_process_that_becomes_one_program_after_another_always_has_its_environment() {
        let script = r#"[ "$2" = 0 ] && exec sleep 100; exec sh -c "$1" sh "$1" $(($2 - 1))"#;
        // With a group, a child is forked, so it never shows the memory of its parent.
        let group = rustix::process::getgid().as_raw();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script, "sh", script, "100"]).env("IDD_PROBE", "7").gid(group);
        let mut child = shell.spawn().unwrap();
        let pid = child.id().cast_signed();
        let mut n_asked = 0;
        while !fs::read(format!("/proc/{pid}/cmdline")).unwrap().starts_with(b"sleep\0") {
            assert_eq!(environment_value(pid, "IDD_PROBE").as_deref(), Some("7"), "asked {n_asked} times before");
            n_asked += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(n_asked > 0);
    }

    #[test]
    fn the_time_of_a_busy_child_is_counted_and_that_of_a_sleeping_one_is_not() {
        let run = |line: &str| {
            let before = time_of_ended_children();
            std::process::Command::new("sh").args(["-c", line]).status().unwrap();
            time_of_ended_children().saturating_sub(before)
        };
        let busy = run("i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done");
        let asleep = run("sleep 0.3");
        assert!(busy > Duration::from_millis(50) && asleep < busy, "{busy:?} {asleep:?}");
    }

    #[test]
    fn this_process_is_in_the_table_and_has_an_environment() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let own = read(pid).unwrap();
        assert!(all().contains(&own));
        assert!(children(own.parent).contains(&pid));
        assert!(environment_value(pid, "PATH").is_some());
        assert_eq!(environment_value(pid, "NO_SUCH_VARIABLE"), None);
    }

    #[test]
    fn a_process_without_environment_is_known_as_such() {
        let mut child = std::process::Command::new("/bin/sleep").arg("100").env_clear().spawn().unwrap();
        let pid = child.id().cast_signed();
        for is_killed in [false, true] {
            if is_killed {
                child.kill().unwrap();
            }
            assert_eq!(environment_value(pid, "PATH"), None);
            assert!(is_without_environment(pid), "else it is waited for");
        }
        child.wait().unwrap();
    }
}
