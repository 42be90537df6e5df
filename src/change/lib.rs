//! The model of a change: the difference of two trees as units that can be applied one by one.
//!
//! A [`ChangeSet`] is made from [`FilePair`]s (the files that differ). It holds [`Unit`]s in source order (by file,
//! hunk, line), knows which unit needs which others ([`ChangeSet::close`]), and turns a [`Subset`] of them back into
//! files ([`ChangeSet::render`]). Nothing here knows repositories, processes or outcomes. Start reading at
//! [`ChangeSet`].
//!
//! [`syntax`] parses what the model divides. Two families of engines make things smaller, one question at a time:
//! [`reduce`] a change set, [`shrink`] the input of a failing test.

mod atoms;
mod balance;
mod counterpart;
mod declarations;
mod definitions;
mod divide;
mod file;
mod generated_files;
mod group;
mod heights;
mod keywords;
mod ladder;
mod lines;
mod linewise;
mod mentioned_names;
mod moves;
mod named_together;
mod names;
mod needs;
mod outline;
mod pairing;
mod parsed;
mod parting;
mod plausible;
pub mod port;
pub mod reduce;
mod render;
mod set;
pub mod shrink;
mod subset;
pub mod syntax;
mod text_lines;
pub mod trees;
mod unit;
mod whole;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod syntax_properties;
#[cfg(test)]
mod whole_tests;

pub use file::{EntryContent, EntryMode, FileDivision, FilePair, FileSide};
pub use group::Group;
pub use keywords::with_keywords_of;
pub use linewise::{Touching, merge_lines};
pub use render::{Collision, FileEdit};
pub use set::{ChangeSet, Description};
pub use subset::{Subset, UnitId, Units};
pub use unit::{Level, Unit, UnitGrain, UnitKind};
