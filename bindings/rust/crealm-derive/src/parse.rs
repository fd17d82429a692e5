//! Reads a struct and its attributes out of the tokens of a program.

use proc_macro::{Delimiter, TokenStream, TokenTree};
use std::iter::Peekable;

/// A struct of the program.
pub struct Struct {
    pub name: String,
    pub visibility: String,
    pub class_name: Option<String>,
    pub embedded: bool,
    pub fields: Vec<Field>,
}

/// A field of it.
#[derive(Default)]
pub struct Field {
    pub name: String,
    pub visibility: String,
    pub kind: String,
    pub rename: Option<String>,
    pub origin: String,
    pub primary_key: bool,
    pub indexed: bool,
    pub fulltext: bool,
}

impl Field {
    /// The name of the property in the file.
    pub fn stored_name(&self) -> &str {
        self.rename.as_deref().unwrap_or(self.name.trim_start_matches("r#"))
    }
}

type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

/// A word of an attribute, and its text: `rename = "…"`.
type Setting = (String, Option<String>);

pub fn parse(input: TokenStream) -> Result<Struct, String> {
    let mut tokens = input.into_iter().peekable();
    let settings = attributes(&mut tokens)?;
    let visibility = visibility(&mut tokens);
    match tokens.next() {
        Some(TokenTree::Ident(word)) if word.to_string() == "struct" => {}
        _ => return Err("RealmObject is derived for structs with named fields".into()),
    }
    let name = identifier(&mut tokens)?;
    let body = match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => group.stream(),
        Some(TokenTree::Punct(mark)) if mark.as_char() == '<' => {
            return Err(format!("{name}: a RealmObject has no type parameters and no lifetimes"));
        }
        _ => return Err(format!("{name}: RealmObject is derived for structs with named fields")),
    };
    let mut found = Struct { name, visibility, class_name: None, embedded: false, fields: Vec::new() };
    for (word, text) in settings {
        match (word.as_str(), text) {
            ("name", Some(text)) => found.class_name = Some(text),
            ("embedded", None) => found.embedded = true,
            _ => return Err(unknown(&word, "name = \"…\", embedded")),
        }
    }
    let mut tokens = body.into_iter().peekable();
    while tokens.peek().is_some() {
        found.fields.push(field(&mut tokens)?);
    }
    if found.fields.iter().filter(|field| field.primary_key).count() > 1 {
        return Err(format!("{}: a class has one primary key at most", found.name));
    }
    Ok(found)
}

fn unknown(word: &str, allowed: &str) -> String {
    format!("realm({word}) is not known here, or lacks its text: {allowed}")
}

fn field(tokens: &mut Tokens) -> Result<Field, String> {
    let mut found = Field::default();
    for (word, text) in attributes(tokens)? {
        match (word.as_str(), text) {
            ("primary_key", None) => found.primary_key = true,
            ("indexed", None) => found.indexed = true,
            ("fulltext", None) => found.fulltext = true,
            ("rename", Some(text)) => found.rename = Some(text),
            ("origin", Some(text)) => found.origin = text,
            _ => return Err(unknown(&word, "primary_key, indexed, fulltext, rename = \"…\", origin = \"…\"")),
        }
    }
    found.visibility = visibility(tokens);
    found.name = identifier(tokens)?;
    match tokens.next() {
        Some(TokenTree::Punct(mark)) if mark.as_char() == ':' => {}
        _ => return Err(format!("{}: a field has a type", found.name)),
    }
    found.kind = kind(tokens);
    Ok(found)
}

/// The tokens of a type, up to a comma that is in no pair of angle brackets.
fn kind(tokens: &mut Tokens) -> String {
    let mut depth = 0;
    let mut before_arrow = false;
    let mut found = Vec::new();
    for token in tokens.by_ref() {
        if let TokenTree::Punct(mark) = &token {
            match mark.as_char() {
                ',' if depth == 0 => break,
                '<' => depth += 1,
                '>' if !before_arrow => depth -= 1,
                _ => {}
            }
            before_arrow = mark.as_char() == '-';
        }
        found.push(token);
    }
    found.into_iter().collect::<TokenStream>().to_string()
}

/// Skips attributes, and collects the settings of those with the name `realm`.
fn attributes(tokens: &mut Tokens) -> Result<Vec<Setting>, String> {
    let mut settings = Vec::new();
    while let Some(TokenTree::Punct(mark)) = tokens.peek() {
        if mark.as_char() != '#' {
            break;
        }
        tokens.next();
        let Some(TokenTree::Group(group)) = tokens.next() else { continue };
        let mut inside = group.stream().into_iter();
        let is_ours = matches!(inside.next(), Some(TokenTree::Ident(word)) if word.to_string() == "realm");
        if is_ours {
            match inside.next() {
                Some(TokenTree::Group(list)) => settings.extend(settings_of(list.stream())?),
                _ => return Err("an attribute of this macro has the form realm(…)".into()),
            }
        }
    }
    Ok(settings)
}

fn settings_of(list: TokenStream) -> Result<Vec<Setting>, String> {
    let mut tokens = list.into_iter().peekable();
    let mut settings = Vec::new();
    while tokens.peek().is_some() {
        let word = identifier(&mut tokens)?;
        let mut text = None;
        if matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=') {
            tokens.next();
            match tokens.next() {
                Some(TokenTree::Literal(literal)) => text = Some(text_of(&literal.to_string())?),
                _ => return Err(format!("realm({word} = …) takes a text in quotes")),
            }
        }
        settings.push((word, text));
        match tokens.next() {
            None => break,
            Some(TokenTree::Punct(mark)) if mark.as_char() == ',' => {}
            Some(other) => return Err(format!("a comma is missing before {other}")),
        }
    }
    Ok(settings)
}

/// The content of a literal text without escapes.
fn text_of(literal: &str) -> Result<String, String> {
    let content = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match content {
        Some(content) if !content.contains('\\') => Ok(content.to_owned()),
        _ => Err(format!("{literal}: names are plain texts without escapes")),
    }
}

fn visibility(tokens: &mut Tokens) -> String {
    if !matches!(tokens.peek(), Some(TokenTree::Ident(word)) if word.to_string() == "pub") {
        return String::new();
    }
    tokens.next();
    match tokens.peek() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            let scope = group.to_string();
            tokens.next();
            format!("pub{scope}")
        }
        _ => "pub".into(),
    }
}

fn identifier(tokens: &mut Tokens) -> Result<String, String> {
    match tokens.next() {
        Some(TokenTree::Ident(word)) => Ok(word.to_string()),
        Some(other) => Err(format!("a name is expected, not {other}")),
        None => Err("a name is missing".into()),
    }
}
