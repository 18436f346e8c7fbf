//! Many events of a log, rendered as HTML in one response.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::{Found, found, rendered};
use super::session;
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get};
use crate::model::Seq;
use crate::render::{Budget, Extent};

/// The most events of a batch.
const MOST_BLOCKS: usize = 60;
/// A batch ends early at this size, but never before its first event.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Which events are wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct BlocksQuery {
    /// Numbers of events, separated by commas.
    seqs: String,
}

/// Rendered events, in the order in which they were asked for.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Blocks {
    /// Those that cannot be shown have no HTML; those that did not fit are left out.
    blocks: Vec<RenderedBlock>,
}

/// One of them.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct RenderedBlock {
    /// The number of the event.
    seq: Seq,
    /// Sanitised; `null` if the event does not exist or cannot be shown.
    html: Option<String>,
    /// The time for rendering ran out: the next rendering may look better.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    provisional: bool,
}

/// Renders several events. One that cannot be shown does not keep the others from being shown.
pub(in crate::http) async fn blocks(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(query): QueryPart<BlocksQuery>,
) -> ApiResult<Json<Blocks>> {
    let session = session(&app, &id).await?;
    let store = app.sessions().store();
    let mut wanted = Vec::new();
    let mut bytes = 0;
    for seq in numbers(&query.seqs)? {
        let event = store.event(session.id(), seq).await?;
        let text = event.as_ref().and_then(|event| std::str::from_utf8(&event.body).ok());
        bytes += text.map_or(0, str::len);
        if bytes > MOST_BYTES && !wanted.is_empty() {
            break;
        }
        let block = match text {
            Some(text) => found(store, session.id(), seq, text).await?,
            None => None,
        };
        wanted.push((seq, block));
    }
    let blocks = rendered(&app, move || shown(&wanted)).await?;
    Ok(Json(Blocks { blocks }))
}

fn shown(wanted: &[(Seq, Option<Found>)]) -> Vec<RenderedBlock> {
    let (mut blocks, mut bytes) = (Vec::with_capacity(wanted.len()), 0);
    for (seq, found) in wanted {
        let mut budget = Budget::default();
        let html = found.as_ref().map(|found| found.html(Extent::Beginning, &mut budget).into_string());
        bytes += html.as_ref().map_or(0, String::len);
        if bytes > MOST_BYTES && !blocks.is_empty() {
            break;
        }
        blocks.push(RenderedBlock { seq: *seq, html, provisional: budget.ran_out() });
    }
    blocks
}

/// The numbers in a list, each once.
fn numbers(list: &str) -> ApiResult<Vec<Seq>> {
    let invalid = || {
        ApiError::bad_request(
            "InvalidQuery",
            format!("Invalid query: seqs must be 1 to {MOST_BLOCKS} event numbers, separated by commas."),
        )
    };
    let mut numbers: Vec<Seq> = Vec::new();
    for word in list.split(',') {
        let number = word.parse().map_err(|_| invalid())?;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    if numbers.len() > MOST_BLOCKS { Err(invalid()) } else { Ok(numbers) }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/blocks", blocks)
            .named("showBlocks", Tag::Reading, "Show many blocks as HTML")
            .details("HTML of the events with these numbers, as `block/{seq}.html` returns it, in one response. It stops at 2 MB: ask for the rest again.")
            .error(404, "SessionNotFound")
            .error(500, "RenderingFailed"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_once_in_order_and_nothing_else_is_taken() {
        assert_eq!(numbers("7,3,7").ok(), Some(vec![7, 3]));
        let many = (1..=61).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        for wrong in ["", ",", "1,", "x", "-1", "1;2", " 1", many.as_str()] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }
}
