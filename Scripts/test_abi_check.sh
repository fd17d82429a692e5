#!/usr/bin/env bash
# Proves that check-abi.sh and abi_releases.py can fail: runs them on tiny headers and libraries with one fault each and
# expects status and message. Needs cc and clang; with swiftc on the path also a module compiled for
# the purpose.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir include

cat >include/realm.h <<'END'
#ifndef REALM_H
#define REALM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef struct shared_realm realm_t;
typedef enum realm_kind { RLM_A, RLM_B } realm_kind_e;
typedef struct realm_link { uint32_t table; int64_t key; } realm_link_t;
typedef struct realm_value { __extension__ union { int64_t integer; realm_link_t link; }; int type; } realm_value_t;
typedef void (*realm_free_func_t)(void* userdata);
typedef bool (*realm_open_func_t)(void* userdata, realm_t* realm, uint64_t size);
realm_t* realm_open(const char* path, realm_open_func_t, void* userdata, realm_free_func_t);
bool realm_count(const realm_t*, uint32_t table, size_t* out_count);
bool realm_write(realm_t*, int64_t key, realm_value_t value, bool is_default);
realm_kind_e realm_kind(realm_kind_e kind, double weight);
realm_link_t realm_link_of(const void* object, size_t index);
bool realm_is(const realm_t* realm, bool* out, realm_t** other);
#endif
END
echo '#include "realm.h"
uint32_t crealm_abi_version(void);' >include/crealm.h

# The header as the Swift compiler would emit it for a correct module.
cat >good.h <<'END'
#if defined(__OBJC__)
#include <Foundation/Foundation.h>
#endif
#define SWIFT_EXTERN extern
#define SWIFT_NOEXCEPT
#if defined(__OBJC__)
SWIFT_EXTERN void * _Nullable realm_open(char const * _Nullable path, BOOL (* _Nullable f)(void * _Nullable, void * _Nullable, uint64_t), void * _Nullable u, realm_free_func_t _Nullable free) SWIFT_NOEXCEPT;
SWIFT_EXTERN BOOL realm_count(void * _Nullable r, uint32_t table, NSInteger * _Nullable out) SWIFT_NOEXCEPT;
SWIFT_EXTERN BOOL realm_write(void * _Nullable r, int64_t key, realm_value_t value, BOOL is_default) SWIFT_NOEXCEPT;
SWIFT_EXTERN realm_kind_e realm_kind(realm_kind_e kind, double weight) SWIFT_NOEXCEPT;
SWIFT_EXTERN realm_link_t realm_link_of(void const * _Nullable o, NSInteger index) SWIFT_NOEXCEPT;
SWIFT_EXTERN BOOL realm_is(void * _Nullable r, BOOL * _Nullable out, void * _Nullable * _Nullable other) SWIFT_NOEXCEPT;
SWIFT_EXTERN uint32_t crealm_abi_version(void) SWIFT_NOEXCEPT;
#endif
END

cat >good.c <<'END'
void realm_open(void) {} void realm_count(void) {} void realm_write(void) {} void realm_kind(void) {}
void realm_link_of(void) {} void realm_is(void) {} void crealm_abi_version(void) {}
END
build() { # build NAME [C TEXT]: the good library with more in it
    { cat good.c; echo "${2-}"; } | cc -x c -shared -fPIC -o "$1.so" -
}
build good
build extra 'void realm_surprise(void) {}'
build foreign 'int other_library_function(void) { return 1; }'
build data 'int realm_data = 1;'
build weak '__attribute__((weak)) void realm_count_all(void) {}'
sed 's/void realm_write(void) {}//' good.c | cc -x c -shared -fPIC -o missing.so -
sed 's/void realm_write(void)/static void realm_write(void)/' good.c | cc -x c -w -shared -fPIC -o hidden.so -

passed=0 failed=0
expect() { # expect STATUS TEXT ARGUMENT...: runs the check, compares status, looks for the text
    local status=$1 text=$2 got=0
    shift 2
    "$here/check-abi.sh" --include include "$@" >out 2>&1 || got=$?
    if [[ $got -eq $status ]] && grep -qF -- "$text" out; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: expected status $status and '$text' for: $*"
        echo "        got status $got and:"
        sed 's/^/        /' out
    fi
}
changed() { # changed FROM TO TEXT: one change in the emitted header must be found
    sed "s/$1/$2/" good.h >changed.h
    if cmp -s good.h changed.h; then
        failed=$((failed + 1))
        echo "FAILED: nothing to change for '$1'"
        return
    fi
    expect 1 "$3" good.so changed.h
}

