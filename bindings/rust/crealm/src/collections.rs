//! Lists, sets and dictionaries of objects: as a realm reads them, and inside of a write.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use crealm_sys as sys;

use crate::deep::{self, Slot, Target};
use crate::error::Result;
use crate::fields::{Cell, Element};
use crate::model::{Link, RealmObject};
use crate::raw::{check, Handle, NULL_VALUE};
use crate::reader::Reader;
use crate::results::Results;
use crate::values::{text_of, with_arguments, Argument, Value, ValueRef};

/// A property of type Mixed, as a realm reads it.
#[derive(Clone, Copy)]
pub struct MixedRef<'r> {
    cell: Cell<'r>,
    value: ValueRef<'r>,
}

impl<'r> MixedRef<'r> {
    pub(crate) fn new(cell: Cell<'r>) -> Result<MixedRef<'r>> {
        // SAFETY: the value was read in the version that the reader shows for 'r.
        let value = unsafe { ValueRef::from_raw(&cell.raw) }?;
        Ok(MixedRef { cell, value })
    }

    /// The value; a collection comes without its elements.
    pub fn value(&self) -> ValueRef<'r> {
        self.value
    }

    /// A copy of the value with its content.
    pub fn load(&self) -> Result<Value> {
        match self.value {
            ValueRef::List | ValueRef::Dictionary => {
                let object = self.cell.reader.object(self.cell.object)?;
                deep::read(&Slot::Property(object.get(), self.cell.key), &self.cell.raw)
            }
            value => Ok(value.to_value()),
        }
    }
}

impl fmt::Debug for MixedRef<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(formatter)
    }
}

/// An embedded object, or none.
pub struct EmbeddedRef<'r, T> {
    reader: &'r Reader,
    link: Option<Link<T>>,
}

impl<'r, T: RealmObject> EmbeddedRef<'r, T> {
    pub(crate) fn new(reader: &'r Reader, link: Option<Link<T>>) -> EmbeddedRef<'r, T> {
        EmbeddedRef { reader, link }
    }

    /// The address of the object.
    pub fn link(&self) -> Option<Link<T>> {
        self.link
    }

    /// Reads the object.
    pub fn get(&self) -> Result<Option<T::Ref<'r>>> {
        self.link.map(|link| self.reader.get(link)).transpose()
    }

    /// A copy of the object.
    pub fn load(&self) -> Result<Option<T>> {
        self.get()?.as_ref().map(T::load).transpose()
    }
}

impl<T> Clone for EmbeddedRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for EmbeddedRef<'_, T> {}

impl<T> fmt::Debug for EmbeddedRef<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.link.fmt(formatter)
    }
}

macro_rules! reference {
    ($(#[$text:meta])* $name:ident, $open:ident, $kind:literal) => {
        $(#[$text])*
        pub struct $name<'r, T> {
            cell: Cell<'r>,
            marker: PhantomData<fn() -> T>,
        }

        impl<'r, T> $name<'r, T> {
            pub(crate) fn new(cell: Cell<'r>) -> $name<'r, T> {
                $name { cell, marker: PhantomData }
            }
        }

        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<'_, T> {}

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str($kind)
            }
        }
    };
}

reference! {
    /// A list of an object. Each call opens it; [`ListRef::open`] opens it once for many calls.
    ListRef, List, "List"
}
reference! {
    /// A set of an object. Each call opens it; [`SetRef::open`] opens it once for many calls.
    SetRef, Set, "Set"
}
reference! {
    /// A dictionary of an object. Each call opens it; [`DictionaryRef::open`] opens it once for many calls.
    DictionaryRef, Dictionary, "Dictionary"
}
reference! {
    /// The objects that link to an object.
    BacklinksRef, Results, "Backlinks"
}

/// An open list. Elements are read when they are asked for.
pub struct List<'r, T> {
    reader: &'r Reader,
    pub(crate) handle: Handle<sys::realm_list_t>,
    marker: PhantomData<fn() -> T>,
}

/// An open set, in the order of its values.
pub struct Set<'r, T> {
    reader: &'r Reader,
    pub(crate) handle: Handle<sys::realm_set_t>,
    marker: PhantomData<fn() -> T>,
}

