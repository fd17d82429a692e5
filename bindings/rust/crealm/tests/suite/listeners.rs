//! Listeners: what they are told, when, and what they may do.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use crealm::{args, CollectionChange, Subscription};

use crate::{people, Folder, Person};

type Told<C> = Rc<RefCell<Vec<C>>>;

fn recorder<C: Clone + 'static>() -> (Told<C>, impl FnMut(&C) + 'static) {
    let told: Told<C> = Rc::default();
    let kept = Rc::clone(&told);
    (told, move |change: &C| kept.borrow_mut().push(change.clone()))
}

#[test]
fn results_tell_what_changed() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    live.write(|tx| tx.create(&Person::named(1, "Ann", 30))).unwrap();
    let (told, listener) = recorder::<CollectionChange>();
    let subscription = live.query::<Person>("age > $0", args![20]).unwrap().observe(listener).unwrap();
    live.refresh().unwrap();
    assert!(told.borrow_mut().pop().unwrap().is_empty());
    live.write(|tx| {
        tx.create(&Person::named(2, "Bob", 10))?;
        tx.create(&Person::named(3, "Cid", 40))?;
        let ann = tx.find_link::<Person>(1)?.unwrap();
        tx.set(ann, Person::NAME, "Anna")
    })
    .unwrap();
    live.refresh().unwrap();
    let change = told.borrow_mut().pop().unwrap();
    assert_eq!((change.insertions, change.modifications, change.deletions), (vec![1], vec![0], vec![]));
    drop(subscription);
    live.write(|tx| tx.delete_where::<Person>("TRUEPREDICATE", args![])).unwrap();
    live.refresh().unwrap();
    assert!(told.borrow().is_empty());
}

#[test]
fn a_turn_brings_the_commits_of_others() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    let mut live = realm.open().unwrap();
    let (told, listener) = recorder::<CollectionChange>();
    let _subscription = live.all::<Person>().unwrap().observe(listener).unwrap();
    live.refresh().unwrap();
    told.borrow_mut().clear();
    let writer = std::thread::spawn(move || realm.open()?.write(|tx| tx.create(&Person::named(1, "Ann", 1))));
    writer.join().unwrap().unwrap();
    let mut turns = 0;
    while told.borrow().is_empty() && turns < 100 {
        live.turn(Duration::from_millis(100)).unwrap();
        turns += 1;
    }
    assert_eq!(told.borrow()[0].insertions, [0]);
    assert_eq!(live.all::<Person>().unwrap().len().unwrap(), 1);
    assert!(!live.turn(Duration::ZERO).unwrap());
}

#[test]
fn a_turn_of_one_realm_does_not_move_another_one_of_the_thread() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    let mut writer = realm.open().unwrap();
    writer.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    let reader = realm.open().unwrap();
    let ann = reader.find::<Person>(1).unwrap().unwrap();
    writer
        .write(|tx| {
            let ann = tx.find_link::<Person>(1)?.unwrap();
            tx.set(ann, Person::NAME, "Bob")
        })
        .unwrap();
    writer.turn(Duration::from_millis(20)).unwrap();
    assert_eq!(ann.name, "Ann");
    assert_eq!(reader.find::<Person>(1).unwrap().unwrap().name, "Ann");
}

#[test]
fn objects_and_collections_tell_what_changed() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    let ann = live.write(|tx| tx.create(&Person::named(1, "Ann", 30))).unwrap();
    let (object, listener) = recorder();
    let _object = live.observe_object(ann, None, listener).unwrap();
    let (named, listener) = recorder();
    let _named = live.observe_object(ann, Some(&["name"]), listener).unwrap();
    let (tags, listener) = recorder();
    let _tags = live.get(ann).unwrap().tags.open().unwrap().observe(listener).unwrap();
    live.refresh().unwrap();
    assert!(object.borrow_mut().pop().unwrap().is_empty());
    named.borrow_mut().clear();
    tags.borrow_mut().clear();
    live.write(|tx| {
        tx.set(ann, Person::AGE, Some(31))?;
        tx.list_mut(ann, Person::TAGS)?.push("x")
    })
    .unwrap();
    live.refresh().unwrap();
    let mut properties = object.borrow_mut().pop().unwrap().properties;
    properties.sort();
    assert_eq!(properties, ["age", "tags"]);
    assert!(named.borrow().is_empty());
    assert_eq!(tags.borrow_mut().pop().unwrap().insertions, [0]);
    live.write(|tx| tx.delete(ann)).unwrap();
    live.refresh().unwrap();
    assert!(object.borrow_mut().pop().unwrap().deleted);
    assert!(tags.borrow_mut().pop().unwrap().deleted);
}

#[test]
fn a_panic_of_a_listener_comes_out_of_the_call_that_ran_it() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    let is_armed = Rc::new(Cell::new(false));
    let armed = Rc::clone(&is_armed);
    let _subscription =
        live.all::<Person>().unwrap().observe(move |_| assert!(!armed.get(), "the listener panics")).unwrap();
    live.refresh().unwrap();
    live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    is_armed.set(true);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| live.refresh()));
    assert!(outcome.is_err());
    live.write(|tx| tx.create(&Person::named(2, "Bob", 1))).unwrap_or_else(|_| panic!("a write after the panic"));
}

#[test]
fn a_panic_at_the_beginning_of_a_write_ends_it() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    let mut live = realm.open().unwrap();
    let count = Rc::new(Cell::new(0));
    let counter = Rc::clone(&count);
    let subscription = live
        .all::<Person>()
        .unwrap()
        .observe(move |_| {
            counter.set(counter.get() + 1);
            assert!(counter.get() < 2, "the listener panics");
        })
        .unwrap();
    live.refresh().unwrap();
    live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        live.write(|tx| tx.create(&Person::named(2, "Bob", 1)))
    }));
    assert!(outcome.is_err());
    drop(subscription);
    assert_eq!(live.all::<Person>().unwrap().len().unwrap(), 1);
    let other = realm.open().unwrap().write(|tx| tx.create(&Person::named(3, "Cid", 1)));
    other.expect("the write lock is free");
}

#[test]
fn a_listener_may_drop_its_own_subscription() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    let kept: Rc<RefCell<Option<Subscription>>> = Rc::default();
    let count = Rc::new(Cell::new(0));
    let (own, counter, payload) = (Rc::clone(&kept), Rc::clone(&count), vec![7; 1000]);
    let subscription = live
        .all::<Person>()
        .unwrap()
        .observe(move |_| {
            drop(own.borrow_mut().take());
            counter.set(counter.get() + payload[999]);
        })
        .unwrap();
    *kept.borrow_mut() = Some(subscription);
    live.refresh().unwrap();
    live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    live.refresh().unwrap();
    assert_eq!(count.get(), 7);
}

#[test]
fn a_subscription_may_outlive_its_realm() {
    let folder = Folder::make();
    let path = folder.file("p.realm");
    let live = people(&path).open().unwrap();
    let token = Rc::new(());
    let inside = Rc::clone(&token);
    let subscription = live.all::<Person>().unwrap().observe(move |_| drop(Rc::clone(&inside))).unwrap();
    drop(live);
    assert!(people(&path).delete().unwrap(), "the file is closed");
    drop(subscription);
    assert_eq!(Rc::strong_count(&token), 1, "the listener is freed");
}
