//! Small files that only the current user may read.
//!
//! What must always hold here: only the user who runs the server can read such a file or folder; a file has its old
//! content or its new content, never a part of it; a temporary one is removed when it is dropped.

mod json;
mod temporary;
mod whole;

pub use json::{JsonFileError, read_json, write_json};
pub use temporary::{TemporaryFile, TemporaryFolder};
pub use whole::{Durability, write};
