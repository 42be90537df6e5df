//! `git idd debug`: asks about steps of a run, in the [`panes`] of a terminal, or by lines with one answer each.

mod draw;
#[cfg(feature = "mcp")]
pub mod once;
mod panes;
mod question_view;
mod screen;
mod text;
mod tree;

use crate::console::{CommandAnswer, CommandScene, Console};
use crate::debug::draw::LEAST;
use crate::debug::panes::Panes;
use crate::debug::text::{IndentedLine, at, does, gives, presumed, short, titled, value};
use crate::{full_screen, record};
use idd_base::count;
use idd_explain::facts::StepFacts;
use idd_report::escape::safe;
use idd_report::json::json_line;
use idd_report::{Explanation, Status, Style, TextRole};
use idd_session::debug::expect::ExpectationCheck;
use idd_session::debug::reply::{items, reply};
use idd_session::debug::{
    self, DebugOrder, DebugWalk, PersonReply, StepJudge, StepQuestion, WalkEnd, answer_lines, begin, explained, reason,
};
use idd_session::explain::change;
use idd_session::recorded::ProcessChoice;
use idd_session::talk::Talk as _;
use idd_session::{Context, Failure, Interrupt};
use idd_trace::Step;
use idd_world::answers::Answers;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

/// Walks, and prints where it ended.
pub fn run(order: &DebugOrder, scene: CommandScene<'_>) -> Result<CommandAnswer, Failure> {
    let CommandScene { location, context, console } = scene;
    let is_paned = is_paned(order, context, console);
    let Some(versions) = &order.versions else {
        let order = &recorded(order, scene)?;
        let (mut walk, mut sources, kept) = begin::of_recording(order, location)?;
        let answers = opened(order.answers.as_deref().unwrap_or(&kept), order.is_restarted)?;
        let mut line = |file: &str, number: u32| sources.indented(file, number);
        let answer = walked(&mut walk, false, is_paned, answers, &mut line, console)?;
        explained::keep_beside(&walk, &kept, &mut console.progress());
        explained::keep(&walk, location, &mut console.progress());
        return Ok(answer);
    };
    begin::of_versions(versions, location, context, &mut console.progress(), |mut walk, both| {
        walk.expect(&order.expected)?;
        let mut sources = change::TreeSources::new(location, both.tree)?;
        let mut line = |file: &str, number: u32| sources.indented(file, number);
        let answers = order.answers.as_deref().map(|path| opened(path, order.is_restarted)).transpose()?.flatten();
        let answer = walked(&mut walk, true, is_paned, answers, &mut line, console)?;
        explained::keep(&walk, location, &mut console.progress());
        Ok(answer)
    })
}

/// The order, with the recording of the test that it names.
fn recorded(order: &DebugOrder, scene: CommandScene<'_>) -> Result<DebugOrder, Failure> {
    let CommandScene { location, context, console } = scene;
    let Some(record) = &order.record else { return Ok(order.clone()) };
    let (name, recording) = debug::recording::make(record, location, context, &mut console.progress())?;
    record::text(&name, &recording).lines().for_each(|line| console.progress().say(line));
    let which = ProcessChoice { recording: Some(name), ..order.which };
    Ok(DebugOrder { which, ..order.clone() })
}

/// Whether the questions fill the terminal.
fn is_paned(order: &DebugOrder, context: &Context, console: Console) -> bool {
    let is_dumb = context.variable("TERM").is_none_or(|term| term == "dumb");
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_named = order.answers.as_deref().is_some_and(is_input);
    if order.is_plain || console.is_json || is_dumb || !is_terminal || is_named {
        return false;
    }
    match full_screen::fits(LEAST.0, LEAST.1) {
        Ok(()) => true,
        Err(why) => {
            console.progress().say(&format!("Asking by lines, as with `--plain`: {why}."));
            false
        }
    }
}

