//! The parameters that an agent cannot honour.

/// Names in the response header: more would help nobody and may exceed what a client accepts.
const MOST_NAMES: usize = 40;
const LONGEST_NAME: usize = 64;

/// Names of ignored parameters, each once.
#[derive(Debug, Default)]
pub(in crate::http) struct Ignored(Vec<String>);

impl Ignored {
    /// Adds a name. One that does not fit in a header is replaced: clients choose the names of unknown fields.
    pub fn add(&mut self, name: impl Into<String>) {
        let name = name.into();
        let fits = |byte: u8| byte.is_ascii_graphic() && byte != b',';
        let is_plain = !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(fits);
        let name = if is_plain && self.0.len() < MOST_NAMES { name } else { "other".to_owned() };
        if !self.0.contains(&name) {
            self.0.push(name);
        }
    }

    /// The names in the order in which they were found.
    pub fn into_names(self) -> Vec<String> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_in_a_header_whatever_a_client_calls_its_fields() {
        let mut ignored = Ignored::default();
        for name in ["seed", "a,b", "seed", "ünknown", "", "a\r\nb", &"x".repeat(65)] {
            ignored.add(name);
        }
        assert_eq!(ignored.into_names(), ["seed", "other"]);
        let mut many = Ignored::default();
        (0..1_000).for_each(|number| many.add(format!("f{number}")));
        assert_eq!(many.into_names().len(), MOST_NAMES + 1);
    }
}
