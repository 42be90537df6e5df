//! Completions for bash, zsh and fish.
//!
//! Each shell gets a function for its own completion of git. The function calls this program with the words up to the
//! cursor, and clap's engine finds the candidates from the parser. If there are none, the shell completes paths.
//! Revisions, hunts and recordings are those of the repository.

use crate::args;
use crate::args::options::Shell;
use crate::args::words::split;
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, complete};
use idd_session::{Context, kept};
#[cfg(feature = "explain")]
use idd_world::record::store;
use idd_world::repo::{Location, locate, refs};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::Arc;

/// The function for `_git_idd`, which git's completion calls with `words`, `cword` and `cur`. The shell replaces only
/// the part of a word after its `=`.
const BASH: &str = r#"# Completion of `git idd` for bash; git's own has to be loaded, too.
_git_idd () {
    local candidate prefix= first=$((${__git_cmd_idx:-1} + 1))
    [[ $cur == --*=* ]] && prefix=${cur%%=*}=
    COMPREPLY=()
    while IFS= read -r candidate; do
        printf -v candidate '%q ' "${candidate#"$prefix"}"
        COMPREPLY+=("$candidate")
    done < <(git idd completions bash -- "${words[@]:first:cword-first+1}" 2>/dev/null)
}
__git_complete git-idd _git_idd
"#;

const ZSH: &str = r#"#compdef git-idd
#description find the change that broke a test
# Completion of `git idd` for zsh; git's own has to be loaded, too.
_git-idd () {
    local ret=1
    local -a candidates
    candidates=(${(f)"$(git idd completions zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#candidates )); then
        _describe -V 'git idd' candidates && ret=0
    else
        (( CURRENT == 2 )) && _command_names -e && ret=0
        compset -P 1 '--*='
        _files && ret=0
    fi
    return ret
}
[[ $funcstack[1] == _git-idd ]] && _git-idd "$@"
"#;

const FISH: &str = r#"# Completion of `git idd` for fish.
function __fish_git_idd
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    while set -q words[1]; and test "$words[1]" != idd
        set -e words[1]
    end
    set -e words[1]
    set -l candidates (git idd completions fish -- $words "$current" 2>/dev/null)
    set -l parts (string split -m 1 = -- "$current")
    if set -q candidates[1]
        printf '%s\n' $candidates
    else if string match -q -- '--*=*' "$current"
        printf '%s\n' "$parts[1]="(__fish_complete_path "$parts[2]")
    else
        __fish_complete_path "$current"
    end
end
complete -c git -n __fish_git_needs_command -f -a idd -d 'Find the change that broke a test'
complete -c git -n '__fish_git_using_command idd' -f -k -a '(__fish_git_idd)'
"#;

/// The function for a shell.
pub fn function(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
    }
}

/// The candidates for the last of `words`, one a line in the form of the shell, with their help if it can show it.
///
/// - `words`: the words after `git idd`, up to the cursor.
/// - Result: empty if the last word is part of a test command, or if the shell completes it as a path.
pub fn candidates(shell: Shell, words: &[OsString], context: &Context) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for candidate in found(words, context)? {
        let value = candidate.get_value().as_bytes();
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.lines().next().filter(|_| shell != Shell::Bash);
        match shell {
            Shell::Bash | Shell::Fish => lines.extend_from_slice(value),
            // A colon ends the value.
            Shell::Zsh => value.iter().for_each(|byte| match byte {
                b'\\' | b':' => lines.extend([b'\\', *byte]),
                _ => lines.push(*byte),
            }),
        }
        if let Some(help) = help {
            lines.push(if shell == Shell::Zsh { b':' } else { b'\t' });
            lines.extend_from_slice(help.as_bytes());
        }
        lines.push(b'\n');
    }
    Ok(lines)
}

fn found(words: &[OsString], context: &Context) -> io::Result<Vec<CompletionCandidate>> {
    // `help` takes the name of a command.
    let words = words.strip_prefix(&["help".into()]).filter(|rest| rest.len() == 1).unwrap_or(words);
    let Some((current, before)) = words.split_last() else { return Ok(Vec::new()) };
    let argv = |words: &[OsString]| [&["git-idd".into()], words].concat();
    let parts = split(argv(before));
    if parts.has_test || parts.after.iter().any(|word| word == "--") {
        return Ok(Vec::new());
    }
    let mut command = with_candidates(args::command(), &Arc::new(context.clone()));
    let mut found = complete(&mut command, argv(words), words.len(), None)?;
    // The engine offers every option for an empty word.
    let is_option = |bytes: &[u8]| bytes.starts_with(b"-");
    if !is_option(current.as_bytes()) {
        found.retain(|candidate| !is_option(candidate.get_value().as_bytes()));
    }
    Ok(found)
}

