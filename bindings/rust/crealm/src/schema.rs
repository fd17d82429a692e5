//! Descriptions of classes, those that a program declares and those that an open realm has.

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::{CStr, CString};

use crealm_sys as sys;

use crate::error::{Error, Result};
use crate::model::RealmObject;
use crate::raw::{c_text, check, Handle};

/// The type of a property, or of the elements of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PropertyType {
    #[default]
    Int,
    Bool,
    String,
    Data,
    Mixed,
    Timestamp,
    Float,
    Double,
    Decimal128,
    /// A link to an object, or an embedded object.
    Object,
    /// Computed: the objects that link here.
    Backlinks,
    ObjectId,
    Uuid,
}

const TYPES: [(PropertyType, sys::realm_property_type_e); 13] = [
    (PropertyType::Int, sys::RLM_PROPERTY_TYPE_INT),
    (PropertyType::Bool, sys::RLM_PROPERTY_TYPE_BOOL),
    (PropertyType::String, sys::RLM_PROPERTY_TYPE_STRING),
    (PropertyType::Data, sys::RLM_PROPERTY_TYPE_BINARY),
    (PropertyType::Mixed, sys::RLM_PROPERTY_TYPE_MIXED),
    (PropertyType::Timestamp, sys::RLM_PROPERTY_TYPE_TIMESTAMP),
    (PropertyType::Float, sys::RLM_PROPERTY_TYPE_FLOAT),
    (PropertyType::Double, sys::RLM_PROPERTY_TYPE_DOUBLE),
    (PropertyType::Decimal128, sys::RLM_PROPERTY_TYPE_DECIMAL128),
    (PropertyType::Object, sys::RLM_PROPERTY_TYPE_OBJECT),
    (PropertyType::Backlinks, sys::RLM_PROPERTY_TYPE_LINKING_OBJECTS),
    (PropertyType::ObjectId, sys::RLM_PROPERTY_TYPE_OBJECT_ID),
    (PropertyType::Uuid, sys::RLM_PROPERTY_TYPE_UUID),
];

/// Whether a property holds one value or many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CollectionType {
    #[default]
    None,
    List,
    Set,
    Dictionary,
}

const COLLECTIONS: [(CollectionType, sys::realm_collection_type_e); 4] = [
    (CollectionType::None, sys::RLM_COLLECTION_TYPE_NONE),
    (CollectionType::List, sys::RLM_COLLECTION_TYPE_LIST),
    (CollectionType::Set, sys::RLM_COLLECTION_TYPE_SET),
    (CollectionType::Dictionary, sys::RLM_COLLECTION_TYPE_DICTIONARY),
];

fn number_of<K: PartialEq>(table: &[(K, u32)], kind: K) -> u32 {
    table.iter().find(|pair| pair.0 == kind).map_or(0, |pair| pair.1)
}

fn kind_of<K: Copy + Default>(table: &[(K, u32)], number: u32) -> K {
    table.iter().find(|pair| pair.1 == number).map_or(K::default(), |pair| pair.0)
}

/// One property of a class. The derive macro makes these; a program writes them for classes without a type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyInfo {
    /// The name in the file.
    pub name: String,
    pub kind: PropertyType,
    pub collection: CollectionType,
    /// Whether the value, or an element of the collection, may be null.
    pub nullable: bool,
    pub primary_key: bool,
    pub indexed: bool,
    pub fulltext: bool,
    /// The class of objects, for links, embedded objects and backlinks.
    pub target: String,
    /// For backlinks: the property of the other class that links here.
    pub origin: String,
    /// The key in an open realm.
    pub(crate) key: i64,
}

impl PropertyInfo {
    pub fn new(name: impl Into<String>, kind: PropertyType) -> PropertyInfo {
        PropertyInfo { name: name.into(), kind, ..PropertyInfo::default() }
    }

    fn flags(&self) -> u32 {
        let nullable = self.nullable || self.kind == PropertyType::Mixed;
        [
            (nullable, sys::RLM_PROPERTY_NULLABLE),
            (self.primary_key, sys::RLM_PROPERTY_PRIMARY_KEY),
            (self.indexed, sys::RLM_PROPERTY_INDEXED),
            (self.fulltext, sys::RLM_PROPERTY_FULLTEXT_INDEXED),
        ]
        .iter()
        .filter(|flag| flag.0)
        .fold(0, |sum, flag| sum | flag.1)
    }
}

