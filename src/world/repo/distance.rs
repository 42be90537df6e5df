//! The distance of two trees: the number of files that a move from one to the other writes.

use crate::repo::Repository;
use crate::repo::object::{EntryKind, ObjectReader, TreeEntry};
use crate::repo::refusal::MoveStop;
use idd_base::TreeId;
use std::cmp::Ordering;

/// Trees that differ in more files have the same distance.
const MAX_DISTANCE: usize = 10_000;

/// The number of files that differ between two trees, at most about 10,000; the maximum if one of them cannot be read.
///
/// Cost: reads the directories that differ.
pub fn distance(repository: &Repository, older: TreeId, newer: TreeId) -> usize {
    let mut n_different = 0;
    let compared = ObjectReader::open(repository).map_err(MoveStop::from);
    match compared.and_then(|objects| compare(&objects, older, newer, &mut n_different)) {
        Ok(()) => n_different,
        Err(_) => MAX_DISTANCE,
    }
}

fn compare(objects: &ObjectReader<'_>, older: TreeId, newer: TreeId, n_different: &mut usize) -> Result<(), MoveStop> {
    if older == newer || *n_different >= MAX_DISTANCE {
        return Ok(());
    }
    let (older, newer) = (objects.tree(older, b"")?, objects.tree(newer, b"")?);
    let (mut older, mut newer) = (older.iter().peekable(), newer.iter().peekable());
    loop {
        let which = match (older.peek(), newer.peek()) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => key(old).cmp(&key(new)),
        };
        let old = if which.is_le() { older.next() } else { None };
        let new = if which.is_ge() { newer.next() } else { None };
        match (old, new) {
            (Some(old), Some(new)) if old == new => {}
            (
                Some(TreeEntry { kind: EntryKind::Tree, id: old, .. }),
                Some(TreeEntry { kind: EntryKind::Tree, id: new, .. }),
            ) => {
                compare(objects, TreeId(*old), TreeId(*new), n_different)?;
            }
            // A directory that is on one side only counts as one file; an estimate is enough.
            _ => *n_different += 1,
        }
    }
}

/// Trees are sorted as if the names of directories ended with a slash.
fn key(entry: &TreeEntry) -> Vec<u8> {
    let mut name = entry.name.clone();
    if entry.kind == EntryKind::Tree {
        name.push(b'/');
    }
    name
}
