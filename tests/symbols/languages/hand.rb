# frozen_string_literal: true

require 'json'
require_relative '../lib/store'

# Keeps orders of a shop.
module Shop
  LIMIT = 100
  Line = Struct.new(:name, :price)
  private_constant :Line

  class Error < StandardError; end

  ##
  # An order. It is paid once.
  #
  # @param customer [String] who pays
  class Order < Store::Record
    include Comparable
    extend Forwardable

    attr_reader :customer, :lines
    attr_accessor :state

    # How many there are.
    @@count = 0

    def initialize(customer, lines = [], limit: LIMIT, **options)
      super(customer)
      @customer = customer
      @lines ||= lines.map { |name, price| Line.new(name, price) }
      @@count += 1
      $last = self
    end

    # Adds a line, unless it is full.
    def <<(line)
      raise Error, "full at #{LIMIT}" if full?
      @lines << line
      self.state = :open
      line
    end

    def total(rate = default_rate)
      sum = lines.sum(&:price)
      discount = ->(by) { by * rate }
      yield sum if block_given?
      discount.call(sum) + fees(*lines, state: state)
    rescue Store::Closed, KeyError => e
      logger.warn(e.message)
      nil
    end

    def self.load(path)
      JSON.parse(File.read(path)).each_with_object({}) do |row, found|
        found[row['id']] = new(row) # the newest wins
      end
    end

    class << self
      def open?(order) = order.state == :open

      private

      def check; end
    end

    protected

    def weight = @lines.size

    private

    def fees(*all, **marks, &block)
      all.each(&block)
    end

    def self.count = @@count

    public

    def full?; lines.size >= LIMIT end

    private def secret; end

    def hidden; end
    private :hidden
    alias amount total
  end

  def self.start
    order = Shop::Order.new('me')
    order.total { |sum| puts sum }
    ::Kernel.exit(Order::LIMIT) until order.full?
  end
end

Shop.start
