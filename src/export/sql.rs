//! A table for the rows of `decode -f json --flat`, and statements over it, for a database.
//!
//! The types of the columns are those of the rows: nothing is guessed from the data.

use crate::render::json::flat::{COLUMNS, ColumnType};
use std::fmt::Write as _;

/// A database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    DuckDb,
    ClickHouse,
}

impl Engine {
    /// All databases.
    pub(crate) const ALL: [Self; 2] = [Self::DuckDb, Self::ClickHouse];

    /// Returns its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DuckDb => "duckdb",
            Self::ClickHouse => "clickhouse",
        }
    }

    /// Returns the database with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Returns the table and the statements.
    pub(crate) fn statements(self) -> String {
        let (text, quote) = match self {
            Self::DuckDb => (include_str!("sql/duckdb.sql"), '"'),
            Self::ClickHouse => (include_str!("sql/clickhouse.sql"), '`'),
        };
        let mut table = String::from("CREATE TABLE messages (\n");
        let mut columns = Vec::new();
        for (n, &(name, column)) in COLUMNS.iter().enumerate() {
            let kind = self.type_of(name, column);
            let comma = if n + 1 == COLUMNS.len() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = writeln!(table, "  {quote}{name}{quote} {kind}{comma}");
            columns.push(match self {
                Self::DuckDb => format!("'{name}': '{kind}'"),
                Self::ClickHouse => format!("{quote}{name}{quote} {kind}"),
            });
        }
        let (end, columns) = match self {
            Self::DuckDb => (");", format!("{{{}}}", columns.join(", "))),
            Self::ClickHouse => (
                ") ENGINE = MergeTree ORDER BY (src, `index`);",
                format!("'{}'", columns.join(", ").replace('\'', "\\'")),
            ),
        };
        table.push_str(end);
        text.replacen("{{table}}", &table, 1)
            .replacen("{{columns}}", &columns, 1)
    }

    /// Returns the type of a column.
    fn type_of(self, name: &str, column: ColumnType) -> String {
        let kind = match (self, column) {
            (Self::DuckDb, ColumnType::Integer) => "UBIGINT",
            (Self::DuckDb, ColumnType::Float) => "DOUBLE",
            (Self::DuckDb, ColumnType::Boolean) => "BOOLEAN",
            (Self::DuckDb, ColumnType::Text | ColumnType::Json) => "VARCHAR",
            (Self::DuckDb, ColumnType::Time) => "TIMESTAMP_NS",
            (Self::ClickHouse, ColumnType::Integer) => "UInt64",
            (Self::ClickHouse, ColumnType::Float) => "Float64",
            (Self::ClickHouse, ColumnType::Boolean) => "Bool",
            (Self::ClickHouse, ColumnType::Text | ColumnType::Json) => "String",
            (Self::ClickHouse, ColumnType::Time) => "DateTime64(9, 'UTC')",
        };
        // Every row has these.
        let is_present = matches!(name, "v" | "src" | "index" | "guess" | "id_form_differs");
        match self {
            Self::ClickHouse if !is_present => format!("Nullable({kind})"),
            _ => kind.to_owned(),
        }
    }
}
