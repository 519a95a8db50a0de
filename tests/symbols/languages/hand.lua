--- A cache of pages.
local Base = require("cache.base")
local json, lpeg = require "json", require('lpeg')
local insert, fmt = table.insert, string.format
dofile("settings.lua")

local LIMIT <const> = 64
local hits, misses = 0, 0
VERSION = "2.0"

---@class Cache
local Cache = setmetatable({}, { __index = Base })
Cache.__index = Cache
Cache.states = { open = 1, closed = 2 }

local helpers = {
  ttl = 30,
  -- Trims a text.
  trim = function(text) return text:match("^%s*(.-)%s*$") end,
}

--[[ Makes a cache.
     It holds LIMIT pages. ]]
function Cache.new(options)
  local self = setmetatable({}, Cache)
  self.size = options and options.size or LIMIT
  self.pages = {}
  Base.init(self, helpers.ttl)
  return self
end

--- Gives a page back.
-- @param key its name
function Cache:get(key, ...)
  local page = self.pages[key]
  if not page then
    misses = misses + 1
    return nil, fmt("no page %s", key), ...
  end
  hits = hits + 1
  page.used = os.time()
  return Cache.super.get(self, page)
end

function Cache.util.dump(cache)
  for name, page in pairs(cache.pages) do
    print(json.encode(page), name, VERSION)
  end
  for i = 1, #Cache.states do insert(Cache.states, i) end
end

local function walk(tree, visit)
  local function step(node)
    visit(node.left)
    return step(node.right)
  end
  local depth = function(node) return node.depth + LIMIT end
  walk(step(tree), function(t) return depth(t) end)
end

Cache.clear = function(self) self.pages = {}; hits = 0 end
handlers["reload"] = function() Cache.new { size = LIMIT }:get "start" end

function reset()
  VERSION, misses = nil, 0
  goto done
  ::done::
  return Cache.states.open
end

return { Cache = Cache, walk = walk, pattern = lpeg.P(helpers.trim "x") }
