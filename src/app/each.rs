//! Several failing tests at once: one hunt for each, and one list of the commits that broke them.
//!
//! A culprit mostly breaks several tests. So the search for the next one begins at the commits that were found already, and
//! one of them that is found again is not reduced again. All hunts use the same checkouts, so a build of one serves the next.

use crate::commands;
use crate::console::{CommandAnswer, CommandScene, Console};
use crate::progress::Volume;
use idd_base::count;
use idd_report::{Commit, Report, Status, Terminal, TextRole, Untrusted};
use idd_session::order::{EffortOrder, HuntOrder};
use idd_session::sandboxes::kept_executor;
use idd_session::talk::Talk as _;
use idd_session::test_list::{self, Each, Listed};
use idd_session::{Context, Failure};
use idd_world::repo::{graph, private};
use idd_world::run::kept_executor::KeptExecutor;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// The result for one test.
#[derive(Serialize)]
struct TestResult {
    test: Untrusted,
    status: String,
    first_bad: Option<Commit>,
    /// Whether fresh checkouts have shown that this commit broke it.
    proved: bool,
    /// The hunt that found it.
    hunt: Option<String>,
    /// Runs of the test.
    runs: u64,
    /// Why there is no commit.
    error: Option<Untrusted>,
    /// Whether runs of one revision disagreed.
    flaky: bool,
}

impl TestResult {
    /// Whether the hunt came to its end with a commit.
    fn is_found(&self) -> bool {
        [Status::Found, Status::Unfixed, Status::Culprit].iter().any(|end| self.status == end.word())
    }
}

/// All results, as JSON.
#[derive(Serialize)]
struct All<'f> {
    schema: &'static str,
    tests: &'f [TestResult],
}

/// Hunts all tests.
pub fn run(each: &Each, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let tests = test_list::read(&each.source, &context.directory, &context.environment)?;
    let mut progress = console.progress();
    progress.say(&format!("Hunting {}.", count(tests.len(), "test")));
    let quiet = Console { is_json: true, volume: Volume::Quiet, ..console };
    let user = private::open(&location.git_directory)?;
    // A revision that cannot be resolved is an error of the first hunt.
    let head = graph::resolve(&user, &each.order.history.bad).ok();
    let kept_executor = head.map(|head| kept_executor(context, location, head)).transpose()?;
    let context = &Context { kept_executor, ..context.clone() };
    let mut order = HuntOrder::clone(&each.order);
    if let Some(head) = head.filter(|_| !order.history.from_bisect) {
        // All tests have the same one, even if the branch moves.
        order.history.bad = head.to_string();
    }
    let mut found: Vec<TestResult> = Vec::new();
    let begin = Instant::now();
    for (nth, test) in tests.iter().enumerate() {
        // All hunts together have the budget.
        let budget = order.effort.budget.map(|budget| budget.saturating_sub(begin.elapsed()));
        if budget.is_some_and(|left| left.is_zero()) {
            break;
        }
        let effort = EffortOrder { budget, ..order.effort.clone() };
        let hunt = HuntOrder { command: test.command(&order.command), effort, ..order.clone() };
        let result = told(test, one(hunt, CommandScene { location, context, console: quiet }));
        let name = Terminal.line(&result.test);
        let what = match &result.first_bad {
            Some(commit) => format!("{} {}", commit.commit.short(), Terminal.line(&commit.subject)),
            None => result.error.as_ref().map_or_else(|| result.status.replace('_', " "), |error| Terminal.line(error)),
        };
        progress.say(&format!("{} of {}: {name}: {what} ({})", nth + 1, tests.len(), count(result.runs, "run")));
        let is_interrupted = result.status == Status::Interrupted.word();
        // Tests of one commit often stand beside each other.
        let culprit = result.first_bad.as_ref().filter(|_| result.is_found());
        if let Some(commit) = culprit.map(|commit| commit.commit.to_string()) {
            order.known.retain(|known| *known != commit);
            order.known.insert(0, commit);
        }
        found.push(result);
        if is_interrupted {
            break;
        }
    }
    context.kept_executor.iter().for_each(KeptExecutor::close);
    let is_whole = found.len() == tests.len() && found.iter().all(TestResult::is_found);
    let is_cut = found.len() < tests.len() || found.iter().any(|found| found.status == Status::Budget.word());
    let code = match found.last() {
        Some(last) if last.status == Status::Interrupted.word() => Status::Interrupted.code(),
        _ if is_whole || console.is_exit_zero => 0,
        _ if is_cut => Status::Budget.code(),
        _ => Status::Range.code(),
    };
    if console.is_json {
        let mut text = serde_json::to_vec(&All { schema: "git-idd each 1", tests: &found })?;
        text.push(b'\n');
        return Ok(CommandAnswer::Text(text, code));
    }
    Ok(CommandAnswer::Text(text(&found, tests.len() - found.len(), console).into_bytes(), code))
}

