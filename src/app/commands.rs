//! The subcommands.

use crate::announce::{Announced, Announcer};
use crate::args::options::{LogFormat, ReportFormat};
#[cfg(feature = "explain")]
use crate::args::recorded::RecordedRequest;
use crate::args::{PageArgs, Request, options};
use crate::console::{CommandAnswer, CommandScene, Console};
#[cfg(feature = "explain")]
use crate::explain::explain_found;
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::notify::NotifyCommand;
use crate::overdue::Overdue;
use crate::progress::Volume;
use crate::{
    args, badge, browser, by_hand, completions, doctor, each, help, list, log, man, perf, remote, setup, shrink,
    status, trial, unknown, watch,
};
#[cfg(feature = "explain")]
use crate::{chop, dap, debug, explain, invariants, record, slice, trace, walks};
use idd_base::{CommitId, HuntGoal, Outcome, count};
use idd_report::escape::safe;
use idd_report::forge::Forge;
use idd_report::{Explained, Report, ReportedFix, ReportedScope, Status, Terminal, Untrusted, html};
use idd_session::criteria::FIRST_LIMIT;
use idd_session::hunt::Task;
use idd_session::kept::KeptHunt;
use idd_session::lease::HuntMaker;
use idd_session::lines::TargetLines;
use idd_session::mend::mend;
use idd_session::order::{Allowance, HuntOrder};
use idd_session::plan::Plan;
use idd_session::sandboxes::{is_first_use, sandboxes};
use idd_session::talk::Talk as _;
use idd_session::{Context, Failure, Interrupt, certificate, hunt, kept, lease, require_support, saved, story};
use idd_world::cache::{KeepLimits, Observations};
use idd_world::lease::LeaseHolder;
use idd_world::process::shell;
#[cfg(feature = "explain")]
use idd_world::record::store;
use idd_world::repo::fetch::Remote;
use idd_world::repo::ownership::OwnerGuard;
use idd_world::repo::patch::{MovedSubmodule, moved_submodules};
use idd_world::repo::{Location, RepoError, Repository, fetch, graph, keep, locate, origin, private};
use idd_world::{files, journal};
use std::ffi::{OsStr, OsString};
use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
#[cfg(not(feature = "explain"))]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Carries out a request.
pub fn run(request: Request, context: &Context, console: Console) -> Result<CommandAnswer, Failure> {
    if let Some(answer) = outside(&request, context, console)? {
        return Ok(answer);
    }
    let is_by_hand = matches!(
        request,
        Request::ByHand(_) | Request::Resume { .. } | Request::Status { .. } | Request::Log { .. } | Request::Watch(_)
    );
    let moved = is_by_hand.then(|| idd_session::by_hand::directory_of_user(context)).flatten();
    let context = &Context { directory: moved.unwrap_or_else(|| context.directory.clone()), ..context.clone() };
    let location = locate::locate(&context.directory, &context.environment).map_err(|error| located(&error))?;
    let _owner = OwnerGuard::of(&location);
    for name in keep::mend(&location) {
        console.progress().say(&format!("`{name}` named an object that is gone, and was removed."));
    }
    let uses_store = matches!(
        request,
        Request::Hunt(_)
            | Request::Minimize { .. }
            | Request::Each(_)
            | Request::ByHand(_)
            | Request::Resume { .. }
            | Request::Verify { .. }
            | Request::Shrink(_)
            | Request::Try(_)
    );
    #[cfg(feature = "explain")]
    let uses_store = uses_store || matches!(&request, Request::Recorded(request) if request.uses_store());
    if uses_store {
        require_support()?;
    }
    mend(&location, uses_store, &mut console.progress())?;
    let scene = CommandScene { location: &location, context, console };
    match request {
        Request::Hunt(args) => match args.perf {
            Some(perf) => perf::start(args, perf, scene),
            None => start(args, None, scene),
        },
        Request::Minimize { good, bad, hunt } => start(hunt, Some((&good, &bad)), scene),
        Request::Resume { hunt, allowance } => resume(hunt.as_deref(), allowance, scene),
        Request::Each(each) => each::run(&each, scene),
        Request::ByHand(request) => by_hand::run(request, scene),
        Request::List { is_badge: true } => badge::run(&location),
        Request::List { is_badge: false } => list::run(&location, console),
        Request::Status { hunt } => status::run(hunt.as_deref(), &location, console),
        Request::Watch(args) => watch::run(&args, scene),
        Request::Log { hunt, probe, format } => {
            let kept = kept::newest(&location, hunt.as_deref())?;
            match probe {
                Some(name) => log::output(&name, &kept, &location, console),
                None if console.volume == Volume::Verbose && format == LogFormat::Text => log::probes(&kept, &location),
                None => log::verdicts(format, &kept, &location),
            }
        }
        Request::Show { hunt, .. } => shown(&finding(hunt.as_deref(), &location, console)?, &location, console),
        #[cfg(feature = "explain")]
        Request::Report { recording: Some(recording), format, .. } => walks::run(recording, format, &location, console),
        Request::Report { hunt, format, page: None, .. } => {
            report_as(format, &finding(hunt.as_deref(), &location, console)?, scene)
        }
        Request::Report { hunt, page: Some(page), .. } => {
            report_page(&page, &finding(hunt.as_deref(), &location, console)?, scene)
        }
        Request::Verify { file, is_agreed } => verify(&file, is_agreed, scene),
        Request::Apply { hunt, choice } => {
            apply(choice, &finding(hunt.as_deref(), &location, console)?, &location, context)
        }
        Request::Try(args) => trial::run(&args, scene),
        Request::Shrink(args) => shrink::run(&args, scene),
        Request::Reset => reset(&location, context),
        Request::Gc => gc(&location, context),
        Request::Doctor => doctor::run(&location, context),
        #[cfg(feature = "explain")]
        Request::Recorded(request) => recorded(request, scene),
        #[cfg(feature = "mcp")]
        Request::Mcp(args) => {
            mcp::run(args, &location, context)?;
            Ok(CommandAnswer::Text(Vec::new(), 0))
        }
        Request::Man
        | Request::Completions { .. }
        | Request::Help(_)
        | Request::Setup { .. }
        | Request::RemoteCheck { .. } => {
            unreachable!("answered above")
        }
    }
}

