//! Where a probe sees a checkout: at the path of the user's working tree, if the system permits that.
//!
//! Many things name the user's tree by its absolute path: an editable install, a virtual environment, the cache of a build
//! tool. A probe that sees its checkout there is served by all of them, and cannot reach the files of the user through
//! that path. Each command of a probe gets a mount namespace of its own for this; see [`MountView`].
//!
//! [`untracked`] lists what the user has beside the tracked files, [`surroundings`] makes a part of it visible.

pub mod surroundings;
pub mod untracked;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io, iter};

use crate::repo::Location;
use crate::repo::private::private_directory;
use crate::system;
use crate::system::view::{Mount, MountView, Rights};

/// The variable that turns the place off, for comparisons.
pub const VARIABLE: &str = "IDD_PLACE";

/// The directory in a sandbox at which its commands find the user's git directory, which is hidden if it is below the top.
const GIT: &str = "git";

/// The directory in the git directory that belongs to this program.
const IDD: &str = "idd";

/// A place that was tried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbePlace {
    /// The top of the user's working tree.
    pub top: PathBuf,
    /// The common git directory, if it is below the top.
    git: Option<PathBuf>,
    rights: Rights,
    /// Whether directories of the user can be shown without a copy.
    pub has_overlays: bool,
}

/// Why probes see their checkout elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceRefusal {
    /// The user wants it so.
    TurnedOff,
    /// There is no working tree.
    NoWorkingTree,
    /// The sandboxes are inside of the working tree, so the checkout would hide them.
    Inside,
    /// The system does not permit mounts; its answer.
    Refused(String),
}

impl fmt::Display for PlaceRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TurnedOff => write!(out, "`{VARIABLE}=off` is set"),
            Self::NoWorkingTree => write!(out, "the repository has no working tree"),
            Self::Inside => write!(out, "the directory for checkouts is inside of the working tree"),
            Self::Refused(answer) => write!(out, "the system does not permit mounts ({answer})"),
        }
    }
}

impl ProbePlace {
    /// Tries whether the checkouts below `root`, which exists, can be seen at the top of the user's working tree.
    ///
    /// Cost: starts a program, at most four times.
    pub fn try_out(
        location: &Location,
        root: &Path,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, PlaceRefusal> {
        if environment.iter().any(|(name, value)| name == VARIABLE && value == "off") {
            return Err(PlaceRefusal::TurnedOff);
        }
        let top = location.top.as_deref().ok_or(PlaceRefusal::NoWorkingTree)?;
        let real = |path: &Path| fs::canonicalize(path).map_err(|error| PlaceRefusal::Refused(error.to_string()));
        let (top, root) = (real(top)?, real(root)?);
        if root.starts_with(&top) {
            return Err(PlaceRefusal::Inside);
        }
        let git = Some(real(&location.common_directory)?).filter(|git| git.starts_with(&top));
        let trial = Trial::new(&root).map_err(|error| PlaceRefusal::Refused(error.to_string()))?;
        let all = if rustix::process::geteuid().is_root() {
            &[Rights::Own, Rights::OfNamespace][..]
        } else {
            &[Rights::OfNamespace]
        };
        let mut why = String::new();
        for rights in all {
            let place = Self { top: top.clone(), git: git.clone(), rights: *rights, has_overlays: true };
            match trial.passes(&place) {
                Ok(()) => return Ok(place),
                Err(answer) => why = answer,
            }
            let place = Self { has_overlays: false, ..place };
            if trial.passes(&place).is_ok() {
                return Ok(place);
            }
        }
        Err(PlaceRefusal::Refused(why))
    }

    /// What a command of a sandbox sees.
    ///
    /// - `tree`: the checkout, in the directory `sandbox`; [`GIT`] is beside it.
    /// - `overlays`: mounts below the checkout.
    pub fn view(&self, sandbox: &Path, tree: &Path, overlays: Vec<Mount>) -> MountView {
        let bind = |from: &Path, to: PathBuf, is_read_only| Mount::Bind { from: from.to_owned(), to, is_read_only };
        // Git in a probe writes to the private repository alone.
        let git = self.git.iter().flat_map(|git| {
            let private = private_directory(&git.join(IDD));
            let seen = private_directory(&sandbox.join(GIT).join(IDD));
            let written = private.is_dir().then(|| bind(&private, seen, false));
            iter::once(bind(git, sandbox.join(GIT), true)).chain(written)
        });
        let checkout = bind(tree, self.top.clone(), false);
        MountView { mounts: git.chain(overlays).chain([checkout]).collect(), rights: self.rights }
    }

    /// What would permit the place, as far as it can be seen.
    pub fn remedies() -> Vec<String> {
        system::remedies()
    }

    /// With which rights the mounts are made, for a person.
    pub fn rights_in_words(&self) -> &'static str {
        match self.rights {
            Rights::Own => "mounts are made as the administrator",
            Rights::OfNamespace => "mounts are made in a user namespace; programs get no other rights there (`sudo`)",
        }
    }

