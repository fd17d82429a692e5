//! The values of properties: types that the standard library lacks, and values of any type.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crealm_sys as sys;

use crate::decimal::Decimal128;
use crate::error::{Error, Result};
use crate::raw::NULL_VALUE;

/// A point in time: seconds since 1970-01-01 00:00 UTC, and nanoseconds of the same sign, below 10⁹ in absolute value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    pub seconds: i64,
    pub nanoseconds: i32,
}

impl Timestamp {
    pub const fn new(seconds: i64, nanoseconds: i32) -> Timestamp {
        Timestamp { seconds, nanoseconds }
    }

    /// The current time.
    pub fn now() -> Timestamp {
        SystemTime::now().into()
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Timestamp {
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => Timestamp::new(after.as_secs() as i64, after.subsec_nanos() as i32),
            Err(error) => {
                let before = error.duration();
                Timestamp::new(-(before.as_secs() as i64), -(before.subsec_nanos() as i32))
            }
        }
    }
}

impl TryFrom<Timestamp> for SystemTime {
    type Error = Error;

    /// RANGE_ERROR if the system has no such time.
    fn try_from(time: Timestamp) -> Result<SystemTime> {
        let distance = Duration::new(time.seconds.unsigned_abs(), time.nanoseconds.unsigned_abs() % 1_000_000_000);
        let is_before = time.seconds < 0 || time.nanoseconds < 0;
        let found = if is_before { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) };
        found.ok_or_else(|| Error::refused(sys::RLM_ERR_RANGE_ERROR as i32, "the system has no such time"))
    }
}

/// Twelve bytes, as MongoDB defines them. The text form has 24 hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub [u8; 12]);

impl ObjectId {
    /// A new id: the time in seconds, five bytes of this process, and a counter.
    pub fn new() -> ObjectId {
        use std::hash::{BuildHasher, Hasher};
        use std::sync::OnceLock;
        static PROCESS: OnceLock<u64> = OnceLock::new();
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let process = *PROCESS.get_or_init(|| {
            let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
            COUNTER.fetch_add((random >> 40) as u32, Ordering::Relaxed);
            random
        });
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&(seconds as u32).to_be_bytes());
        // The number of the process too: a forked child has the random bytes of its parent.
        let mixed = process ^ (u64::from(std::process::id()) << 8);
        bytes[4..9].copy_from_slice(&mixed.to_be_bytes()[3..]);
        bytes[9..].copy_from_slice(&COUNTER.fetch_add(1, Ordering::Relaxed).to_be_bytes()[1..]);
        ObjectId(bytes)
    }
}

/// Sixteen bytes, in the order of the text form `01234567-89ab-cdef-0123-456789abcdef`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

fn write_hex(formatter: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
}

fn read_hex<const COUNT: usize>(digits: &[u8]) -> Option<[u8; COUNT]> {
    if digits.len() != COUNT * 2 {
        return None;
    }
    let mut bytes = [0; COUNT];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let high = (pair[0] as char).to_digit(16)?;
        let low = (pair[1] as char).to_digit(16)?;
        *byte = (high * 16 + low) as u8;
    }
    Some(bytes)
}

fn malformed(kind: &str) -> Error {
    Error::refused(sys::RLM_ERR_INVALID_ARGUMENT as i32, format!("the text is no {kind}"))
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(formatter, &self.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ObjectId({self})")
    }
}

impl FromStr for ObjectId {
    type Err = Error;

    fn from_str(text: &str) -> Result<ObjectId> {
        read_hex(text.as_bytes()).map(ObjectId).ok_or_else(|| malformed("ObjectId"))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in [0..4, 4..6, 6..8, 8..10, 10..16].into_iter().enumerate() {
            if index > 0 {
                formatter.write_str("-")?;
            }
            write_hex(formatter, &self.0[range])?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Uuid({self})")
    }
}

impl FromStr for Uuid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Uuid> {
        let bytes = text.as_bytes();
        let has_dashes = bytes.len() == 36 && [8, 13, 18, 23].iter().all(|&place| bytes[place] == b'-');
        let digits: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'-').collect();
        let found = if has_dashes { read_hex(&digits) } else { None };
        found.map(Uuid).ok_or_else(|| malformed("Uuid"))
    }
}

