/// Something that was read, and where reading goes on.
struct Parsed<Value> {
  let value: Value
  /// The index after the last that belongs to it.
  let end: Int

  init(_ value: Value, end: Int) {
    self.value = value
    self.end = end
  }
}