/// An open dictionary, in the order of its keys.
pub struct Dictionary<'r, T> {
    reader: &'r Reader,
    pub(crate) handle: Handle<sys::realm_dictionary_t>,
    marker: PhantomData<fn() -> T>,
}

impl<'r, T: Element> ListRef<'r, T> {
    pub fn open(&self) -> Result<List<'r, T>> {
        let object = self.cell.reader.object(self.cell.object)?;
        let handle = deep::list_of(object.get(), self.cell.key)?;
        Ok(List { reader: self.cell.reader, handle, marker: PhantomData })
    }

    pub fn len(&self) -> Result<usize> {
        self.open()?.len()
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The element at a position; an error beyond the end.
    pub fn get(&self, index: usize) -> Result<T::Ref<'r>> {
        self.open()?.get(index)
    }

    /// A copy of all elements.
    pub fn load(&self) -> Result<Vec<T>> {
        self.open()?.load()
    }
}

impl<'r, T: Element> List<'r, T> {
    pub fn len(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the handle is valid.
        check(unsafe { sys::realm_list_size(self.handle.get(), &mut count) })?;
        Ok(count)
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The element at a position; INDEX_OUT_OF_BOUNDS beyond the end.
    pub fn get(&self, index: usize) -> Result<T::Ref<'r>> {
        let mut raw = NULL_VALUE;
        // SAFETY: the handle is valid; the value is one of the version that the reader shows for 'r.
        unsafe {
            check(sys::realm_list_get(self.handle.get(), index, &mut raw))?;
            T::read(self.reader, &Slot::Element(self.handle.get(), index), &raw)
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Result<T::Ref<'r>>> + '_ {
        // An error of len() comes as the one element.
        let (count, failed) = self.len().map_or_else(|error| (0, Some(error)), |count| (count, None));
        failed.map(Err).into_iter().chain((0..count).map(|index| self.get(index)))
    }

    /// A copy of all elements.
    pub fn load(&self) -> Result<Vec<T>> {
        (0..self.len()?).map(|index| T::load(&self.get(index)?)).collect()
    }
}

impl<'r, T: RealmObject> List<'r, Link<T>> {
    /// The objects of the list that a query finds, in the order of the list unless the query sorts them.
    pub fn query(&self, text: &str, arguments: &[Argument<'_>]) -> Result<Results<'r, T>> {
        let text = crate::raw::c_text(text)?;
        // SAFETY: handle, text and arguments are valid during the call.
        let query = Handle::from(with_arguments(arguments, |count, list| unsafe {
            sys::realm_query_parse_for_list(self.handle.get(), text.as_ptr(), count, list)
        }))?;
        Results::of_query(self.reader, &query)
    }
}

impl<'r, T: Element> SetRef<'r, T> {
    pub fn open(&self) -> Result<Set<'r, T>> {
        let object = self.cell.reader.object(self.cell.object)?;
        let handle = deep::set_of(object.get(), self.cell.key)?;
        Ok(Set { reader: self.cell.reader, handle, marker: PhantomData })
    }

    pub fn len(&self) -> Result<usize> {
        self.open()?.len()
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Whether the set has this value.
    pub fn contains(&self, value: &T) -> Result<bool> {
        self.open()?.contains(value)
    }

    /// A copy of all elements.
    pub fn load(&self) -> Result<Vec<T>> {
        self.open()?.load()
    }
}

impl<'r, T: Element> Set<'r, T> {
    pub fn len(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the handle is valid.
        check(unsafe { sys::realm_set_size(self.handle.get(), &mut count) })?;
        Ok(count)
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The element at a position in the order of values.
    pub fn get(&self, index: usize) -> Result<T::Ref<'r>> {
        let mut raw = NULL_VALUE;
        // SAFETY: the handle is valid; the value is one of the version that the reader shows for 'r.
        unsafe {
            check(sys::realm_set_get(self.handle.get(), index, &mut raw))?;
            T::read(self.reader, &Slot::Add(self.handle.get()), &raw)
        }
    }

    /// Whether the set has this value.
    pub fn contains(&self, value: &T) -> Result<bool> {
        let Some(raw) = value.raw() else { return Ok(false) };
        let mut found = false;
        // SAFETY: the handle is valid, and the value points into `value`.
        check(unsafe { sys::realm_set_find(self.handle.get(), raw, std::ptr::null_mut(), &mut found) })?;
        Ok(found)
    }

    pub fn iter(&self) -> impl Iterator<Item = Result<T::Ref<'r>>> + '_ {
        let (count, failed) = self.len().map_or_else(|error| (0, Some(error)), |count| (count, None));
        failed.map(Err).into_iter().chain((0..count).map(|index| self.get(index)))
    }

    /// A copy of all elements, in the order of values.
    pub fn load(&self) -> Result<Vec<T>> {
        (0..self.len()?).map(|index| T::load(&self.get(index)?)).collect()
    }
}

impl<'r, T: Element> DictionaryRef<'r, T> {
    pub fn open(&self) -> Result<Dictionary<'r, T>> {
        let object = self.cell.reader.object(self.cell.object)?;
        let handle = deep::dictionary_of(object.get(), self.cell.key)?;
        Ok(Dictionary { reader: self.cell.reader, handle, marker: PhantomData })
    }

    pub fn len(&self) -> Result<usize> {
        self.open()?.len()
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Result<Option<T::Ref<'r>>> {
        self.open()?.get(key)
    }

    /// A copy of all pairs.
    pub fn load(&self) -> Result<BTreeMap<String, T>> {
        self.open()?.load()
    }
}

impl<'r, T: Element> Dictionary<'r, T> {
    pub fn len(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the handle is valid.
        check(unsafe { sys::realm_dictionary_size(self.handle.get(), &mut count) })?;
        Ok(count)
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Result<Option<T::Ref<'r>>> {
        let name = ValueRef::String(key).raw();
        let (mut raw, mut found) = (NULL_VALUE, false);
        // SAFETY: the handle is valid; the value is one of the version that the reader shows for 'r.
        unsafe {
            check(sys::realm_dictionary_find(self.handle.get(), name, &mut raw, &mut found))?;
            if !found {
                return Ok(None);
            }
            T::read(self.reader, &Slot::Put(self.handle.get(), name), &raw).map(Some)
        }
    }

    /// The pair at a position in the order of keys.
    pub fn pair(&self, index: usize) -> Result<(&'r str, T::Ref<'r>)> {
        let (mut name, mut raw) = (NULL_VALUE, NULL_VALUE);
        // SAFETY: the handle is valid; key and value are of the version that the reader shows for 'r.
        unsafe {
            check(sys::realm_dictionary_get(self.handle.get(), index, &mut name, &mut raw))?;
            Ok((text_of(name.data.string)?, T::read(self.reader, &Slot::Put(self.handle.get(), name), &raw)?))
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Result<(&'r str, T::Ref<'r>)>> + '_ {
        let (count, failed) = self.len().map_or_else(|error| (0, Some(error)), |count| (count, None));
        failed.map(Err).into_iter().chain((0..count).map(|index| self.pair(index)))
    }

    /// A copy of all pairs.
    pub fn load(&self) -> Result<BTreeMap<String, T>> {
        let pair = |index| self.pair(index).and_then(|(key, value)| Ok((key.to_owned(), T::load(&value)?)));
        (0..self.len()?).map(pair).collect()
    }
}

impl<'r, T: RealmObject> BacklinksRef<'r, T> {
    /// The objects as results, which can be queried. An object appears once for each link it has.
    pub fn results(&self) -> Result<Results<'r, T>> {
        let reader = self.cell.reader;
        let class = reader.index().class_of(self.cell.object.target_table)?;
        let property = class.properties.iter().find(|property| property.key == self.cell.key);
        let origin = property.map_or("", |property| &property.origin);
        let source = reader.index().class(T::CLASS_NAME)?;
        let object = reader.object(self.cell.object)?;
        let key = source.required(origin)?.key;
        // SAFETY: the handle is valid.
        let results = unsafe { sys::realm_get_backlinks(object.get(), source.key, key) };
        Results::of_handle(reader, Handle::from(results)?)
    }

    /// How many links lead here.
    pub fn len(&self) -> Result<usize> {
        self.results()?.len()
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A list inside of a write.
pub struct ListMut<'t, T> {
    pub(crate) handle: Handle<sys::realm_list_t>,
    pub(crate) target: Target<'t>,
    pub(crate) reader: &'t Reader,
    pub(crate) marker: PhantomData<&'t mut T>,
}

/// A set inside of a write.
pub struct SetMut<'t, T> {
    pub(crate) handle: Handle<sys::realm_set_t>,
    pub(crate) target: Target<'t>,
    pub(crate) marker: PhantomData<&'t mut T>,
}

/// A dictionary inside of a write.
pub struct DictionaryMut<'t, T> {
    pub(crate) handle: Handle<sys::realm_dictionary_t>,
    pub(crate) target: Target<'t>,
    pub(crate) reader: &'t Reader,
    pub(crate) marker: PhantomData<&'t mut T>,
}

// SAFETY of the calls below: the handles are valid, and values point to what lives until the end of the call.
impl<T: Element> ListMut<'_, T> {
    pub fn len(&self) -> Result<usize> {
        let mut count = 0;
        check(unsafe { sys::realm_list_size(self.handle.get(), &mut count) })?;
        Ok(count)
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// A copy of an element.
    pub fn get(&self, index: usize) -> Result<T> {
        let mut raw = NULL_VALUE;
        unsafe {
            check(sys::realm_list_get(self.handle.get(), index, &mut raw))?;
            T::load(&T::read(self.reader, &Slot::Element(self.handle.get(), index), &raw)?)
        }
    }

    /// A copy of all elements.
    pub fn load(&self) -> Result<Vec<T>> {
        (0..self.len()?).map(|index| self.get(index)).collect()
    }

    pub fn push(&mut self, value: impl Into<T>) -> Result<()> {
        self.insert(self.len()?, value)
    }

    /// Inserts an element; those from the position on move up by one.
    pub fn insert(&mut self, index: usize, value: impl Into<T>) -> Result<()> {
        value.into().put(&self.target, &Slot::Insert(self.handle.get(), index))
    }

    /// Replaces an element.
    pub fn set(&mut self, index: usize, value: impl Into<T>) -> Result<()> {
        value.into().put(&self.target, &Slot::Element(self.handle.get(), index))
    }

    /// Moves an element, which is at `to` afterwards.
    pub fn relocate(&mut self, from: usize, to: usize) -> Result<()> {
        check(unsafe { sys::realm_list_move(self.handle.get(), from, to) })
    }

    pub fn remove(&mut self, index: usize) -> Result<()> {
        check(unsafe { sys::realm_list_erase(self.handle.get(), index) })
    }

    pub fn clear(&mut self) -> Result<()> {
        check(unsafe { sys::realm_list_clear(self.handle.get()) })
    }
}

fn not_there(handle_is_valid: bool, kind: &str) -> Result<()> {
    if handle_is_valid {
        return Ok(());
    }
    let message = format!("the place holds no {kind}");
    Err(crate::Error::refused(sys::RLM_ERR_INVALIDATED_OBJECT as i32, message))
}

impl<'t> ListMut<'t, Value> {
    /// The list that is an element.
    pub fn list(&mut self, index: usize) -> Result<ListMut<'_, Value>> {
        nested_list(&Slot::Element(self.handle.get(), index), self.target.index, self.reader)
    }

    /// The dictionary that is an element.
    pub fn dictionary(&mut self, index: usize) -> Result<DictionaryMut<'_, Value>> {
        nested_dictionary(&Slot::Element(self.handle.get(), index), self.target.index, self.reader)
    }
}

