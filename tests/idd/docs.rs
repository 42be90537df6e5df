//! The documents say what the program does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use regex::Regex;

use clap::Arg;
use git_idd::args;
use idd_report::status::TABLE;

use crate::{fixture, scan, tidy};

fn read(name: &str) -> String {
    fs::read_to_string(fixture::root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    rest.split("\n## ").next().unwrap()
}

/// The lines of all code blocks in `text`.
fn commands(text: &str) -> Vec<&str> {
    text.split("```")
        .skip(1)
        .step_by(2)
        .flat_map(|block| block.lines().skip(1))
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_readme_has_two_commands_to_set_up_and_the_scripts_they_name_exist() {
    let readme = read("README.md");
    let commands = commands(section(&readme, "Set up"));
    assert_eq!(commands, ["cargo install --locked --path . && ./scripts/demo.sh", "./scripts/check.sh"]);
    for script in ["scripts/demo.sh", "scripts/check.sh", ".ci/run"] {
        assert!(fixture::root().join(script).is_file(), "{script}");
    }
    let ci = read(".ci/run");
    assert!(ci.lines().any(|line| line.starts_with("exec ") && line.contains("/scripts/check.sh")));
}

#[test]
fn the_readme_is_a_front_page() {
    let n_lines = read("README.md").lines().count();
    assert!(n_lines <= 180, "{n_lines} lines");
}

/// One row of a table: what is typed, what it does, and what holds without it.
fn row(table: &mut String, arg: &Arg) {
    let mut typed = match (arg.get_long(), arg.get_short()) {
        (Some(long), Some(short)) => format!("-{short}, --{long}"),
        (Some(long), None) => format!("--{long}"),
        _ => String::new(),
    };
    let values: Vec<String> = arg.get_value_names().into_iter().flatten().map(|name| format!("<{name}>")).collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        let is_optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0) && !arg.is_positional();
        let values = values.join(" ");
        match (typed.is_empty(), is_optional) {
            (true, _) => typed = values,
            (false, true) => write!(typed, "[={values}]").unwrap(),
            (false, false) => write!(typed, " {values}").unwrap(),
        }
    }
    let mut help = arg.get_help().unwrap_or_default().to_string().replace('|', "\\|");
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !possible.is_empty() && !arg.is_hide_possible_values_set() {
        write!(help, ": {}", possible.join(", ")).unwrap();
    }
    let default: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let default = if arg.get_action().takes_values() { default.join(" ") } else { String::new() };
    writeln!(table, "| `{}` | {help} | {default} |", typed.replace('|', "\\|")).unwrap();
}

/// The options of a command, in tables by their headings, and then its subcommands.
fn page_of(page: &mut String, command: &clap::Command, name: &str, level: usize) {
    writeln!(page, "\n{} `{name}`\n\n{}.", "#".repeat(level), command.get_about().unwrap_or_default()).unwrap();
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in &shown {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            write!(page, "\n**{heading}**\n").unwrap();
        }
        page.push_str("\n| argument | meaning | default |\n|---|---|---|\n");
        shown.iter().filter(|arg| arg.get_help_heading() == heading).for_each(|arg| row(page, arg));
    }
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        page_of(page, subcommand, &format!("{name} {}", subcommand.get_name()), (level + 1).min(3));
    }
}

