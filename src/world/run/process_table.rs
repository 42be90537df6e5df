//! The system's process table, as `/proc` shows it.
//!
//! Everything here is a snapshot that may be old when it is read: a process is named by its number *and* its start time.

use std::fs;
use std::str::FromStr;

/// One line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// In clock ticks since the machine was started.
    pub(super) start_time: u64,
    /// Whether it has ended and only waits to be reaped (or only its first thread has ended).
    pub(super) is_zombie: bool,
}

/// The process with this number, if there is one.
pub(super) fn read(pid: i32) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `/proc/<pid>/stat`; the program's name, second and in parentheses, may hold anything.
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    fn number<T: FromStr>(field: &str) -> Option<T> {
        field.parse().ok()
    }
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> = str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        parent: number(fields.get(1)?)?,
        group: number(fields.get(2)?)?,
        session: number(fields.get(3)?)?,
        start_time: number(fields.get(19)?)?,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

/// Every process that can be seen.
pub(super) fn all() -> Vec<Process> {
    numbered_entries("/proc").into_iter().filter_map(read).collect()
}

/// The numbers of the children of `pid`; children that start or end meanwhile may be missing.
///
/// Costs one read per thread of `pid` where the kernel lists children, else a walk over the whole table.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let mut children = Vec::new();
    for thread in numbered_entries(&format!("/proc/{pid}/task")) {
        match fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")) {
            Ok(list) => children.extend(list.split_ascii_whitespace().filter_map(|child| child.parse::<i32>().ok())),
            Err(_) if fs::exists(format!("/proc/{pid}/task/{thread}/stat")).unwrap_or(false) => {
                return all().iter().filter(|process| process.parent == pid).map(|process| process.pid).collect();
            }
            // The thread has ended meanwhile; its children went to another one.
            Err(_) => {}
        }
    }
    children
}

/// The value that `variable` had when the process was started; `None` also when it may not be asked.
pub(super) fn environment_value(pid: i32, variable: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(variable.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
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
    use super::*;

    #[test]
    fn a_program_name_with_parentheses_and_blanks_is_skipped() {
        let stat = b"42 (a) Z (b) S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1000 200 18446744073709551615 1";
        let expected = Process { pid: 42, parent: 7, group: 8, session: 9, start_time: 12345, is_zombie: false };
        assert_eq!(parse(42, stat), Some(expected));
        assert_eq!(parse(42, b"42 (short) S 7"), None);
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
}
