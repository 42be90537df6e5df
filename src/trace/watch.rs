//! Who wants to know what a machine does while a run is replayed.

/// Defines the trait `Watch` of a machine, by its methods.
///
/// - All methods do nothing unless they are given.
/// - Two watchers are one: both are told everything, until neither wants more.
/// - `Nobody` wants nothing.
macro_rules! watch {
    (
        $(#[$about:meta])*
        pub trait Watch {
            $($(#[$doc:meta])* fn $name:ident(&mut self, $($argument:ident: $type:ty),+);)+
        }
    ) => {
        $(#[$about])*
        #[expect(unused_variables, reason = "the names say what is given")]
        pub trait Watch {
            $($(#[$doc])* fn $name(&mut self, $($argument: $type),+) {})+

            /// Whether nothing more is wanted; asked after each record.
            fn is_done(&self) -> bool {
                false
            }
        }

        /// An observer that does nothing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Nobody;

        impl Watch for Nobody {}

        impl<A: Watch, B: Watch> Watch for (A, B) {
            $(fn $name(&mut self, $($argument: $type),+) {
                self.0.$name($($argument),+);
                self.1.$name($($argument),+);
            })+

            fn is_done(&self) -> bool {
                self.0.is_done() && self.1.is_done()
            }
        }
    };
}
pub(crate) use watch;
