"""The Browser: realm files in a web page, to be looked at, searched, understood and edited. `crealm browse FILE …` starts it.

It needs the packages of `pip install "crealm[browse]"`: Starlette and uvicorn. Nothing else of `crealm` imports this package.

What it promises:

- **A file is only read**, and nothing is made in its folder, unless the user asks for more (see `files`): `--edit`.
- **An edit is one transaction**, never writes over what its page has not shown, and can be taken back (see `editing`).
- **A file is hostile.** Its names and values may be anything; they arrive in the page as data and are shown as text (see `cells`).
- **Who may ask is checked** before anything else happens: a secret, and where the request comes from (see `guard`).
- **Every page has a JSON form**: the same address with `.json` behind its path (see `api`).
- **A request sees one version of the file** from its beginning to its end, and many requests at a time wait for nobody.

The modules; each uses those above it:

    addresses   names of the file as parts of addresses, and back
    cells       values as JSON that loses nothing
    work        the threads, and how work on them is ended
    answers     answers about one snapshot, kept as they were sent
    files       the files that are open, and their snapshots
    places      objects and values by their addresses
    marks       what a page has seen of a value
    queries     conditions and orders on a class: counts, pages of rows, explanations, errors with their place
    facets      which values a property has, and how often
    drawing     where classes and links are in a picture of the schema
    comparing   what two versions differ in
    downloads   what is shown, as a file
    live        what happens to a file while pages show it
    saved       queries that were given names
    changes     what is done to a file, and what takes it back
    editing     transactions of changes, previews, undo and redo
    rows        rows that are pasted, as changes
    structure   changes of the classes
    api         the answer to each address, as JSON
    posts       what pages send
    guard       who may ask
    connections how long a client may keep one
    server      the application, and running it
    static      what the page is made of: modules and styles, as they are
"""
