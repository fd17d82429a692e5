//! How fields of the supported types are read and written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;

use crealm_sys as sys;

use crate::collections::{BacklinksRef, DictionaryRef, EmbeddedRef, ListRef, MixedRef, SetRef};
use crate::decimal::Decimal128;
use crate::deep::{self, Slot, Target};
use crate::error::{Error, Result};
use crate::model::{EmbeddedObject, Field, Link, RealmObject};
use crate::raw::{Handle, NULL_VALUE};
use crate::reader::Reader;
use crate::schema::{Binding, CollectionType, Index, PropertyInfo, PropertyType};
use crate::values::{bytes_of, text_of, ObjectId, Timestamp, Uuid, Value, ValueRef};

/// A property of an object that is being read, and its value if that was read already.
#[derive(Clone, Copy)]
pub struct Cell<'r> {
    pub(crate) reader: &'r Reader,
    pub(crate) object: sys::realm_link_t,
    pub(crate) key: i64,
    pub(crate) raw: sys::realm_value_t,
}

/// An object that is being read: the values of its plain properties, in their order.
pub struct Row<'r, 'v> {
    pub(crate) reader: &'r Reader,
    pub(crate) object: sys::realm_link_t,
    pub(crate) keys: &'r [i64],
    pub(crate) values: std::slice::Iter<'v, sys::realm_value_t>,
}

impl<'r> Row<'r, '_> {
    /// Reads the field with this number. Fields must be read in their order.
    #[inline]
    pub fn field<F: Field>(&mut self, index: usize) -> Result<F::Ref<'r>> {
        let raw = if F::PLAIN { *self.values.next().unwrap_or(&NULL_VALUE) } else { NULL_VALUE };
        F::read(Cell { reader: self.reader, object: self.object, key: self.keys[index], raw })
    }

    /// The address of the object.
    pub fn link<T: RealmObject>(&self) -> Link<T> {
        Link::from_raw(self.object)
    }
}

/// How a field is written.
pub enum Form {
    /// With the other values of its object.
    Value(sys::realm_value_t),
    /// By calls of its own.
    Calls,
    /// By calls of its own, unless the object is new.
    Empty,
    /// Not at all.
    Nothing,
}

/// Where a field is written by calls of its own.
pub struct Place<'a> {
    pub(crate) index: &'a Index,
    pub(crate) object: *mut sys::realm_object_t,
    pub(crate) key: i64,
}

/// Collects the values of an object that is being written, then writes the fields that need calls of their own. The
/// values point into the fields, which live for `'f`.
pub struct Store<'a, 'f> {
    pub(crate) binding: &'a Binding,
    pub(crate) index: &'a Index,
    pub(crate) keys: &'a mut Vec<i64>,
    pub(crate) values: &'a mut Vec<sys::realm_value_t>,
    pub(crate) primary_key: Option<sys::realm_value_t>,
    /// Whether the object is new, so that its collections are empty.
    pub(crate) is_new: bool,
    pub(crate) needs_calls: bool,
    /// Not NULL in the second pass.
    pub(crate) object: *mut sys::realm_object_t,
    pub(crate) fields: PhantomData<&'f ()>,
}

impl<'f> Store<'_, 'f> {
    /// Takes the field with this number.
    #[inline]
    pub fn field<F: Field>(&mut self, index: usize, is_primary_key: bool, field: &'f F) -> Result<()> {
        let key = self.binding.keys[index];
        match field.form() {
            Form::Value(_) if !self.object.is_null() => {}
            Form::Value(value) if is_primary_key => self.primary_key = Some(value),
            Form::Value(value) => {
                self.keys.push(key);
                self.values.push(value);
            }
            Form::Nothing => {}
            Form::Empty if self.is_new => {}
            Form::Empty | Form::Calls => {
                self.needs_calls = true;
                if !self.object.is_null() {
                    field.write(&Place { index: self.index, object: self.object, key })?;
                }
            }
        }
        Ok(())
    }
}

