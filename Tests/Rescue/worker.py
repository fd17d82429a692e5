"""Runs calls of the library, one line of JSON for each: ["salvage", path, out] and ["deleted", path]; answers with a line of JSON."""

import json
import sys

import crealm


def main():
    for line in sys.stdin:
        what, *words = json.loads(line)
        try:
            if what == "salvage":
                answer = {"report": str(crealm.salvage(*words))}
            else:
                answer = {"report": [one._asdict() for one in crealm.recover_deleted(*words)]}
        except crealm.Error as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer, default=repr), flush=True)


if __name__ == "__main__":
    main()