pub(crate) fn nested_list<'t>(
    slot: &Slot,
    index: &'t crate::schema::Index,
    reader: &'t Reader,
) -> Result<ListMut<'t, Value>> {
    let handle = slot.list()?;
    not_there(unsafe { sys::realm_list_is_valid(handle.get()) }, "list")?;
    Ok(ListMut { handle, target: Target::of(index), reader, marker: PhantomData })
}

pub(crate) fn nested_dictionary<'t>(
    slot: &Slot,
    index: &'t crate::schema::Index,
    reader: &'t Reader,
) -> Result<DictionaryMut<'t, Value>> {
    let handle = slot.dictionary()?;
    not_there(unsafe { sys::realm_dictionary_is_valid(handle.get()) }, "dictionary")?;
    Ok(DictionaryMut { handle, target: Target::of(index), reader, marker: PhantomData })
}

impl<T: Element> SetMut<'_, T> {
    pub fn len(&self) -> Result<usize> {
        let mut count = 0;
        check(unsafe { sys::realm_set_size(self.handle.get(), &mut count) })?;
        Ok(count)
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    pub fn contains(&self, value: &T) -> Result<bool> {
        let Some(raw) = value.raw() else { return Ok(false) };
        let mut found = false;
        check(unsafe { sys::realm_set_find(self.handle.get(), raw, std::ptr::null_mut(), &mut found) })?;
        Ok(found)
    }

    /// Adds a value. The result is whether it is new.
    pub fn insert(&mut self, value: impl Into<T>) -> Result<bool> {
        let value = value.into();
        let Some(raw) = value.raw() else {
            return value.put(&self.target, &Slot::Add(self.handle.get())).map(|()| true);
        };
        let mut is_new = false;
        check(unsafe { sys::realm_set_insert(self.handle.get(), raw, std::ptr::null_mut(), &mut is_new) })?;
        Ok(is_new)
    }

    /// Removes a value. The result is whether the set had it.
    pub fn remove(&mut self, value: &T) -> Result<bool> {
        let Some(raw) = value.raw() else { return Ok(false) };
        let mut was_there = false;
        check(unsafe { sys::realm_set_erase(self.handle.get(), raw, &mut was_there) })?;
        Ok(was_there)
    }

    pub fn clear(&mut self) -> Result<()> {
        check(unsafe { sys::realm_set_clear(self.handle.get()) })
    }
}

