package org.example.shop

import org.example.base.Holder
import scala.collection.mutable.{Map, Set}

/** What can be paid. It has a price. */
trait Payable {
  def price: Int
}

// A basket.
class Basket(val start: Int) extends Holder(start) with Payable {
  private val count = 0
  protected var name: String = "x"

  override def price: Int = {
    val sum = compute(start)
    name = "y"
    new Sum(sum).value(count)
  }
}

object Basket {
  type Id = String
  val Limit = 10

  def apply(n: Int): Basket = new Basket(n)
}

case class Point(x: Int)

enum State {
  case Open, Paid
}

def main(): Unit = Basket.apply(1).price
