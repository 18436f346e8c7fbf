//! The groups of operations.

/// A group of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Tag {
    Sessions,
    Prompts,
    Requests,
    Reading,
    Search,
    Changes,
    Jobs,
    Portal,
    Agents,
    Usage,
    Notifications,
    Settings,
    Access,
    Server,
    Models,
}

impl Tag {
    /// Every group, in reading order.
    pub const ALL: [Self; 15] = [
        Self::Sessions,
        Self::Prompts,
        Self::Requests,
        Self::Reading,
        Self::Search,
        Self::Changes,
        Self::Jobs,
        Self::Agents,
        Self::Usage,
        Self::Notifications,
        Self::Settings,
        Self::Access,
        Self::Server,
        Self::Portal,
        Self::Models,
    ];

    /// The name in the document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions",
            Self::Prompts => "Prompts",
            Self::Requests => "Requests",
            Self::Reading => "Reading",
            Self::Search => "Search",
            Self::Changes => "Changes",
            Self::Jobs => "Jobs",
            Self::Portal => "Portal",
            Self::Agents => "Agents",
            Self::Usage => "Usage",
            Self::Notifications => "Notifications",
            Self::Settings => "Settings",
            Self::Access => "Access",
            Self::Server => "Server",
            Self::Models => "Model API",
        }
    }

    /// What the operations have in common.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Sessions => "Create, list, change, reopen and delete sessions.",
            Self::Prompts => "Send prompts and interrupt turns.",
            Self::Requests => "Answer permission requests and questions, and manage the rules of folders.",
            Self::Reading => "Read a session: its log, its stream of events, rendered blocks, outputs and exports.",
            Self::Search => "Search everything that was written in all sessions.",
            Self::Changes => "What changed in a session's folder since the last commit.",
            Self::Jobs => "Start and follow jobs, and decide at their gates.",
            Self::Portal => {
                "A small, fixed set of routes for portal clients. They accept GET and POST alike, take plain text, ignore \
                 unknown query parameters, and return their own errors as 200 with an error name."
            }
            Self::Agents => "Runtimes, their models, logins, checks and stored sessions.",
            Self::Usage => "Tokens, premium requests and costs, and the log of the model API.",
            Self::Notifications => "Targets and deliveries of notifications.",
            Self::Settings => "Read and change the configuration.",
            Self::Access => "Tokens, login codes, tickets and the login itself.",
            Self::Server => "The server itself: health, folders, metrics, this document.",
            Self::Models => "An agent as a model for other programs, in the dialects of OpenAI and Anthropic.",
        }
    }
}
