internal import PushStore

extension SenderComparison {
  private static let causeWidth = 28

  /// The report for people, the last line ended.
  public var text: String {
    var lines = [
      "\(TimeText.instant(time.lowerBound)) to \(TimeText.instant(time.upperBound)), \(kinds.joined(separator: ", ")): "
        + CountWords.counted(total, "pair") + " of event and recipient"
    ]
    for agreement in Agreement.allCases {
      lines += ["", Self.line(agreement.words, pairs(agreement))] + causes(agreement)
    }
    lines += ["", timing, sound, result]
    return lines.joined(separator: "\n") + "\n"
  }

  private func causes(_ agreement: Agreement) -> [String] {
    rows.filter { $0.agreement == agreement && $0.cause != nil }.flatMap { row in
      [Self.line("  \(row.cause ?? "")", row.pairs)]
        + (agreement.isDifference ? row.examples.map { "      \($0.command)" } : [])
    }
  }

  private var timing: String {
    guard let lateness else { return "No pair was pushed by both." }
    func words(_ time: Int64) -> String {
      time == 0 ? "at the same time" : "\(TimeText.span(time)) \(time < 0 ? "earlier" : "later")"
    }
    return
      "Where both pushed, Tacet's came \(words(lateness.median)) at the median, and \(words(lateness.percentile99)) at p99."
  }

  private var sound: String {
    func each(_ pushes: Int) -> String { Self.hundredths(pushes, of: sounds.userDays) }
    return
      "Pushes with a sound for each user and day: Tacet \(each(sounds.ours)) (p99 \(sounds.percentile99Ours)), the other"
      + " \(each(sounds.theirs)) (p99 \(sounds.percentile99Theirs)), on \(CountWords.counted(sounds.userDays, "such day"))."
  }

  private var result: String {
    "The senders differ about \(differences) of \(CountWords.counted(total, "pair"))."
  }

  private static func line(_ words: String, _ count: Int) -> String {
    words + String(repeating: " ", count: max(1, causeWidth - words.count)) + "\(count)"
  }

  /// A quotient with two places, rounded down; zero of nothing.
  private static func hundredths(_ number: Int, of count: Int) -> String {
    let hundredths = count == 0 ? 0 : number * 100 / count
    return "\(hundredths / 100)." + String(hundredths % 100 + 100).dropFirst()
  }
}

extension SenderComparison.Agreement {
  fileprivate var words: String {
    switch self {
    case .bothPushed: "both pushed"
    case .bothSilent: "both silent"
    case .onlyOther: "only the other pushed"
    case .onlyTacet: "only Tacet pushed"
    }
  }
}

extension ComparedVerdicts.Example {
  /// The command that tells more. Ids that are text can have any character, so a shell is told where they end.
  var command: String {
    "tacet explain --message \(Self.quoted(subjectID)) --user \(Self.quoted(userID)) --kind \(kind)"
  }

  private static func quoted(_ id: String) -> String {
    let isPlain = id.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == UInt8(ascii: "-")
    }
    return isPlain && !id.hasPrefix("-")
      ? id : "'" + id.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }
}
