//! Encrypts a message for one browser (RFC 8291: `aes128gcm` of RFC 8188, in one record).

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Every push service takes at least this much.
const RECORD_BYTES: u32 = 4_096;

/// A message is filled up to a multiple of this, so that its length says nothing about it.
const PADDED_BYTES: usize = 256;

/// The end of the last record (RFC 8188).
const LAST_RECORD: u8 = 2;

/// Encrypts a text for the holder of a key. Fails if that key is none, or the text is too long.
pub(super) fn encrypt(text: &[u8], public_key: &[u8], secret: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let random = SystemRandom::new();
    let own = EphemeralPrivateKey::generate(&ECDH_P256, &random)?;
    let own_public = own.compute_public_key()?;
    let mut salt = [0; 16];
    random.fill(&mut salt)?;
    agree_ephemeral(own, &UnparsedPublicKey::new(&ECDH_P256, public_key), |shared| {
        seal(text, &Keys { shared, secret, public_key, own_public: own_public.as_ref(), salt })
    })?
}

/// What the key of a message is made from.
struct Keys<'a> {
    /// What both sides compute from their own private and the other's public key.
    shared: &'a [u8],
    secret: &'a [u8],
    public_key: &'a [u8],
    own_public: &'a [u8],
    salt: [u8; 16],
}

fn seal(text: &[u8], keys: &Keys<'_>) -> Result<Vec<u8>, Unspecified> {
    let info = [b"WebPush: info\0", keys.public_key, keys.own_public].concat();
    let input: [u8; 32] = derive(keys.secret, keys.shared, &info)?;
    let key: [u8; 16] = derive(&keys.salt, &input, b"Content-Encoding: aes128gcm\0")?;
    let nonce: [u8; 12] = derive(&keys.salt, &input, b"Content-Encoding: nonce\0")?;

    let mut record = padded(text);
    LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?).seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::empty(),
        &mut record,
    )?;
    let key_length = u8::try_from(keys.own_public.len()).map_err(|_| Unspecified)?;
    let header = [&keys.salt[..], &RECORD_BYTES.to_be_bytes(), &[key_length], keys.own_public].concat();
    if header.len() + record.len() > RECORD_BYTES as usize {
        return Err(Unspecified);
    }
    Ok([header, record].concat())
}

fn padded(text: &[u8]) -> Vec<u8> {
    let mut record = [text, &[LAST_RECORD]].concat();
    record.resize(record.len().next_multiple_of(PADDED_BYTES), 0);
    record
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF with SHA-256 (RFC 5869).
fn derive<const LENGTH: usize>(salt: &[u8], input: &[u8], info: &[u8]) -> Result<[u8; LENGTH], Unspecified> {
    let mut output = [0; LENGTH];
    Salt::new(HKDF_SHA256, salt).extract(input).expand(&[info], Length(LENGTH))?.fill(&mut output)?;
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};

    fn bytes(text: &str) -> Vec<u8> {
        BASE64_URL_SAFE_NO_PAD.decode(text).expect("base64")
    }

    /// The example in appendix A of RFC 8291.
    const PUBLIC: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const OWN_PUBLIC: &str = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
    const SHARED: &str = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs";
    const SECRET: &str = "BTBZMqHH6r4Tts7J_aSIgg";
    const SALT: &str = "DGv6ra1nlYgDCS1FRnbzlw";

    #[test]
    fn keys_and_nonce_are_those_of_rfc_8291() {
        let info = [b"WebPush: info\0", &bytes(PUBLIC)[..], &bytes(OWN_PUBLIC)].concat();
        let input: [u8; 32] = derive(&bytes(SECRET), &bytes(SHARED), &info).expect("derived");
        assert_eq!(input[..], bytes("S4lYMb_L0FxCeq0WhDx813KgSYqU26kOyzWUdsXYyrg"));
        let key: [u8; 16] = derive(&bytes(SALT), &input, b"Content-Encoding: aes128gcm\0").expect("derived");
        assert_eq!(key[..], bytes("oIhVW04MRdy2XN9CiKLxTg"));
        let nonce: [u8; 12] = derive(&bytes(SALT), &input, b"Content-Encoding: nonce\0").expect("derived");
        assert_eq!(nonce[..], bytes("4h_95klXJ5E_qnoN"));
    }

    #[test]
    fn messages_have_one_length_and_are_never_the_same() {
        let message = |text: &str| encrypt(text.as_bytes(), &bytes(PUBLIC), &bytes(SECRET)).expect("encrypted");
        let (one, other) = (message("a"), message(&"a".repeat(200)));
        assert_eq!((one.len(), other.len()), (16 + 4 + 1 + 65 + 256 + 16, one.len()));
        assert_ne!(message("a"), one);
    }

    #[test]
    fn a_wrong_key_and_a_long_text_are_refused() {
        let mut off_the_curve = bytes(PUBLIC);
        off_the_curve[64] ^= 1;
        for key in [&[][..], &[4; 65], &off_the_curve] {
            assert!(encrypt(b"a", key, &bytes(SECRET)).is_err());
        }
        assert!(encrypt(&[0; 4_000], &bytes(PUBLIC), &bytes(SECRET)).is_err());
    }
}