/// Records a run, or examines a recorded one.
#[cfg(feature = "explain")]
fn recorded(request: RecordedRequest, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    Ok(match request {
        RecordedRequest::Record(args) => CommandAnswer::Done(record::run(&args, scene)?, 0),
        RecordedRequest::Explain(args) => return explain::run(&args, scene),
        RecordedRequest::Debug(order) => return debug::run(&order, scene),
        RecordedRequest::Chop(order) => CommandAnswer::Page(chop::run(&order, scene)?),
        RecordedRequest::Invariants(order) => CommandAnswer::Page(invariants::run(&order, scene)?),
        RecordedRequest::Slice(order) => CommandAnswer::Page(slice::run(&order, location, console)?),
        RecordedRequest::Trace(args) => CommandAnswer::Page(trace::run(&args, location, console)?),
        RecordedRequest::Dap => {
            dap::run(location, context)?;
            CommandAnswer::Text(Vec::new(), 0)
        }
    })
}

/// The answer to a request that needs no repository.
fn outside(request: &Request, context: &Context, console: Console) -> Result<Option<CommandAnswer>, Failure> {
    let mut page = Vec::new();
    match request {
        Request::Man => man::write(&mut page)?,
        Request::Completions { shell, words } if words.is_empty() => {
            page = completions::function(*shell).as_bytes().to_vec();
        }
        Request::Completions { shell, words } => page = completions::candidates(*shell, words, context)?,
        Request::Help(words) => return help::run(words, console).map(Some),
        Request::Setup { is_removal, is_dry_run } => return setup::run(*is_removal, *is_dry_run, context).map(Some),
        Request::RemoteCheck { address } => return remote::check(address.as_deref(), context, console).map(Some),
        _ => return Ok(None),
    }
    Ok(Some(CommandAnswer::Text(page, 0)))
}

