//! `git idd setup`, for a user with a home directory of his own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A place with the program in `bin` of `prefix`, which is in `PATH`, and an empty home directory `home`.
struct Place {
    scratch: TempDir,
    prefix: PathBuf,
}

impl Place {
    fn new(prefix: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let prefix = scratch.path().join(prefix);
        fs::create_dir_all(scratch.path().join("home")).unwrap();
        fs::create_dir_all(prefix.join("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-idd"), prefix.join("bin/git-idd")).unwrap();
        Self { scratch, prefix }
    }

    fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    /// A program in this place, with this user.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{}", self.prefix.join("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(self.scratch.path()).env_clear().env("PATH", path).env("HOME", self.home());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", "/").env("LC_ALL", "C");
        command
    }

    /// What `git idd setup` prints; fails the test if its exit code is another one.
    #[track_caller]
    fn setup(&self, words: &[&str], code: i32) -> String {
        let output = self.command("git-idd").arg("setup").args(words).output().unwrap();
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!((output.status.code(), stderr.as_str()), (Some(code), ""), "{stdout}");
        stdout
    }

    /// All files and directories, by their paths in the place.
    fn entries(&self) -> BTreeSet<PathBuf> {
        let mut entries = BTreeSet::new();
        let mut open = vec![self.scratch.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if fs::symlink_metadata(&path).unwrap().is_dir() {
                    open.push(path.clone());
                }
                entries.insert(path.strip_prefix(self.scratch.path()).unwrap().to_owned());
            }
        }
        entries
    }

    fn has(&self, path: &str) -> bool {
        self.scratch.path().join(path).is_file()
    }
}

const AT_HOME: [&str; 4] = [
    "home/.cargo/share/man/man1/git-idd.1",
    "home/.local/share/bash-completion/completions/git-idd",
    "home/.local/share/zsh/site-functions/_git-idd",
    "home/.local/share/fish/vendor_conf.d/git-idd.fish",
];

#[test]
fn setup_puts_the_page_beside_the_program_and_completions_where_shells_search() {
    let place = Place::new("home/.cargo");
    let text = place.setup(&[], 0);
    for path in AT_HOME {
        assert!(place.has(path), "{path}: {text}");
        assert!(text.contains(&format!("{path}\n")), "{path}: {text}");
    }
    assert_eq!(text.matches("Wrote ").count(), 4, "{text}");
    let page = fs::read_to_string(place.scratch.path().join(AT_HOME[0])).unwrap();
    assert!(page.contains(".SH \"EXIT STATUS\"") && page.contains("may replace or remove this file.\n"));
    assert!(page.ends_with(" made for it, which are removed with it if they are empty: 3\n"));
    assert_eq!(place.setup(&[], 0).matches("Unchanged: ").count(), 4);
    fs::write(place.scratch.path().join(AT_HOME[0]), page + "old\n").unwrap();
    assert_eq!(place.setup(&[], 0).matches("Wrote the man page: ").count(), 1);
}

#[test]
fn after_setup_git_and_fish_find_the_files() {
    let place = Place::new("home/.cargo");
    place.setup(&[], 0);
    let offered = place.command("fish").args(["-c", "complete -C 'git idd st'"]).output().unwrap();
    let offered = String::from_utf8_lossy(&offered.stdout).into_owned();
    assert!(offered.contains("status\t"), "{offered}");
    // Without `man`, setup says so, and `git idd help` shows the page.
    let Ok(man) = place.command("man").args(["-w", "git-idd"]).output() else { return };
    assert!(man.status.success(), "{}", String::from_utf8_lossy(&man.stderr));
    let help = place.command("git").args(["idd", "--help"]).env("MANPAGER", "cat").output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("find the change that broke a test"), "{help}");
}

#[test]
fn setup_outside_of_the_home_directory_uses_the_prefix_of_the_program() {
    let place = Place::new("usr");
    let text = place.setup(&[], 0);
    for path in AT_HOME {
        let path = format!("usr/share/{}", path.split_once("share/").unwrap().1);
        assert!(place.has(&path), "{path}: {text}");
    }
    assert!(!place.home().join(".local").exists());
}

#[test]
fn setup_without_the_program_in_path_uses_the_data_directory_of_the_user_and_says_so() {
    let place = Place::new("usr");
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-idd"));
    command.arg("setup").current_dir(place.scratch.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", place.home()).env("XDG_DATA_HOME", place.home().join("data"));
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && place.has("home/data/man/man1/git-idd.1"), "{text}");
    assert!(text.contains("To do: add the directory of this program to PATH"), "{text}");
}

