//! Values with their content: nested collections and embedded objects, read and written to any depth.

use std::collections::BTreeMap;

use crealm_sys as sys;

use crate::error::{Error, Result};
use crate::raw::{check, Handle, NULL_VALUE};
use crate::schema::{ClassInfo, CollectionType, Index, PropertyInfo, PropertyType};
use crate::values::{Value, ValueRef};

/// A place that holds one value. The handles in it are borrowed.
pub enum Slot {
    Property(*mut sys::realm_object_t, i64),
    /// A new element of a list.
    Insert(*mut sys::realm_list_t, usize),
    /// An element of a list that exists.
    Element(*mut sys::realm_list_t, usize),
    /// An element of a set.
    Add(*mut sys::realm_set_t),
    /// A pair of a dictionary. The key points to a text of the caller.
    Put(*mut sys::realm_dictionary_t, sys::realm_value_t),
}

/// What the elements of a collection are: the class of embedded objects, where a value of any type is written.
pub struct Target<'a> {
    pub(crate) index: &'a Index,
    pub(crate) embedded: Option<&'a ClassInfo>,
}

impl<'a> Target<'a> {
    pub(crate) fn of(index: &'a Index) -> Target<'a> {
        Target { index, embedded: None }
    }
}

// SAFETY of all calls here: the handles of a slot are valid as long as the slot is used; values are copied.
impl Slot {
    pub(crate) fn value(&self, raw: sys::realm_value_t) -> Result<()> {
        let none: *mut usize = std::ptr::null_mut();
        check(unsafe {
            match *self {
                Slot::Property(object, key) => sys::realm_set_value(object, key, raw, false),
                Slot::Insert(list, at) => sys::realm_list_insert(list, at, raw),
                Slot::Element(list, at) => sys::realm_list_set(list, at, raw),
                Slot::Add(set) => sys::realm_set_insert(set, raw, none, none.cast()),
                Slot::Put(dictionary, key) => sys::realm_dictionary_insert(dictionary, key, raw, none, none.cast()),
            }
        })
    }

    /// Makes the place hold an empty list.
    fn new_list(&self) -> Result<Handle<sys::realm_list_t>> {
        let list = Handle::from(unsafe {
            match *self {
                Slot::Property(object, key) => sys::realm_set_list(object, key),
                Slot::Insert(list, at) => sys::realm_list_insert_list(list, at),
                Slot::Element(list, at) => sys::realm_list_set_list(list, at),
                Slot::Add(_) => return Err(no_collections()),
                Slot::Put(dictionary, key) => sys::realm_dictionary_insert_list(dictionary, key),
            }
        })?;
        check(unsafe { sys::realm_list_clear(list.get()) })?;
        Ok(list)
    }

    /// Makes the place hold an empty dictionary.
    fn new_dictionary(&self) -> Result<Handle<sys::realm_dictionary_t>> {
        let dictionary = Handle::from(unsafe {
            match *self {
                Slot::Property(object, key) => sys::realm_set_dictionary(object, key),
                Slot::Insert(list, at) => sys::realm_list_insert_dictionary(list, at),
                Slot::Element(list, at) => sys::realm_list_set_dictionary(list, at),
                Slot::Add(_) => return Err(no_collections()),
                Slot::Put(dictionary, key) => sys::realm_dictionary_insert_dictionary(dictionary, key),
            }
        })?;
        check(unsafe { sys::realm_dictionary_clear(dictionary.get()) })?;
        Ok(dictionary)
    }

    /// Puts a new embedded object into the place.
    pub(crate) fn embedded(&self) -> Result<Handle<sys::realm_object_t>> {
        Handle::from(unsafe {
            match *self {
                Slot::Property(object, key) => sys::realm_set_embedded(object, key),
                Slot::Insert(list, at) => sys::realm_list_insert_embedded(list, at),
                Slot::Element(list, at) => sys::realm_list_set_embedded(list, at),
                Slot::Add(_) => return Err(no_collections()),
                Slot::Put(dictionary, key) => sys::realm_dictionary_insert_embedded(dictionary, key),
            }
        })
    }

