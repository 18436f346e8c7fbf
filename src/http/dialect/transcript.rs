//! A conversation, collected message by message.

use crate::capture::{Message, Part, Request, ToolCall, ToolResult};

/// The conversation of a request.
#[derive(Debug, Default)]
pub(in crate::http) struct Transcript {
    system: Vec<String>,
    messages: Vec<Message>,
}

impl Transcript {
    /// A system or developer message. One that comes later keeps its place, in the user's voice: some clients (Claude
    /// Code) add such messages during a conversation, and a system prompt that changes would be another conversation.
    pub fn system(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        if self.messages.is_empty() {
            self.system.push(text);
        } else {
            self.user(vec![Part::Text(format!("<system-message>\n{text}\n</system-message>"))]);
        }
    }

    /// A user's message. Messages in succession are one: an agent's session takes one prompt per turn.
    pub fn user(&mut self, parts: Vec<Part>) {
        match self.messages.last_mut() {
            Some(Message::User(before)) => before.extend(parts),
            _ => self.messages.push(Message::User(parts)),
        }
    }

    /// The model's message.
    pub fn assistant(&mut self, text: String, calls: Vec<ToolCall>) {
        self.messages.push(Message::Assistant { text, calls });
    }

    /// A part of the model's message, in dialects that have a message in several parts.
    pub fn assistant_part(&mut self, more_text: &str, more_calls: Vec<ToolCall>) {
        match self.messages.last_mut() {
            // Text after calls is another message.
            Some(Message::Assistant { text, calls }) if calls.is_empty() || more_text.is_empty() => {
                text.push_str(more_text);
                calls.extend(more_calls);
            }
            _ => self.assistant(more_text.to_owned(), more_calls),
        }
    }

    /// A tool's result.
    pub fn tool(&mut self, result: ToolResult) {
        self.messages.push(Message::Tool(result));
    }

    /// Whether there is nothing but system messages.
    pub fn has_no_messages(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether the last message is the model's.
    pub fn ends_with_assistant(&self) -> bool {
        matches!(self.messages.last(), Some(Message::Assistant { .. }))
    }

    /// Writes the conversation to a request. System messages alone are the prompt.
    pub fn write_to(mut self, request: &mut Request) {
        if self.messages.is_empty() {
            let system = std::mem::take(&mut self.system);
            self.user(system.into_iter().map(Part::Text).collect());
        }
        request.system = self.system.join("\n\n");
        request.messages = self.messages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<Part> {
        vec![Part::Text(text.to_owned())]
    }

    fn written(transcript: Transcript) -> Request {
        let mut request = Request::default();
        transcript.write_to(&mut request);
        request
    }

    #[test]
    fn a_later_system_message_keeps_its_place_and_the_system_prompt_stays_the_same() {
        let mut transcript = Transcript::default();
        transcript.system("one".to_owned());
        transcript.system(String::new());
        transcript.system("two".to_owned());
        transcript.user(text("hi"));
        transcript.system("later".to_owned());
        let request = written(transcript);
        assert_eq!(request.system, "one\n\ntwo");
        let note = "<system-message>\nlater\n</system-message>";
        assert_eq!(request.messages, [Message::User([text("hi"), text(note)].concat())]);
    }

    #[test]
    fn parts_of_one_answer_are_one_message() {
        let call = |id: &str| ToolCall { id: id.to_owned(), name: "a".to_owned(), arguments: "{}".to_owned() };
        let mut transcript = Transcript::default();
        transcript.user(text("go"));
        transcript.assistant_part("I ", vec![]);
        transcript.assistant_part("call", vec![]);
        transcript.assistant_part("", vec![call("1")]);
        transcript.assistant_part("", vec![call("2")]);
        transcript.assistant_part("again", vec![]);
        let request = written(transcript);
        let expected = [
            Message::User(text("go")),
            Message::Assistant { text: "I call".to_owned(), calls: vec![call("1"), call("2")] },
            Message::Assistant { text: "again".to_owned(), calls: vec![] },
        ];
        assert_eq!(request.messages, expected);
    }

    #[test]
    fn system_messages_alone_are_the_prompt() {
        let mut transcript = Transcript::default();
        transcript.system("Say hi.".to_owned());
        let request = written(transcript);
        assert_eq!((request.system.as_str(), request.messages), ("", vec![Message::User(text("Say hi."))]));
    }
}
