/// A text as a key of the app's own translations, with the values for the places in it.
package struct TranslationKey: Equatable, Sendable {
  static let argumentsMax = 20

  /// 1 to 128 characters.
  package let key: String

  /// In the order of the places; at most 20 of 256 characters each.
  package let arguments: [String]

  /// What an alert shows: the translation, or where there is none the words.
  static func text(_ key: TranslationKey?, words: String) -> AlertText {
    key.map { .localized(key: $0.key, arguments: $0.arguments, words: words) } ?? .verbatim(words)
  }
}

/// The keys of a push, as APNs names them.
package struct TranslationKeys: Equatable, Sendable {
  package var title: TranslationKey?
  package var subtitle: TranslationKey?
  package var body: TranslationKey?

  enum Key: String, CodingKey, CaseIterable {
    case titleKey = "title_loc_key"
    case titleArguments = "title_loc_args"
    case subtitleKey = "subtitle_loc_key"
    case subtitleArguments = "subtitle_loc_args"
    case bodyKey = "loc_key"
    case bodyArguments = "loc_args"
  }

  init() {}

  /// Reads the keys that there are.
  /// - Throws: `DecodingError` that names the member which cannot be used.
  init(_ container: KeyedDecodingContainer<Key>) throws {
    title = try container.translation(.titleKey, .titleArguments)
    subtitle = try container.translation(.subtitleKey, .subtitleArguments)
    body = try container.translation(.bodyKey, .bodyArguments)
  }

  func write(to object: inout PayloadObject) {
    for (key, arguments, translation) in [
      (Key.titleKey, Key.titleArguments, title), (.subtitleKey, .subtitleArguments, subtitle),
      (.bodyKey, .bodyArguments, body),
    ] {
      guard let translation else { continue }
      object[key.rawValue] = .string(translation.key)
      guard !translation.arguments.isEmpty else { continue }
      object[arguments.rawValue] = .array(translation.arguments.map { .string($0) })
    }
  }
}

extension KeyedDecodingContainer<TranslationKeys.Key> {
  fileprivate func translation(_ name: Key, _ argumentsName: Key) throws -> TranslationKey? {
    let key = try text(name, scalarsMax: 128)
    let arguments = try decodeIfPresent([String].self, forKey: argumentsName)
    try require(key?.isEmpty != true, name, "must not be empty")
    try require(key != nil || arguments == nil, argumentsName, "needs \(name.rawValue)")
    let areShort = (arguments ?? []).allSatisfy { $0.unicodeScalars.count <= 256 && !$0.utf8.contains(0) }
    try require(
      (arguments?.count ?? 0) <= TranslationKey.argumentsMax && areShort, argumentsName,
      "must have \(TranslationKey.argumentsMax) texts of 256 characters at most")
    return key.map { TranslationKey(key: $0, arguments: arguments ?? []) }
  }
}
