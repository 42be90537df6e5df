//! From the options of the command line to plain orders.

use crate::args::options::{AllowanceOptions, EffortOptions, HistoryOptions, HoldingOptions, TestOptions};
use idd_session::order::{Allowance, EffortOrder, HistoryOrder, Holding, TestOrder};

/// The same fields on both sides; a field that one of them lacks does not compile.
macro_rules! plain {
    ($($options:ident => $type:ident { $($field:ident)+ })+) => {$(
        impl From<$options> for $type {
            fn from(options: $options) -> Self {
                let $options { $($field),+ } = options;
                Self { $($field),+ }
            }
        }
    )+};
}

plain! {
    HistoryOptions => HistoryOrder {
        find bad good from_bisect first_parent walk path
    }
    TestOptions => TestOrder {
        build precheck from_artifacts artifacts_size artifact no_precheck timeout match_line pass_match signature hold no_hold overlay shim
        repeat flaky confidence suite no_suite expose_commit isolate_home remote
    }
    EffortOptions => EffortOrder {
        level fast retry clean no_cache fetch until reduction repair no_port require_fix explain jobs local_jobs budget
        max_probes max_cost notify lease
    }
    AllowanceOptions => Allowance {
        jobs budget max_probes max_cost until reduction fetch
    }
    HoldingOptions => Holding {
        hold no_hold
    }
}
