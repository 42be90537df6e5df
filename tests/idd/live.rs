//! The hunts of `hunt.rs` that are answered from records there, with probes that run. They must find the same.

use crate::hunt::tests;
use crate::stories::stories;

macro_rules! lived {
    (recorded { $($test:ident: $name:literal,)* } live { $($other:ident: $other_name:literal, $why:literal;)* }) => {
        tests! { $($test: $name),*; Live }
    };
}

stories! { lived }
