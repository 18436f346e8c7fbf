//! Where a push service takes messages for a browser.

use std::net::IpAddr;

use ureq::http::Uri;

/// Longer addresses are no push service's.
const LONGEST: usize = 2_048;

/// The address, checked.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    address: String,
    origin: String,
    host: String,
}

/// An address that no push service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "endpoint must be an https address without user name or fragment, of at most {LONGEST} characters (http is possible on \
     this machine only)"
)]
pub struct EndpointError;

impl Endpoint {
    /// Checks an address. Whoever subscribes chooses it, so it must be one that a push service can have: https, or http on
    /// this machine, for tests.
    pub fn parse(address: &str) -> Result<Self, EndpointError> {
        let is_plain = address.len() <= LONGEST && address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        let uri: Uri = Some(address).filter(|_| is_plain).and_then(|text| text.parse().ok()).ok_or(EndpointError)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(EndpointError) };
        let host = authority.host();
        let is_allowed = match scheme {
            "https" => true,
            "http" => is_loopback(host),
            _ => false,
        };
        if !is_allowed || host.is_empty() || authority.as_str().contains('@') {
            return Err(EndpointError);
        }
        Ok(Self { address: address.to_owned(), origin: format!("{scheme}://{authority}"), host: host.to_owned() })
    }

    /// All of it. It is a secret: whoever has it may send messages.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Scheme, host and port, which a signature is for.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The host of the push service.
    pub fn host(&self) -> &str {
        &self.host
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/[redacted]", self.origin)
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_reaches_other_machines() {
        for (address, origin, host) in [
            ("https://fcm.googleapis.com/fcm/send/abc:def", "https://fcm.googleapis.com", "fcm.googleapis.com"),
            ("https://push.example:8443/x?y=1", "https://push.example:8443", "push.example"),
            ("http://127.0.0.1:9999/push", "http://127.0.0.1:9999", "127.0.0.1"),
            ("http://[::1]:1/", "http://[::1]:1", "[::1]"),
            ("http://localhost/", "http://localhost", "localhost"),
        ] {
            let endpoint = Endpoint::parse(address).expect(address);
            assert_eq!((endpoint.address(), endpoint.origin(), endpoint.host()), (address, origin, host));
        }
        for address in [
            "",
            "push",
            "/push",
            "http://push.example/x",
            "http://169.254.169.254/latest/meta-data",
            "http://10.0.0.1/",
            "http://localhost.evil.example/",
            "http://127.0.0.1.evil.example/",
            "http://localhost@evil.example/",
            "https://user@push.example/",
            "https:///x",
            "https://push.example/#x",
            "https://push.example/ x",
            "https://push.example/\r\nX: y",
            "ftp://localhost/",
            "file:///etc/passwd",
        ] {
            assert_eq!(Endpoint::parse(address), Err(EndpointError), "{address:?}");
        }
        assert!(Endpoint::parse(&format!("https://push.example/{}", "a".repeat(LONGEST))).is_err());
    }

    #[test]
    fn the_address_is_not_shown() {
        let endpoint = Endpoint::parse("https://push.example/secret").expect("valid");
        assert_eq!(format!("{endpoint:?}"), "https://push.example/[redacted]");
    }
}
