using System.Text;

namespace Shop
{
    /// A basket. It holds items.
    public class Basket : Holder, IPayable
    {
        private int count = 0;
        public string Name { get; set; }

        public Basket(int start)
        {
            count = start;
        }

        // The sum.
        protected int Total(Rate rate)
        {
            var sum = Compute(rate);
            this.Name = sum;
            return new Sum(sum).Value();
        }
    }

    interface IPayable { }
    enum State { Open, Paid }

    class Sack : Basket
    {
        protected override int Total(Rate rate)
        {
            return base.Total(rate);
        }
        Func<int, int> once = n => n + Rates.Low, twice = m => 2 * m;
    }
}
