//! Paths of the API with parameters.

use std::path::Path;

/// A path of the API with parameters.
pub fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// A path of the API that is about a folder.
pub fn about_folder(path: &str, folder: &Path) -> String {
    with_query(path, &[("workingDirectory", &folder.to_string_lossy())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded() {
        assert_eq!(with_query("/api/x", &[]), "/api/x");
        assert_eq!(with_query("/api/x", &[("q", "a b&c=ü")]), "/api/x?q=a+b%26c%3D%C3%BC");
    }
}
