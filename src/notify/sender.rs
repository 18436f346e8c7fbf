//! Sends a request to a target, on a thread that may block.

use std::time::Duration;

use super::wire::Post;

/// What a target answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Accepted,
    /// It may work later.
    Failed {
        error: String,
        retry_after: Option<Duration>,
    },
    /// The same request will never work.
    Refused {
        error: String,
    },
    /// There is nobody at that address, or nobody any more.
    Gone {
        error: String,
    },
}

/// The longest delay that a target may ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Sends a request. Whatever goes wrong is an answer; no error repeats the address, which may be a secret.
pub(super) async fn send(post: Post, timeout: Duration) -> Answer {
    let sent = tokio::task::spawn_blocking(move || send_blocking(&post, timeout)).await;
    sent.unwrap_or_else(|_| Answer::Failed { error: "sending ended in a panic".to_owned(), retry_after: None })
}

fn send_blocking(post: &Post, timeout: Duration) -> Answer {
    // A redirection could send the token elsewhere.
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("flightdeck/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut request = agent.post(&post.url.0).content_type(post.content_type);
    for (name, value) in &post.headers {
        request = request.header(*name, &value.0);
    }
    match request.send(&post.body[..]) {
        Ok(response) => {
            let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
            judge(response.status().as_u16(), retry_after.and_then(|text| text.parse().ok()))
        }
        Err(error) => Answer::Failed { error: describe(&error, timeout), retry_after: None },
    }
}

fn judge(status: u16, retry_after_seconds: Option<u64>) -> Answer {
    let error = || format!("the target answered with status {status}");
    match status {
        200..=299 => Answer::Accepted,
        300..=399 => Answer::Refused { error: format!("{}, a redirection: use the final address", error()) },
        408 | 425 | 429 | 500.. => Answer::Failed {
            error: error(),
            retry_after: retry_after_seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER)),
        },
        404 | 410 => Answer::Gone { error: error() },
        401 | 403 => Answer::Refused { error: format!("{}: check the token or secret", error()) },
        _ => Answer::Refused { error: error() },
    }
}

fn describe(error: &ureq::Error, timeout: Duration) -> String {
    match error {
        ureq::Error::Timeout(_) => format!("no answer within {}", humantime::format_duration(timeout)),
        ureq::Error::Io(error) => format!("cannot reach the target: {error}"),
        ureq::Error::HostNotFound => "cannot reach the target: its host name is unknown".to_owned(),
        ureq::Error::ConnectionFailed => "cannot reach the target: the connection failed".to_owned(),
        ureq::Error::Tls(reason) => format!("cannot reach the target: TLS failed: {reason}"),
        ureq::Error::Rustls(reason) => format!("cannot reach the target: TLS failed: {reason}"),
        // Others may repeat the address.
        _ => "cannot send the request: the address is not usable".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_tried_again() {
        for status in [408, 425, 429, 500, 502, 503, 599] {
            assert!(matches!(judge(status, None), Answer::Failed { .. }), "{status}");
        }
        for status in [301, 307, 400, 401, 403, 413] {
            assert!(matches!(judge(status, None), Answer::Refused { .. }), "{status}");
        }
        for status in [404, 410] {
            assert!(matches!(judge(status, None), Answer::Gone { .. }), "{status}");
        }
        assert_eq!(
            [200, 202, 204].map(|status| judge(status, None)),
            [Answer::Accepted, Answer::Accepted, Answer::Accepted]
        );
        let Answer::Failed { retry_after, .. } = judge(429, Some(u64::MAX)) else { panic!("retried") };
        assert_eq!(retry_after, Some(LONGEST_RETRY_AFTER));
    }
}
