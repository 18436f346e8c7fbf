//! Tools as OpenAI's dialects define them: functions, free-form tools, and namespaces of both.

use serde_json::Value;

use crate::capture::CaptureError;
use crate::http::dialect::{Fields, Ignored, ToolList};

/// A tool inside a namespace, and the name that the model knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Namespaced {
    pub full_name: String,
    pub namespace: String,
    pub name: String,
}

/// The name that the model knows a tool of a namespace by.
pub(super) fn full_name(namespace: &str, name: &str) -> String {
    format!("{namespace}__{name}")
}

/// Adds one element of `tools`.
pub(super) fn add(
    path: String,
    tool: Value,
    tools: &mut ToolList,
    namespaced: &mut Vec<Namespaced>,
    ignored: &mut Ignored,
) -> Result<(), CaptureError> {
    let mut tool = Fields::of(tool, path)?;
    match tool.required_text("type")?.as_str() {
        "function" => add_function(definition(tool, "function")?, None, tools, ignored),
        "custom" => add_free_form(definition(tool, "custom")?, None, tools, ignored),
        "namespace" => {
            let namespace = tool.required_text("name")?;
            for (path, inner) in tool.list("tools")?.unwrap_or_default() {
                let mut inner = Fields::of(inner, path)?;
                let kind = inner.required_text("type")?;
                let name = inner.required_text("name")?;
                let full_name = full_name(&namespace, &name);
                match kind.as_str() {
                    "function" => add_function(inner, Some(full_name.clone()), tools, ignored)?,
                    "custom" => add_free_form(inner, Some(full_name.clone()), tools, ignored)?,
                    other => {
                        ignored.add(format!("tools.{other}"));
                        continue;
                    }
                }
                namespaced.push(Namespaced { full_name, namespace: namespace.clone(), name });
            }
            Ok(())
        }
        hosted => {
            ignored.add(format!("tools.{hosted}"));
            Ok(())
        }
    }
}

/// The definition: inside the object that the type names (chat), or beside the type (responses).
fn definition(mut tool: Fields, kind: &str) -> Result<Fields, CaptureError> {
    Ok(tool.object(kind)?.unwrap_or(tool))
}

/// Adds a function; `name` replaces its own.
pub(super) fn add_function(
    mut function: Fields,
    name: Option<String>,
    tools: &mut ToolList,
    ignored: &mut Ignored,
) -> Result<(), CaptureError> {
    let name = name.map_or_else(|| function.required_text("name"), Ok)?;
    if function.flag("strict")? == Some(true) {
        ignored.add("tools.strict");
    }
    tools.add(name, &mut function, "parameters")
}

fn add_free_form(
    mut tool: Fields,
    name: Option<String>,
    tools: &mut ToolList,
    ignored: &mut Ignored,
) -> Result<(), CaptureError> {
    let name = name.map_or_else(|| tool.required_text("name"), Ok)?;
    let mut description = tool.text("description")?.unwrap_or_default();
    if let Some(format) = tool.object("format")? {
        // Chat has the grammar one object deeper.
        let mut format = format;
        let mut grammar = format.object("grammar")?.unwrap_or(format);
        if let Some(definition) = grammar.text("definition")? {
            let syntax = grammar.text("syntax")?.unwrap_or_default();
            // Nothing enforces it, but the model should know it.
            description = format!("{description}\n\nThe input must match this grammar ({syntax}):\n{definition}");
            ignored.add("tools.format");
        }
    }
    tools.add_free_form(name, description, tool.path())
}
