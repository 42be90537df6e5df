//! The outline of a chain: its links without what repeats, and of a long chain only its turning points.

use crate::Untrusted;
use crate::chain::{EffectKind, ReportChain, ReportLink};
use idd_base::count;

/// A part of at most so many links is looked for again behind itself.
const MAX_PERIOD: usize = 12;

/// A chain with more printed links than this is cut down to its turning points, which are as many.
const MAX_LINKS: usize = 8;

/// Links that are named where they hand a value on.
const MAX_NAMED: usize = 4;

/// A line of an outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlineLine<'l> {
    /// A link.
    Link(&'l ReportLink),
    /// The links before it repeat with other values. The last time follows; so many times between are left out.
    Again {
        /// Links of one time.
        n_links: usize,
        /// How many times are left out.
        n_times: usize,
    },
    /// These links hand the value of the one before them on.
    HandedOn(&'l [ReportLink]),
    /// So many links are left out.
    Left(usize),
}

impl OutlineLine<'_> {
    /// What is printed in place of what is left out; `None` for a link. `code` writes a name.
    pub fn words(&self, code: &dyn Fn(&Untrusted) -> String) -> Option<String> {
        match self {
            Self::Link(_) => None,
            Self::Again { n_links: 1, n_times } => Some(format!("... {} like this ...", count(n_times, "more link"))),
            Self::Again { n_links, n_times } => {
                Some(format!("... these {n_links} links {} ...", count(n_times, "more time")))
            }
            Self::HandedOn(links) => {
                let text = |text: &Option<Untrusted>| text.as_ref().map(code).unwrap_or_default();
                let name = |link: &ReportLink| {
                    let line = link.line.unwrap_or_default();
                    format!("{}:{line}{} ({})", text(&link.file), link.which.behind(), text(&link.variable))
                };
                let mut names: Vec<String> = links.iter().map(name).collect();
                if let Some(n_more @ 1..) = names.len().checked_sub(MAX_NAMED) {
                    names.splice(1..=n_more, ["...".to_owned()]);
                }
                Some(format!("... the same value in {} ...", names.join(", ")))
            }
            Self::Left(n) => Some(format!("... {} ...", count(n, "more link"))),
        }
    }

    /// How many links are left out there.
    pub fn n_hidden(&self) -> usize {
        match self {
            Self::Link(_) => 0,
            Self::Again { n_links, n_times } => n_links * n_times,
            Self::HandedOn(links) => links.len(),
            Self::Left(n) => *n,
        }
    }
}

/// How many links at the beginning hand the value of the first one on unchanged. A statement that does so again is a
/// repetition.
fn n_handed_on(links: &[ReportLink]) -> usize {
    let is_value = |link: &ReportLink| matches!(link.kind, EffectKind::Value | EffectKind::Return) && !link.kept;
    let value = |link: &ReportLink| (link.value.clone(), link.reference.clone(), link.tested.clone());
    let is_handed_on = |pair: &&[ReportLink]| {
        let [before, link] = pair else { return false };
        is_value(before)
            && is_value(link)
            && !link.in_change
            && value(before) == value(link)
            && !is_repeated(link, before)
    };
    links.windows(2).take_while(is_handed_on).count()
}

/// The links of a chain with each repetition as its first and its last time. Links repeat if they are the same statements of the same variables, or elements of the same array, with other values.
///
/// Cost: links times the square of [`MAX_PERIOD`].
pub fn folded(links: &[ReportLink]) -> Vec<OutlineLine<'_>> {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < links.len() {
        let rest = &links[at..];
        if let n_handed_on @ 2.. = n_handed_on(rest) {
            entries.extend([OutlineLine::Link(&rest[0]), OutlineLine::HandedOn(&rest[1..=n_handed_on])]);
            at += 1 + n_handed_on;
            continue;
        }
        let saved = |(period, times): &(usize, usize)| period * times.saturating_sub(2);
        let periods = (1..=MAX_PERIOD.min(rest.len())).map(|period| (period, times(rest, period)));
        let best = periods.rev().max_by_key(saved).filter(|found| saved(found) >= 2);
        let Some((period, times)) = best else {
            entries.push(OutlineLine::Link(&rest[0]));
            at += 1;
            continue;
        };
        let end = period * times;
        entries.extend(rest[..period].iter().map(OutlineLine::Link));
        entries.push(OutlineLine::Again { n_links: period, n_times: times - 2 });
        entries.extend(rest[end - period..end].iter().map(OutlineLine::Link));
        at += end;
    }
    entries
}

