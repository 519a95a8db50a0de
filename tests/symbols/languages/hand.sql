-- Tables of a shop.
CREATE SCHEMA shop;

CREATE TYPE shop.color AS ENUM ('red', 'green');

/* What is sold.
   Never changed. */
CREATE TABLE IF NOT EXISTS shop.item (
    id SERIAL PRIMARY KEY,
    name VARCHAR(80) NOT NULL UNIQUE, -- as printed
    cents INTEGER DEFAULT 0 CHECK (cents >= 0),
    color shop.color
);

CREATE TABLE basket (
    id INTEGER NOT NULL,
    owner TEXT,
    item_id INTEGER NOT NULL REFERENCES shop.item (id) ON DELETE CASCADE,
    CONSTRAINT basket_key PRIMARY KEY (owner, item_id),
    FOREIGN KEY (item_id) REFERENCES shop.item (id)
);

CREATE UNIQUE INDEX basket_item ON basket (item_id);

-- Who buys most.
CREATE VIEW shop.best AS
SELECT b.owner, count(*) AS bought, sum(i.cents) AS cents
FROM basket AS b
JOIN shop.item AS i ON i.id = b.item_id
WHERE i.color = 'red'
GROUP BY b.owner
HAVING count(*) > 1
ORDER BY bought DESC;

CREATE MATERIALIZED VIEW totals AS SELECT owner, price(id) FROM basket;

-- The price of a basket. In cents.
CREATE OR REPLACE FUNCTION shop.price(basket_id INTEGER) RETURNS INTEGER AS $$
SELECT sum(cents) FROM shop.item WHERE id = basket_id
$$ LANGUAGE sql;

CREATE TRIGGER basket_changed AFTER INSERT ON basket
FOR EACH ROW EXECUTE FUNCTION refresh();

CREATE SEQUENCE ticket START 1;

ALTER TABLE basket ADD COLUMN bought_at TIMESTAMP;

WITH dear AS (
    SELECT id FROM shop.item WHERE cents > 1000
)
SELECT d.id FROM dear AS d WHERE d.id NOT IN (SELECT item_id FROM basket);

INSERT INTO basket (id, owner, item_id)
SELECT 1, 'ann', i.id FROM shop.item i;
UPDATE shop.item SET cents = cents + 5 WHERE name = 'tea';
DELETE FROM basket WHERE owner IS NULL;
DROP VIEW shop.best;
