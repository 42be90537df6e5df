//! The answers of a walk in a file, one a line: what was answered is read first, and what is answered then is added.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use thiserror::Error;

use crate::files;

/// The bytes of the largest file of answers.
const MAX_BYTES: u64 = 16 << 20;

/// Why a file of answers cannot be used. Nothing was written to it.
#[derive(Debug, Error)]
pub enum AnswersError {
    /// A line is no answer: the caller shows it. Lines are counted from 1.
    #[error("line {line} is no answer")]
    NoAnswer {
        /// Its number.
        line: usize,
        /// Its text.
        text: String,
    },
    /// Another session adds answers to it: the caller says how this one can have a file of its own.
    #[error("another session has it open")]
    Busy,
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The answers of a file.
#[derive(Debug)]
pub struct Answers {
    path: PathBuf,
    known: VecDeque<String>,
    file: File,
}

impl Answers {
    /// Opens a file; there may be none yet. Empty lines and those that begin with `#` are skipped.
    ///
    /// - `is_answer`: whether a line is one, without the space around it.
    ///
    /// Errors: a line is no answer, it is no regular file or pipe, it has more than [`MAX_BYTES`], or it cannot be read or
    /// written.
    pub fn open(path: &Path, is_answer: impl Fn(&str) -> bool) -> Result<Self, AnswersError> {
        let (mut file, text) = opened(path, &is_answer)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { path: path.to_owned(), known: lines(&text).map(|(_, line)| line.to_owned()).collect(), file })
    }

    /// Opens a file without what it contains, which must be answers, too.
    pub fn restart(path: &Path, is_answer: impl Fn(&str) -> bool) -> Result<Self, AnswersError> {
        let (file, _) = opened(path, &is_answer)?;
        file.set_len(0)?;
        Ok(Self { path: path.to_owned(), known: VecDeque::new(), file })
    }

    /// How many answers are still to be read for which `is_counted` holds.
    pub fn n_known(&self, is_counted: impl Fn(&str) -> bool) -> usize {
        self.known.iter().filter(|line| is_counted(line)).count()
    }

    /// Whether all answers were read.
    pub fn is_read(&self) -> bool {
        self.known.is_empty()
    }

    /// The next answer that was given before.
    pub fn known(&mut self) -> Option<String> {
        self.known.pop_front()
    }

    /// Removes the last answer from the file, and those directly before it for which `is_with` holds.
    pub fn take_back(&mut self, is_with: impl Fn(&str) -> bool) -> io::Result<()> {
        let text = fs::read_to_string(&self.path)?;
        let mut kept: Vec<&str> = text.lines().collect();
        if let Some((number, _)) = lines(&text).last() {
            kept.truncate(number - 1);
        }
        while kept.last().is_some_and(|line| is_with(line.trim())) {
            kept.pop();
        }
        let text: String = kept.iter().flat_map(|line| [line, "\n"]).collect();
        files::replace(&self.path, text.as_bytes())?;
        self.file = OpenOptions::new().append(true).open(&self.path)?;
        // Whoever opened it in between keeps it.
        let _ = rustix::fs::flock(&self.file, FlockOperation::NonBlockingLockExclusive);
        Ok(())
    }

    /// Adds an answer.
    ///
    /// Errors: it cannot be written; the message names the file.
    pub fn add(&mut self, answer: &str) -> io::Result<()> {
        let written = self.file.write_all(format!("{answer}\n").as_bytes());
        let name = self.path.display();
        written.map_err(|error| io::Error::new(error.kind(), format!("failed to add the answer to {name}: {error}")))
    }
}

/// A file of answers that no other session has, and its text; made if there is none.
fn opened(path: &Path, is_answer: &dyn Fn(&str) -> bool) -> Result<(File, String), AnswersError> {
    if let Ok(known) = fs::metadata(path)
        && (!known.is_file() && !known.is_dir() || known.len() > MAX_BYTES)
    {
        // A pipe would be waited for.
        return Err(io::Error::other("it is no file, or larger than 16 MiB").into());
    }
    let file = OpenOptions::new().append(true).create(true).open(path)?;
    // Some file systems have no locks, which is another error.
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        return Err(AnswersError::Busy);
    }
    let text = fs::read_to_string(path)?;
    if let Some((line, other)) = lines(&text).find(|(_, line)| !is_answer(line)) {
        return Err(AnswersError::NoAnswer { line, text: other.to_owned() });
    }
    Ok((file, text))
}

/// The lines of a text that say something, and their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_answer(text: &str) -> bool {
        ["c", "h", "w n"].contains(&text)
    }

    #[test]
    fn a_file_with_other_lines_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notes");
        fs::write(&path, "c\n\n# a walk\nbuy milk").unwrap();
        for opened in [Answers::open(&path, is_answer), Answers::restart(&path, is_answer)] {
            let Err(AnswersError::NoAnswer { line, text }) = opened else { panic!("it was opened") };
            assert_eq!((line, &*text), (4, "buy milk"));
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "c\n\n# a walk\nbuy milk");
    }

    #[test]
    fn answers_are_read_again_and_added_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answers");
        let mut answers = Answers::open(&path, is_answer).unwrap();
        assert_eq!(answers.known(), None);
        answers.add("w n").unwrap();
        drop(answers);
        fs::write(&path, "# a walk\n\nw n\nc").unwrap();
        let mut answers = Answers::open(&path, is_answer).unwrap();
        answers.add("h").unwrap();
        assert_eq!([answers.known(), answers.known(), answers.known()], [Some("w n".into()), Some("c".into()), None]);
        drop(answers);
        assert_eq!(fs::read_to_string(&path).unwrap(), "# a walk\n\nw n\nc\nh\n");
        assert_eq!(Answers::restart(&path, is_answer).unwrap().n_known(|_| true), 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }

    #[test]
    fn the_last_answer_is_taken_back_with_what_belongs_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answers");
        fs::write(&path, "c\n# a remark\nw n\nh\n").unwrap();
        let mut answers = Answers::open(&path, is_answer).unwrap();
        answers.take_back(|line| line.starts_with('w')).unwrap();
        answers.add("h").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "c\n# a remark\nh\n");
    }

    #[test]
    fn only_one_session_has_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answers");
        let mut first = Answers::open(&path, is_answer).unwrap();
        for _ in 0..2 {
            assert!(matches!(Answers::open(&path, is_answer), Err(AnswersError::Busy)));
            assert!(matches!(Answers::restart(&path, is_answer), Err(AnswersError::Busy)));
            first.add("c").unwrap();
            first.take_back(|_| false).unwrap();
        }
        drop(first);
        assert!(Answers::open(&path, is_answer).is_ok());
    }

    #[test]
    fn devices_and_pipes_are_no_files_of_answers() {
        assert!(Answers::open(Path::new("/dev/zero"), is_answer).is_err());
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(Answers::open(&pipe, is_answer).is_err());
    }
}
