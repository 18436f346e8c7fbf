//! What a layer of the configuration chooses for sessions that choose nothing themselves.

/// One layer's choices. `None` and the empty text both leave the choice to the next layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionDefaults {
    /// Runtime's name, if it chooses one.
    pub runtime: Option<String>,
    /// Model's id, if it chooses one.
    pub model: Option<String>,
    /// Effort, if it chooses one.
    pub effort: Option<String>,
}

impl SessionDefaults {
    /// Sets the value of a key that holds a choice. Returns whether the key is one.
    pub fn set(&mut self, key: &str, value: &str) -> bool {
        let choice = match key {
            "sessions.runtime" => &mut self.runtime,
            "sessions.model" => &mut self.model,
            "sessions.effort" => &mut self.effort,
            _ => return false,
        };
        *choice = Some(value.to_owned());
        true
    }
}
