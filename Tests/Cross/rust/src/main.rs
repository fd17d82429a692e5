//! A writer and observer of run.py, which describes them.   cross FILE LEDGER NUMBER

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use crealm::{CollectionChange, Reader, Realm, RealmObject, Result};

#[derive(RealmObject)]
struct Counter {
    #[realm(primary_key)]
    id: i64,
    value: i64,
}

#[derive(RealmObject)]
struct Entry {
    #[realm(primary_key)]
    id: i64,
    worker: i64,
    number: i64,
}

struct Ledger {
    file: RefCell<File>,
    changes: Rc<RefCell<Vec<CollectionChange>>>,
    is_told: RefCell<bool>,
}

impl Ledger {
    fn note(&self, line: String) {
        self.file.borrow_mut().write_all(format!("{line}\n").as_bytes()).expect("the ledger");
    }

    /// Notes what listeners were told since the last call. The reader shows the version of the last change.
    fn note_changes(&self, reader: &Reader) -> Result<()> {
        let changes = self.changes.take();
        if changes.len() > 1 {
            self.note("several changes in one turn".into());
        }
        for change in changes {
            let mut line = String::from("sees");
            if self.is_told.replace(true) {
                line = "told".into();
                let entries = reader.all::<Entry>()?;
                for &place in &change.insertions {
                    let entry = entries.get(place)?;
                    line += &format!(" {}:{}", entry.worker, entry.number);
                }
                if !change.deletions.is_empty() || !change.modifications.is_empty() {
                    line += " changed";
                }
            } else {
                for id in 0..9 {
                    line += &format!(" {}", reader.find::<Counter>(id)?.expect("a counter").value);
                }
            }
            self.note(line);
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, own) = (PathBuf::from(&arguments[0]), arguments[2].parse::<i64>().expect("a number"));
    let file = OpenOptions::new().append(true).create(true).open(&arguments[1]).expect("the ledger");
    let exists = |name: &str| path.parent().expect("a folder").join(name).exists();
    let changes = Rc::new(RefCell::new(Vec::new()));
    let ledger = Ledger { file: RefCell::new(file), changes: changes.clone(), is_told: RefCell::new(false) };
    let mut live = Realm::new(&path).class::<Counter>().class::<Entry>().open()?;
    ledger.note("start".into());
    let subscription = live.all::<Entry>()?.observe(move |change| changes.borrow_mut().push(change.clone()))?;
    while !exists("stop") {
        let number = live.write(|tx| {
            // The write may have moved the realm, and told the listener, before it began.
            ledger.note_changes(tx)?;
            let (counter, total) = (tx.find_link::<Counter>(own)?, tx.find_link::<Counter>(0)?);
            let number = tx.find::<Counter>(own)?.expect("a counter").value + 1;
            tx.create(&Entry { id: own * 1_000_000_000 + number, worker: own, number })?;
            tx.set(counter.expect("a counter"), Counter::VALUE, number)?;
            tx.add(total.expect("a counter"), Counter::VALUE, 1)?;
            Ok(number)
        })?;
        ledger.note(format!("wrote {number}"));
        live.turn(Duration::from_millis(2))?;
        ledger.note_changes(&live)?;
    }
    ledger.note("stopped".into());
    let mut works = true;
    while !exists("end") || works {
        works = live.turn(Duration::from_millis(200))?;
        ledger.note_changes(&live)?;
    }
    ledger.note(format!("end {}", live.all::<Entry>()?.len()?));
    drop(subscription);
    Ok(())
}
