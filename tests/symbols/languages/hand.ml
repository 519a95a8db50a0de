(* Baskets of a shop. *)
open Printf

module Names = Map.Make (String)
module L = List

(** What is sold. Never changed. *)
type item = { name : string; mutable cents : int; color : color option }

and color =
  | Red  (** the warm one *)
  | Custom of int * int

type 'a result = ('a, string) Stdlib.result

exception Empty of string

(** What can be
    priced. Two of them. *)
module type PRICED = sig
  type t

  val price : t -> int
end

let limit = 10
let counter = ref 0

external seconds : unit -> float = "shop_seconds"

(** Makes one item.
    @param name as printed *)
let make ?(color = Red) ~name cents =
  incr counter;
  { name; cents; color = Some color }

let rec sum = function
  | [] -> 0
  | { cents; _ } :: rest -> cents + sum rest

and is_dear item = item.cents > limit

module Basket (P : PRICED) : sig
  type t

  val add : t -> P.t -> t
end = struct
  type t = P.t list

  let helper x = P.price x
  let add basket thing = if helper thing > limit then raise (Empty "dear") else thing :: basket
end

class virtual shelf (size : int) =
  object (self)
    val mutable items : item list = []
    val bound = size
    method virtual label : string
    method private room = bound - L.length items
    method put item = if self#room > 0 then items <- item :: items
  end

class box =
  object
    inherit shelf limit as super
    method label = "box"
    method! put item = super#put item; printf "%s\n" item.name
  end

let () =
  let b = new box in
  let tea = make ~name:"tea" 300 in
  tea.cents <- sum [ tea ] + Names.cardinal Names.empty;
  List.iter (fun i -> b#put i) (List.filter is_dear [ tea ])
