using System;
using System.Collections.Generic;
using Json = System.Text.Json;
using static System.Math;

namespace Shop.Orders;

/// <summary>
/// An order of one customer.
/// It is paid at once.
/// </summary>
/// <param name="Id">its number</param>
public sealed record Order(int Id, string Customer) : Entity(Id), IPriced;

/// What has a price.
internal interface IPriced
{
    decimal Price { get; }
    void Discount(decimal rate);
}

[Flags]
public enum State
{
    Open = 1, // not paid
    Paid,
}

class Ledger<TKey, TValue> : IEnumerable<TValue>, IDisposable where TKey : IComparable<TKey>
{
    public const int Limit = 10;
    static readonly object gate = new object();
    private readonly Dictionary<TKey, TValue> rows = new();
    protected internal int reads, writes;

    public event EventHandler? Changed;

    public static int Made { get; private set; }

    /// <summary>The number of rows. <see cref="Limit"/> at most.</summary>
    public int Count => rows.Count;

    public Ledger(ILogger log, int start = Limit) : base(log)
    {
        Made += start;
        this.reads = Max(start, 0);
    }

    public TValue this[TKey key] => rows[key];

    public override string ToString() => $"{Made} of {Limit}";

    protected virtual async Task<TValue?> FindAsync(TKey key, Func<TKey, TValue> load)
    {
        if (rows.TryGetValue(key, out var found))
            return found;
        lock (gate)
        {
            foreach (var (other, row) in rows)
                if (row is Order { Id: > 0 } order && other.CompareTo(key) > writes)
                    Remove(order.Customer);
        }
        try
        {
            var made = await Task.Run(() => load(key));
            Changed?.Invoke(this, new ChangeArgs { Key = key, Kind = State.Open });
            return made;
        }
        catch (Json.JsonException error) when (error.LineNumber > reads)
        {
            throw new InvalidOperationException(message: nameof(key), error);
        }

        int Scale(int by) => by * Limit;
    }

    void IDisposable.Dispose() => rows.Clear();

    ~Ledger() => Close();

    private struct Row { public TKey Key; int size; }

    public delegate void Watcher(Row row);
}
