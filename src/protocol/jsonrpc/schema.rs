//! The schema: any method.

use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{INT, TEXT, Type};
use std::sync::LazyLock;

/// JSON-RPC 2.0 section 4: "a String, Number, or NULL".
const ID: Type = Type::Either(&[TEXT, INT, Type::Number]);

pub(super) static DIALECT: Dialect = Dialect {
    others: &[""],
    batches: true,
    id: ID,
    error_id: Type::Either(&[TEXT, INT, Type::Number, Type::Null]),
    ..Dialect::new(&[])
};

pub(super) use crate::protocol::rpc::read::ALL_KINDS as KINDS;
/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| DIALECT.marks());
