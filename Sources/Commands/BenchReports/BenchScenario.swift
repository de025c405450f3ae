/// The scenarios of a measurement, by their names.
public enum BenchScenario {
  /// Messages inserted at a rate, found by notifications.
  public static func notify(_ rate: Int) -> String { "messages-notify-\(rate)" }
  /// Messages inserted at a rate, each told by a webhook.
  public static func webhook(_ rate: Int) -> String { "messages-webhook-\(rate)" }
  /// One message to so many recipients.
  public static func fanout(_ recipients: Int) -> String { "fanout-\(recipients)" }

  /// The highest rate at which 99 of 100 messages are accepted within 100 ms.
  public static let sustained = "sustained"
  /// Direct messages while one after another goes to 5000.
  public static let directDuringFanout = "direct-during-fanout"
  /// Ten thousand messages at once.
  public static let burst = "burst-10000"
  /// Everybody is looking, so that nothing is sent.
  public static let suppressed = "suppressed"
  /// The service started, and what it takes when nothing happens.
  public static let start = "start"
  /// Round trips and commits of one connection.
  public static let reference = "reference"
  /// The APNs client beside h2load.
  public static let client = "apns-client"
  /// The HTTP server beside nginx.
  public static let server = "http-server"
  /// Inserts of a host as fast as they go, without any part of ours.
  public static let inserts = "inserts"
  /// The same at 300 a second: what a client of the database takes that is mostly asleep.
  public static let pacedInserts = "inserts-300"

  /// Those of a whole measurement.
  public static let all =
    [50, 300, 1000].flatMap { [notify($0), webhook($0)] } + [1, 10, 100, 1000, 5000].map(fanout)
    + [sustained, directDuringFanout, burst, suppressed, start, reference, client, server, inserts, pacedInserts]
}

/// The subjects of runs, by their names.
public enum BenchSubject {
  /// This build, on a database with next to no history.
  public static let tacet = "tacet"
  /// Another build, on a database of its own with as little history.
  public static let against = "against"
  /// The reference of the APNs client.
  public static let h2load = "h2load"
  /// The reference of the HTTP server.
  public static let nginx = "nginx"
  /// The reference of what the database takes from a host, and of a client of it.
  public static let pgbench = "pgbench"
  /// This build on a database with ten million rows of history.
  public static let tenMillionRows = "rows-10m"
  /// The same with a million.
  public static let millionRows = "rows-1m"
  /// The same with a hundred thousand, of quick measurements.
  public static let hundredThousandRows = "rows-100k"

  /// Databases that have grown, each compared with `tacet`.
  static let grown: Set<String> = [tenMillionRows, millionRows, hundredThousandRows]

  /// Which of two subjects of a scenario stands above the line, if they are compared at all: a database that has grown
  /// above one that has not, and this build above everything else.
  static func ratio(of subject: String, in subjects: Set<String>) -> (above: String, below: String)? {
    guard subject != tacet, subjects.contains(tacet) else { return nil }
    return grown.contains(subject) ? (subject, tacet) : (tacet, subject)
  }
}