/// Writes all fields of an object into a handle: of a new embedded object.
pub(crate) fn store_embedded<T: RealmObject>(
    index: &Index,
    object: &Handle<sys::realm_object_t>,
    value: &T,
) -> Result<()> {
    let binding = index.binding::<T>()?;
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let mut store = Store {
        binding,
        index,
        keys: &mut keys,
        values: &mut values,
        primary_key: None,
        is_new: true,
        needs_calls: false,
        object: std::ptr::null_mut(),
        fields: PhantomData,
    };
    value.store(&mut store)?;
    // SAFETY: the arrays have as many elements as the call is told; the values point into `value`.
    crate::raw::check(unsafe {
        sys::realm_set_values(object.get(), store.keys.len(), store.keys.as_ptr(), store.values.as_ptr(), false)
    })?;
    if store.needs_calls {
        store.object = object.get();
        value.store(&mut store)?;
    }
    Ok(())
}

/// A type of single values.
///
/// # Safety
/// Only this crate implements it: texts and bytes of a value that `raw` makes must be those of self.
pub unsafe trait Scalar: Sized {
    type Ref<'r>: Copy + fmt::Debug;
    const TYPE: PropertyType;

    fn raw(&self) -> sys::realm_value_t;

    /// # Safety
    /// Texts and bytes of the value must stay valid for `'r`.
    unsafe fn read<'r>(raw: &sys::realm_value_t) -> Result<Self::Ref<'r>>;

    fn load(from: &Self::Ref<'_>) -> Self;
}

/// A type that elements of collections may have: all types of single values, `Link<T>`, embedded objects, `Value`.
/// Values of dictionaries of links are `Option<Link<T>>`, because a deleted object leaves a null.
///
/// # Safety
/// Only this crate implements it: texts and bytes of a value that `raw` makes must be those of self.
pub unsafe trait Element: Sized {
    /// The element as a realm reads it.
    type Ref<'r>;

    #[doc(hidden)]
    fn define(property: &mut PropertyInfo);

    /// The value, for elements that are one.
    #[doc(hidden)]
    fn raw(&self) -> Option<sys::realm_value_t>;

    #[doc(hidden)]
    fn put(&self, target: &Target<'_>, slot: &Slot) -> Result<()>;

    /// # Safety
    /// The value was read from the slot, in the version that the reader shows.
    #[doc(hidden)]
    unsafe fn read<'r>(reader: &'r Reader, slot: &Slot, raw: &sys::realm_value_t) -> Result<Self::Ref<'r>>;

    #[doc(hidden)]
    fn load(from: &Self::Ref<'_>) -> Result<Self>;
}

#[cold]
fn wrong_type(raw: &sys::realm_value_t) -> Error {
    Error::refused(sys::RLM_ERR_PROPERTY_TYPE_MISMATCH as i32, format!("a value of another type ({})", raw.r#type))
}

#[cold]
fn out_of_range(number: i64) -> Error {
    Error::refused(sys::RLM_ERR_RANGE_ERROR as i32, format!("{number} does not fit into the type of the field"))
}

macro_rules! scalar {
    ($kind:ty, $reference:ty, $type:ident, $tag:ident, $raw:ident => $read:expr, $this:ident => $value:expr,
     $from:ident => $load:expr) => {
        unsafe impl Scalar for $kind {
            type Ref<'r> = $reference;
            const TYPE: PropertyType = PropertyType::$type;

            #[inline]
            fn raw(&self) -> sys::realm_value_t {
                let $this = self;
                $value.raw()
            }

            #[inline]
            unsafe fn read<'r>($raw: &sys::realm_value_t) -> Result<Self::Ref<'r>> {
                if $raw.r#type != sys::$tag {
                    return Err(wrong_type($raw));
                }
                $read
            }

            fn load($from: &Self::Ref<'_>) -> Self {
                $load
            }
        }

        scalar_traits!($kind, false);
        scalar_traits!(Option<$kind>, true);
    };
}

macro_rules! scalar_traits {
    ($kind:ty, $nullable:literal) => {
        unsafe impl Field for $kind {
            type Ref<'r> = <$kind as Scalar>::Ref<'r>;
            const PLAIN: bool = true;

            fn define(property: &mut PropertyInfo) {
                property.kind = <$kind as Scalar>::TYPE;
                property.nullable = $nullable;
            }

            #[inline]
            fn form(&self) -> Form {
                Form::Value(Scalar::raw(self))
            }

            fn write(&self, _: &Place<'_>) -> Result<()> {
                Ok(())
            }

            #[inline]
            fn read<'r>(cell: Cell<'r>) -> Result<Self::Ref<'r>> {
                // SAFETY: the value was read in the version that the reader shows for 'r.
                unsafe { <$kind as Scalar>::read(&cell.raw) }
            }

            fn load(from: &Self::Ref<'_>) -> Result<Self> {
                Ok(<$kind as Scalar>::load(from))
            }
        }

        unsafe impl Element for $kind {
            type Ref<'r> = <$kind as Scalar>::Ref<'r>;

            fn define(property: &mut PropertyInfo) {
                property.kind = <$kind as Scalar>::TYPE;
                property.nullable = $nullable;
            }

            fn raw(&self) -> Option<sys::realm_value_t> {
                Some(Scalar::raw(self))
            }

            fn put(&self, _: &Target<'_>, slot: &Slot) -> Result<()> {
                slot.value(Scalar::raw(self))
            }

            unsafe fn read<'r>(_: &'r Reader, _: &Slot, raw: &sys::realm_value_t) -> Result<Self::Ref<'r>> {
                <$kind as Scalar>::read(raw)
            }

