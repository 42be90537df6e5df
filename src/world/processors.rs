//! The threads that share the work in the middle of a probe.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// More threads do not make reading and writing files faster.
const MAX_THREADS: usize = 8;

/// One thread for each processor; `None` with one processor, or if no thread can be started (a limit on processes).
pub fn pool() -> Option<&'static ThreadPool> {
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let n_threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS);
        let builder = ThreadPoolBuilder::new().num_threads(n_threads).thread_name(|number| format!("files-{number}"));
        (n_threads > 1).then(|| builder.build().ok()).flatten()
    });
    POOL.as_ref()
}
