//! The statements that two versions of a program share, so that steps of both can be called the same.
//!
//! Source: Sumner and Zhang, section 4.5: only what is common to both versions is indexed. The paper takes the lines that `diff` finds common. Deviation: functions are matched by name
//! and file, else by name, else by likeness; the statements of two matched functions are lists of what they do, without places, and are matched by three differences of such lists, each one between what the
//! one before has matched: with constants, without them, and by what is done in the end (the variable that is written, the function that is called, a branch, a return). So a statement that only changed its
//! layout or a constant is the same statement, as the paper's formal part assumes of a mutant; one that writes another variable is not.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use idd_base::difference::common_items;
use idd_trace::{Keys, Naming};

/// Renamed functions have at least this share of their statements in common.
const LIKENESS: f64 = 0.6;

/// The effect of a statement that has none.
pub const NO_EFFECT: &str = "nothing";

/// A function of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFunction {
    /// The file of its unit, as the compiler named it.
    pub file: Arc<str>,
    /// Its name, which tells it apart from others in the file.
    pub name: Arc<str>,
    /// What its statements do, in order; the first is its entry.
    pub statements: Vec<StatementEffect>,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StatementEffect {
    /// Everything, with constants.
    pub exactly: String,
    /// Everything, without constants.
    pub roughly: String,
    /// The last effect.
    pub effect: String,
}

/// A function: the file of its unit, and its name.
type Id = (Arc<str>, Arc<str>);

/// What the functions of both versions are called.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StatementNames {
    keys: [HashMap<Id, Keys>; 2],
    /// Functions of the first version, and those that have no counterpart.
    pub n_functions: (usize, usize),
    /// Statements of the first version in matched functions, and those that have no counterpart.
    pub n_statements: (usize, usize),
    /// Functions with another name in the second version.
    pub renamed: Vec<(Arc<str>, Arc<str>)>,
}

/// Which of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichVersion {
    /// The one that fails.
    First,
    /// The reference.
    Second,
}

impl StatementNames {
    /// Matches the functions of two versions, each given once.
    ///
    /// Cost: a difference for each pair of functions that may be the same, quadratic only in unmatched functions of one file.
    pub fn new(first: &[VersionFunction], second: &[VersionFunction]) -> Self {
        let mut names = Self::default();
        let mut is_taken = vec![false; second.len()];
        let mut partner: Vec<Option<usize>> = vec![None; first.len()];
        let mut take = |partner: &mut Vec<Option<usize>>, fits: &dyn Fn(&VersionFunction, &VersionFunction) -> bool| {
            for (found, function) in partner.iter_mut().zip(first).filter(|(found, _)| found.is_none()) {
                let other = (0..second.len()).find(|other| !is_taken[*other] && fits(function, &second[*other]));
                if let Some(other) = other {
                    is_taken[other] = true;
                    *found = Some(other);
                }
            }
        };
        take(&mut partner, &|one, other| one.name == other.name && one.file == other.file);
        take(&mut partner, &|one, other| one.name == other.name);
        take(&mut partner, &|one, other| one.file == other.file && likeness(one, other) >= LIKENESS);
        for (function, found) in first.iter().zip(&partner) {
            names.n_functions.0 += 1;
            let id = (Arc::clone(&function.file), Arc::clone(&function.name));
            let Some(other) = found.map(|index| &second[index]) else {
                names.n_functions.1 += 1;
                names.keys[0].insert(id, own(&function.file, &function.name, function.statements.len()));
                continue;
            };
            if function.name != other.name {
                names.renamed.push((Arc::clone(&function.name), Arc::clone(&other.name)));
            }
            let common = common(&function.statements, &other.statements);
            names.n_statements.0 += function.statements.len();
            names.n_statements.1 += function.statements.len() - common.len();
            let all = Keys::of(&function.file, &function.name, function.statements.len());
            let mut keys = own(&function.file, &function.name, function.statements.len());
            let mut other_keys = own(&format!("reference:{}", other.file), &other.name, other.statements.len());
            keys.function = all.function;
            other_keys.function = all.function;
            for (one, same) in common {
                keys.statements[one] = all.statements[one];
                other_keys.statements[same] = all.statements[one];
            }
            names.keys[0].insert(id, keys);
            names.keys[1].insert((Arc::clone(&other.file), Arc::clone(&other.name)), other_keys);
        }
        names
    }

