/*
 * crealm.h - what CRealm adds to Realm's C API.
 *
 * The rules at the top of realm.h hold here too. All additions have one version number: a program
 * that loads the library at run time should first compare crealm_abi_version() with the
 * CREALM_ABI_VERSION it was compiled with. The number grows when a declaration in this header
 * changes in a way that old programs would notice, not when functions are added.
 */

#ifndef CREALM_H
#define CREALM_H

#include "realm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the additions that this header describes. */
#define CREALM_ABI_VERSION 1

/* Bytes of stack that a thread needs for calls of the library, in addition to what callbacks of the program need.
 * (New threads have more than this also with Musl.) A query with more than 24 levels of brackets or operators
 * needs about 1 KB more for each level: on a thread with less stack, parsing or running it fails with
 * LIMIT_EXCEEDED. Release such a query on a thread with an equally large stack. The same holds for a path of more
 * than 40 steps into nested collections, which needs about 1.3 KB for each step. Debug builds of the library need
 * several times as much. */
#define CREALM_MIN_STACK_SIZE (96 * 1024)

/** The version of the loaded library's additions: the CREALM_ABI_VERSION of the header that the library was
 *  built with.
 *
 *  Thread: any. Errors: none. */
RLM_API uint32_t crealm_abi_version(void);

/* ------------------------------------------------------------------------------------------------
 * Encryption
 *
 * A file is encrypted when its config has a key (realm_config_set_encryption_key) or a passphrase.
 * The form of an existing file is recognised; the choices below are for new files.
 * docs/security.md says what each form protects, and how its files are laid out.
 * ---------------------------------------------------------------------------------------------- */

/** How the pages of a new encrypted file are sealed. */
typedef enum crealm_page_cipher {
    CREALM_PAGE_CIPHER_XCHACHA20_POLY1305 = 0, /* CRealm's form; the default */
    CREALM_PAGE_CIPHER_AES_256_GCM = 1,        /* CRealm's form, for processors that have AES */
    CREALM_PAGE_CIPHER_REALM = 2               /* Realm's form, which realm-core opens */
} crealm_page_cipher_e;

/** Sets how a new encrypted file is sealed. After this call, opens and copies with this config
 *  require a key or passphrase, so that a forgotten key does not lead to a plain file.
 *
 *  Thread: single.
 *  Errors: INVALID_ARGUMENT for another number; the config keeps its cipher. Opening fails with NOT_SUPPORTED
 *          for AES_256_GCM on a processor without AES instructions, and with ILLEGAL_COMBINATION for Realm's
 *          form with a passphrase; opening, copies, crealm_change_key() and crealm_salvage() fail with
 *          ILLEGAL_COMBINATION for a config with neither key nor passphrase. */
RLM_API void crealm_config_set_page_cipher(realm_config_t* config, crealm_page_cipher_e cipher);

/** Reads how a new encrypted file would be sealed.
 *
 *  Thread: single. Errors: none. */
RLM_API crealm_page_cipher_e crealm_config_get_page_cipher(const realm_config_t* config);

/** Sets how much memory the library may use to keep decrypted pages that no snapshot in use has read. The
 *  config with which the process first opens a file determines the limit for that file.
 *
 *  bytes:  0, the default: a sixteenth of the machine's memory, but at most 256 MB.
 *  Thread: single. Errors: none. */
RLM_API void crealm_config_set_page_memory(realm_config_t* config, uint64_t bytes);

/** Sets a passphrase, in place of any key; the key is derived from it with Argon2id.
 *
 *  passphrase: [optional]; any bytes, copied into protected memory. NULL or size 0: no passphrase.
 *  passes:     for a new file: passes over the memory, 1 to 32; 0 means 3.
 *  memory:     for a new file: bytes of memory, 8 KiB to 1 GiB; 0 means 64 MiB. An existing file keeps the
 *              cost it was made with. If that cost is more than 256 MiB, or more than 1 GiB over all passes,
 *              the file opens only if passes and memory here allow at least as much, because a hostile file
 *              could demand any cost.
 *  Thread:     single.
 *  Errors:     INVALID_ARGUMENT for a cost out of range, OUT_OF_MEMORY. After an error opening a
 *              realm with the config fails in the same way, until a key or passphrase is set. */
RLM_API bool crealm_config_set_passphrase(realm_config_t* config, const char* passphrase,
                                          size_t passphrase_size, uint32_t passes, uint64_t memory);

/** Changes the key or passphrase of a realm's file, encrypts a plain file, or decrypts one.
 *
 *  When a file in CRealm's form gets another key or passphrase, only a block at its beginning
 *  changes; the cipher stays. A person who knows the old key and kept an old copy of that block can still
 *  read the file: realm_convert_with_config() makes a copy in which all keys are new. All other changes
 *  rewrite the file, as realm_compact() does. The realm stays open and its handles stay valid, but its views
 *  do not; an open read transaction ends.
 *
 *  config: its key or passphrase and its page cipher are used; a config with neither key nor
 *          passphrase makes the file plain. Its other settings are ignored.
 *  Thread: confined.
 *  Errors: [realm]; DELETE_OPENED_REALM while the file is in use in a way that realm_compact() lists, which
 *          includes notification tokens of this realm; WRONG_TRANSACTION_STATE inside a write transaction,
 *          and for a realm opened for reading only; ILLEGAL_COMBINATION for a realm in memory, and for a
 *          passphrase in Realm's form; OUT_OF_DISK_SPACE and other file errors. After an error the file is
 *          unchanged; only after CREALM_ERR_COMMIT_OUTCOME_UNKNOWN either the old or the new secret may open
 *          it. */
RLM_API bool crealm_change_key(realm_t* realm, const realm_config_t* config);

/* ------------------------------------------------------------------------------------------------
 * Lost pages
 * ---------------------------------------------------------------------------------------------- */

/** Chooses whether the library handles SIGBUS and SIGSEGV.
 *
 *  A plain file is mapped into memory. When another program shortens the file while it is open, or
 *  the disk cannot read a block, reading the missing pages raises SIGBUS. The guard, on by default on
 *  Linux, is a signal handler that is installed when a realm is first opened. It replaces the missing pages
 *  by zeros. The call, and every later call on a realm of that file, then fails with FILE_OPERATION_FAILED,
 *  and the zeros are never committed; a view of a string or binary that the program still holds may become
 *  zeros. Once all realms of the file are closed, and the file is intact again, it can be opened again. All
 *  other faults are passed to the handlers that were installed before, with their flags and on the stacks
 *  they asked for. A program that installs handlers later must pass on the faults that it does not handle.
 *  Without the guard such a fault ends the program; encrypted files are not mapped, but the small lock file
 *  beside every file is.
 *
 *  enabled: false to leave the signals alone.
 *  Thread:  any.
 *  Errors:  ILLEGAL_OPERATION when a realm was opened with the other choice. */
RLM_API bool crealm_set_fault_guard(bool enabled);

/* ------------------------------------------------------------------------------------------------
 * Long calls
 * ---------------------------------------------------------------------------------------------- */

/** Error numbers beside those of realm_errno_e. */
#define CREALM_ERR_TIMED_OUT 9003   /* RUNTIME | FILE_ACCESS: another user of the file did not release its lock */
#define CREALM_ERR_INTERRUPTED 9004 /* RUNTIME: ended by crealm_interrupt() or by the progress function */

/** Sets how long realms opened with this config wait for other users of the file: for those that open,
 *  compact or convert it, and, at the beginning of a write transaction, for other writers. When the time is
 *  over the call fails with CREALM_ERR_TIMED_OUT. The limit does not apply to waiting for another thread of
 *  this process that is opening the same file. A file of formats 2 to 9 can be upgraded only while no other
 *  process has it open: without a limit, opening it for writing waits about a second for the others and then
 *  fails with INCOMPATIBLE_SESSION.
 *
 *  milliseconds: 0: do not wait; negative, the default: no limit.
 *  Thread:       single. Errors: none. */
RLM_API void crealm_config_set_lock_timeout(realm_config_t* config, int64_t milliseconds);

/** Sets how long realm_begin_write() on one realm waits for other writers.
 *
 *  milliseconds: as for crealm_config_set_lock_timeout(), whose value it replaces.
 *  Thread:       confined. Errors: [realm]. */
RLM_API bool crealm_set_lock_timeout(realm_t* realm, int64_t milliseconds);

/** What a long call is doing. */
typedef enum crealm_activity {
    CREALM_ACTIVITY_WAITING = 0,  /* for other users of the file; done and total are 0 */
    CREALM_ACTIVITY_QUERYING = 1, /* finding, counting, sorting, aggregates; done and total are 0 */
    CREALM_ACTIVITY_CHECKING = 2, /* crealm_verify(), crealm_find_faults(): steps */
    CREALM_ACTIVITY_COPYING = 3   /* compacting, copying, converting, rewriting for a key: bytes */
} crealm_activity_e;

/** The progress of a long call. The struct may grow at its end. */
typedef struct crealm_progress {
    realm_userdata_t userdata; /* of crealm_config_set_progress() */
    crealm_activity_e activity;
    uint64_t done;
    uint64_t total; /* an estimate; 0: unknown */
} crealm_progress_t;

/** Called during a long call, on its thread.
 *
 *  progress: valid only inside the function.
 *  Returns:  false to end the call, which then fails with CREALM_ERR_INTERRUPTED. The call has no result and
 *            removes a copy that it was writing; it changes nothing else. */
typedef bool (*crealm_progress_func_t)(const crealm_progress_t* progress);

/** Sets the progress function of realms opened with this config. Long calls run it about every 50 ms: checks
 *  and copies for the first time when they begin, other calls after 50 ms.
 *
 *  The function cannot use the realm whose call runs it: such calls fail with ILLEGAL_OPERATION. Nor can it
 *  open, compact or delete any realm file. It may use other open realms, and it may close this one: the long
 *  call then fails with CREALM_ERR_INTERRUPTED, and the realm is closed. It must not release the handles that
 *  the long call uses. Calls on frozen realms run no progress function.
 *
 *  function: [optional]; NULL: no function.
 *  userdata: owned by the config from now on; free runs once, after the last realm of the config is released.
 *  Thread:   single. Errors: none. */
RLM_API void crealm_config_set_progress(realm_config_t* config, crealm_progress_func_t function,
                                        realm_userdata_t userdata, realm_free_userdata_func_t free);

