//! The commands of a probe as one action, and its result as an observation.
//!
//! A script runs the commands one after the other, as a sandbox of this machine does. Output of the command that ends the probe
//! is the action's standard output: that of a build only if it fails. The action's standard error is the script's report, a line for each step:
//!
//! ```text
//! git-idd top /the/directory/of/the/tree
//! git-idd begin build
//! git-idd end build 0
//! git-idd begin test
//! git-idd end test 1
//! ```
//!
//! The script itself exits with 0 however the test ended. So a failing test is a result like another for the service, which
//! caches it, and an exit code other than 0 means that the script was killed.

use crate::process::{CommandWords, shell};
use crate::remote::address::Service;
use crate::remote::client::{Client, Executed};
use crate::remote::digest::Digest;
use crate::remote::merkle::TOP;
use crate::remote::trouble::Trouble;
use crate::run::sandbox::{Commands, Precheck, ProbeJob};
use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::protobuf;
use idd_base::{CommitId, Ending, Observation, Reason, Stage};
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

/// The beginning of each line of the report.
const REPORT: &str = "git-idd ";

/// The signals that a shell does not name, because they are how pipes and terminals end programs.
const UNNAMED_SIGNALS: [i32; 2] = [2, 13];

/// A command of a probe, with its stage.
type ActionStep<'c> = (Stage, &'c CommandWords);

/// What an action is made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'p> {
    /// The probe.
    pub job: &'p ProbeJob,
    /// Its commands.
    pub commands: &'p Commands,
    /// The service.
    pub service: &'p Service,
}

/// The messages of an action.
pub struct RemoteAction {
    /// The action, and its encoded form.
    pub action: (Digest, Vec<u8>),
    /// Its command, and the encoded form.
    pub command: (Digest, Vec<u8>),
}

