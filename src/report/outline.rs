//! The outline of a chain: its links without what repeats, and of a long chain only its turning points.

use crate::chain::{EffectKind, ReportChain, ReportLink};
use crate::escape::Untrusted;
use idd_base::plural::count;

/// A part of at most so many links is looked for again behind itself.
const MAX_PERIOD: usize = 12;

/// A chain with more printed links than this is cut down to its turning points.
const MAX_LINKS: usize = 30;

/// Turning points between the first link and the last one.
const MAX_POINTS: usize = 3;

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
    /// So many links are left out.
    Left(usize),
}

impl OutlineLine<'_> {
    /// What is printed in place of what is left out; `None` for a link.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Link(_) => None,
            Self::Again { n_links: 1, n_times } => Some(format!("... {} like this ...", count(n_times, "more link"))),
            Self::Again { n_links, n_times } => {
                Some(format!("... these {n_links} links {} ...", count(n_times, "more time")))
            }
            Self::Left(n) => Some(format!("... {} ...", count(n, "more link"))),
        }
    }

    /// How many links are left out there.
    pub fn n_hidden(&self) -> usize {
        match self {
            Self::Link(_) => 0,
            Self::Again { n_links, n_times } => n_links * n_times,
            Self::Left(n) => *n,
        }
    }
}

/// The links of a chain with each repetition as its first and its last time. Links repeat if they are the same statements of the same variables, or elements of the same array, with other values.
///
/// Cost: links times the square of [`MAX_PERIOD`].
pub fn folded(links: &[ReportLink]) -> Vec<OutlineLine<'_>> {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < links.len() {
        let rest = &links[at..];
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

/// The [folded] links; of more than [`MAX_LINKS`] the first, the last, and between them those where the run takes another way or enters another file.
pub fn outline(links: &[ReportLink]) -> Vec<OutlineLine<'_>> {
    let entries = folded(links);
    if entries.len() <= MAX_LINKS {
        return entries;
    }
    let last = links.len() - 1;
    let enters = |at: &usize| *at > 0 && links[*at].file != links[at - 1].file;
    let decides = |at: &usize| links[*at].kind == EffectKind::Decision;
    let inner = 1..last;
    let mut points: Vec<usize> = inner.clone().filter(enters).take(MAX_POINTS - 1).collect();
    let others = inner.filter(decides).filter(|at| !points.contains(at)).collect::<Vec<_>>();
    // The decisions nearest to the failure say the most of what it does.
    let n_others = MAX_POINTS - points.len();
    points.extend(others.into_iter().rev().take(n_others));
    points.extend([0, last]);
    points.sort_unstable();
    let mut shown = Vec::new();
    let mut next = 0;
    for point in points {
        if point > next {
            shown.push(OutlineLine::Left(point - next));
        }
        shown.push(OutlineLine::Link(&links[point]));
        next = point + 1;
    }
    shown
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
    use crate::samples;
    use proptest::prelude::*;

    fn links(lines: &[u64]) -> Vec<ReportLink> {
        let sample = samples::chain().links[1].clone();
        let link =
            |(n, line): (u32, &u64)| ReportLink { line: Some(*line), step: n, in_change: false, ..sample.clone() };
        (0..).zip(lines).map(link).collect()
    }

    fn shown(entries: &[OutlineLine]) -> Vec<String> {
        let text = |entry: &OutlineLine| match entry {
            OutlineLine::Link(link) => format!("{}", link.step),
            other => other.words().unwrap(),
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
        let expected = ["0", "... 9 more links ...", "10", "... 9 more links ...", "20", "... 19 more links ...", "40"];
        let entries = shown(&outline(&all));
        assert_eq!(entries[..7], expected);
        assert_eq!(entries[7..], ["... 8 more links ...", "49"]);
    }

    proptest! {
        #[test]
        fn no_link_is_lost(lines in prop::collection::vec(0_u64..3, 0..60)) {
            let all = links(&lines);
            let n_shown = |entries: Vec<OutlineLine>| -> usize {
                entries.iter().map(|entry| if entry.words().is_none() { 1 } else { entry.n_hidden() }).sum()
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
