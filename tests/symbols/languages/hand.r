# Baskets of a shop.
library(R6)
require("stats")
suppressPackageStartupMessages(library(dplyr))
source("store.r")
requireNamespace("boxes")

LIMIT <- 10
.cache <- new.env()
c("tea", "milk") -> names_known

#' Price of an item.
#'
#' @param item a list
#' @export
price <- function(item, ...) UseMethod("price")

price.default <- function(item, ...) {
  item$cents * factor_of(item)
}

#' @export
print.basket <- function(x, ...) {
  cat(format_all(x$items), sep = "\n")
  invisible(x)
}

factor_of = function(item, limit = LIMIT) {
  if (item$cents > limit) return(2)
  helper <- function(y) y + LIMIT
  .cache[["last"]] <<- item
  count <<- count + 1
  vapply(item$parts, function(p) helper(p), numeric(1))
}

new_basket <- function(items = list()) {
  structure(list(items = items), class = "basket")
}

# A shelf. Holds baskets.
Shelf <- R6Class("Shelf",
  inherit = Holder,
  public = list(
    baskets = NULL,
    initialize = function(baskets = list()) {
      self$baskets <- baskets
    },
    put = function(basket) {
      super$put(basket)
      private$check(basket)
      self$baskets <- c(self$baskets, basket)
    }
  ),
  private = list(
    check = function(basket) stopifnot(inherits(basket, "basket"))
  )
)

setClass("Box", contains = "Holder", representation(width = "numeric"))
setGeneric("area", function(object) standardGeneric("area"))
setMethod("area", "Box", function(object) object@width * LIMIT)
setValidity("Box", function(object) TRUE)

shelf <- Shelf$new()
shelf$put(new_basket())
square <- \(x) x^2
boxes <- lapply(1:3, function(i) new("Box", width = i)) |> Filter(f = is_wide)
stats::median(sapply(boxes, area))
