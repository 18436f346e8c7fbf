//! Large outputs, kept beside the log.

/// A blob as a reader gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Its media type.
    pub mime: String,
    /// All of it.
    pub data: Vec<u8>,
}

/// A blob that a session uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobUse {
    /// The hash of its content.
    pub hash: String,
    /// Its media type.
    pub mime: String,
    /// Its size in bytes.
    pub size: u64,
}
