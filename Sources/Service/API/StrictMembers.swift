internal import HTTPServing

extension Decoder {
  /// The members of an object that has no others: a misspelt one would silently do nothing.
  /// - Throws: 400 that names the others.
  func members<Key: CodingKey & CaseIterable>(
    _ keys: Key.Type, besides others: Set<String> = []
  ) throws -> KeyedDecodingContainer<Key> {
    let known = others.union(Key.allCases.map(\.stringValue))
    let unknown = try container(keyedBy: AnyMember.self).allKeys.map(\.stringValue).filter { !known.contains($0) }
    guard unknown.isEmpty else { throw ProblemDetails.unknownMembers(unknown.sorted(), at: codingPath) }
    return try container(keyedBy: keys)
  }
}

/// A member by any name.
private struct AnyMember: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}

extension ProblemDetails {
  /// Names told of, and the most of each in Unicode scalars: the caller chose both.
  private static let (namesMax, nameScalarsMax) = (8, 64)

  fileprivate static func unknownMembers(_ names: [String], at path: [any CodingKey]) -> ProblemDetails {
    let told = names.prefix(namesMax).map { name in
      (path.fieldPath.map { $0 + "." } ?? "")
        + String(String.UnicodeScalarView(name.unicodeScalars.prefix(nameScalarsMax)))
    }
    let more = names.count > namesMax ? " and \(names.count - namesMax) more" : ""
    return .content(told[0], "Unknown members: \(told.joined(separator: ", "))\(more).")
  }
}
