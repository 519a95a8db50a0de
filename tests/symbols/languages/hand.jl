"""
Baskets of a shop. Prices are in cents.
"""
module Shop

using Dates
using LinearAlgebra: dot, norm as len
import Base: show, +
import JSON as Json
include("store.jl")

export Basket, total, @priced

const LIMIT = 10
const Key = Union{String,Symbol}
count_of_baskets = 0

"What can be sold."
abstract type Sellable end

@enum Color red green=2

"""
    Item(name, cents)

What is sold. Has a price.
"""
struct Item <: Sellable
    name::String
    cents::Int
    color::Color
    Item(name, cents) = new(name, cents, red)
end

Base.@kwdef mutable struct Basket{T<:Sellable}
    items::Vector{T} = T[]
    owner = "nobody"
end

Basket{T}(owner::String) where {T} = Basket{T}(T[], owner)

# Adds one item.
function add!(basket::Basket{T}, item::T; times::Int=1) where {T<:Sellable}
    for i in 1:times
        push!(basket.items, item)
    end
    basket.owner = item.name
    global count_of_baskets += 1
    return basket
end

price(item::Item)::Int = item.cents + LIMIT
price(items...) = sum(price.(items))

total(basket) = isempty(basket.items) ? 0 : sum(i -> price(i), basket.items)

Base.show(io::IO, item::Item) = print(io, "Item $(item.name)")

+(a::Item, b::Item) = Item(a.name, a.cents + b.cents)

macro priced(expr)
    return esc(expr)
end

function demo()
    basket = Basket{Item}("ann")
    tea = Item("tea", 300)
    add!(basket, tea; times=2)
    @priced Store.save(basket)
    map([tea]) do thing
        Json.print(thing) |> len
    end
    @assert total(basket) > LIMIT
end

end # module
