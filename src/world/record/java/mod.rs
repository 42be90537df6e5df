//! Recording programs of a Java virtual machine: an agent that every virtual machine of a test loads, and what it leaves.
//!
//! The agent and the recorder are Java (`*.java`), compiled once by the user's JDK: see [`agent`]. An agent hands each
//! class of the checkout to a process of this program, see [`serve`]; [`collect`] makes traces of the files that the
//! recorders wrote.
//!
//! ```text
//! <base>/agent           the agent's archive, this program, the checkout and the limit, each ended by a zero byte
//! <base>/steps           if steps alone are recorded; empty
//! <base>/<pid>-<start>/  a virtual machine that loaded a class of the checkout
//!     info               what the agent knows of it, in lines `key=value`
//!     process            who runs, see `trace::container::Process`
//!     classes            the original classes, see `serve`
//!     objects            descriptions of objects
//!     thread-<n>         records, see `collect`
//!     ring-<n>           the latest records of many, see `ring`
//!     lost, full         there if a thread is not recorded: because it has no file, or because of the limit; empty
//! <base>/failed-<pid>    why a virtual machine was not recorded, or only in part: a line
//! ```
//!
//! If the directory has points, see [`mod@replace`], nothing is recorded, and values are replaced. If it has [`trials`], one
//! virtual machine makes them, and nothing happens in the others.

pub mod collect;
pub mod replace;
mod ring;
pub mod serve;
pub mod trials;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::files;
use crate::jdk::{Jdk, Kit};
use crate::record::RecordError;
use idd_trace::instrument::java::sites::RecordedContent;

/// The variable with options for all virtual machines.
pub const VARIABLE: &str = "JAVA_TOOL_OPTIONS";

/// How lines begin that a virtual machine prints to stderr because of the agent: with the value of the variable, and where
/// a class is loaded and the stack has no room for an agent.
const NOTES: [&str; 2] = ["Picked up JAVA_TOOL_OPTIONS: ", "*** java.lang.instrument ASSERTION FAILED ***: "];

/// What a virtual machine prints that does not start because of an agent; the last one if it lacks the module for agents.
const REFUSALS: [&str; 3] = [
    "agent library failed to init: instrument",
    "processing of -javaagent failed",
    "Could not find agent library instrument",
];

/// The agent and the recorder. The boot loader has their classes before the agent starts. No program has a package of their
/// name; the last one is used under Java 8 only.
const KIT: Kit = Kit {
    archive: "agent.jar",
    manifest: "Premain-Class: git_idd.recording.Agent\nBoot-Class-Path: agent.jar\nCan-Retransform-Classes: true\n",
    sources: &[
        ("git_idd/recording/Agent.java", include_str!("Agent.java")),
        ("git_idd/recording/Recorder.java", include_str!("Recorder.java")),
        ("git_idd/recording/Replacer.java", include_str!("Replacer.java")),
        ("git_idd/recording/Trials.java", include_str!("Trials.java")),
        ("jdk/internal/misc/Unsafe.java", include_str!("Unsafe.java")),
        ("sun/nio/ch/FileChannelImpl.java", include_str!("FileChannelImpl.java")),
    ],
};

/// Options for the virtual machine beside the agent:
/// - hash codes of objects are counted, so that they name objects;
/// - methods of more than 8,000 bytes are compiled, too: rewritten ones are longer than they were;
/// - no warning, which goes to the program's output, that the classes of the recorder are beside those of the system;
/// - code is compiled by the quick compiler alone: the other one takes longer for rewritten methods than it saves.
const OPTIONS: [&str; 7] = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=3",
    "-XX:-DontCompileHugeMethods",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-PrintWarnings",
    "-XX:TieredStopAtLevel=1",
];

/// One more for [`trials`]: classes are loaded again and again, so that is what must be quick. They are not verified.
const OF_TRIALS: &str = "-XX:-BytecodeVerificationRemote";

/// The archive of the agent in the directory `cache`; it is compiled if it is not there yet.
pub fn agent(jdk: &Jdk, cache: &Path) -> Result<PathBuf, RecordError> {
    Ok(jdk.archive(&KIT, cache)?)
}

/// The file that tells the agents.
const ORDER: &str = "agent";

/// The file that is there if steps alone are recorded.
const STEPS: &str = "steps";

/// What the agents of a test are told.
#[derive(Debug, Clone, Copy)]
pub struct AgentOptions<'t> {
    /// The archive of the agent.
    pub agent: &'t Path,
    /// This program.
    pub program: &'t Path,
    /// The checkout.
    pub checkout: &'t Path,
    /// Bytes that each virtual machine may record.
    pub max_bytes: u64,
    /// What is recorded.
    pub content: RecordedContent,
}

