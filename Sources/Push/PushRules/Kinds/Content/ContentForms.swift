/// The forms of one event's push, from all of its words to none.
///
/// Each form is encoded once for all recipients. A sealed push is encoded for each target.
package struct ContentForms: Sendable {
  /// What the push is about, for its forms.
  package struct Event: Sendable {
    let subject: PushSubject
    let sender: String?
    let notice: String
    let issuedAt: Int64

    /// - Parameters:
    ///   - sender: the name that ``ContentLevel/Words/sender`` shows; nil where there is none.
    ///   - words: those that say that something came. locale: the target's; nil for one that is not known.
    ///   - issuedAt: milliseconds since 1970; later each time the push is sent.
    package init(_ subject: PushSubject, sender: String?, in words: TacetWords, _ locale: LocaleTag?, issuedAt: Int64) {
      self.subject = subject
      self.sender = sender
      notice = words.text(subject.kind == MessagePush.name ? .newMessage : .newNotification, in: locale)
      self.issuedAt = issuedAt
    }
  }

  private var source: PreparedPush.Document?
  private var documents: [Form: PreparedPush.Document] = [:]

  private struct Form: Hashable {
    let words: ContentLevel.Words
    let notice: String
  }

  package init() {}

  /// The push as a target may get it.
  /// - Throws: ``PushRequestError`` when a form fits no push.
  package mutating func form(
    of push: PreparedPush, for target: PushTarget, by policy: ContentPolicy, about event: @autoclosure () -> Event
  ) throws(PushRequestError) -> DisclosedPush {
    if target.keys == nil, policy.isFull { return DisclosedPush(push: push) }
    let wishes = TargetWishes(target.keys)
    var level = policy.level(for: target).strictest(wishes.level)
    if target.isEncryptedByChannel { level.isSealed = false }
    guard level != .full else { return DisclosedPush(push: push) }
    let event = event()
    if level.words == .sender, event.sender == nil { level.words = .none }
    guard level.isSealed, level.words != .none, push.alert != nil else {
      return try reduced(push, to: level.words == .full ? .none : level.words, event)
    }
    guard let key = wishes.key else {
      let form = try reduced(push, to: .none, event)
      return DisclosedPush(push: form.push, note: .noKey)
    }
    return try sealed(push, showing: level.words, for: target, key, event)
  }

  private mutating func reduced(
    _ push: PreparedPush, to words: ContentLevel.Words, _ event: Event
  ) throws(PushRequestError) -> DisclosedPush {
    let document = try document(of: push, words, event)
    guard document != push.document else { return DisclosedPush(push: push) }
    return DisclosedPush(push: push.replacing(document), note: words == .sender ? .sender : ContentNote.none)
  }

  private mutating func document(
    of push: PreparedPush, _ words: ContentLevel.Words, _ event: Event
  ) throws(PushRequestError) -> PreparedPush.Document {
    if words == .full { return push.document }
    if source != push.document { (source, documents) = (push.document, [:]) }
    let form = Form(words: words, notice: event.notice)
    if let known = documents[form] { return known }
    let document = try push.document.reduced(to: words, event)
    documents[form] = document
    return document
  }

  /// What ``ContentLevel/Words/none`` shows, and the words in an envelope.
  private mutating func sealed(
    _ push: PreparedPush, showing words: ContentLevel.Words, for target: PushTarget, _ key: SealingKey, _ event: Event
  ) throws(PushRequestError) -> DisclosedPush {
    let fallback = try document(of: push, .none, event)
    guard case .alert(let prepared, let visible) = fallback, case .alert(_, let whole) = push.document,
      case .alert(_, let shown) = try document(of: push, words, event)
    else { return DisclosedPush(push: push.replacing(fallback), note: ContentNote.none) }
    let room = target.sealedBytesMax - prepared.bytes(withBadge: .max) - #","sealed":"""#.utf8.count
    let content = SealedWords(of: shown, withheld: whole.custom.withheld, issuedAt: event.issuedAt)
    let binding = SealedBinding(
      channel: target.channel.rawValue,
      address: target.channel == .apns ? target.address.lowercased() : target.address, kind: event.subject.kind,
      id: event.subject.id.text)
    guard let size = SealedEnvelope.paddedSizes.last(where: { SealedEnvelope.characters(ofPaddedSize: $0) <= room }),
      let words = content.encoded(bytesMax: size),
      let envelope = try? SealedEnvelope.seal(words, for: key, boundTo: binding)
    else { return DisclosedPush(push: push.replacing(fallback), note: .noKey) }
    return DisclosedPush(push: push.replacing(try visible.carrying(envelope)), note: .sealed)
  }
}

/// A push as one target gets it.
package struct DisclosedPush: Sendable {
  package let push: PreparedPush

  /// What was kept back; nil for nothing.
  package var note: ContentNote?
}

/// What was kept back of a push, in the words of the history.
package enum ContentNote: String, Sendable {
  case sender
  /// It shows no words of the event.
  case none
  /// Its words are encrypted for the device.
  case sealed
  /// It shows no words, because they could not be encrypted for the device.
  case noKey = "no_key"
}

extension PushTarget {
  /// Whether the channel encrypts everything for the device (RFC 8291).
  fileprivate var isEncryptedByChannel: Bool { channel.rawValue == "web_push" }

  /// The bytes of a document with an envelope. Of what FCM takes, some is for names that only its messages have.
  fileprivate var sealedBytesMax: Int { channel == .apns ? PushType.alert.bodyBytesMax : 1800 }
}
