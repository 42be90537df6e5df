//! The statements that need a site of their own: before them, an exception may have been thrown, and no other site tells where.
//!
//! What is recorded next after an exception is that it was caught, or left the method. A reader knows which instruction
//! threw it if all before that one have a site behind them, or cannot throw.

use crate::instrument::java::code::Code;
use crate::instrument::java::operation::Operation;

/// What is known of each instruction of a method.
pub struct KnownInstructions<'k> {
    /// Whether there is a site before it.
    pub before: &'k [bool],
    /// Whether there is one behind it.
    pub behind: &'k [bool],
    /// Whether it may throw an exception that a reader would not foresee, if no site is behind it.
    pub throwing: &'k [bool],
}

/// Jumps backwards are followed so often. If that does not suffice, all places where jumps lead get a site.
const N_ROUNDS: usize = 8;

/// For each instruction whether a statement begins there that needs a site.
pub fn statements(code: &Code<'_>, known: &KnownInstructions<'_>) -> Vec<bool> {
    let n = code.instructions.len();
    let ways = |instruction: usize| match code.instructions[instruction].operation {
        Operation::Goto(way) => Some(way as usize),
        _ => None,
    };
    let mut begins = vec![false; n];
    for begin in code.lines.iter().map(|(begin, _)| *begin as usize).chain((0..n).filter_map(ways)) {
        if let Some(begins) = begins.get_mut(begin) {
            *begins = true;
        }
    }
    // Where a jump leads from a place where something may have been thrown.
    let mut is_joined = vec![false; n];
    for round in 0.. {
        let mut is_needed = vec![false; n];
        let (mut is_open, mut is_new) = (false, false);
        for number in 0..n {
            is_open |= is_joined[number];
            is_needed[number] = is_open && begins[number] && !known.before[number];
            is_open &= !is_needed[number] && !known.before[number];
            is_open |= known.throwing[number];
            is_open &= !known.behind[number];
            if let Some(way) = ways(number).filter(|way| (is_open || round == N_ROUNDS) && !is_joined[*way]) {
                (is_joined[way], is_new) = (true, true);
            }
            is_open &= code.instructions[number].operation.goes_on();
        }
        if !is_new {
            return is_needed;
        }
    }
    unreachable!("each round finds a place that none found before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::java::class_file::ClassFile;
    use crate::instrument::java::code::JavaInstruction;
    use crate::instrument::java::tests::class_of;

    /// The statements that need a site, of code whose statements begin at these instructions. `arraylength` may throw.
    #[track_caller]
    fn check(code: &[u8], lines: &[u32], before: &[usize], expected: &[usize]) {
        let bytes = class_of(code);
        let class = ClassFile::read(&bytes).unwrap();
        let mut code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
        code.lines = lines.iter().map(|begin| (*begin, 1)).collect();
        let n = code.instructions.len();
        let is_before: Vec<bool> = (0..n).map(|number| before.contains(&number)).collect();
        let is_length = |instruction: &JavaInstruction| instruction.operation == Operation::Length;
        let is_throwing: Vec<bool> = code.instructions.iter().map(is_length).collect();
        let known = KnownInstructions { before: &is_before, behind: &vec![false; n], throwing: &is_throwing };
        let needed = statements(&code, &known);
        let needed: Vec<usize> = (0..n).filter(|number| needed[*number]).collect();
        assert_eq!(needed, expected);
    }

    #[test]
    fn a_statement_needs_a_site_behind_one_that_may_throw() {
        // `null.length`; nothing; `null.length`, a statement within it, its end; return.
        let straight = [1, 190, 87, 0, 1, 190, 87, 177];
        check(&straight, &[0, 3, 4, 7], &[], &[3, 7]);
        check(&straight, &[0, 3, 4, 7], &[3], &[7]);
        check(&straight, &[0], &[], &[]);
    }

    #[test]
    fn a_statement_needs_a_site_where_a_jump_leads_from_one_that_may_throw() {
        // 0: goto 3; 1: nothing; 2: return; 3: null; 4: length; 5: pop; 6: goto 1.
        let jumps = [167, 0, 5, 0, 177, 1, 190, 87, 167, 255, 251];
        check(&jumps, &[0], &[], &[1]);
        check(&jumps, &[0, 2, 3], &[], &[1]);
        check(&jumps, &[0, 2, 3], &[1], &[]);
    }
}
