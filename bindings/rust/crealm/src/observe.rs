//! Listeners: functions that are told what changed.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::rc::Rc;

use crealm_sys as sys;

use crate::collections::{Dictionary, List, Set};
use crate::error::Result;
use crate::fields::Element;
use crate::model::RealmObject;
use crate::raw::{c_text, Handle, NULL_VALUE};
use crate::reader::Reader;
use crate::results::{AnyResults, Results};
use crate::values::{text_of, AnyLink};

thread_local! {
    /// A panic of a listener, until the call that ran it has returned from the library.
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

/// What changed in results, a list or a set. Positions are ascending; `deletions` and `modifications` are positions
/// before the change, `insertions` and `modifications_after` those after it. A row of results that moved is deleted
/// and inserted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectionChange {
    pub deletions: Vec<usize>,
    pub insertions: Vec<usize>,
    pub modifications: Vec<usize>,
    pub modifications_after: Vec<usize>,
    /// Elements that a list moved: from and to. They are among the deletions and insertions, too.
    pub moves: Vec<(usize, usize)>,
    /// Whether the collection was cleared, and nothing was inserted since.
    pub cleared: bool,
    /// Whether it was deleted with its object.
    pub deleted: bool,
}

impl CollectionChange {
    /// Whether nothing changed: the first call of a listener.
    pub fn is_empty(&self) -> bool {
        *self == CollectionChange::default()
    }
}

/// What changed in a dictionary, by its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DictionaryChange {
    pub deletions: Vec<String>,
    pub insertions: Vec<String>,
    pub modifications: Vec<String>,
    pub cleared: bool,
    pub deleted: bool,
}

impl DictionaryChange {
    /// Whether nothing changed: the first call of a listener.
    pub fn is_empty(&self) -> bool {
        *self == DictionaryChange::default()
    }
}

/// What changed in an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectChange {
    /// The names of the changed properties.
    pub properties: Vec<String>,
    /// Whether the object was deleted. The listener is not called again.
    pub deleted: bool,
}

impl ObjectChange {
    /// Whether nothing changed: the first call of a listener.
    pub fn is_empty(&self) -> bool {
        *self == ObjectChange::default()
    }
}

/// A registered listener: dropping it ends the calls. It belongs to the thread of its realm.
///
/// ```compile_fail,E0277
/// fn needs_send<T: Send>() {}
/// needs_send::<crealm::Subscription>();
/// ```
#[must_use = "a listener ends when its subscription is dropped"]
pub struct Subscription {
    // The order counts: the token is released before the handle of what it watches.
    _token: Handle<sys::realm_notification_token_t>,
    _watched: Watched,
}

#[allow(dead_code)]
enum Watched {
    Results(Handle<sys::realm_results_t>),
    List(Handle<sys::realm_list_t>),
    Set(Handle<sys::realm_set_t>),
    Dictionary(Handle<sys::realm_dictionary_t>),
    Object(Handle<sys::realm_object_t>),
}

/// A listener of the program, which the library keeps by one reference. A call holds a second one, because the
/// listener may drop its own subscription.
struct Listener<C>(RefCell<Function<C>>);

type Function<C> = Box<dyn FnMut(&C)>;

impl<C: 'static> Listener<C> {
    fn keep(function: impl FnMut(&C) + 'static) -> *mut c_void {
        Rc::into_raw(Rc::new(Listener(RefCell::new(Box::new(function))))).cast_mut().cast()
    }

    unsafe fn tell(userdata: *mut c_void, read: impl FnOnce() -> C) {
        let pointer = userdata.cast_const().cast::<Listener<C>>();
        Rc::increment_strong_count(pointer);
        let listener = Rc::from_raw(pointer);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let change = read();
            if let Ok(mut function) = listener.0.try_borrow_mut() {
                function(&change);
            }
            // Dropping the function may panic, too.
            drop(listener);
        }));
        if let Err(panic) = outcome {
            PANIC.with(|kept| *kept.borrow_mut() = Some(panic));
        }
    }

    unsafe extern "C" fn free(userdata: *mut c_void) {
        let listener = Rc::from_raw(userdata.cast_const().cast::<Listener<C>>());
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(listener))) {
            PANIC.with(|kept| *kept.borrow_mut() = Some(panic));
        }
    }
}

