defmodule Shop.Basket do
  @moduledoc """
  A basket. It holds items.
  """

  use GenServer
  alias Shop.Item
  import Enum, only: [sum: 1]

  @behaviour Shop.Payable
  @limit 10

  defstruct [:items, :name]

  @doc "The sum of all prices."
  @spec total(map) :: integer
  def total(basket) do
    prices = Enum.map(basket.items, &price/1)
    sum(prices) + @limit
  end

  @impl true
  def init(state), do: {:ok, state}

  # Hidden.
  defp price(%Item{cost: cost}) when cost > 0, do: convert(cost)

  defmacro twice(x) do
    quote do: unquote(x) * 2
  end
end

defprotocol Shop.Size do
  def size(data)
end

defimpl Shop.Size, for: Shop.Basket do
  def size(basket), do: length(basket.items)
end

defmodule Shop.Extra do
  def show(list), do: Enum.each(list, &price(&1))
end
