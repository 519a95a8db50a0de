-- People that buy. Many of them.
CREATE TABLE shop.customer (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES shop.customer (id)
);

/* Who owes. */
CREATE VIEW debtor AS
SELECT c.name, total(o.id)
FROM shop.customer AS c
JOIN orders AS o ON o.customer_id = c.id;

CREATE INDEX orders_customer ON orders (customer_id);

CREATE FUNCTION total(n INTEGER) RETURNS INTEGER AS $$
SELECT sum(amount) FROM item WHERE order_id = n
$$ LANGUAGE sql;

CREATE TYPE color AS ENUM ('red', 'green');

INSERT INTO orders (id, customer_id) VALUES (1, 2);
UPDATE orders SET customer_id = 3;
DELETE FROM debtor;
