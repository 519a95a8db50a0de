module Shapes

using LinearAlgebra
import Base: show
include("wire.jl")
export area

const LIMIT = 10

"""
    Shape

What has an area. It is abstract.
"""
abstract type Shape end

# A circle.
struct Circle <: Shape
    radius::Float64
end

mutable struct Counter
    count::Int
end

"How large it is."
function area(c::Circle)
    total = compute(c.radius)
    return total + LIMIT
end

twice(x) = double(x)

macro say(x)
    return x
end

function bump(counter::Counter)
    counter.count = 3
    @say area(Circle(1.0))
end

end

point = (x = 1, y = 2)
(c::Counter)(n) = c.count + n
