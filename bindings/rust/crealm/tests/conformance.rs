//! Runs the conformance suite, which `Tests/Conformance/README.md` describes, on the API that goes by names.

mod json;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crealm::{
    Aggregate, AnyLink, AnyResults, Argument, ClassInfo, CollectionType, Error, Live, PropertyInfo, PropertyType,
    Reader, Realm, Snapshot, Subscription, Timestamp, Update, Value, ValueRef, Write,
};
use json::Json;

/// Why a step failed.
#[derive(Debug)]
enum Failure {
    Realm(Error),
    /// The package cannot do this: a program with it does not compile.
    Refused,
    Wrong(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Realm(error)
    }
}

type Outcome<T = ()> = Result<T, Failure>;

fn wrong<T>(found: impl std::fmt::Debug, given: impl std::fmt::Debug) -> Outcome<T> {
    Err(Failure::Wrong(format!("{found:?}, not {given:?}")))
}

const TYPES: [(&str, PropertyType); 11] = [
    ("int", PropertyType::Int),
    ("bool", PropertyType::Bool),
    ("string", PropertyType::String),
    ("data", PropertyType::Data),
    ("date", PropertyType::Timestamp),
    ("float", PropertyType::Float),
    ("double", PropertyType::Double),
    ("decimal128", PropertyType::Decimal128),
    ("objectId", PropertyType::ObjectId),
    ("uuid", PropertyType::Uuid),
    ("mixed", PropertyType::Mixed),
];

fn property(name: &str, given: &Json) -> PropertyInfo {
    let mut found = PropertyInfo::new(name, PropertyType::Object);
    let text = given.get("type").unwrap_or(given).text();
    let endings = [("[]", CollectionType::List), ("<>", CollectionType::Set), ("{}", CollectionType::Dictionary)];
    let ending = endings.iter().find(|ending| text.ends_with(ending.0));
    found.collection = ending.map_or(CollectionType::None, |ending| ending.1);
    let text = ending.map_or(text, |ending| &text[..text.len() - 2][..text.len() - ending.0.len()]);
    found.nullable = text.ends_with('?');
    let text = text.trim_end_matches('?');
    match TYPES.iter().find(|kind| kind.0 == text) {
        Some(kind) => found.kind = kind.1,
        None => {
            found.target = text.to_owned();
            found.nullable = matches!(found.collection, CollectionType::None | CollectionType::Dictionary);
        }
    }
    found.indexed = given.get("indexed").is_some_and(Json::is_true);
    found.fulltext = given.get("indexed").is_some_and(|index| !index.is_true());
    found
}

fn classes(given: &Json) -> Vec<ClassInfo> {
    let class = |given: &Json| {
        let properties = given.get("properties").unwrap().members();
        let mut found = ClassInfo::new(
            given.get("name").unwrap().text(),
            properties.iter().map(|(name, given)| property(name, given)),
        );
        found.embedded = given.get("embedded").is_some_and(Json::is_true);
        if let Some(name) = given.get("primaryKey") {
            match found.properties.iter_mut().find(|property| property.name == name.text()) {
                Some(property) => property.primary_key = true,
                // This API has no primary key that is no property: one without a name is as wrong.
                None => {
                    let mut nameless = PropertyInfo::new("", PropertyType::Int);
                    nameless.primary_key = true;
                    found.properties.push(nameless);
                }
            }
        }
        found
    };
    given.items().iter().map(class).collect()
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for digit in text.chars().filter_map(|char| DIGITS.find(char)) {
        (bits, count) = (bits << 6 | digit as u32, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[at * 2..][..2], 16).unwrap()).collect()
}