fn walked(
    walk: &mut DebugWalk,
    is_helped: bool,
    is_paned: bool,
    answers: Option<Answers>,
    line: IndentedLine<'_>,
    console: Console,
) -> Result<CommandAnswer, Failure> {
    if let Some(n @ 1..) = answers.as_ref().map(|answers| answers.n_known(|line| !answer_lines::is_jump(line))) {
        let answers = count(n, "answer");
        console.progress().say(&format!("Taking up an earlier walk of {answers}; `--restart` forgets them."));
    }
    if is_helped {
        console.progress().say("Comparing both versions, step by step.");
    }
    if !is_paned {
        // Each answer is kept at once, so nothing is lost.
        Interrupt::register()?.end_at_once()?;
    }
    for checked in &walk.expected {
        AskedPerson::print(&said(checked, walk.failure, console.is_json))?;
    }
    if is_paned {
        let mut panes = Panes::new(&mut *line, answers)?;
        let end = walk.ask(&mut panes, is_helped);
        drop(panes);
        let end = end?;
        let text = ended(walk, &end, line, console)?;
        return Ok(CommandAnswer::Text(
            text.into_bytes(),
            if end == WalkEnd::Left { Status::Interrupted.code() } else { 0 },
        ));
    }
    let mut terminal = AskedPerson {
        line,
        answers,
        style: console.out_style,
        is_json: console.is_json,
        is_over: false,
        is_sought: false,
    };
    let end = walk.ask(&mut terminal, is_helped)?;
    if terminal.is_over {
        let is_kept = terminal.answers.is_some() && !walk.judged.is_empty();
        let kept = if is_kept { "the answers are kept" } else { "no answer is kept" };
        console.progress().say(&format!("Standard input ended before the walk; {kept}."));
    }
    let text = ended(walk, &end, terminal.line, console)?;
    Ok(CommandAnswer::Text(text.into_bytes(), if end == WalkEnd::Left { Status::Interrupted.code() } else { 0 }))
}

/// The answers of a file; none if they are those of standard input.
fn opened(path: &Path, is_restarted: bool) -> Result<Option<Answers>, Failure> {
    if is_input(path) { Ok(None) } else { answer_lines::open(path, is_restarted).map(Some) }
}

/// Whether it stands for standard input.
fn is_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A person at a terminal, or a program at a pipe.
struct AskedPerson<'a> {
    line: IndentedLine<'a>,
    answers: Option<Answers>,
    style: Style,
    is_json: bool,
    /// Whether standard input ended.
    is_over: bool,
    /// Whether the step was searched for.
    is_sought: bool,
}

/// Where an expectation holds.
fn said(checked: &ExpectationCheck, begin: Step, is_json: bool) -> String {
    let ExpectationCheck { expectation, broken, n_examined, n_unknown, n_steps, wrong, .. } = checked;
    if is_json {
        let line = json_line(&checked.json());
        return String::from_utf8_lossy(&line).into_owned();
    }
    let (text, place) = (safe(&expectation.text), safe(&expectation.place()));
    let unknown = match n_unknown {
        0 => String::new(),
        n => format!(" (before {n} of them a value is not known)"),
    };
    match broken {
        Some(step) if *step != begin => format!("`{text}` does not hold before step {}, {place}.\n", step.0),
        Some(step) if wrong.is_empty() => {
            format!("`{text}` does not hold before step {}, {place}: the walk begins there.\n", step.0)
        }
        Some(step) => {
            let wrong: Vec<String> = wrong.iter().map(|wrong| short(wrong)).collect();
            format!("`{text}` does not hold before step {}, {place}: it uses the wrong {}.\n", step.0, wrong.join(", "))
        }
        None if n_examined < n_steps => {
            format!("`{text}` holds before the first {n_examined} of {n_steps} steps of {place}{unknown}.\n")
        }
        None => format!("`{text}` holds before {} of {place}{unknown}.\n", count(*n_steps, "step")),
    }
}

