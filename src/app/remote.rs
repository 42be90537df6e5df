//! `git idd remote check`: what a remote service can do, and how fast.

use crate::console::{CommandAnswer, Console};
use idd_session::{Context, Failure, service};

/// Checks the service at this address, or the configured one.
pub fn check(address: Option<&str>, context: &Context, console: Console) -> Result<CommandAnswer, Failure> {
    let configured = || context.configured("idd.remote").last();
    let Some(address) = address.or_else(configured).filter(|address| *address != service::HERE) else {
        return Err(Failure::usage("no remote service is named").with_hint(
            "`git idd remote check grpcs://<host>` names one, and `git config idd.remote` for all commands",
        ));
    };
    checked(&service::named(address, context)?, console)
}

#[cfg(not(feature = "remote"))]
fn checked(_: &idd_world::remote::Service, _: Console) -> Result<CommandAnswer, Failure> {
    Err(idd_session::remote::absent())
}

#[cfg(feature = "remote")]
use shown::checked;

#[cfg(feature = "remote")]
mod shown {
    use crate::console::{CommandAnswer, Console};
    use idd_report::escape::safe;
    use idd_session::{Failure, Interrupt, remote};
    use idd_world::remote::Service;
    use idd_world::remote::check::{ServiceCheck, check};
    use idd_world::remote::toolchain::Toolchain;
    use serde_json::json;
    use std::fmt::Write as _;
    use std::sync::Arc;
    use std::time::Duration;

    pub fn checked(service: &Service, console: Console) -> Result<CommandAnswer, Failure> {
        let failed =
            |trouble| remote::failure(service, &trouble).with_hint("is the address right, and does the service run?");
        let mut interrupt = Interrupt::register()?;
        let checked = check(service, Arc::clone(&interrupt.flag)).map_err(failed)?;
        let here = Toolchain::here(service, &mut interrupt).map_err(|error| Failure::from_error(&error))?;
        interrupt.check("interrupted")?;
        let others = checked.toolchain.differences(&here);
        let text = if console.is_json { json(service, &checked, &others) } else { text(service, &checked, &others) };
        Ok(CommandAnswer::Text(text.into_bytes(), 0))
    }

    /// - `others`: the programs that differ from those of this machine.
    fn json(service: &Service, checked: &ServiceCheck, others: &[&str]) -> String {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (oldest, newest) = &checked.capabilities.versions;
        let value = json!({
            "address": service.address.to_string(),
            "api": { "oldest": oldest, "newest": newest },
            "batch_bytes": checked.capabilities.batch_bytes,
            "connected_ms": millis(checked.connected),
            "action_ms": millis(checked.action),
            "cached_ms": checked.cached.map(millis),
            "limited_ms": checked.limited.map(millis),
            "cancels": checked.cancels,
            "system": checked.toolchain.system(),
            "programs": checked.toolchain.names(),
            "differing_here": others,
        });
        format!("{value}\n")
    }

    fn text(service: &Service, checked: &ServiceCheck, others: &[&str]) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let value = safe(value);
            let _ = writeln!(text, "{name:<14}{value}");
        };
        let seconds = |time: Duration| format!("{:.3} s", time.as_secs_f64());
        let (oldest, newest) = &checked.capabilities.versions;
        line("service:", &service.address.to_string());
        line(
            "protocol:",
            &format!("{oldest} to {newest}, SHA-256, batches of {} bytes", checked.capabilities.batch_bytes),
        );
        line("connection:", &seconds(checked.connected));
        line("one action:", &seconds(checked.action));
        line(
            "cached:",
            &checked.cached.map_or_else(|| "no: results are not kept for equal actions".to_owned(), seconds),
        );
        let limited = |time| format!("kept: an action with a limit of 1 s ended after {}", seconds(time));
        let unlimited = || "not kept: a test that hangs keeps its worker".to_owned();
        line("time limits:", &checked.limited.map_or_else(unlimited, limited));
        let cancels =
            if checked.cancels { "taken" } else { "not taken: probes that are not needed any more run to their end" };
        line("cancellation:", cancels);
        line("system:", checked.toolchain.system());
        line("programs:", &checked.toolchain.names().join(" "));
        let same = "has the same";
        line(
            "this machine:",
            &if others.is_empty() { same.to_owned() } else { format!("differs in: {}", others.join(" ")) },
        );
        text
    }
}
