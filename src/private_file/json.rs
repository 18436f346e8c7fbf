//! Files that contain one value as JSON.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Durability, write};

/// A file exists, but the value cannot be read from it.
#[derive(Debug, thiserror::Error)]
pub enum JsonFileError {
    /// The file cannot be read.
    #[error("cannot read the file")]
    Read(#[source] io::Error),
    /// The content is not the expected JSON.
    #[error("the file does not contain the expected JSON")]
    Parse(#[source] serde_json::Error),
}

/// The value in a file; `None` if the file does not exist.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, JsonFileError> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(JsonFileError::Parse),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(JsonFileError::Read(error)),
    }
}

/// Writes a value so that it survives a power cut, and makes its folder if there is none.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    write(path, &serde_json::to_vec_pretty(value)?, Durability::PowerCut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_none_and_a_damaged_one_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("below").join("value.json");
        assert!(matches!(read_json::<Vec<u32>>(&path), Ok(None)));
        write_json(&path, &[1, 2]).expect("written");
        assert!(matches!(read_json::<Vec<u32>>(&path), Ok(Some(values)) if values == [1, 2]));
        std::fs::write(&path, "[1,").expect("damaged");
        assert!(matches!(read_json::<Vec<u32>>(&path), Err(JsonFileError::Parse(_))));
        std::fs::remove_file(&path).and_then(|()| std::fs::create_dir(&path)).expect("a folder instead");
        assert!(matches!(read_json::<Vec<u32>>(&path), Err(JsonFileError::Read(_))));
    }
}
