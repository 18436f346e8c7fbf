//! `flightdeck allow`, `deny`, `answer` and `interrupt`: what a person decides about a session, from any terminal.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Map, Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, server};
use super::super::output::print;
use super::super::terminal::keyboard::{can_ask, confirm};
use super::super::terminal::style::Style;
use super::super::terminal::text::{clean, one_line};
use super::arguments::{AnswerFlags, DecideFlags, DenyFlags, InterruptFlags};
use super::asked::{Answered, Asked, Body, Field, Meaning};
use super::target::session_named;
use crate::client::{LocalServer, PermissionAnswer, QuestionAnswer};
use crate::model::SessionId;

pub(in crate::cli) fn allow(flags: &DecideFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let (id, asked) = context.wait_for(find(&server, &flags.id, flags.request.as_deref(), Wanted::Permission))?;
    let Body::Permission { covers, .. } = asked.body else { bail!("{} is a question", asked.id) };
    eprintln!("{}", asked.whole(Style::of_errors()));
    // Whoever names the request has seen it.
    if !flags.yes && flags.request.is_none() {
        if !can_ask() {
            bail!("nobody can be asked here; to allow what is shown above, add `--request {}`, or --yes", asked.id);
        }
        if !confirm("Allow this?")? {
            eprintln!("Nothing was decided.");
            return Ok(ExitCode::FAILURE);
        }
    }
    let answer = if flags.always { PermissionAnswer::AllowAlways { covers } } else { PermissionAnswer::AllowOnce };
    send(&context, &server, id, &asked, &Answered::Permission(answer))?;
    done(common, id, &asked, if flags.always { "allow-always" } else { "allow-once" }, "Allowed")
}

pub(in crate::cli) fn deny(flags: &DenyFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let (id, asked) = context.wait_for(find(&server, &flags.id, flags.request.as_deref(), Wanted::Permission))?;
    eprintln!("{}", asked.shown(Style::of_errors()));
    let answer = PermissionAnswer::Deny { feedback: flags.message.clone() };
    send(&context, &server, id, &asked, &Answered::Permission(answer))?;
    done(common, id, &asked, "deny", "Denied")
}

pub(in crate::cli) fn answer(flags: &AnswerFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let (id, asked) = context.wait_for(find(&server, &flags.id, flags.request.as_deref(), Wanted::Question))?;
    eprintln!("{}", asked.shown(Style::of_errors()));
    let answer = match &asked.body {
        Body::Question { fields, .. } if !fields.is_empty() => {
            Answered::Question(QuestionAnswer::Form(form(fields, &flags.text)?))
        }
        _ => match asked.meaning(&flags.text.join(" "), &mut Map::new()) {
            Meaning::Answer(answer) => answer,
            // A question is not viewed here: these words are the answer.
            Meaning::View => Answered::Question(QuestionAnswer::Text(flags.text.join(" "))),
            Meaning::Unclear(hint) => bail!("{hint}"),
            Meaning::Field => bail!("this question has a form"),
        },
    };
    send(&context, &server, id, &asked, &answer)?;
    done(common, id, &asked, "answered", "Answered")
}

pub(in crate::cli) fn interrupt(flags: &InterruptFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let (id, interrupted) = context.wait_for(async {
        let id = session_named(&server, &flags.id).await?;
        let interrupted = server.interrupt(id).await.map_err(|error| about_session(error, id))?;
        anyhow::Ok((id, interrupted))
    })?;
    if common.json {
        print(&json!({ "sessionId": id, "interrupted": interrupted }).to_string())?;
    } else if interrupted {
        print(&format!("Interrupted the turn of {id}."))?;
    } else {
        print(&format!("No turn is running in {id}."))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Permission,
    Question,
}

impl Wanted {
    fn fits(self, asked: &Asked) -> bool {
        (self == Self::Permission) == matches!(asked.body, Body::Permission { .. })
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Permission => "permission request",
            Self::Question => "question",
        }
    }
}

/// The session, and the request that is answered.
async fn find(
    server: &LocalServer,
    session: &str,
    request: Option<&str>,
    wanted: Wanted,
) -> anyhow::Result<(SessionId, Asked)> {
    let id = session_named(server, session).await?;
    let details = server.session(id).await.map_err(|error| about_session(error, id))?;
    let asked: Vec<Asked> = details.more.requests.iter().map(Asked::of_request).collect();
    Ok((id, chosen(id, asked, request, wanted)?))
}

