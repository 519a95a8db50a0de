package org.example

import org.example.base.Holder

/** A basket. It holds items. */
class Basket(val start: Int = LIMIT, rate: Rate = STANDARD) : Holder(), Payable {
    private val count = 0

    // The sum.
    fun total(rate: Rate): Int {
        val sum = compute(rate)
        return Sum(sum).value()
    }
}

fun main() {
    Basket(1).total(2)
}

enum class State { OPEN, PAID }

object Shop : Payable {
    override val name = "x"

    override fun total(rate: Rate): Int {
        count = rate.value
        return 0
    }
}

interface Payable {
    fun total(rate: Rate): Int
}
