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
  ) throws(PushRequestError) -> PreparedPush {
    let collapseID = collapseID ?? subject.collapseText
    var push =
      switch channel {
      case .alert:
        try PreparedPush(
          alert(title: title, body: body, thread: thread, custom: custom), collapsingBy: collapseID)
      case .fetch: try PreparedPush(waking: custom, collapsingBy: collapseID)
      }
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

  func alert(
    title: String, body: String, thread: String?, badge: Int? = nil, custom: PayloadObject
  ) throws(PushRequestError) -> AlertPayload {
    var custom = custom
    if let imageURL { custom["image_url"] = .string(imageURL) }
    return try AlertPayload(
      title: TranslationKey.text(translations.title, words: title), subtitle: subtitleText,
      body: TranslationKey.text(translations.body, words: body),
      badge: badge, sound: sound.map { .named($0) } ?? .default, threadIdentifier: threadID ?? thread,
      category: category,
      interruptionLevel: interruptionLevel, relevanceScore: relevanceScore, runsServiceExtension: imageURL != nil,
      custom: custom)
  }
  private var subtitleText: AlertText? {
    guard subtitle != nil || translations.subtitle != nil else { return nil }
    return TranslationKey.text(translations.subtitle, words: subtitle ?? "")
  }
}
