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

  package static let full = ContentLevel(words: .full, isSealed: false)

  package init(words: Words, isSealed: Bool) {
    self.words = words
    self.isSealed = isSealed
  }

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
