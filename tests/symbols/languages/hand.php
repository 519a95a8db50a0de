<?php

declare(strict_types=1);

namespace Shop\Cart;

use Psr\Log\LoggerInterface;
use Shop\Pricing\{Rate, Tax as TaxRule};
use Shop\Model\Product as Item, Shop\Model\Customer;
use function Shop\Support\format;
use const Shop\Support\PRECISION;

require_once __DIR__ . '/bootstrap.php';
include 'defaults.php';

const MAX_LINES = 50, MIN_LINES = 1;
define('DEBUG', false);

/** Where an order stands. */
enum State: string implements \JsonSerializable
{
    case Open = 'open';
    case Paid = 'paid';
    const DEFAULT = self::Open;

    public function label(): string { return ucfirst($this->value); }
}

trait Counts
{
    protected static int $count = 0;
    private function tick(): void { self::$count++; static::tock(MAX_LINES); }
}

interface Payable extends \Countable
{
    public function total(Rate $rate): float;
}

/**
 * A basket of a customer. It forgets nothing.
 *
 * @template T of Item
 */
#[Entity]
final class Basket extends Model implements Payable, \IteratorAggregate
{
    use Counts, Logs;

    private const LIMIT = 10;
    public ?Customer $owner, $guest = null;
    private array $lines = [];

    public function __construct(private readonly LoggerInterface $log, protected int $size = MAX_LINES)
    {
        parent::__construct($size);
        $this->owner ??= new Customer();
    }

    // Adds up the lines.
    #[\Override]
    public function total(Rate $rate, Item|null ...$extra): float
    {
        $sum = array_reduce($this->lines, fn (float $sum, Line $line) => $sum + $line->price($rate), 0);
        $this->log?->info(format($sum, PRECISION), ['state' => State::Paid->label()]);
        foreach ($extra as $i => $item) {
            $this->lines[$i] = $item?->price;
        }
        return static::round($sum) ?: self::LIMIT;
    }

    public static function of(Item $item): static { self::$count += 1; return new static($item, TaxRule::class); }
    function getIterator(): \Iterator { yield from $this->lines; }
}

function &checkout(Basket $basket, callable $pay): void
{
    global $registry;
    static $calls = 0;
    $name = 'total';
    $pay(function () use ($basket) { try { return $basket->total(new Rate(DEBUG)); } catch (Broke $e) { throw new \Exception($e); } });
    $basket::of(new class extends Item { public int $weight = 0; });
    if ($basket instanceof Payable) \Shop\Support\log($registry->entries, Basket::$count);
}
