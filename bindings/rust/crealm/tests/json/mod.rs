//! A small reader of JSON, for the files of the conformance suite.

use std::iter::Peekable;
use std::str::Chars;

/// A value of JSON. Numbers keep their text; members keep their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn read(text: &str) -> Json {
        let mut chars = text.chars().peekable();
        let value = value(&mut chars);
        skip(&mut chars);
        assert!(chars.next().is_none(), "something follows the value");
        value
    }

    /// The member with this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == name).map(|member| &member.1),
            _ => None,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            other => panic!("no text: {other:?}"),
        }
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            other => panic!("no array: {other:?}"),
        }
    }

    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            other => panic!("no object: {other:?}"),
        }
    }

    pub fn number(&self) -> usize {
        match self {
            Json::Number(text) => text.parse().unwrap(),
            other => panic!("no number: {other:?}"),
        }
    }

    pub fn is_true(&self) -> bool {
        *self == Json::Bool(true)
    }

    /// The name and the content of a value with a tag: `{"$int": "5"}`.
    pub fn tagged(&self) -> Option<(&str, &Json)> {
        match self {
            Json::Object(members) if members.len() == 1 && members[0].0.starts_with('$') => {
                Some((&members[0].0, &members[0].1))
            }
            _ => None,
        }
    }
}

fn skip(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|char| char.is_whitespace()).is_some() {}
}

fn expect(chars: &mut Peekable<Chars<'_>>, wanted: char) {
    skip(chars);
    assert_eq!(chars.next(), Some(wanted));
}

fn value(chars: &mut Peekable<Chars<'_>>) -> Json {
    skip(chars);
    match chars.peek().expect("a value") {
        '"' => Json::Text(text(chars)),
        '[' => {
            let mut items = Vec::new();
            list(chars, ']', |chars| items.push(value(chars)));
            Json::Array(items)
        }
        '{' => {
            let mut members = Vec::new();
            list(chars, '}', |chars| {
                skip(chars);
                let name = text(chars);
                expect(chars, ':');
                members.push((name, value(chars)));
            });
            Json::Object(members)
        }
        _ => {
            let mut word = String::new();
            while let Some(char) = chars.next_if(|char| char.is_ascii_alphanumeric() || "+-.".contains(*char)) {
                word.push(char);
            }
            match word.as_str() {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                _ => Json::Number(word),
            }
        }
    }
}

fn list(chars: &mut Peekable<Chars<'_>>, end: char, mut one: impl FnMut(&mut Peekable<Chars<'_>>)) {
    chars.next();
    skip(chars);
    if chars.next_if_eq(&end).is_some() {
        return;
    }
    loop {
        one(chars);
        skip(chars);
        match chars.next() {
            Some(',') => {}
            found => {
                assert_eq!(found, Some(end));
                return;
            }
        }
    }
}

fn text(chars: &mut Peekable<Chars<'_>>) -> String {
    expect(chars, '"');
    let mut units: Vec<u16> = Vec::new();
    loop {
        match chars.next().expect("a text ends") {
            '"' => return String::from_utf16(&units).expect("whole pairs"),
            '\\' => match chars.next().expect("an escape") {
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).unwrap());
                }
                escape => {
                    let found = match escape {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        other => other,
                    };
                    units.push(found as u16);
                }
            },
            char => units.extend(char.encode_utf16(&mut [0; 2]).iter()),
        }
    }
}