fn located(error: &RepoError) -> Failure {
    let failure = Failure::from_error(error);
    match error {
        RepoError::GitSays { said } if said.starts_with("not a git repository") => {
            failure.with_hint("run `git idd` inside a repository, or name one with `git -C <path> idd`")
        }
        RepoError::GitSays { said } if said.contains("dubious ownership") => {
            failure.with_hint("git refuses repositories of other users; see `safe.directory` in `git help config`")
        }
        RepoError::Unsupported { what } if what.starts_with("working trees") => failure.with_hint(
            "`core.worktree` or `GIT_WORK_TREE` names it; `git clone <git directory> <there>` makes another one",
        ),
        RepoError::Unsupported { .. } => {
            failure.with_hint("`git idd` can read repositories in the usual formats only (`git help init`)")
        }
        _ => failure,
    }
}

/// Starts a hunt, or goes on with the one of the same order that was stopped.
pub fn start(args: HuntOrder, pair: Option<(&str, &str)>, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, .. } = scene;
    unknown::refuse(&args, location, context)?;
    let overdue = args.effort.budget.map(|budget| Overdue::after(budget, scene));
    let mut named: Vec<&str> = args.history.good.iter().chain([&args.history.bad]).map(String::as_str).collect();
    named.extend(pair.iter().flat_map(|(good, bad)| [*good, *bad]));
    let user = opened(&named, args.effort.fetch, scene)?;
    let plan = Plan::new(args, pair, location, &user, context)?;
    hunt_with(&plan, &user, None, false, overdue, scene)
}

/// The user's repository. If a named revision is behind the border of a shallow clone, the rest of the history is
/// fetched first, if that is allowed.
fn opened(named: &[&str], may_fetch: bool, scene: CommandScene<'_>) -> Result<Repository, Failure> {
    let CommandScene { location, context, console } = scene;
    let open = || private::open(&location.git_directory).map_err(Failure::from);
    let user = open()?;
    let borders = fetch::borders(location);
    let is_all_here = || named.iter().all(|name| graph::resolve(&user, name).is_ok());
    if !may_fetch || borders.is_empty() || is_all_here() {
        return Ok(user);
    }
    let Some(remote) = Remote::of_history(location, &context.environment) else { return Ok(user) };
    remote.history_behind(&borders)?;
    let said = format!("Fetched the rest of the history from `{}`; the clone is not shallow any more.", remote.name);
    console.progress().say(&said);
    open()
}

