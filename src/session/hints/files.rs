//! Files that the working tree and the checkouts do not share.

use crate::plural::count;
use crate::session::hints::{Scene, text, typed, words};
use crate::session::hold;
use crate::session::plan::Plan;
use crate::world::files as disk;
use crate::world::process::{Words, shell};
use crate::world::repo::locate::Location;
use crate::world::repo::{Repository, graph, locate, uncommitted};
use crate::world::run::toolchain;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// At most this many files are named.
const MAX_NAMES: usize = 3;

/// Scripts with more bytes are not read.
const MAX_SCRIPT: u64 = 1 << 20;

/// Build files, the command that builds with them, and the directory of their products.
const BUILDS: [(&str, &str, &str); 14] = [
    ("package.json", "npm ci", "node_modules"),
    ("Cargo.toml", "cargo build", "target"),
    ("pom.xml", "mvn -q -DskipTests package", "target"),
    ("Makefile", "make", ""),
    ("makefile", "make", ""),
    ("GNUmakefile", "make", ""),
    ("CMakeLists.txt", "cmake -B build && cmake --build build", "build"),
    ("meson.build", "meson setup build && meson compile -C build", "build"),
    ("gradlew", "./gradlew assemble", "build"),
    ("configure", "./configure && make", ""),
    ("configure.ac", "autoreconf -i && ./configure && make", ""),
    ("Cargo.toml", "cargo build", ""),
    ("go.mod", "go build ./...", ""),
    ("build.xml", "ant", ""),
];

/// Variables that name directories or files from which programs are loaded.
const SEARCH_PATHS: [&str; 6] = ["PYTHONPATH", "LD_LIBRARY_PATH", "CLASSPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB"];

/// The hint about a file that output, command or script names, and that only the working tree has.
pub fn missing(scene: &Scene<'_>) -> Option<String> {
    let script = script(scene.plan, scene.location).map(|(_, script)| script).unwrap_or_default();
    missing_of_output(scene)
        .or_else(|| named_by_command(scene))
        .or_else(|| missing_of(scene, words::of_script(&script), "the script of the test names it"))
}

/// The same for what only the command names.
pub fn named_by_command(scene: &Scene<'_>) -> Option<String> {
    let command = text(&scene.plan.order.command.to_line());
    missing_of(scene, words::of_script(&command), "the test command names it")
}

/// The same for what only the output names, in a line that reports a missing file.
///
/// Cost: none for an output without such a line.
pub fn missing_of_output(scene: &Scene<'_>) -> Option<String> {
    const WHY: &str = "the output of the test names it";
    scene.seen.iter().find_map(|seen| missing_of(scene, words::lacking(&seen.output), WHY))
}

fn missing_of(scene: &Scene<'_>, words: Vec<&str>, why: &str) -> Option<String> {
    let path = words.into_iter().find_map(|word| lacked(scene, word))?;
    if locate::is_ignored(scene.location, &path, &scene.plan.commands.environment) {
        return Some(product((scene.plan, scene.location, scene.repository), &path, why));
    }
    let path = typed(&path, scene.location);
    let (name, hold) = (text(&path), shell::quoted_text(&path));
    Some(format!(
        "`{name}` is in your working tree, but in no checkout, because it is not committed; {why}. `--hold {hold}` puts \
         it into every revision."
    ))
}

/// The path that a word names, if the working tree has it, and neither the bad revision nor a checkout.
fn lacked(scene: &Scene<'_>, word: &str) -> Option<Vec<u8>> {
    let top = scene.location.top.as_ref()?;
    let path = hold::inside(OsStr::new(word), scene.location).filter(|path| !path.is_empty())?;
    // A resumed hunt may have none yet, and knows nothing about products then.
    if scene.checkouts.is_empty() {
        return None;
    }
    let is_in = |directory: &Path| directory.join(OsStr::from_bytes(&path)).symlink_metadata().is_ok();
    let is_lacked = is_in(top)
        && !scene.plan.held.contains_key(&path)
        && !scene.removed.contains(&path)
        && !scene.checkouts.iter().any(|checkout| is_in(checkout))
        && !path.starts_with(b".git/")
        && path != b".git"
        && !graph::has_path(scene.repository, scene.plan.bad, &path);
    is_lacked.then_some(path)
}

/// The hint about a file that git ignores, and that only the working tree has.
pub fn product(place: (&Plan, &Location, &Repository), path: &[u8], why: &str) -> String {
    let (plan, location, repository) = place;
    let here = typed(path, location);
    let (name, hold) = (text(&here), shell::quoted_text(&here));
    let lack = format!("`{name}` is in your working tree, but in no checkout, because git ignores it; {why}");
    if plan.commands.build.is_some() {
        return format!("{lack}. The build that was given did not make it.");
    }
    let build = match build_command(plan, repository, &here) {
        Some(command) => shell::quoted_text(command.as_bytes()),
        None => "<command>".to_owned(),
    };
    format!(
        "{lack}. `--build {build}` builds it in each. If no source makes it, `--hold {hold}` puts your copy into every \
         revision, so that all of them are tested with it."
    )
}

/// The command that probably makes a product (a path from the current directory).
fn build_command(plan: &Plan, repository: &Repository, path: &[u8]) -> Option<&'static str> {
    let directory = text(path.split(|byte| *byte == b'/').next().unwrap_or_default());
    let has = |file: &str| {
        let path = plan.commands.directory.join(file);
        graph::has_path(repository, plan.bad, path.as_os_str().as_bytes())
    };
    let of_directory = BUILDS.iter().find(|(file, _, products)| *products == directory && has(file));
    let any = || BUILDS.iter().find(|(file, _, products)| *products != "node_modules" && has(file));
    of_directory.or_else(any).map(|(_, command, _)| *command)
}

