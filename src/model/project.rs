//! What a project says about sessions in its folder.

/// What a project's own configuration says about sessions in its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectDefaults {
    /// Runtime's name, if it chooses one.
    pub runtime: Option<String>,
    /// Model's id, if it chooses one.
    pub model: Option<String>,
    /// Effort, if it chooses one.
    pub effort: Option<String>,
}
