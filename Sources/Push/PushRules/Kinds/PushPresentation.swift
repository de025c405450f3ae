internal import FoundationEssentials

/// How a push is shown beside its title and text. The same members stand in `POST /v1/pushes`, in `tacet.watch` and in
/// `tacet.pushes`.
package struct PushPresentation: Equatable, Sendable {
  /// Whether a push shows something.
  package enum Channel: String, CaseIterable, Sendable {
    case alert
    /// It shows nothing and wakes the app, which fetches.
    case fetch
  }

  /// The line below the title, at most 256 characters.
  package var subtitle: String?
  /// The registered category that brings the action buttons.
  package var category: String?
  /// The name of a sound file of the app; `default` without it, and silent when it is empty.
  package var sound: String?
  package var interruptionLevel: InterruptionLevel?
  package var threadID: String?
  /// The place in a summary, where the highest is featured.
  package var relevanceScore: UnitFraction?
  /// An `https` address. The app's service extension shows the image.
  package var imageURL: String?
  /// The number on the app's icon; the user's unread messages without it.
  package var badge: Int?
  /// By what it replaces others on the screen; only itself without it.
  package var collapseID: String?
  package var channel = Channel.alert

  /// The words in other locales; nil for one text for all.
  package var localised: LocalisedTexts?
  /// Texts as keys of the app's own translations, which win over words wherever the app has them.
  package var translations = TranslationKeys()
  /// The locale of the words; nil when it is not known.
  var locale: LocaleTag?

  package init() {}

  /// The push of this presentation.
  /// - Parameter thread: what the system groups by unless ``threadID`` says otherwise.
  func push(
    title: String, body: String, thread: String?, custom: PayloadObject, about subject: PushSubject
  ) throws(PushRequestError) -> Push {
    let collapseID = collapseID ?? subject.collapseText
    let payload: PushPayload =
      switch channel {
      case .alert: .alert(try alert(title: title, body: body, thread: thread, custom: custom))
      case .fetch: .background(custom)
      }
    var push = try Push(payload, collapsingBy: collapseID)
    push.badge = badge
    push.locale = locale
    return push
  }

  /// Takes the words of a locale in place of a push's own.
  func inLocale(_ locale: LocaleTag, _ title: inout String, _ body: inout String) -> PushPresentation {
    let words = localised?.words(in: locale) ?? .init()
    title = words.title ?? title
    body = words.body ?? body
    var presentation = self
    presentation.subtitle = words.subtitle ?? subtitle
    presentation.localised = nil
    presentation.locale = locale
    return presentation
  }

  private func alert(
    title: String, body: String, thread: String?, custom: PayloadObject
  ) throws(PushRequestError) -> AlertPayload {
    var custom = custom
    if let imageURL { custom["image_url"] = .string(imageURL) }
    return try AlertPayload(
      title: TranslationKey.text(translations.title, words: title), subtitle: subtitleText,
      body: TranslationKey.text(translations.body, words: body),
      sound: sound ?? AlertPayload.defaultSound, threadIdentifier: threadID ?? thread,
      category: category,
      interruptionLevel: interruptionLevel, relevanceScore: relevanceScore, runsServiceExtension: imageURL != nil,
      custom: custom)
  }
  private var subtitleText: AlertText? {
    guard subtitle != nil || translations.subtitle != nil else { return nil }
    return TranslationKey.text(translations.subtitle, words: subtitle ?? "")
  }
}

extension PushPresentation {
  enum Key: String, CodingKey, CaseIterable {
    case subtitle, category, sound, badge, channel, localised
    case interruptionLevel = "interruption_level"
    case threadID = "thread_id"
    case relevanceScore = "relevance_score"
    case imageURL = "image_url"
    case collapseID = "collapse_id"
  }

  typealias Container = KeyedDecodingContainer<Key>

  /// Reads every member.
  /// - Throws: `DecodingError` that names the member which cannot be used.
  init(_ container: Container) throws {
    for key in Key.allCases { try read(key, from: container) }
  }

  /// Reads every member, also those of ``TranslationKeys``.
  init(from decoder: any Decoder) throws {
    try self.init(decoder.container(keyedBy: Key.self))
    translations = try TranslationKeys(decoder.container(keyedBy: TranslationKeys.Key.self))
  }

