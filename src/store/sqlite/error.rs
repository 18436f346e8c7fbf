//! Errors of `SQLite` as errors of the store.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::store::StoreError;

/// Converts an error of `SQLite`.
pub(super) fn described(error: rusqlite::Error, path: &Path) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(error.into()),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::ReadOnly(error.into())
        }
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OperationInterrupted
            | ErrorCode::FileLockingProtocolFailed,
        ) => StoreError::Disk(error.into()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Damaged { path: path.to_owned(), source: error.into() }
        }
        _ => StoreError::Statement(error.into()),
    }
}
