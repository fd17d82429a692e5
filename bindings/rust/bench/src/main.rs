//! Measures the crate beside rusqlite, in one run: cargo run --release -- [rows] [rounds]
//!
//! Both write one transaction of single rows, look rows up by their key and read a text, read two properties of all
//! rows, and count with a condition. Nanoseconds a row (microseconds for the count), medians of the rounds. The crate
//! rusqlite comes from a registry, or from Debian's package librust-rusqlite-dev:
//!
//!     CARGO_HOME=$(mktemp -d) cargo run --release --offline --config 'source.crates-io.replace-with="debian"' \
//!         --config 'source.debian.directory="/usr/share/cargo/registry"'

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use crealm::{args, Realm, RealmObject};

#[derive(RealmObject)]
struct Person {
    #[realm(primary_key)]
    id: i64,
    name: String,
    age: i64,
}

#[derive(Default)]
struct Times(BTreeMap<&'static str, Vec<f64>>);

impl Times {
    fn measure<R>(&mut self, name: &'static str, count: usize, run: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = run();
        self.0.entry(name).or_default().push(start.elapsed().as_nanos() as f64 / count as f64);
        result
    }

    fn median(&self, name: &str) -> f64 {
        let mut times = self.0[name].clone();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

fn ours(times: &mut Times, path: &Path, rows: usize) -> crealm::Result<(i64, usize)> {
    let mut live = Realm::new(path).class::<Person>().open()?;
    times.measure("insert ours", rows, || {
        live.write(|tx| {
            for id in 0..rows as i64 {
                tx.create(&Person { id, name: format!("name {id}"), age: id % 100 })?;
            }
            Ok(())
        })
    })?;
    times.measure("lookup ours", rows, || {
        for index in 0..rows {
            let id = (index * 7919 % rows) as i64;
            assert!(live.find::<Person>(id)?.unwrap().name.len() >= 6);
        }
        Ok::<_, crealm::Error>(())
    })?;
    let all = live.all::<Person>()?;
    let sum = times.measure("iterate ours", rows, || {
        all.iter().try_fold(0, |sum, person| person.map(|person| sum + person.age + person.name.len() as i64))
    })?;
    let count = times.measure("count ours", 1000, || live.query::<Person>("age > $0", args![50])?.len())?;
    let link = live.find_link::<Person>(0)?.unwrap();
    times.measure("one int ours", 1_000_000, || {
        (0..1_000_000).try_for_each(|_| live.value(black_box(link), Person::AGE).map(|age| drop(black_box(age))))
    })?;
    Ok((sum, count))
}

fn theirs(times: &mut Times, path: &Path, rows: usize) -> rusqlite::Result<(i64, usize)> {
    let base = rusqlite::Connection::open(path)?;
    base.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
         CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)",
    )?;
    times.measure("insert theirs", rows, || {
        base.execute_batch("BEGIN")?;
        let mut insert = base.prepare("INSERT INTO person VALUES (?, ?, ?)")?;
        for id in 0..rows as i64 {
            insert.execute((id, format!("name {id}"), id % 100))?;
        }
        base.execute_batch("COMMIT")
    })?;
    let mut find = base.prepare("SELECT name FROM person WHERE id = ?")?;
    times.measure("lookup theirs", rows, || {
        for index in 0..rows {
            let id = (index * 7919 % rows) as i64;
            let length = find.query_row([id], |row| Ok(row.get_ref(0)?.as_str()?.len()))?;
            assert!(length >= 6);
        }
        Ok::<_, rusqlite::Error>(())
    })?;
    let mut all = base.prepare("SELECT name, age FROM person")?;
    let sum = times.measure("iterate theirs", rows, || {
        let mut found = all.query([])?;
        let mut sum = 0;
        while let Some(row) = found.next()? {
            sum += row.get::<_, i64>(1)? + row.get_ref(0)?.as_str()?.len() as i64;
        }
        Ok::<_, rusqlite::Error>(sum)
    })?;
    let mut counted = base.prepare("SELECT count(*) FROM person WHERE age > ?")?;
    let count = times.measure("count theirs", 1000, || counted.query_row([50], |row| row.get(0)))?;
    Ok((sum, count))
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let rows = arguments.first().copied().unwrap_or(200_000);
    let rounds = arguments.get(1).copied().unwrap_or(5);
    let folder = std::env::temp_dir().join(format!("crealm-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut times = Times::default();
    for round in 0..rounds {
        let one = ours(&mut times, &folder.join(format!("{round}.realm")), rows).unwrap();
        let other = theirs(&mut times, &folder.join(format!("{round}.sqlite")), rows).unwrap();
        assert_eq!(one, other, "the results differ");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    println!("{rows} rows, medians of {rounds} rounds");
    for (name, unit) in [("insert", "ns"), ("lookup", "ns"), ("iterate", "ns"), ("count", "µs")] {
        let (own, peer) = (times.median(&format!("{name} ours")), times.median(&format!("{name} theirs")));
        println!("{name:8} {own:7.0} {unit}  rusqlite {peer:7.0} {unit}  {:.2} x as fast", peer / own);
    }
    println!("one int  {:7.1} ns", times.median("one int ours"));
}
