//! What follows what inside a function, and what decides what.
//!
//! Source of both algorithms: dominators by Cooper, Harvey and Kennedy 2001; control dependence by Ferrante, Ottenstein
//! and Warren 1987. Deviation: a block from which the function cannot end (an endless loop) is given an edge to the
//! end, the last such block in the order of the text first, so that every block has a post-dominator.

/// A block of one function, by its number in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// The flow graph of a function, by the numbers of its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Where each block may go on, in the order of the instruction; each block once.
    pub successors: Vec<Vec<BlockId>>,
    /// The closest block that every way from here to the end goes through; `None` if that is the end itself.
    pub post_dominator: Vec<Option<BlockId>>,
    /// The closest block that every way from the entry to here goes through; `None` for the entry and for what is never
    /// reached.
    pub dominator: Vec<Option<BlockId>>,
    /// The blocks whose decisions say directly whether this block runs, with the successor that they have to choose;
    /// ascending.
    pub control_dependence: Vec<Vec<(BlockId, BlockId)>>,
    /// Whether the block is the head of a loop: a block that it dominates goes back to it.
    pub is_loop_head: Vec<bool>,
    /// For the head of a loop the blocks that go back to it.
    pub goes_back: Vec<Vec<BlockId>>,
}

impl Flow {
    /// The flow graph with these ways from block to block; block 0 is the entry.
    pub fn of(successors: Vec<Vec<BlockId>>) -> Self {
        let n = successors.len();
        let forward: Vec<Vec<usize>> =
            successors.iter().map(|blocks| blocks.iter().map(|block| block.0 as usize).collect()).collect();
        let dominator = closest_dominators(&forward, 0);
        // The graph backwards, from a block behind all ends.
        let end = n;
        let mut backward = vec![Vec::new(); n + 1];
        for (from, blocks) in forward.iter().enumerate() {
            for to in blocks {
                backward[*to].push(from);
            }
            if blocks.is_empty() {
                backward[end].push(from);
            }
        }
        loop {
            let reached = reachable(&backward, end);
            let Some(stuck) = (0..n).rev().find(|block| !reached[*block]) else { break };
            backward[end].push(stuck);
        }
        let post = closest_dominators(&backward, end);
        let id = |block: usize| BlockId(u32::try_from(block).expect("blocks are numbered by u32"));
        let mut control_dependence = vec![Vec::new(); n];
        for (from, blocks) in forward.iter().enumerate().filter(|(_, blocks)| blocks.len() > 1) {
            for to in blocks {
                let mut block = *to;
                while Some(block) != post[from] && block != end {
                    control_dependence[block].push((id(from), id(*to)));
                    let Some(next) = post[block] else { break };
                    block = next;
                }
            }
        }
        for dependence in &mut control_dependence {
            dependence.sort_unstable();
            dependence.dedup();
        }
        let mut goes_back = vec![Vec::new(); n];
        for (from, blocks) in forward.iter().enumerate() {
            for to in blocks {
                if dominates(&dominator, *to, from) {
                    goes_back[*to].push(id(from));
                }
            }
        }
        let is_loop_head = goes_back.iter().map(|blocks| !blocks.is_empty()).collect();
        let post_dominator = post[..n].iter().map(|block| block.filter(|block| *block != end).map(id)).collect();
        let dominator = dominator.into_iter().map(|block| block.map(id)).collect();
        Self { successors, post_dominator, dominator, control_dependence, is_loop_head, goes_back }
    }

    /// Whether every way from `block` to the end goes through `after`, which is another block.
    pub fn is_after(&self, block: BlockId, after: BlockId) -> bool {
        std::iter::successors(self.post_dominator[block.0 as usize], |at| self.post_dominator[at.0 as usize])
            .any(|found| found == after)
    }

    /// The closest block after `one` that every way from it, and from `other`, to the end goes through; `None` if that is the end.
    pub fn meeting(&self, one: BlockId, other: BlockId) -> Option<BlockId> {
        std::iter::successors(self.post_dominator[one.0 as usize], |at| self.post_dominator[at.0 as usize])
            .find(|found| *found == other || self.is_after(other, *found))
    }

    /// The heads of the loops around each block, the outermost first.
    pub fn loops(&self) -> Vec<Vec<BlockId>> {
        let n = self.successors.len();
        let mut around: Vec<Vec<(usize, BlockId)>> = vec![Vec::new(); n];
        let mut before = vec![Vec::new(); n];
        for (from, blocks) in self.successors.iter().enumerate() {
            for to in blocks {
                before[to.0 as usize].push(from);
            }
        }
        let dominates = |above: usize, block: usize| {
            let mut at = Some(block);
            while let Some(block) = at {
                if block == above {
                    return true;
                }
                at = self.dominator[block].map(|block| block.0 as usize);
            }
            false
        };
        for head in (0..n).filter(|head| self.is_loop_head[*head]) {
            let mut is_inside = vec![false; n];
            is_inside[head] = true;
            let mut open: Vec<usize> = before[head].iter().copied().filter(|from| dominates(head, *from)).collect();
            while let Some(block) = open.pop() {
                if !std::mem::replace(&mut is_inside[block], true) {
                    open.extend(&before[block]);
                }
            }
            let size = is_inside.iter().filter(|inside| **inside).count();
            let id = BlockId(u32::try_from(head).expect("blocks are numbered by u32"));
            for block in (0..n).filter(|block| is_inside[*block]) {
                around[block].push((size, id));
            }
        }
        let sorted = |mut heads: Vec<(usize, BlockId)>| {
            heads.sort_by(|(one, _), (other, _)| other.cmp(one));
            heads.into_iter().map(|(_, head)| head).collect()
        };
        around.into_iter().map(sorted).collect()
    }
}

