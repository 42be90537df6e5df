//! Completions for bash, zsh and fish, from the parser: options with their values, subcommands, revisions, paths.
//!
//! They use the shell's completion of git, so that `git idd --good <tab>` completes revisions. The name of a value in
//! the help decides its kind: `REV` is a revision, `PATH` or `FILE` a path.

use std::io;
use std::io::Write;

use clap::Arg;
use clap::Command;

use crate::cli::args;
use crate::cli::args::options::Shell;

/// The kind of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The argument is a flag.
    None,
    Revision,
    Path,
    Words(Vec<String>),
    /// The id of a stored hunt.
    Hunt,
    /// A number, a duration, a command.
    Other,
}

fn kind(arg: &Arg) -> Kind {
    if !arg.get_action().takes_values() {
        return Kind::None;
    }
    let words: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let names = arg.get_value_names().unwrap_or_default();
    match names.first().map(clap::builder::Str::as_str) {
        _ if !words.is_empty() => Kind::Words(words),
        _ if arg.get_id() == "hunt" => Kind::Hunt,
        Some("REV" | "GOOD" | "BAD") => Kind::Revision,
        Some("PATH" | "FILE" | "PATCH|DIR" | "PATHSPEC") => Kind::Path,
        _ => Kind::Other,
    }
}

/// Prints the ids of the stored hunts.
const HUNTS: &str = "git idd list 2>/dev/null | sed -n \"s/^[* ] \\([0-9a-z-]*\\) .*/\\1/p\"";

/// An option as typed by people.
struct Opt {
    long: String,
    short: Option<char>,
    help: String,
    kind: Kind,
}

fn options(command: &Command) -> Vec<Opt> {
    let is_shown = |arg: &&Arg| !arg.is_positional() && !arg.is_hide_set();
    let option = |arg: &Arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let short = arg.get_short();
        Some(Opt { long: arg.get_long()?.to_owned(), short, help: first_sentence(&help), kind: kind(arg) })
    };
    command.get_arguments().filter(is_shown).filter_map(option).collect()
}

fn first_sentence(help: &str) -> String {
    help.split([';', ':', '(']).next().unwrap_or_default().trim_end_matches(['.', ' ']).to_owned()
}

fn about(command: &Command) -> String {
    first_sentence(&command.get_about().map(ToString::to_string).unwrap_or_default())
}

fn names(command: &Command) -> String {
    command.get_subcommands().map(Command::get_name).collect::<Vec<_>>().join(" ")
}

/// Writes the completions for a shell.
pub fn write(shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    let command = args::command();
    match shell {
        Shell::Bash => bash(&command, out),
        Shell::Zsh => zsh(&command, out),
        Shell::Fish => fish(&command, out),
    }
}

fn bash(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let all = || std::iter::once(command).chain(command.get_subcommands());
    writeln!(out, "# Completion of `git idd` for bash; git's own has to be loaded, too.\n_git_idd () {{")?;
    writeln!(out, "    local sub=\"$(__git_find_on_cmdline \"{}\")\"", names(command))?;
    writeln!(out, "    case \"$prev,$cur\" in")?;
    let mut seen = Vec::new();
    for option in all().flat_map(options) {
        let Opt { long, kind, .. } = &option;
        if seen.contains(long) {
            continue;
        }
        seen.push(long.clone());
        match kind {
            Kind::Revision => {
                writeln!(out, "    --{long},*) __git_complete_refs; return ;;")?;
                writeln!(out, "    *,--{long}=*) __git_complete_refs --cur=\"${{cur#*=}}\"; return ;;")?;
            }
            Kind::Words(words) => {
                let words = words.join(" ");
                writeln!(out, "    --{long},*) __gitcomp \"{words}\"; return ;;")?;
                writeln!(out, "    *,--{long}=*) __gitcomp \"{words}\" \"\" \"${{cur#*=}}\"; return ;;")?;
            }
            Kind::Hunt => {
                writeln!(out, "    --{long},*) __gitcomp \"$({HUNTS})\"; return ;;")?;
                writeln!(out, "    *,--{long}=*) __gitcomp \"$({HUNTS})\" \"\" \"${{cur#*=}}\"; return ;;")?;
            }
            Kind::Path | Kind::Other => writeln!(out, "    --{long},*) return ;;")?,
            Kind::None => {}
        }
    }
    writeln!(out, "    esac\n    case \"$sub,$cur\" in")?;
    for subcommand in command.get_subcommands() {
        writeln!(out, "    {},--*) __gitcomp \"{}\"; return ;;", subcommand.get_name(), longs(subcommand))?;
    }
    writeln!(out, "    ,--*) __gitcomp \"{}\"; return ;;", longs(command))?;
    writeln!(out, "    minimize,*|log,*) __git_complete_refs; return ;;")?;
    writeln!(out, "    ,*) __gitcomp \"{}\"; return ;;\n    esac\n}}", names(command))?;
    writeln!(out, "__git_complete git-idd _git_idd")
}

