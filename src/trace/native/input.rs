//! Where the input of a program enters it: which step brought which bytes of which file.
//!
//! [`reader`] follows the files that a program reads.
//!
//! Source: the *input slots* of Gupta, He, Zhang and Gupta 2005, "Locating Faulty Code Using Failure-Inducing Chops",
//! which the paper finds in system calls.

mod reader;

use std::collections::HashMap;
use std::ops::Range;

use crate::input::{InputEntry, Landing};
pub use crate::native::input::reader::inputs;
use crate::native::{NativePlayer, UsedThing, Watch};
use crate::{Step, TraceError};

/// The steps with which a part of an input enters: calls that bring only bytes of it, and steps that read bytes of it
/// which a call brought together with others.
///
/// Cost: nothing, or one pass over the trace if a call brought other bytes, too.
pub fn entering(
    player: &mut NativePlayer,
    entries: &[&InputEntry],
    range: Option<&Range<u64>>,
) -> Result<Vec<Step>, TraceError> {
    let Some(range) = range else { return Ok(entries.iter().map(|entry| entry.step).collect()) };
    let (mut steps, mut partly) = (Vec::new(), HashMap::new());
    for entry in entries {
        let Some(bytes) = entry.range() else {
            // It may be any of them.
            steps.push(entry.step);
            continue;
        };
        if bytes.start >= range.end || bytes.end <= range.start {
            continue;
        }
        if range.start <= bytes.start && bytes.end <= range.end || entry.landing == Landing::Nowhere {
            steps.push(entry.step);
        } else {
            partly.insert(entry.step, *entry);
        }
    }
    if !partly.is_empty() {
        player.seek(0)?;
        let mut readers = ReadingSteps { partly, range, steps };
        player.play(&mut readers)?;
        steps = readers.steps;
    }
    steps.sort_unstable();
    steps.dedup();
    Ok(steps)
}

/// Collects the steps that use a part of what a call read.
struct ReadingSteps<'r> {
    partly: HashMap<Step, &'r InputEntry>,
    range: &'r Range<u64>,
    steps: Vec<Step>,
}

impl Watch for ReadingSteps<'_> {
    fn uses(&mut self, user: Step, maker: Step, what: UsedThing) {
        let Some(entry) = self.partly.get(&maker) else { return };
        let (UsedThing::Memory(address, length) | UsedThing::Address(address, length)) = what else { return };
        // In a block of the heap the place of the bytes is not known: all of them count.
        let is_used = match entry.landing {
            Landing::At(_) => entry
                .part(address, length)
                .is_some_and(|bytes| bytes.start < self.range.end && self.range.start < bytes.end),
            _ => true,
        };
        if is_used && self.steps.last() != Some(&user) {
            self.steps.push(user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Contents, InputSource, name};
    use crate::native::detail::detail;
    use crate::native::stored::{player, step};

    const LETTERS: &[u8] = b"abc\nde\nfghi";

    /// The entries of the stored run: source, range, exactness, function.
    fn shown(player: &mut NativePlayer, contents: &mut Contents<'_>) -> Vec<String> {
        let entries = inputs(player, Step(u32::MAX), contents).unwrap();
        let text = |entry: &InputEntry| {
            let range = entry.range().map_or_else(|| "?".to_owned(), |range| format!("{range:?}"));
            let sign = if entry.is_exact { "" } else { "~" };
            format!("{} {sign}{range} {}", entry.source, entry.function.as_deref().unwrap_or("-"))
        };
        entries.iter().map(text).collect()
    }

    #[test]
    fn each_read_has_its_place_in_its_source() {
        let mut player = player("inputs", "good");
        let known = shown(&mut player, &mut |source| {
            (*source == InputSource::File("letters".into())).then(|| LETTERS.to_vec())
        });
        let expected = [
            "letters 0..4 fgets",
            "letters 4..7 fgets",
            "letters 7..8 getc",
            "letters 7..10 fread",
            "argument 1 0..8 -",
            "argument 2 0..2 -",
            "the environment variable SIZE ? getenv",
            "the environment variable SIZE 0..1 -",
        ];
        assert_eq!(known, expected);
        // Without the content of the file, the program's own reads show where its lines end.
        let guessed = shown(&mut player, &mut |_| None);
        let sign = |text: &str| text.replace("letters ", "letters ~");
        assert_eq!(
            guessed,
            expected.map(|text| if text.starts_with("letters") { sign(text) } else { text.to_owned() })
        );
    }

    #[test]
    fn where_a_value_comes_from_ends_at_bytes_of_the_input() {
        let mut player = player("inputs", "good");
        let entries = inputs(&mut player, Step(u32::MAX), &mut |_| Some(LETTERS.to_vec())).unwrap();
        let (second, call) = (step(&mut player, 15, 1), entries[2].step);
        let mut details = [second, call].map(|step| detail(&mut player, step).unwrap().unwrap());
        name(&mut details, &entries);
        let origins: Vec<&String> = details[0].reads.iter().filter_map(|access| access.origin.as_ref()).collect();
        assert_eq!(origins, ["byte 1 of letters"]);
        assert_eq!(details[1].calls[0].input.as_deref(), Some("byte 7 of letters"));
    }

    #[test]
    fn what_scanf_leaves_is_read_next() {
        let mut player = player("input", "good");
        assert_eq!(shown(&mut player, &mut |_| Some(b"21\n".to_vec())), ["number 0..2 __isoc99_fscanf"]);
        assert_eq!(shown(&mut player, &mut |_| None), ["number ? __isoc99_fscanf"]);
    }

    #[test]
    fn a_part_of_an_input_enters_where_it_is_used() {
        let mut player = player("inputs", "good");
        let entries = inputs(&mut player, Step(u32::MAX), &mut |_| Some(LETTERS.to_vec())).unwrap();
        let of_file: Vec<&InputEntry> =
            entries.iter().filter(|entry| entry.source == InputSource::File("letters".into())).collect();
        let adds = |player: &mut NativePlayer, nth| step(player, 15, nth);
        // `b`, by the two tests of the loop and by the addition.
        let one = entering(&mut player, &of_file, Some(&(1..2))).unwrap();
        assert!(one.contains(&adds(&mut player, 1)) && !one.contains(&adds(&mut player, 0)), "{one:?}");
        assert!(!one.contains(&adds(&mut player, 2)) && one.len() == 3, "{one:?}");
        // The second line as a whole, and `f` by the next byte and in the block.
        let more = entering(&mut player, &of_file, Some(&(4..8))).unwrap();
        assert!(more.contains(&of_file[1].step) && more.contains(&of_file[2].step), "{more:?}");
        assert!(!more.contains(&of_file[3].step) && more.contains(&step(&mut player, 23, 0)), "{more:?}");
        assert_eq!(entering(&mut player, &of_file, None).unwrap().len(), 4);
    }
}