/** Interrupts the call that is running on the realm's thread: a query, aggregate, check, copy or compaction
 *  fails with CREALM_ERR_INTERRUPTED at its next check for interrupts. So does waiting for the write lock if
 *  the realm has a timeout or a progress function. Changes of objects and commits are not interrupted. Calls
 *  that begin later are not affected; when no call is running nothing happens.
 *
 *  Do not call it in a signal handler: it reads the handle, which the interrupted code may be
 *  changing. Set a flag there that the progress function reads.
 *
 *  Thread: any. Errors: none but those of rules 4 and 8. */
RLM_API bool crealm_interrupt(const realm_t* realm);

/* ------------------------------------------------------------------------------------------------
 * Durability
 * ---------------------------------------------------------------------------------------------- */

/** An error number beside those of realm_errno_e (category RUNTIME | FILE_ACCESS): a commit failed, and could
 *  not be undone because the disk no longer accepts writes. Open handles show the version before it; whether
 *  the file has the commit when it is opened again is unknown. Until that is decided this library writes
 *  nothing else to the file: each begin of a write transaction tries to undo the commit, and fails while it
 *  cannot. Every other error of a commit means that the commit did not happen and never will. */
#define CREALM_ERR_COMMIT_OUTCOME_UNKNOWN 9001

/** How a commit reaches the disk. docs/commit-and-locking.md says what each choice assumes about the disk. */
typedef enum crealm_durability {
    CREALM_DURABILITY_FULL = 0,        /* the default: committed changes are never lost. A small commit waits for
                                          the disk once */
    CREALM_DURABILITY_TWO_FLUSHES = 1, /* as FULL, also on a disk that may write half a sector (not for Realm's
                                          form); every commit waits twice */
    CREALM_DURABILITY_UNSAFE = 2       /* never waits: a loss of power may destroy the file, a crash of the process
                                          cannot */
} crealm_durability_e;

/** Sets how commits reach the disk. Instances in one process that have the same file open all use the safest
 *  of their choices, FULL or TWO_FLUSHES; UNSAFE works only if all that have the file open at the same time
 *  choose it.
 *
 *  Thread: single.
 *  Errors: INVALID_ARGUMENT for another number; the config keeps its durability. Opening fails with
 *          MISMATCHED_CONFIG (same process) or INCOMPATIBLE_SESSION (another process) when one side uses
 *          UNSAFE and the other does not. */
RLM_API void crealm_config_set_durability(realm_config_t* config, crealm_durability_e durability);

/** Reads how commits would reach the disk.
 *
 *  Thread: single. Errors: none. */
RLM_API crealm_durability_e crealm_config_get_durability(const realm_config_t* config);

/* ------------------------------------------------------------------------------------------------
 * A file that shrinks
 * ---------------------------------------------------------------------------------------------- */

/** Sets when the commits of a realm make its file shorter.
 *
 *  When the file has at least least_size bytes, and more than free_percent percent of it is free space, commits
 *  move some data from the end of the file to free space further in, and cut the end off as soon as no version
 *  that is in use reaches there. After some commits that gained nothing, the next ones move nothing for a while. Readers and other writers go on meanwhile. Without this call:
 *  1048576 and 50.
 *
 *  least_size:   in bytes.
 *  free_percent: 0 to 100; 100: the commits of this realm never make the file shorter.
 *  Thread:       single.
 *  Errors:       INVALID_ARGUMENT for another share; the config keeps both values. */
RLM_API void crealm_config_set_shrinking(realm_config_t* config, size_t least_size, int free_percent);

/** Reads when commits would make the file shorter.
 *
 *  least_size, free_percent: [optional].
 *  Thread: single. Errors: none. */
RLM_API void crealm_config_get_shrinking(const realm_config_t* config, size_t* least_size, int* free_percent);

/** Makes the file of a realm shorter while it stays in use.
 *
 *  Unlike realm_compact(), it needs no second file, and other instances and processes may have the file open,
 *  read it and write it. The call makes commits without changes; each moves up to 8 MB of data. A version that
 *  somebody keeps (a frozen realm, a long read transaction) limits what can be gained: call again when it was
 *  released. The realm's read transaction moves to the newest version. The progress function is asked after each
 *  commit, and crealm_interrupt() ends the call: the file is sound then, and as short as it has become.
 *
 *  out_before, out_after: [optional]; the size of the file in bytes.
 *  Thread: confined.
 *  Errors: [realm]; WRONG_TRANSACTION_STATE inside a write transaction, and for a realm opened for reading
 *          only; ILLEGAL_COMBINATION for a realm in memory; OUT_OF_DISK_SPACE and other file errors. */
RLM_API bool crealm_compact_online(realm_t* realm, size_t* out_before, size_t* out_after);

/* ------------------------------------------------------------------------------------------------
 * Backups in steps
 * ---------------------------------------------------------------------------------------------- */

/** Writes a backup step: a small file with what the realm's version has, and an earlier step does not have.
 *
 *  A chain of steps, the first one with everything, is a backup of each of their versions: crealm_restore() makes
 *  realm files from it. A step is a realm file itself, with the key or passphrase of the realm. It contains the
 *  blocks of 4 KB that changed, and 16 bytes for each block of the file. The call reads the whole file; writers go
 *  on meanwhile. The step gets its name when it is complete and on the disk. crealm_interrupt() ends the call.
 *
 *  previous: [optional]; the path of the step before it. NULL: the first step, which has everything.
 *  path:     the path of the new step; no file may exist there.
 *  out_size: [optional]; the size of the step in bytes.
 *  Thread:   confined.
 *  Errors:   [realm]; FILE_ALREADY_EXISTS; WRONG_TRANSACTION_STATE inside a write transaction;
 *            ILLEGAL_COMBINATION when previous is no step, or of a file with another encryption;
 *            OUT_OF_DISK_SPACE and other file errors. After an error there is no new file. */
RLM_API bool crealm_backup_since(realm_t* realm, const char* previous, const char* path, uint64_t* out_size);

/** Makes a realm file from backup steps: the version of the last one.
 *
 *  Each block is compared with the digest in its step. The file gets its name when it is complete and on the disk.
 *
 *  config: path and key or passphrase of the new file; the steps have the same key. The file gets the cipher of the
 *          last step. No file may exist at the path.
 *  steps:  the paths of the steps, in their order; the first one is the one made without a previous step.
 *  Thread: any.
 *  Errors: FILE_ALREADY_EXISTS; INVALID_ARGUMENT; ILLEGAL_COMBINATION when the steps do not form a chain, and for
 *          a config without a path or in memory;
 *          INVALID_DATABASE when a step is damaged; file errors. After an error there is no new file. */
RLM_API bool crealm_restore(const realm_config_t* config, const char* const* steps, size_t num_steps);

/* ------------------------------------------------------------------------------------------------
 * Rules
 *
 * What a file demands of the objects of a class, for every program that writes it with this library:
 * what is deleted together, values that the library makes, unique values, conditions, defaults, times.
 * docs/rules.md describes each rule and the JSON form in which they are declared.
 * ---------------------------------------------------------------------------------------------- */

/** An error number beside those of realm_errno_e (category LOGIC): a change or a commit would break a rule of
 *  the file. A refused commit has changed nothing: the write transaction goes on, and can be corrected,
 *  committed or rolled back. The message names the object and the rule. */
#define CREALM_ERR_RULE_BROKEN 9006

/** Declares the rules of classes as part of the schema of a config: opening gives the file these rules when
 *  the schema mode changes the schema; additive modes only add rules. Classes that rules does not name keep
 *  theirs.
 *
 *  rules:  [optional]; JSON: an object with the rules of each class by its name. NULL: the rules of the file
 *          stay as they are.
 *  Thread: single.
 *  Errors: MALFORMED_JSON; INVALID_ARGUMENT for an unknown name or a value of a wrong kind. Opening fails with
 *          CREALM_ERR_RULE_BROKEN when an object breaks a new rule, NO_SUCH_TABLE, INVALID_PROPERTY,
 *          INVALID_ARGUMENT and the errors of queries for invalid rules; the file is unchanged then. */
RLM_API bool crealm_config_set_rules(realm_config_t* config, const char* rules);

/** Sets what happens when another library, which knows no rules, wrote objects that break a rule. The next
 *  write transaction finds them. Without this call the log names them with level WARNING, and the transaction
 *  begins; the objects stay as they are. With true, beginning a write transaction fails with
 *  CREALM_ERR_RULE_BROKEN.
 *
 *  Thread: single. Errors: none. */
RLM_API void crealm_config_set_refuse_broken_rules(realm_config_t* config, bool refuse);

/** Replaces the rules of a class, inside a write transaction. New rules are checked against all objects.
 *
 *  rules:  JSON, the rules of one class; "{}" removes all.
 *  Thread: confined.
 *  Errors: [realm]; [write]; NO_SUCH_TABLE; CREALM_ERR_RULE_BROKEN when an object breaks a new rule;
 *          MALFORMED_JSON, INVALID_ARGUMENT, INVALID_PROPERTY and the errors of queries for invalid rules.
 *          After an error the write transaction may only be rolled back. */
RLM_API bool crealm_class_set_rules(realm_t* realm, realm_class_key_t class_key, const char* rules);

/** The rules of a class as JSON; free with realm_free(). A class without rules has empty ones.
 *
 *  Thread: confined.
 *  Errors: [realm]; NO_SUCH_TABLE; NOT_SUPPORTED for rules of a later version. */
RLM_API char* crealm_class_get_rules(const realm_t* realm, realm_class_key_t class_key);

/** An object that breaks a rule. */
typedef struct crealm_broken_rule {
    const char* class_name;
    realm_object_key_t object; /* -1 for a check that has no effect, as it names a property that is gone */
    const char* rule;    /* the name of the rule, or else its condition or properties */
    const char* message; /* a sentence with class, object and rule */
} crealm_broken_rule_t;

/** Objects that break rules. */
typedef struct crealm_broken_rules {
    size_t count;
    const crealm_broken_rule_t* rules; /* NULL when count is 0 */
} crealm_broken_rules_t;

/** Finds the objects that break a rule: another library wrote them. Reads all objects of classes with rules.
 *
 *  max:    the most objects to list.
 *  out:    receives the list, with all data in one block; free with realm_free().
 *  Thread: confined.
 *  Errors: [realm]; CREALM_ERR_INTERRUPTED; OUT_OF_MEMORY. */
RLM_API bool crealm_get_broken_rules(const realm_t* realm, size_t max, crealm_broken_rules_t** out);