impl Parts<'_> {
    fn steps(&self) -> Vec<ActionStep<'_>> {
        let regenerate = self.commands.regeneration.as_ref().map(|regeneration| &regeneration.command);
        let precheck = self.job.precheck.as_ref().and_then(|precheck| match precheck {
            Precheck::Command(words) => Some(words),
            // It runs in this machine's compiler.
            Precheck::Java(_) => None,
        });
        let steps = [
            (Stage::Build, regenerate),
            (Stage::Precheck, precheck),
            (Stage::Build, self.commands.build.as_ref()),
            (Stage::Test, Some(&self.commands.test)),
        ];
        steps.into_iter().filter_map(|(stage, words)| Some((stage, words?))).collect()
    }

    /// The action that runs the commands below `root`.
    ///
    /// Errors: the commands are not UTF-8.
    pub fn action(&self, root: Digest) -> Result<RemoteAction, Trouble> {
        let steps = self.steps();
        let script = String::from_utf8(self.script(&steps)).map_err(|_| {
            Trouble::lasting("a command holds bytes that are not UTF-8, and a remote service takes no others")
        })?;
        let command = Digest::encode(&command(&script, self.service, self.job.exposed_commit));
        let limits = steps.iter().map(|(stage, _)| self.job.limits.of(*stage));
        let timeout = limits.fold(Duration::ZERO, Duration::saturating_add);
        let is_fresh = !self.job.may_share;
        Ok(RemoteAction { action: Digest::encode(&action(self.service, command.0, root, timeout, is_fresh)), command })
    }

    /// The script; see the module.
    ///
    /// A worker can ignore signals that a shell cannot reset; `env` can, where it is a new one.
    ///
    /// A shell names the signal of which a command died, and names none if the command exited with 128 + n itself. So what the
    /// shell says is read, apart from what the command says. (bash says nothing here: then 128 + n counts as signal n.)
    fn script(&self, steps: &[ActionStep<'_>]) -> Vec<u8> {
        let mut script = br#"exec 3>&1 4>&2 2>/dev/null </dev/null
say() { printf 'git-idd %s\n' "$*" >&4; }
IDD_WORKTREE=$(pwd); export IDD_WORKTREE
say top "$IDD_WORKTREE"
own=${IDD_WORKTREE%/*}/.git-idd
mkdir -p "$own/tmp" "$own/home" && { TMPDIR=$own/tmp; export TMPDIR; HOME=${HOME-$own/home}; export HOME; }
usual=
env --default-signal=INT,PIPE true && usual='env --default-signal=INT,PIPE'
run() {
    say begin "$1"
    out=$own/output
    [ "$1" != test ] && true > "$out" && exec 5> "$out" || exec 5>&3
    heard=$( { ( shift; exec $usual "$@" ) >&5 2>&5 3>&- 4>&- 5>&-; printf ' %s' "$?"; } 2>&1 )
    code=${heard##* }
    exec 5>&-
    [ "$1" = test ] || [ "$code" = 0 ] || [ ! -f "$out" ] || cat "$out" >&3
    how=
    [ -n "$BASH_VERSION" ] && [ "$code" -gt 128 ] && how=signal
    [ "$heard" = " $code" ] || how=signal
    say end "$1" "$code" $how
    [ "$code" = 0 ] || exit 0
}
"#
        .to_vec();
        let directory = self.commands.directory.as_os_str().as_bytes();
        if !directory.is_empty() {
            script.extend([b"cd -- ", &shell::quoted(directory)[..], b" || { say absent; exit 0; }\n"].concat());
        }
        script.extend_from_slice(b"PWD=$(pwd); export PWD\n");
        for (stage, words) in steps {
            let stage = word(*stage).as_bytes();
            let line = match words {
                CommandWords::Shell(line) => [b"/bin/sh -c ", &shell::quoted(line.as_bytes())[..]].concat(),
                CommandWords::Argv(words) => shell::line(words.iter().map(|word| word.as_bytes())),
            };
            script.extend([b"run ", stage, b" ", &line, b"\n"].concat());
        }
        script.extend_from_slice(b"exit 0\n");
        script
    }
}

/// Runs a script in an empty directory; its output and its time.
///
/// - `is_fresh`: whether an earlier result must not answer.
///
/// Errors: the service has no result, or ended the script.
pub fn run_script(
    client: &Client,
    service: &Service,
    script: &str,
    limit: Duration,
    is_fresh: bool,
) -> Result<ReturnedAction, Trouble> {
    let (root, action) = script_action(service, script, limit, is_fresh);
    if !is_fresh && let Some(earlier) = client.earlier(action.action.0)? {
        return Ok(earlier);
    }
    match execute_script(client, root, action, is_fresh, &|| false)? {
        Some(returned) if !returned.is_late => Ok(returned),
        _ => Err(Trouble::lasting(format!("a script did not end in {} s", limit.as_secs()))),
    }
}

/// Starts a script in an empty directory; `None` if it was cancelled before its end.
pub fn start_script(
    client: &Client,
    service: &Service,
    script: &str,
    limit: Duration,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Option<ReturnedAction>, Trouble> {
    let (root, action) = script_action(service, script, limit, true);
    execute_script(client, root, action, true, is_unwanted)
}

/// An encoded message with its digest.
type Encoded = (Digest, Vec<u8>);

fn script_action(service: &Service, script: &str, limit: Duration, is_fresh: bool) -> (Encoded, RemoteAction) {
    let (empty, _) = Digest::encode(&api::Directory::default());
    let top = api::DirectoryNode { name: TOP.to_owned(), digest: Some(empty.to_api()) };
    let root = Digest::encode(&api::Directory { directories: vec![top], ..api::Directory::default() });
    let command = Digest::encode(&command(script, service, None));
    let action = Digest::encode(&action(service, command.0, root.0, limit, is_fresh));
    (root, RemoteAction { action, command })
}

fn execute_script(
    client: &Client,
    root: Encoded,
    action: RemoteAction,
    is_fresh: bool,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Option<ReturnedAction>, Trouble> {
    let (digest, _) = action.action;
    client.send_batch(&[root, action.command, action.action])?;
    Ok(match client.execute(digest, is_fresh, is_unwanted)? {
        Executed::Returned(returned, _) => Some(returned),
        Executed::Cancelled => None,
    })
}

fn command(script: &str, service: &Service, exposed_commit: Option<CommitId>) -> api::Command {
    let mut environment = service.commands_environment();
    environment.extend(exposed_commit.map(|commit| ("IDD_COMMIT".to_owned(), commit.to_string())));
    let variables = environment.into_iter();
    api::Command {
        arguments: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        environment_variables: variables
            .map(|(name, value)| api::command::EnvironmentVariable { name, value })
            .collect(),
        working_directory: TOP.to_owned(),
        ..api::Command::default()
    }
}

fn action(service: &Service, command: Digest, root: Digest, timeout: Duration, is_fresh: bool) -> api::Action {
    let properties = service.platform.iter();
    let properties =
        properties.map(|(name, value)| api::platform::Property { name: name.clone(), value: value.clone() }).collect();
    api::Action {
        command_digest: Some(command.to_api()),
        input_root_digest: Some(root.to_api()),
        timeout: Some(protobuf::Duration {
            seconds: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            nanos: i32::try_from(timeout.subsec_nanos()).unwrap_or(0),
        }),
        do_not_cache: is_fresh,
        platform: Some(api::Platform { properties }),
        ..api::Action::default()
    }
}

fn word(stage: Stage) -> &'static str {
    match stage {
        Stage::Fetch => "fetch",
        Stage::Precheck => "precheck",
        Stage::Build => "build",
        Stage::Test => "test",
    }
}

fn stage(word: &str) -> Option<Stage> {
    [Stage::Precheck, Stage::Build, Stage::Test].into_iter().find(|stage| self::word(*stage) == word)
}

/// The result of an action, as a service returned it.
#[derive(Debug, Clone, Default)]
pub struct ReturnedAction {
    /// The exit code of the script.
    pub exit_code: i32,
    /// Whether the service ended it at its time limit.
    pub is_late: bool,
    /// Standard output.
    pub output: Vec<u8>,
    /// The report.
    pub report: Vec<u8>,
    /// The wall time of the action.
    pub duration: Duration,
}

impl ReturnedAction {
    /// The observation.
    ///
    /// Errors: the report has no end, so the script was killed.
    pub fn observation(self, job: &ProbeJob) -> Result<Observation, Trouble> {
        let report = String::from_utf8_lossy(&self.report).into_owned();
        let mut top = None;
        let mut begun = None;
        let mut ended = None;
        for line in report.lines().filter_map(|line| line.strip_prefix(REPORT)) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["top", ..] => top = line.strip_prefix("top ").map(str::to_owned),
                ["absent"] => ended = Some((Stage::Test, Ending::NotRun(Reason::TestAbsent))),
                ["begin", word] => (begun, ended) = (stage(word), None),
                ["end", word, code] => ended = stage(word).zip(code.parse().ok().map(Ending::Exit)),
                ["end", word, code, "signal"] => ended = stage(word).zip(signal(code)),
                _ => {}
            }
        }
        let (stage, ending) = match ended {
            // The limit of all steps together was reached between two of them, or directly after the last.
            Some(ended) if !self.is_late || ended.0 == Stage::Test => ended,
            _ if self.is_late => (begun.unwrap_or(Stage::Test), Ending::Timeout),
            _ => {
                let code = self.exit_code;
                return Err(Trouble::passing(format!(
                    "a worker ended a probe before its commands ended (exit code {code})"
                )));
            }
        };
        let is_whole = stage == Stage::Test || ending != Ending::Exit(0);
        if !is_whole {
            return Err(Trouble::passing("a worker ended a probe after its build"));
        }
        let mut output = String::from_utf8_lossy(&self.output).into_owned();
        if let Some(top) = top.filter(|top| top.len() > 1) {
            let own = format!("{}/.git-idd", top.rsplit_once('/').map_or("", |(above, _)| above));
            output = output.replace(&top, "<worktree>").replace(&own, "<sandbox>");
        }
        Ok(Observation {
            stage,
            ending,
            duration: self.duration,
            limit: job.limits.of(stage),
            output,
            reported: String::new(),
            is_clean: true,
            is_tampered: false,
            place: None,
        })
    }
}

/// The ending that a shell reported as a signal.
fn signal(code: &str) -> Option<Ending> {
    let code: i32 = code.parse().ok()?;
    Some(match code - 128 {
        number @ 1..=64 if !UNNAMED_SIGNALS.contains(&number) => Ending::Signal(number),
        _ => Ending::Exit(code),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::surroundings::Surroundings;
    use crate::remote::address::Address;
    use crate::run::sandbox::Rebuild;
    use idd_base::{ObjectId, TimeLimits, TreeId};
    use std::collections::BTreeMap;

    fn job() -> ProbeJob {
        ProbeJob {
            tree: TreeId(ObjectId::Sha1([1; 20])),
            artifact_of: None,
            revision: None,
            exposed_commit: None,
            precheck: None,
            is_clean: false,
            rebuild: Rebuild::Never,
            limits: TimeLimits::both(Duration::from_secs(9)),
            may_share: true,
        }
    }

    fn returned(report: &str) -> ReturnedAction {
        let output = b"at /x/w/a.c and /x/.git-idd/tmp/1\n".to_vec();
        ReturnedAction { output, report: report.as_bytes().to_vec(), ..ReturnedAction::default() }
    }

    #[track_caller]
    fn check(report: &str, expected: Option<(Stage, Ending)>) {
        let seen = returned(report).observation(&job()).ok();
        assert_eq!(seen.map(|seen| (seen.stage, seen.ending)), expected, "{report}");
    }

    #[test]
    fn a_report_gives_the_ending_of_the_last_command() {
        let begin = "git-idd top /x/w\ngit-idd begin build\n";
        check(&format!("{begin}git-idd end build 2\n"), Some((Stage::Build, Ending::Exit(2))));
        let test = format!("{begin}git-idd end build 0\nnoise\ngit-idd begin test\n");
        check(&format!("{test}git-idd end test 0\n"), Some((Stage::Test, Ending::Exit(0))));
        check(&format!("{test}git-idd end test 139 signal\n"), Some((Stage::Test, Ending::Signal(11))));
        check(&format!("{test}git-idd end test 139\n"), Some((Stage::Test, Ending::Exit(139))));
        check("git-idd top /x/w\ngit-idd absent\n", Some((Stage::Test, Ending::NotRun(Reason::TestAbsent))));
    }

    #[test]
    fn a_report_without_an_end_is_no_outcome() {
        let begin = "git-idd top /x/w\ngit-idd begin build\n";
        for report in ["", "git-idd end test x\n", begin, &format!("{begin}git-idd end build 0\n")] {
            check(report, None);
            check(&format!("{report}git-idd begin test\n"), None);
        }
    }

    #[test]
    fn an_action_that_was_ended_by_the_service_is_a_timeout_of_the_command_that_ran() {
        let report = "git-idd begin build\ngit-idd end build 0\ngit-idd begin test\n";
        let late = |report: &str| {
            ReturnedAction { is_late: true, exit_code: 137, ..returned(report) }.observation(&job()).unwrap()
        };
        assert_eq!((late(report).stage, late(report).ending), (Stage::Test, Ending::Timeout));
        let report = "git-idd begin build\n";
        assert_eq!((late(report).stage, late(report).ending), (Stage::Build, Ending::Timeout));
        assert_eq!(late("").ending, Ending::Timeout);
    }

    #[test]
    fn places_of_a_worker_are_not_in_the_output() {
        let seen = returned("git-idd top /x/w\ngit-idd begin test\ngit-idd end test 0\n").observation(&job()).unwrap();
        assert_eq!(seen.output, "at <worktree>/a.c and <sandbox>/tmp/1\n");
    }

    #[test]
    fn only_what_the_user_names_is_in_the_environment() {
        let service = Service {
            address: Address::parse("grpc://localhost:1").unwrap(),
            token_file: None,
            authorities: None,
            identity: None,
            platform: BTreeMap::new(),
            environment: BTreeMap::from([("LANG".to_owned(), "C".to_owned())]),
        };
        let commands = Commands {
            fetching: None,
            regeneration: None,
            build: None,
            test: CommandWords::Shell("true".into()),
            artifacts: Vec::new(),
            directory: "sub".into(),
            environment: vec![("HOME".into(), "/home/me".into()), ("API_TOKEN".into(), "x".into())],
            is_home_isolated: false,
            surroundings: Surroundings::default(),
        };
        let job = job();
        let parts = Parts { job: &job, commands: &commands, service: &service };
        let script = String::from_utf8(parts.script(&parts.steps())).unwrap();
        let command = command(&script, &service, None);
        let names: Vec<&str> = command.environment_variables.iter().map(|variable| &*variable.name).collect();
        assert_eq!(names, ["LANG", "PATH"]);
        assert!(!command.arguments[2].contains("/home/me"));
    }
}