# Symbols.
expect 0 "7 functions, no differences" good.so
expect 0 "7 functions, no differences" good.so good.h
expect 1 "realm_write is declared but not exported" missing.so
expect 1 "realm_write is declared but not exported" hidden.so
expect 1 "realm_surprise is exported but not declared" extra.so
expect 1 "other_library_function is exported but not declared" foreign.so
expect 1 "realm_data (D) is exported but is not a function" data.so
expect 1 "realm_count_all (W) is exported but is not a function" weak.so

# Signatures.
changed 'int64_t key, realm_value_t' 'realm_value_t' "realm_write has 4 parameters in C, 3 in Swift"
changed 'BOOL is_default' 'BOOL is_default, BOOL more' "realm_write has 4 parameters in C, 5 in Swift"
changed 'int64_t key' 'int32_t key' "realm_write parameter 2 is int64 in C, int32 in Swift"
changed 'int64_t key' 'uint64_t key' "realm_write parameter 2 is int64 in C, uint64 in Swift"
changed 'int64_t key' 'NSInteger key' "realm_write parameter 2 is int64 in C, size_t in Swift"
changed 'uint32_t table' 'NSInteger table' "realm_count parameter 2 is uint32 in C, size_t in Swift"
changed 'NSInteger index' 'int64_t index' "realm_link_of parameter 2 is size_t in C, int64 in Swift"
changed 'realm_value_t value' 'realm_value_t const * _Nullable value' \
    "realm_write parameter 3 is struct realm_value in C, pointer to struct realm_value in Swift"
changed 'realm_value_t value' 'realm_link_t value' \
    "realm_write parameter 3 is struct realm_value in C, struct realm_link in Swift"
changed 'BOOL is_default' 'int32_t is_default' "realm_write parameter 4 is bool in C, int32 in Swift"
changed 'double weight' 'float weight' "realm_kind parameter 2 is double in C, float in Swift"
changed 'realm_kind_e kind' 'uint32_t kind' "realm_kind parameter 1 is enum realm_kind in C, uint32"
changed 'EXTERN BOOL realm_count' 'EXTERN int32_t realm_count' "realm_count returns bool in C, int32"
changed 'EXTERN BOOL realm_count' 'EXTERN void realm_count' "realm_count returns bool in C, void"
changed 'realm_link_t realm_link_of' 'void * realm_link_of' "realm_link_of returns struct realm_link"
changed 'void \* _Nullable realm_open' 'int64_t realm_open' "realm_open returns pointer to struct"
changed 'NSInteger \* _Nullable out' 'int32_t * _Nullable out' "realm_count parameter 3 is pointer to"
changed 'BOOL \* _Nullable out' 'int32_t * _Nullable out' "realm_is parameter 2 is pointer to bool in C"
changed '_Nullable, uint64_t)' '_Nullable)' "realm_open parameter 2 is function("
changed 'void \* _Nullable, uint64_t' 'int32_t, uint64_t' "realm_open parameter 2 is function("
changed 'realm_free_func_t _Nullable' 'void * _Nullable' "realm_open parameter 4 is function("
changed 'realm_is(' 'realm_is_not(' "realm_is is declared in C but is no public @_cdecl function"
changed 'realm_is(' 'realm_is_not(' "realm_is_not is a public @_cdecl function in Swift but is not"

# Broken input is neither a success nor a difference.
expect 2 "no such file" nowhere.so
expect 2 "no such file" good.so nowhere.h
echo 'SWIFT_EXTERN unknown_t realm_is(void);' >broken.h
expect 2 "clang rejects the headers" good.so broken.h