/** Finds the object with these values of a unique rule, also among the changes of an open write transaction.
 *
 *  properties: num_values names: the properties of the rule, in any order. A primary key of several properties
 *              is a unique rule with the name "primary key".
 *  values:     num_values values, in the same order.
 *  out_found:  [optional]
 *  Returns:    the object, or NULL without an error when no object has these values.
 *  Thread:     confined.
 *  Errors:     [realm]; NO_SUCH_TABLE; ILLEGAL_OPERATION when the class has no unique rule for these
 *              properties; INVALID_ARGUMENT. */
RLM_API realm_object_t* crealm_object_find_by_unique(const realm_t* realm, realm_class_key_t class_key,
                                                     const char* const* properties, const realm_value_t* values,
                                                     size_t num_values, bool* out_found);

/** Sets a property if the object still has a certain revision: nobody changed it since the program read it.
 *  The class has a property with the rule "revision", which the library raises at each commit that changes the
 *  object.
 *
 *  version:  the revision that the program read.
 *  out_done: [optional]; whether the object had that revision, and the property was set.
 *  Thread:   confined.
 *  Errors:   [object]; [write]; ILLEGAL_OPERATION when the class has no property with the rule "revision";
 *            otherwise as realm_set_value(). */
RLM_API bool crealm_object_set_if_version(realm_object_t* object, realm_property_key_t property, realm_value_t value,
                                          int64_t version, bool* out_done);

/** Reads a computed property of an object: a property that the rules of the class define by an expression.
 *
 *  name:      the name of the property, as in the rules.
 *  out_value: receives the value; texts and binary data are valid like those of realm_get_value().
 *  Thread:    confined.
 *  Errors:    [object]; INVALID_PROPERTY when the class has no computed property with this name. */
RLM_API bool crealm_object_get_computed(const realm_object_t* object, const char* name, realm_value_t* out_value);

/* ------------------------------------------------------------------------------------------------
 * Savepoints
 * ---------------------------------------------------------------------------------------------- */

/** Begins a part of a write transaction that can be rolled back alone. Savepoints nest. Committing or rolling
 *  back the transaction ends all of them. Observers are told of one commit.
 *
 *  out_savepoint: [optional]; receives the number of the savepoint, for the two functions below: 1 for the
 *                 outermost open one. The number of an ended savepoint is used again.
 *  Thread: confined.
 *  Errors: [realm]; [write]; LIMIT_EXCEEDED beyond 1000 open savepoints. */
RLM_API bool crealm_begin_savepoint(realm_t* realm, uint32_t* out_savepoint);

/** Ends a savepoint and those that began after it; its changes become part of the transaction around it.
 *
 *  Thread: confined.
 *  Errors: [realm]; [write]; INVALID_ARGUMENT when the savepoint is not open. */
RLM_API bool crealm_release_savepoint(realm_t* realm, uint32_t savepoint);

/** Undoes all changes since a savepoint began, and ends it and those that began after it. Objects that were
 *  created since are invalid from now on. A transaction in which a change failed halfway goes on, if the
 *  change was made after the savepoint.
 *
 *  Thread: confined.
 *  Errors: [realm]; WRONG_TRANSACTION_STATE outside a write transaction; INVALID_ARGUMENT when the savepoint is
 *          not open. */
RLM_API bool crealm_rollback_savepoint(realm_t* realm, uint32_t savepoint);

/* ------------------------------------------------------------------------------------------------
 * Reading what others write
 * ---------------------------------------------------------------------------------------------- */

/** An error number beside those of realm_errno_e (category RUNTIME | FILE_ACCESS): a snapshot open found that the file was
 *  committed to during each of its 100 attempts to copy one version of it. */
#define CREALM_ERR_FILE_KEEPS_CHANGING 9002

/** Makes opens with the config ("snapshot opens") read one version of a file: the newest one at some moment
 *  during the open. Other programs, with this library or realm-core, may have the file open and write it
 *  meanwhile. The open copies the file, into memory or (beyond 64 MB) into an unnamed file in the folder for
 *  temporary files. It writes, locks or creates nothing in the file's folder, waits for no other process, and
 *  no other process waits for it. The copy is never a mixture of versions: docs/commit-and-locking.md,
 *  "Snapshot open", says why. The realm then behaves like one with RLM_SCHEMA_MODE_IMMUTABLE: it stays at its
 *  version. It is independent of other instances of the file, and is not cached.
 *
 *  Thread: single.
 *  Errors: none. Opening fails with CREALM_ERR_FILE_KEEPS_CHANGING when commits follow each other so fast
 *          that the file cannot be copied between two of them; ILLEGAL_COMBINATION for a realm in memory, and
 *          for another schema mode than AUTOMATIC and IMMUTABLE; also with the errors of opening with
 *          IMMUTABLE, and those of making a copy. */
RLM_API void crealm_config_set_snapshot(realm_config_t* config, bool snapshot);

/** The flag set above.
 *
 *  Thread: single. Errors: none. */
RLM_API bool crealm_config_get_snapshot(const realm_config_t* config);

/* ------------------------------------------------------------------------------------------------
 * Own commits and change callbacks
 *
 * For a program that shows a list, changes it, and does not want a callback for its own change.
 * ---------------------------------------------------------------------------------------------- */

/** Commits as realm_commit() does. The callbacks of the given tokens do not get the changes of this commit;
 *  they still get those of all commits before and after it.
 *
 *  tokens: count tokens of callbacks of objects, collections and results.
 *  Thread: confined.
 *  Errors: as realm_commit(); INVALID_ARGUMENT if one of them is no such token: nothing is committed then. */
RLM_API bool crealm_commit_without_notifying(realm_t* realm,
                                             realm_notification_token_t* const* tokens,
                                             size_t count);

/** The versions before and after the changes of a change set, as realm_get_version_id() gives them.
 *  A program that wants to recognise its own commit compares the second with the version of that
 *  commit. Each pointer is [optional].
 *
 *  Thread: single. Errors: INVALID_ARGUMENT. */
RLM_API bool crealm_object_changes_get_versions(const realm_object_changes_t* changes,
                                                uint64_t* out_before, uint64_t* out_after);
/** The same for collections. Thread: single. Errors: INVALID_ARGUMENT. */
RLM_API bool crealm_collection_changes_get_versions(const realm_collection_changes_t* changes,
                                                    uint64_t* out_before, uint64_t* out_after);
/** The same for dictionaries. Thread: single. Errors: INVALID_ARGUMENT. */
RLM_API bool crealm_dictionary_changes_get_versions(const realm_dictionary_changes_t* changes,
                                                    uint64_t* out_before, uint64_t* out_after);

/** All changes of a collection or of results: the arrays of realm_collection_changes_get_changes(). */
typedef struct crealm_collection_changes {
    uint64_t version_before; /* the changes happened after this version */
    uint64_t version_after;  /* up to this version */
    const size_t* deletions; /* indices before the changes, ascending */
    size_t num_deletions;
    const size_t* insertions; /* indices after the changes, ascending */
    size_t num_insertions;
    const size_t* modifications; /* indices before the changes, ascending */
    size_t num_modifications;
    const size_t* modifications_after; /* the same elements: indices after the changes, ascending */
    size_t num_modifications_after;
    const realm_collection_move_t* moves;
    size_t num_moves;
    bool was_cleared; /* all elements were removed */
    bool is_deleted;  /* the owner of the collection was deleted */
} crealm_collection_changes_t;

/** Reads all changes in one call.
 *
 *  out_changes: receives a struct that is independent of the handle, an array of no element is NULL; free it with
 *               realm_free().
 *  Thread:      single.
 *  Errors:      INVALID_ARGUMENT; OUT_OF_MEMORY. */
RLM_API bool crealm_collection_changes_get_all(const realm_collection_changes_t* changes,
                                               crealm_collection_changes_t** out_changes);

/* ------------------------------------------------------------------------------------------------
 * Event loops
 *
 * A default scheduler queues the work for its thread until the program calls crealm_scheduler_run(). A
 * program with an event loop watches the descriptor and makes that call with timeout 0 whenever the
 * descriptor is readable; a program without an event loop passes the time that it can wait:
 *
 *     realm_scheduler_t* scheduler = realm_scheduler_make_default();
 *     while (running)
 *         crealm_scheduler_run(scheduler, 1000, NULL);
 * ---------------------------------------------------------------------------------------------- */

/** Tells a program that work waits for a serial scheduler. */
typedef void (*crealm_work_waits_func_t)(realm_userdata_t userdata);

/** Makes a scheduler for programs whose work moves between threads: goroutines, virtual threads, coroutines,
 *  thread pools. Every thread may use a realm of this scheduler, one at a time: a call fails with WRONG_THREAD
 *  while another thread is inside a call on a realm of the same scheduler; it does not wait. One thread may
 *  begin a transaction and another may commit it. Work waits until the program calls crealm_scheduler_run() on
 *  a thread of its choice. Views (rule 2) live as long as before, so a program that reads them on one thread
 *  keeps other threads from changing the realm meanwhile.
 *
 *  A realm of this scheduler is not handed over by thread-safe references: NOT_SUPPORTED.
 *
 *  userdata, userdata_free: [optional]; passed to notify; freed with the scheduler, on any thread.
 *  notify:  [optional]; called on any thread, also during calls of the program, each time work is queued, and again
 *           when a thread leaves during whose call crealm_scheduler_run() was refused. It must not call functions of this
 *           library.
 *  Returns: a scheduler; release it with realm_release().
 *  Thread:  any. */
RLM_API realm_scheduler_t* crealm_scheduler_new_serial(realm_userdata_t userdata,
                                                       realm_free_userdata_func_t userdata_free,
                                                       crealm_work_waits_func_t notify);

/** The file descriptor of a default or serial scheduler, for select(), poll() and their relatives. It is readable
 *  while work is queued. The program may watch it but must not read, write or close it; it stays open until the
 *  last reference to the scheduler is released, including those of open realms. All handles to the default
 *  scheduler of one thread give the same descriptor.
 *
 *  out_fd: receives the descriptor.
 *  Thread: any.
 *  Errors: NOT_SUPPORTED for a scheduler made by realm_scheduler_new(). */
RLM_API bool crealm_scheduler_get_fd(const realm_scheduler_t* scheduler, int* out_fd);

/** Runs the work that is queued for a default scheduler's thread, or for a serial scheduler. When the queue is
 *  empty it waits for work, at most for the given time. Callbacks of the program run inside this call.
 *
 *  timeout_ms:   the longest wait in milliseconds: 0: do not wait; negative: no limit.
 *  out_did_work: [optional]; whether anything ran. false when the time ran out, which is no error.
 *  Thread:       the scheduler's; for a serial scheduler any.
 *  Errors:       WRONG_THREAD, for a serial scheduler while another thread is inside; NOT_SUPPORTED for a scheduler
 *                made by realm_scheduler_new(). */