/// - `resumed`: the hunt of this plan that continues.
/// - `is_continued`: whether it continues if it has ended.
/// - `overdue`: what ends the program at the end of its budget.
fn hunt_with(
    plan: &Plan,
    user: &Repository,
    resumed: Option<&KeptHunt>,
    is_continued: bool,
    overdue: Option<Overdue>,
    scene: CommandScene<'_>,
) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let lease = plan.order.effort.lease.as_ref().map(|directory| lease::take(plan, directory, &context.directory));
    let _lease = match lease.transpose()? {
        Some(HuntMaker::Other(LeaseHolder(owner))) => {
            let sentence = format!("Another job makes this hunt now: {}.", owner.trim());
            return Ok(CommandAnswer::report(Report::new(Status::Elsewhere, sentence)));
        }
        Some(HuntMaker::Before(report)) => return Ok(CommandAnswer::report(*report)),
        Some(HuntMaker::This(lease)) => Some(lease),
        None => None,
    };
    let interrupt = Interrupt::register()?.flag;
    let mut progress = console.progress();
    if console.is_err_terminal && is_first_use(context) && !setup::has_page(context) {
        progress.say("`git idd help` shows the manual; `git idd --help` needs its page: `git idd setup` installs it.");
    }
    let saved = saved::open(plan, location, resumed, is_continued)?;
    let (begin, budget) = (Instant::now(), plan.order.effort.budget);
    let announced = Arc::new(Announced::default());
    if let Some(overdue) = &overdue {
        overdue.watch(&saved, &announced);
    }
    let test = Untrusted::from(plan.order.command.to_line());
    let notice = plan.order.effort.notify.clone().map(|line| NotifyCommand::new(line, test, &interrupt));
    let mut talk = Announcer { progress, console, context, notice: notice.as_ref(), announced: Arc::clone(&announced) };
    let result = hunt::run(Task { plan, location, context, saved, interrupt, talk: &mut talk }, user);
    drop(overdue);
    let announced = announced.commit();
    if let (Ok(report), Some(directory)) = (&result, &plan.order.effort.lease)
        && let Err(failure) = lease::leave(plan, directory, &context.directory, report)
    {
        let why = Terminal.line(&failure.message);
        console.progress().say(&format!("The finding could not be left for other jobs: {why}."));
    }
    if let (Ok(report), Ok((finding, Some(_)))) = (&result, kept::newest_finding(location, None)) {
        console.progress().say(&kept_beside(report, &finding));
    }
    match (result, notice) {
        (Ok(mut report), notice) => {
            let left = budget.map(|budget| budget.saturating_sub(begin.elapsed()));
            let is_wanted = plan.order.effort.explain && report.proved && report.status != Status::Interrupted;
            let id = if is_wanted { explain_found(&mut report, left, announced, scene)? } else { None };
            let explained = id.map(|id| explanations(location, &id, &report, console)).unwrap_or_default();
            Ok(CommandAnswer::Report(Box::new(report), explained, notice, announced))
        }
        (Err(failure), Some(notice)) => {
            notice.give(&failure.report(), context, console);
            Err(failure)
        }
        (Err(failure), None) => Err(failure),
    }
}

/// Explains nothing: `--explain` is refused when the options are read.
#[cfg(not(feature = "explain"))]
#[expect(clippy::unnecessary_wraps, reason = "as with explanations")]
fn explain_found(
    _: &mut Report,
    _: Option<Duration>,
    _: Option<CommitId>,
    _: CommandScene<'_>,
) -> Result<Option<String>, Failure> {
    Ok(None)
}

/// What is said of an older finding, which went further than this hunt.
fn kept_beside(report: &Report, finding: &KeptHunt) -> String {
    let kept = &finding.id;
    let (Some(first_bad), Some(hunt)) = (&report.first_bad, &report.hunt) else {
        return format!("This hunt has no finding; that of the hunt {kept} is kept: `git idd show`.");
    };
    let known = finding.report().ok().and_then(|known| known.first_bad);
    let is_same = known.is_some_and(|known| known.commit.commit == first_bad.commit.commit);
    let other = if is_same { "" } else { ", which names another commit" };
    format!(
        "This hunt went less far than the hunt {kept}{other}. `git idd show` shows that one, and `git idd show --hunt \
         {hunt}` this one."
    )
}

