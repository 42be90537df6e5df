//! Certificates: made from the finding of a hunt, and verified in any clone.
//!
//! A hunt takes many runs to find something, and at most six to prove it. A certificate contains those six. So its
//! reader need not trust its author, nor this program's search.

use crate::criteria::{FIRST_LIMIT, criteria};
use crate::order::{HuntOrder, SignatureMode, TestCommand};
use crate::plan::Plan;
use crate::sandboxes::sandboxes;
use crate::saved::{self, SavedPlan};
use crate::surroundings::surroundings;
use crate::{Context, Failure, Interrupt, Talk};
use idd_base::{Ending, NamedTest, Outcome, Signature, TreeId};
use idd_report::certificate::{Certificate, Claim, ClaimRole, SCHEMA, proven};
use idd_report::{Report, Status, Terminal, Untrusted};
use idd_world::files;
use idd_world::process::shell;
use idd_world::repo::{HeldFiles, Location, RepoError, Repository, TreeStore, graph, private};
use idd_world::run::classify::{Criteria, classify, is_build_failure};
use idd_world::run::sandbox::{Commands, ProbeJob, Sandbox};
use idd_world::run::{normalise, sandbox};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// Makes the certificate of a finding. `limit`: the time limit of each command of the hunt.
pub fn make(
    report: &Report,
    plan: &SavedPlan,
    limit: Duration,
    regenerate: Option<&str>,
    location: &Location,
) -> Result<Certificate, Failure> {
    let none = || {
        Failure::error("the finding was not proved, so there is nothing to certify")
            .with_hint("`git idd show` prints what was found and how far it was verified")
    };
    if !report.find.is_failure() {
        return Err(Failure::error("only a hunt for a failure has a certificate")
            .with_hint("`git idd report --format json` has the claims, and how each was tested"));
    }
    if report.interaction {
        return Err(Failure::error("several commits break the test only together: no single one can be certified")
            .with_hint("`git idd show` names them"));
    }
    let artifacts = report.artifacts.iter().flat_map(|artifacts| &artifacts.revisions);
    let ends = report.first_bad.iter().map(|first_bad| first_bad.commit.commit);
    let ends = ends.chain(report.last_good.iter().map(|commit| commit.commit));
    // Before a change is reduced, both ends are built.
    if report.change.necessary.is_none() && artifacts.into_iter().any(|of| ends.clone().any(|end| end == *of)) {
        return Err(Failure::error("the commit was found with artifacts, which a certificate does not have")
            .with_hint("with `--build <command>` the change is reduced, and its claims are run on builds"));
    }
    let mut proven = proven(report);
    if report.fix.is_none() {
        // A revert is no fix, and is not certified.
        proven.retain(|(role, ..)| !matches!(role, ClaimRole::TargetFails | ClaimRole::FixPasses));
    }
    let (Some(first_bad), Some(last_good), Some(signature)) = (&report.first_bad, &report.last_good, &report.signature)
    else {
        return Err(none());
    };
    if !matches!(proven.as_slice(), [(ClaimRole::GoodPasses, ..), (ClaimRole::BadFails, ..), ..]) {
        return Err(none());
    }
    let gone = |error: &dyn std::error::Error| {
        Failure::error(format!("a tree of the finding cannot be read: {error}"))
            .with_hint("`git idd gc` removes such trees; hunt again, known results are not run again")
    };
    let user = private::open(&location.git_directory)?;
    let store = store(location).map_err(|_| none())?;
    let claim = |(role, commit, tree): (ClaimRole, _, TreeId)| {
        let bare = graph::tree_of(&user, commit).map_err(|error| gone(&error))?;
        let (patch, _) = store.patch(bare, tree).map_err(|error| gone(&error))?;
        Ok(Claim { role, commit, patch: patch.into(), tree })
    };
    let claims = proven.into_iter().map(claim).collect::<Result<Vec<_>, Failure>>()?;
    let has = |role: ClaimRole| claims.iter().any(|claim| claim.role == role);
    let of = |change: &Option<idd_report::ReducedChange>| change.as_ref().map(|change| change.patch.clone());
    Ok(Certificate {
        schema: SCHEMA.to_owned(),
        options: options(&plan.order, limit).into_iter().map(|word| word.into_vec().into()).collect(),
        regenerate: regenerate.map(Untrusted::from),
        directory: plan.prefix.as_os_str().as_bytes().into(),
        environment: report.held.iter().filter(|held| held.beside).map(|held| held.path.clone()).collect(),
        signature: signature.clone(),
        last_good: last_good.commit,
        first_bad: first_bad.commit.commit,
        sufficient: of(&report.change.sufficient).filter(|_| has(ClaimRole::SufficientFails)),
        necessary: of(&report.change.necessary).filter(|_| has(ClaimRole::NecessaryPasses)),
        fix: report.fix.as_ref().map(|fix| fix.patch.clone()).filter(|_| has(ClaimRole::FixPasses)),
        claims,
    })
}

