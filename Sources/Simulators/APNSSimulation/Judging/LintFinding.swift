internal import DequeModule

/// A mistake that APNs silently accepts. It is reported beside the response, never in it.
package struct LintFinding: Hashable, Sendable {
  package enum Code: String, CaseIterable, Codable, Sendable {
    /// A member of `aps` that Apple does not document; a misplaced `priority` or `topic` is the usual one.
    case apsUnknownKey = "aps-unknown-key"
    case missingPushType = "missing-push-type"
    /// `iat` is a string or a fraction.
    case iatNotInteger = "iat-not-integer"
    /// The signature is ASN.1 DER instead of the 64 bytes of RFC 7518 §3.4.
    case derSignature = "der-signature"
    /// An alert push with nothing to show or play, a background push without `content-available`, a widget push without
    /// `content-changed`, or members of a Live Activity in a push of another type.
    case payloadTypeMismatch = "payload-type-mismatch"
    /// A background push that has an alert, a badge or a sound.
    case backgroundWithAlert = "background-with-alert"
    case liveActivityMissingKey = "live-activity-missing-key"
    /// A Live Activity push whose event does not belong to the kind of its token.
    case liveActivityWrongToken = "live-activity-wrong-token"
    /// A Live Activity alert without a title, which is not shown.
    case liveActivityUntitledAlert = "live-activity-untitled-alert"
    case upperCaseToken = "upper-case-token"
  }

  package let code: Code
  /// The member or field; empty when the code is sufficient.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }
}

/// Lint findings: a counter for each kind, and the latest ones in full.
package struct LintLog: Sendable {
  package struct Entry: Codable, Equatable, Sendable {
    package let code: LintFinding.Code
    package let detail: String
    /// The number of the request in the push log.
    package let push: Int
  }

  /// Enough to show a pattern. The counters show how common it is.
  private static let entriesMax = 1000

  package private(set) var counts: [LintFinding.Code: Int] = [:]

  private var kept: Deque<Entry> = []

  package init() {}

  /// The latest findings, oldest first.
  package var entries: [Entry] { Array(kept) }

  mutating func append(_ findings: [LintFinding], push: Int) {
    for finding in findings {
      counts[finding.code, default: 0] += 1
      if kept.count == Self.entriesMax { kept.removeFirst() }
      kept.append(Entry(code: finding.code, detail: finding.detail, push: push))
    }
  }
}
