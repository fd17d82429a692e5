//! Writing: what a function in a write can do.

use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use crealm_sys as sys;

use crate::collections::{DictionaryMut, ListMut, SetMut};
use crate::deep::{self, Target};
use crate::error::{Error, Result};
use crate::fields::{Assign, Element, Form, Place, Store};
use crate::model::{Field, Link, Property, RealmObject};
use crate::raw::{c_text, check, Handle};
use crate::reader::Reader;
use crate::schema::{CollectionType, PropertyInfo};
use crate::values::{with_arguments, AnyLink, Argument, Value};

/// What happens when an object with the primary key of a new one exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// The call fails with OBJECT_ALREADY_EXISTS.
    Never,
    /// The object gets the values that differ from its own.
    Modified,
    /// The object gets all values.
    All,
}

/// A write transaction. It has all methods of [`Reader`]; what they return is borrowed until the next change.
///
/// ```compile_fail,E0502
/// # use crealm::{RealmObject, Write};
/// # #[derive(RealmObject)] struct Person { #[realm(primary_key)] id: i64, name: String }
/// # fn keep(tx: &mut Write<'_>) -> crealm::Result<()> {
/// let ann = tx.find::<Person>(1)?.unwrap();
/// tx.set(ann.link(), Person::NAME, "Bob")?;
/// println!("{}", ann.name);
/// # Ok(()) }
/// # fn main() {}
/// ```
pub struct Write<'a> {
    reader: &'a Reader,
    keys: Vec<i64>,
    values: Vec<sys::realm_value_t>,
    /// A write belongs to the thread of its realm.
    marker: PhantomData<*mut ()>,
}

impl Deref for Write<'_> {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        self.reader
    }
}