fn resume(hunt: Option<&str>, allowance: Allowance, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let kept = kept::newest(location, hunt)?;
    let KeptHunt { id, replay } = &kept;
    let mut plan = saved::plan(replay)?;
    if plan.order.by_hand && kept.is_unfinished() {
        return by_hand::resume(&kept, scene);
    }
    if let Some(perf) = plan.order.perf.filter(|_| kept.is_unfinished()) {
        return perf::resume(&kept, perf, scene);
    }
    // The last goal: it holds for this run and for later ones.
    if let Some(HuntGoal { until, reduction }) = saved::asked(location, id)? {
        (plan.order.effort.until, plan.order.effort.reduction) = (until, reduction);
    }
    let is_unfinished = saved::is_unfinished(replay.status.as_deref());
    let is_reduced = !plan.order.by_hand && plan.order.perf.is_none();
    let is_continued = is_reduced && allowance.until.is_some_and(|until| until > plan.order.effort.until)
        || is_reduced && allowance.reduction.is_some() && saved::is_cut_short(replay);
    if !is_unfinished && !is_continued {
        let mut progress = console.progress();
        progress.say(&format!("The hunt {id} has ended already; this is its result."));
        if let Some(other) = kept::other_unfinished(location, id) {
            progress.say(&format!("The hunt {other} has not ended; `git idd resume --hunt {other}` goes on with it."));
        }
        let report = kept.report()?;
        let explained = explanations(location, id, &report, console);
        return Ok(CommandAnswer::Report(Box::new(report), explained, None, None));
    }
    let user = private::open(&location.git_directory)?;
    let place = Location { prefix: plan.prefix.clone(), ..location.clone() };
    let directory = location.top.as_ref().map_or_else(|| context.directory.clone(), |top| top.join(&plan.prefix));
    let context = &Context { directory, ..context.clone() };
    let target: CommitId = plan.target.parse()?;
    let pair = plan.goods.first().filter(|_| plan.is_minimize).map(|good| (good.as_str(), plan.bad.as_str()));
    let budget = allowance.budget.or(plan.order.effort.budget);
    let overdue = budget.map(|budget| Overdue::after(budget, CommandScene { context, ..scene }));
    let resolved = Plan::new(plan.pinned_order(), pair, &place, &user, context)?;
    let saved = plan;
    let mut plan = Plan { order: saved.order.clone(), target, ..resolved };
    allowance.replace(&mut plan.order.effort);
    let changed_tool = saved::changed_tool(&plan, &place, replay).map(|change| change.to_string());
    if changed_tool.is_some() || !saved::is_same(&plan, replay)? {
        let changed: Vec<String> = saved.changed(&plan).into_iter().chain(changed_tool).collect();
        let changed = safe(&changed.join(", "));
        let what = if changed.is_empty() { "this program".to_owned() } else { changed };
        console
            .progress()
            .say(&format!("The hunt cannot continue, because its conditions changed ({what}); starting over."));
    }
    let scene = CommandScene { location: &place, context, console };
    hunt_with(&plan, &user, Some(&kept), is_continued, overdue, scene)
}

/// The named hunt, or else the newest one with a finding; prints a message to stderr if another one is newer.
pub fn finding(hunt: Option<&str>, location: &Location, console: Console) -> Result<KeptHunt, Failure> {
    let (kept, remark) = kept::newest_finding(location, hunt)?;
    if let Some(remark) = remark {
        console.progress().say(&remark);
    }
    Ok(kept)
}

/// The finding, with its explanations.
fn shown(kept: &KeptHunt, location: &Location, console: Console) -> Result<CommandAnswer, Failure> {
    let report = kept.report()?;
    let explanations = explanations(location, &kept.id, &report, console);
    let is_newest = kept::own(location).last() == Some(&kept.id);
    Ok(CommandAnswer::Shown(Box::new(report), explanations, !is_newest))
}

