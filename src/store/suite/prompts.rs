//! What must hold for prompts, outcomes and requests.

use super::{Ending, Medium, accepted, changes, ended, new_session, outcome};
use crate::model::{
    AnsweredBy, Attachment, Continuation, Decided, OpenRequest, PromptId, PromptOutcome, PromptVerdict, RequestBody,
    RequestId, RequestOutcome, SessionState, SlashCommand,
};
use crate::store::{AcceptedPrompt, Change, QueuePlace, QueuedPrompt};

pub(super) async fn a_prompt_goes_from_queued_to_its_outcome(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let attachment = Attachment { name: "n".to_owned(), mime: "m".to_owned(), data: "ZGF0YQ==".to_owned() };
    let prompt = QueuedPrompt {
        id: PromptId::from_number(1),
        idempotency_key: Some("k".to_owned()),
        text: "do it".to_owned(),
        attachments: vec![attachment],
        place: QueuePlace::of(PromptId::from_number(1), false),
        is_continuation: false,
    };
    let prepared = prompt.prepare();
    store.append_checked(changes(session, vec![Change::PromptAccepted(prepared.clone())])).await.expect("appended");
    let queued = async || store.load_session(session).await.expect("read").expect("there").queued;
    assert_eq!(queued().await, std::slice::from_ref(&prompt), "attachments included");
    assert_eq!(store.queued_prompt_count().await.expect("read"), 1);
    assert_eq!(store.sessions_with_queued_prompts().await.expect("read"), [session]);
    let known = store.prompt_by_key(session, "k".to_owned()).await.expect("read").expect("there");
    assert_eq!((known.number, known.fingerprint, known.outcome), (1, prepared.fingerprint, None));

    store.append_checked(changes(session, vec![Change::PromptStarted(prompt.id)])).await.expect("appended");
    assert_eq!(queued().await, []);
    store.append_checked(changes(session, vec![Change::PromptPutBack(prompt.id)])).await.expect("appended");
    assert_eq!(queued().await.len(), 1);
    store.append_checked(changes(session, vec![ended(1)])).await.expect("appended");
    assert_eq!(queued().await, []);
    let known = store.prompt(session, 1).await.expect("read").expect("there");
    assert_eq!(known.outcome, Some(outcome(1)));
    assert_eq!(store.prompt(session, 2).await.expect("read"), None);
    store.append_checked(changes(session, vec![accepted(2, None)])).await.expect("appended");
    assert_eq!(store.prompt_verdicts(session).await.expect("read"), [(1, outcome(1).verdict)], "only what has ended");
    store.close().await;
}

/// A backend hashes nothing: it stores what it is given.
pub(super) async fn the_fingerprint_is_the_callers(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let prompt = AcceptedPrompt {
        id: PromptId::from_number(1),
        idempotency_key: Some("k".to_owned()),
        fingerprint: "not a hash".to_owned(),
        text: String::new(),
        attachments: "[]".to_owned(),
        place: QueuePlace::of(PromptId::from_number(1), false),
        is_continuation: false,
    };
    store.append_checked(changes(session, vec![Change::PromptAccepted(prompt)])).await.expect("appended");
    let known = store.prompt_by_key(session, "k".to_owned()).await.expect("read").expect("there");
    assert_eq!(known.fingerprint, "not a hash");
    store.close().await;
}

/// A prompt that did not succeed may be asked again, so its attachments are kept.
pub(super) async fn attachments_are_kept_until_a_prompt_has_succeeded(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let attachment = Attachment { name: "n".to_owned(), mime: "m".to_owned(), data: "ZGF0YQ==".to_owned() };
    for (number, verdict) in [(1, PromptVerdict::Interrupted), (2, PromptVerdict::Succeeded)] {
        let id = PromptId::from_number(number);
        let (text, attachments) = ("do it".to_owned(), vec![attachment.clone()]);
        let prompt = QueuedPrompt { attachments, ..QueuedPrompt::plain(id, text) };
        let outcome = PromptOutcome { verdict, ..outcome(number) };
        let both = vec![Change::PromptAccepted(prompt.prepare()), Change::PromptEnded(id, outcome)];
        store.append_checked(changes(session, both)).await.expect("appended");
    }
    let kept = async |number| store.whole_prompt(session, number).await.expect("read").map(|prompt| prompt.attachments);
    assert_eq!((kept(1).await, kept(2).await, kept(3).await), (Some(vec![attachment]), Some(Vec::new()), None));
    store.close().await;
}

