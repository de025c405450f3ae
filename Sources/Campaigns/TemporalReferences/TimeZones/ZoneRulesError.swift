/// Why the content of a file is unusable as the rules of a time zone.
package struct ZoneRulesError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong.
  package enum Code: String, Sendable {
    /// The file has more bytes than a reader takes.
    case tooLarge = "larger than a zone's file can be"
    /// The magic number is missing.
    case notTZif = "not a TZif file"
    /// The version is not 1 to 4.
    case unknownVersion = "of an unknown version"
    /// The file ends inside a part.
    case truncated = "cut off"
    /// There are bytes after the last part.
    case trailingBytes = "longer than its content"
    /// A count contradicts another one, or there are more types than an index can name.
    case unusableCounts = "with counts that contradict each other"
    /// The file counts leap seconds, which Unix time does not.
    case leapSeconds = "with leap seconds"
    /// A transition is not later than the one before.
    case unorderedTransitions = "with transitions out of order"
    /// A transition names a local time type that the file does not have.
    case unknownType = "with a transition to a type that is not there"
    /// An offset is outside of what RFC 9636 allows.
    case unusableOffset = "with an impossible offset from UTC"
    /// The rule for the time after the last transition is not a POSIX `TZ` string.
    case unusableFooter = "with an unusable rule in its footer"
  }

  /// What is wrong.
  package let code: Code

  /// Where reading stopped, in bytes from the file's start.
  package let position: Int

  /// One line for an engineer; it holds nothing of the file's content.
  package var description: String { "the file is \(code.rawValue) (byte \(position))" }
}
