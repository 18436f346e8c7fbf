//! Ids of requests.

use uuid::Uuid;

/// 32 random hexadecimal digits after a prefix.
pub(in crate::http) fn random_id(prefix: &str) -> String {
    format!("{prefix}{}", Uuid::new_v4().simple())
}
