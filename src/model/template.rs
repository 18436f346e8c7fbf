//! Texts with variables, such as `{{title}}`.

/// The variables that a template may use.
pub const TEMPLATE_VARIABLES: [&str; 12] = [
    "headline",
    "event",
    "kind",
    "id",
    "title",
    "folder",
    "folder_name",
    "state",
    "reason",
    "duration",
    "link",
    "text",
];

/// A checked template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(&'static str),
}

impl Template {
    /// Reads a template. An unknown variable, or one that is not closed, is an error for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else {
                return Err(format!("the template {text:?} has a {{{{ without its }}}}"));
            };
            let Some(known) = TEMPLATE_VARIABLES.into_iter().find(|known| *known == name.trim()) else {
                let known = TEMPLATE_VARIABLES.join(", ");
                return Err(format!("the template uses the unknown variable {{{{{name}}}}}; known variables: {known}"));
            };
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Variable(known));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self { parts })
    }

    /// The text with the values of its variables. Values are not templates: what an agent wrote stays as it is.
    pub fn expand<'a>(&self, value: impl Fn(&'static str) -> &'a str) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Variable(name) => value(name),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_once() {
        let template = Template::parse("{{ title }} is {{state}}: {}}").expect("valid");
        let value = |name| if name == "title" { "{{state}}" } else { "done" };
        assert_eq!(template.expand(value), "{{state}} is done: {}}");
    }

    #[test]
    fn what_is_unknown_or_open_is_an_error() {
        for (text, part) in [("{{titel}}", "{{titel}}"), ("{{}}", "{{}}"), ("{{title", "without its }}")] {
            let error = Template::parse(text).expect_err("wrong");
            assert!(error.contains(part), "{error}");
        }
    }
}
