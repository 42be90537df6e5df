//! The context of the process: directory, environment, configuration.

use crate::{Failure, Interrupt};
use idd_world::repo::locate;
use idd_world::run::executor::Around;
use idd_world::run::kept_executor::KeptExecutor;
use idd_world::run::toolchain;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The context of this process.
#[derive(Debug, Clone)]
pub struct Context {
    /// The current directory.
    pub directory: PathBuf,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Keys and values of the user's configuration.
    pub configuration: Vec<(String, String)>,
    /// The flag that stops a recording or an explanation in this context; `None` if signals to the process stop it.
    pub interrupt: Option<Interrupt>,
    /// The workers that hunts in this context use one after the other; `None` if each hunt has its own.
    pub kept_executor: Option<KeptExecutor>,
    /// The parts that another program replaces.
    pub embedding: Embedding,
}

/// The parts that a program which uses the library puts in place of those of `git-idd`.
#[derive(Debug, Clone, Default)]
pub struct Embedding {
    /// The `git-idd` that stands in for compilers while a hunt watches a build; `None` for the program of this process,
    /// which must be `git-idd` then.
    pub program: Option<PathBuf>,
    /// What the executor of each hunt is put into; `None` if the hunt uses it as it is.
    pub around: Option<Arc<dyn Around>>,
}

impl Context {
    /// Takes the environment of the process; the current directory is that of its start.
    ///
    /// The directory that `git` adds to the front of `PATH` is removed, so `git idd` and `git-idd` have the same
    /// `PATH`.
    pub fn new(mut environment: Vec<(OsString, OsString)>) -> Result<Self, Failure> {
        for (_, path) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
            let rest = std::env::split_paths(path).skip_while(|directory| directory.ends_with("git-core"));
            // Parts of a split path can be joined.
            *path = std::env::join_paths(rest).unwrap_or_else(|_| path.clone());
        }
        let directory = std::env::current_dir()?;
        Ok(Self {
            directory,
            environment,
            configuration: Vec::new(),
            interrupt: None,
            kept_executor: None,
            embedding: Embedding::default(),
        })
    }

    /// Reads the part of git's configuration that this program uses. Cost: one run of git.
    #[must_use]
    pub fn with_configuration(self) -> Self {
        let configuration = locate::configuration(&self.directory, &self.environment);
        Self { configuration, ..self }
    }

    /// The flag that stops what is done in this context. If it has none, the handlers of signals are installed; they end
    /// the program if its work goes on.
    pub fn interrupt(&self) -> Result<Interrupt, Failure> {
        self.interrupt.clone().map_or_else(Interrupt::register_ending, Ok)
    }

    /// All values of a configuration key.
    pub fn configured<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.configuration
            .iter()
            .filter(move |(name, _)| name.eq_ignore_ascii_case(key))
            .map(|(_, value)| value.as_str())
    }

    /// The value of an environment variable.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        toolchain::variable(&self.environment, name)
    }
}