/// The address of an object of any class: the keys of class and object, which stay the same as long as the object
/// exists. [`Link`](crate::Link) is the address of an object of a declared class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyLink {
    pub class: u32,
    pub object: i64,
}

impl AnyLink {
    pub(crate) fn raw(self) -> sys::realm_link_t {
        sys::realm_link_t { target_table: self.class, target: self.object }
    }

    pub(crate) fn from_raw(raw: sys::realm_link_t) -> AnyLink {
        AnyLink { class: raw.target_table, object: raw.target }
    }
}

/// A value of any type, with its content: what a property of type Mixed holds.
///
/// A `Set` is what a property that is a set holds; in a property of type Mixed it becomes a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    Int(i64),
    Bool(bool),
    String(String),
    Data(Vec<u8>),
    Timestamp(Timestamp),
    Float(f32),
    Double(f64),
    Decimal128(Decimal128),
    ObjectId(ObjectId),
    Uuid(Uuid),
    Link(AnyLink),
    List(Vec<Value>),
    Set(Vec<Value>),
    Dictionary(BTreeMap<String, Value>),
}

/// A value of any type. Texts and bytes are borrowed from the version that `'r` reads; a collection comes without
/// its elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'r> {
    Null,
    Int(i64),
    Bool(bool),
    String(&'r str),
    Data(&'r [u8]),
    Timestamp(Timestamp),
    Float(f32),
    Double(f64),
    Decimal128(Decimal128),
    ObjectId(ObjectId),
    Uuid(Uuid),
    Link(AnyLink),
    List,
    Dictionary,
}

impl<'r> ValueRef<'r> {
    /// Reads a value of the library.
    ///
    /// # Safety
    /// Texts and bytes of the value must stay valid for `'r`.
    #[inline]
    pub(crate) unsafe fn from_raw(raw: &sys::realm_value_t) -> Result<ValueRef<'r>> {
        let data = &raw.data;
        Ok(match raw.r#type {
            sys::RLM_TYPE_NULL => ValueRef::Null,
            sys::RLM_TYPE_INT => ValueRef::Int(data.integer),
            sys::RLM_TYPE_BOOL => ValueRef::Bool(data.boolean),
            sys::RLM_TYPE_STRING => ValueRef::String(text_of(data.string)?),
            sys::RLM_TYPE_BINARY => ValueRef::Data(bytes_of(data.binary)),
            sys::RLM_TYPE_TIMESTAMP => {
                ValueRef::Timestamp(Timestamp::new(data.timestamp.seconds, data.timestamp.nanoseconds))
            }
            sys::RLM_TYPE_FLOAT => ValueRef::Float(data.fnum),
            sys::RLM_TYPE_DOUBLE => ValueRef::Double(data.dnum),
            sys::RLM_TYPE_DECIMAL128 => ValueRef::Decimal128(Decimal128::from_bits(data.decimal128.w)),
            sys::RLM_TYPE_OBJECT_ID => ValueRef::ObjectId(ObjectId(data.object_id.bytes)),
            sys::RLM_TYPE_UUID => ValueRef::Uuid(Uuid(data.uuid.bytes)),
            sys::RLM_TYPE_LINK => ValueRef::Link(AnyLink::from_raw(data.link)),
            sys::RLM_TYPE_LIST => ValueRef::List,
            sys::RLM_TYPE_DICTIONARY => ValueRef::Dictionary,
            other => return Err(Error::refused(0, format!("a value of the unknown type {other}"))),
        })
    }

    /// The value for a call of the library; it points into the texts and bytes of this one.
    pub(crate) fn raw(&self) -> sys::realm_value_t {
        use sys::realm_value_data as data;
        let (data, r#type) = match *self {
            ValueRef::Null => return NULL_VALUE,
            ValueRef::Int(integer) => (data { integer }, sys::RLM_TYPE_INT),
            ValueRef::Bool(boolean) => (data { boolean }, sys::RLM_TYPE_BOOL),
            ValueRef::String(text) => (
                data { string: sys::realm_string_t { data: text.as_ptr().cast(), size: text.len() } },
                sys::RLM_TYPE_STRING,
            ),
            ValueRef::Data(bytes) => {
                (data { binary: sys::realm_binary_t { data: bytes.as_ptr(), size: bytes.len() } }, sys::RLM_TYPE_BINARY)
            }
            ValueRef::Timestamp(Timestamp { seconds, nanoseconds }) => {
                (data { timestamp: sys::realm_timestamp_t { seconds, nanoseconds } }, sys::RLM_TYPE_TIMESTAMP)
            }
            ValueRef::Float(fnum) => (data { fnum }, sys::RLM_TYPE_FLOAT),
            ValueRef::Double(dnum) => (data { dnum }, sys::RLM_TYPE_DOUBLE),
            ValueRef::Decimal128(number) => {
                (data { decimal128: sys::realm_decimal128_t { w: number.to_bits() } }, sys::RLM_TYPE_DECIMAL128)
            }
            ValueRef::ObjectId(id) => {
                (data { object_id: sys::realm_object_id_t { bytes: id.0 } }, sys::RLM_TYPE_OBJECT_ID)
            }
            ValueRef::Uuid(id) => (data { uuid: sys::realm_uuid_t { bytes: id.0 } }, sys::RLM_TYPE_UUID),
            ValueRef::Link(link) => (data { link: link.raw() }, sys::RLM_TYPE_LINK),
            ValueRef::List => (data { integer: 0 }, sys::RLM_TYPE_LIST),
            ValueRef::Dictionary => (data { integer: 0 }, sys::RLM_TYPE_DICTIONARY),
        };
        sys::realm_value_t { data, r#type }
    }

    /// A copy that borrows nothing. A collection becomes an empty one.
    pub fn to_value(&self) -> Value {
        match *self {
            ValueRef::Null => Value::Null,
            ValueRef::Int(value) => Value::Int(value),
            ValueRef::Bool(value) => Value::Bool(value),
            ValueRef::String(text) => Value::String(text.to_owned()),
            ValueRef::Data(bytes) => Value::Data(bytes.to_owned()),
            ValueRef::Timestamp(value) => Value::Timestamp(value),
            ValueRef::Float(value) => Value::Float(value),
            ValueRef::Double(value) => Value::Double(value),
            ValueRef::Decimal128(value) => Value::Decimal128(value),
            ValueRef::ObjectId(value) => Value::ObjectId(value),
            ValueRef::Uuid(value) => Value::Uuid(value),
            ValueRef::Link(link) => Value::Link(link),
            ValueRef::List => Value::List(Vec::new()),
            ValueRef::Dictionary => Value::Dictionary(BTreeMap::new()),
        }
    }
}

