//! Opening files: descriptions of realms, live realms and snapshots.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crealm_sys as sys;

use crate::error::{Error, ErrorKind, Result};
use crate::model::RealmObject;
use crate::observe::{has_panicked, resume_panic};
use crate::raw::{c_text, check, Handle};
use crate::reader::Reader;
use crate::scheduler::Scheduler;
use crate::schema::{bind, make_schema, Binder, ClassInfo, Index};
use crate::write::Write;

/// How long opening a file waits for a write of its own thread.
const SELF_TIMEOUT: Duration = Duration::from_millis(100);

/// Ten years.
const NO_TIMEOUT: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

type Migrate = dyn Fn(&mut Migration<'_>) -> Result<()> + Send + Sync;
type Initialize = dyn Fn(&mut Write<'_>) -> Result<()> + Send + Sync;

/// The description of a realm: a file, and how to open it. It may be cloned and sent to other threads, each of which
/// opens it for itself.
///
/// ```
/// use crealm::{args, Realm, RealmObject};
///
/// #[derive(RealmObject)]
/// struct Person {
///     #[realm(primary_key)]
///     id: i64,
///     name: String,
///     age: i64,
/// }
///
/// # fn main() -> crealm::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("crealm-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("people.realm");
/// let mut live = Realm::new(&path).class::<Person>().open()?;
/// live.write(|tx| tx.create(&Person { id: 1, name: "Ann".into(), age: 31 }))?;
/// for person in live.query::<Person>("age > $0", args![30])?.iter() {
///     println!("{}", person?.name);
/// }
/// # drop(live); std::fs::remove_dir_all(&folder).unwrap();
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "a description does nothing until it is opened"]
pub struct Realm {
    path: PathBuf,
    classes: Vec<ClassInfo>,
    binders: Vec<Binder>,
    version: u64,
    mode: sys::realm_schema_mode_e,
    secret: Secret,
    page_cipher: Option<PageCipher>,
    in_memory: bool,
    durability: Durability,
    lock_timeout: Option<Duration>,
    migration: Option<Arc<Migrate>>,
    initial_data: Option<Arc<Initialize>>,
}

#[derive(Clone)]
enum Secret {
    None,
    Key(Box<[u8; 64]>),
    Passphrase(String),
}

/// How the pages of a new encrypted file are sealed. An existing file keeps its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCipher {
    XChaCha20Poly1305,
    Aes256Gcm,
    /// Realm's form, which its SDKs open.
    Realm,
}

/// When a write is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When a loss of power cannot undo it.
    #[default]
    Full,
    /// The same for disks that may write half a sector.
    TwoFlushes,
    /// At once: a loss of power may destroy the file.
    Unsafe,
}

impl Realm {
    /// Describes the realm in this file. Opening makes the file if it does not exist.
    pub fn new(path: impl AsRef<Path>) -> Realm {
        Realm {
            path: path.as_ref().to_owned(),
            classes: Vec::new(),
            binders: Vec::new(),
            version: 0,
            mode: sys::RLM_SCHEMA_MODE_AUTOMATIC,
            secret: Secret::None,
            page_cipher: None,
            in_memory: false,
            durability: Durability::Full,
            lock_timeout: None,
            migration: None,
            initial_data: None,
        }
    }

    /// Adds a class to the schema. A realm without classes shows all that the file has; it can be read by names only.
    pub fn class<T: RealmObject>(mut self) -> Realm {
        self.classes.push(T::class());
        self.binders.push(bind::<T>);
        self
    }

    /// Adds a class that has no type.
    pub fn class_info(mut self, class: ClassInfo) -> Realm {
        self.classes.push(class);
        self
    }

    /// The version of the schema; 0 without this. A change of classes that exist needs a higher version than the file
    /// has.
    pub fn version(mut self, version: u64) -> Realm {
        self.version = version;
        self
    }

