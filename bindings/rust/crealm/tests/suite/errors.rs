//! Errors: their numbers, and that nothing is half done after them.

use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;

use crealm::{args, Error, ErrorKind, Link, Realm, RealmObject};

use crate::{people, Folder, Person};

fn open(folder: &Folder) -> crealm::Live {
    people(&folder.file("p.realm")).open().unwrap()
}

#[test]
fn a_write_that_fails_or_panics_is_undone() {
    let folder = Folder::make();
    let mut live = open(&folder);
    let error = live
        .write(|tx| {
            tx.create(&Person::named(1, "Ann", 1))?;
            Err::<(), Error>(Error::other("stop"))
        })
        .unwrap_err();
    assert_eq!(error.to_string(), "stop");
    let panic = catch_unwind(AssertUnwindSafe(|| {
        live.write(|tx| {
            tx.create(&Person::named(1, "Ann", 1))?;
            panic!("stop");
            #[allow(unreachable_code)]
            Ok(())
        })
    }));
    assert!(panic.is_err());
    assert!(live.all::<Person>().unwrap().is_empty().unwrap());
    live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
}

#[test]
fn errors_of_the_program_keep_their_type() {
    #[derive(Debug)]
    enum Mine {
        Own(u8),
        Realm(Error),
    }
    impl From<Error> for Mine {
        fn from(error: Error) -> Mine {
            Mine::Realm(error)
        }
    }
    let folder = Folder::make();
    let mut live = open(&folder);
    assert!(matches!(live.try_write(|_| Err::<(), Mine>(Mine::Own(3))), Err(Mine::Own(3))));
    let outcome = live.try_write(|tx| {
        tx.create(&Person::named(1, "Ann", 1))?;
        Ok::<_, Mine>(tx.create(&Person::named(1, "Ann", 1))?)
    });
    assert!(matches!(outcome, Err(Mine::Realm(error)) if error.code() == 1013));
}

#[test]
fn queries_that_are_wrong_have_their_numbers() {
    let folder = Folder::make();
    let live = open(&folder);
    assert_eq!(live.query::<Person>("age >", args![]).unwrap_err().code(), 3008);
    assert_eq!(live.query::<Person>("agee > 1", args![]).unwrap_err().code(), 1009);
    let error = live.query::<Person>("age > $0", args!["text"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Query, "{error}");
    assert_eq!(live.query::<Person>("age\0 > 1", args![]).unwrap_err().code(), 3000);
}

#[test]
fn a_second_write_of_the_same_thread_is_refused() {
    let folder = Folder::make();
    let mut live = open(&folder);
    let mut other = open(&folder);
    live.write(|_| {
        assert_eq!(other.write(|_| Ok(())).unwrap_err().code(), 2005);
        Ok(())
    })
    .unwrap();
    other.write(|_| Ok(())).unwrap();
}

#[test]
fn a_second_write_is_refused_however_the_path_is_spelled() {
    let folder = Folder::make();
    let mut live = open(&folder);
    let mut dotted = people(&folder.file("./p.realm")).open().unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.file("p.realm"), folder.file("link.realm")).unwrap();
    #[cfg(unix)]
    let mut linked = people(&folder.file("link.realm")).open().unwrap();
    live.write(|_| {
        assert_eq!(dotted.write(|_| Ok(())).unwrap_err().code(), 2005);
        #[cfg(unix)]
        assert_eq!(linked.write(|_| Ok(())).unwrap_err().code(), 2005);
        Ok(())
    })
    .unwrap();
    dotted.write(|_| Ok(())).unwrap();
}

#[test]
fn opening_in_a_write_is_refused_if_it_writes() {
    #[derive(RealmObject)]
    struct Thing {
        number: i64,
    }
    let folder = Folder::make();
    let mut live = open(&folder);
    live.write(|tx| {
        tx.create(&Person::named(1, "Ann", 1))?;
        assert!(open(&folder).all::<Person>()?.is_empty()?);
        let error = people(&folder.file("p.realm")).class::<Thing>().open().unwrap_err();
        assert_eq!(error.code(), 2005);
        Ok(())
    })
    .unwrap();
    let wider = people(&folder.file("p.realm")).class::<Thing>().open().unwrap();
    assert!(wider.all::<Thing>().unwrap().is_empty().unwrap());
}

#[test]
fn a_write_of_a_listener_that_a_write_of_the_same_file_runs_is_refused() {
    let folder = Folder::make();
    let mut live = open(&folder);
    let mut other = open(&folder);
    let outcomes = Rc::new(RefCell::new(Vec::new()));
    let kept = outcomes.clone();
    let subscription = live
        .all::<Person>()
        .unwrap()
        .observe(move |_| kept.borrow_mut().push(other.write(|_| Ok(())).map_err(|error| error.code())))
        .unwrap();
    live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    live.write(|tx| tx.create(&Person::named(2, "Bob", 1))).unwrap();
    drop(subscription);
    assert!(outcomes.borrow().contains(&Err(2005)), "{outcomes:?}");
    assert_eq!(live.all::<Person>().unwrap().len().unwrap(), 2);
}

#[test]
fn a_savepoint_whose_function_panics_is_undone() {
    let folder = Folder::make();
    let mut live = open(&folder);
    live.write(|tx| {
        tx.create(&Person::named(1, "Ann", 1))?;
        let panic = catch_unwind(AssertUnwindSafe(|| {
            tx.savepoint(|inner| {
                inner.create(&Person::named(2, "Bob", 1))?;
                panic!("stop");
                #[allow(unreachable_code)]
                Ok(())
            })
        }));
        assert!(panic.is_err());
        assert_eq!(tx.all::<Person>()?.len()?, 1);
        Ok(())
    })
    .unwrap();
    assert_eq!(live.all::<Person>().unwrap().len().unwrap(), 1);
}

