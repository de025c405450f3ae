internal import PushStore

extension BenchFigures {
  /// A page for people.
  public func text(_ plan: BenchPlan) -> String {
    let lines = [opening, subject, ""] + table + ["", estimate(plan)]
    let findings = findings(limitMicroseconds: plan.limitMicroseconds)
    let end = findings.isEmpty ? ["Nothing stands out."] : ["To look at:"] + findings.map { "- \($0)" }
    return (lines + [""] + end).joined(separator: "\n") + "\n"
  }

  private var opening: String {
    let version =
      "PostgreSQL \(server.version / 10_000).\(server.version % 10_000)\(server.isStandby ? ", a standby," : "")"
    return "\(version) at \(host.isEmpty ? "the server" : host), as role \(server.words). Nothing is written."
  }

  private var subject: String {
    let cut = measured < messages ? "\(measured) of the" : "The"
    return "\(cut) \(messages) \(source.words); \(gone) of them gone or for nobody."
  }

  private var table: [String] {
    let rows: [[String]] =
      [["", "count", "p50", "p99", "most"], Self.row("round trip", roundTrip, BenchWords.time)]
      + calls.map { Self.row("tacet.\($0.function.rawValue)", $0.times, BenchWords.time) } + [
        Self.row("recipients of a message", recipients) { "\($0)" },
        Self.row("targets of a message", targets) { "\($0)" },
        Self.row("read of a message", alone, BenchWords.time),
        Self.row("the same, \(concurrency) sessions at once", together, BenchWords.time),
      ]
    return rows.map { row in
      row[0].padded(to: 34) + row.dropFirst().map { $0.padded(to: 9, atEnd: false) }.joined()
    }
  }

  private static func row(_ name: String, _ figures: Distribution?, _ words: (Int64) -> String) -> [String] {
    guard let figures else { return [name, "none", "", "", ""] }
    return [name, "\(figures.count)"] + [figures.p50, figures.p99, figures.most].map(words)
  }

  private func estimate(_ plan: BenchPlan) -> String {
    guard let share = share(ofRate: plan.rate) else { return "No message was read, so nothing is estimated." }
    return """
      \(concurrency) sessions read \(Int(readsPerSecond)) messages a second. Estimate: \(plan.rate) messages a second take \
      \(BenchWords.decimal(share)) % of that.
      Recording the pushes comes on top of it.
      """
  }
}

extension MeasuredServer {
  /// The role, whose it is, and whether policies apply to it.
  var words: String {
    let whose = ownsSchema ? "the migrator's" : mayServe ? "the service's" : "neither the service's nor the migrator's"
    return "\(role) (\(whose)\(bypassesRowSecurity ? ", without row-level security" : ""))"
  }
}

extension MessageSample.Source {
  /// What the messages are, behind a number.
  var words: String {
    switch self {
    case .ledger: "newest messages of the ledger"
    case .newest(let table): "newest messages of \(table)"
    case .highestIDs(let table): "messages of \(table) with the highest ids"
    case .nowhere: "messages"
    }
  }
}

extension String {
  fileprivate func padded(to width: Int, atEnd: Bool = true) -> String {
    let blanks = String(repeating: " ", count: max(0, width - count))
    return atEnd ? self + blanks : blanks + self
  }
}
