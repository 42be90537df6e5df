//! Explaining without a version that passes: the reference is the failing run with one decision switched, so that the test passes.
//!
//! Each decision is first switched in a fork of the parked process. Only where that makes the program say something new and end by itself, the test is run with that
//! decision switched in the program itself; whether it passes is for the test to say. Both need the failing version built, which is done once: its
//! products are kept, and put back into the worktree before each run.
//!
//! Source: Sumner and Zhang, section 4.1. Of the decisions that were tried, the one is taken that was made first in the failing run, because it is often the nearest to the cause: so
//! they have it, and so it is in their case studies. [`order`] says which are tried where there are too many. Deviation: a run that crashes passes as soon as it does
//! not come to where it crashes, and an early decision that makes it do nothing explains nothing. So runs come first that still make the decision, or the call, because of which the
//! statement runs that crashes; of the others that one in which the switched decision was made last, nearest to the crash.

use crate::session::explain::model::Switched;
use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::DefaultHasher;
use std::hash::Hash as _;
use std::hash::Hasher as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use crate::explain::failure::Ending;
use crate::explain::native::decisions::Decisions;
use crate::explain::switch::order;
use crate::outcome;
use crate::plural::count;
use crate::report::Status;
use crate::revision::TreeId;
use crate::session::explain::change;
use crate::session::explain::forks;
use crate::session::explain::forks::Server;
use crate::session::explain::model::Explainer;
use crate::session::explain::model::Explanation;
use crate::session::explain::model::FIRST_TRACE;
use crate::session::explain::model::PARKED_LIMIT;
use crate::session::explain::model::PATIENCE;
use crate::session::explain::model::Pair;
use crate::session::explain::model::Sides;
use crate::session::explain::model::interrupted;
use crate::session::explain::parking::Fork;
use crate::session::explain::parking::Until;
use crate::session::explain::sides::Meant;
use crate::session::explain::sides::Side;
use crate::session::explain::sides::is_same;
use crate::session::explain::sides::is_start;
use crate::session::explain::sides::job;
use crate::session::explain::which;
use crate::session::explain::which::Which;
use crate::session::failure::Failure;
use crate::session::talk::Talk;
use crate::trace::container::Process;
use crate::trace::run::Run;
use crate::trace::step::Step;
use crate::world::process::Watch as _;
use crate::world::process::Words;
use crate::world::record::build::BuildDirectory;
use crate::world::record::control::Control;
use crate::world::record::control::Ended;
use crate::world::record::control::Point;
use crate::world::record::control::Reply;
use crate::world::record::control::Test;
use crate::world::record::control::Turn;
use crate::world::record::control::process_of;
use crate::world::record::listen::Taken;
use crate::world::record::listen::has_failed;
use crate::world::run::sandbox::Commands;
use crate::world::run::sandbox::Job;
use crate::world::run::sandbox::Sandbox;

/// A failing run that was killed at its limit is looked at for as long as this many segments of a reference allow.
const ENDLESS: u64 = 50_000;

/// A switched run may have so many times as many segments as the failing one, and so many more: that one may have ended early.
const SWITCHED_PATIENCE: (u64, u64) = (4, 200_000);

/// Builds, and keeps what the build wrote and the numbers that were given out for it. What was written is known by the time of its last change, which nobody can set.
const BUILD_AND_KEEP: &str = r#"
set -e
touch -- "$2.stamp"
sleep 0.05
/bin/sh -c "$1"
mkdir -- "$2.part"
cd -- "$IDD_WORKTREE"
find . -name .git -prune -o \( ! -type d -o -empty \) -cnewer "$2.stamp" -print0 | xargs -0 -r cp -a --parents -t "$2.part" --
cp -- "$IDD_BUILD/next" "$2.next"
mv -- "$2.part" "$2"
"#;

