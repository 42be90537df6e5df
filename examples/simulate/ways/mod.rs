//! The ways to choose the next step that `git idd debug` is compared with: engines that know the graph of a run and the answers.

pub mod baselines;
pub mod dominators;
pub mod microbat;

#[cfg(test)]
mod samples;
