//! Measures the time of a search with many workers, in simulated time.

use crate::drive::{Engine, ProbeRunner, RunnerReply, drive};
use crate::finding::Conclusion;
use crate::testing::{Files, MemoryTrees, order};
use crate::{EngineState, Event, History, Probe};
use idd_base::{CommitId, Outcome, Revision, TreeId};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

const N_REVISIONS: usize = 1024;

fn id(position: usize) -> CommitId {
    let mut bytes = [1; 20];
    bytes[..8].copy_from_slice(&(position as u64).to_be_bytes());
    CommitId::sha1(bytes)
}

/// Simulated workers: the time of a probe depends on its position in history. Excess probes are cancelled at once.
struct Workers {
    n: usize,
    /// The position of a tree in history.
    positions: HashMap<TreeId, usize>,
    culprit: usize,
    clock: f64,
    /// The running probes, with their end times.
    running: Vec<(Probe, f64)>,
    known: HashMap<Probe, Outcome>,
    n_starts: usize,
    is_found: bool,
}

impl Workers {
    /// Mean 1, standard deviation 0.5, the same for the same probe; the ends are known from the beginning.
    fn duration(&self, probe: &Probe) -> f64 {
        let position = self.positions[&probe.tree];
        if position == 0 || position == N_REVISIONS {
            return 0.0;
        }
        let mixed = ((position + 7 * self.culprit) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
        let share = mixed as f64 / f64::from(1 << 24);
        let half_width = 0.75_f64.sqrt();
        1.0 + half_width * (2.0 * share - 1.0)
    }
}

impl ProbeRunner for Workers {
    type Error = Infallible;

    fn width(&self) -> usize {
        self.n
    }

    fn answer(&mut self, probes: &[Probe]) -> Result<RunnerReply, Infallible> {
        if self.is_found {
            return Ok(RunnerReply::Stop(Conclusion::Budget));
        }
        let n_known = probes.iter().take_while(|probe| self.known.contains_key(*probe)).count();
        if n_known > 0 {
            return Ok(RunnerReply::Outcomes(probes[..n_known].iter().map(|probe| self.known[probe]).collect()));
        }
        let overheard = probes.iter().filter_map(|probe| Some((*probe, *self.known.get(probe)?)));
        let overheard: Vec<(Probe, Outcome)> = overheard.collect();
        if !overheard.is_empty() {
            return Ok(RunnerReply::Overheard(overheard));
        }
        for probe in probes {
            if self.running.iter().all(|(running, _)| running != probe) {
                if self.running.len() == self.n {
                    let unwanted = self.running.iter().position(|(running, _)| !probes.contains(running));
                    let Some(unwanted) = unwanted else { break };
                    self.running.swap_remove(unwanted);
                }
                self.running.push((*probe, self.clock + self.duration(probe)));
                self.n_starts += 1;
            }
        }
        let first = (0..self.running.len()).min_by(|a, b| self.running[*a].1.total_cmp(&self.running[*b].1));
        let (probe, end) = self.running.swap_remove(first.expect("the first probe is under way"));
        self.clock = end;
        let outcome = if self.positions[&probe.tree] >= self.culprit { Outcome::Fail } else { Outcome::Pass };
        self.known.insert(probe, outcome);
        self.answer(probes)
    }

    fn used(&mut self, _: &[Probe], _: &[Outcome]) -> Result<(), Infallible> {
        Ok(())
    }

    fn tell(&mut self, events: &[Event]) {
        self.is_found |= events.iter().any(|event| matches!(event, Event::Culprit { .. }));
    }
}

/// Mean time of a search, in tests, and mean number of started tests.
fn searched(n_workers: usize) -> (f64, f64) {
    let trees = MemoryTrees::default();
    let files = |position: usize| Files::from([(b"n".to_vec(), position.to_string().into_bytes())]);
    let revisions: Vec<Revision> = (0..=N_REVISIONS)
        .rev()
        .map(|position| Revision {
            id: id(position),
            parents: if position == 0 { Vec::new() } else { vec![id(position - 1)] },
            tree: trees.add(files(position)),
            author: "a".to_owned(),
            author_time: (0, 0),
            commit_time: 86_400 * i64::try_from(position).expect("there are few"),
            subject: String::new(),
        })
        .collect();
    let positions: HashMap<TreeId, usize> =
        revisions.iter().rev().enumerate().map(|(position, revision)| (revision.tree, position)).collect();
    let history = History::new(revisions, HashSet::new());
    let order = order(id(N_REVISIONS), vec![id(0)]);
    let culprits: Vec<usize> = (1..=N_REVISIONS).step_by(29).collect();
    let (mut time, mut n_starts) = (0.0, 0.0);
    for culprit in &culprits {
        let mut workers = Workers {
            n: n_workers,
            positions: positions.clone(),
            culprit: *culprit,
            clock: 0.0,
            running: Vec::new(),
            known: HashMap::new(),
            n_starts: 0,
            is_found: false,
        };
        let state = EngineState::new(order.bad);
        let Ok(_) = drive(Engine::Hunt, &trees, &history, &order, &mut workers, &state);
        assert_eq!(state.borrow().finding.first_bad, Some(id(*culprit)));
        time += workers.clock;
        n_starts += f64::from(u32::try_from(workers.n_starts).expect("there are few"));
    }
    let n = f64::from(u32::try_from(culprits.len()).expect("there are few"));
    (time / n, n_starts / n)
}

/// A search with k workers needs at least log n / log (k + 1) tests one after the other.
#[test]
fn a_search_comes_near_what_any_number_of_workers_can_do() {
    let mut table = String::new();
    for n_workers in [1, 2, 4, 8, 16, 64] {
        let (time, n_starts) = searched(n_workers);
        let bound = f64::from(u32::try_from(N_REVISIONS).expect("it is small")).ln()
            / f64::from(u32::try_from(n_workers + 1).expect("it is small")).ln();
        let ratio = time / bound;
        let line = format!(
            "{n_workers:2} workers: {time:5.2} tests after each other, {n_starts:5.1} begun, {ratio:.2} of the bound\n"
        );
        table.push_str(&line);
    }
    insta::assert_snapshot!(table, @r"
     1 workers:  9.88 tests after each other,  11.2 begun, 0.99 of the bound
     2 workers:  6.78 tests after each other,  16.8 begun, 1.07 of the bound
     4 workers:  4.60 tests after each other,  25.4 begun, 1.07 of the bound
     8 workers:  3.52 tests after each other,  42.8 begun, 1.12 of the bound
    16 workers:  2.78 tests after each other,  73.7 begun, 1.14 of the bound
    64 workers:  1.92 tests after each other, 323.5 begun, 1.15 of the bound
    ");
}