/// Continues the panic of a listener, after a call that ran listeners.
pub(crate) fn resume_panic() {
    if let Some(panic) = PANIC.with(|kept| kept.borrow_mut().take()) {
        resume_unwind(panic);
    }
}

/// Whether a listener panicked in the call that has just returned.
pub(crate) fn has_panicked() -> bool {
    PANIC.with(|kept| kept.borrow().is_some())
}

unsafe extern "C" fn tell_collection(userdata: *mut c_void, changes: *const sys::realm_collection_changes_t) {
    Listener::<CollectionChange>::tell(userdata, || {
        let mut change = CollectionChange::default();
        let (mut deletions, mut insertions, mut modifications, mut moves) = (0, 0, 0, 0);
        sys::realm_collection_changes_get_num_changes(
            changes,
            &mut deletions,
            &mut insertions,
            &mut modifications,
            &mut moves,
            &mut change.cleared,
            &mut change.deleted,
        );
        change.deletions = vec![0; deletions];
        change.insertions = vec![0; insertions];
        change.modifications = vec![0; modifications];
        change.modifications_after = vec![0; modifications];
        let mut pairs = vec![sys::realm_collection_move_t { from: 0, to: 0 }; moves];
        sys::realm_collection_changes_get_changes(
            changes,
            change.deletions.as_mut_ptr(),
            deletions,
            change.insertions.as_mut_ptr(),
            insertions,
            change.modifications.as_mut_ptr(),
            modifications,
            change.modifications_after.as_mut_ptr(),
            modifications,
            pairs.as_mut_ptr(),
            moves,
        );
        change.moves = pairs.iter().map(|pair| (pair.from, pair.to)).collect();
        change
    });
}

unsafe extern "C" fn tell_dictionary(userdata: *mut c_void, changes: *const sys::realm_dictionary_changes_t) {
    Listener::<DictionaryChange>::tell(userdata, || {
        let mut change = DictionaryChange::default();
        let (mut deletions, mut insertions, mut modifications) = (0, 0, 0);
        sys::realm_dictionary_get_changes(
            changes,
            &mut deletions,
            &mut insertions,
            &mut modifications,
            &mut change.deleted,
        );
        let mut lists = [deletions, insertions, modifications].map(|count| vec![NULL_VALUE; count]);
        let [one, two, three] = &mut lists;
        sys::realm_dictionary_get_changed_keys(
            changes,
            one.as_mut_ptr(),
            &mut deletions,
            two.as_mut_ptr(),
            &mut insertions,
            three.as_mut_ptr(),
            &mut modifications,
            &mut change.cleared,
        );
        let texts = |list: &[sys::realm_value_t]| -> Vec<String> {
            list.iter().map(|key| text_of(key.data.string).unwrap_or_default().to_owned()).collect()
        };
        change.deletions = texts(&lists[0]);
        change.insertions = texts(&lists[1]);
        change.modifications = texts(&lists[2]);
        change
    });
}

/// The change of an object as the library has it: keys of properties.
struct ObjectKeys {
    keys: Vec<i64>,
    deleted: bool,
}

unsafe extern "C" fn tell_object(userdata: *mut c_void, changes: *const sys::realm_object_changes_t) {
    Listener::<ObjectKeys>::tell(userdata, || {
        let count = sys::realm_object_changes_get_num_modified_properties(changes);
        let mut keys = vec![0; count];
        sys::realm_object_changes_get_modified_properties(changes, keys.as_mut_ptr(), count);
        ObjectKeys { keys, deleted: sys::realm_object_changes_is_deleted(changes) }
    });
}

