internal import Channels
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Compose: what an event says, once, and then the push for each target.
extension DeliveryPipeline {
  /// What an event says; nil when it is gone or fits no push.
  func compose(_ event: PushEvent) -> EventPushes? { event.content.flatMap { compose($0, of: event) } }

  /// - Parameter content: the event's, or what is made of it.
  func compose(_ content: any PushContent, of event: PushEvent) -> EventPushes? {
    do throws(PushRequestError) {
      return try EventPushes(content, about: event.subject)
    } catch {
      logger.error("cannot compose", metadata: ["subject_id": "\(event.subject.id.text)", "error": "\(error)"])
      return nil
    }
  }
}

extension PushEvent {
  /// One target of a recipient, to whom a push goes.
  /// - Parameter timeToLive: how long the service may keep it for a device that is off, unless the push says otherwise.
  func addressee(
    of push: Push, _ target: PushTarget, of recipient: PushRecipient, timeToLive: Duration
  ) -> Addressee {
    Addressee(
      of: push, target, of: recipient.userID, about: subject, enqueuedAt: enqueuedAt, unread: recipient.badge,
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

/// The pushes of one event: the same to all targets, or to each the one in its locale.
struct EventPushes {
  /// For a target whose locale has no words.
  private let usual: Push

  /// Nil for one text for all, so that nothing is asked of targets then.
  private let translations: Translations?

  /// - Throws: ``PushRequestError`` when the content fits no push.
  init(_ content: any PushContent, about subject: PushSubject) throws(PushRequestError) {
    usual = try content.push(about: subject)
    translations = content.isLocalised ? Translations(of: content, about: subject) : nil
  }

  /// The push for a target, and the locale of its words; nil for those of the event itself.
  func push(for target: PushTarget) -> (push: Push, locale: LocaleChoice?) {
    guard let translations, let choice = translations.content.choice(for: target.locale),
      let push = translations.push(in: choice.shown)
    else { return (usual, nil) }
    return (push, choice)
  }
}

/// The pushes of one event by locale, each made when the first target asks for it.
private final class Translations {
  let content: any PushContent
  private let subject: PushSubject
  private var pushes: [LocaleTag: Push?] = [:]

  init(of content: any PushContent, about subject: PushSubject) {
    self.content = content
    self.subject = subject
  }

  /// Nil for words that fit no push.
  func push(in locale: LocaleTag) -> Push? {
    if let known = pushes[locale] { return known }
    let push = try? content.inLocale(locale).push(about: subject)
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
