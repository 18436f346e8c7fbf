//! Taking up an agent's own session again: each row of what may come of it.

use serde_json::{Value, json};

use super::fake::{Fake, errors, notices};
use crate::support::{TestSession, callbacks};

type Meanwhile<'a> = &'a dyn Fn(&Fake);

/// A session that has been asked something, on a server that is then started again with other characters.
async fn restarted(before: &[&str], after: &[&str], meanwhile: impl FnOnce(&Fake)) -> (Fake, TestSession) {
    let fake = Fake::start(before).await;
    let session = fake.session().await;
    session.ask("@@echo remember-me").await;
    meanwhile(&fake);
    let fake = fake.restart_as(after).await;
    let session = session.seen_by(fake.server.http());
    (fake, session)
}

#[tokio::test]
async fn a_session_is_taken_up_again_and_its_replay_is_no_news() {
    for characters in [&[][..], &["no-list"], &["refuses:session/list:-32603:not now"]] {
        let (_fake, session) = restarted(&[], characters, |_| {}).await;
        assert_eq!(session.ask("@@history").await["text"], "turns: 2", "{characters:?}");
        let names = callbacks(&session.log().await);
        for (name, count) in [("onUserPrompt", 2), ("onEndMessage", 2), ("onIdle", 2)] {
            assert_eq!(
                names.iter().filter(|callback| *callback == name).count(),
                count,
                "{characters:?} {name} {names:?}"
            );
        }
        for kind in ["fresh-session", "incomplete"] {
            assert_eq!(notices(&session, kind).await, Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn a_session_that_is_lost_is_begun_anew_with_a_banner_and_a_short_summary() {
    let damage = |fake: &Fake| {
        for record in fake.records() {
            std::fs::write(record, "not what it was").expect("written");
        }
    };
    let remove = |fake: &Fake| {
        for record in fake.records() {
            std::fs::remove_file(record).expect("removed");
        }
    };
    let cases: [(&[&str], Meanwhile<'_>, &str); 5] = [
        (&["forgets"], &|_| {}, "no longer has the session"),
        (&[], &remove, "no longer has the session"),
        (&["no-list"], &remove, "-32002"),
        (&[], &damage, "the record is damaged"),
        (&["no-load"], &|_| {}, "cannot resume sessions"),
    ];
    for (characters, meanwhile, reason) in cases {
        let (mut fake, session) = restarted(&[], characters, meanwhile).await;
        let answer = session.ask("@@echo again").await;
        assert_eq!(answer["verdict"], "succeeded", "{characters:?} {answer}");
        let told = notices(&session, "fresh-session").await;
        assert_eq!(told.len(), 1, "{characters:?}");
        assert!(!told[0].contains(reason) && told[0].contains("your history is intact"), "{told:?}");
        let log = session.log().await;
        let notice = log.iter().find(|(_, response)| response["kind"] == "fresh-session").expect("there");
        assert!(notice.1["detail"].as_str().is_some_and(|detail| detail.contains(reason)), "{notice:?}");
        let recorded =
            fake.records().iter().map(|file| std::fs::read_to_string(file).expect("text")).collect::<String>();
        assert!(recorded.contains("could not be restored") && recorded.contains("It was answered"), "{recorded}");
        assert_eq!(session.ask("@@echo plain").await["text"], "ECHO[plain]", "the summary is said once");
        assert!(fake.server.stop().await);
        let logged = fake.server.stderr().await;
        assert!(logged.contains("session-lost") && logged.contains(reason), "{logged}");
    }
}

#[tokio::test]
async fn a_login_that_is_wanted_keeps_the_prompt_and_a_retry_goes_on() {
    let fake = Fake::start(&["login"]).await;
    let session = fake.session().await;
    session.prompt("@@echo kept").await;
    let mut stream = session.events_after(0).await;
    stream.until(|event| event.json()["state"] == "needs-login").await;
    let details = session.get("").await.json();
    assert_eq!(details["queuedPrompts"].as_array().map(Vec::len), Some(1));
    assert_eq!(details["stateDetail"], "fake needs a login: Run `fake login` in the terminal.");
    std::fs::write(fake.file("logged-in"), "").expect("written");
    assert_eq!(session.post("/retry", json!({})).await.status, 202);
    let events = stream.until_callback("onIdle").await;
    assert!(events.iter().any(|event| event.data.contains("ECHO[kept]")), "{events:?}");
}

/// The methods that the agent was called with, of those that say how a session was opened.
fn opening_calls(fake: &Fake) -> Vec<String> {
    let calls = std::fs::read_to_string(fake.file("calls")).expect("calls");
    let says_how = |call: &&str| matches!(*call, "initialize" | "authenticate" | "session/new" | "session/load");
    calls.lines().filter(says_how).map(str::to_owned).collect()
}

#[tokio::test]
async fn an_agent_that_lists_a_way_to_log_in_is_asked_to_and_then_called_again() {
    let fake = Fake::start(&["login-by-call"]).await;
    let session = fake.session().await;
    assert_eq!(session.ask("@@echo in").await["text"], "ECHO[in]");
    assert_eq!(opening_calls(&fake), ["initialize", "session/new", "authenticate", "session/new"]);
    assert_eq!(std::fs::read_to_string(fake.file("authenticated")).expect("the method"), "by-hand");
    std::fs::remove_file(fake.file("calls")).expect("removed");
    let fake = fake.restart_as(&["login-by-call"]).await;
    let session = session.seen_by(fake.server.http());
    assert_eq!(session.ask("@@history").await["text"], "turns: 2");
    assert_eq!(opening_calls(&fake), ["initialize", "session/load", "authenticate", "session/load"]);
}

#[tokio::test]
async fn a_login_that_does_not_help_is_tried_in_a_second_process_and_each_refusal_is_logged_with_its_code() {
    let mut fake = Fake::start(&["login"]).await;
    let session = fake.session().await;
    session.prompt("@@echo kept").await;
    session.events_after(0).await.until(|event| event.json()["state"] == "needs-login").await;
    let once = ["initialize", "session/new", "authenticate", "session/new"];
    assert_eq!(opening_calls(&fake), [once, once].concat());
    assert!(fake.server.stop().await);
    let logged = fake.server.stderr().await;
    let refused: Vec<&str> = logged.lines().filter(|line| line.contains("-32000")).collect();
    assert_eq!(refused.len(), 4, "{logged}");
    for line in refused {
        for field in
            [format!("session={}", session.id), "agent_session=".to_owned(), "method=\"session/new\"".to_owned()]
        {
            assert!(line.contains(&field), "{field}: {line}");
        }
    }
}

#[tokio::test]
async fn a_running_agent_that_needs_a_login_is_asked_to_log_in_before_it_is_started_again() {
    let fake = Fake::start(&[]).await;
    let session = fake.session().await;
    assert_eq!(session.ask("@@login").await["text"], "logged in again");
    let calls = std::fs::read_to_string(fake.file("calls")).expect("calls");
    let calls: Vec<&str> = calls.lines().collect();
    let asked = calls.iter().position(|call| *call == "authenticate").expect("asked");
    assert!(calls[asked..].contains(&"initialize"), "{calls:?}");
}

#[tokio::test]
async fn a_session_that_makes_the_agent_exit_is_lost_and_the_agent_is_not() {
    let (mut fake, session) = restarted(&[], &["dies:session/load"], |_| {}).await;
    assert_eq!(session.ask("@@echo on").await["verdict"], "succeeded");
    assert_eq!(notices(&session, "fresh-session").await.len(), 1);
    assert!(session.get("/log").await.text().contains("died at session/load"), "{:?}", session.log().await);
    assert_eq!(errors(&session).await, Vec::<String>::new());
    assert!(fake.server.stop().await);
    assert!(fake.server.stderr().await.contains("session-lost"));
}

#[tokio::test]
async fn the_configured_words_for_a_login_go_before_the_agents_own() {
    let fake = Fake::start_with(&["login"], "login_hint = \"run fake once and log in\"").await;
    let session = fake.session().await;
    session.prompt("hello").await;
    session.events_after(0).await.until(|event| event.json()["state"] == "needs-login").await;
    assert_eq!(session.get("").await.json()["stateDetail"], "run fake once and log in");
}

#[tokio::test]
async fn a_login_that_ran_out_in_a_running_process_is_tried_once_more_in_a_fresh_one() {
    let fake = Fake::start(&[]).await;
    let session = fake.session().await;
    session.ask("@@echo one").await;
    let outcome = session.ask("@@login").await;
    assert_eq!((&outcome["verdict"], &outcome["text"]), (&json!("succeeded"), &json!("logged in again")), "{outcome}");
    assert_eq!(errors(&session).await, Vec::<String>::new());
    assert_eq!(crate::support::children_of(fake.server.process_id()).len(), 1, "the old process is gone");
}

#[tokio::test]
async fn a_process_that_nobody_needs_ends_and_comes_back_with_the_next_prompt() {
    let fake = Fake::start_with(&[], "end_when_idle = \"1ms\"").await;
    let session = fake.session().await;
    session.ask("@@echo one").await;
    let server = fake.server.process_id();
    crate::support::until_childless(server).await;
    assert_eq!(session.state().await, "ready");
    let changed = fake.server.http().patch_json(&session.path(""), &json!({ "model": "large" })).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert_eq!(session.ask("@@history").await["text"], "turns: 2");
    assert_eq!(std::fs::read_to_string(fake.file("model")).expect("chosen"), "large");
    assert_eq!(errors(&session).await, Vec::<String>::new());
    let names = callbacks(&session.log().await);
    assert_eq!(names.iter().filter(|name| *name == "onEndMessage").count(), 2, "{names:?}");
}

#[tokio::test]
async fn nobody_drives_an_agents_session_twice_and_one_begun_elsewhere_is_adopted_with_its_past() {
    let fake = Fake::start(&[]).await;
    let http = fake.server.http();
    let elsewhere = fake.session().await;
    elsewhere.ask("@@echo one").await;
    elsewhere.ask("@@echo two").await;
    let listed = async || {
        let answer = http.get("/api/agent-sessions?runtime=acp:fake").await.json();
        assert_eq!(answer["problems"], json!([]), "{answer}");
        answer["sessions"].as_array().expect("sessions").clone()
    };
    assert_eq!(listed().await[0]["adoptedAs"], elsewhere.id);
    assert_eq!(http.delete(&elsewhere.path("")).await.status, 204);
    let found = listed().await;
    assert_eq!((found.len(), &found[0]["adoptedAs"]), (1, &Value::Null));
    let id = found[0]["agentSessionId"].as_str().expect("an id");
    let path = format!("/api/agent-sessions/acp:fake/{id}/adopt");
    let adopted = http.post_json(&path, &json!({})).await;
    assert_eq!(adopted.status, 201, "{}", adopted.text());
    let id = adopted.json()["sessionId"].as_str().expect("an id").to_owned();
    let adopted = TestSession { http: http.clone(), id };
    let names = callbacks(&adopted.log().await);
    for (name, count) in [("onUserPrompt", 2), ("onEndMessage", 2), ("onIdle", 2)] {
        assert_eq!(names.iter().filter(|callback| *callback == name).count(), count, "{name} {names:?}");
    }
    assert_eq!(http.post_json(&path, &json!({})).await.json()["sessionId"], adopted.id);
    assert_eq!(adopted.ask("@@history").await["text"], "turns: 3");
}

#[tokio::test]
async fn an_agent_that_lists_nothing_says_so_and_hides_nobody_elses_sessions() {
    let fake = Fake::start(&["no-list"]).await;
    let answer = fake.server.http().get("/api/agent-sessions?runtime=acp:fake").await.json();
    assert!(answer["problems"][0]["message"].as_str().expect("why").contains("does not list"), "{answer}");
}
