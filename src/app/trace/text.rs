//! `git idd trace` for people.

use crate::record::left_out;
use idd_base::count;
use idd_report::escape::safe;
use idd_session::sources::RecordedSources;
use idd_trace::input::{InputEntry, InputSource, Landing};
use idd_trace::stat::Stat;
use idd_trace::tree::{CallNode, NodeKind};
use idd_trace::{Access, Detail, Doing, Outside, Place, Step, StepStanding, UsedThing, Why};
use idd_world::record::store::{Recording, Traced};
use std::fmt::Write as _;
use std::sync::Arc;

/// The number of functions without a model that are printed.
const N_NAMED: usize = 8;

/// The number of printed callers of a step, the innermost first.
const N_CALLERS: usize = 40;

/// The number of printed reads and writes of a step.
const N_SHOWN: usize = 24;

struct TracePage(String);

impl TracePage {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.0, "{:1$}{line}", "", 2 * depth).expect("a string takes all");
    }
}

/// A number with a space between thousands.
fn spaced(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// All recordings.
pub fn list(all: &[(String, Recording)]) -> String {
    let mut page = TracePage(String::new());
    for (name, recording) in all {
        let commit = recording.commit.get(..12).unwrap_or(&recording.commit);
        let command = safe(&recording.command.join(" "));
        let is_steps = !recording.processes.is_empty() && recording.processes.iter().all(|traced| !traced.has_values);
        let content = if is_steps { "  without values" } else { "" };
        page.line(0, &format!("{name}  {commit}  {}  {command}{content}", recording.ending));
    }
    page.0
}

/// Counts.
pub fn stat(recording: &str, traced: &Traced, stat: &Stat) -> String {
    let mut page = TracePage(String::new());
    let check = stat.check;
    page.line(0, &format!("recording {recording}: {}", safe(&traced.words.join(" "))));
    page.line(
        0,
        &format!(
            "{} in {} of {}, {}",
            count(spaced(stat.n_steps.into()), "step"),
            count(spaced(stat.n_calls), "call"),
            count(stat.n_functions, "function"),
            count(stat.n_threads, "thread")
        ),
    );
    if traced.has_values {
        values(traced, stat, &mut page);
    } else {
        let (n_records, n_bytes) = (count(spaced(stat.n_records), "record"), count(spaced(stat.n_bytes), "byte"));
        page.line(0, &format!("{n_records} of {n_bytes}, without values"));
    }
    if check.n_unwound > 0 {
        page.line(0, &format!("left without a return: {}", count(spaced(check.n_unwound), "call")));
    }
    if check.n_partial > 0 {
        page.line(
            0,
            &format!(
                "recorded from the middle, so their beginning is not known: {}",
                count(spaced(check.n_partial), "call")
            ),
        );
    }
    for line in left_out(traced.left_out.iter()) {
        page.line(0, &line);
    }
    if traced.is_java && traced.is_lost {
        page.line(0, "the end of the run was left out: the program could not write more records");
    }
    if traced.is_cut {
        page.line(0, "the end of the run was left out: the trace reached its limit");
    }
    if stat.n_repeated > 0 {
        page.line(0, "the end of the run was left out: the program repeated itself until it was stopped");
    }
    if traced.n_given_up > 0 {
        page.line(0, &missing(traced));
    }
    page.0
}

/// What is counted of values.
fn values(traced: &Traced, stat: &Stat, page: &mut TracePage) {
    let check = stat.check;
    page.line(
        0,
        &format!(
            "{} reads and writes, {}; {} of {}",
            spaced(stat.n_accesses),
            count(spaced(stat.n_uses), "dependence"),
            count(spaced(stat.n_records), "record"),
            count(spaced(stat.n_bytes), "byte")
        ),
    );
    let n_made = spaced(stat.heap.n_made);
    let heap = if traced.is_java {
        format!("{} met", count(n_made, "object"))
    } else {
        format!("heap: {} made, {} not freed", count(n_made, "block"), spaced(stat.heap.n_live as u64))
    };
    page.line(0, &heap);
    page.line(
        0,
        &format!(
            "calls of functions that were not recorded: {} with a known effect, {} without",
            spaced(check.n_modelled),
            spaced(check.n_unmodelled)
        ),
    );
    for (name, n) in stat.unmodelled.iter().take(N_NAMED) {
        page.line(1, &format!("{} {}", spaced(*n), safe(name)));
    }
    if stat.unmodelled.len() > N_NAMED {
        page.line(1, &format!("and {}", count(stat.unmodelled.len() - N_NAMED, "more function")));
    }
    page.line(
        0,
        &format!(
            "reads that found other bytes than were written last: {} of {}",
            spaced(check.n_other),
            spaced(check.n_reads)
        ),
    );
    if check.n_other > 0 {
        let reached = check.n_reached;
        let after = check.n_after_call.saturating_sub(reached);
        page.line(
            1,
            &format!(
                "{} are attributed to a call that was given a pointer to this memory, {} to the last call, {} are \
             unexplained",
                spaced(reached),
                spaced(after),
                spaced(check.n_other.saturating_sub(check.n_after_call))
            ),
        );
    }
}

/// What the program read, by inputs.
pub fn inputs(entries: &[InputEntry], limit: usize, sources: &mut RecordedSources) -> String {
    let mut page = TracePage(String::new());
    if entries.is_empty() {
        page.line(0, "the program read no input");
    }
    let mut inputs: Vec<&InputSource> = Vec::new();
    for entry in entries {
        if !inputs.contains(&&entry.source) {
            inputs.push(&entry.source);
        }
    }
    for source in inputs {
        let of_it: Vec<&InputEntry> = entries.iter().filter(|entry| entry.source == *source).collect();
        page.line(0, &format!("{}, {}", safe(&source.to_string()), count(of_it.len(), "read")));
        let runs: Vec<&[&InputEntry]> = of_it.chunk_by(|one, next| follows(one, next)).collect();
        for run in runs.iter().take(limit) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let text = first.place.as_ref().and_then(|place| sources.line(&place.file, place.line));
            let text = text.map(|text| format!("  {}", safe(&text))).unwrap_or_default();
            let place = place(first.place.as_ref());
            let (steps, bytes) = if run.len() == 1 {
                (format!("#{}", first.step.0), first.bytes())
            } else {
                let length = first.begin.zip(last.range()).map(|(begin, last)| last.end - begin);
                let whole = InputEntry { length, ..(*first).clone() };
                (format!("#{} to #{}, {}:", first.step.0, last.step.0, count(run.len(), "read")), whole.bytes())
            };
            page.line(1, &format!("{steps} {bytes}  {place}{text}"));
        }
        if let Some(n_more @ 1..) = runs.len().checked_sub(limit) {
            page.line(1, &format!("... {} more; `--limit` shows more of them", spaced(n_more as u64)));
        }
    }
    page.0
}

