module Data.Forest
  ( Tree (..)
  , size
  ) where

import qualified Data.Map as Map
import Data.List (sort)

-- | A tree of values. It may be empty.
data Tree a
  = Leaf
  | Node { value :: a, left :: Tree a }

newtype Name = Name String

type Size = Int

-- | What can be counted.
class Countable f where
  count :: f -> Size

instance Countable (Tree a) where
  count tree = size tree

-- | How many values there are.
size :: Tree a -> Int
size Leaf = limit
size (Node x rest) = 1 + helper rest
  where
    helper y = Map.size (convert y)

limit :: Int
limit = 10

instance Countable [a] where
  count xs = length xs