#[derive(Clone, Debug, Default)]
struct Change(BTreeMap<&'static str, Vec<String>>);

impl Change {
    fn of<T: ToString>(parts: &[(&'static str, &[T])], flags: &[(&'static str, bool)]) -> Change {
        let mut found = BTreeMap::new();
        for (name, part) in parts.iter().filter(|part| !part.1.is_empty()) {
            let mut texts: Vec<String> = part.iter().map(T::to_string).collect();
            texts.sort();
            found.insert(*name, texts);
        }
        found.extend(flags.iter().filter(|flag| flag.1).map(|flag| (flag.0, vec!["true".to_owned()])));
        Change(found)
    }
}

/// A case that runs: what its steps named, and how its file is opened.
struct Case {
    path: PathBuf,
    classes: Vec<ClassInfo>,
    version: u64,
    key: Vec<u8>,
    read_only: bool,
    renamed: Vec<[String; 3]>,
    objects: HashMap<String, AnyLink>,
    told: HashMap<String, Rc<RefCell<Vec<Change>>>>,
    frozen: HashMap<String, Snapshot>,
    kept: Vec<Subscription>,
}

/// What a step reads from and writes to.
enum Db<'a, 'w> {
    Read(&'a Reader),
    Write(&'a mut Write<'w>),
}

impl<'w> Db<'_, 'w> {
    fn reader(&self) -> &Reader {
        match self {
            Db::Read(reader) => reader,
            Db::Write(tx) => tx,
        }
    }

    fn writing(&mut self) -> Outcome<&mut Write<'w>> {
        match self {
            Db::Read(_) => Err(Failure::Refused),
            Db::Write(tx) => Ok(tx),
        }
    }
}

impl Case {
    fn open(&self) -> Outcome<Live> {
        let mut realm = Realm::new(&self.path).version(self.version);
        for class in &self.classes {
            realm = realm.class_info(class.clone());
        }
        if !self.key.is_empty() {
            realm = realm.key(self.key.clone().try_into().unwrap());
        }
        if self.read_only {
            realm = realm.read_only();
        } else {
            let renamed = self.renamed.clone();
            realm = realm.migration(move |migration| {
                renamed.iter().try_for_each(|[class, old, new]| migration.rename(class, old, new))
            });
        }
        Ok(realm.open()?)
    }

    fn object(&self, name: &str) -> AnyLink {
        *self.objects.get(name).unwrap_or_else(|| panic!("no object has the name {name}"))
    }

    /// The value of a step, for a property of this type.
    fn value(&self, given: &Json, kind: PropertyType) -> Value {
        if let Some((tag, content)) = given.tagged() {
            let number = |at: usize| match &content.items()[at] {
                Json::Number(text) | Json::Text(text) => text.clone(),
                other => panic!("no number: {other:?}"),
            };
            return match tag {
                "$int" => Value::Int(content.text().parse().unwrap()),
                "$double" => Value::Double(content.text().parse().unwrap()),
                "$float" => Value::Float(content.text().parse().unwrap()),
                "$decimal" => Value::Decimal128(content.text().parse().unwrap()),
                "$date" => Value::Timestamp(Timestamp::new(number(0).parse().unwrap(), number(1).parse().unwrap())),
                "$oid" => Value::ObjectId(content.text().parse().unwrap()),
                "$uuid" => Value::Uuid(content.text().parse().unwrap()),
                "$data" => Value::Data(base64(content.text())),
                "$link" => Value::Link(self.object(content.text())),
                "$repeat" => Value::String(content.items()[0].text().repeat(content.items()[1].number())),
                other => panic!("the tag {other}"),
            };
        }
        match given {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Text(text) => Value::String(text.clone()),
            Json::Number(text) => match kind {
                PropertyType::Double => Value::Double(text.parse().unwrap()),
                PropertyType::Float => Value::Float(text.parse().unwrap()),
                PropertyType::Decimal128 => Value::Decimal128(text.parse().unwrap()),
                _ => text.parse().map_or_else(|_| Value::Double(text.parse().unwrap()), Value::Int),
            },
            Json::Array(items) => Value::List(items.iter().map(|item| self.value(item, kind)).collect()),
            Json::Object(members) => {
                let pairs = members.iter().map(|(name, each)| (name.clone(), self.value(each, kind)));
                Value::Dictionary(pairs.collect())
            }
        }
    }

