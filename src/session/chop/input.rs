//! The inputs of a run that count, and the files among them that can be reduced.

use crate::explain::change::LinesByPath;
use crate::order::TestCommand;
use crate::recorded::failed;
use crate::slice::criterion::is_named;
use crate::sources::RecordedSources;
use crate::{Context, Failure, hold};
use idd_trace::input::{InputEntry, InputSource};
use idd_trace::{Execution, Step};
use idd_world::files;
use idd_world::repo::Location;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The name of standard input.
const STANDARD: &str = "-";

/// Refuses a name that is a directory.
pub fn refuse_directories(names: &[String], context: &Context) -> Result<(), Failure> {
    match names.iter().find(|name| context.directory.join(name).is_dir()) {
        Some(name) => Err(Failure::usage(format!("the input `{name}` is a directory"))
            .with_hint("`--input` takes a file, and may be given more than once")),
        None => Ok(()),
    }
}

/// The names that are files: inputs that can be put into the checkout, and reduced.
pub fn named_files(names: &[String], context: &Context) -> Vec<OsString> {
    let is_file = |name: &&String| *name != STANDARD && context.directory.join(name).is_file();
    names.iter().filter(is_file).map(OsString::from).collect()
}

/// The names of the files that a recorded run has opened, or that its test gives to it.
///
/// Cost: one pass over the trace.
fn opened(run: &mut dyn Execution, sources: &RecordedSources, test: &TestCommand) -> Result<Vec<String>, Failure> {
    let entries = entries(run, sources, None)?;
    let opened = entries.iter().filter_map(|entry| match &entry.source {
        InputSource::File(name) => Some(name.clone()),
        _ => None,
    });
    let is_standard = entries.iter().any(|entry| entry.source == InputSource::Standard);
    let redirected = is_standard.then(|| redirected(test, sources)).into_iter().flatten();
    Ok(opened.chain(redirected).collect())
}

/// The files that a recorded run has read, or that its test gives to it, and that the change touches.
///
/// Cost: one pass over the trace.
pub fn changed_files(
    run: &mut dyn Execution,
    sources: &RecordedSources,
    test: &TestCommand,
    changed: &LinesByPath,
) -> Result<Vec<String>, Failure> {
    let names = opened(run, sources, test)?;
    let paths: BTreeSet<String> = names.into_iter().filter_map(|name| Some(sources.find(&name)?.0)).collect();
    Ok(paths.into_iter().filter(|path| changed.contains_key(path)).collect())
}

/// The files of the working tree that a recorded run has read, or that its test gives to it, as absolute paths; none if
/// the content of one of them differs from that of the recorded version.
pub fn read_files(
    run: &mut dyn Execution,
    sources: &RecordedSources,
    test: &TestCommand,
    location: &Location,
) -> Result<Vec<OsString>, Failure> {
    let Some(top) = &location.top else { return Ok(Vec::new()) };
    let names = opened(run, sources, test)?;
    let mut paths: Vec<String> = Vec::new();
    for name in names {
        let found = sources.find(&name).filter(|(path, _)| !paths.contains(path));
        let is_alike = |path: &str| name.ends_with(path) || path.ends_with(name.trim_start_matches("./"));
        let Some((path, content)) = found.filter(|(path, _)| is_alike(path)) else { continue };
        let on_disk = top.join(&path);
        // A program of the test is no input.
        if content.is_empty() || files::is_executable(&on_disk) {
            continue;
        }
        if files::bytes_up_to(&on_disk, content.len() as u64).ok().as_ref() != Some(&content) {
            return Ok(Vec::new());
        }
        paths.push(path);
    }
    Ok(paths.into_iter().map(|path| top.join(path).into_os_string()).collect())
}

/// The files that a test redirects to a program: by its shell line, or by its script.
fn redirected(test: &TestCommand, sources: &RecordedSources) -> Vec<String> {
    let script = hold::script(test).and_then(|script| sources.content(&script.to_string_lossy()));
    let line = match test {
        TestCommand::Shell(line) => Some(line.as_bytes().to_vec()),
        TestCommand::Argv(_) => None,
    };
    let texts = [line, script].into_iter().flatten();
    texts.flat_map(|text| redirections(&String::from_utf8_lossy(&text))).collect()
}

/// The plain names after `<` in a text for the shell.
fn redirections(text: &str) -> Vec<String> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-/+,:@%".contains(letter);
    let ends = text.match_indices('<').filter(|(at, _)| !text[..*at].ends_with('<'));
    let names = ends.filter_map(|(at, _)| {
        let after = text[at + 1..].trim_start_matches([' ', '"', '\'']);
        let end = after.find(|letter| !is_plain(letter)).unwrap_or(after.len());
        (end > 0 && !text[at + 1..].starts_with('<')).then(|| after[..end].to_owned())
    });
    names.collect()
}

/// Whether an entry comes from outside, and not from the system.
pub fn is_outside(entry: &InputEntry) -> bool {
    !matches!(entry.source, InputSource::System(_))
}

/// All entries of input; `standard` names the file that standard input comes from.
fn entries(
    run: &mut dyn Execution,
    sources: &RecordedSources,
    standard: Option<&String>,
) -> Result<Vec<InputEntry>, Failure> {
    let mut contents = |source: &InputSource| match (source, standard) {
        (InputSource::Standard, Some(file)) => sources.content(file),
        _ => sources.input(source),
    };
    run.inputs(Step(u32::MAX), &mut contents).map_err(|error| failed(&error))
}

/// The entries of the inputs that were asked for, and all others that come from outside of the process.
///
/// - `asked`: names of inputs; all that the program reads if there is none.
pub fn inputs(
    run: &mut dyn Execution,
    asked: &[String],
    sources: &RecordedSources,
) -> Result<(Vec<InputEntry>, Vec<InputEntry>), Failure> {
    let is_asked = |entry: &InputEntry| asked.iter().any(|name| is_named(&entry.source, name));
    let found = entries(run, sources, None)?;
    if asked.is_empty() {
        return Ok(found.into_iter().partition(is_outside));
    }
    if found.iter().any(is_asked) {
        return Ok(found.into_iter().partition(is_asked));
    }
    // A test may redirect its file to the program.
    let redirected = asked.iter().find(|name| sources.content(name).is_some());
    if let Some(file) = redirected
        && found.iter().any(|entry| entry.source == InputSource::Standard)
    {
        let found = entries(run, sources, Some(file))?;
        return Ok(found.into_iter().partition(|entry| entry.source == InputSource::Standard));
    }
    let (known, asked) = (names(&found).join(", "), asked.join("`, `"));
    let failure = Failure::error(format!("the program did not read `{asked}`"));
    Err(if known.is_empty() {
        failure.with_hint("it read no input; `--program` names another program that the test runs")
    } else {
        failure.with_hint(format!("its inputs are: {known} (`-` is standard input)"))
    })
}

/// The sources of entries, each once.
pub fn names(entries: &[InputEntry]) -> Vec<String> {
    // Where single arguments are known, those say more than their number.
    let has_argument = entries.iter().any(|entry| matches!(entry.source, InputSource::Argument(_)));
    let shown = entries.iter().filter(|entry| !has_argument || entry.source != InputSource::Arguments);
    let mut names: Vec<String> = shown.map(|entry| entry.source.to_string()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_names_after_a_redirection_may_be_inputs() {
        let line = "./p -n <in.txt | cmp - 'good.txt'; ./q < \"a/b_c\" 2>&1 <<END <$x <(ls) 3<&1 <last";
        assert_eq!(redirections(line), ["in.txt", "a/b_c", "last"]);
    }
}