// SAFETY of the calls here: the realm is valid as long as its reader; values point to what lives until the end of the
// call; arrays have as many elements as the calls are told.
impl<'a> Write<'a> {
    pub(crate) fn new(reader: &'a Reader) -> Write<'a> {
        Write { reader, keys: Vec::new(), values: Vec::new(), marker: PhantomData }
    }

    /// Makes an object. OBJECT_ALREADY_EXISTS if the primary key is taken.
    pub fn create<T: RealmObject>(&mut self, object: &T) -> Result<Link<T>> {
        self.create_or_update(object, Update::Never)
    }

    /// Makes an object, or gives the one with the same primary key the values that differ.
    pub fn upsert<T: RealmObject>(&mut self, object: &T) -> Result<Link<T>> {
        self.create_or_update(object, Update::Modified)
    }

    fn create_or_update<T: RealmObject>(&mut self, object: &T, update: Update) -> Result<Link<T>> {
        let reader = self.reader;
        let binding = reader.index().binding::<T>()?;
        self.keys.clear();
        self.values.clear();
        let mut store = Store {
            binding,
            index: reader.index(),
            keys: &mut self.keys,
            values: &mut self.values,
            primary_key: None,
            is_new: update == Update::Never,
            needs_calls: false,
            object: std::ptr::null_mut(),
            fields: PhantomData,
        };
        object.store(&mut store)?;
        let (link, is_new) = create_raw(reader, binding.class, store.primary_key, update, store.keys, store.values)?;
        if store.needs_calls {
            let handle = reader.object(link)?;
            store.object = handle.get();
            if let Err(error) = object.store(&mut store) {
                // A new object is incomplete: it goes again. The first error counts.
                if is_new {
                    let _ = self.delete(AnyLink::from_raw(link));
                }
                return Err(error);
            }
        }
        Ok(Link::from_raw(link))
    }

    /// Writes all fields of an object but its primary key.
    pub fn update<T: RealmObject>(&mut self, link: Link<T>, object: &T) -> Result<()> {
        let reader = self.reader;
        let binding = reader.index().binding::<T>()?;
        self.keys.clear();
        self.values.clear();
        let mut store = Store {
            binding,
            index: reader.index(),
            keys: &mut self.keys,
            values: &mut self.values,
            primary_key: None,
            is_new: false,
            needs_calls: false,
            object: std::ptr::null_mut(),
            fields: PhantomData,
        };
        object.store(&mut store)?;
        set_raw(reader, link.raw, store.keys, store.values)?;
        if store.needs_calls {
            let handle = reader.object(link.raw)?;
            store.object = handle.get();
            object.store(&mut store)?;
        }
        Ok(())
    }

    /// Sets a property: `tx.set(ann, Person::NAME, "Ann")`. A collection gets these elements instead of its own.
    pub fn set<T: RealmObject, F: Field>(
        &mut self,
        link: Link<T>,
        property: Property<T, F>,
        value: impl Assign<F>,
    ) -> Result<()> {
        let key = self.reader.index().binding::<T>()?.keys[property.index];
        match value.form() {
            Form::Value(raw) => set_raw(self.reader, link.raw, &[key], &[raw]),
            Form::Nothing => Ok(()),
            Form::Calls | Form::Empty => {
                let object = self.reader.object(link.raw)?;
                value.write(&Place { index: self.reader.index(), object: object.get(), key })
            }
        }
    }

    /// Adds to an integer. An overflow wraps.
    pub fn add<T: RealmObject, F: Field>(
        &mut self,
        link: Link<T>,
        property: Property<T, F>,
        number: i64,
    ) -> Result<()> {
        let key = self.reader.index().binding::<T>()?.keys[property.index];
        let object = self.reader.object(link.raw)?;
        check(unsafe { sys::realm_object_add_int(object.get(), key, number) })
    }

    /// Deletes an object, and the embedded objects in it.
    pub fn delete(&mut self, link: impl Into<AnyLink>) -> Result<()> {
        let link = link.into().raw();
        check(unsafe { sys::crealm_delete(self.reader.raw(), &link) })
    }

    /// Deletes the objects that a query finds.
    pub fn delete_where<T: RealmObject>(&mut self, text: &str, arguments: &[Argument<'_>]) -> Result<()> {
        self.delete_rows(self.reader.index().binding::<T>()?.class, text, arguments)
    }

    fn delete_rows(&mut self, class: u32, text: &str, arguments: &[Argument<'_>]) -> Result<()> {
        let query = self.reader.parse(class, text, arguments)?;
        check(unsafe { sys::realm_query_delete_all(query.get()) })
    }

    /// Sets properties of all objects that a query finds, as UPDATE in SQL:
    /// `tx.update_where::<Person>("age > $0", args![30], "age = age + 1", args![])`. The result is their number.
    pub fn update_where<T: RealmObject>(
        &mut self,
        text: &str,
        arguments: &[Argument<'_>],
        assignments: &str,
        values: &[Argument<'_>],
    ) -> Result<usize> {
        let results = self.reader.query::<T>(text, arguments)?;
        let assignments = c_text(assignments)?;
        let mut changed = 0;
        check(with_arguments(values, |count, list| unsafe {
            sys::crealm_results_update(results.handle(), assignments.as_ptr(), count, list, &mut changed)
        }))?;
        Ok(changed)
    }

    /// The list in a property.
    pub fn list_mut<T: RealmObject, E: Element>(
        &mut self,
        link: Link<T>,
        property: Property<T, Vec<E>>,
    ) -> Result<ListMut<'_, E>> {
        let key = self.reader.index().binding::<T>()?.keys[property.index];
        let handle = deep::list_of(self.reader.object(link.raw)?.get(), key)?;
        let target = Target::of(self.reader.index());
        Ok(ListMut { handle, target, reader: self.reader, marker: PhantomData })
    }

    /// The set in a property.
    pub fn set_mut<T: RealmObject, E: Element + Ord>(
        &mut self,
        link: Link<T>,
        property: Property<T, std::collections::BTreeSet<E>>,
    ) -> Result<SetMut<'_, E>> {
        let key = self.reader.index().binding::<T>()?.keys[property.index];
        let handle = deep::set_of(self.reader.object(link.raw)?.get(), key)?;
        Ok(SetMut { handle, target: Target::of(self.reader.index()), marker: PhantomData })
    }

    /// The dictionary in a property.
    pub fn dictionary_mut<T: RealmObject, E: Element>(
        &mut self,
        link: Link<T>,
        property: Property<T, std::collections::BTreeMap<String, E>>,
    ) -> Result<DictionaryMut<'_, E>> {
        let key = self.reader.index().binding::<T>()?.keys[property.index];
        let handle = deep::dictionary_of(self.reader.object(link.raw)?.get(), key)?;
        let target = Target::of(self.reader.index());
        Ok(DictionaryMut { handle, target, reader: self.reader, marker: PhantomData })
    }

    /// Runs a function whose changes are undone if it fails or panics, while the write goes on.
    pub fn savepoint<R>(&mut self, function: impl FnOnce(&mut Write<'_>) -> Result<R>) -> Result<R> {
        let realm = self.reader.raw();
        let mut number = 0;
        check(unsafe { sys::crealm_begin_savepoint(realm, &mut number) })?;
        match catch_unwind(AssertUnwindSafe(|| function(self))) {
            Ok(Ok(result)) => check(unsafe { sys::crealm_release_savepoint(realm, number) }).map(|()| result),
            Ok(Err(error)) => {
                check(unsafe { sys::crealm_rollback_savepoint(realm, number) })?;
                Err(error)
            }
            Err(panic) => {
                unsafe { sys::crealm_rollback_savepoint(realm, number) };
                resume_unwind(panic)
            }
        }
    }

    // -- Writing by names, for classes without a type

    /// Makes an object of any class with these values, among them that of the primary key.
    pub fn create_any(&mut self, class: &str, values: &[(&str, Value)], update: Update) -> Result<AnyLink> {
        let class = self.reader.class(class)?;
        let mut primary_key = None;
        let mut others: Vec<(&PropertyInfo, &Value)> = Vec::new();
        for (name, value) in values {
            let property = class.required(name)?;
            if property.primary_key {
                primary_key = Some(value.as_ref().raw());
            } else {
                others.push((property, value));
            }
        }
        let (link, is_new) = create_raw(self.reader, class.key, primary_key, update, &[], &[])?;
        let object = self.reader.object(link)?;
        for (property, value) in others {
            if let Err(error) = deep::write_property(self.reader.index(), object.get(), property, value) {
                if is_new {
                    let _ = self.delete(AnyLink::from_raw(link));
                }
                return Err(error);
            }
        }
        Ok(AnyLink::from_raw(link))
    }

    /// Sets a property of any object. A collection gets these elements instead of its own; a dictionary for an embedded
    /// object makes a new one with these properties.
    pub fn write_any(&mut self, link: AnyLink, property: &str, value: &Value) -> Result<()> {
        let found = self.reader.index().class_of(link.class)?.required(property)?;
        let object = self.reader.object(link.raw())?;
        deep::write_property(self.reader.index(), object.get(), found, value)
    }

    /// Deletes the objects of any class that a query finds. An empty text finds all.
    pub fn delete_any(&mut self, class: &str, text: &str, arguments: &[Argument<'_>]) -> Result<()> {
        let text = if text.is_empty() { "TRUEPREDICATE" } else { text };
        self.delete_rows(self.reader.class(class)?.key, text, arguments)
    }

    fn collection(
        &self,
        link: AnyLink,
        property: &str,
        wanted: CollectionType,
    ) -> Result<(Handle<sys::realm_object_t>, &'a PropertyInfo, Target<'a>)> {
        let index = self.reader.index();
        let found = index.class_of(link.class)?.required(property)?;
        if found.collection != wanted {
            let message = format!("the property {property} is no {wanted:?}");
            return Err(Error::refused(sys::RLM_ERR_PROPERTY_TYPE_MISMATCH as i32, message));
        }
        let embedded = deep::embedded_class(index, found)?;
        Ok((self.reader.object(link.raw())?, found, Target { index, embedded }))
    }

    /// The list in a property, or in a Mixed property, of any object.
    pub fn list_any(&mut self, link: AnyLink, property: &str) -> Result<ListMut<'_, Value>> {
        if let Some(key) = self.mixed(link, property)? {
            let object = self.reader.object(link.raw())?;
            let slot = deep::Slot::Property(object.get(), key);
            return crate::collections::nested_list(&slot, self.reader.index(), self.reader);
        }
        let (object, found, target) = self.collection(link, property, CollectionType::List)?;
        let handle = deep::list_of(object.get(), found.key)?;
        Ok(ListMut { handle, target, reader: self.reader, marker: PhantomData })
    }

    /// The set in a property of any object.
    pub fn set_any(&mut self, link: AnyLink, property: &str) -> Result<SetMut<'_, Value>> {
        let (object, found, target) = self.collection(link, property, CollectionType::Set)?;
        let handle = deep::set_of(object.get(), found.key)?;
        Ok(SetMut { handle, target, marker: PhantomData })
    }

    /// The dictionary in a property, or in a Mixed property, of any object.
    pub fn dictionary_any(&mut self, link: AnyLink, property: &str) -> Result<DictionaryMut<'_, Value>> {
        if let Some(key) = self.mixed(link, property)? {
            let object = self.reader.object(link.raw())?;
            let slot = deep::Slot::Property(object.get(), key);
            return crate::collections::nested_dictionary(&slot, self.reader.index(), self.reader);
        }
        let (object, found, target) = self.collection(link, property, CollectionType::Dictionary)?;
        let handle = deep::dictionary_of(object.get(), found.key)?;
        Ok(DictionaryMut { handle, target, reader: self.reader, marker: PhantomData })
    }

    /// The key of a property if it is a single Mixed one.
    fn mixed(&self, link: AnyLink, property: &str) -> Result<Option<i64>> {
        let found = self.reader.index().class_of(link.class)?.required(property)?;
        let is_mixed = found.kind == crate::PropertyType::Mixed && found.collection == CollectionType::None;
        Ok(is_mixed.then_some(found.key))
    }
}

/// Makes an object with values, or finds it. The result also tells whether it is new.
fn create_raw(
    reader: &Reader,
    class: u32,
    primary_key: Option<sys::realm_value_t>,
    update: Update,
    keys: &[i64],
    values: &[sys::realm_value_t],
) -> Result<(sys::realm_link_t, bool)> {
    let mode = match update {
        Update::Never => sys::CREALM_UPDATE_ERROR,
        Update::Modified => sys::CREALM_UPDATE_MODIFIED,
        Update::All => sys::CREALM_UPDATE_ALL,
    };
    let mut link = sys::realm_link_t { target_table: class, target: -1 };
    let mut is_new = false;
    let key = primary_key.as_ref().map_or(std::ptr::null(), |key| key as *const _);
    check(unsafe {
        let (count, keys, values) = (keys.len(), keys.as_ptr(), values.as_ptr());
        sys::crealm_create(reader.raw(), class, key, mode, count, keys, values, &mut link, &mut is_new)
    })?;
    Ok((link, is_new))
}

fn set_raw(reader: &Reader, link: sys::realm_link_t, keys: &[i64], values: &[sys::realm_value_t]) -> Result<()> {
    check(unsafe { sys::crealm_set_values(reader.raw(), &link, keys.len(), keys.as_ptr(), values.as_ptr()) })
}
