package enum BenchScenario {
  package static func messages(_ rate: Int) -> String { "messages-\(rate)" }
  package static func fanout(_ recipients: Int) -> String { "fanout-\(recipients)" }

  /// The highest rate at which 99 of 100 messages are accepted within 100 ms.
  package static let sustained = "sustained"
  package static let burst = "burst-10000"
  /// The start of the service, and its idle footprint.
  package static let start = "start"
  /// The APNs client beside h2load.
  package static let client = "apns-client"
  /// The HTTP server beside nginx.
  package static let server = "http-server"
  /// Inserts of a host at a rate, without the service: the reference of the messages at that rate.
  package static func inserts(_ rate: Int) -> String { "inserts-\(rate)" }

  package static let all =
    [50, 300, 1000].map(messages) + [1, 10, 100, 1000, 5000].map(fanout) + [sustained, burst, start, client, server]
    + [300, 1000].map(inserts)
}

package enum BenchSubject {
  /// This build, on a database with almost no history.
  package static let tacet = "tacet"
  /// Another build, on a separate database with as little history.
  package static let against = "against"
  /// The reference of the APNs client.
  package static let h2load = "h2load"
  /// The reference of the HTTP server.
  package static let nginx = "nginx"
  /// The reference of the database and its clients.
  package static let pgbench = "pgbench"
  /// This build on a database with ten million rows of history.
  package static let tenMillionRows = "rows-10m"
  package static let millionRows = "rows-1m"
  /// The same with a hundred thousand, in quick measurements.
  package static let hundredThousandRows = "rows-100k"

  /// Databases with history, each compared with `tacet`.
  static let grown: Set<String> = [tenMillionRows, millionRows, hundredThousandRows]

  /// The numerator and denominator of a comparison with `tacet`; nil for no comparison. A database with history is
  /// above one without, and this build is above everything else.
  static func ratio(of subject: String, in subjects: Set<String>) -> (above: String, below: String)? {
    guard subject != tacet, subjects.contains(tacet) else { return nil }
    return grown.contains(subject) ? (subject, tacet) : (tacet, subject)
  }
}
