internal import PushRules

/// What an event says: the same to all targets, or to each the words of its locale.
struct ComposedPush {
  /// For a target whose locale has no words.
  let usual: PreparedPush

  /// Nil for one text for all, so that nothing is asked of targets then.
  private let translations: Translations?

  /// - Throws: ``PushRequestError`` when the content fits no push.
  init(_ content: any PushContent, about subject: PushSubject) throws(PushRequestError) {
    usual = try content.push(about: subject)
    translations = content.localised.map { texts in
      Translations(choice: { texts.choice(for: $0) }) { try? content.inLocale($0).push(about: subject) }
    }
  }

  /// A silent update of a burst's notification.
  /// - Parameters:
  ///   - first: the message that sounded. more: messages of the burst besides this one.
  /// - Throws: ``PushRequestError`` when the message fits no push.
  init(
    _ message: MessagePush, about subject: PushSubject, updating first: PushSubject, more: Int, in words: TacetWords
  ) throws(PushRequestError) {
    func update(in locale: LocaleTag?) throws(PushRequestError) -> PreparedPush {
      let others = more > 0 ? words.text(.more, count: more, in: locale) : nil
      return try message.update(of: first, others: others, about: subject)
    }
    usual = try update(in: nil)
    translations =
      more > 0 ? Translations(choice: { words.choice(of: .more, for: $0) }) { try? update(in: $0) } : nil
  }

  /// The push for a target, and the locale of its words; nil for those of the event itself.
  func push(for target: PushTarget) -> (push: PreparedPush, locale: LocaleChoice?) {
    guard let translations, let choice = translations.choice(target.locale),
      let push = translations.push(in: choice.shown)
    else { return (usual, nil) }
    return (push, choice)
  }
}

/// The pushes of one event by locale, each made when the first target asks for it.
private final class Translations {
  /// The locale of the words for a device; nil for those of the event itself.
  let choice: (LocaleTag?) -> LocaleChoice?
  private let make: (LocaleTag) -> PreparedPush?
  private var pushes: [LocaleTag: PreparedPush?] = [:]

  init(choice: @escaping (LocaleTag?) -> LocaleChoice?, make: @escaping (LocaleTag) -> PreparedPush?) {
    self.choice = choice
    self.make = make
  }

  /// Nil for words that fit no push.
  func push(in locale: LocaleTag) -> PreparedPush? {
    if let known = pushes[locale] { return known }
    let push = make(locale)
    pushes[locale] = .some(push)
    return push
  }
}