/// The [folded] links; of more than [`MAX_LINKS`] the first, the last, and between them the turning points: links of the
/// change, then those where the run enters another file, then decisions, the nearest to the failure first; then others
/// from the beginning.
pub fn outline<'l>(links: &'l [ReportLink]) -> Vec<OutlineLine<'l>> {
    let entries = folded(links);
    let link_of = |(at, entry): (usize, &OutlineLine<'l>)| match entry {
        OutlineLine::Link(link) => Some((at, *link)),
        _ => None,
    };
    let points: Vec<(usize, &ReportLink)> = entries.iter().enumerate().filter_map(link_of).collect();
    if points.len() <= MAX_LINKS {
        return entries;
    }
    let last = points.len() - 1;
    let weight = |nth: usize| {
        let link = points[nth].1;
        let is_point = [
            nth == 0 || nth == last,
            link.in_change,
            nth > 0 && link.file != points[nth - 1].1.file,
            link.kind == EffectKind::Decision,
        ];
        match is_point.iter().position(|is_it| *is_it) {
            Some(rank) => (rank, last - nth),
            None => (is_point.len(), nth),
        }
    };
    let mut shown: Vec<usize> = (0..points.len()).collect();
    shown.sort_by_key(|nth| weight(*nth));
    let shown: Vec<usize> = shown.into_iter().take(MAX_LINKS).map(|nth| points[nth].0).collect();
    let (mut outline, mut n_left) = (Vec::new(), 0);
    for (at, entry) in entries.iter().enumerate() {
        // What repeats a link, or hands its value on, is shown with it.
        let is_shown = if entry.n_hidden() > 0 { n_left == 0 } else { shown.contains(&at) };
        if !is_shown {
            n_left += entry.n_hidden().max(1);
            continue;
        }
        if n_left > 0 {
            outline.push(OutlineLine::Left(std::mem::take(&mut n_left)));
        }
        outline.push(*entry);
    }
    outline
}

/// How many times a part of so many links stands at the beginning, one behind the other.
fn times(links: &[ReportLink], period: usize) -> usize {
    let is_same = |part: &&[ReportLink]| {
        part.len() == period && part.iter().zip(links).all(|(later, link)| is_repeated(later, link))
    };
    links.chunks(period).take_while(is_same).count()
}

fn is_repeated(later: &ReportLink, link: &ReportLink) -> bool {
    let what = |link: &ReportLink| (link.kind, link.line, link.which.part, link.in_change, link.kept);
    let variable = |link: &ReportLink| link.variable.as_ref().map(|variable| pattern(variable.as_bytes()));
    what(later) == what(link)
        && (&later.file, &later.function) == (&link.file, &link.function)
        && variable(later) == variable(link)
}

/// A variable without the numbers in its brackets: elements of an array are given their values one after the other.
fn pattern(variable: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::new();
    for byte in variable {
        let is_index = byte.is_ascii_digit() && pattern.last() == Some(&b'[');
        if !is_index {
            pattern.push(*byte);
        }
    }
    pattern
}

impl ReportChain {
    /// The chain in one sentence: where the change takes effect, the first decision of the same file that it turns, and the failure. `None` if the chain is short or does not begin with the change.
    pub fn in_short(&self) -> Option<String> {
        let text = &|text: &Untrusted| String::from_utf8_lossy(text.as_bytes()).into_owned();
        let (first, decision) = self.essence()?;
        let place = |link: &ReportLink| Some(format!("{}:{}", text(link.file.as_ref()?), link.line?));
        let difference = first.difference(text);
        let effect = if first.kind == EffectKind::Change {
            difference.map(|difference| format!(", where {difference}")).unwrap_or_default()
        } else {
            let difference = difference.map(|difference| format!(" ({difference})")).unwrap_or_default();
            format!(", where {}{difference}", first.clause(text))
        };
        let then = decision.and_then(|link| Some(format!("; in {} {}", place(link)?, link.clause(text))));
        let (first, then) = (place(first)?, then.unwrap_or_default());
        Some(format!("The change takes effect in {first}{effect}{then}; thus {}.", text(&self.failure.what)))
    }