/// The hint about uncommitted changes of tracked files; `None` if there are none.
pub fn uncommitted(scene: &Scene<'_>, advice: &str) -> Option<String> {
    let changed = uncommitted::changed(scene.location);
    let changed: Vec<&Vec<u8>> = changed.iter().filter(|path| !scene.plan.held.contains_key(*path)).collect();
    if changed.is_empty() {
        return None;
    }
    let names = changed
        .iter()
        .take(MAX_NAMES)
        .map(|path| format!("`{}`", text(&typed(path, scene.location))))
        .collect::<Vec<_>>()
        .join(", ");
    let more = match changed.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        n_more => format!(" and {}", count(n_more, "more file")),
    };
    Some(format!(
        "Uncommitted changes are in your working tree, but in no checkout: {names}{more}. {advice}; `git diff HEAD` \
         shows them."
    ))
}

/// The hint about a test that reads the user's working tree, whatever the revision is.
pub fn of_the_user(scene: &Scene<'_>) -> Option<String> {
    let top = scene.location.top.as_ref()?.as_os_str().as_bytes();
    let same = "Then every revision is tested with the files of your working tree. Paths relative to the checkout, or \
                `$IDD_WORKTREE`, name those of the revision";
    let script_word = hold::script(&scene.plan.order.command);
    let words = match &scene.plan.commands.test {
        Words::Argv(words) => words.iter().map(|word| word.as_bytes().to_vec()).collect(),
        Words::Shell(line) => vec![line.as_bytes().to_vec()],
    };
    // The script itself may be named so: it is the same in every revision anyway.
    let script_bytes = script_word.as_ref().map(|word| word.as_bytes().to_vec()).unwrap_or_default();
    for word in &words {
        let word = text(word).replace(&*text(&script_bytes), "");
        if let Some(path) = path_below(&word, &text(top)) {
            return Some(format!("The test command names `{path}`, which is in your working tree. {same}."));
        }
    }
    if let Some((name, script)) = script(scene.plan, scene.location) {
        if let Some((at, path)) =
            script.lines().enumerate().find_map(|(at, line)| Some((at + 1, path_below(line, &text(top))?)))
        {
            return Some(format!("Line {at} of `{name}` names `{path}`, which is in your working tree. {same}."));
        }
        let is_own = |line: &str| ["$0", "${0", "BASH_SOURCE", "__file__"].iter().any(|own| line.contains(own));
        if Path::new(&*name).is_absolute()
            && let Some(at) = script.lines().position(is_own).map(|at| at + 1)
        {
            return Some(format!(
                "`{name}` is named by its absolute path, and its line {at} looks for the place of the script: that is \
                 your working tree. {same}."
            ));
        }
    }
    SEARCH_PATHS.iter().find_map(|variable| {
        let value = toolchain::variable(&scene.plan.commands.environment, variable)?;
        let path = path_below(&value.to_string_lossy(), &text(top))?;
        Some(format!("The variable `{variable}` names `{path}`, which is in your working tree. {same}."))
    })
}

/// Directories of packages and interpreters, which are the same for every revision anyway.
const INSTALLED: [&str; 5] = ["venv", ".venv", "env", ".tox", "node_modules"];

/// The first path in a text that is `top` or below it, but not in a directory of packages.
fn path_below(line: &str, top: &str) -> Option<String> {
    let is_whole = |at: &usize| {
        let after = line[at + top.len()..].chars().next();
        let before = line[..*at].chars().next_back();
        after.is_none_or(|letter| letter == '/' || !(letter.is_alphanumeric() || "-_.".contains(letter)))
            && before.is_none_or(|letter| !(letter.is_alphanumeric() || "-_./".contains(letter)))
    };
    let is_end = |letter: char| letter.is_whitespace() || "'\"`;:|&()<>".contains(letter);
    let path = |at: usize| line[at..].split(is_end).next().unwrap_or_default();
    let mut paths = line.match_indices(top).map(|(at, _)| at).filter(is_whole).map(path);
    paths.find(|path| !path[top.len()..].split('/').any(|part| INSTALLED.contains(&part))).map(str::to_owned)
}

/// The script of the test as it is written in the command, and its text.
fn script(plan: &Plan, location: &Location) -> Option<(String, String)> {
    let script = hold::script(&plan.order.command)?;
    let place = match hold::inside(&script, location) {
        Some(path) => location.top.as_ref()?.join(OsStr::from_bytes(&path)),
        None => Path::new(&script).to_owned(),
    };
    // Reading a pipe would not end.
    let bytes = place
        .is_file()
        .then(|| disk::bytes_up_to(&place, MAX_SCRIPT).ok())
        .flatten()
        .filter(|bytes| !bytes.contains(&0))?;
    Some((script.to_string_lossy().into_owned(), text(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_working_tree_is_found_in_a_line() {
        for (line, expected) in [
            ("cat /r/p/data.txt | x", Some("/r/p/data.txt")),
            ("cd \"/r/p\" && make", Some("/r/p")),
            ("A=/r/p/b:/c", Some("/r/p/b")),
            ("cat /r/pq /a/r/p x/r/p", None),
            ("/r/p-old/x", None),
            ("/r/p/.venv/bin/python /r/p/t.py", Some("/r/p/t.py")),
        ] {
            assert_eq!(path_below(line, "/r/p").as_deref(), expected, "{line}");
        }
    }
}