/// The part of a command line with the commands and the meaning of their results.
fn options(order: &HuntOrder, limit: Duration) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    let mut option = |name: &str, value: &OsStr| options.extend([name.into(), value.to_owned()]);
    if let Some(build) = &order.test.build {
        option("--build", build);
    }
    option("--timeout", format!("{}ms", limit.as_millis()).as_ref());
    if order.test.repeat > 1 {
        option("--repeat", order.test.repeat.to_string().as_ref());
    }
    if let Some(line) = &order.test.match_line {
        option("--match", line.as_ref());
    }
    if let Some(line) = &order.test.pass_match {
        option("--pass-match", line.as_ref());
    }
    if order.test.signature == SignatureMode::Exit {
        option("--signature", "exit".as_ref());
    }
    if order.test.isolate_home {
        options.push("--isolate-home".into());
    }
    options.push("--".into());
    match &order.command {
        TestCommand::Shell(line) => options.push(line.clone()),
        TestCommand::Argv(words) => options.extend(words.iter().cloned()),
    }
    options
}

/// The trees of candidates.
pub fn store(location: &Location) -> Result<TreeStore, Failure> {
    let repository = private::open(&private::private_directory(&location.idd_directory()))?;
    TreeStore::new(repository, HeldFiles::default(), Vec::new()).map_err(Failure::from)
}

/// The result of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerificationResult {
    /// Every claim holds.
    Valid,
    /// It contradicts itself or the history; or a claim about a change does not hold although the claims about
    /// revisions do.
    Invalid,
    /// A revision is missing, cannot be tested, or has another outcome here.
    NotReproducible,
}

