module crealm

go 1.23
