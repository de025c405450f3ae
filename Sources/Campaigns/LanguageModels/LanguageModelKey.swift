/// A provider's key. No description of it, and of nothing that holds it, shows what it is.
public struct LanguageModelKey: Sendable, Equatable {
  /// What stands in the request.
  let text: String

  /// - Parameter text: as the provider has issued it, without white space around it.
  public init(_ text: String) {
    self.text = text
  }
}

extension LanguageModelKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The same for all keys.
  public var description: String { "(secret)" }

  /// The same for all keys.
  public var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