            fn load(from: &Self::Ref<'_>) -> Result<Self> {
                Ok(<$kind as Scalar>::load(from))
            }
        }
    };
}

unsafe impl<T: Scalar> Scalar for Option<T> {
    type Ref<'r> = Option<T::Ref<'r>>;
    const TYPE: PropertyType = T::TYPE;

    #[inline]
    fn raw(&self) -> sys::realm_value_t {
        self.as_ref().map_or(NULL_VALUE, Scalar::raw)
    }

    #[inline]
    unsafe fn read<'r>(raw: &sys::realm_value_t) -> Result<Option<T::Ref<'r>>> {
        if raw.r#type == sys::RLM_TYPE_NULL {
            return Ok(None);
        }
        T::read(raw).map(Some)
    }

    fn load(from: &Self::Ref<'_>) -> Option<T> {
        from.as_ref().map(T::load)
    }
}

macro_rules! copied {
    ($($kind:ty, $type:ident, $tag:ident, $raw:ident => $read:expr;)*) => {$(
        scalar!($kind, $kind, $type, $tag, $raw => $read, this => ValueRef::from(*this), from => *from);
    )*};
}

fn narrow<T: TryFrom<i64>>(number: i64) -> Result<T> {
    T::try_from(number).map_err(|_| out_of_range(number))
}

copied! {
    i64, Int, RLM_TYPE_INT, raw => Ok(raw.data.integer);
    i32, Int, RLM_TYPE_INT, raw => narrow(raw.data.integer);
    i16, Int, RLM_TYPE_INT, raw => narrow(raw.data.integer);
    u32, Int, RLM_TYPE_INT, raw => narrow(raw.data.integer);
    bool, Bool, RLM_TYPE_BOOL, raw => Ok(raw.data.boolean);
    f32, Float, RLM_TYPE_FLOAT, raw => Ok(raw.data.fnum);
    f64, Double, RLM_TYPE_DOUBLE, raw => Ok(raw.data.dnum);
    Timestamp, Timestamp, RLM_TYPE_TIMESTAMP,
        raw => Ok(Timestamp::new(raw.data.timestamp.seconds, raw.data.timestamp.nanoseconds));
    Decimal128, Decimal128, RLM_TYPE_DECIMAL128, raw => Ok(Decimal128::from_bits(raw.data.decimal128.w));
    ObjectId, ObjectId, RLM_TYPE_OBJECT_ID, raw => Ok(ObjectId(raw.data.object_id.bytes));
    Uuid, Uuid, RLM_TYPE_UUID, raw => Ok(Uuid(raw.data.uuid.bytes));
}

scalar!(String, &'r str, String, RLM_TYPE_STRING,
    raw => text_of(raw.data.string), this => ValueRef::String(this), from => (*from).to_owned());
scalar!(Vec<u8>, &'r [u8], Data, RLM_TYPE_BINARY,
    raw => Ok(bytes_of(raw.data.binary)), this => ValueRef::Data(this), from => from.to_vec());

