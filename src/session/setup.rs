//! The files that `git idd setup` installs, and their places.
//!
//! `man` searches `<prefix>/share/man` for each `<prefix>/bin` in `PATH`, so the page is put beside the program. Shells
//! search the data directory of the user, whatever the prefix, so completions for a program in the home directory are put
//! there. A file is replaced or removed only if it has the line of [`InstalledFile::mark`].

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::{Context, Failure};
use idd_world::process::shell;
use idd_world::run::toolchain;
use idd_world::{files, process};

/// The name of the program as git searches it.
const PROGRAM: &str = "git-idd";

/// A file that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstalledFile {
    /// The man page.
    Page,
    /// Completions for bash, which git's own completion loads.
    Bash,
    /// Completions for zsh.
    Zsh,
    /// Completions for fish.
    Fish,
}

/// Every part.
pub const PARTS: [InstalledFile; 4] =
    [InstalledFile::Page, InstalledFile::Bash, InstalledFile::Zsh, InstalledFile::Fish];

impl InstalledFile {
    /// What it is.
    pub fn word(self) -> &'static str {
        match self {
            Self::Page => "the man page",
            Self::Bash => "completions for bash",
            Self::Zsh => "completions for zsh",
            Self::Fish => "completions for fish",
        }
    }

    /// Its path below a `share` directory.
    fn path(self) -> &'static str {
        match self {
            Self::Page => "man/man1/git-idd.1",
            Self::Bash => "bash-completion/completions/git-idd",
            Self::Zsh => "zsh/site-functions/_git-idd",
            // A file with completions is loaded only for a command of its name, and they are those of `git`.
            Self::Fish => "fish/vendor_conf.d/git-idd.fish",
        }
    }

    /// The line, a comment, that marks a file of `git idd setup`.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Page => ".\\\" Written by git idd setup, which may replace or remove this file.",
            Self::Bash | Self::Zsh | Self::Fish => "# Written by git idd setup, which may replace or remove this file.",
        }
    }

    /// The beginning and the end of the line, a comment, that says how many directories were made for the file.
    fn made(self) -> [&'static str; 2] {
        let comment = if self == Self::Page { ".\\\" Directories" } else { "# Directories" };
        [comment, " made for it, which are removed with it if they are empty: "]
    }

    /// The line that says how many directories were made for the file.
    pub fn line_of_made(self, n_made: usize) -> String {
        format!("{}{n_made}", self.made().concat())
    }

    /// How many directories were made for a file of ours.
    pub fn n_made(self, bytes: &[u8]) -> usize {
        let text = String::from_utf8_lossy(bytes);
        let number = text.lines().rev().find_map(|line| line.strip_prefix(&self.made().concat())?.parse().ok());
        number.unwrap_or(0)
    }
}

/// What stands at the place of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandingFile {
    /// Nothing.
    Nothing,
    /// A file of ours, with these bytes.
    Ours(Vec<u8>),
    /// Something else.
    Other,
    /// Nothing can be there, because this is no directory.
    Blocked(PathBuf),
}

/// Looks at the place of a part.
pub fn found(part: InstalledFile, path: &Path) -> StandingFile {
    let is_mark = |line: &[u8]| line == part.mark().as_bytes();
    match files::plain(path) {
        Ok(Some(bytes)) if bytes.split(|byte| *byte == b'\n').any(is_mark) => StandingFile::Ours(bytes),
        Ok(None) => StandingFile::Nothing,
        Ok(Some(_)) | Err(_) => blocker(path).map_or(StandingFile::Other, StandingFile::Blocked),
    }
}

/// What is no directory although the path needs one there.
fn blocker(path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok())?;
    (!above.is_dir()).then(|| above.to_owned())
}

/// How many directories around the place of a part are missing.
pub fn n_missing(path: &Path) -> usize {
    path.ancestors().skip(1).take_while(|above| above.symlink_metadata().is_err()).count()
}

/// The directories for the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallDirectories {
    /// The directory around the `bin` of `PATH` that has this program.
    prefix: Option<PathBuf>,
    /// The data directory of the user.
    data: Option<PathBuf>,
    home: Option<PathBuf>,
    /// The value of `HOME`.
    home_word: Option<String>,
}

impl InstallDirectories {
    /// The places for this program and this user.
    pub fn of(context: &Context) -> Self {
        let absolute = |name| context.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let data = absolute("XDG_DATA_HOME").or_else(|| home.as_ref().map(|home| home.join(".local/share")));
        let directory = directory(context);
        let prefix = directory.filter(|it| it.ends_with("bin")).and_then(|it| Some(it.parent()?.to_owned()));
        let home_word = context.variable("HOME").map(|word| word.to_string_lossy().into_owned());
        Self { prefix, data, home, home_word }
    }

