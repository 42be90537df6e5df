//! The writer of a segment.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::files::own;

use super::line::MAX_LINE_BYTES;
use super::lock::FileLock;
use super::read::{RecordLocation, SegmentReader};
use super::record::{PlanRecord, Record};
use super::{JournalError, line};

/// The writer of one hunt's segment; it holds the lock for its whole life.
pub struct JournalSegment {
    path: PathBuf,
    medium: Box<dyn Medium>,
    length: u64,
    /// Whether there can be bytes after `length`.
    has_rest: bool,
}

/// A damaged tail that [`JournalSegment::reopen`] cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutTail {
    /// Its length.
    pub bytes: u64,
    /// The file that contains it now: the segment's name and `.damaged-<n>`.
    pub kept: PathBuf,
}

/// The medium of a segment: a file; in tests also a full disk.
trait Medium: Send {
    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

impl Medium for FileLock {
    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl JournalSegment {
    /// Starts the segment of a new hunt; its plan is durable when this returns. Creates the directory if needed.
    ///
    /// A file without a plan (its writer was killed before the plan was durable) is overwritten.
    ///
    /// Errors: [`JournalError::Busy`], [`JournalError::Exists`].
    pub fn create(path: &Path, plan: &PlanRecord) -> Result<Self, JournalError> {
        let directory = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory).map_err(JournalError::io("create the journal directory", directory))?;
        let lock = lock(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
        if SegmentReader::open(path, 0)?.next_record()?.is_some() {
            return Err(JournalError::Exists { path: path.to_owned() });
        }
        cut(path, &lock, 0)?;
        let mut segment = Self { path: path.to_owned(), medium: Box::new(lock), length: 0, has_rest: false };
        segment.append_durable(&Record::Plan(plan.clone()))?;
        sync_directory(directory)?;
        Ok(segment)
    }

    /// Continues the segment of an earlier hunt, after a damaged tail was cut off and set aside.
    ///
    /// Errors: [`JournalError::Busy`], [`JournalError::NoPlan`], [`JournalError::Version`].
    pub fn reopen(path: &Path) -> Result<(Self, Option<CutTail>), JournalError> {
        let lock = lock(path, OpenOptions::new().read(true).write(true))?;
        let mut reader = SegmentReader::open(path, 0)?;
        if reader.next_record()?.is_none() {
            return Err(JournalError::NoPlan { path: path.to_owned() });
        }
        while reader.next_record()?.is_some() {}
        let length = reader.offset();
        let cut = cut(path, &lock, length)?;
        Ok((Self { path: path.to_owned(), medium: Box::new(lock), length, has_rest: false }, cut))
    }

    /// Appends a record. It survives the end of this process, but not yet a crash of the machine.
    ///
    /// After an error the segment is unchanged.
    pub fn append(&mut self, record: &Record) -> Result<RecordLocation, JournalError> {
        self.drop_rest().map_err(JournalError::io("write the journal", &self.path))?;
        let line = line::encode(record);
        let location = RecordLocation { offset: self.length, length: line.len() as u64 };
        if location.length > MAX_LINE_BYTES {
            let error = io::Error::new(io::ErrorKind::FileTooLarge, "the record is too long");
            return Err(JournalError::io("write the journal", &self.path)(error));
        }
        self.has_rest = true;
        if let Err(error) = self.medium.write(&line, location.offset) {
            // If this fails too, it is tried again before the next append, and the next reopen cuts the rest.
            let _ = self.drop_rest();
            return Err(JournalError::io("write the journal", &self.path)(error));
        }
        self.has_rest = false;
        self.length = location.end();
        Ok(location)
    }

    /// Appends a record, and makes it and all earlier ones durable.
    ///
    /// After an error the segment is unchanged.
    pub fn append_durable(&mut self, record: &Record) -> Result<RecordLocation, JournalError> {
        let location = self.append(record)?;
        if let Err(error) = self.medium.sync() {
            self.length = location.offset;
            self.has_rest = true;
            let _ = self.drop_rest();
            return Err(JournalError::io("make the journal durable", &self.path)(error));
        }
        Ok(location)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the hunt, from the name of the file.
    pub fn hunt(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
    }

    fn drop_rest(&mut self) -> io::Result<()> {
        if self.has_rest {
            self.medium.truncate(self.length)?;
            self.has_rest = false;
        }
        Ok(())
    }
}

/// Opens and locks `path`, and makes sure that the locked file still has that name.
fn lock(path: &Path, options: &OpenOptions) -> Result<FileLock, JournalError> {
    loop {
        let file = own(&mut options.clone()).open(path).map_err(JournalError::io("open the journal", path))?;
        let inode = file.metadata().map_err(JournalError::io("examine the journal", path))?.ino();
        let lock = FileLock::try_new(file).map_err(JournalError::io("lock the journal", path))?;
        let lock = lock.ok_or_else(|| JournalError::Busy { path: path.to_owned() })?;
        if path.metadata().is_ok_and(|now| now.ino() == inode) {
            return Ok(lock);
        }
    }
}

/// Copies the bytes after `length` to a new file, then cuts them off.
fn cut(path: &Path, mut file: &File, length: u64) -> Result<Option<CutTail>, JournalError> {
    let bytes = file.metadata().map_err(JournalError::io("examine the journal", path))?.len() - length;
    if bytes == 0 {
        return Ok(None);
    }
    let (kept, mut copy) = create_aside(path)?;
    file.seek(SeekFrom::Start(length))
        .and_then(|_| io::copy(&mut file.take(bytes), &mut copy))
        .and_then(|_| copy.sync_data())
        .map_err(JournalError::io("set a damaged part of the journal aside as", &kept))?;
    file.set_len(length)
        .and_then(|()| file.sync_data())
        .map_err(JournalError::io("cut a damaged part off the journal", path))?;
    Ok(Some(CutTail { bytes, kept }))
}

fn create_aside(path: &Path) -> Result<(PathBuf, File), JournalError> {
    let mut n = 0_u32;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{n}"));
        let kept = PathBuf::from(name);
        match OpenOptions::new().write(true).create_new(true).open(&kept) {
            Ok(copy) => return Ok((kept, copy)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
            Err(error) => return Err(JournalError::io("create", &kept)(error)),
        }
    }
}

fn sync_directory(directory: &Path) -> Result<(), JournalError> {
    File::open(directory)
        .and_then(|file| file.sync_all())
        .map_err(JournalError::io("make the journal directory durable", directory))
}

#[cfg(test)]
mod tests;
