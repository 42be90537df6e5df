//! Notes on the limits of slices and chops.

use idd_base::count;
use idd_trace::{DependenceKind, Dependences, Step};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of functions that are named.
const MAX_NAMES: usize = 8;

/// Says that a graph was too large for memory; `None` if it was not.
pub fn large(graph: &Dependences) -> Option<String> {
    let size = graph.n_bytes() >> 20;
    let text = format!("The dependence graph has {size} MiB. It was kept in a temporary file beside the recordings.");
    graph.is_on_disk().then_some(text)
}

/// Says that the steps of a criterion use values only to compute addresses, which the slice does not follow; `None` if
/// they use other values, or none.
pub fn addresses(graph: &Dependences, criterion: &[(Step, Step)]) -> Option<String> {
    let mut kinds = criterion.iter().flat_map(|(step, _)| graph.makers(*step)).map(|(_, kind)| kind);
    let is_address = kinds.try_fold(false, |is_address, kind| match kind {
        DependenceKind::Data => None,
        kind => Some(is_address || kind == DependenceKind::Address),
    })?;
    is_address.then(|| "The criterion uses values only to compute addresses: `--address` follows them.".to_owned())
}

/// Names the library functions whose effects are not known; `None` if there is none.
pub fn unknown(functions: &BTreeSet<Arc<str>>) -> Option<String> {
    let named: Vec<String> = functions.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    let (last, first) = named.split_last()?;
    let more = functions.len() - named.len();
    let all = match (first.is_empty(), more) {
        (true, _) => last.clone(),
        (false, 0) => format!("{} and {last}", first.join(", ")),
        (false, _) => format!("{}, {last} and {}", first.join(", "), count(more, "other function")),
    };
    Some(format!("What these library functions read and write through pointers or references is not modelled: {all}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_functions_without_a_known_effect_are_named() {
        let names = |n: usize| {
            let functions = (0..n).map(|number| format!("f{number}").into()).collect();
            unknown(&functions).map(|text| text.split_once(": ").unwrap().1.to_owned())
        };
        assert_eq!(names(0), None);
        assert_eq!(names(1).as_deref(), Some("`f0`."));
        assert_eq!(names(3).as_deref(), Some("`f0`, `f1` and `f2`."));
        assert!(names(10).unwrap().ends_with("`f7` and 2 other functions."));
    }
}
