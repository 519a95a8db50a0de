<?php
namespace App\Shop;

use App\Tools\Counter;
require_once 'lib/base.php';

const LIMIT = 10;

/** A basket. */
class Basket extends Holder implements Payable
{
    private $count = 0;

    // The sum.
    protected function total(Rate $rate): int
    {
        $this->count = compute($rate);
        return (new Counter())->value();
    }
}

interface Payable {}

function start()
{
    return Basket::make();
}

class Sack extends Basket
{
    #[\Override]
    protected function total(Rate $rate): int
    {
        return 0;
    }
}