/// Prepares an empty directory for the records of a test.
pub fn prepare(base: &Path, told: AgentOptions<'_>) -> Result<(), RecordError> {
    let failed = |source| RecordError::Prepare { path: base.to_owned(), source };
    files::remove(base).map_err(failed)?;
    fs::create_dir_all(base).map_err(failed)?;
    let limit = told.max_bytes.min(i64::MAX.unsigned_abs()).to_string();
    let words = [told.agent, told.program, told.checkout].map(|path| path.as_os_str().as_bytes());
    let text = [words[0], words[1], words[2], limit.as_bytes()].join(&0);
    fs::write(base.join(ORDER), text).map_err(failed)?;
    if told.content == RecordedContent::Steps { fs::write(base.join(STEPS), []).map_err(failed) } else { Ok(()) }
}

/// What the test was told to record.
fn content(base: &Path) -> RecordedContent {
    if base.join(STEPS).exists() { RecordedContent::Steps } else { RecordedContent::Values }
}

/// The value of the [variable](VARIABLE) for a test; `own` is the user's.
pub fn options(agent: &Path, base: &Path, own: Option<&OsStr>) -> OsString {
    let mut words: Vec<Vec<u8>> = own.iter().map(|own| own.as_bytes().to_vec()).collect();
    words.extend(OPTIONS.map(|option| option.as_bytes().to_vec()));
    let agent = [b"-javaagent:", agent.as_os_str().as_bytes(), b"=", base.as_os_str().as_bytes()].concat();
    words.push(quoted(&agent));
    OsStr::from_bytes(&words.join(&b' ')).to_owned()
}

/// The value for a test whose program makes [`trials`]; `options` is the value for one that is recorded.
pub fn options_of_trials(options: &OsStr) -> OsString {
    OsStr::from_bytes(&[options.as_bytes(), b" ", OF_TRIALS.as_bytes()].concat()).to_owned()
}

/// A word as the virtual machine splits the value: white space ends it, unless it is in quotes of one of two kinds.
fn quoted(word: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in word {
        match byte {
            b'\'' => text.extend(b"\"'\""),
            byte if byte.is_ascii_whitespace() || *byte == b'"' => text.extend([b'\'', *byte, b'\'']),
            byte => text.push(*byte),
        }
    }
    text
}

/// The line of an output with which a virtual machine says that it does not start because of an agent.
pub fn refusal(output: &str) -> Option<&str> {
    let is_refusal = |line: &&str| REFUSALS.iter().any(|refusal| line.contains(refusal));
    output.lines().find(is_refusal).map(str::trim)
}

/// An output without what virtual machines print because of the agent.
pub fn without_notes(output: &str) -> String {
    let mut text = output.to_owned();
    for note in NOTES {
        let mut parts = text.split(note);
        let mut rest = parts.next().unwrap_or_default().to_owned();
        rest.extend(parts.map(|part| part.split_once('\n').map_or("", |(_, behind)| behind)));
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_behind_those_of_the_user_and_keep_their_spaces() {
        let value = options(Path::new("/a b/x.jar"), Path::new("/it's"), Some(OsStr::new("-Xmx1g")));
        let value = value.to_str().unwrap();
        assert!(value.starts_with("-Xmx1g -XX:"), "{value}");
        assert!(value.ends_with(" -javaagent:/a' 'b/x.jar=/it\"'\"s"), "{value}");
        let more = options_of_trials(OsStr::new(value));
        assert!(more.to_str().unwrap().starts_with(&format!("{value} -XX:")), "{more:?}");
    }

    #[test]
    fn the_notes_of_virtual_machines_are_no_output_of_the_test() {
        check("a\nPicked up JAVA_TOOL_OPTIONS: -X y\nb\n", "a\nb\n");
        check("aPicked up JAVA_TOOL_OPTIONS: -X y\nb", "ab");
        check("Picked up JAVA_TOOL_OPTIONS: cut", "");
        check("nothing\n", "nothing\n");
    }

    #[test]
    fn a_virtual_machine_without_the_module_for_agents_is_one_that_does_not_start() {
        let line =
            "Could not find agent library instrument on the library path, with error: libinstrument.so: cannot open";
        let output =
            format!("Error occurred during initialization of VM\n{line}\nModule java.instrument may be missing\n");
        assert_eq!(refusal(&output), Some(line));
        assert_eq!(refusal("instrument\n"), None);
    }

    #[track_caller]
    fn check(output: &str, expected: &str) {
        assert_eq!(without_notes(output), expected);
    }
}
