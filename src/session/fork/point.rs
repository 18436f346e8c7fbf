//! Where a fork leaves the log of its source: after a turn, and without what was still open then.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Callback, NoticeKind, PromptId, RequestId, Response, Seq, TurnId};

/// The turn that a fork ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkAfter {
    /// The turn of this prompt, or the turn that it was added to.
    Prompt(PromptId),
    /// The turn that the event with this number belongs to.
    Event(Seq),
}

/// Why there is no such point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPoint {
    /// The log has no such prompt or event.
    NotFound,
    /// The turn has not begun, or it has not ended.
    NotOver,
}

/// The part of a log that a fork takes over, and what its agent must leave out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ForkPoint {
    /// The last event of it.
    pub last: Seq,
    /// Events up to there that are left out: prompts that waited, and requests that nobody had answered.
    pub left_out: BTreeSet<Seq>,
    /// The prompts that are taken over.
    pub prompts: Vec<PromptId>,
    /// The prompts that the agent got later, in that order.
    pub later: Vec<PromptId>,
    /// The agent lost its own session later, so that it no longer has this part.
    pub is_lost: bool,
}

/// Reads a log from its beginning and finds the point.
pub(super) struct PointFinder {
    after: ForkAfter,
    is_found: bool,
    has_begun: bool,
    runs: bool,
    prompts: Vec<PromptId>,
    /// Prompts that wait for their turns, in order, with the events about them.
    waiting: Vec<(PromptId, Vec<Seq>)>,
    /// Events about the order of what waited. Nothing waits in a fork.
    orders: Vec<Seq>,
    open_requests: BTreeMap<RequestId, Seq>,
    point: Option<ForkPoint>,
}

impl PointFinder {
    pub fn new(after: ForkAfter) -> Self {
        Self {
            after,
            is_found: false,
            has_begun: false,
            runs: false,
            prompts: Vec::new(),
            waiting: Vec::new(),
            orders: Vec::new(),
            open_requests: BTreeMap::new(),
            point: None,
        }
    }

    pub fn apply(&mut self, seq: Seq, response: &Response) {
        // Deltas of blocks that have ended are gone, so the next event stands for them.
        if matches!(self.after, ForkAfter::Event(wanted) if seq >= wanted) {
            (self.is_found, self.has_begun) = (true, true);
        }
        let Response::Callback(callback) = response else { return };
        match callback {
            Callback::UserPrompt { prompt_id, queued, .. } => self.prompt(seq, *prompt_id, *queued),
            Callback::GeneratedUserPrompt { prompt_id: Some(prompt_id), queued, .. } => {
                self.prompt(seq, *prompt_id, queued.unwrap_or(false));
            }
            Callback::PromptChanged { prompt_id, .. } => {
                if let Some((_, events)) = self.waiting.iter_mut().find(|(waiting, _)| waiting == prompt_id) {
                    events.push(seq);
                }
            }
            Callback::PromptCancelled { prompt_id } => self.waiting.retain(|(waiting, _)| waiting != prompt_id),
            Callback::QueueReordered { prompt_ids } => {
                self.orders.push(seq);
                let place = |prompt: &PromptId| prompt_ids.iter().position(|id| id == prompt);
                // What is not named was changed by nobody, and keeps its place at the end.
                self.waiting.sort_by_key(|(prompt, _)| place(prompt).unwrap_or(usize::MAX));
            }
            Callback::AgentStart { turn_id } => self.turn_started(turn_id),
            Callback::PermissionRequested { request_id, .. } | Callback::QuestionAsked { request_id, .. } => {
                self.open_requests.insert(request_id.clone(), seq);
            }
            Callback::PermissionAnswered { request_id, .. } | Callback::QuestionAnswered { request_id, .. } => {
                self.open_requests.remove(request_id);
            }
            Callback::Notice { kind: NoticeKind::FreshSession, .. } => {
                if let Some(point) = &mut self.point {
                    point.is_lost = true;
                }
            }
            Callback::Idle {} => self.turn_ended(seq),
            _ => {}
        }
    }

