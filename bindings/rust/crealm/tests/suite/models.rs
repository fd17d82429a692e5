//! Types as classes: the derive macro, creating, reading and changing objects.

use std::collections::{BTreeMap, BTreeSet};

use crealm::{Backlinks, Decimal128, Link, ObjectId, PropertyType, Realm, RealmObject, Timestamp, Uuid, Value};

use crate::{people, Folder, Person};

#[derive(RealmObject, Clone, Debug, Default, PartialEq)]
#[realm(embedded)]
pub struct Address {
    pub street: String,
    pub number: Option<i32>,
    pub notes: Vec<String>,
}

#[derive(RealmObject, Clone, Debug, Default, PartialEq)]
#[realm(name = "Animal")]
pub struct Dog {
    pub name: String,
    pub owner: Option<Link<Everything>>,
}

#[derive(RealmObject, Clone, Debug, Default, PartialEq)]
pub struct Everything {
    #[realm(primary_key)]
    pub id: Uuid,
    pub yes: bool,
    pub small: i16,
    pub unsigned: u32,
    pub single: f32,
    pub double: Option<f64>,
    #[realm(rename = "stored text", fulltext)]
    pub text: String,
    pub bytes: Vec<u8>,
    pub no_bytes: Option<Vec<u8>>,
    pub time: Timestamp,
    pub number: Decimal128,
    pub oid: Option<ObjectId>,
    pub any: Value,
    pub home: Option<Address>,
    pub homes: Vec<Address>,
    pub places: BTreeMap<String, Address>,
    pub texts: Vec<Option<String>>,
    pub numbers: BTreeSet<i64>,
    pub blobs: Vec<Vec<u8>>,
    pub values: BTreeMap<String, Value>,
    pub best: Option<Link<Dog>>,
    pub dogs: Vec<Link<Dog>>,
    pub by_name: BTreeMap<String, Option<Link<Dog>>>,
    #[realm(origin = "owner")]
    pub owned: Backlinks<Dog>,
    pub r#type: i64,
}

fn realm(folder: &Folder) -> Realm {
    Realm::new(folder.file("all.realm")).class::<Everything>().class::<Dog>().class::<Address>()
}

fn address(street: &str) -> Address {
    Address { street: street.into(), number: Some(7), notes: vec!["a".into(), "b".into()] }
}

#[test]
fn an_object_of_every_type_comes_back_as_it_was() {
    let folder = Folder::make();
    let mut live = realm(&folder).open().unwrap();
    let (written, link, rex) = live
        .write(|tx| {
            let rex = tx.create(&Dog { name: "Rex".into(), owner: None })?;
            let nested = Value::List(vec![1.into(), Value::Dictionary([("k".into(), "v".into())].into()), Value::Null]);
            let written = Everything {
                id: "01234567-89ab-cdef-0123-456789abcdef".parse()?,
                yes: true,
                small: -5,
                unsigned: u32::MAX,
                single: 1.5,
                double: Some(-0.25),
                text: "zwölf Boxkämpfer".into(),
                bytes: vec![0, 255],
                no_bytes: None,
                time: Timestamp::new(-1, -5),
                number: "1.50".parse()?,
                oid: Some("0123456789abcdef01234567".parse()?),
                any: nested,
                home: Some(address("High Street")),
                homes: vec![address("one"), address("two")],
                places: [("work".to_owned(), address("three"))].into(),
                texts: vec![Some("x".into()), None],
                numbers: [3, 1, 2].into(),
                blobs: vec![vec![], vec![1]],
                values: [("n".to_owned(), Value::Int(1)), ("l".to_owned(), Value::List(vec![]))].into(),
                best: Some(rex),
                dogs: vec![rex, rex],
                by_name: [("rex".to_owned(), Some(rex)), ("none".to_owned(), None)].into(),
                owned: Backlinks::new(),
                r#type: 9,
            };
            let link = tx.create(&written)?;
            tx.set(rex, Dog::OWNER, Some(link))?;
            Ok((written, link, rex))
        })
        .unwrap();
    assert_eq!(live.load(link).unwrap(), written);
    let read = live.find::<Everything>(written.id).unwrap().unwrap();
    assert_eq!(read.text, "zwölf Boxkämpfer");
    assert_eq!(read.bytes, &[0, 255]);
    assert_eq!(read.home.get().unwrap().unwrap().street, "High Street");
    assert_eq!(read.homes.get(1).unwrap().street, "two");
    assert_eq!(read.places.get("work").unwrap().unwrap().notes.len().unwrap(), 2);
    assert!(read.places.get("nowhere").unwrap().is_none());
    assert_eq!(read.texts.get(1).unwrap(), None);
    assert!(read.numbers.contains(&2).unwrap());
    assert_eq!(read.dogs.open().unwrap().query("name == $0", crealm::args!["Rex"]).unwrap().len().unwrap(), 2);
    assert_eq!(read.owned.results().unwrap().links().unwrap(), [rex]);
    assert_eq!(read.link(), link);
    live.verify().unwrap();
}

