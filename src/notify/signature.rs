//! The signature of a webhook's request, as Standard Webhooks has it: HMAC-SHA256 over id, time and body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const BLOCK: usize = 64;

/// The value of the header `webhook-signature`. A secret with the prefix `whsec_` is the key in base64; any other text is
/// the key itself.
pub(super) fn signature(secret: &str, id: &str, seconds: i64, body: &[u8]) -> String {
    let decoded = secret.strip_prefix("whsec_").and_then(|encoded| STANDARD.decode(encoded).ok());
    let key = decoded.as_deref().unwrap_or(secret.as_bytes());
    let signed = [format!("{id}.{seconds}.").as_bytes(), body].concat();
    format!("v1,{}", STANDARD.encode(hmac_sha256(key, &signed)))
}

/// RFC 2104.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let keyed = |pad: u8, message: &[u8]| -> [u8; 32] {
        Sha256::new().chain_update(block.map(|byte| byte ^ pad)).chain_update(message).finalize().into()
    };
    keyed(0x5c, &keyed(0x36, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::hex;

    #[test]
    fn the_code_is_that_of_rfc_4231() {
        for (key, message, code) in [
            (vec![0x0b; 20], &b"Hi There"[..], "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe".to_vec(),
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&hmac_sha256(&key, message)), code);
        }
    }

    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        let signed = signature(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