    pub fn finish(self) -> Result<ForkPoint, NoPoint> {
        self.point.ok_or(if self.is_found { NoPoint::NotOver } else { NoPoint::NotFound })
    }

    fn prompt(&mut self, seq: Seq, prompt: PromptId, queued: bool) {
        let is_wanted = self.after == ForkAfter::Prompt(prompt);
        self.is_found |= is_wanted;
        if queued {
            self.waiting.push((prompt, vec![seq]));
            return;
        }
        self.has_begun |= is_wanted;
        self.got(prompt);
        self.runs = true;
    }

    /// A step of a turn begins; the first one gives the agent a prompt that has waited.
    fn turn_started(&mut self, turn: &TurnId) {
        let named = prompt_of(turn);
        let place = match named {
            Some(named) => self.waiting.iter().position(|(waiting, _)| *waiting == named),
            // An agent's own id says nothing; prompts begin in the order in which they wait.
            None => (!self.runs && !self.waiting.is_empty()).then_some(0),
        };
        self.runs = true;
        let Some(place) = place else { return };
        let (prompt, _) = self.waiting.remove(place);
        self.has_begun |= self.after == ForkAfter::Prompt(prompt);
        self.got(prompt);
    }

    fn turn_ended(&mut self, seq: Seq) {
        self.runs = false;
        if self.has_begun && self.point.is_none() {
            let waiting = self.waiting.iter().flat_map(|(_, events)| events);
            self.point = Some(ForkPoint {
                last: seq,
                left_out: waiting.chain(&self.orders).chain(self.open_requests.values()).copied().collect(),
                prompts: std::mem::take(&mut self.prompts),
                ..ForkPoint::default()
            });
        }
    }

    fn got(&mut self, prompt: PromptId) {
        match &mut self.point {
            Some(point) => point.later.push(prompt),
            None => self.prompts.push(prompt),
        }
    }
}

