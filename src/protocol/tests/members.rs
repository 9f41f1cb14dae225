//! Checks the members of all types.

use super::super::schema::lint::repeated_key;
use super::super::{registry, secrets::with_json};

#[test]
fn the_members_of_a_type_have_different_names() {
    for protocol in registry::all() {
        for (kind, shape) in protocol.shapes() {
            let repeated = with_json(&shape, |root| {
                let mut repeated = None;
                root.each(&mut |node| repeated = repeated.or(repeated_key(node)));
                repeated.map(|key| key.key_bytes().into_owned())
            });
            assert_eq!(repeated, Some(None), "{} {kind}", protocol.name());
        }
    }
}
