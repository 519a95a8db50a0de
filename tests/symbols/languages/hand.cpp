#include "shop.h"
#include <map>

using std::string;

namespace shop::stock {

constexpr int limit = 16;

enum class Color : unsigned char { red, green = 4 };

/**
 * @brief What can be sold.
 *
 * Owned by the shelf.
 */
struct Item {
    string name;
    Color color = Color::red;
    static int made;
    bool operator==(const Item &other) const { return name == other.name; }
private:
    friend class Shelf;
    mutable int seen_{0};
};

int Item::made = 0;

template <typename Key, class Value = Item>
class Shelf : public Base<Value>, private detail::Lock {
public:
    using Map = std::map<Key, Value>;
    enum { small, large };

    Shelf() = default;
    explicit Shelf(Map items, int size = limit) : Lock(size), items_(std::move(items)), size_{size}
    {
        ++Item::made;
    }
    Shelf(const Shelf &) = delete;
    ~Shelf() override { clear(); }

    // Finds by key.
    const Value *find(const Key &key) const override;
    virtual void clear() noexcept = 0;
    template <typename Fn> void each(Fn visit)
    {
        for (auto &[key, value] : items_)
            visit(key, value);
    }

protected:
    Map items_;
    int size_, spare_ = 0;
    Value *first_ = nullptr;
    static inline Shelf &shared();

    struct Slot {
        Value value;
    };
};

template <typename Key, class Value>
const Value *Shelf<Key, Value>::find(const Key &key) const
{
    auto it = items_.find(key);
    return it == items_.end() ? nullptr : &it->second;
}

static Item *newest = nullptr;

Item &make(const string &name)
{
    auto paint = [=](Item &item, Color color) { item.color = color; };
    Item item{name};
    newest = new Item(item);
    auto shelf = std::make_unique<Shelf<string>>(limit);
    this_shop().shelf->each(paint);
    delete newest;
    throw std::runtime_error(newest->name);
}

std::ostream &operator<<(std::ostream &out, const Item &item) { return out << item.name; }

} // namespace shop::stock
