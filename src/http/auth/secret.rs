//! Random secrets, and the digests that they are stored and compared as.

use sha2::{Digest, Sha256};

use crate::model::hex;

/// 256 random bits after a prefix by which a secret is recognised and redacted.
pub(super) fn random_secret(prefix: &str) -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    format!("{prefix}{}", hex(&bytes))
}

pub(super) fn is_token(text: &str) -> bool {
    text.strip_prefix("fd_").is_some_and(|rest| rest.len() == 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Secrets are compared by digest, so that the time it takes reveals nothing about them.
pub(super) fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Whether two digests are the same, in a time that does not depend on where they differ.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
