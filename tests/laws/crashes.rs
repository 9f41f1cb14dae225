//! Inputs that once broke something.