# Releases: the entries of an earlier list must exist unchanged.
mkdir releases
cp -r include before
sed -i 's/realm_count/realm_gone_since/' before/realm.h
python3 "$here/abi_releases.py" write 1.2.0 before "$work/releases"
python3 "$here/abi_releases.py" write 1.10.0 include "$work/releases" # the newest
since() { # since STATUS TEXT FROM TO: the check after one change of the header; `release=--release`: as before a release
    local got=0
    rm -rf after && cp -r include after && sed -i "s/$3/$4/" after/realm.h
    python3 "$here/abi_releases.py" check "${library:-good.so}" after "$work/releases" ${release:-} >out 2>&1 || got=$?
    if [[ $got -eq $1 ]] && grep -qF -- "$2" out; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: expected status $1 and '$2' after $3 became $4; got status $got and:"
        sed 's/^/        /' out
    fi
}
since 0 "0 differences" "no such text" ""
since 0 "new since 1.10.0: function realm_more: bool (realm_t *)" '^bool realm_count' 'bool realm_more(realm_t*);\n&'
since 0 "new since 1.10.0: number RLM_C: 2" 'RLM_B }' 'RLM_B, RLM_C }'
release=--release since 0 "0 differences" "no such text" ""
release=--release since 1 "new since 1.10.0: function realm_more: bool (realm_t *)" '^bool realm_count' 'bool realm_more(realm_t*);\n&'
release=--release since 1 "new since 1.10.0: number RLM_C: 2" 'RLM_B }' 'RLM_B, RLM_C }'
since 1 "function realm_count is gone" '^bool realm_count.*' ''
since 1 "function realm_write is bool (realm_t *, int32_t, realm_value_t, bool)" 'int64_t key, realm_value_t' 'int32_t key, realm_value_t'
since 1 "struct realm_link is int64_t table; int64_t key; it was uint32_t table; int64_t key" '{ uint32_t table' '{ int64_t table'
since 1 "struct realm_value is union { int32_t integer; realm_link_t link }; int type" '{ int64_t integer' '{ int32_t integer'
library=missing.so since 1 "function realm_write is not exported" 'no such text' ''
since 1 "number RLM_B is 2; it was 1" 'RLM_B' 'RLM_B = 2'
since 1 "type realm_free_func_t is void (*)(void *, int)" '(\*realm_free_func_t)(void\* userdata)' '(*realm_free_func_t)(void* userdata, int)'

# The real compiler's header.
if command -v swiftc >/dev/null; then
    echo 'module Tiny [system] { header "realm.h" header "crealm.h" export * }' >include/module.modulemap
    cat >good.swift <<'END'
import Tiny
@_cdecl("realm_open") public func open(
    _ path: UnsafePointer<CChar>?, _ f: (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UInt64) -> Bool)?,
    _ u: UnsafeMutableRawPointer?, _ free: realm_free_func_t?
) -> OpaquePointer? { nil }
@_cdecl("realm_count") public func count(_ r: OpaquePointer?, _ t: UInt32, _ out: UnsafeMutablePointer<Int>?) -> Bool { false }
@_cdecl("realm_write") public func write(_ r: OpaquePointer?, _ k: Int64, _ v: realm_value_t, _ d: Bool) -> Bool { false }
@_cdecl("realm_kind") public func kind(_ k: realm_kind_e, _ w: Double) -> realm_kind_e { k }
@_cdecl("realm_link_of") public func link(_ o: UnsafeRawPointer?, _ i: Int) -> realm_link_t { realm_link_t() }
@_cdecl("realm_is") public func same(_ r: OpaquePointer?, _ o: UnsafeMutablePointer<Bool>?, _ x: UnsafeMutablePointer<OpaquePointer?>?) -> Bool { false }
@_cdecl("crealm_abi_version") public func version() -> UInt32 { 1 }
END
    emit() { # emit FILE.swift NAME: NAME.so and NAME.h
        swiftc -parse-as-library -emit-library -module-name CRealm -I include "$1" -o "$2.so" \
            -emit-clang-header-path "$2.h" -Xlinker --version-script="$here/exports.map"
    }
    emit good.swift swift-good
    expect 0 "7 functions, no differences" swift-good.so swift-good.h
    sed 's/_ t: UInt32/_ t: Int/; s/_ d: Bool/_ d: Int32/; s/public func version/func version/' good.swift >bad.swift
    emit bad.swift swift-bad
    expect 1 "realm_count parameter 2 is uint32 in C, size_t in Swift" swift-bad.so swift-bad.h
    expect 1 "realm_write parameter 4 is bool in C, int32 in Swift" swift-bad.so swift-bad.h
    expect 1 "crealm_abi_version is declared but not exported" swift-bad.so swift-bad.h
fi

echo "test_abi_check: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