unsafe impl<T: RealmObject> Field for Option<Link<T>> {
    type Ref<'r> = Option<Link<T>>;
    const PLAIN: bool = true;

    fn define(property: &mut PropertyInfo) {
        <Option<Link<T>> as Element>::define(property);
    }

    fn form(&self) -> Form {
        Form::Value(self.map_or(NULL_VALUE, |link| ValueRef::Link(link.any()).raw()))
    }

    fn write(&self, _: &Place<'_>) -> Result<()> {
        Ok(())
    }

    fn read<'r>(cell: Cell<'r>) -> Result<Option<Link<T>>> {
        link_of(&cell.raw)
    }

    fn load(from: &Option<Link<T>>) -> Result<Self> {
        Ok(*from)
    }
}

fn link_of<T>(raw: &sys::realm_value_t) -> Result<Option<Link<T>>> {
    match raw.r#type {
        sys::RLM_TYPE_NULL => Ok(None),
        // SAFETY: the type says that the value is a link.
        sys::RLM_TYPE_LINK => Ok(Some(Link::from_raw(unsafe { raw.data.link }))),
        _ => Err(wrong_type(raw)),
    }
}

unsafe impl<T: RealmObject> Element for Link<T> {
    type Ref<'r> = Link<T>;

    fn define(property: &mut PropertyInfo) {
        property.kind = PropertyType::Object;
        property.target = T::CLASS_NAME.to_owned();
    }

    fn raw(&self) -> Option<sys::realm_value_t> {
        Some(ValueRef::Link(self.any()).raw())
    }

    fn put(&self, _: &Target<'_>, slot: &Slot) -> Result<()> {
        slot.value(ValueRef::Link(self.any()).raw())
    }

    unsafe fn read(_: &Reader, _: &Slot, raw: &sys::realm_value_t) -> Result<Link<T>> {
        link_of(raw)?.ok_or_else(|| wrong_type(raw))
    }

    fn load(from: &Link<T>) -> Result<Self> {
        Ok(*from)
    }
}

unsafe impl<T: RealmObject> Element for Option<Link<T>> {
    type Ref<'r> = Option<Link<T>>;

    fn define(property: &mut PropertyInfo) {
        <Link<T> as Element>::define(property);
        property.nullable = true;
    }

    fn raw(&self) -> Option<sys::realm_value_t> {
        Some(self.map_or(NULL_VALUE, |link| ValueRef::Link(link.any()).raw()))
    }

    fn put(&self, _: &Target<'_>, slot: &Slot) -> Result<()> {
        slot.value(self.map_or(NULL_VALUE, |link| ValueRef::Link(link.any()).raw()))
    }

    unsafe fn read(_: &Reader, _: &Slot, raw: &sys::realm_value_t) -> Result<Self> {
        link_of(raw)
    }

    fn load(from: &Self) -> Result<Self> {
        Ok(*from)
    }
}

unsafe impl<T: EmbeddedObject> Field for Option<T> {
    type Ref<'r> = EmbeddedRef<'r, T>;
    const PLAIN: bool = true;

    fn define(property: &mut PropertyInfo) {
        property.kind = PropertyType::Object;
        property.target = T::CLASS_NAME.to_owned();
        property.nullable = true;
    }

    fn form(&self) -> Form {
        if self.is_none() {
            Form::Empty
        } else {
            Form::Calls
        }
    }

    fn write(&self, place: &Place<'_>) -> Result<()> {
        let slot = Slot::Property(place.object, place.key);
        match self {
            Some(value) => store_embedded(place.index, &slot.embedded()?, value),
            None => slot.value(NULL_VALUE),
        }
    }

    fn read<'r>(cell: Cell<'r>) -> Result<EmbeddedRef<'r, T>> {
        Ok(EmbeddedRef::new(cell.reader, link_of(&cell.raw)?))
    }

    fn load(from: &EmbeddedRef<'_, T>) -> Result<Self> {
        from.load()
    }
}

unsafe impl<T: EmbeddedObject> Element for T {
    type Ref<'r> = T::Ref<'r>;

    fn define(property: &mut PropertyInfo) {
        property.kind = PropertyType::Object;
        property.target = T::CLASS_NAME.to_owned();
    }

