//! Cairo Serde, tested.