    fn kind(&self, reader: &Reader, link: AnyLink, name: &str) -> Outcome<PropertyType> {
        let class = reader.class(reader.class_name(link)?)?;
        Ok(class.property(name).map_or(PropertyType::Mixed, |property| property.kind))
    }

    /// Whether a value that was read is the one that a step gives.
    fn equals(&self, reader: &Reader, given: &Json, found: &Value) -> Outcome<bool> {
        Ok(match (given, found) {
            (Json::Array(items), Value::List(elements)) => {
                items.len() == elements.len() && {
                    let mut pairs = items.iter().zip(elements);
                    pairs.try_fold(true, |all, (item, element)| {
                        self.equals(reader, item, element).map(|same| all && same)
                    })?
                }
            }
            (Json::Array(items), Value::Set(elements)) => {
                let has = |item: &Json| elements.iter().any(|each| self.equals(reader, item, each).unwrap_or(false));
                items.len() == elements.len() && items.iter().all(has)
            }
            (Json::Object(members), Value::Link(link)) if given.tagged().is_none() => {
                let mut all = true;
                for (name, each) in members {
                    all &= self.equals(reader, each, &reader.read(*link, name)?)?;
                }
                all
            }
            (Json::Object(members), Value::Dictionary(pairs)) if given.tagged().is_none() => {
                let same = |(name, each): &(String, Json)| {
                    pairs.get(name).is_some_and(|found| self.equals(reader, each, found).unwrap_or(false))
                };
                members.len() == pairs.len() && members.iter().all(same)
            }
            (Json::Number(text), Value::Int(number)) => text.parse() == Ok(*number),
            (Json::Number(text), Value::Double(number)) => text.parse() == Ok(*number),
            (Json::Number(text), Value::Float(number)) => text.parse() == Ok(f64::from(*number)),
            (Json::Number(text), Value::Decimal128(number)) => text.parse::<crealm::Decimal128>()? == *number,
            _ => match (self.value(given, PropertyType::Mixed), found) {
                (Value::Double(given), Value::Double(found)) => {
                    given.to_bits() == found.to_bits() || given.is_nan() && found.is_nan()
                }
                (Value::Float(given), Value::Float(found)) => given == *found || given.is_nan() && found.is_nan(),
                (Value::Decimal128(given), Value::Decimal128(found)) => {
                    given == *found || given.is_nan() && found.is_nan()
                }
                (given, found) => given == *found,
            },
        })
    }

    fn check(&self, reader: &Reader, given: &Json, found: &Value) -> Outcome {
        if self.equals(reader, given, found)? {
            return Ok(());
        }
        wrong(found, given)
    }