    /// The list that the place holds.
    pub(crate) fn list(&self) -> Result<Handle<sys::realm_list_t>> {
        Handle::from(unsafe {
            match *self {
                Slot::Property(object, key) => sys::realm_get_list(object, key),
                Slot::Insert(list, at) | Slot::Element(list, at) => sys::realm_list_get_list(list, at),
                Slot::Add(_) => return Err(no_collections()),
                Slot::Put(dictionary, key) => sys::realm_dictionary_get_list(dictionary, key),
            }
        })
    }

    /// The dictionary that the place holds.
    pub(crate) fn dictionary(&self) -> Result<Handle<sys::realm_dictionary_t>> {
        Handle::from(unsafe {
            match *self {
                Slot::Property(object, key) => sys::realm_get_dictionary(object, key),
                Slot::Insert(list, at) | Slot::Element(list, at) => sys::realm_list_get_dictionary(list, at),
                Slot::Add(_) => return Err(no_collections()),
                Slot::Put(dictionary, key) => sys::realm_dictionary_get_dictionary(dictionary, key),
            }
        })
    }
}

fn no_collections() -> Error {
    Error::refused(sys::RLM_ERR_ILLEGAL_OPERATION as i32, "a set holds neither collections nor embedded objects")
}

fn mismatch(property: &str, wanted: &str) -> Error {
    let message = format!("the property {property} takes {wanted}");
    Error::refused(sys::RLM_ERR_PROPERTY_TYPE_MISMATCH as i32, message)
}

pub(crate) fn list_of(object: *mut sys::realm_object_t, key: i64) -> Result<Handle<sys::realm_list_t>> {
    Handle::from(unsafe { sys::realm_get_list(object, key) })
}

pub(crate) fn set_of(object: *mut sys::realm_object_t, key: i64) -> Result<Handle<sys::realm_set_t>> {
    Handle::from(unsafe { sys::realm_get_set(object, key) })
}

pub(crate) fn dictionary_of(object: *mut sys::realm_object_t, key: i64) -> Result<Handle<sys::realm_dictionary_t>> {
    Handle::from(unsafe { sys::realm_get_dictionary(object, key) })
}

/// Writes a value with its content. `embedded` is the class of embedded objects that the place holds: a dictionary then
/// gives the properties of a new one.
pub(crate) fn write(index: &Index, slot: &Slot, embedded: Option<&ClassInfo>, value: &Value) -> Result<()> {
    match (value, embedded) {
        (Value::Dictionary(pairs), Some(class)) => write_object(index, slot.embedded()?.get(), class, pairs),
        (Value::List(elements) | Value::Set(elements), None) => {
            let list = slot.new_list()?;
            write_elements(index, &list, None, elements)
        }
        (Value::Dictionary(pairs), None) => {
            let dictionary = slot.new_dictionary()?;
            write_pairs(index, &dictionary, None, pairs)
        }
        _ => slot.value(value.as_ref().raw()),
    }
}

pub(crate) fn write_elements(
    index: &Index,
    list: &Handle<sys::realm_list_t>,
    embedded: Option<&ClassInfo>,
    elements: &[Value],
) -> Result<()> {
    elements.iter().enumerate().try_for_each(|(at, value)| write(index, &Slot::Insert(list.get(), at), embedded, value))
}

pub(crate) fn write_pairs(
    index: &Index,
    dictionary: &Handle<sys::realm_dictionary_t>,
    embedded: Option<&ClassInfo>,
    pairs: &BTreeMap<String, Value>,
) -> Result<()> {
    pairs.iter().try_for_each(|(key, value)| {
        write(index, &Slot::Put(dictionary.get(), ValueRef::String(key).raw()), embedded, value)
    })
}

fn write_object(
    index: &Index,
    object: *mut sys::realm_object_t,
    class: &ClassInfo,
    pairs: &BTreeMap<String, Value>,
) -> Result<()> {
    pairs.iter().try_for_each(|(name, value)| write_property(index, object, class.required(name)?, value))
}

/// The class of embedded objects that a property holds.
pub(crate) fn embedded_class<'a>(index: &'a Index, property: &PropertyInfo) -> Result<Option<&'a ClassInfo>> {
    if property.kind != PropertyType::Object {
        return Ok(None);
    }
    index.class(&property.target).map(|class| Some(class).filter(|class| class.embedded))
}

