//! The server's key, by which push services recognise it (RFC 8292).

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

use super::Endpoint;
use crate::store::{DataFolder, FolderError};

/// How long a signature is valid. Push services accept at most a day.
const LIFE_SECONDS: i64 = 12 * 60 * 60;

/// The file in the data folder.
const FILE: &str = "push-key";

/// The key. Browsers bind their subscription to it, so it is created once for a data folder.
pub struct PushKey(EcdsaKeyPair);

impl std::fmt::Debug for PushKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PushKey([redacted])")
    }
}

impl PushKey {
    /// Reads the key of a data folder, or creates one. Only the owner can read the file.
    pub fn of(folder: &DataFolder) -> Result<Self, FolderError> {
        let kept = folder.read(FILE)?.and_then(|text| BASE64_STANDARD.decode(text.trim()).ok());
        if let Some(key) = kept.and_then(|bytes| Self::read(&bytes)) {
            folder.make_private(FILE)?;
            return Ok(key);
        }
        let (key, bytes) = Self::generate();
        if let Err(error) = folder.write_private(FILE, &BASE64_STANDARD.encode(bytes)) {
            // The server must start on a full disk, so that somebody can free space.
            tracing::warn!(%error, "cannot write the key for push messages; browsers must subscribe again after a restart");
        }
        Ok(key)
    }

    fn read(pkcs8: &[u8]) -> Option<Self> {
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new()).ok().map(Self)
    }

    /// A new key, and how it is written down.
    fn generate() -> (Self, Vec<u8>) {
        let written = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .expect("the operating system gives random bytes");
        let key = Self::read(written.as_ref()).expect("just generated");
        (key, written.as_ref().to_vec())
    }

    /// What browsers subscribe with: the public part, in base64.
    pub fn public(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0.public_key())
    }

    /// The value of the `Authorization` header for a message: a signed token for the push service. `contact` is where its
    /// operator could complain.
    pub(super) fn authorization(&self, endpoint: &Endpoint, contact: &str, seconds: i64) -> String {
        let claims = json!({ "aud": endpoint.origin(), "exp": seconds + LIFE_SECONDS, "sub": contact });
        let part = |value: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ES256" })), part(&claims));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.expect("the operating system gives random bytes");
        format!("vapid t={signed}.{}, k={}", BASE64_URL_SAFE_NO_PAD.encode(signature), self.public())
    }

    #[cfg(test)]
    pub(super) fn for_tests() -> Self {
        Self::generate().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    #[test]
    fn the_token_is_signed_for_the_push_service_and_expires() {
        let key = PushKey::for_tests();
        let endpoint = Endpoint::parse("https://push.example/secret").expect("valid");
        let header = key.authorization(&endpoint, "mailto:me@example.com", 1_000);
        let (token, public) =
            header.strip_prefix("vapid t=").and_then(|rest| rest.split_once(", k=")).expect("two parts");
        assert_eq!(public, key.public());
        let (signed, signature) = token.rsplit_once('.').expect("a signature");
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).expect("base64");
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(public))
            .verify(signed.as_bytes(), &decode(signature))
            .expect("signed with the key");
        let (header, claims) = signed.split_once('.').expect("header and claims");
        let json = |text: &str| -> serde_json::Value { serde_json::from_slice(&decode(text)).expect("JSON") };
        assert_eq!(json(header), json!({ "typ": "JWT", "alg": "ES256" }));
        assert_eq!(
            json(claims),
            json!({ "aud": "https://push.example", "exp": 44_200, "sub": "mailto:me@example.com" })
        );
    }

    #[test]
    fn a_key_is_kept_in_a_private_file_and_a_damaged_one_is_replaced() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::lock(place.path()).expect("locked");
        let first = PushKey::of(&folder).expect("created").public();
        assert_eq!(PushKey::of(&folder).expect("read").public(), first);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(folder.path().join(FILE)).expect("there").permissions().mode();
            assert_eq!(mode & 0o077, 0);
        }
        folder.write_private(FILE, "damaged").expect("written");
        assert_ne!(PushKey::of(&folder).expect("created").public(), first);
    }
}