/// The key paths of a listener. None: all properties.
fn key_paths(
    reader: &Reader,
    class: u32,
    paths: Option<&[&str]>,
) -> Result<Option<Handle<sys::realm_key_path_array_t>>> {
    let Some(paths) = paths else { return Ok(None) };
    let texts = paths.iter().map(|path| c_text(path)).collect::<Result<Vec<_>>>()?;
    let mut pointers: Vec<*const std::ffi::c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    // SAFETY: the texts live until the end of the call.
    let made = unsafe { sys::realm_create_key_path_array(reader.raw(), class, pointers.len(), pointers.as_mut_ptr()) };
    Handle::from(made).map(Some)
}

fn raw_paths(paths: &Option<Handle<sys::realm_key_path_array_t>>) -> *mut sys::realm_key_path_array_t {
    paths.as_ref().map_or(std::ptr::null_mut(), Handle::get)
}

/// A second handle to the same thing: a listener ends with the handle that it was registered on.
fn second<T>(handle: &Handle<T>) -> Result<Handle<T>> {
    // SAFETY: the handle is valid, and a clone has the same type.
    Handle::from(unsafe { sys::realm_clone(handle.get().cast_const().cast()) }.cast())
}

impl AnyResults<'_> {
    /// Calls a function after each change of the rows: as [`Results::observe`].
    pub fn observe(
        &self,
        paths: Option<&[&str]>,
        function: impl FnMut(&CollectionChange) + 'static,
    ) -> Result<Subscription> {
        let paths = match self.class() {
            Some(class) => key_paths(self.reader, class, paths)?,
            None => None,
        };
        let watched = second(&self.handle)?;
        // SAFETY: the library frees the listener once, also when the call fails.
        let token = Handle::from(unsafe {
            sys::realm_results_add_notification_callback(
                watched.get(),
                Listener::<CollectionChange>::keep(function),
                Some(Listener::<CollectionChange>::free),
                raw_paths(&paths),
                Some(tell_collection),
            )
        })?;
        Ok(Subscription { _token: token, _watched: Watched::Results(watched) })
    }
}

impl<T: RealmObject> Results<'_, T> {
    /// Calls a function after each change of the rows, and once at first with an empty change. It runs inside of
    /// [`Live::turn`](crate::Live::turn), [`Live::refresh`](crate::Live::refresh) and at the beginning of
    /// [`Live::write`](crate::Live::write). If it panics, that call does.
    ///
    /// The function must not borrow from the program's stack: it may run later.
    ///
    /// ```compile_fail,E0597
    /// # use crealm::{Live, RealmObject, Subscription};
    /// # #[derive(RealmObject)] struct Person { name: String }
    /// fn watch(live: &Live) -> crealm::Result<Subscription> {
    ///     let mut count = 0;
    ///     let counter = &mut count;
    ///     live.all::<Person>()?.observe(move |change| *counter += change.insertions.len())
    /// }
    /// # fn main() {}
    /// ```
    pub fn observe(&self, function: impl FnMut(&CollectionChange) + 'static) -> Result<Subscription> {
        self.any().observe(None, function)
    }

    /// The same for changes of some properties: `"name"`, `"friend.name"`. Insertions and deletions always count.
    pub fn observe_paths(
        &self,
        paths: &[&str],
        function: impl FnMut(&CollectionChange) + 'static,
    ) -> Result<Subscription> {
        self.any().observe(Some(paths), function)
    }
}

macro_rules! observe_collection {
    ($name:ident, $change:ident, $add:ident, $tell:ident) => {
        impl<T: Element> $name<'_, T> {
            /// Calls a function after each change of the collection, and once at first with an empty change.
            pub fn observe(&self, function: impl FnMut(&$change) + 'static) -> Result<Subscription> {
                let watched = second(&self.handle)?;
                // SAFETY: the library frees the listener once, also when the call fails.
                let token = Handle::from(unsafe {
                    sys::$add(
                        watched.get(),
                        Listener::<$change>::keep(function),
                        Some(Listener::<$change>::free),
                        std::ptr::null_mut(),
                        Some($tell),
                    )
                })?;
                Ok(Subscription { _token: token, _watched: Watched::$name(watched) })
            }
        }
    };
}

