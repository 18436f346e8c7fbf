//! The runtimes of this program, in order of preference.

use std::sync::Arc;

use crate::agent::Runtimes;
use crate::agent::demo::Demo;

pub(super) fn runtimes() -> Runtimes {
    Runtimes::new(vec![Arc::new(Demo::new())])
}
