package org.example.tree

import scala.collection.mutable.{ArrayBuffer, Map => Index}
import java.nio.file._
import org.example.base.Holder, org.example.base.Sink

/** What a tree is made of.
  *
  * @tparam A what its leaves hold
  */
sealed trait Tree[+A] extends Product with Serializable {
  def size: Int
  protected def weigh(scale: Double): Double = size * scale
  val label: String
}

case class Leaf[A](value: A, private val note: String = "") extends Tree[A] {
  override def size: Int = 1
  val label = s"leaf $value, ${note.trim}"
}

case object Nothing extends Tree[Null] {
  override val size = Tree.Limit
  lazy val label: String = "none"
}

// A shop of trees.
abstract class Forest[K, V <: Tree[K]](start: Int, val name: String)(implicit order: Ordering[K])
    extends Holder[V](name) with Sink {
  private[tree] var count = start
  private[this] val trees: Index[K, V] = Index.empty
  protected[example] type Seen = Set[K]

  /** Starts empty. */
  def this(name: String) = this(0, name)

  final def grow(key: K)(make: K => V): Option[V] = {
    val before = trees.get(key)
    var count = 0
    for {
      tree <- before
      part = tree.size
      if part > start
    } count += part
    before match {
      case Some(found: Leaf[_]) if found.value == key => Some(found)
      case Some(Leaf(inner, _)) => drop(inner); None
      case other @ None => this.count += 1; other
    }
  }

  def drop(key: K): Unit

  def +=(tree: V): this.type = { trees.update(tree.label, tree); this }

  private def sorted = trees.keys.toSeq.sortBy(k => order.compare(k, k)).map(_.hashCode)
}

object Tree {
  val Limit = 10
  implicit class Rich(private val tree: Tree[Int]) extends AnyVal {
    def double: Tree[Int] = Leaf(value = tree.size max Limit)
  }

  def apply[A](values: A*): Seq[Tree[A]] = values.map(new Leaf(_))
  private def unapply(tree: Tree[Int]) = tree match { case Leaf(v, _) => v }
}

enum State(val code: Int) {
  case Open extends State(1)
  case Closed(reason: String) extends State(Tree.Limit)
}

given byLabel: Ordering[State] = Ordering.by(_.code)

extension (state: State)
  def isOpen: Boolean = state == State.Open
