internal import PushStore

extension SenderComparison {
  /// The report for programs.
  public var json: [UInt8] {
    ComparisonAnswer(
      from: TimeText.instant(time.lowerBound), to: TimeText.instant(time.upperBound), kinds: kinds, pairs: total,
      differences: differences, bothPushed: pairs(.bothPushed), bothSilent: pairs(.bothSilent),
      onlyOther: pairs(.onlyOther), onlyTacet: pairs(.onlyTacet), medianLaterMicroseconds: lateness?.median,
      p99LaterMicroseconds: lateness?.percentile99, userDays: sounds.userDays,
      sounds: .init(
        tacet: sounds.ours, other: sounds.theirs, p99Tacet: sounds.percentile99Ours, p99Other: sounds.percentile99Theirs
      ),
      rows: rows.map { row in
        .init(
          agreement: row.agreement.rawValue, cause: row.cause, pairs: row.pairs,
          examples: row.examples.map { .init(subjectID: $0.subjectID, userID: $0.userID, kind: $0.kind) })
      }
    ).json
  }
}

private struct ComparisonAnswer: JSONAnswer {
  struct Sounds: Encodable {
    let tacet, other, p99Tacet, p99Other: Int
  }

  struct Row: Encodable {
    let agreement: String
    let cause: String?
    let pairs: Int
    let examples: [Example]
  }

  struct Example: Encodable {
    let subjectID, userID, kind: String
  }

  let from, to: String
  let kinds: [String]
  let pairs, differences, bothPushed, bothSilent, onlyOther, onlyTacet: Int
  let medianLaterMicroseconds, p99LaterMicroseconds: Int64?
  let userDays: Int
  let sounds: Sounds
  let rows: [Row]
}
