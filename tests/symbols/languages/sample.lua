local wire = require("lib.wire")

local limit = 10

-- Adds one.
local function add(list, item)
  local n = wire.size(list)
  push(item)
  list.count = n
end

function Queue.new(size)
  return add(size, limit)
end

function Queue:pop() -- the last one
  return self:take()
end
limit = 20
