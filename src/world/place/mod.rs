//! Where a probe sees a checkout: at the path of the user's working tree, if the system permits that.
//!
//! Many things name the user's tree by its absolute path: an editable install, a virtual environment, the cache of a build
//! tool. A probe that sees its checkout there is served by all of them, and cannot reach the files of the user through
//! that path. Each command of a probe gets a mount namespace of its own for this; see [`View`].
//!
//! [`candidates`] lists what the user has beside the tracked files, [`surroundings`] makes a part of it visible.

pub mod candidates;
pub mod surroundings;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use crate::world::repo::locate::Location;
use crate::world::system;
use crate::world::system::view::{Mount, Rights, View};

/// The variable that turns the place off, for comparisons.
pub const VARIABLE: &str = "IDD_PLACE";

/// The directory in a sandbox at which its commands find the user's git directory, which is hidden if it is below the top.
const GIT: &str = "git";

/// A place that was tried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
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
pub enum Elsewhere {
    /// The user wants it so.
    TurnedOff,
    /// There is no working tree.
    NoWorkingTree,
    /// The sandboxes are inside of the working tree, so the checkout would hide them.
    Inside,
    /// The system does not permit mounts; its answer.
    Refused(String),
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TurnedOff => write!(out, "`{VARIABLE}=off` is set"),
            Self::NoWorkingTree => write!(out, "the repository has no working tree"),
            Self::Inside => write!(out, "the directory for checkouts is inside of the working tree"),
            Self::Refused(answer) => write!(out, "the system does not permit mounts ({answer})"),
        }
    }
}

impl Place {
    /// Tries whether the checkouts below `root`, which exists, can be seen at the top of the user's working tree.
    ///
    /// Cost: starts a program, at most four times.
    pub fn try_out(location: &Location, root: &Path, environment: &[(OsString, OsString)]) -> Result<Self, Elsewhere> {
        if environment.iter().any(|(name, value)| name == VARIABLE && value == "off") {
            return Err(Elsewhere::TurnedOff);
        }
        let top = location.top.as_deref().ok_or(Elsewhere::NoWorkingTree)?;
        let real = |path: &Path| fs::canonicalize(path).map_err(|error| Elsewhere::Refused(error.to_string()));
        let (top, root) = (real(top)?, real(root)?);
        if root.starts_with(&top) {
            return Err(Elsewhere::Inside);
        }
        let git = Some(real(&location.common_directory)?).filter(|git| git.starts_with(&top));
        let trial = Trial::new(&root).map_err(|error| Elsewhere::Refused(error.to_string()))?;
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
        Err(Elsewhere::Refused(why))
    }

    /// What a command of a sandbox sees.
    ///
    /// - `tree`: the checkout, in the directory `sandbox`; [`GIT`] is beside it.
    /// - `overlays`: mounts below the checkout.
    pub fn view(&self, sandbox: &Path, tree: &Path, overlays: Vec<Mount>) -> View {
        let git = self.git.iter().map(|git| Mount::Bind { from: git.clone(), to: sandbox.join(GIT) });
        let checkout = Mount::Bind { from: tree.to_owned(), to: self.top.clone() };
        View { mounts: git.chain(overlays).chain([checkout]).collect(), rights: self.rights }
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
        for part in ["tree/shown", "lower", "upper", "work", GIT] {
            fs::create_dir_all(directory.join(part))?;
        }
        for part in ["tree", "lower"] {
            fs::write(directory.join(part).join(Self::MARK), "")?;
        }
        Ok(Self { directory })
    }

    /// Errors: why the view cannot be had.
    fn passes(&self, place: &Place) -> Result<(), String> {
        let at = |part: &str| self.directory.join(part);
        let overlay =
            Mount::Overlay { lower: at("lower"), upper: at("upper"), work: at("work"), to: at("tree").join("shown") };
        let overlays = if place.has_overlays { vec![overlay] } else { Vec::new() };
        let view = place.view(&self.directory, &at("tree"), overlays);
        let file = if place.has_overlays { Path::new("shown").join(Self::MARK) } else { PathBuf::from(Self::MARK) };
        let script = "test -f \"$1\" && : >\"$1.new\" && rm \"$1\"";
        let words = ["/bin/sh", "-c", script, "sh"].map(OsStr::new);
        let file = place.top.join(file);
        let words = [&words[..], &[file.as_os_str()]].concat();
        let null = fs::OpenOptions::new().write(true).open("/dev/null").map_err(|error| error.to_string())?;
        let ended = system::launch(&words, &place.top, &[], &null, (Some(&view), None)).and_then(system::wait);
        // For the next trial.
        let _ = fs::write(self.directory.join("tree").join(Self::MARK), "");
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