    /// The name of the directory that a sandbox needs for the view; `None` if it needs none.
    pub fn mount_point(&self) -> Option<&'static str> {
        self.git.as_ref().map(|_| GIT)
    }

    /// A text with `with` in place of the path of the working tree, but not inside of a longer path or name.
    pub fn without_top(&self, text: &str, with: &str) -> String {
        let top = self.top.to_string_lossy();
        let is_of_name = |letter: char| letter.is_alphanumeric() || "-_.+~@".contains(letter);
        let mut parts = text.split(&*top);
        let mut replaced = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // A sentence can end after a path.
            let after = part.strip_prefix('.').unwrap_or(part);
            let before = replaced.trim_end_matches(is_of_name);
            let word = &replaced[before.len()..];
            // `/usr` and `lib` before it, but not the option `-I`, nor the scheme of a URL.
            let is_below = word.is_empty() && before.ends_with('/') && !before.ends_with("://");
            let is_inside = after.starts_with(is_of_name) || is_below || !word.is_empty() && !word.starts_with('-');
            replaced += if is_inside { &top } else { with };
            replaced += part;
        }
        replaced
    }

    /// A path of the user's common git directory as the commands of a sandbox see it.
    pub fn seen(&self, sandbox: &Path, path: &Path) -> PathBuf {
        let below =
            self.git.as_ref().and_then(|git| fs::canonicalize(path).ok()?.strip_prefix(git).ok().map(Path::to_owned));
        below.map_or_else(|| path.to_owned(), |below| sandbox.join(GIT).join(below))
    }
}

/// Directories for trying a view; removed when dropped.
struct Trial {
    directory: PathBuf,
}

impl Trial {
    const MARK: &str = "idd-mark";

    fn new(root: &Path) -> io::Result<Self> {
        let directory = root.join("trial");
        for part in ["tree/shown", "upper", "work", GIT] {
            fs::create_dir_all(directory.join(part))?;
        }
        for part in ["tree", "upper"] {
            fs::write(directory.join(part).join(Self::MARK), "")?;
        }
        Ok(Self { directory })
    }

    /// Errors: why the view cannot be had.
    fn passes(&self, place: &ProbePlace) -> Result<(), String> {
        let at = |part: &str| self.directory.join(part);
        let overlay = Mount::Overlay {
            lower: place.top.clone(),
            upper: at("upper"),
            work: at("work"),
            to: at("tree").join("shown"),
        };
        let overlays = if place.has_overlays { vec![overlay] } else { Vec::new() };
        let view = place.view(&self.directory, &at("tree"), overlays);
        let file = if place.has_overlays { Path::new("shown").join(Self::MARK) } else { PathBuf::from(Self::MARK) };
        let script = "test -f \"$1\" && : >\"$1.new\"";
        let words = ["/bin/sh", "-c", script, "sh"].map(OsStr::new);
        let file = place.top.join(file);
        let words = [&words[..], &[file.as_os_str()]].concat();
        let null = fs::OpenOptions::new().write(true).open("/dev/null").map_err(|error| error.to_string())?;
        let ended = system::launch(&words, &place.top, &[], &null, Some(&view), None).and_then(system::wait);
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err("a mount has no effect".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // The kernel makes a directory without any rights.
        let _ = fs::set_permissions(self.directory.join("work/work"), fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_working_tree_is_replaced_only_where_it_is_the_whole_beginning() {
        let place = ProbePlace { top: "/src".into(), git: None, rights: Rights::Own, has_overlays: true };
        for (text, expected) in [
            ("/src/a.c:1: see /src, /src.", "T/a.c:1: see T, T."),
            ("cd \"/src\" && ls -I/src/x", "cd \"T\" && ls -IT/x"),
            ("/usr/src/a.h lib/src/b.h //src/c.h", "/usr/src/a.h lib/src/b.h //src/c.h"),
            ("/src2 /src-old /src.d", "/src2 /src-old /src.d"),
            ("file:///src/a", "file://T/a"),
        ] {
            assert_eq!(place.without_top(text, "T"), expected, "{text}");
        }
    }
}
