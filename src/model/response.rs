//! Responses: events as the portal API writes them. One event is one response is one number.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::command::suggested_prefix;
use super::{
    AnsweredBy, AttachedFile, BackgroundTask, ContextUsage, ErrorClass, NoticeKind, PromptId, RequestBody, RequestId,
    RequestOutcome, TurnId, Usage,
};

/// One entry of a session's list.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// Something went wrong in the agent; written `{"sessionError":"…", …}`.
    SessionError(SessionTrouble),
    /// Everything else; written `{"callback":NAME, …}`.
    Callback(Callback),
}

/// What went wrong in an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionTrouble {
    /// For people.
    #[serde(rename = "sessionError")]
    pub message: String,
    /// For programs. Logs of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<ErrorClass>,
    /// The agent's own message, if it says more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

/// What a tool returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The output, as the model got it; only its beginning when `content_blob` is there.
    pub content: String,
    /// More for people, such as a diff; only its beginning when `detailed_content_blob` is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_content: Option<String>,
    /// Hash of the blob that holds all of `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_blob: Option<String>,
    /// Hash of the blob that holds all of `detailed_content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_content_blob: Option<String>,
    /// Pictures that it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ToolImage>,
}

/// A picture that a tool made, kept as a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolImage {
    /// Hash of the blob.
    pub blob: String,
    /// Its media type.
    pub mime: String,
}

/// Why a tool failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolError {
    /// For people.
    pub message: String,
    /// For programs: `denied`, `interrupted` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The callbacks: those of the portal API first, then our own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "callback", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are the API's and are described in docs/api.md")]
