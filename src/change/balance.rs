//! Changed lines that must be applied together, so that brackets stay in pairs.

use std::collections::BTreeMap;

use crate::syntax::SyntaxTree;

/// The classes of brackets; each is counted separately.
const CLASSES: [(&[&str], &[&str]); 4] =
    [(&["{", "${"], &["}"]), (&["("], &[")"]), (&["["], &["]"]), (&["#if", "#ifdef", "#ifndef"], &["#endif"])];

/// For each class: how many more brackets a line opens than it closes. Lines with the difference 0 are absent.
///
/// `None` if the brackets of a class are not in pairs in the whole text.
pub(super) type Depths = [Option<BTreeMap<u32, i32>>; CLASSES.len()];

/// Counts the brackets of a parsed text, outside of strings and comments.
pub(super) fn depths(tree: &SyntaxTree) -> Depths {
    let mut depths: Depths = std::array::from_fn(|_| Some(BTreeMap::new()));
    let mut open = [0_i64; CLASSES.len()];
    for id in tree.tokens(tree.root()) {
        let node = tree.node(id);
        for (class, (opening, closing)) in CLASSES.iter().enumerate() {
            let step = i32::from(opening.contains(&node.kind)) - i32::from(closing.contains(&node.kind));
            if step == 0 {
                continue;
            }
            open[class] += i64::from(step);
            if open[class] < 0 {
                depths[class] = None;
            }
            if let Some(lines) = &mut depths[class] {
                *lines.entry(node.lines.start).or_default() += step;
            }
        }
    }
    for (class, lines) in depths.iter_mut().enumerate() {
        if open[class] != 0 {
            *lines = None;
        }
        if let Some(lines) = lines {
            lines.retain(|_, depth| *depth != 0);
        }
    }
    depths
}

/// A changed line: its older and newer number (a modified line has both), and the declaration it is in.
pub(super) type BalanceStep = ((Option<u32>, Option<u32>), Option<usize>);

/// Finds steps that are tied: pairs of indices that are applied both or neither.
///
/// - `steps`: in source order.
///
/// If a step changes the bracket depth of a class, it is tied to the nearest step that changes the depth back, in the
/// same declaration if it has one. If a class is not in pairs on one side (macros or conditionals contain a brace),
/// nothing is tied in it.
pub(super) fn ties(older: &Depths, newer: &Depths, steps: &[BalanceStep]) -> Vec<(usize, usize)> {
    let mut ties = Vec::new();
    for (older, newer) in older.iter().zip(newer) {
        let (Some(older), Some(newer)) = (older, newer) else { continue };
        let depth_of = |lines: &BTreeMap<u32, i32>, line: Option<u32>| {
            line.and_then(|line| lines.get(&line)).copied().unwrap_or(0)
        };
        let mut found = Vec::new();
        let mut of_owner: BTreeMap<Option<usize>, WaitingSteps> = BTreeMap::new();
        for (index, ((older_line, newer_line), owner)) in steps.iter().enumerate() {
            let change = depth_of(newer, *newer_line) - depth_of(older, *older_line);
            of_owner.entry(*owner).or_default().meet(index, change, &mut found);
        }
        let mut left: Vec<(usize, i32)> = of_owner.into_values().flat_map(|waiting| waiting.0).collect();
        left.sort_unstable();
        let mut waiting = WaitingSteps::default();
        for (index, change) in left {
            waiting.meet(index, change, &mut found);
        }
        if waiting.0.is_empty() {
            ties.extend(found.into_iter().filter(|(one, other)| one != other));
        }
    }
    ties.sort_unstable();
    ties.dedup();
    ties
}

/// Steps without a partner yet, one entry for each bracket; all entries have the same sign.
#[derive(Default)]
struct WaitingSteps(Vec<(usize, i32)>);

impl WaitingSteps {
    /// Pairs a step with the waiting steps, the last one first. The rest of its brackets waits.
    fn meet(&mut self, index: usize, mut change: i32, found: &mut Vec<(usize, usize)>) {
        while change != 0 {
            match self.0.last() {
                Some((other, sign)) if *sign == -change.signum() => {
                    found.push((*other, index));
                    self.0.pop();
                }
                _ => self.0.push((index, change.signum())),
            }
            change -= change.signum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Language;

    #[track_caller]
    fn check(older: &str, newer: &str, steps: &[(Option<u32>, Option<u32>)], expected: &[(usize, usize)]) {
        let depths = |text: &str| depths(&Language::named("c").unwrap().parse(text.as_bytes()).unwrap());
        let steps: Vec<BalanceStep> = steps.iter().map(|step| (*step, None)).collect();
        assert_eq!(ties(&depths(older), &depths(newer), &steps), expected);
    }

    #[test]
    fn a_line_that_opens_is_tied_to_the_one_that_closes() {
        let newer = "void f(void) {\nif (a) {\ng(1,\n2);\n}\n}\n";
        let steps = [(None, Some(1)), (None, Some(2)), (None, Some(3)), (None, Some(4))];
        check("void f(void) {\n}\n", newer, &steps, &[(0, 3), (1, 2)]);
    }

    #[test]
    fn a_modified_line_that_opens_as_before_is_free_and_an_else_is_not() {
        let (older, newer) = ("void f(void) {\nif (a) {\n}\n}\n", "void f(void) {\nif (b) {\n} else {\n}\n}\n");
        check(older, newer, &[(Some(1), Some(1)), (Some(2), Some(2)), (None, Some(3))], &[(1, 2)]);
    }

    #[test]
    fn a_function_that_a_diff_shows_shifted_keeps_its_halves() {
        let (older, newer) = ("void f(void) {\ng();\n}\n", "void f(void) {\nh();\n}\nvoid i(void) {\ng();\n}\n");
        let steps = [(None, Some(1)), (None, Some(2)), (None, Some(3))];
        check(older, newer, &steps, &[(1, 2)]);
    }

    #[test]
    fn what_a_template_string_substitutes_is_in_brackets() {
        let text = "f(`a${b}c`, {\n  x: `${y}`\n})\n";
        let depths = depths(&Language::named("javascript").unwrap().parse(text.as_bytes()).unwrap());
        assert_eq!(depths[0], Some(BTreeMap::from([(0, 1), (2, -1)])));
    }

    #[test]
    fn conditionals_are_brackets_and_what_is_not_in_pairs_is_free() {
        check("int a;\n", "#ifdef A\nint a;\n#endif\n", &[(None, Some(0)), (None, Some(2))], &[(0, 1)]);
        check("int a;\n", "int a;\nint b[] = {\nint c;\n", &[(None, Some(1)), (None, Some(2))], &[]);
    }
}
