//! Flags of programs whose values are secret.
//!
//! ```text
//!   --token Zx81      all of it
//!   -u me:Zx81        the password, as in curl; but not 1000:1000, as in docker
//!   --key Zx81aQ9b…   only what looks random: it can be the name of a file
//! ```

use super::credentials::{MIN_VALUE, is_random, looks_innocent};
use super::names::is_secret_name;
use std::ops::Range;

/// Flags before a user and a password.
const USER_FLAGS: [&[u8]; 4] = [b"-U", b"-u", b"--proxy-user", b"--user"];
/// Flags before a key or the name of its file.
const KEY_FLAGS: [&[u8]; 2] = [b"-key", b"--key"];

/// What is secret of the value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// All of it.
    All,
    /// The password after a user.
    Password,
    /// All of it if it looks random.
    Key,
}

impl FlagValue {
    /// Returns what is secret of the value after a word; `None` if the word is not such a flag.
    pub fn after(word: &[u8]) -> Option<Self> {
        let flag = word.trim_ascii_start();
        if !flag.starts_with(b"-") {
            return None;
        }
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
        if USER_FLAGS.contains(&flag) {
            Some(Self::Password)
        } else if KEY_FLAGS.contains(&flag) {
            Some(Self::Key)
        } else {
            (flag.iter().all(is_name) && is_secret_name(flag)).then_some(Self::All)
        }
    }

    /// Returns the range of the secret in a value.
    pub fn secret_in(self, value: &[u8]) -> Option<Range<usize>> {
        match self {
            Self::All => (!value.starts_with(b"-")).then_some(0..value.len()),
            Self::Key => is_random(value).then_some(0..value.len()),
            Self::Password => {
                let colon = memchr::memchr(b':', value)?;
                let (user, password) = (value.get(..colon)?, value.get(colon + 1..)?);
                is_password(user, password).then_some(colon + 1..value.len())
            }
        }
    }
}

/// Returns `false` for the rest of an address or path, for a word, and for numbers of a user and a group.
fn is_password(user: &[u8], password: &[u8]) -> bool {
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let is_id = is_number(password) && (is_number(user) || password.len() < MIN_VALUE);
    !is_id && !matches!(password, [b'/' | b'\\', ..]) && !looks_innocent(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_in_the_value_of_a_flag_is_found() {
        for (flag, value, want) in [
            ("--token", "hunter", Some("hunter")),
            ("--token", "-v", None),
            ("-u", "me:Zx81", Some("Zx81")),
            ("--user", "me:918273", Some("918273")),
            ("--user", "1000:1000", None),
            ("-u", "www-data:33", None),
            ("-u", "root:docker", None),
            ("-u", "http://host:8080/x1", None),
            ("-u", "C:\\x1", None),
            ("-u", "me", None),
            ("--key", "Zx9Qk7Vw3Lm2Rt8B", Some("Zx9Qk7Vw3Lm2Rt8B")),
            ("--key", "/etc/ssl/Zx9Qk7Vw3Lm2Rt8B.pem", None),
            ("--key", "2,2n", None),
            ("--keys", "Zx9Qk7Vw3Lm2Rt8B", None),
            ("user", "me:Zx81", None),
        ] {
            let after = FlagValue::after(flag.as_bytes());
            let found = after.and_then(|after| after.secret_in(value.as_bytes()));
            assert_eq!(found.map(|range| &value[range]), want, "{flag} {value}");
        }
    }
}
