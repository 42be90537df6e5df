//! A chain in the words of the source: what each of its steps did in both runs.

use std::collections::HashMap;
use std::sync::Arc;

use crate::java::chain::{Cause, RunPair};
use crate::java::comparable_run::{DecisionWay, TakenRun, Use};
use crate::java::facts::CONTENTS;
use crate::link::{Did, Instance, Link};
use idd_trace::java::detail::details;
use idd_trace::java::text::without_numbers;
use idd_trace::java::{JavaPlayer, contents};
use idd_trace::{Access, Detail, Outside, Step, TraceError};

/// What a run shows of some steps.
type Details = HashMap<Step, Detail>;

/// Both runs, to look at.
pub struct Players<'p> {
    /// The failing run.
    pub failing: &'p mut JavaPlayer,
    /// The reference.
    pub reference: &'p mut JavaPlayer,
}

/// What a chain is told by.
pub struct JavaTelling {
    /// The links; the step of the failure is none.
    pub links: Vec<Link>,
    /// How many links are left out, because they repeat the one before.
    pub n_left: usize,
    /// Which instance of its statement the step of the failure is.
    pub instance: Option<Instance>,
}

/// Tells the steps of a chain. A step of which nothing can be said but that it differs is left out, unless it is the first
/// one, or `is_touched` by the change and behind one that says something.
///
/// Cost: plays each run once, up to the failure.
pub fn tell(
    pair: &RunPair<'_>,
    players: &mut Players<'_>,
    causes: &[Cause],
    is_touched: &mut dyn FnMut(Step) -> bool,
) -> Result<JavaTelling, TraceError> {
    let steps: Vec<Step> = causes.iter().map(|cause| cause.step).collect();
    let steps = &steps[..];
    let others: Vec<Step> = steps.iter().filter_map(|step| pair.alignment.reference(*step)).collect();
    // What a step without a counterpart returned is compared with what was returned in its place.
    let returned = others.iter().flat_map(|step| pair.reference.uses(*step)).filter(|used| used.place == 0);
    let omitted = causes.iter().filter_map(|cause| cause.omitted);
    let others: Vec<Step> = returned.map(|used| used.maker).chain(others.iter().copied()).chain(omitted).collect();
    let ours = looked_at(players.failing, steps)?;
    let theirs = looked_at(players.reference, &others)?;
    let mut links: Vec<Link> = Vec::new();
    for (at, step) in steps.iter().enumerate().take(steps.len().saturating_sub(1)) {
        let Some(detail) = ours.get(step) else { continue };
        let reference = pair.alignment.reference(*step);
        let next = steps[at + 1];
        let seen = ChainFacts { pair, ours: &ours, theirs: &theirs };
        let did = seen.did(causes[at], next);
        let says_nothing = |did: &Did| matches!(did, Did::Differs(_));
        if says_nothing(&did)
            && let Some(before) = links.last()
            && (says_nothing(&before.did) || !is_touched(*step))
        {
            continue;
        }
        let (function, place) = (Some(Arc::clone(&detail.standing.function)), pair.failing.place(*step).cloned());
        links.push(Link { reference, function, place, ..Link::new(*step, step.0.into(), did) });
    }
    let n_all = links.len();
    let links = without_repetitions(links, pair.failing);
    let n_left = n_all - links.len();
    let last = steps.last().copied().unwrap_or(Step::START);
    let counted: Vec<Step> = links.iter().map(|link| link.step).chain([last]).collect();
    let instances = instances(pair.failing, &counted);
    let links = links.into_iter().map(|link| Link { instance: instances.get(&link.step).copied(), ..link }).collect();
    Ok(JavaTelling { links, n_left, instance: instances.get(&last).copied() })
}

fn looked_at(player: &mut JavaPlayer, steps: &[Step]) -> Result<Details, TraceError> {
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    steps.dedup();
    let found = details(player, &steps, Step(u32::MAX))?;
    Ok(found.into_iter().map(|detail| (detail.standing.step, detail)).collect())
}

