/// The rules of one time zone: offsets from UTC, and when they change.
///
/// A value that is read once and then asked without I/O. Its memory is 16 bytes for each change, in files of today at most
/// 4 kilobytes.
package struct ZoneRules: Sendable {
  /// The offset before the first change.
  private let firstOffset: Int

  /// Ascending. Each differs in its offset from the one before.
  let changes: [ZoneChange]

  /// What counts from ``ruleStart`` on.
  private let rule: PosixRule?

  private let ruleStart: Int64

  /// Reads the content of a TZif file of version 1 to 4.
  ///
  /// Of a file with a version of 2 or more, the block with 64-bit times and the footer count. Times before the first
  /// transition have the offset of type 0. Transitions that change only the designation are dropped.
  ///
  /// - Parameter file: all of it; up to 64 kilobytes.
  /// - Throws: `ZoneRulesError` for a file that contradicts RFC 9636 section 3, or counts leap seconds.
  package init(_ file: [UInt8]) throws(ZoneRulesError) {
    let content = try TZifFile(file)
    firstOffset = content.firstOffset
    rule = content.rule
    ruleStart = content.transitions.last?.at ?? .min
    changes = Self.changes(in: content)
  }

  /// The transitions that change the offset. The last one is the first moment of the footer's rule.
  private static func changes(in content: TZifFile) -> [ZoneChange] {
    var changes: [ZoneChange] = []
    for (number, transition) in zip(1..., content.transitions) {
      let rule = number == content.transitions.count ? content.rule : nil
      let offset = rule?.offset(at: transition.at) ?? transition.offset
      if offset == changes.last?.offset ?? content.firstOffset { continue }
      changes.append(ZoneChange(at: transition.at, offset: offset))
    }
    return changes
  }

  /// Seconds east of UTC: -89,999 to 93,599.
  ///
  /// After the last change of the file its footer's rule goes on for ever. Without one the last offset does.
  /// - Parameter seconds: Unix time. Every value has an answer.
  package func offset(at seconds: Int64) -> Int {
    if let rule, seconds >= ruleStart { return rule.offset(at: seconds) }
    let past = changes.startIndex(after: seconds)
    return past == 0 ? firstOffset : changes[past - 1].offset
  }

  /// The next change of the offset after a moment.
  ///
  /// - Parameter seconds: Unix time. A change at this very second is not the next one.
  /// - Returns: nil if the offset never changes again, or not before the end of `Int64`.
  package func nextChange(after seconds: Int64) -> ZoneChange? {
    let next = changes.startIndex(after: seconds)
    if next < changes.count { return changes[next] }
    return rule?.nextChange(after: max(seconds, ruleStart))
  }
}

/// A change of a zone's offset from UTC.
package struct ZoneChange: Hashable, Sendable {
  /// Unix time of the first second with the new offset.
  package let at: Int64

  /// The new offset, in seconds east of UTC.
  package let offset: Int

  package init(at: Int64, offset: Int) {
    self.at = at
    self.offset = offset
  }
}

extension [ZoneChange] {
  /// The index of the first change after a moment, or the count.
  fileprivate func startIndex(after seconds: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].at > seconds { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
