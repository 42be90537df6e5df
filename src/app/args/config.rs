//! What `git config` may set.
//!
//! One table says which option has which key. A configured value becomes an option in front of the user's own
//! and goes through the same parser; so it means the same, and is refused for the same reasons.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use thiserror::Error;

use idd_session::hints::near::nearest;

/// A flag and its opposite.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// Id of the flag.
    pub id: &'static str,
    /// Long name of the hidden opposite, without dashes; also its id.
    pub opposite: &'static str,
    /// Key in the configuration.
    pub key: &'static str,
    /// Whether the flag stands for the value `false`.
    pub is_negative: bool,
}

/// The flags that can be configured.
pub const FLAGS: [Flag; 11] = [
    Flag { id: "first_parent", opposite: "no-first-parent", key: "idd.firstParent", is_negative: false },
    Flag { id: "no_hold", opposite: "default-hold", key: "idd.noHold", is_negative: false },
    Flag { id: "expose_commit", opposite: "no-expose-commit", key: "idd.exposeCommit", is_negative: false },
    Flag { id: "isolate_home", opposite: "no-isolate-home", key: "idd.isolateHome", is_negative: false },
    Flag { id: "fast", opposite: "no-fast", key: "idd.fast", is_negative: false },
    Flag { id: "retry", opposite: "no-retry", key: "idd.retry", is_negative: false },
    Flag { id: "clean", opposite: "no-clean", key: "idd.clean", is_negative: false },
    Flag { id: "no_cache", opposite: "cache", key: "idd.cache", is_negative: true },
    Flag { id: "fetch", opposite: "no-fetch", key: "idd.fetch", is_negative: false },
    Flag { id: "repair", opposite: "no-repair", key: "idd.repair", is_negative: false },
    Flag { id: "no_port", opposite: "port", key: "idd.port", is_negative: true },
];

/// An option with a value.
#[derive(Debug, Clone, Copy)]
pub struct OptionSetting {
    /// Id of the option.
    pub id: &'static str,
    /// Key in the configuration.
    pub key: &'static str,
    /// Whether every value counts, and not only the last.
    pub is_list: bool,
    /// Options on the command line that also take this one's place.
    pub yields_to: &'static [&'static str],
}

impl OptionSetting {
    const fn one(id: &'static str, key: &'static str) -> Self {
        Self { id, key, is_list: false, yields_to: &[] }
    }

    const fn list(id: &'static str, key: &'static str) -> Self {
        Self { id, key, is_list: true, yields_to: &[] }
    }
}

/// The options with a value that can be configured.
pub const SETTINGS: [OptionSetting; 31] = [
    OptionSetting { yields_to: &["from_bisect"], ..OptionSetting::list("good", "idd.good") },
    OptionSetting::one("walk", "idd.walk"),
    OptionSetting::list("path", "idd.path"),
    OptionSetting::one("build", "idd.build"),
    OptionSetting { yields_to: &["no_precheck"], ..OptionSetting::one("precheck", "idd.precheck") },
    OptionSetting::one("from_artifacts", "idd.fromArtifacts"),
    OptionSetting::one("artifacts_size", "idd.artifactsSize"),
    OptionSetting::list("artifact", "idd.artifact"),
    OptionSetting::one("timeout", "idd.timeout"),
    OptionSetting { yields_to: &["signature"], ..OptionSetting::one("match_line", "idd.match") },
    OptionSetting::one("pass_match", "idd.passMatch"),
    OptionSetting { yields_to: &["match_line"], ..OptionSetting::one("signature", "idd.signature") },
    OptionSetting { yields_to: &["no_hold"], ..OptionSetting::list("hold", "idd.hold") },
    OptionSetting::one("overlay", "idd.overlay"),
    OptionSetting::list("shim", "idd.shim"),
    OptionSetting::one("repeat", "idd.repeat"),
    OptionSetting::one("flaky", "idd.flaky"),
    OptionSetting::one("confidence", "idd.confidence"),
    OptionSetting::one("suite", "idd.suite"),
    OptionSetting::one("remote", "idd.remote"),
    OptionSetting::one("level", "idd.level"),
    OptionSetting::one("until", "idd.until"),
    OptionSetting::one("effort", "idd.effort"),
    OptionSetting::one("jobs", "idd.jobs"),
    OptionSetting::one("local_jobs", "idd.localJobs"),
    OptionSetting::one("budget", "idd.budget"),
    OptionSetting::one("max_probes", "idd.maxProbes"),
    OptionSetting::one("max_cost", "idd.maxCost"),
    OptionSetting::one("notify", "idd.notify"),
    OptionSetting::one("lease", "idd.lease"),
    OptionSetting::one("color", "idd.color"),
];