observe_collection!(List, CollectionChange, realm_list_add_notification_callback, tell_collection);
observe_collection!(Set, CollectionChange, realm_set_add_notification_callback, tell_collection);
observe_collection!(Dictionary, DictionaryChange, realm_dictionary_add_notification_callback, tell_dictionary);

impl Reader {
    /// Calls a function after each change of an object, and once at first with an empty change. `paths` names the
    /// properties that count; None: all of the object itself.
    pub fn observe_object(
        &self,
        link: impl Into<AnyLink>,
        paths: Option<&[&str]>,
        mut function: impl FnMut(&ObjectChange) + 'static,
    ) -> Result<Subscription> {
        let link = link.into();
        let object = self.object(link.raw())?;
        let paths = key_paths(self, link.class, paths)?;
        let index = self.shared_index();
        let listener = Listener::<ObjectKeys>::keep(move |found: &ObjectKeys| {
            let properties = index.class_of(link.class).map_or(&[][..], |class| &class.properties);
            let name =
                |key: &i64| properties.iter().find(|property| property.key == *key).map(|found| found.name.clone());
            let properties = found.keys.iter().filter_map(name).collect();
            function(&ObjectChange { properties, deleted: found.deleted });
        });
        // SAFETY: the library frees the listener once, also when the call fails.
        let token = Handle::from(unsafe {
            sys::realm_object_add_notification_callback(
                object.get(),
                listener,
                Some(Listener::<ObjectKeys>::free),
                raw_paths(&paths),
                Some(tell_object),
            )
        })?;
        Ok(Subscription { _token: token, _watched: Watched::Object(object) })
    }

    /// Calls a function after each change of a list or set of any object.
    pub fn observe_collection(
        &self,
        link: AnyLink,
        property: &str,
        function: impl FnMut(&CollectionChange) + 'static,
    ) -> Result<Subscription> {
        let found = self.index().class_of(link.class)?.required(property)?;
        let object = self.object(link.raw())?;
        let (listener, free) =
            (Listener::<CollectionChange>::keep(function), Some(Listener::<CollectionChange>::free as _));
        let none = std::ptr::null_mut();
        // SAFETY: the library frees the listener once, also when a call that registers it fails.
        unsafe {
            if found.collection == crate::CollectionType::Set {
                let set = match crate::deep::set_of(object.get(), found.key) {
                    Ok(set) => set,
                    Err(error) => {
                        Listener::<CollectionChange>::free(listener);
                        return Err(error);
                    }
                };
                let token =
                    sys::realm_set_add_notification_callback(set.get(), listener, free, none, Some(tell_collection));
                return Ok(Subscription { _token: Handle::from(token)?, _watched: Watched::Set(set) });
            }
            let list = match crate::deep::list_of(object.get(), found.key) {
                Ok(list) => list,
                Err(error) => {
                    Listener::<CollectionChange>::free(listener);
                    return Err(error);
                }
            };
            let token =
                sys::realm_list_add_notification_callback(list.get(), listener, free, none, Some(tell_collection));
            Ok(Subscription { _token: Handle::from(token)?, _watched: Watched::List(list) })
        }
    }

    /// Calls a function after each change of a dictionary of any object.
    pub fn observe_dictionary(
        &self,
        link: AnyLink,
        property: &str,
        function: impl FnMut(&DictionaryChange) + 'static,
    ) -> Result<Subscription> {
        let found = self.index().class_of(link.class)?.required(property)?;
        let object = self.object(link.raw())?;
        let dictionary = crate::deep::dictionary_of(object.get(), found.key)?;
        // SAFETY: the library frees the listener once, also when the call fails.
        let token = Handle::from(unsafe {
            sys::realm_dictionary_add_notification_callback(
                dictionary.get(),
                Listener::<DictionaryChange>::keep(function),
                Some(Listener::<DictionaryChange>::free),
                std::ptr::null_mut(),
                Some(tell_dictionary),
            )
        })?;
        Ok(Subscription { _token: token, _watched: Watched::Dictionary(dictionary) })
    }
}
