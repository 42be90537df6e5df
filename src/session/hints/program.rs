//! Why a test command cannot be run.

use crate::hints::near::is_near_file;
use crate::hints::{files, text, typed};
use crate::hold;
use crate::order::TestCommand;
use crate::plan::Plan;
use idd_world::files as disk;
use idd_world::files::OnDisk;
use idd_world::process::shell;
use idd_world::repo::{Location, Repository, graph, locate};
use idd_world::run::toolchain;
use regex::Regex;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::LazyLock;

/// The hint for a command that was not found or could not be executed, from what the working tree has of the file that
/// it names; `None` if that shows no cause.
pub fn hint(plan: &Plan, location: &Location, repository: &Repository) -> Option<String> {
    let top = location.top.as_ref()?;
    if hold::program_word(&plan.order.command).is_some_and(|program| program == SOURCE) {
        return of_shell(&plan.order.command, SOURCE);
    }
    let Some(script) = hold::script(&plan.order.command) else {
        let program = hold::program_word(&plan.order.command)?;
        let path = hold::inside(&program, location).filter(|path| !path.is_empty())?;
        let is_file = top.join(OsStr::from_bytes(&path)).is_file();
        let name = program.to_string_lossy();
        if is_file {
            return Some(format!("a program of the tree is named by its path: `./{name}`"));
        }
        if let Some(hint) = of_shell(&plan.order.command, &name) {
            return Some(hint);
        }
        let is_missing = toolchain::is_missing(&plan.commands.environment, &name);
        return is_missing.then(|| {
            format!("there is no program `{name}` in PATH; functions and aliases of your shell do not exist for the test: give their command, or a script")
        });
    };
    let name = script.to_string_lossy();
    let path = hold::inside(&script, location).filter(|path| !path.is_empty())?;
    let place = top.join(OsStr::from_bytes(&path));
    if place.is_dir() {
        return Some(format!("`{name}` is a directory; give the command that runs the tests in it"));
    }
    let is_held = plan.held.contains_key(&path);
    match disk::read(top, &path) {
        Some(OnDisk::File { is_executable: false, bytes })
            if is_held || graph::has_path(repository, plan.bad, &path) =>
        {
            let word = shell::quoted_text(script.as_os_str().as_bytes());
            let start = interpreter(&bytes).map(|interpreter| {
                format!(
                    ", or start it with its interpreter, as `{} {word}`",
                    shell::quoted_text(interpreter.as_bytes())
                )
            });
            Some(format!("`{name}` is not executable: `chmod +x {word}` makes it so{}", start.unwrap_or_default()))
        }
        Some(_) if !is_held && !graph::has_path(repository, plan.bad, &path) => {
            let is_ignored = locate::is_ignored(location, &path, &plan.commands.environment);
            is_ignored.then(|| files::product(plan, location, repository, &path, "the test command names it"))
        }
        Some(_) => None,
        None if graph::has_path(repository, plan.bad, &path) => None,
        None => {
            let meant = nearest(&path, location, plan)?;
            let meant = text(&typed(&meant, location));
            let here = if meant.starts_with("../") { "" } else { "./" };
            Some(format!("there is no `{name}`; did you mean `{here}{meant}`?"))
        }
    }
}

/// The hint for a line that another shell understands.
fn of_shell(command: &TestCommand, program: &str) -> Option<String> {
    match command {
        TestCommand::Shell(line) if program == SOURCE || SYNTAX.is_match(&line.to_string_lossy()) => {
            let line = shell::quoted_text(line.as_bytes());
            Some(format!("`/bin/sh` runs the line, but only bash understands it: `git idd -- bash -c {line}`"))
        }
        _ => None,
    }
}

/// What bash calls `.`.
const SOURCE: &str = "source";