    fn rows<'r>(&self, reader: &'r Reader, target: &Json, step: &Json) -> Outcome<AnyResults<'r>> {
        let given = step.get("arguments").map_or(&[][..], Json::items);
        let kinds = given.iter().map(|each| self.value(each, PropertyType::Mixed)).collect::<Vec<_>>();
        let arguments: Vec<Argument<'_>> = kinds
            .iter()
            .map(|value| match value {
                Value::List(values) => Argument::Many(values.iter().map(ValueRef::from).collect()),
                value => Argument::One(value.into()),
            })
            .collect();
        let text = step.get("where").map_or("", Json::text);
        let mut rows = match target {
            Json::Text(class) => reader.query_any(class, text, &arguments)?,
            place => {
                let place = place.items();
                reader.query_collection(self.object(place[0].text()), place[1].text(), text, &arguments)?
            }
        };
        if let Some(order) = step.get("sort") {
            rows = rows.sort(order.text())?;
        }
        if let Some(properties) = step.get("distinct") {
            rows = rows.distinct(properties.text())?;
        }
        if let Some(most) = step.get("limit") {
            rows = rows.limit(most.number())?;
        }
        Ok(rows)
    }

    fn read(&self, reader: &Reader, place: &[Json]) -> Outcome<Value> {
        let mut found = reader.read(self.object(place[0].text()), place[1].text())?;
        for part in &place[2..] {
            found = match (found, part) {
                (Value::List(elements), part) => elements[part.number()].clone(),
                (Value::Dictionary(pairs), part) => pairs[part.text()].clone(),
                (other, part) => return wrong(other, part),
            };
        }
        Ok(found)
    }

    /// A change of a list or dictionary at a place, which may be nested in a mixed property.
    fn change(&self, tx: &mut Write<'_>, verb: &str, place: &[Json], step: &Json) -> Outcome {
        let (link, name) = (self.object(place[0].text()), place[1].text());
        let kind = self.kind(tx, link, name)?;
        let value = step.get("value").map(|value| self.value(value, kind));
        let class = tx.class(tx.class_name(link)?)?;
        let collection = class.property(name).map_or(CollectionType::None, |found| found.collection);
        if collection == CollectionType::Set {
            let mut set = tx.set_any(link, name)?;
            match verb {
                "add" => drop(set.insert(value.unwrap())?),
                "discard" => drop(set.remove(&value.unwrap())?),
                _ => set.clear()?,
            }
            return Ok(());
        }
        let is_list = match (collection, self.read(tx, place)?) {
            (CollectionType::None, Value::List(_)) => true,
            (CollectionType::None, _) => false,
            (collection, _) => collection == CollectionType::List,
        };
        if place.len() > 2 {
            // Nested collections are changed as a whole: the value of the property, with the change.
            let mut whole = tx.read(link, name)?;
            let mut inner = &mut whole;
            for part in &place[2..] {
                inner = match inner {
                    Value::List(elements) => &mut elements[part.number()],
                    Value::Dictionary(pairs) => pairs.get_mut(part.text()).unwrap(),
                    other => return wrong(other, part),
                };
            }
            match (verb, inner) {
                ("insert", Value::List(elements)) => {
                    elements.insert(step.get("at").map_or(elements.len(), Json::number), value.unwrap());
                }
                ("put", Value::Dictionary(pairs)) => {
                    pairs.insert(step.get("key").unwrap().text().to_owned(), value.unwrap());
                }
                (_, inner) => return wrong(inner, verb),
            }
            return Ok(tx.write_any(link, name, &whole)?);
        }
        if is_list {
            let mut list = tx.list_any(link, name)?;
            let at = step.get("at").map(Json::number);
            match verb {
                "insert" => list.insert(at.map_or_else(|| list.len(), Ok)?, value.unwrap())?,
                "replace" => list.set(at.unwrap(), value.unwrap())?,
                "move" => list.relocate(step.get("from").unwrap().number(), step.get("to").unwrap().number())?,
                "remove" => list.remove(at.unwrap())?,
                _ => list.clear()?,
            }
            return Ok(());
        }
        let mut dictionary = tx.dictionary_any(link, name)?;
        match verb {
            "put" => dictionary.insert(step.get("key").unwrap().text(), value.unwrap())?,
            "remove" => drop(dictionary.remove(step.get("key").unwrap().text())?),
            _ => dictionary.clear()?,
        }
        Ok(())
    }

    /// The values of an object that a step makes or changes.
    fn values<'j>(&self, class: &ClassInfo, given: &'j Json) -> Vec<(&'j str, Value)> {
        let kind = |name: &str| class.property(name).map_or(PropertyType::Mixed, |property| property.kind);
        given.members().iter().map(|(name, each)| (name.as_str(), self.value(each, kind(name)))).collect()
    }

    fn name(&mut self, step: &Json, link: Option<AnyLink>) {
        if let (Some(name), Some(link)) = (step.get("as"), link) {
            self.objects.insert(name.text().to_owned(), link);
        }
    }

    /// A step that may be inside of a write.
    fn inside(&mut self, db: &mut Db<'_, '_>, verb: &str, what: &Json, step: &Json) -> Outcome {
        let gives = step.get("gives");
        match verb {
            "create" => {
                let tx = db.writing()?;
                let values = self.values(tx.class(what.text())?, step.get("values").unwrap());
                let update = match step.get("update").map(Json::text) {
                    None => Update::Never,
                    Some("modified") => Update::Modified,
                    Some(_) => Update::All,
                };
                let link = tx.create_any(what.text(), &values, update)?;
                self.name(step, Some(link));
            }
            "set" => {
                let (tx, link) = (db.writing()?, self.object(what.text()));
                let values = self.values(tx.class(tx.class_name(link)?)?, step.get("values").unwrap());
                values.iter().try_for_each(|(name, value)| tx.write_any(link, name, value))?;
            }
            "get" => {
                for (name, given) in gives.unwrap().members() {
                    let found = db.reader().read(self.object(what.text()), name)?;
                    self.check(db.reader(), given, &found)?;
                }
            }
            "delete" => db.writing()?.delete(self.object(what.text()))?,
            "valid" => {
                let found = Value::Bool(db.reader().exists(self.object(what.text())));
                self.check(db.reader(), gives.unwrap(), &found)?;
            }
            "find" => {
                let key = self.value(step.get("primaryKey").unwrap(), PropertyType::Mixed);
                let link = db.reader().find_any(what.text(), &key)?;
                self.name(step, link);
                if let Some(given) = gives {
                    self.check(db.reader(), given, &link.map_or(Value::Null, Value::Link))?;
                }
            }
            "count" => {
                let count = self.rows(db.reader(), what, &Json::Null)?.len()?;
                self.check(db.reader(), gives.unwrap(), &Value::Int(count as i64))?;
            }
            "query" => {
                let rows = self.rows(db.reader(), what, step)?;
                let count = rows.len()? as i64;
                match gives {
                    None => {}
                    Some(Json::Object(columns)) => {
                        let links = rows.links()?;
                        for (name, given) in columns {
                            let found =
                                links.iter().map(|link| db.reader().read(*link, name)).collect::<Result<_, _>>();
                            self.check(db.reader(), given, &Value::List(found?))?;
                        }
                    }
                    Some(number) => self.check(db.reader(), number, &Value::Int(count))?,
                }
            }
            "sum" | "min" | "max" | "average" => {
                let function = match verb {
                    "sum" => Aggregate::Sum,
                    "min" => Aggregate::Minimum,
                    "max" => Aggregate::Maximum,
                    _ => Aggregate::Average,
                };
                let rows = self.rows(db.reader(), step.get("of").unwrap(), step)?;
                let found = rows.aggregate(function, if *what == Json::Null { "" } else { what.text() })?;
                self.check(db.reader(), gives.unwrap(), &found.unwrap_or(Value::Null))?;
            }
            "deleteAll" => {
                let text = step.get("where").map_or("", Json::text);
                db.writing()?.delete_any(what.text(), text, &[])?;
            }
            "read" => {
                let found = self.read(db.reader(), what.items())?;
                self.check(db.reader(), gives.unwrap(), &found)?;
            }
            "insert" | "replace" | "move" | "remove" | "clear" | "put" | "add" | "discard" => {
                self.change(db.writing()?, verb, what.items(), step)?;
            }
            _ => return Err(Failure::Refused),
        }
        Ok(())
    }

    /// A step outside of a write.
    fn step(&mut self, live: &mut Option<Live>, verb: &str, what: &Json, step: &Json) -> Outcome {
        if verb == "open" {
            self.kept.clear();
            self.frozen.clear();
            *live = None;
            if let Some(given) = what.get("classes") {
                self.classes = classes(given);
            }
            if let Some(key) = what.get("key") {
                self.key = if *key == Json::Null { Vec::new() } else { hex(key.text()) };
            }
            self.read_only = what.get("readOnly").is_some();
            self.version = what.get("version").map_or(self.version, |version| version.number() as u64);
            let renamed = what.get("rename").map_or(&[][..], Json::items).iter();
            self.renamed = renamed.map(|names| [0, 1, 2].map(|at| names.items()[at].text().to_owned())).collect();
            *live = Some(self.open()?);
            return Ok(());
        }
        let live = live.as_mut().expect("an open realm");
        match verb {
            "write" => {
                let is_undone = step.get("rollback").is_some();
                let outcome = live.try_write(|tx| {
                    self.run_inside(&mut Db::Write(tx), what.items())?;
                    if is_undone {
                        Err(Failure::Wrong("undone".into()))
                    } else {
                        Ok(())
                    }
                });
                match outcome {
                    Err(Failure::Wrong(text)) if is_undone && text == "undone" => Ok(()),
                    outcome => outcome,
                }
            }
            "observe" => self.observe(live, what, step),
            "turn" => live.refresh().map(drop).map_err(Failure::from),
            "told" => {
                let found: Vec<_> = self.told[what.text()].borrow_mut().drain(..).map(|change| change.0).collect();
                let text = |each: &Json| match each {
                    Json::Text(text) | Json::Number(text) => text.clone(),
                    other => panic!("no text: {other:?}"),
                };
                let given = step.get("gives").unwrap();
                let given: Vec<BTreeMap<&str, Vec<String>>> = match given {
                    Json::Object(members) => vec![members
                        .iter()
                        .map(|(name, each)| match each {
                            Json::Array(items) => {
                                let mut texts: Vec<String> = items.iter().map(text).collect();
                                texts.sort();
                                (name.as_str(), texts)
                            }
                            _ => (name.as_str(), vec!["true".to_owned()]),
                        })
                        .collect()],
                    _ => Vec::new(),
                };
                if found == given {
                    Ok(())
                } else {
                    wrong(found, given)
                }
            }
            "elsewhere" => {
                let mut other = Some(self.open()?);
                self.run(&mut other, what.items())
            }
            "freeze" => {
                self.frozen.insert(what.text().to_owned(), live.freeze()?);
                Ok(())
            }
            "frozen" => {
                let snapshot = self.frozen[what.text()].clone();
                self.run_inside(&mut Db::Read(&snapshot), step.get("steps").unwrap().items())
            }
            _ => self.inside(&mut Db::Read(live), verb, what, step),
        }
    }

    fn observe(&mut self, live: &mut Live, what: &Json, step: &Json) -> Outcome {
        let told: Rc<RefCell<Vec<Change>>> = Rc::default();
        let kept = Rc::clone(&told);
        let paths: Option<Vec<&str>> = step.get("paths").map(|paths| paths.items().iter().map(Json::text).collect());
        let collection = move |change: &crealm::CollectionChange| {
            let parts = [
                ("deletions", &change.deletions[..]),
                ("insertions", &change.insertions[..]),
                ("modifications", &change.modifications[..]),
            ];
            kept.borrow_mut().push(Change::of(&parts, &[("cleared", change.cleared), ("deleted", change.deleted)]));
        };
        let kept = Rc::clone(&told);
        let subscription = match what {
            Json::Object(_) => {
                let link = self.object(what.tagged().unwrap().1.text());
                live.observe_object(link, paths.as_deref(), move |change| {
                    let parts = [("properties", &change.properties[..])];
                    kept.borrow_mut().push(Change::of(&parts, &[("deleted", change.deleted)]));
                })?
            }
            Json::Array(place) if step.get("where").is_none() => {
                let (link, name) = (self.object(place[0].text()), place[1].text());
                let class = live.class(live.class_name(link)?)?;
                if class.property(name).unwrap().collection == CollectionType::Dictionary {
                    live.observe_dictionary(link, name, move |change| {
                        let parts = [
                            ("deletions", &change.deletions[..]),
                            ("insertions", &change.insertions[..]),
                            ("modifications", &change.modifications[..]),
                        ];
                        let flags = [("cleared", change.cleared), ("deleted", change.deleted)];
                        kept.borrow_mut().push(Change::of(&parts, &flags));
                    })?
                } else {
                    live.observe_collection(link, name, collection)?
                }
            }
            _ => self.rows(live, what, step)?.observe(paths.as_deref(), collection)?,
        };
        self.kept.push(subscription);
        live.refresh()?;
        told.borrow_mut().clear();
        self.told.insert(step.get("as").unwrap().text().to_owned(), told);
        Ok(())
    }

    fn run(&mut self, live: &mut Option<Live>, steps: &[Json]) -> Outcome {
        steps.iter().try_for_each(|step| {
            let (verb, what) = &step.members()[0];
            let outcome = self.step(live, verb, what, step);
            judged(step, outcome)
        })
    }

    fn run_inside(&mut self, db: &mut Db<'_, '_>, steps: &[Json]) -> Outcome {
        steps.iter().try_for_each(|step| {
            let (verb, what) = &step.members()[0];
            let outcome = self.inside(db, verb, what, step);
            judged(step, outcome)
        })
    }
}