fn reachable(graph: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; graph.len()];
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut reached[block], true) {
            open.extend(&graph[block]);
        }
    }
    reached
}

/// Whether every way to `block` goes through `above`.
fn dominates(dominator: &[Option<usize>], above: usize, block: usize) -> bool {
    let mut at = Some(block);
    while let Some(block) = at {
        if block == above {
            return true;
        }
        at = dominator[block];
    }
    false
}

/// For each node the closest one that every way from `root` goes through; `None` for the root and what it does not
/// reach.
fn closest_dominators(graph: &[Vec<usize>], root: usize) -> Vec<Option<usize>> {
    // Reverse post-order, without recursion.
    let mut order = Vec::new();
    let mut seen = vec![false; graph.len()];
    let mut open = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = open.last_mut() {
        if let Some(to) = graph[*node].get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[*to], true) {
                open.push((*to, 0));
            }
        } else {
            order.push(*node);
            open.pop();
        }
    }
    order.reverse();
    let mut rank = vec![usize::MAX; graph.len()];
    for (index, node) in order.iter().enumerate() {
        rank[*node] = index;
    }
    let mut before = vec![Vec::new(); graph.len()];
    for (from, nodes) in graph.iter().enumerate().filter(|(from, _)| seen[*from]) {
        for to in nodes {
            before[*to].push(from);
        }
    }
    let mut closest: Vec<Option<usize>> = vec![None; graph.len()];
    closest[root] = Some(root);
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for node in order.iter().skip(1) {
            let mut found: Option<usize> = None;
            for from in before[*node].iter().filter(|from| closest[**from].is_some()) {
                found = Some(found.map_or(*from, |other| meet(&closest, &rank, other, *from)));
            }
            if found != closest[*node] {
                closest[*node] = found;
                is_changed = true;
            }
        }
    }
    closest[root] = None;
    closest
}

fn meet(closest: &[Option<usize>], rank: &[usize], one: usize, other: usize) -> usize {
    let (mut one, mut other) = (one, other);
    while one != other {
        // The root is its own closest dominator here, and has the lowest rank, so that both arrive there at last.
        if rank[one] > rank[other] {
            one = closest[one].unwrap_or(other);
        } else {
            other = closest[other].unwrap_or(one);
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(edges: &[&[u32]]) -> Flow {
        Flow::of(edges.iter().map(|blocks| blocks.iter().map(|block| BlockId(*block)).collect()).collect())
    }

    #[test]
    fn a_loop_with_a_branch_in_it_depends_on_both() {
        // 0 -> 1 (head) -> 2 or 5; 2 -> 3 or 4; 3 -> 4; 4 -> 1; 5 ends.
        let flow = graph(&[&[1], &[2, 5], &[3, 4], &[4], &[1], &[]]);
        assert_eq!(flow.is_loop_head, [false, true, false, false, false, false]);
        assert_eq!(flow.post_dominator[2], Some(BlockId(4)));
        assert_eq!(flow.post_dominator[1], Some(BlockId(5)));
        assert_eq!(flow.control_dependence[3], [(BlockId(2), BlockId(3))]);
        assert_eq!(flow.control_dependence[4], [(BlockId(1), BlockId(2))]);
        assert_eq!(flow.control_dependence[1], [(BlockId(1), BlockId(2))]);
        assert_eq!(flow.control_dependence[5], []);
    }

    #[test]
    fn an_endless_loop_has_post_dominators() {
        let flow = graph(&[&[1, 3], &[2], &[1], &[]]);
        assert_eq!(flow.post_dominator[1], Some(BlockId(2)));
        assert_eq!(flow.control_dependence[1], [(BlockId(0), BlockId(1))]);
    }

    /// Whether all ways from `from` to an end go through `through`, by leaving it out.
    fn is_on_all_ways(edges: &[Vec<usize>], from: usize, through: usize) -> bool {
        let mut cut = edges.to_vec();
        cut[through] = vec![through];
        from == through
            || !(0..edges.len()).any(|end| edges[end].is_empty() && end != through && reachable(&cut, from)[end])
    }

    proptest! {
        #[test]
        fn dominators_agree_with_leaving_blocks_out(edges in proptest::collection::vec(proptest::collection::vec(0..9_usize, 0..3), 9)) {
            let blocks = |blocks: &Vec<usize>| blocks.iter().map(|block| BlockId(u32::try_from(*block).unwrap())).collect();
            let flow = Flow::of(edges.iter().map(blocks).collect());
            let can_end = |from: usize| (0..9).any(|end| edges[end].is_empty() && reachable(&edges, from)[end]);
            for block in 0..9 {
                if reachable(&edges, 0)[block] {
                    let mut above = Vec::new();
                    let mut at = flow.dominator[block];
                    while let Some(found) = at {
                        above.push(found.0 as usize);
                        at = flow.dominator[found.0 as usize];
                    }
                    for other in (0..9).filter(|other| *other != block) {
                        let mut cut = edges.clone();
                        cut[other] = Vec::new();
                        let is_above = other == 0 || !reachable(&cut, 0)[block];
                        prop_assert_eq!(above.contains(&other), is_above && reachable(&edges, 0)[other]);
                    }
                }
                // Where an endless loop can be reached, the rule about those decides.
                if (0..9).all(|to| !reachable(&edges, block)[to] || can_end(to)) {
                    let mut behind = Vec::new();
                    let mut at = flow.post_dominator[block];
                    while let Some(found) = at {
                        behind.push(found.0 as usize);
                        at = flow.post_dominator[found.0 as usize];
                    }
                    for other in (0..9).filter(|other| *other != block) {
                        prop_assert_eq!(behind.contains(&other), is_on_all_ways(&edges, block, other));
                    }
                }
            }
        }
    }
}