/// Adds the candidates that only the repository has.
fn with_candidates(command: Command, context: &Arc<Context>) -> Command {
    let with = |arg: Arg| {
        let Some(list) = list(&arg) else { return arg };
        let context = Arc::clone(context);
        arg.add(ArgValueCandidates::new(move || {
            let location = locate::locate(&context.directory, &context.environment);
            location.map(|location| list(&location)).unwrap_or_default().into_iter().map(Into::into).collect()
        }))
    };
    command.mut_args(with).mut_subcommands(|command| with_candidates(command, context))
}

/// The list that has the values of an argument. Its name in the help decides: `REV` is a revision.
fn list(arg: &Arg) -> Option<fn(&Location) -> Vec<OsString>> {
    let name = arg.get_value_names().and_then(|names| names.first()).map(clap::builder::Str::as_str);
    match (arg.get_id().as_str(), name) {
        ("hunt", _) => Some(hunts),
        #[cfg(feature = "explain")]
        ("recording", _) => Some(recordings),
        (_, Some("REV" | "REV|PROBE" | "GOOD" | "BAD")) => Some(revisions),
        _ => None,
    }
}

fn hunts(location: &Location) -> Vec<OsString> {
    kept::all(location).unwrap_or_default().into_iter().map(Into::into).collect()
}

#[cfg(feature = "explain")]
fn recordings(location: &Location) -> Vec<OsString> {
    store::all(&location.session_directory()).into_iter().map(Into::into).collect()
}

fn revisions(location: &Location) -> Vec<OsString> {
    let names = refs::short_names(location).unwrap_or_default();
    [b"HEAD".to_vec()].into_iter().chain(names).map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_session::Embedding;

    /// The candidates for the end of a line, as bash reads them, outside of a repository.
    fn offered(line: &str) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let environment = vec![("GIT_DIR".into(), place.path().join("none").into())];
        let context = Context {
            directory: place.path().to_owned(),
            environment,
            configuration: Vec::new(),
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        };
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let lines = String::from_utf8(candidates(Shell::Bash, &words, &context).unwrap()).unwrap();
        lines.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_first_word_is_a_subcommand_or_an_option() {
        assert_eq!(offered("s"), ["shrink", "start", "skip", "status", "show", "slice", "setup"]);
        assert!(offered("").iter().all(|name| args::command().find_subcommand(name).is_some()));
        assert_eq!(offered("--expo"), ["--expose-commit"]);
        assert_eq!(offered("--json --level file sta"), ["start", "status"]);
        assert_eq!(offered("--no-cle"), ["--no-clean"]);
        assert_eq!(offered("help st"), ["start", "status"]);
    }

    #[test]
    fn an_option_has_the_values_of_its_own_subcommand() {
        assert_eq!(offered("--until fi"), ["fix"]);
        assert_eq!(offered("--walk=l"), ["--walk=linear"]);
        assert_eq!(offered("explain --at "), ["culprit", "head"]);
        assert_eq!(offered("log --format b"), ["bisect"]);
        assert_eq!(offered("report --format b"), Vec::<String>::new());
    }

    #[test]
    fn a_subcommand_can_have_subcommands() {
        assert_eq!(offered("trace st"), ["stat", "step"]);
        assert_eq!(offered("trace tree --de"), ["--depth"]);
    }

    #[test]
    fn nothing_is_offered_for_a_test_command_and_for_paths() {
        for line in ["./t", "make ", "make --j", "-- s", "record -- sh", "minimize a b -- --l", "--hold ", "show x"] {
            assert_eq!(offered(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn each_shell_gets_the_help_in_its_form() {
        let context = Context {
            directory: "/".into(),
            environment: Vec::new(),
            configuration: Vec::new(),
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        };
        let lines = |shell| String::from_utf8(candidates(shell, &["gc".into()], &context).unwrap()).unwrap();
        let help = "Delete old hunts, data that no hunt needs, and all recordings but the last one";
        assert_eq!(lines(Shell::Bash), "gc\n");
        assert_eq!(lines(Shell::Zsh), format!("gc:{help}\n"));
        assert_eq!(lines(Shell::Fish), format!("gc\t{help}\n"));
    }
}