/// Which instances of their statements some steps are.
fn instances(taken: &TakenRun, steps: &[Step]) -> HashMap<Step, Instance> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let mut found: HashMap<Step, u32> = HashMap::new();
    let wanted: HashMap<u32, bool> = steps.iter().map(|step| (taken.statements[step.0 as usize], true)).collect();
    for (step, statement) in (0_u32..).map(Step).zip(&taken.statements) {
        if wanted.contains_key(statement) {
            let count = counts.entry(*statement).or_insert(0);
            *count += 1;
            if steps.contains(&step) {
                found.insert(step, *count);
            }
        }
    }
    let of = |step: &Step| counts.get(&taken.statements[step.0 as usize]).copied().unwrap_or(1);
    found.into_iter().map(|(step, nth)| (step, Instance { nth, of: of(&step) })).collect()
}

/// Of links that do the same in the same statement one after the other, the first and the last.
fn without_repetitions(links: Vec<Link>, taken: &TakenRun) -> Vec<Link> {
    let what = |link: &Link| {
        let variable = match &link.did {
            Did::Gave { variable, .. } => Some(variable.clone()),
            _ => None,
        };
        (taken.statements[link.step.0 as usize], variable)
    };
    let keys: Vec<_> = links.iter().map(what).collect();
    let is_kept = |at: usize| {
        let is_same = |other: Option<usize>| other.and_then(|other| keys.get(other)) == Some(&keys[at]);
        !(is_same(at.checked_sub(1)) && is_same(Some(at + 1)))
    };
    let kept: Vec<bool> = (0..links.len()).map(is_kept).collect();
    links.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(link, _)| link).collect()
}

fn outcome(way: DecisionWay) -> String {
    match way.truth {
        Some(truth) => truth.to_string(),
        None => format!("decided for line {}", way.line),
    }
}

/// What is known of the steps of a chain.
struct ChainFacts<'s> {
    pair: &'s RunPair<'s>,
    ours: &'s Details,
    theirs: &'s Details,
}