/// Whether a read of a few bytes goes on where the one before, by the same call, ended.
fn follows(one: &InputEntry, next: &InputEntry) -> bool {
    let is_single = |entry: &InputEntry| entry.landing == Landing::Nowhere && entry.function.is_some();
    let goes_on = one.range().zip(next.begin).is_some_and(|(one, begin)| one.end == begin);
    let is_same = one.place == next.place && one.function == next.function && one.is_exact == next.is_exact;
    is_single(one) && is_single(next) && is_same && goes_on && next.length.is_some()
}

fn place(place: Option<&Place>) -> String {
    place.map_or_else(|| "?".to_owned(), |place| format!("{}:{}", safe(&place.file), place.line))
}

/// The missing part before the first step.
fn missing(traced: &Traced) -> String {
    let n_bytes = spaced(traced.n_given_up);
    format!(
        "the first {n_bytes} bytes of records were left out: the trace reached its limit; step 1 is the first that \
         was kept"
    )
}

/// Calls and loops.
pub fn tree(traced: &Traced, roots: &[CallNode], n_more: u64, sources: &mut RecordedSources) -> String {
    let mut page = TracePage(String::new());
    if traced.n_given_up > 0 {
        page.line(0, &missing(traced));
    }
    nodes(roots, n_more, 0, sources, &mut page);
    page.0
}

