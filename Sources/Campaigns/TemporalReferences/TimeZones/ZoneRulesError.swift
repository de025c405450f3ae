/// Why the content of a file is unusable as the rules of a time zone.
package struct ZoneRulesError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    case tooLarge = "larger than a zone's file can be"
    /// The magic number is missing.
    case notTZif = "not a TZif file"
    /// The version is not 1 to 4.
    case unknownVersion = "of an unknown version"
    case truncated = "cut off"
    case trailingBytes = "longer than its content"
    /// A count contradicts another one, or there are more types than an index can name.
    case unusableCounts = "with counts that contradict each other"
    /// The file counts leap seconds, which Unix time does not.
    case leapSeconds = "with leap seconds"
    case unorderedTransitions = "with transitions out of order"
    case unknownType = "with a transition to a type that is not there"
    /// An offset is outside of what RFC 9636 allows.
    case unusableOffset = "with an impossible offset from UTC"
    /// The rule for the time after the last transition is not a POSIX `TZ` string.
    case unusableFooter = "with an unusable rule in its footer"
  }

  package let code: Code

  /// Where reading stopped, in bytes from the file's start.
  package let position: Int

  /// One line for an engineer; it holds nothing of the file's content.
  package var description: String { "the file is \(code.rawValue) (byte \(position))" }
}
