//! Space in memory and on disk.

use std::fs::File;
use std::path::Path;
use std::{fs, io};

use rustix::fs::FallocateFlags;

/// Bytes of memory that can be used without making the machine slow; `None` if the system does not say it.
pub fn available_memory() -> Option<u64> {
    let number = |text: &str| text.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    let system = fs::read_to_string("/proc/meminfo").ok();
    let system = system.as_ref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("MemAvailable:")));
    let system = system.and_then(number).map(|kib| kib.saturating_mul(1024));
    // A container may have less.
    let of_group = |name: &str| number(&fs::read_to_string(Path::new("/sys/fs/cgroup").join(name)).ok()?);
    let group = of_group("memory.max").zip(of_group("memory.current")).map(|(max, used)| max.saturating_sub(used));
    [system, group].into_iter().flatten().min()
}

/// Returns a part of a file to the file system; it reads as zeros then.
pub fn free_range(file: &File, begin: u64, length: u64) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, flags, begin, length)?)
}