#[test]
fn the_class_has_the_names_and_indexes_of_the_attributes() {
    let class = Everything::class();
    assert_eq!(Dog::CLASS_NAME, "Animal");
    let text = class.property("stored text").unwrap();
    assert!(text.fulltext && !text.indexed && text.kind == PropertyType::String);
    assert_eq!(class.primary_key().unwrap().name, "id");
    assert_eq!(class.property("owned").unwrap().origin, "owner");
    assert_eq!(Everything::TEXT.name(), "stored text");
    assert_eq!(class.property("type").unwrap().name, "type");
    assert!(Address::class().embedded);
}

#[test]
fn upsert_changes_the_object_with_the_same_key() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    let first = live.write(|tx| tx.create(&Person::named(1, "Ann", 30))).unwrap();
    let second = live.write(|tx| tx.upsert(&Person { tags: vec!["x".into()], ..Person::named(1, "Bob", 31) })).unwrap();
    assert_eq!(first, second);
    assert_eq!(live.load(first).unwrap(), Person { tags: vec!["x".into()], ..Person::named(1, "Bob", 31) });
    live.write(|tx| tx.upsert(&Person::named(1, "Bob", 31))).unwrap();
    assert!(live.get(first).unwrap().tags.is_empty().unwrap(), "an empty list replaces the old elements");
    let error = live.write(|tx| tx.create(&Person::named(1, "Cid", 1))).unwrap_err();
    assert_eq!(error.kind(), crealm::ErrorKind::ObjectExists);
    assert_eq!(live.all::<Person>().unwrap().len().unwrap(), 1);
}

#[test]
fn properties_are_set_by_constants() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    let ann = live.write(|tx| tx.create(&Person::named(1, "Ann", 30))).unwrap();
    live.write(|tx| {
        tx.set(ann, Person::NAME, "Anna")?;
        tx.set(ann, Person::NAME, String::from("Annabel"))?;
        tx.set(ann, Person::AGE, Some(5))?;
        tx.add(ann, Person::AGE, 2)?;
        tx.set(ann, Person::FRIEND, Some(ann))?;
        tx.set(ann, Person::TAGS, vec!["a".to_owned(), "b".to_owned()])
    })
    .unwrap();
    let wanted =
        Person { id: 1, name: "Annabel".into(), age: Some(7), tags: vec!["a".into(), "b".into()], friend: Some(ann) };
    assert_eq!(live.load(ann).unwrap(), wanted);
    assert_eq!(live.value(ann, Person::AGE).unwrap(), Some(7));
    assert_eq!(live.value(ann, Person::TAGS).unwrap().load().unwrap(), ["a", "b"]);
    live.write(|tx| tx.update(ann, &Person::named(1, "Zoe", 1))).unwrap();
    assert_eq!(live.load(ann).unwrap(), Person::named(1, "Zoe", 1));
}

#[test]
fn a_deleted_object_is_gone() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    let ann = live.write(|tx| tx.create(&Person::named(1, "Ann", 30))).unwrap();
    assert!(live.exists(ann));
    live.write(|tx| tx.delete(ann)).unwrap();
    assert!(!live.exists(ann));
    assert!(live.get(ann).is_err());
    assert!(live.find::<Person>(1).unwrap().is_none());
    assert!(live.write(|tx| tx.delete(ann)).is_err());
    assert!(live.write(|tx| tx.set(ann, Person::NAME, "x")).is_err());
}

#[test]
fn an_embedded_object_is_replaced_and_removed() {
    let folder = Folder::make();
    let mut live = realm(&folder).open().unwrap();
    let link = live.write(|tx| tx.create(&Everything { home: Some(address("old")), ..Everything::default() })).unwrap();
    live.write(|tx| tx.set(link, Everything::HOME, Some(address("new")))).unwrap();
    assert_eq!(live.get(link).unwrap().home.load().unwrap().unwrap().street, "new");
    assert_eq!(live.query_any("Address", "", crealm::args![]).unwrap().len().unwrap(), 1);
    live.write(|tx| tx.set(link, Everything::HOME, None)).unwrap();
    assert_eq!(live.get(link).unwrap().home.load().unwrap(), None);
    assert_eq!(live.query_any("Address", "", crealm::args![]).unwrap().len().unwrap(), 0);
}

#[test]
fn a_number_that_does_not_fit_the_field_is_an_error() {
    #[derive(RealmObject, Debug)]
    #[realm(name = "Number")]
    struct Wide {
        number: i64,
    }
    #[derive(RealmObject, Debug)]
    #[realm(name = "Number")]
    struct Narrow {
        number: i16,
    }
    let folder = Folder::make();
    let path = folder.file("n.realm");
    let mut live = Realm::new(&path).class::<Wide>().open().unwrap();
    live.write(|tx| tx.create(&Wide { number: 40_000 })).unwrap();
    drop(live);
    let live = Realm::new(&path).class::<Narrow>().open().unwrap();
    let error = live.all::<Narrow>().unwrap().first().unwrap_err();
    assert_eq!(error.code(), 1001);
}