impl Value {
    /// The value without a copy of texts and bytes. A collection comes without its elements.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Int(*value),
            Value::Bool(value) => ValueRef::Bool(*value),
            Value::String(text) => ValueRef::String(text),
            Value::Data(bytes) => ValueRef::Data(bytes),
            Value::Timestamp(value) => ValueRef::Timestamp(*value),
            Value::Float(value) => ValueRef::Float(*value),
            Value::Double(value) => ValueRef::Double(*value),
            Value::Decimal128(value) => ValueRef::Decimal128(*value),
            Value::ObjectId(value) => ValueRef::ObjectId(*value),
            Value::Uuid(value) => ValueRef::Uuid(*value),
            Value::Link(link) => ValueRef::Link(*link),
            Value::List(_) | Value::Set(_) => ValueRef::List,
            Value::Dictionary(_) => ValueRef::Dictionary,
        }
    }

    pub(crate) fn is_collection(&self) -> bool {
        matches!(self, Value::List(_) | Value::Set(_) | Value::Dictionary(_))
    }
}

#[inline]
pub(crate) unsafe fn text_of<'r>(raw: sys::realm_string_t) -> Result<&'r str> {
    if raw.data.is_null() {
        return Ok("");
    }
    std::str::from_utf8(std::slice::from_raw_parts(raw.data.cast(), raw.size))
        .map_err(|_| Error::refused(sys::RLM_ERR_INVALID_DATABASE as i32, "a text of the file is not UTF-8"))
}

