package store

import (
	"fmt"
	"example.org/tool/wire"
)

const Limit = 10

var cache map[string]int

// Store keeps values. It is small.
type Store struct {
	Name string
	size int
}

type Reader interface {
	Read(key string) (int, error)
}

type ID = string

// Read finds a value.
func (s *Store) Read(key string) (int, error) {
	s.size = wire.Decode(key)
	value := compute(key)
	return value, nil
}

func open(name string) *Store {
	fmt.Println(Limit)
	return &Store{Name: name}
}