  static let memberNames = Key.allCases.map(\.rawValue) + TranslationKeys.Key.allCases.map(\.rawValue)

  /// Reads one member; an absent or null one stays as it is.
  mutating func read(_ key: Key, from container: Container) throws {
    switch key {
    case .subtitle: subtitle = try container.text(key, scalarsMax: 256)
    case .category: category = try container.text(key, scalarsMax: 64)
    case .sound: sound = try container.text(key, scalarsMax: 64)
    case .threadID: threadID = try container.text(key, scalarsMax: 64)
    case .imageURL:
      imageURL = try container.text(key, scalarsMax: 1024)
      try container.require(imageURL.map(Self.isImageAddress) != false, key, "must be an https address")
    case .collapseID:
      collapseID = try container.text(key, scalarsMax: 64)
      try container.require(
        collapseID.map { (try? CollapseIdentifier($0)) != nil } != false, key, "must be 1 to 64 visible characters")
    case .badge:
      badge = try container.decodeIfPresent(Int.self, forKey: key)
      try container.require(badge.map { (0...999_999).contains($0) } != false, key, "must be from 0 to 999999")
    case .relevanceScore:
      let score = try container.decodeIfPresent(Double.self, forKey: key)
      relevanceScore = score.flatMap { try? UnitFraction($0) }
      try container.require((score == nil) == (relevanceScore == nil), key, "must be from 0 to 1")
    case .interruptionLevel: interruptionLevel = try container.word(key)
    case .channel: channel = try container.word(key) ?? channel
    case .localised: localised = try container.decodeIfPresent(LocalisedTexts.self, forKey: key)
    }
  }

  private static func isImageAddress(_ text: String) -> Bool {
    text.hasPrefix("https://") && text.utf8.count > 8 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The members as JSON, without those that say nothing; ``collapseID`` has a separate column.
  package var json: String { String(decoding: document.encoded(), as: UTF8.self) }

  private var document: PayloadObject {
    var object: PayloadObject = [:]
    func set(_ key: Key, _ value: PayloadValue?) { object[key.rawValue] = value }
    set(.subtitle, subtitle.map { .string($0) })
    set(.category, category.map { .string($0) })
    set(.sound, sound.map { .string($0) })
    set(.interruptionLevel, interruptionLevel.map { .string($0.rawValue) })
    set(.threadID, threadID.map { .string($0) })
    set(.relevanceScore, (relevanceScore?.value).flatMap { try? .number(FiniteNumber($0)) })
    set(.imageURL, imageURL.map { .string($0) })
    set(.badge, badge.map { .integer(Int64($0)) })
    set(.channel, channel == .alert ? nil : .string(channel.rawValue))
    set(.localised, localised.map { .object($0.document) })
    translations.write(to: &object)
    return object
  }
}

/// A presentation as it was stored, or as templates have made it of a row: a member that cannot be used is left out, because the
/// words are worth more than their category.
struct StoredPresentation: Decodable {
  let presentation: PushPresentation

  init(presentation: PushPresentation) { self.presentation = presentation }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: PushPresentation.Key.self)
    var presentation = PushPresentation()
    for key in PushPresentation.Key.allCases {
      var attempt = presentation
      if (try? attempt.read(key, from: container)) != nil { presentation = attempt }
    }
    if let keys = try? TranslationKeys(decoder.container(keyedBy: TranslationKeys.Key.self)) {
      presentation.translations = keys
    }
    self.presentation = presentation
  }
}

extension KeyedDecodingContainer {
  /// A text without the character that the database's texts cannot hold.
  func text(_ key: Key, scalarsMax: Int) throws -> String? {
    guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
    try require(text.unicodeScalars.count <= scalarsMax, key, "must have \(scalarsMax) characters at most")
    try require(!text.utf8.contains(0), key, "must not contain U+0000")
    return text
  }

  func word<Word: RawRepresentable & CaseIterable>(_ key: Key) throws -> Word? where Word.RawValue == String {
    guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be one of \(words)")
    }
    return word
  }
}