RLM_API bool crealm_scheduler_run(const realm_scheduler_t* scheduler, int timeout_ms,
                                  bool* out_did_work);

/* ------------------------------------------------------------------------------------------------
 * Versions in use
 *
 * The file keeps the data of each version that is still being read, beside the newer data.
 * ---------------------------------------------------------------------------------------------- */

/** A pinned version. It is pinned by an open read transaction, a frozen realm, a thread-safe reference to
 *  results, or a notifier that has not reported yet. */
typedef struct crealm_pinned_version {
    uint64_t version;        /* as realm_get_version_id() gives it */
    realm_timestamp_t since; /* when it was pinned; while the pin is being made, this and the ids are 0 */
    uint64_t process_id;     /* the process and thread that pinned it, with the numbers that the */
    uint64_t thread_id;      /* operating system gives them; another thread may use the pin now */
    uint64_t held_bytes;     /* bytes of the file that were freed after this version and cannot be used
                                again before this pin and all older ones are released */
} crealm_pinned_version_t;

/** Lists the pinned versions of the realm's file, in all processes: one entry for each pin, those of
 *  the oldest versions first. From the 65th entry of a process on, one entry stands for all pins of a
 *  version in that process. The call works also when no further version can be pinned. The pin of this realm
 *  is in the list while the realm reads a version. For the realm of a snapshot open the list has the pins
 *  of all processes that have the file open with this library, with the bytes that they hold in the version
 *  of the snapshot; for an immutable realm it is empty.
 *
 *  out_versions: [optional]; room for max entries; the first max pins are stored.
 *  out_n:        [optional]; how many pins exist.
 *  Thread:       confined.
 *  Errors:       [realm]; of a snapshot open also those of reading the lock file. */
RLM_API bool crealm_versions(const realm_t* realm, crealm_pinned_version_t* out_versions,
                             size_t max, size_t* out_n);

/** Sets the file size above which a commit logs a warning about the oldest pin (level warning, category
 *  Realm.Storage.Transaction). The warning is logged when the commit makes the file grow because of that pin,
 *  and the file is then larger than this size and larger than twice its data. Each pin is named once. The
 *  setting holds for all realms of the process.
 *
 *  bytes:  size of the file; 64 MB without this call; 0: no warnings.
 *  Thread: any. Errors: none. */
RLM_API void crealm_set_pin_warning(uint64_t bytes);

/* ------------------------------------------------------------------------------------------------
 * Columns
 *
 * Many objects in one call, as columns of values in the memory layout of Apache Arrow. The structs
 * are those of the Arrow C data interface and the Arrow C stream interface, whose rules hold for
 * them. The include guards are the standard ones, so that other headers may declare them, too.
 * ---------------------------------------------------------------------------------------------- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** The name and type of a column. */
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema** children;
    struct ArrowSchema* dictionary;
    void (*release)(struct ArrowSchema*);
    void* private_data;
};

/** The values of a column. */
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    struct ArrowArray** children;
    struct ArrowArray* dictionary;
    void (*release)(struct ArrowArray*);
    void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/** Arrays of one schema, one after the other. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
    int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
    const char* (*get_last_error)(struct ArrowArrayStream*);
    void (*release)(struct ArrowArrayStream*);
    void* private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/** Makes a stream of the values of results, column by column: arrays of structs, with one struct per row,
 *  whose fields are the columns. docs/columns.md has the table of types.
 *
 *  The rows and values are those of the version that the realm reads at the time of the call. The stream pins
 *  that version: it may be read on any thread, one thread at a time, while the realm writes or moves on, and
 *  after the realm was closed. The arrays that the stream returns are copies in separate memory. The version
 *  stays in the file until the stream is released or read to its end.
 *
 *  The stream's functions return 0, or one of these error numbers with a text in get_last_error(): EOVERFLOW
 *  for a timestamp that does not fit into 64 bits of nanoseconds, and a value too large for an array; EILSEQ
 *  for a text that is not UTF-8; EIO for a damaged or lost file, and in a forked child; ENOMEM; EINVAL for
 *  NULL. The text names column and object. After a failure all further calls on the stream fail, too.
 *
 *  paths:      [optional]; num_paths names of properties, public or stored. "owner.name" is a property of the
 *              object that the link "owner" points to, null if a link on the way is null; "@key" is the key
 *              of the object. NULL: all properties that hold values or collections.
 *  batch_rows: the most rows in one array; 0 means 65536. An array has fewer when its values take more than
 *              64 MB.
 *  out:        receives the stream; release it by its release().
 *  Thread:     confined.
 *  Errors:     WRONG_THREAD; STALE_ACCESSOR; WRONG_TRANSACTION_STATE inside a write transaction;
 *              ILLEGAL_OPERATION for results of values; INVALID_PROPERTY for a path; LIMIT_EXCEEDED
 *              for too many columns or links; INVALID_ARGUMENT; errors of the query. */
RLM_API bool crealm_results_export_arrow(const realm_results_t* results, const char* const* paths,
                                         size_t num_paths, size_t batch_rows,
                                         struct ArrowArrayStream* out);

/** The same for all objects of a class.
 *
 *  paths, batch_rows, out: as crealm_results_export_arrow().
 *  Thread: confined.
 *  Errors: [realm]; NO_SUCH_TABLE; otherwise as crealm_results_export_arrow(). */
RLM_API bool crealm_class_export_arrow(const realm_t* realm, realm_class_key_t class_key,
                                       const char* const* paths, size_t num_paths,
                                       size_t batch_rows, struct ArrowArrayStream* out);

/** Groups the objects of results and computes aggregates of their values: a stream with one struct per group,
 *  whose fields are the keys and the aggregates. docs/query-language.md has the grammar and the functions.
 *
 *  The groups are computed in the call, on the version that the realm sees, also inside a write transaction. They
 *  are in the order of their first objects unless a SORT says otherwise. The stream depends on nothing: it may be
 *  read on any thread, one at a time, after the realm was closed. Links are the primary keys of their objects,
 *  or object keys. A column of sums has the type of decimals if a sum does not fit into 64 bits.
 *
 *  query: for example "age > $0 GROUP BY city AGGREGATE count() AS n, avg(score) HAVING n > 3 SORT(n DESC)".
 *         The condition and the orderings before GROUP BY are optional; they apply to the rows of the results.
 *  args:  num_args values for $0, $1 and so on; as in realm_query_parse().
 *  out:   receives the stream; release it by its release().
 *  Thread: confined.
 *  Errors: WRONG_THREAD; STALE_ACCESSOR; ILLEGAL_OPERATION for results of values; INVALID_QUERY_STRING,
 *          INVALID_QUERY, INVALID_QUERY_ARG for the query; LIMIT_EXCEEDED for points in time for which no unit is fine
 *          and wide enough; CREALM_ERR_INTERRUPTED; OUT_OF_MEMORY; errors of the query of the results. */
RLM_API bool crealm_results_aggregate_arrow(const realm_results_t* results, const char* query,
                                            size_t num_args, const realm_query_arg_t* args,
                                            struct ArrowArrayStream* out);

/** The same for the objects that a query finds.
 *
 *  clauses, args, out: as crealm_results_aggregate_arrow(); the arguments are those of the clauses.
 *  Thread: confined.
 *  Errors: as crealm_results_aggregate_arrow(). */
RLM_API bool crealm_query_aggregate_arrow(const realm_query_t* query, const char* clauses,
                                          size_t num_args, const realm_query_arg_t* args,
                                          struct ArrowArrayStream* out);

/** Sets properties of all objects of results by expressions, as UPDATE in SQL: "n = n + 1, city = $0".
 *  docs/query-language.md has the grammar.
 *
 *  All expressions see the values from before the call, also those of other objects. An object that is several rows
 *  is set once. Numbers become those of the type of the property: exactly for integers, the nearest ones for other
 *  types. When the call fails, nothing was changed. Rules are kept as by one call.
 *
 *  assignments: for example "n = n + 1, price = price * 0.9, boss = NULL".
 *  args:        num_args values for $0, $1 and so on; as in realm_query_parse().
 *  out_count:   [optional]; receives the number of objects.
 *  Thread: confined.
 *  Errors: WRONG_THREAD; STALE_ACCESSOR; WRONG_TRANSACTION_STATE; ILLEGAL_OPERATION for results of values;
 *          INVALID_QUERY_STRING, INVALID_QUERY, INVALID_QUERY_ARG for the expressions; INVALID_PROPERTY;
 *          MODIFY_PRIMARY_KEY; [value] for a value that a property cannot hold; RANGE_ERROR for a number that it
 *          cannot hold, and for the division of an integer by zero; CREALM_ERR_RULE_BROKEN;
 *          CREALM_ERR_INTERRUPTED; OUT_OF_MEMORY; errors of the query of the results. The message names the
 *          property and the object. */
RLM_API bool crealm_results_update(realm_results_t* results, const char* assignments, size_t num_args,
                                   const realm_query_arg_t* args, size_t* out_count);

/** Reads some rows of results in one call, column by column, as the realm sees them now, also inside a write
 *  transaction. The array has the form of those of crealm_results_export_arrow().
 *
 *  first, count: the range of rows; rows beyond the last are left out. The array has fewer rows than asked
 *                for if their values do not fit into it: then call again for the rest.
 *  paths:        as crealm_results_export_arrow().
 *  out_schema:   [optional]; receives the schema of the array; release it by its release().
 *  out_array:    receives the rows; release it by its release().
 *  Thread:       confined.
 *  Errors:       as crealm_results_export_arrow(), but not for a write transaction; LIMIT_EXCEEDED also for a
 *                timestamp that does not fit into 64 bits of nanoseconds, and for a value too large for an
 *                array; PROPERTY_TYPE_MISMATCH for a text that is not UTF-8. After an error the caller must
 *                not release anything. */
RLM_API bool crealm_results_fetch_arrow(const realm_results_t* results, size_t first, size_t count,
                                        const char* const* paths, size_t num_paths,
                                        struct ArrowSchema* out_schema,
                                        struct ArrowArray* out_array);