/// Whether a step failed as it must.
fn judged(step: &Json, outcome: Outcome) -> Outcome {
    let wanted: Vec<i32> = match step.get("error") {
        None => return outcome.map_err(|failure| explained(step, failure)),
        Some(Json::Array(numbers)) => numbers.iter().map(|number| number.number() as i32).collect(),
        Some(number) => vec![number.number() as i32],
    };
    match outcome {
        Err(Failure::Refused) => Ok(()),
        Err(Failure::Realm(error)) if error.code() == 0 || wanted.contains(&error.code()) => Ok(()),
        outcome => wrong(outcome, step),
    }
}

/// A failure that says which step it is of, unless the step around it must fail with its number.
fn explained(step: &Json, failure: Failure) -> Failure {
    match failure {
        Failure::Wrong(text) if text == "undone" => Failure::Wrong(text),
        Failure::Wrong(text) if !text.contains("step") => Failure::Wrong(format!("{text} in the step {step:?}")),
        other => other,
    }
}

#[test]
fn all_cases_pass() {
    let folder = std::env::temp_dir().join(format!("crealm-conformance-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../Tests/Conformance");
    let mut files: Vec<PathBuf> = std::fs::read_dir(suite).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let (mut count, mut failed) = (0, Vec::new());
    for file in files {
        let suite = Json::read(&std::fs::read_to_string(&file).unwrap());
        for case in suite.get("cases").unwrap().items() {
            count += 1;
            let name = format!("{}: {}", file.file_stem().unwrap().to_string_lossy(), case.get("name").unwrap().text());
            let mut running = Case {
                path: folder.join(format!("{count}.realm")),
                classes: classes(case.get("classes").or(suite.get("classes")).unwrap()),
                version: 0,
                key: case.get("key").map_or(Vec::new(), |key| hex(key.text())),
                read_only: false,
                renamed: Vec::new(),
                objects: HashMap::new(),
                told: HashMap::new(),
                frozen: HashMap::new(),
                kept: Vec::new(),
            };
            let outcome =
                running.open().and_then(|live| running.run(&mut Some(live), case.get("steps").unwrap().items()));
            if let Err(failure) = outcome {
                failed.push(format!("{name}: {failure:?}"));
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(count >= 150, "{count} cases only");
    assert!(failed.is_empty(), "{} of {count} cases failed:\n{}", failed.len(), failed.join("\n"));
}