    /// The function that carries data over if the file has a lower version.
    pub fn migration(mut self, function: impl Fn(&mut Migration<'_>) -> Result<()> + Send + Sync + 'static) -> Realm {
        self.migration = Some(Arc::new(function));
        self
    }

    /// The function that fills a new file.
    pub fn initial_data(mut self, function: impl Fn(&mut Write<'_>) -> Result<()> + Send + Sync + 'static) -> Realm {
        self.initial_data = Some(Arc::new(function));
        self
    }

    /// The key of an encrypted file.
    pub fn key(mut self, key: [u8; 64]) -> Realm {
        self.secret = Secret::Key(Box::new(key));
        self
    }

    /// The passphrase of an encrypted file, in place of a key.
    pub fn passphrase(mut self, passphrase: impl Into<String>) -> Realm {
        self.secret = Secret::Passphrase(passphrase.into());
        self
    }

    /// How a new encrypted file is sealed. Opening fails then without key or passphrase.
    pub fn page_cipher(mut self, cipher: PageCipher) -> Realm {
        self.page_cipher = Some(cipher);
        self
    }

    /// The data lives in memory only, as long as the realm is open somewhere.
    pub fn in_memory(mut self) -> Realm {
        self.in_memory = true;
        self
    }

    /// The realm can be read only; it follows the writes of others.
    pub fn read_only(mut self) -> Realm {
        self.mode = sys::RLM_SCHEMA_MODE_READ_ONLY;
        self
    }

    /// The file must exist, and nothing changes it while it is open.
    pub fn immutable(mut self) -> Realm {
        self.mode = sys::RLM_SCHEMA_MODE_IMMUTABLE;
        self
    }

    /// When a write is done.
    pub fn durability(mut self, durability: Durability) -> Realm {
        self.durability = durability;
        self
    }

    /// How long calls wait for other users of the file, such as writers. Without this they wait as long as it takes.
    pub fn lock_timeout(mut self, timeout: Duration) -> Realm {
        self.lock_timeout = Some(timeout);
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the file. The result is whether it was there. An error if it is open.
    pub fn delete(&self) -> Result<bool> {
        let path = self.c_path()?;
        let mut was_there = false;
        // SAFETY: the path lives until the end of the call.
        check(unsafe { sys::realm_delete_files(path.as_ptr(), &mut was_there) })?;
        Ok(was_there)
    }

    fn c_path(&self) -> Result<std::ffi::CString> {
        match self.path.to_str() {
            Some(path) => c_text(path),
            None => Err(Error::refused(sys::RLM_ERR_INVALID_ARGUMENT as i32, "the path is not UTF-8")),
        }
    }

    fn config(&self) -> Result<Handle<sys::realm_config_t>> {
        let path = self.c_path()?;
        // SAFETY: all arguments live until the end of their calls, which copy them.
        unsafe {
            let config = Handle::from(sys::realm_config_new())?;
            let raw = config.get();
            sys::realm_clear_last_error();
            sys::realm_config_set_path(raw, path.as_ptr());
            sys::realm_config_set_schema_mode(raw, self.mode);
            sys::realm_config_set_in_memory(raw, self.in_memory);
            if !self.classes.is_empty() {
                let schema = make_schema(&self.classes)?;
                sys::realm_config_set_schema(raw, schema.get());
                sys::realm_config_set_schema_version(raw, self.version);
            }
            match &self.secret {
                Secret::None => {}
                Secret::Key(key) => check(sys::realm_config_set_encryption_key(raw, key.as_ptr(), key.len()))?,
                Secret::Passphrase(text) => {
                    check(sys::crealm_config_set_passphrase(raw, text.as_ptr().cast(), text.len(), 0, 0))?;
                }
            }
            if let Some(cipher) = self.page_cipher {
                let number = match cipher {
                    PageCipher::XChaCha20Poly1305 => sys::CREALM_PAGE_CIPHER_XCHACHA20_POLY1305,
                    PageCipher::Aes256Gcm => sys::CREALM_PAGE_CIPHER_AES_256_GCM,
                    PageCipher::Realm => sys::CREALM_PAGE_CIPHER_REALM,
                };
                sys::crealm_config_set_page_cipher(raw, number);
            }
            let durability = match self.durability {
                Durability::Full => sys::CREALM_DURABILITY_FULL,
                Durability::TwoFlushes => sys::CREALM_DURABILITY_TWO_FLUSHES,
                Durability::Unsafe => sys::CREALM_DURABILITY_UNSAFE,
            };
            sys::crealm_config_set_durability(raw, durability);
            // Only waiting with a limit can be interrupted.
            let timeout = self.lock_timeout.unwrap_or(NO_TIMEOUT).min(NO_TIMEOUT);
            sys::crealm_config_set_lock_timeout(raw, timeout.as_millis() as i64);
            Ok(config)
        }
    }

    /// The file, however its path is spelled.
    fn identity(&self) -> PathBuf {
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let found = self.path.canonicalize().or_else(|_| {
            let folder = parent.unwrap_or(Path::new(".")).canonicalize()?;
            Ok::<_, std::io::Error>(self.path.file_name().map_or(folder.clone(), |name| folder.join(name)))
        });
        found.unwrap_or_else(|_| self.path.clone())
    }

    /// Opens the realm for the calling thread. In a write of this thread to the same file, the call fails with 2005 if
    /// it would have to write, too: to make a class, for instance.
    pub fn open(&self) -> Result<Live> {
        if is_writing(&self.identity()) {
            // The first opening, which waits for the lock in vain, says whether the second one would wait for itself.
            let mut trial = self.clone();
            trial.lock_timeout = Some(SELF_TIMEOUT.min(self.lock_timeout.unwrap_or(SELF_TIMEOUT)));
            match trial.open_anywhere() {
                Err(error) if error.kind() == ErrorKind::TimedOut => return Err(writes_already()),
                outcome => drop(outcome?),
            }
        }
        self.open_anywhere()
    }

    fn open_anywhere(&self) -> Result<Live> {
        let config = self.config()?;
        let scheduler = Scheduler::new()?;
        let mut call = OpenCall { realm: self, outcome: None, panic: None };
        let userdata: *mut c_void = (&mut call as *mut OpenCall<'_>).cast();
        // SAFETY: the callbacks run inside of realm_open() only, and `call` lives as long.
        let handle = unsafe {
            sys::realm_config_set_scheduler(config.get(), scheduler.raw());
            if self.migration.is_some() {
                sys::realm_config_set_migration_function(config.get(), Some(migrate), userdata, None);
            }
            if self.initial_data.is_some() {
                sys::realm_config_set_data_initialization_function(config.get(), Some(initialize), userdata, None);
            }
            Handle::from(sys::realm_open(config.get()))
        };
        if let Some(panic) = call.panic {
            resume_unwind(panic);
        }
        let handle = match (handle, call.outcome) {
            (Err(_), Some(error)) => return Err(error),
            (handle, _) => handle?,
        };
        let index = Index::read(handle.get(), &self.binders)?;
        let reader = Reader::new(handle.get(), Arc::new(index));
        let (realm, identity) = (self.clone(), self.identity());
        Ok(Live { reader, scheduler, handle, realm, identity, marker: PhantomData })
    }
}

impl fmt::Debug for Realm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Realm").field("path", &self.path).finish_non_exhaustive()
    }
}

/// An opening whose functions run: what they returned.
struct OpenCall<'a> {
    realm: &'a Realm,
    outcome: Option<Error>,
    panic: Option<Box<dyn Any + Send>>,
}

impl OpenCall<'_> {
    fn run(&mut self, function: impl FnOnce(&Realm) -> Result<()>) -> bool {
        let realm = self.realm;
        match catch_unwind(AssertUnwindSafe(|| function(realm))) {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => self.outcome = Some(error),
            Err(panic) => self.panic = Some(panic),
        }
        false
    }
}