/** Reads some properties of some rows of results in one call, each as realm_get_value() does.
 *
 *  first, count:   the rows; those beyond the last are left out.
 *  properties:     num_properties keys. [optional] when num_properties is 0.
 *  out_values:     [optional]; room for count rows of num_properties values, row after row. Texts
 *                  and bytes in them are views, see rule 2. Null in rows without an object: the object was
 *                  deleted after realm_results_snapshot(), or the rows are values of a dictionary and this
 *                  value is null.
 *  out_objects:    [optional]; room for count links; the target is -1 in rows without an object.
 *  out_count:      [optional]; how many rows were read.
 *  Thread:         confined.
 *  Errors:         WRONG_THREAD; STALE_ACCESSOR; ILLEGAL_OPERATION for results of values;
 *                  INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH for a collection property;
 *                  INVALID_ARGUMENT. After a failure the first few values may have been filled. */
RLM_API bool crealm_results_fetch(realm_results_t* results, size_t first, size_t count,
                                  const realm_property_key_t* properties, size_t num_properties,
                                  realm_value_t* out_values, realm_link_t* out_objects,
                                  size_t* out_count);

/** What crealm_create_batch() does when an object with the primary key of a row already exists. */
typedef enum crealm_update_mode {
    CREALM_UPDATE_ERROR = 0,    /* refuses the batch */
    CREALM_UPDATE_MODIFIED = 1, /* writes the values that differ */
    CREALM_UPDATE_ALL = 2       /* writes all values */
} crealm_update_mode_e;

/** Where a batch was refused. */
typedef struct crealm_batch_fault {
    int64_t row;                   /* -1: no single row */
    realm_property_key_t property; /* RLM_INVALID_PROPERTY_KEY: no single property */
} crealm_batch_fault_t;

/** Makes objects from columns: one object for each row of a structure array, whose fields are the
 *  properties, by their public or stored names. All rows are checked before the first is written; a batch
 *  that is refused leaves the transaction unchanged. The effect is the same as that of single calls in the
 *  order of the rows. docs/batches.md lists the Arrow types that each type of property takes. A column of
 *  plain values is an array over their buffer:
 *
 *      static void keep_schema(struct ArrowSchema* s) { (void)s; }
 *      static void keep_array(struct ArrowArray* a) { (void)a; }
 *
 *      // int64_t ids[1000]; NULL: no validity bitmap, so no value is null
 *      const void *buffers[] = {NULL, ids}, *none[] = {NULL};
 *      struct ArrowSchema field = {.format = "l", .name = "id", .release = keep_schema};
 *      struct ArrowArray column = {
 *          .length = 1000, .n_buffers = 2, .buffers = buffers, .release = keep_array};
 *      struct ArrowSchema *fields[] = {&field}, schema = {
 *          .format = "+s", .n_children = 1, .children = fields, .release = keep_schema};
 *      struct ArrowArray *columns[] = {&column}, rows = {
 *          .length = 1000, .n_buffers = 1, .n_children = 1, .buffers = none,
 *          .children = columns, .release = keep_array};
 *      crealm_create_batch(realm, person, &schema, &rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL);
 *
 *  Properties without a column get their defaults in new objects and keep their values in existing ones.
 *  Links are given by the primary key of their target, which may be in the same batch, or, if the field's
 *  metadata has "realm.link" (as exported arrays do), by the object key of the target.
 *
 *  schema, rows: remain the caller's property; the library does not release them. It checks their counts and
 *                offsets; it cannot check that the buffers are as long as these say.
 *  mode:         ignored for a class without primary key, where all rows become new objects. Rows with the
 *                same primary key are written one after the other in the two modes that update, and refused
 *                in CREALM_UPDATE_ERROR.
 *  out_keys:     [optional]; room for one key per row: the key of the row's object.
 *  out_created:  [optional]; how many objects are new.
 *  out_fault:    [optional]; after a failure: where it is. The error message names the place, too.
 *  Thread:       confined.
 *  Errors:       [realm]; WRONG_TRANSACTION_STATE outside a write transaction; NO_SUCH_TABLE;
 *                ILLEGAL_OPERATION for a class of embedded objects; INVALID_PROPERTY for a column that names
 *                no property; MISSING_PRIMARY_KEY without a column for the primary key;
 *                OBJECT_ALREADY_EXISTS; PROPERTY_TYPE_MISMATCH; PROPERTY_NOT_NULLABLE; NO_SUCH_OBJECT for a
 *                link; LIMIT_EXCEEDED for values that are too large; INVALID_DICTIONARY_KEY; NOT_SUPPORTED
 *                for a type of Arrow that is not in the table; INVALID_ARGUMENT for a malformed array, and a
 *                text that is not UTF-8. */
RLM_API bool crealm_create_batch(realm_t* realm, realm_class_key_t class_key,
                                 const struct ArrowSchema* schema, const struct ArrowArray* rows,
                                 crealm_update_mode_e mode, realm_object_key_t* out_keys,
                                 size_t* out_created, crealm_batch_fault_t* out_fault);

/* ------------------------------------------------------------------------------------------------
 * Objects by links
 *
 * These functions name an object by its link, without a handle. They serve languages with a garbage
 * collector, where a handle for each object costs more than the object.
 * ---------------------------------------------------------------------------------------------- */

/** Finds the object with a primary key.
 *
 *  primary_key: the key.
 *  out_object:  [optional]; receives the link of the object; its target is -1 when there is no such object.
 *  out_found:   [optional]; receives whether the object exists.
 *  Thread:      confined.
 *  Errors:      [realm]; NO_SUCH_TABLE; INVALID_ARGUMENT. A class without primary key, and a value that no primary
 *               key of the class can have, are no errors: no object is found. */
RLM_API bool crealm_find(const realm_t* realm, realm_class_key_t class_key, const realm_value_t* primary_key,
                         realm_link_t* out_object, bool* out_found);

/** Finds or creates an object, and writes values to its properties. All values are checked before the first is
 *  written; a call that fails has changed nothing.
 *
 *  primary_key:         [optional]; NULL for a class without primary key, and for one whose keys the engine makes.
 *  mode:                what to do when an object with the primary key already exists.
 *  properties, values:  count keys and values. [optional] when count is 0. The primary key is not among them.
 *  out_object:          [optional]; receives the link of the object.
 *  out_created:         [optional]; receives whether the object is new.
 *  Thread:              confined.
 *  Errors:              [realm]; WRONG_TRANSACTION_STATE outside a write transaction; NO_SUCH_TABLE;
 *                       ILLEGAL_OPERATION for a class of embedded objects; MISSING_PRIMARY_KEY;
 *                       UNEXPECTED_PRIMARY_KEY; OBJECT_ALREADY_EXISTS; MODIFY_PRIMARY_KEY for a primary key among
 *                       the values; INVALID_PROPERTY; [value]; CREALM_ERR_RULE_BROKEN; INVALID_ARGUMENT. */
RLM_API bool crealm_create(realm_t* realm, realm_class_key_t class_key, const realm_value_t* primary_key,
                           crealm_update_mode_e mode, size_t count, const realm_property_key_t* properties,
                           const realm_value_t* values, realm_link_t* out_object, bool* out_created);

/** Reads properties of an object, each as realm_get_value() does.
 *
 *  object:      the link of the object.
 *  properties:  count keys. [optional] when count is 0: then the call only checks that the object exists.
 *  out_values:  room for count values. [optional] when count is 0. Texts and bytes in them are views, see rule 2.
 *  Thread:      confined.
 *  Errors:      [realm]; NO_SUCH_TABLE; INVALIDATED_OBJECT for an object that does not exist;
 *               INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH for a collection property; INVALID_ARGUMENT. After a
 *               failure the first few values may have been filled. */
RLM_API bool crealm_get_values(const realm_t* realm, const realm_link_t* object, size_t count,
                               const realm_property_key_t* properties, realm_value_t* out_values);

/** Writes properties of an object, as realm_set_values() does: all values are checked before the first is written.
 *
 *  object:              the link of the object.
 *  properties, values:  count keys and values. [optional] when count is 0.
 *  Thread:              confined.
 *  Errors:              [realm]; WRONG_TRANSACTION_STATE; NO_SUCH_TABLE; INVALIDATED_OBJECT for an object that
 *                       does not exist; INVALID_PROPERTY; [value]; OBJECT_ALREADY_EXISTS for a primary key that another
 *                       object has; CREALM_ERR_RULE_BROKEN; INVALID_ARGUMENT. */
RLM_API bool crealm_set_values(realm_t* realm, const realm_link_t* object, size_t count,
                               const realm_property_key_t* properties, const realm_value_t* values);

/** Deletes an object, as realm_object_delete() does.
 *
 *  object: the link of the object.
 *  Thread: confined.
 *  Errors: [realm]; WRONG_TRANSACTION_STATE; NO_SUCH_TABLE; INVALIDATED_OBJECT for an object that does not exist;
 *          CREALM_ERR_RULE_BROKEN; INVALID_ARGUMENT. */
RLM_API bool crealm_delete(realm_t* realm, const realm_link_t* object);

/* ------------------------------------------------------------------------------------------------
 * Blobs: values of up to 4 GiB
 *
 * A property of one binary or text holds at most 16 MB. A list of binaries, or of texts, is a blob: a long value whose
 * bytes are the bytes of the elements, one after the other. These functions read and write it in pieces of any size,
 * without the whole value in memory. A blob is an ordinary list: every library reads it, and deletes it with its
 * object. Writing makes elements of 64 KB; elements of other lengths, made by other programs, are read and changed as
 * well. Null counts as no byte.
 *
 * A write transaction keeps what it wrote in memory until the commit: a program that writes much commits now and then.
 * ---------------------------------------------------------------------------------------------- */

/** The number of bytes.
 *
 *  out_size: [optional].
 *  Thread:   confined.
 *  Errors:   [object]; ILLEGAL_OPERATION for a list of other values. */
RLM_API bool crealm_blob_get_size(const realm_list_t* list, uint64_t* out_size);

/** Copies bytes of a blob.
 *
 *  offset:    the first byte.
 *  out:       room for size bytes. [optional] when size is 0.
 *  out_read:  [optional]; how many bytes were copied: fewer than size at the end of the blob, 0 behind it.
 *  Thread:    confined.
 *  Errors:    [object]; ILLEGAL_OPERATION for a list of other values; INVALID_ARGUMENT. */
RLM_API bool crealm_blob_read(const realm_list_t* list, uint64_t offset, void* out, size_t size, size_t* out_read);