/// Writes a property of any kind; a collection gets these elements instead of its own.
pub(crate) fn write_property(
    index: &Index,
    object: *mut sys::realm_object_t,
    property: &PropertyInfo,
    value: &Value,
) -> Result<()> {
    let embedded = embedded_class(index, property)?;
    match (property.collection, value) {
        (CollectionType::None, _) => write(index, &Slot::Property(object, property.key), embedded, value),
        (CollectionType::List, Value::List(elements)) => {
            let list = list_of(object, property.key)?;
            check(unsafe { sys::realm_list_clear(list.get()) })?;
            write_elements(index, &list, embedded, elements)
        }
        (CollectionType::Set, Value::List(elements) | Value::Set(elements)) => {
            let set = set_of(object, property.key)?;
            check(unsafe { sys::realm_set_clear(set.get()) })?;
            elements.iter().try_for_each(|value| write(index, &Slot::Add(set.get()), embedded, value))
        }
        (CollectionType::Dictionary, Value::Dictionary(pairs)) => {
            let dictionary = dictionary_of(object, property.key)?;
            check(unsafe { sys::realm_dictionary_clear(dictionary.get()) })?;
            write_pairs(index, &dictionary, embedded, pairs)
        }
        (kind, _) => Err(mismatch(&property.name, &format!("the elements of a {kind:?}"))),
    }
}

/// The value that was read from a place, with its content.
pub(crate) fn read(slot: &Slot, raw: &sys::realm_value_t) -> Result<Value> {
    // SAFETY: texts are copied at once.
    match unsafe { ValueRef::from_raw(raw) }? {
        ValueRef::List => read_list(&slot.list()?).map(Value::List),
        ValueRef::Dictionary => read_dictionary(&slot.dictionary()?).map(Value::Dictionary),
        value => Ok(value.to_value()),
    }
}

pub(crate) fn read_list(list: &Handle<sys::realm_list_t>) -> Result<Vec<Value>> {
    let mut count = 0;
    check(unsafe { sys::realm_list_size(list.get(), &mut count) })?;
    (0..count)
        .map(|at| {
            let mut raw = NULL_VALUE;
            check(unsafe { sys::realm_list_get(list.get(), at, &mut raw) })?;
            read(&Slot::Element(list.get(), at), &raw)
        })
        .collect()
}

fn read_set(set: &Handle<sys::realm_set_t>) -> Result<Vec<Value>> {
    let mut count = 0;
    check(unsafe { sys::realm_set_size(set.get(), &mut count) })?;
    (0..count)
        .map(|at| {
            let mut raw = NULL_VALUE;
            check(unsafe { sys::realm_set_get(set.get(), at, &mut raw) })?;
            read(&Slot::Add(set.get()), &raw)
        })
        .collect()
}

pub(crate) fn read_dictionary(dictionary: &Handle<sys::realm_dictionary_t>) -> Result<BTreeMap<String, Value>> {
    let mut count = 0;
    check(unsafe { sys::realm_dictionary_size(dictionary.get(), &mut count) })?;
    (0..count)
        .map(|at| {
            let (mut key, mut raw) = (NULL_VALUE, NULL_VALUE);
            check(unsafe { sys::realm_dictionary_get(dictionary.get(), at, &mut key, &mut raw) })?;
            let name = unsafe { crate::values::text_of(key.data.string) }?.to_owned();
            Ok((name, read(&Slot::Put(dictionary.get(), key), &raw)?))
        })
        .collect()
}

/// Reads a property of any kind, with its content.
pub(crate) fn read_property(object: *mut sys::realm_object_t, property: &PropertyInfo) -> Result<Value> {
    let key = property.key;
    match property.collection {
        CollectionType::None if property.kind == PropertyType::Backlinks => {
            Err(mismatch(&property.name, "nothing: it is computed"))
        }
        CollectionType::None => {
            let mut raw = NULL_VALUE;
            check(unsafe { sys::realm_get_value(object, key, &mut raw) })?;
            read(&Slot::Property(object, key), &raw)
        }
        CollectionType::List => read_list(&list_of(object, key)?).map(Value::List),
        CollectionType::Set => read_set(&set_of(object, key)?).map(Value::Set),
        CollectionType::Dictionary => read_dictionary(&dictionary_of(object, key)?).map(Value::Dictionary),
    }
}
