//! What waits for a commit: it happens when the commit succeeds, and not at all when it fails.

use super::prompts::AcceptedPrompt;
use super::queue::PlannedChange;
use super::requests::AnswerGiven;
use super::turn::BeforeTurn;
use super::{Context, Machine, Output, Reply};
use crate::model::{Continuation, PromptId, Seq, SessionProfile};
use crate::session::{AnswerError, PromptError, SessionError};
use crate::store::{QueuedPrompt, StoreError};

pub(super) enum Waiting {
    Prompt {
        accepted: Box<AcceptedPrompt>,
        first: Seq,
    },
    Turn {
        prompt: Box<QueuedPrompt>,
        before: Box<BeforeTurn>,
        first: Seq,
    },
    Answer {
        given: Box<AnswerGiven>,
        first: Seq,
    },
    Update {
        profile: Box<SessionProfile>,
        switches: bool,
        permits: bool,
        model_warning: Option<String>,
        first: Seq,
    },
    /// Answers to requests of a suspended turn go to the agent.
    Delivery {
        first: Seq,
    },
    /// Answers become a prompt.
    Continuation {
        prompt: Box<QueuedPrompt>,
        continuation: Box<Continuation>,
        last: PromptId,
        first: Seq,
    },
    Queue {
        change: PlannedChange,
        first: Seq,
    },
    Reopen {
        first: Seq,
    },
    Adoption {
        first: Seq,
    },
}

impl Machine {
    /// The first number of what is committed next. What was written before is handed over first, so that it does not
    /// fail with the commit.
    pub(super) fn begin_commit(&mut self) -> Seq {
        use super::Entries as _;
        self.flush();
        self.draft.next_seq()
    }

    /// Everything written since [`Self::begin_commit`] is committed or withdrawn, and then `waiting` is decided.
    pub(super) fn commit(&mut self, waiting: Waiting) {
        let batch = self.draft.take().unwrap_or_default();
        self.waiting = Some(waiting);
        self.outputs.push(Output::Commit(batch));
    }

    pub(super) fn on_committed(&mut self, context: &Context, outcome: Result<(), StoreError>) {
        let Some(waiting) = self.waiting.take() else { return };
        if outcome.is_err() {
            self.draft.withdraw(waiting.first());
        }
        match waiting {
            Waiting::Prompt { accepted, .. } => match outcome {
                Ok(()) => self.on_prompt_committed(context, *accepted),
                Err(error) => {
                    self.on_prompt_refused(*accepted);
                    self.reply(Reply::Prompt(Err(PromptError::Session(SessionError::Store(error)))));
                }
            },
            Waiting::Turn { prompt, before, .. } => match outcome {
                Ok(()) => self.on_turn_committed(context, *prompt),
                Err(_) => self.on_turn_refused(*prompt, *before),
            },
            Waiting::Answer { given, .. } => match outcome {
                Ok(()) => self.on_answer_committed(context, *given),
                Err(error) => {
                    self.transcript.fold_mut().take_back_answer(given.request_id());
                    self.requests.postpone(context);
                    if given.is_asked() {
                        self.reply(Reply::Answer(Err(AnswerError::Session(SessionError::Store(error)))));
                    }
                }
            },
            Waiting::Delivery { .. } => match outcome {
                Ok(()) => self.on_delivery_committed(context),
                Err(_) => self.on_delivery_refused(),
            },
            Waiting::Continuation { prompt, continuation, last, .. } => match outcome {
                Ok(()) => self.on_continuation_committed(context, *prompt, *continuation),
                Err(_) => self.prompts.give_back_id(prompt.id, last),
            },
            Waiting::Update { profile, switches, permits, model_warning, .. } => {
                if outcome.is_ok() {
                    self.on_update_committed(context, *profile, switches, permits, model_warning);
                }
                self.reply(Reply::Done(outcome.map_err(SessionError::Store)));
            }
            Waiting::Queue { change, .. } => {
                if outcome.is_ok() {
                    self.on_queue_changed(change);
                }
                let outcome = outcome.map_err(|error| PromptError::Session(SessionError::Store(error)));
                self.reply(Reply::Queue(outcome));
            }
            Waiting::Reopen { .. } => {
                if outcome.is_ok() {
                    self.on_reopen_committed();
                }
                self.reply(Reply::Done(outcome.map_err(SessionError::Store)));
            }
            Waiting::Adoption { .. } => self.reply(Reply::Done(outcome.map_err(SessionError::Store))),
        }
    }
}

impl Waiting {
    fn first(&self) -> Seq {
        match self {
            Self::Prompt { first, .. }
            | Self::Turn { first, .. }
            | Self::Answer { first, .. }
            | Self::Update { first, .. }
            | Self::Delivery { first }
            | Self::Continuation { first, .. }
            | Self::Queue { first, .. }
            | Self::Reopen { first }
            | Self::Adoption { first } => *first,
        }
    }
}
