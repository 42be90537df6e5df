//! Histories made once: the script of a story runs when its history is missing, and each test gets a copy.
//!
//! Histories are kept below the target directory, for all tests and processes. The name of a kept history has the
//! digest of everything that the script reads, of the format, and of the version of git. A history that has its own
//! path in a file is not kept: the script runs for each copy.
//!
//! Source: `gix-testtools` of gitoxide. Deviation: directories in place of archives, because `cp -a` takes half the
//! time of `tar -x`.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::fixture::{Format, succeed};

/// The version of how histories are kept.
const VERSION: &str = "1";

/// Kept histories with another digest are removed at this age. Younger ones can be in use by other runs of the tests.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// The file that stands in the place of a history that is not kept.
const NOT_KEPT: &str = "has-its-own-path";

/// The directories of stories and of kept histories.
#[derive(Debug)]
pub struct Histories {
    stories: PathBuf,
    kept: PathBuf,
}

impl Histories {
    /// - `stories`: has the directory of each story, and the files that their scripts share.
    pub fn new(stories: PathBuf, kept: PathBuf) -> Self {
        Self { stories, kept }
    }

    /// Makes the history of a story at `repo`, which must not exist.
    ///
    /// A copy has the modes, times, hard and symbolic links of the files that the script made.
    pub fn make(&self, story: &str, format: Format, repo: &Path) {
        let kept = self.kept(story, format);
        if !kept.is_dir() {
            self.keep(story, format, &kept);
        }
        if kept.join(NOT_KEPT).exists() {
            self.run(story, format, repo);
            return;
        }
        succeed(Command::new("cp").arg("-a").arg(kept.join("repo")).arg(repo));
        // The index has the inodes of the kept files. It may have entries that are not up to date.
        let mut refresh = Command::new("git");
        refresh.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("GIT_CONFIG_NOSYSTEM", "1");
        let _ = refresh.arg("-C").arg(repo).args(["update-index", "-q", "--refresh"]).output();
    }

    fn run(&self, story: &str, format: Format, repo: &Path) {
        let variables = [("FIXTURE_HASH", format.hash), ("FIXTURE_REFS", format.refs)];
        succeed(Command::new(self.stories.join(story).join("make.sh")).arg(repo).envs(variables));
    }

    /// Makes a history in a directory with another name first, so that `kept` is complete when it exists. If several
    /// processes make the same one, the first one stays.
    fn keep(&self, story: &str, format: Format, kept: &Path) {
        fs::create_dir_all(&self.kept).unwrap();
        let prefix = prefix(story, format);
        self.sweep(&prefix);
        let making = TempDir::with_prefix_in(format!("{prefix}making-"), &self.kept).unwrap();
        let repo = making.path().join("repo");
        self.run(story, format, &repo);
        let is_alone = fs::read_dir(making.path()).unwrap().count() == 1;
        let real = fs::canonicalize(making.path()).unwrap();
        let paths = [making.path(), &real].map(|path| path.as_os_str().as_bytes());
        if !is_alone || paths.iter().any(|path| holds(&repo, path)) {
            fs::write(making.path().join(NOT_KEPT), "").unwrap();
            fs::remove_dir_all(&repo).unwrap();
        }
        let _ = fs::rename(making.path(), kept);
        assert!(kept.is_dir(), "{} cannot be made", kept.display());
    }

    /// Removes old histories of a story: those of other digests, and those that were never completed.
    fn sweep(&self, prefix: &str) {
        for entry in fs::read_dir(&self.kept).unwrap().flatten() {
            let is_of_story = entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes());
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
            if is_of_story && age.is_some_and(|age| age > MAX_AGE) {
                // Another process may remove it, too.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The directory of a kept history.
    fn kept(&self, story: &str, format: Format) -> PathBuf {
        let mut sha256 = Sha256::new();
        let mut add = |bytes: &[u8]| {
            sha256.update(bytes.len().to_le_bytes());
            sha256.update(bytes);
        };
        add(VERSION.as_bytes());
        add(&succeed(Command::new("git").arg("--version")));
        let of_story = files(&self.stories.join(story)).into_iter().filter(|path| !is_record(path));
        let shared = files(&self.stories).into_iter().filter(|path| path.extension().is_some_and(|it| it == "sh"));
        for path in of_story.chain(shared) {
            add(path.strip_prefix(&self.stories).unwrap().as_os_str().as_bytes());
            add(&fs::metadata(&path).unwrap().permissions().mode().to_le_bytes());
            add(&fs::read(&path).unwrap());
        }
        let digest = sha256.finalize().iter().take(8).fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        self.kept.join(prefix(story, format) + &digest)
    }
}

/// The beginning of the names of all kept histories of a story.
fn prefix(story: &str, format: Format) -> String {
    format!("{story}.{}.{}.", format.hash, format.refs)
}

/// Whether a file of a story has what its hunts observed, which no script reads.
fn is_record(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"observations"))
}

/// The files in a directory, not those in directories below it; sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Whether a file below `directory`, or the target of a link, has these bytes. Objects of git are compressed, but an
/// object with a path would have another id in each copy.
fn holds(directory: &Path, bytes: &[u8]) -> bool {
    let has = |text: &[u8]| text.windows(bytes.len()).any(|window| window == bytes);
    fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            holds(&path, bytes)
        } else if metadata.is_symlink() {
            has(fs::read_link(&path).unwrap().as_os_str().as_bytes())
        } else {
            metadata.is_file() && has(&fs::read(&path).unwrap())
        }
    })
}

mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    const USUAL: Format = Format::USUAL;

    /// Stories of its own, with one story.
    struct World {
        scratch: TempDir,
        histories: Histories,
        n_made: usize,
    }

    impl World {
        fn new(script: &str) -> Self {
            let scratch = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let histories = Histories::new(scratch.path().join("stories"), scratch.path().join("kept"));
            fs::create_dir_all(histories.stories.join("s")).unwrap();
            let world = Self { scratch, histories, n_made: 0 };
            world.write(script);
            world
        }

        fn write(&self, script: &str) {
            let file = self.histories.stories.join("s/make.sh");
            let begin = "#!/bin/sh\nset -eu\necho made >> \"${0%/*}/../log\"\nmkdir \"$1\"\ncd \"$1\"\ngit init -q\n";
            fs::write(&file, format!("{begin}{script}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn make(&mut self, format: Format) -> PathBuf {
            self.n_made += 1;
            let repo = self.scratch.path().join(format!("copy{}", self.n_made));
            self.histories.make("s", format, &repo);
            repo
        }

        /// The number of times that the script ran.
        fn n_runs(&self) -> usize {
            fs::read_to_string(self.histories.stories.join("log")).map_or(0, |log| log.lines().count())
        }

        fn n_kept(&self) -> usize {
            fs::read_dir(&self.histories.kept).unwrap().count()
        }
    }

    #[test]
    fn a_script_runs_once_until_something_changes_that_the_history_depends_on() {
        let mut world = World::new("echo 1 > file");
        let n_runs = |world: &mut World, format| {
            world.make(format);
            world.n_runs()
        };
        assert_eq!((n_runs(&mut world, USUAL), n_runs(&mut world, USUAL)), (1, 1));
        assert_eq!(n_runs(&mut world, Format { hash: "sha256", ..USUAL }), 2);
        fs::write(world.histories.stories.join("s/observations.txt"), "").unwrap();
        assert_eq!(n_runs(&mut world, USUAL), 2);
        for (n_expected, changed) in [(3, "s/test.sh"), (4, "lib.sh")] {
            fs::write(world.histories.stories.join(changed), "").unwrap();
            assert_eq!((n_runs(&mut world, USUAL), n_runs(&mut world, USUAL)), (n_expected, n_expected), "{changed}");
        }
        world.write("echo 2 > file");
        assert_eq!(n_runs(&mut world, USUAL), 5);
        assert_eq!(fs::read(world.scratch.path().join("copy1/file")).unwrap(), b"1\n");
        assert_eq!(fs::read(world.make(USUAL).join("file")).unwrap(), b"2\n");
    }

    #[test]
    fn a_copy_is_what_the_script_made() {
        let mut world = World::new(
            "mkdir sub; echo x > sub/file; ln sub/file hard; ln -s sub/file soft; chmod 751 sub; chmod 4640 sub/file
             : > \"$(printf 'caf\\351')\"; touch -d '2001-02-03 04:05:06.789' hard; git add soft; truncate -s 1M sparse",
        );
        let list = |repo: &Path| {
            let mut find = Command::new("find");
            find.arg(repo).args(["-not", "-name", "index", "-printf", "%P %M %n %l %T@ %s %y\n"]);
            let listed = succeed(&mut find);
            let mut lines: Vec<&[u8]> = listed.split(|byte| *byte == b'\n').collect();
            lines.sort_unstable();
            lines.join(&b'\n')
        };
        let repo = world.make(USUAL);
        let kept = world.histories.kept("s", USUAL).join("repo");
        // Git has written the index of the copy.
        let (of_copy, of_kept) = (list(&repo), list(&kept));
        let lines = |text: &[u8]| -> Vec<String> {
            let text = text.escape_ascii().to_string();
            text.split("\\n").filter(|line| !line.starts_with(".git ")).map(str::to_owned).collect()
        };
        assert_eq!(lines(&of_copy), lines(&of_kept));
        let inode = |name: &str| fs::metadata(repo.join(name)).unwrap().ino();
        assert_eq!(inode("hard"), inode("sub/file"));
        fs::write(repo.join("hard"), "changed").unwrap();
        assert_eq!(fs::read(world.make(USUAL).join("hard")).unwrap(), b"x\n");
    }

    #[test]
    fn a_history_with_its_own_path_is_made_for_each_copy() {
        for script in ["pwd > .git/place", "ln -s \"$PWD\" here", "mkdir ../beside"] {
            let mut world = World::new(script);
            world.make(USUAL);
            // A story beside the repository can be made once in one directory.
            let _ = fs::remove_dir(world.scratch.path().join("beside"));
            let repo = world.make(USUAL);
            assert_eq!(world.n_runs(), 3, "{script}");
            if let Ok(place) = fs::read_to_string(repo.join(".git/place")) {
                assert_eq!(Path::new(place.trim_end()), repo);
            }
        }
    }

    #[test]
    fn old_histories_of_a_story_are_removed_and_one_that_was_never_completed_is_not_used() {
        let mut world = World::new("echo 1 > file");
        let begun = world.histories.kept.join("s.sha1.files.making-1");
        fs::create_dir_all(begun.join("repo")).unwrap();
        world.make(USUAL);
        world.write("echo 2 > file");
        world.make(USUAL);
        assert_eq!(world.n_kept(), 3);
        for entry in fs::read_dir(&world.histories.kept).unwrap() {
            succeed(Command::new("touch").args(["-d", "2 hours ago"]).arg(entry.unwrap().path()));
        }
        world.write("echo 3 > file");
        assert_eq!(fs::read(world.make(USUAL).join("file")).unwrap(), b"3\n");
        assert_eq!(world.n_kept(), 1);
    }
}
