internal import Channels
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Compose: what an event says, once, and then the push for each target.
extension DeliveryPipeline {
  /// What an event says; nil when it is gone or fits no push.
  func compose(_ event: PushEvent) -> ComposedPush? {
    compose(event) { content throws(PushRequestError) in try ComposedPush(content, about: event.subject) }
  }

  /// The same, in the words of a closure.
  func compose(
    _ event: PushEvent, _ push: (any PushContent) throws(PushRequestError) -> ComposedPush?
  ) -> ComposedPush? {
    do throws(PushRequestError) {
      guard let content = event.content else { return nil }
      return try push(content)
    } catch {
      logger.error("cannot compose", metadata: ["subject_id": "\(event.subject.id.text)", "error": "\(error)"])
      return nil
    }
  }
}

extension PushEvent {
  /// The push for one target of a recipient.
  /// - Parameter timeToLive: how long the service may keep it for a device that is off, unless the push says otherwise.
  func push(
    _ push: PreparedPush, to target: PushTarget, of recipient: PushRecipient, timeToLive: Duration
  ) -> OutgoingPush {
    OutgoingPush(
      push, to: target, of: recipient.userID, about: subject, enqueuedAt: enqueuedAt, unread: recipient.badge,
      expiresAt: expiresAt(for: recipient, timeToLive: timeToLive))
  }

  /// The end of a push's life, in seconds since 1970.
  ///
  /// As for the suppression rules, time on hold does not count unless the push has its own life: a message held for quiet hours
  /// is worth as much in the morning.
  private func expiresAt(for recipient: PushRecipient, timeToLive: Duration) -> Int64 {
    let situation = recipient.situation
    let held = situation.life == nil ? situation.heldFor.wholeMicroseconds : 0
    let (end, overflow) = datedAt.addingReportingOverflow(held)
    return (overflow ? .max : end) / 1_000_000 + (situation.life ?? timeToLive).components.seconds
  }
}

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

/// Tacet's own words, as the host has them: read from the database by who asks first, and a minute later again.
///
/// Asking takes no time. Until the words are read, and while they cannot be, the last known ones serve.
final class KnownWords {
  /// How long words are taken for current.
  private static let interval = Duration.seconds(60)

  private let store: PushDatabase
  private var words = TacetWords.builtIn
  private var askedAt: UInt64?

  init(in store: PushDatabase) { self.store = store }

  func current(on reactor: isolated Reactor) -> TacetWords {
    if askedAt.map({ Reactor.now &- $0 > Self.interval.clampedNanoseconds }) != false {
      askedAt = Reactor.now
      reactor.start { await self.read(on: reactor) }
    }
    return words
  }

  func read(on reactor: isolated Reactor) async {
    if let read = try? await store.words(on: reactor) { words = read }
  }
}