impl<T: Element> DictionaryMut<'_, T> {
    pub fn len(&self) -> Result<usize> {
        let mut count = 0;
        check(unsafe { sys::realm_dictionary_size(self.handle.get(), &mut count) })?;
        Ok(count)
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// A copy of the value of a key.
    pub fn get(&self, key: &str) -> Result<Option<T>> {
        let name = ValueRef::String(key).raw();
        let (mut raw, mut found) = (NULL_VALUE, false);
        unsafe {
            check(sys::realm_dictionary_find(self.handle.get(), name, &mut raw, &mut found))?;
            if !found {
                return Ok(None);
            }
            T::load(&T::read(self.reader, &Slot::Put(self.handle.get(), name), &raw)?).map(Some)
        }
    }

    /// Adds a pair, or replaces the value of its key.
    pub fn insert(&mut self, key: &str, value: impl Into<T>) -> Result<()> {
        value.into().put(&self.target, &Slot::Put(self.handle.get(), ValueRef::String(key).raw()))
    }

    /// Removes a pair. The result is whether the dictionary had it.
    pub fn remove(&mut self, key: &str) -> Result<bool> {
        let mut was_there = false;
        let name = ValueRef::String(key).raw();
        check(unsafe { sys::realm_dictionary_erase(self.handle.get(), name, &mut was_there) })?;
        Ok(was_there)
    }

    pub fn clear(&mut self) -> Result<()> {
        check(unsafe { sys::realm_dictionary_clear(self.handle.get()) })
    }
}

impl<'t> DictionaryMut<'t, Value> {
    /// The list under a key.
    pub fn list(&mut self, key: &str) -> Result<ListMut<'_, Value>> {
        let slot = Slot::Put(self.handle.get(), ValueRef::String(key).raw());
        nested_list(&slot, self.target.index, self.reader)
    }

    /// The dictionary under a key.
    pub fn dictionary(&mut self, key: &str) -> Result<DictionaryMut<'_, Value>> {
        let slot = Slot::Put(self.handle.get(), ValueRef::String(key).raw());
        nested_dictionary(&slot, self.target.index, self.reader)
    }
}
