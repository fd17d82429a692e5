//! Tests of the crate, on its public API. Each test has a folder of its own, and its files are verified at the end.

mod collections;
mod errors;
mod listeners;
mod models;
mod names;
mod opening;
mod queries;
mod threads;
mod values;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crealm::{Link, Realm, RealmObject};

/// A folder that is removed at the end of its test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn make() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("crealm-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(RealmObject, Clone, Debug, Default, PartialEq)]
pub struct Person {
    #[realm(primary_key)]
    pub id: i64,
    #[realm(indexed)]
    pub name: String,
    pub age: Option<i64>,
    pub tags: Vec<String>,
    pub friend: Option<Link<Person>>,
}

impl Person {
    pub fn named(id: i64, name: &str, age: i64) -> Person {
        Person { id, name: name.into(), age: Some(age), ..Person::default() }
    }
}

pub fn people(path: &Path) -> Realm {
    Realm::new(path).class::<Person>()
}