pub enum Callback {
    #[serde(rename = "onStartReasoning")]
    StartReasoning {
        reasoning_id: String,
        /// The tool call of the sub-agent that reasons.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<String>,
    },
    #[serde(rename = "onReasoning")]
    Reasoning { reasoning_id: String, delta: String },
    #[serde(rename = "onEndReasoning")]
    EndReasoning {
        reasoning_id: String,
        complete_content: String,
        /// The agent never ended it; this is the content so far.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    #[serde(rename = "onStartMessage")]
    StartMessage {
        message_id: String,
        /// The tool call of the sub-agent that wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<String>,
    },
    #[serde(rename = "onMessage")]
    Message { message_id: String, delta: String },
    #[serde(rename = "onEndMessage")]
    EndMessage {
        message_id: String,
        complete_content: String,
        /// The agent never ended it, or started it again; this is the content so far, which is not part of the answer.
        #[serde(default, skip_serializing_if = "is_false")]
        incomplete: bool,
    },
    #[serde(rename = "onStartToolExecution")]
    StartToolExecution {
        tool_call_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<String>,
        tool_name: String,
        tool_arguments: String,
    },
    #[serde(rename = "onToolExecution")]
    ToolExecution { tool_call_id: String, delta: String },
    #[serde(rename = "onEndToolExecution")]
    EndToolExecution {
        tool_call_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ToolError>,
    },
    #[serde(rename = "onAgentStart")]
    AgentStart { turn_id: TurnId },
    #[serde(rename = "onAgentEnd")]
    AgentEnd { turn_id: TurnId },
    #[serde(rename = "onIdle")]
    Idle {},
    #[serde(rename = "onGeneratedUserPrompt")]
    GeneratedUserPrompt {
        prompt: String,
        /// Of a prompt that a task sent. Those that an agent gives itself have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued: Option<bool>,
    },
    #[serde(rename = "onUserPrompt")]
    UserPrompt {
        prompt_id: PromptId,
        text: String,
        queued: bool,
        /// What was sent along with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<AttachedFile>,
    },
    /// The text of a queued prompt was changed.
    #[serde(rename = "onPromptChanged")]
    PromptChanged { prompt_id: PromptId, text: String },
    /// A queued prompt was cancelled: it is not sent.
    #[serde(rename = "onPromptCancelled")]
    PromptCancelled { prompt_id: PromptId },
    /// The order of queued prompts was changed.
    #[serde(rename = "onQueueReordered")]
    QueueReordered { prompt_ids: Vec<PromptId> },
    #[serde(rename = "onPermissionRequested")]
    PermissionRequested {
        request_id: RequestId,
        kind: String,
        title: String,
        detail: String,
        options: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        /// What "always" can cover: `call`, `prefix`, `tool`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        covers: Vec<String>,
        /// Words that a prefix could have.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<String>,
    },
    /// A rule, the mode or an earlier answer allowed something; nobody was asked.
    #[serde(rename = "onPermissionAllowed")]
    PermissionAllowed {
        kind: String,
        title: String,
        detail: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        by: AnsweredBy,
    },
    #[serde(rename = "onPermissionAnswered")]
    PermissionAnswered {
        request_id: RequestId,
        decision: RequestOutcome,
        by: AnsweredBy,
        /// What the agent is told with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    #[serde(rename = "onQuestionAsked")]
    QuestionAsked {
        request_id: RequestId,
        question: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choices: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<serde_json::Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    #[serde(rename = "onQuestionAnswered")]
    QuestionAnswered {
        request_id: RequestId,
        /// `null` when nobody answered.
        answer: Option<String>,
        by: AnsweredBy,
    },
    #[serde(rename = "onUsage")]
    Usage(Usage),
    #[serde(rename = "onContextUsage")]
    ContextUsage(ContextUsage),
    #[serde(rename = "onBackgroundTasks")]
    BackgroundTasks { tasks: Vec<BackgroundTask> },
    #[serde(rename = "onNotice")]
    Notice {
        kind: NoticeKind,
        message: String,
        /// What a program said about it, in its own words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    #[serde(rename = "onUnknownEvent")]
    UnknownEvent { kind: String, raw: serde_json::Value },
    #[serde(rename = "onTitleChanged")]
    TitleChanged { title: String },
    #[serde(rename = "onStateChanged")]
    StateChanged {
        state: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
}

impl Callback {
    /// A prompt that an agent gives itself, or that follows from answers to it.
    pub fn generated_prompt(prompt: String) -> Self {
        Self::GeneratedUserPrompt { prompt, prompt_id: None, queued: None }
    }

    /// The event for a request.
    pub fn of_request(request_id: RequestId, body: RequestBody) -> Self {
        match body {
            RequestBody::Permission { kind, title, detail, options, tool_call_id, call, .. } => {
                let prefix = suggested_prefix(&detail).filter(|_| kind == "shell");
                let covers = [(!call.is_empty()).then_some("call"), prefix.as_ref().map(|_| "prefix"), Some("tool")];
                let covers = covers.into_iter().flatten().map(str::to_owned).collect();
                Self::PermissionRequested { request_id, kind, title, detail, options, tool_call_id, covers, prefix }
            }
            RequestBody::Question { question, detail, choices, form, url } => {
                Self::QuestionAsked { request_id, question, detail, choices, form, url }
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}

impl From<Callback> for Response {
    fn from(callback: Callback) -> Self {
        Self::Callback(callback)
    }
}

impl Response {
    /// An error with a message and nothing else.
    pub fn session_error(class: ErrorClass, message: impl Into<String>) -> Self {
        Self::SessionError(SessionTrouble { message: message.into(), error_class: Some(class), raw: None })
    }

    /// A notice of the given kind.
    pub fn notice(kind: NoticeKind, message: impl Into<String>) -> Self {
        Callback::Notice { kind, message: message.into(), detail: None }.into()
    }

    /// The response as one line of JSON.
    pub fn to_json(&self) -> String {
        let mut json = Vec::new();
        self.write_json(&mut json);
        String::from_utf8(json).expect("JSON is UTF-8")
    }

    /// Writes the response as one line of JSON, to memory: writing must not fail.
    pub fn write_json(&self, memory: impl std::io::Write) {
        let written = match self {
            Self::SessionError(trouble) => serde_json::to_writer(memory, trouble),
            Self::Callback(callback) => serde_json::to_writer(memory, callback),
        };
        written.expect("a response holds only strings, numbers and lists of them");
    }

    /// Reads a response back from the store. `None` for a callback of a later version: it is passed on unchanged.
    pub fn from_json(json: &str) -> Option<Self> {
        if let Ok(callback) = serde_json::from_str(json) {
            return Some(Self::Callback(callback));
        }
        serde_json::from_str(json).ok().map(Self::SessionError)
    }
}

impl JsonSchema for Response {
    fn schema_name() -> Cow<'static, str> {
        "Response".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One event of a session. Clients may ignore callbacks that they do not know.",
            "oneOf": [generator.subschema_for::<SessionTrouble>(), generator.subschema_for::<Callback>()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &Response, json: &str) {
        assert_eq!(response.to_json(), json);
        assert_eq!(Response::from_json(json).as_ref(), Some(response));
    }

    #[test]
    fn responses_are_written_as_the_portal_writes_them() {
        check(
            &Response::session_error(ErrorClass::RateLimit, "no \"model\""),
            r#"{"sessionError":"no \"model\"","errorClass":"rate-limit"}"#,
        );
        let of_an_earlier_version = SessionTrouble { message: "no".to_owned(), error_class: None, raw: None };
        check(&Response::SessionError(of_an_earlier_version), r#"{"sessionError":"no"}"#);
        check(
            &Callback::Reasoning { reasoning_id: "r1".to_owned(), delta: "hm".to_owned() }.into(),
            r#"{"callback":"onReasoning","reasoningId":"r1","delta":"hm"}"#,
        );
        check(&Callback::Idle {}.into(), r#"{"callback":"onIdle"}"#);
        check(
            &Callback::EndToolExecution {
                tool_call_id: "t".to_owned(),
                result: None,
                error: Some(ToolError { message: "denied".to_owned(), code: None }),
            }
            .into(),
            r#"{"callback":"onEndToolExecution","toolCallId":"t","error":{"message":"denied"}}"#,
        );
        check(
            &Callback::Usage(Usage { input_tokens: Some(2), ..Usage::default() }).into(),
            r#"{"callback":"onUsage","costUsd":null,"inputTokens":2,"outputTokens":null,"cacheRead":null,"cacheCreation":null,"durationMs":null,"numTurns":null,"premiumRequests":null,"credits":null,"codeChanges":null}"#,
        );
    }

    #[test]
    fn a_callback_of_a_later_version_is_no_error() {
        assert_eq!(Response::from_json(r#"{"callback":"onSomethingNew"}"#), None);
    }
}
