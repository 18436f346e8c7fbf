//! What must hold after every step, and what must hold at the end.

use std::collections::{HashMap, HashSet};

use super::store::PromptState;
use super::world::World;
use crate::model::{Callback, Response};

impl World {
    /// After every step.
    pub fn check(&mut self) {
        self.check_rest();
        if self.random.one_in(8) {
            self.flush();
            while self.store.has_handed() && !self.store.refuses {
                self.store.work();
            }
            self.check_replay();
        }
    }

    /// A session without work holds no text: a thousand of them would hold a thousand answers.
    fn check_rest(&self) {
        if self.machine.turn.is_none() && self.machine.open_after.is_none() {
            assert_eq!(self.machine.transcript.fold().answer().text, "", "an answer is held after its turn");
        }
    }

    /// A restart would find the same state that the live session has.
    fn check_replay(&self) {
        let Some(open) = self.store.records.turn.clone().filter(|_| !self.store.has_handed()) else { return };
        let mut fold = self.store.replay(&open);
        let waits = |id: &crate::model::PromptId| {
            self.store.records.prompts.get(id).is_some_and(|prompt| prompt.state == PromptState::Queued)
        };
        for id in fold.answer().steered_by.clone().into_iter().filter(waits) {
            fold.remove_steered(id);
        }
        let live = self.machine.transcript.fold();
        let mut live = live.clone();
        for id in live.answer().steered_by.clone().into_iter().filter(waits) {
            live.remove_steered(id);
        }
        assert_eq!(live, fold, "live and replayed state differ");
    }

    /// Once nothing is in progress.
    pub fn check_settled(&mut self) {
        self.flush();
        while self.store.has_handed() {
            self.store.work();
        }
        assert_eq!(self.store.records.turn, None, "nothing is open");
        self.check_turns();
        self.check_blocks();
        for (id, prompt) in &self.store.records.prompts {
            assert!(self.ended(*id) || prompt.state == PromptState::Queued, "{id} has no outcome");
        }
        for (request, closed) in self.store.records.requests.values() {
            assert!(closed.is_some(), "{} is open", request.request_id);
        }
    }

    /// Every `onAgentStart` has its `onAgentEnd`, and the last one is followed by `onIdle`. No id is used twice.
    fn check_turns(&self) {
        let (mut open, mut known) = (None, HashSet::new());
        for (seq, (_, response)) in &self.store.records.log {
            match response {
                Response::Callback(Callback::AgentStart { turn_id }) => {
                    let before = open.replace(turn_id.clone());
                    assert_eq!(before, None, "{seq}: a turn began before the last one ended");
                    // Nobody remembers over a restart that a prompt was queued again for want of a login.
                    let is_again = self.store.records.put_back.iter().any(|prompt| prompt.turn() == *turn_id);
                    assert!(known.insert(turn_id) || is_again, "{seq}: {turn_id} began twice");
                }
                Response::Callback(Callback::AgentEnd { turn_id }) => {
                    assert_eq!(open.take().as_ref(), Some(turn_id), "{seq}: another turn ended");
                }
                Response::Callback(Callback::Idle {}) => assert_eq!(open, None, "{seq}: idle in a turn"),
                _ => {}
            }
        }
        assert_eq!(open, None, "a turn has no end");
    }

    /// Every block has one start and then one end, and none ends after its turn. Nothing empty is shown.
    fn check_blocks(&self) {
        let mut open: HashMap<(u8, &str), u64> = HashMap::new();
        for (seq, (_, response)) in &self.store.records.log {
            let Response::Callback(callback) = response else { continue };
            let (starts, key) = match callback {
                Callback::AgentEnd { .. } | Callback::Idle {} => {
                    assert!(open.is_empty(), "{seq}: blocks are open at the end of a turn: {open:?}");
                    continue;
                }
                Callback::GeneratedUserPrompt { prompt, .. } => {
                    assert!(!prompt.trim().is_empty(), "{seq}: an empty prompt");
                    continue;
                }
                Callback::EndReasoning { complete_content, .. } if complete_content.is_empty() => {
                    panic!("{seq}: empty reasoning")
                }
                Callback::StartReasoning { reasoning_id, .. } => (true, (0, reasoning_id.as_str())),
                Callback::StartMessage { message_id, .. } => (true, (1, message_id.as_str())),
                Callback::StartToolExecution { tool_call_id, .. } => (true, (2, tool_call_id.as_str())),
                Callback::EndReasoning { reasoning_id, .. } => (false, (0, reasoning_id.as_str())),
                Callback::EndMessage { message_id, .. } => (false, (1, message_id.as_str())),
                Callback::EndToolExecution { tool_call_id, .. } => (false, (2, tool_call_id.as_str())),
                _ => continue,
            };
            if starts {
                assert!(open.insert(key, *seq).is_none(), "{seq}: {key:?} began twice");
            } else {
                assert!(open.remove(&key).is_some(), "{seq}: {key:?} ended without a start");
            }
        }
        assert!(open.is_empty(), "blocks without an end: {open:?}");
    }
}
