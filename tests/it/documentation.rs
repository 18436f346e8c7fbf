//! `docs/api.md` and `docs/configuration.md` say what the code does: nothing is missing and nothing is left over.

use std::collections::{BTreeMap, BTreeSet};

use flightdeck::agent::Capabilities;
use flightdeck::config::Config;
use flightdeck::http::{Need, route_needs};
use flightdeck::model::{AnsweredBy, ErrorClass, HappeningKind, NoticeKind, Scope, SessionState, TEMPLATE_VARIABLES};
use flightdeck::store::DeliveryState;
use serde_json::Value;

use crate::support::markdown::{code_spans, section, table_rows};
use crate::support::source::{code_of, project_file, source_files};

type Words = BTreeSet<String>;

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Words {
    words.into_iter().map(str::to_owned).collect()
}

fn api() -> String {
    project_file("docs/api.md")
}

/// What stands in the first column of a section's tables.
fn first_column(text: &str, heading: &str) -> Words {
    table_rows(section(text, heading)).iter().flat_map(|row| words(code_spans(&row[0]))).collect()
}

/// The part of a source file before its unit tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}

/// The string literals of Rust code. Good enough for sources without raw strings that hold quotes.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

/// The methods and the path of a route, with parameters reduced to `{}`, because only code needs their names.
fn route(method: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let segment = |segment: &str| if segment.contains('{') { "{}".to_owned() } else { segment.to_owned() };
    format!("{method} {}", path.split('/').map(segment).collect::<Vec<_>>().join("/"))
}

/// The routes that the router serves.
fn served_routes() -> Words {
    let source = project_file("src/http/router.rs");
    let mut routes = Words::new();
    for call in source.split(".route(").skip(1) {
        let path = literals(call).next().expect("a path");
        let methods = call.split("\n        .").next().unwrap_or(call);
        let methods = &methods[methods.find(path).expect("there") + path.len()..];
        let has = |word: &str| {
            methods.contains(&format!(" {word}("))
                || methods.contains(&format!(".{word}("))
                || methods.contains(&format!("({word}("))
        };
        for (word, served) in [
            ("either", ["GET", "POST"].as_slice()),
            ("action", &["GET", "POST"]),
            ("get", &["GET"]),
            ("post", &["POST"]),
            ("patch", &["PATCH"]),
            ("put", &["PUT"]),
            ("delete", &["DELETE"]),
        ] {
            if has(word) {
                routes.extend(served.iter().map(|method| route(method, path)));
            }
        }
    }
    assert!(routes.len() > 50, "the router was not understood: {routes:?}");
    routes
}

/// The routes that `docs/api.md` lists: `METHOD /path`, or `/path` alone for the portal's, which take GET and POST.
fn documented_routes() -> Words {
    let text = api();
    let mut routes = Words::new();
    for row in table_rows(section(&text, "# The API")) {
        for span in code_spans(&row[0]) {
            match span.split_once(' ') {
                Some((method, path)) if path.starts_with('/') => {
                    routes.insert(route(method, path));
                }
                None if span.starts_with("/api/") => {
                    routes.extend(["GET", "POST"].map(|method| route(method, span)));
                }
                _ => {}
            }
        }
    }
    routes
}

#[test]
fn every_route_is_documented_and_every_documented_route_exists() {
    assert_eq!(documented_routes(), served_routes(), "left: docs/api.md, right: src/http/router.rs");
}

#[test]
fn every_route_names_what_it_needs() {
    let named: Words = route_needs().map(|(method, path, _)| route(method, path)).collect();
    assert_eq!(named, served_routes(), "left: src/http/route_needs.rs, right: src/http/router.rs");
    assert_eq!(route_needs().count(), named.len(), "a route is listed twice");
    for (method, path, need) in route_needs() {
        assert_eq!(need == Need::Nothing, ["/api/health", "/login"].contains(&path), "{method} {path}");
        assert_eq!(need == Need::Scope(Scope::Models), path.starts_with("/v1/"), "{method} {path}");
        assert_ne!(need, Need::Scope(Scope::Admin), "{method} {path}: that is Need::Admin");
    }
    // These need the server's own token or the scope `admin`; whoever adds one thinks twice.
    let for_admins: Words = route_needs()
        .filter(|(_, _, need)| *need == Need::Admin)
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    let expected = [
        "DELETE /api/copilot/session/{id}",
        "DELETE /api/prompts/{name}",
        "DELETE /api/push/{id}",
        "DELETE /api/runtimes/{name}/install",
        "DELETE /api/runtimes/{name}/login",
        "DELETE /api/tokens/{id}",
        "GET /api/copilot/test/installJobsEntry",
        "GET /api/doctor",
        "GET /api/push",
        "GET /api/runtimes/{name}/install",
        "GET /api/runtimes/{name}/login",
        "GET /api/settings",
        "GET /api/stop",
        "GET /api/tokens",
        "PATCH /api/settings",
        "POST /api/copilot/test/installJobsEntry",
        "POST /api/jobs/trust",
        "POST /api/login-code",
        "POST /api/notifications/test",
        "POST /api/providers/{name}/test",
        "POST /api/push",
        "POST /api/runtimes/{name}/install",
        "POST /api/runtimes/{name}/login",
        "POST /api/stop",
        "POST /api/ticket",
        "POST /api/tokens",
        "PUT /api/prompts/{name}",
    ];
    assert_eq!(for_admins, words(expected));
    let api = api();
    assert_eq!(first_column(&api, "## Tokens"), words(Scope::ALL.map(Scope::as_str)));
}