    fn raw(&self) -> Option<sys::realm_value_t> {
        None
    }

    fn put(&self, target: &Target<'_>, slot: &Slot) -> Result<()> {
        store_embedded(target.index, &slot.embedded()?, self)
    }

    unsafe fn read<'r>(reader: &'r Reader, _: &Slot, raw: &sys::realm_value_t) -> Result<T::Ref<'r>> {
        let link: Option<Link<T>> = link_of(raw)?;
        reader.get(link.ok_or_else(|| wrong_type(raw))?)
    }

    fn load(from: &T::Ref<'_>) -> Result<Self> {
        <T as RealmObject>::load(from)
    }
}

unsafe impl Field for Value {
    type Ref<'r> = MixedRef<'r>;
    const PLAIN: bool = true;

    fn define(property: &mut PropertyInfo) {
        <Value as Element>::define(property);
    }

    fn form(&self) -> Form {
        if self.is_collection() {
            Form::Calls
        } else {
            Form::Value(self.as_ref().raw())
        }
    }

    fn write(&self, place: &Place<'_>) -> Result<()> {
        deep::write(place.index, &Slot::Property(place.object, place.key), None, self)
    }

    fn read<'r>(cell: Cell<'r>) -> Result<MixedRef<'r>> {
        MixedRef::new(cell)
    }

    fn load(from: &MixedRef<'_>) -> Result<Value> {
        from.load()
    }
}

unsafe impl Element for Value {
    type Ref<'r> = Value;

    fn define(property: &mut PropertyInfo) {
        property.kind = PropertyType::Mixed;
        property.nullable = true;
    }

    fn raw(&self) -> Option<sys::realm_value_t> {
        (!self.is_collection()).then(|| self.as_ref().raw())
    }

    fn put(&self, target: &Target<'_>, slot: &Slot) -> Result<()> {
        deep::write(target.index, slot, target.embedded, self)
    }

    unsafe fn read(_: &Reader, slot: &Slot, raw: &sys::realm_value_t) -> Result<Value> {
        deep::read(slot, raw)
    }

    fn load(from: &Value) -> Result<Value> {
        Ok(from.clone())
    }
}

fn form_of(is_empty: bool) -> Form {
    if is_empty {
        Form::Empty
    } else {
        Form::Calls
    }
}

unsafe impl<T: Element + 'static> Field for Vec<T> {
    type Ref<'r> = ListRef<'r, T>;
    const PLAIN: bool = false;

    fn define(property: &mut PropertyInfo) {
        T::define(property);
        property.collection = CollectionType::List;
    }

    fn form(&self) -> Form {
        form_of(self.is_empty())
    }

    fn write(&self, place: &Place<'_>) -> Result<()> {
        let list = deep::list_of(place.object, place.key)?;
        // SAFETY: the handle is valid.
        crate::raw::check(unsafe { sys::realm_list_clear(list.get()) })?;
        self.iter()
            .enumerate()
            .try_for_each(|(at, value)| value.put(&Target::of(place.index), &Slot::Insert(list.get(), at)))
    }

    fn read<'r>(cell: Cell<'r>) -> Result<ListRef<'r, T>> {
        Ok(ListRef::new(cell))
    }

    fn load(from: &ListRef<'_, T>) -> Result<Self> {
        from.open()?.load()
    }
}

unsafe impl<T: Element + Ord + 'static> Field for BTreeSet<T> {
    type Ref<'r> = SetRef<'r, T>;
    const PLAIN: bool = false;

    fn define(property: &mut PropertyInfo) {
        T::define(property);
        property.collection = CollectionType::Set;
    }

    fn form(&self) -> Form {
        form_of(self.is_empty())
    }

    fn write(&self, place: &Place<'_>) -> Result<()> {
        let set = deep::set_of(place.object, place.key)?;
        // SAFETY: the handle is valid.
        crate::raw::check(unsafe { sys::realm_set_clear(set.get()) })?;
        self.iter().try_for_each(|value| value.put(&Target::of(place.index), &Slot::Add(set.get())))
    }

    fn read<'r>(cell: Cell<'r>) -> Result<SetRef<'r, T>> {
        Ok(SetRef::new(cell))
    }

    fn load(from: &SetRef<'_, T>) -> Result<Self> {
        Ok(from.open()?.load()?.into_iter().collect())
    }
}

