/// A switch that a test's closures share.
final class Flag {
  var isSet = false
}
