//! Snapshots on many threads, realms of several threads, interrupts.

use std::sync::mpsc;
use std::time::Duration;

use crealm::{args, ErrorKind};

use crate::{people, Folder, Person};

#[test]
fn a_snapshot_is_read_on_many_threads_while_the_realm_writes() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    live.write(|tx| (0..500).try_for_each(|id| tx.create(&Person::named(id, "old", id)).map(drop))).unwrap();
    let snapshot = live.freeze().unwrap();
    let link = live.find_link::<Person>(7).unwrap().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let snapshot = snapshot.clone();
            scope.spawn(move || {
                for _ in 0..20 {
                    let found = snapshot.query::<Person>("age < $0", args![250]).unwrap();
                    assert_eq!(found.iter().filter(|person| person.as_ref().unwrap().name == "old").count(), 250);
                    assert_eq!(snapshot.get(link).unwrap().age, Some(7));
                }
            });
        }
        for round in 0..20 {
            live.write(|tx| {
                tx.update_where::<Person>("TRUEPREDICATE", args![], "name = $0, age = 0", args!["new"])?;
                tx.create(&Person::named(1000 + round, "more", 0))
            })
            .unwrap();
        }
    });
    assert_eq!(live.query::<Person>("name == 'old'", args![]).unwrap().len().unwrap(), 0);
    assert_eq!(snapshot.query::<Person>("name == 'old'", args![]).unwrap().len().unwrap(), 500);
    drop(live);
    assert_eq!(snapshot.all::<Person>().unwrap().len().unwrap(), 500);
}

#[test]
fn each_thread_writes_through_its_own_realm() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    let mut live = realm.open().unwrap();
    live.write(|tx| tx.create(&Person::named(0, "counter", 0))).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let realm = realm.clone();
            scope.spawn(move || {
                let mut own = realm.open().unwrap();
                for _ in 0..25 {
                    own.write(|tx| {
                        let counter = tx.find_link::<Person>(0)?.unwrap();
                        tx.add(counter, Person::AGE, 1)
                    })
                    .unwrap();
                }
            });
        }
    });
    live.refresh().unwrap();
    assert_eq!(live.find::<Person>(0).unwrap().unwrap().age, Some(100));
}

#[test]
fn waiting_for_the_write_lock_can_be_interrupted() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    let mut holder = realm.open().unwrap();
    let (ready, started) = mpsc::channel();
    let waiter = realm.clone();
    holder
        .write(|_| {
            let thread = std::thread::spawn(move || {
                let mut own = waiter.open().unwrap();
                ready.send(own.interrupter().unwrap()).unwrap();
                own.write(|_| Ok(())).unwrap_err()
            });
            let interrupter = started.recv().unwrap();
            while !thread.is_finished() {
                interrupter.interrupt();
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(thread.join().unwrap().kind(), ErrorKind::Interrupted);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_lock_timeout_ends_waiting() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    let mut holder = realm.open().unwrap();
    let waiter = realm.clone().lock_timeout(Duration::from_millis(20));
    holder
        .write(|_| {
            let thread = std::thread::spawn(move || waiter.open().unwrap().write(|_| Ok(())).unwrap_err());
            assert_eq!(thread.join().unwrap().kind(), ErrorKind::TimedOut);
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_interrupter_may_outlive_its_realm() {
    let folder = Folder::make();
    let live = people(&folder.file("p.realm")).open().unwrap();
    let interrupter = live.interrupter().unwrap();
    drop(live);
    interrupter.interrupt();
    std::thread::spawn(move || interrupter.interrupt()).join().unwrap();
    assert!(people(&folder.file("p.realm")).delete().unwrap());
}
