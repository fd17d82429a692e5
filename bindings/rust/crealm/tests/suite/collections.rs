//! Lists, sets and dictionaries inside of a write.

use std::collections::{BTreeMap, BTreeSet};

use crealm::{args, Realm, RealmObject, Value};

use crate::Folder;

#[derive(RealmObject, Clone, Debug, Default, PartialEq)]
#[realm(embedded)]
struct Part {
    name: String,
}

#[derive(RealmObject, Clone, Debug, Default, PartialEq)]
struct Holder {
    numbers: Vec<i64>,
    parts: Vec<Part>,
    words: BTreeSet<String>,
    ages: BTreeMap<String, Option<i64>>,
    any: Value,
    anything: Vec<Value>,
}

fn with<R>(check: impl FnOnce(&mut crealm::Live, crealm::Link<Holder>) -> R) -> R {
    let folder = Folder::make();
    let mut live = Realm::new(folder.file("c.realm")).class::<Holder>().class::<Part>().open().unwrap();
    let holder = live.write(|tx| tx.create(&Holder::default())).unwrap();
    let result = check(&mut live, holder);
    live.verify().unwrap();
    result
}

#[test]
fn a_list_changes() {
    with(|live, holder| {
        live.write(|tx| {
            let mut list = tx.list_mut(holder, Holder::NUMBERS)?;
            list.push(1)?;
            list.push(3)?;
            list.insert(1, 2)?;
            list.set(0, 10)?;
            list.relocate(0, 2)?;
            assert_eq!(list.load()?, [2, 3, 10]);
            list.remove(1)?;
            assert_eq!(list.get(1)?, 10);
            assert_eq!(list.get(2).unwrap_err().code(), 3017);
            assert_eq!(list.len()?, 2);
            Ok(())
        })
        .unwrap();
        assert_eq!(live.load(holder).unwrap().numbers, [2, 10]);
        let object = live.get(holder).unwrap();
        let list = object.numbers.open().unwrap();
        assert_eq!(list.iter().collect::<crealm::Result<Vec<_>>>().unwrap(), [2, 10]);
        live.write(|tx| tx.list_mut(holder, Holder::NUMBERS)?.clear()).unwrap();
        assert!(live.get(holder).unwrap().numbers.is_empty().unwrap());
    });
}

#[test]
fn a_list_of_embedded_objects_changes() {
    with(|live, holder| {
        live.write(|tx| {
            let mut parts = tx.list_mut(holder, Holder::PARTS)?;
            parts.push(Part { name: "b".into() })?;
            parts.insert(0, Part { name: "a".into() })?;
            parts.set(1, Part { name: "c".into() })?;
            assert_eq!(parts.get(1)?.name, "c");
            Ok(())
        })
        .unwrap();
        let names: Vec<String> = live.load(holder).unwrap().parts.into_iter().map(|part| part.name).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(live.query_any("Part", "", args![]).unwrap().len().unwrap(), 2);
    });
}

#[test]
fn a_set_changes() {
    with(|live, holder| {
        live.write(|tx| {
            let mut words = tx.set_mut(holder, Holder::WORDS)?;
            assert!(words.insert("b")?);
            assert!(words.insert("a")?);
            assert!(!words.insert("a")?);
            assert!(words.contains(&"b".to_owned())?);
            assert!(words.remove(&"b".to_owned())?);
            assert!(!words.remove(&"b".to_owned())?);
            words.insert("c")?;
            assert_eq!(words.len()?, 2);
            Ok(())
        })
        .unwrap();
        assert_eq!(live.get(holder).unwrap().words.load().unwrap(), ["a", "c"]);
        live.write(|tx| tx.set_mut(holder, Holder::WORDS)?.clear()).unwrap();
        assert!(live.get(holder).unwrap().words.is_empty().unwrap());
    });
}

#[test]
fn a_dictionary_changes() {
    with(|live, holder| {
        live.write(|tx| {
            let mut ages = tx.dictionary_mut(holder, Holder::AGES)?;
            ages.insert("b", Some(2))?;
            ages.insert("a", None)?;
            ages.insert("b", Some(3))?;
            assert_eq!(ages.get("b")?, Some(Some(3)));
            assert_eq!(ages.get("c")?, None);
            assert!(ages.insert("$x", Some(1)).is_err());
            assert!(!ages.remove("c")?);
            assert_eq!(ages.len()?, 2);
            Ok(())
        })
        .unwrap();
        let object = live.get(holder).unwrap();
        let ages = object.ages.open().unwrap();
        let pairs: Vec<_> = ages.iter().collect::<crealm::Result<_>>().unwrap();
        assert_eq!(pairs, [("a", None), ("b", Some(3))]);
    });
}

#[test]
fn nested_collections_change() {
    with(|live, holder| {
        let nested = Value::Dictionary([("list".to_owned(), Value::List(vec![1.into()]))].into());
        live.write(|tx| {
            tx.set(holder, Holder::ANY, nested)?;
            let mut dictionary = tx.dictionary_any(holder.any(), "any")?;
            dictionary.list("list")?.push(2)?;
            dictionary.insert("more", Value::Dictionary(BTreeMap::new()))?;
            dictionary.dictionary("more")?.insert("x", 1.5)?;
            assert!(dictionary.list("more").is_err());
            let mut anything = tx.list_mut(holder, Holder::ANYTHING)?;
            anything.push(Value::List(vec!["a".into()]))?;
            anything.list(0)?.push("b")?;
            anything.push(Value::Dictionary(BTreeMap::new()))?;
            anything.dictionary(1)?.insert("k", true)
        })
        .unwrap();
        let read = live.load(holder).unwrap();
        let more = Value::Dictionary([("x".to_owned(), Value::Double(1.5))].into());
        let list = Value::List(vec![1.into(), 2.into()]);
        assert_eq!(read.any, Value::Dictionary([("list".to_owned(), list), ("more".to_owned(), more)].into()));
        let words = Value::List(vec!["a".into(), "b".into()]);
        assert_eq!(read.anything, [words, Value::Dictionary([("k".to_owned(), true.into())].into())]);
        live.write(|tx| tx.set(holder, Holder::ANY, Value::from("plain"))).unwrap();
        assert_eq!(live.load(holder).unwrap().any, Value::from("plain"));
    });
}
