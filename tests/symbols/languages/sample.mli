open Wire

(** A point in the plane. *)
type point = { x : int }

val area : point -> int
(** How large it is. *)

exception Lost of string

module Inner : sig
  val run : Wire.t -> unit
end