#[inline]
pub(crate) unsafe fn bytes_of<'r>(raw: sys::realm_binary_t) -> &'r [u8] {
    if raw.data.is_null() {
        return &[];
    }
    std::slice::from_raw_parts(raw.data, raw.size)
}

macro_rules! conversions {
    ($($kind:ty => $variant:ident),* $(,)?) => {$(
        impl From<$kind> for Value {
            fn from(value: $kind) -> Value { Value::$variant(value.into()) }
        }
        impl<'r> From<$kind> for ValueRef<'r> {
            fn from(value: $kind) -> ValueRef<'r> { ValueRef::$variant(value.into()) }
        }
    )*};
}

conversions! {
    i64 => Int, i32 => Int, i16 => Int, u32 => Int, bool => Bool, f32 => Float, f64 => Double,
    Timestamp => Timestamp, SystemTime => Timestamp, Decimal128 => Decimal128, ObjectId => ObjectId, Uuid => Uuid,
    AnyLink => Link,
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Value {
        Value::Data(bytes)
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Value {
        Value::List(elements)
    }
}

impl From<BTreeMap<String, Value>> for Value {
    fn from(pairs: BTreeMap<String, Value>) -> Value {
        Value::Dictionary(pairs)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl<'r> From<&'r str> for ValueRef<'r> {
    fn from(text: &'r str) -> ValueRef<'r> {
        ValueRef::String(text)
    }
}

impl<'r> From<&'r String> for ValueRef<'r> {
    fn from(text: &'r String) -> ValueRef<'r> {
        ValueRef::String(text)
    }
}

impl<'r> From<&'r [u8]> for ValueRef<'r> {
    fn from(bytes: &'r [u8]) -> ValueRef<'r> {
        ValueRef::Data(bytes)
    }
}

impl<'r> From<&'r Vec<u8>> for ValueRef<'r> {
    fn from(bytes: &'r Vec<u8>) -> ValueRef<'r> {
        ValueRef::Data(bytes)
    }
}

impl<'r> From<&'r Value> for ValueRef<'r> {
    fn from(value: &'r Value) -> ValueRef<'r> {
        value.as_ref()
    }
}

impl<'r, T: Into<ValueRef<'r>>> From<Option<T>> for ValueRef<'r> {
    fn from(value: Option<T>) -> ValueRef<'r> {
        value.map_or(ValueRef::Null, Into::into)
    }
}

/// An argument of a query: a value, or a list of values. [`args!`](crate::args) makes them.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    One(ValueRef<'a>),
    Many(Vec<ValueRef<'a>>),
}

impl<'a, T: Into<ValueRef<'a>>> From<T> for Argument<'a> {
    fn from(value: T) -> Argument<'a> {
        Argument::One(value.into())
    }
}

/// A list as one argument of a query: `args![list([1, 2, 3])]` for `"age IN $0"`.
pub fn list<'a, T: Into<ValueRef<'a>>>(values: impl IntoIterator<Item = T>) -> Argument<'a> {
    Argument::Many(values.into_iter().map(Into::into).collect())
}

/// The arguments `$0`, `$1` and so on of a query: `args![30, "Ann", list([1, 2])]`.
#[macro_export]
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::Argument::from($value)),*] as &[$crate::Argument<'_>] };
}

/// The arguments in the form of the library; `use_them` gets their number and address.
pub(crate) fn with_arguments<R>(
    arguments: &[Argument<'_>],
    use_them: impl FnOnce(usize, *const sys::realm_query_arg_t) -> R,
) -> R {
    let mut values: Vec<Vec<sys::realm_value_t>> = arguments
        .iter()
        .map(|argument| match argument {
            Argument::One(value) => vec![value.raw()],
            Argument::Many(values) => values.iter().map(ValueRef::raw).collect(),
        })
        .collect();
    let raw: Vec<sys::realm_query_arg_t> = arguments
        .iter()
        .zip(&mut values)
        .map(|(argument, values)| sys::realm_query_arg_t {
            nb_args: values.len(),
            is_list: matches!(argument, Argument::Many(_)),
            arg: values.as_mut_ptr(),
        })
        .collect();
    use_them(raw.len(), if raw.is_empty() { std::ptr::null() } else { raw.as_ptr() })
}