/// A hunt; a failure becomes a report.
fn one(order: HuntOrder, scene: CommandScene<'_>) -> Report {
    match commands::start(order, None, scene) {
        Ok(CommandAnswer::Report(report, ..)) => *report,
        Ok(_) => Report::new(Status::Error, Status::Error.meaning()),
        Err(failure) => failure.report(),
    }
}

fn told(test: &Listed, report: Report) -> TestResult {
    let is_told = report.first_bad.is_some();
    let why = match &report.error {
        Some(error) => error.message.clone(),
        None if report.status == Status::Budget => "the budget ended the hunt; the same command goes on".into(),
        None => report.sentence.clone(),
    };
    TestResult {
        test: Untrusted::from(test.name.clone()),
        status: report.status.word().to_owned(),
        first_bad: report.first_bad.as_ref().map(|first| first.commit.clone()),
        proved: report.proved,
        hunt: report.hunt,
        runs: report.probes.run,
        error: (!is_told).then_some(why),
        flaky: report.noise.is_some() || report.status == Status::NotReproducible,
    }
}

/// The tests by their culprits; those that are not reliable first.
///
/// - `n_left`: tests that were not hunted because the user, or the end of the budget, stopped the rest.
fn text(found: &[TestResult], n_left: usize, console: Console) -> String {
    let style = console.out_style;
    let mut text = String::new();
    let name = |found: &TestResult| Terminal.line(&found.test);
    let list = |text: &mut String, title: String, tests: &[&TestResult]| {
        let _ = writeln!(text, "{title}");
        for test in tests {
            let hunt = test.hunt.as_ref().map(|hunt| format!("  ({hunt})")).unwrap_or_default();
            let why = match &test.error {
                Some(error) => format!(": {}", Terminal.line(error)),
                None if !test.proved => ": not proved".to_owned(),
                None => String::new(),
            };
            let _ = writeln!(text, "  {}{why}{hunt}", name(test));
        }
        text.push('\n');
    };
    let flaky: Vec<&TestResult> = found.iter().filter(|found| found.flaky).collect();
    if !flaky.is_empty() {
        list(&mut text, style.paint(TextRole::Warning, "Not reliable: they fail now and then").to_string(), &flaky);
    }
    let mut commits: Vec<&Commit> = Vec::new();
    for commit in found.iter().filter_map(|found| found.first_bad.as_ref()) {
        if commits.iter().all(|known| known.commit != commit.commit) {
            commits.push(commit);
        }
    }
    for commit in &commits {
        let is_of = |found: &&TestResult| found.first_bad.as_ref().is_some_and(|first| first.commit == commit.commit);
        let tests: Vec<&TestResult> = found.iter().filter(is_of).collect();
        let id = style.paint(TextRole::Commit, commit.commit.short());
        let title = format!(
            "{id} {} ({}) broke {}:",
            Terminal.line(&commit.subject),
            commit.date.day(),
            count(tests.len(), "test")
        );
        list(&mut text, title, &tests);
    }
    let others: Vec<&TestResult> = found.iter().filter(|found| found.first_bad.is_none() && !found.flaky).collect();
    if !others.is_empty() {
        list(&mut text, "No commit was found for:".to_owned(), &others);
    }
    if n_left > 0 {
        let _ = writeln!(text, "Not hunted: {}. The same command goes on.\n", count(n_left, "more test"));
    }
    let runs: u64 = found.iter().map(|found| found.runs).sum();
    let _ = writeln!(
        text,
        "{} of {} in {}. `git idd show --hunt <id>` prints a finding.",
        count(commits.len(), "culprit"),
        count(found.len(), "test"),
        count(runs, "run")
    );
    text
}
