//! What a new token is asked for with. The API and the command line check it in the same way.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::model::{Scope, Timestamp, UnknownScope};

/// How long a token is valid if nothing is said.
const USUAL_LIFE: Duration = Duration::from_hours(24 * 30);
/// Longer than this is most likely a mistake; `never` exists.
const LONGEST_LIFE: Duration = Duration::from_hours(24 * 3_650);
/// Characters in a name.
const LONGEST_NAME: usize = 100;

/// A token to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRequest {
    /// What it opens; at least one scope.
    pub scopes: BTreeSet<Scope>,
    /// Its name, for people.
    pub name: Option<TokenName>,
    /// How long it is valid.
    pub life: TokenLife,
}

/// The name of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenName(String);

/// How long a token is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenLife {
    /// For this time.
    For(Duration),
    /// Until it is revoked.
    Endless,
}

/// A token cannot be created like this.
#[derive(Debug, thiserror::Error)]
pub enum TokenRequestError {
    /// It would open nothing.
    #[error("a token needs at least one scope; known scopes: {}", Scope::ALL.map(Scope::as_str).join(", "))]
    NoScope,
    /// There is no such scope.
    #[error(transparent)]
    Scope(#[from] UnknownScope),
    /// The name cannot be used.
    #[error(
        "invalid name: expected 1 to {LONGEST_NAME} characters and no control characters; leave it out for a token without a name"
    )]
    Name,
    /// The duration cannot be read.
    #[error("invalid expiry {0:?}: expected a duration such as 12h or 30d, or never")]
    Expires(String),
    /// The duration is too short or too long.
    #[error("invalid expiry {0:?}: expected a duration from 1 second to 3650 days, or never")]
    ExpiresOutOfRange(String),
}

impl TokenRequest {
    /// Reads the words of a request.
    pub fn read(scopes: &[String], name: Option<&str>, expires: Option<&str>) -> Result<Self, TokenRequestError> {
        let scopes = scopes.iter().map(|word| Scope::named(word)).collect::<Result<BTreeSet<_>, _>>()?;
        if scopes.is_empty() {
            return Err(TokenRequestError::NoScope);
        }
        let name = name.map(str::parse).transpose()?;
        Ok(Self { scopes, name, life: expires.map_or(Ok(TokenLife::default()), str::parse)? })
    }
}

impl TokenName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for TokenName {
    type Err = TokenRequestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim();
        let fits = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
        fits.then(|| Self(name.to_owned())).ok_or(TokenRequestError::Name)
    }
}

impl TokenLife {
    /// When a token that is created now expires.
    pub(super) fn end(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::For(span) => {
                let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
                Some(Timestamp::from_millis(now.as_millis().saturating_add(millis)))
            }
            Self::Endless => None,
        }
    }
}

impl Default for TokenLife {
    fn default() -> Self {
        Self::For(USUAL_LIFE)
    }
}

impl std::str::FromStr for TokenLife {
    type Err = TokenRequestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "never" {
            return Ok(Self::Endless);
        }
        let span = humantime::parse_duration(text).map_err(|_| TokenRequestError::Expires(text.to_owned()))?;
        if (Duration::from_secs(1)..=LONGEST_LIFE).contains(&span) {
            Ok(Self::For(span))
        } else {
            Err(TokenRequestError::ExpiresOutOfRange(text.to_owned()))
        }
    }
}

impl std::fmt::Display for TokenLife {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::For(span) => humantime::format_duration(*span).fmt(formatter),
            Self::Endless => formatter.write_str("never"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(scopes: &[&str], name: Option<&str>, expires: Option<&str>) -> Result<TokenRequest, String> {
        let scopes: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        TokenRequest::read(&scopes, name, expires).map_err(|error| error.to_string())
    }

    #[test]
    fn a_request_is_read_and_a_scope_counts_once() {
        let request = read(&["models", "models"], Some(" my loop "), Some("12h")).expect("valid");
        assert_eq!(request.scopes, [Scope::Models].into());
        assert_eq!(request.name.expect("a name").as_str(), "my loop");
        assert_eq!(request.life, TokenLife::For(Duration::from_hours(12)));
        let usual = read(&["models"], None, None).expect("valid");
        assert_eq!((usual.name, usual.life.to_string()), (None, "30days".to_owned()));
        assert_eq!(read(&["models"], None, Some("never")).expect("valid").life.end(Timestamp::from_millis(0)), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (request, word) in [
            (read(&[], None, None), "at least one scope"),
            (read(&["everything"], None, None), "unknown scope \"everything\""),
            (read(&["models"], Some("  "), None), "invalid name"),
            (read(&["models"], Some("a\u{1b}[2J"), None), "invalid name"),
            (read(&["models"], Some(&"a".repeat(101)), None), "invalid name"),
            (read(&["models"], None, Some("soon")), "invalid expiry \"soon\""),
            (read(&["models"], None, Some("")), "invalid expiry \"\""),
            (read(&["models"], None, Some("-1d")), "invalid expiry \"-1d\""),
            (read(&["models"], None, Some("0s")), "from 1 second"),
            (read(&["models"], None, Some("20years")), "3650 days"),
            (read(&["models"], None, Some("99999999999999999999y")), "invalid expiry"),
        ] {
            let error = request.expect_err(word);
            assert!(error.contains(word), "{word}: {error}");
        }
    }
}
