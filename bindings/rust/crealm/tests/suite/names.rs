//! Classes without a type: reading and writing by names.

use crealm::{args, Aggregate, ClassInfo, CollectionType, PropertyInfo, PropertyType, Realm, Update, Value};

use crate::{people, Folder, Person};

fn classes() -> [ClassInfo; 2] {
    let mut name = PropertyInfo::new("name", PropertyType::String);
    name.primary_key = true;
    let mut links = PropertyInfo::new("items", PropertyType::Object);
    (links.collection, links.target) = (CollectionType::List, "Item".into());
    let mut words = PropertyInfo::new("words", PropertyType::String);
    words.collection = CollectionType::Set;
    let mut item = ClassInfo::new("Item", [PropertyInfo::new("count", PropertyType::Int)]);
    item.embedded = true;
    [ClassInfo::new("Box", [name, links, words, PropertyInfo::new("any", PropertyType::Mixed)]), item]
}

#[test]
fn objects_are_made_and_read_by_names() {
    let folder = Folder::make();
    let [parent, item] = classes();
    let mut live = Realm::new(folder.file("n.realm")).class_info(parent).class_info(item).open().unwrap();
    let item = |count: i64| Value::Dictionary([("count".to_owned(), count.into())].into());
    let link = live
        .write(|tx| {
            let values = [
                ("name", "a".into()),
                ("items", Value::List(vec![item(1), item(2)])),
                ("words", Value::List(vec!["x".into(), "x".into()])),
                ("any", Value::List(vec![1.into()])),
            ];
            let link = tx.create_any("Box", &values, Update::Never)?;
            tx.list_any(link, "items")?.push(item(3))?;
            tx.list_any(link, "any")?.push("two")?;
            tx.set_any(link, "words")?.insert("y")?;
            Ok(link)
        })
        .unwrap();
    assert_eq!(live.find_any("Box", "a").unwrap(), Some(link));
    assert_eq!(live.class_name(link).unwrap(), "Box");
    assert_eq!(live.read(link, "words").unwrap(), Value::Set(vec!["x".into(), "y".into()]));
    assert_eq!(live.read(link, "any").unwrap(), Value::List(vec![1.into(), "two".into()]));
    let items = live.query_collection(link, "items", "count > 1", args![]).unwrap();
    assert_eq!(items.aggregate(Aggregate::Sum, "count").unwrap(), Some(Value::Int(5)));
    assert_eq!(live.read(items.links().unwrap()[0], "count").unwrap(), Value::Int(2));
    assert!(live.write(|tx| tx.write_any(link, "nothing", &Value::Null)).is_err());
    assert!(live.write(|tx| tx.write_any(link, "words", &Value::Int(1))).is_err());
    live.write(|tx| tx.delete_any("Box", "", args![])).unwrap();
    assert!(live.query_any("Item", "", args![]).unwrap().is_empty().unwrap());
}

#[test]
fn a_realm_without_classes_shows_all_of_the_file() {
    let folder = Folder::make();
    let path = folder.file("p.realm");
    people(&path).open().unwrap().write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    let live = Realm::new(&path).open().unwrap();
    assert_eq!(live.classes().iter().map(|class| class.name.as_str()).collect::<Vec<_>>(), ["Person"]);
    let class = live.class("Person").unwrap();
    assert_eq!(class.primary_key().unwrap().name, "id");
    assert_eq!(class.property("name").unwrap().kind, PropertyType::String);
    let link = live.find_any("Person", 1).unwrap().unwrap();
    assert_eq!(live.read(link, "name").unwrap(), "Ann".into());
    assert_eq!(live.all::<Person>().unwrap_err().code(), 3020);
}