/** Writes bytes into a blob and behind its end. A gap between its end and the offset is filled with zeros. A call that
 *  fails has changed nothing.
 *
 *  offset:     the first byte. A list of texts is written at its end only.
 *  data, size: the bytes; for a list of texts whole characters in UTF-8. [optional] when size is 0.
 *  Thread:     confined.
 *  Errors:     [object], [write]; LIMIT_EXCEEDED for a blob beyond 4 GiB; ILLEGAL_OPERATION for a
 *              list of other values, and for a list of texts that is not written at its end; CREALM_ERR_RULE_BROKEN;
 *              INVALID_ARGUMENT, also for a text that is not UTF-8. */
RLM_API bool crealm_blob_write(realm_list_t* list, uint64_t offset, const void* data, size_t size);

/** Cuts a blob, or fills it with zeros up to a new end. A call that fails has changed nothing.
 *
 *  Thread: confined.
 *  Errors: [object], [write]; LIMIT_EXCEEDED for a blob beyond 4 GiB; ILLEGAL_OPERATION for a list
 *          of other values, for a list of texts that becomes longer, and for one that is cut inside a character;
 *          CREALM_ERR_RULE_BROKEN. */
RLM_API bool crealm_blob_resize(realm_list_t* list, uint64_t size);

/* ------------------------------------------------------------------------------------------------
 * Schemas as JSON
 *
 * An array of classes in the form of Realm JS:
 *
 *     [{"name": "Person", "primaryKey": "id", "properties": {
 *         "id": "int", "name": {"type": "string", "indexed": true}, "dogs": "Dog[]",
 *         "owners": {"type": "linkingObjects", "objectType": "Dog", "property": "owner"}}}]
 *
 * A class has "name", "properties" and, if needed, "primaryKey" and "embedded": true. A property is a short text,
 * or an object with "type", "objectType", "property", "optional", "indexed" (true, false or "full-text") and
 * "mapTo" (its stored name, if that differs from its public name). A short text is a type or the name of a class,
 * then "?" if it may be null, then "[]", "<>" or "{}" for a list, a set or a dictionary. Types: int, bool, string,
 * data, mixed, date, float, double, decimal128, objectId, uuid.
 * ---------------------------------------------------------------------------------------------- */

/** Reads a schema from JSON. realm_schema_validate() and realm_open() check it.
 *
 *  json, size: the text; it need not end with a zero byte.
 *  Returns:    a schema; release it with realm_release(). NULL after an error.
 *  Thread:     any.
 *  Errors:     MALFORMED_JSON, also for a name that occurs twice in an object; LIMIT_EXCEEDED for text that is nested
 *              too deep; INVALID_ARGUMENT for an unknown name, and for a value of a wrong kind. */
RLM_API realm_schema_t* crealm_schema_from_json(const char* json, size_t size);

/** Writes a schema as JSON, with an object for each property.
 *
 *  Returns: a text; free it with realm_free(). NULL after an error.
 *  Thread:  any.
 *  Errors:  INVALID_ARGUMENT; OUT_OF_MEMORY. */
RLM_API char* crealm_schema_to_json(const realm_schema_t* schema);

/* ------------------------------------------------------------------------------------------------
 * The last error in one call
 * ---------------------------------------------------------------------------------------------- */

/** Reads and clears the last error of the calling thread.
 *
 *  out_error:     [optional]; receives the number.
 *  out_message:   [optional]; room for capacity bytes; receives the message, cut to fit, with a zero byte.
 *  capacity:      the room in bytes.
 *  out_size:      [optional]; receives the length of the whole message in bytes, without the zero byte.
 *  out_user_code: [optional]; receives the pointer that a callback registered with
 *                 realm_register_user_code_callback_error().
 *  Returns:       whether the thread had an error.
 *  Thread:        any. */
RLM_API bool crealm_last_error_take(realm_errno_e* out_error, char* out_message, size_t capacity,
                                    size_t* out_size, void** out_user_code);

/* ------------------------------------------------------------------------------------------------
 * Inspection
 * ---------------------------------------------------------------------------------------------- */

/** Checks every invariant of the snapshot that a realm reads: that each byte of the file is either used
 *  exactly once or free; that trees are in order and counts agree; that links and backlinks, values and
 *  indexes match. Begins a read transaction when none is open. Reads the whole file: the time grows with its
 *  size.
 *
 *  out_report: [optional]; NULL when the snapshot is sound, and when the check could not be made.
 *              Otherwise a text for people, one fault per line with its place: the first 1000 faults, then
 *              the number of the others; free with realm_free().
 *  Returns:    true when the snapshot is sound.
 *  Thread:     confined.
 *  Errors:     [realm]; INVALID_DATABASE, with the first fault as message, when there is one. */
RLM_API bool crealm_verify(const realm_t* realm, char** out_report);

/** What a fault is about. */
typedef enum crealm_fault_kind {
    CREALM_FAULT_NODE = 1,   /* a node that is damaged, missing, or of the wrong kind for its place */
    CREALM_FAULT_SPACE = 2,  /* bytes of the file that are used twice, or neither used nor free */
    CREALM_FAULT_TREE = 3,   /* counts, offsets or keys that contradict each other */
    CREALM_FAULT_COLUMN = 4, /* columns that do not fit together */
    CREALM_FAULT_VALUE = 5,  /* a value that its property cannot hold, or in the wrong order */
    CREALM_FAULT_LINK = 6,   /* a link without its backlink or its object, or the reverse; an embedded object without its one owner */
    CREALM_FAULT_INDEX = 7   /* a search index that contradicts the values */
} crealm_fault_kind_e;

/** A fault of a snapshot, with its place as far as it is known. */
typedef struct crealm_fault {
    crealm_fault_kind_e kind;
    uint64_t offset;        /* the byte of the (decrypted) file where the node or bytes concerned begin; 0: no single place */
    const char* class_name; /* or the name of a table that is no class; NULL: of no class */
    const char* property;   /* NULL: of no property, or of all */
    int64_t object;         /* key of the object; -1: of none, or of several */
    const char* message;    /* place and fault, for people */
} crealm_fault_t;

/** Checks what crealm_verify() checks, and lists the faults. A fault does not end the check: a damaged node
 *  is skipped with everything below it, and faults that are only consequences of that are not listed. Begins
 *  a read transaction when none is open.
 *
 *  max:        the most faults to list.
 *  out_faults: [optional]; receives the list, with all its texts in one block; free with realm_free(). NULL
 *              when no fault is listed.
 *  out_count:  number of faults in the list. [optional] only when out_faults is NULL.
 *  out_total:  [optional]; number of faults found.
 *  Returns:    true when the check was made, whatever it found.
 *  Thread:     confined.
 *  Errors:     [realm]; OUT_OF_MEMORY. */
RLM_API bool crealm_find_faults(const realm_t* realm, size_t max, crealm_fault_t** out_faults,
                                size_t* out_count, size_t* out_total);

/** What bytes of a file are for. */
typedef enum crealm_space_kind {
    CREALM_SPACE_VALUES = 1,    /* values of a property */
    CREALM_SPACE_BACKLINKS = 2, /* which objects link to those of a class */
    CREALM_SPACE_INDEX = 3,     /* the search index of a property */
    CREALM_SPACE_OBJECTS = 4,   /* keys of the objects of a class, and the nodes that lead to them */
    CREALM_SPACE_SCHEMA = 5,    /* names, columns and other metadata of a class; without class_name: of all classes */
    CREALM_SPACE_HISTORY = 6,   /* changes of earlier versions */
    CREALM_SPACE_FREE = 7,      /* free: later commits write there; crealm_versions() lists the pins that delay that */
    CREALM_SPACE_MANAGEMENT = 8 /* header, lists of free space, and bytes that are neither reachable nor free */
} crealm_space_kind_e;

/** A part of a file. */
typedef struct crealm_space {
    crealm_space_kind_e kind;
    const char* class_name; /* or the name of a table that is no class; NULL: of no class */
    const char* property;   /* NULL: of no property, or of all */
    uint64_t bytes;
} crealm_space_t;

/** Reports what the bytes of the snapshot that a realm reads are used for. The parts add up to the size of
 *  the (decrypted) file. Reads the whole file: the time grows with its size. Begins a read transaction when
 *  none is open.
 *
 *  out_parts: [optional]; receives the parts of more than 0 bytes, the largest first, with all texts in one
 *             block; free with realm_free().
 *  out_count: number of parts. [optional] only when out_parts is NULL.
 *  out_total: [optional]; size of the file in bytes.
 *  Thread:    confined.
 *  Errors:    [realm]; WRONG_TRANSACTION_STATE in a write transaction; OUT_OF_MEMORY;
 *             INVALID_DATABASE for a damaged file. */
RLM_API bool crealm_get_space(const realm_t* realm, crealm_space_t** out_parts, size_t* out_count,
                              uint64_t* out_total);

/** What a commit wrote, in bytes before encryption, and the free space of the file after it. */
typedef struct crealm_commit_work {
    uint64_t version;    /* the version that the commit made; 0: the realm has not committed */
    uint64_t objects;    /* nodes of objects, indexes and schema */
    uint64_t history;    /* nodes of the history */
    uint64_t free_lists; /* the lists of free space, the top array and the commit record */
    uint64_t free_pieces;
    uint64_t free_bytes;
    uint64_t file_size;
} crealm_commit_work_t;

/** Tells what the last commit of this realm wrote.
 *
 *  Thread: confined.
 *  Errors: [realm]; INVALID_ARGUMENT. */
RLM_API bool crealm_get_commit_work(const realm_t* realm, crealm_commit_work_t* out_work);

/** Makes a new file with everything that can still be read from a damaged file. docs/salvage.md describes the
 *  attempts and their order, what is proven, and the report. The damaged file is only read; no program may
 *  write to it meanwhile. From a sound file all objects are copied, with the same object keys.
 *
 *  source:     path, key or passphrase, and progress function of the damaged file; other settings
 *              are ignored.
 *  target:     path, key or passphrase, and page cipher of the new file, which must not exist;
 *              other settings are ignored.
 *  out_report: [optional]; receives a JSON text that lists what was found and lost, by class and property,
 *              and how many values contradict each other; free with realm_free(). NULL after an error.
 *  Returns:    true when the new file was made, even if it has only a part of the data.
 *  Thread:     any.
 *  Errors:     INVALID_DATABASE when nothing was found, or the key is wrong; FILE_ALREADY_EXISTS for
 *              the target; INCOMPATIBLE_SESSION when the source is open somewhere;
 *              CREALM_ERR_INTERRUPTED; OUT_OF_MEMORY; file errors. After an error no new file exists. */
