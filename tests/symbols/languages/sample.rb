require 'json'
require_relative 'lib/base'

# Tools for trees.
module Forest
  LIMIT = 10

  # A tree that grows.
  class Tree < Plant
    def initialize(height)
      @height = height
      Leaf.new(height)
    end

    def self.build(count)
      grow(count, LIMIT)
    end

    private

    def secret; end
  end
end

def start
  Forest::Tree.build(3)
end
