//! A history reduced to its important revisions, with a position for each in a picture.

use std::collections::{BTreeSet, HashMap};

use idd_base::{CommitId, Revision};

/// A revision of the reduced history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineageNode {
    /// Its lane, from 0.
    pub lane: usize,
    /// Edges towards the root.
    pub edges: Vec<Edge>,
}

/// The edge from a node to an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The index of the older node.
    pub to: usize,
    /// The lane in which it runs.
    pub lane: usize,
    /// The number of omitted revisions on the way; if there are several ways, along first parents.
    pub n_between: u64,
}

/// The revisions of `wanted`, and the merges that join them, children before parents.
///
/// - `history`: children before parents; parents that are not in it count as missing.
/// - Result: index into `history`, and node. There is no edge between two nodes that are also connected by other edges.
///
/// Cost: time and space quadratic in the size of the result.
///
/// Source: the rules of `git log --simplify-merges`, with `wanted` for the commits that are not TREESAME.
pub fn cut_down(history: &[Revision], wanted: &BTreeSet<CommitId>) -> Vec<(usize, LineageNode)> {
    let mut kept: Vec<KeptRevisions> = Vec::new();
    let mut nearest: HashMap<CommitId, Vec<(usize, u64)>> = HashMap::new();
    for (index, revision) in history.iter().enumerate().rev() {
        let mut behind: Vec<(usize, u64)> = Vec::new();
        for (node, n_between) in revision.parents.iter().filter_map(|parent| nearest.get(parent)).flatten() {
            if behind.iter().all(|(known, _)| known != node) {
                behind.push((*node, *n_between));
            }
        }
        let is_needless = |node: usize| behind.iter().any(|(other, _)| *other != node && kept[*other].is_behind(node));
        let behind: Vec<(usize, u64)> = behind.iter().copied().filter(|(node, _)| !is_needless(*node)).collect();
        if wanted.contains(&revision.id) || behind.len() > 1 {
            let mut all_behind = vec![0_u64; kept.len() / 64 + 1];
            for (node, _) in &behind {
                all_behind[node / 64] |= 1 << (node % 64);
                for (word, more) in all_behind.iter_mut().zip(&kept[*node].all_behind) {
                    *word |= more;
                }
            }
            nearest.insert(revision.id, vec![(kept.len(), 0)]);
            kept.push(KeptRevisions { index, behind, all_behind });
        } else {
            let farther = behind.into_iter().map(|(node, n_between)| (node, n_between + 1)).collect();
            nearest.insert(revision.id, farther);
        }
    }
    let n_kept = kept.len();
    let newest_first = kept.into_iter().rev().map(|kept| {
        let edge = |(node, n_between): (usize, u64)| Edge { to: n_kept - 1 - node, lane: 0, n_between };
        (kept.index, LineageNode { lane: 0, edges: kept.behind.into_iter().map(edge).collect() })
    });
    let mut nodes: Vec<(usize, LineageNode)> = newest_first.collect();
    lay_out(&mut nodes);
    nodes
}

struct KeptRevisions {
    index: usize,
    behind: Vec<(usize, u64)>,
    /// A bit for each node that can be reached from it.
    all_behind: Vec<u64>,
}

impl KeptRevisions {
    fn is_behind(&self, node: usize) -> bool {
        self.all_behind.get(node / 64).is_some_and(|word| word >> (node % 64) & 1 == 1)
    }
}

/// Gives each node and each edge a lane: a first parent stays in the lane of its child.
fn lay_out(nodes: &mut [(usize, LineageNode)]) {
    /// For each lane the node that it leads to.
    type Lanes = Vec<Option<usize>>;
    fn free(lanes: &mut Lanes) -> usize {
        lanes.iter().position(Option::is_none).unwrap_or_else(|| {
            lanes.push(None);
            lanes.len() - 1
        })
    }
    let mut lanes = Lanes::new();
    for (index, (_, node)) in nodes.iter_mut().enumerate() {
        let lane = lanes.iter().position(|next| *next == Some(index)).unwrap_or_else(|| free(&mut lanes));
        for next in lanes.iter_mut().filter(|next| **next == Some(index)) {
            *next = None;
        }
        node.lane = lane;
        // The lane is reserved until its first parent takes it.
        lanes[lane] = Some(usize::MAX);
        for (nth, edge) in node.edges.iter_mut().enumerate() {
            let known = || lanes.iter().position(|next| *next == Some(edge.to));
            edge.lane = if nth == 0 { lane } else { known().unwrap_or_else(|| free(&mut lanes)) };
            lanes[edge.lane] = Some(edge.to);
        }
        if lanes[lane] == Some(usize::MAX) {
            lanes[lane] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idd_base::TreeId;

    fn id(letter: char) -> CommitId {
        CommitId::sha1([u8::try_from(letter).unwrap(); 20])
    }

    /// `"d:bc"` is a revision `d` with the parents `b` and `c`.
    fn history(text: &str) -> Vec<Revision> {
        let revision = |word: &str| {
            let (name, parents) = word.split_once(':').unwrap();
            Revision {
                id: id(name.chars().next().unwrap()),
                tree: TreeId::sha1([0; 20]),
                parents: parents.chars().map(id).collect(),
                author: String::new(),
                author_time: (0, 0),
                commit_time: 0,
                subject: name.to_owned(),
            }
        };
        text.split(' ').map(revision).collect()
    }

    #[track_caller]
    fn check(text: &str, wanted: &str, expected: &str) {
        let history = history(text);
        let nodes = cut_down(&history, &wanted.chars().map(id).collect());
        let name = |node: usize| history[nodes[node].0].subject.as_str();
        let shown = nodes.iter().enumerate().map(|(index, (_, node))| {
            let edges = node.edges.iter().map(|edge| format!("{}+{}/{}", name(edge.to), edge.n_between, edge.lane));
            format!("{}/{}:{}", name(index), node.lane, edges.collect::<Vec<_>>().join(","))
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn what_is_left_out_on_a_line_is_counted() {
        check("e:d d:c c:b b:a a:", "ea", "e/0:a+3/0 a/0:");
        check("e:d d:c c:b b:a a:", "d", "d/0:");
        check("a:", "", "");
    }

    #[test]
    fn a_merge_is_kept_if_both_sides_matter() {
        let text = "f:e e:dc d:b c:b b:a a:";
        check(text, "fdca", "f/0:e+0/0 e/0:d+0/0,c+0/1 d/0:a+1/0 c/1:a+1/1 a/0:");
        check(text, "fca", "f/0:c+1/0 c/0:a+1/0 a/0:");
        check(text, "fa", "f/0:a+3/0 a/0:");
    }

    #[test]
    fn parents_that_are_not_there_are_no_edges() {
        check("c:bx b:a", "cb", "c/0:b+0/0 b/0:");
    }
}