RLM_API bool crealm_salvage(const realm_config_t* source, const realm_config_t* target, char** out_report);

/** Finds deleted objects, and former values of objects, that are still in the free space of a file. The file
 *  is only read; no program may write to it meanwhile. Only findings that the version before the newest
 *  confirms are proven: docs/salvage.md.
 *
 *  config:   path, key or passphrase, and progress function; other settings are ignored.
 *  out_json: receives a JSON array of objects with kind, class, key, version, proven, resembles, offset,
 *            bytes, values and lost; free with realm_free().
 *  Thread:   any.
 *  Errors:   INVALID_DATABASE when the newest version cannot be read (crealm_salvage() may help), or the
 *            key is wrong; INCOMPATIBLE_SESSION when the file is open somewhere; NOT_SUPPORTED for
 *            formats before 10; INVALID_ARGUMENT when out_json is NULL; CREALM_ERR_INTERRUPTED;
 *            OUT_OF_MEMORY; file errors. */
RLM_API bool crealm_recover_deleted(const realm_config_t* config, char** out_json);

/** How a query finds the objects whose values it tests. */
typedef enum crealm_access {
    CREALM_ACCESS_SCAN = 0,   /* every object of the class */
    CREALM_ACCESS_INDEX = 1,  /* those that search indexes list */
    CREALM_ACCESS_WORDS = 2,  /* those that a full-text index lists */
    CREALM_ACCESS_ROWS = 3,   /* the rows of a collection or of other results */
    CREALM_ACCESS_NOTHING = 4 /* the condition is true for all objects, or for none */
} crealm_access_e;

/** How a query finds its rows, and how much work that is. */
typedef struct crealm_query_plan {
    crealm_access_e access;
    realm_property_key_t property; /* whose index is used, the first of several; else RLM_INVALID_PROPERTY_KEY */
    size_t objects;                /* objects of the class, or rows of the queried collection or results */
    size_t tested;                 /* objects on which conditions are tested, ignoring LIMIT */
    size_t found;                  /* rows of the result */
} crealm_query_plan_t;

/** Reports how a query finds its rows. The call runs the query to find that out.
 *
 *  Thread: confined. Errors: as realm_query_count(); INVALID_ARGUMENT when out_plan is NULL. */
RLM_API bool crealm_query_explain(const realm_query_t* query, crealm_query_plan_t* out_plan);

/* ------------------------------------------------------------------------------------------------
 * Examination
 *
 * What a file is, and whether it is sound, without opening it as a realm: nothing is written, locked
 * or created, in the file or beside it. The functions use path, key or passphrase, and progress function of a
 * config. See docs/rescue.md.
 * ---------------------------------------------------------------------------------------------- */

/** What a file is. */
typedef enum crealm_file_kind {
    CREALM_FILE_EMPTY = 0,     /* nothing was ever written to it */
    CREALM_FILE_REALM = 1,     /* a Realm file, plain or opened with its key; its content may be damaged */
    CREALM_FILE_ENCRYPTED = 2, /* probably encrypted; without its key nothing else is known about it */
    CREALM_FILE_OTHER = 3      /* no Realm file, or one whose first bytes are damaged */
} crealm_file_kind_e;

/** The form of a file. */
typedef enum crealm_file_encryption {
    CREALM_ENCRYPTION_NONE = 0,
    CREALM_ENCRYPTION_CREALM = 1, /* CRealm's own form */
    CREALM_ENCRYPTION_REALM = 2   /* the form of Realm's SDKs */
} crealm_file_encryption_e;

/** What a file can be opened for. */
typedef enum crealm_file_use {
    CREALM_USE_NONE = 0,    /* nothing: crealm_file_info_t.problem says why, and what to do */
    CREALM_USE_READ = 1,    /* it can be read only */
    CREALM_USE_UPGRADE = 2, /* it can be read without an upgrade; opening it for writing upgrades it */
    CREALM_USE_WRITE = 3    /* it can be read and written */
} crealm_file_use_e;

/** What one of the two slots of the header is. */
typedef enum crealm_slot_state {
    CREALM_SLOT_EMPTY = 0,         /* it never led to a version */
    CREALM_SLOT_VERSION = 1,       /* it leads to the top array of a version */
    CREALM_SLOT_DAMAGED = 2,       /* it should lead to a version but does not */
    CREALM_SLOT_STREAMING_MARK = 3, /* it marks a file that was written in one piece */
    CREALM_SLOT_UNKNOWN = 4         /* unknown: no header could be read */
} crealm_slot_state_e;

/** A slot of the header, and the version to which it leads. */
typedef struct crealm_slot_info {
    crealm_slot_state_e state;
    uint32_t format; /* 0: not chosen yet */
    uint64_t top_ref;
    uint64_t version;      /* this and the following members: of CREALM_SLOT_VERSION only, else 0 */
    uint64_t logical_size; /* bytes of the (decrypted) file that the version may use */
    uint32_t history_type; /* 0 none, 1 outside of the file, 2 in the file, 3 sync client, 4 sync server */
    uint32_t history_schema_version;
    const char* problem; /* NULL: none */
} crealm_slot_info_t;

/** What the header and top arrays of a file say about it. The struct may grow at its end. */
typedef struct crealm_file_info {
    const char* path; /* the canonical path */
    crealm_file_kind_e kind;
    crealm_file_encryption_e encryption;
    int cipher;            /* a crealm_page_cipher_e; -1: not encrypted, or unknown without the key */
    bool wants_passphrase; /* the file needs a passphrase, not a key */
    bool is_streaming;     /* written in one piece, and not opened for writing since: it has one version */
    crealm_file_use_e use;
    uint64_t file_size;          /* bytes of the file */
    uint64_t data_size;          /* bytes of its decrypted content; 0 without its key */
    int selected_slot;           /* the slot that the header selects; -1: the file has no header */
    crealm_slot_info_t slots[2]; /* as stored in the header */
    crealm_slot_info_t newest;   /* what an open shows: the selected slot, unless a crash came after a
                                    complete commit and before its header was written */
    const char* writer;          /* the library that writes files like this; NULL: unknown */
    const char* problem;         /* why the file cannot be used, or not for writing, and what to do; NULL: no
                                    problem */
} crealm_file_info_t;

/** Describes a file by its first bytes and, with its key, by its header and the top arrays of both slots.
 *  Nothing else is read. It is no error when the file is no Realm file, is damaged, or is encrypted with
 *  another key: out_info then says so. A key that is not needed is ignored.
 *
 *  config:   its path, and its key or passphrase.
 *  out_info: receives the description, with all its texts in one block; free with realm_free().
 *  Thread:   single.
 *  Errors:   INVALID_ARGUMENT; FILE_NOT_FOUND, FILE_PERMISSION_DENIED and others of reading a file;
 *            OUT_OF_MEMORY. */
RLM_API bool crealm_file_info(const realm_config_t* config, crealm_file_info_t** out_info);

/** What a check found. */
typedef enum crealm_check_result {
    CREALM_CHECK_SOUND = 0,     /* the newest version has no fault */
    CREALM_CHECK_FAULTY = 1,    /* it has faults, or no version could be opened */
    CREALM_CHECK_UNREADABLE = 2 /* unknown: the file is encrypted with another key, or no key was given */
} crealm_check_result_e;

/** The result for one version. */
typedef enum crealm_version_state {
    CREALM_VERSION_SOUND = 1,
    CREALM_VERSION_FAULTY = 2,
    CREALM_VERSION_REUSED = 3 /* later commits, or the upgrade that followed, overwrote parts of it */
} crealm_version_state_e;

/** A version that was checked. */
typedef struct crealm_checked_version {
    crealm_version_state_e state;
    int slot;          /* the header slot that leads to it; -1: no slot yet, see crealm_file_info_t.newest */
    bool is_newest;    /* what an open shows */
    uint64_t version;
    size_t num_faults;
} crealm_checked_version_t;

/** A fault of a file. */
typedef struct crealm_file_fault {
    crealm_fault_t fault;
    int slot; /* the slot of the faulty version; -1: the file as a whole, or a version that no slot leads to */
} crealm_file_fault_t;

/** What a check found. The struct may grow at its end. */
typedef struct crealm_check {
    crealm_check_result_e result;
    const crealm_file_info_t* info;
    size_t num_versions; /* checked versions: the newest first, then those of the slots of the header */
    const crealm_checked_version_t* versions;
    size_t num_faults; /* listed faults */
    const crealm_file_fault_t* faults;
    size_t total_faults;
    const char* report; /* for people: a line for each version, then one for each listed fault */
    const char* json;   /* all of this, for programs */
} crealm_check_t;

/** Checks everything about a file: whether it is a Realm file, the header, and every invariant
 *  (crealm_verify()) of the newest version and of the one that the other slot of the header leads to. A fault
 *  does not end the check. It is no error when the file cannot be opened at all, or has a format that this
 *  library does not know: the result then has a fault that says so. Reads all of the file: the time grows
 *  with its size. The memory needed is about a twentieth of that size for maps of the file, 8 bytes for each
 *  object, and about 100 bytes for each link until its backlink is found; for an encrypted file also its
 *  pages.
 *
 *  config:    its path, key or passphrase, and progress function, which may end the check. With
 *             crealm_config_set_snapshot() a private copy is checked: use that for files that other programs
 *             may be writing.
 *  max:       the most faults to list.
 *  out_check: receives the result, with all data in one block; free with realm_free().
 *  Thread:    single.
 *  Errors:    as crealm_file_info(); CREALM_ERR_INTERRUPTED; CREALM_ERR_FILE_KEEPS_CHANGING when
 *             another program wrote the file meanwhile, and no snapshot was asked for. */
RLM_API bool crealm_check(const realm_config_t* config, size_t max, crealm_check_t** out_check);

/** An error number beside those of realm_errno_e (category RUNTIME | FILE_ACCESS): the file has no intact
 *  version before the newest one. */
#define CREALM_ERR_VERSION_GONE 9005

/** One of the two versions that the header of a file leads to. */
typedef enum crealm_version_slot {
    CREALM_SLOT_NEWEST = 0,  /* the newest one; the default */
    CREALM_SLOT_PREVIOUS = 1 /* the one before it, to which the other slot of the header leads */
} crealm_version_slot_e;