impl VerificationResult {
    fn code(self) -> u8 {
        match self {
            Self::Valid => 0,
            Self::Invalid => Status::Error.code(),
            Self::NotReproducible => Status::NotReproducible.code(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::NotReproducible => "not reproducible here",
        }
    }
}

/// How a verification ends before all claims were run.
enum VerificationEnd {
    Verdict(VerificationResult, String),
    Failure(Failure),
}

impl From<Failure> for VerificationEnd {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<RepoError> for VerificationEnd {
    fn from(error: RepoError) -> Self {
        Self::Failure(error.into())
    }
}

fn invalid(why: impl Into<String>) -> VerificationEnd {
    VerificationEnd::Verdict(VerificationResult::Invalid, why.into())
}

fn missing(why: impl Into<String>) -> VerificationEnd {
    VerificationEnd::Verdict(VerificationResult::NotReproducible, why.into())
}

/// Reads options and a test command as `git idd` does; `None` if they are no order of a hunt.
pub type Parse = dyn Fn(Vec<OsString>) -> Option<HuntOrder>;

/// Verifies a certificate: text for stdout, and the exit code (0 valid, 1 invalid, 5 not reproducible here).
///
/// Its commands come from others: unless the user `is_agreed` with them, they are printed and nothing is run. Each
/// claim is run once (`--repeat` times) in a checkout that is written from nothing. Cost: two to six runs.
pub fn verify(
    bytes: &[u8],
    location: &Location,
    context: &Context,
    is_agreed: bool,
    parse: &Parse,
    talk: &mut dyn Talk,
) -> Result<(String, u8), Failure> {
    let mut text = String::new();
    let (verdict, statement) = match replay(bytes, location, context, is_agreed, parse, talk, &mut text) {
        Ok((verdict, statement)) => (verdict, statement),
        Err(VerificationEnd::Verdict(verdict, why)) => {
            let _ = writeln!(text, "{}", Terminal.line(&why.into()));
            (verdict, String::new())
        }
        Err(VerificationEnd::Failure(failure)) => return Err(failure),
    };
    let _ = writeln!(text, "The certificate is {}.", verdict.words());
    if verdict == VerificationResult::Valid {
        text.push_str(&statement);
    }
    Ok((text, verdict.code()))
}

fn command_line<'w>(words: impl Iterator<Item = &'w Untrusted>) -> String {
    Terminal.line(&shell::line(words.map(Untrusted::as_bytes)).into())
}

/// The content of a valid certificate, for a reader who reads nothing else.
///
/// The patches are made from the tested trees: those of the certificate can contain text that has no effect when they
/// are applied.
fn statement(certificate: &Certificate, changes: &[CertifiedChange], store: &TreeStore) -> Result<String, RepoError> {
    let words = command_line(certificate.options.iter());
    let line = certificate.signature.line.as_ref().map(|line| format!(": {}", Terminal.line(line))).unwrap_or_default();
    let named =
        certificate.signature.test.as_ref().map(|test| format!("{}, ", Terminal.line(&test.name))).unwrap_or_default();
    let mut text = format!(
        "  test:      {words}\n  failure:   {named}{}{line}\n  last good: {}\n  first bad: {}\n",
        Terminal.line(&certificate.signature.ending.as_str().into()),
        certificate.last_good,
        certificate.first_bad
    );
    for CertifiedChange { name, older, newer } in changes {
        let (patch, _) = store.patch(*older, *newer)?;
        let _ = write!(text, "\n{name}:\n{}", Terminal.block(&patch.into()));
    }
    Ok(text)
}

/// A change of a certificate, and the two trees that it must connect.
struct CertifiedChange {
    name: &'static str,
    older: TreeId,
    newer: TreeId,
}

fn replay(
    bytes: &[u8],
    location: &Location,
    context: &Context,
    is_agreed: bool,
    parse: &Parse,
    talk: &mut dyn Talk,
    text: &mut String,
) -> Result<(VerificationResult, String), VerificationEnd> {
    let certificate: Certificate =
        serde_json::from_slice(bytes).map_err(|error| invalid(format!("It is no certificate: {error}.")))?;
    let is_all = |read: Value| serde_json::to_value(&certificate).is_ok_and(|value| value == read);
    if !serde_json::from_slice(bytes).is_ok_and(is_all) {
        return Err(invalid("It has unknown fields, or lacks fields."));
    }
    if certificate.schema != SCHEMA {
        return Err(invalid("It has another form than this program knows."));
    }
    if !is_agreed {
        let line = command_line(certificate.regenerate.iter().chain(&certificate.options));
        let failure = Failure::usage(format!("the certificate has commands that would be run here: {line}"));
        return Err(VerificationEnd::Failure(failure.with_hint("to run them, add `--yes`; a test is not confined")));
    }
    let user = private::open(&location.git_directory)?;
    let _lock = saved::lock(location)?;
    for claim in &certificate.claims {
        if graph::tree_of(&user, claim.commit).is_err() {
            return Err(missing(format!("Commit {} is not in this repository.", claim.commit)));
        }
    }
    drop(private::create(&location.idd_directory(), &user, certificate.first_bad)?);
    let store = store(location)?;
    let trees = trees(&certificate, &user, &store)?;
    let changes = relations(&certificate, &trees, &user, &store)?;
    let statement = statement(&certificate, &changes, &store)?;
    let (plan, mut criteria) = orders(&certificate, &user, location, context, parse)?;
    for path in certificate.environment.iter().filter(|path| !is_there(path, location)) {
        let path = Terminal.line(path);
        let _ = writeln!(text, "The commands need `{path}`, which this working tree does not have.");
    }

    let mut interrupt = Interrupt::register()?;
    let root = sandboxes(context, location, "verify")?;
    let environment: Vec<_> = certificate.environment.iter().map(|path| path.as_bytes().to_vec()).collect();
    let surroundings = surroundings(location, context, &root, &environment);
    let commands = Commands { surroundings, ..plan.commands.clone() };
    let private = private::private_directory(&location.idd_directory());
    let limit = plan.order.test.timeout.unwrap_or(FIRST_LIMIT);
    let verdict = (|| {
        let mut sandbox = Sandbox::create(&root, "w", &private, certificate.first_bad)?;
        let mut verdict = VerificationResult::Valid;
        for (role, tree) in &trees {
            talk.say(&format!("Running: {}.", role.words()));
            let job = ProbeJob::fresh(*tree, limit);
            let mut outcome = Outcome::Pass;
            for _ in 0..plan.order.test.repeat {
                let seen = sandbox.observe(&job, &commands, &mut interrupt);
                let seen = seen?;
                let seen = seen.ok_or_else(|| Failure::new(Status::Interrupted, "the verification was interrupted"))?;
                // In the order of roles, this is known before any claim about a change.
                criteria.is_build_hunted |= *role == ClaimRole::BadFails && is_build_failure(&seen);
                outcome = classify(&seen, &criteria);
                if outcome != Outcome::Pass {
                    break;
                }
            }
            let expected = if role.is_failure() { Outcome::Fail } else { Outcome::Pass };
            let mark = if outcome == expected { "✓" } else { "✗" };
            let _ = writeln!(text, "{mark} {}: {outcome}", role.words());
            if outcome != expected {
                // If a claim about a revision does not hold, this machine can be the reason; then nothing is known
                // about changes.
                let is_elsewhere = role.is_bare() || matches!(outcome, Outcome::Unresolved(_));
                verdict = if is_elsewhere { VerificationResult::NotReproducible } else { VerificationResult::Invalid };
                break;
            }
        }
        Ok(verdict)
    })();
    sandbox::remove(&root, &private);
    verdict.map(|verdict| (verdict, statement)).map_err(VerificationEnd::Failure)
}

/// Whether the working tree has a path.
fn is_there(path: &Untrusted, location: &Location) -> bool {
    let path = OsStr::from_bytes(path.as_bytes());
    location.top.as_ref().is_some_and(|top| files::real(&top.join(path)).is_some())
}

/// The tree of each claim, made again from its commit and its patch.
fn trees(
    certificate: &Certificate,
    user: &Repository,
    store: &TreeStore,
) -> Result<BTreeMap<ClaimRole, TreeId>, VerificationEnd> {
    let mut trees = BTreeMap::new();
    for claim in &certificate.claims {
        let words = claim.role.words();
        let bare = graph::tree_of(user, claim.commit)?;
        let made = applied(store, bare, &claim.patch);
        if made != Some(claim.tree) {
            return Err(invalid(format!("Commit and patch do not make the tree of \"{words}\".")));
        }
        if trees.insert(claim.role, claim.tree).is_some() {
            return Err(invalid(format!("It claims twice that {words}.")));
        }
    }
    Ok(trees)
}

fn applied(store: &TreeStore, tree: TreeId, patch: &Untrusted) -> Option<TreeId> {
    if patch.is_empty() { Some(tree) } else { store.apply(tree, patch.as_bytes()).ok() }
}

/// Checks the relations of the claims to each other, to the history and to the changes; returns the changes.
fn relations(
    certificate: &Certificate,
    trees: &BTreeMap<ClaimRole, TreeId>,
    user: &Repository,
    store: &TreeStore,
) -> Result<Vec<CertifiedChange>, VerificationEnd> {
    let (Some(good), Some(bad)) = (trees.get(&ClaimRole::GoodPasses), trees.get(&ClaimRole::BadFails)) else {
        return Err(invalid("It does not claim that the last good revision passes and the first bad one fails."));
    };
    let commits: BTreeMap<ClaimRole, _> = certificate.claims.iter().map(|claim| (claim.role, claim.commit)).collect();
    if commits[&ClaimRole::GoodPasses] != certificate.last_good
        || commits[&ClaimRole::BadFails] != certificate.first_bad
    {
        return Err(invalid("Its claims are about other commits than it names."));
    }
    let first_bad = graph::revision_of(user, certificate.first_bad)?;
    if !first_bad.parents.contains(&certificate.last_good) {
        return Err(invalid("The last good commit is not the parent of the first bad one."));
    }
    let target = trees.get(&ClaimRole::TargetFails).unwrap_or(bad);
    let links = [
        ("sufficient change", &certificate.sufficient, Some(good), trees.get(&ClaimRole::SufficientFails)),
        ("necessary change", &certificate.necessary, trees.get(&ClaimRole::NecessaryPasses), Some(bad)),
        ("fix", &certificate.fix, Some(target), trees.get(&ClaimRole::FixPasses)),
    ];
    let n_bare = trees.keys().filter(|role| role.is_bare()).count();
    let n_changes = links.iter().filter(|(_, patch, ..)| patch.is_some()).count();
    if trees.len() != n_bare + n_changes {
        return Err(invalid("It makes a claim about a change that it does not have."));
    }
    let mut changes = Vec::new();
    for (name, patch, older, newer) in links {
        let Some(patch) = patch else { continue };
        let (Some(older), Some(newer)) = (older, newer) else {
            return Err(invalid(format!("It makes no claim about its {name}.")));
        };
        if patch.is_empty() || applied(store, *older, patch) != Some(*newer) {
            return Err(invalid(format!("Its {name} differs from the tested one.")));
        }
        changes.push(CertifiedChange { name, older: *older, newer: *newer });
    }
    Ok(changes)
}

/// The commands, and the meaning of their results.
fn orders(
    certificate: &Certificate,
    user: &Repository,
    location: &Location,
    context: &Context,
    parse: &Parse,
) -> Result<(Plan, Criteria), VerificationEnd> {
    let mut words: Vec<OsString> = vec!["--no-hold".into()];
    words.extend(certificate.options.iter().map(|word| OsStr::from_bytes(word.as_bytes()).to_owned()));
    let mut hunt = parse(words).ok_or_else(|| invalid("Its options are not those of a test."))?;
    let test = &hunt.test;
    if test.overlay.is_some()
        || !test.shim.is_empty()
        || test.precheck.is_some()
        || test.suite.is_some()
        || !test.hold.is_empty()
        || test.expose_commit
        || test.from_artifacts.is_some()
    {
        return Err(invalid("Its options put other files over its trees."));
    }
    hunt.history.bad = certificate.first_bad.to_string();
    let configuration = certificate
        .regenerate
        .iter()
        .map(|line| ("idd.regenerate".to_owned(), String::from_utf8_lossy(line.as_bytes()).into_owned()))
        .collect();
    let context = &Context { configuration, ..context.clone() };
    let prefix = PathBuf::from(OsStr::from_bytes(certificate.directory.as_bytes()));
    let is_inside = prefix.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_inside {
        return Err(invalid("Its directory is not inside the repository."));
    }
    let place = Location { prefix, ..location.clone() };
    let plan = Plan::new(hunt, None, &place, user, context)?;
    let signature =
        signature(&certificate.signature).ok_or_else(|| invalid("Its failure is not one that a test can have."))?;
    let criteria = criteria(&plan, Some(signature))?;
    Ok((plan, criteria))
}

/// The signature, from its printed form.
pub(super) fn signature(reported: &idd_report::HuntedFailure) -> Option<Signature> {
    let number = |prefix: &str| reported.ending.strip_prefix(prefix)?.parse::<i32>().ok();
    let ending = match reported.ending.as_str() {
        "timeout" => Ending::Timeout,
        _ => number("exit code ").map(Ending::Exit).or_else(|| number("signal ").map(Ending::Signal))?,
    };
    let printed = reported.line.as_ref().map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned());
    let test = reported.test.as_ref().map(|test| NamedTest {
        format: test.runner.clone(),
        name: String::from_utf8_lossy(test.name.as_bytes()).into_owned(),
        others: Vec::new(),
    });
    Some(Signature { ending, test, line: printed.as_deref().map(normalise), printed })
}

#[cfg(test)]
mod tests;
