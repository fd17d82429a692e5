//! Values at the ends of their ranges.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crealm::{Decimal128, ObjectId, Realm, RealmObject, Timestamp, Uuid, Value};

use crate::Folder;

#[derive(RealmObject, Clone, Debug, Default, PartialEq)]
struct Any {
    value: Value,
}

#[test]
fn mixed_values_of_every_type_come_back() {
    let folder = Folder::make();
    let mut live = Realm::new(folder.file("v.realm")).class::<Any>().open().unwrap();
    let values = [
        Value::Null,
        Value::Int(i64::MIN),
        Value::Int(i64::MAX),
        Value::Bool(false),
        Value::from(""),
        Value::from("a\0b \u{10ffff} ñ"),
        Value::Data(vec![]),
        Value::Data(vec![0; 5000]),
        Value::Timestamp(Timestamp::new(i64::MAX, 999_999_999)),
        Value::Timestamp(Timestamp::new(i64::MIN, -999_999_999)),
        Value::Float(f32::MIN_POSITIVE),
        Value::Double(f64::MAX),
        Value::Double(f64::INFINITY),
        Value::Decimal128("-9.999999999999999999999999999999999E+6144".parse().unwrap()),
        Value::ObjectId(ObjectId([255; 12])),
        Value::Uuid(Uuid([255; 16])),
        Value::List(vec![Value::List(vec![Value::Null])]),
        Value::Dictionary(BTreeMap::from([(String::new(), Value::Int(1))])),
    ];
    let links = live
        .write(|tx| values.iter().map(|value| tx.create(&Any { value: value.clone() })).collect::<Result<Vec<_>, _>>())
        .unwrap();
    for (link, value) in links.into_iter().zip(values) {
        assert_eq!(live.load(link).unwrap().value, value);
    }
    let nan = live.write(|tx| tx.create(&Any { value: Value::Double(f64::NAN) })).unwrap();
    assert!(matches!(live.load(nan).unwrap().value, Value::Double(number) if number.is_nan()));
    assert!(live.write(|tx| tx.create(&Any { value: Value::Set(vec![]) })).is_ok(), "a set becomes a list here");
}

#[test]
fn a_timestamp_out_of_range_is_refused() {
    let folder = Folder::make();
    let mut live = Realm::new(folder.file("v.realm")).class::<Any>().open().unwrap();
    for time in [Timestamp::new(1, -1), Timestamp::new(0, 1_000_000_000), Timestamp::new(-1, 1)] {
        assert!(live.write(|tx| tx.create(&Any { value: Value::Timestamp(time) })).is_err(), "{time:?}");
    }
}

#[test]
fn texts_of_ids_are_read_and_written() {
    let text = "01234567-89ab-cdef-0123-456789abcdef";
    assert_eq!(text.parse::<Uuid>().unwrap().to_string(), text);
    for wrong in ["", "0123456789abcdef0123456789abcdef", "0123456-789ab-cdef-0123-456789abcdef", &text[1..]] {
        assert!(wrong.parse::<Uuid>().is_err(), "{wrong}");
    }
    let text = "0123456789abcdef01234567";
    assert_eq!(text.parse::<ObjectId>().unwrap().to_string(), text);
    for wrong in ["", "0123", "0123456789abcdef0123456g", "0123456789abcdef012345é"] {
        assert!(wrong.parse::<ObjectId>().is_err(), "{wrong}");
    }
    let made: std::collections::BTreeSet<ObjectId> = (0..1000).map(|_| ObjectId::new()).collect();
    assert_eq!(made.len(), 1000);
}

#[test]
fn times_of_the_system_are_converted() {
    for (time, wanted) in [
        (UNIX_EPOCH + Duration::new(5, 7), Timestamp::new(5, 7)),
        (UNIX_EPOCH - Duration::new(5, 7), Timestamp::new(-5, -7)),
        (UNIX_EPOCH, Timestamp::new(0, 0)),
    ] {
        assert_eq!(Timestamp::from(time), wanted);
        assert_eq!(SystemTime::try_from(wanted).unwrap(), time);
    }
}

#[test]
fn decimals_keep_their_digits() {
    let folder = Folder::make();
    let mut live = Realm::new(folder.file("v.realm")).class::<Any>().open().unwrap();
    let number: Decimal128 = "1.50".parse().unwrap();
    let link = live.write(|tx| tx.create(&Any { value: number.into() })).unwrap();
    let Value::Decimal128(read) = live.load(link).unwrap().value else { panic!("a decimal") };
    assert_eq!(read.to_string(), "1.50");
}
