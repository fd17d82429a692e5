#!/usr/bin/env bash
# Checks the rules of CONTRIBUTING.md that can be read from the sources: layers, calls of the operating system, traps,
# entry points, comments, documents, formats, words of the query language, paths of a machine. Needs no build; the
# layers are checked only if there is a debug build.
set -u
cd "$(dirname "$0")/.."
failed=0
complain() {
    failed=$((failed + 1))
    echo "  $1"
    echo "$2" | head -5 | sed 's/^/      /'
}
engine=Sources/CoreEngine
# The three modules whose API has types of Foundation may import it.
found=$(grep -lE '^ *(@preconcurrency )?import (Glibc|Musl|Darwin|Foundation)' -r Sources --include='*.swift' \
    | grep -v -e "^$engine/Platform/" -e "^$engine/Basics/CLibrary/" -e '^Sources/CoreEngineFoundation/' -e '^Sources/RealmSwift/' -e '^Sources/RealmSync/')
[ -z "$found" ] || complain "only Platform and Basics/CLibrary may import the C library" "$found"
# WakeDescriptor is allowed: its pipes wake event loops and are not files.
found=$(grep -nP '(?<![\w.])(?<!func )(pread|pwrite|ftruncate|fdatasync|fsync|fstat|stat|statvfs|access|fchmod|fchown|rename|link|unlink|rmdir|realpath|opendir|readdir|mmap|munmap|mprotect|madvise|fcntl|flock|getpid|usleep|clock_gettime|memfd_create|copy_file_range)\((?!\))' \
    $engine/Platform/*.swift | grep -v -e '^[^:]*/SystemCalls.swift:' -e '^[^:]*/WakeDescriptor.swift:' -e '^[^:]*:[0-9]*: *///')
[ -z "$found" ] || complain "calls that change files pass through the table in SystemCalls.swift" "$found"
found=$(grep -rnE '^ *(@preconcurrency )?import (Foundation|Dispatch)' Sources | grep -v -e '^Sources/CoreEngineFoundation/' -e '^Sources/RealmSwift/' -e '^Sources/RealmSync/')
[ -z "$found" ] || complain "Foundation in CoreEngineFoundation, RealmSwift and RealmSync only" "$found"
found=$(grep -rnE 'try!|as!|fatalError|preconditionFailure|\bprecondition\(' Sources/CRealm Sources/CoreEngine Sources/CoreEngineAsync Sources/CoreEngineFoundation --include='*.swift' \
    | grep -v '^[^:]*/Basics/Misuse.swift:.*case .stop: fatalError')
[ -z "$found" ] || complain "a trap would end the host program" "$found"
found=$(python3 Scripts/check_unwraps.py) || complain "a forced unwrap would end the host program" "$found"
found=$(python3 Scripts/check_air.py) || complain "lines too long, too few blank lines, or too many names of one letter" "$found"
found=$(grep -rnE '\bMisuse\b' Sources/CRealm --include='*.swift')
[ -z "$found" ] || complain "the C API reports errors, also of what cannot throw in Swift" "$found"
found=$(grep -lE '@_cdecl' -r $engine)
[ -z "$found" ] || complain "exports belong to CRealm" "$found"
found=$(grep -rnE '\[String *:|Set<String>|Dictionary<String|\.text *(==|!=)|(==|!=) *[a-zA-Z.]+\.text\b' Sources --include='*.swift' \
    | grep -vP '^Sources/RealmSwift/(?!.*(Set<String>|Dictionary<String|\.text *(==|!=)|(==|!=) *[a-zA-Z.]+\.text\b))')
[ -z "$found" ] || complain "texts are compared and looked up as Name, by their bytes; String takes the two forms of é for one text" "$found"
found=$(grep -rnE '\bSearchIndex\(' $engine --include='*.swift' | grep -v "^$engine/Tables/TableIndexes.swift:")
[ -z "$found" ] || complain "the indexes of a table are opened by TableIndexes, which keeps their roots" "$found"
found=$(git grep -nE '(^|[^a-z.])/(work|root|farm)/' -- . ':!*.json' ':!Scripts/tidy.sh' ':!LICENSE' 2>/dev/null)
[ -z "$found" ] || complain "paths of a machine" "$found"
# The compiler measures this, so it needs a debug build. `make test` makes one and checks again.
found=$(Scripts/layers --check --if-built) || { complain "an arrow between layers that their lines do not allow" "$found"; found=; }
[ -z "$found" ] || echo "$found"
found=$(python3 Scripts/check_entry_points.py) || complain "not every function takes its entry point, or is misused in a test" "$found"
found=$(python3 Scripts/check_swift_docs.py) || complain "public Swift without a comment, or internals that are public" "$found"
found=$(python3 Scripts/words.py --check) || complain "the lists of the query language's words are not those of its table" "$found"
found=$(python3 Scripts/check_documents.py) || complain "comments and documents lead to what is not there" "$found"
found=$(Scripts/lint.sh --changed 2>&1) || complain "Swift files that are not formatted: make format" "$found"
found=$(python3 Benchmarks/run.py --check) || complain "the benchmarks' page, picture and numbers are not of one measurement" "$found"
[ "$failed" = 0 ] && echo "  ok"
echo "$((failed == 0)) passed, $failed failed"
[ "$failed" = 0 ]