/// The prompt of a turn whose id is ours: `turn-3`, or `turn-3.2` for its second step.
fn prompt_of(turn: &TurnId) -> Option<PromptId> {
    let number = turn.as_str().strip_prefix("turn-")?;
    number.split('.').next()?.parse().ok().map(PromptId::from_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(after: ForkAfter, log: &[&str]) -> Result<ForkPoint, NoPoint> {
        let mut finder = PointFinder::new(after);
        for (seq, json) in (1..).zip(log) {
            finder.apply(seq, &Response::from_json(json).expect("one of ours"));
        }
        finder.finish()
    }

    fn prompt(number: u32) -> PromptId {
        PromptId::from_number(number)
    }

    const SENT_1: &str = r#"{"callback":"onUserPrompt","promptId":"prompt-1","text":"a","queued":false}"#;
    const START_1: &str = r#"{"callback":"onAgentStart","turnId":"turn-1"}"#;
    const QUEUED_2: &str = r#"{"callback":"onUserPrompt","promptId":"prompt-2","text":"b","queued":true}"#;
    const START_2: &str = r#"{"callback":"onAgentStart","turnId":"turn-2"}"#;
    const STEP_2: &str = r#"{"callback":"onAgentStart","turnId":"turn-2.2"}"#;
    const STEER_3: &str = r#"{"callback":"onUserPrompt","promptId":"prompt-3","text":"c","queued":false}"#;
    const IDLE: &str = r#"{"callback":"onIdle"}"#;
    const ASKED: &str = r#"{"callback":"onQuestionAsked","requestId":"request-4","question":"q"}"#;

    #[test]
    fn the_log_is_left_at_the_end_of_the_turn_without_what_was_open() {
        let log = [SENT_1, START_1, QUEUED_2, ASKED, IDLE, START_2, STEP_2, STEER_3, IDLE];
        let point = ForkPoint {
            last: 5,
            left_out: BTreeSet::from([3, 4]),
            prompts: vec![prompt(1)],
            later: vec![prompt(2), prompt(3)],
            is_lost: false,
        };
        assert_eq!(find(ForkAfter::Prompt(prompt(1)), &log).as_ref(), Ok(&point));
        assert_eq!(find(ForkAfter::Event(2), &log).as_ref(), Ok(&point));
        assert_eq!(find(ForkAfter::Event(5), &log).as_ref(), Ok(&point), "the end of a turn belongs to it");
        let whole = find(ForkAfter::Prompt(prompt(3)), &log).expect("the turn that it was added to");
        assert_eq!((whole.last, whole.prompts, whole.later), (9, vec![prompt(1), prompt(2), prompt(3)], Vec::new()));
    }

    #[test]
    fn a_turn_that_runs_waits_or_never_was_is_no_point() {
        let running = [SENT_1, START_1, QUEUED_2];
        assert_eq!(find(ForkAfter::Prompt(prompt(1)), &running), Err(NoPoint::NotOver));
        assert_eq!(find(ForkAfter::Prompt(prompt(2)), &[SENT_1, START_1, QUEUED_2, IDLE]), Err(NoPoint::NotOver));
        assert_eq!(find(ForkAfter::Prompt(prompt(9)), &running), Err(NoPoint::NotFound));
        assert_eq!(find(ForkAfter::Event(9), &running), Err(NoPoint::NotFound));
    }

    #[test]
    fn turns_with_the_agents_own_ids_take_prompts_in_order() {
        let log = [
            SENT_1,
            r#"{"callback":"onAgentStart","turnId":"x"}"#,
            QUEUED_2,
            IDLE,
            r#"{"callback":"onAgentStart","turnId":"y"}"#,
            IDLE,
        ];
        let point = find(ForkAfter::Prompt(prompt(2)), &log).expect("found");
        assert_eq!((point.last, point.left_out.len()), (6, 0));
        assert_eq!(find(ForkAfter::Prompt(prompt(1)), &log).expect("found").later, [prompt(2)]);
    }

    #[test]
    fn prompts_begin_in_the_order_that_people_gave_them_and_cancelled_ones_never_do() {
        let queued = |number: u32| {
            format!(r#"{{"callback":"onUserPrompt","promptId":"prompt-{number}","text":"q","queued":true}}"#)
        };
        let (two, three, four) = (queued(2), queued(3), queued(4));
        let start = r#"{"callback":"onAgentStart","turnId":"x"}"#;
        let log = [
            SENT_1,
            start,
            &two,
            &three,
            &four,
            r#"{"callback":"onPromptChanged","promptId":"prompt-2","text":"changed"}"#,
            r#"{"callback":"onQueueReordered","promptIds":["prompt-4","prompt-2","prompt-3"]}"#,
            r#"{"callback":"onPromptCancelled","promptId":"prompt-2"}"#,
            IDLE,
            start,
            IDLE,
            start,
            IDLE,
        ];
        let first = find(ForkAfter::Prompt(prompt(1)), &log).expect("found");
        assert_eq!((first.last, first.later), (9, vec![prompt(4), prompt(3)]));
        assert_eq!(first.left_out, BTreeSet::from([4, 5, 7]), "a cancelled prompt is history");
        assert_eq!(find(ForkAfter::Prompt(prompt(4)), &log).expect("found").last, 11);
        assert_eq!(find(ForkAfter::Prompt(prompt(2)), &log), Err(NoPoint::NotOver));
        let waiting = [SENT_1, start, &two, log[5], IDLE];
        assert_eq!(find(ForkAfter::Prompt(prompt(1)), &waiting).expect("found").left_out, BTreeSet::from([3, 4]));
    }

    #[test]
    fn a_session_that_the_agent_lost_later_is_noticed() {
        let lost = r#"{"callback":"onNotice","kind":"fresh-session","message":"m"}"#;
        assert!(!find(ForkAfter::Event(1), &[lost, IDLE]).expect("found").is_lost);
        assert!(find(ForkAfter::Event(1), &[SENT_1, IDLE, lost]).expect("found").is_lost);
    }
}
