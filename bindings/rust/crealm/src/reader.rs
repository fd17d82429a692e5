//! Reading: what live realms, snapshots and writes have in common.

use std::sync::Arc;

use crealm_sys as sys;

use crate::deep;
use crate::error::{Error, Result};
use crate::fields::{Cell, Row};
use crate::model::{Field, Link, Property, RealmObject};
use crate::raw::{c_text, check, Handle, NULL_VALUE};
use crate::results::{AnyResults, Results};
use crate::schema::{ClassInfo, CollectionType, Index};
use crate::values::{with_arguments, AnyLink, Argument, Value, ValueRef};

/// The most properties that are read without memory from the heap.
const FEW: usize = 16;

/// One version of a file, for reading. [`Live`](crate::Live), [`Snapshot`](crate::Snapshot) and
/// [`Write`](crate::Write) have all its methods.
///
/// Objects, texts and bytes that it returns are borrowed from it: as long as a program holds them, the compiler refuses
/// calls that move the realm to another version.
///
/// ```compile_fail,E0502
/// # use crealm::{args, Realm, RealmObject};
/// # #[derive(RealmObject)] struct Person { name: String }
/// # fn keep(mut live: crealm::Live) -> crealm::Result<()> {
/// let name: &str = live.all::<Person>()?.get(0)?.name;
/// live.write(|tx| tx.create(&Person { name: "Ann".into() }).map(|_| ()))?;
/// println!("{name}"); // the memory may be used for something else by now
/// # Ok(()) }
/// # fn main() {}
/// ```
pub struct Reader {
    realm: *mut sys::realm_t,
    index: Arc<Index>,
}

impl Reader {
    /// The handle must stay valid as long as the reader is used.
    pub(crate) fn new(realm: *mut sys::realm_t, index: Arc<Index>) -> Reader {
        Reader { realm, index }
    }

    pub(crate) fn raw(&self) -> *mut sys::realm_t {
        self.realm
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    pub(crate) fn shared_index(&self) -> Arc<Index> {
        Arc::clone(&self.index)
    }

    /// A handle to an object: NO_SUCH_OBJECT if it was deleted.
    pub(crate) fn object(&self, link: sys::realm_link_t) -> Result<Handle<sys::realm_object_t>> {
        // SAFETY: the realm is valid.
        Handle::from(unsafe { sys::realm_get_object(self.realm, link.target_table, link.target) })
    }

    // -- Typed reading

    /// All objects of a class, in the order of their creation.
    pub fn all<T: RealmObject>(&self) -> Result<Results<'_, T>> {
        let binding = self.index.binding::<T>()?;
        // SAFETY: the realm is valid.
        Results::of_handle(self, Handle::from(unsafe { sys::realm_object_find_all(self.realm, binding.class) })?)
    }

    /// The objects that a query finds: `realm.query::<Person>("age > $0 SORT(name ASC)", args![30])`. The language of
    /// queries is described in `docs/query-language.md`.
    pub fn query<T: RealmObject>(&self, text: &str, arguments: &[Argument<'_>]) -> Result<Results<'_, T>> {
        let query = self.parse(self.index.binding::<T>()?.class, text, arguments)?;
        Results::of_query(self, &query)
    }

    pub(crate) fn parse(
        &self,
        class: u32,
        text: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Handle<sys::realm_query_t>> {
        let text = c_text(text)?;
        // SAFETY: the realm, text and arguments are valid during the call.
        Handle::from(with_arguments(arguments, |count, list| unsafe {
            sys::realm_query_parse(self.realm, class, text.as_ptr(), count, list)
        }))
    }

    /// The object with a primary key.
    pub fn find<'a, T: RealmObject>(&self, primary_key: impl Into<ValueRef<'a>>) -> Result<Option<T::Ref<'_>>> {
        match self.find_link::<T>(primary_key)? {
            Some(link) => self.get(link).map(Some),
            None => Ok(None),
        }
    }

    /// The address of the object with a primary key.
    pub fn find_link<'a, T: RealmObject>(&self, primary_key: impl Into<ValueRef<'a>>) -> Result<Option<Link<T>>> {
        let class = self.index.binding::<T>()?.class;
        Ok(self.find_raw(class, &primary_key.into().raw())?.map(Link::from_raw))
    }

    fn find_raw(&self, class: u32, key: &sys::realm_value_t) -> Result<Option<sys::realm_link_t>> {
        let mut link = sys::realm_link_t { target_table: class, target: -1 };
        let mut found = false;
        // SAFETY: the realm and the value are valid during the call.
        check(unsafe { sys::crealm_find(self.realm, class, key, &mut link, &mut found) })?;
        Ok(found.then_some(link))
    }