unsafe extern "C" fn migrate(
    userdata: *mut c_void,
    old: *mut sys::realm_t,
    new: *mut sys::realm_t,
    schema: *const sys::realm_schema_t,
) -> bool {
    let call = &mut *userdata.cast::<OpenCall<'_>>();
    call.run(|realm| {
        let old = Reader::new(old, Arc::new(Index::read(old, &[])?));
        let new = Reader::new(new, Arc::new(Index::read(new, &realm.binders)?));
        let mut migration = Migration { old: &old, new: Write::new(&new), schema: schema.cast_mut() };
        realm.migration.as_ref().map_or(Ok(()), |function| function(&mut migration))
    })
}

unsafe extern "C" fn initialize(userdata: *mut c_void, new: *mut sys::realm_t) -> bool {
    let call = &mut *userdata.cast::<OpenCall<'_>>();
    call.run(|realm| {
        let reader = Reader::new(new, Arc::new(Index::read(new, &realm.binders)?));
        realm.initial_data.as_ref().map_or(Ok(()), |function| function(&mut Write::new(&reader)))
    })
}

/// A file that is being changed to a new schema.
pub struct Migration<'a> {
    old: &'a Reader,
    new: Write<'a>,
    schema: *mut sys::realm_schema_t,
}

impl<'a> Migration<'a> {
    /// The file before the migration, to be read by names.
    pub fn old(&self) -> &'a Reader {
        self.old
    }

    /// The file with the new schema.
    pub fn new_realm(&mut self) -> &mut Write<'a> {
        &mut self.new
    }

    /// Gives a property of the new schema the values of one of the old schema.
    pub fn rename(&mut self, class: &str, old: &str, new: &str) -> Result<()> {
        let (class, old, new) = (c_text(class)?, c_text(old)?, c_text(new)?);
        // SAFETY: realm and schema are those of the migration; the texts live until the end of the call.
        check(unsafe {
            let realm = self.new.raw();
            sys::realm_schema_rename_property(realm, self.schema, class.as_ptr(), old.as_ptr(), new.as_ptr())
        })
    }

    /// Deletes a class that the new schema does not have, with its objects. The result is whether it was there.
    pub fn remove_class(&mut self, class: &str) -> Result<bool> {
        let class = c_text(class)?;
        let mut was_there = false;
        // SAFETY: the realm is that of the migration; the text lives until the end of the call.
        check(unsafe { sys::realm_remove_table(self.new.raw(), class.as_ptr(), &mut was_there) })?;
        Ok(was_there)
    }
}

