/// What a visible push says, and the data it brings to the app.
///
/// Priority, expiration, topic and the collapse identifier are header fields. They have no place here, because APNs silently
/// ignores them inside `aps`. An empty text is left out like a nil one.
package struct AlertPayload: PushPayload {
  package let title: AlertText?
  package let subtitle: AlertText?
  package internal(set) var body: AlertText?
  /// The image or storyboard shown while the app starts from this push.
  package let launchImage: String?
  /// The number on the app's icon, absolute: 0 removes it, a negative one is sent as 0, nil leaves it as it is.
  package let badge: Int?
  /// What is played; nil is silent.
  package let sound: AlertSound?
  /// What the system groups by, such as a conversation.
  package let threadIdentifier: String?
  /// The registered category that brings the action buttons.
  package let category: String?
  /// How much the push may interrupt; nil is as ``InterruptionLevel/active``.
  package let interruptionLevel: InterruptionLevel?
  /// The place among the app's pushes in a summary, where the highest is featured.
  package let relevanceScore: UnitFraction?
  /// The window of the app that comes forward.
  package let targetContentIdentifier: String?
  /// What the user's Focus filter is asked about.
  package let filterCriteria: String?
  /// Whether the app's service extension may change the push before it is shown: `mutable-content`.
  package let runsServiceExtension: Bool
  /// Whether the push also wakes the app in the background: `content-available`.
  package let wakesApp: Bool
  /// The app's own data, beside `aps`.
  package let custom: PayloadObject

  package var pushType: PushType { .alert }

  /// Puts a payload together; each parameter is the property of the same name.
  ///
  /// - Throws: `nothingToShow` without any text, badge and sound, and for a launch image or a service extension without
  ///   a text, which they need; `customKeyReserved` when `custom` has a member named `aps`.
  package init(
    title: AlertText? = nil,
    subtitle: AlertText? = nil,
    body: AlertText? = nil,
    launchImage: String? = nil,
    badge: Int? = nil,
    sound: AlertSound? = nil,
    threadIdentifier: String? = nil,
    category: String? = nil,
    interruptionLevel: InterruptionLevel? = nil,
    relevanceScore: UnitFraction? = nil,
    targetContentIdentifier: String? = nil,
    filterCriteria: String? = nil,
    runsServiceExtension: Bool = false,
    wakesApp: Bool = false,
    custom: PayloadObject = [:]
  ) throws(PushRequestError) {
    self.title = title?.unlessEmpty
    self.subtitle = subtitle?.unlessEmpty
    self.body = body?.unlessEmpty
    self.launchImage = launchImage
    self.badge = badge
    self.sound = sound?.unlessEmpty
    self.threadIdentifier = threadIdentifier
    self.category = category
    self.interruptionLevel = interruptionLevel
    self.relevanceScore = relevanceScore
    self.targetContentIdentifier = targetContentIdentifier
    self.filterCriteria = filterCriteria
    self.runsServiceExtension = runsServiceExtension
    self.wakesApp = wakesApp
    self.custom = try custom.asCustomData()
    guard isNoticed else {
      throw PushRequestError(.nothingToShow, "a text is missing, or at least a badge or a sound")
    }
  }

  var hasText: Bool { title != nil || subtitle != nil || body != nil }

  /// Whether a device does everything that the push asks for.
  var isNoticed: Bool {
    if hasText { return true }
    return (badge != nil || sound != nil) && launchImage == nil && !runsServiceExtension
  }
}

/// A text of an alert: the words, or a key of the app's translations, which Apple documents as given instead of the words.
package enum AlertText: Equatable, Sendable {
  case verbatim(String)
  /// A key of the app's translations, and the arguments for the `%@` of its text, in order. The words are shown where there are
  /// no such translations: in browsers.
  case localized(key: String, arguments: [String] = [], words: String = "")

  /// Whether there is nothing to show: no words, or no key.
  var isEmpty: Bool {
    switch self {
    case .verbatim(let words): words.isEmpty
    case .localized(let key, _, _): key.isEmpty
    }
  }

  /// The text without the app's translations.
  package var words: String {
    switch self {
    case .verbatim(let words), .localized(_, _, let words): words
    }
  }

  var unlessEmpty: AlertText? { isEmpty ? nil : self }
}

extension AlertText: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self = .verbatim(value) }
}

package enum AlertSound: Equatable, Sendable {
  /// A sound file of the app; the system's own sound is named `default`.
  case named(String)
  /// Plays although the device is muted or in a Focus; only for apps with Apple's permission.
  case critical(name: String, volume: UnitFraction)

  package static let `default` = AlertSound.named("default")

  /// Nil in place of a sound without a name, which no device can play.
  var unlessEmpty: AlertSound? {
    switch self {
    case .named(let name), .critical(let name, _): name.isEmpty ? nil : self
    }
  }
}

extension AlertSound: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self = .named(value) }
}

/// How much a push may interrupt: the value of `interruption-level`.
package enum InterruptionLevel: String, CaseIterable, Sendable {
  /// Goes to the list without light or sound.
  case passive
  /// Lights the screen and may play a sound; what a push without a level does.
  case active
  /// As active, and breaks through Focus and the scheduled summary.
  case timeSensitive = "time-sensitive"
  /// Breaks through the mute switch too; only for apps with Apple's permission.
  case critical
}

/// A number from 0 to 1, both included: a volume or a relevance.
package struct UnitFraction: Equatable, Sendable {
  package let value: Double

  /// Takes a number from 0 to 1.
  /// - Throws: `fractionOutOfRange`, also for NaN.
  package init(_ value: Double) throws(PushRequestError) {
    guard (0...1).contains(value) else { throw PushRequestError(.fractionOutOfRange, "\(value) is not within 0...1") }
    self.value = value
  }

  private init(checked value: Double) { self.value = value }

  package static let zero = UnitFraction(checked: 0)
  package static let one = UnitFraction(checked: 1)
}