/// One class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassInfo {
    pub name: String,
    /// Whether its objects live inside of exactly one other object.
    pub embedded: bool,
    pub properties: Vec<PropertyInfo>,
    pub(crate) key: u32,
}

impl ClassInfo {
    pub fn new(name: impl Into<String>, properties: impl IntoIterator<Item = PropertyInfo>) -> ClassInfo {
        ClassInfo { name: name.into(), properties: properties.into_iter().collect(), ..ClassInfo::default() }
    }

    /// The property with this name.
    pub fn property(&self, name: &str) -> Option<&PropertyInfo> {
        self.properties.iter().find(|property| property.name == name)
    }

    pub fn primary_key(&self) -> Option<&PropertyInfo> {
        self.properties.iter().find(|property| property.primary_key)
    }

    pub(crate) fn required(&self, name: &str) -> Result<&PropertyInfo> {
        self.property(name).ok_or_else(|| {
            Error::refused(sys::RLM_ERR_INVALID_PROPERTY as i32, format!("{} has no property {name:?}", self.name))
        })
    }
}

/// Makes the library's schema of some classes.
pub(crate) fn make_schema(classes: &[ClassInfo]) -> Result<Handle<sys::realm_schema_t>> {
    let mut texts: Vec<CString> = Vec::new();
    let mut keep = |text: &str| -> Result<*const std::ffi::c_char> {
        texts.push(c_text(text)?);
        Ok(texts[texts.len() - 1].as_ptr())
    };
    let mut raw_classes = Vec::new();
    let mut raw_properties: Vec<Vec<sys::realm_property_info_t>> = Vec::new();
    for class in classes {
        let (computed, stored): (Vec<_>, Vec<_>) =
            class.properties.iter().partition(|property| property.kind == PropertyType::Backlinks);
        let mut list = Vec::new();
        for property in stored.iter().chain(&computed) {
            let is_computed = property.kind == PropertyType::Backlinks;
            let collection =
                if is_computed { sys::RLM_COLLECTION_TYPE_LIST } else { number_of(&COLLECTIONS, property.collection) };
            list.push(sys::realm_property_info_t {
                name: keep(&property.name)?,
                public_name: keep("")?,
                r#type: number_of(&TYPES, property.kind),
                collection_type: collection,
                link_target: keep(&property.target)?,
                link_origin_property_name: keep(&property.origin)?,
                key: sys::RLM_INVALID_PROPERTY_KEY,
                flags: property.flags() as i32,
            });
        }
        raw_classes.push(sys::realm_class_info_t {
            name: keep(&class.name)?,
            primary_key: keep(class.primary_key().map_or("", |property| &property.name))?,
            num_properties: stored.len(),
            num_computed_properties: computed.len(),
            key: sys::RLM_INVALID_CLASS_KEY,
            flags: if class.embedded { sys::RLM_CLASS_EMBEDDED } else { sys::RLM_CLASS_NORMAL } as i32,
        });
        raw_properties.push(list);
    }
    let mut pointers: Vec<*const sys::realm_property_info_t> =
        raw_properties.iter().map(|list| list.as_ptr()).collect();
    // SAFETY: all arrays and texts live until the end of the call, which copies them.
    Handle::from(unsafe { sys::realm_schema_new(raw_classes.as_ptr(), raw_classes.len(), pointers.as_mut_ptr()) })
}

/// Where the fields of a type are in an open realm.
pub(crate) struct Binding {
    pub(crate) class: u32,
    /// The keys of the properties, in the order of the fields.
    pub(crate) keys: Vec<i64>,
    /// Those of them whose values are read in one call.
    pub(crate) plain: Vec<i64>,
}

/// The classes of an open realm, by name and by type. It never changes, so threads may share it.
pub(crate) struct Index {
    pub(crate) classes: Vec<ClassInfo>,
    by_name: HashMap<String, usize>,
    types: Vec<(TypeId, Binding)>,
}

/// Makes the binding of a type: kept by the description of a realm, for each type that it declares.
pub(crate) type Binder = fn(&Index) -> Option<(TypeId, Binding)>;