/// A key that is read elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct OtherKey {
    /// The key; one that ends with a dot stands for all that begin so.
    pub key: &'static str,
    /// What it is for.
    pub meaning: &'static str,
}

/// The keys that are no options.
pub const OTHER_KEYS: [OtherKey; 13] = [
    OtherKey {
        key: "idd.submodules",
        meaning: "`empty`: leave the directories of submodules empty; `filled`: a revision with a missing submodule is \
                  unresolved. By default they are empty if no submodule is checked out in the working tree.",
    },
    OtherKey { key: "idd.worktreeDir", meaning: "Directory for the checkouts of the workers." },
    OtherKey {
        key: "idd.env",
        meaning: "Name of an environment variable that the result of the test depends on; may be set more than once.",
    },
    OtherKey {
        key: "idd.grammar.",
        meaning: "Language of the files that match the pattern, such as idd.grammar.*.tpl; none divides them into \
                  lines. If the pattern cannot be the end of a key, append .language: idd.grammar.old/**.language.",
    },
    OtherKey {
        key: "idd.generated",
        meaning: "Pattern of generated files; each is treated as one unit. A colon and the sources of the files may \
                  follow: names.c: table.txt. A pattern with ! in front names files that are not generated. If no \
                  pattern matches a file, the attribute linguist-generated decides, or a comment in the first five \
                  lines. May be set more than once; the last match counts.",
    },
    OtherKey {
        key: "idd.regenerate",
        meaning: "Command that writes the generated files. It runs before the build of every probe. The generated \
                  files are then not part of any change; only their sources are.",
    },
    OtherKey {
        key: "idd.remotePlatform",
        meaning: "<name>=<value>: a property that a worker of a remote service must have; may be set more than once.",
    },
    OtherKey {
        key: "idd.remoteEnv",
        meaning: "Name of an environment variable that is sent to a remote service; may be set more than once.",
    },
    OtherKey { key: "idd.remoteTokenFile", meaning: "File with the token for a remote service." },
    OtherKey {
        key: "idd.remoteAuthorities",
        meaning: "File with the certificates that sign that of a remote service; otherwise those of the system.",
    },
    OtherKey { key: "idd.remoteCertificate", meaning: "File with your certificate for a remote service." },
    OtherKey { key: "idd.remoteKey", meaning: "File with the key of this certificate." },
    OtherKey {
        key: "idd.mcpAllow",
        meaning: "Shell line that a client of git idd mcp may run, as a test and as a build; may be set more than once.",
    },
];

/// A configured value that its option refuses.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("bad value `{value}` of the configuration key `{key}`: {reason}")]
pub struct ConfigError {
    key: &'static str,
    value: String,
    reason: String,
}

/// What the configuration adds to a command line.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Configured {
    /// Options, each in one word.
    pub options: Vec<OsString>,
    /// Sentences about unknown keys.
    pub warnings: Vec<String>,
}

/// Collects the options that `config` adds to a command line.
///
/// - `command`: only options that it has are added.
/// - `given`: what the user gave, parsed; an option in it keeps its configured values out.
pub fn options_for(
    command: &Command,
    given: &ArgMatches,
    config: &[(String, String)],
) -> Result<Configured, ConfigError> {
    let has = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
    // A question of its own excludes options that are configured for other hunts.
    let perf = command.get_arguments().find(|arg| arg.get_id() == "perf");
    let perf = perf.filter(|arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine));
    let excluded: Vec<&str> = perf.map_or_else(Vec::new, |arg| {
        command.get_arg_conflicts_with(arg).into_iter().map(|arg| arg.get_id().as_str()).collect()
    });
    let has = |id: &str| has(id) && !excluded.contains(&id);
    let is_given = |id: &str| has(id) && given.value_source(id) == Some(ValueSource::CommandLine);
    let mut options = Vec::new();

    for flag in FLAGS.iter().filter(|flag| has(flag.id) && !is_given(flag.id) && !is_given(flag.opposite)) {
        let Some(value) = values_of(config, flag.key).last() else { continue };
        let Some(is_true) = git_bool(value) else {
            let reason = "expected a boolean, such as `true` or `false`".to_owned();
            return Err(ConfigError { key: flag.key, value: value.to_owned(), reason });
        };
        let rival = if flag.id == "no_hold" { "hold" } else { flag.id };
        if is_true != flag.is_negative && !is_given(rival) {
            options.push(format!("--{}", flag.id.replace('_', "-")).into());
        }
    }
    let is_held = !options.contains(&"--no-hold".into());
    for setting in &SETTINGS {
        let is_replaced = is_given(setting.id) || setting.yields_to.iter().any(|id| is_given(id));
        if !has(setting.id) || is_replaced || (setting.id == "hold" && !is_held) {
            continue;
        }
        let long = long_name(command, setting.id);
        for value in settled_values(setting, config) {
            let option = format!("--{long}={value}");
            check(command, &option).map_err(|reason| ConfigError { key: setting.key, value: value.clone(), reason })?;
            options.push(option.into());
        }
    }
    Ok(Configured { options, warnings: warnings(config) })
}