/// Puts both back.
const PUT_BACK: &str = r#"cp -a -f -- "$1/." "$IDD_WORKTREE" && cp -- "$1.next" "$IDD_BUILD/next""#;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Try {
    /// Which of the decisions it is, as they were made: a condition that calls a function is decided after what is decided in there, but its step is the earlier one.
    nth: usize,
    step: Step,
    turn: Turn,
}

/// What can be seen of a run: how it ended, and a digest of what it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Seen {
    code: u32,
    digest: u64,
}

impl Seen {
    /// `None` of a run that did not come to an end by itself.
    fn of(ended: Ended, output: &[u8]) -> Option<Self> {
        let Ended::Exit(code) = ended else { return None };
        let mut hasher = DefaultHasher::new();
        output.hash(&mut hasher);
        Some(Self { code, digest: hasher.finish() })
    }
}

/// The failing version, built once.
struct Products {
    build: BuildDirectory,
    kept: PathBuf,
}

impl Products {
    fn new(explainer: &Explainer<'_>) -> Result<Self, Failure> {
        let build = explainer.build("run")?;
        Ok(Self { build, kept: explainer.root.join("built") })
    }

    /// A run. Where the products are put back, the sources stay as they are, so that they are no newer than what was made of them.
    fn job(&self, tree: TreeId, limit: Duration) -> Job {
        Job { is_clean: !self.kept.exists(), ..job(tree, limit) }
    }

    /// Build and test for the next run. A test that compiles gets the same numbers for the same sources each time.
    fn commands(&self, explainer: &Explainer<'_>, variables: Vec<(OsString, OsString)>) -> io::Result<Commands> {
        let mut commands = explainer.commands(&self.build, variables);
        let words = |script: &str, words: &[OsString]| {
            let shell = ["/bin/sh", "-c", script, "sh"].map(OsString::from);
            Words::Argv(shell.into_iter().chain(words.iter().cloned()).collect())
        };
        let kept = self.kept.clone().into_os_string();
        commands.build = match commands.build.take() {
            Some(Words::Shell(_)) if self.kept.exists() => Some(words(PUT_BACK, &[kept])),
            Some(Words::Shell(line)) => Some(words(BUILD_AND_KEEP, &[line, kept])),
            other => other,
        };
        self.build.renumber()?;
        Ok(commands)
    }
}

/// The search for a decision.
struct Search {
    /// What is switched, in this order.
    queue: Vec<Try>,
    n_decisions: usize,
    /// Whether that is all that can be switched.
    is_whole: bool,
    /// The index of the decision or call because of which the statement runs that crashes.
    context: Option<u64>,
    /// What can be seen of the failing run.
    failing: Option<Seen>,
    /// Segments that a fork may run.
    patience: u64,
    n_tried: (usize, usize),
}

impl Search {
    /// Finds out what can be switched in the failing run.
    fn new(mut fork: Fork, budget: usize) -> Result<Self, Failure> {
        let run = Run::read(&mut fork.player)?;
        let decisions = Decisions::read(&mut fork.player)?;
        let mut failing = vec![Step(run.n_steps())];
        if matches!(fork.ending, Ending::Exit(_)) {
            // Any of the things that it said may be the wrong one.
            failing.extend(run.said.iter().map(|said| said.step));
        }
        let decider = run.deciders[run.n_steps() as usize];
        let context = (matches!(fork.ending, Ending::Signal(_)) && decider != 0).then(|| run.indices[decider as usize]);
        let steps: Vec<Step> = decisions.all.iter().map(|decision| decision.step).collect();
        let ordered = order(&steps, &decisions.dependences, &failing, budget);
        let queue = ordered.into_iter().flat_map(|index| {
            let decision = &decisions.all[index];
            let at = Point { segment: decision.segment, n: decision.n };
            decision.cases.iter().map(move |case| Try {
                nth: index,
                step: decision.step,
                turn: Turn { at, case: *case },
            })
        });
        let mut queue: Vec<Try> = queue.collect();
        let is_whole = queue.len() <= budget;
        queue.truncate(budget);
        Ok(Self {
            queue,
            is_whole,
            n_decisions: steps.len(),
            context,
            failing: Seen::of(fork.reply.ended, &fork.reply.output),
            patience: run.n_records.saturating_mul(SWITCHED_PATIENCE.0).saturating_add(SWITCHED_PATIENCE.1),
            n_tried: (0, 0),
        })
    }

