//! The models that callers may name, in the shape of both dialects at once: their fields do not clash.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::{CaptureError, ErrorKind, ModelEntry};
use crate::http::app::App;
use crate::http::body::PathPart;
use crate::http::dialect::refusal;
use crate::http::error::ApiError;

/// `GET /v1/models`.
pub(in crate::http) async fn list_models(State(app): State<App>) -> Json<ModelPage> {
    Json(list(&app.captures().models().await))
}

/// `GET /v1/models/{id}`; an id may contain slashes.
pub(in crate::http) async fn model(
    State(app): State<App>,
    id: Result<PathPart<String>, ApiError>,
    request: Request,
) -> Response {
    let error = match id {
        Ok(PathPart(id)) => {
            if let Some(model) = app.captures().models().await.iter().find(|model| model.id == id) {
                return Json(entry(model)).into_response();
            }
            not_found(&id)
        }
        Err(error) => CaptureError::new(ErrorKind::Invalid, error.message),
    };
    refusal(request.uri().path(), request.headers(), &error)
}

fn not_found(id: &str) -> CaptureError {
    let message = format!("The model {id:?} does not exist; GET /v1/models lists all models.");
    let error = CaptureError::new(ErrorKind::NotFound, message).with_code("model_not_found");
    CaptureError { param: Some("model".to_owned()), ..error }
}

/// All models, with the fields of both dialects.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ModelPage {
    object: &'static str,
    data: Vec<ModelObject>,
    has_more: bool,
    first_id: Option<String>,
    last_id: Option<String>,
}

/// A model, with the fields of both dialects.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ModelObject {
    id: String,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    display_name: String,
    created_at: &'static str,
}

fn list(models: &[ModelEntry]) -> ModelPage {
    ModelPage {
        object: "list",
        data: models.iter().map(entry).collect(),
        has_more: false,
        first_id: models.first().map(|model| model.id.clone()),
        last_id: models.last().map(|model| model.id.clone()),
    }
}

/// Nobody says when a model was made; both dialects want a time, so it is the epoch.
fn entry(model: &ModelEntry) -> ModelObject {
    ModelObject {
        id: model.id.clone(),
        object: "model",
        created: 0,
        owned_by: "flightdeck",
        kind: "model",
        display_name: model.name.clone(),
        created_at: "1970-01-01T00:00:00Z",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_has_the_fields_of_both_dialects() {
        let models = ["a/b", "c"].map(|id| ModelEntry { id: id.to_owned(), name: id.to_uppercase() });
        let list = json!(list(&models));
        assert_eq!((&list["object"], &list["has_more"]), (&json!("list"), &json!(false)));
        assert_eq!((&list["first_id"], &list["last_id"]), (&json!("a/b"), &json!("c")));
        let first = &list["data"][0];
        assert_eq!(
            (&first["object"], &first["created"], &first["owned_by"]),
            (&json!("model"), &json!(0), &json!("flightdeck"))
        );
        assert_eq!((&first["type"], &first["display_name"]), (&json!("model"), &json!("A/B")));
    }
}