/// What bash reads, and `/bin/sh` does not.
static SYNTAX: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\|&|\[\[|<\(|>\(|<<<").expect("a valid pattern"));

/// Messages of the shell that runs a line, not of one that the line starts.
static OF_LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:/bin/)?sh: (?:-c: )?(?:line )?(?:\d+: )?(.*)$").expect("a valid pattern"));

/// Programs that start the program that they are given.
const STARTERS: [&str; 9] = ["env", "nice", "timeout", "time", "xvfb-run", "script", "sudo", "setsid", "stdbuf"];

/// Whether `/bin/sh` cannot read the line.
pub fn is_unreadable(command: &TestCommand, output: &str) -> bool {
    let is_line = matches!(command, TestCommand::Shell(_));
    let is_syntax = |said: &str| said.to_lowercase().contains("syntax error");
    is_line && OF_LINE.captures_iter(output).any(|said| is_syntax(&said[1]))
}

/// Whether the command itself was started, so an exit code of 126 or 127 comes from inside of it.
pub fn has_started(command: &TestCommand, output: &str) -> bool {
    match command {
        TestCommand::Argv(words) => {
            let program = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
            let name = program.rsplit('/').next().unwrap_or_default();
            let is_line = words.get(1).is_some_and(|word| word.as_bytes().starts_with(b"-"));
            let is_of_another = STARTERS.contains(&name) || name.ends_with("sh") && is_line;
            !is_of_another && !output.contains("git-idd: cannot run `")
        }
        TestCommand::Shell(_) => hold::script(command).is_some() && !OF_LINE.is_match(output),
    }
}

/// Whether the command names a directory of the working tree as its program.
pub fn is_directory(plan: &Plan, location: &Location) -> bool {
    let place = plan.program.as_ref().zip(location.top.as_ref());
    place.is_some_and(|(path, top)| top.join(OsStr::from_bytes(path)).is_dir())
}

/// Whether the script of the command is neither in the working tree nor in the bad revision.
pub fn is_absent(plan: &Plan, location: &Location, repository: &Repository) -> bool {
    let script = hold::script(&plan.order.command);
    let path = script.and_then(|script| hold::inside(&script, location)).filter(|path| !path.is_empty());
    let is_there = |path: &Vec<u8>| {
        let top = location.top.as_deref().unwrap_or(Path::new("/"));
        top.join(OsStr::from_bytes(path)).exists() || graph::has_path(repository, plan.bad, path)
    };
    path.is_some_and(|path| !is_there(&path))
}

/// The interpreter that the first line of a script names, `sh` without such a line; `None` for what is no script.
fn interpreter(bytes: &[u8]) -> Option<String> {
    let first = str::from_utf8(bytes.split(|byte| *byte == b'\n').next()?).ok()?;
    let mut words = first.strip_prefix("#!").unwrap_or("sh").split_whitespace();
    let program = words.next()?;
    // `env` may have options and assignments before the program.
    let mut others = words.skip_while(|word| word.starts_with('-') || word.contains('='));
    let program = if program.ends_with("/env") { others.next()? } else { program };
    program.rsplit('/').next().map(str::to_owned)
}

/// The file that a path probably means: one of its directory, else a tracked one with the same name.
fn nearest(path: &[u8], location: &Location, plan: &Plan) -> Option<Vec<u8>> {
    let top = location.top.as_ref()?;
    let at = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (directory, name) = path.split_at(at);
    let names = disk::names(&top.join(OsStr::from_bytes(directory)));
    let mut near = names.iter().filter(|other| is_near_file(name, other.as_bytes()));
    let is_file = |other: &&std::ffi::OsString| top.join(OsStr::from_bytes(directory)).join(other).is_file();
    if let Some(other) = near.find(is_file) {
        return Some([directory, other.as_bytes()].concat());
    }
    let tracked = locate::tracked(location, &plan.commands.environment);
    let last = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
    tracked.into_iter().find(|other| last(other) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_is_the_one_of_the_first_line() {
        for (line, expected) in [
            ("#!/bin/sh\n", "sh"),
            ("#!/usr/bin/env python3\nx\n", "python3"),
            ("#! /usr/bin/perl -w", "perl"),
            ("echo x\n", "sh"),
        ] {
            assert_eq!(interpreter(line.as_bytes()).as_deref(), Some(expected));
        }
    }
}