fn nodes(all: &[CallNode], n_more: u64, depth: usize, sources: &mut RecordedSources, page: &mut TracePage) {
    let mut iteration = None;
    for node in all {
        if node.iteration != iteration {
            iteration = node.iteration;
            if let Some(iteration) = iteration {
                page.line(depth, &format!("iteration {}", iteration + 1));
            }
        }
        let depth = depth + usize::from(iteration.is_some());
        let at = format!("{} #{}", place(node.place.as_ref()), node.step.0);
        match &node.kind {
            NodeKind::Call { function, arguments, result, is_unfinished, is_earlier } => {
                let argument = |(name, value): &(_, _)| safe(&format!("{name}={value}"));
                let arguments: Option<Vec<String>> = arguments.as_ref().map(|all| all.iter().map(argument).collect());
                let result = match result {
                    Some(result) => format!(" = {}", safe(result)),
                    None if *is_unfinished => " (never returned)".to_owned(),
                    None => String::new(),
                };
                let (arguments, at) = if *is_earlier {
                    ("...".to_owned(), format!("{} called before #1", place(node.place.as_ref())))
                } else {
                    (arguments.map_or("...".to_owned(), |all| all.join(", ")), at)
                };
                page.line(depth, &format!("{}({arguments}){result}  {at}", safe(function)));
            }
            NodeKind::Loop { n_iterations } => {
                let text = node.place.as_ref().and_then(|place| sources.line(&place.file, place.line));
                let text = text.map(|text| format!("  {}", safe(&text))).unwrap_or_default();
                page.line(depth, &format!("loop, {}  {at}{text}", count(n_iterations, "time")));
            }
        }
        nodes(&node.children, node.n_more, depth + 1, sources, page);
    }
    if n_more > 0 {
        page.line(depth, &format!("... {} more", spaced(n_more)));
    }
}

fn head(standing: &StepStanding, sources: &mut RecordedSources) -> String {
    let text = standing.place.as_ref().and_then(|place| sources.line(&place.file, place.line));
    let text = text.map(|text| format!("  {}", safe(&text))).unwrap_or_default();
    let what = if standing.is_entry { "entry of" } else { "in" };
    format!("#{} {} {what} {}{text}", standing.step.0, place(standing.place.as_ref()), safe(&standing.function))
}

fn steps(steps: impl Iterator<Item = Step>) -> String {
    let steps: Vec<String> = steps.filter(|step| *step != Step::START).map(|step| format!("#{}", step.0)).collect();
    steps.join(" ")
}

fn value(access: &Access) -> String {
    let value = access.named.value.as_deref().unwrap_or("?");
    safe(&format!("{} = {value}", access.named.name))
}

fn read(access: &Access) -> String {
    let mut text = value(access);
    let makers = steps(access.makers.iter().copied());
    if !makers.is_empty() {
        write!(text, "  from {makers}").expect("a string takes all");
    }
    if let Some(origin) = &access.origin {
        write!(text, "  ({})", safe(origin)).expect("a string takes all");
    }
    text
}

fn outside(call: &Outside) -> String {
    let name = call.name.as_deref().unwrap_or("(through a pointer)");
    let result = call.result.as_ref().map(|result| format!(" = {result}")).unwrap_or_default();
    let mark = match (&call.input, call.is_input, call.is_modelled) {
        (Some(input), ..) => format!("  ({input})"),
        (None, true, _) => "  (input)".to_owned(),
        (None, false, true) => String::new(),
        (None, false, false) => "  (effect not known)".to_owned(),
    };
    safe(&format!("{name}({}){result}{mark}", call.arguments.join(", ")))
}

