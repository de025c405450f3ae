extension Duration {
  /// Its length in seconds; exact to the microsecond up to centuries.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
