//! Hunts that are answered from records: what the probes of a story showed once, by tree and plan.
//!
//! [`Recorder`] puts the executor of a hunt into a [`Recorded`] one. A probe that the [`record`](Record) has is
//! answered from there. Each other one runs, and is noted. The record of a hunt is a text file beside its story, see
//! [`record`]. [`asked`] has everything that the result of a probe depends on; [`tools`] has the programs that it
//! executed.
//!
//! The result of a probe in a worktree that earlier builds have used also depends on these builds. The record assumes
//! that it does not; where it does, the story is hunted in live (see `stories.rs`).

pub mod asked;
pub mod hunt;
pub mod record;
pub mod tools;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use idd_world::process::executions::ExecutedPrograms;
use idd_world::repo::ConversionNotice;
use idd_world::run::executor::{Around, Executor, PlaceResult, PlacedJob, Wish};
use idd_world::run::sandbox::{Probed, SandboxError};

use crate::recorded::asked::{Asked, Places};
use crate::recorded::record::{Record, Seen};

/// What became of the probes of a hunt.
#[derive(Debug, Default)]
struct Book {
    /// The known probes.
    known: Record,
    /// The probes that were answered from there.
    used: BTreeSet<Asked>,
    /// The probes that ran.
    ran: Record,
    /// Why the hunt cannot be recorded.
    obstacles: BTreeSet<String>,
    executions: Option<Arc<ExecutedPrograms>>,
}

/// Answers the probes of one hunt from a record, and records those that it does not have.
#[derive(Debug, Clone)]
pub struct Recorder {
    places: Arc<Places>,
    book: Arc<Mutex<Book>>,
}

impl Recorder {
    /// - `known`: the probes that do not run. If it is empty, all run.
    pub fn new(known: Record, places: Places) -> Self {
        Self { places: Arc::new(places), book: Arc::new(Mutex::new(Book { known, ..Book::default() })) }
    }

    /// The probes that ran.
    pub fn ran(&self) -> Record {
        self.book().ran.clone()
    }

    /// The known probes that were not asked for.
    pub fn unused(&self) -> Vec<Asked> {
        let book = self.book();
        book.known.asked().filter(|asked| !book.used.contains(asked)).cloned().collect()
    }

    /// Why the record would not be the whole truth, in words; empty if it is.
    pub fn obstacles(&self) -> Vec<String> {
        let book = self.book();
        let has_gaps = book.executions.as_ref().is_none_or(|executions| executions.has_gaps());
        let gaps = (has_gaps && !book.ran.is_empty()).then(|| "executed programs could not be seen".to_owned());
        book.obstacles.iter().cloned().chain(gaps).collect()
    }

    /// The programs that the commands of the hunt executed.
    pub fn programs(&self) -> BTreeSet<PathBuf> {
        self.book().executions.as_ref().map(|executions| executions.programs()).unwrap_or_default()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }
}

impl Around for Recorder {
    fn around(&self, executor: Box<dyn Executor>) -> Box<dyn Executor> {
        Box::new(Recorded {
            inner: executor,
            recorder: self.clone(),
            n_asked: HashMap::new(),
            under_way: Vec::new(),
            done: VecDeque::new(),
            is_spoiled: false,
        })
    }
}

/// A place that is reserved or in use, in numbers of this executor.
struct UnderWay {
    place: usize,
    wish: Wish,
    /// The running probe, and its place in numbers of the executor inside.
    runs: Option<(usize, Asked)>,
}

/// An executor that knows the results of probes.
struct Recorded {
    inner: Box<dyn Executor>,
    recorder: Recorder,
    /// How often each probe was asked for.
    n_asked: HashMap<Asked, u32>,
    under_way: Vec<UnderWay>,
    /// The answers from the record that were not taken yet.
    done: VecDeque<PlaceResult>,
    /// Whether products of builds must not be used: the next probe begins from nothing.
    is_spoiled: bool,
}