fn chosen(id: SessionId, asked: Vec<Asked>, request: Option<&str>, wanted: Wanted) -> anyhow::Result<Asked> {
    let headline = |asked: &Asked| {
        let text = match &asked.body {
            Body::Permission { title, .. } => title,
            Body::Question { question, .. } => question,
        };
        format!("\n  {}  {}", asked.id, one_line(text))
    };
    let all: String = asked.iter().map(headline).collect();
    let mut fitting: Vec<Asked> =
        asked.into_iter().filter(|asked| request.map_or(wanted.fits(asked), |id| asked.id.as_str() == id)).collect();
    match (fitting.len(), request) {
        (1, _) if wanted.fits(&fitting[0]) => Ok(fitting.remove(0)),
        (1, _) => bail!("{} is not a {}", fitting[0].id, wanted.noun()),
        (0, Some(request)) => {
            let all = if all.is_empty() { " nothing".to_owned() } else { all };
            bail!("no request {} waits in {id}; waiting:{all}", clean(request))
        }
        (0, None) if all.is_empty() => bail!("nothing waits in {id}; `flightdeck inbox` lists what needs you"),
        (0, None) => bail!("no {} waits in {id}; waiting:{all}", wanted.noun()),
        _ => bail!("several requests wait in {id}; choose one with --request ID:{all}"),
    }
}

fn send(
    context: &CommandContext,
    server: &LocalServer,
    id: SessionId,
    asked: &Asked,
    answer: &Answered,
) -> anyhow::Result<()> {
    let sent = context.wait_for(async {
        match answer {
            Answered::Permission(answer) => server.answer_permission(id, &asked.id, answer).await,
            Answered::Question(answer) => server.answer_question(id, &asked.id, answer).await,
        }
    });
    sent.map_err(|error| about_session(error, id))
}

fn done(common: &CommonFlags, id: SessionId, asked: &Asked, decision: &str, word: &str) -> anyhow::Result<ExitCode> {
    print(&if common.json {
        json!({ "sessionId": id, "requestId": asked.id, "decision": decision }).to_string()
    } else {
        format!("{word} {} of {id}.", asked.id)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The values of a form: one JSON object, or `name=value` for each field.
fn form(fields: &[Field], words: &[String]) -> anyhow::Result<Map<String, Value>> {
    if let [text] = words
        && let Ok(Value::Object(values)) = serde_json::from_str(text)
    {
        return Ok(values);
    }
    let names = || fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut values = Map::new();
    for word in words {
        let Some((name, text)) = word.split_once('=') else {
            bail!("this question has a form; answer with name=value for each of: {}", clean(&names()));
        };
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            bail!("the form has no field {}; it has: {}", clean(name), clean(&names()));
        };
        values.insert(name.to_owned(), field.value(text).map_err(anyhow::Error::msg)?);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RequestId;

    fn permission(number: u64) -> Asked {
        let body = Body::Permission { title: "Run ls".to_owned(), detail: "ls".to_owned(), covers: "call" };
        Asked { id: RequestId::of_event(number), body }
    }

    #[test]
    fn one_request_needs_no_name_and_several_do() {
        let choose = |numbers: &[u64], request, wanted| {
            let asked = numbers.iter().map(|number| permission(*number)).collect();
            let chosen = chosen(SessionId::from_number(1), asked, request, wanted);
            chosen.map(|asked| asked.id.to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(choose(&[3], None, Wanted::Permission), Ok("request-3".to_owned()));
        assert_eq!(choose(&[3, 4], Some("request-4"), Wanted::Permission), Ok("request-4".to_owned()));
        let several = choose(&[3, 4], None, Wanted::Permission).expect_err("an error");
        assert!(several.ends_with("--request ID:\n  request-3  Run ls\n  request-4  Run ls"), "{several}");
        let unknown = choose(&[3], Some("request-9"), Wanted::Permission).expect_err("an error");
        assert!(unknown.contains("no request request-9"), "{unknown}");
        assert!(choose(&[3], None, Wanted::Question).expect_err("an error").contains("no question waits"));
        assert!(choose(&[3], Some("request-3"), Wanted::Question).expect_err("an error").contains("is not a question"));
        assert!(choose(&[], None, Wanted::Permission).expect_err("an error").contains("nothing waits"));
    }
}
