//! The flag that is set by signals that ask the program to end.

use crate::session::failure::Failure;
use crate::world::process::ProcessGroup;
use crate::world::process::Watch;
use signal_hook::consts::SIGHUP;
use signal_hook::consts::SIGINT;
use signal_hook::consts::SIGQUIT;
use signal_hook::consts::SIGTERM;
use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

/// Set by the first such signal.
#[derive(Debug, Clone)]
pub struct Interrupt(pub Arc<AtomicBool>);

impl Interrupt {
    /// Installs the signal handlers. The second signal ends the program at once; stored data are consistent at any
    /// time.
    pub fn register() -> Result<Self, Failure> {
        let interrupt = Arc::new(AtomicBool::new(false));
        // Without a handler, a limit on the size of files would kill the program; with one the write fails, and is
        // reported.
        let handled = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
        handled?;
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let conditional = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupt));
            conditional?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt))?;
        }
        Ok(Self(interrupt))
    }
}

/// For commands outside of a hunt: they end with the program, and are not recorded.
impl Watch for Interrupt {
    fn started(&mut self, _group: ProcessGroup) {}

    fn is_interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
