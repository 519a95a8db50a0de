'use strict'

var util = require('util')
  , Part = require('./shop').Part;

module.exports = Till;
module.exports.open = open;
exports.VERSION = '1.0';

/**
 * A till.
 */
function Till(name) {
  if (!(this instanceof Till)) return new Till(name);
  this.name = name;
  this.ring = function () { return util.format(this.name); };
}

util.inherits(Till, Part);

Till.prototype.close = function close(at) {
  var self = this;
  each(self.drawers, function (drawer) {
    var sum = 0;
    function add(coin) { sum += coin; }
    drawer.coins.forEach(add);
    self.emit('close', sum, at);
  });
};

exports.sum = function (list) { return list.length; };

function open() {}
function hidden() {}

(function () {
  var secret = 1;
  function inner() { return secret; }
  inner();
})();

module.exports.table = { find: function (key) { return hidden(key); }, size() { return 0; } };
