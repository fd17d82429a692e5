/*
 * values.h - short functions of the C tests that make values, and descriptions of properties and classes.
 */
#ifndef VALUES_H
#define VALUES_H

#include <string.h>

#include "realm.h"

#define HELPER __attribute__((unused)) static

/* ---- Values ----------------------------------------------------------------------------------- */

/* A type number may also be one that names no type. */
HELPER realm_value_t of_type(int type) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = (realm_value_type_e)type;
    return v;
}
HELPER realm_value_t null_value(void) { return of_type(RLM_TYPE_NULL); }
HELPER realm_value_t integer(int64_t i) {
    realm_value_t v = of_type(RLM_TYPE_INT);
    v.integer = i;
    return v;
}
HELPER realm_value_t boolean(bool b) {
    realm_value_t v = of_type(RLM_TYPE_BOOL);
    v.boolean = b;
    return v;
}
HELPER realm_value_t single(float f) {
    realm_value_t v = of_type(RLM_TYPE_FLOAT);
    v.fnum = f;
    return v;
}
HELPER realm_value_t real(double d) {
    realm_value_t v = of_type(RLM_TYPE_DOUBLE);
    v.dnum = d;
    return v;
}
HELPER realm_value_t text_of(const char* s, size_t n) {
    realm_value_t v = of_type(RLM_TYPE_STRING);
    v.string.data = s, v.string.size = n;
    return v;
}
HELPER realm_value_t text(const char* s) { return text_of(s, s ? strlen(s) : 0); }
HELPER realm_value_t bytes(const void* p, size_t n) {
    realm_value_t v = of_type(RLM_TYPE_BINARY);
    v.binary.data = (const uint8_t*)p, v.binary.size = n;
    return v;
}
HELPER realm_value_t moment(int64_t seconds, int32_t nanoseconds) {
    realm_value_t v = of_type(RLM_TYPE_TIMESTAMP);
    v.timestamp.seconds = seconds, v.timestamp.nanoseconds = nanoseconds;
    return v;
}
HELPER realm_value_t link_to(const realm_object_t* object) {
    realm_value_t v = of_type(RLM_TYPE_LINK);
    v.link = realm_object_as_link(object);
    return v;
}
HELPER realm_value_t link_by_keys(realm_class_key_t table, realm_object_key_t key) {
    realm_value_t v = of_type(RLM_TYPE_LINK);
    v.link.target_table = table, v.link.target = key;
    return v;
}

/* ---- Schemas ---------------------------------------------------------------------------------- */

HELPER realm_property_info_t property(const char* name, int type, int collection, const char* target, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = "", p.link_target = target, p.link_origin_property_name = "";
    p.type = (realm_property_type_e)type, p.collection_type = (realm_collection_type_e)collection;
    p.key = RLM_INVALID_PROPERTY_KEY, p.flags = flags;
    return p;
}
HELPER realm_class_info_t class_info(const char* name, const char* primary_key, size_t stored, size_t computed, int flags) {
    realm_class_info_t c;
    memset(&c, 0, sizeof c);
    c.name = name, c.primary_key = primary_key, c.num_properties = stored, c.num_computed_properties = computed;
    c.key = RLM_INVALID_CLASS_KEY, c.flags = flags;
    return c;
}
/* A config for one class, version 1: not cached, and without automatic refresh. */
HELPER realm_config_t* config_of_class(const char* path, realm_class_info_t info, const realm_property_info_t* stored) {
    realm_schema_t* schema = realm_schema_new(&info, 1, &stored);
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    realm_config_set_schema(c, schema);
    realm_config_set_schema_version(c, 1);
    realm_config_set_cached(c, false);
    realm_config_set_automatic_change_notifications(c, false);
    realm_release(schema);
    return c;
}

#endif