    /// The place of a part that is to be installed.
    ///
    /// Errors: there is no directory in which this user can write.
    pub fn place(&self, part: InstalledFile) -> Result<PathBuf, Failure> {
        let is_at_home = |prefix: &Path| self.home.as_ref().is_some_and(|home| prefix.starts_with(home));
        let beside = self.prefix.as_ref().filter(|prefix| part == InstalledFile::Page || !is_at_home(prefix));
        let beside = beside.map(|prefix| prefix.join("share")).filter(|share| files::can_write_in(share));
        let share = beside.or_else(|| self.data.clone()).ok_or_else(|| {
            let why = match self.home_word.as_deref() {
                None => "is not set",
                Some("") => "is empty",
                Some(_) => "is no absolute path",
            };
            Failure::error(format!("there is no directory to install to: `HOME` {why}"))
                .with_hint("`git idd man` and `git idd completions` print the files")
        })?;
        Ok(share.join(part.path()))
    }

    /// Every place in which a part may have been installed.
    pub fn all(&self, part: InstalledFile) -> Vec<PathBuf> {
        let beside = self.prefix.iter().map(|prefix| prefix.join("share").join(part.path()));
        let mut all: Vec<PathBuf> = beside.chain(self.data.iter().map(|data| data.join(part.path()))).collect();
        all.dedup();
        all
    }
}

/// The directory of `PATH` in which git finds this program; `None` if git finds none or another one.
pub fn directory(context: &Context) -> Option<PathBuf> {
    let program = files::real(&files::this_program().ok()?)?;
    let path = context.variable("PATH")?;
    let is_this = |place: &PathBuf| files::real(place).is_some_and(|found| found == program);
    toolchain::places(&path, PROGRAM).find(is_this)?.parent().map(Path::to_owned)
}

/// Writes a part.
pub fn write(part: InstalledFile, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    files::replace(path, bytes).map_err(|error| failed("write", part, path, &error))
}

/// Removes a part.
pub fn remove(part: InstalledFile, path: &Path) -> Result<(), Failure> {
    files::remove(path).map_err(|error| failed("remove", part, path, &error))
}

/// Removes the empty ones of so many directories around a part that was removed.
pub fn remove_directories(path: &Path, n_made: usize) {
    for directory in path.ancestors().skip(1).take(n_made) {
        if !files::remove_empty(directory) {
            break;
        }
    }
}

fn failed(verb: &str, part: InstalledFile, path: &Path, error: &io::Error) -> Failure {
    Failure::error(format!("failed to {verb} {} `{}`: {error}", part.word(), path.display()))
        .with_hint("`git idd setup --dry-run` prints the places of all files")
}

/// What has to be done so that what was installed at `path` is found; `None` if nothing.
pub fn remains(part: InstalledFile, path: &Path, context: &Context) -> Option<String> {
    let directory = path.parent().unwrap_or(path);
    match part {
        InstalledFile::Page => {
            let words = [OsStr::new("-w"), OsStr::new(PROGRAM)];
            let Ok(answer) = process::capture(OsStr::new("man"), &words, &context.directory, &context.environment)
            else {
                return Some("`man` is not installed: read the manual with `git idd help`.".to_owned());
            };
            let top = shell::quoted_text(directory.parent().unwrap_or(directory).as_os_str().as_bytes());
            let is_found = answer.code == Some(0) && !answer.stdout.is_empty();
            let line = || format!("so that man finds the page, add to ~/.profile: export MANPATH={top}:\"$MANPATH\"");
            (!is_found).then(line)
        }
        InstalledFile::Zsh => {
            let is_searched = directory
                .parent()
                .and_then(Path::parent)
                .is_some_and(|share| [Path::new("/usr/share"), Path::new("/usr/local/share")].contains(&share));
            if is_searched || toolchain::is_missing(&context.environment, "zsh") {
                return None;
            }
            let start = context.variable("ZDOTDIR").or_else(|| context.variable("HOME"))?;
            let start = Path::new(&start).join(".zshrc");
            // Reading a pipe would not end.
            let start = if start.is_file() { files::bytes(&start).unwrap_or_default() } else { Vec::new() };
            let is_named = String::from_utf8_lossy(&start).contains("/zsh/site-functions");
            let line = || {
                format!(
                    "for zsh, add to ~/.zshrc before `compinit`: fpath=({} $fpath)",
                    shell::quoted_text(directory.as_os_str().as_bytes())
                )
            };
            (!is_named).then(line)
        }
        InstalledFile::Bash | InstalledFile::Fish => None,
    }
}
