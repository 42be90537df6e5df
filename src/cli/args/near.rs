//! Names that a mistyped one may stand for.

/// The candidate that is nearest to `word`, if at most two letters are missing, added, wrong or swapped, and fewer than
/// half of them; the first one of several. Case does not count.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let is_near = |(distance, name): &(usize, &str)| *distance <= 2 && distance * 2 < name.chars().count();
    let word = word.to_lowercase();
    let with_distance = candidates.into_iter().map(|name| (distance(&word, &name.to_lowercase()), name));
    with_distance.filter(is_near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The number of letters that have to be added, removed, replaced, or swapped with the next one.
///
/// Source: the optimal string alignment distance, a restricted form of that of Damerau 1964.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for row in 0..=from.len() {
        for column in 0..=to.len() {
            rows[row][column] = if row == 0 || column == 0 {
                row + column
            } else {
                let is_equal = from[row - 1] == to[column - 1];
                let replaced = rows[row - 1][column - 1] + usize::from(!is_equal);
                let best = replaced.min(rows[row - 1][column] + 1).min(rows[row][column - 1] + 1);
                let is_swapped =
                    row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
                if is_swapped { best.min(rows[row - 2][column - 2] + 1) } else { best }
            };
        }
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_missing_added_wrong_and_swapped_letters() {
        for (from, to, expected) in [
            ("", "", 0),
            ("jobs", "jobs", 0),
            ("jbos", "jobs", 1),
            ("job", "jobs", 1),
            ("jots", "job", 2),
            ("", "a", 1),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn only_what_is_similar_is_near() {
        let names = ["idd.timeout", "idd.jobs", "idd.good"];
        assert_eq!(nearest("idd.timout", names), Some("idd.timeout"));
        assert_eq!(nearest("IDD.JOB", names), Some("idd.jobs"));
        assert_eq!(nearest("idd.speed", names), None);
        assert_eq!(nearest("ab", ["cd"]), None);
    }
}
