{-# LANGUAGE LambdaCase #-}

-- | Baskets of a shop. Prices are in cents.
module Shop.Basket
  ( Basket
  , Item (..)
  , Color (Red)
  , Priced (..)
  , empty
  , total
  , (<+>)
  ) where

import Control.Monad (forM_, when)
import qualified Data.Map.Strict as Map
import Data.Maybe (fromMaybe)
import Prelude hiding (lookup)
import Shop.Types (Money, Rate (..))

-- | What is sold.
data Item = Item
  { name  :: String  -- ^ as printed
  , cents :: !Int
  } deriving (Eq, Show)

data Color = Red | Green | Custom Int Int

{- | A basket,
by name of the item. Grows. -}
newtype Basket = Basket { items :: Map.Map String Item }

type Lookup a = String -> Maybe a

-- | What has a price.
class Show a => Priced a where
  price :: a -> Int
  describe :: a -> String
  describe x = show x ++ suffix

instance Priced Item where
  price = cents
  describe item = name item ++ suffix

infixr 5 <+>

suffix :: String
suffix = " ct"

-- | Nothing yet.
empty :: Basket
empty = Basket Map.empty

-- | Adds one item.
(<+>) :: Item -> Basket -> Basket
item <+> basket = basket { items = Map.insert (name item) item (items basket) }

lookup :: Basket -> Lookup Item
lookup basket key = Map.lookup key (items basket)

total :: Basket -> [Color] -> Int
total basket colors = foldr add 0 found
  where
    found = Map.elems (items basket)
    add item rest = price item + rest * factor colors

factor :: [Color] -> Int
factor = \case
  [] -> 1
  (Red : _) -> 2
  (Custom r _ : more) | r > limit -> factor more
  _ -> limit
  where limit = 3

main :: IO ()
main = do
  let basket = Item "tea" 300 <+> empty
  names <- mapM (return . name) (Map.elems (items basket))
  when (null names) $ putStrLn suffix
  forM_ names putStrLn
  print (total basket [Red, Green], fromMaybe 0 (fmap price (lookup basket "tea")))
