internal import FoundationEssentials

/// The words of a push in locales other than that of its own: `{"de": {"title": "Guten Tag", "body": "…"}, "pt-BR": {…}}`.
package struct LocalisedTexts: Equatable, Sendable {
  package static let localesMax = 50
  /// The most bytes as JSON.
  package static let bytesMax = 32_768

  private(set) var texts: [LocaleTag: LocalisedText]

  /// What the `{names}` in texts stand for; nil for texts that have none.
  var values: [String: String]?

  /// The words for a device; nil where those of the push itself serve.
  package func choice(for locale: LocaleTag?) -> LocaleChoice? {
    locale.flatMap { LocaleChoice(asked: $0) { texts[$0] != nil } }
  }

  /// The words of one of the locales, without those that it leaves as they are.
  func words(in locale: LocaleTag) -> LocalisedText.Words {
    guard let text = texts[locale] else { return .init() }
    let words = text.words(in: locale, values ?? [:])
    return values.map(words.filled) ?? words
  }

  /// As JSON, in the order of the locales.
  var document: PayloadObject {
    texts.sorted { $0.key.text < $1.key.text }.reduce(into: [:]) { $0[$1.key.text] = .object($1.value.document) }
  }
}

extension LocalisedTexts: Decodable {
  /// Reads an object whose members are locales.
  /// - Throws: `DecodingError` that names the member which cannot be used.
  package init(from decoder: any Decoder) throws {
    texts = [:]
    let container = try decoder.container(keyedBy: LocaleKey.self)
    for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      let locale = LocaleTag(key.stringValue)
      try container.require(locale != nil, key, "must be a BCP 47 language tag")
      guard let locale else { continue }
      try container.require(texts[locale] == nil, key, "names a locale for the second time")
      texts[locale] = try container.decode(LocalisedText.self, forKey: key)
      try container.require(texts.count <= Self.localesMax, key, "must be one of \(Self.localesMax) locales at most")
    }
    guard document.encoded().count <= Self.bytesMax else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "has more than \(Self.bytesMax) bytes"))
    }
  }

  private struct LocaleKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// The words of a push in one locale; what it lacks is as the push itself has it.
package struct LocalisedText: Equatable, Sendable {
  package struct Words: Equatable, Sendable {
    /// The first line; at most 256 characters, not empty.
    package var title: String?
    /// The line below it; at most 256 characters.
    package var subtitle: String?
    /// The text; at most 2048 characters.
    package var body: String?
  }

  /// For numbers that have no words of their own.
  let words: Words

  /// The number that the words are about; nil for none.
  let count: Int?

  /// The name of the value with that number, in texts that have values.
  let counted: String?

  /// The words for numbers of a category, where they differ from ``words``.
  let plural: [PluralCategory: Words]

  fileprivate func words(in locale: LocaleTag, _ values: [String: String]) -> Words {
    guard let count = count ?? counted.flatMap({ values[$0] }).flatMap({ Int($0) }),
      let special = plural[PluralCategory(of: count, in: locale)]
    else { return words }
    return Words(
      title: special.title ?? words.title, subtitle: special.subtitle ?? words.subtitle,
      body: special.body ?? words.body)
  }

  fileprivate var document: PayloadObject {
    var object = words.document
    object["count"] = count.map { .integer(Int64($0)) }
    object["counted"] = counted.map { .string($0) }
    let forms = PluralCategory.allCases.reduce(into: PayloadObject()) { object, category in
      object[category.rawValue] = plural[category].map { .object($0.document) }
    }
    if !plural.isEmpty { object["plural"] = .object(forms) }
    return object
  }
}

extension LocalisedText: Decodable {
  private enum Key: String, CodingKey, CaseIterable { case count, counted, plural }

  private enum Form: String, CodingKey, CaseIterable { case zero, one, two, few, many }

  /// Reads `title`, `subtitle`, `body`, `count` or `counted`, and `plural`, an object with the same words by category.
  package init(from decoder: any Decoder) throws {
    words = try Words(from: decoder)
    let container = try decoder.container(keyedBy: Key.self)
    count = try container.decodeIfPresent(Int.self, forKey: .count)
    counted = try container.text(.counted, scalarsMax: 63)
    var plural: [PluralCategory: Words] = [:]
    if try container.contains(.plural) && !container.decodeNil(forKey: .plural) {
      let forms = try container.nestedContainer(keyedBy: Form.self, forKey: .plural)
      for form in Form.allCases {
        guard let category = PluralCategory(rawValue: form.rawValue) else { continue }
        plural[category] = try forms.decodeIfPresent(Words.self, forKey: form)
      }
    }
    self.plural = plural
  }
}

extension LocalisedText.Words: Decodable {
  private enum Key: String, CodingKey { case title, subtitle, body }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    title = try container.text(.title, scalarsMax: 256)
    try container.require(title?.isEmpty != true, .title, "must not be empty")
    subtitle = try container.text(.subtitle, scalarsMax: 256)
    body = try container.text(.body, scalarsMax: 2048)
  }

  fileprivate func filled(with values: [String: String]) -> Self {
    let title = title?.filled(with: values)
    return Self(
      title: title?.isEmpty == false ? title : nil, subtitle: subtitle?.filled(with: values),
      body: body?.filled(with: values))
  }

  fileprivate var document: PayloadObject {
    var object: PayloadObject = [:]
    object["title"] = title.map { .string($0) }
    object["subtitle"] = subtitle.map { .string($0) }
    object["body"] = body.map { .string($0) }
    return object
  }
}

extension String {
  /// The text with its `{names}` replaced, as `tacet.fill_text` does it: a name without a value leaves nothing, and a brace that
  /// begins no name is kept.
  fileprivate func filled(with values: [String: String]) -> String { TextTemplate(self).filled(with: values).text }
}

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
