/// # Scheduling
///
/// Where a Realm lives: a thread, a queue, an actor, a run loop, or any thread one at a time. A scheduler answers whether
/// the caller is there, and runs work there later.
///
/// Promise
/// 1. A scheduler represents something that does one thing at a time: a caller that it accepts is alone.
/// 2. Posting never blocks and never fails. Work runs in the order of posting, on the scheduler.
/// 3. A scheduler does not keep its Realms alive. Work of owners that no longer exist does not accumulate.
///
/// May use: Platform, Basics.
enum Scheduling {}
