internal import FoundationEssentials

/// How much of an event's words a push brings: the value of `CONTENT`, of an app's section, and of a user's choice.
package enum ContentChoice: String, CaseIterable, Sendable {
  case full
  case sender
  /// That there is something, and ids.
  case none
  /// Everything, encrypted for the device: who carries the push sees what ``none`` shows.
  case sealed
}

/// What several choices come to: how many words the device shows, and whether they are encrypted on the way.
///
/// The two are independent, so the strictest of both applies. `sealed` and `sender` together seal the sender's name; `sealed` and
/// `none` together are `none`.
package struct ContentLevel: Hashable, Sendable {
  package enum Words: Int, Comparable, Sendable {
    case full
    case sender
    case none

    /// Fewer words are more.
    package static func < (one: Words, other: Words) -> Bool { one.rawValue < other.rawValue }
  }

  package var words: Words

  /// Whether the words are encrypted for the device.
  package var isSealed: Bool

}

extension ContentLevel {
  package static let full = ContentLevel(words: .full, isSealed: false)

  package init(_ choice: ContentChoice) {
    switch choice {
    case .full, .sealed: words = .full
    case .sender: words = .sender
    case .none: words = .none
    }
    isSealed = choice == .sealed
  }

  package func strictest(_ other: ContentLevel) -> ContentLevel {
    ContentLevel(words: max(words, other.words), isSealed: isSealed || other.isSealed)
  }
}

/// Who reads what a channel carries.
package enum ChannelForm: Equatable, Sendable {
  /// The device alone: the channel encrypts everything for it.
  case encrypted
  /// The channel's service too. A document with an envelope has so many bytes.
  case open(sealedBytesMax: Int)
}

/// What the operator lets pushes say.
package struct ContentPolicy: Equatable, Sendable {
  package var service: ContentLevel

  /// For pushes to an app, by its identifier.
  package var apps: [String: ContentLevel]

  /// The app of device tokens that do not name theirs.
  package var defaultApp: String?

  /// Of the channels beside APNs.
  package var channels: [DeliveryChannel: ChannelForm]

  package init(
    service: ContentLevel = .full, apps: [String: ContentLevel] = [:], defaultApp: String? = nil,
    channels: [DeliveryChannel: ChannelForm] = [:]
  ) {
    self.service = service
    self.apps = apps
    self.defaultApp = defaultApp
    self.channels = channels
  }

  /// A channel that is not known carries no envelope.
  func form(of channel: DeliveryChannel) -> ChannelForm {
    channel == .apns
      ? .open(sealedBytesMax: PushType.bodyBytesMax) : channels[channel] ?? .open(sealedBytesMax: 0)
  }

  var isFull: Bool { service == .full && apps.isEmpty }

  func level(for target: PushTarget) -> ContentLevel {
    guard let app = target.app ?? (target.channel == .apns ? defaultApp : nil), let own = apps[app] else {
      return service
    }
    return service.strictest(own)
  }
}

/// What a registration says of content, in ``PushTarget/keys``: the choice for the device as `content`, the user's for all devices as
/// `user_content`, and the key of the device as `sealing_key`.
struct TargetWishes: Equatable {
  /// The longest document that is read, in bytes; claims cut it at 1024 characters.
  private static let bytesMax = 4096

  /// The strictest choice.
  var level = ContentLevel.full
  /// The device's key; nil without one that can be used.
  var key: SealingKey?

  init(level: ContentLevel = .full, key: SealingKey? = nil) {
    self.level = level
    self.key = key
  }

  /// Reads the members of a JSON object. One that names a choice and cannot be read allows no words.
  init(_ keys: String?) {
    guard let keys, Self.mayConcernContent(keys) else { return }
    guard keys.utf8.count <= Self.bytesMax,
      let document = try? JSONDecoder().decode(Document.self, from: Data(keys.utf8))
    else {
      level = ContentLevel(.none)
      return
    }
    for word in [document.content, document.user_content] {
      guard let word else { continue }
      level = level.strictest(ContentLevel(ContentChoice(rawValue: word) ?? .none))
    }
    key = document.sealing_key.flatMap { SealingKey(text: $0) }
  }

  private struct Document: Decodable {
    let content: String?
    let user_content: String?
    let sealing_key: String?
  }