pub(super) async fn prompts_that_come_first_are_sent_before_others_that_wait(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let first = |number| {
        let (id, text) = (PromptId::from_number(number), String::new());
        let prompt = QueuedPrompt { place: QueuePlace::of(id, true), ..QueuedPrompt::plain(id, text) };
        Change::PromptAccepted(prompt.prepare())
    };
    let all = vec![accepted(1, None), accepted(2, None), first(3), first(4)];
    store.append_checked(changes(session, all)).await.expect("appended");
    let store = medium.restart(store, Ending::Crash).await;
    let queued = store.load_session(session).await.expect("read").expect("there").queued;
    let numbers: Vec<u32> = queued.iter().map(|prompt| prompt.id.number()).collect();
    assert_eq!(numbers, [3, 4, 1, 2]);
    store.close().await;
}

pub(super) async fn queued_prompts_are_changed_and_moved(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let place = |number, is_first| QueuePlace { is_first, number };
    let moved = |number, place| Change::PromptMoved(PromptId::from_number(number), place);
    let id = PromptId::from_number(4);
    let continuation = QueuedPrompt {
        place: QueuePlace::of(id, true),
        is_continuation: true,
        ..QueuedPrompt::plain(id, "answers".to_owned())
    };
    let all = vec![
        accepted(1, Some("k")),
        accepted(2, None),
        accepted(3, None),
        Change::PromptAccepted(continuation.prepare()),
        moved(3, place(1, false)),
        moved(1, place(3, false)),
        Change::PromptText(PromptId::from_number(1), "other".to_owned()),
    ];
    let fingerprint = match &all[0] {
        Change::PromptAccepted(prompt) => prompt.fingerprint.clone(),
        _ => String::new(),
    };
    store.append_checked(changes(session, all)).await.expect("appended");
    let store = medium.restart(store, Ending::Crash).await;
    let queued = store.load_session(session).await.expect("read").expect("there").queued;
    let shown: Vec<_> =
        queued.iter().map(|prompt| (prompt.id.number(), prompt.place, prompt.is_continuation)).collect();
    assert_eq!(
        shown,
        [
            (4, place(4, true), true),
            (3, place(1, false), false),
            (2, place(2, false), false),
            (1, place(3, false), false)
        ]
    );
    let known = store.prompt_by_key(session, "k".to_owned()).await.expect("read").expect("there");
    assert_eq!((known.text.as_str(), known.fingerprint), ("other", fingerprint), "a repetition is still recognised");
    store.close().await;
}

pub(super) async fn commands_of_the_agent_are_kept(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let commands =
        async |store: &crate::store::Store| store.load_session(session).await.expect("read").expect("there").commands;
    assert_eq!(commands(&store).await, []);
    let known = vec![SlashCommand::new("plan", Some("Makes a plan")), SlashCommand::new("review", None)];
    store.append_checked(changes(session, vec![Change::Commands(known.clone())])).await.expect("appended");
    let store = medium.restart(store, Ending::Clean).await;
    assert_eq!(commands(&store).await, known);
    store.close().await;
}

