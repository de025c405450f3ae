/// Something about the machine, such as its number of processors.
public struct Fact: Codable, Sendable, Equatable {
  /// Such as `processors`.
  public let name: String
  /// Such as `2`.
  public let value: String

  /// A fact.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
