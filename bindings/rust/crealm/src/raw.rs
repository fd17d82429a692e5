//! Owned handles of the library, and the check of its results.

use std::ffi::CString;
use std::ptr::NonNull;

use crealm_sys as sys;

use crate::error::{Error, Result};

/// An own handle, which is released when it is dropped. Releasing is allowed on any thread.
pub(crate) struct Handle<T>(NonNull<T>);

impl<T> Handle<T> {
    /// The handle that a call returned: its error if that is NULL.
    pub(crate) fn from(pointer: *mut T) -> Result<Handle<T>> {
        NonNull::new(pointer).map(Handle).ok_or_else(Error::last)
    }

    pub(crate) fn get(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: the handle is owned, and nothing uses it after this.
        unsafe { sys::realm_release(self.0.as_ptr().cast()) }
    }
}

/// The result of a call that returns whether it was done.
#[inline]
pub(crate) fn check(done: bool) -> Result<()> {
    if done {
        Ok(())
    } else {
        Err(Error::last())
    }
}

/// A text that ends in NUL: INVALID_ARGUMENT if it has one inside.
pub(crate) fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::refused(sys::RLM_ERR_INVALID_ARGUMENT as i32, "a text has a NUL in it"))
}

pub(crate) const NULL_VALUE: sys::realm_value_t =
    sys::realm_value_t { data: sys::realm_value_data { integer: 0 }, r#type: sys::RLM_TYPE_NULL };