/** Makes opens with the config read the version before the newest one. The open checks that
 *  version first, which takes as long as crealm_verify(): it is refused if later commits, also one
 *  that a crash cut short, have overwritten parts of it. Nothing is written, locked or created. The realm
 *  behaves like one with RLM_SCHEMA_MODE_IMMUTABLE: it never moves, shares nothing with other instances of
 *  the file, and is not cached. With crealm_config_set_snapshot() it reads a private copy, for files that
 *  other programs may be writing; without, no program may write the file while it is open. The newest version
 *  may be damaged.
 *
 *  Thread: single.
 *  Errors: INVALID_ARGUMENT for another number; the config keeps its slot. Opening fails with
 *          CREALM_ERR_VERSION_GONE when the version does not exist or is not intact; with ILLEGAL_COMBINATION
 *          as for a snapshot; also with the errors of opening with IMMUTABLE. */
RLM_API void crealm_config_set_version_slot(realm_config_t* config, crealm_version_slot_e slot);

/** The choice set above.
 *
 *  Thread: single. Errors: none. */
RLM_API crealm_version_slot_e crealm_config_get_version_slot(const realm_config_t* config);

/** What a node on the path to a value holds. */
typedef enum crealm_node_role {
    CREALM_NODE_TOP = 1,        /* the top array of the version */
    CREALM_NODE_TABLES = 2,     /* refs of all tables */
    CREALM_NODE_TABLE = 3,      /* the class */
    CREALM_NODE_CLUSTER = 4,    /* a node of the tree of objects; in formats 2 to 9 the array of columns */
    CREALM_NODE_COLUMN = 5,     /* values of the property */
    CREALM_NODE_COLLECTION = 6, /* a collection, or a node inside of it */
    CREALM_NODE_PART = 7        /* a part of a leaf: offsets, bytes, seconds */
} crealm_node_role_e;

/** A node on the path from the top array to a value. */
typedef struct crealm_location_node {
    crealm_node_role_e role;
    int64_t element; /* the element that leads to the next node or holds the value; -1: the node as a whole */
    uint64_t offset; /* where the node's header is in the (decrypted) file */
    uint64_t size;   /* bytes, including the header of 8 */
} crealm_location_node_t;

/** The meaning of some bits of a value. */
typedef enum crealm_part_kind {
    CREALM_PART_VALUE = 1,
    CREALM_PART_REFERENCE = 2, /* where its bytes end, where it continues, or which of several values it is */
    CREALM_PART_NULL = 3,      /* whether it is null, or which number stands for null */
    CREALM_PART_KEY = 4        /* the key of an entry of a dictionary */
} crealm_part_kind_e;

/** Adjacent bits of a value. */
typedef struct crealm_location_part {
    crealm_part_kind_e kind;
    uint32_t first_bit;   /* in the byte at offset, counted from the lowest */
    uint64_t node;        /* offset of the node that holds it */
    uint64_t offset;      /* in the (decrypted) file */
    uint64_t bits;        /* 0: in an array of only zeros or nulls values take no bits */
    int64_t page;         /* of an encrypted file; -1: the file is plain */
    uint64_t file_offset; /* of an encrypted file: where the ciphertext of the byte at offset is */
} crealm_location_part_t;

/** Where a value is stored. The struct may grow at its end. */
typedef struct crealm_value_location {
    size_t num_nodes; /* on the path, beginning with the top array */
    const crealm_location_node_t* nodes;
    size_t num_parts; /* in an encrypted file no part crosses the end of a page */
    const crealm_location_part_t* parts;
    uint64_t page_size; /* of an encrypted file: decrypted bytes per page; 0: the file is plain */
} crealm_value_location_t;

/** Reports where in the file a value is stored, in the version that the realm reads. A file of formats 2 to 9
 *  is not upgraded for that. The ciphertext of Realm's form consists of blocks of 16 bytes, each of which
 *  depends on the blocks before it in its page.
 *
 *  index:        position of an element in a collection. SIZE_MAX: the property itself, which for a
 *                collection is the root of its tree. Properties that are no collection take SIZE_MAX only.
 *  out_location: receives the location, with all data in one block; free with realm_free().
 *  Thread:       confined.
 *  Errors:       [object]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH for an index into a property that is no
 *                collection; INDEX_OUT_OF_BOUNDS; WRONG_TRANSACTION_STATE in a write transaction;
 *                NOT_SUPPORTED for entries of dictionaries of formats before 23, and for composite values of
 *                formats 2 to 9; INVALID_DATABASE for a damaged file; OUT_OF_MEMORY. */
RLM_API bool crealm_value_location(const realm_object_t* object, realm_property_key_t property,
                                   size_t index, crealm_value_location_t** out_location);

/* ------------------------------------------------------------------------------------------------
 * Synchronisation
 *
 * Many copies of a file exchange their changes through a hub, a PostgreSQL database. The library makes the
 * requests and applies the replies; the program sends a request by calling the function of the hub with its
 * body as the only argument (SELECT crealm.push($1::json)), and passes what it returns.
 * docs/sync.md describes the protocol, the conflicts and what a file promises meanwhile.
 * ---------------------------------------------------------------------------------------------- */

/** An error number beside those of realm_errno_e (category RUNTIME): the hub reports an error, or its reply is
 *  not valid. The file is as before the reply. The message says what is wrong. */
#define CREALM_ERR_SYNC 9007

/** Begins to mark the changes of a file, in the commits that make them. All objects that the file has count as
 *  changes that the hub may not know. A file that is synchronised already gets further classes. The file stays
 *  synchronised until crealm_sync_disable(), in all programs that write it with this library. What realm-core writes
 *  is found and compared with the hub.
 *
 *  options: [optional]; JSON: {"classes": ["Person"], "clock_offset": 0, "subsets": {"Person": "age > 17"}}.
 *           classes: those to synchronise; without it, all classes that are not embedded. Classes that are
 *           synchronised already stay as they are. clock_offset: milliseconds that are added
 *           to the clock of the system, which decides between conflicting changes.
 *           subsets: as crealm_sync_set_subset(), for each class.
 *  Thread:  confined.
 *  Errors:  [realm]; WRONG_TRANSACTION_STATE in a write transaction; ILLEGAL_OPERATION for a file and classes
 *           that are synchronised already, and for classes that are embedded or have no primary key; NO_SUCH_TABLE;
 *           MALFORMED_JSON, INVALID_ARGUMENT for invalid options; file errors. */
RLM_API bool crealm_sync_enable(realm_t* realm, const char* options);

/** Ends synchronisation: removes the marks, also of changes that were not sent, and all that the file knows of
 *  its hub. The objects stay.
 *
 *  Thread: confined.
 *  Errors: [realm]; WRONG_TRANSACTION_STATE in a write transaction; ILLEGAL_OPERATION for a file that is not
 *          synchronised; file errors. */
RLM_API bool crealm_sync_disable(realm_t* realm);

/** Chooses the objects of a synchronised class that this file has. The next exchange compares the class with the
 *  hub: objects outside of the subset leave the file, unless they have unsent changes, and others come.
 *
 *  condition: of the query language: comparisons of properties of the class itself with constants, and AND, OR
 *             and NOT of them. NULL or "": all objects.
 *  Thread:    confined.
 *  Errors:    [realm]; WRONG_TRANSACTION_STATE in a write transaction; ILLEGAL_OPERATION for a file that is not
 *             synchronised, and for a condition that SQL cannot express; NO_SUCH_TABLE for a class that is not
 *             synchronised; INVALID_QUERY_STRING; file errors. */
RLM_API bool crealm_sync_set_subset(realm_t* realm, const char* class_name, const char* condition);

/** The state of synchronisation as JSON; free with realm_free(). {"enabled": false} for a file that is not
 *  synchronised; otherwise the members device, hub, cursor, batch, clock, inflight (bytes of the batch that the
 *  hub has not acknowledged), pending (objects with unsent changes), classes and refused.
 *
 *  Thread: confined.
 *  Errors: [realm]; NOT_SUPPORTED for a state that a later version wrote. */
RLM_API char* crealm_sync_status(realm_t* realm);

/** A request to the hub. */
typedef struct crealm_sync_request {
    const char* function; /* its name: "hello", "push" or "pull" */
    const char* body;     /* JSON, with a zero byte behind */
    size_t size;          /* bytes of the body, without the zero byte */
} crealm_sync_request_t;

/** The next request of an exchange with the hub. A request with changes is stored in the file before it is
 *  returned; it is repeated byte for byte until the hub has acknowledged it.
 *
 *  out_request: receives the request; free with realm_free(). NULL: the exchange is complete. The file shows a
 *               checkpoint of the hub, and has no unsent changes. The next call begins a new exchange.
 *  Thread:      confined.
 *  Errors:      [realm]; ILLEGAL_OPERATION for a file that is not synchronised, and while the reply to the last
 *               request is due; WRONG_TRANSACTION_STATE in a write transaction; file errors. */
RLM_API bool crealm_sync_next_request(realm_t* realm, crealm_sync_request_t** out_request);

/** Applies the reply to the last request in one write transaction. Observers are notified as of any commit.
 *
 *  out_events: [optional]; receives JSON, an array of what the program should know: objects with the members
 *              event ("refused", "overruled", "merged", "forked", "moved", "compared", "overwritten"), class,
 *              key, detail and count; free with realm_free().
 *  Thread:     confined.
 *  Errors:     [realm]; CREALM_ERR_SYNC; MALFORMED_JSON; ILLEGAL_OPERATION when no reply is due;
 *              CREALM_ERR_RULE_BROKEN when rows of the hub break a rule of the file;
 *              WRONG_TRANSACTION_STATE in a write transaction; file errors. After an error the file is as
 *              before, and the exchange begins again. */
RLM_API bool crealm_sync_apply_reply(realm_t* realm, const char* reply, size_t size, char** out_events);

/** Forgets a request whose reply does not come, for instance because the connection was lost. The next request
 *  begins a new exchange.
 *
 *  Thread: confined.
 *  Errors: [realm]. */
RLM_API bool crealm_sync_reset(realm_t* realm);

/** Lets the next exchange compare all objects with the hub.
 *
 *  Thread: confined.
 *  Errors: [realm]; ILLEGAL_OPERATION for a file that is not synchronised; WRONG_TRANSACTION_STATE in a write
 *          transaction; file errors. */
RLM_API bool crealm_sync_compare(realm_t* realm);

/** Removes the list of changes that the hub refused.
 *
 *  Thread: confined.
 *  Errors: [realm]; ILLEGAL_OPERATION for a file that is not synchronised; WRONG_TRANSACTION_STATE in a write
 *          transaction; file errors. */
RLM_API bool crealm_sync_forget_refused(realm_t* realm);

#ifdef __cplusplus
}
#endif

#endif /* CREALM_H */