/// Whether a word is written like the name of an error: at least two humps.
fn is_camel_case(word: &str) -> bool {
    let humps = word.chars().filter(char::is_ascii_uppercase).count();
    let begins = word.chars().next().is_some_and(|letter| letter.is_ascii_uppercase());
    begins && humps >= 2 && humps < word.len() / 2 && word.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// The error names that `src/http` can answer with.
fn emitted_errors() -> Words {
    let mut names = Words::new();
    for file in source_files("http").iter().filter(|file| !file.path.contains("scripted_model")) {
        // The names of schemas look like those of errors.
        let lines = without_tests(&file.text).lines().filter(|line| !line.contains("schemars(rename"));
        let text = lines.collect::<Vec<_>>().join("\n").replace("\\\"", "\"");
        // Both sides of every quote: a name may also stand in a string that is JSON itself.
        names.extend(text.split('"').filter(|word| is_camel_case(word)).map(str::to_owned));
        // A name of one hump, such as `Unauthorized`, is recognised by the status before it.
        for after_status in text.split("StatusCode::").skip(1) {
            let rest = after_status.trim_start_matches(|letter: char| letter.is_ascii_uppercase() || letter == '_');
            let after_comma = rest.trim_start_matches(',').trim_start();
            let name = after_comma.strip_prefix('"').and_then(|literal| literal.split('"').next()).unwrap_or_default();
            if name.chars().next().is_some_and(char::is_uppercase) && name.chars().all(char::is_alphanumeric) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn every_error_name_is_documented_and_every_documented_one_exists() {
    let text = api();
    let documented: Words =
        table_rows(section(&text, "## Errors")).iter().flat_map(|row| words(code_spans(&row[1]))).collect();
    assert_eq!(documented, emitted_errors(), "left: docs/api.md, right: src/http");
}

/// The callbacks in the source of `Callback`, each with the fields of its variant as JSON names them.
fn callbacks() -> BTreeMap<String, Words> {
    let source = project_file("src/model/response.rs");
    let chunks = without_tests(&source).split("rename = \"on").skip(1);
    let callback = |chunk: &str| {
        let (name, rest) = chunk.split_once('"').expect("a name");
        let end = rest.find("#[serde(rename").or(rest.find("\n}")).unwrap_or(rest.len());
        let code = code_of(&rest[..end]);
        let before_colon = code.match_indices(": ").filter_map(|(at, _)| {
            let name = code[..at].rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
            (!name.is_empty()).then(|| camel_case(name))
        });
        (format!("on{name}"), before_colon.collect())
    };
    let callbacks: BTreeMap<String, Words> = chunks.map(callback).collect();
    assert!(callbacks.len() > 20 && callbacks["onToolExecution"].contains("toolCallId"), "{callbacks:?}");
    callbacks
}

fn camel_case(snake_case: &str) -> String {
    let mut parts = snake_case.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + &part[..1].to_uppercase() + &part[1..])
}

#[test]
fn every_callback_and_each_of_its_fields_is_documented() {
    let (text, callbacks) = (api(), callbacks());
    let names: Words = callbacks.keys().cloned().collect();
    assert_eq!(first_column(&text, "### Callbacks"), names, "left: docs/api.md, right: src/model/response.rs");
    for row in table_rows(section(&text, "### Callbacks")) {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric();
        let documented: Words = words(row[1].split(|letter| !is_letter(letter)));
        for name in code_spans(&row[0]) {
            let missing: Vec<_> = callbacks[name].difference(&documented).collect();
            assert!(missing.is_empty(), "{name} has fields that docs/api.md does not name: {missing:?}");
        }
    }
}

#[test]
fn every_notice_kind_state_error_class_and_capability_is_documented() {
    let text = api();
    assert_eq!(first_column(&text, "### Notices"), words(NoticeKind::ALL.map(NoticeKind::as_str)));
    assert_eq!(first_column(&text, "## States"), words(SessionState::ALL.map(SessionState::as_str)));
    assert_eq!(first_column(&text, "### Error classes"), words(ErrorClass::ALL.map(ErrorClass::as_str)));
    let answered = table_rows(section(&text, "### Callbacks"));
    let of_permissions = ["`onPermissionAnswered`", "`onPermissionAllowed`"];
    let answered = answered.iter().filter(|row| of_permissions.contains(&row[0].as_str()));
    let spans = words(answered.flat_map(|row| code_spans(&row[1])));
    let by = words(AnsweredBy::ALL.map(AnsweredBy::as_str));
    assert!(by.is_subset(&spans), "not documented: {:?}", by.difference(&spans));
    let capabilities = serde_json::to_value(Capabilities::default()).expect("JSON");
    let names = capabilities.as_object().expect("an object").keys().map(String::as_str);
    assert_eq!(first_column(&text, "## Capabilities"), words(names));
}

/// Every setting with its default, as a person would write it. Tables of names are left out.
fn defaults() -> BTreeMap<String, String> {
    fn flatten(prefix: &str, value: &Value, into: &mut BTreeMap<String, String>) {
        let text = match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                    flatten(&key, value, into);
                }
                return;
            }
            Value::String(text) => text.clone(),
            Value::Array(items) if items.is_empty() => String::new(),
            Value::Number(number) if number.as_f64() == Some(0.0) => "0".to_owned(),
            other => other.to_string(),
        };
        into.insert(prefix.to_owned(), text);
    }
    let mut defaults = BTreeMap::new();
    flatten("", &serde_json::to_value(Config::default()).expect("plain values"), &mut defaults);
    assert!(defaults.contains_key("server.port"), "{defaults:?}");
    defaults
}

