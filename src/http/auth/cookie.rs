//! The login cookie.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

/// The value of a cookie in a request.
pub(super) fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// A cookie that scripts cannot read and that requests from other sites do not carry.
pub(super) fn set(name: &str, value: &str, life: Duration, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", life.as_secs())
}

/// A cookie as a header value.
pub(in crate::http) fn cookie_header(cookie: &str) -> HeaderValue {
    HeaderValue::from_str(cookie).expect("a valid name and hex digits")
}
