// Package shop sells things.
package shop

import (
	"errors"
	"net/http"
	_ "embed"
	. "math"

	wire "example.org/shop/wire/v2"
)

// States of an order.
const (
	Open State = iota
	paid
)

const Limit, spare = 10, 2

var (
	// ErrGone says that it is sold.
	ErrGone = errors.New("gone")
	carts   = map[string]*Cart{}
)

var total, _ = wire.Count(carts)

type State uint8

type (
	// Price is in cents.
	Price = int64
	visit func(item Item) error
)

/*
Item is what is sold. It has
a price.
*/
type Item struct {
	http.Header
	*Cart
	Name, label string `json:"name"`
	Price       Price
	on          func(State)
}

type Number interface {
	~int | ~float64
}

type Store[K comparable, V any] interface {
	http.Handler
	Get(key K) (V, bool)
}

type Cart struct {
	items []Item
	next  *Cart
}

// Sum adds prices up.
//
// It never fails.
func Sum[T Number](values ...T) (sum T) {
	for _, value := range values {
		sum += value
	}
	return sum
}

func (c *Cart) Add(item Item) *Cart {
	total := Sum(c.items[0].Price, item.Price)
	c.items = append(c.items, item)
	if state, ok := carts[item.Name]; ok && state != nil {
		total++
	}
	defer func(done bool) {
		c.next.items, carts["x"] = nil, c
	}(total > Limit)
	return c
}

func (Store2[K]) empty() bool { return spare == 0 }

func serve(w http.ResponseWriter, state State) error {
	cart := &Cart{items: []Item{{Name: "pen", Price: Price(3)}}}
	handler := http.HandlerFunc(route)
	switch state {
	case Open, paid:
		total = cart.Add(Item{label: ErrGone.Error()}).next.size
	}
	if v, ok := any(handler).(visit); ok {
		go v(Item{})
	}
	return wire.Send[State](w, new(Cart), Sqrt(2), ErrGone)
}
