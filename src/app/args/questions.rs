//! The questions to history beside the usual one: `--find`, `--each`, `--perf`.

use std::ffi::OsString;

use crate::args::values::value;
use clap::Args;
use idd_base::Sought;
use idd_session::order::{
    EffortOrder, HistoryOrder, HuntOrder, Measure, Perf, SignatureMode, TestCommand, TestOrder, Until,
};
use idd_session::share::{Threshold, parse_threshold};
use idd_session::test_list::{self, Each, TestSource};

/// A message and a hint.
pub type OptionMessage = (&'static str, &'static str);

/// What is said of explanations in a build that has none.
pub const NO_EXPLANATIONS: OptionMessage = (
    "this program was built without explanations",
    "`cargo install git-idd --features explain,mcp` builds it with them",
);

/// The options of a performance hunt.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "What is measured")]
pub struct Measured {
    /// Find the first commit since which this shell line needs more time. It must end with exit code 0 at both ends; a
    /// revision where it does not is repaired or left out.
    ///
    /// The good end, the bad end and the revision that is asked for run by turns, at least 8 times each, until the answer is
    /// sure (99 %). Without `--good`, one that is faster is searched. The result is the commit; it is not reduced to lines.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = [
        "words", "by", "each", "failures", "find", "precheck", "artifact", "no_precheck", "match_line", "pass_match",
        "signature", "repeat", "flaky", "confidence", "suite", "expose_commit", "level", "fast", "retry",
        "clean", "no_cache", "fetch", "until", "effort", "repair", "no_port", "port", "explain", "jobs", "local_jobs", "budget",
        "max_probes", "max_cost", "notify", "lease", "remote", "from_artifacts", "artifacts_size",
    ])]
    pub perf: Option<OsString>,

    /// With `--perf`: how much more the bad revision must need for a hunt to begin (default: 10%).
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_threshold)]
    pub threshold: Option<Threshold>,

    /// With `--perf`: what is measured (default: time).
    #[arg(long, value_parser = value::<Measure>(), value_name = "WHAT")]
    pub measure: Option<Measure>,
}

impl Measured {
    /// Refuses options of a performance hunt in another one. (The parser does not require what a test excludes.)
    pub fn refuse_alone(&self) -> Result<(), OptionMessage> {
        if self.threshold.is_some() || self.measure.is_some() {
            return Err((
                "`--threshold` and `--measure` need `--perf <command>`",
                "`git idd --perf './bench' --measure cpu` finds the commit since which `./bench` needs more",
            ));
        }
        Ok(())
    }
}

/// A performance hunt.
pub fn measured(
    line: OsString,
    measure: Option<Measure>,
    threshold: Option<Threshold>,
    history: HistoryOrder,
    test: TestOrder,
    effort: EffortOrder,
) -> Result<HuntOrder, OptionMessage> {
    if history.good.len() > 1 {
        return Err(("`--perf` takes one `--good`", "it is the older revision, where the command is fast"));
    }
    let history = HistoryOrder { find: Sought::Slower, ..history };
    let test = TestOrder { signature: SignatureMode::Exit, ..test };
    let effort = EffortOrder { until: Until::Commit, no_cache: true, no_port: true, ..effort };
    let order = hunt_args(vec![line], history, test, effort)?;
    let perf = Perf { measure: measure.unwrap_or_default(), threshold: threshold.unwrap_or_default() };
    Ok(HuntOrder { perf: Some(perf), ..order })
}

/// A hunt with the question of `--find`.
///
/// - `by`: the command of `--by`, which takes the place of the test, `words`.
pub fn asked(
    words: Vec<OsString>,
    by: Option<OsString>,
    history: HistoryOrder,
    test: TestOrder,
    effort: EffortOrder,
) -> Result<HuntOrder, OptionMessage> {
    if history.find == Sought::Change && by.is_none() {
        return Err((
            "`--find change` needs `--by <command>`",
            "`git idd --find change --by './prog --version'` finds the commit since which the command prints what it prints",
        ));
    }
    let history = turned(history, by.is_some())?;
    let hunt = hunt_args(by.map_or(words, |line| vec![line]), history, test, effort)?;
    if hunt.effort.explain && !cfg!(feature = "explain") {
        return Err(NO_EXPLANATIONS);
    }
    if hunt.effort.explain && !hunt.history.find.is_failure() {
        return Err((
            "`--explain` tells how a failure comes about, and needs `--find failure`",
            "leave `--explain` out, or hunt for the commit that broke the test",
        ));
    }
    Ok(hunt)
}

/// A hunt for each test of a source.
pub fn several(order: HuntOrder, source: TestSource) -> Result<Each, OptionMessage> {
    if !test_list::has_place(&order.command) {
        return Err((
            "the test command has no `{}` for the name of a test",
            "git idd --each 'cat failing.txt' -- ./run-test {}",
        ));
    }
    if !order.history.find.is_failure() {
        return Err(("several tests are hunted for their failures only", "leave `--find` out, or hunt one test"));
    }
    Ok(Each { order: Box::new(order), source })
}

/// The newer revision and the older ones of a question; for a fix, the test passes at the newer one.
pub fn turned(mut history: HistoryOrder, is_by: bool) -> Result<HistoryOrder, OptionMessage> {
    if is_by && history.find != Sought::Change {
        return Err((
            "`--by` names a command that prints a value, and needs `--find change`",
            "without `--find change`, the test is what follows the options: git idd -- ./test.sh",
        ));
    }
    if history.find != Sought::Fix {
        return Ok(history);
    }
    let HistoryOrder { bad, good, .. } = history;
    if good.len() > 1 {
        return Err((
            "`--find fix` takes one `--good`",
            "it is the newer revision, where the test passes; `--bad` is the older one",
        ));
    }
    history.bad = good.into_iter().next().unwrap_or_else(|| "HEAD".to_owned());
    history.good = if bad == "HEAD" { Vec::new() } else { vec![bad] };
    Ok(history)
}

/// A hunt with this test.
pub fn hunt_args(
    words: Vec<OsString>,
    history: HistoryOrder,
    mut test: TestOrder,
    effort: EffortOrder,
) -> Result<HuntOrder, OptionMessage> {
    let Some(command) = TestCommand::from_words(words) else {
        return Err(("the test command is empty", "give a command that fails now: git idd -- ./test.sh"));
    };
    if test.build.as_ref().is_some_and(|line| line.to_string_lossy().trim().is_empty()) {
        return Err(("the command of `--build` is empty", "leave `--build` out if there is nothing to build"));
    }
    match (test.signature, &test.match_line) {
        (SignatureMode::Regex, None) => {
            return Err((
                "`--signature regex` needs `--match <regex>`",
                "give the regular expression that the output of the failure matches",
            ));
        }
        (SignatureMode::Exit, Some(_)) => {
            return Err((
                "`--match` and `--signature exit` exclude each other",
                "with `--signature exit` the output of the test is not looked at",
            ));
        }
        (_, Some(_)) => test.signature = SignatureMode::Regex,
        (_, None) => {}
    }
    Ok(HuntOrder { history, test, effort, ..HuntOrder::new(command) })
}