fn accesses(detail: &Detail, depth: usize, page: &mut TracePage) {
    for access in detail.reads.iter().take(N_SHOWN) {
        page.line(depth, &format!("reads  {}", read(access)));
    }
    for (step, what) in detail.uses.iter().filter(|(step, _)| *step != Step::START) {
        let what = match what {
            UsedThing::Memory(..) | UsedThing::Address(..) => "memory",
            UsedThing::Temporary => "the rest of the expression",
            UsedThing::Arguments => "the arguments",
            UsedThing::Returned => "the returned value",
            UsedThing::Decision => "the decision that chose it",
        };
        page.line(depth, &format!("uses   {what} of #{}", step.0));
    }
    for call in detail.calls.iter().take(N_SHOWN) {
        page.line(depth, &format!("calls  {}", outside(call)));
    }
    for access in detail.writes.iter().take(N_SHOWN) {
        page.line(depth, &format!("writes {}", value(access)));
    }
    if let Some((signal, access)) = &detail.crash {
        let what = match access {
            None => "dividing".to_owned(),
            Some((Doing::Writing(Some(_)), access)) => format!("writing {}", value(access)),
            Some((Doing::Writing(None), access)) => format!("writing {}", safe(&access.named.name)),
            Some((_, access)) => format!("reading {}", safe(&access.named.name)),
        };
        page.line(depth, &format!("crashed (signal {signal}) {what}"));
    }
    for (what, n) in [("reads", detail.reads.len()), ("calls", detail.calls.len()), ("writes", detail.writes.len())] {
        if n > N_SHOWN {
            page.line(depth, &format!("and {} more {what}", n - N_SHOWN));
        }
    }
}

/// A step.
pub fn detail(detail: &Detail, control: Option<&StepStanding>, sources: &mut RecordedSources) -> String {
    let mut page = TracePage(String::new());
    page.line(0, &head(&detail.standing, sources));
    if let Some(instance) = detail.instance {
        page.line(1, &format!("run number {instance} of this statement"));
    }
    accesses(detail, 1, &mut page);
    match control {
        Some(control) => page.line(1, &format!("runs because of {}", head(control, sources))),
        None if detail.is_window => page.line(1, "runs because of a step before the part that was kept"),
        None => page.line(1, "runs because the program was started"),
    }
    let is_known = |(_, value): &&(Arc<str>, String)| !detail.is_window || value != "?";
    let (known, unknown): (Vec<_>, Vec<_>) = detail.variables.iter().partition(is_known);
    if !known.is_empty() {
        page.line(1, "variables before it:");
        for (name, value) in known {
            page.line(2, &safe(&format!("{name} = {value}")));
        }
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|(name, _)| &**name).collect();
        page.line(1, &format!("not set in the part that was kept: {}", safe(&names.join(", "))));
    }
    if !detail.stack.is_empty() {
        page.line(1, "called from:");
        for (step, function) in detail.stack.iter().take(N_CALLERS) {
            page.line(2, &format!("#{} {}", step.0, safe(function)));
        }
        if let Some(n_more @ 1..) = detail.stack.len().checked_sub(N_CALLERS) {
            page.line(2, &format!("... {} more", spaced(n_more as u64)));
        }
    }
    page.0
}

/// Where a value comes from.
pub fn why(why: &Why, sources: &mut RecordedSources) -> String {
    let mut page = TracePage(String::new());
    page.line(0, &format!("before {}", head(&why.standing, sources)));
    page.line(1, &read(&why.asked));
    for step in &why.steps {
        page.line(0, &head(&step.standing, sources));
        accesses(step, 1, &mut page);
        if let Some(control) = step.control {
            page.line(1, &format!("runs because of #{}", control.0));
        }
        if step.makers().is_empty() && step.reads.is_empty() && step.calls.is_empty() && !step.standing.is_entry {
            page.line(1, "a constant");
        }
    }
    if why.is_cut {
        page.line(0, "... there is more; see `--limit`");
    }
    page.0
}
