library(stats)
source("lib/wire.r")

LIMIT <- 10
title = "x"

#' Adds one. And more.
#' @param x a number
add <- function(x, by = 1) {
  total <- x + by
  wire::send(total)
  state$count <- total
  LIMIT
}

.hidden <- function() add(LIMIT)

setClass("Basket", contains = "Holder")
setGeneric("size", function(object) standardGeneric("size"))
setMethod("size", "Basket", function(object) length(object@items))

basket <- new("Basket")

test_that("it adds", {
  y <- add(1)
  y
})
