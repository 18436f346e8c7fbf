//! JSON Schemas of types that are written as text.

/// Declares the schema of a type that is written as a string, with a description and more keywords.
macro_rules! text_schema {
    ($name:ident, $description:literal, { $($keyword:literal: $value:expr),* }) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $description, $($keyword: $value),* })
            }
        }
    };
}

pub(super) use text_schema;
