//! Where the commands of a hunt see the checkout, and what depends on it.

use crate::plan::Plan;
use crate::runner::{Runner, RunnerError};
use idd_base::Observation;
use idd_hunt::Probe;
use idd_world::place::surroundings::Surroundings;
use idd_world::process::executions::PathUse;
use idd_world::repo::{HeldFiles, locate};
use idd_world::run::sandbox::Commands;
use idd_world::{compiler, files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Programs whose work is done by a process that was started before, outside of the place.
const CLIENTS: [&str; 6] = ["docker", "docker-compose", "podman-remote", "bazel", "bazelisk", "systemd-run"];

/// Programs that build others.
const BUILDERS: [&str; 9] = ["make", "gmake", "ninja", "samu", "cmake", "meson", "cargo", "rustc", "go"];

/// The paths that commands have used.
#[derive(Debug, Default)]
pub struct RecordedUses {
    /// Those in checkouts, relative to the top.
    pub inside: BTreeMap<PathBuf, PathUse>,
    /// All others: absolute paths.
    pub outside: BTreeMap<PathBuf, PathUse>,
}

impl RecordedUses {
    /// The paths in checkouts that a command looks at or reads before one makes or changes them.
    pub fn read_inside(&self) -> BTreeSet<PathBuf> {
        read(&self.inside)
    }

    /// The other paths that a command looks at or reads before one makes or changes them.
    pub fn read_outside(&self) -> BTreeSet<PathBuf> {
        read(&self.outside)
    }
}

fn read(uses: &BTreeMap<PathBuf, PathUse>) -> BTreeSet<PathBuf> {
    uses.iter().filter(|(_, seen)| seen.is_read()).map(|(path, _)| path.clone()).collect()
}

impl Runner<'_> {
    /// Sets where the commands see the checkout from now on, and what else they see there.
    pub fn stand(&mut self, surroundings: Surroundings) {
        let commands = Commands { surroundings, ..(*self.commands).clone() };
        let plan = self.plan_with(&commands);
        self.answers.fetch_digest = plan.fetch_plan().map(|plan| plan.digest());
        self.checks.precheck.iter_mut().for_each(|checking| checking.stand(&plan.probe_plan()));
        (self.answers.plan_digest, self.commands) = (self.answers.digest(&plan), Arc::new(commands));
    }

    /// Looks from now on whether tests read tracked files of these working trees.
    pub fn watch_files_below(&mut self, tops: Vec<PathBuf>) {
        let executions = self.answers.observations().executions().filter(|_| !tops.is_empty());
        self.user.can_leak = executions.is_some();
        if let Some(executions) = executions {
            let git = files::real(&self.location.common_directory);
            let spared = [files::real(&self.root), git].into_iter().flatten().collect();
            executions.watch_files_below(tops, spared);
        }
    }

    /// Records from now on which paths commands use.
    pub fn record_uses(&self) {
        self.answers.observations().executions().iter().for_each(|executions| executions.record_uses());
    }

    /// The paths that commands have used since [`record_uses`](Self::record_uses); none if some may be missing. They need not
    /// exist.
    pub fn take_uses(&self) -> RecordedUses {
        let recorded = self.recorded_uses();
        let executions = self.answers.observations().executions();
        let is_whole = executions.is_some_and(|executions| !executions.has_gaps());
        if is_whole { recorded } else { RecordedUses::default() }
    }

    fn recorded_uses(&self) -> RecordedUses {
        let executions = self.answers.observations().executions();
        let uses = executions.map(|executions| executions.take_uses()).unwrap_or_default();
        let tops = self.location.top.iter().flat_map(|top| [Some(top.clone()), files::real(top)]).flatten();
        // Checkouts can be below the top.
        let tops: Vec<PathBuf> = self.checkouts().into_iter().chain(tops).collect();
        let mut recorded = RecordedUses::default();
        for (path, seen) in uses {
            match tops.iter().find_map(|top| path.strip_prefix(top).ok()) {
                Some(relative) => drop(recorded.inside.insert(relative.to_owned(), seen)),
                None => drop(recorded.outside.insert(path, seen)),
            }
        }
        recorded
    }

    /// Whether a command has executed a program that builds others; `None` if no command was watched, as in a resumed hunt
    /// whose runs are known.
    pub fn has_built(&self) -> Option<bool> {
        let programs = self.answers.observations().executions()?.programs();
        let mut names = programs.iter().filter_map(|program| program.file_name()?.to_str());
        let is_builder = |name: &str| compiler::is_known(name) || BUILDERS.contains(&name);
        (!programs.is_empty()).then(|| names.any(is_builder))
    }

    /// Gives up the place if a command has executed a program that lets another process work, which does not see it; returns
    /// the name of this program.
    pub fn leave_place(&mut self) -> Option<&'static str> {
        let surroundings = self.surroundings().clone();
        let name = surroundings.place.as_ref().and_then(|_| self.answers.observations().executed(&CLIENTS))?;
        self.stand(Surroundings { place: None, caches: Vec::new(), ..surroundings });
        self.watch_files_below(locate::tops(&self.location));
        Some(name)
    }

    /// Where the commands see the checkout.
    pub fn surroundings(&self) -> &Surroundings {
        &self.commands.surroundings
    }

    /// Observes a tree with an empty directory as HOME, in this hunt if the probe names a run. `None` if interrupted or out
    /// of budget.
    pub fn observe_without_home(&mut self, probe: Probe) -> Result<Option<Observation>, RunnerError> {
        let commands = Commands { is_home_isolated: true, ..(*self.commands).clone() };
        self.observe_commands(commands, self.judging.times.limits.test, probe)
    }

    /// The files outside of the working tree and of checkouts that commands have used since
    /// [`record_uses`](Self::record_uses) before they made or changed them.
    pub fn take_uses_outside(&self) -> Vec<PathBuf> {
        let own = [&self.root, &self.location.common_directory];
        let own: Vec<PathBuf> =
            own.into_iter().flat_map(|path| [files::real(path), Some(path.clone())]).flatten().collect();
        let is_outside = |path: &PathBuf| !own.iter().any(|own| path.starts_with(own)) && path.is_file();
        self.recorded_uses().read_outside().into_iter().filter(is_outside).collect()
    }

    /// The plan with other commands.
    pub(super) fn plan_with(&self, commands: &Commands) -> Plan {
        Plan { commands: commands.clone(), ..self.plan.clone() }
    }

    /// Compares the products of builds, beside these held files, from now on; or none.
    pub fn compare_products(&mut self, held: Option<&HeldFiles>) {
        let plan = held.and_then(|held| self.plan_with(&self.commands).product_plan(held));
        self.answers.product_digest = plan.map(|plan| plan.digest());
    }
}