thread_local! {
    /// The files that this thread is writing: a second write would wait for itself.
    static WRITING: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

fn is_writing(file: &Path) -> bool {
    WRITING.with(|files| files.borrow().iter().any(|other| other == file))
}

fn writes_already() -> Error {
    let message = "this thread is in a write of this file already";
    Error::refused(sys::RLM_ERR_WRONG_TRANSACTION_STATE as i32, message)
}

/// An open realm, which belongs to one thread. It shows one version of the file until it is told to move on, by
/// [`refresh`](Live::refresh), [`turn`](Live::turn) or [`write`](Live::write). It has all methods of [`Reader`].
///
/// It cannot be sent to another thread, which opens the [`Realm`] for itself or gets a [`Snapshot`]:
///
/// ```compile_fail,E0277
/// fn send(live: crealm::Live) {
///     std::thread::spawn(move || live.version());
/// }
/// ```
pub struct Live {
    // The order counts: nothing uses the handle after it is released.
    reader: Reader,
    scheduler: Scheduler,
    handle: Handle<sys::realm_t>,
    realm: Realm,
    identity: PathBuf,
    marker: PhantomData<*mut ()>,
}

impl Deref for Live {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // SAFETY: the handle is valid. Listeners that are still registered keep the realm, but no longer the file.
        unsafe {
            sys::realm_close(self.handle.get());
        }
    }
}

/// A write that is rolled back unless it is committed. While it exists, its thread writes the file.
struct Open<'a>(&'a Live);