    /// What the functions of a version are called; those that were not given are called nothing.
    pub fn naming(self: &Arc<Self>, version: WhichVersion) -> Naming {
        let names = Arc::clone(self);
        Arc::new(move |file, function, n_statements| {
            let keys = &names.keys[usize::from(version == WhichVersion::Second)];
            let found = keys.get(&(Arc::from(file), Arc::from(function)));
            found.filter(|keys| keys.statements.len() == n_statements).cloned().unwrap_or_else(|| {
                let mark = if version == WhichVersion::Second { "reference:" } else { "" };
                own(&format!("{mark}{file}"), function, n_statements)
            })
        })
    }
}

/// Keys that no other version has.
fn own(file: &str, function: &str, n_statements: usize) -> Keys {
    Keys::of(file, function, n_statements).local()
}

/// The share of the statements that two functions have in common.
fn likeness(one: &VersionFunction, other: &VersionFunction) -> f64 {
    let n = one.statements.len().max(other.statements.len());
    // Constants are left out: they change with the layout of a structure.
    let roughly = |function: &VersionFunction| -> HashSet<String> {
        function.statements.iter().map(|done| done.roughly.clone()).filter(|text| !text.is_empty()).collect()
    };
    let (ours, theirs) = (roughly(one), roughly(other));
    let shared = ours.intersection(&theirs).count();
    #[expect(clippy::cast_precision_loss, reason = "functions have fewer statements than 2^52")]
    let share = shared as f64 / (ours.len().max(theirs.len()).max(1)) as f64;
    if n < 3 { 0.0 } else { share }
}

/// Pairs of statements that are the same, ascending in both; the entries are always a pair.
pub fn common(one: &[StatementEffect], other: &[StatementEffect]) -> Vec<(usize, usize)> {
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let mut pairs = vec![(0, 0)];
    let views: [fn(&StatementEffect) -> &str; 3] = [|done| &done.exactly, |done| &done.roughly, |done| &done.effect];
    for view in views {
        let mut found = Vec::new();
        let ends = [(one.len(), other.len())];
        let mut from = (0, 0);
        for to in pairs.iter().copied().chain(ends) {
            let ours: Vec<&str> = one[from.0..to.0].iter().map(view).collect();
            let theirs: Vec<&str> = other[from.1..to.1].iter().map(view).collect();
            found.extend(common_items(&ours, &theirs).into_iter().map(|(our, their)| (from.0 + our, from.1 + their)));
            from = (to.0 + 1, to.1 + 1);
        }
        pairs.extend(found);
        pairs.sort_unstable();
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(text: &str) -> StatementEffect {
        let roughly: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        let effect = text.split(' ').next().unwrap_or_default().to_owned();
        StatementEffect { exactly: text.to_owned(), roughly, effect }
    }

    fn function(name: &str, statements: &[&str]) -> VersionFunction {
        VersionFunction {
            file: "a.c".into(),
            name: name.into(),
            statements: statements.iter().map(|text| done(text)).collect(),
        }
    }

    #[test]
    fn a_changed_constant_and_a_changed_expression_are_the_same_statement_and_another_target_is_not() {
        let one = function("f", &["entry", "x set 1", "y set x shl 1", "branch x gt 0", "t set 4", "out 7"]);
        let other =
            function("f", &["entry", "x set 0", "y set x add x", "z set 5", "branch x gt 0", "s set 4", "out 7"]);
        assert_eq!(common(&one.statements, &other.statements), [(0, 0), (1, 1), (2, 2), (3, 4), (5, 6)]);
    }

    #[test]
    fn a_renamed_function_is_known_by_what_it_does_and_another_has_no_name() {
        let body = ["entry", "x set 1", "y set 2", "return y"];
        let first = [function("old", &body), function("gone", &["entry", "p set 1", "q set 2", "r set 3"])];
        let second = [function("new", &body)];
        let names = Arc::new(StatementNames::new(&first, &second));
        assert_eq!(names.renamed, [("old".into(), "new".into())]);
        let (one, other) = (names.naming(WhichVersion::First), names.naming(WhichVersion::Second));
        assert_eq!(one("a.c", "old", 4), other("a.c", "new", 4));
        assert!(Keys::is_shared(one("a.c", "old", 4).function));
        assert!(!Keys::is_shared(one("a.c", "gone", 4).function));
        assert!(!Keys::is_shared(one("a.c", "old", 5).statements[0]));
        assert_eq!((names.n_functions, names.n_statements), ((2, 1), (4, 0)));
    }
}
