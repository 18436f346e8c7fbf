//! Images in requests: content is accepted, addresses are not, because nothing is fetched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::capture::{CaptureError, Image};

/// An image in base64.
pub(in crate::http) fn from_base64(mime: &str, data: String, path: &str) -> Result<Image, CaptureError> {
    if !mime.starts_with("image/") {
        let message = format!("Invalid {path}: expected an image, got the media type {mime:?}.");
        return Err(CaptureError::invalid(path, message));
    }
    let is_base64 = !data.is_empty() && STANDARD.decode(&data).is_ok();
    if !is_base64 {
        return Err(CaptureError::invalid(path, format!("Invalid {path}: the image is not valid base64.")));
    }
    Ok(Image { mime: mime.to_owned(), data })
}

/// An image in a `data:` URL.
pub(in crate::http) fn from_url(url: &str, path: &str) -> Result<Image, CaptureError> {
    let Some(rest) = url.strip_prefix("data:") else {
        let message = format!(
            "Invalid {path}: only data: URLs are supported, because Flightdeck fetches nothing. Send the image itself."
        );
        return Err(CaptureError::invalid(path, message).with_code("unsupported_image_url"));
    };
    match rest.split_once(',') {
        Some((kind, data)) if kind.ends_with(";base64") => {
            let mime = kind.split(';').next().unwrap_or_default();
            from_base64(mime, data.to_owned(), path)
        }
        _ => Err(CaptureError::invalid(path, format!("Invalid {path}: expected data:image/…;base64,…"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_come_as_content_and_never_as_addresses() {
        let image = from_url("data:image/png;base64,aGk=", "a").expect("an image");
        assert_eq!(image, Image { mime: "image/png".to_owned(), data: "aGk=".to_owned() });
        for refused in [
            "https://example.com/a.png",
            "file:///etc/passwd",
            "data:image/png,raw",
            "data:text/plain;base64,aGk=",
            "data:image/png;base64,?",
            "data:image/png;base64,",
            "",
        ] {
            let error = from_url(refused, "messages[0].content[1].image_url.url").expect_err(refused);
            assert_eq!(error.param.as_deref(), Some("messages[0].content[1].image_url.url"), "{refused}");
        }
    }
}
