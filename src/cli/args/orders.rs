//! From the options of the command line to plain orders.

use crate::cli::args::options;
use crate::session::order::Allowance;
use crate::session::order::Effort;
use crate::session::order::History;
use crate::session::order::Holding;
use crate::session::order::Test;

impl From<options::History> for History {
    fn from(options: options::History) -> Self {
        let options::History { bad, good, first_parent, walk, path } = options;
        Self { bad, good, first_parent, walk, path }
    }
}

impl From<options::Test> for Test {
    fn from(options: options::Test) -> Self {
        let options::Test {
            build,
            precheck,
            artifact,
            no_precheck,
            timeout,
            match_line,
            pass_match,
            signature,
            hold,
            no_hold,
            overlay,
            shim,
            repeat,
            flaky,
            confidence,
            suite,
            expose_commit,
            isolate_home,
        } = options;
        Self {
            build,
            precheck,
            artifact,
            no_precheck,
            timeout,
            match_line,
            pass_match,
            signature,
            hold,
            no_hold,
            overlay,
            shim,
            repeat,
            flaky,
            confidence,
            suite,
            expose_commit,
            isolate_home,
        }
    }
}

impl From<options::Effort> for Effort {
    fn from(options: options::Effort) -> Self {
        let options::Effort {
            level,
            reducer,
            fast,
            retry,
            audit,
            clean,
            no_cache,
            fetch,
            until,
            reduction,
            repair,
            no_port,
            jobs,
            budget,
            max_probes,
            notify,
        } = options;
        Self {
            level,
            reducer,
            fast,
            retry,
            audit,
            clean,
            no_cache,
            fetch,
            until,
            reduction,
            repair,
            no_port,
            jobs,
            budget,
            max_probes,
            notify,
        }
    }
}

impl From<options::Allowance> for Allowance {
    fn from(options: options::Allowance) -> Self {
        let options::Allowance { jobs, budget, max_probes, until, reduction, fetch } = options;
        Self { jobs, budget, max_probes, until, reduction, fetch }
    }
}

impl From<options::Holding> for Holding {
    fn from(options: options::Holding) -> Self {
        let options::Holding { hold, no_hold } = options;
        Self { hold, no_hold }
    }
}