impl ChainFacts<'_> {
    /// What a step did that matters for the next one.
    fn did(&self, Cause { step, omitted, .. }: Cause, next: Step) -> Did {
        if let Some(omitted) = omitted {
            let lacks = self.lacks(step, omitted, next);
            // In the place of the call, the failing version may make another one.
            let own = self.ours.get(&step).filter(|_| self.pair.alignment.reference(step).is_none());
            if let Some(Did::Holds { reference, .. }) = &lacks
                && let Some(Did::Holds { variable, what, .. }) = own.and_then(|own| self.holds(own, next))
            {
                return Did::Holds { variable, what, reference: reference.clone() };
            }
            return lacks.or_else(|| self.kept(next)).or_else(|| self.decided(step)).unwrap_or(Did::Differs(None));
        }
        if let Some(decided) = self.decided(step) {
            return decided;
        }
        let other = self.pair.alignment.reference(step);
        let detail = &self.ours[&step];
        let there = other.and_then(|other| self.theirs.get(&other));
        self.returned(detail, there, next)
            .or_else(|| self.wrote(detail, there, next))
            .or_else(|| called(detail, there?))
            .or_else(|| self.holds(detail, next).filter(|_| other.is_none()))
            .or_else(|| self.read(step, next))
            .unwrap_or(Did::Differs(None))
    }

    /// How it decided otherwise.
    fn decided(&self, step: Step) -> Option<Did> {
        let other = self.pair.alignment.reference(step)?;
        let (ours, theirs) = (&self.pair.failing.ways, &self.pair.reference.ways);
        self.pair.decides_otherwise(step, other).then(|| Did::Decided {
            outcome: outcome(ours[step.0 as usize]),
            reference: outcome(theirs[other.0 as usize]),
        })
    }

    /// What an object that the next step reads lacks, because only the reference made a call.
    fn lacks(&self, step: Step, omitted: Step, next: Step) -> Option<Did> {
        let reader = self.theirs.get(&self.pair.alignment.reference(next)?)?;
        let CalledObject { variable, class, method, call } = called_object(self.theirs.get(&omitted)?, reader)?;
        let at = self.there(step, omitted);
        let (what, reference) = match contents::change_of(&class, &method) {
            Some(change) => {
                let what = contents::told(change.without, &call.arguments, call.result.as_deref());
                (what, format!("{}{at}", change.done))
            }
            None => ("is another one".to_owned(), format!("after {class}.{method}{at}, which is not followed")),
        };
        Some(Did::Holds { variable, what: without_numbers(&what), reference })
    }

    /// What an object that the next step reads holds, because only the failing run made a call.
    fn holds(&self, detail: &Detail, next: Step) -> Option<Did> {
        let CalledObject { variable, class, method, call } = called_object(detail, self.ours.get(&next)?)?;
        let (what, reference) = match contents::change_of(&class, &method) {
            Some(change) => {
                let what = contents::told(change.with, &call.arguments, call.result.as_deref());
                (what, format!("not {}", change.done))
            }
            None => (format!("is another one after {class}.{method}"), "it is not followed".to_owned()),
        };
        let reference = self.replaced(detail.standing.step, next).unwrap_or(reference);
        Some(Did::Holds { variable, what: without_numbers(&what), reference })
    }

    /// Where only the reference changed what the next step reads.
    fn replaced(&self, step: Step, next: Step) -> Option<String> {
        let alignment = self.pair.alignment;
        let theirs = self.pair.wrong(next, alignment.reference(next)?).into_iter().filter_map(|(_, theirs)| theirs);
        let mut makers = theirs.filter(Use::is_contents).map(|used| used.maker);
        let maker = makers.find(|maker| *maker != Step::START && alignment.failing(*maker).is_none())?;
        Some(format!("changed in another way{}", self.there(step, maker)))
    }

    /// Where a step of the reference is: its line, and its file if a step of the failing run is in another one.
    fn there(&self, step: Step, other: Step) -> String {
        let here = self.pair.failing.place(step).map(|place| &place.file);
        self.pair.reference.place(other).map_or_else(String::new, |place| {
            let file = place.file.rsplit('/').next().filter(|_| here != Some(&place.file));
            file.map_or_else(|| format!(" in line {}", place.line), |file| format!(" in {file}:{}", place.line))
        })
    }

    /// What it returned, if the next step uses that.
    fn returned(&self, detail: &Detail, there: Option<&Detail>, next: Step) -> Option<Did> {
        let value = detail.returned.clone()?;
        let uses = self.pair.failing.uses(next);
        uses.iter().any(|used| used.maker == detail.standing.step).then_some(())?;
        let there = there.or_else(|| self.in_place_of(detail, next));
        let reference = there.and_then(|there| there.returned.clone())?;
        (without_numbers(&value) != without_numbers(&reference)).then(|| Did::Returned {
            function: Arc::clone(&detail.standing.function),
            value: without_numbers(&value),
            reference: without_numbers(&reference),
        })
    }

    /// The step of the reference with which the same function returned to the step that corresponds to the next one.
    fn in_place_of(&self, detail: &Detail, next: Step) -> Option<&Detail> {
        let other = self.pair.alignment.reference(next)?;
        let makers = self.pair.reference.uses(other).iter().map(|used| used.maker);
        let details = makers.filter_map(|maker| self.theirs.get(&maker));
        details
            .into_iter()
            .find(|there| there.standing.function == detail.standing.function && there.returned.is_some())
    }

    /// What it wrote otherwise than in the reference; what the next step reads first.
    fn wrote(&self, detail: &Detail, there: Option<&Detail>, next: Step) -> Option<Did> {
        let there = there?;
        let read: Vec<&str> = self.read_by(detail.standing.step, next).map(|access| &*access.named.name).collect();
        let mut found: Option<Did> = None;
        for access in &detail.writes {
            let name = &access.named.name;
            let same = there.writes.iter().find(|other| without_numbers(&other.named.name) == without_numbers(name));
            let (Some(value), Some(reference)) = (&access.named.value, same.and_then(|same| same.named.value.as_ref()))
            else {
                continue;
            };
            if without_numbers(value) == without_numbers(reference) {
                continue;
            }
            let did = gave(name, value, reference);
            if read.contains(&&**name) {
                return Some(did);
            }
            found.get_or_insert(did);
        }
        found
    }

    /// What the next step reads of what a step made.
    fn read_by(&self, maker: Step, next: Step) -> impl Iterator<Item = &Access> {
        let reads = self.ours.get(&next).map(|detail| &detail.reads[..]).unwrap_or_default();
        reads.iter().filter(move |access| access.makers.contains(&maker))
    }

    /// What the next step reads otherwise than in the reference, which wrote it again.
    fn kept(&self, next: Step) -> Option<Did> {
        let (ours, other) = (self.ours.get(&next)?, self.theirs.get(&self.pair.alignment.reference(next)?)?);
        ours.reads.iter().find_map(|access| otherwise(access, other, true))
    }

    /// What the next step reads of what it made, and what it reads in the reference.
    fn read(&self, step: Step, next: Step) -> Option<Did> {
        let other = self.theirs.get(&self.pair.alignment.reference(next)?)?;
        self.read_by(step, next).find_map(|access| otherwise(access, other, false))
    }
}

