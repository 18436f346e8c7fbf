//! What a caller needs for each route. A route that is missing here needs the server's own token, and a test fails.

use axum::http::Method;

use crate::model::Scope;

/// What a caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// The server's own token, a browser that is logged in, or a token with the scope `admin`.
    Admin,
    /// A token with this scope, or the server's own.
    Scope(Scope),
}

/// Methods, path and need.
type Row = (&'static str, &'static str, Need);

/// Every route.
const ROUTES: &[Row] = &[
    ("GET POST", "/api/test", Need::Scope(Scope::View)),
    ("GET POST", "/api/config", Need::Scope(Scope::View)),
    ("GET POST", "/api/token", Need::Scope(Scope::View)),
    ("GET POST", "/api/stop", Need::Admin),
    ("GET POST", "/api/copilot/models", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/session/start/{*model}", Need::Scope(Scope::Prompt)),
    ("GET POST", "/api/copilot/session/{id}/stop", Need::Scope(Scope::Prompt)),
    ("GET POST", "/api/copilot/session/stop/{id}", Need::Scope(Scope::Prompt)),
    ("GET POST", "/api/copilot/session/{id}/query", Need::Scope(Scope::Prompt)),
    ("GET POST", "/api/copilot/session/query/{id}", Need::Scope(Scope::Prompt)),
    ("GET POST", "/api/copilot/session/{id}/live", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/session/live/{id}", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/session/{id}/live/{token}", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/task", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/task/start/{task}/session/{id}", Need::Scope(Scope::Jobs)),
    ("GET POST", "/api/copilot/task/{id}/stop", Need::Scope(Scope::Jobs)),
    ("GET POST", "/api/copilot/task/{id}/live", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/task/{id}/live/{token}", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/job", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/job/running", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/job/start/{job}", Need::Scope(Scope::Jobs)),
    ("GET POST", "/api/copilot/job/{id}/status", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/job/{id}/stop", Need::Scope(Scope::Jobs)),
    ("GET POST", "/api/copilot/job/{id}/live", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/job/{id}/live/{token}", Need::Scope(Scope::View)),
    ("GET POST", "/api/copilot/test/installJobsEntry", Need::Admin),
    ("GET", "/api/jobs", Need::Scope(Scope::View)),
    ("POST", "/api/jobs", Need::Scope(Scope::Jobs)),
    ("GET", "/api/jobs/entry", Need::Scope(Scope::View)),
    ("GET", "/api/jobs/schema.json", Need::Scope(Scope::View)),
    ("POST", "/api/jobs/trust", Need::Admin),
    ("GET", "/api/jobs/{id}", Need::Scope(Scope::View)),
    ("GET", "/api/jobs/{id}/log", Need::Scope(Scope::View)),
    ("GET", "/api/jobs/{id}/events", Need::Scope(Scope::View)),
    ("GET", "/api/jobs/{id}/gate/{file}", Need::Scope(Scope::View)),
    ("POST", "/api/jobs/{id}/stop", Need::Scope(Scope::Jobs)),
    ("POST", "/api/jobs/{id}/retry", Need::Scope(Scope::Jobs)),
    ("POST", "/api/jobs/{id}/approve", Need::Scope(Scope::Approve)),
    ("POST", "/api/jobs/{id}/reject", Need::Scope(Scope::Approve)),
    ("GET", "/api/copilot/session", Need::Scope(Scope::View)),
    ("POST", "/api/copilot/session", Need::Scope(Scope::Prompt)),
    ("GET", "/api/copilot/session/{id}", Need::Scope(Scope::View)),
    // What a session may do and spend is for `approve` alone; its handler checks that.
    ("PATCH", "/api/copilot/session/{id}", Need::Scope(Scope::Prompt)),
    ("DELETE", "/api/copilot/session/{id}", Need::Admin),
    ("POST", "/api/copilot/session/{id}/prompt", Need::Scope(Scope::Prompt)),
    ("PATCH DELETE", "/api/copilot/session/{id}/prompt/{prompt}", Need::Scope(Scope::Prompt)),
    ("PUT", "/api/copilot/session/{id}/queue", Need::Scope(Scope::Prompt)),
    ("GET", "/api/copilot/session/{id}/files", Need::Scope(Scope::View)),
    ("POST", "/api/copilot/session/{id}/interrupt", Need::Scope(Scope::Prompt)),
    ("POST", "/api/copilot/session/{id}/reopen", Need::Scope(Scope::Prompt)),
    ("POST", "/api/copilot/session/{id}/ask-again", Need::Scope(Scope::Approve)),
    ("POST", "/api/copilot/session/{id}/retry", Need::Scope(Scope::Prompt)),
    ("POST", "/api/copilot/session/{id}/seen", Need::Scope(Scope::Prompt)),
    ("GET", "/api/copilot/session/{id}/events", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/log", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/blob/{hash}", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/block/{file}", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/blocks", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/outline", Need::Scope(Scope::View)),
    ("POST", "/api/copilot/session/{id}/fork", Need::Scope(Scope::Prompt)),
    ("GET", "/api/copilot/session/{id}/export", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/search", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/changes", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/changes/file", Need::Scope(Scope::View)),
    ("GET", "/api/copilot/session/{id}/changes/patch", Need::Scope(Scope::View)),
    // They change files on this machine, as what `approve` allows an agent does.
    ("POST", "/api/copilot/session/{id}/changes/revert", Need::Scope(Scope::Approve)),
    ("POST", "/api/copilot/session/{id}/changes/undo", Need::Scope(Scope::Approve)),
    ("POST", "/api/copilot/session/{id}/permission/{request}", Need::Scope(Scope::Approve)),
    ("POST", "/api/copilot/session/{id}/answer/{request}", Need::Scope(Scope::Approve)),
    ("GET", "/api/events", Need::Scope(Scope::View)),
    ("GET", "/api/prompts", Need::Scope(Scope::Prompt)),
    // A text that a person sends later, without reading it again.
    ("PUT DELETE", "/api/prompts/{name}", Need::Admin),
    ("GET", "/api/folders", Need::Scope(Scope::Prompt)),
    ("GET", "/api/runtimes", Need::Scope(Scope::View)),
    ("GET POST DELETE", "/api/runtimes/{name}/login", Need::Admin),
    ("GET POST DELETE", "/api/runtimes/{name}/install", Need::Admin),
    ("GET", "/api/models", Need::Scope(Scope::View)),
    ("GET", "/api/agent-sessions", Need::Scope(Scope::Prompt)),
    ("POST", "/api/agent-sessions/{runtime}/{id}/adopt", Need::Scope(Scope::Prompt)),
    ("GET", "/api/doctor", Need::Admin),
    ("GET", "/api/usage", Need::Scope(Scope::View)),
    // Bare without a token; with the scope `view` it says more.
    ("GET", "/api/health", Need::Nothing),
    ("GET", "/api/notifications", Need::Scope(Scope::View)),
    ("POST", "/api/notifications/test", Need::Admin),
    ("GET POST", "/api/push", Need::Admin),
    ("DELETE", "/api/push/{id}", Need::Admin),
    ("POST", "/api/providers/{name}/test", Need::Admin),
    ("POST", "/api/login-code", Need::Admin),
    ("POST", "/api/ticket", Need::Admin),
    ("GET PATCH", "/api/settings", Need::Admin),
    ("GET POST", "/api/tokens", Need::Admin),
    ("DELETE", "/api/tokens/{id}", Need::Admin),
    ("GET", "/api/captures", Need::Scope(Scope::View)),
    ("GET", "/api/conformance", Need::Scope(Scope::View)),
    ("GET", "/api/folder-rules", Need::Scope(Scope::View)),
    ("DELETE", "/api/folder-rules/{id}", Need::Scope(Scope::Approve)),
    ("POST", "/v1/chat/completions", Need::Scope(Scope::Models)),
    ("POST", "/v1/responses", Need::Scope(Scope::Models)),
    ("POST", "/v1/messages", Need::Scope(Scope::Models)),
    ("POST", "/v1/messages/count_tokens", Need::Scope(Scope::Models)),
    ("GET", "/v1/models", Need::Scope(Scope::Models)),
    ("GET", "/v1/models/{*id}", Need::Scope(Scope::Models)),
    ("GET", "/api/openapi.json", Need::Scope(Scope::View)),
    // A page: a browser that is logged in may open it too.
    ("GET", "/api/docs", Need::Scope(Scope::View)),
    ("GET", "/metrics", Need::Scope(Scope::View)),
    ("GET POST", "/login", Need::Nothing),
];

/// Whether a path belongs to the models of agents.
pub(super) fn is_models_path(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

/// What a request needs, by its method and the route that it matched. Whatever is not in the table needs the server's
/// own token, pages included. Callers of models may learn that a route under `/v1/` does not exist or takes another method.
pub(super) fn need_of(method: &Method, path: &str, matched: Option<&str>) -> Need {
    need_in(ROUTES, method, path, matched)
}

fn need_in(table: &[Row], method: &Method, path: &str, matched: Option<&str>) -> Need {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let rows = || table.iter().filter(|(_, route, _)| matched == Some(*route));
    let takes = |methods: &str| methods.split(' ').any(|listed| listed == method.as_str());
    let is_listed = matched.is_none() || rows().next().is_some();
    match rows().find(|(methods, _, _)| takes(methods)) {
        Some((_, _, need)) => *need,
        None if is_listed && is_models_path(path) => Need::Scope(Scope::Models),
        None => Need::Admin,
    }
}

/// Method, path and need of every route.
pub fn route_needs() -> impl Iterator<Item = (&'static str, &'static str, Need)> {
    ROUTES.iter().flat_map(|(methods, path, need)| methods.split(' ').map(|method| (method, *path, *need)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_needs_the_servers_own_token() {
        let need = |method, path: &str, matched| need_of(&method, path, matched);
        assert_eq!(need(Method::GET, "/api/test", Some("/api/test")), Need::Scope(Scope::View));
        assert_eq!(need(Method::HEAD, "/api/health", Some("/api/health")), Need::Nothing);
        assert_eq!(need(Method::PUT, "/api/health", Some("/api/health")), Need::Admin, "a method that is not listed");
        assert_eq!(need(Method::GET, "/v1/no-such", None), Need::Scope(Scope::Models));
        assert_eq!(need(Method::GET, "/v1/new", Some("/v1/new")), Need::Admin, "a route that is not listed");
        let table = [("POST", "/v1/new", Need::Scope(Scope::Models))];
        for method in [Method::POST, Method::GET, Method::HEAD] {
            let need = need_in(&table, &method, "/v1/new", Some("/v1/new"));
            assert_eq!(need, Need::Scope(Scope::Models), "{method}: the router says which methods it takes");
        }
        for path in ["/", "/v1x/models", "/V1/models", "//v1/models", "/api/v1/models", "/index.html"] {
            assert_eq!(need(Method::GET, path, None), Need::Admin, "{path}");
        }
    }
}
