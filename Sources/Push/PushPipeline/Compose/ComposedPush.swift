internal import APNSCore
internal import Localisation
internal import PushKinds

/// What an event says: the same to all targets, or to each the words of its locale.
struct ComposedPush {
  /// For a target whose locale has no words.
  let usual: PreparedPush

  /// Nil for one text for all, so that nothing is asked of targets then.
  private let translations: Translations?

  /// - Throws: ``PushRequestError`` when the content fits no push.
  init(_ content: any PushContent, about subject: PushSubject) throws(PushRequestError) {
    usual = try content.push(about: subject)
    translations = content.localised.map { Translations(content, texts: $0, about: subject) }
  }

  /// The push for a target, and the locale of its words; nil for those of the event itself.
  func push(for target: PushTarget) -> (push: PreparedPush, locale: LocaleChoice?) {
    guard let translations, let choice = translations.texts.choice(for: target.locale),
      let push = translations.push(in: choice.shown)
    else { return (usual, nil) }
    return (push, choice)
  }
}

/// The pushes of one event by locale, each made when the first target asks for it.
private final class Translations {
  let texts: LocalisedTexts
  private let content: any PushContent
  private let subject: PushSubject
  private var pushes: [LocaleTag: PreparedPush?] = [:]

  init(_ content: any PushContent, texts: LocalisedTexts, about subject: PushSubject) {
    self.content = content
    self.texts = texts
    self.subject = subject
  }

  /// Nil for words that fit no push.
  func push(in locale: LocaleTag) -> PreparedPush? {
    if let known = pushes[locale] { return known }
    let push = try? content.inLocale(locale).push(about: subject)
    pushes[locale] = .some(push)
    return push
  }
}
