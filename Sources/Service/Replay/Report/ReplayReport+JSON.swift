internal import Explanations
internal import PushKinds
internal import PushStore

extension ReplayReport {
  /// The report for programs, as UTF-8: keys in snake case and sorted, what is unknown left out, times as RFC 3339 writes them.
  public var json: [UInt8] { ReportDocument(self).json }
}

private struct ReportDocument: JSONAnswer {
  let from: String
  let to: String
  let pushes: Int
  let decisions: Int
  let sentBefore: Int
  let sentAfter: Int
  let differences: Int
  let inconsistent: Int
  let inconsistentExamples: [ExampleDocument]
  let otherChanges: Int
  let changes: [ChangeDocument]
  let folding: FoldingDocument?

  init(_ report: ReplayReport) {
    from = TimeText.instant(report.span.lowerBound)
    to = TimeText.instant(report.span.upperBound)
    pushes = report.pushes
    decisions = report.decisions
    sentBefore = report.sent.before
    sentAfter = report.sent.after
    differences = report.differences
    inconsistent = report.inconsistent
    inconsistentExamples = report.inconsistentExamples.map(ExampleDocument.init)
    otherChanges = report.otherChanges
    changes = report.changes.map(ChangeDocument.init)
    folding = report.sounding.map { sounding in
      FoldingDocument(
        soundingBefore: sounding.before, soundingAfter: sounding.after,
        silentBefore: report.sent.before - sounding.before,
        silentAfter: report.sent.after - sounding.after, withoutConversation: report.withoutSurface)
    }
  }
}

private struct FoldingDocument: Encodable {
  let soundingBefore: Int
  let soundingAfter: Int
  let silentBefore: Int
  let silentAfter: Int
  let withoutConversation: Int
}

private struct ChangeDocument: Encodable {
  let effect: String
  let before: String
  let after: String
  let pushes: Int
  let averageShiftSeconds: Double?
  let examples: [ExampleDocument]

  init(_ change: ReplayReport.Change) {
    effect = change.effect.rawValue
    before = change.before
    after = change.after
    pushes = change.count
    averageShiftSeconds = change.averageShift.map { Double($0.wholeMicroseconds) / 1_000_000 }
    examples = change.examples.map(ExampleDocument.init)
  }
}

private struct ExampleDocument: Encodable {
  let subjectID: String?
  let kind: String
  let userID: String
  let committedAt: String
  let waitSecondsBefore: Double?
  let waitSecondsAfter: Double?
  let explain: String?

  init(_ example: ReplayExample) {
    subjectID = example.subjectID?.text
    kind = example.kind
    userID = example.userID.text
    committedAt = TimeText.instant(example.enqueuedAt)
    waitSecondsBefore = example.wait.map { Double($0.wholeMicroseconds) / 1_000_000 }
    waitSecondsAfter = example.waitAfter.map { Double($0.wholeMicroseconds) / 1_000_000 }
    explain = example.command
  }
}
