//! Opening files: encryption, migrations, memory, reading only.

use crealm::{args, ErrorKind, PageCipher, Realm, RealmObject, Value};

use crate::{people, Folder, Person};

#[test]
fn an_encrypted_file_needs_its_key() {
    let folder = Folder::make();
    for cipher in [PageCipher::XChaCha20Poly1305, PageCipher::Realm] {
        let realm = people(&folder.file(&format!("{cipher:?}.realm")));
        let mut live = realm.clone().key([7; 64]).page_cipher(cipher).open().unwrap();
        live.write(|tx| tx.create(&Person::named(1, "secret", 1))).unwrap();
        drop(live);
        let bytes = std::fs::read(realm.path()).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"secret"));
        assert_eq!(realm.open().unwrap_err().kind(), ErrorKind::InvalidDatabase);
        assert_eq!(realm.clone().key([8; 64]).open().unwrap_err().kind(), ErrorKind::InvalidDatabase);
        let live = realm.key([7; 64]).open().unwrap();
        assert_eq!(live.find::<Person>(1).unwrap().unwrap().name, "secret");
    }
}

#[test]
fn a_passphrase_opens_its_file() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    drop(realm.clone().passphrase("open sesame").open().unwrap());
    assert!(realm.clone().passphrase("open").open().is_err());
    realm.passphrase("open sesame").open().unwrap();
}

#[test]
fn a_cipher_without_a_key_is_refused() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm")).page_cipher(PageCipher::XChaCha20Poly1305);
    assert_eq!(realm.open().unwrap_err().code(), 3022);
}

#[derive(RealmObject, Debug)]
#[realm(name = "Person")]
struct Renamed {
    #[realm(primary_key)]
    id: i64,
    full_name: String,
    initial: String,
}

#[test]
fn a_migration_renames_and_fills_properties() {
    let folder = Folder::make();
    let path = folder.file("p.realm");
    let mut live = people(&path).open().unwrap();
    live.write(|tx| {
        tx.create(&Person::named(1, "Ann", 1))?;
        tx.create(&Person::named(2, "Bob", 2))
    })
    .unwrap();
    drop(live);
    let plain = Realm::new(&path).class::<Renamed>();
    assert_eq!(plain.open().unwrap_err().kind(), ErrorKind::Schema);
    let live = plain
        .version(1)
        .migration(|migration| {
            assert_eq!(migration.old().schema_version(), Some(0));
            migration.rename("Person", "name", "full_name")?;
            let old = migration.old();
            for link in old.query_any("Person", "", args![])?.links()? {
                let Value::String(name) = old.read(link, "name")? else { panic!("a text") };
                let id = old.read(link, "id")?;
                let found = migration.new_realm().find_any("Person", &id)?.expect("the same objects");
                migration.new_realm().write_any(found, "initial", &name[..1].into())?;
            }
            Ok(())
        })
        .open()
        .unwrap();
    let bob = live.find::<Renamed>(2).unwrap().unwrap();
    assert_eq!((bob.full_name, bob.initial), ("Bob", "B"));
    assert_eq!(live.schema_version(), Some(1));
}

#[test]
fn a_failed_migration_changes_nothing() {
    let folder = Folder::make();
    let path = folder.file("p.realm");
    drop(people(&path).open().unwrap());
    let realm = Realm::new(&path).class::<Renamed>().version(1);
    let error = realm.clone().migration(|_| Err(crealm::Error::other("no"))).open().unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Callback, "no"));
    let stopped = realm.migration(|_| panic!("stop"));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stopped.open().map(drop)));
    assert!(panic.is_err());
    people(&path).open().expect("the file has its old schema");
}

#[test]
fn initial_data_is_written_once() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm")).initial_data(|tx| tx.create(&Person::named(1, "Ann", 1)).map(drop));
    for _ in 0..2 {
        assert_eq!(realm.open().unwrap().all::<Person>().unwrap().len().unwrap(), 1);
    }
}

#[test]
fn a_realm_in_memory_is_gone_when_it_is_closed() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm")).in_memory();
    let mut live = realm.open().unwrap();
    live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    let second = realm.open().unwrap();
    assert_eq!(second.all::<Person>().unwrap().len().unwrap(), 1);
    drop((live, second));
    assert_eq!(realm.open().unwrap().all::<Person>().unwrap().len().unwrap(), 0);
}

#[test]
fn a_read_only_realm_may_declare_classes_that_the_file_lacks() {
    #[derive(RealmObject)]
    struct Thing {
        number: i64,
    }
    let folder = Folder::make();
    let path = folder.file("p.realm");
    people(&path).open().unwrap().write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    let live = people(&path).class::<Thing>().read_only().open().unwrap();
    assert_eq!(live.all::<Person>().unwrap().len().unwrap(), 1);
    assert_eq!(live.all::<Thing>().err().unwrap().code(), 3020);
    assert_eq!(live.class("Thing").unwrap_err().code(), 3020);
}

#[test]
fn a_read_only_realm_refuses_writes() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    drop(realm.open().unwrap());
    for realm in [realm.clone().read_only(), realm.clone().immutable()] {
        let mut live = realm.open().unwrap();
        assert_eq!(live.write(|_| Ok(())).unwrap_err().kind(), ErrorKind::State);
    }
    let missing = people(&folder.file("missing.realm")).immutable();
    assert_eq!(missing.open().unwrap_err().code(), 1019);
}

#[test]
fn copies_and_compaction() {
    let folder = Folder::make();
    let mut live = people(&folder.file("p.realm")).open().unwrap();
    live.write(|tx| tx.create(&Person::named(1, "Ann", 1))).unwrap();
    let copy = people(&folder.file("copy.realm")).key([1; 64]);
    live.copy_to(&copy).unwrap();
    assert_eq!(live.copy_to(&copy).unwrap_err().code(), 1020);
    assert_eq!(copy.open().unwrap().find::<Person>(1).unwrap().unwrap().name, "Ann");
    assert!(live.compact().unwrap());
    assert_eq!(live.find::<Person>(1).unwrap().unwrap().name, "Ann");
}

#[test]
fn a_file_is_deleted_when_it_is_closed() {
    let folder = Folder::make();
    let realm = people(&folder.file("p.realm"));
    let live = realm.open().unwrap();
    assert_eq!(realm.delete().unwrap_err().code(), 2012);
    drop(live);
    assert!(realm.delete().unwrap());
    assert!(!realm.delete().unwrap());
}
