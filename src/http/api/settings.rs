//! The settings: their values, where each came from, and changes of them.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{ConfigError, Effect, Loaded, Origin, default_of, key_name, without_secrets};
use crate::http::app::App;
use crate::http::body::JsonBody;
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{Operation, Tag, get, patch};

/// All settings.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct SettingList {
    /// The file that changes are written to.
    user_file: String,
    /// Changes with the content of that file.
    revision: String,
    /// Settings whose value takes effect when the server is started again.
    waiting_for_restart: Vec<String>,
    settings: Vec<Setting>,
}

/// One setting.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Setting {
    key: String,
    /// The value in force, without secrets; null if it is not set.
    value: Value,
    /// The built-in value; null for entries of tables such as `providers`.
    default: Value,
    /// What the user's file says, without secrets; left out if it does not set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_value: Option<Value>,
    layer: Layer,
    /// The file, the variable or the flag that it came from; empty for the built-in value.
    source: String,
    effect: Effect,
}

/// Where a value came from.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Layer {
    Default,
    User,
    Project,
    Environment,
    Flag,
}

/// Changes of settings; null removes a setting from the user's file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "SettingsChanges")]
pub(in crate::http) struct SettingsBody {
    #[serde(default)]
    changes: BTreeMap<String, Value>,
    /// The revision of the file that the caller has seen. If it was changed since, nothing is written.
    revision: Option<String>,
    #[serde(default)]
    dry_run: bool,
}

/// What a change did, or would do.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChangedSettings")]
pub(in crate::http) struct SettingsChange {
    /// The revision of the file afterwards.
    revision: String,
    /// The settings whose value in force is another one now.
    changed: Vec<String>,
    /// Those of them that take effect when the server is started again.
    needs_restart: Vec<String>,
    /// Settings that were written but have no effect, because a variable or a flag wins.
    overridden: Vec<String>,
    /// The settings that were asked for or have changed.
    settings: Vec<Setting>,
}

pub(in crate::http) async fn settings(State(app): State<App>) -> Json<SettingList> {
    let loaded = app.config().loaded();
    Json(SettingList {
        user_file: loaded.user_file.display().to_string(),
        revision: loaded.user_revision.clone(),
        waiting_for_restart: app.config().waiting_for_restart(),
        settings: loaded.values.keys().map(|key| setting(&loaded, key)).collect(),
    })
}

pub(in crate::http) async fn change_settings(
    State(app): State<App>,
    JsonBody(SettingsBody { changes, revision, dry_run }): JsonBody<SettingsBody>,
) -> ApiResult<Json<SettingsChange>> {
    let asked: Vec<String> = changes.keys().map(|key| key_name(key)).collect();
    let changes = changes
        .into_iter()
        .map(|(key, value)| Ok((key.clone(), if value.is_null() { None } else { Some(as_toml(&key, &value)?) })))
        .collect::<ApiResult<BTreeMap<_, _>>>()?;
    let config = std::sync::Arc::clone(app.config());
    // Files are read and written.
    let change = tokio::task::spawn_blocking(move || config.change(changes, revision.as_deref(), dry_run))
        .await
        .map_err(|error| internal(&error))?
        .map_err(|error| config_error(&error))?;
    let loaded = &change.loaded;
    let is_overridden = |key: &&String| {
        let origin = loaded.values.get(*key).map(|(_, origin)| origin);
        matches!(origin, Some(Origin::Variable(_) | Origin::Flag(_)))
    };
    let needs_restart = change.changed.iter().filter(|key| Effect::of(key) == Effect::Restart).cloned().collect();
    let mut shown = change.changed.clone();
    shown.extend(asked.iter().cloned());
    Ok(Json(SettingsChange {
        revision: loaded.user_revision.clone(),
        needs_restart,
        overridden: asked.iter().filter(is_overridden).cloned().collect(),
        settings: shown.iter().map(|key| setting(loaded, key)).collect(),
        changed: change.changed.into_iter().collect(),
    }))
}

fn setting(loaded: &Loaded, key: &str) -> Setting {
    let json = |value: &toml::Value| serde_json::to_value(value).unwrap_or_default();
    let found = loaded.values.get(key);
    let (layer, source) = match found.map(|(_, origin)| origin) {
        None | Some(Origin::Default) => (Layer::Default, String::new()),
        Some(Origin::File(path)) if *path == loaded.user_file => (Layer::User, path.display().to_string()),
        Some(Origin::File(path)) => (Layer::Project, path.display().to_string()),
        Some(Origin::Variable(name)) => (Layer::Environment, name.clone()),
        Some(Origin::Flag(name)) => (Layer::Flag, (*name).to_owned()),
    };
    Setting {
        key: key.to_owned(),
        value: found.map(|(value, _)| json(&without_secrets(key, value))).unwrap_or_default(),
        default: default_of(key).as_ref().map(json).unwrap_or_default(),
        user_value: loaded.user_values.get(key).map(|value| json(&without_secrets(key, value))),
        layer,
        source,
        effect: Effect::of(key),
    }
}

fn as_toml(key: &str, value: &Value) -> ApiResult<toml::Value> {
    toml::Value::try_from(value).map_err(|error| {
        let message =
            format!("Invalid value of `{key}`: {error}. To remove a setting, send null for the whole setting.");
        ApiError::bad_request("InvalidSetting", message)
    })
}

fn config_error(error: &ConfigError) -> ApiError {
    match error {
        ConfigError::Unreadable { .. } | ConfigError::Unwritable { .. } => {
            ApiError::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "SettingsFile", sentence(error))
        }
        ConfigError::Changed { .. } => {
            ApiError::new(axum::http::StatusCode::CONFLICT, "SettingsChanged", sentence(error))
        }
        _ => ApiError::bad_request("InvalidSetting", sentence(error)),
    }
}

fn internal(error: &tokio::task::JoinError) -> ApiError {
    ApiError::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "InternalError", sentence(error))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/settings", settings)
            .named("listSettings", Tag::Settings, "List all settings")
            .details("Their effective values, and where each came from. Secrets are `\"[redacted]\"`."),
        patch("/api/settings", change_settings)
            .named("changeSettings", Tag::Settings, "Change settings")
            .details(
                "Writes your own file and uses it. All changes are made, or none. With no changes, the files are read again. \
                 `\"[redacted]\"` keeps a secret.",
            )
            .error(400, "InvalidSetting")
            .error(409, "SettingsChanged")
            .error(500, "SettingsFile"),
    ]
}