    /// The object with an address: NO_SUCH_OBJECT if it was deleted.
    pub fn get<T: RealmObject>(&self, link: Link<T>) -> Result<T::Ref<'_>> {
        let binding = self.index.binding::<T>()?;
        let mut few = [NULL_VALUE; FEW];
        let mut many = Vec::new();
        let count = binding.plain.len();
        let values = if count <= FEW {
            &mut few[..count]
        } else {
            many.resize(count, NULL_VALUE);
            &mut many[..]
        };
        self.read_values(link.raw, &binding.plain, values)?;
        T::read(Row { reader: self, object: link.raw, keys: &binding.keys, values: values.iter() })
    }

    fn read_values(&self, link: sys::realm_link_t, keys: &[i64], values: &mut [sys::realm_value_t]) -> Result<()> {
        // SAFETY: the realm is valid, and the arrays have the same number of elements.
        check(unsafe { sys::crealm_get_values(self.realm, &link, keys.len(), keys.as_ptr(), values.as_mut_ptr()) })
    }

    /// A copy of an object, which borrows nothing.
    pub fn load<T: RealmObject>(&self, link: Link<T>) -> Result<T> {
        T::load(&self.get(link)?)
    }

    /// One property of an object: `realm.value(ann, Person::NAME)`.
    pub fn value<T: RealmObject, F: Field>(&self, link: Link<T>, property: Property<T, F>) -> Result<F::Ref<'_>> {
        let key = self.index.binding::<T>()?.keys[property.index];
        let mut raw = [NULL_VALUE];
        if F::PLAIN {
            self.read_values(link.raw, &[key], &mut raw)?;
        }
        F::read(Cell { reader: self, object: link.raw, key, raw: raw[0] })
    }

    /// Whether an object still exists.
    pub fn exists(&self, link: impl Into<AnyLink>) -> bool {
        self.read_values(link.into().raw(), &[], &mut []).is_ok()
    }

    // -- Facts

    /// The number of the version that is read; 0 if none has been read yet.
    pub fn version(&self) -> Result<u64> {
        let mut id = sys::realm_version_id_t { version: 0, index: 0 };
        // SAFETY: the realm is valid; the first pointer is optional.
        check(unsafe { sys::realm_get_version_id(self.realm, std::ptr::null_mut(), &mut id) })?;
        Ok(id.version)
    }

    /// The schema version of the file.
    pub fn schema_version(&self) -> Option<u64> {
        // SAFETY: the realm is valid.
        Some(unsafe { sys::realm_get_schema_version(self.realm) }).filter(|&version| version != u64::MAX)
    }

    /// All classes, in the order of their names.
    pub fn classes(&self) -> &[ClassInfo] {
        &self.index.classes
    }

    /// The class with this name: NO_SUCH_TABLE if there is none.
    pub fn class(&self, name: &str) -> Result<&ClassInfo> {
        self.index.class(name)
    }

    /// The name of the class of an object.
    pub fn class_name(&self, link: AnyLink) -> Result<&str> {
        Ok(&self.index.class_of(link.class)?.name)
    }

    // -- Reading by names, for classes without a type

    /// The objects of any class that a query finds. An empty text finds all.
    pub fn query_any(&self, class: &str, text: &str, arguments: &[Argument<'_>]) -> Result<AnyResults<'_>> {
        let text = if text.is_empty() { "TRUEPREDICATE" } else { text };
        let class = self.index.class(class)?.key;
        AnyResults::of_query(self, &self.parse(class, text, arguments)?, Some(class))
    }

    /// The objects in a list, a set or a dictionary that a query finds.
    pub fn query_collection(
        &self,
        link: AnyLink,
        property: &str,
        text: &str,
        arguments: &[Argument<'_>],
    ) -> Result<AnyResults<'_>> {
        let found = self.index.class_of(link.class)?.required(property)?;
        let object = self.object(link.raw())?;
        // SAFETY: the handles are valid.
        let results = unsafe {
            match found.collection {
                CollectionType::List => {
                    Handle::from(sys::realm_list_to_results(deep::list_of(object.get(), found.key)?.get()))?
                }
                CollectionType::Set => {
                    Handle::from(sys::realm_set_to_results(deep::set_of(object.get(), found.key)?.get()))?
                }
                CollectionType::Dictionary => {
                    let dictionary = deep::dictionary_of(object.get(), found.key)?;
                    Handle::from(sys::realm_dictionary_to_results(dictionary.get()))?
                }
                CollectionType::None if !found.origin.is_empty() => {
                    let source = self.index.class(&found.target)?;
                    let key = source.required(&found.origin)?.key;
                    Handle::from(sys::realm_get_backlinks(object.get(), source.key, key))?
                }
                CollectionType::None => {
                    let message = format!("{property} is no collection");
                    return Err(Error::refused(sys::RLM_ERR_PROPERTY_TYPE_MISMATCH as i32, message));
                }
            }
        };
        let class = self.index.class(&found.target).ok().map(|class| class.key);
        AnyResults::of_handle(self, results, class).filter(text, arguments)
    }

    /// The object of any class with a primary key.
    pub fn find_any<'a>(&self, class: &str, primary_key: impl Into<ValueRef<'a>>) -> Result<Option<AnyLink>> {
        let class = self.index.class(class)?.key;
        Ok(self.find_raw(class, &primary_key.into().raw())?.map(AnyLink::from_raw))
    }

    /// A copy of a property, with all elements of a collection. Backlinks are read by
    /// [`query_collection`](Reader::query_collection).
    pub fn read(&self, link: AnyLink, property: &str) -> Result<Value> {
        let found = self.index.class_of(link.class)?.required(property)?;
        deep::read_property(self.object(link.raw())?.get(), found)
    }
}
