/// What the database says at the end.
struct LedgerBook {
  struct Place: Hashable {
    let message: String
    let user: String
  }

  struct Row {
    let decision: String
    let reason: String
    let claimedAt: Int64
    let enqueuedAt: Int64
    let devicesAccepted: Int

    var isFolded: Bool { decision == "skipped" && reason == "folded" }
    /// Whether nothing has kept it from being shown, by itself or by a newer one.
    var isLetGo: Bool { decision == "sent" || isFolded }
  }

  /// By message and recipient; more than one only if the ledger's key were broken.
  let rows: [Place: [Row]]
  /// `created_at` of the messages that are there.
  let messages: [String: Int64]
  /// `last_seen` of the reports that are there, by user.
  let reported: [String: Set<Int64>]

  init(of scene: ServiceScene) async throws {
    let rows = try await scene.patientSQL(
      """
      select subject_id, user_id, decision, coalesce(reason, ''), (extract(epoch from claimed_at) * 1000000)::bigint,
        (extract(epoch from enqueued_at) * 1000000)::bigint, devices_accepted
      from tacet.push_log
      where push_type = 'message'
      """)
    let messages = try await scene.patientSQL(
      "select id, (extract(epoch from created_at) * 1000000)::bigint from public.messages")
    let reported = try await scene.patientSQL("select user_id, seen_at from reported")
    self.init(rows: rows, messages: messages, reported: reported)
  }

  /// From `psql`'s unaligned output.
  private init(rows: String, messages: String, reported: String) {
    self.reported = Self.table(reported).reduce(into: [:]) { reported, columns in
      if let seenAt = Int64(columns[1]) { reported[columns[0], default: []].insert(seenAt) }
    }
    self.rows = Self.table(rows).reduce(into: [:]) { rows, columns in
      let row = Row(
        decision: columns[2], reason: columns[3], claimedAt: Int64(columns[4]) ?? 0,
        enqueuedAt: Int64(columns[5]) ?? 0, devicesAccepted: Int(columns[6]) ?? 0)
      rows[Place(message: columns[0], user: columns[1]), default: []].append(row)
    }
    self.messages = Self.table(messages).reduce(into: [:]) { $0[$1[0]] = Int64($1[1]) }
  }

  private static func table(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
  }
}