#[test]
fn every_setting_is_documented_with_its_default() {
    let text = project_file("docs/configuration.md");
    let mut documented = BTreeMap::new();
    for row in table_rows(section(&text, "## All settings")) {
        let spans = code_spans(&row[0]);
        let [key] = spans.as_slice() else { panic!("one setting in each row: {row:?}") };
        // Words in parentheses say what an empty value stands for.
        let default = if row[1].starts_with('(') { String::new() } else { row[1].trim_matches('`').to_owned() };
        let before = documented.insert((*key).to_owned(), default);
        assert_eq!(before, None, "{key} is documented twice");
    }
    assert_eq!(documented, defaults(), "left: docs/configuration.md, right: src/config/settings.rs");
}

#[test]
fn every_key_of_a_provider_an_mcp_server_and_an_acp_agent_is_documented() {
    /// The error about a key that does not exist lists those that do.
    fn known_keys(table: &str) -> Words {
        let config = serde_json::json!({ table: { "name": { "no_such_key": 1 } } });
        let error = serde_json::from_value::<Config>(config).expect_err("refused").to_string();
        words(code_spans(error.split("expected one of").nth(1).expect("a list")))
    }
    let text = project_file("docs/configuration.md");
    for (heading, known) in [
        ("## Providers", known_keys("providers")),
        ("## MCP servers", known_keys("mcp_servers")),
        ("## ACP agents", known_keys("acp")),
        ("## Defaults for each runtime", known_keys("runtimes")),
    ] {
        assert_eq!(first_column(&text, heading), known, "{heading}");
    }
}

#[test]
fn every_key_variable_event_and_state_of_notifications_is_documented() {
    let text = project_file("docs/notifications.md");
    let target = serde_json::json!({ "notifications": { "targets": { "name": { "no_such_key": 1 } } } });
    let error = serde_json::from_value::<Config>(target).expect_err("refused").to_string();
    let keys = words(code_spans(error.split("expected one of").nth(1).expect("a list")));
    assert_eq!(first_column(&text, "## Targets"), keys);
    let variables: Words = TEMPLATE_VARIABLES.map(|name| format!("{{{{{name}}}}}")).into_iter().collect();
    assert_eq!(first_column(&text, "## Templates"), variables);
    assert_eq!(first_column(&text, "## What is sent"), words(HappeningKind::ALL.map(HappeningKind::as_str)));
    for state in DeliveryState::ALL {
        assert!(section(&text, "## Delivery").contains(&format!("`{}`", state.as_str())), "{}", state.as_str());
    }
}

#[test]
fn the_entry_in_the_tutorial_of_jobs_has_no_problems() {
    let text = project_file("docs/jobs.md");
    let json = text.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let checked = flightdeck::jobs::entry::read_entry(json).expect("valid");
    assert_eq!(checked.warnings(), []);
    assert!(checked.job("changelog").is_some());
}