fn longs(command: &Command) -> String {
    let long = |option: Opt| {
        if option.kind == Kind::None { format!("--{}", option.long) } else { format!("--{}=", option.long) }
    };
    options(command).into_iter().map(long).collect::<Vec<_>>().join(" ")
}

fn fish(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let names = names(command);
    writeln!(out, "# Completion of `git idd` for fish.")?;
    writeln!(out, "complete -c git -n __fish_git_needs_command -f -a idd -d {}", quoted(&about(command)))?;
    let is_hunt = format!("__fish_git_using_command idd; and not __fish_seen_subcommand_from {names}");
    for subcommand in command.get_subcommands() {
        let (name, about) = (subcommand.get_name(), quoted(&about(subcommand)));
        writeln!(out, "complete -c git -n '{is_hunt}' -a {name} -d {about}")?;
    }
    for each in std::iter::once(command).chain(command.get_subcommands()) {
        let condition = if std::ptr::eq(each, command) {
            is_hunt.clone()
        } else {
            format!("__fish_git_using_command idd; and __fish_seen_subcommand_from {}", each.get_name())
        };
        for Opt { long, short, help, kind } in options(each) {
            let short = short.map(|short| format!(" -s {short}")).unwrap_or_default();
            let value = match kind {
                Kind::None => " -f".to_owned(),
                Kind::Revision => " -x -a '(__fish_git_refs)'".to_owned(),
                Kind::Path => " -r -F".to_owned(),
                Kind::Words(words) => format!(" -x -a '{}'", words.join(" ")),
                Kind::Hunt => format!(" -x -a {}", quoted(&format!("({HUNTS})"))),
                Kind::Other => " -x".to_owned(),
            };
            writeln!(out, "complete -c git -n '{condition}'{short} -l {long}{value} -d {}", quoted(&help))?;
        }
    }
    writeln!(
        out,
        "complete -c git -n '__fish_git_using_command idd; and __fish_seen_subcommand_from minimize log' -f -a '(__fish_git_refs)'"
    )
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn zsh(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "#compdef git-idd\n#description {}", about(command).to_lowercase())?;
    writeln!(out, "# Completion of `git idd` for zsh; git's own has to be loaded, too.\n_git-idd () {{")?;
    writeln!(out, "    local curcontext=$curcontext state line ret=1\n    local -A opt_args\n    local -a commands=(")?;
    for subcommand in command.get_subcommands() {
        writeln!(out, "        {}", zsh_quoted(&format!("{}:{}", subcommand.get_name(), about(subcommand))))?;
    }
    writeln!(out, "    )\n    _arguments -C -s \\")?;
    zsh_options(command, "        ", out)?;
    writeln!(out, "        '1: :->first' '*:: :->rest' && ret=0\n    case $state in")?;
    writeln!(
        out,
        "    first) _describe -t commands command commands && ret=0; _command_names -e && ret=0; _files && ret=0 ;;"
    )?;
    writeln!(out, "    rest)\n        case $line[1] in")?;
    for subcommand in command.get_subcommands() {
        writeln!(out, "        {})\n            _arguments -s \\", subcommand.get_name())?;
        zsh_options(subcommand, "                ", out)?;
        let positional = match subcommand.get_name() {
            "minimize" => "'1:good:__git_commits' '2:bad:__git_commits'",
            "log" => "'1:revision:__git_commits'",
            _ => "'*:file:_files'",
        };
        writeln!(out, "                {positional} && ret=0 ;;")?;
    }
    writeln!(out, "        *) _files && ret=0 ;;\n        esac ;;\n    esac\n    return ret\n}}")?;
    writeln!(out, "[[ $funcstack[1] == _git-idd ]] && _git-idd \"$@\"")
}

fn zsh_options(command: &Command, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    for Opt { long, short, help, kind } in options(command) {
        let value = match &kind {
            Kind::None => String::new(),
            Kind::Revision => ":revision:__git_commits".to_owned(),
            Kind::Path => ":path:_files".to_owned(),
            Kind::Words(words) => format!(":value:({})", words.join(" ")),
            Kind::Hunt => format!(":hunt:($({HUNTS}))"),
            Kind::Other => ":value: ".to_owned(),
        };
        let help = help.replace('[', "(").replace(']', ")").replace(':', ",");
        let equals = if kind == Kind::None { "" } else { "=" };
        writeln!(out, "{indent}{} \\", zsh_quoted(&format!("--{long}{equals}[{help}]{value}")))?;
        if let Some(short) = short {
            let plus = if kind == Kind::None { "" } else { "+" };
            writeln!(out, "{indent}{} \\", zsh_quoted(&format!("-{short}{plus}[{help}]{value}")))?;
        }
    }
    Ok(())
}

fn zsh_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