impl AskedPerson<'_> {
    fn print(text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        printed.map_err(|error| Failure::error(format!("failed to write to standard output: {error}")))
    }

    fn shown(&mut self, question: &StepQuestion<'_>) -> String {
        let StepFacts { detail, used, .. } = question.facts;
        let (title, why) = titled(question);
        let mut lines = vec![String::new(), format!("{title}  {why}").trim_end().to_owned()];
        let place = detail.standing.place.as_ref();
        let path = tree::path(question.calls, detail.standing.step);
        lines.extend((!path.is_empty()).then(|| format!("   {path}")));
        if let Some(source) = place.and_then(|place| (self.line)(&place.file, place.line)) {
            lines.push(format!("      {}", self.style.paint(TextRole::Faint, safe(source.trim_start()))));
        }
        for (index, used) in used.iter().enumerate() {
            let origin = used.origin.as_ref().map(|origin| format!("  ({})", safe(origin))).unwrap_or_default();
            let presumed = presumed(question, index);
            let target = used.target.as_ref().map(|target| format!(" {}", short(target))).unwrap_or_default();
            let name = short(&used.name);
            lines.push(format!("  {}: uses {name} = {}{target}{origin}{presumed}", index + 1, value(used)));
        }
        let told = gives(question.facts).chain(does(question.facts));
        lines.extend(told.map(|text| format!("     {text}")));
        lines.join("\n") + "\n"
    }

    /// Keeps an answer. A search is kept as the step that it found, once another answer is given there.
    fn keep(&mut self, text: &str, reply: &PersonReply, step: Step) -> Result<(), Failure> {
        let is_seek = matches!(reply, PersonReply::Seek(_));
        let is_sought = std::mem::replace(&mut self.is_sought, is_seek);
        let Some(answers) = self.answers.as_mut().filter(|_| !is_seek && *reply != PersonReply::Quit) else {
            return Ok(());
        };
        if is_sought && *reply != PersonReply::Undo && !matches!(reply, PersonReply::Jump(_)) {
            answers.add(&format!("g {}", step.0)).map_err(|error| Failure::from_error(&error))?;
        }
        let text = if let PersonReply::Jump(to) = reply { format!("g {}", to.0) } else { text.to_owned() };
        answers.add(&text).map_err(|error| Failure::from_error(&error))
    }

    /// Prints what was wrong with an answer, or what came of it.
    fn complain(&self, what: &str) -> Result<(), Failure> {
        if self.is_json {
            let line = json_line(&json!({ "schema": "git-idd debug error 1", "error": what }));
            return Self::print(&String::from_utf8_lossy(&line));
        }
        Self::print(&format!("{}\n", what.lines().map(safe).collect::<Vec<_>>().join("\n")))
    }

    fn json(question: &StepQuestion<'_>) -> Vec<u8> {
        let StepFacts { detail, used, outcome, .. } = question.facts;
        let place = detail.standing.place.as_ref();
        json_line(&json!({
            "schema": "git-idd debug question 1",
            "nth": question.nth,
            "step": detail.standing.step.0,
            "function": &*detail.standing.function,
            "file": place.map(|place| &*place.file),
            "line": place.map(|place| place.line),
            "path": tree::path(question.calls, detail.standing.step),
            "uses": used.iter().enumerate().map(|(index, used)| json!({
                "name": used.name, "value": used.value, "origin": used.origin, "target": used.target, "presumed": question.presumed.contains(&index),
                "expected": question.expected.contains(&index),
                "makers": used.makers.iter().map(|maker| maker.0).collect::<BTreeSet<_>>(),
            })).collect::<Vec<_>>(),
            "gives": detail.writes.iter().map(|write| json!({ "name": write.named.name, "value": write.named.value })).collect::<Vec<_>>(),
            "returns": detail.returned,
            "decides": outcome.as_ref().map(|outcome| outcome.told.clone()),
            "reason": question.recommendation.map(|found| reason(found.state)),
            "suspects": question.recommendation.map(|found| found.n_suspects),
        }))
    }
}

