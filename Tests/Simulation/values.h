/*
 * values.h - values and handles for the files that call the library.
 */

#ifndef VALUES_H
#define VALUES_H

#include "database.h"

#include <cstring>

inline realm_value_t null() {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_NULL;
    return v;
}
inline realm_value_t integer(int64_t i) {
    realm_value_t v = null();
    v.type = RLM_TYPE_INT;
    v.integer = i;
    return v;
}
/* Borrows the text. */
inline realm_value_t string(const std::string& s) {
    realm_value_t v = null();
    v.type = RLM_TYPE_STRING;
    v.string = {s.data(), s.size()};
    return v;
}
/* A handle that releases itself. */
template <typename T> struct Held {
    Library& l;
    T* p;
    ~Held() {
        if (p) l.realm_release(p);
    }
    operator T*() const { return p; }
};

#endif
