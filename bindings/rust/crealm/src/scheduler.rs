//! The scheduler of a live realm: it keeps the work that the library has for it until the program takes a turn.
//!
//! Each realm has one of its own, so that a turn of one realm never moves another one of the same thread.

use std::time::Duration;

use crealm_sys as sys;

use crate::error::Result;
use crate::raw::{check, Handle};

pub(crate) struct Scheduler(Handle<sys::realm_scheduler_t>);

impl Scheduler {
    pub(crate) fn new() -> Result<Scheduler> {
        // SAFETY: all arguments are optional.
        Handle::from(unsafe { sys::crealm_scheduler_new_serial(std::ptr::null_mut(), None, None) }).map(Scheduler)
    }

    pub(crate) fn raw(&self) -> *mut sys::realm_scheduler_t {
        self.0.get()
    }

    /// Runs the work that waits. Without any it waits for some, at most for the given time. The result is whether
    /// anything ran.
    pub(crate) fn run(&self, timeout: Duration) -> Result<bool> {
        let milliseconds = timeout.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32;
        let mut did_work = false;
        // SAFETY: the handle is valid.
        check(unsafe { sys::crealm_scheduler_run(self.raw(), milliseconds, &mut did_work) })?;
        Ok(did_work)
    }

    /// The file descriptor that is readable while work waits.
    pub(crate) fn descriptor(&self) -> Result<i32> {
        let mut descriptor = -1;
        // SAFETY: the handle is valid.
        check(unsafe { sys::crealm_scheduler_get_fd(self.raw(), &mut descriptor) })?;
        Ok(descriptor)
    }
}
