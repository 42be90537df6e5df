//! Records the test whose run is walked over.

use crate::recorded::order::RecordOrder;
use crate::{Context, Failure, Talk, record};
use idd_base::Ending;
use idd_world::record::store::Recording;
use idd_world::repo::Location;

/// Records a test that fails; the result is the name of the recording, and its description.
///
/// Errors: as for [`record::run`], and if the test passes.
pub fn make(
    order: &RecordOrder,
    location: &Location,
    context: &Context,
    talk: &mut dyn Talk,
) -> Result<(String, Recording), Failure> {
    let (name, recording) = record::run(order, location, context, talk)?;
    if recording.ending == Ending::Exit(0).to_string() {
        return Err(Failure::error("the test passes at HEAD, so there is no failure to debug").with_hint(
            format!(
                "give a test that fails there; `git idd debug --recording {name} --from <criterion>` examines the passing run"
            ),
        ));
    }
    Ok((name, recording))
}
