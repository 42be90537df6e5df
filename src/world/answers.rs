//! The answers of a walk in a file, one a line: what was answered is read first, and what is answered then is added.

use std::collections::VecDeque;
use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The bytes of the largest file of answers.
const MAX_BYTES: u64 = 16 << 20;

/// The answers of a file.
#[derive(Debug)]
pub struct Answers {
    known: VecDeque<String>,
    file: File,
}

impl Answers {
    /// Opens a file; there may be none yet. Empty lines and those that begin with `#` are skipped.
    ///
    /// Errors: it is no regular file or pipe, it has more than [`MAX_BYTES`], or it cannot be read or written.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Ok(known) = fs::metadata(path)
            && (known.file_type().is_char_device() || known.file_type().is_block_device() || known.len() > MAX_BYTES)
        {
            return Err(io::Error::other("it is a device, or larger than 16 MiB"));
        }
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { known: lines.map(str::to_owned).collect(), file })
    }

    /// Opens a file without what it contains.
    pub fn restart(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Self::open(path)
    }

    /// How many answers are still to be read.
    pub fn n_known(&self) -> usize {
        self.known.len()
    }

    /// The next answer that was given before.
    pub fn known(&mut self) -> Option<String> {
        self.known.pop_front()
    }

    /// Adds an answer.
    pub fn add(&mut self, answer: &str) -> io::Result<()> {
        writeln!(self.file, "{answer}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_again_and_added_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answers");
        let mut answers = Answers::open(&path).unwrap();
        assert_eq!(answers.known(), None);
        answers.add("w n").unwrap();
        fs::write(&path, "# a walk\n\nw n\nc").unwrap();
        let mut answers = Answers::open(&path).unwrap();
        answers.add("h").unwrap();
        assert_eq!([answers.known(), answers.known(), answers.known()], [Some("w n".into()), Some("c".into()), None]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "# a walk\n\nw n\nc\nh\n");
        assert_eq!(Answers::restart(&path).unwrap().n_known(), 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }

    #[test]
    fn devices_are_no_files_of_answers() {
        assert!(Answers::open(Path::new("/dev/zero")).is_err());
    }
}
