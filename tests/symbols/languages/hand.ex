defmodule Shop.Basket do
  @moduledoc """
  Baskets of a shop. Prices are in cents.
  """

  use GenServer, restart: :transient
  alias Shop.{Item, Price}
  alias Shop.Store.Remote, as: Store
  import Ecto.Query, only: [from: 2, where: 3]
  require Logger

  @behaviour Shop.Payable
  @limit 10
  @names ~w(tea milk)a

  defstruct items: [], owner: nil

  @typedoc "What a basket holds."
  @type t :: %__MODULE__{items: [Item.t()], owner: String.t()}
  @typep key :: atom

  @callback weigh(item :: Item.t()) :: integer

  defguard is_dear(cents) when cents > @limit

  @doc """
  Starts a basket
  for an owner. It runs.
  """
  @spec start_link(String.t()) :: GenServer.on_start()
  def start_link(owner \\ "nobody"), do: GenServer.start_link(__MODULE__, owner)

  @impl GenServer
  def init(owner) do
    Logger.info("starts")
    {:ok, %__MODULE__{owner: owner}}
  end

  @doc "The sum of all prices."
  def total(%__MODULE__{items: []}), do: 0

  def total(%__MODULE__{items: items}) do
    items
    |> Enum.filter(&dear?/1)
    |> Enum.map(fn item -> Price.of(item) end)
    |> Enum.sum()
  end

  def add(%{items: items} = basket, name) when name in @names do
    item = %Item{name: name}
    Store.put(item)
    %{basket | items: [item | items]}
  end

  defp dear?(%Item{cents: cents}) when is_dear(cents), do: true
  defp dear?(_item), do: false

  defdelegate size(basket), to: Shop.Size

  defmacro twice(x) do
    quote do
      unquote(x) * 2
    end
  end

  defmodule Error do
    defexception [:message]
  end
end

defprotocol Shop.Size do
  @doc "How much there is."
  def size(data)
end

defimpl Shop.Size, for: [Shop.Basket, Map] do
  def size(%{items: items}), do: length(items)
end
