//! From the options of the command line to plain orders.

use crate::args::options;
use idd_session::order::{Allowance, Effort, History, Holding, Test};

/// The same fields on both sides; a field that one of them lacks does not compile.
macro_rules! plain {
    ($($type:ident { $($field:ident)+ })+) => {$(
        impl From<options::$type> for $type {
            fn from(options: options::$type) -> Self {
                let options::$type { $($field),+ } = options;
                Self { $($field),+ }
            }
        }
    )+};
}

plain! {
    History {
        find bad good from_bisect first_parent walk path
    }
    Test {
        build precheck from_artifacts artifacts_size artifact no_precheck timeout match_line pass_match signature hold no_hold overlay shim
        repeat flaky confidence suite no_suite expose_commit isolate_home remote
    }
    Effort {
        level fast retry clean no_cache fetch until reduction repair no_port require_fix explain jobs local_jobs budget
        max_probes max_cost notify lease
    }
    Allowance {
        jobs budget max_probes max_cost until reduction fetch
    }
    Holding {
        hold no_hold
    }
}
