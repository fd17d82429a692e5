//! Declarations of the C API of CRealm: `include/realm.h` and `include/crealm.h`, which are its manual.
//!
//! The crate `crealm` is the safe way to use them.

#![no_std]

#[rustfmt::skip]
mod generated;

pub use generated::*;

// The layout that the functions expect: 24 bytes, the type behind the union.
const _: () = assert!(core::mem::size_of::<realm_value_t>() == 24);
const _: () = assert!(core::mem::offset_of!(realm_value_t, r#type) == 16);
