@file:JvmName("Parsing")

package org.example.parser

import java.io.File
import java.util.Locale as Language
import kotlin.math.*

const val LIMIT = 100
private val cache = HashMap<String, Node>()
internal var depth: Int = 0

typealias Rule = (Source) -> Node?

/**
 * What a rule finds.
 * It has children.
 *
 * @property name how it is called
 */
sealed class Node(val name: String, start: Int) : Comparable<Node> {
    protected open var parent: Node? = null
    private val offset = start + depth

    constructor(name: String) : this(name, 0) {
        parent = cache[name]
    }

    override fun compareTo(other: Node): Int = offset - other.offset

    data class Leaf(val text: String, private val line: Int = 1) : Node(text, line)

    companion object {
        const val ROOT = "root"

        @JvmStatic
        fun of(text: String): Node = Leaf(text = text).also { it.parent = null }
    }
}

/** How far a rule looks. */
enum class Reach(val steps: Int) {
    NEAR(1),
    FAR(LIMIT) {
        override fun label() = "far"
    };

    open fun label(): String = name.lowercase(Language.ROOT)
}

internal interface Visitor<in T : Node, out R> {
    val seen: Int
    fun visit(node: T): R
}

object Printer : Visitor<Node, Unit>, Closer by Files.closer() {
    override var seen = 0
        private set

    override fun visit(node: Node) {
        val name = node.name
        seen++
        println("$name of ${node.parent?.name} in $depth")
    }
}

// Reads all rules of a file.
fun <T : Any> File.parse(rule: Rule, make: (Node) -> T): List<T> {
    val (first, rest) = readLines().partition { line -> line.isEmpty() }
    for ((index, text) in rest.withIndex())
        try {
            depth += index
            cache[text] = rule(Source(text)) ?: continue
        } catch (e: ParseError) {
            Printer.visit(Node.of(e.message!!))
        }
    fun close(node: Node) = node.name.length > LIMIT
    return cache.values.filter(::close).map(make) + first.map { make(Node.Leaf(it)) }
}