unsafe impl<T: Element + 'static> Field for BTreeMap<String, T> {
    type Ref<'r> = DictionaryRef<'r, T>;
    const PLAIN: bool = false;

    fn define(property: &mut PropertyInfo) {
        T::define(property);
        property.collection = CollectionType::Dictionary;
        property.nullable |= property.kind == PropertyType::Object;
    }

    fn form(&self) -> Form {
        form_of(self.is_empty())
    }

    fn write(&self, place: &Place<'_>) -> Result<()> {
        let dictionary = deep::dictionary_of(place.object, place.key)?;
        // SAFETY: the handle is valid.
        crate::raw::check(unsafe { sys::realm_dictionary_clear(dictionary.get()) })?;
        self.iter().try_for_each(|(key, value)| {
            value.put(&Target::of(place.index), &Slot::Put(dictionary.get(), ValueRef::String(key).raw()))
        })
    }

    fn read<'r>(cell: Cell<'r>) -> Result<DictionaryRef<'r, T>> {
        Ok(DictionaryRef::new(cell))
    }

    fn load(from: &DictionaryRef<'_, T>) -> Result<Self> {
        from.open()?.load()
    }
}

/// A computed property: the objects that link here through the property of their class that the attribute `origin`
/// names. The field has no content of its own; a realm reads it as [`BacklinksRef`].
pub struct Backlinks<T>(PhantomData<fn() -> T>);

impl<T> Backlinks<T> {
    pub const fn new() -> Backlinks<T> {
        Backlinks(PhantomData)
    }
}

impl<T> Default for Backlinks<T> {
    fn default() -> Backlinks<T> {
        Backlinks::new()
    }
}

impl<T> Clone for Backlinks<T> {
    fn clone(&self) -> Backlinks<T> {
        Backlinks::new()
    }
}

impl<T> PartialEq for Backlinks<T> {
    fn eq(&self, _: &Backlinks<T>) -> bool {
        true
    }
}

impl<T> Eq for Backlinks<T> {}

impl<T> fmt::Debug for Backlinks<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Backlinks")
    }
}

unsafe impl<T: RealmObject> Field for Backlinks<T> {
    type Ref<'r> = BacklinksRef<'r, T>;
    const PLAIN: bool = false;

    fn define(property: &mut PropertyInfo) {
        property.kind = PropertyType::Backlinks;
        property.target = T::CLASS_NAME.to_owned();
    }

    fn form(&self) -> Form {
        Form::Nothing
    }

    fn write(&self, _: &Place<'_>) -> Result<()> {
        Ok(())
    }

    fn read<'r>(cell: Cell<'r>) -> Result<BacklinksRef<'r, T>> {
        Ok(BacklinksRef::new(cell))
    }

    fn load(_: &BacklinksRef<'_, T>) -> Result<Self> {
        Ok(Backlinks::new())
    }
}

/// What [`Write::set`](crate::Write::set) accepts for a field of type `F`: the type itself, and for texts and bytes
/// also what borrows them.
///
/// # Safety
/// Only this crate implements it: texts and bytes of a value in the form must be those of self.
pub unsafe trait Assign<F> {
    #[doc(hidden)]
    fn form(&self) -> Form;

    #[doc(hidden)]
    fn write(&self, place: &Place<'_>) -> Result<()>;
}

unsafe impl<F: Field> Assign<F> for F {
    fn form(&self) -> Form {
        Field::form(self)
    }

    fn write(&self, place: &Place<'_>) -> Result<()> {
        Field::write(self, place)
    }
}

macro_rules! assign_borrowed {
    ($($given:ty => $kind:ty),* $(,)?) => {$(
        unsafe impl Assign<$kind> for $given {
            fn form(&self) -> Form {
                Form::Value(ValueRef::from(*self).raw())
            }

            fn write(&self, _: &Place<'_>) -> Result<()> {
                Ok(())
            }
        }
    )*};
}

assign_borrowed! {
    &str => String, Option<&str> => Option<String>, &[u8] => Vec<u8>, Option<&[u8]> => Option<Vec<u8>>,
}