/// What is read, if a step of the reference reads another value by this name.
fn otherwise(access: &Access, other: &Detail, is_kept: bool) -> Option<Did> {
    let variable = without_numbers(&access.named.name);
    let same = other.reads.iter().find(|other| without_numbers(&other.named.name) == variable)?;
    let [value, reference] = [access, same].map(|access| access.named.value.as_deref().map(without_numbers));
    let (value, reference) = (value?, reference?);
    (value != reference).then_some(Did::Gave { variable, value, reference, is_kept })
}

/// A call of the library on an object that another step reads.
struct CalledObject<'d> {
    /// What that step calls the object.
    variable: String,
    class: String,
    method: String,
    call: &'d Outside,
}

/// The first call of a step on an object whose contents come from there to another step.
fn called_object<'d>(detail: &'d Detail, reader: &Detail) -> Option<CalledObject<'d>> {
    reader.reads.iter().filter(|access| access.makers.contains(&detail.standing.step)).find_map(|access| {
        let variable = access.named.name.strip_prefix(CONTENTS)?;
        let object = access.named.value.as_deref()?;
        let method = |call: &Outside| Some(call.name.as_deref()?.strip_prefix(object)?.strip_prefix('.')?.to_owned());
        let (call, method) = detail.calls.iter().find_map(|call| Some((call, method(call)?)))?;
        // An object that no variable holds may be in a field.
        let is_it =
            |other: &&Access| other.named.value.as_deref() == Some(object) && !other.named.name.starts_with(CONTENTS);
        let field = reader.reads.iter().find(is_it).filter(|_| variable == object);
        let variable = without_numbers(field.map_or(variable, |field| &*field.named.name));
        Some(CalledObject { variable, class: without_numbers(object), method, call })
    })
}

/// What it called the library with, or got from there, otherwise than in the reference.
fn called(detail: &Detail, there: &Detail) -> Option<Did> {
    detail.calls.iter().find_map(|call| {
        let name = call.name.as_ref()?;
        let same = there
            .calls
            .iter()
            .find(|other| other.name.as_deref().map(without_numbers) == Some(without_numbers(name)))?;
        let given = |call: &Outside| without_numbers(&call.arguments.join(", "));
        if given(call) != given(same) {
            return Some(gave(name, &given(call), &given(same)));
        }
        let (value, reference) = (call.result.as_deref()?, same.result.as_deref()?);
        let (value, reference) = (without_numbers(value), without_numbers(reference));
        let function = Arc::from(without_numbers(name));
        (value != reference).then_some(Did::Returned { function, value, reference })
    })
}

fn gave(variable: &str, value: &str, reference: &str) -> Did {
    let [variable, value, reference] = [variable, value, reference].map(without_numbers);
    Did::Gave { variable, value, reference, is_kept: false }
}