impl<'a> Open<'a> {
    /// Listeners run before the write begins: a write of theirs to the same file is refused, too.
    fn new(live: &'a Live) -> Result<Open<'a>> {
        if is_writing(&live.identity) {
            return Err(writes_already());
        }
        WRITING.with(|files| files.borrow_mut().push(live.identity.clone()));
        let open = Open(live);
        // SAFETY: the handle is valid.
        check(unsafe { sys::realm_begin_write(live.handle.get()) }).map(|()| open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        WRITING.with(|files| {
            files.borrow_mut().pop();
        });
        // SAFETY: the realm is valid. It writes no longer if it was committed, or a listener closed it.
        unsafe {
            if sys::realm_is_writable(self.0.handle.get()) {
                sys::realm_rollback(self.0.handle.get());
            }
        }
    }
}

impl Live {
    /// The description that this realm was opened with.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Runs a function in a write transaction, which is committed if it returns Ok. If it returns an error or panics,
    /// all changes are undone. The function sees the newest version.
    pub fn write<R>(&mut self, function: impl FnOnce(&mut Write<'_>) -> Result<R>) -> Result<R> {
        self.try_write(function)
    }

    /// The same for functions with errors of another type.
    pub fn try_write<R, E: From<Error>>(
        &mut self,
        function: impl FnOnce(&mut Write<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let begun = Open::new(self);
        if has_panicked() {
            drop(begun);
            resume_panic();
            return Err(Error::refused(0, "no write began").into());
        }
        let open = begun?;
        let result = function(&mut Write::new(&self.reader))?;
        // SAFETY: the handle is valid.
        check(unsafe { sys::realm_commit(self.handle.get()) })?;
        drop(open);
        resume_panic();
        Ok(result)
    }

    /// Moves to the newest version and runs the listeners that are due. The result is whether the realm moved.
    pub fn refresh(&mut self) -> Result<bool> {
        let mut moved = false;
        // SAFETY: the handle is valid.
        let outcome = check(unsafe { sys::realm_refresh(self.handle.get(), &mut moved) });
        resume_panic();
        outcome.map(|()| moved)
    }

    /// Does what waits for this realm: moves to the newest version, runs listeners. If nothing waits, the call waits
    /// for a commit of any program, at most for the given time. The result is whether anything was done.
    pub fn turn(&mut self, timeout: Duration) -> Result<bool> {
        let outcome = self.scheduler.run(timeout);
        resume_panic();
        outcome
    }

    /// A frozen copy of the version that this realm reads, for all threads.
    pub fn freeze(&self) -> Result<Snapshot> {
        // SAFETY: the handle is valid.
        let handle = Handle::from(unsafe { sys::realm_freeze(self.handle.get()) })?;
        let reader = Reader::new(handle.get(), self.reader.shared_index());
        Ok(Snapshot(Arc::new(Frozen { reader, _handle: handle })))
    }

    /// What another thread needs to interrupt a long call of this realm.
    pub fn interrupter(&self) -> Result<Interrupter> {
        // SAFETY: the handle is valid, and its clone has the same type.
        let clone = unsafe { sys::realm_clone(self.handle.get().cast_const().cast()) };
        Handle::from(clone.cast()).map(Interrupter)
    }

    /// Rewrites the file without free space. The result is false if it is in use elsewhere.
    pub fn compact(&mut self) -> Result<bool> {
        let mut done = false;
        // SAFETY: the handle is valid.
        check(unsafe { sys::realm_compact(self.handle.get(), &mut done) })?;
        Ok(done)
    }

    /// Copies what this realm shows to a new file, with the key of the other description.
    pub fn copy_to(&self, other: &Realm) -> Result<()> {
        let config = other.config()?;
        // SAFETY: the handles are valid.
        check(unsafe { sys::realm_convert_with_config(self.handle.get(), config.get(), false) })
    }

    /// Checks every invariant of the version that the realm reads: INVALID_DATABASE with the first fault.
    pub fn verify(&self) -> Result<()> {
        // SAFETY: the handle is valid.
        check(unsafe { sys::crealm_verify(self.handle.get(), std::ptr::null_mut()) })
    }
}

#[cfg(unix)]
impl Live {
    /// A file descriptor that is readable while [`turn`](Live::turn) has something to do, for event loops. It stays
    /// open as long as the realm.
    pub fn descriptor(&self) -> Result<std::os::fd::BorrowedFd<'_>> {
        let descriptor = self.scheduler.descriptor()?;
        // SAFETY: the scheduler keeps it open, and `self` keeps the scheduler.
        Ok(unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) })
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Live").field("path", &self.realm.path).finish_non_exhaustive()
    }
}

/// One version of a file that never changes, for any number of threads at the same time. A clone is the same snapshot.
/// It has all methods of [`Reader`]. The file keeps the version until the last clone is dropped.
///
/// ```
/// fn needs<T: Send + Sync + Clone + 'static>() {}
/// needs::<crealm::Snapshot>();
/// ```
#[derive(Clone)]
pub struct Snapshot(Arc<Frozen>);

struct Frozen {
    reader: Reader,
    _handle: Handle<sys::realm_t>,
}

// SAFETY: a frozen realm belongs to no thread: any number of threads may read it at the same time, also through one
// handle, and release it. The index never changes.
unsafe impl Send for Frozen {}
unsafe impl Sync for Frozen {}

impl Deref for Snapshot {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.0.reader
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

/// Ends a long call of a live realm, from another thread: a query, a copy, or waiting for the write lock. The call
/// fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub struct Interrupter(Handle<sys::realm_t>);

// SAFETY: the handle is only passed to realm_release() and crealm_interrupt(), which are allowed on any thread.
unsafe impl Send for Interrupter {}
unsafe impl Sync for Interrupter {}

impl Interrupter {
    /// Interrupts the call that is running. If none is, nothing happens.
    pub fn interrupt(&self) {
        // SAFETY: the handle is valid.
        unsafe {
            sys::crealm_interrupt(self.0.get());
        }
    }
}
