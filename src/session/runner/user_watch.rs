//! What probes do to the repository and the files of the user.

use idd_base::TreeId;
use idd_world::repo::Location;
use idd_world::repo::state::{Glance, UserState};

/// Sees whether a test changes the user's own repository, or reads the files there.
pub struct UserWatch {
    state: UserState,
    glance: Glance,
    /// Parts of the user's state that a probe changed, with the tree that was tested then.
    pub disturbed: Vec<(&'static str, String)>,
    /// Whether a test can reach the files of the user by the path of the working tree.
    pub can_leak: bool,
    /// The opened files of the user that were looked at.
    pub(super) n_opened: usize,
}

impl UserWatch {
    pub(super) fn new(location: &Location) -> Self {
        Self {
            state: UserState::read(location),
            glance: Glance::take(location),
            disturbed: Vec::new(),
            can_leak: false,
            n_opened: 0,
        }
    }

    /// Notes which parts of the user's state have changed since the last call, by a probe of `tree`.
    pub(super) fn look(&mut self, location: &Location, tree: TreeId) {
        let glance = Glance::take(location);
        if glance == self.glance {
            return;
        }
        self.glance = glance;
        let state = UserState::read(location);
        for part in self.state.changed(&state) {
            if self.disturbed.iter().all(|(known, _)| *known != part) {
                self.disturbed.push((part, tree.to_string()));
            }
        }
        self.state = state;
    }
}
