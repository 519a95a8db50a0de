open Printf
module M = Map.Make (String)

(** A point in the plane. It moves. *)
type point = { mutable x : int; y : int }

type shape = Dot of point | Empty

exception Lost of string

let limit = 10

(* Adds them. *)
let rec add a b = compute a (Wire.send b)

module Inner = struct
  let run n = add n limit
end

module type AREA = sig
  val area : point -> int
end

class counter start =
  object (self)
    inherit base
    val mutable count = start
    method step = count <- count + 1; self#notify count
  end

let main () =
  let p = { x = 1; y = 2 } in
  p.x <- 3;
  new counter 1

let ( +! ) a b = add a b
let low, high = (1, limit +! 2)
