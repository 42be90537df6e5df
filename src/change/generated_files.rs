//! Generated files and their sources.

use std::collections::BTreeMap;

use crate::file::FilePair;

/// A generated file, and those of its sources that changed too; by index. The list is not empty.
pub(super) type TiedFile = (usize, Vec<usize>);

/// Finds the changed sources of generated files.
///
/// - `written_from`: files with the paths of their possible sources; paths that did not change are ignored.
pub(super) fn written(files: &[FilePair], written_from: &[(usize, Vec<Vec<u8>>)]) -> Vec<TiedFile> {
    let mut by_path: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (file, pair) in files.iter().enumerate() {
        by_path.extend(pair.older.iter().chain(&pair.newer).map(|side| (&side.path[..], file)));
    }
    let changed = |(file, paths): &(usize, Vec<Vec<u8>>)| {
        let found = paths.iter().filter_map(|path| by_path.get(&path[..]).copied());
        let mut sources: Vec<usize> = found.filter(|source| source != file).collect();
        sources.sort_unstable();
        sources.dedup();
        (!sources.is_empty()).then_some((*file, sources))
    };
    written_from.iter().filter_map(changed).collect()
}

/// Groups of files, by index, that the coarsest level applies together: a generated file with its sources. Each file is
/// in one group; groups are ordered by first file.
pub(super) fn tied_files(n_files: usize, written: &[TiedFile]) -> Vec<Vec<usize>> {
    // The group of a file is named after its smallest known member.
    let mut group_of: Vec<usize> = (0..n_files).collect();
    for (file, sources) in written {
        for source in sources {
            let (one, other) = (group_of[*file], group_of[*source]);
            let (smaller, larger) = (one.min(other), one.max(other));
            group_of.iter_mut().filter(|group| **group == larger).for_each(|group| *group = smaller);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (file, group) in group_of.into_iter().enumerate() {
        groups.entry(group).or_default().push(file);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntryContent, EntryMode, FileSide};

    #[test]
    fn a_written_file_is_with_its_sources_and_with_what_else_they_make() {
        let side = |path: &str| FileSide {
            path: path.as_bytes().to_vec(),
            mode: EntryMode::Regular,
            content: EntryContent::Bytes(b"x".as_slice().into()),
        };
        let pair = |path: &str| FilePair { older: Some(side(path)), newer: None };
        let files: Vec<_> = ["a.c", "b.h", "main.c", "table"].map(pair).to_vec();
        let from = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
        let written_from = [(0, from(&["a.c", "table", "gen.sh"])), (1, from(&["table"])), (2, from(&["gen.sh"]))];
        let written = written(&files, &written_from);
        assert_eq!(written, [(0, vec![3]), (1, vec![3])]);
        assert_eq!(tied_files(4, &written), [vec![0, 1, 3], vec![2]]);
        assert_eq!(tied_files(2, &[]), [[0], [1]]);
    }
}
