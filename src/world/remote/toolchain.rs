//! The programs of a service's workers: results count for the same programs only.

use crate::world::remote::action;
use crate::world::remote::action::Returned;
use crate::world::remote::address::Service;
use crate::world::remote::client::Client;
use crate::world::remote::trouble::Trouble;
use sha2::Digest as _;
use sha2::Sha256;
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

/// The programs of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The name of the system and of its processor.
    pub system: String,
    /// The names of the programs.
    pub names: Vec<String>,
    /// A digest of the names and contents.
    pub digest: [u8; 32],
}

impl Toolchain {
    /// Asks a worker. If the service has several kinds of workers, `idd.remotePlatform` must choose one.
    ///
    /// Cost: one action, without the cache.
    pub fn ask(client: &Client, service: &Service) -> Result<Self, Trouble> {
        let returned = action::run_script(client, service, SCRIPT, LIMIT, true)?;
        Ok(Self::of(&returned))
    }

    fn of(returned: &Returned) -> Self {
        let text = String::from_utf8_lossy(&returned.output).into_owned();
        let lines = || text.lines().filter_map(|line| line.split_once(' '));
        let system = lines().find(|(name, _)| *name == SYSTEM).map_or("unknown", |(_, system)| system).to_owned();
        let names = lines().filter(|(name, _)| *name != SYSTEM).map(|(name, _)| name.to_owned()).collect();
        Self { system, names, digest: Sha256::digest(text.as_bytes()).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_are_another_toolchain() {
        let of = |output: &str| Toolchain::of(&Returned { output: output.as_bytes().to_vec(), ..Returned::default() });
        let toolchain = of("cc 1 2\nsystem Linux x86_64\n");
        assert_eq!((toolchain.names, &*toolchain.system), (vec!["cc".to_owned()], "Linux x86_64"));
        assert_ne!(of("cc 1 2\n").digest, of("cc 1 3\n").digest);
    }
}
