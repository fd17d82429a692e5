//! Types of a program as classes of a realm: what the derive macro implements.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crealm_sys as sys;

use crate::error::Result;
use crate::fields::{Cell, Form, Place, Row, Store};
use crate::schema::{ClassInfo, PropertyInfo};
use crate::values::{AnyLink, Value, ValueRef};

/// A type whose values are objects of a class. `#[derive(RealmObject)]` implements it.
///
/// ```
/// use crealm::{Link, RealmObject};
///
/// #[derive(RealmObject, Clone, Debug, PartialEq)]
/// struct Person {
///     #[realm(primary_key)]
///     id: i64,
///     #[realm(indexed)]
///     name: String,
///     #[realm(rename = "years")]
///     age: Option<i64>,
///     tags: Vec<String>,
///     friend: Option<Link<Person>>,
/// }
/// # fn main() { assert_eq!(Person::class().properties[2].name, "years"); }
/// ```
///
/// The macro also makes the type `PersonRef<'r>`, which has the same fields, as a realm reads them: texts and bytes are
/// borrowed, collections and embedded objects are read when they are asked for. And it makes a constant for each
/// field, such as `Person::NAME`, which names the property.
///
/// | attribute | meaning |
/// | --- | --- |
/// | `#[realm(name = "…")]` on the struct | the name of the class in the file; without it that of the struct |
/// | `#[realm(embedded)]` on the struct | its objects live inside of exactly one other object |
/// | `primary_key`, `indexed`, `fulltext` | the primary key, a search index, an index of words |
/// | `rename = "…"` | the name of the property in the file |
/// | `origin = "…"` | for [`Backlinks`](crate::Backlinks): the property of the other class that links here |
pub trait RealmObject: Sized + 'static {
    /// The fields as a realm reads them.
    type Ref<'r>;

    /// The name of the class in the file.
    const CLASS_NAME: &'static str;

    /// For each field, whether its value is read together with those of other fields.
    #[doc(hidden)]
    const PLAIN: &'static [bool];

    /// The class with its properties, in the order of the fields.
    fn class() -> ClassInfo;

    /// Reads an object.
    #[doc(hidden)]
    fn read<'r>(row: Row<'r, '_>) -> Result<Self::Ref<'r>>;

    /// Copies all that an object has.
    #[doc(hidden)]
    fn load(from: &Self::Ref<'_>) -> Result<Self>;

    /// Passes each field to the store, which points into them: not into something that is gone.
    ///
    /// ```compile_fail,E0716
    /// # use crealm::private::{Row, Store};
    /// # use crealm::{ClassInfo, RealmObject, Result};
    /// # struct Mine;
    /// # impl RealmObject for Mine {
    /// #     type Ref<'r> = ();
    /// #     const CLASS_NAME: &'static str = "Mine";
    /// #     const PLAIN: &'static [bool] = &[true];
    /// #     fn class() -> ClassInfo { ClassInfo::new("Mine", []) }
    /// #     fn read<'r>(_: Row<'r, '_>) -> Result<()> { Ok(()) }
    /// #     fn load(_: &()) -> Result<Mine> { Ok(Mine) }
    /// fn store<'f>(&'f self, store: &mut Store<'_, 'f>) -> Result<()> {
    ///     store.field(0, false, &String::from("gone"))
    /// }
    /// # }
    /// # fn main() {}
    /// ```
    #[doc(hidden)]
    fn store<'f>(&'f self, store: &mut Store<'_, 'f>) -> Result<()>;
}

/// A type of embedded objects: those with `#[realm(embedded)]`.
pub trait EmbeddedObject: RealmObject {}

