//! A prompt in the protocol's format.

use agent_client_protocol_schema::v1::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, ImageContent, TextContent, TextResourceContents,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::agent::About;
use crate::model::Attachment;

/// The blocks of a prompt, and the names of attachments that the agent does not accept.
pub(super) fn blocks(text: String, attachments: &[Attachment], about: &About) -> (Vec<ContentBlock>, Vec<String>) {
    let mut blocks = vec![ContentBlock::Text(TextContent::new(text))];
    let mut left_out = Vec::new();
    for attachment in attachments {
        match block(attachment, about) {
            Some(block) => blocks.push(block),
            None => left_out.push(format!("{} ({})", attachment.name, attachment.mime)),
        }
    }
    (blocks, left_out)
}

fn block(attachment: &Attachment, about: &About) -> Option<ContentBlock> {
    let Attachment { name, mime, data } = attachment;
    if mime.starts_with("image/") {
        return about.takes_images.then(|| ContentBlock::Image(ImageContent::new(data.clone(), mime.clone())));
    }
    let text = String::from_utf8(STANDARD.decode(data).ok()?).ok()?;
    if about.takes_resources {
        let resource = TextResourceContents::new(text, format!("attachment:///{name}")).mime_type(mime.clone());
        let resource = EmbeddedResourceResource::TextResourceContents(resource);
        return Some(ContentBlock::Resource(EmbeddedResource::new(resource)));
    }
    Some(ContentBlock::Text(TextContent::new(format!("{name}:\n{text}"))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_comes_along_is_given_as_the_agent_takes_it() {
        let file = |name: &str, mime: &str, data: &str| Attachment {
            name: name.to_owned(),
            mime: mime.to_owned(),
            data: STANDARD.encode(data),
        };
        let files = [file("a.txt", "text/plain", "hello"), file("b.png", "image/png", "x")];
        let all = About { takes_images: true, takes_resources: true, ..About::default() };
        let (given, left_out) = blocks("look".to_owned(), &files, &all);
        let given = json!(given);
        assert_eq!((&given[0], left_out.len()), (&json!({ "type": "text", "text": "look" }), 0));
        assert_eq!((&given[1]["type"], &given[1]["resource"]["text"]), (&json!("resource"), &json!("hello")));
        assert_eq!((&given[2]["type"], &given[2]["mimeType"]), (&json!("image"), &json!("image/png")));
        let (few, left_out) = blocks("look".to_owned(), &files, &About::default());
        assert_eq!(json!(few)[1]["text"], "a.txt:\nhello");
        assert_eq!(left_out, ["b.png (image/png)"]);
    }
}