/// The configured values that count; as in git an empty value takes back those before it.
fn settled_values(setting: &OptionSetting, config: &[(String, String)]) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    if setting.id == "color" {
        values.extend(values_of(config, "color.ui").map(colour_word));
    }
    for value in values_of(config, setting.key) {
        if value.is_empty() {
            values.clear();
        } else {
            values.push(if setting.id == "color" { colour_word(value) } else { value.to_owned() });
        }
    }
    if !setting.is_list {
        values.drain(..values.len().saturating_sub(1));
    }
    values
}

fn values_of<'a>(config: &'a [(String, String)], key: &'a str) -> impl Iterator<Item = &'a str> {
    config.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
}

/// As git reads a colour setting, `true` means on a terminal.
fn colour_word(value: &str) -> String {
    match git_bool(value) {
        Some(true) => "auto".to_owned(),
        Some(false) => "never".to_owned(),
        None => value.to_owned(),
    }
}

/// As `git config --type=bool` reads it.
fn git_bool(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" | "" => Some(false),
        number => number.parse::<i64>().ok().map(|number| number != 0),
    }
}

fn long_name<'a>(command: &'a Command, id: &'a str) -> &'a str {
    command.get_arguments().find(|arg| arg.get_id() == id).and_then(clap::Arg::get_long).unwrap_or(id)
}

/// Parses `option` alone; the error is the reason for people.
fn check(command: &Command, option: &str) -> Result<(), String> {
    let Err(error) = command.clone().ignore_errors(false).try_get_matches_from(["git-idd", option]) else {
        return Ok(());
    };
    if let Some(source) = error.source() {
        return Err(source.to_string());
    }
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(words)) if !words.is_empty() => Err(format!("expected one of {}", words.join(", "))),
        _ => Ok(()),
    }
}

fn warnings(config: &[(String, String)]) -> Vec<String> {
    let mut warnings: Vec<String> = config
        .iter()
        .map(|(key, _)| key)
        .filter(|key| !is_known(key))
        .map(|key| match near_key(key) {
            Some(near) => format!("The configuration key `{key}` is unknown; did you mean `{near}`?"),
            None => format!("The configuration key `{key}` is unknown; `git idd help` lists the keys."),
        })
        .collect();
    warnings.dedup();
    warnings
}

/// The key that a mistyped one probably stands for. Of a key with a pattern, only the part before that is compared.
fn near_key(key: &str) -> Option<String> {
    let families = OTHER_KEYS.iter().map(|other| other.key).filter(|key| key.ends_with('.'));
    if let Some(end) = key.match_indices('.').nth(1).map(|(end, _)| end + 1) {
        return nearest(&key[..end], families).map(|near| format!("{near}{}", &key[end..]));
    }
    let keys = FLAGS.iter().map(|flag| flag.key).chain(SETTINGS.iter().map(|setting| setting.key));
    nearest(key, keys.chain(OTHER_KEYS.iter().map(|other| other.key))).map(str::to_owned)
}

fn is_known(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    // The others are keys of git.
    !key.starts_with("idd.")
        || FLAGS
            .iter()
            .map(|flag| flag.key)
            .chain(SETTINGS.iter().map(|setting| setting.key))
            .any(|known| known.eq_ignore_ascii_case(&key))
        || OTHER_KEYS
            .iter()
            .map(|other| other.key.to_ascii_lowercase())
            .any(|known| known == key || (known.ends_with('.') && key.starts_with(&known)))
}