/// The finding in a form for other programs.
fn report_as(format: ReportFormat, kept: &KeptHunt, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let (id, report, saved) = (&kept.id, kept.report()?, saved::plan(&kept.replay)?);
    let test = Untrusted::from(saved.order.command.to_line());
    let mut out = Vec::new();
    let result = match format {
        _ if console.is_json => return shown(kept, location, console),
        ReportFormat::Text => return shown(kept, location, console),
        ReportFormat::Json => {
            idd_report::json::write_explained(&report, &explanations(location, id, &report, console), &mut out)
        }
        ReportFormat::Markdown => {
            let explanations = explanations(location, id, &report, console);
            idd_report::markdown::write(&report, &test, forge(location).as_ref(), &explanations, &mut out)
        }
        ReportFormat::Mail => {
            let explanations = explanations(location, id, &report, console);
            let [name, address] =
                [("GIT_AUTHOR_NAME", "user.name"), ("GIT_AUTHOR_EMAIL", "user.email")].map(|(variable, key)| {
                    let given = context.variable(variable).and_then(|value| value.into_string().ok());
                    given.or_else(|| context.configured(key).last().map(str::to_owned))
                });
            let sender = name.as_deref().zip(address.as_deref());
            idd_report::mail::write(&report, &test, sender, &explanations, &mut out)
        }
        ReportFormat::Github => idd_report::github::write(&report, &test, &mut out),
        ReportFormat::Gitlab => idd_report::gitlab::write(&report, &test, &mut out),
        ReportFormat::Junit => idd_report::junit::write(&report, &test, &mut out),
        ReportFormat::Certificate => {
            let limit = saved.order.test.timeout.unwrap_or(FIRST_LIMIT);
            let regenerate = context.configured("idd.regenerate").last().filter(|command| !command.is_empty());
            let certificate = certificate::make(&report, &saved, limit, regenerate, location)?;
            out = serde_json::to_vec_pretty(&certificate)?;
            writeln!(out)
        }
        ReportFormat::Sarif => {
            let user = private::open(&location.git_directory)?;
            let explanations = explanations(location, id, &report, console);
            let mut lines = TargetLines::new(location)?;
            let mut find =
                |explained: &Explained, commit, file: &Untrusted, line| lines.find(explained, commit, file, line);
            let repository = origin::address(&user);
            idd_report::sarif::write(&report, &test, repository.as_deref(), &explanations, &mut find, &mut out)
        }
    };
    result?;
    Ok(CommandAnswer::Page(out))
}

/// The forge of the remote `origin`, if it is known.
fn forge(location: &Location) -> Option<Forge> {
    // Without the repository, there are no links.
    let user = private::open(&location.git_directory).ok()?;
    Forge::of(&origin::address(&user)?)
}

/// The finding as a page.
fn report_page(page: &PageArgs, kept: &KeptHunt, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let (id, report, plan) = (&kept.id, kept.report()?, saved::plan(&kept.replay)?);
    let explanations = explanations(location, id, &report, console);
    let story = story::read(location, id, &report, &explanations)?;
    let test = Untrusted::from(plan.order.command.to_line());
    let build = plan.order.test.build.map(|line| Untrusted::from(line.into_vec()));
    let forge = forge(location);
    let written = html::HtmlPage {
        report: &report,
        test: &test,
        build: build.as_ref(),
        story: &story,
        explanations: &explanations,
        forge: forge.as_ref(),
    };
    let mut bytes = Vec::new();
    html::write(&written, &mut bytes)?;
    if page.file.as_ref().is_some_and(|file| file == "-") {
        return Ok(CommandAnswer::Text(bytes, 0));
    }
    let file = page.file.as_ref().map_or_else(|| saved::page_path(location), |file| context.directory.join(file));
    let failed = |why: &dyn Display| {
        Failure::error(format!("failed to write the report `{}`: {why}", file.display()))
            .with_hint("`--html -` prints it")
    };
    if page.file.is_some() && !file.parent().is_some_and(Path::is_dir) {
        return Err(failed(&"there is no directory for it"));
    }
    if file.is_dir() {
        return Err(failed(&"it is a directory"));
    }
    files::replace(&file, &bytes).map_err(|error| failed(&error))?;
    let is_seen = !page.is_opened || browser::open(&file, context);
    let name = safe(&file.to_string_lossy());
    let said =
        if is_seen { format!("Wrote {name}") } else { format!("No browser could be opened. The page is {name}") };
    if console.is_json {
        if !is_seen {
            console.progress().say(&said);
        }
        return Ok(CommandAnswer::Shown(Box::new(report), Vec::new(), false));
    }
    Ok(CommandAnswer::Done(format!("{said}\n"), 0))
}

