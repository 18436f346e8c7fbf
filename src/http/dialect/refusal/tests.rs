use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::Value;

use super::*;

async fn refuse(path: &str, header: Option<&'static str>, error: &CaptureError) -> (StatusCode, HeaderMap, Value) {
    let mut headers = HeaderMap::new();
    if let Some(name) = header {
        headers.insert(name, HeaderValue::from_static("2023-06-01"));
    }
    let response = refusal(path, &headers, error);
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, headers, serde_json::from_slice(&bytes).expect("JSON"))
}

#[tokio::test]
async fn an_error_has_the_shape_of_the_dialect_that_was_asked() {
    let error = CaptureError::invalid("n", "Unsupported n: send 1.").with_code("unsupported_parameter");
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/models", "/v1/other"] {
        let (status, headers, body) = refuse(path, None, &error).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(headers["x-request-id"].as_bytes().starts_with(b"req_"));
        let expected = serde_json::json!({"error": {"message": "Unsupported n: send 1.", "type": "invalid_request_error",
            "param": "n", "code": "unsupported_parameter"}});
        assert_eq!(body, expected, "{path}");
    }
    for (path, header) in
        [("/v1/messages", None), ("/v1/messages/count_tokens", None), ("/v1/models", Some("anthropic-version"))]
    {
        let (_, headers, body) = refuse(path, header, &error).await;
        assert_eq!(
            (body["type"].as_str(), body["error"]["type"].as_str()),
            (Some("error"), Some("invalid_request_error")),
            "{path}"
        );
        assert_eq!(headers["request-id"].to_str().ok(), body["request_id"].as_str());
    }
}

#[tokio::test]
async fn every_class_of_error_has_a_status_and_a_type_in_both_dialects() {
    for (kind, status, openai, anthropic) in [
        (ErrorKind::Invalid, 400, "invalid_request_error", "invalid_request_error"),
        (ErrorKind::Unauthorised, 401, "authentication_error", "authentication_error"),
        (ErrorKind::Forbidden, 403, "permission_error", "permission_error"),
        (ErrorKind::NotFound, 404, "invalid_request_error", "not_found_error"),
        (ErrorKind::TooLarge, 413, "invalid_request_error", "request_too_large"),
        (ErrorKind::Limited, 429, "rate_limit_error", "rate_limit_error"),
        (ErrorKind::Failed, 500, "server_error", "api_error"),
        (ErrorKind::Unavailable, 503, "server_error", "api_error"),
        (ErrorKind::TimedOut, 504, "server_error", "timeout_error"),
    ] {
        let error = CaptureError::new(kind, "Why.");
        for (path, name) in [("/v1/responses", openai), ("/v1/messages", anthropic)] {
            let (got, headers, body) = refuse(path, None, &error).await;
            assert_eq!((got.as_u16(), body["error"]["type"].as_str()), (status, Some(name)), "{kind:?}");
            assert_eq!(headers.contains_key("www-authenticate"), kind == ErrorKind::Unauthorised);
        }
    }
}

#[tokio::test]
async fn a_message_names_the_parameter_and_no_secret() {
    let error = CaptureError::invalid("messages[0].role", "No such role.");
    assert_eq!(refuse("/v1/messages", None, &error).await.2["error"]["message"], "messages[0].role: No such role.");
    let limited = CaptureError::new(ErrorKind::Limited, "Wait.").with_retry_after(Duration::from_secs(3));
    assert_eq!(refuse("/v1/messages", None, &limited).await.1["retry-after"], "3");
    let secret = CaptureError::new(ErrorKind::Failed, "Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz was refused.");
    let body = refuse("/v1/responses", None, &secret).await.2;
    assert!(!body.to_string().contains("ghp_0123456789"), "{body}");
}
