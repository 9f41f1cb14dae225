//! What no fixture can show.
