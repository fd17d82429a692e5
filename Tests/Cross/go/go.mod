module cross

go 1.23

require crealm v0.1.0

replace crealm => ../../../bindings/go