#[test]
fn setup_dry_run_changes_nothing() {
    let place = Place::new("home/.cargo");
    let before = place.entries();
    let text = place.setup(&["--dry-run"], 0);
    assert_eq!((text.matches("Would write ").count(), place.entries()), (4, before), "{text}");
    place.setup(&[], 0);
    let installed = place.entries();
    let text = place.setup(&["--remove", "--dry-run"], 0);
    assert_eq!((text.matches("Would remove ").count(), place.entries()), (4, installed), "{text}");
}

#[test]
fn setup_remove_leaves_nothing_of_it() {
    let place = Place::new("home/.cargo");
    fs::create_dir_all(place.home().join(".local/share")).unwrap();
    let before = place.entries();
    place.setup(&[], 0);
    assert_eq!(place.setup(&["--remove"], 0).matches("Removed ").count(), 4);
    assert_eq!(place.entries(), before);
    assert_eq!(place.setup(&["--remove"], 0), "There is nothing to remove.\n");
}

#[test]
fn setup_remove_keeps_empty_directories_that_were_there_before() {
    for prefix in ["home/.cargo", "usr"] {
        let place = Place::new(prefix);
        fs::create_dir_all(place.home().join(".local/share/zsh/site-functions")).unwrap();
        fs::create_dir_all(place.prefix.join("share/man")).unwrap();
        let before = place.entries();
        place.setup(&[], 0);
        assert_eq!(place.setup(&[], 0).matches("Unchanged: ").count(), 4);
        place.setup(&["--remove"], 0);
        assert_eq!(place.entries(), before, "{prefix}");
    }
}

#[test]
fn setup_names_a_file_that_is_where_a_directory_is_needed() {
    let place = Place::new("home/.cargo");
    fs::create_dir_all(place.prefix.join("share")).unwrap();
    let file = place.prefix.join("share/man");
    fs::write(&file, "").unwrap();
    let text = place.setup(&[], 1);
    let skipped = format!("Skipped the man page, because `{}` is no directory: ", file.display());
    assert!(text.contains(&skipped) && text.matches("Wrote ").count() == 3, "{text}");
    assert_eq!(place.setup(&["--remove"], 0).matches("Removed ").count(), 3);
    assert!(file.is_file());
}

#[test]
fn setup_says_what_is_wrong_with_the_home_directory() {
    for (home, why) in [("", "`HOME` is empty"), ("home", "`HOME` is no absolute path")] {
        let place = Place::new("usr");
        let mut command = Command::new(env!("CARGO_BIN_EXE_git-idd"));
        command.arg("setup").current_dir(place.scratch.path()).env_clear();
        let output = command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(&format!("there is no directory to install to: {why}")), "{error}");
    }
}

#[test]
fn setup_neither_overwrites_nor_removes_what_it_did_not_write() {
    #[track_caller]
    fn check(put: impl Fn(&Path)) {
        let place = Place::new("home/.cargo");
        let path = place.scratch.path().join(AT_HOME[2]);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        put(&path);
        let text = place.setup(&[], 1);
        let skipped = "Skipped completions for zsh, because `git idd setup` did not write the file that is there: ";
        assert!(text.contains(skipped) && text.matches("Wrote ").count() == 3, "{text}");
        let text = place.setup(&["--remove"], 0);
        assert!(text.contains(skipped) && text.matches("Removed ").count() == 3, "{text}");
        assert!(fs::symlink_metadata(&path).is_ok());
    }
    check(|path| fs::write(path, "# my own\n").unwrap());
    check(|path| std::os::unix::fs::symlink("nowhere", path).unwrap());
    check(|path| fs::create_dir(path).unwrap());
}

#[test]
fn the_first_hunt_on_a_terminal_says_how_to_get_the_page() {
    let said = |is_installed: bool| {
        let place = Place::new("home/.cargo");
        if is_installed {
            place.setup(&[], 0);
        }
        let line = "git init -q; git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m A; \
                    script -qec 'git idd --until found false; git idd --until found false' log >log.all";
        place.command("sh").args(["-c", line]).env("TERM", "xterm").status().unwrap();
        fs::read_to_string(place.scratch.path().join("log"))
            .unwrap()
            .matches("`git idd help` shows the manual; ")
            .count()
    };
    assert_eq!((said(false), said(true)), (1, 0));
}