/// A type that a field of a [`RealmObject`] may have.
///
/// | type | property |
/// | --- | --- |
/// | `i64`, `i32`, `i16`, `u32` | an integer; RANGE_ERROR for a number of the file that does not fit |
/// | `bool`, `f32`, `f64`, `String`, `Vec<u8>` | |
/// | `Timestamp`, `Decimal128`, `ObjectId`, `Uuid` | |
/// | `Option` of these | the same, or null |
/// | `Value` | Mixed: any value, also nested lists and dictionaries |
/// | `Option<Link<T>>` | a link |
/// | `Option<T>` of an embedded type | an embedded object |
/// | `Vec<…>`, `BTreeSet<…>`, `BTreeMap<String, …>` | a list, a set, a dictionary |
/// | `Backlinks<T>` | computed: the objects that link here |
///
/// # Safety
/// Only this crate implements it: texts and bytes of a value in the form must be those of self.
pub unsafe trait Field: Sized {
    /// The field as a realm reads it.
    type Ref<'r>;

    #[doc(hidden)]
    const PLAIN: bool;

    #[doc(hidden)]
    fn define(property: &mut PropertyInfo);

    /// How the field is written. A value points into self.
    #[doc(hidden)]
    fn form(&self) -> Form;

    /// Writes a field that is not [`Form::Value`].
    #[doc(hidden)]
    fn write(&self, place: &Place<'_>) -> Result<()>;

    #[doc(hidden)]
    fn read<'r>(cell: Cell<'r>) -> Result<Self::Ref<'r>>;

    #[doc(hidden)]
    fn load(from: &Self::Ref<'_>) -> Result<Self>;
}

/// A property of the class of `T`, whose field has the type `F`: `Person::NAME`.
pub struct Property<T, F> {
    pub(crate) index: usize,
    name: &'static str,
    marker: PhantomData<fn() -> (T, F)>,
}

impl<T, F> Property<T, F> {
    #[doc(hidden)]
    pub const fn new(index: usize, name: &'static str) -> Property<T, F> {
        Property { index, name, marker: PhantomData }
    }

    /// The name in the file.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T, F> Clone for Property<T, F> {
    fn clone(&self) -> Property<T, F> {
        *self
    }
}

impl<T, F> Copy for Property<T, F> {}

impl<T, F> fmt::Debug for Property<T, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// The address of an object of the class of `T`. It borrows nothing: it may go to other threads, and be kept over
/// writes. If the object was deleted, calls with its address fail with NO_SUCH_OBJECT.
pub struct Link<T> {
    pub(crate) raw: sys::realm_link_t,
    marker: PhantomData<fn() -> T>,
}

impl<T> Link<T> {
    pub(crate) fn from_raw(raw: sys::realm_link_t) -> Link<T> {
        Link { raw, marker: PhantomData }
    }

    /// The address without the type of its object.
    pub fn any(self) -> AnyLink {
        AnyLink::from_raw(self.raw)
    }
}

impl<T> Clone for Link<T> {
    fn clone(&self) -> Link<T> {
        *self
    }
}

impl<T> Copy for Link<T> {}

impl<T> PartialEq for Link<T> {
    fn eq(&self, other: &Link<T>) -> bool {
        self.any() == other.any()
    }
}

impl<T> Eq for Link<T> {}

impl<T> PartialOrd for Link<T> {
    fn partial_cmp(&self, other: &Link<T>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Link<T> {
    fn cmp(&self, other: &Link<T>) -> std::cmp::Ordering {
        self.any().cmp(&other.any())
    }
}

impl<T> Hash for Link<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.any().hash(state);
    }
}

impl<T> fmt::Debug for Link<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Link({}, {})", self.raw.target_table, self.raw.target)
    }
}

impl<T> From<Link<T>> for AnyLink {
    fn from(link: Link<T>) -> AnyLink {
        link.any()
    }
}

impl<T> From<Link<T>> for ValueRef<'_> {
    fn from(link: Link<T>) -> Self {
        ValueRef::Link(link.any())
    }
}

impl<T> From<Link<T>> for Value {
    fn from(link: Link<T>) -> Value {
        Value::Link(link.any())
    }
}
