#include <string>

namespace shop {

// Something that can be sold.
class Item : public Base {
    int secret_;
public:
    explicit Item(int price) : price_(price) {}
    virtual ~Item();
    int price() const { return price_; }
    void rename(const std::string &name);
protected:
    int price_;
};

template <typename T> T largest(T a, T b) { return a < b ? b : a; }

void Item::rename(const std::string &name)
{
    check(name);
    price_ = 3;
}

Item *make() { return new Item(largest(1, 2)); }

class Toy : public Item {
public:
    int price() const override { return 1; }
    void rename(const std::string &name) override;
};

}
