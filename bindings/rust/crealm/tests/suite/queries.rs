//! Queries, their results, and bulk changes.

use crealm::{args, list, Value};

use crate::{people, Folder, Person};

fn filled(folder: &Folder, count: i64) -> crealm::Live {
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    live.write(|tx| {
        for id in 0..count {
            tx.create(&Person::named(id, &format!("name {id}"), id % 100))?;
        }
        Ok(())
    })
    .unwrap();
    live
}

fn ids(results: &crealm::Results<'_, Person>) -> Vec<i64> {
    results.iter().map(|person| person.unwrap().id).collect()
}

#[test]
fn rows_are_read_over_several_pages() {
    let folder = Folder::make();
    let live = filled(&folder, 1000);
    let all = live.all::<Person>().unwrap();
    assert_eq!(all.len().unwrap(), 1000);
    assert_eq!(ids(&all), (0..1000).collect::<Vec<_>>());
    assert_eq!(all.iter().count(), 1000);
    assert_eq!(all.get(999).unwrap().name, "name 999");
    assert_eq!(all.get(1000).unwrap_err().code(), 3017);
    let mut total = 0;
    for person in &all {
        total += person.unwrap().name.len();
    }
    assert_eq!(total, (0..1000).map(|id| format!("name {id}").len()).sum::<usize>());
}

#[test]
fn queries_take_arguments() {
    let folder = Folder::make();
    let live = filled(&folder, 100);
    let found = live.query::<Person>("age > $0 AND name CONTAINS[c] $1", args![90, "NAME 9"]).unwrap();
    assert_eq!(found.len().unwrap(), 9);
    let found = live.query::<Person>("id IN $0", args![list([3, 1, 2])]).unwrap();
    assert_eq!(ids(&found), [1, 2, 3]);
    let found = live.query::<Person>("age == $0", args![None::<i64>]).unwrap();
    assert!(found.is_empty().unwrap());
    assert!(live.query::<Person>("age > $0", args![]).is_err());
}

#[test]
fn results_are_sorted_limited_and_distinct() {
    let folder = Folder::make();
    let live = filled(&folder, 300);
    let all = live.all::<Person>().unwrap();
    assert_eq!(ids(&all.sort("age DESC, id ASC").unwrap().limit(2).unwrap()), [99, 199]);
    assert_eq!(all.distinct("age").unwrap().len().unwrap(), 100);
    assert_eq!(ids(&live.query::<Person>("age < 2 SORT(id DESC) LIMIT(3)", args![]).unwrap()), [201, 200, 101]);
    let narrowed = all.filter("age > 50", args![]).unwrap().filter("id < 60", args![]).unwrap();
    assert_eq!(ids(&narrowed), (51..60).collect::<Vec<_>>());
    assert!(live.all::<Person>().unwrap().sort("nothing ASC").is_err());
}

#[test]
fn aggregates_are_computed() {
    let folder = Folder::make();
    let live = filled(&folder, 100);
    let all = live.all::<Person>().unwrap();
    assert_eq!(all.sum(Person::AGE).unwrap(), Value::Int(4950));
    assert_eq!(all.min(Person::AGE).unwrap(), Some(Value::Int(0)));
    assert_eq!(all.max(Person::AGE).unwrap(), Some(Value::Int(99)));
    assert_eq!(all.average(Person::AGE).unwrap(), Some(Value::Double(49.5)));
    let none = live.query::<Person>("id > 1000", args![]).unwrap();
    assert_eq!(none.sum(Person::AGE).unwrap(), Value::Int(0));
    assert_eq!(none.max(Person::AGE).unwrap(), None);
}

#[test]
fn rows_are_changed_and_deleted_in_one_call() {
    let folder = Folder::make();
    let mut live = filled(&folder, 100);
    live.write(|tx| {
        assert_eq!(tx.update_where::<Person>("age < $0", args![10], "age = age + $0", args![1000])?, 10);
        tx.delete_where::<Person>("age < 90", args![])
    })
    .unwrap();
    assert_eq!(live.all::<Person>().unwrap().len().unwrap(), 20);
    assert_eq!(live.query::<Person>("age >= 1000", args![]).unwrap().len().unwrap(), 10);
}

#[test]
fn a_write_sees_its_own_changes() {
    let folder = Folder::make();
    let mut live = filled(&folder, 3);
    live.write(|tx| {
        tx.create(&Person::named(10, "new", 1))?;
        assert_eq!(tx.all::<Person>()?.len()?, 4);
        assert_eq!(tx.find::<Person>(10)?.unwrap().name, "new");
        Ok(())
    })
    .unwrap();
}
