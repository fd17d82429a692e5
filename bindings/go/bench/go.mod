module crealm-bench

go 1.23

require (
	crealm v0.1.0
	github.com/mattn/go-sqlite3 v1.14.16
)

replace crealm => ../
