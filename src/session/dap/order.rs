//! The stored recordings of a worktree, for a debugger.

use crate::dap::recordings::{Opened, RecordedFile, Recordings, WalkBegin, complaint};
use crate::debug::{DebugOrder, DebugWalk, answer_lines, begin};
use crate::recorded::ProcessChoice;
use crate::recorded::order::RecordOrder;
use crate::slice::criterion::Criterion;
use crate::sources::RecordedSources;
use crate::{Context, Failure, Talk, record, recorded};
use idd_world::answers::Answers;
use idd_world::files;
use idd_world::repo::Location;

/// The recordings of a worktree.
pub struct StoredRecordings<'s> {
    /// The worktree.
    pub location: &'s Location,
    /// The environment in which a test is recorded.
    pub context: &'s Context,
    /// Reads a criterion as it is typed.
    pub criterion: fn(&str) -> Result<Criterion, String>,
}

impl Recordings for StoredRecordings<'_> {
    /// A file that is the same in the working tree is named there, so that an editor shows that.
    fn open(&mut self, which: &ProcessChoice) -> Result<Opened, Failure> {
        let recorded = recorded::open(which, self.location)?;
        let end = recorded.traced().end;
        let sources = RecordedSources::new(self.location, &recorded.recording);
        let top = self.location.top.clone();
        let find = move |name: &str| {
            let (path, content) = sources.find(name)?;
            let on_disk = top.as_ref().map(|top| top.join(&path));
            let on_disk = on_disk.filter(|file| files::bytes(file).is_ok_and(|bytes| bytes == content));
            Some(RecordedFile {
                path,
                on_disk: on_disk.map(|file| file.to_string_lossy().into_owned()),
                content: String::from_utf8_lossy(&content).into_owned(),
            })
        };
        let which = ProcessChoice { recording: Some(recorded.name), process: Some(recorded.process) };
        Ok(Opened { which, run: recorded.run, end, sources: Box::new(find) })
    }

    fn record(&mut self, order: &RecordOrder, talk: &mut dyn Talk) -> Result<ProcessChoice, Failure> {
        let (name, _) = record::run(order, self.location, self.context, talk)?;
        Ok(ProcessChoice { recording: Some(name), process: None })
    }

    fn walk(&mut self, which: &ProcessChoice, begin: &WalkBegin) -> Result<(DebugWalk, Option<Answers>), Failure> {
        let from = begin.from.as_deref().map(|text| (self.criterion)(text).map_err(complaint)).transpose()?;
        let order = DebugOrder {
            which: which.clone(),
            expected: begin.expected.clone(),
            from,
            is_restarted: begin.is_restarted,
            ..DebugOrder::default()
        };
        let (walk, _, kept) = begin::of_recording(&order, self.location)?;
        Ok((walk, Some(answer_lines::open(&kept, begin.is_restarted)?)))
    }
}
