/*
 * realm_planned.h - the rest of the local C API, declared ahead of its implementation.
 *
 * Declared so that programs which resolve symbols at run time compile: the library does not export
 * these functions yet, and linking against one fails. A function moves to realm.h, with its manual
 * text, when the library exports it. realm.h includes this file; do not include it yourself.
 */

#ifndef REALM_PLANNED_H
#define REALM_PLANNED_H

#ifndef REALM_H
#error "Include realm.h instead of realm_planned.h."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Nothing is planned at the moment. */

#ifdef __cplusplus
}
#endif

#endif /* REALM_PLANNED_H */