    fn test(&self, turn: Turn) -> Test {
        Test { switch: Some(turn), is_traced: false, ..forks::whole(self.patience, forks::FORK_LIMIT) }
    }

    /// Switches decisions in forks; returns for each new thing that the program does the first decision of the run that makes it do so, as they were made.
    ///
    /// Cost: as many forks as decisions are tried.
    fn promising(&mut self, server: &mut Server, explainer: &Explainer<'_>) -> Result<Vec<(Try, Seen)>, Failure> {
        let mut found: HashMap<Seen, Try> = HashMap::new();
        for next in &self.queue {
            if explainer.interrupt.is_interrupted() {
                return Err(interrupted());
            }
            let Reply { ended, output, .. } = server.start().test(&self.test(next.turn))?;
            self.n_tried.0 += 1;
            if let Some(seen) = Seen::of(ended, &output).filter(|seen| Some(*seen) != self.failing) {
                let first = found.entry(seen).or_insert(*next);
                if next.nth < first.nth {
                    *first = *next;
                }
            }
        }
        let mut found: Vec<(Try, Seen)> = found.into_iter().map(|(seen, first)| (first, seen)).collect();
        found.sort_by_key(|(first, _)| (first.nth, first.turn.case));
        Ok(found)
    }
}

impl Explainer<'_> {
    /// Explains the failing version by itself.
    pub(super) fn explain_switched(
        &self,
        budget: usize,
        sandbox: &mut Sandbox,
        (pair, changed): (Pair, change::Lines),
        talk: &mut dyn Talk,
    ) -> Result<Explanation, Failure> {
        let begin = Instant::now();
        let tree = pair.failing.0;
        talk.say("Building and running the failing version.");
        let bad = self.side("bad", tree, (FIRST_TRACE.min(self.order.max_trace), self.limit()), sandbox)?;
        Self::check_failing(&bad)?;
        let meant = Meant::new(&bad, self.failed_process(&bad)?);
        let which = Which { number: meant.number, twin: meant.number, others: Vec::new() };
        let which = which::remark(&bad, &which);
        let is_ended = bad.taken[meant.number].end.is_some();
        let patience = if is_ended { u64::MAX >> 8 } else { PATIENCE.0 * ENDLESS + PATIENCE.1 };
        let whole = forks::whole(patience, self.limit());

        let products = Products::new(self)?;
        let (mut search, promising) = self.at_start(sandbox, tree, &meant, &products, |mut server, process| {
            let fork = self.fork(&products.build, &mut server, &process, &whole)?;
            let mut search = Search::new(fork, budget)?;
            let (n_ways, n_decisions) = (search.queue.len(), search.n_decisions);
            talk.say(&format!(
                "Switching one of {} at a time, in {}.",
                count(n_decisions, "decision"),
                count(n_ways, "way")
            ));
            let mut promising = search.promising(&mut server, self)?;
            if let Some(context) = search.context {
                let mut apart = Vec::new();
                for (next, seen) in std::mem::take(&mut promising) {
                    let test = Test { is_traced: true, limit: self.limit(), ..search.test(next.turn) };
                    let mut fork = self.fork(&products.build, &mut server, &process, &test)?;
                    let run = Run::read(&mut fork.player)?;
                    let is_there = run.indices.contains(&context);
                    if is_there { &mut promising } else { &mut apart }.push((next, seen));
                }
                promising.extend(apart.into_iter().rev());
            }
            Ok((search, promising))
        })?;
        talk.say(&format!("Running the test with up to {} of them switched.", promising.len()));
        let mut passing = None;
        for (next, seen) in promising {
            search.n_tried.1 += 1;
            if self.passes(sandbox, tree, &meant, &products, next.turn)? {
                passing = Some((next, seen));
                break;
            }
        }
        let (found, seen) = passing.ok_or_else(|| none_passes(&search))?;
        self.at_start(sandbox, tree, &meant, &products, |mut server, process| {
            let failing = self.fork(&products.build, &mut server, &process, &whole)?;
            let test = Test { is_traced: true, limit: self.limit(), ..search.test(found.turn) };
            let reference = self.fork(&products.build, &mut server, &process, &test)?;
            if Seen::of(reference.reply.ended, &reference.reply.output) != Some(seen) {
                return Err(Failure::new(
                    Status::Error,
                    "in a second run with the same decision switched, the program behaves differently",
                )
                .with_hint("its runs differ, so no experiment is possible"));
            }
            let seconds = begin.elapsed().as_secs_f64();
            talk.say("Searching for the chain.");
            let switched = Switched {
                step: found.step,
                place: None,
                instance: None,
                outcome: None,
                reference: None,
                n_tried: search.n_tried,
            };
            let sides = Sides {
                failing: (failing.player, failing.ending),
                reference: (reference.player, reference.ending),
                server,
                switched: Some(switched),
                n_processes: bad.taken.len(),
            };
            Ok(self.chain(sides, pair, changed, seconds, talk)?.with(which))
        })
    }

    /// The process of the failing side that is meant: the last of the named program, else the last that failed, else the last.
    fn failed_process(&self, bad: &Side) -> Result<usize, Failure> {
        let is_meant = |(number, taken): &(usize, &Taken)| is_start(taken) && self.is_wanted(*number, taken);
        let wanted: Vec<(usize, &Taken)> = bad.taken.iter().enumerate().filter(is_meant).collect();
        let failed = |(_, taken): &&(usize, &Taken)| has_failed((taken.end, taken.is_left), bad.ending);
        let failed = wanted.iter().rfind(failed).or(wanted.last());
        // What no program of its own began cannot be met again.
        failed.map(|(number, _)| *number).ok_or_else(|| self.none_wanted(bad))
    }

    /// Runs the test with a decision of the program switched.
    fn passes(
        &self,
        sandbox: &mut Sandbox,
        tree: TreeId,
        meant: &Meant,
        products: &Products,
        turn: Turn,
    ) -> Result<bool, Failure> {
        let control = Control::new(&self.root.join("control"))?;
        let commands = products.commands(self, control.variables_at_start(&self.scratch()?))?;
        let job = products.job(tree, self.limit());
        let mut watch = Until { interrupt: self.interrupt.clone(), is_over: Arc::default(), is_held: Arc::default() };
        let is_over = Arc::clone(&watch.is_over);
        let seen = thread::scope(|scope| {
            let running = scope.spawn(|| sandbox.observe(&job, &commands, &mut watch));
            let mut n_same = 0;
            while !running.is_finished() {
                // Who is gone before it has said who it is needs no answer.
                let Ok(Some(mut parked)) = control.wait_at_most(Duration::from_millis(4), &|| false) else { continue };
                if is_same(&process_of(parked.pid), &meant.process) {
                    if n_same == meant.n_before && parked.turn(turn).is_err() {
                        is_over.store(true, Ordering::Relaxed);
                    }
                    n_same += 1;
                }
                drop(parked.go());
            }
            running.join()
        });
        let seen = seen.map_err(|_| Failure::new(Status::Error, "the run of the test panicked"))??;
        Ok(seen.ok_or_else(interrupted)?.ending == outcome::Ending::Exit(0))
    }

    /// Runs the test up to the process that is meant, on the products of the build.
    fn at_start<T>(
        &self,
        sandbox: &mut Sandbox,
        tree: TreeId,
        meant: &Meant,
        products: &Products,
        ask: impl FnOnce(Server, Process) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let commands = |variables| products.commands(self, variables).map_err(Failure::from);
        self.while_parked(sandbox, &products.job(tree, PARKED_LIMIT), meant, commands, ask)
    }
}

