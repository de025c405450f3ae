/// Steps through a comma-separated list of tokens (RFC 9110 section 5.6.1).
struct TokenList {
  private var position = 0
  private let end: Int

  private let acceptsEmpty: Bool

  /// - Parameter acceptsEmpty: whether empty elements are skipped, as the section asks for, or refused.
  init(_ value: Span<UInt8>, acceptsEmpty: Bool = true) {
    end = value.count
    self.acceptsEmpty = acceptsEmpty
  }

  /// The next element's place; `nil` after the last.
  mutating func next(
    in value: Span<UInt8>, orThrow refusal: @autoclosure () -> RequestRefusal
  ) throws(RequestRefusal) -> Range<Int>? {
    while position < end || !acceptsEmpty && position == end {
      let comma = value.firstIndex(of: .comma, from: position) ?? end
      let element = value.trimmingBlanks(position..<comma)
      position = comma + 1
      guard !element.isEmpty || !acceptsEmpty else { continue }
      guard value.extracting(element).consists(of: .token) else { throw refusal() }
      return element
    }
    return nil
  }
}
