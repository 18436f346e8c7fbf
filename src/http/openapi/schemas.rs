//! The schemas of all types that operations mention.
//!
//! A type may be read and written, and both may differ: a field with a default may be left out of a request, and is always
//! in a reply. So there are two collections, which are merged at the end.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value};

const PLACE: &str = "#/components/schemas/";
/// Where references in requests point to until both collections are merged.
const REQUEST_PLACE: &str = "#/components/requests/";

/// Both collections.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    replies: SchemaGenerator,
}

impl Schemas {
    pub fn new() -> Self {
        let settings = |place: &'static str| {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = place.into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings("/components/requests").for_deserialize().into_generator(),
            replies: settings("/components/schemas").for_serialize().into_generator(),
        }
    }

    /// The schema of a type that clients send.
    pub fn request<T: JsonSchema>(&mut self) -> Value {
        self.requests.subschema_for::<T>().to_value()
    }

    /// The schema of a type that the server sends.
    pub fn reply<T: JsonSchema>(&mut self) -> Value {
        self.replies.subschema_for::<T>().to_value()
    }

    /// The schema of an object whose fields are query parameters, without a name of its own.
    pub fn query<T: JsonSchema>(&mut self) -> Value {
        T::json_schema(&mut self.requests).to_value()
    }

    /// All named schemas, and the names of requests that had to be changed.
    pub fn finish(mut self) -> (Map<String, Value>, Renamed) {
        let mut schemas = self.replies.take_definitions(true);
        let requests = self.requests.take_definitions(true);
        let renamed = Renamed(different(&requests, &schemas));
        for (name, mut schema) in requests {
            renamed.apply(&mut schema);
            schemas.insert(renamed.name(&name), schema);
        }
        schemas.values_mut().for_each(plain_descriptions);
        (schemas, renamed)
    }
}

/// Descriptions are written for rustdoc, whose links mean nothing to readers of the document.
fn plain_descriptions(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain_descriptions),
        Value::Object(entries) => {
            for (name, entry) in entries {
                match entry {
                    Value::String(text) if name == "description" => *text = text.replace("[`", "`").replace("`]", "`"),
                    entry => plain_descriptions(entry),
                }
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The requests whose schema is not that of the reply with the same name, directly or in something that they refer to.
fn different(requests: &Map<String, Value>, replies: &Map<String, Value>) -> BTreeSet<String> {
    let in_both = || requests.iter().filter_map(|(name, request)| Some((name, request, replies.get(name)?)));
    let mut different = BTreeSet::new();
    loop {
        let renamed = Renamed(different.clone());
        for (name, request, reply) in in_both() {
            let mut request = request.clone();
            renamed.apply(&mut request);
            if request != *reply {
                different.insert(name.clone());
            }
        }
        if different.len() == renamed.0.len() {
            return different;
        }
    }
}

/// The requests that have another name than the type.
pub(super) struct Renamed(BTreeSet<String>);

impl Renamed {
    fn name(&self, name: &str) -> String {
        if self.0.contains(name) { format!("{name}Input") } else { name.to_owned() }
    }

    /// Points the references of a request to where the schemas are now.
    pub fn apply(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(name) = text.strip_prefix(REQUEST_PLACE) {
                    *text = format!("{PLACE}{}", self.name(name));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Value::Object(entries) => entries.values_mut().for_each(|entry| self.apply(entry)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Inner {
        #[serde(default)]
        count: u32,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Outer {
        inner: Inner,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Same {
        text: String,
    }

    #[test]
    fn a_type_that_is_read_otherwise_than_written_has_two_schemas() {
        let mut schemas = Schemas::new();
        let (mut request, reply) = (schemas.request::<Outer>(), schemas.reply::<Outer>());
        schemas.request::<Same>();
        schemas.reply::<Same>();
        let (named, renamed) = schemas.finish();
        renamed.apply(&mut request);
        assert_eq!(request["$ref"], "#/components/schemas/OuterInput");
        assert_eq!(reply["$ref"], "#/components/schemas/Outer");
        assert_eq!(named["OuterInput"]["properties"]["inner"]["$ref"], "#/components/schemas/InnerInput");
        assert_eq!(named["Inner"]["required"][0], "count", "a reply always has it");
        assert!(named["InnerInput"].get("required").is_none(), "a request may leave it out");
        let mut all: Vec<&String> = named.keys().collect();
        all.sort();
        assert_eq!(all, ["Inner", "InnerInput", "Outer", "OuterInput", "Same"]);
    }
}