pub(super) async fn outcomes_of_all_sessions_are_read_by_number(medium: &Medium) {
    let store = medium.open();
    let (one, two) = (new_session(&store).await, new_session(&store).await);
    let mut newest = store.newest_outcome();
    assert_eq!(*newest.borrow_and_update(), 0);
    for (session, number) in [(two, 1), (one, 1), (two, 2)] {
        let both = vec![accepted(number, None), ended(number)];
        store.append_checked(changes(session, both)).await.expect("appended");
    }
    newest.changed().await.expect("news");
    assert_eq!(*newest.borrow_and_update(), 3);
    let read = async |after, limit| {
        let found = store.outcomes_after(after, limit).await.expect("read");
        found
            .iter()
            .map(|outcome| (outcome.seq, outcome.session, outcome.outcome.prompt_id.number()))
            .collect::<Vec<_>>()
    };
    assert_eq!(read(0, 2).await, [(1, two, 1), (2, one, 1)]);
    assert_eq!(read(2, 9).await, [(3, two, 2)]);
    assert_eq!(read(3, 9).await, []);
    let store = medium.restart(store, Ending::Clean).await;
    assert_eq!(*store.newest_outcome().borrow(), 3);
    store.close().await;
}

pub(super) async fn outcomes_keep_their_numbers_when_the_newest_is_deleted(medium: &Medium) {
    let store = medium.open();
    let (one, two) = (new_session(&store).await, new_session(&store).await);
    store.append_checked(changes(one, vec![accepted(1, None), ended(1)])).await.expect("appended");
    store.append_checked(changes(two, vec![accepted(1, None), ended(1)])).await.expect("appended");
    store.delete_session(two).await.expect("deleted");
    let store = medium.restart(store, Ending::Crash).await;
    store.append_checked(changes(one, vec![accepted(2, None), ended(2)])).await.expect("appended");
    let seqs: Vec<u64> = store.outcomes_after(0, 9).await.expect("read").iter().map(|outcome| outcome.seq).collect();
    assert_eq!(seqs, [1, 3], "2 is not given again");
    store.close().await;
}

pub(super) async fn open_requests_are_listed_in_the_order_of_their_numbers(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    let request = |number: u64| OpenRequest {
        request_id: RequestId::of_event(number),
        agent_request_id: format!("a{number}"),
        asked_at: None,
        body: RequestBody::question("?", None),
    };
    let opened = [2, 9, 10, 101].map(|number| Change::RequestOpened(request(number)));
    store.append_checked(changes(session, opened.to_vec())).await.expect("appended");
    let open = async || -> Vec<String> {
        let stored = store.load_session(session).await.expect("read").expect("there");
        stored.requests.into_iter().map(|request| request.request_id.to_string()).collect()
    };
    assert_eq!(open().await, ["request-2", "request-9", "request-10", "request-101"]);
    assert_eq!(store.session(session).await.expect("read").expect("there").pending, 4);
    let waiting = Change::State(SessionState::Waiting, None);
    store.append_checked(changes(session, vec![waiting])).await.expect("appended");
    store.settle_states().await.expect("settled");
    assert_eq!(store.session(session).await.expect("read").expect("there").state, SessionState::Waiting);
    assert_eq!(store.unfinished_sessions().await.expect("read"), [session]);
    let decided = Decided {
        request: request(2),
        outcome: RequestOutcome::Answered,
        text: Some("yes".to_owned()),
        by: AnsweredBy::Page,
    };
    let continuation = Continuation { decided: vec![decided], grants: Vec::new() };
    let answered = vec![Change::Continuation(continuation.clone())];
    store.append_checked(changes(session, answered)).await.expect("appended");
    assert_eq!(store.load_session(session).await.expect("read").expect("there").continuation, continuation);
    let closed = Change::RequestClosed {
        request_id: RequestId::of_event(9),
        outcome: RequestOutcome::Deny,
        by: AnsweredBy::Page,
    };
    store.append_checked(changes(session, vec![closed])).await.expect("appended");
    assert_eq!(open().await, ["request-2", "request-10", "request-101"]);
    let closed = async |id: &str| store.closed_request(session, id.to_owned()).await.expect("read");
    assert_eq!(
        closed("request-9").await.map(|closed| (closed.decision, closed.by)),
        Some(("deny".into(), "page".into()))
    );
    assert_eq!(closed("request-10").await, None);
    store.close().await;
}
