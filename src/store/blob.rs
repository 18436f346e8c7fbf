//! Large outputs, kept beside the log.

/// A blob as a reader gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Its media type.
    pub mime: String,
    /// All of it.
    pub data: Vec<u8>,
}
