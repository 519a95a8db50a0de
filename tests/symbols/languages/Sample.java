package org.example;

import java.util.List;

/**
 * A basket of items.
 * It can be paid.
 */
public class Basket extends Holder implements Payable, Comparable<Basket> {
    private final List<Item> items;
    static int count = 0;

    public Basket(List<Item> items) {
        this.items = items;
    }

    // The sum of all prices.
    protected int total(int rate) {
        int sum = compute(rate);
        Basket.count = sum;
        return new Sum(sum).value();
    }
}

interface Payable {
    int total(int rate);
}

enum State { OPEN, PAID }

class Sack extends Basket {
    @Override
    protected int total(int rate) {
        return super.total(rate);
    }
}