  /// Whether a text has `content"` or `sealing_key"` anywhere. Most have not, and are not decoded.
  private static func mayConcernContent(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var index = 0
      while index < bytes.count {
        // Both names end in a letter before the quote that few others have there.
        if bytes[index] == UInt8(ascii: "\""), index >= 7 {
          let end = bytes[..<index]
          if end.suffix(7).elementsEqual("content".utf8) || end.suffix(11).elementsEqual("sealing_key".utf8) {
            return true
          }
        }
        index += 1
      }
      return false
    }
  }
}

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

  private var source: PushPayload?
  private var documents: [Form: PushPayload] = [:]

  private struct Form: Hashable {
    let words: ContentLevel.Words
    let notice: String
  }

  package init() {}

  /// The push as a target may get it.
  /// - Throws: ``PushRequestError`` when a form fits no push.
  package mutating func form(
    of push: Push, for target: PushTarget, by policy: ContentPolicy, about event: @autoclosure () -> Event
  ) throws(PushRequestError) -> Push {
    if target.keys == nil, policy.isFull { return push }
    let wishes = TargetWishes(target.keys)
    var level = policy.level(for: target).strictest(wishes.level)
    guard level != .full else { return push }
    var sealedBytesMax = 0
    switch policy.form(of: target.channel) {
    case .encrypted: level.isSealed = false
    case .open(let bytesMax): sealedBytesMax = bytesMax
    }
    guard level != .full else { return push }
    let event = event()
    if level.words == .sender, event.sender == nil { level.words = .none }
    guard level.isSealed, level.words != .none, push.alert != nil else {
      return try reduced(push, to: level.words == .full ? .none : level.words, event)
    }
    guard let key = wishes.key else {
      var form = try reduced(push, to: .none, event)
      form.note = .noKey
      return form
    }
    return try sealed(push, showing: level.words, for: target, key, bytesMax: sealedBytesMax, event)
  }

  private mutating func reduced(
    _ push: Push, to words: ContentLevel.Words, _ event: Event
  ) throws(PushRequestError) -> Push {
    let document = try document(of: push, words, event)
    guard document != push.payload else { return push }
    return push.replacing(document, noting: words == .sender ? .sender : ContentNote.none)
  }

  private mutating func document(
    of push: Push, _ words: ContentLevel.Words, _ event: Event
  ) throws(PushRequestError) -> PushPayload {
    if words == .full { return push.payload }
    if source != push.payload { (source, documents) = (push.payload, [:]) }
    let form = Form(words: words, notice: event.notice)
    if let known = documents[form] { return known }
    let document = try push.payload.reduced(to: words, event)
    documents[form] = document
    return document
  }

  /// What ``ContentLevel/Words/none`` shows, and the words in an envelope.
  private mutating func sealed(
    _ push: Push, showing words: ContentLevel.Words, for target: PushTarget, _ key: SealingKey, bytesMax: Int,
    _ event: Event
  ) throws(PushRequestError) -> Push {
    let fallback = try document(of: push, .none, event)
    guard case .alert(let visible) = fallback, case .alert(let whole) = push.payload,
      case .alert(let shown) = try document(of: push, words, event)
    else { return push.replacing(fallback, noting: ContentNote.none) }
    let room = bytesMax - visible.documentBytesMax - #","sealed":"""#.utf8.count
    let content = SealedWords(of: shown, withheld: whole.custom.withheld, issuedAt: event.issuedAt)
    let binding = SealedBinding(
      channel: target.channel.rawValue,
      address: target.channel == .apns ? target.address.lowercased() : target.address, kind: event.subject.kind,
      id: event.subject.id.text)
    guard let size = SealedEnvelope.paddedSizes.last(where: { SealedEnvelope.characters(ofPaddedSize: $0) <= room }),
      let words = content.encoded(bytesMax: size),
      let envelope = try? SealedEnvelope.seal(words, for: key, boundTo: binding)
    else { return push.replacing(fallback, noting: .noKey) }
    return push.replacing(try visible.carrying(envelope), noting: .sealed)
  }
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

extension Push {
  func replacing(_ payload: PushPayload, noting note: ContentNote?) -> Push {
    var push = self
    push.payload = payload
    push.note = note
    return push
  }
}

extension PushPayload {
  /// The document without the event's words. Sound, category, thread and the names of ids stay; other data of the host does not,
  /// because it may hold words. A Live Activity's stays whole.
  func reduced(to words: ContentLevel.Words, _ event: ContentForms.Event) throws(PushRequestError) -> Self {
    switch self {
    case .liveActivity: return self
    case .background(let custom): return .background(custom.kept)
    case .alert(let alert):
      let sender = words == .sender ? event.sender : nil
      let payload = try AlertPayload(
        title: .verbatim(sender ?? event.notice), body: sender == nil ? nil : .verbatim(event.notice),
        sound: alert.sound,
        threadIdentifier: alert.threadIdentifier, category: alert.category,
        interruptionLevel: alert.interruptionLevel, relevanceScore: alert.relevanceScore,
        runsServiceExtension: words == .none, custom: alert.custom.kept)
      return .alert(payload)
    }
  }
}

extension AlertPayload {
  /// The same with an envelope in its data.
  func carrying(_ envelope: String) throws(PushRequestError) -> PushPayload {
    var custom = custom
    custom["sealed"] = .string(envelope)
    let payload = try AlertPayload(
      title: title, body: body, sound: sound, threadIdentifier: threadIdentifier, category: category,
      interruptionLevel: interruptionLevel, relevanceScore: relevanceScore, runsServiceExtension: true, custom: custom)
    return .alert(payload)
  }
}

extension PayloadObject {
  /// Names of ids, and of what apps need to report a slot.
  private static let keptNames: Set<String> = [
    "type", "message_id", "conversation_id", "subject_id", "surface_kind", "surface_id", "slot", "fire_date",
    "message_ids",
    "all_before", "badge",
  ]

  /// What every level sends.
  var kept: PayloadObject { only { Self.keptNames.contains($0) } }

  /// What only a sealed push brings.
  var withheld: PayloadObject { only { !Self.keptNames.contains($0) } }

  private func only(_ isWanted: (String) -> Bool) -> PayloadObject {
    var object: PayloadObject = [:]
    for (key, value) in members where isWanted(key) { object[key] = value }
    return object
  }
}
