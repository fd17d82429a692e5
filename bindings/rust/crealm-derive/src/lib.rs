//! The macro `#[derive(RealmObject)]` of the crate `crealm`, whose documentation describes it.
//!
//! It has a small parser of its own for structs with named fields, so that the crate depends on nothing.

mod parse;

use parse::{Field, Struct};
use proc_macro::TokenStream;

/// See `crealm::RealmObject`.
#[proc_macro_derive(RealmObject, attributes(realm))]
pub fn derive_realm_object(input: TokenStream) -> TokenStream {
    let made = match parse::parse(input) {
        Ok(found) => generate(&found),
        Err(message) => format!("::core::compile_error!({message:?});"),
    };
    made.parse().expect("the macro makes valid code")
}

fn generate(found: &Struct) -> String {
    let (name, visibility) = (&found.name, &found.visibility);
    let class = found.class_name.as_deref().unwrap_or(name.trim_start_matches("r#"));
    let mut fields = String::new();
    let mut reads = String::new();
    let mut loads = String::new();
    let mut stores = String::new();
    let mut plain = String::new();
    let mut properties = String::new();
    let mut constants = String::new();
    for (index, field) in found.fields.iter().enumerate() {
        let Field { name: field_name, kind, visibility, .. } = field;
        let stored = field.stored_name();
        fields += &format!("{visibility} {field_name}: <{kind} as ::crealm::Field>::Ref<'r>,");
        reads += &format!("{field_name}: row.field::<{kind}>({index})?,");
        loads += &format!("{field_name}: <{kind} as ::crealm::Field>::load(&from.{field_name})?,");
        stores += &format!("store.field::<{kind}>({index}, {}, &self.{field_name})?;", field.primary_key);
        plain += &format!("<{kind} as ::crealm::Field>::PLAIN,");
        properties += &format!(
            "{{ let mut property = ::crealm::PropertyInfo::new({stored:?}, ::core::default::Default::default());\
             <{kind} as ::crealm::Field>::define(&mut property);\
             property.primary_key = {}; property.indexed = {}; property.fulltext = {};\
             property.origin = ::std::string::String::from({:?}); property }},",
            field.primary_key, field.indexed, field.fulltext, field.origin,
        );
        let constant = field_name.trim_start_matches("r#").to_uppercase();
        constants += &format!(
            "/** The property `{stored}`. */ {visibility} const {constant}: ::crealm::Property<{name}, {kind}> =\
             ::crealm::Property::new({index}, {stored:?});"
        );
    }
    let embedded =
        if found.embedded { format!("impl ::crealm::EmbeddedObject for {name} {{}}") } else { String::new() };
    let reference = format!("{}Ref", name.trim_start_matches("r#"));
    format!(
        "/** A [`{name}`] as a realm reads it. */\
         #[derive(Clone, Copy, Debug)] #[allow(dead_code)]\
         {visibility} struct {reference}<'r> {{\
             {fields} __link: ::crealm::Link<{name}>, __life: ::core::marker::PhantomData<&'r ()>\
         }}\
         #[allow(dead_code)]\
         impl<'r> {reference}<'r> {{\
             /** The address of the object. */\
             {visibility} fn link(&self) -> ::crealm::Link<{name}> {{ self.__link }}\
             /** A copy of the object, which borrows nothing. */\
             {visibility} fn load(&self) -> ::crealm::Result<{name}> {{\
                 <{name} as ::crealm::RealmObject>::load(self)\
             }}\
         }}\
         #[allow(dead_code)]\
         impl {name} {{ {constants} }}\
         #[automatically_derived]\
         impl ::crealm::RealmObject for {name} {{\
             type Ref<'r> = {reference}<'r>;\
             const CLASS_NAME: &'static str = {class:?};\
             const PLAIN: &'static [bool] = &[{plain}];\
             fn class() -> ::crealm::ClassInfo {{\
                 let mut class = ::crealm::ClassInfo::new({class:?}, [{properties}]);\
                 class.embedded = {is_embedded};\
                 class\
             }}\
             fn read<'r>(mut row: ::crealm::private::Row<'r, '_>) -> ::crealm::Result<{reference}<'r>> {{\
                 ::core::result::Result::Ok({reference} {{\
                     __link: row.link(), __life: ::core::marker::PhantomData, {reads}\
                 }})\
             }}\
             fn load(from: &{reference}<'_>) -> ::crealm::Result<Self> {{\
                 ::core::result::Result::Ok({name} {{ {loads} }})\
             }}\
             fn store<'f>(&'f self, store: &mut ::crealm::private::Store<'_, 'f>) -> ::crealm::Result<()> {{\
                 {stores}\
                 ::core::result::Result::Ok(())\
             }}\
         }}\
         {embedded}",
        is_embedded = found.embedded,
    )
}
