//! Opens the stored recordings of a worktree for a debugger.

use crate::session::dap::Open;
use crate::session::dap::Opened;
use crate::session::dap::Source;
use crate::session::recorded;
use crate::session::sources::Sources;
use crate::world::files;
use crate::world::repo::locate::Location;

/// Opens recordings of a worktree. A file that is the same in the working tree is named there, so that an editor shows that.
pub fn opener(location: &Location) -> Open<'_> {
    Box::new(move |which| {
        let recorded = recorded::open(which, location)?;
        let end = recorded.traced().end;
        let sources = Sources::new(location, &recorded.recording);
        let top = location.top.clone();
        let find = move |name: &str| {
            let (path, content) = sources.find(name)?;
            let on_disk = top.as_ref().map(|top| top.join(&path));
            let on_disk = on_disk.filter(|file| files::bytes(file).is_ok_and(|bytes| bytes == content));
            Some(Source {
                path,
                on_disk: on_disk.map(|file| file.to_string_lossy().into_owned()),
                content: String::from_utf8_lossy(&content).into_owned(),
            })
        };
        Ok(Opened { player: recorded.player, end, sources: Box::new(find) })
    })
}