    /// The links that the sentence tells: the first one, which is in the change, and a decision that is near it.
    fn essence(&self) -> Option<(&ReportLink, Option<&ReportLink>)> {
        const MIN_LINKS: usize = 5;
        let first = self.links.first().filter(|first| first.in_change && self.links.len() >= MIN_LINKS)?;
        let is_near = |link: &&ReportLink| link.kind == EffectKind::Decision && link.file == first.file;
        let decision = if first.kind == EffectKind::Decision { None } else { self.links[1..].iter().find(is_near) };
        Some((first, decision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::InstanceChoice;
    use crate::samples;
    use proptest::prelude::*;

    fn links(lines: &[u64]) -> Vec<ReportLink> {
        let sample = samples::chain().links[1].clone();
        let link = |(n, line): (u32, &u64)| ReportLink {
            line: Some(*line),
            step: n,
            in_change: false,
            value: n.to_string().into(),
            ..sample.clone()
        };
        (0..).zip(lines).map(link).collect()
    }

    fn text_of(text: &Untrusted) -> String {
        String::from_utf8_lossy(text.as_bytes()).into_owned()
    }

    fn shown(entries: &[OutlineLine]) -> Vec<String> {
        let text = |entry: &OutlineLine| match entry {
            OutlineLine::Link(link) => format!("{}", link.step),
            other => other.words(&text_of).unwrap(),
        };
        entries.iter().map(text).collect()
    }

    #[test]
    fn a_repeated_link_and_a_repeated_part_are_shown_the_first_and_the_last_time() {
        let all = links(&[1, 7, 7, 7, 7, 2]);
        assert_eq!(shown(&folded(&all)), ["0", "1", "... 2 more links like this ...", "4", "5"]);
        let all = links(&[7, 8, 7, 8, 7, 8, 1]);
        assert_eq!(shown(&folded(&all)), ["0", "1", "... these 2 links 1 more time ...", "4", "5", "6"]);
        let mut elements = links(&[7, 7, 7, 7]);
        for (link, variable) in elements.iter_mut().zip(["a[8].n", "a[9].n", "a[10].n", "a[11].n"]) {
            link.variable = Some(variable.into());
        }
        assert_eq!(shown(&folded(&elements)), ["0", "... 2 more links like this ...", "3"]);
        elements[1].variable = Some("a9.n".into());
        assert_eq!(shown(&folded(&elements)).len(), 4);
        let all = links(&[1, 7, 7, 7, 2]);
        assert_eq!(shown(&folded(&all)).len(), 5, "nothing would be saved");
    }

    #[test]
    fn a_long_chain_is_cut_down_to_its_turning_points() {
        let mut all = links(&(0..50).collect::<Vec<_>>());
        all[10].kind = EffectKind::Decision;
        all[40].kind = EffectKind::Decision;
        for link in &mut all[20..] {
            link.file = Some("other.c".into());
        }
        let expected = ["0", "1", "2", "3", "... 6 more links ...", "10", "... 9 more links ...", "20"];
        let entries = shown(&outline(&all));
        assert_eq!(entries[..8], expected);
        assert_eq!(entries[8..], ["... 19 more links ...", "40", "... 8 more links ...", "49"]);
    }

    #[test]
    fn links_that_hand_a_value_on_are_one_line() {
        let mut all = links(&[1, 2, 3, 4, 5]);
        for (link, variable) in all.iter_mut().zip(["a", "b", "c", "d", "e"]) {
            (link.kind, link.value, link.variable) = (EffectKind::Value, "7".into(), Some(variable.into()));
            (link.file, link.which) = (Some("x.c".into()), InstanceChoice::default());
        }
        all[4].value = "8".into();
        assert_eq!(shown(&folded(&all)), ["0", "... the same value in x.c:2 (b), x.c:3 (c), x.c:4 (d) ...", "4"]);
    }

    proptest! {
        #[test]
        fn no_link_is_lost(lines in prop::collection::vec(0_u64..3, 0..60)) {
            let all = links(&lines);
            let n_shown = |entries: Vec<OutlineLine>| -> usize {
                entries.iter().map(|entry| if entry.words(&text_of).is_none() { 1 } else { entry.n_hidden() }).sum()
            };
            prop_assert_eq!(n_shown(folded(&all)), all.len());
            prop_assert_eq!(n_shown(outline(&all)), all.len());
            let steps: Vec<u32> = folded(&all).iter().filter_map(|entry| match entry {
                OutlineLine::Link(link) => Some(link.step),
                _ => None,
            }).collect();
            prop_assert!(steps.is_sorted());
        }
    }
}
