//! The one error type of the crate.

use std::ffi::CStr;
use std::fmt;
use std::path::{Path, PathBuf};

use crealm_sys as sys;

/// What calls of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the library, or of a function of the program that the library called.
pub struct Error(Box<Facts>);

struct Facts {
    code: i32,
    message: String,
    path: Option<PathBuf>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Groups of error numbers: enough to decide what to do. [`Error::code`] is the exact number of the C API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is missing, exists already, or must not be read or written.
    File,
    /// The file is damaged, is no realm file, or is encrypted with another key.
    InvalidDatabase,
    /// Another user of the file did not release its lock in time.
    TimedOut,
    /// The call was ended by an [`Interrupter`](crate::Interrupter).
    Interrupted,
    /// The disk is full, or there is not enough memory.
    Exhausted,
    /// The schema contradicts itself, or differs from that of the file.
    Schema,
    /// The text or the arguments of a query are not valid.
    Query,
    /// An object with this primary key exists already.
    ObjectExists,
    /// There is no such object, class or property, or the position is out of bounds.
    NotFound,
    /// The property cannot hold the value.
    Value,
    /// A rule of the file would be broken.
    Rule,
    /// The call does not fit the state of the realm, for instance outside of a write.
    State,
    /// A function of the program failed: [`std::error::Error::source`] is its error.
    Callback,
    /// Any other error.
    Other,
}

impl Error {
    /// The error number of the C API, as `RLM_ERR_…` and `CREALM_ERR_…` of crate `crealm-sys`; 0 for a refusal that
    /// comes from this crate.
    pub fn code(&self) -> i32 {
        self.0.code
    }

    /// What kind of error this is.
    pub fn kind(&self) -> ErrorKind {
        match self.0.code {
            1000 => ErrorKind::Other,
            1003..=1006 => ErrorKind::Exhausted,
            1007 | 1008 | 1017..=1020 | 2012 | 2013 | 9002 | 9005 => ErrorKind::File,
            1011 | 1021 | 1022 | 1024 | 3014 => ErrorKind::InvalidDatabase,
            1009 | 3008 | 3013 | 3015 => ErrorKind::Query,
            1013 => ErrorKind::ObjectExists,
            1025 | 2016..=2020 => ErrorKind::Schema,
            2005 | 2006 | 2009 | 2010 | 2011 | 2014 => ErrorKind::State,
            3001 | 3002 | 3007 | 3011 | 3012 | 3018 | 1001 => ErrorKind::Value,
            3005 | 3006 => ErrorKind::Value,
            3009 | 3016 | 3017 | 3020 => ErrorKind::NotFound,
            9003 => ErrorKind::TimedOut,
            9004 => ErrorKind::Interrupted,
            9006 => ErrorKind::Rule,
            1_000_000 => ErrorKind::Callback,
            _ => ErrorKind::Other,
        }
    }

    /// The file, where a file is to blame.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// An error of the program, for functions that must return this type: [`ErrorKind::Callback`].
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        let source = source.into();
        let message = source.to_string();
        Error(Box::new(Facts { code: 1_000_000, message, path: None, source: Some(source) }))
    }

    /// A refusal of this crate, with a number of the C API where one fits.
    pub(crate) fn refused(code: i32, message: impl Into<String>) -> Error {
        Error(Box::new(Facts { code, message: message.into(), path: None, source: None }))
    }

    /// Takes the error of the calling thread out of the slot of the library.
    #[cold]
    pub(crate) fn last() -> Error {
        // SAFETY: the struct is plain data, which the call fills; its texts are copied before the slot changes.
        unsafe {
            let mut raw: sys::realm_error_t = std::mem::zeroed();
            if !sys::realm_get_last_error(&mut raw) {
                return Error::refused(sys::RLM_ERR_UNKNOWN as i32, "the library reported no error");
            }
            let text = |pointer: *const std::ffi::c_char| {
                (!pointer.is_null()).then(|| CStr::from_ptr(pointer).to_string_lossy().into_owned())
            };
            let message = text(raw.message).unwrap_or_default();
            let path = text(raw.path).map(PathBuf::from);
            sys::realm_clear_last_error();
            Error(Box::new(Facts { code: raw.error as i32, message, path, source: None }))
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.code == 0 || self.0.source.is_some() {
            return formatter.write_str(&self.0.message);
        }
        write!(formatter, "{} ({})", self.0.message, self.0.code)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Error");
        shown.field("code", &self.0.code).field("kind", &self.kind()).field("message", &self.0.message);
        if let Some(path) = &self.0.path {
            shown.field("path", path);
        }
        shown.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
