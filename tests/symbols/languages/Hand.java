package org.example.cache;

import static java.util.Objects.requireNonNull;

import java.util.*;
import java.util.function.Function;

/**
 * Keeps what was loaded lately. The oldest goes first.
 *
 * @param <K> what values are found by
 */
public abstract class Cache<K extends Comparable<K>, V> implements Iterable<V>, Store.Sink {
    /** How many it holds at most. */
    public static final int LIMIT = 64;
    private static int made;
    private final Map<K, Entry<V>> entries = new HashMap<>();
    protected long hits, misses;
    volatile Policy policy = Policy.OLDEST;

    protected Cache(String name, Policy policy) {
        super();
        this.policy = requireNonNull(policy, name);
        made++;
    }

    /**
     * Finds a value,
     * or loads it!
     */
    @Override
    public V find(K key, Function<? super K, V> load) throws StoreException {
        Entry<V> hits = entries.get(key);
        if (hits != null && hits.value instanceof Weighed weighed) {
            this.misses += weighed.weight();
            return hits.value;
        }
        for (K other : entries.keySet())
            if (other.compareTo(key) > LIMIT)
                drop(other);
        try (Lock lock = Lock.of(this)) {
            return entries.computeIfAbsent(key, k -> new Entry<>(load.apply(k), made)).value;
        } catch (IllegalStateException | Store.Closed e) {
            throw new StoreException(e.getMessage());
        }
    }

    abstract void drop(K key);

    public static <T> List<T> sorted(Collection<T> all, Comparator<? super T> order) {
        var copy = new ArrayList<T>(all);
        copy.sort(order.thenComparing(Entry::compare));
        return copy;
    }

    /** What a key stands for. */
    record Entry<V>(V value, int age) implements Weighed {
        Entry {
            if (age < 0)
                throw new Store.Closed();
        }

        public int weight() { return age * Weighed.UNIT; }
    }

    // When something has to go.
    enum Policy {
        OLDEST("old"), LARGEST("large") {
            @Override
            boolean fits(int weight) { return weight < LIMIT; }
        };

        private final String label;

        Policy(String label) { this.label = label; }

        boolean fits(int weight) { return true; }
    }

    private interface Weighed {
        int UNIT = 8;

        int weight();
    }
}

@interface Slow {
    String why() default "";
}
