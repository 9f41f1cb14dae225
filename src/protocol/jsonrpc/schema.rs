//! The schema: any method.

use crate::protocol::Id;
use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::{Dialect, FAILURE, MessageIndex, RESPONSE};
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{ANY, INT, TEXT, Type};
use std::sync::LazyLock;

/// JSON-RPC 2.0 section 4: "a String, Number, or NULL".
const ID: Type = Type::Either(&[TEXT, INT, Type::Number]);

pub(super) static DIALECT: Dialect = Dialect {
    methods: &[],
    by_name: LazyLock::new(|| MessageIndex::new(DIALECT.methods)),
    answers: &[RESPONSE, FAILURE],
    open: true,
    any_method: true,
    others: &[""],
    batches: true,
    object_results: false,
    id: ID,
    error_id: Type::Either(&[TEXT, INT, Type::Number, Type::Null]),
    result: ANY,
    new_id: |id_gen| Id::Number(id_gen.number().into()).text().into_owned(),
    empty_params: false,
};

/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| DIALECT.marks());