/// `IDD_WRITE_DOCS=1` writes the page anew.
#[test]
#[cfg_attr(not(feature = "explain"), ignore = "it needs recordings")]
fn the_page_of_options_is_what_the_program_understands() {
    let mut page = "# Commands and options\n\nThis page is made from the program itself. What a command does with its options is explained in [the manual](README.md);
`git idd <command> --help` has more about each option.\n"
        .to_owned();
    page_of(&mut page, &args::command(), "git idd", 2);
    let path = fixture::root().join("docs/manual/options.md");
    if std::env::var_os("IDD_WRITE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(written.lines()).find(|(now, then)| now != then);
    assert!(
        page == written,
        "`IDD_WRITE_DOCS=1 cargo test docs::` writes the page anew; the first difference: {differs:?}"
    );
}

#[test]
fn the_reference_has_the_table_of_exit_codes() {
    let reference = read("docs/manual/reference.md");
    let rows: Vec<String> =
        TABLE.iter().map(|row| format!("| {} | `{}` | {} |", row.code, row.word, row.meaning)).collect();
    assert!(section(&reference, "Exit codes").contains(&rows.join("\n")), "expected\n{}", rows.join("\n"));
}

/// The files that the product has inside, by their paths from the root of the package.
fn embedded(path: &str, source: &str) -> Vec<PathBuf> {
    let name = Regex::new(r#"include_(?:str|bytes)!\("([^"]+)"\)"#).unwrap();
    let family = Regex::new(r#"include_str!\(concat!\("([^"]+)", \$name, "/([^"]+)"\)\)"#).unwrap();
    let at = |name: &str| {
        let path = Path::new(path).parent().unwrap().join(name);
        path.components().fold(PathBuf::new(), |path, part| match part {
            Component::ParentDir => path.parent().unwrap().to_owned(),
            part => path.join(part),
        })
    };
    // Line breaks stay where they are.
    let (product, _) = scan::without_tests(&scan::code_of(source));
    let lines = product
        .lines()
        .zip(source.lines())
        .filter(|(code, _)| code.contains("include_str!") || code.contains("include_bytes!"));
    let mut files = Vec::new();
    for (_, line) in lines {
        if let Some(found) = name.captures(line) {
            files.push(at(&found[1]));
        } else if let Some(found) = family.captures(line) {
            let directory = at(&found[1]);
            for entry in fs::read_dir(fixture::root().join(&directory)).unwrap() {
                let entry = entry.unwrap();
                if entry.path().is_dir() {
                    files.push(directory.join(entry.file_name()).join(&found[2]));
                }
            }
        } else {
            panic!("{path}: this test does not understand: {line}");
        }
    }
    files
}

/// The packages of the workspace, each with its directory.
fn packages() -> BTreeMap<String, PathBuf> {
    let directories = fs::read_dir(fixture::root().join("src")).unwrap().map(|entry| entry.unwrap().path());
    let members = directories.filter(|directory| directory.join("Cargo.toml").exists());
    let members = members.map(|directory| {
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        (format!("idd-{name}"), Path::new("src").join(name))
    });
    members.chain([("git-idd".to_owned(), PathBuf::new())]).collect()
}

#[test]
fn the_packages_have_everything_that_their_build_needs_and_are_small() {
    let packages = packages();
    let sources = tidy::sources();
    let tests = tidy::test_modules(&sources);
    let is_test = |path: &str| tests.iter().any(|module| Path::new(path).with_extension("").starts_with(module));
    let directory_of = |path: &Path| {
        let member = packages.values().find(|directory| directory.iter().count() > 0 && path.starts_with(directory));
        member.cloned().unwrap_or_default()
    };
    let (mut n_needed, mut n_bytes) = (0, 0);
    for (package, directory) in &packages {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["package", "--list", "--allow-dirty", "--offline", "--package", package]);
        let output = cargo.current_dir(fixture::root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let listed = String::from_utf8(output.stdout).unwrap();
        let listed: BTreeSet<PathBuf> = listed.lines().map(|path| directory.join(path)).collect();
        let mut needed: BTreeSet<PathBuf> = ["Cargo.toml", "Cargo.lock"].map(|name| directory.join(name)).into();
        for (path, source) in sources.iter().filter(|(path, _)| path.starts_with("src/") && !is_test(path)) {
            if directory_of(Path::new(path)) == *directory {
                needed.insert(path.into());
                needed.extend(embedded(path, source));
            }
        }
        let missing: Vec<_> = needed.difference(&listed).collect();
        assert!(missing.is_empty(), "{package}: {missing:?}");
        n_needed += needed.len();
        // Two of them are made by cargo.
        let size = |path: &PathBuf| fs::metadata(fixture::root().join(path)).map_or(0, |metadata| metadata.len());
        n_bytes += listed.iter().map(size).sum::<u64>();
        for excluded in ["tests", "fixtures-repos", "scripts", "fuzz", "grammars", ".ci"] {
            assert!(!listed.iter().any(|path| path.starts_with(excluded)), "{excluded} is in {package}");
        }
    }
    assert!(n_needed > 700, "{n_needed}");
    assert!(n_bytes < 9 << 20, "{n_bytes} bytes before they are compressed");
}

#[test]
fn the_changelog_has_a_place_for_the_next_release() {
    assert!(read("CHANGELOG.md").contains("\n## [Unreleased]\n"));
}

/// The texts between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_name_in_the_walks_of_the_architecture_is_in_the_file_beside_it() {
    let page = read("ARCHITECTURE.md");
    let mut n_steps = 0;
    for row in
        page.lines().filter(|line| line.starts_with("| ") && line[2..].starts_with(|sign: char| sign.is_ascii_digit()))
    {
        let columns: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, files, names] = columns[..] else { panic!("not three columns: {row}") };
        let sources: String = quoted(files).iter().map(|file| read(&format!("src/{file}"))).collect();
        for name in quoted(names) {
            let last = name.rsplit("::").next().unwrap();
            // A name in lower case is that of a function, which is defined there.
            let is_function = last.chars().all(|sign| sign.is_ascii_lowercase() || matches!(sign, '_' | '0'..='9'));
            let definition = if is_function && !last.starts_with("__") { "fn " } else { "" };
            let pattern = Regex::new(&format!(r"\b{definition}{}\b", regex::escape(last))).unwrap();
            assert!(pattern.is_match(&sources), "`{name}` is not in {files}");
            n_steps += 1;
        }
    }
    assert!(n_steps > 60, "{n_steps} names");
}

#[test]
fn the_example_of_an_option_is_in_the_files_that_the_guide_names() {
    let guide = read("CONTRIBUTING.md");
    let paragraph = guide.split("\n\n").find(|text| text.starts_with("**an option of a hunt**")).unwrap();
    let quoted = quoted(paragraph);
    let field = quoted.iter().find_map(|word| word.strip_prefix("--")).unwrap().replace('-', "_");
    let field = Regex::new(&format!(r"\b{field}\b")).unwrap();
    let files: Vec<_> = quoted.iter().filter(|word| word.starts_with("src/")).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        assert!(field.is_match(&read(file)), "{file} does not name the option");
    }
}

/// The anchor that a page has for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

/// The targets of all links in a page, code blocks left out.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn every_link_of_the_documents_leads_to_a_file_and_a_heading() {
    let root = fixture::root();
    let mut pages: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
        .iter()
        .map(|name| root.join(name))
        .collect();
    let manual = fs::read_dir(root.join("docs/manual")).unwrap();
    pages.extend(manual.map(|entry| entry.unwrap().path()));
    let mut broken = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.starts_with("http")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap_or(Path::new("")).join(file) };
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading)
            };
            if !target.exists() || (!heading.is_empty() && !has_heading()) {
                broken.push(format!("{}: {link}", page.strip_prefix(root).unwrap_or(page).display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
