//! A browser's subscription: where messages for it go, and for which key.

use std::sync::Arc;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use sha2::{Digest as _, Sha256};

use super::encryption::encrypt;
use super::message::push_message;
use super::{Endpoint, EndpointError, PushKey};
use crate::notify::Secret;
use crate::notify::message::{Message, Urgency};
use crate::notify::wire::Post;

const PUBLIC_KEY_BYTES: usize = 65;
const SECRET_BYTES: usize = 16;

/// How long a push service keeps a message for a browser that it cannot reach. What is older is no news.
const KEPT_SECONDS: u32 = 24 * 60 * 60;

/// A subscription, checked.
#[derive(Clone)]
pub struct Subscription {
    endpoint: Endpoint,
    public_key: Vec<u8>,
    secret: Vec<u8>,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Subscription").field(&self.endpoint).finish()
    }
}

/// A subscription that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// The address.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The key.
    #[error("keys.p256dh must be a public key on the curve P-256 in base64url, of {PUBLIC_KEY_BYTES} bytes")]
    PublicKey,
    /// The secret.
    #[error("keys.auth must be a secret of {SECRET_BYTES} bytes in base64url")]
    Secret,
}

impl Subscription {
    /// Checks what a browser sent.
    pub fn parse(endpoint: &str, public_key: &str, secret: &str) -> Result<Self, SubscriptionError> {
        let endpoint = Endpoint::parse(endpoint)?;
        let public_key = decode(public_key, PUBLIC_KEY_BYTES).ok_or(SubscriptionError::PublicKey)?;
        let secret = decode(secret, SECRET_BYTES).ok_or(SubscriptionError::Secret)?;
        // Whether it is on the curve shows when it is used.
        encrypt(b"", &public_key, &secret).map_err(|_| SubscriptionError::PublicKey)?;
        Ok(Self { endpoint, public_key, secret })
    }

    /// Where messages go.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The request for a message.
    pub(in crate::notify) fn post(&self, key: &PushKey, contact: &str, message: &Message, seconds: i64) -> Post {
        let header = |name, value: &str| (name, Secret(value.to_owned()));
        let mut headers = vec![
            header("authorization", &key.authorization(&self.endpoint, contact, seconds)),
            header("content-encoding", "aes128gcm"),
            header("ttl", &KEPT_SECONDS.to_string()),
            header("urgency", if message.urgency == Urgency::High { "high" } else { "normal" }),
        ];
        if let [item] = &message.items[..] {
            // A message that waits at the push service is replaced by a newer one about the same session or job.
            headers.push(header("topic", &topic(&item.id)));
        }
        let body = encrypt(&push_message(message), &self.public_key, &self.secret).unwrap_or_else(|_| {
            // The key was checked. Without a body the browser still hears that there is something.
            headers.retain(|(name, _)| *name != "content-encoding");
            Vec::new()
        });
        Post {
            url: Secret(self.endpoint.address().to_owned()),
            content_type: "application/octet-stream",
            headers,
            body,
        }
    }
}

/// A browser as a target speaks to it.
#[derive(Clone, Debug)]
pub struct PushTarget {
    /// The browser's subscription.
    pub subscription: Subscription,
    /// The server's key.
    pub key: Arc<PushKey>,
    /// Where the operator of a push service could complain.
    pub contact: String,
}

fn decode(text: &str, length: usize) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok().filter(|bytes| bytes.len() == length)
}

/// At most 32 characters of base64url.
fn topic(id: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(&Sha256::digest(id.as_bytes())[..24])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HappeningKind;
    use crate::notify::plan::tests::{delivery, settings, target};

    const PUBLIC: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const SECRET: &str = "BTBZMqHH6r4Tts7J_aSIgg";
    const ENDPOINT: &str = "https://push.example/secret";

    #[test]
    fn what_a_browser_sends_is_checked() {
        assert!(Subscription::parse(ENDPOINT, PUBLIC, SECRET).is_ok());
        assert!(Subscription::parse(ENDPOINT, &format!("{PUBLIC}="), &format!("{SECRET}==")).is_ok());
        let error =
            |endpoint, public, secret| Subscription::parse(endpoint, public, secret).map(drop).expect_err("refused");
        assert_eq!(error("http://push.example/", PUBLIC, SECRET), SubscriptionError::Endpoint(EndpointError));
        let off_the_curve = format!("{}5", &PUBLIC[..PUBLIC.len() - 1]);
        for public in ["", "BCVx", "not base64!", SECRET, &off_the_curve] {
            assert_eq!(error(ENDPOINT, public, SECRET), SubscriptionError::PublicKey, "{public}");
        }
        for secret in ["", "BTBZ", PUBLIC] {
            assert_eq!(error(ENDPOINT, PUBLIC, secret), SubscriptionError::Secret, "{secret}");
        }
    }

    #[test]
    fn a_request_has_what_push_services_want() {
        let subscription = Subscription::parse(ENDPOINT, PUBLIC, SECRET).expect("valid");
        let message = Message::of(&[delivery(HappeningKind::NeedsYou, 1)], &target(), &settings()).expect("a message");
        let post = subscription.post(&PushKey::for_tests(), "mailto:me@example.com", &message, 1);
        let headers: Vec<(&str, &str)> = post.headers.iter().map(|(name, value)| (*name, value.0.as_str())).collect();
        assert!(headers[0].0 == "authorization" && headers[0].1.starts_with("vapid t="), "{headers:?}");
        assert_eq!(headers[1..4], [("content-encoding", "aes128gcm"), ("ttl", "86400"), ("urgency", "high")]);
        assert_eq!((headers[4].0, headers[4].1.len()), ("topic", 32));
        assert_eq!(post.content_type, "application/octet-stream");
        assert!(!String::from_utf8_lossy(&post.body).contains("session-1"), "it is encrypted");
    }
}
