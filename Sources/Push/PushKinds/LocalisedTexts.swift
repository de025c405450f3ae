internal import APNSCore
internal import FoundationEssentials
public import Localisation

/// The words of a push in locales other than that of its own: `{"de": {"title": "Guten Tag", "body": "…"}, "pt-BR": {…}}`.
public struct LocalisedTexts: Equatable, Sendable {
  /// The most locales.
  public static let localesMax = 50
  /// The most bytes as JSON.
  public static let bytesMax = 32_768

  private(set) var texts: [LocaleTag: LocalisedText]

  /// The words for a device; nil where those of the push itself serve.
  public func choice(for locale: LocaleTag?) -> LocaleChoice? {
    locale.flatMap { LocaleChoice(asked: $0) { texts[$0] != nil } }
  }

  /// The words of one of the locales, without those that it leaves as they are.
  func words(in locale: LocaleTag) -> LocalisedText.Words { texts[locale]?.words(in: locale) ?? .init() }

  /// As JSON, in the order of the locales.
  var document: PayloadObject {
    texts.sorted { $0.key.text < $1.key.text }.reduce(into: [:]) { $0[$1.key.text] = .object($1.value.document) }
  }
}

extension LocalisedTexts: Decodable {
  /// Reads an object whose members are locales.
  /// - Throws: `DecodingError` that names the member which cannot be used.
  public init(from decoder: any Decoder) throws {
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
public struct LocalisedText: Equatable, Sendable {
  /// What is said.
  public struct Words: Equatable, Sendable {
    /// The first line; at most 256 characters, not empty.
    public var title: String?
    /// The line below it; at most 256 characters.
    public var subtitle: String?
    /// The text; at most 2048 characters.
    public var body: String?
  }

  /// For numbers that have no words of their own.
  let words: Words

  /// The number that the words are about; nil for none.
  let count: Int?

  /// The words for numbers of a category, where they differ from ``words``.
  let plural: [PluralCategory: Words]

  fileprivate func words(in locale: LocaleTag) -> Words {
    guard let count, let special = plural[PluralCategory(of: count, in: locale)] else { return words }
    return Words(
      title: special.title ?? words.title, subtitle: special.subtitle ?? words.subtitle,
      body: special.body ?? words.body)
  }

  fileprivate var document: PayloadObject {
    var object = words.document
    object["count"] = count.map { .integer(Int64($0)) }
    let forms = PluralCategory.allCases.reduce(into: PayloadObject()) { object, category in
      object[category.rawValue] = plural[category].map { .object($0.document) }
    }
    if !plural.isEmpty { object["plural"] = .object(forms) }
    return object
  }
}

extension LocalisedText: Decodable {
  private enum Key: String, CodingKey, CaseIterable { case count, plural }

  private enum Form: String, CodingKey, CaseIterable { case zero, one, two, few, many }

  /// Reads `title`, `subtitle`, `body`, `count` and `plural`, an object with the same words by category.
  public init(from decoder: any Decoder) throws {
    words = try Words(from: decoder)
    let container = try decoder.container(keyedBy: Key.self)
    count = try container.decodeIfPresent(Int.self, forKey: .count)
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

  /// Reads the texts that there are.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    title = try container.text(.title, scalarsMax: 256)
    try container.require(title?.isEmpty != true, .title, "must not be empty")
    subtitle = try container.text(.subtitle, scalarsMax: 256)
    body = try container.text(.body, scalarsMax: 2048)
  }

  fileprivate var document: PayloadObject {
    var object: PayloadObject = [:]
    object["title"] = title.map { .string($0) }
    object["subtitle"] = subtitle.map { .string($0) }
    object["body"] = body.map { .string($0) }
    return object
  }
}
