//! The programs of a service's workers: results count for the same programs only.

use crate::process::{self, Command, CommandWatch, CommandWords, RunError};
use crate::remote::action;
use crate::remote::address::Service;
use crate::remote::client::Client;
use crate::remote::trouble::Trouble;
use sha2::{Digest as _, Sha256};
use std::ffi::OsString;
use std::time::Duration;

/// Prints a line for each program: its name, a checksum and its size. `cc1` is where the compiler is.
const SCRIPT: &str = r#"
for tool in sh bash cc gcc g++ clang clang++ ld as make cmake ninja javac java rustc cargo go python3 node perl ruby php; do
    path=$(command -v "$tool") && printf '%s %s\n' "$tool" "$(cksum < "$path")"
done
path=$(cc -print-prog-name=cc1 2>/dev/null) && [ -f "$path" ] && printf 'cc1 %s\n' "$(cksum < "$path")"
for library in /lib/*/libc.so.6 /usr/lib/*/libc.so.6 /lib64/libc.so.6; do
    [ -f "$library" ] && printf 'libc %s\n' "$(cksum < "$library")" && break
done
printf 'system %s\n' "$(uname -sm)"
"#;

/// The first word of the line about the system.
const SYSTEM: &str = "system";

/// How long the script may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The programs of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// Each program, library and system, with a checksum or its name.
    lines: Vec<(String, String)>,
    /// A digest of the names and contents.
    pub digest: [u8; 32],
}

impl Toolchain {
    /// Asks a worker. If the service has several kinds of workers, `idd.remotePlatform` must choose one.
    ///
    /// Cost: one action, without the cache.
    pub fn ask(client: &Client, service: &Service) -> Result<Self, Trouble> {
        let returned = action::run_script(client, service, SCRIPT, LIMIT, true)?;
        Ok(Self::of(&returned.output))
    }

    /// The programs of this machine, as commands with the environment of the service's commands find them.
    ///
    /// Errors: the shell cannot be started.
    pub fn here(service: &Service, watch: &mut dyn CommandWatch) -> Result<Self, RunError> {
        let words = ["/bin/sh", "-c", SCRIPT].map(OsString::from).to_vec();
        let environment = service.commands_environment().into_iter().map(|(name, value)| (name.into(), value.into()));
        let command = Command {
            words: CommandWords::Argv(words),
            directory: "/".into(),
            view: None,
            environment: environment.collect(),
            limit: LIMIT,
        };
        Ok(Self::of(&process::run(&command, watch)?.output))
    }

    fn of(output: &[u8]) -> Self {
        let text = String::from_utf8_lossy(output);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let lines = lines.map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect();
        Self { lines, digest: Sha256::digest(text.as_bytes()).into() }
    }

    /// The name of the system and of its processor.
    pub fn system(&self) -> &str {
        self.line(SYSTEM).unwrap_or("unknown")
    }

    /// The names of the programs.
    pub fn names(&self) -> Vec<&str> {
        self.lines.iter().map(|(name, _)| name.as_str()).filter(|name| *name != SYSTEM).collect()
    }

    fn line(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|(other, _)| other == name).map(|(_, rest)| rest.as_str())
    }

    /// The names of the programs that differ, or that only one of two machines has; `system` among them if that differs.
    pub fn differences<'t>(&'t self, other: &'t Self) -> Vec<&'t str> {
        let of_other = other.lines.iter().filter(|(name, _)| self.line(name).is_none());
        let all = self.lines.iter().chain(of_other).map(|(name, _)| name.as_str());
        all.filter(|name| self.line(name) != other.line(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_are_another_toolchain() {
        let of = |output: &str| Toolchain::of(output.as_bytes());
        let toolchain = of("cc 1 2\nsystem Linux x86_64\n");
        assert_eq!((toolchain.names(), toolchain.system()), (vec!["cc"], "Linux x86_64"));
        assert_ne!(of("cc 1 2\n").digest, of("cc 1 3\n").digest);
        assert_eq!(toolchain.differences(&of("cc 1 3\nld 2 2\nsystem Linux x86_64\n")), ["cc", "ld"]);
        assert_eq!(toolchain.differences(&toolchain), Vec::<&str>::new());
    }
}