impl Index {
    /// Reads the schema of a realm.
    pub(crate) fn read(realm: *mut sys::realm_t, binders: &[Binder]) -> Result<Index> {
        let mut classes = Vec::new();
        // SAFETY: the arrays have as much room as the calls are told; texts are copied before the schema can change.
        unsafe {
            let mut keys = vec![0; sys::realm_get_num_classes(realm)];
            check(sys::realm_get_class_keys(realm, keys.as_mut_ptr(), keys.len(), std::ptr::null_mut()))?;
            // A realm that is read only may declare classes that the file does not have: they have no key.
            for key in keys.into_iter().filter(|&key| key != sys::RLM_INVALID_CLASS_KEY) {
                let mut raw: sys::realm_class_info_t = std::mem::zeroed();
                check(sys::realm_get_class(realm, key, &mut raw))?;
                let count = raw.num_properties + raw.num_computed_properties;
                let mut list = vec![std::mem::zeroed::<sys::realm_property_info_t>(); count];
                check(sys::realm_get_class_properties(realm, key, list.as_mut_ptr(), count, std::ptr::null_mut()))?;
                let properties = list.iter().map(|raw| property_of(raw)).collect();
                let embedded = raw.flags as u32 & sys::RLM_CLASS_MASK == sys::RLM_CLASS_EMBEDDED;
                classes.push(ClassInfo { name: owned(raw.name), embedded, properties, key });
            }
        }
        let by_name = classes.iter().enumerate().map(|(place, class)| (class.name.clone(), place)).collect();
        let mut index = Index { classes, by_name, types: Vec::new() };
        let types = binders.iter().filter_map(|bind| bind(&index)).collect();
        index.types = types;
        Ok(index)
    }

    pub(crate) fn class(&self, name: &str) -> Result<&ClassInfo> {
        match self.by_name.get(name) {
            Some(&place) => Ok(&self.classes[place]),
            None => Err(Error::refused(sys::RLM_ERR_NO_SUCH_TABLE as i32, format!("the realm has no class {name:?}"))),
        }
    }

    pub(crate) fn class_of(&self, key: u32) -> Result<&ClassInfo> {
        self.classes
            .iter()
            .find(|class| class.key == key)
            .ok_or_else(|| Error::refused(sys::RLM_ERR_NO_SUCH_TABLE as i32, "the realm has no class with this key"))
    }

    /// The binding of a type. An error if the realm was opened without it.
    #[inline]
    pub(crate) fn binding<T: RealmObject>(&self) -> Result<&Binding> {
        let wanted = TypeId::of::<T>();
        match self.types.iter().find(|pair| pair.0 == wanted) {
            Some(pair) => Ok(&pair.1),
            None => Err(undeclared(T::CLASS_NAME)),
        }
    }
}

#[cold]
fn undeclared(name: &str) -> Error {
    let message =
        format!("the realm was opened without the class {name:?}, or only reads a file that does not have it");
    Error::refused(sys::RLM_ERR_NO_SUCH_TABLE as i32, message)
}

/// The binder of one type.
pub(crate) fn bind<T: RealmObject>(index: &Index) -> Option<(TypeId, Binding)> {
    let class = index.class(T::CLASS_NAME).ok()?;
    let declared = T::class();
    let keys: Option<Vec<i64>> =
        declared.properties.iter().map(|property| class.property(&property.name).map(|found| found.key)).collect();
    let keys = keys?;
    let plain = T::PLAIN.iter().zip(&keys).filter(|pair| *pair.0).map(|pair| *pair.1).collect();
    Some((TypeId::of::<T>(), Binding { class: class.key, keys, plain }))
}

unsafe fn owned(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

unsafe fn property_of(raw: &sys::realm_property_info_t) -> PropertyInfo {
    let flags = raw.flags as u32;
    let kind = kind_of(&TYPES, raw.r#type);
    let is_computed = kind == PropertyType::Backlinks;
    PropertyInfo {
        name: owned(raw.name),
        kind,
        collection: if is_computed { CollectionType::None } else { kind_of(&COLLECTIONS, raw.collection_type) },
        nullable: flags & sys::RLM_PROPERTY_NULLABLE != 0,
        primary_key: flags & sys::RLM_PROPERTY_PRIMARY_KEY != 0,
        indexed: flags & sys::RLM_PROPERTY_INDEXED != 0,
        fulltext: flags & sys::RLM_PROPERTY_FULLTEXT_INDEXED != 0,
        target: owned(raw.link_target),
        origin: owned(raw.link_origin_property_name),
        key: raw.key,
    }
}