/// The stored explanations of a hunt; prints a message about each that cannot be used.
fn explanations(location: &Location, id: &str, report: &Report, console: Console) -> Vec<Explained> {
    let (explanations, complaints) = saved::explanations(location, id, report);
    for why in &complaints {
        console.progress().say(why);
    }
    explanations
}

/// The maximum size of a certificate; larger patches cannot be proved in useful time.
const MAX_CERTIFICATE: u64 = 64 << 20;

fn verify(file: &OsStr, is_agreed: bool, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let bytes = files::bytes_up_to(&context.directory.join(file), MAX_CERTIFICATE).map_err(|error| {
        let name = file.to_string_lossy();
        Failure::usage(format!("failed to read the certificate `{name}`: {error}"))
            .with_hint("`git idd report --format certificate` makes one from a finding")
    })?;
    let (text, code) = certificate::verify(&bytes, location, context, is_agreed, &hunt_order, &mut console.progress())?;
    Ok(CommandAnswer::Done(text, code))
}

/// The hunt order of these options and this test command; `None` if they make none.
fn hunt_order(words: Vec<OsString>) -> Option<HuntOrder> {
    match args::parse([OsString::from("git-idd")].into_iter().chain(words).collect(), &[]).ok()?.request {
        Request::Hunt(order) => Some(order),
        _ => None,
    }
}

fn apply(
    choice: options::Choice,
    kept: &KeptHunt,
    location: &Location,
    context: &Context,
) -> Result<CommandAnswer, Failure> {
    let (id, report) = (&kept.id, kept.report()?);
    let is_sought = !report.fixes.is_empty() || !report.reverts.is_empty() || report.fix.is_some();
    let fix = match choice.rung {
        Some(rung) => {
            let scope = match rung {
                options::RungOption::Lines => ReportedScope::Lines,
                options::RungOption::Statements => ReportedScope::Statements,
                options::RungOption::Declarations => ReportedScope::Declarations,
                options::RungOption::Files => ReportedScope::Files,
            };
            // A reversal is listed once, by the most that it takes back.
            let is_it = |fix: &ReportedFix| (scope..=ReportedScope::Code).contains(&fix.scope);
            let smallest = report.fixes.into_iter().chain(report.reverts).filter(is_it).min_by_key(|fix| fix.scope);
            smallest.filter(|fix| !fix.patch.is_empty())
        }
        None if choice.revert => report.revert().cloned(),
        None => report.fix,
    };
    let is_recommended = choice == options::Choice::default();
    let Some(fix) = fix else {
        if !is_sought && report.first_bad.is_none() {
            let message = format!("the hunt {id} found no commit that breaks the test, so there is no fix");
            return Err(Failure::error(message).with_hint("`git idd show` says how it ended"));
        }
        if !is_sought {
            return Err(Failure::error(format!("the hunt {id} has not looked for a fix yet"))
                .with_hint(format!("`git idd resume --hunt {id} --until fix` looks for one")));
        }
        let what = if is_recommended { "recommends no fix" } else { "found no such reversal that applies" };
        let message = format!("the hunt {id} {what}");
        return Err(Failure::error(message).with_hint(
            "`git idd show -v` lists what was tried; `git idd apply --rung <name>` or `--revert` takes one of them",
        ));
    };
    let patch = location.session_directory().join("fix.patch");
    files::replace(&patch, fix.patch.as_bytes())?;
    let applied = locate::apply_patch(location, &patch, &context.environment);
    if applied.is_err() && locate::is_applied(location, &patch, &context.environment) {
        return Ok(CommandAnswer::Done("The fix is in the working tree already; nothing was changed.\n".to_owned(), 0));
    }
    applied.map_err(|error| {
        let head = private::open(&location.git_directory).and_then(|user| graph::resolve(&user, "HEAD"));
        let why = if head.is_ok_and(|head| head == fix.commit) {
            "your working tree has other changes there".to_owned()
        } else {
            format!("the fix is for commit {}", fix.commit.short())
        };
        Failure::from_error(&error)
            .with_hint(format!("{why}; nothing was changed. The fix is kept in `{}`", patch.display()))
    })?;
    // `git apply` leaves them where they are.
    let moved = moved_submodules(fix.patch.as_bytes());
    let mut text = format!("Applied the fix ({}) to the working tree.\n", count(fix.lines, "line"));
    if !is_recommended {
        let (lines, at) = (count(fix.lines, "line"), fix.commit.short());
        let name = match &fix.reverts {
            Some(reverted) => format!("revert of {}", reverted.commit.short()),
            None => fix.scope.word().to_owned(),
        };
        let tested = match fix.tested {
            Outcome::Pass => String::new(),
            tested => format!("The test does not pass with it: {tested} at {at}.\n"),
        };
        text = format!("Applied the reversal `{name}` ({lines}) to the working tree.\n{tested}");
    }
    if !moved.is_empty() && fix.lines == 2 * moved.len() as u64 {
        "The fix only moves submodules; nothing was changed.\n".clone_into(&mut text);
    }
    for MovedSubmodule { path, commit } in moved {
        let submodule = Terminal.line(&Untrusted::from(shell::quoted(&path).as_slice()));
        let _ = writeln!(text, "`git -C {submodule} checkout {commit}` moves the submodule to the commit of the fix.");
    }
    Ok(CommandAnswer::Done(text, 0))
}

