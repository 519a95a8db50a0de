(** Baskets of a shop. *)

open Wire

(** What is sold. Never changed. *)
type item = private { name : string; mutable cents : int }

type color = Red | Custom of int * int
(** How it looks. *)

type 'a basket

exception Empty of string

val limit : int

val make : ?color:color -> name:string -> int -> item
(** [make name cents] is a new item.
    @raise Empty when there is none *)

val sum : item list -> int
external seconds : unit -> float = "shop_seconds"

module type PRICED = sig
  type t

  val price : t -> int
end

module Basket (P : PRICED) : sig
  type t = P.t list

  include Wire.CODED with type t := t

  val add : t -> P.t -> t
end

module Names : Map.S with type key = string

class virtual shelf : int -> object
  val mutable items : item list
  method virtual label : string
  method private room : int
  method put : item -> unit
end

class type labelled = object
  inherit shelf
  method label : string
end
