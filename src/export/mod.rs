//! Other forms of a session, for other programs: each is a sink that writes while messages arrive.

pub(crate) mod html;
