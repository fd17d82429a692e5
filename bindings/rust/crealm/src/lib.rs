//! CRealm: an embedded object database.
//!
//! A realm is one file of typed objects. A program reads it through versions that never change under its hands, and
//! writes it in transactions that reach the disk entirely or not at all. `docs/rust.md` is the guide.
//!
//! ```
//! use crealm::{args, Realm, RealmObject};
//!
//! #[derive(RealmObject)]
//! struct Dog {
//!     name: String,
//!     age: i64,
//! }
//!
//! # fn main() -> crealm::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("crealm-lib-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let path = folder.join("dogs.realm");
//! let mut live = Realm::new(&path).class::<Dog>().open()?;
//! live.write(|tx| {
//!     tx.create(&Dog { name: "Rex".into(), age: 3 })?;
//!     tx.create(&Dog { name: "Bo".into(), age: 7 })
//! })?;
//! let names: Vec<&str> = live
//!     .query::<Dog>("age > $0 SORT(name ASC)", args![2])?
//!     .iter()
//!     .map(|dog| dog.map(|dog| dog.name))
//!     .collect::<crealm::Result<_>>()?;
//! assert_eq!(names, ["Bo", "Rex"]);
//! # drop(live); std::fs::remove_dir_all(&folder).unwrap();
//! # Ok(()) }
//! ```
//!
//! The types: [`Realm`] describes a file and opens it; [`Live`] is an open realm of one thread; [`Snapshot`] is a
//! version for all threads; [`Reader`] has the methods for reading of both; [`Write`] is a write transaction.

mod collections;
mod decimal;
mod deep;
mod error;
mod fields;
mod model;
mod observe;
mod raw;
mod reader;
mod realm;
mod results;
mod scheduler;
mod schema;
mod values;
mod write;

pub use collections::{
    BacklinksRef, Dictionary, DictionaryMut, DictionaryRef, EmbeddedRef, List, ListMut, ListRef, MixedRef, Set, SetMut,
    SetRef,
};
pub use crealm_derive::RealmObject;
pub use decimal::Decimal128;
pub use error::{Error, ErrorKind, Result};
pub use fields::{Assign, Backlinks, Element};
pub use model::{EmbeddedObject, Field, Link, Property, RealmObject};
pub use observe::{CollectionChange, DictionaryChange, ObjectChange, Subscription};
pub use reader::Reader;
pub use realm::{Durability, Interrupter, Live, Migration, PageCipher, Realm, Snapshot};
pub use results::{Aggregate, AnyResults, Results, Rows};
pub use schema::{ClassInfo, CollectionType, PropertyInfo, PropertyType};
pub use values::{list, AnyLink, Argument, ObjectId, Timestamp, Uuid, Value, ValueRef};
pub use write::{Update, Write};

/// The programs of the guide are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/rust.md")]
mod guide {}

/// What the derive macro needs.
#[doc(hidden)]
pub mod private {
    pub use crate::fields::{Row, Store};
}