fn reset(location: &Location, context: &Context) -> Result<CommandAnswer, Failure> {
    saved::forget(location)?;
    idd_session::by_hand::remove_checkout(context, location);
    let message = "Forgot the hunts of this worktree; `git idd list` lists them until `git idd gc` removes them.\n";
    Ok(CommandAnswer::Done(message.to_owned(), 0))
}

/// Removes old journals; if no hunt is running, the candidates of all hunts and compiled data, which can be made again;
/// and of this worktree the checkouts of killed hunts and all recordings but the last one.
fn gc(location: &Location, context: &Context) -> Result<CommandAnswer, Failure> {
    const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
    const MAX_BYTES: u64 = 1 << 30;
    let idd = location.idd_directory();
    let keep = KeepLimits { max_age: MAX_AGE, max_bytes: MAX_BYTES };
    let freed = Observations::gc(&idd, &keep, SystemTime::now())?;
    let segments = journal::segments(&idd)?;
    let lock = saved::lock(location);
    let mut is_running = lock.is_err();
    for (id, _) in &segments {
        is_running |= saved::is_running(location, id).unwrap_or(true);
    }
    let mut bytes = freed.bytes;
    if !is_running {
        let stored = private::private_directory(&idd);
        bytes += files::size(&stored);
        files::remove(&stored)?;
        // Checkouts of killed hunts are removed when new ones are created. If none can be created, there are none.
        if let Ok(own) = sandboxes(context, location, "gc") {
            files::remove(&own)?;
        }
    }
    if idd_session::by_hand::newest(location).is_ok_and(|kept| !kept.is_unfinished()) {
        idd_session::by_hand::remove_checkout(context, location);
    }
    #[cfg(feature = "explain")]
    let recordings = if is_running { Vec::new() } else { store::older(&location.session_directory()) };
    #[cfg(not(feature = "explain"))]
    let recordings: Vec<PathBuf> = Vec::new();
    for recording in &recordings {
        bytes += files::size(recording);
        files::remove(recording)?;
    }
    let note = if is_running { " A hunt is running; its candidates were kept." } else { "" };
    let (n_journals, n_recordings) = (freed.segments, recordings.len());
    let kibibytes = bytes / 1024;
    let removed = [count(n_journals, "old journal"), count(n_recordings, "recording")].join(" and ");
    let text = format!("Removed {removed}; {kibibytes} KiB freed.{note}\n");
    Ok(CommandAnswer::Done(text, 0))
}