fn none_passes(search: &Search) -> Failure {
    let (n_forks, n_runs) = search.n_tried;
    let message = format!(
        "no decision makes the test pass when it is switched (switched: {n_forks}, runs of the test: {n_runs})"
    );
    let failure = Failure::new(Status::Error, message);
    if search.is_whole {
        failure.with_hint("all decisions were tried; name a version that passes with `--good`")
    } else {
        failure.with_hint(format!(
            "the run makes {}; a larger `--switch-budget` tries more of them",
            count(search.n_decisions, "decision")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::native::stored::lines;
    use crate::trace::native::stored::player;

    /// The search in a stored run, and the line of each decision that it tries.
    fn search(program: &str, ending: Ending, budget: usize) -> (Search, Vec<u32>) {
        let reply = Reply {
            ended: Ended::Exit(1),
            n_segments: 0,
            output: b"x".to_vec(),
            dumps: Vec::new(),
            records: Vec::new(),
        };
        let fork = Fork { player: player(program, "bad"), ending, reply, n_bytes: 0 };
        let search = Search::new(fork, budget).unwrap();
        let lines = lines(&mut player(program, "bad"));
        let tried = search.queue.iter().map(|next| lines[next.step.0 as usize]).collect();
        (search, tried)
    }

    #[test]
    fn every_decision_that_the_output_depends_on_is_tried_nearest_first() {
        let (search, lines) = search("returns", Ending::Exit(0), 100);
        assert!(search.is_whole);
        assert_eq!(search.context, None);
        // The decision of `may_climb` in the second call decides about that of `main`.
        assert!(lines.contains(&11) && lines.contains(&25), "{lines:?}");
        let numbers: Vec<usize> = search.queue.iter().map(|next| next.nth).collect();
        assert!(numbers.iter().all(|nth| *nth < search.n_decisions));
        assert!(search.patience > SWITCHED_PATIENCE.1);
    }

    #[test]
    fn a_budget_cuts_the_queue_and_the_advice_says_so() {
        let (whole, _) = search("list", Ending::Exit(0), 1000);
        let n = whole.queue.len();
        assert!(n >= 4, "{n}");
        let hint = |search: &Search| String::from_utf8(none_passes(search).hint.unwrap().as_bytes().to_vec()).unwrap();
        assert!(hint(&whole).starts_with("all decisions were tried"));
        let (mut cut, _) = search("list", Ending::Exit(0), 2);
        assert_eq!((cut.queue.len(), cut.is_whole, cut.n_decisions), (2, false, whole.n_decisions));
        assert!(hint(&cut).starts_with(&format!("the run makes {n} decisions; ")), "{}", hint(&cut));
        cut.n_tried = (7, 2);
        let message = "no decision makes the test pass when it is switched (switched: 7, runs of the test: 2)";
        assert_eq!(none_passes(&cut).message, message.into());
    }

    #[test]
    fn a_crash_has_the_call_around_it_as_its_context() {
        let (search, _) = search("crash", Ending::Signal(11), 10);
        let run = Run::read(&mut player("crash", "bad")).unwrap();
        let decider = run.deciders[run.n_steps() as usize];
        assert_ne!(decider, 0);
        assert_eq!(search.context, Some(run.indices[decider as usize]));
    }

    #[test]
    fn only_a_run_that_ended_by_itself_is_something_to_see() {
        let seen = |ended, output: &[u8]| Seen::of(ended, output);
        let one = seen(Ended::Exit(0), b"a");
        assert!(one.is_some());
        assert_eq!(one, seen(Ended::Exit(0), b"a"));
        assert_ne!(one, seen(Ended::Exit(0), b"b"));
        assert_ne!(one, seen(Ended::Exit(1), b"a"));
        assert_eq!(seen(Ended::Signal(11), b"a"), None);
    }
}