#[test]
fn a_class_must_be_declared() {
    #[derive(RealmObject, Debug)]
    struct Stranger {
        name: String,
    }
    let folder = Folder::make();
    let mut live = open(&folder);
    assert_eq!(live.all::<Stranger>().unwrap_err().code(), 3020);
    assert!(live.write(|tx| tx.create(&Stranger { name: String::new() })).is_err());
    assert_eq!(live.query_any("Nobody", "", args![]).err().unwrap().code(), 3020);
}

#[test]
fn a_schema_that_contradicts_itself_is_refused() {
    #[derive(RealmObject, Debug)]
    struct Orphan {
        friend: Option<Link<Person>>,
    }
    let folder = Folder::make();
    let error = Realm::new(folder.file("o.realm")).class::<Orphan>().open().unwrap_err();
    assert_eq!((error.code(), error.kind()), (2016, ErrorKind::Schema));
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let error = people("/nonexistent/folder/p.realm".as_ref()).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.path().is_some() && error.to_string().contains("1019"), "{error:?}");
}

#[test]
fn a_savepoint_undoes_its_own_changes_only() {
    let folder = Folder::make();
    let mut live = open(&folder);
    live.write(|tx| {
        tx.create(&Person::named(1, "Ann", 1))?;
        let outcome = tx.savepoint(|tx| {
            tx.create(&Person::named(2, "Bob", 1))?;
            tx.create(&Person::named(2, "Bob", 1))
        });
        assert_eq!(outcome.unwrap_err().code(), 1013);
        tx.savepoint(|tx| tx.create(&Person::named(3, "Cid", 1)))
    })
    .unwrap();
    let ids: Vec<i64> = live.all::<Person>().unwrap().load().unwrap().iter().map(|person| person.id).collect();
    assert_eq!(ids, [1, 3]);
}

#[test]
fn an_object_that_cannot_be_written_whole_is_not_written() {
    let folder = Folder::make();
    let mut live = open(&folder);
    live.write(|tx| {
        let gone = tx.create(&Person::named(9, "Gone", 1))?;
        tx.delete(gone)?;
        let person = Person { friend: Some(gone), ..Person::named(1, "Ann", 1) };
        assert!(tx.create(&person).is_err());
        assert_eq!(tx.all::<Person>()?.len()?, 0);
        Ok(())
    })
    .unwrap();
}

#[test]
fn wrong_values_and_names_are_errors() {
    use crealm::{AnyLink, Argument, ClassInfo, PropertyInfo, PropertyType, Value, ValueRef};

    let folder = Folder::make();
    let mut live = open(&folder);
    for argument in [
        Argument::One(ValueRef::List),
        Argument::One(ValueRef::Dictionary),
        Argument::Many(vec![ValueRef::List]),
        Argument::Many(vec![ValueRef::Dictionary, ValueRef::Int(1)]),
        Argument::One(ValueRef::Link(AnyLink { class: 99, object: -5 })),
    ] {
        let outcome = live.query::<Person>("name == $0", &[argument.clone()]).and_then(|found| found.len());
        assert!(outcome.is_err() || outcome.unwrap() == 0, "{argument:?}");
        assert!(!matches!(live.find_any("Person", ValueRef::List), Ok(Some(_))));
    }
    for link in [AnyLink { class: 0, object: 99 }, AnyLink { class: u32::MAX, object: -1 }] {
        assert!(!live.exists(link));
        assert!(live.read(link, "name").is_err());
        assert!(live.write(|tx| tx.delete(link)).is_err());
        assert!(live.write(|tx| tx.write_any(link, "name", &Value::Null)).is_err());
        assert!(live.observe_object(link, None, |_| {}).is_err());
        assert!(live.observe_collection(link, "tags", |_| {}).is_err());
        assert!(live.query_collection(link, "tags", "", args![]).is_err());
    }
    let ann = live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    assert!(live.observe_collection(ann.any(), "name", |_| {}).is_err());
    assert!(live.all::<Person>().unwrap().observe_paths(&["nothing"], |_| {}).is_err());
    assert!(live.all::<Person>().unwrap().observe_paths(&["na\0me"], |_| {}).is_err());
    assert!(live.all::<Person>().unwrap().sort("na\0me ASC").is_err());
    assert!(live.write(|tx| tx.list_any(ann.any(), "name").map(drop)).is_err());
    assert!(live.write(|tx| tx.set_any(ann.any(), "tags").map(drop)).is_err());
    for name in ["a\0b", "Person", &"x".repeat(1000)] {
        let class = ClassInfo::new(name, [PropertyInfo::new("p", PropertyType::Int)]);
        let path = folder.file("wrong.realm");
        assert!(Realm::new(path).class::<Person>().class_info(class).open().is_err(), "{name:?}");
    }
    assert!(Realm::new(folder.file("a\0b")).open().is_err());
    let twice = Realm::new(folder.file("twice.realm")).class::<Person>().class::<Person>().open();
    assert_eq!(twice.unwrap_err().code(), 2016);
    live.verify().unwrap();
}

/// An address of one file is no danger for another one.
#[test]
fn an_address_of_another_file_finds_nothing() {
    let folder = Folder::make();
    let mut one = open(&folder);
    let links = one.write(|tx| (0..9).map(|id| tx.create(&Person::named(id, "x", 1))).collect::<Result<Vec<_>, _>>());
    let other = people(&folder.file("other.realm")).open().unwrap();
    for link in links.unwrap() {
        assert!(!other.exists(link));
        assert!(other.get(link).is_err());
    }
}