impl StepJudge for AskedPerson<'_> {
    fn judge(&mut self, question: &StepQuestion<'_>) -> Result<PersonReply, Failure> {
        let items = items(question.facts);
        let shown = self.shown(question);
        if let Some(note) = question.note.as_ref().filter(|_| self.is_json) {
            Self::print(&String::from_utf8_lossy(&json_line(
                &json!({ "schema": "git-idd debug note 1", "note": note }),
            )))?;
        } else if let Some(note) = &question.note {
            self.complain(note)?;
        }
        if self.is_json {
            Self::print(&String::from_utf8_lossy(&Self::json(question)))?;
        } else {
            Self::print(&shown)?;
        }
        loop {
            let known = self.answers.as_mut().and_then(Answers::known);
            let is_new = known.is_none();
            if !self.is_json {
                Self::print("[c w h p m u g z q ?] ")?;
            }
            let text = if let Some(text) = known {
                if !self.is_json {
                    Self::print(&format!("{}\n", safe(&text)))?;
                }
                text
            } else {
                let mut text = Vec::new();
                let n = io::stdin().lock().read_until(b'\n', &mut text).map_err(|error| Failure::from_error(&error))?;
                if n == 0 {
                    self.is_over = true;
                    return Ok(PersonReply::Quit);
                }
                String::from_utf8_lossy(&text).trim().to_owned()
            };
            match reply(&text, &items) {
                Ok(reply) => {
                    if is_new {
                        self.keep(&text, &reply, question.facts.detail.standing.step)?;
                    }
                    return Ok(reply);
                }
                Err(what) => self.complain(&what)?,
            }
        }
    }
}

/// What was found, and how it leads to the failure.
fn ended(walk: &mut DebugWalk, end: &WalkEnd, line: IndentedLine<'_>, console: Console) -> Result<String, Failure> {
    if let WalkEnd::Found(step, bug) = end {
        walk.explanation = Some(explained::explained(walk, *step, *bug, line)?);
    }
    if console.is_json {
        let (result, step) = match end {
            WalkEnd::Found(step, _) => ("found", Some(step.0)),
            WalkEnd::Exhausted => ("exhausted", None),
            WalkEnd::Unclear => ("unclear", None),
            WalkEnd::Left => ("left", None),
        };
        let bug = walk.explanation.as_ref().map(|found| found.fault.words());
        let missing = walk.gap().filter(|_| *end == WalkEnd::Exhausted).map(|(right, wrong)| [right.0, wrong.0]);
        let value = json!({
            "schema": "git-idd debug result 1", "result": result, "step": step, "bug": bug, "missing_between": missing,
            "answers": walk.judged.len(), "explanation": walk.explanation.clone().map(Explanation::Walk),
        });
        return Ok(String::from_utf8_lossy(&json_line(&value)).into_owned());
    }
    match end {
        WalkEnd::Found(..) => {}
        WalkEnd::Exhausted => return exhausted(walk),
        WalkEnd::Unclear => {
            return Ok(
                "\nThe steps that are left were unclear each time. `--from` begins somewhere else, and `z` takes the \
                       last answer back.\n"
                    .to_owned(),
            );
        }
        WalkEnd::Left => return Ok("\n".to_owned()),
    }
    let found = walk.explanation.as_ref().map(|found| found.text(console.out_style));
    Ok(format!("\n{}", found.unwrap_or_default()))
}

/// What the answers say if all steps were judged.
fn exhausted(walk: &mut DebugWalk) -> Result<String, Failure> {
    let Some((right, wrong)) = walk.gap() else {
        return Ok("\nAll steps up to the failure were judged, and none is the first wrong one: code may be \
                   missing, or an answer is wrong (`z` takes it back).\n"
            .to_owned());
    };
    let (right, wrong) = (walk.facts(right)?, walk.facts(wrong)?);
    let name = |facts: &StepFacts| format!("step {}, {}", facts.detail.standing.step.0, at(facts));
    Ok(format!(
        "\nCode is missing between {} and {}: a value is right after the first, and wrong at the second.\n",
        name(&right),
        name(&wrong)
    ))
}