impl Recorded {
    /// Runs a probe that is not known.
    fn run(&mut self, place: usize, placed_job: PlacedJob, asked: Asked) {
        if let Some(executions) = placed_job.watch.executions() {
            self.recorder.book().executions = Some(executions);
        }
        let under_way = self.under_way.iter_mut().find(|it| it.place == place).expect("a reserved place");
        match self.inner.reserve(under_way.wish) {
            Ok(inner_place) => {
                let inner_place = inner_place.expect("as many places as here");
                under_way.runs = Some((inner_place, asked));
                self.inner.start(inner_place, placed_job);
            }
            Err(error) => self.done.push_back(PlaceResult { place, result: Err(error) }),
        }
    }

    /// Records a probe that ran; returns what the record will answer.
    fn recorded(&self, asked: &Asked, ran: Probed) -> Probed {
        let Recorder { places, book } = &self.recorder;
        let mut book = book.lock().unwrap();
        if ran.artifact.is_some() {
            book.obstacles.insert("an artifact was put into the checkout".to_owned());
        }
        book.ran.add(asked.clone(), Seen::of(&ran, places));
        let answer = book.ran.probed(asked, ran.observation.limit, places).expect("it was added");
        if answer.observation.output != ran.observation.output {
            book.obstacles.insert("an output has what stands for a directory in records".to_owned());
        }
        Probed { artifact: ran.artifact, ..answer }
    }
}

impl Executor for Recorded {
    fn programs(&self) -> Option<[u8; 32]> {
        self.inner.programs()
    }

    fn usual_width(&self) -> usize {
        self.inner.usual_width()
    }

    fn reserve(&mut self, wish: Wish) -> Result<Option<usize>, SandboxError> {
        if self.under_way.len() >= wish.width {
            return Ok(None);
        }
        let is_free = |place: &usize| self.under_way.iter().all(|it| it.place != *place);
        let place = (0..wish.width).find(is_free).expect("fewer are in use");
        self.under_way.push(UnderWay { place, wish, runs: None });
        Ok(Some(place))
    }

    /// Unknown: commands run in a place of the executor inside, if they run.
    fn directory(&self, _: usize) -> Option<&Path> {
        None
    }

    fn start(&mut self, place: usize, mut placed_job: PlacedJob) {
        placed_job.job.is_clean |= mem::take(&mut self.is_spoiled);
        let first = Asked::of(&placed_job.job, &placed_job.commands, &self.recorder.places);
        let nth = self.n_asked.entry(first.clone()).or_default();
        *nth += 1;
        let asked = first.nth(*nth);
        let known = {
            let mut book = self.recorder.book();
            let known = book.known.probed(&asked, placed_job.job.limits.test, &self.recorder.places);
            if known.is_some() {
                book.used.insert(asked.clone());
            }
            known
        };
        let Some(probed) = known else { return self.run(place, placed_job, asked) };
        placed_job.watch.starting();
        let is_interrupted = placed_job.watch.is_interrupted();
        let probed = (!is_interrupted).then_some(probed);
        self.done.push_back(PlaceResult { place, result: Ok(probed) });
    }

    fn poll(&mut self, at_most: Duration) -> Option<PlaceResult> {
        let done = self.done.pop_front().or_else(|| {
            let PlaceResult { place: inner_place, result } = self.inner.poll(at_most)?;
            let is_its = |it: &UnderWay| it.runs.as_ref().is_some_and(|(place, _)| *place == inner_place);
            let under_way = self.under_way.iter_mut().find(|it| is_its(it)).expect("a probe that runs");
            let (_, asked) = under_way.runs.take().expect("a probe that runs");
            let place = under_way.place;
            let result = result.map(|probed| probed.map(|probed| self.recorded(&asked, probed)));
            Some(PlaceResult { place, result })
        })?;
        self.under_way.retain(|it| it.place != done.place);
        Some(done)
    }

    fn directories(&self) -> Vec<PathBuf> {
        self.inner.directories()
    }

    fn notices(&self) -> BTreeSet<ConversionNotice> {
        let notices = self.inner.notices();
        if !notices.is_empty() {
            self.recorder.book().obstacles.insert("the trees have unsupported attributes".to_owned());
        }
        notices
    }

    fn spoil(&mut self) {
        self.is_spoiled = true;
        self.inner.spoil();
    }

    fn dismiss(&mut self) -> bool {
        self.inner.dismiss()
    }
}

mod tests;
