"""The Browser: a web page to view, search and edit realm files. `crealm browse FILE …` starts it.

It needs the packages of `pip install "crealm[browse]"`: Starlette and uvicorn. Nothing else of `crealm` imports this package.

Its promises:

- **A file is only read**, and nothing is created in its folder, unless the user allows more (see `files`): `--edit`.
- **An edit is one transaction**, never overwrites a value that its page has not shown, and can be undone (see `editing`).
- **A file is hostile.** Its names and values may be anything; the page receives them as data and shows them as text (see `cells`).
- **Every request is checked first**: the secret, and the origin of the request (see `guard`).
- **Every page has a JSON form**: the same address with `.json` after its path (see `api`).
- **A request sees one version of the file** from its beginning to its end, and requests do not wait for each other.

The modules; each uses those above it:

    addresses   names in the file as parts of addresses, and back
    cells       values as JSON that loses nothing
    work        the worker threads, and how work on them is ended
    answers     a cache of the answers about one snapshot
    files       the open files and their snapshots
    places      finds objects and values by their addresses
    marks       fingerprints of the values that a page has shown
    queries     conditions and orders on a class: counts, pages of rows, explanations, errors with their place
    facets      the values of a property and their counts
    drawing     the positions of classes and links in a picture of the schema
    comparing   the differences of two versions
    downloads   the shown objects as a file
    live        events about changes of a file that pages show
    saved       named queries
    changes     single changes of a file, and the changes that undo them
    editing     transactions of changes, previews, undo and redo
    rows        pasted rows as changes
    structure   changes of the classes
    api         the answer to each address, as JSON
    posts       the requests that pages send
    guard       access control
    connections limits for connections of idle clients
    server      the application, and running it
    static      the modules and styles of the page
"""
