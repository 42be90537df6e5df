//! What is shown of a question in the panes.

use crate::debug::text::{IndentedLine, does, presumed, short, titled};
use crate::debug::tree::TreeRow;
use idd_report::escape::safe;
use idd_session::debug::StepQuestion;
use idd_session::debug::calls::CallIndex;
use idd_session::debug::reply::{AnsweredItem, items};
use idd_trace::Step;
use idd_trace::native::detail::MAX_TEXT;

/// Lines of the source before and after that of a step.
const AROUND: u32 = 200;

/// So many of the steps that computed a value are named.
const MAX_MAKERS: usize = 20;

/// A value that the step uses or gives. All texts are safe to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownValue {
    /// Its name.
    pub name: String,
    /// Its value, cut if it is long.
    pub text: String,
    /// The whole value.
    pub whole: String,
    /// Where it comes from, a line each.
    pub from: Vec<String>,
    /// The step that computed it.
    pub maker: Option<u32>,
    /// Whether the step uses it, and so it can be wrong; else the step gives it.
    pub is_used: bool,
}

/// What is shown of a question. All texts are safe to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownQuestion {
    /// `3. step 12, a.c:9, in main`.
    pub title: String,
    /// Why it is asked.
    pub why: String,
    /// The number of the step.
    pub step: u32,
    /// Lines of the source around it, with their numbers.
    pub source: Vec<(u32, String)>,
    /// The line of the step.
    pub line: u32,
    /// The values that it uses, then those that it gives.
    pub values: Vec<ShownValue>,
    /// What it calls and decides.
    pub does: Vec<String>,
    /// The calls and loops, with what is in those that were opened; empty until the tree is opened.
    pub tree: Vec<TreeRow>,
    /// The calls and loops around the step and around what was judged.
    pub near: Vec<TreeRow>,
    /// The answers so far, the last one last.
    pub path: Vec<String>,
}

impl ShownQuestion {
    /// Of a question; the calls and loops and the answers are added by the caller.
    pub fn new(question: &StepQuestion<'_>, line: &mut IndentedLine<'_>) -> Self {
        let detail = &question.facts.detail;
        let place = detail.standing.place.as_ref();
        let mut source = Vec::new();
        if let Some(place) = place {
            for number in place.line.saturating_sub(AROUND).max(1)..=place.line.saturating_add(AROUND) {
                match line(&place.file, number) {
                    Some(text) => source.push((number, safe(&text.replace('\t', "    ")))),
                    None if number > place.line => break,
                    None => {}
                }
            }
        }
        let (title, why) = titled(question);
        Self {
            title,
            why,
            step: detail.standing.step.0,
            source,
            line: place.map_or(0, |place| place.line),
            values: values(question, &items(question.facts), line),
            does: does(question.facts),
            tree: Vec::new(),
            near: Vec::new(),
            path: Vec::new(),
        }
    }
}

fn values(question: &StepQuestion<'_>, items: &[AnsweredItem], line: &mut IndentedLine<'_>) -> Vec<ShownValue> {
    let facts = question.facts;
    let used = facts.used.iter().map(|used| (used.value.as_ref(), Some(used)));
    let given = facts.detail.writes.iter().map(|write| (write.named.value.as_ref(), None));
    let all = used.chain(given).zip(items).enumerate();
    all.map(|(index, ((value, used), item))| {
        let value = value.map_or("?", String::as_str);
        let about = if item.is_used { presumed(question, index) } else { "" };
        let mut from = Vec::new();
        let size = item.range.map(|(_, size)| size).filter(|size| value.starts_with('"') && *size > MAX_TEXT);
        from.extend(size.map(|size| format!("({size} bytes, of which {MAX_TEXT} are shown)")));
        from.extend(used.and_then(|used| used.origin.as_ref()).map(|origin| safe(origin)));
        let target = used.and_then(|used| used.target.as_ref());
        from.extend(target.map(|target| format!("points to {}", safe(target))));
        from.extend(Some(about.trim().to_owned()).filter(|about| !about.is_empty()));
        let mut makers: Vec<Step> =
            used.map_or(&[][..], |used| &used.makers).iter().copied().filter(|maker| *maker != Step::START).collect();
        makers.sort_unstable();
        makers.dedup();
        for maker in makers.iter().rev().take(MAX_MAKERS) {
            from.extend(named(question.calls, *maker, line));
        }
        if let Some(n @ 1..) = makers.len().checked_sub(MAX_MAKERS) {
            from.push(format!("and {n} earlier steps"));
        }
        if !item.is_used {
            from.push(format!("step {}: this one", facts.detail.standing.step.0));
        }
        ShownValue {
            name: short(&item.name),
            text: format!(
                "{}{}{about}",
                short(value),
                target.map(|target| format!(" {}", short(target))).unwrap_or_default()
            ),
            whole: safe(value),
            from,
            maker: item.maker.map(|maker| maker.0),
            is_used: item.is_used,
        }
    })
    .collect()
}

/// `step 30, a.c:9, in main`, and its source.
fn named(calls: CallIndex<'_>, step: Step, line: &mut IndentedLine<'_>) -> Vec<String> {
    let place = calls.place(step);
    let at = place.map(|place| format!(", {}:{}", safe(&place.file), place.line)).unwrap_or_default();
    let mut lines = vec![format!("step {}{at}, in {}", step.0, safe(calls.function(step)))];
    let source = place.and_then(|place| line(&place.file, place.line));
    lines.extend(source.map(|source| format!("    {}", safe(source.trim_start()))));
    lines
}
